"""The rules of the next round while a host tries them: the table is told of what came of it, once."""

from __future__ import annotations

from client.clocks import Clocks, in_short, next_clocks
from client.doing import TableNode
from client.house import dropped
from client.tui.options import next_preset, next_value
from client.tui.phrases import text
from engine.rules import RuleSet, preset_named, to_items


class NextRules:
    """The rules that ``node`` offers next. What is taken is said to the host alone until `announce`."""

    def __init__(self, node: TableNode) -> None:
        self._node = node
        self._announced = node.rules
        self._announced_limits = node.limits

    def take_preset(self, step: int, players: int) -> str:
        """Takes the preset that is ``step`` further; what to say. Raises ``RuleError`` where so many don't fit."""
        return self._take(next_preset(self._node.rules, step, players), "")

    def take_option(self, option: str, step: int, players: int) -> str:
        """Takes the next value of an option; what to say. Raises ``RuleError`` where none can be played."""
        return self._take(next_value(self._node.rules, option, step, players), option)

    def _take(self, rules: RuleSet, option: str) -> str:
        self._node.rules = rules
        if not option:
            return text("rules_taken", name=preset_named(rules) or "")
        return text("option_taken", option=option, value=dict(to_items(rules))[option] or text("option_none"))

    def take_clock(self, clock: str, step: int) -> str:
        """Takes the next seconds of a clock; what to say."""
        clocks = next_clocks(Clocks(*self._node.limits), clock, step)
        self._node.limits = clocks.values
        return text("clocks_taken", clocks=in_short(clocks))

    async def announce(self) -> None:
        """Tells the table of the rules and clocks, where they are not what it was told before."""
        await self._announce_rules()
        if self._node.limits != self._announced_limits:
            self._announced_limits = self._node.limits
            await self._node.say(text("clocks_taken", clocks=in_short(Clocks(*self._node.limits))))

    async def _announce_rules(self) -> None:
        rules, before = self._node.rules, self._announced
        if rules == before:
            return
        self._announced = rules
        name = preset_named(rules)
        gone = dropped(before, rules)
        if name is not None and gone:
            told = text("rules_taken_dropped", name=name, options=gone)
        elif name is not None:
            told = text("rules_taken", name=name)
        else:
            old = dict(to_items(before))
            changes = tuple(f"{key}={value}" for key, value in to_items(rules) if old[key] != value)
            told = text("options_taken", options=changes)
        await self._node.say(told)

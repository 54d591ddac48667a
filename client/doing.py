"""Doing at a table what a person wants done: one implementation for the full screen and the line mode."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from client.bots import PlayerNode
from client.cards import Style
from client.clocks import Clocks, changed_clocks, in_short
from client.house import changed_rules, dropped
from client.orders import (
    Act,
    Admit,
    Answer,
    Away,
    ChangeClock,
    ChangeRules,
    Kick,
    Order,
    Refuse,
    SeatBots,
    StartRound,
    TakePreset,
    Talk,
    Void,
)
from client.phrases import said
from client.sentences import render
from client.standing_in import StandIn
from client.view import View
from engine.errors import Sentence, ShitheadError
from engine.rules import RuleSet, check_playable


class TableNode(PlayerNode, Protocol):
    """What a client needs of ``p2p.node.node.Node``."""

    rules: RuleSet
    """What the next offer uses."""
    limits: tuple[int, int, int]
    """The clocks of the next offer, in seconds: turn, arranging, grace."""

    @property
    def gone(self) -> asyncio.Event:
        """Set when this peer is no longer at the table."""
        ...

    @property
    def gone_why(self) -> str:
        """``kicked``, ``closed`` or ``failed``."""
        ...

    @property
    def gone_problem(self) -> ShitheadError | None:
        """With ``failed``: what happened."""
        ...

    async def offer_round(self) -> None:
        """Offers a round."""
        ...

    async def admit(self, key: bytes) -> None:
        """Lets somebody in."""
        ...

    async def refuse(self, key: bytes, why: str = "refused") -> None:
        """Turns somebody away."""
        ...

    async def kick(self, key: bytes) -> None:
        """Sends somebody away."""
        ...

    async def void(self) -> None:
        """Gives the round up."""
        ...

    async def say(self, text: str) -> None:
        """Talks to the table."""
        ...

    async def leave(self) -> None:
        """Leaves round and table, and closes."""
        ...


class Doer:
    """Does what a person at ``node``'s table wants.

    ``auto``: the seat is played by somebody else; ``seat_bots``: seats that many bots more; ``standing_in``: who
    plays while the person is away.
    """

    def __init__(
        self,
        node: TableNode,
        *,
        auto: bool = False,
        seat_bots: Callable[[int], Awaitable[None]] | None = None,
        standing_in: StandIn | None = None,
    ) -> None:
        self._node = node
        self._auto = auto
        self._seat_bots = seat_bots
        self._standing_in = standing_in

    @property
    def is_away(self) -> bool:
        """Whether the person has said that they are away."""
        return self._standing_in is not None and self._standing_in.is_away

    async def do(self, order: Order, view: View, style: Style) -> Sentence | None:
        """Does it; a sentence of ``client.phrases.SAID`` for the person where something is to be said of it.

        ``view``: what the person saw; ``style``: how cards are written where it is told to the table. Raises
        ``ShitheadError``.
        """
        node = self._node
        match order:
            case Act(move=move, stamp=stamp):
                await node.act(move, stamp)
            case Answer(yes=yes):
                if not view.asked:
                    return said("nothing_asked")
                await node.answer_offer(yes)
            case Talk(text=text):
                await node.say(text)
            case StartRound():
                await node.offer_round()
            case Admit(key=key):
                await node.admit(key)
            case Refuse(key=key):
                await node.refuse(key)
                return said("turned_away", name=next((row.name for row in view.door if row.key == key), "?"))
            case Kick(key=key):
                await node.kick(key)
            case SeatBots(count=count):
                return await self._bots(count)
            case Void():
                await node.void()
            case ChangeRules(option=option, value=value):
                rules = changed_rules(node.rules, {option: value})
                await self._take(rules, said("set_said", option=option, value=value), view, style)
            case TakePreset(name=name):
                rules = RuleSet.preset(name)
                gone = dropped(node.rules, rules)
                told = (
                    said("preset_said_dropped", name=name, options=gone)
                    if gone
                    else said("preset_said", name=name)
                )
                await self._take(rules, told, view, style)
            case ChangeClock(clock=clock, seconds=seconds):
                await self._take_clocks(changed_clocks(Clocks(*node.limits), clock, seconds), view, style)
            case Away(is_away=is_away):
                return await self._go_away(is_away, view, style)
        return None

    async def _bots(self, count: int) -> Sentence:
        if self._seat_bots is None:
            return said("no_bots")
        await self._seat_bots(count)
        return said("bots_seated", count=count)

    async def _take(self, rules: RuleSet, told: Sentence, view: View, style: Style) -> None:
        """Other rules for the next rounds, told to everybody. Raises ``RuleError`` where so many don't fit."""
        check_playable(rules, max(2, len(view.players)))
        self._node.rules = rules
        await self._node.say(render(told, view.names, style))

    async def _take_clocks(self, clocks: Clocks, view: View, style: Style) -> None:
        """Other clocks for the next rounds, told to everybody."""
        self._node.limits = clocks.values
        told = said("clock_said", text=in_short(clocks))
        await self._node.say(render(told, view.names, style))

    async def _go_away(self, is_away: bool, view: View, style: Style) -> Sentence:
        if self._standing_in is None or self._auto:
            return said("no_stand_in")
        changes = self._standing_in.is_away is not is_away
        self._standing_in.set_away(is_away)
        if changes:
            await self._node.say(render(said("away_said" if is_away else "back_said"), view.names, style))
        return said("away" if is_away else "back")

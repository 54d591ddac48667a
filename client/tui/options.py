"""The options of the rules as a list with values to go through (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from engine.cards import RANKS
from engine.errors import RuleError
from engine.explain import explain
from engine.options import MAX_JOKERS_PER_PACK, MAX_PACKS, MOST_COPIES_TIE, SEAT_TIE
from engine.rules import (
    OPTION_NAMES,
    PLAYED,
    POWERS,
    PRESETS,
    UNPLAYED_VALUES,
    RuleSet,
    check_playable,
    to_items,
    with_options,
)

SHOWN: Final = tuple(name for name in OPTION_NAMES if name in PLAYED)
"""The options on the page, in its order."""

_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(POWERS, ("", *RANKS)),
    "jokers": tuple(map(str, range(MAX_JOKERS_PER_PACK + 1))),
    "burn_run": ("3", "4", "5", "6", "8"),
    "deal": ("3/3/3", "3/3/4", "3/3/5", "3/3/6", "4/4/4", "2/2/2", "0/3/3"),
    "refill_to": ("1", "2", "3", "4", "5", "6"),
    "packs": ("auto", *map(str, range(1, MAX_PACKS + 1))),
    "turn_limit": ("200", "500", "1000", "2000", "5000"),
    "start_tie": (SEAT_TIE, MOST_COPIES_TIE, "suit/cdhs", "suit/dchs"),
}
"""Of options with endless values those that people want; all others come from a file or ``--set``."""


def values_of(rules: RuleSet, option: str) -> tuple[str, ...]:
    """The values of an option to go through, that of ``rules`` among them."""
    now = dict(to_items(rules))[option]
    value = getattr(RuleSet(), option)
    match value:
        case Enum():
            found = tuple(str(member.value) for member in type(value))
        case bool():
            found = ("false", "true")
        case _:
            found = _VALUES[option]
    played = tuple(each for each in found if (option, each) not in UNPLAYED_VALUES)
    return played if now in played else (now, *played)


def next_value(rules: RuleSet, option: str, step: int, players: int) -> RuleSet:
    """The rules with the next value of an option, in the direction of ``step``, that so many can play with.

    Raises ``RuleError`` where there is none.
    """
    values = values_of(rules, option)
    index = values.index(dict(to_items(rules))[option])
    problem: RuleError | None = None
    for number in range(1, len(values)):
        try:
            changed = with_options(rules, {option: values[(index + step * number) % len(values)]})
            check_playable(changed, players)
        except RuleError as error:
            problem = problem or error
            continue
        return changed
    if problem is not None:
        raise problem
    return rules


def next_preset(rules: RuleSet, step: int, players: int) -> RuleSet:
    """The next preset that so many can play; own rules are followed by the first. Raises ``RuleError``."""
    presets = [RuleSet.preset(name) for name in PRESETS]
    index = presets.index(rules) + step if rules in presets else 0
    chosen = presets[index % len(presets)]
    check_playable(chosen, players)
    return chosen


def words_for(rules: RuleSet, option: str) -> str:
    """What the rules say about an option, in sentences; empty where it changes nothing under these rules."""
    return " ".join(str(line) for line in explain(rules) if option in line.options)

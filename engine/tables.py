"""What a rule set says about ranks, compiled into tables: house rules are rows here, not branches in the play.

Rows and columns are rank numbers, ``JOKER_RANK`` the last of them. Every table has one place more, so that the
index ``UNKNOWN`` (-1) finds the answer for no card at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.cards import DEUCE, JOKER_RANK, RANKS, TEN, UNKNOWN, pack_size, rank
from engine.options import JokerPower, Ranks, ReverseCount
from engine.rules import POWERS, RuleSet

Flags = tuple[bool, ...]
Matrix = tuple[Flags, ...]

JOKER_POWERS: Final[Mapping[JokerPower, frozenset[str]]] = {
    JokerPower.REVERSE: frozenset({"transparent", "reverse"}),
    JokerPower.TRANSPARENT: frozenset({"transparent"}),
    JokerPower.BURN: frozenset({"burn"}),
    JokerPower.HIGH: frozenset(),
    JokerPower.WILD: frozenset(),
}
"""The powers of 3.2 that the rank of the jokers has under each ``joker_power`` that is played."""

NEVER_NAMED: Final = frozenset({DEUCE, TEN})
"""A wild joker is never a 2 or a 10 (3.4); ranks that other rules make reset or burn cards are neither."""

NO_SUCH_COUNT: Final = 1_000_000
"""More cards than any set has: what a rule asks for that is off."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The ranks of the cards and the powers of the ranks.

    ``ranks[k]`` is the rank of card k, ``ranks[UNKNOWN]`` is ``UNKNOWN``. ``follows[t][r]``: whether a card of
    rank r may be played when t is to be beaten (R21, 3.2), ``follows[UNKNOWN]`` where nothing is; ``strict``
    says the same for a set of upcards (``upcards_strict``), ``big`` for sets of ``big_count`` cards or more from
    either (``quartet_beats_all``). A wild joker, not named yet, follows where any rank does that it could
    be named.

    ``burns`` … ``again``: the ranks with each power. ``sees_through``: there are transparent ranks at all;
    ``turns``: there are skip, reverse or again ranks. ``pass_over``: what a run is counted through
    (``transparent_breaks_run=false``). ``nameable``: what a wild joker may be; empty when jokers are not wild.
    """

    ranks: tuple[int, ...]
    follows: Matrix
    strict: Matrix
    big: Matrix
    big_count: int
    burns: Flags
    ceiling: Flags
    transparent: Flags
    pass_over: Flags
    skip: Flags
    reverse: Flags
    again: Flags
    sees_through: bool
    turns: bool
    nameable: Ranks
    flip_once: bool

    def matrix(self, upcards: bool, count: int) -> Matrix:
        """What sets of ``count`` cards may be played on, from the upcards or from elsewhere."""
        if count >= self.big_count:
            return self.big
        return self.strict if upcards else self.follows


def nameable_ranks(rules: RuleSet) -> Ranks:
    """The ranks that a wild joker may be named, under ``rules``."""
    barred = NEVER_NAMED.union(rules.reset, rules.burn)
    return tuple(r for r in range(len(RANKS)) if r not in barred)


@lru_cache(maxsize=256)
def tables_for(rules: RuleSet, packs: int) -> Tables:
    """The tables of ``rules`` with ``packs`` packs."""
    jokers = JOKER_POWERS[rules.joker_power] if rules.jokers else frozenset()
    powers: dict[str, frozenset[int]] = {
        power: frozenset(getattr(rules, power)) | ({JOKER_RANK} if power in jokers else frozenset())
        for power in POWERS
    }
    wild = rules.jokers > 0 and rules.joker_power is JokerPower.WILD
    nameable = nameable_ranks(rules) if wild else ()
    follows = _matrix(rules, powers, nameable, strict=False, big=False)
    big = _matrix(rules, powers, nameable, strict=False, big=True)
    strict = _matrix(rules, powers, nameable, strict=True, big=False) if rules.upcards_strict else follows
    transparent = _flags(powers["transparent"])
    return Tables(
        ranks=(*(rank(k, packs) for k in range(pack_size(packs, rules.jokers))), UNKNOWN),
        follows=follows,
        strict=strict,
        big=big,
        big_count=rules.burn_run if rules.quartet_beats_all else NO_SUCH_COUNT,
        burns=_flags(powers["burn"]),
        ceiling=_flags(powers["ceiling"]),
        transparent=transparent,
        pass_over=_flags(frozenset()) if rules.transparent_breaks_run else transparent,
        skip=_flags(powers["skip"]),
        reverse=_flags(powers["reverse"]),
        again=_flags(powers["again"]),
        sees_through=bool(powers["transparent"]),
        turns=bool(powers["skip"] or powers["reverse"] or powers["again"]),
        nameable=nameable,
        flip_once=rules.reverse_count is ReverseCount.ONCE,
    )


def _flags(ranks: frozenset[int]) -> Flags:
    return (*(r in ranks for r in range(JOKER_RANK + 1)), False)


def _matrix(
    rules: RuleSet, powers: Mapping[str, frozenset[int]], nameable: Ranks, *, strict: bool, big: bool
) -> Matrix:
    """``legal`` of 3.2 for every rank to beat and every rank played."""

    def fits(top: int, played: int) -> bool:
        if played in powers["reset"] or played in powers["transparent"] or top in powers["reset"]:
            return True
        burns = played in powers["burn"]
        if top in powers["ceiling"]:
            return (burns and rules.ten_on_ceiling) or played <= top
        return burns or big or (played > top if strict else played >= top)

    def row(top: int) -> Flags:
        natural = tuple(fits(top, played) for played in range(JOKER_RANK))
        joker = any(natural[r] for r in nameable) if nameable else fits(top, JOKER_RANK)
        return (*natural, joker)

    lead = tuple(True for _ in range(JOKER_RANK + 1))
    return (*(row(top) for top in range(JOKER_RANK + 1)), lead)

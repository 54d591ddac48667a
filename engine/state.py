"""The state of a round: one immutable value.

Cards are positions in the shuffled deck; ``faces`` says which of them are known here. One transition system
serves hidden and open play (docs/rules.md 1.19): open play is the case in which every face is known. What
*all* players know is kept apart from what this state knows, in ``public``; only that enters
:meth:`GameState.canonical`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeVar

from engine.cards import UNKNOWN
from engine.quick import quick
from engine.rules import RuleSet, packs_for
from engine.tables import Flags, Tables, tables_for

NOBODY: Final = -1
"""No seat: nobody is in turn, or there is no eldest hand or shithead yet."""

EMPTY_SLOT: Final = -1
"""A downcard slot without a card."""

ABSENT: Final = 255
"""What stands for :data:`NOBODY` in the canonical form, whose numbers are unsigned."""

Zones = tuple[tuple[int, ...], ...]
"""For each seat the positions in one of its zones."""

T = TypeVar("T")

Canonical = int | str | tuple["Canonical", ...]
"""Nested tuples of unsigned numbers and texts."""


class Phase(Enum):
    """The phases of a round, in order (1.19)."""

    DEAL = "deal"
    ARRANGE = "arrange"
    DECLARE = "declare"
    PLAY = "play"
    OVER = "over"


class Result(Enum):
    """How a round ended; ``VOID`` is for a table that called it off, no move leads there."""

    NONE = "none"
    FINISHED = "finished"
    STALLED = "stalled"
    FORFEIT = "forfeit"
    VOID = "void"


class Zone(Enum):
    """A player's three kinds of cards, in the order in which they are played (R2)."""

    HAND = "hand"
    UPCARDS = "upcards"
    DOWNCARDS = "downcards"


@dataclass(frozen=True, slots=True)
class Setup:
    """What never changes in a round.

    ``dealt_hands`` and ``dealt_ups``: for each seat the positions dealt to it, in dealing order (R11). They
    are empty for a position that does not start with the deal. ``drawn_eldest`` is the seat that a lot made
    eldest hand, where ``start=random``.
    """

    rules: RuleSet
    players: int
    dealer: int
    packs: int
    dealt_hands: Zones
    dealt_ups: Zones
    tables: Tables
    drawn_eldest: int = NOBODY


@quick
@dataclass(frozen=True, slots=True)
class Extra:
    """What only some options need to remember; all of it is public.

    named       wild jokers in the wastepile, each with the rank that it counts as: (position, rank)
    naming      the wild joker that the seat in turn has to name now, else -1
    follow      the cards drawn this turn that may still be laid (``draw_follow_up``); while there are any, the
                seat in turn lays some or is ``Done``. ``follow_rank``: the rank played, ``laid``: how many
                cards of it so far
    start_rank  the rank that the first lead must hold (``lead_must_be_start_rank``), else -1
    declared    positions declared at the rank that is asked for (``start_tie=most_copies``)
    """

    named: tuple[tuple[int, int], ...] = ()
    naming: int = -1
    follow: tuple[int, ...] = ()
    follow_rank: int = -1
    laid: int = 0
    start_rank: int = -1
    declared: tuple[int, ...] = ()


NOTHING: Final = Extra()


@quick
@dataclass(frozen=True, slots=True)
class GameState:
    """A round at one moment. Made by ``engine.game``; every move gives a new one.

    faces       position → card, or ``UNKNOWN``
    public      bit p is set when all players know the face at position p
    hands, ups  for each seat the positions it holds
    downs       for each seat its slots, ``EMPTY_SLOT`` where the card is gone
    stock       top first; pile: bottom first (the last is on top); burnt, aside: in the order they went
    active      for each seat whether it still plays (neither out nor gone)
    asked       the rank that the seat in turn is asked for in ``DECLARE``, else -1
    direction   +1 clockwise, -1 anticlockwise
    awaiting    positions whose faces must be opened before anything else can happen
    left        seats that left, in order; finish_order: seats that went out, in order (R47)
    action_count  accepted plays, pick-ups, flips and chances (R50)
    extra       what only some options need
    """

    setup: Setup
    phase: Phase
    faces: tuple[int, ...]
    public: int
    hands: Zones
    ups: Zones
    downs: Zones
    stock: tuple[int, ...]
    pile: tuple[int, ...]
    burnt: tuple[int, ...]
    aside: tuple[int, ...]
    ready: tuple[bool, ...]
    active: tuple[bool, ...]
    eldest: int
    turn: int
    asked: int
    direction: int
    awaiting: tuple[int, ...]
    finish_order: tuple[int, ...]
    left: tuple[int, ...]
    shithead: int
    result: Result
    action_count: int
    extra: Extra = NOTHING

    @property
    def rules(self) -> RuleSet:
        """The rule set."""
        return self.setup.rules

    @property
    def players(self) -> int:
        """How many seats there are."""
        return self.setup.players

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        return self.setup.dealer

    @property
    def packs(self) -> int:
        """How many packs are in use."""
        return self.setup.packs

    def rank_at(self, position: int) -> int:
        """The rank number at ``position``; ``UNKNOWN`` where the face is."""
        return self.setup.tables.ranks[self.faces[position]]

    def is_public(self, position: int) -> bool:
        """Whether all players know the face at ``position``."""
        return bool(self.public >> position & 1)

    def counts_as(self, position: int) -> int:
        """The rank that the card at ``position`` counts as in the wastepile: that of a wild joker is named."""
        for joker, rank in self.extra.named:
            if joker == position:
                return rank
        return self.setup.tables.ranks[self.faces[position]]

    def top_rank(self) -> int:
        """The rank on top of the wastepile, transparent or not; ``UNKNOWN`` when it is empty."""
        return self.counts_as(self.pile[-1]) if self.pile else UNKNOWN

    def rank_to_beat(self) -> int:
        """The topmost rank in the wastepile that is not transparent (``eff`` of 3.2), ``UNKNOWN`` if there is
        none.
        """
        pile, tables = self.pile, self.setup.tables
        if not tables.sees_through:
            if not pile:
                return UNKNOWN
            if not self.extra.named:
                return tables.ranks[self.faces[pile[-1]]]
        for position in reversed(pile):
            rank = self.counts_as(position)
            if not tables.transparent[rank]:
                return rank
        return UNKNOWN

    def top_run(self) -> int:
        """How many cards of equal rank lie on top of the wastepile, as they count for a burn (R28, 3.2)."""
        return run_length(map(self.counts_as, reversed(self.pile)), self.setup.tables.pass_over)

    def active_zone(self, seat: int) -> Zone | None:
        """The zone that ``seat`` plays from (R2); None without a card."""
        if self.hands[seat]:
            return Zone.HAND
        if self.ups[seat]:
            return Zone.UPCARDS
        return Zone.DOWNCARDS if any(p >= 0 for p in self.downs[seat]) else None

    def card_count(self, seat: int) -> int:
        """How many cards ``seat`` has in all zones."""
        return len(self.hands[seat]) + len(self.ups[seat]) + sum(p >= 0 for p in self.downs[seat])

    def next_active(self, seat: int) -> int:
        """The next seat after ``seat`` that still plays, in the current direction (R18)."""
        return next_of(self.active, seat, self.direction)

    def seats_from_left(self) -> tuple[int, ...]:
        """All seats, clockwise from the dealer's left (R9)."""
        return seats_from_left(self.setup.players, self.setup.dealer)

    def canonical(self) -> Canonical:
        """What all players know, as nested tuples of unsigned numbers and texts, the same on every machine.

        (phase, dealer, eldest, seat in turn, direction, action count, seats, stock, pile, burnt, finish
        order). A seat is (status, hand, upcards, downcards) with status ``in``, ``ready``, ``out`` or
        ``left``. A card is (position, k + 1), or (position, 0) when not all players know it; an empty slot is
        ``""``. Hand, upcards and burnt are sorted by position; downcards go by slot, the stock top first, the
        wastepile bottom first. No seat is ``ABSENT``; the direction is 1 for clockwise, 0 for anticlockwise.
        Cards laid aside by those who left follow from what came before and are not in it. Behind all this
        stand the parts of ``extra`` that say something, each as (name, values).
        """
        faces, public = self.faces, self.public

        def card(position: int) -> tuple[Canonical, ...]:
            return (position, faces[position] + 1 if public >> position & 1 else 0)

        def cards(positions: Iterable[int]) -> tuple[Canonical, ...]:
            return tuple(card(position) for position in positions)

        seats = tuple(
            (
                self._status(seat),
                cards(sorted(self.hands[seat])),
                cards(sorted(self.ups[seat])),
                tuple("" if position < 0 else card(position) for position in self.downs[seat]),
            )
            for seat in range(self.players)
        )
        return (
            self.phase.value,
            self.dealer,
            _unsigned(self.eldest),
            _unsigned(self.turn),
            1 if self.direction > 0 else 0,
            self.action_count,
            seats,
            cards(self.stock),
            cards(self.pile),
            cards(sorted(self.burnt)),
            self.finish_order,
            *(_extras(self.extra) if self.extra is not NOTHING else ()),
        )

    def _status(self, seat: int) -> str:
        if seat in self.left:
            return "left"
        if seat in self.finish_order:
            return "out"
        return "ready" if self.phase is Phase.ARRANGE and self.ready[seat] else "in"


def _unsigned(seat: int) -> int:
    return ABSENT if seat < 0 else seat


def put(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """``values`` with ``value`` at ``index``."""
    return (*values[:index], value, *values[index + 1 :])


def run_length(ranks: Iterable[int], pass_over: Flags) -> int:
    """How many of the first ``ranks`` are equal to the very first.

    Ranks in ``pass_over`` break no run and are not counted; a run of such a rank is counted without gaps
    (3.2).
    """
    first: int | None = None
    count, passes = 0, False
    for rank in ranks:
        if first is None:
            first, passes = rank, not pass_over[rank]
        if rank == first:
            count += 1
        elif not (passes and pass_over[rank]):
            break
    return count


def next_of(active: tuple[bool, ...], seat: int, direction: int) -> int:
    """The next seat after ``seat`` in ``direction`` that is ``active``; ``seat`` itself when no other is."""
    players = len(active)
    for _ in active:
        seat = (seat + direction) % players
        if active[seat]:
            break
    return seat


def _extras(extra: Extra) -> tuple[Canonical, ...]:
    parts: tuple[tuple[str, bool, Canonical], ...] = (
        ("named", bool(extra.named), extra.named),
        ("naming", extra.naming >= 0, extra.naming),
        ("follow", bool(extra.follow), (extra.follow_rank, extra.laid, extra.follow)),
        ("start_rank", extra.start_rank >= 0, extra.start_rank),
        ("declared", bool(extra.declared), extra.declared),
    )
    return tuple((name, value) for name, there, value in parts if there)


def seats_from_left(players: int, dealer: int) -> tuple[int, ...]:
    """All seats, clockwise from the dealer's left; the dealer is last (R9)."""
    return tuple((dealer + 1 + i) % players for i in range(players))


def make_setup(
    rules: RuleSet,
    players: int,
    dealer: int,
    dealt_hands: Zones,
    dealt_ups: Zones,
    drawn_eldest: int = NOBODY,
) -> Setup:
    """The constant part of a round under ``rules``."""
    packs = packs_for(rules, players)
    return Setup(rules, players, dealer, packs, dealt_hands, dealt_ups, tables_for(rules, packs), drawn_eldest)

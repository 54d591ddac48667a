"""What may be done now: one object for a screen, a bot, a hint and a check."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from engine.checks import refusal
from engine.moves import (
    Chance,
    Choose,
    Done,
    Flip,
    Leave,
    Move,
    Name,
    Open,
    PickUp,
    PlayerMove,
    Ready,
    Swap,
    Unready,
)
from engine.options import ArrangeRule, ChanceRule, PickUpRule, UpcardPickUp
from engine.plays import can_play, must_hold, plays
from engine.starting import to_declare
from engine.state import NOBODY, GameState, Phase, Zone


class Actions:
    """The moves of the seats that may act now (1.16, ``actions``); leaving is always possible and not among
    them.

    Iteration gives one play for each rank and count, with the lowest positions of that rank (likewise one choice
    of upcards for each combination of ranks); ``in`` is true for every move that ``apply`` accepts, thus for any
    other equal cards too. In ``ARRANGE`` all seats may
    act. Only cards whose faces are known here are offered: in a state of somebody else's hidden hand that may
    be none.
    """

    __slots__ = ("_moves", "_state")

    def __init__(self, state: GameState) -> None:
        self._state = state
        self._moves: tuple[PlayerMove, ...] | None = None

    def __iter__(self) -> Iterator[PlayerMove]:
        return iter(self._all())

    def __contains__(self, move: Move) -> bool:
        return not isinstance(move, Open | Leave) and refusal(self._state, move) is None

    def __bool__(self) -> bool:
        return bool(self._all())

    def count(self) -> int:
        """How many moves iteration gives."""
        return len(self._all())

    def __repr__(self) -> str:
        return f"<Actions {list(self._all())!r}>"

    def _all(self) -> tuple[PlayerMove, ...]:
        if self._moves is None:
            state = self._state
            in_play = state.phase is Phase.PLAY and state.turn != NOBODY and not state.awaiting
            self._moves = tuple(_turn(state, state.turn) if in_play else _before_play(state))
        return self._moves


def actions(state: GameState) -> Actions:
    """What the seats that may act now can do."""
    return Actions(state)


def legal_ranks(state: GameState) -> frozenset[int]:
    """The rank numbers of which a single card may be played on the wastepile now, whoever holds it (R21, 3.2);
    from the upcards if those are what the seat in turn plays from.
    """
    upcards = state.turn != NOBODY and state.active_zone(state.turn) is Zone.UPCARDS
    row = state.setup.tables.matrix(upcards, 1)[state.rank_to_beat()]
    return frozenset(rank for rank, fits in enumerate(row) if fits)


def _before_play(state: GameState) -> Iterator[PlayerMove]:
    if state.awaiting:
        return
    match state.phase:
        case Phase.DECLARE:
            answer = to_declare(state)
            if answer is not None:
                yield answer
        case Phase.ARRANGE:
            for seat in range(state.players):
                if state.active[seat]:
                    yield from _arrange(state, seat)


def _turn(state: GameState, seat: int) -> list[PlayerMove]:
    rules, extra = state.setup.rules, state.extra
    if extra.naming >= 0:
        tables = state.setup.tables
        row = tables.follows[state.rank_to_beat()]
        return [Name(seat, rank) for rank in tables.nameable if row[rank]]
    has_hand = bool(state.hands[seat])
    if not has_hand and not state.ups[seat]:
        slots = state.downs[seat]
        flips: list[PlayerMove] = [Flip(seat, slot) for slot, position in enumerate(slots) if position >= 0]
        return [*flips, PickUp(seat)] if rules.blind_pick_up and state.pile else flips
    found: list[PlayerMove] = list(plays(state, seat))
    if extra.follow:
        return [*found, Done(seat)]
    if state.pile and (rules.pick_up is PickUpRule.VOLUNTARY or not can_play(state, seat)):
        if has_hand or rules.upcard_pick_up is UpcardPickUp.PILE:
            found.append(PickUp(seat))
        else:
            found += _pick_ups(state, seat)
    if rules.chance is not ChanceRule.OFF and has_hand and state.stock:
        free = rules.chance is ChanceRule.CHANCE_FREE
        if must_hold(state, seat) < 0 and (free or not can_play(state, seat)):
            found.append(Chance(seat))
    return found


def _pick_ups(state: GameState, seat: int) -> Iterator[PickUp]:
    """Picking up, with each choice of upcards that can go along (``upcard_pick_up``)."""
    rule = state.setup.rules.upcard_pick_up
    by_rank: dict[int, list[int]] = {}
    for position in sorted(state.ups[seat]):
        by_rank.setdefault(state.rank_at(position), []).append(position)
    for rank in sorted(by_rank):
        most = 1 if rule is UpcardPickUp.PILE_PLUS_ONE else len(by_rank[rank])
        yield from (PickUp(seat, tuple(by_rank[rank][:count])) for count in range(1, most + 1))


def _arrange(state: GameState, seat: int) -> Iterator[PlayerMove]:
    if state.ready[seat]:
        yield Unready(seat)
        return
    match state.setup.rules.arrange:
        case ArrangeRule.SWAP:
            for hand in sorted(state.hands[seat]):
                if state.faces[hand] >= 0:
                    yield from (Swap(seat, hand, up) for up in sorted(state.ups[seat]))
            yield Ready(seat)
        case ArrangeRule.CHOOSE:
            yield from _choices(state, seat)
            if state.ups[seat]:
                yield Ready(seat)
        case _:
            yield Ready(seat)


def _choices(state: GameState, seat: int) -> Iterator[Choose]:
    own = sorted(p for p in state.hands[seat] + state.ups[seat] if state.faces[p] >= 0)
    seen = set()
    for positions in combinations(own, state.setup.rules.deal.up):
        ranks = tuple(sorted(state.rank_at(p) for p in positions))
        if ranks not in seen:
            seen.add(ranks)
            yield Choose(seat, positions)

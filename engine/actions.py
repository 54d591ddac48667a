"""What may be done now: one object for a screen, a bot, a hint and a check."""

from __future__ import annotations

from collections.abc import Iterator

from engine.checks import refusal
from engine.moves import Flip, Leave, Move, Open, PickUp, Play, PlayerMove, Ready, Swap, Unready
from engine.starting import to_declare
from engine.state import NOBODY, GameState, Phase, Zone


class Actions:
    """The moves of the seats that may act now (1.16, ``actions``); leaving is always possible and not among
    them.

    Iteration gives one play for each rank and count, with the lowest positions of that rank; ``in`` is true
    for every move that ``apply`` accepts, thus for any other equal cards too. In ``ARRANGE`` all seats may
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
            self._moves = tuple(_generate(self._state))
        return self._moves


def actions(state: GameState) -> Actions:
    """What the seats that may act now can do."""
    return Actions(state)


def legal_ranks(state: GameState) -> frozenset[int]:
    """The rank numbers that may be played on the wastepile now (R21), whoever holds them."""
    return frozenset(rank for rank, fits in enumerate(state.setup.tables.follows[state.top_rank()]) if fits)


def _generate(state: GameState) -> Iterator[PlayerMove]:
    if state.awaiting:
        return
    match state.phase:
        case Phase.PLAY if state.turn != NOBODY:
            yield from _turn(state, state.turn)
        case Phase.DECLARE:
            answer = to_declare(state)
            if answer is not None:
                yield answer
        case Phase.ARRANGE:
            for seat in range(state.players):
                if state.active[seat]:
                    yield from _arrange(state, seat)
        case _:
            return


def _turn(state: GameState, seat: int) -> Iterator[PlayerMove]:
    zone = state.active_zone(seat)
    if zone is Zone.DOWNCARDS:
        for slot, position in enumerate(state.downs[seat]):
            if position >= 0:
                yield Flip(seat, slot)
        return
    follows = state.setup.tables.follows[state.top_rank()]
    by_rank: dict[int, list[int]] = {}
    for position in sorted(state.hands[seat] or state.ups[seat]):
        rank = state.rank_at(position)
        if rank >= 0 and follows[rank]:
            by_rank.setdefault(rank, []).append(position)
    for rank in sorted(by_rank):
        equal = tuple(by_rank[rank])
        for count in range(1, len(equal) + 1):
            yield Play(seat, equal[:count])
    if state.pile:
        yield PickUp(seat)


def _arrange(state: GameState, seat: int) -> Iterator[PlayerMove]:
    if state.ready[seat]:
        yield Unready(seat)
        return
    for hand in sorted(state.hands[seat]):
        if state.faces[hand] >= 0:
            for up in sorted(state.ups[seat]):
                yield Swap(seat, hand, up)
    yield Ready(seat)

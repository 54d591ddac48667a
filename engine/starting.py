"""Who leads: eldest hand (R15, and 1.19 for hidden hands)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.cards import DEUCE, RANKS
from engine.events import Asked, EldestBy, EldestFound, Event, TurnTo
from engine.moves import Declare, Pass
from engine.state import NOBODY, GameState, Phase

START_ORDER: Final = (*(r for r in range(len(RANKS)) if r != DEUCE), DEUCE)
"""Rank numbers in the order in which they decide who leads: 3 4 … A 2 (R15.3)."""


def begin_when_ready(state: GameState, log: list[Event]) -> GameState:
    """Once all who play are ready, go on: to ``PLAY`` if eldest is known, else to the first question
    (R13).
    """
    if not all(ready or not active for ready, active in zip(state.ready, state.active, strict=True)):
        return state
    return _search(state, START_ORDER[0], 0, log)


def after_pass(state: GameState, log: list[Event]) -> GameState:
    """Go on after the seat asked has passed or gone."""
    order = state.seats_from_left()
    return _search(state, state.asked, order.index(state.turn) + 1, log)


def lead(state: GameState, seat: int, rank: int, by: EldestBy, log: list[Event]) -> GameState:
    """``seat`` is eldest hand; play begins."""
    log.append(EldestFound(seat, rank, by))
    log.append(TurnTo(seat))
    return replace(state, phase=Phase.PLAY, eldest=seat, turn=seat, asked=-1)


def _search(state: GameState, rank: int, first: int, log: list[Event]) -> GameState:
    """Ask for ``rank`` from the ``first``-th seat clockwise from the dealer's left, then for the ranks after
    it.
    """
    order = state.seats_from_left()
    for number in START_ORDER[START_ORDER.index(rank) :]:
        if first == 0:
            seat = _first_with_upcard(state, number)
            if seat != NOBODY:
                return lead(state, seat, number, EldestBy.UPCARD, log)
        for seat in order[first:]:
            if not state.active[seat]:
                continue
            dealt = state.setup.dealt_hands[seat]
            if any(state.is_public(p) and state.rank_at(p) == number for p in dealt):
                return lead(state, seat, number, EldestBy.HAND, log)
            if not all(state.is_public(p) for p in dealt):
                log.append(Asked(seat, number))
                return replace(state, phase=Phase.DECLARE, turn=seat, asked=number)
        first = 0
    # Only false passes, or a made-up position without cards of any rank, lead here.
    seat = next(seat for seat in order if state.active[seat])
    return lead(state, seat, -1, EldestBy.SEAT, log)


def _first_with_upcard(state: GameState, rank: int) -> int:
    """The seat that was dealt the first upcard of ``rank`` in deal order (R11, R15.1), or ``NOBODY``."""
    dealt = state.setup.dealt_ups
    for deal_round in range(max(map(len, dealt), default=0)):
        for seat in state.seats_from_left():
            ups = dealt[seat]
            if state.active[seat] and deal_round < len(ups) and state.rank_at(ups[deal_round]) == rank:
                return seat
    return NOBODY


def to_declare(state: GameState) -> Declare | Pass | None:
    """The answer that R15.2 forces on the seat asked, given its own faces; None when nobody is asked.

    It is the lowest position dealt to the hand that has the rank asked for. None as well when a face needed
    for the answer is not known here.
    """
    if state.phase is not Phase.DECLARE:
        return None
    dealt = state.setup.dealt_hands[state.turn]
    fitting = [p for p in dealt if state.rank_at(p) == state.asked]
    if fitting:
        return Declare(state.turn, min(fitting))
    return Pass(state.turn) if all(state.faces[p] >= 0 for p in dealt) else None

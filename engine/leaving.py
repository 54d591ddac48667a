"""A player leaves the round (row 81)."""

from __future__ import annotations

from dataclasses import replace

from engine.events import Event, SeatLeft, TurnTo
from engine.moves import Leave
from engine.starting import after_pass, begin_when_ready
from engine.state import EMPTY_SLOT, NOTHING, Extra, GameState, Phase, Result, put
from engine.turns import end_turn, over


def leave(state: GameState, move: Leave, log: list[Event]) -> GameState:
    """A player leaves; the cards are laid aside, play goes on around the gap.

    With one player left the round ends, and the leaver, who ranks last, is the shithead. What the leaver laid
    in a turn that could have gone on with cards just drawn has its effects.
    """
    seat = move.seat
    slots = state.downs[seat]
    closed = tuple(p for p in slots if p >= 0)
    log.append(SeatLeft(seat))
    in_turn = state.turn == seat
    if in_turn and state.extra.follow:
        state = end_turn(state, log)
    stock = state.stock
    if state.extra.naming in stock[:1]:
        # A chance card that nobody will name any more; an open card can't go back into the stock.
        closed, stock = (*closed, stock[0]), stock[1:]
    after = replace(
        state,
        hands=put(state.hands, seat, ()),
        ups=put(state.ups, seat, ()),
        downs=put(state.downs, seat, (EMPTY_SLOT,) * len(slots)),
        stock=stock,
        aside=state.aside + state.hands[seat] + state.ups[seat] + closed,
        active=put(state.active, seat, False),
        left=(*state.left, seat),
    )
    if in_turn:
        after = replace(after, extra=Extra(after.extra.named) if after.extra.named else NOTHING)
    if sum(after.active) == 1:
        return over(after, seat, Result.FORFEIT, log)
    if state.phase is Phase.ARRANGE:
        return begin_when_ready(after, log)
    if not in_turn:
        return after
    if state.phase is Phase.DECLARE:
        return after_pass(after, log)
    if after.turn == seat:
        after = replace(after, turn=after.next_active(seat))
    log.append(TurnTo(after.turn))
    return after

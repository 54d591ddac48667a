"""What a turn does to the state: the play phase (R18 to R50, order of resolution 1.16), and leaving (row 81).

Every function takes a move that has been checked, and appends what happens to ``log``.
"""

from __future__ import annotations

from dataclasses import replace

from engine.events import (
    BurnCause,
    Burnt,
    Drew,
    Event,
    Flipped,
    FlipStarted,
    Out,
    Over,
    PickedUp,
    Played,
    SeatLeft,
    TurnTo,
)
from engine.moves import Flip, Leave, Play
from engine.starting import after_pass, begin_when_ready
from engine.state import EMPTY_SLOT, NOBODY, GameState, Phase, Result, Zone, Zones, put, run_length


def play(state: GameState, move: Play, log: list[Event]) -> GameState:
    """A set from the hand or the upcards goes onto the wastepile (R20, R36)."""
    seat, positions = move.seat, move.positions
    hands, ups = state.hands, state.ups
    if hands[seat]:
        zone = Zone.HAND
        hands = put(hands, seat, tuple([p for p in hands[seat] if p not in positions]))
    else:
        zone = Zone.UPCARDS
        ups = put(ups, seat, tuple([p for p in ups[seat] if p not in positions]))
    public = state.public
    for position in positions:
        public |= 1 << position
    log.append(Played(seat, positions, zone))
    return _resolve(state, seat, hands, ups, state.downs, state.pile + positions, public, zone, log)


def flip(state: GameState, move: Flip, log: list[Event]) -> GameState:
    """A downcard is chosen; in open play its face is there already, else it is awaited (R40, 1.19)."""
    position = state.downs[move.seat][move.slot]
    log.append(FlipStarted(move.seat, position, move.slot))
    if state.faces[position] < 0:
        return replace(state, awaiting=(position,))
    return turned_up(replace(state, public=state.public | 1 << position), position, log)


def turned_up(state: GameState, position: int, log: list[Event]) -> GameState:
    """The flipped card has a face now: it is played, or goes to the hand with the wastepile (R41, R42)."""
    seat, face = state.turn, state.faces[position]
    tables = state.setup.tables
    legal = tables.follows[state.top_rank()][tables.ranks[face]]
    slots = state.downs[seat]
    downs = put(state.downs, seat, put(slots, slots.index(position), EMPTY_SLOT))
    pile = (*state.pile, position)
    log.append(Flipped(seat, position, face, legal))
    if legal:
        return _resolve(state, seat, state.hands, state.ups, downs, pile, state.public, Zone.DOWNCARDS, log)
    return take(state, seat, pile, downs, log)


def take(state: GameState, seat: int, taken: tuple[int, ...], downs: Zones, log: list[Event]) -> GameState:
    """``taken``, the wastepile and perhaps a card that failed, goes to the hand; the turn ends (R34, R42)."""
    log.append(PickedUp(seat, taken))
    after = replace(
        state,
        hands=put(state.hands, seat, state.hands[seat] + taken),
        downs=downs,
        pile=(),
        turn=state.next_active(seat),
        action_count=state.action_count + 1,
    )
    return _go_on(after, log)


def _resolve(
    state: GameState,
    seat: int,
    hands: Zones,
    ups: Zones,
    downs: Zones,
    pile: tuple[int, ...],
    public: int,
    zone: Zone,
    log: list[Event],
) -> GameState:
    """What follows when a set has come to lie on the wastepile (1.16)."""
    stock, burnt = state.stock, state.burnt
    burn = _burn_cause(state, pile)
    if burn is not None:
        log.append(Burnt(seat, len(pile), burn))
        burnt, pile = burnt + pile, ()
    if zone is Zone.HAND and stock:
        missing = state.setup.rules.refill_to - len(hands[seat])
        if missing > 0:
            drawn, stock = stock[:missing], stock[missing:]
            hands = put(hands, seat, hands[seat] + drawn)
            log.append(Drew(seat, drawn))
    # Written out in the order of the fields: this is the hot path, and replace() takes three times as long.
    after = GameState(
        state.setup,
        Phase.PLAY,
        state.faces,
        public,
        hands,
        ups,
        downs,
        stock,
        pile,
        burnt,
        state.aside,
        state.ready,
        state.active,
        state.eldest,
        state.next_active(seat) if burn is None else seat,
        -1,
        state.direction,
        (),
        state.finish_order,
        state.left,
        NOBODY,
        Result.NONE,
        state.action_count + 1,
    )
    if not hands[seat] and after.active_zone(seat) is None:
        return _go_out(after, seat, log)
    return _go_on(after, log)


def _burn_cause(state: GameState, pile: tuple[int, ...]) -> BurnCause | None:
    """Whether ``pile`` burns: a ten on top (R27), or a quartet (R28)."""
    faces, tables, needed = state.faces, state.setup.tables, state.setup.rules.burn_run
    ranks = tables.ranks
    top = ranks[faces[pile[-1]]]
    if tables.burns[top]:
        return BurnCause.TEN
    if len(pile) < needed or ranks[faces[pile[-2]]] != top:
        return None
    run = run_length(ranks[faces[position]] for position in reversed(pile))
    return BurnCause.QUARTET if run >= needed else None


def _go_out(state: GameState, seat: int, log: list[Event]) -> GameState:
    """``seat`` has no card left (R44); after a burn too the next player goes on (R45)."""
    finish_order = (*state.finish_order, seat)
    log.append(Out(seat, len(finish_order)))
    after = replace(state, active=put(state.active, seat, False), finish_order=finish_order)
    if sum(after.active) == 1:
        return _over(after, after.active.index(True), Result.FINISHED, log)
    return _go_on(replace(after, turn=after.next_active(seat)), log)


def _go_on(state: GameState, log: list[Event]) -> GameState:
    """The next turn, unless the limit is reached (R50)."""
    if state.action_count >= state.setup.rules.turn_limit:
        return _over(state, NOBODY, Result.STALLED, log)
    log.append(TurnTo(state.turn))
    return state


def _over(state: GameState, shithead: int, result: Result, log: list[Event]) -> GameState:
    log.append(Over(shithead, result))
    return replace(state, phase=Phase.OVER, turn=NOBODY, asked=-1, shithead=shithead, result=result)


def leave(state: GameState, move: Leave, log: list[Event]) -> GameState:
    """A player leaves; the cards are laid aside, play goes on around the gap (row 81).

    With one player left the round ends, and the leaver, who ranks last, is the shithead.
    """
    seat = move.seat
    slots = state.downs[seat]
    closed = tuple(p for p in slots if p >= 0)
    log.append(SeatLeft(seat))
    after = replace(
        state,
        hands=put(state.hands, seat, ()),
        ups=put(state.ups, seat, ()),
        downs=put(state.downs, seat, (EMPTY_SLOT,) * len(slots)),
        aside=state.aside + state.hands[seat] + state.ups[seat] + closed,
        active=put(state.active, seat, False),
        left=(*state.left, seat),
    )
    if sum(after.active) == 1:
        return _over(after, seat, Result.FORFEIT, log)
    if state.phase is Phase.ARRANGE:
        return begin_when_ready(after, log)
    if state.turn != seat:
        return after
    if state.phase is Phase.DECLARE:
        return after_pass(after, log)
    after = replace(after, turn=after.next_active(seat))
    log.append(TurnTo(after.turn))
    return after

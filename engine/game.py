"""The rules themselves: deal, and what each move does (docs/rules.md 1, order of resolution 1.16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.actions import Actions, actions, legal_ranks
from engine.cards import UNKNOWN, pack_size
from engine.checks import refusal
from engine.errors import RuleError
from engine.events import Declared, EldestBy, Event, Opened, Passed, SeatReady, Swapped
from engine.moves import Declare, Flip, Leave, Move, Open, Pass, PickUp, Play, Ready, Swap, Unready
from engine.rules import RuleSet, check_playable, packs_for
from engine.starting import after_pass, begin_when_ready, lead, to_declare
from engine.state import (
    NOBODY,
    GameState,
    Phase,
    Result,
    Zones,
    make_setup,
    put,
    seats_from_left,
)
from engine.turns import flip, leave, play, take, turned_up
from engine.views import mask, problems, with_faces

__all__ = [
    "Actions",
    "actions",
    "apply",
    "check",
    "deal",
    "legal_ranks",
    "mask",
    "next_dealer",
    "problems",
    "step",
    "to_declare",
    "with_faces",
]


def deal(rules: RuleSet, players: int, dealer: int, faces: Sequence[int] | None = None) -> GameState:
    """A new round (R9, R10): positions 0, 1, 2 … go out from the dealer's left, the rest is the stock.

    Without ``faces`` nothing is known yet: the phase is ``DEAL`` and all upcards are awaited. ``faces`` is
    the whole pack in dealing order, and leads straight to ``ARRANGE``.

    Raises ``RuleError``: what ``check_playable`` raises; ``bad_seat`` for a dealer who has no seat;
    ``bad_deck`` when ``faces`` is not the whole pack, each card once.
    """
    check_playable(rules, players)
    if not 0 <= dealer < players:
        raise RuleError("bad_seat", "There is no seat {number}.", number=dealer)
    size = pack_size(packs_for(rules, players), rules.jokers)
    if faces is not None and sorted(faces) != list(range(size)):
        raise RuleError("bad_deck", "The deck is not the whole pack of {cards} cards, each once.", cards=size)
    order = seats_from_left(players, dealer)
    rank_in_order = [order.index(seat) for seat in range(players)]

    def zone(before: int, cards: int) -> Zones:
        return tuple(tuple((before + card) * players + place for card in range(cards)) for place in rank_in_order)

    shape = rules.deal
    downs, ups = zone(0, shape.down), zone(shape.down, shape.up)
    hands = zone(shape.down + shape.up, shape.hand)
    upcards = tuple(sorted(p for seat in ups for p in seat))
    is_open = faces is not None or not upcards
    return GameState(
        setup=make_setup(rules, players, dealer, hands, ups),
        phase=Phase.ARRANGE if is_open else Phase.DEAL,
        faces=tuple(faces) if faces is not None else (UNKNOWN,) * size,
        public=sum(1 << p for p in upcards) if is_open else 0,
        hands=hands,
        ups=ups,
        downs=downs,
        stock=tuple(range(players * sum(shape), size)),
        pile=(),
        burnt=(),
        aside=(),
        ready=(False,) * players,
        active=(True,) * players,
        eldest=NOBODY,
        turn=NOBODY,
        asked=-1,
        direction=1,
        awaiting=() if is_open else upcards,
        finish_order=(),
        left=(),
        shithead=NOBODY,
        result=Result.NONE,
        action_count=0,
    )


def check(state: GameState, move: Move) -> RuleError | None:
    """The error with which :func:`apply` would refuse ``move``, or None."""
    return refusal(state, move)


def apply(state: GameState, move: Move) -> GameState:
    """The state after ``move``.

    Raises ``RuleError`` with a code of docs/record.md when the rules refuse it.
    """
    return step(state, move)[0]


def step(state: GameState, move: Move) -> tuple[GameState, tuple[Event, ...]]:
    """As :func:`apply`, with what happened, in order."""
    error = refusal(state, move)
    if error is not None:
        raise error
    log: list[Event] = []
    return _transition(state, move, log), tuple(log)


def next_dealer(state: GameState) -> int:
    """The seat that deals after this round (R48, option ``next_dealer``).

    When there is no shithead or it has gone, the seat after the dealer deals (1.19).
    """
    following = (state.dealer + 1) % state.players
    match state.rules.next_dealer.value:
        case "winner" if state.finish_order:
            return state.finish_order[0]
        case "loser" if state.shithead != NOBODY and state.shithead not in state.left:
            return state.shithead
        case _:
            return following


def _transition(state: GameState, move: Move, log: list[Event]) -> GameState:
    match move:
        case Play():
            return play(state, move, log)
        case PickUp():
            return take(state, move.seat, state.pile, state.downs, log)
        case Flip():
            return flip(state, move, log)
        case Open():
            return _open(state, move, log)
        case Swap():
            return _swap(state, move, log)
        case Ready() | Unready():
            is_ready = isinstance(move, Ready)
            log.append(SeatReady(move.seat, is_ready))
            ready = put(state.ready, move.seat, is_ready)
            return begin_when_ready(replace(state, ready=ready), log)
        case Declare():
            log.append(Declared(move.seat, state.asked, move.position))
            opened = replace(state, public=state.public | 1 << move.position)
            return lead(opened, move.seat, state.asked, EldestBy.HAND, log)
        case Pass():
            log.append(Passed(move.seat, state.asked))
            return after_pass(state, log)
        case Leave():
            return leave(state, move, log)
        case _:
            # Refused for every rule set that this version plays.
            raise RuleError("not_allowed", "These rules have no such move.")


def _swap(state: GameState, move: Swap, log: list[Event]) -> GameState:
    """R12. The hand card is seen by all now, and the upcard stays known: everybody saw it lie there."""
    seat = move.seat
    hand = tuple(move.up if p == move.hand else p for p in state.hands[seat])
    ups = tuple(move.hand if p == move.up else p for p in state.ups[seat])
    log.append(Swapped(seat, move.hand, move.up))
    return replace(
        state,
        hands=put(state.hands, seat, hand),
        ups=put(state.ups, seat, ups),
        public=state.public | 1 << move.hand,
    )


def _open(state: GameState, move: Open, log: list[Event]) -> GameState:
    if state.is_public(move.position):
        return state
    position = move.position
    log.append(Opened(position, move.face))
    opened = replace(state, faces=put(state.faces, position, move.face), public=state.public | 1 << position)
    if not state.awaiting:
        return opened
    awaiting = tuple(p for p in state.awaiting if p != position)
    if state.phase is Phase.PLAY:
        return turned_up(replace(opened, awaiting=awaiting), position, log)
    return replace(opened, awaiting=awaiting, phase=state.phase if awaiting else Phase.ARRANGE)

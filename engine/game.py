"""The rules themselves: deal, and what each move does (docs/rules.md 1, order of resolution 1.16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from engine.actions import Actions, actions, legal_ranks
from engine.cards import UNKNOWN, pack_size
from engine.checks import refusal
from engine.errors import RuleError, Sentence
from engine.events import Chose, Event, Opened, Passed, SeatReady, Swapped
from engine.leaving import leave
from engine.moves import (
    Chance,
    Choose,
    Declare,
    Done,
    Flip,
    Leave,
    Move,
    Name,
    Open,
    Pass,
    PickUp,
    Play,
    PlayAs,
    PlayerMove,
    Ready,
    Swap,
    Unready,
)
from engine.options import ArrangeRule, NextDealer, StartRule
from engine.rules import RuleSet, check_playable, packs_for
from engine.starting import after_declare, after_pass, begin, begin_when_ready, to_declare
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
from engine.turns import chance, done, flip, name, pick_up, play, turned_up
from engine.views import mask, problems, with_faces

__all__ = [
    "Actions",
    "actions",
    "apply",
    "check",
    "deal",
    "hidden_breach",
    "legal_ranks",
    "mask",
    "next_dealer",
    "problems",
    "step",
    "to_declare",
    "with_faces",
]

BREACH_CODES: Final[Mapping[type[PlayerMove], str]] = {
    Pass: "false_pass",
    Declare: "false_declare",
    PickUp: "pick_up_not_forced",
    Chance: "chance_not_forced",
    Play: "lead_not_start_rank",
    PlayAs: "lead_not_start_rank",
}
"""What a move is called that only the hands, once open, show to have been against the rules (1.19)."""


def deal(
    rules: RuleSet, players: int, dealer: int, faces: Sequence[int] | None = None, eldest: int = NOBODY
) -> GameState:
    """A new round (R9, R10): positions 0, 1, 2 … go out from the dealer's left, the rest is the stock.

    With ``arrange=choose`` the rounds of upcards go to the hands as well. ``eldest`` is the seat that a lot drew
    to lead; ``start=random`` needs it, as the engine has no dice.

    Without ``faces`` nothing is known yet: the phase is ``DEAL`` and all upcards are awaited. ``faces`` is
    the whole pack in dealing order, and leads straight to ``ARRANGE``.

    Raises ``RuleError``: what ``check_playable`` raises; ``bad_seat`` for a dealer who has no seat, and for an
    ``eldest`` that has none or is not asked for; ``bad_deck`` when ``faces`` is not the whole pack, each card
    once.
    """
    check_playable(rules, players)
    if not 0 <= dealer < players:
        raise RuleError("bad_seat", "There is no seat {number}.", number=dealer)
    if rules.start is StartRule.RANDOM and not 0 <= eldest < players:
        raise RuleError("bad_seat", "Who leads has to be drawn by lot, from the seats there are.")
    if rules.start is not StartRule.RANDOM and eldest != NOBODY:
        raise RuleError("bad_seat", "Who leads is found by these rules, not drawn by lot.")
    size = pack_size(packs_for(rules, players), rules.jokers)
    if faces is not None and sorted(faces) != list(range(size)):
        raise RuleError("bad_deck", "The deck is not the whole pack of {cards} cards, each once.", cards=size)
    order = seats_from_left(players, dealer)
    rank_in_order = [order.index(seat) for seat in range(players)]

    def zone(before: int, cards: int) -> Zones:
        return tuple(tuple((before + card) * players + place for card in range(cards)) for place in rank_in_order)

    shape = rules.deal
    dealt_up = 0 if rules.arrange is ArrangeRule.CHOOSE else shape.up
    downs, ups = zone(0, shape.down), zone(shape.down, dealt_up)
    hands = zone(shape.down + dealt_up, shape.up - dealt_up + shape.hand)
    upcards = tuple(sorted(p for seat in ups for p in seat))
    is_open = faces is not None or not upcards
    return GameState(
        setup=make_setup(rules, players, dealer, hands, ups, eldest),
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


def hidden_breach(state: GameState, move: PlayerMove) -> Sentence | None:
    """What ``move`` did against the rules, judged with faces that were hidden when it was made (1.19).

    ``state``: as it was before the move, with all faces put in (``with_faces``; the mover's hand is enough).
    None for a move that the rules allow. Codes: :data:`BREACH_CODES`, otherwise that of the refusal.
    """
    error = refusal(state, move)
    if error is None:
        return None
    sentence = error.sentence
    code = BREACH_CODES.get(type(move), sentence.code) if sentence.code == "must_play" else sentence.code
    return Sentence(code, sentence.template, sentence.values)


def next_dealer(state: GameState, drawn: int = NOBODY) -> int:
    """The seat that deals after this round (R48, option ``next_dealer``).

    When there is no shithead or it has gone, the seat after the dealer deals (1.19). ``drawn`` is the seat that a
    lot drew; ``next_dealer=random`` needs it, and raises ``RuleError("bad_seat")`` without.
    """
    following = (state.dealer + 1) % state.players
    match state.rules.next_dealer:
        case NextDealer.WINNER if state.finish_order:
            return state.finish_order[0]
        case NextDealer.LOSER if state.shithead != NOBODY and state.shithead not in state.left:
            return state.shithead
        case NextDealer.RANDOM:
            if not 0 <= drawn < state.players:
                raise RuleError("bad_seat", "Who deals has to be drawn by lot, from the seats there are.")
            return drawn
        case _:
            return following


def _transition(state: GameState, move: Move, log: list[Event]) -> GameState:
    match move:
        case Play() | PlayAs():
            return play(state, move, log)
        case PickUp():
            return pick_up(state, move, log)
        case Flip():
            return flip(state, move, log)
        case Chance():
            return chance(state, move, log)
        case Name():
            return name(state, move, log)
        case Done():
            return done(state, move, log)
        case Open():
            return _open(state, move, log)
        case Swap():
            return _swap(state, move, log)
        case Choose():
            return _choose(state, move, log)
        case Ready() | Unready():
            is_ready = isinstance(move, Ready)
            log.append(SeatReady(move.seat, is_ready))
            ready = put(state.ready, move.seat, is_ready)
            return begin_when_ready(replace(state, ready=ready), log)
        case Declare():
            return after_declare(state, move.position, log)
        case Pass():
            log.append(Passed(move.seat, state.asked))
            return after_pass(state, log)
        case Leave():
            return leave(state, move, log)


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


def _choose(state: GameState, move: Choose, log: list[Event]) -> GameState:
    """The chosen cards lie on the downcards, closed until all have chosen (``arrange=choose``)."""
    seat = move.seat
    own = sorted(state.hands[seat] + state.ups[seat])
    log.append(Chose(seat, move.positions))
    return replace(
        state,
        hands=put(state.hands, seat, tuple(p for p in own if p not in move.positions)),
        ups=put(state.ups, seat, move.positions),
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
    opened = replace(opened, awaiting=awaiting)
    if awaiting:
        return opened
    # The upcards lie open: as dealt, and they are arranged next, or as chosen, and eldest is looked for.
    return replace(opened, phase=Phase.ARRANGE) if state.phase is Phase.DEAL else begin(opened, log)

"""Who leads: eldest hand (R15, option ``start``, and 1.19 for hidden hands)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.cards import DEUCE, JOKER_RANK, RANKS, SUITS, suit
from engine.events import Asked, Declared, EldestBy, EldestFound, Event, Opened, TurnTo
from engine.moves import Declare, Pass
from engine.options import MOST_COPIES_TIE, SEAT_TIE, SUIT_TIE_PREFIX, ArrangeRule, StartRule
from engine.state import NOBODY, NOTHING, Extra, GameState, Phase

START_ORDER: Final = (*(r for r in range(len(RANKS)) if r != DEUCE), DEUCE)
"""Rank numbers in the order in which they decide who leads: 3 4 … A 2 (R15.3)."""


def start_order(state: GameState) -> tuple[int, ...]:
    """The ranks in the order in which they decide; jokers, where there are any, come last (3.4)."""
    return (*START_ORDER, JOKER_RANK) if state.setup.rules.jokers else START_ORDER


def begin_when_ready(state: GameState, log: list[Event]) -> GameState:
    """Once all who play are ready, go on: chosen upcards are turned up, and eldest is looked for (R13)."""
    if not all(ready or not active for ready, active in zip(state.ready, state.active, strict=True)):
        return state
    closed = tuple(sorted(p for ups in state.ups for p in ups if not state.is_public(p)))
    if any(state.faces[position] < 0 for position in closed):
        return replace(state, awaiting=closed)
    for position in closed:
        log.append(Opened(position, state.faces[position]))
    return begin(replace(state, public=state.public | sum(1 << p for p in closed)), log)


def begin(state: GameState, log: list[Event]) -> GameState:
    """All upcards lie open: play begins if eldest is known, else the first question is asked."""
    order = state.seats_from_left()
    match state.setup.rules.start:
        case StartRule.DEALER_LEFT:
            return lead(state, next(seat for seat in order if state.active[seat]), -1, EldestBy.SEAT, log)
        case StartRule.RANDOM:
            drawn = state.setup.drawn_eldest
            seat = drawn if state.active[drawn] else state.next_active(drawn)
            return lead(state, seat, -1, EldestBy.LOT, log)
        case _:
            return _search(state, START_ORDER[0], 0, log)


def after_declare(state: GameState, position: int, log: list[Event]) -> GameState:
    """Go on after the seat asked has laid open the card at ``position``."""
    seat, rank = state.turn, state.asked
    log.append(Declared(seat, rank, position))
    state = replace(state, public=state.public | 1 << position)
    index = state.seats_from_left().index(seat)
    tie = _tie(state)
    if tie == SEAT_TIE:
        return lead(state, seat, rank, EldestBy.HAND, log)
    if tie == MOST_COPIES_TIE:
        declared = (*state.extra.declared, position)
        return _search(replace(state, extra=Extra(declared=declared)), rank, index, log)
    return _search(state, rank, index + 1, log)


def after_pass(state: GameState, log: list[Event]) -> GameState:
    """Go on after the seat asked has passed or gone."""
    order = state.seats_from_left()
    return _search(state, state.asked, order.index(state.turn) + 1, log)


def lead(state: GameState, seat: int, rank: int, by: EldestBy, log: list[Event]) -> GameState:
    """``seat`` is eldest hand; play begins."""
    log.append(EldestFound(seat, rank, by))
    log.append(TurnTo(seat))
    holds = state.setup.rules.lead_must_be_start_rank and rank >= 0
    extra = Extra(start_rank=rank) if holds else NOTHING
    return replace(state, phase=Phase.PLAY, eldest=seat, turn=seat, asked=-1, extra=extra)


def asked_cards(state: GameState, seat: int) -> tuple[int, ...]:
    """The cards of ``seat`` that are asked for: those dealt to the hand (R15), or with ``start=hand_lowest`` and
    ``arrange=choose`` those in it when the last player gets ready (3.4).
    """
    rules = state.setup.rules
    if rules.start is StartRule.HAND_LOWEST or rules.arrange is ArrangeRule.CHOOSE:
        return state.hands[seat]
    return state.setup.dealt_hands[seat]


def _tie(state: GameState) -> str:
    """How equal ranks are decided: ``start_tie`` is for ``hand_lowest``."""
    rules = state.setup.rules
    return rules.start_tie if rules.start is StartRule.HAND_LOWEST else SEAT_TIE


def _search(state: GameState, rank: int, first: int, log: list[Event]) -> GameState:
    """Ask for ``rank`` from the ``first``-th seat clockwise from the dealer's left, then for the ranks after
    it. Upcards are the same while questions are asked: looking through them again finds nothing new.
    """
    order, ranks = state.seats_from_left(), start_order(state)
    tie = _tie(state)
    for number in ranks[ranks.index(rank) :]:
        if state.setup.rules.start is StartRule.UPCARD_THEN_HAND:
            seat = _first_with_upcard(state, number)
            if seat != NOBODY:
                return lead(state, seat, number, EldestBy.UPCARD, log)
        for seat in order[first:]:
            if not state.active[seat]:
                continue
            cards = asked_cards(state, seat)
            if tie == SEAT_TIE and any(state.is_public(p) and state.rank_at(p) == number for p in cards):
                return lead(state, seat, number, EldestBy.HAND, log)
            if not all(state.is_public(p) for p in cards):
                log.append(Asked(seat, number))
                return replace(state, phase=Phase.DECLARE, turn=seat, asked=number)
        if tie != SEAT_TIE:
            seat = _best_of_several(state, number, tie)
            if seat != NOBODY:
                return lead(state, seat, number, EldestBy.HAND, log)
        first = 0
    # Only false passes, or a made-up position without cards of any rank, lead here.
    seat = next(seat for seat in order if state.active[seat])
    return lead(state, seat, -1, EldestBy.SEAT, log)


def _first_with_upcard(state: GameState, rank: int) -> int:
    """The seat that was dealt the first upcard of ``rank`` in deal order (R11, R15.1), or ``NOBODY``.

    Chosen upcards are looked through seat by seat (3.4).
    """
    order = state.seats_from_left()
    if state.setup.rules.arrange is ArrangeRule.CHOOSE:
        with_it = (seat for seat in order if any(state.rank_at(p) == rank for p in state.ups[seat]))
        return next(with_it, NOBODY)
    dealt = state.setup.dealt_ups
    for deal_round in range(max(map(len, dealt))):
        for seat in order:
            ups = dealt[seat]
            if state.active[seat] and deal_round < len(ups) and state.rank_at(ups[deal_round]) == rank:
                return seat
    return NOBODY


def _best_of_several(state: GameState, rank: int, tie: str) -> int:
    """Who leads when all have laid open what they have of ``rank``, or ``NOBODY`` (``start_tie``)."""
    shown = {
        seat: [p for p in state.hands[seat] if state.is_public(p) and state.rank_at(p) == rank]
        for seat in state.seats_from_left()
        if state.active[seat]
    }
    having = [seat for seat, cards in shown.items() if cards]
    if not having:
        return NOBODY
    # min and max give the first of equals: the one nearest clockwise from the dealer's left.
    if tie == MOST_COPIES_TIE:
        return max(having, key=lambda seat: len(shown[seat]))
    return min(having, key=lambda seat: min(_suit_place(state, p) for p in shown[seat]))


def _suit_place(state: GameState, position: int) -> int:
    """Where the suit of a known card stands in the order of ``start_tie=suit/…``; jokers have none."""
    if state.rank_at(position) == JOKER_RANK:
        return len(SUITS)
    order = state.setup.rules.start_tie.removeprefix(SUIT_TIE_PREFIX)
    return order.index(SUITS[suit(state.faces[position])])


def owed_answer(state: GameState, *, best_only: bool = False) -> int | None:
    """The position that the seat asked has to declare, as far as faces are known here; None where that is none.

    ``best_only``: the card without which another declaration is wrong, and None where any will do.
    """
    cards = asked_cards(state, state.turn)
    fitting = sorted(p for p in cards if state.rank_at(p) == state.asked)
    tie = _tie(state)
    if tie in (SEAT_TIE, MOST_COPIES_TIE):
        if best_only:
            return None
        return next((p for p in fitting if tie == SEAT_TIE or not state.is_public(p)), None)
    # By suit: the best card is enough, and one that lies open says so by itself.
    best = min(fitting, key=lambda p: _suit_place(state, p), default=None)
    if best_only:
        return best
    return None if best is None or state.is_public(best) else best


def to_declare(state: GameState) -> Declare | Pass | None:
    """The answer that the rule forces on the seat asked, given its own faces; None when nobody is asked.

    It is the lowest position that has the rank asked for, or with ``start_tie=suit`` the best suit of it. None as
    well when a face needed for the answer is not known here.
    """
    if state.phase is not Phase.DECLARE:
        return None
    cards = asked_cards(state, state.turn)
    all_known = all(state.faces[p] >= 0 for p in cards)
    position = owed_answer(state)
    if position is not None and (all_known or _tie(state) == SEAT_TIE):
        return Declare(state.turn, position)
    return Pass(state.turn) if all_known else None

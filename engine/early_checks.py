"""Why a move before play is refused: arranging, choosing and declaring. The moves of a turn: ``engine.checks``."""

from __future__ import annotations

from engine.cards import rank_text
from engine.errors import RuleError
from engine.moves import Choose, Declare, Pass, Ready, Swap, Unready
from engine.options import ArrangeRule
from engine.refusals import card_shown, no_such_card, not_allowed, not_own, not_seen, wrong_phase
from engine.starting import asked_cards, owed_answer
from engine.state import GameState, Phase


def asked(state: GameState, seat: int) -> RuleError | None:
    """Refuse an answer of a seat that is not asked."""
    if state.phase is not Phase.DECLARE:
        return wrong_phase(state)
    if seat != state.turn:
        return RuleError("not_your_turn", "It is {seat}'s turn.", seat=state.turn)
    return None


def arranging(state: GameState, seat: int) -> RuleError | None:
    """Refuse a move of arranging at another time, or of a seat that does not play."""
    if state.phase is not Phase.ARRANGE:
        return wrong_phase(state)
    if not (0 <= seat < state.players and state.active[seat]):
        return RuleError("not_your_turn", "{seat} does not play in this round.", seat=seat)
    return None


def swap(state: GameState, move: Swap) -> RuleError | None:
    """Why ``move`` is refused to a seat that arranges, or None."""
    seat = move.seat
    if state.setup.rules.arrange is not ArrangeRule.SWAP:
        return not_allowed("exchanging cards")
    hand_unseen = None if move.hand not in state.hands[seat] else not_seen(state, (move.hand,))
    wrong = hand_unseen or not_own(state, seat, (move.hand, move.up))
    if wrong:
        return wrong
    if move.hand not in state.hands[seat] or move.up not in state.ups[seat]:
        return RuleError("not_in_zone", "A hand card is exchanged for an upcard.", seat=seat)
    if state.ready[seat]:
        return RuleError("already_ready", "{seat} is ready already.", seat=seat)
    return None


def choose(state: GameState, move: Choose) -> RuleError | None:
    """As :func:`swap`."""
    seat, wanted = move.seat, state.setup.rules.deal.up
    if state.setup.rules.arrange is not ArrangeRule.CHOOSE:
        return not_allowed("choosing upcards")
    foreign = not_own(state, seat, move.positions)
    if foreign:
        return foreign
    if any(p in state.downs[seat] for p in move.positions):
        return RuleError("not_in_zone", "Upcards are chosen from the hand.", seat=seat)
    if len(set(move.positions)) < len(move.positions):
        return RuleError("duplicate_card", "A card is named twice.")
    if len(move.positions) != wanted:
        return RuleError("wrong_count", "Choose {count} cards.", count=wanted)
    if state.ready[seat]:
        return RuleError("already_ready", "{seat} is ready already.", seat=seat)
    return None


def ready(state: GameState, move: Ready | Unready) -> RuleError | None:
    """As :func:`swap`."""
    seat = move.seat
    if isinstance(move, Unready):
        return None if state.ready[seat] else RuleError("not_allowed", "{seat} is not ready yet.", seat=seat)
    if state.setup.rules.arrange is ArrangeRule.CHOOSE and not state.ups[seat]:
        return RuleError("must_choose", "{seat} has not chosen upcards yet.", seat=seat)
    if state.ready[seat]:
        return RuleError("already_ready", "{seat} is ready already.", seat=seat)
    return None


def declare(state: GameState, move: Declare) -> RuleError | None:
    """Why an answer is refused to the seat that is asked, or None."""
    if not 0 <= move.position < len(state.faces):
        return no_such_card()
    askable = move.position in asked_cards(state, move.seat)
    if askable and state.faces[move.position] < 0:
        return no_such_card()
    foreign = not_own(state, move.seat, (move.position,))
    if foreign:
        return foreign
    if not askable:
        return RuleError("not_in_zone", "That is none of the cards that are asked for.", seat=move.seat)
    if move.position in state.extra.declared:
        return RuleError("duplicate_card", "{card} is declared already.", card=card_shown(state, move.position))
    if state.rank_at(move.position) != state.asked:
        return RuleError(
            "not_a_set",
            "{seat} is asked for a {rank}, not for {card}.",
            seat=move.seat,
            rank=rank_text(state.asked),
            card=card_shown(state, move.position),
        )
    better = owed_answer(state, best_only=True)
    if better is not None and better != move.position:
        return RuleError(
            "must_play", "{seat} declares the best card: {card}.", seat=move.seat, card=card_shown(state, better)
        )
    return None


def passing(state: GameState, move: Pass) -> RuleError | None:
    """As :func:`declare`."""
    if owed_answer(state) is not None:
        return RuleError(
            "must_play",
            "{seat} has a {rank} and must declare it.",
            seat=move.seat,
            rank=rank_text(state.asked),
        )
    return None

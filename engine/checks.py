"""Why a move is refused. Every refusal has a code of docs/record.md, tried in the order given there."""

from __future__ import annotations

from engine.cards import UNKNOWN, card_text, rank_text
from engine.errors import RuleError
from engine.moves import (
    Chance,
    Choose,
    Declare,
    Flip,
    Leave,
    Move,
    Open,
    Pass,
    PickUp,
    Play,
    PlayAs,
    Ready,
    Swap,
    Unready,
)
from engine.state import GameState, Phase, Zone

CODES = (
    "wrong_phase",
    "not_your_turn",
    "not_allowed",
    "no_such_card",
    "not_yours",
    "not_in_zone",
    "must_flip",
    "duplicate_card",
    "not_a_set",
    "above_ceiling",
    "too_low",
    "empty_pile",
    "must_play",
    "bad_slot",
    "already_ready",
)
"""The codes, in the order in which they are tried."""


def refusal(state: GameState, move: Move) -> RuleError | None:
    """The error with which ``move`` is refused in ``state``, or None when it is accepted."""
    if isinstance(move, Open):
        return _open(state, move)
    if state.awaiting:
        return RuleError("wrong_phase", "A card is being opened; wait for it.")
    match move:
        case Play():
            return _in_turn(state, move.seat, Phase.PLAY) or _play(state, move)
        case PickUp():
            return _in_turn(state, move.seat, Phase.PLAY) or _pick_up(state, move)
        case Flip():
            return _in_turn(state, move.seat, Phase.PLAY) or _flip(state, move)
        case Swap():
            return _arranging(state, move.seat) or _swap(state, move)
        case Ready() | Unready():
            return _arranging(state, move.seat) or _ready(state, move)
        case Declare():
            return _in_turn(state, move.seat, Phase.DECLARE) or _declare(state, move)
        case Pass():
            return _in_turn(state, move.seat, Phase.DECLARE) or _pass(state, move)
        case Leave():
            return _leave(state, move)
        case Chance():
            return _in_turn(state, move.seat, Phase.PLAY) or _not_allowed("turning a chance card")
        case PlayAs():
            return _in_turn(state, move.seat, Phase.PLAY) or _not_allowed("naming the rank of a card")
        case Choose():
            return _arranging(state, move.seat) or _not_allowed("choosing upcards")


def _wrong_phase(state: GameState) -> RuleError:
    template = {
        Phase.DEAL: "The cards are still being dealt.",
        Phase.ARRANGE: "Play has not begun: players are arranging their cards.",
        Phase.DECLARE: "Play has not begun: it is being found out who leads.",
        Phase.PLAY: "That can't be done any more: play has begun.",
        Phase.OVER: "The round is over.",
    }[state.phase]
    return RuleError("wrong_phase", template, phase=state.phase.value)


def _in_turn(state: GameState, seat: int, phase: Phase) -> RuleError | None:
    if state.phase is not phase:
        return _wrong_phase(state)
    if seat != state.turn:
        return RuleError("not_your_turn", "It is {seat}'s turn.", seat=state.turn)
    return None


def _arranging(state: GameState, seat: int) -> RuleError | None:
    if state.phase is not Phase.ARRANGE:
        return _wrong_phase(state)
    if not (0 <= seat < state.players and state.active[seat]):
        return RuleError("not_your_turn", "{seat} does not play in this round.", seat=seat)
    return None


def _not_allowed(what: str) -> RuleError:
    return RuleError("not_allowed", "These rules have no such move: {what}.", what=what)


def _no_such_card() -> RuleError:
    return RuleError("no_such_card", "There is no such card, or nobody has seen it yet.")


def _card(state: GameState, position: int) -> str:
    return card_text(state.faces[position], state.packs)


def _own(state: GameState, seat: int, positions: tuple[int, ...]) -> RuleError | None:
    """Refuse unless every position exists and belongs to ``seat``, in whichever zone."""
    for position in positions:
        if not 0 <= position < len(state.faces):
            return _no_such_card()
    zones = (state.hands[seat], state.ups[seat], state.downs[seat])
    for position in positions:
        if not any(position in zone for zone in zones):
            return RuleError("not_yours", "{seat} does not hold {card}.", seat=seat, card=_card(state, position))
    return None


def _unseen(state: GameState, positions: tuple[int, ...]) -> RuleError | None:
    if any(0 <= position < len(state.faces) and state.faces[position] < 0 for position in positions):
        return _no_such_card()
    return None


def _play(state: GameState, move: Play) -> RuleError | None:
    seat, positions = move.seat, move.positions
    zone = state.hands[seat] or state.ups[seat]
    ranks = {state.rank_at(p) for p in positions if p in zone}
    inside = all(p in zone for p in positions)
    if not inside or len(ranks) != 1 or UNKNOWN in ranks or len(set(positions)) < len(positions):
        return _misplaced(state, move)
    rank, top = ranks.pop(), state.top_rank()
    if not state.setup.tables.follows[top][rank]:
        return RuleError(
            "too_low",
            "A {rank} can't be played on a {top}.",
            rank=rank_text(rank),
            top=rank_text(top),
        )
    return None


def _misplaced(state: GameState, move: Play) -> RuleError:
    """What is wrong with a play that is not a set of known cards from the active zone."""
    seat, positions = move.seat, move.positions
    foreign = _own(state, seat, positions)
    if foreign:
        return foreign
    zone = state.active_zone(seat)
    active = state.hands[seat] or state.ups[seat]
    stray = next((p for p in positions if p not in active), None)
    if stray is not None and zone is Zone.DOWNCARDS:
        return RuleError("must_flip", "Only downcards are left: flip one.", seat=seat)
    if stray is not None:
        held = "hand cards" if zone is Zone.HAND else "upcards"
        return RuleError("not_in_zone", "The {held} come first.", held=held, seat=seat)
    unseen = _unseen(state, positions)
    if unseen:
        return unseen
    if len(set(positions)) < len(positions):
        return RuleError("duplicate_card", "A card is named twice.")
    return RuleError("not_a_set", "One or more cards of one rank can be played at a time.")


def _pick_up(state: GameState, move: PickUp) -> RuleError | None:
    if move.upcards:
        return _not_allowed("picking up with an upcard")
    if state.active_zone(move.seat) is Zone.DOWNCARDS:
        return RuleError("must_flip", "Only downcards are left: flip one.", seat=move.seat)
    if not state.pile:
        return RuleError("empty_pile", "There is nothing to pick up: any card can be led.")
    return None


def _flip(state: GameState, move: Flip) -> RuleError | None:
    zone = state.active_zone(move.seat)
    if zone is not Zone.DOWNCARDS:
        held = "hand cards" if zone is Zone.HAND else "upcards"
        return RuleError("not_in_zone", "The {held} come first.", held=held, seat=move.seat)
    slots = state.downs[move.seat]
    if not (0 <= move.slot < len(slots) and slots[move.slot] >= 0):
        return RuleError("bad_slot", "There is no downcard in slot {slot}.", slot=move.slot + 1)
    return None


def _swap(state: GameState, move: Swap) -> RuleError | None:
    seat = move.seat
    hand_unseen = None if move.hand not in state.hands[seat] else _unseen(state, (move.hand,))
    wrong = hand_unseen or _own(state, seat, (move.hand, move.up))
    if wrong:
        return wrong
    if move.hand not in state.hands[seat] or move.up not in state.ups[seat]:
        return RuleError("not_in_zone", "A hand card is exchanged for an upcard.", seat=seat)
    if state.ready[seat]:
        return RuleError("already_ready", "{seat} is ready already.", seat=seat)
    return None


def _ready(state: GameState, move: Ready | Unready) -> RuleError | None:
    if isinstance(move, Ready) and state.ready[move.seat]:
        return RuleError("already_ready", "{seat} is ready already.", seat=move.seat)
    if isinstance(move, Unready) and not state.ready[move.seat]:
        return RuleError("not_allowed", "{seat} is not ready yet.", seat=move.seat)
    return None


def _declare(state: GameState, move: Declare) -> RuleError | None:
    if not 0 <= move.position < len(state.faces):
        return _no_such_card()
    dealt = move.position in state.setup.dealt_hands[move.seat]
    if dealt and state.faces[move.position] < 0:
        return _no_such_card()
    foreign = _own(state, move.seat, (move.position,))
    if foreign:
        return foreign
    if not dealt:
        return RuleError("not_in_zone", "Only a card dealt to the hand can be declared.", seat=move.seat)
    if state.rank_at(move.position) != state.asked:
        return RuleError(
            "not_a_set",
            "{seat} is asked for a {rank}, not for {card}.",
            seat=move.seat,
            rank=rank_text(state.asked),
            card=_card(state, move.position),
        )
    return None


def _pass(state: GameState, move: Pass) -> RuleError | None:
    if any(state.rank_at(p) == state.asked for p in state.setup.dealt_hands[move.seat]):
        return RuleError(
            "must_play",
            "{seat} was dealt a {rank} and must declare it.",
            seat=move.seat,
            rank=rank_text(state.asked),
        )
    return None


def _leave(state: GameState, move: Leave) -> RuleError | None:
    if state.phase in (Phase.DEAL, Phase.OVER):
        return _wrong_phase(state)
    if not (0 <= move.seat < state.players and state.active[move.seat]):
        return RuleError("not_your_turn", "{seat} does not play in this round any more.", seat=move.seat)
    return None


def _open(state: GameState, move: Open) -> RuleError | None:
    position, face = move.position, move.face
    if not (0 <= position < len(state.faces) and 0 <= face < len(state.faces)):
        return RuleError("no_such_card", "There is no such card.")
    known = state.faces[position]
    if known != face and (known >= 0 or face in state.faces):
        return RuleError(
            "no_such_card",
            "{card} can't be there: another card is.",
            card=card_text(face, state.packs),
        )
    if state.is_public(position):
        return None
    if state.awaiting:
        if position not in state.awaiting:
            return RuleError("not_in_zone", "That is not the card that is being opened.")
        return None
    if state.phase is Phase.OVER:
        return _wrong_phase(state)
    if not any(position in hand for hand in state.hands):
        return RuleError("not_in_zone", "Nobody may open that card now.")
    return None

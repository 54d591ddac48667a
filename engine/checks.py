"""Why a move is refused. Every refusal has a code of docs/record.md, tried in the order given there.

A state knows some faces and not others: what is known is judged, the rest is accepted. With all faces known the
same check is that of the audit (``engine.game.hidden_breach``).
"""

from __future__ import annotations

from engine import early_checks as early
from engine.cards import JOKER_RANK, UNKNOWN, card_text, rank_text
from engine.errors import RuleError
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
    Ready,
    Swap,
    Unready,
)
from engine.options import ChanceRule, PickUpRule, UpcardPickUp
from engine.plays import can_combine, can_play, must_hold
from engine.refusals import not_allowed, not_own, not_seen, wrong_phase
from engine.state import NOTHING, GameState, Phase, Zone

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
    "wrong_count",
    "bad_rank",
    "above_ceiling",
    "too_low",
    "empty_pile",
    "empty_stock",
    "must_play",
    "must_choose",
    "bad_slot",
    "already_ready",
)
"""The codes, in the order in which they are tried."""


def refusal(state: GameState, move: Move) -> RuleError | None:
    """The error with which ``move`` is refused in ``state``, or None when it is accepted."""
    if isinstance(move, Open):
        return _open(state, move)
    if state.phase is Phase.DEAL:
        return wrong_phase(state)
    if state.awaiting:
        return RuleError("wrong_phase", "A card is being opened; wait for it.")
    match move:
        case Play() | PlayAs():
            return _in_turn(state, move) or _play(state, move)
        case PickUp():
            return _in_turn(state, move) or _pick_up(state, move)
        case Flip():
            return _in_turn(state, move) or _flip(state, move)
        case Chance():
            return _in_turn(state, move) or _chance(state, move)
        case Name():
            return _in_turn(state, move) or _name(state, move)
        case Done():
            return _in_turn(state, move) or _done(state)
        case Swap():
            return early.arranging(state, move.seat) or early.swap(state, move)
        case Choose():
            return early.arranging(state, move.seat) or early.choose(state, move)
        case Ready() | Unready():
            return early.arranging(state, move.seat) or early.ready(state, move)
        case Declare():
            return early.asked(state, move.seat) or early.declare(state, move)
        case Pass():
            return early.asked(state, move.seat) or early.passing(state, move)
        case Leave():
            return _leave(state, move)


def _in_turn(state: GameState, move: Play | PlayAs | PickUp | Flip | Chance | Name | Done) -> RuleError | None:
    """Refuse a move of a turn that is not the mover's, or that does not fit the step the turn is at."""
    if state.phase is not Phase.PLAY:
        return wrong_phase(state)
    if move.seat != state.turn:
        return RuleError("not_your_turn", "It is {seat}'s turn.", seat=state.turn)
    return None if state.extra is NOTHING else _step(state, move)


def _step(state: GameState, move: Play | PlayAs | PickUp | Flip | Chance | Name | Done) -> RuleError | None:
    """Refuse what does not fit while a joker is named, or cards just drawn may be laid."""
    extra = state.extra
    if extra.naming >= 0 and not isinstance(move, Name):
        return RuleError("wrong_phase", "{seat} has to say first what the joker counts as.", seat=move.seat)
    if extra.follow and not isinstance(move, Play | Done):
        return RuleError(
            "wrong_phase",
            "{seat} lays {rank}s just drawn, or is done.",
            seat=move.seat,
            rank=rank_text(extra.follow_rank),
        )
    return None


def _play(state: GameState, move: Play | PlayAs) -> RuleError | None:
    seat, positions = move.seat, move.positions
    tables, hand = state.setup.tables, state.hands[seat]
    if isinstance(move, PlayAs) and not tables.nameable:
        return not_allowed("naming the rank of a card")
    zone = hand or state.ups[seat]
    ranks = {state.rank_at(p) for p in positions if p in zone}
    inside = all(p in zone for p in positions)
    if not inside and can_combine(state, seat) and all(p in positions for p in hand):
        # The whole hand is laid, so that upcards may go along.
        zone = hand + state.ups[seat]
        ranks = {state.rank_at(p) for p in positions if p in zone}
        inside = all(p in zone for p in positions)
    if not inside or not ranks or UNKNOWN in ranks or len(set(positions)) < len(positions):
        return _misplaced(state, move)
    if tables.nameable:
        wrong = _jokers(state, move, ranks)
        if wrong:
            return wrong
    if len(ranks) != 1:
        return _misplaced(state, move)
    (rank,) = ranks
    extra = state.extra
    if extra.follow:
        return _follow_up(state, positions, rank)
    top = state.rank_to_beat()
    follows = (
        tables.follows if hand and len(positions) < tables.big_count else tables.matrix(not hand, len(positions))
    )
    if not follows[top][rank]:
        return _does_not_follow(state, rank, top, upcards=not hand)
    if extra.start_rank >= 0:
        required = must_hold(state, seat)
        if required >= 0 and all(state.rank_at(p) != required for p in positions):
            return RuleError("must_play", "The first lead has to be a {rank}.", rank=rank_text(required))
    return None


def _jokers(state: GameState, move: Play | PlayAs, ranks: set[int]) -> RuleError | None:
    """Refuse a wild joker without a rank, and a rank that it can't be. ``ranks`` becomes the rank played."""
    if isinstance(move, Play):
        if JOKER_RANK in ranks:
            return RuleError("bad_rank", "Say what rank the joker counts as.")
        return None
    if JOKER_RANK not in ranks:
        return RuleError("bad_rank", "Only a joker is named; there is none among these cards.")
    ranks.discard(JOKER_RANK)
    if len(ranks) > 1:
        return RuleError("not_a_set", "One or more cards of one rank can be played at a time.")
    if ranks and ranks != {move.rank}:
        return RuleError(
            "bad_rank", "A joker played with a {rank} counts as one.", rank=rank_text(next(iter(ranks)))
        )
    if move.rank not in state.setup.tables.nameable:
        return _unnameable(move.rank)
    ranks.add(move.rank)
    return None


def _unnameable(rank: int) -> RuleError:
    shown = rank_text(rank) if 0 <= rank <= JOKER_RANK else "?"
    return RuleError("bad_rank", "A joker can't count as a {rank}.", rank=shown)


def _follow_up(state: GameState, positions: tuple[int, ...], rank: int) -> RuleError | None:
    extra = state.extra
    if not all(p in extra.follow for p in positions):
        return RuleError("not_in_zone", "Only cards just drawn can be laid now.")
    if rank != extra.follow_rank:
        return RuleError(
            "not_a_set", "Only a {rank} can be laid now, as before.", rank=rank_text(extra.follow_rank)
        )
    return None


def _does_not_follow(state: GameState, rank: int, top: int, *, upcards: bool) -> RuleError:
    tables = state.setup.tables
    values = {"rank": rank_text(rank), "top": rank_text(top)}
    if tables.ceiling[top]:
        return RuleError("above_ceiling", "After a {top} a {rank} can't be played: {top} or lower.", **values)
    if upcards and tables.follows[top][rank]:
        return RuleError("too_low", "An upcard has to be higher than the {top}; a {rank} is not.", **values)
    return RuleError("too_low", "A {rank} can't be played on a {top}.", **values)


def _misplaced(state: GameState, move: Play | PlayAs) -> RuleError:
    """What is wrong with a play that is not a set of known cards from the active zone."""
    seat, positions = move.seat, move.positions
    foreign = not_own(state, seat, positions)
    if foreign:
        return foreign
    zone = state.active_zone(seat)
    active = state.hands[seat] or state.ups[seat]
    if can_combine(state, seat) and all(p in positions for p in active):
        active += state.ups[seat]
    stray = next((p for p in positions if p not in active), None)
    if stray is not None and zone is Zone.DOWNCARDS:
        return RuleError("must_flip", "Only downcards are left: flip one.", seat=seat)
    if stray is not None:
        return _other_zone_first(seat, zone)
    unseen = not_seen(state, positions)
    if unseen:
        return unseen
    if len(set(positions)) < len(positions):
        return RuleError("duplicate_card", "A card is named twice.")
    return RuleError("not_a_set", "One or more cards of one rank can be played at a time.")


def _other_zone_first(seat: int, zone: Zone | None) -> RuleError:
    held = "hand cards" if zone is Zone.HAND else "upcards"
    return RuleError("not_in_zone", "The {held} come first.", held=held, seat=seat)


def _pick_up(state: GameState, move: PickUp) -> RuleError | None:
    seat, rules = move.seat, state.setup.rules
    zone = state.active_zone(seat)
    # Nothing can go along from the hand, so that there is nothing to check.
    wrong = None if zone is Zone.HAND and not move.upcards else _along(state, move, zone)
    if wrong:
        return wrong
    if not state.pile:
        return RuleError("empty_pile", "There is nothing to pick up: any card can be led.")
    if rules.pick_up is PickUpRule.FORCED_ONLY and zone is not Zone.DOWNCARDS and can_play(state, seat):
        return RuleError("must_play", "Only a player who can't play picks up.", seat=seat)
    return None


def _along(state: GameState, move: PickUp, zone: Zone | None) -> RuleError | None:
    """Refuse upcards that can't go along with a pick-up, and a pick-up that lacks one (``upcard_pick_up``)."""
    seat, along, rule = move.seat, move.upcards, state.setup.rules.upcard_pick_up
    if along and rule is UpcardPickUp.PILE:
        return not_allowed("picking up with an upcard")
    foreign = not_own(state, seat, along)
    if foreign:
        return foreign
    if along and zone is not Zone.UPCARDS:
        return RuleError("not_in_zone", "Upcards go along only when they are played from.", seat=seat)
    if any(p not in state.ups[seat] for p in along):
        return RuleError("not_in_zone", "Only upcards go along.", seat=seat)
    if zone is Zone.DOWNCARDS and not state.setup.rules.blind_pick_up:
        return RuleError("must_flip", "Only downcards are left: flip one.", seat=seat)
    if len(set(along)) < len(along):
        return RuleError("duplicate_card", "A card is named twice.")
    if len({state.rank_at(p) for p in along}) > 1:
        return RuleError("not_a_set", "Only upcards of one rank go along.")
    if zone is Zone.UPCARDS and rule is UpcardPickUp.PILE_PLUS_ONE and len(along) != 1 and state.pile:
        return RuleError("wrong_count", "One upcard goes along: name it.")
    if zone is Zone.UPCARDS and rule is UpcardPickUp.PILE_PLUS_SET and not along and state.pile:
        return RuleError("wrong_count", "One upcard or several equal ones go along: name them.")
    return None


def _flip(state: GameState, move: Flip) -> RuleError | None:
    zone = state.active_zone(move.seat)
    if zone is not Zone.DOWNCARDS:
        return _other_zone_first(move.seat, zone)
    slots = state.downs[move.seat]
    if not (0 <= move.slot < len(slots) and slots[move.slot] >= 0):
        return RuleError("bad_slot", "There is no downcard in slot {slot}.", slot=move.slot + 1)
    return None


def _chance(state: GameState, move: Chance) -> RuleError | None:
    rule, seat = state.setup.rules.chance, move.seat
    if rule is ChanceRule.OFF:
        return not_allowed("turning a chance card")
    zone = state.active_zone(seat)
    if zone is Zone.DOWNCARDS:
        return RuleError("must_flip", "Only downcards are left: flip one.", seat=seat)
    if zone is not Zone.HAND:
        return _other_zone_first(seat, zone)
    if not state.stock:
        return RuleError("empty_stock", "There is no card left in the stock.")
    if rule is ChanceRule.CHANCE and can_play(state, seat):
        return RuleError("must_play", "Only a player who can't play turns a chance card.", seat=seat)
    required = must_hold(state, seat)
    if required >= 0:
        return RuleError("must_play", "The first lead has to be a {rank}.", rank=rank_text(required))
    return None


def _name(state: GameState, move: Name) -> RuleError | None:
    tables, top = state.setup.tables, state.rank_to_beat()
    if not tables.nameable:
        return not_allowed("naming the rank of a card")
    if state.extra.naming < 0:
        return RuleError("wrong_phase", "No joker has to be named.")
    if move.rank not in tables.nameable:
        return _unnameable(move.rank)
    if not tables.follows[top][move.rank]:
        return _does_not_follow(state, move.rank, top, upcards=False)
    return None


def _done(state: GameState) -> RuleError | None:
    if not state.setup.rules.draw_follow_up:
        return not_allowed("being done")
    if not state.extra.follow:
        return RuleError("wrong_phase", "No cards were drawn that could be laid.")
    return None


def _leave(state: GameState, move: Leave) -> RuleError | None:
    if state.phase is Phase.OVER:
        return wrong_phase(state)
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
        return wrong_phase(state)
    if not any(position in hand for hand in state.hands):
        return RuleError("not_in_zone", "Nobody may open that card now.")
    return None

"""What somebody knows of a round, and what is wrong with a position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.cards import JOKER_RANK, UNKNOWN, card_text
from engine.errors import RuleError, Sentence
from engine.options import ArrangeRule
from engine.state import EMPTY_SLOT, NOBODY, GameState, Phase, Result


def with_faces(state: GameState, faces: Mapping[int, int]) -> GameState:
    """``state`` with more faces known here, position → card: an owner's own view.

    They are not public: the canonical form does not change. Raises ``RuleError("no_such_card")`` when there
    is no such position or card, or when it contradicts what is known.
    """
    known = list(state.faces)
    for position, face in faces.items():
        if not (0 <= position < len(known) and 0 <= face < len(known)):
            raise RuleError("no_such_card", "There is no such card.")
        if known[position] not in (UNKNOWN, face):
            raise RuleError(
                "no_such_card", "{card} can't be there: another card is.", card=card_text(face, state.packs)
            )
        known[position] = face
    seen = [face for face in known if face >= 0]
    if len(set(seen)) < len(seen):
        twice = next(face for face in seen if seen.count(face) > 1)
        raise RuleError("no_such_card", "{card} can't be at two places.", card=card_text(twice, state.packs))
    return replace(state, faces=tuple(known))


def mask(state: GameState, seat: int | None) -> GameState:
    """What ``seat`` sees (None: an onlooker): all that is public, the own hand and the own chosen upcards
    (1.15).
    """
    own = frozenset(() if seat is None else state.hands[seat] + state.ups[seat])
    return replace(
        state,
        faces=tuple(
            face if position in own or state.is_public(position) else UNKNOWN
            for position, face in enumerate(state.faces)
        ),
    )


def problems(state: GameState) -> list[Sentence]:
    """Everything that is inconsistent in ``state``; an empty list for every state that moves lead to."""
    return [
        *_conservation(state),
        *_face_problems(state),
        *_seat_problems(state),
        *_phase_problems(state),
    ]


def _sentence(code: str, template: str, **values: object) -> Sentence:
    return Sentence(code, template, values)


def _conservation(state: GameState) -> Iterator[Sentence]:
    """R1: every position stands in exactly one zone."""
    held = [p for zones in (state.hands, state.ups, state.downs) for zone in zones for p in zone]
    table = (*state.stock, *state.pile, *state.burnt, *state.aside)
    places = Counter(p for p in (*held, *table) if p != EMPTY_SLOT)
    for position in range(len(state.faces)):
        if places[position] != 1:
            yield _sentence(
                "misplaced_card",
                "The card at position {position} stands in {places} places.",
                position=position,
                places=places[position],
            )
    if set(places) - set(range(len(state.faces))):
        yield _sentence("misplaced_card", "A zone holds a position outside the pack.")


def _face_problems(state: GameState) -> Iterator[Sentence]:
    faces = Counter(face for face in state.faces if face != UNKNOWN)
    for face, count in sorted(faces.items()):
        if not 0 <= face < len(state.faces):
            yield _sentence("bad_face", "There is no card number {face}.", face=face)
        elif count > 1:
            card = card_text(face, state.packs)
            yield _sentence("card_twice", "{card} is at {count} places.", card=card, count=count)
    # Chosen upcards stay closed until all have chosen.
    choosing = state.phase is Phase.ARRANGE and state.rules.arrange is ArrangeRule.CHOOSE
    upcards = (p for ups in state.ups for p in ups if not choosing and p not in state.awaiting)
    for position in (*state.pile, *state.burnt, *upcards, *_public_positions(state)):
        if 0 <= position < len(state.faces) and (state.faces[position] < 0 or not state.is_public(position)):
            yield _sentence(
                "closed_card", "The card at position {position} lies open but is unknown.", position=position
            )


def _public_positions(state: GameState) -> Iterator[int]:
    return (p for p in range(len(state.faces)) if state.is_public(p))


def _seat_problems(state: GameState) -> Iterator[Sentence]:
    per_seat = (state.hands, state.ups, state.downs, state.ready, state.active)
    if any(len(values) != state.players for values in per_seat):
        yield _sentence("wrong_seats", "A zone is missing for one of {players} seats.", players=state.players)
        return
    for seat in range(state.players):
        gone = seat in state.finish_order or seat in state.left
        if gone == state.active[seat]:
            yield _sentence("wrong_status", "{seat} is both in the round and out of it.", seat=seat)
        if gone and state.card_count(seat):
            yield _sentence("cards_left", "{seat} is out but holds cards.", seat=seat)
        playing = state.phase in (Phase.DECLARE, Phase.PLAY)
        if playing and state.active[seat] and not state.card_count(seat):
            yield _sentence("no_cards", "{seat} is in the round but holds no cards.", seat=seat)


def _phase_problems(state: GameState) -> Iterator[Sentence]:
    has_turn = state.phase in (Phase.DECLARE, Phase.PLAY)
    in_turn = 0 <= state.turn < state.players and state.active[state.turn]
    if has_turn and not in_turn:
        yield _sentence("wrong_turn", "The seat in turn does not play.")
    if not has_turn and state.turn != NOBODY:
        yield _sentence("wrong_turn", "Nobody can be in turn in the phase {phase}.", phase=state.phase.value)
    if (state.phase is Phase.DECLARE) != (state.asked >= 0) or state.asked < -1:
        yield _sentence("wrong_question", "A rank is asked for while eldest hand is looked for, and only then.")
    if (state.phase is Phase.OVER) == (state.result is Result.NONE):
        yield _sentence("wrong_result", "A round has a result when it is over, and only then.")
    if state.shithead != NOBODY and not (state.phase is Phase.OVER and 0 <= state.shithead < state.players):
        yield _sentence("wrong_shithead", "There is a shithead when the round is over, a seat, and only then.")
    if state.action_count < 0:
        yield _sentence("wrong_count", "There can't have been {count} actions.", count=state.action_count)
    if len({*state.finish_order, *state.left}) < len(state.finish_order) + len(state.left):
        yield _sentence("wrong_status", "A seat went out or left twice.")
    if state.phase is not Phase.OVER and sum(state.active) < 2:
        yield _sentence("one_player", "Fewer than two players are in the round, and it is not over.")
    yield from _extra_problems(state)
    if state.direction not in (1, -1):
        yield _sentence("wrong_direction", "The direction is neither clockwise nor anticlockwise.")


def _extra_problems(state: GameState) -> Iterator[Sentence]:
    extra, tables = state.extra, state.setup.tables
    wild = {p for p in state.pile if tables.nameable and state.rank_at(p) == JOKER_RANK}
    if {position for position, _ in extra.named} != wild or len(extra.named) != len(wild):
        yield _sentence("wrong_name", "The jokers in the wastepile and those that were named differ.")
    if not all(rank in tables.nameable for _, rank in extra.named):
        yield _sentence("wrong_name", "A joker counts as a rank that it can't be named.")
    held = state.stock[:1]
    if 0 <= state.turn < len(state.hands):
        held += state.hands[state.turn] + state.downs[state.turn]
    asking = (*extra.follow, *((extra.naming,) if extra.naming >= 0 else ()))
    if not all(position in held for position in asking):
        yield _sentence("wrong_step", "The seat in turn does not hold what it is asked about.")
    in_play = state.phase is Phase.PLAY
    if ((asking or extra.start_rank != -1) and not in_play) or (
        extra.declared and state.phase is not Phase.DECLARE
    ):
        yield _sentence("wrong_step", "Something is waited for that belongs to another phase.")
    if not -1 <= extra.start_rank <= JOKER_RANK or bool(extra.follow) != (extra.laid > 0):
        yield _sentence("wrong_step", "What is remembered of the turn does not fit together.")

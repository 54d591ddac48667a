"""Hidden hands (1.15, 1.19): one transition system for what everybody knows and for all faces."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import views
from engine.cards import UNKNOWN
from engine.errors import RuleError
from engine.events import Flipped, FlipStarted, Opened
from engine.game import actions, apply, check, deal, mask, problems, step, to_declare, with_faces
from engine.moves import Declare, Flip, Leave, Move, Open, Pass, Play, Ready, Swap
from engine.rules import RuleSet
from engine.state import ABSENT, Extra, GameState, Phase, Result, put
from tests.engine.helpers import after, record, shuffled

FACES = shuffled(3, 8)


def code(state: GameState, move: Move) -> str:
    error = check(state, move)
    return "" if error is None else error.code


def dealt() -> GameState:
    """Three players, upcards open, hands hidden."""
    state = deal(RuleSet(), 3, 0)
    for position in state.awaiting:
        state = apply(state, Open(position, FACES[position]))
    return state


def test_the_deal_waits_for_all_upcards() -> None:
    state = deal(RuleSet(), 3, 0)
    upcards = tuple(range(9, 18))
    assert (state.phase, state.awaiting) == (Phase.DEAL, upcards)
    assert code(state, Ready(0)) == code(state, Leave(0)) == "wrong_phase"
    assert code(state, Open(18, 0)) == "not_in_zone"
    for position in reversed(upcards):
        assert state.phase is Phase.DEAL
        state, events = step(state, Open(position, FACES[position]))
        assert events == (Opened(position, FACES[position]),)
    assert (state.phase, state.awaiting) == (Phase.ARRANGE, ())
    assert state == mask(deal(RuleSet(), 3, 0, FACES), None)


def test_opening_again_changes_nothing_and_another_face_is_refused() -> None:
    state = dealt()
    assert step(state, Open(9, FACES[9])) == (state, ())
    assert code(state, Open(9, FACES[10])) == "no_such_card"
    assert code(state, Open(18, FACES[9])) == "no_such_card", "a card can't be at two places"


@pytest.mark.parametrize("move", [Open(-1, 0), Open(52, 0), Open(18, -1), Open(18, 52), Open(18, UNKNOWN)])
def test_made_up_openings_are_refused(move: Open) -> None:
    assert code(dealt(), move) == "no_such_card"


@pytest.mark.parametrize("position", [0, 8, 27, 51])
def test_downcards_and_stock_can_not_be_opened(position: int) -> None:
    assert code(dealt(), Open(position, FACES[position])) == "not_in_zone"


def test_a_play_of_a_card_that_nobody_has_seen_is_refused() -> None:
    state = dealt()
    seat = 1
    hand = state.hands[seat][0]
    assert code(state, Swap(seat, hand, state.ups[seat][0])) == "no_such_card"
    state = apply(state, Open(hand, FACES[hand]))
    assert code(state, Swap(seat, hand, state.ups[seat][0])) == ""


def test_a_swapped_upcard_stays_known_in_the_hand() -> None:
    state = dealt()
    hand, up = state.hands[1][0], state.ups[1][0]
    state = after(state, Open(hand, FACES[hand]), Swap(1, hand, up))
    assert state.hands[1][0] == up and state.is_public(up) and state.is_public(hand)


def test_a_pass_can_not_be_judged_where_the_hand_is_hidden() -> None:
    """A false pass is a breach that the audit finds, not a refusal (1.19)."""
    faces = list(range(52))
    state = deal(RuleSet(), 2, 1)
    for position in state.awaiting:
        state = apply(state, Open(position, faces[51 - position]))
    state = after(state, Ready(0), Ready(1))
    assert state.phase is Phase.DECLARE
    assert to_declare(state) is None and not actions(state)
    assert code(state, Pass(0)) == ""
    own = with_faces(state, {p: 4 + i for i, p in enumerate(state.hands[0])})
    assert to_declare(own) == Declare(0, min(state.hands[0]))
    assert code(own, Pass(0)) == "must_play"


def test_a_flip_waits_for_its_face() -> None:
    opened = record("pile 3c\ndown Ana 4c 5c 6c\nhand Bogdan Qc\nturn Ana\n")
    state = mask(opened, None)
    position, face = opened.downs[0][1], opened.faces[opened.downs[0][1]]
    state, events = step(state, Flip(0, 1))
    assert events == (FlipStarted(0, position, 1),)
    assert state.awaiting == (position,) and state.turn == 0
    assert not actions(state)
    for move in (Flip(0, 0), Leave(1), Play(0, (position,))):
        assert code(state, move) == "wrong_phase"
    assert code(state, Open(opened.hands[1][0], opened.faces[opened.hands[1][0]])) == "not_in_zone"
    state, events = step(state, Open(position, face))
    assert events[:2] == (Opened(position, face), Flipped(0, position, face, True))
    assert state == mask(apply(opened, Flip(0, 1)), None)


def test_a_hand_card_may_be_opened_whenever_it_is_in_a_hand() -> None:
    state = record("pile 3c\nhand Ana 4c\nhand Bogdan Qc\nturn Ana\n")
    hidden = mask(state, None)
    bogdans = state.hands[1][0]
    opened = apply(hidden, Open(bogdans, state.faces[bogdans]))
    assert opened.is_public(bogdans) and opened.turn == 0
    assert apply(state, Open(bogdans, state.faces[bogdans])).is_public(bogdans)
    assert code(state, Open(bogdans, 0)) == "no_such_card"


def test_an_owners_faces_are_private() -> None:
    state = dealt()
    own = with_faces(state, {p: FACES[p] for p in state.hands[1]})
    assert own != state
    assert own.canonical() == state.canonical()
    assert mask(own, None) == state
    assert mask(own, 1) == own


@pytest.mark.parametrize("faces", [{99: 0}, {-1: 0}, {18: 52}, {18: UNKNOWN}, {9: FACES[10]}, {18: FACES[9]}])
def test_faces_that_can_not_be_are_refused(faces: dict[int, int]) -> None:
    with pytest.raises(RuleError) as refused:
        with_faces(dealt(), faces)
    assert refused.value.code == "no_such_card"


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_a_mask_shows_the_own_hand_and_what_is_public_only(seat: int | None) -> None:
    state = deal(RuleSet(), 3, 0, FACES)
    view = mask(state, seat)
    for position, face in enumerate(view.faces):
        own = seat is not None and position in state.hands[seat]
        upcard = any(position in ups for ups in state.ups)
        assert face == (state.faces[position] if own or upcard else UNKNOWN)


def test_a_mask_offers_the_owners_moves_and_nobody_elses() -> None:
    state = record("pile 3c\nhand Ana 4c 5c 5d\nhand Bogdan Qc\nturn Ana\n")
    assert list(actions(mask(state, 0))) == list(actions(state))
    assert [type(move).__name__ for move in actions(mask(state, 1))] == ["PickUp"]


def test_the_canonical_form_of_a_small_position() -> None:
    state = record("pile 3c\nstock 9c\nhand Ana 4c\nup Ana 5c\ndown Ana - 6c -\nhand Bogdan Qc\nturn Ana\n")
    form = state.canonical()
    assert isinstance(form, tuple)
    # Positions as R9 deals: downcard 6c, upcard 5c, hands 4c Qc, stock, pile, then 46 burnt cards.
    assert form[:6] == ("play", 1, ABSENT, 0, 1, 0)
    assert form[6] == (("in", ((2, 0),), ((1, 13),), ("", (0, 0), "")), ("in", ((3, 0),), (), ("", "", "")))
    assert form[7:9] == (((4, 0),), ((5, 5),))
    assert isinstance(form[9], tuple) and len(form[9]) == 46
    assert form[10] == ()


def test_the_canonical_form_has_unsigned_numbers_and_texts_only() -> None:
    def leaves(form: object) -> list[object]:
        return [leaf for part in form for leaf in leaves(part)] if isinstance(form, tuple) else [form]

    for state in (
        deal(RuleSet(), 3, 0),
        dealt(),
        record("hand Ana 4c\nhand Bogdan 5c\ndirection anticlockwise\nturn Ana\n"),
    ):
        for leaf in leaves(state.canonical()):
            assert isinstance(leaf, str) or (type(leaf) is int and leaf >= 0)


def test_statuses_in_the_canonical_form() -> None:
    def statuses(state: GameState) -> list[object]:
        form = state.canonical()
        assert isinstance(form, tuple) and isinstance(form[6], tuple)
        return [seat[0] for seat in form[6] if isinstance(seat, tuple)]

    assert statuses(apply(dealt(), Ready(1))) == ["in", "ready", "in"]
    body = "hand Ana 4c\nhand Bogdan 5c\nhand Carmen 6c\nhand Dan 7c\nturn Ana\nBogdan leaves\nAna plays 4c\n"
    assert statuses(record(body, "Ana Bogdan Carmen Dan")) == ["out", "left", "in", "in"]


BROKEN: list[tuple[str, Callable[[GameState], GameState]]] = [
    ("misplaced_card", lambda s: replace(s, stock=s.stock[1:])),
    ("misplaced_card", lambda s: replace(s, pile=(s.stock[0],), public=s.public | 1 << s.stock[0])),
    ("misplaced_card", lambda s: replace(s, burnt=(60,))),
    ("bad_face", lambda s: replace(s, faces=(*s.faces[:51], 60))),
    ("card_twice", lambda s: replace(s, faces=(*s.faces[:51], s.faces[50]))),
    (
        "closed_card",
        lambda s: replace(s, faces=tuple(-1 if p == s.ups[0][0] else f for p, f in enumerate(s.faces))),
    ),
    ("wrong_seats", lambda s: replace(s, ready=s.ready[1:])),
    ("wrong_status", lambda s: replace(s, finish_order=(0,), left=(0,))),
    ("wrong_status", lambda s: replace(s, active=(False, True, True))),
    ("cards_left", lambda s: replace(s, active=(False, True, True), left=(0,))),
    ("no_cards", lambda s: replace(s, phase=Phase.PLAY, turn=1, aside=held(s, 0), **emptied(s, 0))),
    ("wrong_turn", lambda s: replace(s, turn=1)),
    ("wrong_turn", lambda s: replace(s, phase=Phase.PLAY)),
    ("wrong_question", lambda s: replace(s, asked=3)),
    ("wrong_question", lambda s: replace(s, asked=-2)),
    ("wrong_question", lambda s: replace(s, phase=Phase.DECLARE, turn=0)),
    ("wrong_result", lambda s: replace(s, phase=Phase.OVER)),
    ("wrong_result", lambda s: replace(s, result=Result.STALLED)),
    ("wrong_shithead", lambda s: replace(s, shithead=1)),
    ("wrong_shithead", lambda s: replace(s, phase=Phase.OVER, result=Result.FINISHED, shithead=3)),
    ("wrong_count", lambda s: replace(s, action_count=-1)),
    ("one_player", lambda s: replace(s, active=(True, False, False))),
    ("wrong_direction", lambda s: replace(s, direction=0)),
    ("wrong_name", lambda s: replace(s, extra=Extra(named=((s.stock[0], 5),)))),
    ("wrong_step", lambda s: replace(s, phase=Phase.PLAY, turn=0, extra=Extra(naming=s.stock[3]))),
    ("wrong_step", lambda s: replace(s, phase=Phase.PLAY, turn=0, extra=Extra(follow=s.hands[0][:1]))),
    ("wrong_step", lambda s: replace(s, phase=Phase.PLAY, turn=0, extra=Extra(laid=1))),
    ("wrong_step", lambda s: replace(s, phase=Phase.PLAY, turn=0, extra=Extra(start_rank=14))),
    ("wrong_step", lambda s: replace(s, phase=Phase.PLAY, turn=0, extra=Extra(declared=s.hands[0][:1]))),
    ("wrong_step", lambda s: replace(s, extra=Extra(start_rank=3))),
]
"""A code, and what is done to a sound position to get it."""


def held(state: GameState, seat: int) -> tuple[int, ...]:
    return state.hands[seat] + state.ups[seat] + state.downs[seat]


def emptied(state: GameState, seat: int) -> dict[str, Any]:
    return {zone: put(getattr(state, zone), seat, ()) for zone in ("hands", "ups", "downs")}


@pytest.mark.parametrize(("code", "breaking"), BROKEN)
def test_problems_names_each_inconsistency(code: str, breaking: Callable[[GameState], GameState]) -> None:
    state = deal(RuleSet(), 3, 0, FACES)
    assert problems(state) == []
    found = problems(breaking(state))
    assert code in {sentence.code for sentence in found}
    assert all(str(sentence) for sentence in found)


def test_every_problem_there_is_has_a_position_above() -> None:
    written = re.findall(r'_sentence\(\s*"(\w+)"', Path(views.__file__).read_text(encoding="utf-8"))
    assert set(written) == {code for code, _ in BROKEN}


def test_problems_names_every_one() -> None:
    state = dealt()
    assert problems(state) == []
    broken = replace(
        state, stock=state.stock[1:], pile=(0,), turn=5, direction=0, faces=(*state.faces[:51], FACES[9])
    )
    codes = {sentence.code for sentence in problems(broken)}
    assert codes == {"misplaced_card", "closed_card", "card_twice", "wrong_turn", "wrong_direction"}
    short = replace(state, hands=state.hands[1:])
    assert "wrong_seats" in {sentence.code for sentence in problems(short)}
    ended = replace(state, phase=Phase.OVER)
    assert {sentence.code for sentence in problems(ended)} == {"wrong_result"}
    alone = replace(state, active=(True, False, False))
    assert {"one_player", "wrong_status"} <= {sentence.code for sentence in problems(alone)}
    for sentence in problems(broken):
        assert str(sentence)

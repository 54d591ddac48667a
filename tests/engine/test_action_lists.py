"""The moves that are listed, all of them and in their order, under one option after the other (1.16, 3.2, 3.4)."""

from __future__ import annotations

import pytest

from engine.cards import JOKER_RANK, RANKS, card_text
from engine.game import actions, check, legal_ranks, mask
from engine.moves import Move, PickUp
from engine.record.syntax import from_move, statement_text
from engine.state import GameState
from tests.engine.helpers import record

NAMES = ("Ana", "Bogdan", "Carmen")


def state_of(rules: str, body: str) -> GameState:
    players = " ".join(name for name in NAMES if name in body)
    return record(body.replace("; ", "\n") + "\n", players, players.split()[-1], f"wikipedia {rules}")


def shown(state: GameState, move: Move) -> str:
    cards = tuple(card_text(face, state.packs) for face in state.faces)
    return statement_text(from_move(move, cards), NAMES)  # type: ignore[arg-type]


def listed(rules: str, body: str) -> str:
    """The moves in the words of a record, with what is the same in all of them left out."""
    state = state_of(rules, body)
    return "; ".join(shown(state, move) for move in actions(state)).replace("Ana ", "")


CASES = [
    (
        "",
        "pile 9c; stock 3c; hand Ana 4c 9d 9h Ac Ad 2c; up Ana 6c; hand Bogdan Jc; turn Ana",
        "plays 2c; plays 9d; plays 9d 9h; plays Ac; plays Ac Ad; picks up",
    ),
    (
        "",
        "pile 3c; stock 3d; hand Ana 4c; up Ana 6c; hand Bogdan Jc; turn Ana",
        "plays 4c; picks up",
    ),
    (
        "",
        "stock 3c; hand Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "plays 4c; plays 9d",
    ),
    (
        "",
        "pile Kc; up Ana 4c 4d Ah; hand Bogdan Jc; turn Ana",
        "plays Ah; picks up",
    ),
    (
        "",
        "pile Kc; down Ana 4c - Ah; hand Bogdan Jc; turn Ana",
        "flips 1; flips 3",
    ),
    (
        "blind_pick_up=true",
        "pile Kc; down Ana 4c - Ah; hand Bogdan Jc; turn Ana",
        "flips 1; flips 3; picks up",
    ),
    (
        "blind_pick_up=true",
        "down Ana 4c - Ah; hand Bogdan Jc; turn Ana",
        "flips 1; flips 3",
    ),
    (
        "pick_up=forced_only",
        "pile 9c; hand Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "plays 9d",
    ),
    (
        "pick_up=forced_only",
        "pile Kc; hand Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "picks up",
    ),
    (
        "pick_up=forced_only",
        "pile Kc; up Ana 4c Ad; hand Bogdan Jc; turn Ana",
        "plays Ad",
    ),
    (
        "chance=chance",
        "pile Kc; stock 3c; hand Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "picks up; chances",
    ),
    (
        "chance=chance",
        "pile 9c; stock 3c; hand Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "plays 9d; picks up",
    ),
    (
        "chance=chance",
        "pile Kc; hand Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "picks up",
    ),
    (
        "chance=chance",
        "pile Kc; stock 3c; up Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "picks up",
    ),
    (
        "chance=chance_free",
        "pile 9c; stock 3c; hand Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "plays 9d; picks up; chances",
    ),
    (
        "chance=chance_free",
        "pile 9c; stock 3c; down Ana 4c - -; hand Bogdan Jc; turn Ana",
        "flips 1",
    ),
    (
        "chance=chance pick_up=forced_only",
        "pile Kc; stock 3c; hand Ana 4c 9d; hand Bogdan Jc; turn Ana",
        "picks up; chances",
    ),
    (
        "upcard_pick_up=pile_plus_one",
        "pile Kc; up Ana 4c 4d 9h; hand Bogdan Jc; turn Ana",
        "picks up with 4c; picks up with 9h",
    ),
    (
        "upcard_pick_up=pile_plus_set",
        "pile Kc; up Ana 4c 4d 9h 4h; hand Bogdan Jc; turn Ana",
        "picks up with 4c; picks up with 4c 4d; picks up with 4c 4d 4h; picks up with 9h",
    ),
    (
        "upcard_pick_up=pile_plus_set",
        "pile Kc; hand Ana 3c; up Ana 4c 4d 9h 4h; hand Bogdan Jc; turn Ana",
        "picks up",
    ),
    (
        "upcard_pick_up=pile_plus_one blind_pick_up=true",
        "pile Kc; down Ana 4c - -; hand Bogdan Jc; turn Ana",
        "flips 1; picks up",
    ),
    (
        "upcards_strict=true",
        "pile 9c; up Ana 9d 9h Tc; hand Bogdan Jc; turn Ana",
        "plays Tc; picks up",
    ),
    (
        "upcards_strict=true",
        "pile 9c; hand Ana 9d 9h Tc; hand Bogdan Jc; turn Ana",
        "plays 9d; plays 9d 9h; plays Tc; picks up",
    ),
    (
        "quartet_beats_all=true",
        "pile Kc; hand Ana 4c 4d 4h 4s 9d; hand Bogdan Jc; turn Ana",
        "plays 4c 4d 4h 4s; picks up",
    ),
    (
        "quartet_beats_all=true packs=2",
        "pile Kc; hand Ana 4c 4d 4h 4s 4c' 9d; hand Bogdan Jc; turn Ana",
        "plays 4c 4d 4h 4s; plays 4c 4d 4h 4s 4c'; picks up",
    ),
    (
        "quartet_beats_all=true burn_run=3 upcards_strict=true",
        "pile 4s; up Ana 4c 4d 4h; hand Bogdan Jc; turn Ana",
        "plays 4c 4d 4h; picks up",
    ),
    (
        "quartet_beats_all=true ceiling=7",
        "pile 7c; hand Ana 9c 9d 9h 9s 4d; hand Bogdan Jc; turn Ana",
        "plays 4d; picks up",
    ),
    (
        "ceiling=7 ten_on_ceiling=false",
        "pile 7c; hand Ana 9c 7d 4d 2c Tc; hand Bogdan Jc; turn Ana",
        "plays 2c; plays 4d; plays 7d; picks up",
    ),
    (
        "combine_last_hand=true",
        "pile 4c; hand Ana 9c 9d; up Ana 9h 9s 5c; hand Bogdan Jc; turn Ana",
        "plays 9c; plays 9c 9d; plays 9c 9d 9h; plays 9c 9d 9h 9s; picks up",
    ),
    (
        "combine_last_hand=true",
        "pile 4c; hand Ana 9c 5d; up Ana 9h 9s 5c; hand Bogdan Jc; turn Ana",
        "plays 5d; plays 9c; picks up",
    ),
    (
        "combine_last_hand=true",
        "pile 4c; stock 3c; hand Ana 9c 9d; up Ana 9h; hand Bogdan Jc; turn Ana",
        "plays 9c; plays 9c 9d; picks up",
    ),
    (
        "combine_last_hand=true",
        "pile Kc; hand Ana 9c; up Ana 9h 9s; hand Bogdan Jc; turn Ana",
        "picks up",
    ),
    (
        "combine_last_hand=true upcards_strict=true",
        "pile 9s; hand Ana 9c; up Ana 9h 9d; hand Bogdan Jc; turn Ana",
        "plays 9c; plays 9c 9h; plays 9c 9h 9d; picks up",
    ),
    (
        "combine_last_hand=true quartet_beats_all=true",
        "pile Kc; hand Ana 9c 9d; up Ana 9h 9s; hand Bogdan Jc; turn Ana",
        "plays 9c 9d 9h 9s; picks up",
    ),
    (
        "jokers=2 joker_power=wild",
        "pile Qc; hand Ana X1 4d; hand Bogdan Jc; turn Ana",
        "plays X1 as Q; plays X1 as K; plays X1 as A; picks up",
    ),
    (
        "jokers=2 joker_power=wild",
        "pile Qc; hand Ana X1 X2 Kd Kh; hand Bogdan Jc; turn Ana",
        (
            "plays X1 as Q; plays X1 X2 as Q; plays X1 as K; plays X1 X2 as K; plays Kd; plays Kd X1 as K; plays "
            "Kd X1 X2 as K; plays Kd Kh; plays Kd Kh X1 as K; plays Kd Kh X1 X2 as K; plays X1 as A; plays X1 X2 "
            "as A; picks up"
        ),
    ),
    (
        "jokers=2 joker_power=wild reset=2,3 burn=T,A",
        "pile Qc; hand Ana X1 3d Ac Kd; hand Bogdan Jc; turn Ana",
        "plays 3d; plays X1 as Q; plays X1 as K; plays Kd; plays Kd X1 as K; plays Ac; picks up",
    ),
    (
        "jokers=2 joker_power=wild upcards_strict=true",
        "pile Qc; up Ana X1 Qd Kd; hand Bogdan Jc; turn Ana",
        "plays X1 as K; plays Kd; plays Kd X1 as K; plays X1 as A; picks up",
    ),
    (
        "jokers=2 joker_power=wild combine_last_hand=true",
        "pile Kc; hand Ana X1; up Ana X2 Kd 9h; hand Bogdan Jc; turn Ana",
        (
            "plays X1 as K; plays X1 X2 as K; plays X1 Kd as K; plays X1 Kd X2 as K; plays X1 as A; plays X1 X2 "
            "as A; picks up"
        ),
    ),
    (
        "jokers=2 joker_power=wild combine_last_hand=true",
        "pile Kc; hand Ana Kd; up Ana X2 Kh Qc; hand Bogdan Jc; turn Ana",
        "plays Kd; plays Kd X2 as K; plays Kd Kh; plays Kd Kh X2 as K; picks up",
    ),
    (
        "jokers=2 joker_power=wild combine_last_hand=true",
        "pile Kc; hand Ana Kd 4c; up Ana X2 Kh; hand Bogdan Jc; turn Ana",
        "plays Kd; picks up",
    ),
    (
        "jokers=2 joker_power=wild combine_last_hand=true",
        "pile Kc; hand Ana Tc; up Ana X2 Td; hand Bogdan Jc; turn Ana",
        "plays Tc; plays Tc Td; picks up",
    ),
    (
        "jokers=2 joker_power=wild combine_last_hand=true pick_up=forced_only",
        "pile Kc X1 as Q; hand Ana Jd; up Ana X2 Jh; hand Bogdan Jc; turn Ana",
        "picks up",
    ),
    (
        "jokers=2 joker_power=wild quartet_beats_all=true burn_run=3",
        "pile Kc; hand Ana 5d 5h X1; hand Bogdan Jc; turn Ana",
        "plays 5d 5h X1 as 5; plays X1 as K; plays X1 as A; picks up",
    ),
    (
        "jokers=2 joker_power=reverse combine_last_hand=true",
        "pile Kc; hand Ana X1 4d; up Ana X2; hand Bogdan Jc; turn Ana",
        "plays X1; picks up",
    ),
    (
        "jokers=2 joker_power=high",
        "pile Ac; hand Ana X1 X2 4d; hand Bogdan Jc; turn Ana",
        "plays X1; plays X1 X2; picks up",
    ),
    (
        "jokers=2 joker_power=wild",
        "pile Ac; down Ana X1 - -; hand Bogdan Jc; turn Ana; Ana flips 1",
        "names A",
    ),
    (
        "jokers=2 joker_power=wild ceiling=7",
        "pile 7c; down Ana X1 - -; hand Bogdan Jc; turn Ana; Ana flips 1",
        "names 3; names 4; names 5; names 6; names 7",
    ),
    (
        "draw_follow_up=true refill_to=5",
        "pile 4c; stock 5d 8c 5h Kc; hand Ana 5c 9d; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "plays 5d; plays 5d 5h; done",
    ),
    (
        "start=hand_lowest lead_must_be_start_rank=true",
        "hand Ana 4c 4d 9c; hand Bogdan Jc; phase arrange; Ana ready; Bogdan ready; = phase play",
        "plays 4c; plays 4c 4d",
    ),
    (
        "start=hand_lowest lead_must_be_start_rank=true jokers=2 joker_power=wild",
        "hand Ana 4c 4d X1; hand Bogdan Jc; phase arrange; Ana ready; Bogdan ready; = phase play",
        "plays 4c; plays 4c X1 as 4; plays 4c 4d; plays 4c 4d X1 as 4",
    ),
    (
        "start=hand_lowest lead_must_be_start_rank=true chance=chance_free",
        "stock 5h; hand Ana 4c 9c; hand Bogdan Jc; phase arrange; Ana ready; Bogdan ready; = phase play",
        "plays 4c",
    ),
    (
        "lead_must_be_start_rank=true chance=chance_free",
        (
            "stock 5h; hand Ana 6c 9c; up Ana 4c; hand Bogdan Jc; phase arrange; Ana ready; Bogdan ready; = phase"
            " play"
        ),
        "plays 6c; plays 9c; chances",
    ),
    (
        "",
        "hand Ana 2c 9c; up Ana 6c 6d; hand Bogdan Jc; up Bogdan Kc; phase arrange",
        (
            "swaps 2c for 6c; swaps 2c for 6d; swaps 9c for 6c; swaps 9c for 6d; ready; Bogdan swaps Jc for Kc; "
            "Bogdan ready"
        ),
    ),
    (
        "",
        "hand Ana 4c 9c; up Ana 6c 6d; hand Bogdan Jc; up Bogdan Kc; phase arrange; Ana ready",
        "unready; Bogdan swaps Jc for Kc; Bogdan ready",
    ),
    (
        "",
        "hand Ana 4c; up Ana 6c; hand Bogdan Jc; up Bogdan Kc; hand Carmen 3c; phase arrange; Bogdan leaves",
        "swaps 4c for 6c; ready; Carmen ready",
    ),
    (
        "arrange=none",
        "hand Ana 4c 9c; up Ana 6c 6d; hand Bogdan Jc; up Bogdan Kc; phase arrange; Ana ready",
        "unready; Bogdan ready",
    ),
    (
        "arrange=choose deal=3/2/2",
        "hand Ana 2c 9c 2d Kc; hand Bogdan Jc Qc Qd Qh; phase arrange",
        ("chooses 2c 9c; chooses 2c 2d; chooses 2c Kc; chooses 9c Kc; Bogdan chooses Jc Qc; Bogdan chooses Qc Qd"),
    ),
    (
        "arrange=choose deal=3/2/2",
        (
            "hand Ana 4c 9c 4d Kc; hand Bogdan Jc Qc Qd Qh; phase arrange; Ana chooses 4c 9c; Bogdan chooses Qc "
            "Qd; Bogdan ready"
        ),
        "chooses 4c 9c; chooses 4c 4d; chooses 4c Kc; chooses 9c Kc; ready; Bogdan unready",
    ),
    (
        "start=hand_lowest",
        "hand Ana 4c 4d 9c; hand Bogdan 4h; phase arrange; Ana ready; Bogdan ready; = phase declare",
        "passes",
    ),
    (
        "start=hand_lowest",
        (
            "hand Ana 4c 4d 9c; hand Bogdan 4h; phase arrange; Ana ready; Bogdan ready; Ana passes; Bogdan "
            "passes; = turn Ana"
        ),
        "declares 4c",
    ),
    (
        "start=hand_lowest start_tie=most_copies",
        (
            "hand Ana 4c 4d 9c; hand Bogdan 4h; phase arrange; Ana ready; Bogdan ready; Ana passes; Bogdan "
            "passes; Ana declares 4c; = turn Ana"
        ),
        "declares 4d",
    ),
    (
        "start=hand_lowest start_tie=suit/dhcs",
        (
            "hand Ana 4c 4d 9c; hand Bogdan 4h; phase arrange; Ana ready; Bogdan ready; Ana passes; Bogdan "
            "passes; = turn Ana"
        ),
        "declares 4d",
    ),
    (
        "",
        "hand Ana 4c; hand Bogdan Jc; turn Ana; Ana plays 4c",
        "",
    ),
    (
        "jokers=2 joker_power=wild start=hand_lowest lead_must_be_start_rank=true chance=chance_free",
        "stock 3c; hand Ana 2c X1; hand Bogdan X2; phase arrange; Ana ready; Bogdan ready; = turn Ana",
        "plays 2c",
    ),
    (
        "upcards_strict=true pick_up=forced_only",
        "pile 3c; up Ana 3d; hand Bogdan Jc; turn Ana",
        "picks up",
    ),
    (
        "quartet_beats_all=true burn_run=2 pick_up=forced_only",
        "pile Kc; hand Ana 4c; hand Bogdan Jc; turn Ana",
        "picks up",
    ),
    (
        "jokers=2 start=hand_lowest lead_must_be_start_rank=true",
        "hand Ana 2c X1; hand Bogdan X2; phase arrange; Ana ready; Bogdan ready; = turn Ana",
        "plays 2c",
    ),
    (
        "upcard_pick_up=pile_plus_one",
        "pile 5c; up Ana 4c 9h; hand Bogdan Jc; turn Ana",
        "plays 9h; picks up with 4c; picks up with 9h",
    ),
    (
        "upcard_pick_up=pile_plus_set blind_pick_up=true",
        "pile 5c; up Ana 4c 9h 9d; hand Bogdan Jc; turn Ana",
        "plays 9h; plays 9h 9d; picks up with 4c; picks up with 9h; picks up with 9h 9d",
    ),
]
"""Rules, position, moves; those without a name are Ana's."""


@pytest.mark.parametrize(("rules", "body", "moves"), CASES)
def test_exactly_these_moves_are_listed(rules: str, body: str, moves: str) -> None:
    assert listed(rules, body) == moves
    state = state_of(rules, body)
    found = actions(state)
    assert found.count() == len(list(found)) == (moves.count(";") + 1 if moves else 0)
    assert bool(found) == bool(moves)
    assert all(check(state, move) is None and move in found for move in found)
    # Nothing else depends on what only others see.
    if state.turn >= 0:
        assert list(actions(mask(state, state.turn))) == list(found)


def test_the_moves_tell_what_they_are() -> None:
    assert repr(actions(state_of("", "hand Ana 4c; hand Bogdan Jc; turn Ana"))) == (
        "<Actions [Play(seat=0, positions=(0,))]>"
    )


def test_a_rank_fits_or_not_by_a_single_card() -> None:
    """Where two together go on anything, one does not."""
    state = state_of("quartet_beats_all=true burn_run=2", "pile Kc; hand Ana 4c 4d; hand Bogdan Jc; turn Ana")
    assert legal_ranks(state) == {RANKS.index(rank) for rank in "2TKA"} | {JOKER_RANK}


@pytest.mark.parametrize(
    ("rules", "pile", "refused"),
    [
        ("upcards_strict=true", "3c", True),  # from the hand equal cards will do
        ("upcards_strict=true", "4c", False),
        ("ceiling=A", "Ac", True),
        ("ceiling=A jokers=2 joker_power=high", "Ac", False),  # of jokers alone none could be played
        ("ceiling=A jokers=2 joker_power=reverse", "Ac", True),
        ("quartet_beats_all=true burn_run=2", "Kc", False),
    ],
)
def test_a_pick_up_of_a_hidden_hand_is_refused_where_any_card_could_be_played(
    rules: str, pile: str, refused: bool
) -> None:
    state = state_of(f"pick_up=forced_only {rules}", f"pile {pile}; hand Ana 5c 6d; hand Bogdan Jc; turn Ana")
    error = check(mask(state, None), PickUp(0))
    assert (error is not None and error.code == "must_play") == refused

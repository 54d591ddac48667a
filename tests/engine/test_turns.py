"""R18 to R39: playing, drawing, burning, picking up, upcards. Edge cases by their row in section 2."""

from __future__ import annotations

import pytest

from engine.errors import RuleError
from engine.events import BurnCause, Burnt, Drew, PickedUp, Played, TurnTo
from engine.game import actions, apply, check, deal, legal_ranks, step
from engine.moves import Chance, Choose, Flip, PickUp, Play, PlayAs, Ready
from engine.rules import RuleSet
from engine.state import Zone
from tests.engine.helpers import THREE, in_play, record

OTHER = "hand Bogdan Qc Qd Qh\n"


def lead_on(pile: str, played: str, *, legal: bool, code: str = "too_low") -> None:
    move = f"Ana plays {played}\n"
    record(
        f"pile {pile}\nhand Ana {played} Kc Kd\n{OTHER}turn Ana\n"
        + (move if legal else f"= illegal {code} {move}")
    )


@pytest.mark.parametrize(
    ("pile", "played", "legal"),
    [
        ("", "3c", True),
        ("8c", "8d", True),
        ("8c", "9d", True),
        ("8c", "7d", False),
        ("Ac", "Kh", False),
        ("Ac", "As", True),
        ("Jc", "Td", True),
        ("Jc", "2d", True),
        ("2c", "3d", True),
        ("2c", "2d", True),
        ("9c", "Td", True),
        ("4c", "3d", False),
        ("Ac 2c 3c", "4d", True),
        ("Kc' 9c", "Ac", True),
    ],
)
def test_r4_r5_r21_rows_16_17_22_what_beats_what(pile: str, played: str, legal: bool) -> None:
    if "'" not in pile:
        lead_on(pile, played, legal=legal)
    else:
        record(
            f"pile {pile}\nhand Ana {played} Ks\n{OTHER}turn Ana\nAna plays {played}\n",
            rules="wikipedia packs=2",
        )


def test_r18_clockwise_skipping_nobody() -> None:
    record(
        "hand Ana 3c 4c\nhand Bogdan 5c 6c\nhand Carmen 7c 8c\nturn Carmen\nCarmen plays 7c\n= turn Ana\n",
        **THREE,
    )


def test_r18_anticlockwise_when_the_position_says_so() -> None:
    record(
        "hand Ana 3c 4c\nhand Bogdan 5c 6c\nhand Carmen 7c 8c\ndirection anticlockwise\nturn Ana\n"
        "Ana plays 3c\n= turn Carmen\n= direction anticlockwise\nCarmen plays 7c\n= turn Bogdan\n",
        **THREE,
    )


def test_r19_only_the_player_in_turn_row_38() -> None:
    record(
        "pile 8c 8d 8h\nhand Ana 9c 4c\nhand Bogdan 8s 6c\nturn Ana\n"
        "= illegal not_your_turn Bogdan plays 8s\n"
        "= illegal not_your_turn Bogdan picks up\n= illegal not_your_turn Bogdan flips 1\n"
    )


@pytest.mark.parametrize(("pile", "played"), [("8c 8d", "9d"), ("8c", "9d 9h 9s"), ("8c", "9c 9d")])
def test_r20_row_18_the_number_of_cards_is_free(pile: str, played: str) -> None:
    lead_on(pile, played, legal=True)


def test_r20_row_19_equal_cards_may_be_kept() -> None:
    record(f"pile 7c\nhand Ana 8c 8d 8h\n{OTHER}turn Ana\nAna plays 8c 8h\n= hand Ana 8d\n")


@pytest.mark.parametrize("played", ["5c 6c", "2c 5c", "Tc 2c"])
def test_r20_row_20_two_ranks_are_no_set(played: str) -> None:
    record(f"hand Ana {played} Kc\n{OTHER}turn Ana\n= illegal not_a_set Ana plays {played}\n")


def test_row_21_cards_named_twice_or_not_owned() -> None:
    record(
        f"pile 3d\nhand Ana 5c 6c\nup Ana 5d\n{OTHER}turn Ana\n= illegal duplicate_card Ana plays 5c 5c\n"
        "= illegal not_yours Ana plays Qc\n= illegal not_yours Ana plays 3d\n"
        "= illegal not_yours Ana plays 5c Qc\n"
        "= illegal no_such_card Ana plays 5c'\n= illegal no_such_card Ana plays X1\n"
        "= illegal no_such_card Ana plays X1 Qc\n= illegal not_in_zone Ana plays 5d\n"
    )


@pytest.mark.parametrize("positions", [(), (-1,), (52,), (10**9,)])
def test_row_21_no_card_and_made_up_positions(positions: tuple[int, ...]) -> None:
    state = in_play(3, 4)
    error = check(state, Play(state.turn, positions))
    assert error is not None
    assert error.code == ("not_a_set" if not positions else "no_such_card")


@pytest.mark.parametrize("seat", [-1, 3, 99])
def test_a_seat_that_is_not_there_has_no_turn(seat: int) -> None:
    state = in_play(3, 4)
    for move in (Play(seat, (0,)), PickUp(seat), Flip(seat, 0)):
        error = check(state, move)
        assert error is not None and error.code == "not_your_turn"
    arranging = deal(RuleSet(), 3, 0, list(range(52)))
    error = check(arranging, Ready(seat))
    assert error is not None and error.code == "not_your_turn"


def test_moves_of_options_that_are_off_are_not_allowed() -> None:
    record(
        f"pile 3d\nstock 9c\nhand Ana 5c 6c\nup Ana 7d\n{OTHER}turn Ana\n"
        f"= illegal not_allowed Ana chances\n"
        "= illegal not_allowed Ana picks up with 7d\n= illegal not_allowed Ana plays 5c as 9\n"
        "= illegal not_allowed Ana names 9\n"
    )
    record("phase arrange\nup Ana 7d\nhand Ana 5c\nhand Bogdan 6c\n= illegal not_allowed Ana chooses 5c\n")
    state = in_play(2, 1)
    for move in (Chance(state.turn), PlayAs(state.turn, (), 3), Choose(state.turn, ())):
        with pytest.raises(RuleError):
            apply(state, move)


def test_r22_draw_to_three_and_no_further() -> None:
    state = record(
        f"stock 9c 9d 9h\nhand Ana 5c 6c 7c\n{OTHER}turn Ana\nAna plays 5c\n= hand Ana 6c 7c 9c\n= stock 9d 9h\n"
    )
    assert len(state.hands[0]) == 3


def test_r22_row_46_a_big_hand_draws_nothing() -> None:
    record(f"stock 9c\nhand Ana 5c 6c 7c 8c\n{OTHER}turn Ana\nAna plays 5c\n= hand Ana 6c 7c 8c\n= stock 9c\n")


def test_r22_no_draw_after_upcards() -> None:
    record(
        f"stock 9c\nup Ana 5c 6c\n{OTHER}turn Ana\nAna plays 5c\n= hand Ana\n= stock 9c\n",
        rules="wikipedia refill_to=1",
    )


def test_r23_rows_1_45_the_stock_ends_in_the_middle() -> None:
    record(
        f"stock 9c\nhand Ana 5c 5d 6c\n{OTHER}turn Ana\nAna plays 5c 5d\n= hand Ana 6c 9c\n"
        f"= stock\nBogdan plays Qc\n"
        "= hand Bogdan Qd Qh\n"
    )


def test_r24_drawn_cards_wait_for_the_next_turn() -> None:
    record(f"stock 5h\nhand Ana 5c 6c 7c\n{OTHER}turn Ana\nAna plays 5c\n= illegal not_your_turn Ana plays 5h\n")


@pytest.mark.parametrize(("limit", "hand"), [("1", "6c 7c"), ("4", "6c 7c 9c 9d"), ("3", "6c 7c 9c")])
def test_refill_to_sets_the_target_of_r22(limit: str, hand: str) -> None:
    record(
        f"stock 9c 9d 9h\nhand Ana 5c 6c 7c\n{OTHER}turn Ana\nAna plays 5c\n= hand Ana {hand}\n",
        rules=f"wikipedia refill_to={limit}",
    )


def test_r25_row_39_the_burner_draws_before_leading() -> None:
    record(
        f"pile Ac\nstock 9c\nhand Ana Tc 6c 7c\n{OTHER}turn Ana\nAna plays Tc\n= hand Ana 6c 7c 9c\n"
        f"Ana plays 9c\n= pile 9c\n"
    )


def test_r26_a_two_stays_and_rows_22_23_24() -> None:
    record(
        "pile Ac\nhand Ana 2c 2d 3c\nhand Bogdan 2h 2s 4c\nturn Ana\nAna plays 2c\nBogdan plays 2h\n"
        "= pile Ac 2c 2h\n"
        "Ana plays 2d\nBogdan plays 2s\n= pile\n= turn Bogdan\n"
    )


@pytest.mark.parametrize(
    ("pile", "tens"), [("2c", "Tc"), ("Ac", "Tc"), ("", "Tc"), ("Kc", "Tc Td"), ("3c", "Tc Td Th")]
)
def test_r27_rows_25_26_tens_burn_once(pile: str, tens: str) -> None:
    state = record(f"pile {pile}\nhand Ana {tens} 4c 4d\n{OTHER}turn Ana\n")
    cards = tuple(p for p in state.hands[0] if state.rank_at(p) == 8)
    state, events = step(state, Play(0, cards))
    count = len(pile.split()) + len(cards)
    assert events == (Played(0, cards, Zone.HAND), Burnt(0, count, BurnCause.TEN), TurnTo(0))
    assert (state.pile, state.turn) == ((), 0)


@pytest.mark.parametrize("pile", ["", "4c", "5c"])
def test_r28_row_27_a_quartet_in_one_go(pile: str) -> None:
    extra = "5c'" if pile == "5c" else "5c"
    record(
        f"pile {pile}\nhand Ana {extra} 5d 5h 5s Kc\n{OTHER}turn Ana\nAna plays {extra} 5d 5h 5s\n"
        f"= pile\n= turn Ana\n",
        rules="wikipedia packs=2",
    )


def test_r28_row_27_not_counting_what_lies_below() -> None:
    record(
        f"pile 5c 6c 5d\nhand Ana 5h 5s Kc\n{OTHER}turn Ana\nAna plays 5h 5s\n"
        f"= pile 5c 6c 5d 5h 5s\n= turn Bogdan\n"
    )


@pytest.mark.parametrize(
    ("pile", "played"), [("9c 9d 9h", "9s"), ("9c 9d", "9h 9s"), ("9c", "9d 9h 9s"), ("3c 9c 9d 9h", "9s")]
)
def test_r28_row_30_completing_a_run_burns(pile: str, played: str) -> None:
    state = record(
        f"pile {pile}\nhand Ana {played} Kc\n{OTHER}turn Ana\nAna plays {played}\n= pile\n"
        f"= turn Ana\n= hand Ana Kc\n"
    )
    assert not state.pile


def test_row_29_a_quartet_on_a_two() -> None:
    record(f"pile Ac 2c\nhand Ana 3c 3d 3h 3s Kc\n{OTHER}turn Ana\nAna plays 3c 3d 3h 3s\n= pile\n= turn Ana\n")


def test_row_31_a_run_that_comes_round() -> None:
    record(
        "hand Ana 9c 9d 3c\nhand Bogdan 9h 9s 4c\nturn Ana\nAna plays 9c\nBogdan plays 9h\n"
        "Ana plays 9d\nBogdan plays 9s\n"
        "= pile\n= turn Bogdan\n"
    )


@pytest.mark.parametrize(("pile", "played", "run"), [("5c 5d 2c", "5h 5s", 2), ("5c 5d 5h 2c", "5s", 1)])
def test_rows_32_33_a_two_breaks_the_run(pile: str, played: str, run: int) -> None:
    state = record(f"pile {pile}\nhand Ana {played} Kc\n{OTHER}turn Ana\nAna plays {played}\n= turn Bogdan\n")
    assert state.top_run() == run


@pytest.mark.parametrize(("pile", "played"), [("9c 9d 9h", "9c' 9d' 9h'"), ("", "9c 9d 9h 9s 9c'")])
def test_rows_34_35_two_packs_burn_past_four_once(pile: str, played: str) -> None:
    state = record(f"pile {pile}\nhand Ana {played} Kc\n{OTHER}turn Ana\n", rules="wikipedia packs=2")
    nine = tuple(p for p in state.hands[0] if state.rank_at(p) == 7)
    _, events = step(state, Play(0, nine))
    assert [event for event in events if isinstance(event, Burnt)] == [
        Burnt(0, len(pile.split()) + len(nine), BurnCause.QUARTET)
    ]


def test_row_36_a_pick_up_ends_the_run() -> None:
    record(
        "pile 9c 9d 9h\nhand Ana 3c\nhand Bogdan 9s 4c\nturn Ana\nAna picks up\nBogdan plays 9s\n"
        "= pile 9s\n= turn Ana\n"
    )


def test_row_37_a_picked_up_quartet_may_be_played() -> None:
    record(
        "pile 9c 9d 9h\nhand Ana 9s Kc\nhand Bogdan 3c 4c\nturn Ana\nAna picks up\nBogdan plays 3c\n"
        "Ana plays 9c 9d 9h 9s\n= pile\n= turn Ana\n"
    )


def test_r29_row_28_a_low_quartet_is_refused() -> None:
    record(f"pile 8c Qs\nhand Ana 6c 6d 6h 6s\n{OTHER}turn Ana\n= illegal too_low Ana plays 6c 6d 6h 6s\n")


def test_r30_rows_40_44_the_extra_turn_is_compulsory_and_from_what_is_left() -> None:
    state = record(
        f"pile 3c\nhand Ana Tc\nup Ana 4c 5c\n{OTHER}turn Ana\nAna plays Tc\n= turn Ana\n"
        "= illegal empty_pile Ana picks up\n= illegal wrong_phase Ana passes\n"
    )
    assert {type(move) for move in actions(state)} == {Play}
    assert state.active_zone(0) is Zone.UPCARDS


def test_row_41_after_a_burn_with_the_last_upcard_a_flip() -> None:
    state = record(f"pile 3c\nup Ana Tc\ndown Ana 4c - 5c\n{OTHER}turn Ana\nAna plays Tc\n= turn Ana\n")
    assert list(actions(state)) == [Flip(0, 0), Flip(0, 2)]
    assert apply(state, Flip(0, 0)).pile


def test_r31_there_is_no_jumping_in() -> None:
    record("pile 8c 8d 8h\nhand Ana 9c 4c\nhand Bogdan 8s 6c\nturn Ana\n= illegal not_your_turn Bogdan plays 8s\n")


def test_r32_row_50_picking_up_by_choice() -> None:
    record(f"pile 3c 4c\nhand Ana 5c\n{OTHER}turn Ana\nAna picks up\n= hand Ana 3c 4c 5c\n= pile\n= turn Bogdan\n")


def test_r33_row_49_without_a_fitting_card_only_the_pick_up() -> None:
    state = record(f"pile Ac\nhand Ana 5c 6c\n{OTHER}turn Ana\n")
    assert list(actions(state)) == [PickUp(0)]


def test_r34_rows_47_51_52_a_pick_up_ends_the_turn_without_a_draw() -> None:
    state = record(f"pile 3c 4c\nstock 9c\nhand Ana 5c\n{OTHER}turn Ana\n")
    state, events = step(state, PickUp(0))
    taken = tuple(p for p in state.hands[0] if state.rank_at(p) in (1, 2))
    assert events == (PickedUp(0, taken), TurnTo(1))
    assert PickedUp(0, taken).count == 2
    assert len(state.stock) == 1


def test_r35_row_48_nothing_to_pick_up() -> None:
    record(f"hand Ana 5c\n{OTHER}turn Ana\n= illegal empty_pile Ana picks up\n")


def test_r36_row_56_upcards_go_one_or_as_a_set() -> None:
    record(
        f"pile 3c\nup Ana 7c 7d Qs\n{OTHER}turn Ana\nAna plays 7c 7d\n= up Ana Qs\n= pile 3c 7c 7d\n"
        f"= turn Bogdan\n"
    )


def test_r37_rows_54_59_hand_and_upcards_are_not_combined() -> None:
    record(
        f"pile 3c\nhand Ana 9c\nup Ana 9d\n{OTHER}turn Ana\n= illegal not_in_zone Ana plays 9c 9d\n"
        "= illegal not_in_zone Ana plays 9d\n"
    )


def test_row_55_nor_while_the_stock_would_refill_the_hand() -> None:
    record(f"pile 3c\nstock Kc\nhand Ana 9c\nup Ana 9d\n{OTHER}turn Ana\n= illegal not_in_zone Ana plays 9c 9d\n")


def test_row_80_a_move_names_positions_so_no_rank_can_be_made_up() -> None:
    state = record(f"pile 8c\nhand Ana 7c 9c\n{OTHER}turn Ana\n")
    seven, nine = state.hands[0]
    assert Play(0, (seven,)) not in actions(state) and Play(0, (nine,)) in actions(state)


def test_every_refusal_speaks_of_a_seat_by_the_one_key_that_becomes_a_name() -> None:
    error = check(in_play(3, 4), PickUp(99))
    assert error is not None and error.sentence.values == {"seat": in_play(3, 4).turn}


def test_row_53_upcards_from_the_next_turn() -> None:
    record(
        f"hand Ana 9c\nup Ana 9d\n{OTHER}turn Ana\nAna plays 9c\n= turn Bogdan\nBogdan plays Qc\n"
        "= illegal too_low Ana plays 9d\n"
    )


@pytest.mark.parametrize("pile", ["Ac", "3c"])
def test_r38_rows_57_58_the_pile_is_picked_up_alone(pile: str) -> None:
    record(
        f"pile {pile}\nup Ana 7c 9d\n{OTHER}turn Ana\nAna picks up\n= hand Ana {pile}\n"
        f"= up Ana 7c 9d\n= turn Bogdan\n"
    )


def test_r39_row_60_after_a_pick_up_the_hand_comes_first() -> None:
    record(
        f"pile 3c\nup Ana 7c 9d\ndown Ana 2c 2d 2h\n{OTHER}turn Ana\nAna picks up\nBogdan plays Qc\n"
        "= illegal not_in_zone Ana plays 9d\n= illegal not_in_zone Ana flips 1\n"
        "= illegal too_low Ana plays 3c\n"
    )


def test_row_59_downcards_wait_for_the_upcards() -> None:
    record(
        f"up Ana 7c\ndown Ana 2c 2d 2h\n{OTHER}turn Ana\n= illegal not_in_zone Ana flips 1\n"
        f"= illegal not_in_zone Ana plays 2c\n"
    )


def test_what_may_be_played_now() -> None:
    state = record(f"pile Kc\nhand Ana 5c\n{OTHER}turn Ana\n")
    assert legal_ranks(state) == {0, 8, 11, 12, 13}
    assert legal_ranks(in_play(2, 0)) == set(range(14))


def test_the_draw_is_told() -> None:
    state = record(f"stock 9c 9d\nhand Ana 5c 6c 7c\n{OTHER}turn Ana\n")
    top = state.stock[0]
    _, events = step(state, Play(0, (state.hands[0][0],)))
    assert Drew(0, (top,)) in events

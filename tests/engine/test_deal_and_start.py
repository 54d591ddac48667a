"""R1 to R17: the deal, arranging, and who leads. Edge cases by their row in section 2."""

from __future__ import annotations

import itertools

import pytest

from engine.cards import UNKNOWN, parse_card
from engine.errors import RuleError
from engine.events import Asked, Declared, EldestBy, EldestFound, Passed, TurnTo
from engine.game import actions, apply, check, deal, problems, step
from engine.moves import Declare, Pass, PickUp, Play, Ready, Swap, Unready
from engine.rules import RuleSet
from engine.state import NOBODY, Phase, Zone
from tests.engine.helpers import after, record, rules_with, shuffled


def code(error: RuleError | None) -> str:
    return "" if error is None else error.code


@pytest.mark.parametrize("players", range(2, 11))
def test_r1_r10_the_whole_pack_is_dealt(players: int) -> None:
    state = deal(RuleSet(), players, 0, shuffled(players, 1))
    assert problems(state) == []
    packs = 1 if players <= 5 else 2
    assert len(state.stock) == 52 * packs - 9 * players


def test_r9_r11_one_card_at_a_time_from_the_dealers_left() -> None:
    state = deal(RuleSet(), 3, 1)
    assert state.downs == ((1, 4, 7), (2, 5, 8), (0, 3, 6))
    assert state.ups == ((10, 13, 16), (11, 14, 17), (9, 12, 15))
    assert state.hands == ((19, 22, 25), (20, 23, 26), (18, 21, 24))
    assert state.stock == tuple(range(27, 52))


def test_r9_other_deals_go_out_in_the_same_order() -> None:
    state = deal(rules_with(deal="1/0/2"), 2, 0, list(range(52)))
    assert (state.downs, state.ups, state.hands) == (((1,), (0,)), ((), ()), ((3, 5), (2, 4)))
    assert state.phase is Phase.ARRANGE


@pytest.mark.parametrize("dealer", [-1, 3])
def test_a_dealer_has_a_seat(dealer: int) -> None:
    with pytest.raises(RuleError) as refused:
        deal(RuleSet(), 3, dealer)
    assert refused.value.code == "bad_seat"


@pytest.mark.parametrize("faces", [[], list(range(51)), [0, *range(51)], [UNKNOWN, *range(51)]])
def test_a_deck_is_the_whole_pack(faces: list[int]) -> None:
    with pytest.raises(RuleError) as refused:
        deal(RuleSet(), 3, 0, faces)
    assert refused.value.code == "bad_deck"


def test_r2_the_active_zone_is_hand_then_upcards_then_downcards() -> None:
    state = record("hand Ana 3c\nup Ana 4c\ndown Ana 5c - -\nhand Bogdan 6c 7c 8c\nturn Ana\n")
    assert state.active_zone(0) is Zone.HAND
    state = after(state, Play(0, state.hands[0]), PickUp(1))
    assert state.active_zone(0) is Zone.UPCARDS
    state = after(state, Play(0, state.ups[0]), PickUp(1))
    assert state.active_zone(0) is Zone.DOWNCARDS


ARRANGING = """
phase arrange
up Ana 9c 3s Td
up Bogdan Kd 4c 6h
hand Ana 5c 5d 5h
hand Bogdan 7c 7d 7h
"""


def test_r12_a_swap_keeps_the_sizes() -> None:
    record(ARRANGING + "Ana swaps 5c for 9c\n= hand Ana 9c 5d 5h\n= up Ana 5c 3s Td\n= phase arrange\n")


def test_r12_downcards_and_foreign_cards_are_not_touched() -> None:
    record(
        ARRANGING.replace("phase", "down Ana 2c 2d 2h\nphase")
        + "= illegal not_in_zone Ana swaps 2c for 9c\n= illegal not_in_zone Ana swaps 5c for 2c\n"
        "= illegal not_yours Ana swaps 7c for 9c\n= illegal not_yours Ana swaps 5c for Kd\n"
        "= illegal not_in_zone Ana swaps 9c for 5c\n= illegal no_such_card Ana swaps 5c' for 9c\n"
    )


def test_r13_row_5_no_exchange_after_ready_until_unready() -> None:
    record(
        ARRANGING + "Ana ready\n= illegal already_ready Ana swaps 5c for 9c\n= illegal already_ready Ana ready\n"
        "Ana unready\n= illegal Ana unready\nAna swaps 5c for 9c\n"
    )


def test_row_6_swaps_of_two_players_commute() -> None:
    state = deal(RuleSet(), 2, 0, shuffled(2, 5))
    one = Swap(0, state.hands[0][0], state.ups[0][2])
    other = Swap(1, state.hands[1][1], state.ups[1][0])
    assert after(state, one, other) == after(state, other, one)


def test_r14_row_79_no_arranging_once_play_has_begun_and_no_play_before() -> None:
    record(
        ARRANGING + "= illegal wrong_phase Ana plays 5c\n= illegal wrong_phase Ana picks up\n"
        "= illegal wrong_phase Ana flips 1\n= illegal wrong_phase Ana passes\n"
        "Ana ready\nBogdan ready\n= illegal wrong_phase Ana swaps 5c for 9c\n"
        "= illegal wrong_phase Ana unready\n"
    )


def test_row_7_nothing_happens_until_everybody_is_ready() -> None:
    state = record(ARRANGING + "Bogdan ready\n= phase arrange\n")
    assert Ready(0) in actions(state) and Unready(1) in actions(state)
    assert state.turn == NOBODY


def test_r15_row_8_an_upcard_three_counts_as_dealt() -> None:
    record(ARRANGING + "Ana swaps 5c for 3s\nAna ready\nBogdan ready\n= eldest Ana\n= turn Ana\n")


def test_row_9_a_hand_three_put_up_is_still_a_hand_three() -> None:
    body = (
        "phase arrange\nup Ana 9c 4s Td\nup Bogdan Kd 4c 6h\nhand Ana 5c 5d 5h\nhand Bogdan 3c 7d 7h\n"
        "Bogdan swaps 3c for Kd\nAna ready\nBogdan ready\n"
    )
    # Everybody sees the three, but nobody knows Ana's hand yet: she is asked first and passes.
    assert record(body + "Ana passes\n= eldest Bogdan\n").eldest == 1


def test_row_10_the_earliest_upcard_decides_even_against_two() -> None:
    body = "phase arrange\nup Ana 9c 3s 3d\nup Bogdan 3h 4c 6h\nhand Ana 5c 5d 5h\nhand Bogdan 7c 7d 7h\n"
    assert record(body + "Ana ready\nBogdan ready\n= eldest Bogdan\n").turn == 1


def test_row_11_threes_in_several_hands_nearest_to_the_dealers_left() -> None:
    body = (
        "phase arrange\nup Ana 9c\nup Bogdan 8c\nup Carmen 7c\nhand Ana 3c\nhand Bogdan 3d\n"
        "hand Carmen 3h\n"
        "Ana ready\nBogdan ready\nCarmen ready\n= eldest Bogdan\n"
    )
    record(body, players="Ana Bogdan Carmen", dealer="Ana")


def test_r16_row_12_downcards_and_stock_do_not_count() -> None:
    body = (
        "phase arrange\ndown Ana 3c 3d 3h\nstock 3s\nup Ana 9c\nup Bogdan 8c\nhand Ana Qc\nhand Bogdan 4c\n"
        "Ana ready\nBogdan ready\nAna passes\nBogdan passes\nAna passes\nBogdan declares 4c\n"
        "= eldest Bogdan\n"
    )
    record(body)


def test_r15_3_upcards_of_a_rank_come_before_hands_of_it() -> None:
    body = "phase arrange\nup Ana 9c\nup Bogdan 4c\nhand Ana 4d\nhand Bogdan Qc\nAna ready\nBogdan ready\n"
    record(body + "Ana passes\nBogdan passes\n= eldest Bogdan\n")


def test_row_13_ten_in_its_place_and_two_last() -> None:
    ten = "phase arrange\nup Ana 2c\nup Bogdan Jc\nhand Ana 2d\nhand Bogdan Tc\nAna ready\nBogdan ready\n"
    assert record(ten + "= eldest Bogdan\n").rank_at(record(ten).hands[1][0]) == 8
    two = "phase arrange\nup Ana 2c\nup Bogdan Ac\nhand Ana 2d\nhand Bogdan 2h\nAna ready\nBogdan ready\n"
    record(two + "= eldest Bogdan\n")
    only_twos = "phase arrange\nup Ana 2c\nhand Ana 2d\nhand Bogdan 2h\nAna ready\nBogdan ready\n= eldest Ana\n"
    record(only_twos)


def test_r17_row_14_eldest_leads_anything() -> None:
    record(
        "phase arrange\nup Ana 9c\nup Bogdan 8c\nhand Ana 3c Kc Kd\nhand Bogdan 4c\nAna ready\n"
        "Bogdan ready\n"
        "= eldest Ana\nAna plays Kc Kd\n= pile Kc Kd\n"
    )


def test_r17_row_15_a_ten_led_burns_and_the_draw_comes_first() -> None:
    record(
        "stock 5c 6c\nhand Ana Tc Kc Kd\nhand Bogdan 4c\nturn Ana\nAna plays Tc\n= pile\n"
        "= hand Ana Kc Kd 5c\n"
        "= turn Ana\n= illegal empty_pile Ana picks up\n"
    )


def test_row_16_a_two_is_led_and_anything_follows() -> None:
    record("hand Ana 2c Kc\nhand Bogdan 3c 4c\nturn Ana\nAna plays 2c\nBogdan plays 3c\n")


def test_declaring_asks_seat_by_seat_and_says_so() -> None:
    """R15.2 and 1.19: clockwise from the dealer's left, until one has declared."""
    cards = ["9c", "8c", "7c", "Qc", "3d", "Kh"]
    ordered = [parse_card(text, 1, 0) for text in cards]
    state = deal(rules_with(deal="0/1/1"), 3, 2, [*ordered, *sorted(set(range(52)) - set(ordered))])
    state = after(state, Ready(0), Ready(1))
    state, events = step(state, Ready(2))
    assert events[1:] == (Asked(0, 1),)
    assert (state.phase, state.turn, state.asked) == (Phase.DECLARE, 0, 1)
    assert list(actions(state)) == [Pass(0)]
    assert code(check(state, Pass(1))) == "not_your_turn"
    state, events = step(state, Pass(0))
    assert events == (Passed(0, 1), Asked(1, 1))
    assert code(check(state, Pass(1))) == "must_play"
    position = state.hands[1][0]
    state, events = step(state, Declare(1, position))
    assert events == (Declared(1, 1, position), EldestFound(1, 1, EldestBy.HAND), TurnTo(1))
    assert state.is_public(position)
    assert (state.eldest, state.turn, state.phase) == (1, 1, Phase.PLAY)


def test_a_declared_card_was_dealt_to_the_hand_and_has_the_rank() -> None:
    record(
        "phase arrange\nup Ana 9c 8d\nup Bogdan 8c 5c\nhand Ana 3c Kc\nhand Bogdan 4c 4d\n"
        "Ana swaps Kc for 9c\nAna ready\nBogdan ready\n= phase declare\n"
        "= illegal not_a_set Ana declares Kc\n= illegal not_in_zone Ana declares 9c\n"
        "= illegal not_yours Ana declares 4c\n= illegal no_such_card Ana declares 3c'\n"
        "= illegal must_play Ana passes\n= illegal not_your_turn Bogdan passes\nAna declares 3c\n"
        "= eldest Ana\n"
    )


def test_a_card_that_lies_open_is_declared_by_rule() -> None:
    """1.19: no answer is owed for a card dealt to the hand that everybody has seen."""
    body = "phase arrange\nup Ana 9c\nup Bogdan 8c\nhand Ana 3c Kc\nhand Bogdan 4c 4d\nAna swaps 3c for 9c\n"
    state = record(
        body + "Ana ready\nBogdan ready\n= eldest Ana\n= phase play\n= illegal wrong_phase Ana passes\n"
    )
    assert state.turn == 0


def test_a_seat_whose_dealt_hand_lies_open_is_not_asked() -> None:
    body = "phase arrange\nup Ana 9c\nup Bogdan 8c\nhand Ana Kc\nhand Bogdan 3c 4d\nAna swaps Kc for 9c\n"
    state = record(body + "Ana ready\nBogdan ready\n= phase declare\n")
    assert (state.turn, state.asked) == (1, 1)


def test_everybody_passing_at_every_rank_still_ends() -> None:
    """Only false passes lead here: the dealer's left leads, and nobody hangs."""
    state = deal(rules_with(deal="0/0/1"), 3, 0)
    for seat in range(3):
        state = apply(state, Ready(seat))
    for seat in itertools.islice(itertools.cycle((1, 2, 0)), 39):
        assert state.phase is Phase.DECLARE
        state = apply(state, Pass(seat))
    assert (state.phase, state.eldest, state.turn) == (Phase.PLAY, 1, 1)

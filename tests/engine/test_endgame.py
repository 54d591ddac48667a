"""R40 to R50: downcards, going out, the end, leaving. Edge cases by their row in section 2."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.events import BurnCause, Burnt, Flipped, FlipStarted, Out, Over, PickedUp, SeatLeft, TurnTo
from engine.game import actions, apply, check, next_dealer, problems, step
from engine.moves import Flip, Leave, PickUp, Play, Ready
from engine.rules import RuleSet
from engine.state import EMPTY_SLOT, NOBODY, GameState, Phase, Result
from tests.engine.helpers import THREE, after, in_play, record, rules_with

OTHER = "hand Bogdan Qc Qd Qh\n"


def code(state: GameState, move: object) -> str:
    error = check(state, move)  # type: ignore[arg-type]
    return "" if error is None else error.code


def blind(pile: str, downs: str) -> GameState:
    return record(f"pile {pile}\ndown Ana {downs}\n{OTHER}turn Ana\n")


def test_r40_rows_67_68_at_the_blind_stage_one_card_is_flipped() -> None:
    state = blind("3c", "4c - 5c")
    assert list(actions(state)) == [Flip(0, 0), Flip(0, 2)]
    assert code(state, PickUp(0)) == "must_flip"
    assert code(state, Play(0, (state.downs[0][0],))) == "must_flip"
    assert code(state, Play(0, (state.downs[0][0], state.downs[0][2]))) == "must_flip"


@pytest.mark.parametrize("slot", [-1, 1, 3, 99])
def test_r40_slots_that_hold_no_card(slot: int) -> None:
    assert code(blind("3c", "4c - 5c"), Flip(0, slot)) == "bad_slot"


def test_r41_row_61_a_two_stays_on_top() -> None:
    record(
        f"pile Ac\ndown Ana 2c 4c -\n{OTHER}turn Ana\nAna flips 1\n= pile Ac 2c\n"
        f"= down Ana - 4c -\n= turn Bogdan\n"
    )


@pytest.mark.parametrize(
    ("pile", "card", "cause"),
    [("Ac", "Tc", BurnCause.TEN), ("", "Tc", BurnCause.TEN), ("4c 9c 9d 9h", "9s", BurnCause.QUARTET)],
)
def test_r41_rows_62_63_a_burn_by_a_flip_and_another_flip(pile: str, card: str, cause: BurnCause) -> None:
    state = blind(pile, f"{card} 3c -")
    position = state.downs[0][0]
    face = state.faces[position]
    count = len(state.pile) + 1
    state, events = step(state, Flip(0, 0))
    assert events == (
        FlipStarted(0, position, 0),
        Flipped(0, position, face, True),
        Burnt(0, count, cause),
        TurnTo(0),
    )
    assert list(actions(state)) == [Flip(0, 1)]


@pytest.mark.parametrize("pile", ["", "4d", "3c"])
def test_r41_rows_64_66_equal_or_nothing_below_is_legal(pile: str) -> None:
    state = after(blind(pile, "4c 5c 6c"), Flip(0, 0))
    assert state.hands[0] == () and state.turn == 1


def test_r42_r43_row_65_a_card_too_low_goes_to_the_hand_with_the_pile() -> None:
    state = record(f"pile 3c 8c\nstock 9c\ndown Ana 4c 5c 6c\n{OTHER}turn Ana\n", rules="wikipedia refill_to=3")
    position, pile = state.downs[0][0], state.pile
    state, events = step(state, Flip(0, 0))
    assert events[1:] == (
        Flipped(0, position, state.faces[position], False),
        PickedUp(0, (*pile, position)),
        TurnTo(1),
    )
    assert state.downs[0][0] == EMPTY_SLOT
    assert state.is_public(position), "shown to all"
    assert len(state.stock) == 1, "no draw after a flip"


def test_row_69_the_last_downcard_fails() -> None:
    record(
        f"pile 8c\ndown Ana 4c - -\n{OTHER}turn Ana\nAna flips 1\n= hand Ana 8c 4c\n= down Ana\n"
        f"= out\n= turn Bogdan\n"
    )


def test_r44_row_70_the_last_downcard_is_legal() -> None:
    record(
        f"pile 3c\ndown Ana 4c - -\n{OTHER}hand Carmen Kc\nturn Ana\nAna flips 1\n= out Ana\n= turn Bogdan\n",
        **THREE,
    )


@pytest.mark.parametrize("cards", ["Tc", "2c", "9s", "Kc Kd"])
def test_r44_row_42_any_card_may_be_the_last(cards: str) -> None:
    record(
        f"pile 9c 9d 9h\nhand Ana {cards}\n{OTHER}hand Carmen 3c\nturn Ana\nAna plays {cards}\n"
        f"= out Ana\n= turn Bogdan\n",
        **THREE,
    )


@pytest.mark.parametrize("cards", ["Tc", "9s"])
def test_r45_rows_43_74_out_by_a_burn_the_next_leads(cards: str) -> None:
    body = f"pile 9c 9d 9h\nhand Ana {cards}\nhand Bogdan 3c 4c\nhand Carmen 5c 6c\nturn Ana\n"
    record(body + f"Ana plays {cards}\n= pile\n= turn Bogdan\nBogdan plays 3c\n= turn Carmen\n", **THREE)


def test_r45_row_71_out_without_a_burn_the_pile_stays() -> None:
    body = "pile 9c\nhand Ana Kc\nhand Bogdan 3c 4c\nhand Carmen 5c 6c\nturn Ana\nAna plays Kc\n= pile 9c Kc\n"
    record(body + "= illegal too_low Bogdan plays 3c\n= turn Bogdan\n", **THREE)


def test_r44_the_draw_comes_before_being_out() -> None:
    record(f"pile 3c\nstock 9c\nhand Ana 4c\n{OTHER}turn Ana\nAna plays 4c\n= hand Ana 9c\n= out\n= turn Bogdan\n")


@pytest.mark.parametrize("last", ["Kc", "Tc"])
def test_r46_r47_rows_72_73_of_two_the_first_out_ends_it_at_once(last: str) -> None:
    state = record(f"pile 9c\nhand Ana {last}\nhand Bogdan Qc\nturn Ana\n")
    state, events = step(state, Play(0, state.hands[0]))
    assert events[-2:] == (Out(0, 1), Over(1, Result.FINISHED))
    assert (state.phase, state.shithead, state.turn, state.finish_order) == (Phase.OVER, 1, NOBODY, (0,))
    assert not actions(state)


def test_row_75_a_seat_that_is_out_is_skipped() -> None:
    record("hand Ana 3c 4c\nhand Carmen 5c 6c\nout Bogdan\nturn Ana\nAna plays 3c\n= turn Carmen\n", **THREE)


def test_row_79_nothing_is_possible_when_the_round_is_over() -> None:
    state = record(
        "pile 9c\nhand Ana Kc\nhand Bogdan Qc\nturn Ana\nAna plays Kc\n= over Bogdan\n"
        "= illegal wrong_phase Bogdan picks up\n= illegal wrong_phase Bogdan plays Qc\n"
        "= illegal wrong_phase Bogdan leaves\n= illegal wrong_phase Ana ready\n"
    )
    assert code(state, Flip(1, 0)) == "wrong_phase"


def test_r48_who_deals_next() -> None:
    state = record("pile 9c\nhand Ana Kc\nhand Bogdan Qc\nturn Ana\nAna plays Kc\n", dealer="Ana")
    rotate = replace(state, setup=replace(state.setup, rules=rules_with(next_dealer="rotate")))
    winner = replace(state, setup=replace(state.setup, rules=rules_with(next_dealer="winner")))
    assert (next_dealer(state), next_dealer(rotate), next_dealer(winner)) == (1, 1, 0)
    gone = replace(state, left=(1,))
    assert next_dealer(gone) == 1
    stalled = replace(state, shithead=NOBODY, result=Result.STALLED)
    assert next_dealer(stalled) == 1


def test_r49_r50_row_77_the_limit_stalls_the_round() -> None:
    body = "pile 3c\nhand Ana 4c 5c\nhand Bogdan 4d 5d\nturn Ana\nAna picks up\nBogdan plays 4d\nAna plays 4c\n"
    state = record(body + "= over stalled\n", rules="wikipedia turn_limit=3")
    assert (state.result, state.shithead, state.finish_order, state.action_count) == (
        Result.STALLED,
        NOBODY,
        (),
        3,
    )
    assert state.phase is Phase.OVER


def test_r50_row_78_the_natural_end_comes_first() -> None:
    record(
        "pile 3c\nhand Ana 4c\nhand Bogdan 4d 5d\nturn Ana\nAna plays 4c\n= over Bogdan\n",
        rules="wikipedia turn_limit=1",
    )


def test_r50_flips_count_once() -> None:
    state = after(blind("3c", "4c 5c 6c"), Flip(0, 0))
    assert state.action_count == 1


def test_r50_arranging_and_declaring_do_not_count() -> None:
    assert in_play(4, 7).action_count == 0


def test_row_81_a_leaver_lays_everything_aside_and_play_goes_on() -> None:
    state = record(
        "hand Ana 3c\nup Ana 4c\ndown Ana 5c - 6c\nhand Bogdan 7c 8c\nhand Carmen 9c Kc\nturn Ana\n"
        "Ana leaves\n= turn Bogdan\n= hand Ana\n= up Ana\n= down Ana\nBogdan plays 7c\n"
        "Carmen plays 9c\n= turn Bogdan\n",
        **THREE,
    )
    assert len(state.aside) == 4 and problems(state) == []
    assert state.left == (0,)
    assert code(state, Leave(0)) == "not_your_turn"


def test_row_81_somebody_else_leaves() -> None:
    state = in_play(3, 2)
    leaver = state.next_active(state.turn)
    after_leaving, events = step(state, Leave(leaver))
    assert events == (SeatLeft(leaver),)
    assert after_leaving.turn == state.turn
    assert after_leaving.next_active(state.turn) not in (leaver, state.turn)


def test_row_81_of_two_the_leaver_forfeits() -> None:
    state = record("hand Ana 3c\nhand Bogdan 7c 8c\nturn Ana\nBogdan leaves\n= over Bogdan\n= out\n")
    assert (state.result, state.shithead) == (Result.FORFEIT, 1)


def test_row_81_the_last_one_not_ready_leaves() -> None:
    body = "phase arrange\nup Ana 3c\nup Bogdan 4c\nup Carmen 5c\nhand Ana 6c\nhand Bogdan 7c\nhand Carmen 8c\n"
    record(body + "Bogdan ready\nCarmen ready\nAna leaves\n= eldest Bogdan\n= turn Bogdan\n", **THREE)


def test_row_81_the_seat_asked_leaves() -> None:
    body = "phase arrange\nup Ana 9c\nup Bogdan 9d\nup Carmen 9h\nhand Ana 3c\nhand Bogdan 7c\nhand Carmen 3d\n"
    record(
        body + "Ana ready\nBogdan ready\nCarmen ready\nAna leaves\nBogdan passes\n= turn Carmen\n= phase declare\n"
        "Carmen declares 3d\n= eldest Carmen\n",
        **THREE,
    )


def test_row_76_only_the_acting_player_can_go_out() -> None:
    state = in_play(3, 11)
    for _ in range(400):
        if state.phase is Phase.OVER:
            break
        turn, before = state.turn, state.finish_order
        state = apply(state, next(iter(actions(state))))
        assert state.finish_order[len(before) :] in ((), (turn,))


def test_nobody_is_ready_for_a_round_that_is_over() -> None:
    state = record("pile 9c\nhand Ana Kc\nhand Bogdan Qc\nturn Ana\nAna plays Kc\n")
    assert code(state, Ready(0)) == "wrong_phase"
    assert RuleSet().turn_limit == 1000

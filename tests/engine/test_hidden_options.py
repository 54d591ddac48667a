"""Hidden hands under the options (1.19): what is public is checked at once, the rest is judged with open faces."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.cards import RANKS
from engine.errors import RuleError, Sentence
from engine.events import (
    Chanced,
    ChanceStarted,
    Chose,
    EldestBy,
    EldestFound,
    Flipped,
    FollowUpDone,
    FollowUpOpen,
    NameAsked,
    Named,
    Opened,
    Reversed,
    SeatLeft,
    SeatReady,
    Skipped,
    TurnTo,
)
from engine.game import (
    actions,
    apply,
    check,
    deal,
    hidden_breach,
    legal_ranks,
    mask,
    next_dealer,
    problems,
    step,
    with_faces,
)
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
    PlayerMove,
    Ready,
)
from engine.rules import RuleSet
from engine.state import NOBODY, GameState, Phase, Result
from tests.engine.helpers import THREE, record, rules_with

QUEEN, KING, JACK = (RANKS.index(rank) for rank in "QKJ")


def code(state: GameState, move: Move) -> str:
    error = check(state, move)
    return "" if error is None else error.code


def breach(state: GameState, move: PlayerMove) -> str:
    """The code of what ``move`` breaks in ``state``, which an onlooker accepts."""
    assert code(mask(state, None), move) == ""
    assert code(state, move) != ""
    found = hidden_breach(with_faces(mask(state, None), dict(enumerate(state.faces))), move)
    assert isinstance(found, Sentence) and str(found)
    return found.code


PILE_AND_HANDS = "pile Qc\nstock 8c 9c\nhand Ana Kc 4c 5c\nhand Bogdan Kd Kh\nturn Ana\n"


def test_a_pick_up_without_need_is_found_when_the_hands_are_open() -> None:
    state = record(PILE_AND_HANDS, rules="wikipedia pick_up=forced_only")
    assert breach(state, PickUp(0)) == "pick_up_not_forced"
    unable = record(PILE_AND_HANDS.replace("Kc", "3c"), rules="wikipedia pick_up=forced_only")
    assert hidden_breach(unable, PickUp(0)) is None


def test_a_pick_up_is_refused_where_public_cards_show_that_there_is_a_play() -> None:
    state = record(PILE_AND_HANDS, rules="wikipedia pick_up=forced_only")
    hidden = mask(state, None)
    king = state.hands[0][0]
    assert code(apply(hidden, Open(king, state.faces[king])), PickUp(0)) == "must_play"
    low = state.hands[0][1]
    assert code(apply(hidden, Open(low, state.faces[low])), PickUp(0)) == ""


def test_a_pick_up_is_refused_where_every_card_could_be_played() -> None:
    body = "pile Qc 2c\nstock 8c\nhand Ana 4c\nhand Bogdan Kd\nturn Ana\n"
    assert code(mask(record(body, rules="wikipedia pick_up=forced_only"), None), PickUp(0)) == "must_play"
    chance = "stock 8c\nhand Ana 4c\nhand Bogdan Kd\nturn Ana\n"
    assert code(mask(record(chance, rules="wikipedia chance=chance"), None), Chance(0)) == "must_play"


def test_a_chance_without_need_is_found_when_the_hands_are_open() -> None:
    assert breach(record(PILE_AND_HANDS, rules="wikipedia chance=chance"), Chance(0)) == "chance_not_forced"


START = (
    "hand Ana 4c 9c\nhand Bogdan 4h 4d\nhand Carmen 4s Jh\nphase arrange\nAna ready\nBogdan ready\nCarmen ready\n"
)
THREES = "Ana passes\nBogdan passes\nCarmen passes\n"


def test_false_answers_at_the_start_are_found_when_the_hands_are_open() -> None:
    lowest = "wikipedia start=hand_lowest "
    state = record(START + THREES, rules=lowest, **THREE)
    assert breach(state, Pass(0)) == "false_pass"
    by_suit = record(START + THREES + "Ana declares 4c\n", rules=lowest + "start_tie=suit/shdc", **THREE)
    assert breach(by_suit, Pass(1)) == "false_pass"
    diamond = by_suit.hands[1][1]
    hidden = apply(mask(by_suit, None), Open(diamond, by_suit.faces[diamond]))
    assert code(hidden, Declare(1, diamond)) == ""
    found = hidden_breach(by_suit, Declare(1, diamond))
    assert found is not None and found.code == "false_declare"
    copies = record(START + THREES + "Ana declares 4c\nAna passes\nBogdan declares 4h\n",
                    rules=lowest + "start_tie=most_copies", **THREE)  # fmt: skip
    assert breach(copies, Pass(1)) == "false_pass"


def test_declaring_one_card_again_and_again_is_no_way_to_more_copies() -> None:
    state = record(START + THREES, rules="wikipedia start=hand_lowest start_tie=most_copies", **THREE)
    hidden = mask(state, None)
    club = state.hands[0][0]
    hidden = apply(apply(hidden, Open(club, state.faces[club])), Declare(0, club))
    assert hidden.extra.declared == (club,)
    assert hidden.canonical()[-1] == ("declared", (club,))  # type: ignore[index]
    assert code(hidden, Declare(0, club)) == "duplicate_card"


def test_a_first_lead_without_the_start_rank_is_found_when_the_hands_are_open() -> None:
    body = "hand Ana 9c 3h 4d\nup Ana 3c\nhand Bogdan 4h\nphase arrange\nAna ready\nBogdan ready\n"
    state = record(body, rules="wikipedia lead_must_be_start_rank=true")
    nine = Play(0, (state.hands[0][0],))
    assert code(state, nine) == "must_play"
    shown = apply(mask(state, None), Open(state.hands[0][0], state.faces[state.hands[0][0]]))
    assert code(shown, nine) == ""
    found = hidden_breach(with_faces(shown, dict(enumerate(state.faces))), nine)
    assert found is not None and found.code == "lead_not_start_rank"
    assert [type(move) for move in actions(state)] == [Play]
    assert state.canonical()[-1] == ("start_rank", RANKS.index("3"))  # type: ignore[index]
    assert apply(state, Play(0, (state.hands[0][1],))).extra.start_rank == -1


def test_what_is_wrong_for_everybody_keeps_its_code() -> None:
    state = record(PILE_AND_HANDS)
    found = hidden_breach(state, Play(0, state.hands[0][1:2]))
    assert found is not None and found.code == "too_low"
    assert hidden_breach(state, PickUp(0)) is None


def test_a_chance_card_waits_for_its_face() -> None:
    opened = record(PILE_AND_HANDS.replace("Kc", "3c"), rules="wikipedia chance=chance")
    hidden = mask(opened, None)
    top, face = opened.stock[0], opened.faces[opened.stock[0]]
    waiting, events = step(hidden, Chance(0))
    assert events == (ChanceStarted(0, top),)
    assert waiting.awaiting == (top,) and waiting.stock == opened.stock
    assert not actions(waiting)
    assert code(waiting, Chance(0)) == code(waiting, PickUp(0)) == "wrong_phase"
    after, events = step(waiting, Open(top, face))
    assert events[:2] == (Opened(top, face), Chanced(0, top, face, False))
    assert after == mask(apply(opened, Chance(0)), None)


JOKER_DOWN = "pile Qc\ndown Ana 4c X1 5c\nhand Bogdan Kd Kh\nturn Ana\n"
WILD = "wikipedia jokers=2 joker_power=wild"


def test_a_wild_joker_flipped_blind_is_named_by_its_owner() -> None:
    opened = record(JOKER_DOWN, rules=WILD)
    joker = opened.downs[0][1]
    waiting = apply(mask(opened, None), Flip(0, 1))
    naming, events = step(waiting, Open(joker, opened.faces[joker]))
    assert events == (
        Opened(joker, opened.faces[joker]),
        Flipped(0, joker, opened.faces[joker], True),
        NameAsked(0, joker),
    )
    assert (naming.extra.naming, naming.turn, naming.pile) == (joker, 0, opened.pile)
    assert naming == mask(apply(opened, Flip(0, 1)), None)
    assert naming.canonical()[-1] == ("naming", joker)  # type: ignore[index]
    assert [move.rank for move in actions(naming) if isinstance(move, Name)] == [QUEEN, KING, KING + 1]
    after, events = step(naming, Name(0, KING))
    assert events == (Named(0, (joker,), KING), TurnTo(1))
    assert after.extra.named == ((joker, KING),)
    assert after.canonical()[-1] == ("named", ((joker, KING),))  # type: ignore[index]
    assert after.top_rank() == after.rank_to_beat() == KING
    assert problems(after) == [] and problems(naming) == []
    lifted = apply(after, PickUp(1))
    assert lifted.extra.named == () and lifted.is_public(joker)


def test_a_wild_joker_that_no_rank_fits_goes_to_the_hand_unnamed() -> None:
    rules = WILD + " upcards_strict=true burn=T,A reset=2 ceiling=3 ten_on_ceiling=false"
    opened = record(JOKER_DOWN.replace("Qc", "3c"), rules=rules + " transparent= again=")
    assert apply(opened, Flip(0, 1)).extra.naming >= 0
    barred = WILD + " burn=T,J,Q,K,A"
    failed = apply(record(JOKER_DOWN.replace("pile Qc", "pile 9c Qc"), rules=barred), Flip(0, 1))
    assert failed.extra.naming == -1 and len(failed.hands[0]) == 3


def test_chosen_upcards_are_turned_up_when_all_are_ready() -> None:
    rules = rules_with(arrange="choose")
    faces = [*range(51, -1, -1)]
    opened, hidden = deal(rules, 2, 1, faces), deal(rules, 2, 1)
    assert (hidden.phase, hidden.awaiting) == (Phase.ARRANGE, ())
    assert all(len(hand) == 6 for hand in hidden.hands) and hidden.ups == ((), ())
    assert code(hidden, Ready(0)) == "must_choose"
    for seat in (0, 1):
        choice = Choose(seat, hidden.hands[seat][3:])
        hidden, events = step(hidden, choice)
        assert events == (Chose(seat, choice.positions),)
        opened = apply(opened, choice)
        assert opened.ups[seat] == choice.positions and not opened.is_public(choice.positions[0])
        assert mask(opened, None) == hidden, "chosen upcards are closed"
        assert mask(opened, seat).faces[choice.positions[0]] == faces[choice.positions[0]]
        assert mask(opened, 1 - seat).faces[choice.positions[0]] == -1
        assert problems(opened) == [] and problems(hidden) == []
    opened, hidden = apply(opened, Ready(1)), apply(hidden, Ready(1))
    waiting, events = step(hidden, Ready(0))
    assert events == (SeatReady(0, True),)
    assert waiting.awaiting == tuple(sorted(hidden.ups[0] + hidden.ups[1]))
    assert code(waiting, Leave(0)) == "wrong_phase"
    for position in reversed(waiting.awaiting):
        assert waiting.phase is Phase.ARRANGE
        waiting = apply(waiting, Open(position, faces[position]))
    after, events = step(opened, Ready(0))
    assert [type(event) for event in events][:2] == [SeatReady, Opened]
    assert waiting == mask(after, None)
    assert waiting.phase in (Phase.DECLARE, Phase.PLAY)


FOLLOW = "pile 4c\nstock 6h 9c Kc\nhand Ana 6c 7d 5c\nhand Bogdan Jd Kd 5d\nturn Ana\n"


def test_a_follow_up_is_open_whatever_was_drawn() -> None:
    """Nobody else can see whether the drawn card fits, so the step is there either way and is left by Done."""
    opened = record(FOLLOW, rules="wikipedia draw_follow_up=true")
    six, seven, drawn = opened.hands[0][0], opened.hands[0][1], opened.stock[0]
    for card in (six, seven):
        hidden = apply(mask(opened, None), Open(card, opened.faces[card]))
        hidden, events = step(hidden, Play(0, (card,)))
        assert events[-1] == FollowUpOpen(0, opened.rank_at(card))
        assert hidden == mask(apply(opened, Play(0, (card,))), None)
        assert hidden.extra.follow == (drawn,) and hidden.turn == 0
        assert [type(move) for move in actions(hidden)] == [Done]
        after, events = step(hidden, Done(0))
        assert events == (FollowUpDone(0), TurnTo(1))
        assert after.turn == 1 and len(after.canonical()) == 11  # type: ignore[arg-type]
    hidden = apply(apply(mask(opened, None), Open(six, opened.faces[six])), Play(0, (six,)))
    assert hidden.canonical()[-1] == ("follow", (opened.rank_at(six), 1, (drawn,)))  # type: ignore[index]
    assert code(hidden, Play(0, (drawn,))) == "no_such_card"
    shown = apply(hidden, Open(drawn, opened.faces[drawn]))
    laid = apply(shown, Play(0, (drawn,)))
    assert laid.extra.laid == 2 and laid.pile[-1] == drawn and laid.action_count == 2


def test_whoever_leaves_in_the_middle_of_a_turn_ends_it() -> None:
    rules = "wikipedia draw_follow_up=true skip=6 reverse=7"
    body = FOLLOW.replace("turn Ana", "hand Carmen 5h 5s\nturn Ana")
    state = record(body, rules=rules, **THREE)
    after, events = step(apply(state, Play(0, state.hands[0][:1])), Leave(0))
    assert events == (SeatLeft(0), Skipped((1,)), TurnTo(2))
    assert after.turn == 2 and after.extra.follow == () and problems(after) == []
    after, events = step(apply(state, Play(0, state.hands[0][1:2])), Leave(0))
    assert events == (SeatLeft(0), Reversed(0, -1), TurnTo(2))
    chanced = "pile Qc\nstock X1 9c\nhand Ana 4c 5c\nhand Bogdan Kd\nhand Carmen Kh\nturn Ana\nAna chances\n"
    joker = record(chanced, rules=WILD + " chance=chance", **THREE)
    top = joker.stock[0]
    gone = apply(joker, Leave(0))
    assert top in gone.aside and top not in gone.stock
    assert gone.turn == 1 and gone.extra.naming == -1 and problems(gone) == []


def test_the_lot_for_eldest_comes_from_outside() -> None:
    rules = rules_with(start="random")
    for eldest in (NOBODY, -2, 3):
        with pytest.raises(RuleError) as refused:
            deal(rules, 3, 0, eldest=eldest)
        assert refused.value.code == "bad_seat"
    with pytest.raises(RuleError):
        deal(RuleSet(), 3, 0, eldest=1)
    state = deal(rules, 3, 0, list(range(52)), eldest=2)
    *_, events = [step(s, Ready(seat))[1] for s, seat in _readying(state)]
    assert EldestFound(2, -1, EldestBy.LOT) in events


def test_at_the_dealers_left_no_rank_decides() -> None:
    state = deal(rules_with(start="dealer_left"), 3, 0, list(range(52)))
    *_, events = [step(s, Ready(seat))[1] for s, seat in _readying(state)]
    assert EldestFound(1, -1, EldestBy.SEAT) in events


def test_slots_are_counted_from_one_for_people() -> None:
    state = record(JOKER_DOWN, rules=WILD)
    assert "slot 4" in str(check(state, Flip(0, 3)))


def _readying(state: GameState) -> list[tuple[GameState, int]]:
    found = []
    for seat in range(state.players):
        found.append((state, seat))
        state = apply(state, Ready(seat))
    return found


def over(next_dealer_: str, **changes: object) -> GameState:
    body = "hand Ana 4c\nhand Bogdan Qc Qd\nhand Carmen 3c\nturn Ana\n"
    body += "Ana plays 4c\nBogdan picks up\nCarmen plays 3c\n"
    state = record(body, rules=f"wikipedia next_dealer={next_dealer_}", **THREE)
    return replace(state, **changes)  # type: ignore[arg-type]


def test_r48_next_dealer() -> None:
    assert next_dealer(over("loser")) == 1
    assert next_dealer(over("loser", shithead=NOBODY, result=Result.STALLED)) == 0
    assert next_dealer(over("loser", left=(1,))) == 0
    assert next_dealer(over("rotate")) == 0
    assert next_dealer(over("winner")) == 0
    assert next_dealer(over("winner", finish_order=(2, 0))) == 2
    assert next_dealer(over("random"), drawn=2) == 2
    for drawn in (NOBODY, 3):
        with pytest.raises(RuleError) as refused:
            next_dealer(over("random"), drawn)
        assert refused.value.code == "bad_seat"


def test_the_ranks_that_fit_are_those_of_the_zone_and_the_rank_to_beat() -> None:
    strict = record("pile Qc\nup Ana Kc\nhand Bogdan 4h\nturn Ana\n", rules="wikipedia upcards_strict=true")
    assert QUEEN not in legal_ranks(strict) and KING in legal_ranks(strict)
    in_hand = record("pile Qc\nhand Ana Kc\nhand Bogdan 4h\nturn Ana\n", rules="wikipedia upcards_strict=true")
    assert QUEEN in legal_ranks(in_hand)
    through = record("pile 7c 3c\nhand Ana Kc\nhand Bogdan 4h\nturn Ana\n", rules="backpacker")
    assert (through.top_rank(), through.rank_to_beat()) == (RANKS.index("3"), RANKS.index("7"))
    assert JACK not in legal_ranks(through) and RANKS.index("6") in legal_ranks(through)
    assert record("pile 3c\nhand Ana Kc\nhand Bogdan 4h\nturn Ana\n", rules="backpacker").rank_to_beat() == -1


def test_runs_on_top_are_counted_as_they_burn() -> None:
    body = "pile 5c 4c 8c 4d\nhand Ana Kc\nhand Bogdan 4h\nturn Ana\n"
    assert record(body, rules="wikipedia transparent=8").top_run() == 1
    assert record(body, rules="wikipedia transparent=8 transparent_breaks_run=false").top_run() == 2
    assert record("pile 9c X1 as 9\nhand Ana Kc\nhand Bogdan 4h\nturn Ana\n", rules=WILD).top_run() == 2

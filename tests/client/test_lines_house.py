"""House rules in the line mode: what is typed, what is shown, and what is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from client.cards import Style
from client.lines import Narrator, interpret
from client.lines.show import all_choice_lines, choice_lines, table_lines, turn_lines
from client.orders import Act, Explain, Problem, Show
from client.sentences import render
from client.view import View
from engine.cards import RANKS, parse_card
from engine.events import EldestBy
from engine.game import apply, check, mask, step
from engine.moves import Chance, Choose, Done, Name, PickUp, Play, PlayAs, PlayerMove, Ready
from engine.rules import RuleSet
from engine.state import GameState
from p2p.rounds.news import News, _of_event
from tests.client.positions import key_of, snapshot_of, view_of
from tests.engine.helpers import THREE, declared, record, rules_with

PLAIN = Style()
OTHER = "hand Bogdan Qc Qd Qh\n"
WILD = "wikipedia jokers=2 joker_power=wild"
RANK = {rank: number for number, rank in enumerate(RANKS)}


def position(state: GameState, text: str) -> int:
    return state.faces.index(parse_card(text, state.packs, state.rules.jokers))


def typed(state: GameState, text: str) -> PlayerMove:
    """The move that a line makes; the engine takes it."""
    meaning = interpret(view_of(state), text)
    assert isinstance(meaning, Act), render(getattr(meaning, "sentence", None))
    assert check(state, meaning.move) is None
    return meaning.move


def problem(state: GameState, text: str) -> str:
    view = view_of(state)
    meaning = interpret(view, text)
    assert isinstance(meaning, Problem), meaning
    return render(meaning.sentence, view.names)


def shown(state: GameState, seat: int = 0) -> list[str]:
    return turn_lines(view_of(state, seat), PLAIN)


def tell(after: View, *news: News, before: View | None = None) -> list[str]:
    return Narrator(PLAIN).tell(news, before or after, after)


# -- wild jokers ---------------------------------------------------------------------------------------

JOKERS = record(f"pile 5c 8c\nhand Ana X1 X2 9c 4s\n{OTHER}turn Ana\n", rules=WILD)


@pytest.mark.parametrize(
    ("text", "cards", "rank"),
    [
        ("x as k", ["X1"], "K"),
        ("joker as 9", ["X1"], "9"),
        ("X2 as Q", ["X2"], "Q"),
        ("x x as j", ["X1", "X2"], "J"),
        ("xx as j", ["X1", "X2"], "J"),
        ("9 x", ["9c", "X1"], "9"),
        ("9x", ["9c", "X1"], "9"),
        ("play x 9 as 9", ["X1", "9c"], "9"),
    ],
)
def test_wild_jokers_are_played_as_a_rank(text: str, cards: list[str], rank: str) -> None:
    expected = PlayAs(0, tuple(position(JOKERS, card) for card in cards), RANK[rank])
    assert typed(JOKERS, text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "Say what the joker counts as, such as `x as 9`."),
        ("x as 4", "A four can't be played on an eight."),
        ("x as 2", "A joker can't count as a two."),
        ("x as y", "x as y is not understood. `help` says what can be typed."),
        ("9 x as k", "A joker played with a nine counts as one."),
        ("9 as k", "Only a joker is named; there is none among these cards."),
        ("9 4 x", "One or more cards of one rank can be played at a time."),
        ("4 x", "A four can't be played on an eight."),
        ("x3", "You don't hold X3."),
        ("name 9", "No joker has to be named."),
        ("name", "As what? Type `name` and a rank, such as `name 9`."),
    ],
)
def test_what_a_joker_cannot_be_is_said(text: str, said: str) -> None:
    assert problem(JOKERS, text) == said


def test_without_jokers_an_x_is_no_card_and_nothing_is_named() -> None:
    state = record(f"pile 8c\nhand Ana 9c 4s\n{OTHER}turn Ana\n")
    assert problem(state, "x") == "x is not understood. `help` says what can be typed."
    assert problem(state, "9 as k").startswith("These rules have no such move")


def test_a_joker_in_the_hand_is_no_dead_card_and_one_in_the_pile_shows_its_rank() -> None:
    view = view_of(JOKERS)
    assert [card.why_not for card in view.own if card.rank == "X"] == [None, None]
    after = apply(JOKERS, PlayAs(0, (position(JOKERS, "X1"),), RANK["K"]))
    theirs = view_of(after, 1)
    assert theirs.pile is not None
    assert (theirs.pile.top, theirs.pile.to_beat, theirs.pile.named) == ("K", "K", (("X1", "K"),))
    assert "On the pile: 5♣ 8♣ X1=K (3 cards)." in shown(after, 1)
    assert any(line.startswith("Pile: 5♣ 8♣ X1=K.") for line in table_lines(theirs, PLAIN))


def test_where_no_rank_fits_the_joker_says_so() -> None:
    state = record(f"pile 3c\nhand Ana X1 9c\n{OTHER}turn Bogdan\n", rules=WILD)
    assert problem(state, "x as 9") == "It is Bogdan's turn."


TURNED = record(f"pile 7c\ndown Ana X1 4c -\n{OTHER}turn Ana\nAna flips 1\n", rules=WILD)


@pytest.mark.parametrize("text", ["name 9", "9", "NAME 9"])
def test_a_joker_that_was_turned_up_is_named(text: str) -> None:
    assert typed(TURNED, text) == Name(0, RANK["9"])
    assert problem(TURNED, "name 3") == "A three can't be played on a seven."
    assert problem(TURNED, "flip 2").startswith("Say first what the joker counts as")
    assert "X1 lies open. What does it count as? Type `name` and a rank." in shown(TURNED)


def test_jokers_are_told() -> None:
    view = view_of(JOKERS)
    played = News("played", {"seat": 1, "faces": (52,), "packs": 1, "zone": "hand"})
    named = News("named", {"seat": 1, "faces": (52,), "packs": 1, "rank": RANK["8"]})
    assert tell(view, played, named) == ["Bogdan plays X1.", "X1 counts as an eight."]
    both = News("named", {"seat": 1, "faces": (52, 53), "packs": 1, "rank": RANK["8"]})
    assert tell(view, both) == ["X1 X2 count as eights."]


def test_a_quartet_with_a_named_joker_is_told_by_its_rank() -> None:
    before = view_of(record(f"pile 3c 8c 8d 8h\nhand Ana X1 4s\n{OTHER}turn Ana\n", rules=WILD))
    played = News("played", {"seat": 0, "faces": (52,), "packs": 1, "zone": "hand"})
    named = News("named", {"seat": 0, "faces": (52,), "packs": 1, "rank": RANK["8"]})
    burnt = News("burnt", {"seat": 0, "count": 5, "by": "quartet"})
    assert tell(before, played, named, burnt)[-1] == "The pile burns: four eights."


def test_a_longer_run_burns_where_the_rules_ask_for_one() -> None:
    rules = "wikipedia burn_run=3"
    before = view_of(record(f"pile 3c 8c 8d\nhand Ana 8h 4s\n{OTHER}turn Ana\n", rules=rules))
    played = News("played", {"seat": 0, "faces": (RANK["8"] * 4 + 2,), "packs": 1, "zone": "hand"})
    burnt = News("burnt", {"seat": 0, "count": 4, "by": "quartet"})
    assert tell(before, played, burnt)[-1] == "The pile burns: three eights."


# -- choosing upcards ----------------------------------------------------------------------------------

DEALT = "hand Ana 3d 4h Ts 2d Kc 5c\nhand Bogdan Qc Qd Qh 6c 6d 6h\nphase arrange\n"
CHOOSING = record(DEALT, rules="wikipedia arrange=choose")


def test_upcards_are_chosen_and_then_one_is_ready() -> None:
    move = typed(CHOOSING, "choose 2d kc 10")
    assert move == Choose(0, tuple(position(CHOOSING, card) for card in ("2d", "Kc", "Ts")))
    assert problem(CHOOSING, "ready") == "You have not chosen your upcards yet."
    assert problem(CHOOSING, "choose 2d") == "Choose 3 cards."
    assert problem(CHOOSING, "choose") == "Name the cards to lay out, such as `choose 3c 4d 5h`."
    assert problem(CHOOSING, "choose 2d kc 9") == "You don't hold a nine."
    assert problem(CHOOSING, "swap 2d kc") == "Under these rules nothing is exchanged."
    chosen = apply(CHOOSING, move)
    assert typed(chosen, "ready") == Ready(0)
    again = typed(chosen, "choose 2d kc 5")
    assert isinstance(again, Choose)
    assert (
        problem(apply(chosen, Ready(0)), "choose 2d kc 5") == "Being ready has been told to the others and stays."
    )


def test_choosing_is_shown_with_the_first_choices_and_a_way_to_all() -> None:
    lines = shown(CHOOSING)
    assert lines[0] == "Upcards: `choose 2h 7s 7d` lays these out (3 cards); then `ready`."
    assert lines[-1].startswith("Choices: #1 lay out ")
    assert lines[-1].endswith("and 8 more (`choices` lists all)")
    view = view_of(CHOOSING)
    listed = [line for line in all_choice_lines(view, PLAIN) if line.startswith("  #")]
    assert len(listed) == len(view.choices) == 20
    assert interpret(view, "choices") == Show("choices")
    assert interpret(view, "#20") == Act(view.choices[19].move, b"stamp")  # type: ignore[arg-type]
    assert all_choice_lines(view_of(apply(CHOOSING, view.choices[0].move), 1), PLAIN) != []  # type: ignore[arg-type]


def test_choosing_is_told() -> None:
    view = view_of(CHOOSING)
    assert tell(view, News("chose", {"seat": 1, "count": 3})) == ["Bogdan has chosen upcards."]
    assert tell(view, News("chose", {"seat": 0, "count": 3})) == ["You have chosen your upcards."]
    assert tell(view, News("laid_out", {"seat": 1, "faces": (0, 34), "packs": 1})) == ["Bogdan lays out 2♣ 10♥."]
    assert tell(view, News("phase", {"phase": "arrange"}))[0].startswith("The cards are dealt. Everybody chooses")


def test_where_nothing_is_exchanged_one_is_only_ready() -> None:
    dealt = "hand Ana 3d 4h Ts\nup Ana 2d Kc 5c\nhand Bogdan Qc Qd Qh\nup Bogdan 6c 6d 6h\nphase arrange\n"
    state = record(dealt, rules="wikipedia arrange=none")
    assert shown(state)[0] == "Nothing is exchanged under these rules: `ready` when you have seen your cards."
    assert problem(state, "swap 3d kc") == "Under these rules nothing is exchanged."
    assert problem(state, "choose 3d kc 5") == "These rules have no such move: choosing upcards."
    assert typed(state, "ready") == Ready(0)
    assert "Nothing is exchanged" in tell(view_of(state), News("phase", {"phase": "arrange"}))[0]


# -- a turn --------------------------------------------------------------------------------------------


def test_a_chance_card() -> None:
    state = record(f"pile Kc\nstock 8c 9c\nhand Ana 4c 5c\n{OTHER}turn Ana\n", rules="wikipedia chance=chance")
    assert typed(state, "chance") == Chance(0)
    assert "None of your cards fits: `pick up`, or try the top card of the stock (`chance`)." in shown(state)
    able = record(f"pile 3c\nstock 8c 9c\nhand Ana 4c 5c\n{OTHER}turn Ana\n", rules="wikipedia chance=chance")
    assert problem(able, "chance") == "Only a player who can't play turns a chance card."
    usual = record(f"pile Kc\nstock 8c 9c\nhand Ana 4c 5c\n{OTHER}turn Ana\n")
    assert problem(usual, "chance") == "These rules have no such move: turning a chance card."
    view = view_of(state)
    card = {"seat": 1, "face": 34, "packs": 1}
    assert tell(view, News("chanced", {**card, "legal": True})) == ["Bogdan turns up 10♥ from the stock."]
    assert tell(view, News("chanced", {**card, "legal": False, "seat": 0})) == [
        "You turn up 10♥ from the stock: it can't be played."
    ]


FOLLOW = record(
    "stock 5d 8s 8d\npile 3c\nhand Ana 5c 5h Ad As\n" + OTHER + "turn Ana\nAna plays 5c 5h\n",
    rules="wikipedia draw_follow_up=true",
)


def test_cards_just_drawn_are_laid_or_not() -> None:
    assert typed(FOLLOW, "5") == Play(0, (position(FOLLOW, "5d"),))
    assert typed(FOLLOW, "done") == Done(0)
    assert problem(FOLLOW, "a") == "Only cards just drawn can be laid now."
    assert problem(FOLLOW, "pick up") == "Lay a five that you have just drawn, or type `done`."
    assert "You have just drawn 5♦: lay more of that rank, or `done`." in shown(FOLLOW)
    assert "#1 5♦   #2 lay no more" in shown(FOLLOW)[-1]


def test_a_card_just_drawn_is_meant_where_an_older_one_has_its_rank() -> None:
    body = "stock 5d 8s 8d\npile 3c\nhand Ana 5c 5h Ad\n" + OTHER + "turn Ana\nAna plays 5c\n"
    state = record(body, rules="wikipedia draw_follow_up=true")
    assert typed(state, "5") == Play(0, (position(state, "5d"),))
    assert problem(state, "5h") == "Only cards just drawn can be laid now."
    usual = record(body.replace("\nAna plays 5c", ""), rules="wikipedia draw_follow_up=true")
    assert problem(usual, "done") == "No cards were drawn that could be laid."


UPS = f"pile Kc\nup Ana 4d 4h 9s\n{OTHER}turn Ana\n"


@pytest.mark.parametrize(
    "text", ["pick up with 4d", "p with 4d", "take with 4d", "pick with 4d", "Pick Up With 4D"]
)
def test_an_upcard_goes_along(text: str) -> None:
    state = record(UPS, rules="wikipedia upcard_pick_up=pile_plus_one")
    assert typed(state, text) == PickUp(0, (position(state, "4d"),))


def test_what_went_along_is_told() -> None:
    state = record(UPS, rules="wikipedia upcard_pick_up=pile_plus_set")
    after, events = step(state, PickUp(0, (position(state, "4d"), position(state, "4h"))))
    (item,) = [news for event in events if (news := _of_event(event, after)) and news.name == "picked_up"]
    assert tell(view_of(after), item) == ["You pick up 3 cards, 4♦ 4♥ of the upcards among them."]
    assert tell(view_of(after, 1), item) == ["Ana picks up 3 cards, 4♦ 4♥ of the upcards among them."]


def test_what_goes_along_is_said_where_it_must_be() -> None:
    one = record(UPS, rules="wikipedia upcard_pick_up=pile_plus_one")
    several = record(UPS, rules="wikipedia upcard_pick_up=pile_plus_set")
    assert problem(one, "pick up") == "One upcard goes along: name it."
    assert problem(one, "pick up with 4 4") == "One upcard goes along: name it."
    assert problem(one, "pick up with") == "With which upcard? Type `pick up with 7c`."
    assert problem(one, "pick up with 7") == "You don't hold a seven."
    assert problem(one, "pick up quickly") == "pick up quickly is not understood. `help` says what can be typed."
    assert typed(several, "pick up with 4 4") == PickUp(0, (position(several, "4d"), position(several, "4h")))
    assert problem(several, "pick up with 4 9") == "Only upcards of one rank go along."
    assert problem(record(UPS), "pick up with 4").startswith("These rules have no such move")
    assert "and an upcard goes along" in shown(one)[2]
    assert "#1 pick up 1 with 4♦" in shown(one)[-1]


def test_the_last_hand_cards_and_upcards_together() -> None:
    body = f"pile 8c\nhand Ana 9c\nup Ana 9d 4h\n{OTHER}turn Ana\n"
    state = record(body, rules="wikipedia combine_last_hand=true")
    assert typed(state, "9 9") == Play(0, (position(state, "9c"), position(state, "9d")))
    assert problem(record(body), "9 9") == "You have only 1 such card to play."


def test_four_low_cards_go_where_four_beat_all() -> None:
    body = "pile Qc\nhand Ana 6c 6d 6h 6s 4c\nhand Bogdan Qd Qh\nturn Ana\n"
    state = record(body, rules="wikipedia quartet_beats_all=true")
    assert isinstance(typed(state, "6 6 6 6"), Play)
    assert problem(state, "6") == "A six can't be played on a queen."
    assert not any("None of your cards" in line for line in shown(state))
    assert problem(record(body), "6666") == "A six can't be played on a queen."


def test_the_first_lead_may_have_to_hold_a_rank() -> None:
    dealt = (
        "hand Ana 3d 4h Ts\nup Ana 2d Kc 5c\nhand Bogdan Qc Qd Qh\nup Bogdan 6c 6d 6h\nphase arrange\n"
        "Ana ready\nBogdan ready\n"
    )
    state = record(dealt, rules="wikipedia start=hand_lowest lead_must_be_start_rank=true")
    state = declared(state)
    assert "The pile is empty: a three has to be led." in shown(state)
    assert problem(state, "4") == "The first lead has to be a three."
    assert isinstance(typed(state, "3"), Play)


@pytest.mark.parametrize(
    ("rules", "pile", "text", "said"),
    [
        ("ceiling=7", "7c", "why 9", "After a seven a nine can't be played: seven or lower."),
        ("ceiling=7", "7c", "why k", "After a seven a king can't be played: seven or lower."),
        ("ceiling=7", "7c", "why 5", "A five would fit, but you don't hold it."),
        ("transparent=8", "Qc 8c", "why 9", "A nine can't be played on a queen."),
        ("transparent=8", "Qc 8c", "why j", "A jack can't be played on a queen."),
        ("jokers=2", "Qc", "why x", "A joker would fit, but you don't hold it."),
    ],
)
def test_why_goes_by_what_is_to_be_beaten(rules: str, pile: str, text: str, said: str) -> None:
    state = record(f"pile {pile}\nhand Ana 9s 4c\nhand Bogdan Qd Qh\nturn Ana\n", rules=f"wikipedia {rules}")
    view = view_of(state)
    meaning = interpret(view, text)
    assert isinstance(meaning, Explain)
    assert render(meaning.sentence, view.names) == said


def test_an_equal_upcard_that_will_not_do() -> None:
    state = record(f"pile Jc\nup Ana Jd 4c\n{OTHER}turn Ana\n", rules="wikipedia upcards_strict=true")
    view = view_of(state)
    held, other = interpret(view, "why j"), interpret(replace(view, own=()), "why j")
    assert isinstance(held, Explain)
    assert render(held.sentence) == "An upcard has to be higher than the jack; a jack is not."
    assert isinstance(other, Explain)
    assert render(other.sentence) == "A jack has to beat a jack here: an equal card won't do."


def test_what_may_be_played_after_a_ceiling_is_said_shortly() -> None:
    state = record(f"pile 7c\nhand Ana 4c\n{OTHER}turn Ana\n", rules="wikipedia ceiling=7")
    assert "You may play 7 or lower or a 10." in shown(state)


# -- the order of play ---------------------------------------------------------------------------------


def test_skips_and_turns_of_direction_are_told() -> None:
    body = "pile 3c\nhand Ana 9c 4s\nhand Bogdan Qc Qd\nhand Carmen Kc Kd\nturn Ana\n"
    three = view_of(record(body, rules="party", **THREE))
    assert tell(three, News("reversed", {"seat": 0, "direction": -1})) == [
        "The direction of play turns: it is anticlockwise now."
    ]
    assert tell(three, News("skipped", {"seats": (1, 0)})) == ["Bogdan misses a turn.", "You miss a turn."]
    two = view_of(record(f"pile 3c\nhand Ana 9c 4s\n{OTHER}turn Ana\n", rules="party"))
    assert tell(two, News("reversed", {"seat": 0, "direction": -1})) == []
    assert tell(two, News("skipped", {"seats": (1, 1)})) == ["Bogdan misses a turn."]


def test_who_plays_again_by_the_power_of_a_card_is_told() -> None:
    view = view_of(JOKERS)
    played = News("played", {"seat": 1, "faces": (0,), "packs": 1, "zone": "hand"})
    turn = News("turn", {"seat": 1})
    assert tell(view, played, turn)[-1] == "Bogdan plays again."
    skipped = News("skipped", {"seats": (0,)})
    assert tell(view, played, skipped, turn)[-1] == "You miss a turn."
    assert tell(view, News("picked_up", {"seat": 1, "count": 2}), turn)[-1] == "Bogdan picks up 2 cards."


@pytest.mark.parametrize("by", list(EldestBy))
def test_who_leads_is_told_however_it_was_found(by: EldestBy) -> None:
    news = News("eldest", {"seat": 1, "rank": 1 if by in (EldestBy.UPCARD, EldestBy.HAND) else -1, "by": by.value})
    assert tell(view_of(JOKERS), news)[0].startswith("Bogdan leads")


def test_the_lowest_hand_card_leads() -> None:
    state = record(f"pile 3c\nhand Ana 9c\n{OTHER}turn Ana\n", rules="wikipedia start=hand_lowest")
    news = News("eldest", {"seat": 0, "rank": 1, "by": "hand"})
    assert tell(view_of(state), news) == ["You lead: your three is the lowest card in any hand."]


# -- the rules of an offer -----------------------------------------------------------------------------


def offer(rules: RuleSet) -> News:
    players = (key_of("Ana"), key_of("Bogdan"))
    return News("contract", {"round": 1, "players": players, "rules": rules})


def test_house_rules_are_told_as_sentences_with_the_offer() -> None:
    view, narrator = view_of(JOKERS), Narrator(PLAIN)
    party = narrator.tell([offer(RuleSet.preset("party"))], view, view)
    assert party[1] == "House rules, where they differ from the usual ones:"
    assert "  7: the next card has to be as low or lower." in party
    assert "  Each pack comes with 2 jokers." in party
    assert len(party) == 8
    assert len(narrator.tell([offer(RuleSet.preset("party"))], view, view)) == 1
    back = narrator.tell([offer(rules_with(refill_to="4"))], view, view)
    assert back[1] == "The rules change:"
    assert "  There are no jokers." in back
    assert Narrator(PLAIN).tell([offer(RuleSet())], view, view) == ["Round 1: Ana and Bogdan."]


def test_an_option_without_a_sentence_is_told_by_its_name() -> None:
    view = view_of(JOKERS)
    lines = Narrator(PLAIN).tell([offer(rules_with(skip_per_card="false"))], view, view)
    assert lines[1:] == ["House rules, where they differ from the usual ones:", "  skip_per_card=false"]


def test_few_choices_stand_in_one_line() -> None:
    view = view_of(JOKERS)
    assert len(view.choices) > 13
    assert "more (`choices` lists all)" in choice_lines(view, PLAIN)[0]
    plain = view_of(record(f"pile 8c\nhand Ana 9c 4s\n{OTHER}turn Ana\n"))
    assert choice_lines(plain, PLAIN) == ["Choices: #1 9♣   #2 pick up 1"]


def test_what_is_masked_stays_so() -> None:
    """The check of a move sees what the player sees: a card that is not known is not judged."""
    view = view_of(FOLLOW, 1)
    assert view.refuse(Play(1, FOLLOW.hands[1][:1])) is not None
    assert mask(FOLLOW, 1).hands == FOLLOW.hands
    assert snapshot_of(FOLLOW, 1).round is not None

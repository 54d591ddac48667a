"""What typed lines mean: every way to say a move, and a sentence for every mistake."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.cards import Style
from client.lines import interpret
from client.lines.show import hand_lines
from client.orders import (
    Act,
    Admit,
    Answer,
    Explain,
    Kick,
    Mute,
    Problem,
    Quit,
    Refuse,
    SeatBots,
    Show,
    StartRound,
    TakePreset,
    Talk,
    Void,
)
from client.sentences import render
from client.texts import PHRASES
from client.view import View
from engine.cards import card_text
from engine.game import apply, check, deal
from engine.moves import Flip, PickUp, Play, Ready, Swap
from engine.rules import RuleSet
from engine.state import GameState
from p2p.rounds.snapshot import Knocking
from tests.client.positions import key_of, view_of
from tests.engine.helpers import record, shuffled

OTHER = "hand Bogdan Qc Qd Qh\n"
MINE = record(
    f"stock 3c\npile 8c\nhand Ana 9c 9h 9s 4s Qs Td 2c\nup Ana 9d Ks\ndown Ana 3d 3h 3s\n{OTHER}turn Ana\n"
)
THEIRS = record(f"pile 8c\nhand Ana 9c 9h 4s\n{OTHER}turn Bogdan\n")
BLIND = record(f"pile 8c\ndown Ana 9c - 4h\n{OTHER}turn Ana\n")
UPCARDS = record(f"pile 8c\nup Ana 9c 4h\ndown Ana 3d - -\n{OTHER}turn Ana\n")
LEAD = record(f"hand Ana 9c 9h 4s\n{OTHER}turn Ana\n")


def played(state: GameState, text: str, seat: int = 0) -> list[str]:
    """The cards that a line plays; the move is one that the engine takes."""
    meaning = interpret(view_of(state, seat), text)
    assert isinstance(meaning, Act), meaning
    assert meaning.stamp == b"stamp"
    assert check(state, meaning.move) is None
    assert isinstance(meaning.move, Play)
    return [card_text(state.faces[p], 1) for p in meaning.move.positions]


def problem(view: View, text: str) -> str:
    meaning = interpret(view, text)
    assert isinstance(meaning, Problem), meaning
    return render(meaning.sentence, view.names)


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("9", ["9c"]),
        ("9 9", ["9c", "9h"]),
        ("99", ["9c", "9h"]),
        ("999", ["9c", "9h", "9s"]),
        ("9h", ["9h"]),
        ("9H 9s", ["9h", "9s"]),
        ("9h9s", ["9h", "9s"]),
        ("9 9c", ["9c", "9h"]),
        ("9♥", ["9h"]),
        ("q", ["Qs"]),
        ("Q", ["Qs"]),
        ("10", ["Td"]),
        ("t", ["Td"]),
        ("0", ["Td"]),
        ("10d", ["Td"]),
        ("td", ["Td"]),
        ("2", ["2c"]),
        ("play 9", ["9c"]),
        ("  9   9 ", ["9c", "9h"]),
        ("#1", ["2c"]),
    ],
)
def test_cards_of_the_hand(text: str, cards: list[str]) -> None:
    assert played(MINE, text) == cards


def test_upcards_when_the_hand_is_empty() -> None:
    assert played(UPCARDS, "9") == ["9c"]


@pytest.mark.parametrize("text", ["pick up", "pickup", "PICK UP", "take", "p", "pick", "#7"])
def test_picking_up(text: str) -> None:
    assert interpret(view_of(MINE), text) == Act(PickUp(0), b"stamp")


@pytest.mark.parametrize(("text", "slot"), [("1", 0), ("3", 2), ("flip 3", 2), ("#2", 2)])
def test_flipping(text: str, slot: int) -> None:
    assert interpret(view_of(BLIND), text) == Act(Flip(0, slot), b"stamp")


@pytest.mark.parametrize(
    ("state", "text", "said"),
    [
        (MINE, "4", "A four can't be played on an eight."),
        (MINE, "4s", "A four can't be played on an eight."),
        (MINE, "7", "You don't hold a seven."),
        (MINE, "a", "You don't hold an ace."),
        (MINE, "7h", "You don't hold 7♥."),
        (MINE, "k", "The hand cards come first."),
        (MINE, "9d", "The hand cards come first."),
        (MINE, "9 9 9 9", "You have only 3 such cards to play."),
        (MINE, "9h 9 9 9", "You have only 3 such cards to play."),
        (MINE, "9 q", "One or more cards of one rank can be played at a time."),
        (MINE, "9h 9h", "You have only 1 such card to play."),
        (MINE, "flip 1", "The hand cards come first."),
        (MINE, "flip", "Which one? Type `flip` and the number of a downcard."),
        (MINE, "swap 9c 9d", "Cards can be exchanged only between the deal and the first lead."),
        (MINE, "ready", "Cards can be exchanged only between the deal and the first lead."),
        (MINE, "unready", "Cards can be exchanged only between the deal and the first lead."),
        (MINE, "#99", "There is no choice #99 now."),
        (MINE, "#", "There is no choice #? now."),
        (MINE, "#x", "There is no choice #x now."),
        (MINE, "#0", "There is no choice #0 now."),
        (MINE, "hello there", "hello there is not understood. `help` says what can be typed."),
        (MINE, "11", "11 is not understood. `help` says what can be typed."),
        (MINE, "5x", "5x is not understood. `help` says what can be typed."),
        (MINE, "pick me", "pick me is not understood. `help` says what can be typed."),
        (MINE, "play", "play is not understood. `help` says what can be typed."),
        (MINE, "say", "Say what? Type `say` and the words."),
        (MINE, "why", "Why what? Type `why` and a card, or `why pick up`."),
        (MINE, "kick Nobody", "There is nobody called Nobody here."),
        (MINE, "kick Ana", "That is you. `quit` leaves the table."),
        (MINE, "kick", "Who? Type `kick` and a name."),
        (MINE, "admit Dora", "There is nobody called Dora at the door."),
        (MINE, "admit", "Who? Type `admit` and a name."),
        (MINE, "bots", "How many? Type `bots` and a number from 1 to 9."),
        (MINE, "bots 0", "How many? Type `bots` and a number from 1 to 9."),
        (MINE, "bots many", "How many? Type `bots` and a number from 1 to 9."),
        (THEIRS, "9", "It is Bogdan's turn."),
        (THEIRS, "pick up", "It is Bogdan's turn."),
        (THEIRS, "flip 1", "It is Bogdan's turn."),
        (THEIRS, "#1", "There is nothing to choose now."),
        (BLIND, "9", "There is no downcard in slot 9."),
        (BLIND, "2", "There is no downcard in slot 2."),
        (BLIND, "k", "You don't hold a king."),
        (BLIND, "pick up", "Only downcards are left: flip one."),
        (UPCARDS, "flip 1", "The upcards come first."),
        (LEAD, "pick up", "There is nothing to pick up: any card can be led."),
    ],
)
def test_mistakes_are_told_why(state: GameState, text: str, said: str) -> None:
    assert problem(view_of(state), text) == said


@pytest.mark.parametrize(
    ("state", "text", "said"),
    [
        (MINE, "why 4d", "A four can't be played on an eight."),
        (MINE, "why 4s", "A four can't be played on an eight."),
        (MINE, "why 9h", "9♥ can be played now."),
        (MINE, "why k", "The hand cards come first."),
        (MINE, "why a", "An ace would fit, but you don't hold it."),
        (MINE, "why pick up", "You can pick up the pile now."),
        (LEAD, "why pick up", "There is nothing to pick up: any card can be led."),
        (THEIRS, "why 9", "It is Bogdan's turn."),
    ],
)
def test_why(state: GameState, text: str, said: str) -> None:
    view = view_of(state)
    meaning = interpret(view, text)
    assert isinstance(meaning, Explain)
    assert render(meaning.sentence, view.names) == said


ARRANGING = deal(RuleSet(), 2, 1, shuffled(2, 3))


def own(state: GameState, zone: str) -> list[str]:
    positions = state.hands[0] if zone == "hand" else state.ups[0]
    return [card_text(state.faces[p], 1) for p in positions]


@pytest.mark.parametrize("turned", [False, True])
def test_swapping_in_either_order(turned: bool) -> None:
    hand, up = own(ARRANGING, "hand")[1], own(ARRANGING, "up")[2]
    text = f"swap {up} {hand}" if turned else f"swap {hand} {up}"
    meaning = interpret(view_of(ARRANGING), text.lower())
    assert meaning == Act(Swap(0, ARRANGING.hands[0][1], ARRANGING.ups[0][2]), b"stamp")


def test_arranging() -> None:
    view = view_of(ARRANGING)
    hand = own(ARRANGING, "hand")
    assert interpret(view, "ready") == Act(Ready(0), b"stamp")
    assert interpret(view, "#1") == Act(Ready(0), b"stamp")
    assert problem(view, "unready") == "You are not ready yet."
    assert problem(view, f"swap {hand[0]} {hand[1]}").startswith("Name a hand card and an upcard")
    assert problem(view, "swap").startswith("Name a hand card and an upcard")
    assert problem(view, f"swap {hand[0]} x").startswith("Name a hand card and an upcard")
    missing = next(card for card in ("2c", "2d", "2h", "2s") if card not in (*hand, *own(ARRANGING, "up")))
    assert problem(view, f"swap {hand[0]} {missing}").startswith("You don't hold")
    assert problem(view, hand[0]) == "Play has not begun: players are arranging their cards."
    ready = view_of(apply(ARRANGING, Ready(0)))
    assert problem(ready, "ready") == "You are ready already."
    assert problem(ready, "unready") == "Being ready has been told to the others and stays."
    assert problem(ready, f"swap {hand[0]} {own(ARRANGING, 'up')[0]}").startswith("Being ready has been told")


def test_while_a_card_is_being_opened_or_drawn() -> None:
    opening = view_of(dataclasses.replace(BLIND, awaiting=(BLIND.downs[0][0],)))
    assert problem(opening, "1").startswith("A card is just being opened") or "understood" not in problem(
        opening, "9"
    )
    assert problem(opening, "flip 1") == "A card is just being opened: a moment."
    position = LEAD.hands[0][0]
    faces = tuple(-1 if place == position else face for place, face in enumerate(LEAD.faces))
    drawing = view_of(dataclasses.replace(LEAD, faces=faces))
    assert problem(drawing, "9") == "Your new card is still on its way: a moment."


def test_without_a_round() -> None:
    view = view_of()
    assert problem(view, "k") == "There is nothing to play at the moment."
    assert problem(view, "pick up") == "There is nothing to play at the moment."
    assert interpret(view, "1") == StartRound()
    assert interpret(view, "start") == StartRound()
    assert interpret(view, "bots 3") == SeatBots(3)
    assert interpret(view, "kick bogdan") == Kick(key_of("Bogdan"))
    assert problem(view_of(players=()), "start").startswith("It takes two")


def test_at_the_door() -> None:
    door = tuple(Knocking(key_of(name), name, b"", "") for name in ("Dora", "Doris"))
    view = view_of(door=door)
    assert interpret(view, "admit dora") == Admit(key_of("Dora"))
    assert interpret(view, "refuse Dori") == Refuse(key_of("Doris"))
    assert problem(view, "admit do") == "There is nobody called do at the door."
    assert interpret(view, "3") == Admit(key_of("Doris"))
    assert interpret(view, "#2") == Refuse(key_of("Dora"))
    assert interpret(view_of(door=door[:1]), "admit") == Admit(key_of("Dora"))


@pytest.mark.parametrize("text", ["start", "admit Dora", "refuse Dora", "kick Bogdan", "bots 2"])
def test_what_only_the_host_may(text: str) -> None:
    assert problem(view_of(acting_host=key_of("Bogdan")), text) == "Only Bogdan can do that."


def test_an_offer() -> None:
    view = view_of(asked=True, acting_host=None)
    assert [interpret(view, text) for text in ("yes", "y", "1", "#1")] == [Answer(True)] * 4
    assert [interpret(view, text) for text in ("no", "N", "2")] == [Answer(False)] * 3


def test_the_rest() -> None:
    view = view_of(MINE)
    assert interpret(view, "") == Show("turn")
    assert [interpret(view, word) for word in ("table", "score", "rules", "help", "?")] == [
        Show(word) for word in ("table", "score", "rules", "help", "help")
    ]
    assert interpret(view, "say  hello   you") == Talk("hello you")
    assert interpret(view, "say \x1b[31mred\u202e") == Talk("[31mred")
    assert interpret(view, "void") == Void()
    assert interpret(view, "quit") == Quit()
    assert interpret(view, "/help") == Show("help")
    assert interpret(view, "/quit") == Quit()
    assert interpret(view, "exit") == Quit()


@given(st.text(max_size=40), st.sampled_from([None, ARRANGING, MINE, THEIRS, BLIND, UPCARDS]))
def test_nothing_that_can_be_typed_breaks_it(text: str, state: GameState | None) -> None:
    view = view_of(state)
    meaning = interpret(view, text)
    if isinstance(meaning, Problem):
        assert render(meaning.sentence, view.names)
    if isinstance(meaning, Act) and state is not None:
        assert check(state, meaning.move) is None


WORDS = st.sampled_from(
    [
        *("2", "3", "4", "5", "6", "7", "8", "9", "10", "j", "q", "k", "a", "t", "0", "9c", "9h", "4s", "qs"),
        *("#", "#1", "#9", "flip", "pick", "up", "swap", "why", "say", "play", "ready", "1", "x"),
    ]
)


@given(st.lists(WORDS, max_size=4), st.sampled_from([ARRANGING, MINE, THEIRS, BLIND, UPCARDS, LEAD]))
def test_every_move_that_comes_out_is_one_that_the_rules_take(words: list[str], state: GameState) -> None:
    meaning = interpret(view_of(state), " ".join(words))
    if isinstance(meaning, Act):
        assert check(state, meaning.move) is None


def test_ready_phrases_are_said_by_their_number() -> None:
    view = view_of(MINE)
    assert interpret(view, "say #2") == Talk(PHRASES[1])
    assert interpret(view, "say 2") == Talk("2")
    assert interpret(view, "say #no") == Talk("#no")
    assert interpret(view, "phrases") == Show("phrases")
    for wrong in ("say #0", f"say #{len(PHRASES) + 1}", "say #99999999999999999999"):
        assert "There is no phrase #" in problem(view, wrong)


def test_the_talk_of_one_or_all_is_hidden() -> None:
    view = view_of(MINE)
    bogdan = frozenset({key_of("Bogdan")})
    assert interpret(view, "mute bogdan") == Mute(bogdan, is_muted=True)
    assert interpret(view, "mute") == Mute(bogdan, is_muted=True)
    assert interpret(view, "unmute Bogdan") == Mute(bogdan, is_muted=False)
    assert "nobody called Kim" in problem(view, "mute Kim")
    assert problem(view, "mute Ana") == "That is you."


def test_a_host_takes_a_preset_by_its_name() -> None:
    assert interpret(view_of(MINE), "set party") == TakePreset("party")
    assert "such as `set party`" in problem(view_of(MINE), "set nothing")


def test_how_to_play_is_told() -> None:
    assert interpret(view_of(MINE), "how") == Show("how")


def test_cards_can_be_told_apart_by_commas_and_asked_for_by_their_names() -> None:
    view = view_of(MINE)
    for text in ("9,9", "9, 9", "9c,9h"):
        assert len(played(MINE, text)) == 2
    assert interpret(view, "hand") == interpret(view, "cards") == Show("hand")
    assert interpret(view, "hint") == Show("turn")
    for state in (MINE, THEIRS):
        lines = hand_lines(view_of(state), Style(ascii=True))
        assert lines[0].startswith("Hand: ")
    assert hand_lines(view_of(BLIND), Style(ascii=True)) == ["Downcards: 2 cards, which nobody has seen"]
    assert hand_lines(view_of(None), Style(ascii=True)) == ["You hold no cards now."]


def test_a_preset_is_a_preset_however_it_is_set() -> None:
    view = view_of(None, acting_host=key_of("Ana"))
    assert interpret(view, "set preset=party") == interpret(view, "set party") == TakePreset("party")

"""What keys do, without a terminal: the view, the screen's state and a key in, state and command out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import client.tui
from client.lines.show import choice_words
from client.orders import Act, Answer, Kick, SeatBots, StartRound, Talk
from client.texts import PHRASES
from client.tui.control import ENTER_GUARD_S, follow, paste, press
from client.tui.hand import pickable
from client.tui.keys import KEYS, context_of, find, helped, shown
from client.tui.orders import Leave, Stop, Store
from client.tui.phrases import SCREEN
from client.tui.state import Ui
from client.view import View, make_view
from engine.cards import rank_text
from engine.moves import Flip, PickUp, Play, PlayAs, Ready, Swap
from tests.client.positions import snapshot_of
from tests.client.tui import scenes
from tests.engine.helpers import record

NOW = 100.0


def pressed(scene: tuple[View, Ui], *keys: str) -> tuple[Ui, object]:
    view, ui = scene
    command: object = None
    for key in keys:
        ui, command = press(key, view, ui, NOW)
    return ui, command


def cards_of(view: View, ui: Ui) -> list[str]:
    return [card.text for position in ui.picked for card in view.own if card.position == position]


def test_a_rank_key_picks_and_again_adds_one_more() -> None:
    state = record(scenes.TABLE.replace(" 7s 7h 7d", ""), "Ana Bogdan Carmen Dora", "Dora")
    view, ui = scenes.playing(state)
    ui, _ = pressed((view, ui), "5")
    assert cards_of(view, ui) == ["5d"]
    ui, _ = pressed((view, ui), "5")
    assert cards_of(view, ui) == ["5d", "5h"]
    ui, _ = pressed((view, ui), "5")
    assert "all you have" in ui.message
    ui, command = pressed((view, ui), "enter")
    assert isinstance(command, Act)
    assert isinstance(command.move, Play)
    assert command.stamp == view.stamp
    assert len(command.move.positions) == 2
    assert ui.picked == ()


def test_another_rank_starts_afresh_and_escape_clears() -> None:
    scene = scenes.playing()
    ui, _ = pressed(scene, "7", "k")
    assert cards_of(scene[0], ui) == ["Kh"]
    ui, command = pressed((scene[0], ui), "escape")
    assert (ui.picked, command) == ((), None)


@pytest.mark.parametrize("key", ["0", "t", "T"])
def test_ten_has_two_keys_and_letters_any_case(key: str) -> None:
    scene = scenes.playing()
    ui, _ = pressed(scene, key)
    assert cards_of(scene[0], ui) == ["Td"]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("4", "A four can't be played on a seven."),
        ("2", "You don't hold a two."),
        ("3", "hand cards come first"),
        ("y", "does nothing here"),
        ("1", "does nothing here"),
    ],
)
def test_a_key_that_does_nothing_says_why(key: str, why: str) -> None:
    ui, command = pressed(scenes.playing(), key)
    assert command is None
    assert ui.is_warning
    assert (
        why in ui.message or why.replace("You don't hold a two.", "would fit, but you don't hold it") in ui.message
    )


def test_q_is_a_queen_and_never_leaves() -> None:
    for scene in (scenes.playing(), scenes.arrange(), scenes.blind(), scenes.lobby(), scenes.over()):
        _, command = pressed(scene, "q", "q", "y")
        assert not isinstance(command, Leave)


def test_enter_without_anything_picked_says_so() -> None:
    ui, command = pressed(scenes.playing(), "enter")
    assert command is None
    assert "Nothing is picked" in ui.message


def test_enter_and_p_wait_a_quarter_of_a_second_after_the_turn_has_come() -> None:
    view, ui = scenes.playing()
    ui = replace(pressed((view, ui), "7")[0], turn_since=NOW - ENTER_GUARD_S / 2)
    for key in ("enter", "p"):
        again, command = press(key, view, ui, NOW)
        assert command is None
        assert "only just come" in again.message
        assert again.picked == ui.picked
    _, command = press("enter", view, ui, NOW + ENTER_GUARD_S)
    assert isinstance(command, Act)


def test_a_large_pile_is_asked_about_when_something_could_be_played() -> None:
    scene = scenes.playing()
    ui, command = pressed(scene, "p")
    assert (ui.asks, command) == ("take", None)
    _, command = pressed((scene[0], ui), "p")
    assert isinstance(command, Act)
    assert isinstance(command.move, PickUp)
    again, command = pressed((scene[0], ui), "7")
    assert (again.asks, again.picked, command) == ("", (), None)


def test_a_small_pile_is_taken_at_once() -> None:
    state = record("pile 8c\nhand Ana 9c 4h\nhand Bogdan Qc\nturn Ana\n")
    _, command = pressed(scenes.playing(state), "p")
    assert isinstance(command, Act)
    assert isinstance(command.move, PickUp)


def test_blind_cards_are_chosen_and_then_turned_over() -> None:
    scene = scenes.blind()
    ui, command = pressed(scene, "2")
    assert command is None
    assert "no downcard in slot 2" in ui.message
    ui, command = pressed(scene, "3")
    assert (ui.slot, command) == (3, None)
    _, command = pressed((scene[0], ui), "enter")
    assert isinstance(command, Act)
    assert command.move == Flip(0, 2)


def test_arrows_go_over_blind_cards_too() -> None:
    ui, _ = pressed(scenes.blind(), "right", "right")
    assert ui.slot == 3


def test_arrows_and_space_pick_exact_cards() -> None:
    view, ui = scenes.playing(record("pile 3c\nhand Ana 5c 5d 5h\nhand Bogdan Qc\nturn Ana\n"))
    ui, _ = pressed((view, ui), "right", "right", " ", "right", " ")
    assert cards_of(view, ui) == ["5d", "5h"]
    ui, _ = pressed((view, ui), " ")
    assert cards_of(view, ui) == ["5d"]


def test_exchanging_takes_two_keys() -> None:
    scene = scenes.arrange()
    cards = pickable(scene[0], scene[1].look)
    hand, up = cards[0], cards[-1]
    ui, command = pressed(scene, hand.rank.replace("T", "0").lower())
    assert command is None
    ui, command = pressed((scene[0], ui), up.rank.replace("T", "0").lower())
    assert isinstance(command, Act)
    assert command.move == Swap(0, hand.position, up.position)
    assert "is an upcard now" in ui.message


def test_enter_is_ready_only_when_nothing_is_picked() -> None:
    scene = scenes.arrange()
    _, command = pressed(scene, "enter")
    assert isinstance(command, Act)
    assert isinstance(command.move, Ready)
    key = pickable(scene[0], scene[1].look)[0].rank.replace("T", "0").lower()
    ui, command = pressed(scene, key, "enter")
    assert command is None
    assert "is picked" in ui.message


def test_a_pick_before_my_turn_stays_and_is_never_sent_by_itself() -> None:
    text = scenes.TABLE.replace("turn Ana", "turn Dora")
    before, ui = scenes.playing(record(text, "Ana Bogdan Carmen Dora", "Dora"))
    ui, _ = pressed((before, ui), "7")
    assert len(ui.picked) == 1
    again, command = pressed((before, ui), "enter")
    assert command is None
    assert "Dora" in again.message
    after = scenes.playing()[0]
    assert follow(before, after, ui, NOW).picked == ui.picked


def test_a_pick_that_does_not_fit_when_my_turn_comes_is_put_back_with_the_reason() -> None:
    text = scenes.TABLE.replace("turn Ana", "turn Dora")
    before, ui = scenes.playing(record(text, "Ana Bogdan Carmen Dora", "Dora"))
    ui, _ = pressed((before, ui), "4")
    ui = follow(before, scenes.playing()[0], ui, NOW)
    assert ui.picked == ()
    assert "can't be played" in ui.message
    assert ui.turn_since == NOW


def test_starting_seating_and_sending_away_are_the_hosts() -> None:
    view, ui = scenes.lobby()
    assert isinstance(pressed((view, ui), "enter")[1], StartRound)
    assert pressed((view, ui), "b")[1] == SeatBots(1)
    ui, command = pressed((view, ui), "d")
    assert (ui.asks, command) == ("kick", None)
    assert isinstance(pressed((view, ui), "y")[1], Kick)
    guest = make_view(snapshot_of(None, 1, players=3))
    for key in ("b", "d", "+"):
        ui, command = pressed((guest, Ui(can_seat_bots=True)), key)
        assert command is None
        assert "Ana" in ui.message


def test_offers_are_answered() -> None:
    scene = scenes.offered()
    assert pressed(scene, "y")[1] == Answer(True)
    assert pressed(scene, "enter")[1] == Answer(True)
    assert pressed(scene, "n")[1] == Answer(False)


def test_leaving_is_asked_about() -> None:
    ui, command = pressed(scenes.playing(), "ctrl-c")
    assert (ui.asks, command) == ("quit", None)
    assert isinstance(pressed((scenes.playing()[0], ui), "y")[1], Leave)
    assert pressed((scenes.playing()[0], ui), "7")[1] is None


@pytest.mark.parametrize("make", [scenes.playing, scenes.arrange, scenes.dealing, scenes.blind])
@pytest.mark.parametrize("key", ["k", "K", "ctrl-c"])
def test_who_stops_in_a_round_keeps_the_seat(make: Callable[[], tuple[View, Ui]], key: str) -> None:
    scene = make()
    ui, _ = pressed(scene, "ctrl-c")
    assert isinstance(pressed((scene[0], ui), key)[1], Stop)
    assert isinstance(pressed((scene[0], ui), "y")[1], Leave)
    for width in (60, 80):
        text = " ".join(scenes.as_text(scenes.drawn((scene[0], ui), width, 24)).split())
        assert "Leave?" in text
        assert "your seat is kept." in text


@pytest.mark.parametrize("make", [scenes.lobby, scenes.over, scenes.offered])
def test_between_rounds_there_is_no_seat_to_keep(make: Callable[[], tuple[View, Ui]]) -> None:
    scene = make()
    ui, _ = pressed(scene, "ctrl-c")
    assert pressed((scene[0], ui), "k")[1] is None
    assert isinstance(pressed((scene[0], ui), "ctrl-c")[1], Leave)
    assert "seat" not in " ".join(scenes.as_text(scenes.drawn((scene[0], ui), 80, 24)).splitlines()[-4:])


def test_what_is_typed_is_talk_and_what_is_pasted_is_cleaned() -> None:
    scene = scenes.playing()
    ui, _ = pressed(scene, "c", "Q", "u")
    ui = paste("\x1b[31mred\u202e\nline", ui)
    ui, command = pressed((scene[0], ui), "enter")
    assert command == Talk("Qu[31mred line")
    assert ui.typing is None


def test_pages_open_scroll_and_close() -> None:
    ui, _ = pressed(scenes.playing(), "?", "down", "down")
    assert (ui.page, ui.scroll) == ("help", 2)
    ui, _ = pressed((scenes.playing()[0], ui), "r")
    assert (ui.page, ui.scroll) == ("rules", 0)
    ui, command = pressed((scenes.playing()[0], ui), "7")
    assert (ui.page, ui.picked, command) == ("", (), None)


def test_settings_are_changed_with_arrows() -> None:
    ui, command = pressed(scenes.playing(), "e", "right")
    assert isinstance(command, Store)
    assert ui.look.style.ascii
    ui, command = pressed((scenes.playing()[0], ui), "up", "up", "up", "left")
    assert isinstance(command, Store)
    assert not ui.look.mouse


OPTIONS = {
    "play_as": ("wikipedia jokers=2 joker_power=wild", "pile 8c\nhand Ana 9c X1\nhand Bogdan Qc\nturn Ana\n"),
    "chance": (
        "wikipedia chance=chance_free",
        "stock 3c 3d\npile 8c\nhand Ana 9c 4d 4h\nhand Bogdan Qc\nturn Ana\n",
    ),
    "pick_up": (
        "wikipedia upcard_pick_up=pile_plus_one",
        "pile 8c\nup Ana 4c 5c\nhand Bogdan Qc\nturn Ana\n",
    ),
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_what_house_rules_add_is_on_the_list_of_choices(kind: str) -> None:
    rules, body = OPTIONS[kind]
    scene = scenes.playing(record(body, rules=rules))
    ui, command = pressed(scene, "u")
    assert (ui.page, command) == ("choices", None)
    moves = [choice for choice in scene[0].choices if choice.move is not None]
    wanted = next(number for number, choice in enumerate(moves) if choice.kind == kind)
    assert choice_words(moves[wanted], ui.look.style) in scenes.as_text(scenes.drawn((scene[0], ui), 80, 24))
    ui, command = pressed((scene[0], ui), *["down"] * wanted, "enter")
    assert command == Act(moves[wanted].move, scene[0].stamp)
    assert ui.page == ""


def test_upcards_that_go_along_with_the_pile_are_chosen() -> None:
    rules, body = OPTIONS["pick_up"]
    ui, command = pressed(scenes.playing(record(body, rules=rules)), "p")
    assert (ui.page, command) == ("choices", None)


def test_four_of_a_rank_can_be_picked_where_only_four_fit() -> None:
    state = record(
        "pile Ac\nhand Ana 4c 4d 4h 4s 9c\nhand Bogdan Qc\nturn Ana\n", rules="wikipedia quartet_beats_all=true"
    )
    scene = scenes.playing(state)
    ui, _ = pressed(scene, "4", "4", "4", "4")
    assert len(ui.picked) == 4
    _, command = pressed((scene[0], ui), "enter")
    assert isinstance(command, Act)


def test_no_key_has_two_meanings_in_one_place() -> None:
    for where in {place for key in KEYS for place in key.where}:
        keys = [name for key in KEYS if where in key.where for name in key.keys]
        assert len(keys) == len(set(keys)), where


def test_every_key_has_an_action_and_help() -> None:
    from client.tui.deeds import ACTIONS

    assert {key.action for key in KEYS} == set(ACTIONS)
    for scene in (
        scenes.playing(),
        scenes.arrange(),
        scenes.blind(),
        scenes.lobby(),
        scenes.offered(),
        scenes.over(),
    ):
        view, ui = scene
        assert {key.action for key in shown(view, ui)} <= {key.action for group in helped(view) for key in group}
        for key in (*helped(view)[0], *helped(view)[1]):
            meant = find(view, key.keys[0])
            assert meant is not None
            assert meant.action == key.action
        assert context_of(view)


def test_every_sentence_is_used() -> None:
    here = Path(client.tui.__file__).parent
    files = [*here.glob("*.py"), *(here.parent / "commands").glob("*.py")]
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    named = set(re.findall(r"""["']([a-z_0-9]+)["'](?!:)""", source))
    # Codes that are put together: f"title_{...}" and the like.
    made = tuple(re.findall(r"""f["']([a-z_]+_)\{""", source))
    assert [code for code in SCREEN if code not in named and not code.startswith(made)] == []


def test_ready_phrases_are_chosen_with_arrows_and_can_be_changed() -> None:
    scene = scenes.playing()
    ui, _ = pressed(scene, "c", "down", "down")
    assert ui.typing == PHRASES[1]
    assert "up, down: ready phrases" in scenes.as_text(scenes.drawn((scene[0], ui), 60, 16))
    ui, command = pressed((scene[0], ui), "up", "up", "backspace", "?", "enter")
    assert command == Talk(PHRASES[-1][:-1] + "?")


def test_n_is_no_and_nothing_else() -> None:
    assert {key.action for key in KEYS if "n" in key.keys} == {"no"}
    ui, command = pressed(scenes.lobby(), "n")
    assert (command, ui.page) == (None, "")
    assert pressed(scenes.offered(), "i")[0].page == "network"


WILD = "wikipedia jokers=2 joker_power=wild"


def test_a_wild_joker_alone_is_asked_what_it_counts_as() -> None:
    scene = scenes.playing(record("pile 8c\nhand Ana 4c X1\nhand Bogdan Qc\nturn Ana\n", rules=WILD))
    assert "Enter then asks what it counts as" in scenes.as_text(scenes.drawn(scene, 80, 24))
    ui, command = pressed(scene, "x", "enter")
    assert (ui.page, command) == ("choices", None)
    text = scenes.as_text(scenes.drawn((scene[0], ui), 80, 24))
    assert "What does the joker count as?" in text
    marked = next(line for line in text.splitlines() if line.startswith("  > "))
    assert "as" in marked
    _, command = pressed((scene[0], ui), "enter")
    assert isinstance(command, Act)
    assert isinstance(command.move, PlayAs)


@pytest.mark.parametrize("keys", [("9", "x"), ("x", "9"), ("8", "x", "9")])
def test_a_joker_beside_a_card_counts_as_that(keys: tuple[str, ...]) -> None:
    view, ui = scenes.playing(record("pile 8c\nhand Ana 8h 9c X1\nhand Bogdan Qc\nturn Ana\n", rules=WILD))
    ui, _ = pressed((view, ui), *keys)
    assert set(cards_of(view, ui)) == {"9c", "X1"}
    _, command = pressed((view, ui), "enter")
    assert isinstance(command, Act)
    assert isinstance(command.move, PlayAs)
    assert rank_text(command.move.rank) == "9"
    assert view.refuse(command.move) is None
    assert command.move in [choice.move for choice in view.choices]


def test_without_wild_jokers_nothing_goes_with_another_rank() -> None:
    scene = scenes.playing(
        record("pile 8c\nhand Ana 9c X1\nhand Bogdan Qc\nturn Ana\n", rules="wikipedia jokers=2")
    )
    ui, _ = pressed(scene, "9", "x")
    assert cards_of(scene[0], ui) == ["X1"]

"""What cannot be seen: keys where the window is too small, talk where the guide takes the room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from client.orders import Void
from client.tui.control import press, press_unseen
from client.tui.keys import MIN_HEIGHT, MIN_WIDTH, fits
from client.tui.noting import note
from client.tui.orders import Leave
from client.tui.state import Logged, Look, Ui
from client.view import View, WaitRow
from p2p.rounds.news import News
from tests.client.nodes import House
from tests.client.positions import key_of
from tests.client.tui import scenes
from tests.client.tui.test_client import seated

NOW = 100.0

Scene = tuple[View, Ui]


def shown(scene: Scene, width: int = 80, height: int = 24) -> str:
    return scenes.as_text(scenes.drawn(scene, width, height))


# -- a window that is too small ------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["7", "0", "enter", "p", "g", "z", "n", "y", "+", "c", "?", "card:3", "pile", " "])
def test_where_nothing_can_be_seen_no_key_does_anything(key: str) -> None:
    for view, ui in (scenes.playing(), scenes.offered(), scenes.lobby(), scenes.arrange()):
        for before in (ui, replace(ui, asks="take"), replace(ui, asks="void"), replace(ui, typing="hello")):
            assert press_unseen(key, view, before) == (before, None)


@pytest.mark.parametrize(("width", "height"), [(50, 12), (59, 24), (80, 15), (20, 9)])
def test_a_small_window_says_what_to_do_and_asks_whether_to_leave(width: int, height: int) -> None:
    view, ui = scenes.playing()
    words = " ".join(shown((view, ui), width, height).split())
    assert f"{width} columns and {height} lines" in words
    assert "Make it larger" in words
    if height >= 10:
        assert "Ctrl-C, which asks whether to leave; `--lines` plays in any window." in words
    ui, command = press_unseen("ctrl-c", view, replace(ui, typing="hello", page="log"))
    assert command is None
    assert "Leave?" in " ".join(shown((view, ui), width, height).split())
    assert press_unseen("n", view, ui)[1] is None
    assert isinstance(press_unseen("y", view, ui)[1], Leave)


def test_the_limit_is_the_one_that_is_drawn() -> None:
    assert fits(MIN_WIDTH, MIN_HEIGHT)
    assert not fits(MIN_WIDTH - 1, MIN_HEIGHT)
    assert not fits(MIN_WIDTH, MIN_HEIGHT - 1)


async def test_cards_stay_where_they_are_while_the_window_is_too_small() -> None:
    house = House("Ana", "Bogdan", seed=3)
    async with seated(house.nodes[0]) as ana:
        ana.at.press("enter")
        await ana.at.shows("Exchange:")
        ana.clock.forward()
        ana.at.resize(50, 12)
        await ana.at.shows("Make it larger")
        ana.at.press("enter", "c")
        ana.client.paste("hello")
        # What is asked after all those keys shows that they have been read.
        ana.at.press("ctrl-c")
        await ana.at.shows("Leave?")
        ana.at.press("n")
        await ana.at.lacks("Leave?")
        ana.at.resize(80, 24)
        await ana.at.shows("Exchange:")
        assert ana.client.view.my_turn, "Enter was not taken for being ready"
        assert ana.client.ui.typing is None


# -- talk ----------------------------------------------------------------------------------------------


def talked(scene: Scene, *words: str, by: str = "Bogdan") -> Scene:
    view, ui = scene
    ui = replace(ui, look=Look(guide=True))
    for each in words:
        values: dict[str, object] = {"player": key_of(by), "name": by, "text": each}
        ui = note(News("said", values), view, ui, NOW, "20:14")
    return view, ui


def lobby_of(count: int, *, is_host: bool, door: bool = False) -> Scene:
    view, ui = scenes.lobby()
    return replace(view, players=view.players[:count], i_host=is_host, door=view.door if door else ()), ui


@pytest.mark.parametrize("by", ["Bogdan", "Ana"])
@pytest.mark.parametrize("is_host", [True, False])
@pytest.mark.parametrize("count", [2, 3])
def test_the_newest_talk_is_seen_below_the_guide(count: int, is_host: bool, by: str) -> None:
    said = ("The next round is played by the rules party.", "Hello, seen?")
    text = shown(talked(lobby_of(count, is_host=is_host), *said, by=by))
    assert "GUIDE" in text
    assert all(f"{by}> {each}" in text for each in said)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40)])
@pytest.mark.parametrize("scene", ["lobby", "full lobby", "table", "over", "deal", "ten"])
def test_talk_is_seen_or_said_to_be_there(scene: str, size: tuple[int, int]) -> None:
    make = {
        "lobby": lambda: lobby_of(3, is_host=False),
        "full lobby": lambda: lobby_of(4, is_host=True, door=True),
        "table": scenes.playing,
        "over": scenes.over,
        "deal": scenes.dealing,
        "ten": scenes.ten_players,
    }[scene]
    for guide in (True, False):
        view, ui = talked(make(), "Hello, seen?")
        text = shown((view, replace(ui, look=Look(guide=guide))), *size)
        assert "Bogdan> Hello, seen?" in text or "1 new" in text


def test_where_there_is_no_room_for_both_the_guide_comes_back_when_the_talk_is_read() -> None:
    view, ui = talked(scenes.playing(), "Hello, seen?")
    assert "Your turn! Press" not in shown((view, ui), 60, 16)
    ui, _ = press("l", view, ui, NOW)
    ui, _ = press("escape", view, ui, NOW)
    assert "Your turn! Press" in shown((view, ui), 60, 16)


# -- giving up -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "is_asked"), [(5, False), (59, False), (60, True), (300, True)])
@pytest.mark.parametrize("is_known", [True, False])
def test_giving_up_is_never_done_without_the_question(seconds: int, is_asked: bool, is_known: bool) -> None:
    view, ui = scenes.lost_link()
    wait = WaitRow("Carmen", False, "move", seconds, 0, 60)
    view = replace(view, waits=(wait,), overdue=is_known and is_asked)
    ui, command = press("g", view, ui, NOW)
    assert command is None
    assert (ui.asks == "void") is is_asked
    if is_asked:
        assert "It ends unfinished: nobody is the shithead." in shown((view, ui))
        assert isinstance(press("y", view, ui, NOW)[1], Void)
    else:
        assert (
            ui.message
            == f"The round waits for Carmen. It can be given up in {'0:55' if seconds == 5 else '0:01'}."
        )


def test_where_there_is_nothing_to_give_up_that_is_said() -> None:
    for view, ui in (scenes.lobby(), scenes.over()):
        assert press("g", view, ui, NOW)[0].message == "There is no round of yours to give up."
    view, ui = scenes.playing()
    mine = replace(view, waits=(WaitRow("Ana", True, "move", 300, 0, 60),))
    ui, command = press("g", mine, ui, NOW)
    assert (ui.message, command) == ("Nobody but you is being waited for.", None)


def test_a_log_line_is_not_talk() -> None:
    view, ui = lobby_of(3, is_host=False)
    ui = replace(ui, log=(*ui.log, Logged("Carmen has joined the table.")), look=Look(guide=True))
    assert "Carmen has joined the table." in shown((view, ui))
    assert "new: L" not in shown((view, ui))

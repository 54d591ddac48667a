"""The screen speaks of keys: no sentence on it names a word to type."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import client.lines.narrate
import client.lines.telling
from client.orders import Admit, Kick, SeatBots
from client.phrases import SAID, TOLD, said, told
from client.sentences import YOU, Names
from client.tui.control import press
from client.tui.keys import KEYS, RANK_KEYS, key_name
from client.tui.noting import SHOWN
from client.tui.phrases import SCREEN
from client.tui.state import Ui
from client.tui.terminal import NAMED
from client.tui.wording import FORMS, OF_SAID, OF_TOLD, here
from client.view import View
from engine.errors import Sentence
from tests.client.nodes import House
from tests.client.tui import scenes
from tests.client.tui.test_client import seated
from tests.engine.helpers import record

NOW = 100.0

TYPED = re.compile(r"`(?!shithead |--)[^`]*`|\b[Tt]ype\b")
"""A word to type at the table; those for a shell are right on the screen too."""

ELSEWHERE = frozenset({"knocked", "knocked_bot", "saved", "next_mine"})
"""Codes of the narrator that the screen has no use for: see ``noting.SHOWN``, and ``asks`` of the narrator."""


def test_every_sentence_that_the_log_may_hold_names_keys() -> None:
    source = "".join(
        Path(module.__file__ or "").read_text(encoding="utf-8")
        for module in (client.lines.narrate, client.lines.telling)
    )
    codes = set(re.findall(r'"([a-z_0-9]+)"', source))
    logged = {SAID[code] for code in codes & set(SAID) - ELSEWHERE}
    logged |= {form for code in codes & set(TOLD) for form in TOLD[code]}
    assert len(logged) > 60
    assert not [each for each in logged if TYPED.search(FORMS.get(each, each))]
    assert {"knocked", "saved"} <= SHOWN


def test_every_sentence_about_me_names_keys() -> None:
    assert not [each for each in YOU.values() if TYPED.search(FORMS.get(each, each))]


def test_every_word_of_the_screen_names_keys() -> None:
    assert not [code for code, words in SCREEN.items() if TYPED.search(words) and not code.startswith("find_")]
    assert not [words for words in FORMS.values() if TYPED.search(words)]


def test_every_form_stands_for_one_that_names_a_word() -> None:
    # A sentence that has been reworded since needs no form any more, or another one.
    assert all(TYPED.search(SAID[code]) or "`" in SAID[code] for code in OF_SAID)
    assert all(TYPED.search(TOLD[code][0]) for code in OF_TOLD)
    fields = re.compile(r"{(\w+)")
    assert all(set(fields.findall(form)) <= set(fields.findall(each)) for each, form in FORMS.items())


def test_what_is_said_of_me_and_of_others_has_its_form() -> None:
    names = Names(("Ana", "Bogdan"), {}, 0)
    template = "{seat} has to say first what the joker counts as."
    assert here(Sentence("name_first", template, {"seat": 0}), names) == (
        "Say first what the joker counts as: U lists it."
    )
    assert here(Sentence("name_first", template, {"seat": 1}), names).startswith("Bogdan has to say first")
    assert "G gives the round up" in here(told("overdue", False, player="Ana", seconds=60, what="to play"))
    assert here(said("no_mdns")) == SAID["no_mdns"]


WILD = "pile 9c\nhand Ana 8h Kc X1\nhand Bogdan Qc\nturn Ana\n"
SCENES: dict[str, Any] = {
    "playing": scenes.playing,
    "waiting": lambda: scenes.playing(seat=1),
    "arrange": scenes.arrange,
    "blind": scenes.blind,
    "lobby": scenes.lobby,
    "over": scenes.over,
    "offered": scenes.offered,
    "dealing": scenes.dealing,
    "lost": scenes.lost_link,
    "wild": lambda: scenes.playing(record(WILD, rules="wikipedia jokers=2 joker_power=wild")),
    "along": lambda: scenes.playing(record("pile Kc\nup Ana 9c 4h\nhand Bogdan Qc\nturn Ana\n")),
}

ALL_KEYS = sorted(
    {key for entry in KEYS for key in entry.keys}
    | set(NAMED.values())
    | set(RANK_KEYS)
    | set("1~;")
    | {"ctrl-z", "ctrl-a", "f5", "insert"}
)


@pytest.mark.parametrize("is_host", [True, False])
@pytest.mark.parametrize("scene", SCENES)
def test_no_key_is_answered_with_a_word_to_type(scene: str, is_host: bool) -> None:
    random = Random(scene)
    view, start = SCENES[scene]()
    view = replace(view, i_host=is_host)
    for _ in range(300):
        ui = start
        for key in random.choices(ALL_KEYS, k=3):
            ui, _command = press(key, view, ui, NOW)
            assert not TYPED.search(ui.message), (key, ui.message)


@pytest.mark.parametrize("scene", SCENES)
def test_every_key_does_something_or_says_why_not(scene: str) -> None:
    view, ui = SCENES[scene]()
    for key in ALL_KEYS:
        after, command = press(key, view, ui, NOW)
        silent = command is None and after == replace(ui, message="")
        # Esc where nothing is picked, and a blind slot or a mark that goes round to itself.
        assert not silent or key in ("escape", "up", "down"), key
        if after.is_warning:
            assert not re.match(r"\s|[a-z]{2}", after.message), after.message


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (" ", "Space"),
        ("tab", "Tab"),
        ("escape", "Esc"),
        ("ctrl-a", "Ctrl-A"),
        ("f5", "F5"),
        ("pagedown", "Page down"),
    ],
)
def test_a_key_without_a_sign_is_named(key: str, name: str) -> None:
    assert key_name(key) == name
    view, ui = scenes.lobby()
    assert press(key, view, ui, NOW)[0].message == f"{name} does nothing here. ? shows the keys."


def test_an_x_without_jokers_is_no_word() -> None:
    view, ui = scenes.lobby()
    assert press("x", view, ui, NOW)[0].message == "x does nothing here. ? shows the keys."


async def test_keys_of_the_terminal_that_mean_nothing_are_answered() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        for sent, told_of in (
            ("\x1a", "can't be put to sleep"),
            ("\x01", "Ctrl-A does nothing here"),
            ("\t", "Tab does nothing here"),
            (" ", "Space does nothing here"),
            ("\x1b[15~", "F5 does nothing here"),
        ):
            ana.at.press(sent)
            await ana.at.shows(told_of)


# -- away ----------------------------------------------------------------------------------------------


def away(make: Any) -> tuple[View, Ui]:
    view, ui = make()
    return view, replace(ui, is_away=True)


@pytest.mark.parametrize("make", [scenes.playing, scenes.arrange, scenes.blind])
def test_away_the_bottom_line_offers_what_keys_do_then(make: Any) -> None:
    scene = away(make)
    bottom = scenes.as_text(scenes.drawn(scene, 60, 16)).splitlines()[-1]
    assert "Z I am back" in bottom
    assert not any(word in bottom for word in ("Enter", "keys", "P take", "Esc"))
    for key in ("7", "enter", "p", "right", " ", "escape", "1"):
        ui, command = press(key, *scene, NOW)
        assert command is None
        assert ui.message == "You are away, so your program plays. Z: you play yourself again." or key in "17p"
        assert ui.picked == ()


def test_away_between_rounds_a_host_still_hosts() -> None:
    view, ui = away(scenes.over)
    assert press("enter", view, ui, NOW)[1] is not None
    assert press("d", view, ui, NOW)[0].asks == "kick"
    assert isinstance(press("y", view, press("d", view, ui, NOW)[0], NOW)[1], Kick)
    view, ui = away(scenes.lobby)
    assert isinstance(press("+", view, ui, NOW)[1], Admit)


# -- a full table --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [scenes.lobby, scenes.over])
def test_a_bot_is_offered_only_where_a_seat_is_free(make: Any) -> None:
    view, ui = make()
    for seats, is_free in ((len(view.players), False), (len(view.players) + 1, True)):
        scene = view, replace(ui, can_seat_bots=True, seats=seats)
        text = scenes.as_text(scenes.drawn(scene, 80, 24))
        assert ("B bot" in text.splitlines()[-1]) is is_free
        after, command = press("b", *scene, NOW)
        assert isinstance(command, SeatBots) is is_free
        assert (after.message == f"All {seats} seats are taken.") is not is_free


async def test_at_my_own_full_table_b_says_that_it_is_full() -> None:
    house = House("Ana", "Bogdan")
    house.nodes[0].seats = 2

    async def seat_bots(count: int) -> None:
        raise AssertionError("there is no free seat")

    async with seated(house.nodes[0], seat_bots=seat_bots) as ana:
        ana.at.press("b")
        await ana.at.shows("All 2 seats are taken.")

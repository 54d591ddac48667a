"""Whole screens as text, beside this file in ``screens/``: read them.

A screen that is meant to change is written anew by running these tests with ``SHITHEAD_WRITE_SCREENS=1``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from client.tui.cells import Row, cells
from client.tui.state import Ui
from client.tui.styles import style_of
from client.tui.table import pile_facts
from client.view import DoorRow, Stage, View
from tests.client.tui import scenes
from tests.engine.helpers import record

SCREENS = Path(__file__).parent / "screens"
WRITE = "SHITHEAD_WRITE_SCREENS"

Scene = tuple[View, Ui]


def picked(*ranks: str) -> Scene:
    view, ui = scenes.playing()
    wanted = list(ranks)
    found = []
    for card in view.own:
        if card.zone is view.zone and card.rank in wanted:
            wanted.remove(card.rank)
            found.append(card.position)
    return view, replace(ui, picked=tuple(found))


def page(name: str, scene: Callable[[], Scene]) -> Callable[[], Scene]:
    def make() -> Scene:
        view, ui = scene()
        return view, replace(ui, page=name)

    return make


def guided(scene: Callable[[], Scene]) -> Scene:
    view, ui = scene()
    return view, replace(ui, look=replace(ui.look, guide=True))


def talking() -> Scene:
    view, ui = scenes.playing()
    return view, replace(ui, typing="Well pl")


ATTRIBUTES = {"reverse": "R", "bold": "B", "underline": "U", "italic": "I"}
"""What the theme without colours knows, the strongest first, and how it is marked in a stored screen."""


def with_marks(rows: list[Row]) -> str:
    """Rows as text, each with one below it that says how its characters stand out without any colour."""
    lines = []
    for each in rows:
        marks = "".join(_mark(span.style) * cells(span.text) for span in each)
        lines += ["".join(span.text for span in each).rstrip(), marks.rstrip()]
    return "\n".join(line for number, line in enumerate(lines) if line or number % 2 == 0) + "\n"


def _mark(style: str) -> str:
    rules = dict(style_of("mono").style_rules)
    words = {word for name in style.split() for word in rules.get(name, "").split()}
    return next((mark for word, mark in ATTRIBUTES.items() if word in words), " ")


def in_ascii(scene: Callable[[], Scene]) -> Callable[[], Scene]:
    def make() -> Scene:
        view, ui = scene()
        return view, replace(ui, look=scenes.ASCII)

    return make


SIZES = {"80x24": (80, 24), "60x16": (60, 16), "120x40": (120, 40)}

STORED: dict[str, tuple[Callable[[], Scene], tuple[str, ...]]] = {
    "table": (scenes.playing, ("80x24", "60x16", "120x40")),
    "table-burns": (lambda: picked("7"), ("80x24", "60x16")),
    "table-ascii": (in_ascii(lambda: picked("5", "5")), ("80x24", "60x16", "120x40")),
    "lobby-ascii": (in_ascii(scenes.lobby), ("80x24",)),
    "over-ascii": (in_ascii(scenes.over), ("80x24",)),
    "table-guide": (lambda: guided(scenes.playing), ("80x24", "60x16")),
    "table-talk": (talking, ("80x24",)),
    "table-lost": (scenes.lost_link, ("80x24", "60x16")),
    "table-blind": (lambda: scenes.blind(slot=3), ("80x24", "60x16")),
    "table-25-cards": (scenes.many_cards, ("80x24", "60x16", "120x40")),
    "table-10-players": (scenes.ten_players, ("80x24", "60x16", "120x40")),
    "arrange": (scenes.arrange, ("80x24", "60x16")),
    "lobby": (scenes.lobby, ("80x24", "60x16", "120x40")),
    "offer": (scenes.offered, ("80x24",)),
    "deal": (scenes.dealing, ("80x24", "60x16")),
    "over": (scenes.over, ("80x24", "60x16", "120x40")),
    "page-help": (page("help", scenes.playing), ("80x24", "60x16")),
    "page-rules": (page("rules", scenes.playing), ("80x24",)),
    "page-fair": (page("fair", scenes.over), ("80x24",)),
    "page-network": (page("network", scenes.lobby), ("80x24",)),
    "page-log": (page("log", scenes.playing), ("80x24",)),
    "page-settings": (page("settings", scenes.lobby), ("80x24",)),
    "page-evening": (page("evening", scenes.over), ("80x24",)),
    "page-mute": (page("mute", scenes.playing), ("80x24",)),
    "page-options": (page("options", scenes.lobby), ("80x24", "60x16")),
    "page-choices": (page("choices", scenes.playing), ("80x24",)),
}

MARKED: dict[str, tuple[Callable[[], Scene], tuple[str, ...]]] = {
    "mono-table": (lambda: picked("7"), ("80x24", "60x16")),
    "mono-lost": (scenes.lost_link, ("80x24",)),
    "mono-lobby": (scenes.lobby, ("80x24",)),
    "mono-over": (scenes.over, ("80x24",)),
}
"""Screens without any colour, stored with what stands out on them."""

CASES = [(name, size) for name, (_, sizes) in STORED.items() for size in sizes]


MARKED_CASES = [(name, size) for name, (_, sizes) in MARKED.items() for size in sizes]


@pytest.mark.parametrize(("name", "size"), [*CASES, *MARKED_CASES])
def test_a_screen_is_as_stored(name: str, size: str) -> None:
    width, height = SIZES[size]
    rows = scenes.drawn((STORED | MARKED)[name][0](), width, height)
    text = with_marks(rows) if name in MARKED else scenes.as_text(rows)
    path = SCREENS / f"{name}-{size}.txt"
    if os.environ.get(WRITE):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "size"), CASES)
def test_a_screen_has_exactly_its_size(name: str, size: str) -> None:
    width, height = SIZES[size]
    rows = scenes.drawn(STORED[name][0](), width, height)
    assert len(rows) == height
    assert {sum(cells(span.text) for span in row) for row in rows} == {width}


def test_every_stored_screen_has_a_test() -> None:
    assert {path.stem for path in SCREENS.glob("*.txt")} == {
        f"{name}-{size}" for name, size in (*CASES, *MARKED_CASES)
    }


def test_ascii_screens_are_ascii() -> None:
    scene = in_ascii(lambda: picked("5", "5"))()
    assert scenes.as_text(scenes.drawn((scene[0], replace(scene[1], log=())), 80, 24)).isascii()


def over_with(**changes: object) -> Scene:
    view, ui = scenes.over()
    return replace(view, **changes), ui  # type: ignore[arg-type]


KNOCKING = DoorRow(bytes(32), "Kim", "", "192.0.2.9:47101")


@pytest.mark.parametrize("is_away", [False, True])
@pytest.mark.parametrize("size", ["80x24", "60x16"])
def test_an_over_screen_shows_who_knocks(size: str, is_away: bool) -> None:
    view, ui = over_with(door=(KNOCKING,))
    text = scenes.as_text(scenes.drawn((view, replace(ui, is_away=is_away)), *SIZES[size]))
    assert "AT THE DOOR Kim (192.0.2.9:47101)" in text
    assert "Kim is at the door: + lets in, - turns away." in text
    assert ("You are away" in text) is is_away


def test_a_host_who_is_away_in_a_round_sees_who_knocks() -> None:
    view, ui = scenes.playing()
    scene = replace(view, door=(KNOCKING,)), replace(ui, is_away=True)
    assert "Kim is at the door: + lets in" in scenes.as_text(scenes.drawn(scene, 60, 16))


@pytest.mark.parametrize("scene", ["over", "play", "deal"])
@pytest.mark.parametrize("width", [60, 76, 80])
def test_table_words_are_never_cut(width: int, scene: str) -> None:
    make = {"over": scenes.over, "play": scenes.playing, "deal": scenes.dealing}[scene]
    view, ui = make()
    words = ("alienate", "reformer", "panther")
    view = replace(view, table="Hanna's long table", words=words, round=12)
    title = scenes.as_text(scenes.drawn((view, ui), width, 24)).splitlines()[0]
    assert "words alienate-reformer-panther" in title
    assert "round 12" in title
    assert "links 2 of 2" in title or "links 3 of 3" in title


@pytest.mark.parametrize("size", SIZES)
def test_what_a_joker_on_the_pile_counts_as_is_said(size: str) -> None:
    body = "pile PILE\nhand Ana 9h Kc\nhand Bogdan Qc\nturn Ana\n"
    wild = "wikipedia jokers=2 joker_power=wild burn_run=3"
    for pile, is_said in (("9c X1 as 9", True), ("X1 as 9 9c", False), ("9c 9d", False)):
        state = record(body.replace("PILE", pile), rules=wild)
        scene = scenes.playing(state)
        facts = pile_facts(*scene)
        assert ("the joker counts as nine" in facts) == is_said
        assert "one more nine burns" in facts
        assert ("counts as" in scenes.as_text(scenes.drawn(scene, *SIZES[size]))) == is_said


def test_that_a_result_is_being_signed_is_said_whole() -> None:
    scene = over_with(stage=Stage.ENDING)
    assert "everybody signs the result (3 of 3)." in scenes.as_text(scenes.drawn(scene, 80, 24))


def test_a_stopped_round_opens_no_seeds() -> None:
    view, ui = scenes.over()
    assert view.ending is not None
    ending = replace(view.ending, kind="unfinished", finish=(), shithead=None, signed=2, revealed=0)
    view = replace(view, ending=ending)
    left = scenes.as_text(scenes.drawn((view, replace(ui, verdict=None)), 80, 24))
    assert "WAS IT FAIR?   not proven: the round was stopped before its end" in left
    assert "Everybody opens" not in left
    counts = {**scenes.VERDICT.checks, "reveals": 0}
    complete = replace(scenes.VERDICT.complete, values={"signed": 2, "players": 3})
    verdict = replace(scenes.VERDICT, verdict="unproven", ending="unfinished", checks=counts, complete=complete)
    checked = scenes.as_text(scenes.drawn((view, replace(ui, verdict=verdict)), 80, 24))
    assert "[--] in a round that was stopped the seeds stay closed" in checked
    assert "Complete" not in checked
    page = scenes.as_text(scenes.drawn((view, replace(ui, verdict=verdict, page="fair")), 80, 24))
    assert "That the round was stopped is signed by 2 of 3." in page

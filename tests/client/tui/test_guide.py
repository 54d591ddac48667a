"""The guide of the first round: what it says when, that each thing is said once, and that it goes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from client.tui.cells import wrap
from client.tui.control import follow, press
from client.tui.guide import NAME_CELLS, guide_text, step_of
from client.tui.noting import note
from client.tui.orders import Store
from client.tui.phrases import SCREEN
from client.tui.state import Look, Ui
from client.view import View
from p2p.rounds.news import News
from tests.client.tui import scenes
from tests.engine.helpers import record

NOW = 100.0
GUIDED = Look(guide=True)

Scene = tuple[View, Ui]

STEPS = frozenset(
    ("host", "guest", "offer", "deal", "turn", "send", "wait", "take", "several", "burn", "upcards", "blind")
) | {"out", "over"}

FORMS = frozenset({"host_alone", "host_door", "turn_all", "over_stopped"})
"""What a step says instead where that is what is true."""


def guided(scene: Scene) -> Scene:
    return scene[0], replace(scene[1], look=GUIDED)


def shown(scene: Scene, width: int = 80, height: int = 24) -> str:
    return scenes.as_text(scenes.drawn(scene, width, height))


def at_turn(body: str) -> Scene:
    return guided(scenes.playing(record(body)))


def turn_of(name: str) -> Scene:
    """Four at the table, somebody else to move."""
    state = record(scenes.TABLE.replace("turn Ana", f"turn {name}"), "Ana Bogdan Carmen Dora", "Dora")
    view, ui = guided(scenes.playing(state))
    return replace(view, stamp=name.encode()), ui


MOMENTS = {
    "host": lambda: guided((replace(scenes.lobby()[0], door=()), scenes.lobby()[1])),
    "guest": lambda: guided((replace(scenes.lobby()[0], i_host=False), Ui())),
    "offer": lambda: guided(scenes.offered()),
    "deal": lambda: guided(scenes.dealing()),
    "turn": lambda: guided(scenes.playing()),
    "wait": lambda: turn_of("Dora"),
    "take": lambda: at_turn("stock 3c\npile Kc\nhand Ana 9c 4h\nhand Bogdan Qc\nturn Ana\n"),
    "upcards": lambda: at_turn("pile 8c\nup Ana 9c Kh\nhand Bogdan Qc\nturn Ana\n"),
    "blind": lambda: guided(scenes.blind()),
    "over": lambda: guided(scenes.over()),
}


@pytest.mark.parametrize("step", MOMENTS)
def test_each_moment_is_explained_and_each_thing_once(step: str) -> None:
    view, ui = MOMENTS[step]()
    assert step_of(view, ui) == step
    words = " ".join(shown((view, ui), 120, 40).split())
    assert "GUIDE" in words
    assert SCREEN[f"guide_{step}"].split()[0] in words
    assert step_of(view, replace(ui, guided=frozenset({step}))) != step


@pytest.mark.parametrize("step", MOMENTS)
def test_without_the_guide_nothing_is_explained(step: str) -> None:
    view, ui = MOMENTS[step]()
    assert guide_text(view, replace(ui, look=Look())) == ""
    assert "GUIDE" not in shown((view, replace(ui, look=Look())))
    assert guide_text(view, replace(ui, is_auto=True)) == ""


def test_after_a_move_what_it_needed_is_known() -> None:
    before, ui = guided(scenes.playing())
    after = turn_of("Dora")[0]
    assert before.stamp != after.stamp
    picked, _ = press("7", before, ui, NOW)
    assert step_of(before, picked) == "send"
    ui = follow(before, after, picked, NOW)
    assert ui.guided >= {"turn", "send"}
    assert step_of(after, ui) == "wait"
    ui = follow(after, before, ui, NOW)
    # What comes next is rarer: that a play can burn the pile.
    assert step_of(before, ui) == "burn"


def test_nothing_is_over_because_others_play() -> None:
    before, ui = turn_of("Dora")
    after = turn_of("Bogdan")[0]
    assert step_of(after, follow(before, after, ui, NOW)) == "wait"


def test_the_guide_is_for_one_round() -> None:
    view, ui = guided(scenes.over())
    ui = note(News("over", {"result": "finished"}), view, ui, NOW, "20:14")
    assert step_of(view, ui) == "over"
    ui = note(News("contract", {}), view, ui, NOW, "20:14")
    assert not ui.look.guide


@pytest.mark.parametrize("kind", ["unfinished", "faulted", "forfeit"])
def test_a_round_that_was_stopped_is_not_called_a_round(kind: str) -> None:
    view, ui = guided(scenes.over())
    assert view.ending is not None
    view = replace(view, ending=replace(view.ending, kind=kind))
    ui = note(News("over", {"result": kind}), view, ui, NOW, "20:14")
    assert guide_text(view, ui) == "The round was stopped before its end. In the next one the guide goes on."
    assert note(News("contract", {}), view, ui, NOW, "20:14").look.guide


def test_dots_are_told_of_only_where_there_are_some() -> None:
    for hand, has_dots in (("9c 4h", True), ("9c Kh", False)):
        view, ui = at_turn(f"stock 3c\npile 8c\nhand Ana {hand}\nhand Bogdan Qc\nturn Ana\n")
        assert step_of(view, ui) == "turn"
        assert ("Dots can't be played" in guide_text(view, ui)) is has_dots
        assert (" . " in shown((view, ui)).splitlines()[-5]) is has_dots


def test_a_host_is_told_of_the_door_and_of_bots_only_where_there_are_seats_for_them() -> None:
    view, ui = guided(scenes.lobby())
    assert guide_text(view, ui) == "Emil asks to come in: + lets in, - turns away."
    view = replace(view, door=())
    assert "press B for a bot" in guide_text(view, ui)
    for full in (replace(ui, can_seat_bots=False), replace(ui, seats=len(view.players))):
        assert guide_text(view, full) == "This is your table. Enter starts when all are here."


def test_the_way_to_switch_the_guide_off_is_the_one_it_names() -> None:
    view, ui = guided(scenes.playing())
    assert "GUIDE (E, Enter: off)" in shown((view, ui))
    ui, _ = press("e", view, ui, NOW)
    ui, command = press("enter", view, ui, NOW)
    assert command == Store(Look())
    ui, _ = press("escape", view, ui, NOW)
    assert "GUIDE" not in shown((view, ui))
    assert press("e", view, ui, NOW)[0].row == 0


def test_who_asks_for_the_guide_again_has_it_from_its_beginning() -> None:
    view, ui = scenes.playing()
    ui = replace(ui, guided=frozenset({"turn", "round"}))
    ui, _ = press("e", view, ui, NOW)
    for _ in range(2):
        ui, _ = press("up", view, ui, NOW)
    ui, _ = press("right", view, ui, NOW)
    assert ui.look.guide
    ui, _ = press("escape", view, ui, NOW)
    assert step_of(view, ui) == "turn"
    assert note(News("contract", {}), view, ui, NOW, "20:14").look.guide


@pytest.mark.parametrize("code", [f"guide_{step}" for step in sorted(STEPS | FORMS)])
def test_every_step_fits_the_smallest_screen(code: str) -> None:
    # Beside the pile at 60 columns there are 25 cells and, with three others, four rows.
    assert len(wrap(SCREEN[code].format(name="N" * NAME_CELLS), 23)) <= 4


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
def test_the_guide_is_on_the_screen_of_a_first_turn(size: tuple[int, int]) -> None:
    view, ui = guided(scenes.playing())
    text = " ".join(part.strip() for line in shown((view, ui), *size).splitlines() for part in line.split("|")[1:])
    assert "Your turn! Press a key" in text


def test_every_step_has_words() -> None:
    assert {code for code in SCREEN if code.startswith("guide_")} == {
        f"guide_{step}" for step in STEPS | FORMS
    } | {
        "guide_head",
        "guide_off",
    }

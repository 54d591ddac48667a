"""What somebody reads who sits at the screen for the first time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from client.tui.control import press
from client.tui.state import Ui
from client.view import Stage, View, make_view
from engine import game
from engine.moves import Ready
from engine.rules import RuleSet
from p2p.snapshot import Wait
from tests.client.positions import key_of, snapshot_of
from tests.client.tui import scenes
from tests.engine.helpers import record

Scene = tuple[View, Ui]


def shown(scene: Scene, width: int = 80, height: int = 24, rules: RuleSet | None = None) -> list[str]:
    return scenes.as_text(scenes.drawn(scene, width, height, rules)).splitlines()


def ready() -> Scene:
    state, _ = game.step(scenes.arranging(), Ready(0))
    return make_view(snapshot_of(state)), Ui()


def test_who_is_ready_is_offered_no_exchange() -> None:
    before, after = shown(scenes.arrange()), shown(ready())
    assert "keys exchange" in before[-1] and "Enter ready" in before[-1]
    assert "exchange" not in after[-1] and "Enter" not in after[-1]
    cards = next(number for number, line in enumerate(after) if line.startswith("   laid out"))
    assert set(after[cards + 1].split()) == {"."}


def test_p_is_offered_when_the_pile_can_be_taken() -> None:
    assert "P take pile" in shown(scenes.playing())[-1]
    assert "P take pile" in shown(scenes.playing(), 60, 16)[-1]
    assert "P take" not in shown(scenes.playing(seat=1))[-1]
    led = record("stock 4c\nhand Ana 4s 5h\nhand Bogdan Qc\nturn Ana\n")
    assert "P take" not in shown(scenes.playing(led))[-1]


@pytest.mark.parametrize(
    ("is_host", "rules", "heading"),
    [
        (True, RuleSet(), "RULES OF THE NEXT ROUND: wikipedia"),
        (True, RuleSet(jokers=2), "RULES OF THE NEXT ROUND: rules of your own"),
        (False, RuleSet(), "RULES OF THE LAST ROUND"),
    ],
)
def test_the_rules_page_says_whose_rules_they_are(is_host: bool, rules: RuleSet, heading: str) -> None:
    view, ui = scenes.over()
    lines = shown((replace(view, i_host=is_host), replace(ui, page="rules")), rules=rules)
    assert lines[1].startswith(f" {heading}")
    assert shown((scenes.playing()[0], Ui(page="rules")))[1].startswith(" RULES IN FORCE")


def test_the_list_of_choices_tells_of_exchanging() -> None:
    view, ui = scenes.arrange()
    page = " ".join(" ".join(shown((view, replace(ui, page="choices")))).split())
    assert "exchange any hand card for any card laid out" in page
    view, ui = scenes.playing()
    assert not any("exchange" in line for line in shown((view, replace(ui, page="choices"))))


def test_the_help_explains_the_short_signs() -> None:
    view, ui = scenes.playing()
    page = " ".join(" ".join(shown((view, replace(ui, page="help")), 120, 60)).split())
    assert "3# is a hand of three, +3b are three blind cards, * is ready" in page


def test_a_page_at_its_top_says_so() -> None:
    view, ui = scenes.playing()
    assert "lines 1-" in shown((view, replace(ui, page="help")))[1]


def test_ten_players_at_the_deal_of_a_small_screen() -> None:
    view, ui = scenes.ten_players()
    view = replace(view, stage=Stage.DEALING)
    text = "\n".join(shown((view, ui), 60, 16))
    assert all(f"  {name}" in text for name in ("Ana", "Dora", "Hilde", "Ivo", "O'Neil"))


def test_labels_go_with_their_cards() -> None:
    state = record("pile 8c\nhand Ana 9c 4h\nhand Bogdan Qc Qd Qh\nturn Ana\n")
    line = next(line for line in shown(scenes.playing(state)) if "YOU Ana" in line)
    assert " up " not in line and "blind" not in line


def test_the_clock_of_my_turn_counts_up_and_says_so() -> None:
    snapshot = scenes.with_round(snapshot_of(scenes.table_state()), waits=(Wait(key_of("Ana"), "move", 51.0),))
    assert any("YOUR TURN, for 0:51" in line for line in shown((make_view(snapshot), Ui())))


def test_x_is_no_key_without_jokers() -> None:
    view, ui = scenes.playing()
    after, command = press("x", view, ui, 9.0)
    assert command is None
    assert after.message == "x does nothing here. ? shows the keys."

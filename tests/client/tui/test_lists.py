"""Lists with a chosen line: whose talk is hidden, the options of the rules, long lists on small screens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from client.tui.control import press
from client.tui.lists import MARK
from client.tui.noting import note
from client.tui.options import SHOWN, next_preset, next_value, values_of, words_for
from client.tui.orders import OtherOption
from client.tui.state import Ui
from client.view import View
from engine.errors import RuleError
from engine.rules import PRESETS, RuleSet, check_playable, preset_named, to_items, with_options
from p2p.rounds.news import News
from tests.client.positions import key_of
from tests.client.tui import scenes
from tests.engine.helpers import record

NOW = 100.0


def pressed(scene: tuple[View, Ui], *keys: str) -> tuple[Ui, object]:
    view, ui = scene
    command: object = None
    for key in keys:
        ui, command = press(key, view, ui, NOW)
    return ui, command


def shown(view: View, ui: Ui, width: int = 80, height: int = 24, rules: RuleSet | None = None) -> str:
    return scenes.as_text(scenes.drawn((view, ui), width, height, rules))


def heard(view: View, ui: Ui, name: str, words: str) -> Ui:
    return note(News("said", {"player": key_of(name), "name": name, "text": words}), view, ui, NOW, "20:15")


def test_the_talk_of_one_player_is_hidden_and_shown_again() -> None:
    view, ui = scenes.playing()
    ui = heard(view, heard(view, replace(ui, log=()), "Bogdan", "blah"), "Carmen", "hello")
    ui, _ = pressed((view, ui), "m", "down", "enter", "escape")
    assert ui.muted == {key_of("Bogdan")}
    text = shown(view, ui)
    assert "Bogdan> blah" not in text
    assert "Carmen> hello" in text
    later = heard(view, replace(ui, unread=0), "Bogdan", "more")
    assert later.unread == 0
    assert "more" not in shown(view, replace(later, page="log"))
    assert heard(view, replace(ui, unread=0), "Carmen", "more").unread == 1
    ui, _ = pressed((view, later), "m", "down", "enter", "escape")
    assert ui.muted == frozenset()
    assert "Bogdan> more" in shown(view, ui)


def test_everybody_is_hidden_at_once() -> None:
    view, ui = scenes.playing()
    ui, _ = pressed((view, ui), "m", "enter")
    assert ui.muted == {key_of(name) for name in ("Bogdan", "Carmen", "Dora")}
    assert shown(view, ui).count("< hidden >") == 4
    ui, _ = pressed((view, ui), "enter")
    assert ui.muted == frozenset()


def test_who_is_called_like_somebody_hidden_is_heard() -> None:
    # A name proves nothing: what is hidden goes by the key.
    view, ui = scenes.playing()
    ui = replace(ui, muted=frozenset({key_of("Bogdan")}), log=())
    other = News("said", {"player": bytes(32), "name": "Bogdan", "text": "another one"})
    assert "another one" in shown(view, note(other, view, ui, NOW, "20:15"))


def test_a_host_changes_one_option() -> None:
    view, ui = scenes.lobby()
    ui, command = pressed((view, ui), "r", "o", "down", "right")
    assert command == OtherOption(SHOWN[1], 1)
    assert f"{MARK}  {SHOWN[1]}" in shown(view, ui)
    ui, _ = pressed((view, ui), "escape")
    assert ui.page == "rules"


def test_guests_and_rounds_in_play_change_nothing() -> None:
    for view, ui in ((replace(scenes.lobby()[0], i_host=False), Ui()), scenes.playing()):
        after, command = pressed((view, ui), "r", "o", "right")
        assert command is None
        assert after.is_warning


def test_what_an_option_says_stands_below_the_list() -> None:
    view, ui = scenes.lobby()
    row = SHOWN.index("burn_run")
    text = shown(view, replace(ui, page="options", row=row), rules=RuleSet(burn_run=3))
    assert "* burn_run" in text
    assert "3 cards of one rank in a row on the pile burn it" in text


@pytest.mark.parametrize("option", SHOWN)
def test_every_option_can_be_gone_through_and_comes_back(option: str) -> None:
    rules = RuleSet()
    seen = [rules]
    for _ in values_of(rules, option):
        rules = next_value(rules, option, 1, 4)
        check_playable(rules, 4)
        if rules == RuleSet():
            break
        seen.append(rules)
    assert rules == RuleSet()
    assert len(seen) == len({to_items(each) for each in seen})
    assert next_value(next_value(rules, option, 1, 4), option, -1, 4) == rules


def test_own_values_are_kept_in_the_list() -> None:
    rules = with_options(RuleSet(), {"turn_limit": "777"})
    assert values_of(rules, "turn_limit")[0] == "777"
    assert dict(to_items(next_value(rules, "turn_limit", 1, 4)))["turn_limit"] == "200"


def test_presets_follow_each_other() -> None:
    rules = RuleSet()
    names = []
    for _ in PRESETS:
        names.append(preset_named(rules))
        rules = next_preset(rules, 1, 4)
    assert names == list(PRESETS)
    assert rules == RuleSet()
    assert preset_named(RuleSet(jokers=2)) is None
    with pytest.raises(RuleError):
        next_preset(with_options(RuleSet(), {"packs": "1"}), 1, 99)


def test_an_option_that_changes_nothing_says_nothing() -> None:
    assert words_for(RuleSet(), "joker_power") == ""


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
def test_the_chosen_line_of_a_long_list_is_always_seen(size: tuple[int, int]) -> None:
    view, ui = scenes.lobby()
    for row in range(len(SHOWN)):
        assert f"{MARK}  {SHOWN[row]} " in shown(view, replace(ui, page="options", row=row), *size)
    body = "pile 3c\nhand Ana 4c 5c 5d 6c 6d 7c 7d 8c 8d 9c 9d Jc Jd Qc Qd Kc Kd Ac\nhand Bogdan Qh\nturn Ana\n"
    view, ui = scenes.playing(record(body))
    moves = [choice for choice in view.choices if choice.move is not None]
    assert len(moves) >= 19
    for row in range(len(moves)):
        assert MARK in shown(view, replace(ui, page="choices", row=row), *size)

"""What somebody reads who sits at the screen for the first time."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from client.texts import HOW
from client.tui.control import press
from client.tui.keys import KEYS
from client.tui.phrases import SCREEN
from client.tui.state import Ui
from client.view import Stage, View, make_view
from engine import game
from engine.moves import Ready
from engine.rules import RuleSet
from p2p.rounds.snapshot import Wait
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
    cards = next(number for number, line in enumerate(after) if line.startswith("   upcards"))
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
    assert "exchange any hand card for any upcard" in page
    view, ui = scenes.playing()
    assert not any("exchange" in line for line in shown((view, replace(ui, page="choices"))))


def test_the_help_explains_the_short_signs() -> None:
    view, ui = scenes.playing()
    page = " ".join(" ".join(shown((view, replace(ui, page="help")), 120, 60)).split())
    assert "3# is a hand of three, +3# are three downcards, * is ready" in page


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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"accepted": 1}, "answers 1 of 3"),
        ({"shuffled": 2}, "shuffle 2 of 3"),
        ({"shuffled": 3, "proven": 1}, "proofs 1 of 3"),
        ({"shuffled": 3, "proven": 3, "agreed": 2}, "agreed 2 of 3"),
        ({"shuffled": 3, "proven": 3, "agreed": 3}, "cards are opened"),
    ],
)
def test_the_title_says_how_far_the_deal_is(changes: dict[str, int], words: str) -> None:
    view, ui = scenes.dealing()
    assert view.deal is not None
    deal = replace(view.deal, **({"players": 3, "accepted": 3} | changes))
    assert words in shown((replace(view, deal=deal), ui))[0]


@pytest.mark.parametrize(("grace", "words"), [(90, "LOST 1:12  waits 0:18"), (60, "LOST 1:12"), (0, "LOST 1:12")])
@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
def test_a_lost_link_says_how_long_it_is_waited_for(grace: int, words: str, size: tuple[int, int]) -> None:
    view, ui = scenes.lost_link()
    waits = tuple(replace(wait, patience_s=grace) for wait in view.waits)
    text = "\n".join(shown((replace(view, waits=waits), ui), *size))
    assert words in text
    assert ("waits" in text) is ("waits" in words)


def test_a_small_lobby_shows_the_rules_and_the_newest_talk() -> None:
    view, ui = scenes.lobby()
    view = replace(view, players=view.players[:2], door=(), i_host=False)
    text = "\n".join(shown((view, ui), 60, 16))
    assert " RULES " in text
    assert ui.log[-1].text in text


def test_a_guest_is_told_no_rules_that_nobody_has_offered() -> None:
    view, ui = scenes.lobby()
    guest = replace(view, i_host=False, rules=None)
    assert any("told when the host offers" in line for line in shown((guest, ui)))
    page = shown((guest, replace(ui, page="rules")))
    assert page[1].startswith(" THE USUAL RULES")
    assert "told when a round is offered" in page[3]


def test_unusual_rules_are_named_while_the_cards_are_dealt() -> None:
    view, ui = scenes.dealing()
    assert not any("RULES" in line for line in shown((view, ui)))
    lines = shown((replace(view, rules=RuleSet(burn_run=3)), ui))
    assert any("burn_run 3" in line for line in lines)


def test_only_blind_cards_that_are_there_are_offered() -> None:
    assert any("choose one with 1 3, then Enter" in line for line in shown(scenes.blind()))
    view, ui = scenes.blind()
    assert press("7", view, ui, 9.0)[0].message.endswith("in slot 7.")
    assert press("enter", view, ui, 9.0)[0].message == "Choose a downcard first: 1 3."


def test_who_plays_against_bots_alone_has_nobody_to_read_the_words_to() -> None:
    view, ui = scenes.dealing()
    assert any("Read the table words aloud" in line for line in shown((view, ui)))
    bots = tuple(replace(player, is_bot=not player.is_me) for player in view.players)
    alone = shown((replace(view, players=bots), ui))
    assert not any("aloud" in line for line in alone)
    assert any(line == "  words lemon-raven-bus" for line in alone)


def test_help_begins_with_what_matters_here() -> None:
    view, ui = scenes.playing()
    lines = shown((view, replace(ui, page="help")))
    now = [line.split()[0] for line in lines[lines.index("  NOW") + 1 : lines.index("  BESIDES") - 1]]
    assert now == ["2-9", "Enter", "P", "Esc", "U", "R", "C", "Ctrl-C"]


def test_help_puts_first_what_the_table_asks() -> None:
    view, ui = scenes.lost_link()
    view = replace(view, door=scenes.lobby()[0].door)
    for changes, keys in (({}, {"G", "+", "-"}), ({"overdue": False, "door": ()}, set())):
        lines = shown((replace(view, **changes), replace(ui, page="help")), 80, 60)  # type: ignore[arg-type]
        now = {line.split()[0] for line in lines[lines.index("  NOW") + 1 : lines.index("  BESIDES") - 1]}
        assert now & {"G", "+", "-"} == keys


def test_help_leaves_nothing_out_on_a_small_screen() -> None:
    view, ui = scenes.playing()
    words = " ".join(" ".join(shown((view, replace(ui, page="help")), 60, 60)).split())
    assert "leave the table; in a round also: stop, and keep the seat" in words


@pytest.mark.parametrize("is_host", [True, False])
def test_that_rules_can_be_changed_is_said_to_whom_it_is_up_to(is_host: bool) -> None:
    for view, ui in (scenes.lobby(), scenes.over()):
        scene = replace(view, i_host=is_host), ui
        assert ("R change rules" in shown(scene)[-1]) is is_host
        page = "\n".join(shown((scene[0], replace(ui, page="help"))))
        assert ("and how to take others" in page) is is_host
    assert "change" not in shown(scenes.playing())[-1]


def test_choosing_a_player_shows_on_the_result_too() -> None:
    view, ui = scenes.over()
    names = []
    for _ in range(2):
        ui, _ = press("down", view, ui, 9.0)
        names.append(ui.message)
    assert names == ["Carmen is chosen: D sends them away.", "Bogdan is chosen: D sends them away."]
    ui, _ = press("d", view, ui, 9.0)
    assert "Send Bogdan away" in "\n".join(shown((view, ui)))
    alone = replace(view, players=tuple(player for player in view.players if player.is_me))
    assert press("down", alone, ui, 9.0)[1] is None


@pytest.mark.parametrize("width", [60, 80])
def test_my_last_upcards_and_downcards_are_called_so(width: int) -> None:
    ups = scenes.playing(record("pile 8c\nup Ana 9c Kh\ndown Ana 3c 4c -\nhand Bogdan Qc\nturn Ana\n"))
    assert any("YOU Ana" in line and "your upcards:" in line for line in shown(ups, width))
    assert any("YOU Ana" in line and "your downcards:" in line for line in shown(scenes.blind(), width))
    assert not any("your upcards" in line for line in shown(scenes.playing(), width))


def test_one_word_for_a_thing() -> None:
    """The screen calls cards what the rules call them: upcards and downcards."""
    old = re.compile(r"\bblind\b|(?<!You )(?<!to )\blaid out\b", re.IGNORECASE)
    assert not [code for code, words in SCREEN.items() if old.search(words)]
    assert not [code for code, words in HOW.items() if old.search(words)]
    assert not [key.long for key in KEYS if old.search(key.long)]

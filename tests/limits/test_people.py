"""Limits of what is read from a person's files and shown on a screen, at each and one past it."""

from __future__ import annotations

import asyncio
import io
import logging
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from client import checkup, clocks, history, settings
from client.cards import Style
from client.cli import cli
from client.commands import common, logs, record, saved, tables
from client.commands.history import MAX_PAIRS, in_words
from client.datadir import DataDir
from client.history import Pair, pairs
from client.lines import show
from client.lines.interpret import MAX_BOTS, MAX_LINE_CHARACTERS, interpret
from client.lines.source import MAX_PENDING_LINES, StreamLines
from client.orders import Problem
from client.problems import UsageProblem
from client.tui import cells, find, keys, lobby, noting, opponents, pages, probe, side, talking
from client.tui.find import Finding, press_find
from client.tui.state import Look
from client.view import Choice
from engine import rules
from engine.moves import PickUp
from p2p.network import addresses, frames
from p2p.node.store import Store
from p2p.rounds import session
from tests.client.test_history import EVENING
from tests.client.tui import scenes
from tests.client.tui.scenes import as_text, drawn
from tests.limits.source import ROOT

STYLE = Style(ascii=True)


# -- files


def padded(text: str, most: int) -> bytes:
    """``text`` with a comment that makes it exactly ``most`` bytes long."""
    return (text + "#" * (most - len(text) - 1) + "\n").encode()


def test_a_file_of_rules_or_settings_at_its_limit_is_read_and_one_past_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_bytes(padded("ceiling = [7]\n", common.MAX_RULES_BYTES))
    assert common.read_rules(str(path), ()).ceiling
    path.write_bytes(padded("ceiling = [7]\n", common.MAX_RULES_BYTES + 1))
    with pytest.raises(UsageProblem) as problem:
        common.read_rules(str(path), ())
    assert problem.value.code == "file_too_big"
    path.write_bytes(padded('name = "Ana"\n', settings.MAX_SETTINGS_BYTES))
    assert settings.load(path).name == "Ana"
    path.write_bytes(padded('name = "Ana"\n', settings.MAX_SETTINGS_BYTES + 1))
    for read in (lambda: settings.load(path), lambda: settings.save_name(path, "Ana")):
        with pytest.raises(UsageProblem) as problem:
            read()
        assert problem.value.code == "file_too_big" and str(path) in str(problem.value)


def test_a_record_past_its_limit_is_not_read(tmp_path: Path) -> None:
    source = (ROOT / "tests" / "records" / "chance.shr").read_text(encoding="utf-8")
    path = tmp_path / "long.shr"
    path.write_bytes(padded(source, record.MAX_RECORD_BYTES))
    assert record._check_one(common.Options(), path) == 0
    path.write_bytes(padded(source, record.MAX_RECORD_BYTES + 1))
    assert record._check_one(common.Options(), path) == 2


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device that never ends")
def test_a_device_that_never_ends_is_no_file_of_rules() -> None:
    with pytest.raises(UsageProblem) as problem:
        common.read_rules("/dev/zero", ())
    assert problem.value.code == "file_too_big"


def test_what_is_kept_of_judged_rounds_past_its_limit_is_as_good_as_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.json"
    history._save_cache(path, {"one": EVENING[0]})
    assert history._load_cache(path) == {"one": EVENING[0]}
    monkeypatch.setattr(history, "MAX_CACHE_BYTES", path.stat().st_size)
    assert history._load_cache(path)
    monkeypatch.setattr(history, "MAX_CACHE_BYTES", path.stat().st_size - 1)
    assert history._load_cache(path) == {}
    path.write_text("[" * 100_000, encoding="utf-8")
    monkeypatch.undo()
    assert history._load_cache(path) == {}


def test_what_the_system_says_of_itself_is_short(tmp_path: Path) -> None:
    path = tmp_path / "osrelease"
    for more, is_read in ((0, True), (1, False)):
        path.write_bytes(b"x" * (checkup.MAX_SYSTEM_FILE_BYTES + more))
        assert bool(checkup._read(path)) is is_read


def test_a_log_goes_on_in_a_new_file_when_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert logs.MAX_LOG_BYTES == 1_000_000
    monkeypatch.setattr(logs, "MAX_LOG_BYTES", 2000)
    path = tmp_path / "shithead.log"
    with logs.log_to(path):
        for number in range(200):
            logging.getLogger("test").info("line %d %s", number, "x" * 50)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["shithead.log", "shithead.log.1"]
    assert all(each.stat().st_size <= logs.MAX_LOG_BYTES for each in tmp_path.iterdir())


def test_a_few_players_met_are_asked_where_they_are(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    store = Store(data.database, bytes(32))
    for number in range(saved.MAX_KNOWN_ADDRESSES + 5):
        key = number.to_bytes(32, "big")
        store.note_player(key, f"P{number}", "2026-05-12")
        store.note_address(key, "192.168.1.7", 1000 + number)
    store.close()
    assert len(saved.known_addresses(data)) == saved.MAX_KNOWN_ADDRESSES


# -- options of the command line


def test_options_have_the_limits_of_the_rules_and_the_network() -> None:
    assert (common.MIN_SEATS, common.MAX_SEATS) == (rules.MIN_PLAYERS, rules.MAX_PLAYERS)
    assert common.MAX_BOTS == MAX_BOTS == rules.MAX_PLAYERS - 1
    assert common.MAX_PORT == frames.MAX_PORT == addresses.MAX_PORT
    assert clocks.DEFAULT_GRACE_S == session.GRACE_S


@pytest.mark.parametrize(
    ("command", "option", "most"),
    [
        ("host", "--bots", common.MAX_BOTS),
        ("host", "--seats", common.MAX_SEATS),
        ("host", "--port", common.MAX_PORT),
        ("host", "--grace", clocks.MAX_LIMIT_S),
        ("host", "--turn", clocks.MAX_LIMIT_S),
        ("host", "--arrange", clocks.MAX_LIMIT_S),
        ("tables", "--wait", tables.MAX_WAIT_S),
    ],
)
def test_an_option_past_its_limit_is_refused_with_the_limit(command: str, option: str, most: float) -> None:
    refused = CliRunner().invoke(cli, [command, option, str(int(most) + 1)])
    assert refused.exit_code == 2 and option in refused.output and f" to {most:g}." in refused.output


@pytest.mark.parametrize(
    ("command", "option", "least"),
    [
        ("host", "--grace", clocks.MIN_GRACE_S),
        ("host", "--seats", common.MIN_SEATS),
        ("tables", "--wait", tables.MIN_WAIT_S),
    ],
)
def test_an_option_below_its_least_is_refused_with_it(command: str, option: str, least: float) -> None:
    refused = CliRunner().invoke(cli, [command, option, str(least / 2 if least < 1 else int(least) - 1)])
    assert refused.exit_code == 2 and option in refused.output and f" from {least:g} to" in refused.output


# -- lines


def test_of_a_typed_line_only_the_beginning_is_looked_at() -> None:
    view, _ = scenes.playing()
    most = MAX_LINE_CHARACTERS
    short = interpret(view, "say " + "x" * (most - 4))
    long = interpret(view, "say " + "x" * (most - 4) + "y")
    assert short == long != interpret(view, "say " + "x" * (most - 5))


def test_so_many_bots_can_be_asked_for_in_lines_and_no_more() -> None:
    view, _ = scenes.lobby()
    assert not isinstance(interpret(view, f"bots {MAX_BOTS}"), Problem)
    assert isinstance(interpret(view, f"bots {MAX_BOTS + 1}"), Problem)


async def test_lines_are_read_ahead_of_the_game_only_so_far() -> None:
    read = threading.Semaphore(0)

    class Counting(io.StringIO):
        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            read.release()
            return super().readline(-1 if size is None else size)

    source = StreamLines(Counting("".join(f"{number}\n" for number in range(3 * MAX_PENDING_LINES))))
    assert await source.read() == "0"
    # One has been taken, so many more are waiting, and one is in the reader's hand.
    for _ in range(MAX_PENDING_LINES + 2):
        assert await asyncio.to_thread(read.acquire, timeout=60)
    assert source._thread is not None
    assert not read.acquire(blocking=False)
    assert source._lines.qsize() <= MAX_PENDING_LINES
    assert [await source.read() for _ in range(2 * MAX_PENDING_LINES)][-1] == str(2 * MAX_PENDING_LINES)
    source.close()
    await asyncio.to_thread(source._thread.join, 60)


def test_of_very_many_choices_the_first_are_shown() -> None:
    view, _ = scenes.playing()
    for count in (show.MAX_CHOICES_SHOWN + 1, show.MAX_CHOICES_SHOWN + 2):
        many = tuple(Choice(number + 1, "pick_up", PickUp(0)) for number in range(count))
        (line,) = show.choice_lines(replace(view, choices=many), STYLE)
        shown = line.count("#")
        assert shown == (count if count <= show.MAX_CHOICES_SHOWN + 1 else show.MAX_CHOICES_SHOWN)
        assert f"#{shown + 1} " not in line


def test_of_a_big_pile_the_top_is_shown() -> None:
    view, _ = scenes.playing()
    assert view.pile is not None
    for count in (show.MAX_PILE_SHOWN_CARDS, show.MAX_PILE_SHOWN_CARDS + 1):
        pile = replace(view.pile, cards=tuple(["3c"] * (count - 1) + ["4d"]), run=1)
        said = show._on_pile(pile)[0].values
        assert said["cards"] == pile.cards[-show.MAX_PILE_SHOWN_CARDS :]
        assert ("shown" in said) is (count > show.MAX_PILE_SHOWN_CARDS)


def test_pairs_that_met_most_often_are_listed() -> None:
    names = [f"P{number}" for number in range(MAX_PAIRS + 3)]
    many = tuple(Pair("Ana", name, 50 - number, 1, 1) for number, name in enumerate(names))
    lines = in_words(EVENING, history.standings(EVENING), many)
    assert [name for name in names if any(f" {name} " in line for line in lines)] == names[:MAX_PAIRS]
    assert len(pairs(EVENING)) <= MAX_PAIRS


# -- the full screen


def test_marks_on_a_letter_are_few() -> None:
    marks = "\u0301\u0302\u0303\u0304"
    assert cells.safe("x" + marks[: cells.MAX_MARKS]) == "x" + marks[: cells.MAX_MARKS]
    assert cells.safe("x" + marks[: cells.MAX_MARKS + 1]) == "x" + marks[: cells.MAX_MARKS]


def test_what_is_typed_on_the_screen_ends_somewhere() -> None:
    most = find.MAX_TYPED_CHARACTERS
    full, _ = press_find("x", Finding(typed="y" * (most - 1)), Look())
    assert full.typed == "y" * (most - 1) + "x"
    assert press_find("z", full, Look())[0].typed == full.typed
    most = talking.MAX_TYPED_CHARACTERS
    assert talking.append("y" * (most - 1), "xz") == "y" * (most - 1) + "x"


def test_of_the_log_the_newest_lines_are_kept() -> None:
    view, ui = scenes.playing()
    for number in range(noting.MAX_LOG_LINES + 1):
        ui = noting.logged(ui, view, f"line {number}", "20:14")
    assert len(ui.log) == noting.MAX_LOG_LINES
    assert "line 0" not in [each.text for each in ui.log]
    assert ui.log[-1].text == f"line {noting.MAX_LOG_LINES}"


def test_the_log_has_a_heading_where_there_is_room_for_two_lines() -> None:
    _, ui = scenes.playing()
    with_head = as_text(side.log_rows(ui, 60, side.MIN_LOG_ROWS))
    without = as_text(side.log_rows(ui, 60, side.MIN_LOG_ROWS - 1))
    assert "LOG" in with_head.upper().split("\n")[0]
    assert "LOG" not in without.upper().split("\n")[0]


def test_opponents_stand_in_columns_so_long_as_there_are_few() -> None:
    view, ui = scenes.ten_players()
    heights = {}
    for count in (opponents.MAX_COLUMNS, opponents.MAX_COLUMNS + 1):
        few = replace(view, players=view.players[: count + 1])
        heights[count] = opponents.opponent_rows(few, ui, 120, opponents.COLUMNS_HEIGHT)
    assert len(heights[opponents.MAX_COLUMNS]) >= 3
    assert len(heights[opponents.MAX_COLUMNS + 1]) == -(-(opponents.MAX_COLUMNS + 1) // 2)


def test_beside_the_result_stand_the_last_rounds_and_on_a_page_more() -> None:
    view, ui = scenes.over()
    score = tuple(replace(view.score[0], number=number + 1) for number in range(pages.MAX_EVENING_ROUNDS + 1))
    view = replace(view, score=score)
    newest = score[-1].number
    beside = as_text(lobby.over_rows(view, ui, 160, 40))
    assert f"R{newest - lobby.MAX_SCORE_ROUNDS + 1} " in beside
    assert f"R{newest - lobby.MAX_SCORE_ROUNDS} " not in beside
    page = as_text(drawn((view, replace(ui, page="evening")), 120, 40))
    assert f"R{newest - pages.MAX_EVENING_ROUNDS + 1} " in page
    assert f"R{newest - pages.MAX_EVENING_ROUNDS} " not in page


def test_a_smaller_terminal_is_told_how_large_it_has_to_be() -> None:
    scene = scenes.playing()
    said = (str(keys.MIN_WIDTH), str(keys.MIN_HEIGHT))
    enough = as_text(drawn(scene, keys.MIN_WIDTH, keys.MIN_HEIGHT))
    assert not all(part in enough for part in said)
    for width, height in ((keys.MIN_WIDTH - 1, keys.MIN_HEIGHT), (keys.MIN_WIDTH, keys.MIN_HEIGHT - 1)):
        small = as_text(drawn(scene, width, height))
        assert all(part in small for part in said)


if sys.platform != "win32":  # consoles of Windows are not asked

    def test_a_terminal_that_never_stops_answering_is_not_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
        import os
        import select

        asked: list[int] = []

        def read(descriptor: int, count: int) -> bytes:
            asked.append(count)
            return b"x" * 7

        monkeypatch.setattr(select, "select", lambda *values: ([0], [], []))
        monkeypatch.setattr(os, "read", read)
        monkeypatch.setattr(probe, "TIMEOUT_S", 1000.0)
        assert probe._answer(0) is None
        assert len(asked) == -(-probe.MAX_ANSWER_BYTES // 7)

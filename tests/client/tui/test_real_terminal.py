"""The program on real terminals: that it opens, plays, ends, and leaves the terminal as it was."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

if sys.platform == "win32":  # pragma: no cover - there are no pseudo-terminals
    pytest.skip("needs pseudo-terminals", allow_module_level=True)

from tests.client.tui.ptys import RealTerminal, real_terminal

TOO_SOON = "only just come"
MOVES_BY_HAND = 20
"""Of each person: whoever plays the first key that does anything may pick up piles for hundreds of turns."""

READY = ("You are ready", "found out", "YOUR TURN", "to move")

PLAY = ("play", "--name", "Ana", "--bots", "1")


def test_a_person_plays_leaves_and_has_the_terminal_back(tmp_path: Path) -> None:
    with real_terminal(tmp_path / "a", *PLAY) as ana:
        ana.shows("Exchange:")
        ana.press("?")
        ana.shows("HELP")
        ana.press("esc")
        ana.shows("Exchange:")
        ana.resize(60, 16)
        ana.shows("Exchange:")
        be_ready(ana)
        ana.press("ctrl-c")
        ana.shows("Leave?")
        ana.press("y")
        assert ana.end() == 0
        assert ana.is_restored()
        assert "You have left the table." in ana.text


def test_who_stops_with_k_is_told_how_to_come_back_and_can(tmp_path: Path) -> None:
    with real_terminal(tmp_path / "a", *PLAY) as ana:
        ana.shows("Exchange:")
        ana.press("ctrl-c")
        ana.shows("K: stop now")
        ana.press("k")
        assert ana.end() == 0
        assert ana.is_restored()
        assert "Your seat is kept: shithead play plays on." in ana.text
    with real_terminal(tmp_path / "a", *PLAY) as ana:
        ana.shows("Return to it?")
        ana.press("enter")
        ana.shows("round 1 goes on", "Exchange:")
        ana.press("ctrl-c")
        ana.shows("Leave?")
        ana.press("y")
        assert ana.end() == 0


def be_ready(person: RealTerminal) -> None:
    """Presses Enter; again where it came too soon after the cards."""
    person.press("enter")
    while person.shows(TOO_SOON, *READY) == TOO_SOON:
        person.press("esc")
        person.until(lambda: TOO_SOON not in person.text)
        person.press("enter")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals) -> None:
    with real_terminal(tmp_path / "a", *PLAY) as ana:
        ana.shows("Exchange:")
        ana.process.send_signal(number)
        assert ana.end() == 130
        assert ana.is_restored()


SEARCH = ("join", "--name", "Bob", "--interface", "127.0.0.1")


@pytest.mark.parametrize("signals", [1, 2])
def test_the_list_of_tables_gives_the_terminal_back_too(tmp_path: Path, signals: int) -> None:
    with real_terminal(tmp_path / "a", *SEARCH) as bob:
        bob.shows("tables on this network")
        for _ in range(signals):
            bob.process.send_signal(signal.SIGTERM)
        assert bob.end() == 130
        assert bob.is_restored()


def test_two_signals_end_it_on_the_spot_and_the_terminal_is_restored_all_the_same(tmp_path: Path) -> None:
    with real_terminal(tmp_path / "a", *PLAY) as ana:
        ana.shows("Exchange:")
        for _ in range(2):
            ana.process.send_signal(signal.SIGTERM)
        assert ana.end() == 130
        assert ana.is_restored()


CRASHES = """
import sys
import client.tui.client as client
from client.cli import main

draw = client.draw

def broken(view, ui, *size):
    if ui.page:
        raise KeyError(tuple(card.text for card in view.own), view.me, "no pen")
    return draw(view, ui, *size)

client.draw = broken
sys.exit(main())
"""


def test_a_crash_leaves_the_terminal_as_it_was_and_a_report_without_secrets(tmp_path: Path) -> None:
    with real_terminal(tmp_path / "a", *PLAY, program=CRASHES) as ana:
        ana.shows("Exchange:")
        ana.press("?")
        assert ana.end() == 1
        assert ana.is_restored()
        assert "shithead has a bug, and stopped (KeyError)" in ana.text.replace("\n", " ")
        assert "Traceback" not in ana.text
        report = (tmp_path / "a" / "shithead.log").read_text()
        words = report[report.index("CRITICAL shithead stopped") :]
        assert "no pen" in words
        assert "in broken" in words
        # The error's words held the cards and the key of a person: nothing is left of them.
        assert "(('...', '...'" in words
        assert "b'" not in words


def test_a_terminal_that_can_do_nothing_gets_lines_and_a_word(tmp_path: Path) -> None:
    with real_terminal(tmp_path / "a", *PLAY, TERM="dumb") as ana:
        ana.shows("can't show a full screen")
        ana.shows("Arrange:")
        assert b"\x1b[?1049h" not in ana.raw
        ana.press(*"quit\r")
        ana.shows("Leave?")
        ana.press(*"yes\r")
        assert ana.end() == 0


def test_no_color_is_complete(tmp_path: Path) -> None:
    with real_terminal(tmp_path / "a", *PLAY, NO_COLOR="1") as ana:
        ana.shows("Exchange:")
        # Of the attributes only bold, italic, underline and reverse are used: 0, 1, 3, 4 and 7.
        codes = {code for part in ana.raw.split(b"\x1b[")[1:] if b"m" in part for code in _attributes(part)}
        assert codes <= {b"0", b"1", b"3", b"4", b"7", b""}
        assert b"7" in codes


def _attributes(part: bytes) -> list[bytes]:
    body = part.split(b"m")[0]
    return body.split(b";") if body.replace(b";", b"").isdigit() or not body else []


def _key(text: str) -> str:
    """The key to press: read off the screen, as a person does."""
    lines = text.splitlines()
    mine = next(number for number, line in enumerate(lines) if "> YOU" in line)
    keys = lines[mine + 2].split() if len(lines) < 22 else lines[mine + 3].split()
    usable = [key for key in keys if key not in (".", "^")]
    return usable[0].lower() if usable else "p"


@pytest.mark.slow
def test_three_peers_play_a_round_on_real_terminals(tmp_path: Path) -> None:
    host_options = ("host", "--name", "Ana", "--open", "--bots", "1", "--no-discovery", "--port", "0")
    with real_terminal(tmp_path / "a", *host_options) as ana:
        ana.shows("Robin (bot)")
        address = next(part for part in ana.text.split() if part.count(".") == 3 and ":" in part)
        with real_terminal(tmp_path / "b", "join", address, "--name", "Bob", width=60, height=16) as bob:
            bob.shows("Ana starts the round")
            ana.shows("Bob")
            ana.press("enter")
            for person in (ana, bob):
                person.shows("Exchange:")
            for person in (bob, ana):
                be_ready(person)
            _play_both(ana, bob)
            for person in (ana, bob):
                person.shows("yes, as far as can be checked")
            ana.press("v")
            ana.shows("replay of round 1")
            ana.press("end")
            ana.press("q")
            ana.shows("WAS IT FAIR")
            for person in (bob, ana):
                person.press("ctrl-c")
                person.shows("Leave")
                person.press("y")
                assert person.end() == 0
                assert person.is_restored()


def _play_both(ana: RealTerminal, bob: RealTerminal) -> None:
    import select
    import time

    from tests.client.tui.ptys import PATIENCE_S

    done: dict[int, str] = {}
    moves = Counter[int]()
    while not all("WAS IT FAIR" in person.text for person in (ana, bob)):
        for person in (ana, bob):
            text = person.text
            if "YOUR TURN" in text and done.get(id(person)) != text and moves[id(person)] <= MOVES_BY_HAND:
                done[id(person)] = text
                moves[id(person)] += 1
                if moves[id(person)] > MOVES_BY_HAND:
                    # The rest is played by the own program.
                    person.press("esc", "z")
                    continue
                # Enter that came too soon is pressed again, from a clean screen.
                person.press(*(("esc",) if TOO_SOON in text else (_key(text), "enter")))
        ready, _, _ = select.select([ana.master, bob.master], [], [], PATIENCE_S)
        assert ready, f"nothing happens any more:\n{ana.text}\n{bob.text}"
        for person in (ana, bob):
            if person.master in ready:
                person.read(time.monotonic() + 1.0)

"""How wide this terminal shows a card suit: asked of it, and what is done where it does not say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from client.tui.probe import read_report

if sys.platform == "win32":  # pragma: no cover - there are no pseudo-terminals
    pytest.skip("needs pseudo-terminals", allow_module_level=True)

from tests.client.tui.ptys import real_terminal

PLAY = ("play", "--name", "Ana", "--bots", "1")


@pytest.mark.parametrize(
    ("answer", "column"),
    [
        (b"\x1b[1;2R", 2),
        (b"typed\x1b[24;3R", 3),
        (b"\x1b[1;2", None),
        (b"", None),
        (b"\x1b[A\x1b[B", None),
        (b"\x1b[99999;2R", None),
    ],
)
def test_reports_are_read(answer: bytes, column: int | None) -> None:
    assert read_report(answer) == column


@pytest.mark.parametrize(
    ("answer", "shown", "not_shown"),
    [("\x1b[1;2R", "♠♥♦♣", ""), ("\x1b[1;3R", "", "♠♥♦♣"), ("", "♠♥♦♣", "")],
    ids=["one cell", "two cells", "no answer"],
)
def test_suits_are_letters_where_they_are_two_cells_wide(
    tmp_path: Path, answer: str, shown: str, not_shown: str
) -> None:
    with real_terminal(tmp_path / "a", *PLAY) as ana:
        # The report of the suit is the first thing that is asked; nothing else is answered.
        ana.answer = lambda data: answer
        ana.shows("Exchange:")
        cards = next(line for line in ana.text.splitlines() if line.startswith("   hand "))
        assert any(suit in cards for suit in shown) is bool(shown)
        assert not any(suit in cards for suit in not_shown)
        assert b"\x1b[6n" in ana.raw


def test_where_the_terminal_says_nothing_the_language_is_a_hint(tmp_path: Path) -> None:
    with real_terminal(tmp_path / "a", *PLAY, LC_ALL="ja_JP.UTF-8") as ana:
        ana.answer = lambda data: ""
        ana.shows("Exchange:")
        assert not any(suit in ana.text for suit in "♠♥♦♣")


def test_letters_that_are_wanted_need_no_question(tmp_path: Path) -> None:
    with real_terminal(tmp_path / "a", *PLAY, "--ascii") as ana:
        ana.shows("Exchange:")
        before = ana.raw[: ana.raw.index(b"\x1b[?1049h")]
        assert b"\x1b[6n" not in before

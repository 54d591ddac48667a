"""Names and talk of others on a real screen: what arrives in the terminal is what was drawn, cell by cell.

``test_properties`` holds that rows have their width; here the toolkit has written them and a terminal read them.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from client.tui.cells import Row, cells, safe
from client.tui.noting import note
from client.tui.render import draw
from client.tui.state import Ui
from client.tui.terminal import Terminal
from client.view import View
from engine.rules import RuleSet
from p2p.rounds.news import News
from tests.client.tui import scenes
from tests.client.tui.desk import LIMIT_S, desk
from tests.client.tui.test_properties import HOSTILE, renamed

WIDTH, HEIGHT = 80, 24

NASTY = (
    *HOSTILE,
    "\x1b[2J\x1b[H wiped",
    "\x1b]0;title\x07",
    "\x9b31m eight bits",
    "\r\n\r\nanother line",
    "\x1b[5;5Hmoved",
    "\x0e shifted \x0f",
    "a\u0300\u0301\u0302\u0303",
    "\u2028line\u2029paragraph",
    "x" * 500,
    "宽" * 100,
)

CONTROLS = re.compile(r"\x1b\[[?>]?[0-9;]*[A-Za-z]|\x1b[=>]|\x1b\]\d;[^\x07\x1b]*\x07|[\r\n\x08]")
"""What the toolkit writes between texts: sequences of ECMA-48, and moves of the cursor."""


class Shown:
    """One screen that never changes."""

    theme, has_mouse, title = "mono", False, ""

    def __init__(self, view: View, ui: Ui) -> None:
        self._scene = (view, ui)

    def rows(self, width: int, height: int) -> list[Row]:
        return draw(*self._scene, RuleSet(), 5, width, height)

    def key(self, key: str) -> None:
        raise AssertionError

    def paste(self, pasted: str) -> None:
        raise AssertionError


async def written(view: View, ui: Ui) -> tuple[list[str], list[str], str]:
    """The rows that were drawn, what a terminal shows of them, and all that was written to it."""
    shown = Shown(view, ui)
    async with desk(WIDTH, HEIGHT) as (at, ends):
        terminal = Terminal(shown, is_mono=True, **ends)
        running = asyncio.create_task(terminal.run())
        at.task = running
        await at.until(lambda: terminal.app.render_counter > 0, "a screen")
        rows = ["".join(part.text for part in each) for each in shown.rows(WIDTH, HEIGHT)]
        display, raw = list(at.tube.screen.display), at.tube.raw
        terminal.stop()
        async with asyncio.timeout(LIMIT_S):
            await running
    return rows, display, raw


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("scene", ["playing", "lobby"])
async def test_nothing_of_others_leaves_its_cells(scene: str, text: str) -> None:
    view, ui = getattr(scenes, scene)()
    said = News("said", {"player": view.players[1].key, "name": text, "text": text})
    view = renamed(view, (text, text, text, text))
    ui = note(said, view, replace(ui, log=()), 0.0, "20:14")
    rows, display, raw = await written(view, ui)
    assert [cells(row) for row in rows] == [WIDTH] * HEIGHT
    for row, line in zip(rows, display, strict=True):
        # A terminal of pyte may put marks and their letter together in another way, but in no other cells.
        assert plain(line) == plain(row)
    left = CONTROLS.sub("", raw)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", left), repr(left)
    # Without colours nobody's words bring one: the attributes written are bold, italic, underlined and reverse.
    attributes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", raw) for code in found.split(";")}
    assert attributes <= {"", "0", "1", "3", "4", "7"}


def plain(line: str) -> str:
    """What stands in the cells, without marks upon it and without blanks at the end."""
    return "".join(each for each in safe(line) if cells(each)).rstrip()


class Listening(Shown):
    """A screen that keeps what is pressed."""

    has_mouse = True

    def __init__(self, view: View, ui: Ui) -> None:
        super().__init__(view, ui)
        self.keys: list[str] = []
        self.heard = asyncio.Event()

    def key(self, key: str) -> None:
        self.keys.append(key)
        self.heard.set()


@pytest.mark.parametrize(
    "report",
    [
        "\x1b[M" + chr(38) + "!!",
        "\x1b[M" + "\xff" * 3,
        "\x1b[<38;1;1M",
        "\x1b[<99999999999;99999999999;99999999999M",
        "\x1b[<0;" + "9" * 5000 + ";1M",
        "\x1b[96;-1;-1M",
        "\x1b[<0;0;0m",
    ],
)
async def test_a_report_of_a_mouse_that_there_cannot_be_takes_no_key_with_it(report: str) -> None:
    loop, failures = asyncio.get_running_loop(), list[object]()
    loop.set_exception_handler(lambda loop, context: failures.append(context))
    shown = Listening(*scenes.playing())
    async with desk(WIDTH, HEIGHT) as (at, ends):
        terminal = Terminal(shown, is_mono=True, **ends)
        running = asyncio.create_task(terminal.run())
        at.task = running
        await at.until(lambda: terminal.app.render_counter > 0, "a screen")
        at.press(report + "k")
        async with asyncio.timeout(LIMIT_S):
            while "k" not in shown.keys:
                await shown.heard.wait()
                shown.heard.clear()
        terminal.stop()
        async with asyncio.timeout(LIMIT_S):
            await running
    assert failures == []

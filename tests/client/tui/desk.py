"""A terminal in memory: keys and clicks go in, whole screens come out (pyte)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pyte
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from client.tui.client import ScreenClient

LIMIT_S = 120.0
"""No test waits as long; it ends one that would never end."""

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "left": "\x1b[D",
    "right": "\x1b[C",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "ctrl-c": "\x03",
    "backspace": "\x7f",
    "pagedown": "\x1b[6~",
}


class Tube:
    """Where the toolkit writes: straight onto a screen of pyte; waiters look after each write."""

    encoding = "utf-8"

    def __init__(self, width: int, height: int) -> None:
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.Stream(self.screen)
        self.raw = ""
        self.waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def write(self, text: str) -> int:
        self.raw += text
        self.stream.feed(text)
        return len(text)

    def flush(self) -> None:
        for holds, future in self.waiting:
            if not future.done() and holds():
                future.set_result(None)

    def fileno(self) -> int:
        raise OSError("a screen in memory has no file")

    def isatty(self) -> bool:
        return True


class Desk:
    """A client on a terminal in memory."""

    def __init__(self, tube: Tube, pipe: Any, size: list[int]) -> None:
        self.tube = tube
        self.pipe = pipe
        self.size = size
        self.client: ScreenClient | None = None
        self.task: asyncio.Task[Any] | None = None
        """What runs the client: when it ends, nothing is waited for any more."""

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(line.rstrip() for line in self.tube.screen.display)

    def press(self, *keys: str) -> None:
        """Presses keys: characters, or names of `KEYS`."""
        for key in keys:
            self.pipe.send_text(KEYS.get(key, key))

    def click(self, part: str) -> None:
        """Clicks on the first cell of some text."""
        for line, shown in enumerate(self.tube.screen.display):
            column = shown.find(part)
            if column >= 0:
                for end in "Mm":
                    self.pipe.send_text(f"\x1b[<0;{column + 1};{line + 1}{end}")
                return
        raise AssertionError(f"{part!r} is not on the screen:\n{self.text}")

    async def until(self, holds: Callable[[], bool], what: str = "") -> None:
        """Waits until something is so; looked at whenever the screen has been written."""
        if holds():
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.tube.waiting.append((holds, future))
        waited: set[asyncio.Future[Any]] = {future} if self.task is None else {future, self.task}
        await asyncio.wait(waited, timeout=LIMIT_S, return_when=asyncio.FIRST_COMPLETED)
        if not holds():
            if self.task is not None and self.task.done():
                self.task.result()
            raise AssertionError(f"{what or 'it'} does not come about:\n{self.text}")

    async def shows(self, part: str) -> None:
        """Waits until some text is on the screen."""
        await self.until(lambda: part in self.text, repr(part))

    async def lacks(self, part: str) -> None:
        """Waits until some text is on the screen no more."""
        await self.until(lambda: part not in self.text, f"the end of {part!r}")

    async def quiet(self) -> None:
        """Waits until everything that was asked for has been drawn."""
        assert self.client is not None
        app = self.client.terminal.app
        for _ in range(5):
            await asyncio.sleep(0)
        while app.invalidated:
            drawn = asyncio.Event()

            def done(app: object, drawn: asyncio.Event = drawn) -> None:
                drawn.set()

            app.after_render += done
            async with asyncio.timeout(LIMIT_S):
                await drawn.wait()
            app.after_render -= done

    def resize(self, width: int, height: int) -> None:
        """Another size from now on."""
        assert self.client is not None
        self.size[:] = [width, height]
        self.tube.screen.resize(height, width)
        self.client.terminal.app._on_resize()


@asynccontextmanager
async def desk(width: int = 80, height: int = 24) -> AsyncIterator[tuple[Desk, dict[str, Any]]]:
    """A desk, and the ``input`` and ``output`` to give to a client."""
    tube = Tube(width, height)
    size = [width, height]
    output = Vt100_Output(tube, lambda: Size(rows=size[1], columns=size[0]), term="xterm", enable_cpr=False)
    with create_pipe_input() as pipe:
        yield Desk(tube, pipe, size), {"input": pipe, "output": output}

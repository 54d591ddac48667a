"""Where typed lines come from.

Standard input is read by a daemon thread: an event loop's pipe reader fails on files and hangs on /dev/null,
and a read in a thread pool would keep the program from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import threading
from typing import Final, Protocol, TextIO

from client.lines.interpret import MAX_LINE_CHARACTERS

MAX_PENDING_LINES: Final = 64
"""Lines read ahead of the game. A pipe may hold any number; the rest waits in it."""


class LineSource(Protocol):
    """Gives lines one after the other."""

    async def read(self) -> str | None:
        """The next line without its end; None at the end of input, and ever after."""
        ...

    def close(self) -> None:
        """Reads no more."""
        ...


class StreamLines:
    """The lines of a text stream such as ``sys.stdin``, read by a daemon thread from the first ``read`` on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(MAX_PENDING_LINES)
        self._closed = threading.Event()
        self._ended = False
        self._thread: threading.Thread | None = None

    async def read(self) -> str | None:
        """The next line; see :class:`LineSource`."""
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._run, args=(loop,), name="lines", daemon=True)
            self._thread.start()
        if self._ended:
            return None
        line = await self._lines.get()
        self._room.release()
        self._ended = line is None
        return line

    def close(self) -> None:
        """Reads no more. A read that blocks already ends with the process or with its stream."""
        self._closed.set()
        self._room.release()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        if isinstance(self._stream, io.TextIOWrapper):
            # Bytes that are not text are typing mistakes, not the end of the game.
            with contextlib.suppress(ValueError, OSError):
                self._stream.reconfigure(errors="replace")
        # RuntimeError: the loop has been closed meanwhile, nobody reads any more.
        with contextlib.suppress(RuntimeError):
            while not self._closed.is_set():
                line = self._next_line()
                self._room.acquire()
                if self._closed.is_set():
                    return
                loop.call_soon_threadsafe(self._lines.put_nowait, line)
                if line is None:
                    return

    def _next_line(self) -> str | None:
        try:
            line = self._stream.readline(MAX_LINE_CHARACTERS)
            rest = line
            while rest and not rest.endswith("\n"):
                rest = self._stream.readline(MAX_LINE_CHARACTERS)
        except (OSError, ValueError):
            return None
        return line.rstrip("\r\n") if line else None

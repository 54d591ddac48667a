"""A stream that never makes its writer wait, whatever its reader does.

A pipe that nobody reads takes 64 KiB and then stops whoever writes: with its event loop the whole program would
stand still, and with it a table of others.
"""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import sys
import threading
from collections.abc import Iterator
from typing import Final, Protocol, TextIO

MAX_BACKLOG_BYTES: Final = 4 << 20
"""Events of some two hundred rounds. A reader that is farther behind reads no more."""

DRAIN_S: Final = 2.0
"""How long what still waits at the end may take: a reader that reads at all has it in milliseconds."""


class Writable(Protocol):
    """What a writer of lines needs of a text stream."""

    @property
    def encoding(self) -> str:
        """The name of its encoding."""
        ...

    def write(self, text: str, /) -> int:
        """Writes text; raises ``OSError``."""
        ...

    def flush(self) -> None:
        """Sends on what was written; raises ``OSError``."""
        ...


class Backlog:
    """Writes to the file behind ``stream`` in a thread of its own; what it has not taken yet waits in memory.

    An error of the file is raised by the next `write` and ever after: ``ENOBUFS`` where more waits than
    `MAX_BACKLOG_BYTES`. The stream itself is neither written to nor closed: Python could not end while a thread
    holds its lock.
    """

    def __init__(self, stream: TextIO) -> None:
        """Raises ``OSError`` where no file of the system is behind ``stream``."""
        self._handle = stream.fileno()
        self.encoding = stream.encoding or "utf-8"
        self._errors = stream.errors or "strict"
        self._parts: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._problem: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="backlog", daemon=True)
        self._thread.start()

    def write(self, text: str, /) -> int:
        """Has ``text`` written soon. Raises ``OSError`` and, for what the encoding has not, ``ValueError``."""
        if self._problem is not None:
            raise self._problem
        data = text.encode(self.encoding, self._errors)
        with self._lock:
            if self._waiting_bytes + len(data) > MAX_BACKLOG_BYTES:
                self._problem = OSError(errno.ENOBUFS, "its reader does not keep up")
                raise self._problem
            self._waiting_bytes += len(data)
        self._parts.put(data)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back; raises what went wrong."""
        if self._problem is not None:
            raise self._problem

    def close(self) -> None:
        """Waits a moment for what is not written yet; a thread whose reader does not read stays till the end."""
        self._parts.put(None)
        self._thread.join(DRAIN_S)

    def _run(self) -> None:
        while (data := self._parts.get()) is not None:
            left = memoryview(data)
            try:
                while left and self._problem is None:
                    left = left[os.write(self._handle, left) :]
            except OSError as error:
                self._problem = error
            with self._lock:
                self._waiting_bytes -= len(data)


@contextlib.contextmanager
def unhurried(stream: TextIO) -> Iterator[Writable]:
    """A `Backlog` of ``stream``, or the stream itself where it is no file of the system or threads are out.

    So it is with a console of Windows, which takes bytes in an alphabet of its own.
    """
    if sys.platform == "win32" and stream.isatty():
        yield stream
        return
    try:
        backlog = Backlog(stream)
    except (OSError, ValueError, RuntimeError):
        yield stream
        return
    try:
        yield backlog
    finally:
        backlog.close()


__all__ = ["DRAIN_S", "MAX_BACKLOG_BYTES", "Backlog", "Writable", "unhurried"]

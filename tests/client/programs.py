"""The program as a person starts it: a process, its lines as they come, its exit code."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 120.0
"""For one line or the end of a program; only a failing test waits that long."""


class Program:
    """A running ``shithead``. ``lines``: all that it has said so far, both streams together."""

    def __init__(self, home: Path, *arguments: str, module: Sequence[str] = ("client.cli",)) -> None:
        """``module``: what Python runs, with arguments of its own before those of the program."""
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
        environment.pop("SHITHEAD_HOME", None)
        self.lines: list[str] = []
        self.code = -1
        self._queue: queue.Queue[str | None] = queue.Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", *module, "--data-dir", str(home), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            env=environment,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    def wait_for(self, part: str) -> str:
        """The next line that contains ``part``."""
        while True:
            line = self._queue.get(timeout=PATIENCE_S)
            if line is None:
                raise AssertionError(f"{part!r} was never said:\n" + "\n".join(self.lines))
            self.lines.append(line)
            if part in line:
                return line

    def type(self, line: str) -> None:
        """Types a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def end_input(self) -> None:
        """Closes standard input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal."""
        self._process.send_signal(number)

    def end(self) -> int:
        """Waits for the end; the exit code."""
        while (line := self._queue.get(timeout=PATIENCE_S)) is not None:
            self.lines.append(line)
        return self._process.wait(PATIENCE_S)

    @property
    def text(self) -> str:
        """All that it has said so far."""
        return "\n".join(self.lines)

    def kill(self) -> None:
        """Ends it whatever it does."""
        self._process.kill()
        self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


@contextmanager
def program(
    home: Path, *arguments: str, typing: bool = False, module: Sequence[str] = ("client.cli",)
) -> Iterator[Program]:
    """A program that is gone afterwards. Without ``typing`` its standard input is at its end."""
    running = Program(home, *arguments, module=module)
    try:
        if not typing:
            running.end_input()
        yield running
    finally:
        running.kill()


def run(home: Path, *arguments: str) -> Program:
    """A program that has ended; ``code`` is its exit code."""
    with program(home, *arguments) as running:
        running.code = running.end()
    assert "Traceback" not in running.text
    return running

"""The program in a real terminal of the operating system: a pseudo-terminal, read onto a screen of pyte."""

from __future__ import annotations

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

import pyte

from tests.client.tui.desk import KEYS

PATIENCE_S = 120.0
"""For one screen; only a failing test waits that long."""


class RealTerminal:
    """A program on a pseudo-terminal. ``before``: the terminal's modes when it was started; ``program``: Python to
    be run instead of the command line.
    """

    def __init__(
        self,
        home: Path,
        *arguments: str,
        width: int = 80,
        height: int = 24,
        program: str = "",
        **variables: str,
    ) -> None:
        options = ("--data-dir", str(home), *arguments)
        self.master, self.slave = pty.openpty()
        ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.answer: Callable[[str], str] = str
        """What becomes of the answers that this terminal gives when it is asked something."""
        self.screen.write_process_input = self._answered
        self.raw = b""
        unwanted = ("SHITHEAD_HOME", "LC_ALL", "LC_CTYPE")
        environment = {name: value for name, value in os.environ.items() if name not in unwanted}
        environment |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONUTF8": "1", **variables}
        self.process = subprocess.Popen(
            [sys.executable, *(("-c", program) if program else ("-m", "client.cli")), *options],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=environment,
            start_new_session=True,
        )

    def _answered(self, data: str) -> None:
        os.write(self.master, self.answer(data).encode())

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def read(self, deadline: float) -> None:
        """Reads what comes next, waiting for it until ``deadline``."""
        ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing more is written:\n{self.text}")
        data = os.read(self.master, 65536)
        self.raw += data
        self.stream.feed(data)

    def until(self, holds: Callable[[], bool]) -> None:
        """Reads until something is so."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            self.read(deadline)

    def shows(self, *parts: str) -> str:
        """Reads until one of some texts is on the screen; which."""
        self.until(lambda: any(part in self.text for part in parts))
        return next(part for part in parts if part in self.text)

    def press(self, *keys: str) -> None:
        """Presses keys: characters, or names of ``desk.KEYS``."""
        for key in keys:
            os.write(self.master, KEYS.get(key, key).encode())

    def resize(self, width: int, height: int) -> None:
        """Another size from now on."""
        self.screen.resize(height, width)
        ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def end(self) -> int:
        """Waits for the end; the exit code. Reads what is written meanwhile."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            ready, _, _ = select.select([self.master], [], [], 0.05)
            if ready:
                self.read(deadline)
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end:\n{self.text}")
        while select.select([self.master], [], [], 0)[0]:
            self.read(deadline)
        return self.process.returncode

    def is_restored(self) -> bool:
        """Whether the terminal's modes, screen and cursor are what they were."""
        modes = termios.tcgetattr(self.slave) == self.before
        left = self.raw.rfind(b"\x1b[?1049l") > self.raw.rfind(b"\x1b[?1049h")
        cursor = self.raw.rfind(b"\x1b[?25h") > self.raw.rfind(b"\x1b[?25l")
        mouse = b"\x1b[?1000h" not in self.raw or self.raw.rfind(b"\x1b[?1000l") > self.raw.rfind(b"\x1b[?1000h")
        return modes and left and cursor and mouse

    def kill(self) -> None:
        """Ends it whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)
        os.close(self.master)
        os.close(self.slave)


@contextmanager
def real_terminal(
    home: Path, *arguments: str, width: int = 80, height: int = 24, program: str = "", **variables: str
) -> Iterator[RealTerminal]:
    """A program on a terminal that is gone afterwards."""
    running = RealTerminal(home, *arguments, width=width, height=height, program=program, **variables)
    try:
        yield running
    finally:
        running.kill()

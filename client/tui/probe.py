"""How many cells this terminal gives a card suit: asked of the terminal itself.

Suits are of East Asian ambiguous width (UAX #11): one cell here, two there, by the font and its settings. A table
of widths can't know, and a row that is a cell longer than was counted shears the screen. So one is written, and
the terminal says where its cursor stands (DSR 6, ECMA-48 8.3.35; the answer is CPR, 8.3.14).
"""

from __future__ import annotations

import re
import sys
import time
from functools import cache
from typing import Final

SAMPLE: Final = "♠"
"""One of the suits that are ambiguous."""

TIMEOUT_S: Final = 0.2
"""A terminal answers in milliseconds, one behind a slow line in a tenth of a second; some never do."""

MAX_ANSWER_BYTES: Final = 64
"""An answer has about ten; whatever comes beyond belongs to somebody who types."""

_ASK: Final = "\x1b[6n"
_WIPE: Final = b"\r\x1b[K"
_REPORT: Final = re.compile(rb"\x1b\[(\d{1,4});(\d{1,4})R")


def read_report(answer: bytes) -> int | None:
    """The column that a cursor position report says, from 1; None for anything else."""
    found = _REPORT.search(answer)
    return int(found.group(2)) if found is not None else None


if sys.platform == "win32":

    def suit_cells() -> int | None:
        """None: consoles of Windows show suits in one cell, or are not asked in this way."""
        return None

else:

    @cache
    def suit_cells() -> int | None:
        """How many cells a suit takes on the terminal of this process, 1 or 2; None if it did not say.

        Asked once a process. What it writes is wiped, the terminal's modes are as before, and it takes `TIMEOUT_S`
        at most.
        """
        import contextlib
        import os
        import termios

        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            return None
        reading, writing = sys.stdin.fileno(), sys.stdout.fileno()
        try:
            with contextlib.suppress(OSError):
                if os.tcgetpgrp(reading) != os.getpgrp():
                    # In the background nobody may change the modes of the terminal that controls them.
                    return None
            modes = termios.tcgetattr(reading)
        except (OSError, termios.error):
            return None
        raw = [*modes[:3], modes[3] & ~(termios.ECHO | termios.ICANON), *modes[4:]]
        try:
            termios.tcsetattr(reading, termios.TCSANOW, raw)
            os.write(writing, f"\r{SAMPLE}{_ASK}".encode(sys.stdout.encoding, "replace"))
            column = _answer(reading)
            os.write(writing, _WIPE)
        except (OSError, termios.error):
            return None
        finally:
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(reading, termios.TCSANOW, modes)
        return column - 1 if column in (2, 3) else None

    def _answer(reading: int) -> int | None:
        """The column that the terminal reports, if it does so in time."""
        import os
        import select

        deadline = time.monotonic() + TIMEOUT_S
        answer = b""
        while len(answer) < MAX_ANSWER_BYTES and read_report(answer) is None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([reading], [], [], left)[0]:
                break
            answer += os.read(reading, MAX_ANSWER_BYTES)
        return read_report(answer)

"""That a terminal is put back, in whatever way the program that fills it ends."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from client.commands.running import BEFORE_EXIT

LEAVE_SCREEN: Final = b"\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1049l\x1b[0m\x1b[?25h"
"""Mouse and pasting as usual, the ordinary screen, no colours, a cursor (xterm's control sequences)."""


if sys.platform == "win32":

    def _remembered_modes() -> Callable[[], None]:
        """What gives the terminal its screen back; its modes are the console's own affair here."""

        def restore() -> None:
            os.write(sys.stdout.fileno(), LEAVE_SCREEN)

        return restore

else:

    def _remembered_modes() -> Callable[[], None]:
        """What gives the terminal its present modes and its screen back."""
        import termios

        descriptor = sys.stdin.fileno()
        modes = termios.tcgetattr(descriptor)

        def restore() -> None:
            os.write(sys.stdout.fileno(), LEAVE_SCREEN)
            termios.tcsetattr(descriptor, termios.TCSANOW, modes)

        return restore


def spare_pauses() -> None:
    """Spares the collector of garbage what has been loaded: it stays till the end anyway.

    Without it every hundredth key or so waits 30 to 50 ms for a collection that goes over all modules.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def restored() -> Iterator[None]:
    """Whatever happens inside, even an end on the spot, this terminal gets its modes and its screen back."""
    spare_pauses()
    restore = _remembered_modes()
    BEFORE_EXIT.append(restore)
    try:
        yield
    finally:
        BEFORE_EXIT.remove(restore)

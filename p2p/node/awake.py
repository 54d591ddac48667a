"""A clock that stands still while this program does not run: what others owe gets older only while it listens.

Monotonic clocks differ in whether they go on while the machine sleeps, and all of them go on while a program is
stopped. Whoever wakes up has heard nobody meanwhile, and may not hold that against them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

SLEPT_S: Final = 5.0
"""A longer gap between two looks at the clock is no time in which this program ran: while anything is owed it is
looked at every second, and the longest piece of arithmetic (a shuffle for ten) takes less."""


class AwakeClock:
    """Seconds in which this program ran. Any thread may look at it; somebody has to, every `SLEPT_S` or sooner."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock``: seconds of a steady clock."""
        self._clock = clock
        self._lock = threading.Lock()
        self._last = clock()
        self._slept = 0.0

    def now(self) -> float:
        """The time now; never goes back."""
        with self._lock:
            seen = self._clock()
            if seen - self._last > SLEPT_S:
                self._slept += seen - self._last
            self._last = max(self._last, seen)
            return self._last - self._slept

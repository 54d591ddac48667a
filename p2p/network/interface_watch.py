"""Noticing that the interfaces have changed: a cable pulled, another Wi-Fi, a lid opened."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from p2p.errors import NetworkProblem
from p2p.network.interfaces import Interface, usable_interfaces

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 5.0
"""Reading the list costs well under a millisecond; a person changing networks waits longer than this anyway."""

Read = Callable[[Sequence[str]], tuple[Interface, ...]]


class InterfaceWatch:
    """Calls ``changed`` with the usable interfaces whenever they are others than before; ``current`` has them.

    ``only``: as for :func:`usable_interfaces`; while it names nothing that is there the list is empty.
    """

    def __init__(
        self,
        changed: Callable[[tuple[Interface, ...]], None],
        only: Sequence[str] = (),
        read: Read = usable_interfaces,
    ) -> None:
        self._changed = changed
        self._only = tuple(only)
        self._read = read
        self.current = self._look()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(LOOK_SECONDS, self._tick)

    def _look(self) -> tuple[Interface, ...]:
        try:
            return self._read(self._only)
        except NetworkProblem as problem:
            log.info("interfaces: %s", problem)
            return ()

    def look_now(self) -> None:
        """Look at once, for instance after the machine woke."""
        seen = self._look()
        if seen != self.current:
            self.current = seen
            self._changed(seen)

    def _tick(self) -> None:
        self._timer = self._loop.call_later(LOOK_SECONDS, self._tick)
        self.look_now()

    def close(self) -> None:
        """Look no more."""
        self._timer.cancel()

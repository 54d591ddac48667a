"""Who may begin a handshake: a cap on half-open links that forged packets cannot turn against anyone.

Sans-IO: addresses and times come in, verdicts go out. The library under us limits neither half-open
connections nor their memory.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from p2p.addresses import Address, is_loopback

HALF_OPEN_SECONDS: Final = 5.0
"""A handshake and both hellos take 5 ms on a LAN and well under 2 s at 30 % loss."""

MAX_UNPROVEN: Final = 4
"""Half-open links whose sender's address is unproven. Past these, answers are stateless Retry packets."""

MAX_PROVEN: Final = 4
"""Half-open links with a valid Retry token; with the unproven ones 8 in all."""

MAX_KNOWN: Final = 8
"""Slots of their own for the proven addresses of known players, so that strangers lock none of them out."""

MAX_PER_HOST: Final = 2
"""Half-open links of one host: a person who restarts quickly has two."""

MAX_LOOPBACK: Final = 64
"""This machine is exempt from the other caps; bots of one host all start at once."""


class Verdict(Enum):
    """What to do with the first packet of an unknown connection."""

    ACCEPT = auto()
    RETRY = auto()
    DROP = auto()


class _Slot(Enum):
    UNPROVEN = auto()
    PROVEN = auto()
    KNOWN = auto()
    LOOPBACK = auto()


_CAPS: Final = {
    _Slot.UNPROVEN: MAX_UNPROVEN,
    _Slot.PROVEN: MAX_PROVEN,
    _Slot.KNOWN: MAX_KNOWN,
    _Slot.LOOPBACK: MAX_LOOPBACK,
}


@dataclass(slots=True)
class _HalfOpen:
    host: str
    slot: _Slot
    until: float


class Gate:
    """The half-open links of one endpoint.

    An unproven address is only ever *asked to prove itself*, never refused: whoever forges the packets of
    another player fills the unproven slots, and the real one comes in by Retry. ``known`` holds the hosts
    (IP literals) of known players and may be set at any time.
    """

    def __init__(self) -> None:
        self.known: frozenset[str] = frozenset()
        self._open: dict[Hashable, _HalfOpen] = {}

    def _expire(self, now: float) -> None:
        for key in [key for key, held in self._open.items() if held.until <= now]:
            del self._open[key]

    def _slot(self, address: Address, proven: bool) -> _Slot:
        if is_loopback(address):
            return _Slot.LOOPBACK
        if not proven:
            return _Slot.UNPROVEN
        return _Slot.KNOWN if address[0] in self.known else _Slot.PROVEN

    def _has_room(self, address: Address, slot: _Slot) -> bool:
        held = [entry for entry in self._open.values() if entry.slot is slot]
        if len(held) >= _CAPS[slot]:
            return False
        if slot is _Slot.LOOPBACK:
            return True
        return sum(entry.host == address[0] for entry in held) < MAX_PER_HOST

    def judge(self, address: Address, proven: bool, now: float) -> Verdict:
        """What to do with a new handshake from ``address``; ``proven``: it showed a valid Retry token."""
        self._expire(now)
        if self._has_room(address, self._slot(address, proven)):
            return Verdict.ACCEPT
        return Verdict.DROP if proven or is_loopback(address) else Verdict.RETRY

    def enter(self, key: Hashable, address: Address, proven: bool, now: float) -> None:
        """Take a slot for ``key``, after :func:`judge` said ACCEPT; it frees itself after 5 s."""
        self._open[key] = _HalfOpen(address[0], self._slot(address, proven), now + HALF_OPEN_SECONDS)

    def leave(self, key: Hashable) -> None:
        """Free the slot of ``key``: its link is up, or gone."""
        self._open.pop(key, None)

    def __len__(self) -> int:
        return len(self._open)

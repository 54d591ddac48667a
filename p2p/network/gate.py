"""Who may begin a handshake: a cap on half-open links that forged packets cannot turn against anyone.

Sans-IO: addresses and times come in, verdicts go out. The library under us limits neither half-open
connections nor their memory, nor how many handshakes a second it is asked for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from p2p.network.addresses import Address, is_loopback
from p2p.network.budget import Allowance

HALF_OPEN_SECONDS: Final = 5.0
"""A handshake and both hellos take 5 ms on a LAN and well under 2 s at 30 % loss."""

MAX_UNPROVEN: Final = 4
"""Half-open links whose sender's address is unproven. Past these, answers are stateless Retry packets."""

MAX_PROVEN: Final = 4
"""Half-open links with a valid Retry token; with the unproven ones 8 in all."""

MAX_FRESH: Final = 16
"""Half-open links with a token from hosts that have begun none lately: whoever comes once comes in, whatever goes
on beside."""

FRESH_SECONDS: Final = 20.0
"""A host that has begun no handshake for so long is fresh, as is a person who tries again after that. With thirty
addresses of its own an attacker is fresh three times in two seconds, of the eight a second that are let in."""

FRESH_PER_SECOND: Final = 8.0
"""Handshakes begun for fresh hosts, twice that at once."""

MAX_KNOWN: Final = 8
"""Slots of their own for the proven addresses of known players, so that strangers lock none of them out."""

MAX_PER_HOST: Final = 2
"""Half-open links of one host: a person who restarts quickly has two."""

MAX_LOOPBACK: Final = 64
"""This machine is exempt from the other caps; bots of one host all start at once."""

UNPROVEN_PER_SECOND: Final = 8.0
"""Handshakes begun for addresses not proven, twice that at once. Even one that turns out to be garbage costs a
connection, 0.4 ms; a stateless Retry costs a twentieth."""

PROVEN_PER_SECOND: Final = 8.0
"""Handshakes begun for strangers with a Retry token, twice that at once: each costs some 5 ms to its end."""

HOST_PER_SECOND: Final = 4.0
"""Handshakes begun for one host with a Retry token, known or not, twice that at once. A lost player is dialled
four times a second at first, by each of a few programs on one machine."""

MAX_HOSTS: Final = 256
"""Hosts whose handshakes are counted; the one unheard longest is forgotten first."""


class Verdict(Enum):
    """What to do with the first packet of an unknown connection."""

    ACCEPT = auto()
    RETRY = auto()
    DROP = auto()


class _Slot(Enum):
    UNPROVEN = auto()
    PROVEN = auto()
    FRESH = auto()
    KNOWN = auto()
    LOOPBACK = auto()


_CAPS: Final = {
    _Slot.UNPROVEN: MAX_UNPROVEN,
    _Slot.PROVEN: MAX_PROVEN,
    _Slot.FRESH: MAX_FRESH,
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
        self._rates = {
            _Slot.UNPROVEN: Allowance(2 * UNPROVEN_PER_SECOND, UNPROVEN_PER_SECOND),
            _Slot.PROVEN: Allowance(2 * PROVEN_PER_SECOND, PROVEN_PER_SECOND),
            _Slot.FRESH: Allowance(2 * FRESH_PER_SECOND, FRESH_PER_SECOND),
        }
        self._hosts: OrderedDict[str, Allowance] = OrderedDict()
        self._begun: OrderedDict[str, float] = OrderedDict()
        """Host with a token → when it began its last handshake."""

    def _expire(self, now: float) -> None:
        for key in [key for key, held in self._open.items() if held.until <= now]:
            del self._open[key]

    def _slot(self, address: Address, proven: bool, now: float) -> _Slot:
        if is_loopback(address):
            return _Slot.LOOPBACK
        if not proven:
            return _Slot.UNPROVEN
        if address[0] in self.known:
            return _Slot.KNOWN
        begun = self._begun.get(address[0])
        return _Slot.FRESH if begun is None or now - begun >= FRESH_SECONDS else _Slot.PROVEN

    def _has_room(self, address: Address, slot: _Slot) -> bool:
        held = [entry for entry in self._open.values() if entry.slot is slot]
        if len(held) >= _CAPS[slot]:
            return False
        if slot is _Slot.LOOPBACK:
            return True
        return sum(entry.host == address[0] for entry in held) < MAX_PER_HOST

    def _rates_of(self, address: Address, slot: _Slot) -> list[Allowance]:
        """What limits how often handshakes of this kind begin. Nothing is counted by an unproven address:
        whoever forges it would use up what is its owner's."""
        rates = [self._rates[slot]] if slot in self._rates else []
        if slot in (_Slot.PROVEN, _Slot.FRESH, _Slot.KNOWN):
            host = self._hosts.pop(address[0], None) or Allowance(2 * HOST_PER_SECOND, HOST_PER_SECOND)
            self._hosts[address[0]] = host
            while len(self._hosts) > MAX_HOSTS:
                self._hosts.popitem(last=False)
            rates.append(host)
        return rates

    def judge(self, address: Address, proven: bool, now: float) -> Verdict:
        """What to do with a new handshake from ``address``; ``proven``: it showed a valid Retry token."""
        self._expire(now)
        slot = self._slot(address, proven, now)
        in_time = all(rate.allows(now) for rate in self._rates_of(address, slot))
        if in_time and self._has_room(address, slot):
            return Verdict.ACCEPT
        return Verdict.DROP if proven or is_loopback(address) else Verdict.RETRY

    def enter(self, key: Hashable, address: Address, proven: bool, now: float) -> None:
        """Take a slot for ``key``, after :func:`judge` said ACCEPT; it frees itself after 5 s."""
        slot = self._slot(address, proven, now)
        for rate in self._rates_of(address, slot):
            rate.spend(1, now)
        if proven:
            self._begun[address[0]] = now
            self._begun.move_to_end(address[0])
            while len(self._begun) > MAX_HOSTS:
                self._begun.popitem(last=False)
        self._open[key] = _HalfOpen(address[0], slot, now + HALF_OPEN_SECONDS)

    def leave(self, key: Hashable) -> None:
        """Free the slot of ``key``: its link is up, or gone."""
        self._open.pop(key, None)

    def __len__(self) -> int:
        return len(self._open)

"""Asking every address of our own networks whether a table is there; only when a person asks for it.

For firewalls on both sides that drop what they did not ask for: where both sweep from their game sockets, each
opens the way for the other. Nothing else needs it, and a network should not be swept without being asked to.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from p2p.network.addresses import DEFAULT_PORT, Address
from p2p.network.interfaces import Interface
from p2p.network.probe import Prober

SWEEP_PREFIX: Final = 22
"""1,022 hosts: what a home or a hall has."""

SWEEP_AT_ONCE: Final = 2
SWEEP_SECONDS: Final = 0.05
"""40 questions a second: a /24 takes 6 s, a /22 25 s. A question to an address where nobody is waits about 3 s in
the kernel for that address to be resolved, and counts against the game socket's send buffer (Linux: some 160 of
ours); at 200 a second the buffer was full and every link stood still."""

SWEEP_ROUNDS: Final = 3
"""The first question of each side only opens its own firewall."""


def _near(own: ipaddress.IPv4Interface) -> Iterable[ipaddress.IPv4Address]:
    """The other hosts of an interface's network, of its /22 at most, nearest first: leases lie together."""
    network = own.network
    if network.prefixlen < SWEEP_PREFIX:
        network = ipaddress.IPv4Network((own.ip, SWEEP_PREFIX), strict=False)
    others = [host for host in network.hosts() if host != own.ip]
    return sorted(others, key=lambda host: abs(int(host) - int(own.ip)))


class Sweep:
    """One sweep: slow, three rounds, over the networks of ``interfaces`` (each cut to the /22 around us).

    Answers arrive where the prober's answers always do. ``hosts`` is how many are asked,
    ``asked`` how many questions have gone out.
    """

    def __init__(self, prober: Prober, interfaces: Sequence[Interface], port: int = DEFAULT_PORT) -> None:
        asked: list[Address] = [
            (str(host), port)
            for interface in interfaces
            for own in interface.ipv4
            if not own.is_loopback
            for host in _near(own)
        ]
        self.hosts = len(asked)
        self.asked = 0
        self._prober = prober
        self._left = deque(asked * SWEEP_ROUNDS)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._ask_some()

    @property
    def is_over(self) -> bool:
        """True once everybody has been asked."""
        return not self._left

    def _ask_some(self) -> None:
        self._timer = None
        for _ in range(min(SWEEP_AT_ONCE, len(self._left))):
            self._prober.ask(self._left.popleft())
            self.asked += 1
        if self._left:
            self._timer = self._loop.call_later(SWEEP_SECONDS, self._ask_some)

    def close(self) -> None:
        """Ask no more."""
        self._left.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

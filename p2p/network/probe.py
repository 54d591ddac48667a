"""Asking a socket whether a table is there: one datagram each way, beside QUIC on the game socket.

The answer is never longer than the question, so nobody can turn a table into an amplifier, and answers are
rationed by host. The first byte has QUIC's fixed bit (0x40) clear. An answer is not proof of anything but
that somebody at that address heard the question just now.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from p2p.errors import RemoteProtocolError
from p2p.network.addresses import Address
from p2p.network.advert import TableAd, decode_ad, encode_ad
from p2p.network.transport import Endpoint

ASK: Final = b"\x01shithead?"
ANSWER: Final = b"\x01shithead!"
ASK_BACK: Final = b"\x01shithead<"
"""Asks for an answer at another port of the asking host: does its firewall let in what it did not ask for?"""

PORT_BYTES: Final = 2

NONCE_BYTES: Final = 8

ASK_BYTES: Final = 480
"""The length of a question, filled up with zeros: longer than any answer, shorter than any MTU."""

ANSWERS_PER_SECOND: Final = 64.0
"""To everybody: 30 KB/s at most."""

ANSWERS_PER_HOST_SECOND: Final = 8.0
"""A waiting screen asks once a second, a few of them may share a machine."""

MAX_HOSTS: Final = 256
"""Hosts with a ration of their own; the one unheard longest is forgotten first."""

MAX_PENDING: Final = 512
"""Questions that wait for an answer."""

PENDING_SECONDS: Final = 3.0
"""How long an answer may take: a bad Wi-Fi takes less than one."""

Found = Callable[[Address, TableAd, float], None]


@dataclass(slots=True)
class Ration:
    """A token bucket: ``per_second`` on average, twice that at once. Sans-IO."""

    per_second: float
    left: float = 0.0
    at: float | None = None

    def take(self, now: float) -> bool:
        """True if one more is allowed now."""
        most = 2 * self.per_second
        self.left = most if self.at is None else min(most, self.left + (now - self.at) * self.per_second)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Rations:
    """A ration for everybody and one for each host, so that one host cannot use up the others'. Sans-IO."""

    def __init__(self) -> None:
        self._all = Ration(ANSWERS_PER_SECOND)
        self._hosts: OrderedDict[str, Ration] = OrderedDict()

    def take(self, host: str, now: float) -> bool:
        """True if ``host`` may have an answer now."""
        ration = self._hosts.pop(host, None) or Ration(ANSWERS_PER_HOST_SECOND)
        self._hosts[host] = ration
        while len(self._hosts) > MAX_HOSTS:
            self._hosts.popitem(last=False)
        return ration.take(now) and self._all.take(now)


@dataclass(slots=True)
class ProbeStats:
    """Counts for the doctor."""

    answered: int = 0
    rationed: int = 0
    garbage: int = 0
    own_heard: int = 0
    """Own broadcast questions that came back in."""


class _Question(NamedTuple):
    to: Address | None
    at: float
    then: Callable[[TableAd], None] | None


class Prober:
    """Asks and answers on an endpoint's socket; takes over its ``on_plain``.

    ``ad``: what to answer; None: nothing. ``found(address, ad, seconds)`` is called for each answer to a
    question of ours, except our own (key or nonce).
    """

    def __init__(self, endpoint: Endpoint, found: Found | None = None) -> None:
        self.ad: TableAd | None = None
        self.found = found
        self.stats = ProbeStats()
        self._endpoint = endpoint
        self._rations = Rations()
        self._pending: OrderedDict[bytes, _Question] = OrderedDict()
        self._loop = asyncio.get_running_loop()
        endpoint.on_plain = self._received

    def ask(
        self, address: Address, *, broadcast: bool = False, then: Callable[[TableAd], None] | None = None
    ) -> None:
        """Send a question; with ``broadcast`` whoever hears it may answer, otherwise only ``address``.

        ``then`` is called with each answer to this question, besides ``found``.
        """
        nonce = os.urandom(NONCE_BYTES)
        self._pending[nonce] = _Question(None if broadcast else address, self._loop.time(), then)
        while len(self._pending) > MAX_PENDING:
            self._pending.popitem(last=False)
        self._endpoint.send_plain((ASK + nonce).ljust(ASK_BYTES, b"\0"), address)

    def ask_back(self, address: Address, port: int) -> None:
        """Ask ``address`` to answer to another port of this host, unasked for there."""
        nonce = os.urandom(NONCE_BYTES)
        self._endpoint.send_plain(
            (ASK_BACK + nonce + port.to_bytes(PORT_BYTES, "big")).ljust(ASK_BYTES, b"\0"), address
        )

    def close(self) -> None:
        """Neither ask nor answer any more."""
        self.ad = None
        self.found = None
        self._pending.clear()
        self._endpoint.on_plain = lambda data, address: None

    def _received(self, data: bytes, address: Address) -> None:
        if data.startswith(ASK) and len(data) >= ASK_BYTES:
            self._asked(data[len(ASK) : len(ASK) + NONCE_BYTES], address)
        elif data.startswith(ASK_BACK) and len(data) >= ASK_BYTES:
            rest = data[len(ASK_BACK) :]
            port = int.from_bytes(rest[NONCE_BYTES : NONCE_BYTES + PORT_BYTES], "big")
            if port:
                # The asking host and no other: nobody can have a third one sent to.
                self._asked(rest[:NONCE_BYTES], (address[0], port, *address[2:]))
        elif data.startswith(ANSWER) and len(data) <= ASK_BYTES:
            self._answered(data[len(ANSWER) :], address)
        else:
            self.stats.garbage += 1

    def _asked(self, nonce: bytes, address: Address) -> None:
        if nonce in self._pending:
            self.stats.own_heard += 1
            return
        if self.ad is None:
            return
        answer = ANSWER + nonce + encode_ad(self.ad)
        if len(answer) > ASK_BYTES:
            return  # cannot be with a valid advert; if it were, silence amplifies nothing
        if not self._rations.take(address[0], self._loop.time()):
            self.stats.rationed += 1
            return
        self.stats.answered += 1
        self._endpoint.send_plain(answer, address)

    def _answered(self, body: bytes, address: Address) -> None:
        question = self._pending.get(body[:NONCE_BYTES])
        took = self._loop.time() - question.at if question is not None else 0.0
        if question is None or took > PENDING_SECONDS or question.to not in (None, address):
            self.stats.garbage += 1
            return
        try:
            ad = decode_ad(body[NONCE_BYTES:])
        except RemoteProtocolError:
            self.stats.garbage += 1
            return
        if ad.key == self._endpoint.key or ad.nonce == self._endpoint.hello.instance:
            return
        if question.then is not None:
            question.then(ad)
        if self.found is not None:
            self.found(address, ad, took)

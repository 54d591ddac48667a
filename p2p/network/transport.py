"""The game socket: one UDP socket a family, every link in and out, and small plain datagrams beside them.

aioquic's sans-IO ``QuicConnection`` does QUIC (RFC 9000) and TLS 1.3; this module feeds it. Datagrams are
told apart by QUIC's fixed bit (0x40 of the first byte): set, they go to the link that owns their connection
id; clear, they are probes and go to ``on_plain``. On Windows run the loop with a selector
(``asyncio.SelectorEventLoop``): the proactor goes deaf after an ICMP reset (cpython issues 91227, 127057).
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aioquic.buffer import Buffer  # type: ignore[attr-defined]  # re-exported, not said so
from aioquic.quic.configuration import SMALLEST_MAX_DATAGRAM_SIZE, QuicConfiguration
from aioquic.quic.packet import (
    QuicHeader,
    QuicPacketType,
    QuicProtocolVersion,
    encode_quic_retry,
    pull_quic_header,
)
from aioquic.quic.retry import QuicRetryTokenHandler
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from p2p.errors import NetworkProblem
from p2p.network.addresses import Address, show_address
from p2p.network.certificates import make_certificate, public_bytes
from p2p.network.datagrams import DatagramSocket, SocketStats, bind_range
from p2p.network.frames import PROTOCOL_HIGH, PROTOCOL_LOW, CloseCode, Hello, Refuse
from p2p.network.gate import HALF_OPEN_SECONDS, Gate, Verdict
from p2p.network.link import Link
from p2p.network.link_types import LinkState
from p2p.network.tls_private import MutualConnection

log = logging.getLogger(__name__)

# The library logs to stderr when nobody has set up logging, which would scribble over a full-screen client.
logging.getLogger("quic").addHandler(logging.NullHandler())
logging.getLogger("quic").propagate = False

ALPN: Final = "shithead"
"""Without a number: versions are said in ``hello``, so that a refusal can name both."""

ANY_ADDRESSES: Final = ("0.0.0.0", "::")

DIAL_SECONDS: Final = 5.0
"""A dial that takes longer has no one at its end: at 30 % loss the slowest of many took under 2 s."""

IDLE_SECONDS: Final = 25.0
"""QUIC's idle timeout: longer than any proof may hold a loop, shorter than a person's patience."""

INITIAL_RTT_SECONDS: Final = 0.02
"""The round trip of a LAN. The library's 0.1 made the median handshake at 30 % loss 609 ms long instead of 66."""

CONNECTION_ID_BYTES: Final = 8

MAX_LINKS: Final = 64
"""Ten players, watchers, and links about to be replaced."""

INSTANCE_BYTES: Final = 8

_VERSIONS: Final = (QuicProtocolVersion.VERSION_1,)


def make_hello(program: str, extras: tuple[tuple[str, bytes], ...] = ()) -> Hello:
    """The hello of this process: the protocol versions spoken here and a fresh instance number."""
    return Hello(
        low=PROTOCOL_LOW,
        high=PROTOCOL_HIGH,
        program=program,
        instance=os.urandom(INSTANCE_BYTES),
        extras=extras,
    )


@dataclass(slots=True)
class EndpointStats:
    """Counts for the doctor: first packets answered by Retry or dropped, datagrams that belonged nowhere."""

    retried: int = 0
    gated: int = 0
    stray: int = 0
    garbage: int = 0


class Endpoint:
    """One UDP socket a family, and all links that run over it.

    Callbacks, to be set before the first ``await`` after :meth:`open` (or given to it):
    ``on_link(link)`` for each link that *others* dialled, once it is up (nobody there: it is closed);
    ``allow(key, address)`` gives a :class:`Refuse` for a peer that may not enter, None for a welcome;
    ``on_problem(address, problem)`` for what went wrong with somebody else's dialling (versions);
    ``on_plain(data, address)`` for datagrams that are not QUIC.
    """

    def __init__(self, key: Ed25519PrivateKey, hello: Hello) -> None:
        self.key = public_bytes(key)
        self.hello = hello
        self.port = 0
        self.gate = Gate()
        self.stats = EndpointStats()
        self.socket_stats = SocketStats()
        self.on_link: Callable[[Link], None] | None = None
        self.allow: Callable[[bytes, Address], Refuse | None] = lambda key, address: None
        self.on_problem: Callable[[Address, NetworkProblem], None] = lambda address, problem: None
        self.on_plain: Callable[[bytes, Address], None] = lambda data, address: None
        self._private_key = key
        self._certificate = make_certificate(key)
        self._retry = QuicRetryTokenHandler()
        self._sockets: list[DatagramSocket] = []
        self._links: dict[Link, set[bytes]] = {}
        self._by_id: dict[bytes, Link] = {}
        self._dials: dict[Link, tuple[asyncio.Future[Link], bytes | None]] = {}
        self._deadlines: dict[Link, asyncio.TimerHandle] = {}
        self._closed = False
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(
        cls,
        key: Ed25519PrivateKey,
        *,
        addresses: Sequence[str] = ANY_ADDRESSES,
        port: int | None = None,
        hello: Hello | None = None,
        on_link: Callable[[Link], None] | None = None,
        allow: Callable[[bytes, Address], Refuse | None] | None = None,
    ) -> Endpoint:
        """Open the sockets. ``port`` None: the first free of 16 from ``DEFAULT_PORT``; 0: any.

        Raises :class:`NetworkProblem`: ``port_busy``, ``no_socket``.
        """
        endpoint = cls(key, hello if hello is not None else make_hello("0"))
        endpoint.on_link = on_link
        if allow is not None:
            endpoint.allow = allow
        sockets = bind_range(addresses, port)
        endpoint.port = sockets[0].getsockname()[1]
        for sock in sockets:
            bound = DatagramSocket(sock.getsockname()[0], endpoint.port, endpoint._received, endpoint.socket_stats)
            endpoint._sockets.append(bound)
            await bound.open(sock)
        return endpoint

    @property
    def links(self) -> tuple[Link, ...]:
        """All links that are up."""
        return tuple(link for link in self._links if link.is_up)

    @property
    def queued(self) -> tuple[int, ...]:
        """Datagrams waiting in front of each socket; more than a few for long: the system takes no more."""
        return tuple(sock.queued for sock in self._sockets)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The IP literals the sockets are bound to."""
        return tuple(sock.host for sock in self._sockets)

    def send_plain(self, data: bytes, address: Address) -> None:
        """Send a datagram that is not QUIC: bit 0x40 of its first byte must be clear (else ValueError)."""
        if not data or data[0] & 0x40:
            raise ValueError("a plain datagram begins with a byte without bit 0x40")
        self.link_send(data, address)

    def rebuild_sockets(self) -> None:
        """Open the sockets again on the same port; for after a sleep or a change of network."""
        for sock in self._sockets:
            sock.rebuild()

    async def dial(self, address: Address, expected: bytes | None = None, timeout_s: float = DIAL_SECONDS) -> Link:
        """A link to whoever is at ``address``, up; cancelling it leaves nothing behind.

        ``expected``: the only key that will do. Raises :class:`NetworkProblem`: ``no_answer``, ``wrong_key``,
        ``own_key``, ``no_certificate``, ``refused``, ``version_…``, ``not_shithead``, ``lost``, ``closed``.
        """
        if self._closed:
            raise NetworkProblem("closed")
        link = Link(
            MutualConnection(configuration=self._configuration(is_client=True)),
            self,
            address,
            self.hello,
            dialled=True,
        )
        future: asyncio.Future[Link] = self._loop.create_future()
        self._dials[link] = (future, expected)
        self._links[link] = set()
        self.link_ids(link, link.first_id, b"")
        link.connect()
        try:
            async with asyncio.timeout(timeout_s):
                return await future
        except TimeoutError:
            problem = NetworkProblem("no_answer", address=show_address(address), seconds=round(timeout_s, 1))
            link.abandon(CloseCode.NO_ANSWER)
            raise problem from None
        except asyncio.CancelledError:
            link.abandon(CloseCode.DONE)
            raise
        finally:
            self._dials.pop(link, None)

    async def close(self) -> None:
        """Say goodbye on every link, wait for it to be heard (0.4 s at most), close the sockets."""
        if self._closed:
            return
        self._closed = True
        leaving = [link for link in self._links if link.is_up]
        gone = [self._loop.create_future() for _ in leaving]
        for link, future in zip(leaving, gone, strict=True):
            link.when_closed(future)
            link.close(CloseCode.DONE)
        if gone:
            await asyncio.wait(gone)
        for link in list(self._links):
            link.abandon(CloseCode.DONE)
        for future, _ in self._dials.values():
            if not future.done():
                future.set_exception(NetworkProblem("closed"))
        for sock in self._sockets:
            await sock.close()

    # -- from the sockets

    def _received(self, data: bytes, address: Address) -> None:
        if not data or not data[0] & 0x40:
            self.on_plain(data, address)
            return
        try:
            header = pull_quic_header(Buffer(data=data), host_cid_length=CONNECTION_ID_BYTES)
        except ValueError:
            self.stats.garbage += 1
            return
        link = self._by_id.get(header.destination_cid)
        if link is not None:
            link.receive(data, address)
        elif (
            header.packet_type is QuicPacketType.INITIAL
            and header.version in _VERSIONS
            and len(data) >= SMALLEST_MAX_DATAGRAM_SIZE
            and not self._closed
        ):
            self._knocked(header, data, address)
        else:
            # No answer to anything else, not even a version negotiation: silence amplifies nothing.
            self.stats.stray += 1

    def _knocked(self, header: QuicHeader, data: bytes, address: Address) -> None:
        """The first packet of an unknown connection (RFC 9000, sections 5.2.2 and 8.1)."""
        now = self._loop.time()
        original, retry_source = header.destination_cid, None
        if header.token:
            try:
                original = self._retry.validate_token(
                    address=address, destination_cid=header.destination_cid, token=header.token, now=now
                )
            except ValueError:
                self.stats.gated += 1
                return
            retry_source = header.destination_cid
        proven = retry_source is not None
        verdict = self.gate.judge(address, proven, now)
        if verdict is Verdict.RETRY:
            self._send_retry(header, address, now)
        elif verdict is Verdict.DROP or len(self._links) >= MAX_LINKS:
            self.stats.gated += 1
        else:
            self._accept(header.destination_cid, original, retry_source, data, address)

    def _send_retry(self, header: QuicHeader, address: Address, now: float) -> None:
        self.stats.retried += 1
        source = os.urandom(CONNECTION_ID_BYTES)
        token = self._retry.create_token(
            address=address,
            original_destination_connection_id=header.destination_cid,
            retry_source_connection_id=source,
            now=now,
        )
        packet = encode_quic_retry(
            version=QuicProtocolVersion.VERSION_1,
            source_cid=source,
            destination_cid=header.source_cid,
            original_destination_cid=header.destination_cid,
            retry_token=token,
        )
        self.link_send(packet, address)

    def _accept(
        self, dialled_id: bytes, original: bytes, retry_source: bytes | None, data: bytes, address: Address
    ) -> None:
        quic = MutualConnection(
            configuration=self._configuration(is_client=False),
            original_destination_connection_id=original,
            retry_source_connection_id=retry_source,
        )
        link = Link(quic, self, address, self.hello, dialled=False)
        self._links[link] = set()
        self.link_ids(link, link.first_id, b"")
        self.link_ids(link, dialled_id, b"")
        self.gate.enter(link, address, retry_source is not None, self._loop.time())
        self._deadlines[link] = self._loop.call_later(HALF_OPEN_SECONDS, self._expired, link)
        link.receive(data, address)
        if not link.answered:
            # Not a client hello at all: only garbage gets no answer, and garbage holds no slot.
            self.stats.garbage += 1
            link.forget()

    def _expired(self, link: Link) -> None:
        self._deadlines.pop(link, None)
        if link.state in {LinkState.SHAKING, LinkState.GREETING}:
            link.abandon(CloseCode.NO_ANSWER)

    def _configuration(self, *, is_client: bool) -> QuicConfiguration:
        configuration = QuicConfiguration(
            alpn_protocols=[ALPN],
            connection_id_length=CONNECTION_ID_BYTES,
            idle_timeout=IDLE_SECONDS,
            is_client=is_client,
            supported_versions=list(_VERSIONS),
            # Names, dates and authorities mean nothing here; the key is checked by ``identity_of``.
            verify_mode=ssl.CERT_NONE,
        )
        configuration.initial_rtt = INITIAL_RTT_SECONDS
        configuration.certificate = self._certificate
        configuration.private_key = self._private_key
        return configuration

    # -- what links ask of their endpoint (``LinkOwner``)

    def link_send(self, data: bytes, address: Address) -> None:
        """Put a datagram on the socket of its family; it is lost if there is none."""
        for sock in self._sockets:
            if sock.fits(address):
                sock.send(data, address)
                return

    def link_ids(self, link: Link, added: bytes, removed: bytes) -> None:
        """Follow the connection ids of a link; ids of links already gone are not taken."""
        ids = self._links.get(link)
        if ids is None:
            return
        if added:
            ids.add(added)
            self._by_id[added] = link
        if removed:
            ids.discard(removed)
            self._by_id.pop(removed, None)

    def link_authenticated(self, link: Link) -> CloseCode | None:
        """Check the proven key against the one expected, and against our own."""
        if link.peer == self.key:
            link.problem = NetworkProblem("own_key", address=show_address(link.address))
            return CloseCode.OWN_KEY
        _, expected = self._dials.get(link, (None, None))
        if expected is not None and expected != link.peer:
            link.problem = NetworkProblem("wrong_key", address=show_address(link.address))
            return CloseCode.WRONG_KEY
        return None

    def link_greeted(self, link: Link) -> Refuse | None:
        """Ask the owner whether this peer may enter."""
        if self.on_link is None:
            return Refuse(code="closed")
        return self.allow(link.peer, link.address)

    def link_up(self, link: Link) -> None:
        """Hand the link to whoever waits for it."""
        self._settle(link)
        dial = self._dials.get(link)
        if dial is not None:
            if not dial[0].done():
                dial[0].set_result(link)
        elif self.on_link is not None:
            self.on_link(link)

    def link_closed(self, link: Link) -> None:
        """Forget the link, and tell a waiting dial why."""
        self._settle(link)
        for connection_id in self._links.pop(link, set()):
            self._by_id.pop(connection_id, None)
        dial = self._dials.get(link)
        if dial is not None:
            if not dial[0].done():
                dial[0].set_exception(link.problem or self._problem_of(link))
        elif link.problem is not None:
            self.on_problem(link.address, link.problem)

    def _settle(self, link: Link) -> None:
        self.gate.leave(link)
        deadline = self._deadlines.pop(link, None)
        if deadline is not None:
            deadline.cancel()

    def _problem_of(self, link: Link) -> NetworkProblem:
        address = show_address(link.address)
        match link.reason:
            case CloseCode.OWN_KEY | CloseCode.WRONG_KEY | CloseCode.NO_CERTIFICATE:
                return NetworkProblem(link.reason.value, address=address)
            case CloseCode.REFUSED:
                return NetworkProblem("refused", address=address, reason=link.reason.value)
            case CloseCode.NO_ANSWER:
                return NetworkProblem("no_answer", address=address, seconds=HALF_OPEN_SECONDS)
            case _:
                return NetworkProblem("lost", address=address)

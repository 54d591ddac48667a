"""One UDP socket, with the edges of asyncio-dgram filed off.

asyncio-dgram raises one peer's queued error on another peer's send, and its queues have no bound. Here an
``OSError`` is a number in :class:`SocketStats` and never an exception: what matters to a link is whether
packets arrive, and QUIC knows that better than the socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import sys
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import asyncio_dgram
from asyncio_dgram.aio import DatagramClient, DatagramServer, TransportClosed

from p2p.errors import NetworkProblem
from p2p.network.addresses import DEFAULT_PORT, PORT_RANGE, Address, is_ipv6

MAX_QUEUED_DATAGRAMS: Final = 4096
"""Datagrams waiting for the socket, 5 MB; past these the oldest news is as good as lost, and QUIC repeats."""

BUFFER_BYTES: Final = 1 << 20
"""Asked of the system, each way. Received: a proof that holds the processor for 100 ms loses no packets. Sent:
packets to hosts that are gone wait seconds in the kernel to be resolved, in front of everybody else's."""

MAX_SEND_TRIES: Final = 8
"""Tries of one datagram: each takes one queued error of earlier ones with it."""

REOPEN_SECONDS: Final = 1.0
"""How long to wait before a socket that the system closed is opened again."""

_MISSING_FAMILY: Final = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT}

Received = Callable[[bytes, Address], None]


@dataclass(slots=True)
class SocketStats:
    """What went wrong on a socket, for the doctor: errors by ``errno``, datagrams dropped, times reopened."""

    errors: Counter[int] = field(default_factory=Counter)
    overflowed: int = 0
    reopened: int = 0


def _as_address(sender: object) -> Address | None:
    match sender:
        case (str(host), int(port)):
            return (host, port)
        case (str(host), int(port), int(flow), int(scope)):
            return (host, port, flow, scope)
        case _:
            return None


def bind_socket(host: str, port: int) -> socket.socket:
    """A non-blocking UDP socket; IPv6 sockets take IPv6 only. Raises ``OSError`` as the system does.

    Two sockets a family each, rather than one for both, keep addresses exactly as ``recvfrom`` gives them.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    try:
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        else:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        if sys.platform == "win32":
            # Without it another program could take over the port there.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            with contextlib.suppress(OSError):  # macOS refuses what Linux quietly cuts down
                sock.setsockopt(socket.SOL_SOCKET, buffer, BUFFER_BYTES)
        sock.setblocking(False)
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    return sock


def _bind_all(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """Sockets for all addresses on one port; a family that this machine lacks is left out."""
    sockets: list[socket.socket] = []
    failed: OSError | None = None
    for host in addresses:
        try:
            sock = bind_socket(host, port)
        except OSError as error:
            if error.errno in _MISSING_FAMILY:
                failed = error
                continue
            for opened in sockets:
                opened.close()
            raise
        sockets.append(sock)
        port = sock.getsockname()[1]
    if not sockets:
        raise failed or OSError(errno.EINVAL, "no address given")
    return sockets


def bind_range(addresses: Sequence[str], port: int | None) -> list[socket.socket]:
    """Sockets for all addresses on one port: ``port``, any (0), or the first free one of the range (None).

    Raises :class:`NetworkProblem` ``port_busy`` or ``no_socket``.
    """
    if port is None:
        tries = list(range(DEFAULT_PORT, DEFAULT_PORT + PORT_RANGE))
    else:
        # With port 0 the other family may find the number taken: another number then.
        tries = [port] * (PORT_RANGE if port == 0 else 1)
    busy: OSError | None = None
    for number in tries:
        try:
            return _bind_all(addresses, number)
        except OSError as error:
            if error.errno in {errno.EADDRINUSE, errno.EACCES}:
                busy = error
                continue
            raise NetworkProblem(
                "no_socket", addresses=", ".join(addresses), reason=error.strerror or str(error)
            ) from error
    raise NetworkProblem("port_busy", port=tries[-1]) from busy


class DatagramSocket:
    """A bound UDP socket: ``received`` is called for each datagram, ``send`` never waits and never raises.

    If the system closes the socket under us (it happens after sleep, and on Windows after an ICMP reset)
    it is opened again on the same port.
    """

    def __init__(self, host: str, port: int, received: Received, stats: SocketStats) -> None:
        self.host = host
        self.port = port
        self._received = received
        self._stats = stats
        self._stream: DatagramServer | DatagramClient | None = None
        self._outgoing: deque[tuple[bytes, Address]] = deque()
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def open(self, sock: socket.socket) -> None:
        """Take over a socket made by :func:`bind_socket`, and begin to read and write."""
        self.port = sock.getsockname()[1]
        await self._adopt(sock)
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._write())]

    async def _adopt(self, sock: socket.socket) -> None:
        try:
            stream = await asyncio_dgram.from_socket(sock)
        except BaseException:
            sock.close()
            raise
        self._stream = stream

    def send(self, data: bytes, address: Address) -> None:
        """Queue a datagram; dropped (and counted) if the queue is full or the socket closed."""
        if self._closed or len(self._outgoing) >= MAX_QUEUED_DATAGRAMS:
            self._stats.overflowed += 1
            return
        self._outgoing.append((data, address))
        self._wake.set()

    async def _read(self) -> None:
        # The selector transport hands over one datagram a loop iteration and nothing here waits for anything
        # else, so the unbounded queue of asyncio-dgram stays empty.
        while not self._closed:
            try:
                stream = await self._usable()
                data, sender = await stream.recv()
            except OSError as error:
                self._stats.errors[error.errno or 0] += 1
                continue
            except TransportClosed:
                await self._reopen()
                continue
            address = _as_address(sender)
            if address is None:
                continue
            try:
                self._received(data, address)
            except Exception as error:
                # A mistake above must not deafen the socket for everybody; the loop's handler reports it.
                asyncio.get_running_loop().call_exception_handler(
                    {"message": "a datagram was not handled", "exception": error}
                )

    async def _write(self) -> None:
        while not self._closed:
            await self._wake.wait()
            self._wake.clear()
            while self._outgoing:
                data, address = self._outgoing.popleft()
                await self._write_one(data, address)

    async def _write_one(self, data: bytes, address: Address) -> None:
        for _ in range(MAX_SEND_TRIES):
            stream = self._stream
            if not isinstance(stream, DatagramServer):
                return
            try:
                await stream.send(data, address)
            except OSError as error:
                self._stats.errors[error.errno or 0] += 1
                continue
            except (TransportClosed, TypeError, ValueError):
                # An address of the wrong family or shape says so by TypeError.
                return
            return

    async def _usable(self) -> DatagramServer | DatagramClient:
        while self._stream is None:
            await self._reopen()
        return self._stream

    async def _reopen(self) -> None:
        if self._closed:
            return
        if self._stream is not None:
            self._stream.close()
            self._stream = None
            await asyncio.sleep(0)  # the transport closes its socket in the next iteration
        try:
            sock = bind_socket(self.host, self.port)
        except OSError as error:
            self._stats.errors[error.errno or errno.EIO] += 1
            await asyncio.sleep(REOPEN_SECONDS)
            return
        await self._adopt(sock)
        self._stats.reopened += 1

    @property
    def queued(self) -> int:
        """Datagrams waiting for the system to take them."""
        return len(self._outgoing)

    def rebuild(self) -> None:
        """Close the socket and open it again on the same port; for after a sleep of the machine."""
        if self._stream is not None:
            self._stream.close()

    def fits(self, address: Address) -> bool:
        """True if this socket can reach that family."""
        return is_ipv6(address) == (":" in self.host)

    async def close(self) -> None:
        """Send what is queued, then close; nothing of it survives."""
        if self._closed:
            return
        self._closed = True
        while self._outgoing:
            data, address = self._outgoing.popleft()
            await self._write_one(data, address)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        # The transport closes its socket by call_soon; without this turn it would outlive us.
        await asyncio.sleep(0)

"""Peers on loopback for tests, and waiting for conditions rather than for time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from p2p.errors import NetworkProblem
from p2p.network.addresses import Address
from p2p.network.certificates import public_bytes
from p2p.network.frames import CloseCode, Frame, Hello, Refuse
from p2p.network.link import Link
from p2p.network.link_types import LinkStatus
from p2p.network.mesh import Mesh
from p2p.network.transport import Endpoint, make_hello

T = TypeVar("T")

WAIT_SECONDS = 120.0
"""Only a failing test waits for it, so it may be far longer than the slowest machine needs."""


def key_of(number: int) -> Ed25519PrivateKey:
    """A key that is the same in every run."""
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


async def soon(awaitable: Awaitable[T]) -> T:
    """Wait, but not for ever."""
    async with asyncio.timeout(WAIT_SECONDS):
        return await awaitable


class Bell:
    """Rung whenever something happened, so that conditions are looked at again."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        self._event.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            while not condition():
                self._event.clear()
                await self._event.wait()


class Host:
    """An endpoint with its callbacks recorded."""

    def __init__(self, key: Ed25519PrivateKey, endpoint: Endpoint) -> None:
        self.private_key = key
        self.key = public_bytes(key)
        self.endpoint = endpoint
        self.bell = Bell()
        self.links: list[Link] = []
        self.frames: list[Frame] = []
        self.closed: list[CloseCode] = []
        self.problems: list[NetworkProblem] = []
        self.refusal: Refuse | None = None
        endpoint.on_link = self.watch
        endpoint.allow = lambda key, address: self.refusal
        endpoint.on_problem = self._problem

    @property
    def address(self) -> Address:
        return ("127.0.0.1", self.endpoint.port)

    def watch(self, link: Link) -> None:
        self.links.append(link)
        link.on_frame = self._frame
        link.on_closed = self._closed
        self.bell.ring()

    def _frame(self, frame: Frame) -> None:
        self.frames.append(frame)
        self.bell.ring()

    def _closed(self, reason: CloseCode) -> None:
        self.closed.append(reason)
        self.bell.ring()

    def _problem(self, address: Address, problem: NetworkProblem) -> None:
        self.problems.append(problem)
        self.bell.ring()

    async def dial(self, other: Host) -> Link:
        link = await soon(self.endpoint.dial(other.address, other.key))
        self.watch(link)
        return link


class Player:
    """A mesh with its handler recorded; it is its own handler."""

    def __init__(self, key: Ed25519PrivateKey, endpoint: Endpoint) -> None:
        self.key = public_bytes(key)
        self.bell = Bell()
        self.ups: list[bytes] = []
        self.downs: list[tuple[bytes, CloseCode]] = []
        self.frames: list[tuple[bytes, Frame]] = []
        self.statuses: list[tuple[bytes, LinkStatus]] = []
        self.problems: list[NetworkProblem] = []
        self.refusal: Refuse | None = None
        self.greeting: Frame | None = None
        self.mesh = Mesh(endpoint, key, self)

    @property
    def address(self) -> Address:
        return ("127.0.0.1", self.mesh.endpoint.port)

    def link_up(self, peer: bytes, hello: Hello) -> None:
        self.ups.append(peer)
        if self.greeting is not None:
            self.mesh.send(peer, self.greeting)
        self.bell.ring()

    def link_down(self, peer: bytes, reason: CloseCode) -> None:
        self.downs.append((peer, reason))
        self.bell.ring()

    def frame(self, peer: bytes, frame: Frame) -> None:
        self.frames.append((peer, frame))
        self.bell.ring()

    def may_enter(self, peer: bytes, address: Address) -> Refuse | None:
        return self.refusal

    def status(self, peer: bytes, status: LinkStatus) -> None:
        self.statuses.append((peer, status))
        self.bell.ring()

    def problem(self, address: Address, problem: NetworkProblem) -> None:
        self.problems.append(problem)
        self.bell.ring()


class Lan:
    """Makes hosts and players, and closes them."""

    def __init__(self) -> None:
        self._endpoints: list[Endpoint] = []
        self._meshes: list[Mesh] = []

    async def endpoint(self, number: int, hello: Hello | None = None, port: int = 0) -> Endpoint:
        endpoint = await Endpoint.open(
            key_of(number),
            addresses=("127.0.0.1",),
            port=port,
            hello=hello if hello is not None else make_hello("0.1"),
        )
        self._endpoints.append(endpoint)
        return endpoint

    async def host(self, number: int, hello: Hello | None = None) -> Host:
        return Host(key_of(number), await self.endpoint(number, hello))

    async def player(self, number: int, port: int = 0) -> Player:
        player = Player(key_of(number), await self.endpoint(number, port=port))
        self._meshes.append(player.mesh)
        return player

    async def close(self) -> None:
        await asyncio.gather(*(mesh.close() for mesh in self._meshes))
        await asyncio.gather(*(endpoint.close() for endpoint in self._endpoints))


def kill(endpoint: Endpoint) -> None:
    """Take an endpoint off the network as a crash would: nothing is sent or heard any more."""
    for sock in endpoint._sockets:
        sock.send = lambda data, address: None  # type: ignore[method-assign]
    endpoint._received = lambda data, address: None  # type: ignore[method-assign]
    for sock in endpoint._sockets:
        sock._received = lambda data, address: None

"""Nodes in memory: peers of ``tests.p2p.peers`` behind the interface of ``p2p.node.node.Node``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from engine.errors import ShitheadError
from engine.moves import PlayerMove
from engine.rules import RuleSet
from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.rounds.news import News, Reporter
from p2p.rounds.snapshot import Knocking, LinkView, Snapshot, Surroundings, make_snapshot
from tests.p2p.peers import Peer, Table


class MemoryNode:
    """A node without network, disk and clock. ``now`` is what its clock shows."""

    def __init__(self, house: House, peer: Peer, consents: bool) -> None:
        self.house = house
        self.peer = peer
        self.key = peer.me
        peer.session.always_consent = consents
        self.reporter = Reporter(peer.session)
        self.rules = RuleSet()
        self.limits = (0, 0, 60)
        self.seats = 5
        self.last_round_file: Path | None = None
        self.gone = asyncio.Event()
        self.gone_why = ""
        self.gone_problem: ShitheadError | None = None
        self.door: tuple[Knocking, ...] = ()
        self.links: dict[bytes, LinkView] = {}
        self.done: list[tuple[object, ...]] = []
        self.left = False
        self._listeners: list[Callable[[tuple[News, ...]], None]] = []
        self.snapshot: Snapshot = self.look()
        self.reporter.news()

    def look(self) -> Snapshot:
        session = self.peer.session
        links = {key: LinkView("good", 0.004) for key in session.members()} | self.links
        around = Surroundings(
            links=links, door=self.door, acting_host=session.host, addresses=("192.0.2.7:47101",)
        )
        return make_snapshot(session, around, self.house.now)

    def subscribe(self, listener: Callable[[tuple[News, ...]], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    def tell(self, *news: News) -> None:
        """Refreshes the snapshot and tells what the session has for news, then ``news``."""
        found = (*self.reporter.news(), *news)
        self.snapshot = self.look()
        for listener in list(self._listeners):
            listener(found)

    async def act(self, move: PlayerMove, stamp: bytes | None = None) -> None:
        fresh = self.look().round
        if stamp is not None and (fresh is None or fresh.stamp != stamp):
            raise LocalProtocolError("stale", "The table has changed meanwhile: look again.")
        self.peer.act(move)
        self.house.settle()

    async def offer_round(self) -> None:
        members = list(self.peer.session.members())
        turn_s, arrange_s, grace_s = self.limits
        offer = self.peer.session.offer(self.rules, members, grace_s, turn_s=turn_s, arrange_s=arrange_s)
        self.peer.write(offer)
        self.house.settle()

    async def answer_offer(self, yes: bool) -> None:
        asking = self.peer.session.asks_consent()
        if asking is None:
            raise LocalProtocolError("no_offer", "No round is offered.")
        self.peer.session.consent(asking.contract, yes)
        self.house.settle()

    async def admit(self, key: bytes) -> None:
        self.done.append(("admit", key))

    async def refuse(self, key: bytes, why: str = "refused") -> None:
        self.done.append(("refuse", key))

    async def kick(self, key: bytes) -> None:
        self.done.append(("kick", key))

    async def void(self) -> None:
        debts = self.peer.session.overdue(self.house.now)
        body = self.peer.session.leave_round(debts)
        if not debts or body is None:
            raise LocalProtocolError("nothing_overdue", "Nobody has owed anything for {grace} s yet.", grace=60)
        self.peer.write(body)
        self.house.settle()

    async def say(self, text: str) -> None:
        for node in self.house.nodes:
            name = self.snapshot.name_of(self.key)
            node.tell(News("said", {"player": self.key, "name": name, "text": text}))

    async def leave_round_only(self) -> None:
        """Leaves the round, and stays at the table."""
        body = self.peer.session.leave_round()
        assert body is not None
        self.peer.write(body)
        self.house.settle()

    async def leave(self) -> None:
        self.left = True
        body = self.peer.session.leave_round()
        if body is not None:
            self.peer.write(body)
        if self.key in self.peer.session.members():
            self.peer.write(e.Leave(self.peer.session.table, []))
        self.house.settle()
        self.gone.set()


class House:
    """A table in memory and the nodes that sit at it; ``consents`` says who accepts offers by themselves."""

    def __init__(self, *names: str, seed: int = 0, asked: tuple[str, ...] = ()) -> None:
        self.now = 0.0
        self.table = Table(names, seed=seed, shuffled=False)
        self.table.settle()
        self.nodes: list[MemoryNode] = []
        self.nodes = [MemoryNode(self, peer, peer.name not in asked) for peer in self.table.peers]

    def settle(self) -> None:
        """Lets everything under way arrive and tells all nodes."""
        self.table.settle()
        for peer in self.table.peers:
            peer.session.tick(self.now)
        for node in self.nodes:
            node.tell()

    def wait(self, seconds: float) -> None:
        """Lets the clocks go on."""
        self.now += seconds
        self.settle()

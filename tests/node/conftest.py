"""Nodes on loopback, with real sockets and real disks; nothing of them survives a test."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random

import pytest

from client.bots import BotPlayer, Level
from engine.rules import RuleSet
from p2p.dealing import Dealing, TransparentDealing
from p2p.node.node import Node, NodeConfig
from p2p.rounds.snapshot import Snapshot

PATIENCE_S = 120.0
"""Nothing here waits for time to pass; this only ends a test that would hang."""


async def until(node: Node, holds: Callable[[Snapshot], bool]) -> Snapshot:
    """Waits, change by change, until a node's snapshot is as wanted."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds(node.snapshot):
            await node.changed()
    return node.snapshot


class Evening:
    """A table of nodes on this machine, and what has to be closed after the test."""

    def __init__(self, directory: Path, dealing: Dealing) -> None:
        self.directory = directory
        self.dealing = dealing
        self.nodes: list[Node] = []
        self.bots: list[BotPlayer] = []

    def config(self, name: str, *, consent: bool = True, grace_s: int = 60, operator: bytes = b"") -> NodeConfig:
        return NodeConfig(
            self.directory / name,
            name,
            loopback=True,
            port=0,
            always_consent=consent,
            sits_ready=consent,
            dealing=self.dealing,
            grace_s=grace_s,
            operator=operator,
        )

    async def open(self, name: str = "Ana", *, seats: int = 5, **options: object) -> Node:
        node = await Node.open_table(
            self.config(name, **options),  # type: ignore[arg-type]
            "Kitchen",
            seats=seats,
            rules=RuleSet(),
        )
        self.nodes.append(node)
        return node

    async def join(self, name: str, **options: object) -> Node:
        """Joins the first node's table, which lets everybody in."""
        host = self.nodes[0]
        stop = host.subscribe(lambda news: None)
        admitting = asyncio.create_task(self._admit(host, name))
        try:
            node = await Node.join_table(self.config(name, **options), ("127.0.0.1", host.port))  # type: ignore[arg-type]
        finally:
            admitting.cancel()
            await asyncio.gather(admitting, return_exceptions=True)
            stop()
        self.nodes.append(node)
        return node

    @staticmethod
    async def _admit(host: Node, name: str) -> None:
        snapshot = await until(host, lambda s: any(knock.name == name for knock in s.door))
        await host.admit(next(knock.key for knock in snapshot.door if knock.name == name))

    async def table(self, *names: str, **options: object) -> list[Node]:
        await self.open(names[0], **options)  # type: ignore[arg-type]
        for name in names[1:]:
            await self.join(name, **options)
        for node in self.nodes:
            await until(
                node,
                lambda s: (
                    len(s.players) == len(names) and all(p.link.status in ("self", "good") for p in s.players)
                ),
            )
        return self.nodes

    def seat_bots(self, *nodes: Node) -> None:
        for number, node in enumerate(nodes or tuple(self.nodes)):
            bot = BotPlayer(node, Level.NORMAL, 0, Random(number))
            bot.start()
            self.bots.append(bot)

    async def close(self) -> None:
        for bot in self.bots:
            await bot.close()
        for node in reversed(self.nodes):
            await node.close()


@pytest.fixture
async def evening(tmp_path: Path) -> AsyncIterator[Evening]:
    """A table with open cards for speed: the arithmetic of the deal has tests of its own."""
    threads = set(threading.enumerate())
    made = Evening(tmp_path, TransparentDealing())
    yield made
    await made.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not others, f"tasks survive: {others}"
    gc.collect()
    left = {t for t in threading.enumerate() if t not in threads and not t.name.startswith("asyncio_")}
    assert not left, f"threads survive: {left}"

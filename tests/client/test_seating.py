"""Bots in their host's process, on real nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from client.bots import Level
from client.datadir import DataDir
from client.hosting import Host, Policy
from client.seating import Bots
from engine.errors import Sentence
from engine.rules import RuleSet
from p2p.dealing import TransparentDealing
from p2p.node.node import Node, NodeConfig
from p2p.node.store import StoreProblem
from p2p.rounds.news import News
from p2p.rounds.snapshot import Snapshot
from tests.node.conftest import until

PATIENCE_S = 120.0
"""Nothing here waits for time to pass; this only ends a test that would hang."""


class Company:
    """A host with bots, and what its person was told."""

    def __init__(self, node: Node, bots: Bots, hosting: asyncio.Task[None]) -> None:
        self.node, self.bots, self.hosting = node, bots, hosting
        self.told: list[Sentence] = []
        self._end = node.subscribe(self._heard)

    def _heard(self, news: tuple[News, ...]) -> None:
        found = [item.values.get("sentence") for item in news if item.name == "error"]
        self.told += [sentence for sentence in found if isinstance(sentence, Sentence)]

    @classmethod
    async def sit(cls, home: Path, count: int) -> Company:
        DataDir(home).prepare()
        config = NodeConfig(home, "Ana", loopback=True, port=0, discovery=False, dealing=TransparentDealing())
        node = await Node.open_table(config, "Kitchen", seats=count + 1, rules=RuleSet())
        host = Host(node, Policy(count + 1))
        hosting = asyncio.create_task(host.run())
        bots = Bots(node, host, DataDir(home), Level.NORMAL, 0.0)
        company = cls(node, bots, hosting)
        await bots.seat(count)
        return company

    async def until(self, holds: Callable[[Snapshot], bool]) -> Snapshot:
        return await until(self.node, holds)

    async def leave(self) -> None:
        self._end()
        self.hosting.cancel()
        await asyncio.gather(self.hosting, return_exceptions=True)
        await self.bots.close()
        await self.node.close()


def links(snapshot: Snapshot) -> dict[str, str]:
    return {player.name: player.link.status for player in snapshot.players if not player.is_me}


@pytest.mark.asyncio
async def test_a_bot_whose_program_fails_is_lost_for_all_and_its_host_hears_why(tmp_path: Path) -> None:
    company = await Company.sit(tmp_path / "ana", 2)
    try:
        names = [node.config.name for node, _ in company.bots._seated]
        failing, _ = company.bots._seated[0]
        failing._table.fail(StoreProblem(Sentence("store_full", "The disk is full.", {})))
        seen = await company.until(lambda s: links(s)[names[0]] == "lost")
        assert links(seen)[names[1]] != "lost"
        async with asyncio.timeout(PATIENCE_S):
            while not company.told:
                await company.node.changed()
        assert [sentence.code for sentence in company.told] == ["bot_stopped"]
        assert names[0] in str(company.told[0].values)
        assert "The disk is full." in str(company.told[0].values)
        assert [node.config.name for node, _ in company.bots._seated] == names[1:]
    finally:
        await company.leave()


@pytest.mark.asyncio
async def test_a_bot_that_was_sent_away_is_ended_and_nothing_is_said_of_a_failure(tmp_path: Path) -> None:
    company = await Company.sit(tmp_path / "ana", 1)
    try:
        ((sent, _),) = company.bots._seated
        await company.node.kick(sent.key)
        async with asyncio.timeout(PATIENCE_S):
            await sent.gone.wait()
            while company.bots._watches:
                await asyncio.gather(*company.bots._watches)
        assert company.bots._seated == []
        assert company.told == []
    finally:
        await company.leave()

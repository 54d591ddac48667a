"""A disk that takes long for every commit, or stands still for a while: the table plays on, nobody seems lost."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine.errors import Sentence
from p2p.feeds.entries import entry_id
from p2p.network import link as link_module
from p2p.network import mesh as mesh_module
from p2p.network.frames import Entries, Frame
from p2p.node import pump as pump_module
from p2p.node.node import Node
from p2p.node.store import Store
from p2p.rounds.audit import verify_file
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.roundfile import list_rounds
from tests.node.conftest import PATIENCE_S, Evening, until
from tests.node.test_node import is_over
from tests.node.test_return import is_in

COMMIT_S = float(os.environ.get("SHITHEAD_COMMIT_S", "0.01"))
"""How long each commit takes in the test of a disk that is always slow; a round has some hundred of them."""


class SlowDisk:
    """The database of a node, whose commits take ``commit_s``, and as long as ``stands`` is set do not end."""

    def __init__(self, node: Node, commit_s: float = 0.0) -> None:
        self.at_work = asyncio.Event()
        """Set when a commit has begun that does not end."""
        self._commit_s = commit_s
        self._turns = threading.Event()
        self._turns.set()
        self._loop = asyncio.get_running_loop()
        self._store = node._table.store
        self._db, self._store._db = self._store._db, self  # type: ignore[assignment]

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        if statement == "commit":
            if not self._turns.is_set():
                self._loop.call_soon_threadsafe(self.at_work.set)
                # As long as the test lives: it only ends a hang.
                self._turns.wait(PATIENCE_S)
            time.sleep(self._commit_s)
        return self._db.execute(statement, *values)

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        self._turns.clear()
        try:
            yield
        finally:
            self._turns.set()


def on_disk(node: Node) -> set[bytes]:
    """The entries that another program finds in a node's database: what a restart would know of."""
    db = sqlite3.connect(node.config.data_dir / "shithead.db", timeout=30)
    rows = db.execute("select id from entries").fetchall()
    db.close()
    return {bytes(ident) for (ident,) in rows}


def watch_sending(node: Node, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Own entries that a node sends before they are on its disk, as they are found."""
    mesh = node._table.mesh
    assert mesh is not None
    early: list[bytes] = []
    send = mesh.send

    def watched(peer: bytes, frame: Frame) -> bool:
        if isinstance(frame, Entries):
            held = on_disk(node)
            early.extend(ident for data, _ in frame.entries if (ident := entry_id(data)) not in held)
        return send(peer, frame)

    monkeypatch.setattr(mesh, "send", watched)
    return early


async def pongs(node: Node, other: Node, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits for so many answers of ``other`` to pings of ``node`` that are sent from now on."""
    mesh = node._table.mesh
    assert mesh is not None
    link = mesh._peers[other.key].link
    first, enough, pong = link._next_ping, asyncio.Event(), link._pong

    def counted(number: int) -> None:
        pong(number)
        if number >= first + count - 1:
            enough.set()

    monkeypatch.setattr(link, "_pong", counted)
    async with asyncio.timeout(PATIENCE_S):
        await enough.wait()


async def heard(node: Node, wanted: str) -> News:
    """Waits for a piece of news: the name of one, or the code of an error."""
    found: asyncio.Future[News] = asyncio.get_running_loop().create_future()

    def listen(news: tuple[News, ...]) -> None:
        for item in news:
            sentence = item.values.get("sentence")
            code = sentence.code if isinstance(sentence, Sentence) else ""
            if wanted in (item.name, code) and not found.done():
                found.set_result(item)

    stop = node.subscribe(listen)
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await found
    finally:
        stop()


async def test_while_a_disk_stands_still_links_live_it_is_said_and_nothing_is_sent_that_is_not_on_it(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_module, "PING_SECONDS", 0.05)
    monkeypatch.setattr(mesh_module, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(pump_module, "SLOW_DISK_S", 0.05)
    monkeypatch.setattr(pump_module, "SLOW_DISK_LOOK_S", 0.01)
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await ana.offer_round()
    for node in (ana, bogdan):
        await until(node, is_in(Phase.ARRANGE))
    disk = SlowDisk(bogdan)
    early = watch_sending(bogdan, monkeypatch)
    with disk.standing_still():
        said, talked = asyncio.create_task(heard(bogdan, "disk_slow")), asyncio.create_task(heard(ana, "said"))
        await asyncio.sleep(0)
        # A bot is ready at once, and that has to be stored.
        evening.seat_bots(ana, bogdan)
        async with asyncio.timeout(PATIENCE_S):
            await disk.at_work.wait()
        known = on_disk(bogdan)
        await pongs(ana, bogdan, 3, monkeypatch)
        await bogdan.say("one moment")
        assert (await talked).values["text"] == "one moment"
        assert str(bogdan.config.data_dir) in str((await said).values["sentence"])
        (seen,) = [player for player in ana.snapshot.players if player.key == bogdan.key]
        assert seen.link.status in ("good", "slow")
        core = ana._table.core
        assert core is not None
        assert {fact.id for fact in list(core.session.feeds.line[bogdan.key])} <= known == on_disk(bogdan)
    await asyncio.gather(*(until(node, is_over(1)) for node in (ana, bogdan)))
    assert early == []
    (path,) = list_rounds(ana.config.data_dir / "rounds")
    assert verify_file(path, evening.dealing).verdict == "fair"


async def test_a_table_with_a_disk_that_is_always_slow_plays_on(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    # A machine that is busy with other tests must not count as a lost link; this one has half a minute for it.
    monkeypatch.setattr(link_module, "LOST_SECONDS", 30.0)
    SlowDisk(bogdan, COMMIT_S)
    early = watch_sending(bogdan, monkeypatch)
    statuses: set[str] = set()
    ana.subscribe(lambda news: statuses.update(player.link.status for player in ana.snapshot.players))
    evening.seat_bots()
    await ana.offer_round()
    await asyncio.gather(*(until(node, is_over(1)) for node in (ana, bogdan)))
    assert early == []
    assert "lost" not in statuses
    assert ana.snapshot.score[0].kind == "finished"


async def test_a_slow_disk_is_told_of_once_in_a_while(evening: Evening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump_module, "SLOW_DISK_LOOK_S", 0.001)
    (ana,) = await evening.table("Ana")
    told: list[str] = []
    ana.subscribe(lambda news: told.extend(item.values["sentence"].code for item in news if item.name == "error"))
    looks, often = 0, asyncio.Event()

    def since_long_ago(store: Store) -> float:
        nonlocal looks
        looks += 1
        if looks % 10 == 0:
            often.set()
        return time.monotonic() - 100.0

    monkeypatch.setattr(
        Store, "committing_since", property(since_long_ago, lambda store, value: None), raising=False
    )
    async with asyncio.timeout(PATIENCE_S):
        await often.wait()
        assert told == ["disk_slow"]
        monkeypatch.setattr(pump_module, "SLOW_DISK_AGAIN_S", 0.0)
        often.clear()
        await often.wait()
    assert len(told) > 5

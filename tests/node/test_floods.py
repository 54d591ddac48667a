"""What a linked peer can make a node do by sending as much as it likes: little, and nobody else waits for it."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from engine.rules import RuleSet
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry, make_entry
from p2p.network import budget
from p2p.network import link as link_module
from p2p.network.budget import Allowance, Attention
from p2p.network.frames import MAX_ENTRIES, MAX_FRAME_BYTES, Ask, CloseCode, Entries, Have, Knock, Linked
from p2p.network.gossip import make_say
from p2p.network.tls_private import unacknowledged_bytes
from p2p.node import door, exchange, pump, table
from p2p.node.node import Node
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from tests.node.conftest import PATIENCE_S, Evening, until

MANY = 2000


def marks(node: Node, count: int) -> list[Entry]:
    """Entries that a member may write at any time, whatever they are good for."""
    assert node._table.core is not None
    session = node._table.core.session
    seq, prev = session.head()
    seen = session.seen()
    made = []
    for number in range(count):
        made.append(make_entry(node._table.private, session.table, seq + number, prev, seen, e.Mark()))
        prev, seen = made[-1].id, ()
    return made


def frames_of(entries: list[Entry]) -> list[Entries]:
    pairs = [(entry.data, entry.signature) for entry in entries]
    step = MAX_ENTRIES // 2
    return [Entries(tuple(pairs[at : at + step])) for at in range(0, len(pairs), step)]


async def offer_to(host: Node, *players: Node) -> None:
    """A round of these players; other members look on."""
    await host._pump.write(lambda core: [core.session.offer(RuleSet(), [node.key for node in players])])


def is_closed(snapshot) -> bool:  # type: ignore[no-untyped-def]
    return snapshot.round is not None and snapshot.round.phase is Phase.CLOSED


def held_of(node: Node, author: Node) -> int:
    assert node._table.core is not None
    return len(node._table.core.session.feeds.line.get(author.key, ()))


async def answered(node: Node) -> None:
    """Waits until no question is being worked on."""
    async with asyncio.timeout(PATIENCE_S):
        while node._exchange._asked:
            await asyncio.wait([task for task in node._table._tasks if "answer" in task.get_name()])


async def test_a_round_is_played_beside_a_member_that_writes_as_fast_as_it_can(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "ENTRIES_BURST_BYTES", 400_000)
    monkeypatch.setattr(budget, "ENTRIES_BYTES_PER_SECOND", 1000)
    monkeypatch.setattr(budget, "MAX_WAITING_BYTES", 200_000)
    ana, bogdan, mallory = await evening.table("Ana", "Bogdan", "Mallory")
    told: list[str] = []
    ana.subscribe(lambda news: told.extend(item.values["sentence"].code for item in news if item.name == "error"))
    flood = frames_of(marks(mallory, MANY))
    for frame in flood:
        for node in (ana, bogdan):
            node._exchange.frame(mallory.key, frame)
    evening.seat_bots(ana, bogdan)
    await offer_to(ana, ana, bogdan)
    for node in (ana, bogdan):
        snapshot = await until(node, is_closed)
        assert snapshot.score[0].kind == "finished"
    cost = len(flood[0].entries[0][0]) + budget.ENTRY_OVERHEAD_BYTES
    for node in (ana, bogdan):
        loop = asyncio.get_running_loop()
        assert node._pump.inflow.flooding(loop.time()) == [mallory.key]
        allowed = 400_000 // cost + 2 * budget.STEP_ENTRIES
        # What the rate adds while the round lasts: less than one entry a second.
        assert held_of(node, mallory) <= allowed + 60 < MANY
        link = node._table.mesh._peers[mallory.key].link  # type: ignore[union-attr]
        assert (
            link.is_paused
            and not node._table.mesh._peers[ana.key if node is bogdan else bogdan.key].link.is_paused
        )  # type: ignore[union-attr]
    assert told == ["flooding"]


async def test_an_own_move_waits_for_one_step_of_a_flood_at_most(evening: Evening) -> None:
    ana, mallory = await evening.table("Ana", "Mallory")
    for frame in frames_of(marks(mallory, MANY)):
        ana._exchange.frame(mallory.key, frame)
    before = held_of(ana, mallory)
    await ana._pump.write(lambda core: [])
    assert held_of(ana, mallory) - before <= 2 * budget.STEP_ENTRIES
    await until(ana, lambda s: held_of(ana, mallory) == before + MANY)


async def test_whoever_was_away_for_long_takes_in_all_at_once(evening: Evening) -> None:
    """A long absence stays below what one peer may send at once."""
    ana, bogdan = await evening.table("Ana", "Bogdan")
    before = held_of(ana, ana)
    for frame in frames_of(marks(ana, MANY)):
        ana._exchange.frame(ana.key, frame)
    await until(ana, lambda s: held_of(ana, ana) == before + MANY)
    carmen = await evening.join("Carmen")
    await until(carmen, lambda s: len(s.players) == 3)
    assert held_of(carmen, ana) > MANY
    assert carmen._pump.inflow.flooding(asyncio.get_running_loop().time()) == []
    del bogdan


async def test_a_round_is_played_beside_a_member_that_never_reads(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither acknowledged nor let go: what is kept for it is bounded, and the link to it ends."""
    monkeypatch.setattr(link_module, "MAX_UNREAD_BYTES", 20_000)
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen")
    deaf = carmen._table.mesh
    assert deaf is not None and ana._table.mesh is not None
    for sock in deaf.endpoint._sockets:
        sock._received = lambda data, address: None
    link = ana._table.mesh._peers[carmen.key].link
    kept: list[int] = []
    ana.subscribe(lambda news: kept.append(unacknowledged_bytes(link._quic, link_module.STREAM)))
    evening.seat_bots(ana, bogdan)
    await offer_to(ana, ana, bogdan)
    for node in (ana, bogdan):
        snapshot = await until(node, is_closed)
        assert snapshot.score[0].kind == "finished"
    assert max(kept) <= 20_000 + MAX_FRAME_BYTES
    assert not link.is_up and link.reason in (CloseCode.TOO_SLOW, CloseCode.LOST)


async def test_questions_without_end_are_answered_at_a_rate(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, mallory = await evening.table("Ana", "Mallory")
    table = ana.snapshot.table
    ana._table.attention = Attention(e.MAX_ADMISSIONS)
    monkeypatch.setattr(ana._table.attention.answers, "_burst", float(4 * budget.QUESTION_BYTES))
    monkeypatch.setattr(ana._table.attention.answers, "_per_second", 0.0)
    sent: Counter[bytes] = Counter()
    assert ana._table.mesh is not None
    send = ana._table.mesh.send
    monkeypatch.setattr(ana._table.mesh, "send", lambda peer, frame: sent.update([peer]) or send(peer, frame))
    for number in range(MANY):
        for frame in (
            Have(table, ()),
            Ask(table, (number.to_bytes(32, "big"),)),
            Knock(table, "Mallory", b""),
        ):
            ana._exchange.frame(mallory.key, frame)
        assert sum("node answer" in task.get_name() for task in ana._table._tasks) <= 3
    await answered(ana)
    # Four questions, and each answered with a frame or two.
    assert 0 < sent[mallory.key] <= 12
    await ana._pump.write(lambda core: [])


async def test_the_newest_question_of_a_kind_is_answered_whatever_came_before(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    assert ana._table.core is not None
    table, last = ana.snapshot.table, next(iter(ana._table.core.session.feeds.by_id))
    asked: list[Ask] = []

    async def note(peer: bytes, ask: Ask) -> None:
        asked.append(ask)

    ana._exchange._on_ask = note  # type: ignore[method-assign]
    for number in range(100):
        ana._exchange.frame(bogdan.key, Ask(table, (number.to_bytes(32, "big"),)))
    ana._exchange.frame(bogdan.key, Ask(table, (last,)))
    await answered(ana)
    assert [ask.ids for ask in asked] == [(bytes(32),), (last,)]


async def test_talk_about_links_makes_few_new_pictures(evening: Evening, monkeypatch: pytest.MonkeyPatch) -> None:
    ana, mallory = await evening.table("Ana", "Mallory")
    monkeypatch.setattr(ana._table.attention.changes, "_per_second", 0.0)
    ana._table.attention.changes._of[mallory.key] = Allowance(5, 0.0)
    made: list[object] = []
    real = pump.make_snapshot
    for module in (pump, table):
        monkeypatch.setattr(module, "make_snapshot", lambda *a: made.append(a[0]) or real(*a))
    for number in range(MANY):
        ana._exchange.frame(mallory.key, Linked((number.to_bytes(32, "big"),)))
        if number % 100 == 0:
            await ana._table.in_worker(lambda: None)
    assert ana._links._theirs[mallory.key] == frozenset({(MANY - 1).to_bytes(32, "big")})
    mine = [session for session in made if ana._table.core is not None and session is ana._table.core.session]
    # Five for what it said, and those of the ticks and of other news meanwhile.
    assert len(mine) < 50


async def test_chat_without_end_is_shown_at_the_pace_of_a_reader(evening: Evening) -> None:
    ana, bogdan, mallory = await evening.table("Ana", "Bogdan", "Mallory")
    for node in (ana, bogdan):
        node._table.attention.lines._of[mallory.key] = Allowance(budget.LINES_BURST, 0.0)
    heard: list[str] = []
    done = asyncio.Event()

    def listen(news: tuple[News, ...]) -> None:
        heard.extend(str(item.values["text"]) for item in news if item.name == "said")
        if "and now" in heard:
            done.set()

    bogdan.subscribe(listen)
    table = ana.snapshot.table
    for number in range(200):
        ana._exchange.frame(mallory.key, make_say(mallory._table.private, table, number + 1, f"line {number}"))
    await ana.say("and now")
    async with asyncio.timeout(PATIENCE_S):
        await done.wait()
    assert heard == [f"line {number}" for number in range(int(budget.LINES_BURST))] + ["and now"]


async def test_chat_that_nobody_signed_is_looked_at_only_so_often(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bogdan, mallory = await evening.table("Ana", "Bogdan", "Mallory")
    ana._table.attention.heard._of[mallory.key] = Allowance(budget.RELAYED_LINES_BURST, 0.0)
    checked: list[object] = []
    real = exchange.is_said
    monkeypatch.setattr(exchange, "is_said", lambda frame: checked.append(frame) or real(frame))
    forged = make_say(mallory._table.private, ana.snapshot.table, 1, "x")
    for number in range(1000):
        frame = type(forged)(forged.table_id, bogdan.key, number, "forged", bytes(64))
        ana._exchange.frame(mallory.key, frame)
    assert len(checked) == budget.RELAYED_LINES_BURST
    stranger = bytes(range(32))
    ana._exchange.frame(
        stranger, make_say(bogdan._table.private, ana.snapshot.table, 5000, "brought by a stranger")
    )
    assert len(checked) == budget.RELAYED_LINES_BURST


async def test_one_machine_fills_only_a_part_of_the_door(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = await evening.open("Ana")
    assert ana._table.mesh is not None
    places = {bytes([number]) * 32: (f"192.168.0.{1 + number // 10}", 1000 + number) for number in range(100)}
    monkeypatch.setattr(ana._table.mesh, "address_of", places.get)
    for number, peer in enumerate(places):
        await ana._door.knocked(peer, Knock(b"", f"Guest {number}", b""))
    hosts = Counter(places[key][0] for key in ana._door._waiting)
    assert len(ana._door._waiting) == door.MAX_DOOR
    assert max(hosts.values()) == door.MAX_DOOR_PER_HOST
    ana._door._waiting.clear()

"""Coming back to a table: without a knock, from what the disk holds, in the middle of a round."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from engine.rules import RuleSet
from p2p.errors import LocalProtocolError, NetworkProblem
from p2p.feeds.identity import load_or_make_key, public_key
from p2p.node.node import Node
from p2p.node.store import RememberedTable, Store
from p2p.rounds.phases import Phase
from tests.node.conftest import PATIENCE_S, Evening, until
from tests.node.test_node import is_over


def remembered(evening: Evening, name: str) -> list[RememberedTable]:
    """What the disk of a node that is closed remembers."""
    data = evening.directory / name
    store = Store(data / "shithead.db", public_key(load_or_make_key(data / "identity.key")))
    try:
        return store.remembered_tables()
    finally:
        store.close()


async def come_back(evening: Evening, name: str, beside: Sequence[Node] = ()) -> Node:
    """Opens the remembered table again. Loopback ports are new each time, so those of others are told."""
    (table,) = remembered(evening, name)
    places = {node.key: [("127.0.0.1", node.port)] for node in beside}
    node = await Node.return_to(evening.config(name), table.table, addresses=places, seats=table.seats)
    evening.nodes.append(node)
    return node


async def stop(evening: Evening, *nodes: Node) -> None:
    for node in nodes:
        await node.close()
        evening.nodes.remove(node)


def is_in(phase: Phase):  # type: ignore[no-untyped-def]
    return lambda s: s.round is not None and s.round.phase is phase


async def test_the_host_returns_to_its_own_table_in_mid_round(evening: Evening) -> None:
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen")
    await ana.offer_round()
    for node in (ana, bogdan, carmen):
        await until(node, is_in(Phase.ARRANGE))
    await stop(evening, ana)
    await until(bogdan, lambda s: s.acting_host == bogdan.key)
    again = await come_back(evening, "Ana", (bogdan, carmen))
    assert (again.key, again.snapshot.name, again.seats) == (ana.key, "Kitchen", 5)
    await until(bogdan, lambda s: s.acting_host == ana.key)
    evening.seat_bots(bogdan, carmen, again)
    for node in (bogdan, carmen, again):
        snapshot = await until(node, is_over(1))
        assert snapshot.score[0].kind == "finished"
    await again.offer_round()
    await asyncio.gather(*(until(node, is_over(2)) for node in (bogdan, carmen, again)))


async def test_a_table_of_which_all_were_stopped_at_once_goes_on(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await ana.offer_round()
    for node in (ana, bogdan):
        await until(node, is_in(Phase.ARRANGE))
    await stop(evening, bogdan, ana)
    ana = await come_back(evening, "Ana")
    with pytest.raises(LocalProtocolError) as early:
        await ana.void()
    assert early.value.code == "catching_up", "nothing may be written before a member has told what it holds"
    bogdan = await come_back(evening, "Bogdan", (ana,))
    evening.seat_bots(ana, bogdan)
    for node in (ana, bogdan):
        assert (await until(node, is_over(1))).score[0].kind == "finished"


async def test_who_was_sent_away_meanwhile_is_told_so(evening: Evening) -> None:
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen")
    await stop(evening, carmen)
    await until(ana, lambda s: any(p.link.status == "lost" for p in s.players))
    await ana.kick(carmen.key)
    await until(bogdan, lambda s: len(s.players) == 2)
    again = await come_back(evening, "Carmen", (ana,))
    async with asyncio.timeout(PATIENCE_S):
        await again.gone.wait()
    assert again.gone_why == "kicked"
    await stop(evening, again)
    assert remembered(evening, "Carmen") == []


async def test_a_seat_lost_for_longer_than_the_grace_goes_to_a_newcomer(evening: Evening) -> None:
    await evening.open("Ana", seats=2, grace_s=2)
    ana, bogdan = evening.nodes[0], await evening.join("Bogdan")
    with pytest.raises(NetworkProblem) as full:
        await Node.join_table(evening.config("Carmen"), ("127.0.0.1", ana.port))
    assert full.value.code == "table_full"
    left: list[tuple[object, object]] = []
    ana.subscribe(lambda news: left.extend((n.values["name"], n.values["why"]) for n in news if n.name == "left"))
    await stop(evening, bogdan)
    await until(ana, lambda s: s.lapsed == (bogdan.key,))
    carmen = await evening.join("Carmen")
    assert [player.name for player in carmen.snapshot.players] == ["Ana", "Carmen"]
    assert left == [("Bogdan", "replaced")]
    again = await come_back(evening, "Bogdan", (ana,))
    async with asyncio.timeout(PATIENCE_S):
        await again.gone.wait()
    assert again.gone_why == "replaced"


async def test_a_seat_is_kept_for_somebody_who_comes_back_before_anybody_knocks(evening: Evening) -> None:
    await evening.open("Ana", seats=2, grace_s=2)
    ana, bogdan = evening.nodes[0], await evening.join("Bogdan")
    await stop(evening, bogdan)
    await until(ana, lambda s: s.lapsed == (bogdan.key,))
    await come_back(evening, "Bogdan", (ana,))
    await until(ana, lambda s: not s.lapsed)
    with pytest.raises(NetworkProblem) as full:
        await Node.join_table(evening.config("Carmen"), ("127.0.0.1", ana.port))
    assert full.value.code == "table_full"


async def test_a_table_whose_host_sits_at_another_one_now_has_ended(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await stop(evening, bogdan, ana)
    other = await Node.open_table(evening.config("Ana"), "Attic", seats=5, rules=RuleSet())
    evening.nodes.append(other)
    again = await come_back(evening, "Bogdan", (other,))
    async with asyncio.timeout(PATIENCE_S):
        await again.gone.wait()
    assert again.gone_why == "closed"


async def test_a_table_that_was_left_is_not_remembered(evening: Evening) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await until(bogdan, lambda s: len(s.players) == 2)
    await bogdan.leave()
    await until(ana, lambda s: len(s.players) == 1)
    await stop(evening, bogdan, ana)
    assert remembered(evening, "Bogdan") == []
    (kept,) = remembered(evening, "Ana")
    assert (kept.name, kept.seats, kept.is_here_only) == ("Kitchen", 5, True)


async def test_nobody_returns_to_a_table_that_is_not_theirs(evening: Evening) -> None:
    with pytest.raises(LocalProtocolError) as problem:
        await Node.return_to(evening.config("Ana"), bytes(32))
    assert problem.value.code == "nothing_held"


async def test_somebody_alone_at_a_stored_table_may_write_at_once(evening: Evening) -> None:
    ana = await evening.open("Ana")
    await stop(evening, ana)
    await come_back(evening, "Ana")
    await evening.join("Bogdan")


async def test_the_rules_of_a_table_are_remembered(evening: Evening) -> None:
    ana = await evening.open("Ana")
    ana.rules = RuleSet(refill_to=4)
    ana.seats = 4
    await ana.say("other rules")
    await until(ana, lambda s: ana._outward._remembered[1:3] == (4, RuleSet(refill_to=4)))
    await stop(evening, ana)
    (kept,) = remembered(evening, "Ana")
    assert (kept.seats, kept.rules) == (4, "refill_to=4")


async def test_without_its_host_a_table_admits_and_plays(evening: Evening) -> None:
    ana, bogdan, carmen = await evening.table("Ana", "Bogdan", "Carmen")
    await stop(evening, ana)
    for node in (bogdan, carmen):
        await until(node, lambda s: s.acting_host == bogdan.key)
    admitting = asyncio.create_task(evening._admit(bogdan, "Dora"))
    # Carmen is asked, and names who acts for the host.
    dora = await Node.join_table(evening.config("Dora"), ("127.0.0.1", carmen.port))
    evening.nodes.append(dora)
    await admitting
    await until(bogdan, lambda s: sum(p.link.status in ("self", "good") for p in s.players) == 3)
    evening.seat_bots(bogdan, carmen, dora)
    await bogdan.offer_round()
    for node in (bogdan, carmen, dora):
        snapshot = await until(node, is_over(1))
        assert snapshot.score[0].kind == "finished"
    assert dora.rules == bogdan.rules

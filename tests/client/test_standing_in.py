"""Limits of time and being away: a player's own program plays, and no earlier than it should."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from client.standing_in import AWAY, TIME_UP, StandIn, reason
from engine.rules import RuleSet
from p2p.rounds.phases import Phase
from tests.client.nodes import House, MemoryNode
from tests.engine.helpers import rules_with

PATIENCE_S = 120.0


def started(turn_s: int = 30, arrange_s: int = 0, rules: RuleSet | None = None) -> House:
    house = House("Ana", "Bogdan", seed=1)
    session = house.nodes[0].peer.session
    house.nodes[0].peer.write(
        session.offer(rules or RuleSet(), list(session.members()), turn_s=turn_s, arrange_s=arrange_s)
    )
    house.settle()
    return house


def in_play(house: House) -> House:
    for node in house.nodes:
        node.peer.write(node.peer.session.intend(_ready(node)))
    house.settle()
    return house


def _ready(node: MemoryNode):  # type: ignore[no-untyped-def]
    from engine.moves import Ready

    return Ready(node.peer.seat)


def mover(house: House) -> MemoryNode:
    (node,) = [node for node in house.nodes if any(w.player == node.key and w.what == "move" for w in waits(node))]
    return node


def waits(node: MemoryNode):  # type: ignore[no-untyped-def]
    assert node.snapshot.round is not None
    return node.snapshot.round.waits


def test_the_limits_stand_in_the_contract() -> None:
    house = started(turn_s=30, arrange_s=90)
    assert [node.snapshot.round.limits for node in house.nodes] == [(30, 90, 60)] * 2  # type: ignore[union-attr]


def test_a_turn_has_a_limit_and_arranging_another() -> None:
    house = started(turn_s=30, arrange_s=90)
    house.wait(89)
    assert [reason(node.snapshot, False) for node in house.nodes] == ["", ""]
    house.wait(2)
    assert [reason(node.snapshot, False) for node in house.nodes] == [TIME_UP, TIME_UP]
    in_play(house)
    mine = mover(house)
    assert reason(mine.snapshot, False) == "", "the clock of a turn starts with the turn"
    house.wait(31)
    others = [node for node in house.nodes if node is not mine]
    assert reason(mine.snapshot, False) == TIME_UP
    assert [reason(node.snapshot, False) for node in others] == [""]


def test_without_limits_nobody_is_hurried() -> None:
    house = in_play(started(turn_s=0))
    house.wait(10_000)
    assert [reason(node.snapshot, False) for node in house.nodes] == ["", ""]
    assert reason(mover(house).snapshot, True) == AWAY


@pytest.mark.parametrize("arrange", ["swap", "choose"])
@pytest.mark.parametrize("is_away", [False, True])
async def test_the_program_plays_on_for_somebody_who_does_not(is_away: bool, arrange: str) -> None:
    house = started(turn_s=30, arrange_s=90, rules=rules_with(arrange=arrange))
    told: list[str] = []
    stand_ins = [StandIn(node, told.append, Random(1)) for node in house.nodes]
    tasks = [asyncio.create_task(stand_in.run()) for stand_in in stand_ins]
    for stand_in in stand_ins:
        stand_in.set_away(is_away)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while house.nodes[0].snapshot.round.phase is not Phase.CLOSED:  # type: ignore[union-attr]
                if not is_away:
                    house.wait(100)
                await asyncio.sleep(0)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert set(told) == {AWAY if is_away else TIME_UP}
    assert all(node.listeners == 0 for node in house.nodes)


async def test_somebody_who_is_back_plays_alone_again() -> None:
    house = in_play(started(turn_s=0))
    told: list[str] = []
    node = mover(house)
    stand_in = StandIn(node, told.append, Random(1))
    task = asyncio.create_task(stand_in.run())
    try:
        stand_in.set_away(True)
        async with asyncio.timeout(PATIENCE_S):
            while not told:  # noqa: ASYNC110 - the other tasks run in between
                await asyncio.sleep(0)
        stand_in.set_away(False)
        count = len(told)
        for _ in range(20):
            house.wait(60)
            await asyncio.sleep(0)
        assert len(told) == count
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("changes", [None, "rules", "clocks"])
async def test_whoever_is_away_says_yes_only_to_what_they_have_played(changes: str | None) -> None:
    house = House("Ana", "Bogdan", seed=1, asked=("Bogdan",))
    ana, bogdan = house.nodes
    bogdan.peer.session.sits_ready = True
    stand_in = StandIn(bogdan, lambda why: None, Random(1))
    task = asyncio.create_task(stand_in.run())
    try:
        await ana.offer_round()
        assert not bogdan.snapshot.asked, "the first one, with nothing unusual"
        stand_in.set_away(True)
        async with asyncio.timeout(PATIENCE_S):
            while bogdan.snapshot.round.state.ready[bogdan.peer.seat] is False:  # type: ignore[union-attr] # noqa: ASYNC110
                await asyncio.sleep(0)
        await ana.leave_round_only()
        if changes == "rules":
            ana.rules = rules_with(burn_run="3")
        if changes == "clocks":
            ana.limits = (30, 0, 60)
        await ana.offer_round()
        assert bogdan.snapshot.asked
        for _ in range(20):
            await asyncio.sleep(0)
        assert bogdan.snapshot.asked is (changes is not None)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

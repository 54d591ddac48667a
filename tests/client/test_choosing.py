"""Sitting down from the list: by a line of it, an address or a name; back at the list where that fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from client.commands import choosing, join
from client.commands.choosing import Chooser, Looking
from client.commands.finding import FoundTable, group
from client.commands.host import TablePlan
from client.commands.join import KNOCK_SAID_S, Door, Waiting
from client.commands.seat import Seat
from client.datadir import DataDir
from client.problems import NoTable
from engine.errors import ShitheadError
from engine.rules import RuleSet
from p2p.errors import NetworkProblem
from p2p.network.discovery import Browser, SeenTable
from p2p.node.node import Node
from tests.client.tui.test_find import GARDEN, KITCHEN, Tables

PLAN = TablePlan("", RuleSet(), 5, 0)


class Network:
    """Browsers that come and go, and doors that answer as a test says."""

    def __init__(self, *tables: SeenTable) -> None:
        self.found = list(tables)
        self.open = 0
        self.opened = 0
        self.knocks: list[tuple[str, list[Door], int]] = []
        self.answers: list[ShitheadError | None] = []

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[Browser]:
        self.open += 1
        self.opened += 1
        try:
            yield cast("Browser", Tables(*self.found))
        finally:
            self.open -= 1

    async def knock(self, seat: Seat, doors: list[Door], plan: TablePlan, say: Callable[[str], None]) -> Node:
        self.knocks.append((seat.name, doors, self.open))
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer
        return cast("Node", "a seat")


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    found = Network(KITCHEN, GARDEN)
    monkeypatch.setattr(join, "knock", found.knock)
    return found


def chooser_of(network: Network, tmp_path: Path, said: list[str]) -> tuple[Chooser, Looking]:
    seat = Seat(DataDir(tmp_path), "Ana", False, "normal", None, None, None)
    looking = Looking(network.browser)
    return Chooser(seat, PLAN, looking, said.append), looking


@pytest.mark.parametrize(
    ("wanted", "address"),
    [
        ("gard", ("192.0.2.2", 47101)),
        ("Kitchen", ("192.0.2.1", 47101)),
        ("192.0.2.9:5000", ("192.0.2.9", 5000)),
        (group([GARDEN])[0], ("192.0.2.2", 47101)),
    ],
)
async def test_what_was_chosen_or_typed_is_where_it_knocks(
    network: Network, tmp_path: Path, wanted: FoundTable | str, address: tuple[str, int]
) -> None:
    chooser, looking = chooser_of(network, tmp_path, [])
    await looking.start()
    await chooser.go(wanted, None)
    (name, doors, browsers) = network.knocks[0]
    assert (name, doors[0].address) == ("Ana", address)
    # The game gets the port that the search had.
    assert browsers == network.open == 0
    assert [table.ad.table for table in looking.tables()] == ["Kitchen", "Garden"]


async def test_after_a_no_the_list_looks_on_and_another_name_is_the_seats(
    network: Network, tmp_path: Path
) -> None:
    chooser, looking = chooser_of(network, tmp_path, [])
    await looking.start()
    network.answers = [
        NetworkProblem("no_answer", address="192.0.2.9:1", seconds=5),
        NetworkProblem("name_taken", name="Ana"),
    ]
    for code in ("no_answer", "name_taken"):
        with pytest.raises(NetworkProblem) as caught:
            await chooser.go("192.0.2.9", None)
        assert caught.value.code == code
        assert network.open == 1
    assert looking.changed.is_set()
    with pytest.raises(ShitheadError) as refused:
        await chooser.go("192.0.2.9", "you")
    assert refused.value.code == "name_doubtful"
    await chooser.go("192.0.2.9", "Anna")
    assert [name for name, _, _ in network.knocks] == ["Ana", "Ana", "Anna"]
    assert (chooser.seat.name, chooser.node) == ("Anna", "a seat")


@pytest.mark.parametrize("wanted", ["999.1.1.1", "Attic"])
async def test_what_there_is_not_is_said_in_the_list(
    network: Network, tmp_path: Path, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait_for(browser: Browser, name: str) -> FoundTable:
        raise NoTable("no_such_table", "No table called {name} answers.", name=name)

    monkeypatch.setattr(join, "wait_for", wait_for)
    said: list[str] = []
    chooser, looking = chooser_of(network, tmp_path, said)
    await looking.start()
    with pytest.raises(ShitheadError):
        await chooser.go(wanted, None)
    assert network.knocks == []
    assert (network.open, network.opened) == (1, 1)
    assert bool(said) == (wanted == "Attic")


async def test_a_seat_that_came_with_ctrl_c_is_given_back(network: Network, tmp_path: Path) -> None:
    left: list[str] = []

    class Seated:
        async def leave(self) -> None:
            left.append("left")

    class List:
        def __init__(self, go: Callable[..., object]) -> None:
            self._go = go

        async def run(self) -> None:
            await self._go("192.0.2.9", None)  # type: ignore[misc]

        def say(self, said: str) -> None:
            pass

    async def knock(*rest: object) -> Node:
        return cast("Node", Seated())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join, "knock", knock)
        patch.setattr(choosing, "browsing", lambda *rest, **more: network.browser())
        seat = Seat(DataDir(tmp_path), "Ana", False, "normal", None, None, None)
        made = await choosing.choose_on_screen(seat, PLAN, lambda looking, go: List(go))  # type: ignore[arg-type,return-value]
    assert made is None
    assert left == ["left"]
    assert network.open == 0


async def test_that_the_host_decides_is_said_only_where_it_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    assert KNOCK_SAID_S >= 1
    said = asyncio.Event()
    told: list[str] = []

    def say(sentence: str) -> None:
        told.append(sentence)
        said.set()

    open_door = Waiting(say, "open")
    open_door.begin()
    open_door.end()
    monkeypatch.setattr(join, "KNOCK_SAID_S", 0)
    slow = Waiting(say, "slow")
    slow.begin()
    async with asyncio.timeout(60):
        await said.wait()
    slow.end()
    assert told == ["slow"]

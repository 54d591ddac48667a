"""Tables as they are seen, grouped and chosen by name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from client.commands import join
from client.commands.common import told
from client.commands.finding import FoundTable, choose, group, look, looks_like_address, one_a_line
from client.commands.join import BUSY_TRIES, _when_not_busy, doors_of, wait_for
from client.problems import NoTable
from p2p.errors import NetworkProblem
from p2p.network.addresses import Address
from p2p.network.advert import TableAd
from p2p.network.discovery import Browser, SeenTable
from p2p.node.node import Node

HERE: Address = ("192.168.1.5", 21052)
THERE: Address = ("192.168.1.6", 21053)


def seen(
    name: str,
    table: int,
    peer: int = 1,
    *,
    live: bool = True,
    addresses: Sequence[Address] = (HERE,),
    high: int = 1,
    low: int = 1,
    rules: str = "wikipedia",
    seats: int = 5,
) -> SeenTable:
    ad = TableAd(
        table=name,
        table_id=bytes([table]) * 8,
        key=bytes([peer]) * 32,
        nonce=bytes(8),
        port=21052,
        players=2,
        seats=seats,
        rules=rules,
        phase="open",
        low=low,
        high=high,
    )
    return SeenTable(ad, tuple(addresses), live, 0.004 if live else None)


class FakeBrowser:
    """A browser that shows one list after the other, each when it has been looked at."""

    def __init__(self, *lists: Sequence[SeenTable]) -> None:
        self.lists = list(lists)
        self.changed = asyncio.Event()
        self.changed.set()

    def tables(self) -> list[SeenTable]:
        if len(self.lists) > 1:
            self.changed.set()
            return list(self.lists.pop(0))
        return list(self.lists[0])


def test_peers_of_one_table_are_one_table_and_the_live_one_is_knocked_at() -> None:
    peers = [seen("Kitchen", 1, 1, live=False), seen("Kitchen", 1, 2, addresses=(THERE,)), seen("Attic", 2, 3)]
    kitchen, attic = group(peers)
    assert (kitchen.name, kitchen.is_live, kitchen.address, kitchen.key) == ("Kitchen", True, THERE, b"\2" * 32)
    assert (attic.name, attic.address) == ("Attic", HERE)
    assert [door.address for door in doors_of(kitchen)] == [THERE, HERE]


def test_rules_and_seats_are_those_that_the_acting_host_names() -> None:
    host, guest = seen("Kitchen", 1, 1, rules="party"), seen("Kitchen", 1, 2, rules="", seats=10)
    for peers in ([host, guest], [guest, host]):
        (table,) = group(peers)
        assert (table.rules, table.seats) == ("party", 5)
    (unknown,) = group([guest])
    assert unknown.in_words() == "Kitchen  2 of 10 players, waiting  192.168.1.5:21052"


def test_a_table_says_in_one_line_what_a_person_needs() -> None:
    (gone,) = group([seen("Kitchen", 1, live=False)])
    assert gone.in_words() == "Kitchen  2 of 5 players, rules wikipedia, waiting  192.168.1.5:21052  (gone?)"
    (old,) = group([seen("Kitchen", 1, low=7, high=7)])
    assert "update" in old.in_words()
    assert not old.is_compatible
    assert old.as_object()["compatible"] is False


def test_an_announced_table_without_an_address_is_listed_and_cannot_be_joined() -> None:
    (table,) = group([seen("Kitchen", 1, live=False, addresses=())])
    assert table.address is None
    assert "address not known" in table.in_words()
    with pytest.raises(NoTable) as caught:
        doors_of(table)
    assert "join ADDRESS" in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("Kitchen", "Kitchen"), ("KITCHEN ", "Kitchen"), ("at", "Attic"), ("Kitchen two", "Kitchen two")],
)
def test_a_name_is_taken_whole_or_by_its_only_beginning(wanted: str, found: str) -> None:
    tables = group([seen("Kitchen", 1), seen("Kitchen two", 2), seen("Attic", 3)])
    assert choose(tables, wanted).name == found


@pytest.mark.parametrize(("wanted", "code"), [("Kit", "several_tables"), ("Cellar", "no_such_table")])
def test_what_fits_nothing_or_several_is_said_with_what_there_is(wanted: str, code: str) -> None:
    tables = group([seen("Kitchen", 1), seen("Kitchen two", 2)])
    with pytest.raises(NoTable) as caught:
        choose(tables, wanted)
    assert caught.value.code == code
    assert "Kitchen two" in str(caught.value)


async def names_seen(browser: FakeBrowser) -> list[FoundTable]:
    return await look(cast("Browser", browser), first_s=5, settle_s=0)


async def test_looking_ends_when_a_table_answers() -> None:
    browser = FakeBrowser([], [seen("Kitchen", 1, live=False)], [seen("Kitchen", 1)])
    assert [table.name for table in await names_seen(browser)] == ["Kitchen"]


async def test_looking_ends_by_itself_with_what_was_only_announced() -> None:
    browser = FakeBrowser([seen("Kitchen", 1, live=False)])
    assert [table.is_live for table in await look(cast("Browser", browser), first_s=0.01)] == [False]


async def test_a_whole_name_is_taken_at_once_though_a_longer_one_begins_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    browser = FakeBrowser([seen("Kitchen two", 2), seen("Kitchen", 1)])
    assert (await wait_for(cast("Browser", browser), "kitchen")).name == "Kitchen"


async def test_a_beginning_waits_for_others_that_may_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("client.commands.join.SETTLE_S", 0.0)
    browser = FakeBrowser([seen("Kitchen", 1)], [seen("Kitchen", 1), seen("Kitten", 2)])
    with pytest.raises(NoTable) as caught:
        await wait_for(cast("Browser", browser), "kit")
    assert caught.value.code == "several_tables"


async def test_a_name_that_never_comes_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("client.commands.join.SETTLE_S", 0.0)
    monkeypatch.setattr("client.commands.join.PATIENCE_S", 0.01)
    browser = FakeBrowser([seen("Kitchen", 1)])
    with pytest.raises(NoTable) as caught:
        await wait_for(cast("Browser", browser), "Attic")
    assert caught.value.code == "no_such_table"
    assert "Kitchen" in str(caught.value)


def test_advice_keeps_its_lines_and_a_name_from_the_network_gets_none() -> None:
    with pytest.raises(NoTable) as caught:
        choose([], "Cellar")
    lines = told(caught.value).splitlines()
    assert lines[0] == "No table called Cellar answers on this network. No table found yet. Most likely:"
    assert [line[:4] for line in lines[1:]] == ["  - "] * 3
    tables = group([seen("Kit\nchen", 1), seen("{0}", 2)])
    said = told(one_a_line("There are:", tables)).splitlines()
    assert len(said) == 3
    assert said[2].startswith("  {0}  2 of 5")


@pytest.mark.parametrize(
    "text", ["999.1.1.1", "a:b:c", "[fe80::1", "192.168.1", "1.2.3.4:99999", "fe80::xyz%eth0"]
)
def test_what_has_the_shape_of_an_address_is_not_looked_for_as_a_name(text: str) -> None:
    assert looks_like_address(text)


@pytest.mark.parametrize(
    "text", ["Kitchen", "Ana's table", "7", "3.5", "Room 1: cards", "10-4", "fox-echo-ocean-bus"]
)
def test_names_are_names(text: str) -> None:
    assert not looks_like_address(text)


@pytest.mark.parametrize(
    ("answers", "end", "tries"),
    [
        ([], "in", 1),
        (["busy"] * 3, "in", 4),
        (["busy"] * BUSY_TRIES, "busy", BUSY_TRIES),
        (["busy", "lost", "busy"], "lost", 2),
    ],
)
async def test_a_busy_table_is_tried_again_and_nothing_else_is(
    monkeypatch: pytest.MonkeyPatch, answers: list[str], end: str, tries: int
) -> None:
    monkeypatch.setattr(join, "BUSY_PAUSE_S", 0)
    made: list[str] = []

    async def sit_down() -> Node:
        made.append(code := answers[len(made)] if len(made) < len(answers) else "in")
        if code != "in":
            raise NetworkProblem(code, address="192.0.2.7:1")
        return cast("Node", "a seat")

    try:
        found = str(await _when_not_busy(sit_down))
    except NetworkProblem as problem:
        found = problem.code
    assert found == {"in": "a seat"}.get(end, end)
    assert len(made) == tries

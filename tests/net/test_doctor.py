"""The doctor on hosts where each trouble was made: the cause that it names is the one that was made."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.net.lan import Host, TestLan, run
from tests.net.test_table import said

pytestmark = pytest.mark.netns

PATIENCE_S = 120.0

MULTICAST = ("ip daddr 224.0.0.0/4 drop", "ip6 daddr ff00::/8 udp dport 5353 drop")


def own_closed(ana: Host, bogdan: Host, lan: TestLan) -> None:
    bogdan.drop_unasked()


def other_closed(ana: Host, bogdan: Host, lan: TestLan) -> None:
    ana.drop_unasked()


def both_closed(ana: Host, bogdan: Host, lan: TestLan) -> None:
    ana.drop_unasked()
    bogdan.drop_unasked()


def multicast_blocked(ana: Host, bogdan: Host, lan: TestLan) -> None:
    """In the switch, where neither side sees it."""
    for host in (ana, bogdan):
        own = f"ip saddr != {host.address}"
        host.firewall(f"ip daddr 224.0.0.0/4 {own} drop", f"{MULTICAST[1]}", "ip daddr 10.77.0.255 accept")


def isolated(ana: Host, bogdan: Host, lan: TestLan) -> None:
    """An access point that keeps its guests apart; the router is reached by all."""
    for host in (ana, bogdan):
        lan.isolate(host)


def no_interface(ana: Host, bogdan: Host, lan: TestLan) -> None:
    run("ip", "-n", bogdan.namespace, "link", "set", "lan0", "down")
    run("ip", "-n", bogdan.namespace, "addr", "flush", "dev", "lan0")


def vpn(ana: Host, bogdan: Host, lan: TestLan) -> None:
    """A tunnel that holds the default route, and the route of the own network with it."""
    inside = ("ip", "-n", bogdan.namespace)
    run(*inside, "link", "add", "wg0", "type", "veth", "peer", "name", "far0")
    run(*inside, "addr", "add", "10.8.0.2/32", "dev", "wg0")
    run(*inside, "link", "set", "wg0", "up")
    run(*inside, "link", "set", "far0", "up")
    run(*inside, "route", "add", "default", "dev", "wg0")
    run(*inside, "route", "del", "10.77.0.0/24", "dev", "lan0")


def nothing(ana: Host, bogdan: Host, lan: TestLan) -> None:
    """No trouble at all."""


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (nothing, "fine"),
        (own_closed, "own_firewall"),
        (other_closed, "other_firewall"),
        (both_closed, "both_firewalls"),
        (multicast_blocked, "multicast_blocked"),
        (isolated, "isolation"),
        (no_interface, "no_interface"),
        (vpn, "vpn"),
    ],
)
async def test_the_cause_named_is_the_one_that_was_made(
    lan: TestLan, tmp_path: Path, make: Callable[[Host, Host, TestLan], None], cause: str
) -> None:
    ana, bogdan, router = await lan.host("ana"), await lan.host("bogdan"), await lan.host("router")
    if make is not vpn:
        for host in (ana, bogdan):
            run("ip", "-n", host.namespace, "route", "add", "default", "via", router.address)
    table = await ana.python("-m", "client.cli", "--data-dir", str(tmp_path / "ana"), "host", "--name", "Ana")
    await said(table, "reach this table")
    make(ana, bogdan, lan)
    found = await doctor(bogdan, ana.address)
    assert found["cause"] == cause, found
    assert bool(found["remedies"]) is (cause != "fine")


async def test_another_network_is_named(lan: TestLan) -> None:
    bogdan = await lan.host("bogdan")
    found = await doctor(bogdan, "192.168.99.3")
    assert found["cause"] == "wrong_subnet"
    assert "10.77.0.0/24" in str(found["sentence"])


async def test_nobody_at_an_address_and_nobody_at_all(lan: TestLan) -> None:
    bogdan = await lan.host("bogdan")
    assert (await doctor(bogdan, "10.77.0.200"))["cause"] == "absent"
    assert (await doctor(bogdan))["cause"] == "nobody"
    bogdan.drop_unasked()
    assert (await doctor(bogdan))["cause"] == "own_firewall"


async def test_a_table_of_this_machine_is_no_trouble(lan: TestLan, tmp_path: Path) -> None:
    ana = await lan.host("ana")
    table = await ana.python("-m", "client.cli", "--data-dir", str(tmp_path / "ana"), "host", "--name", "Ana")
    await said(table, "reach this table")
    for where in ((), (ana.address,), ("127.0.0.1",)):
        found = await doctor(ana, *where)
        assert found["cause"] == "here", found
        assert found["heard"] == []
        assert found["tables"] == ["Ana's table"]
    assert (await doctor(ana, "127.0.0.1:9"))["cause"] == "not_here"


async def doctor(host: Host, *where: str) -> dict[str, object]:
    process = await host.python("-m", "client.cli", "doctor", "--json", *where)
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    assert process.returncode in (0, 1), err.decode()
    assert err == b""
    found: dict[str, object] = json.loads(out)
    return found

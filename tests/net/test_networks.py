"""Networks as people have them: several tables, several players on one machine, other bridges and tunnels, a
taken port, IPv6 alone, long and uneven delays, a machine that sleeps."""

from __future__ import annotations

import asyncio
import signal
from datetime import datetime
from pathlib import Path

import pytest

from tests.net.lan import Host, TestLan, run
from tests.net.test_reach import Seat, ended, seats
from tests.net.test_table import said

pytestmark = pytest.mark.netns

SEATED = "Table {}"
"""What a program says when it has its seat."""


async def opened(seat: Seat, table: str, *options: str) -> asyncio.subprocess.Process:
    """A person's table, open to everybody."""
    program = await seat.start("host", "--open", "--table", table, *options, typing=True)
    await said(program, "reach this table")
    return program


async def sits_down(seat: Seat, *where: str, table: str = "Kitchen") -> asyncio.subprocess.Process:
    program = await seat.start("join", *where, typing=True)
    await said(program, SEATED.format(table))
    return program


async def is_linked(program: asyncio.subprocess.Process, name: str) -> None:
    """Until a program says that it hears somebody itself: a link that came before the table is no event."""
    assert program.stdin is not None
    while True:
        program.stdin.write(b"table\n")
        if "link good" in await said(program, f"  {name}"):
            return
        await asyncio.sleep(0.2)


async def test_several_tables_on_one_network_and_several_players_on_one_machine(
    lan: TestLan, tmp_path: Path
) -> None:
    ana, carmen = await seats(lan, tmp_path, ("Ana", "Carmen"))
    bogdan, dora = (
        Seat(host, tmp_path / name, name) for host, name in ((ana.host, "Bogdan"), (carmen.host, "Dora"))
    )
    await opened(ana, "Kitchen")
    await opened(bogdan, "Attic")
    await sits_down(carmen, "attic", table="Attic")
    await sits_down(dora, "kitchen")
    await ana.until("joined", player="Dora")
    await bogdan.until("joined", player="Carmen")
    seen = await carmen.host.python("-m", "client.cli", "--data-dir", str(tmp_path / "Emil"), "tables")
    out, _ = await seen.communicate()
    assert b"Kitchen  2 of" in out and b"Attic  2 of" in out, out.decode()


async def test_the_port_of_multicast_dns_is_taken_by_another_program(lan: TestLan, tmp_path: Path) -> None:
    ana, bogdan = await seats(lan, tmp_path, ("Ana", "Bogdan"))
    taker = await ana.host.python(
        "-c",
        "import socket, sys\n"
        "four = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "four.bind(('', 5353))\n"
        "print('taken', flush=True)\n"
        "sys.stdin.read()",
    )
    await said(taker, "taken")
    await opened(ana, "Kitchen")
    await ana.until("error")
    (trouble,) = [item for item in ana.happened() if item["event"] == "error"]
    assert "announced" in str(trouble) or "multicast" in str(trouble).lower(), trouble
    await sits_down(bogdan, "kitchen")


def only_link_local(host: Host) -> str:
    """Takes the IPv4 address away; the link-local IPv6 one that is left."""
    run("ip", "-n", host.namespace, "addr", "flush", "dev", "lan0", "scope", "global")
    shown = run("ip", "-n", host.namespace, "-6", "-o", "addr", "show", "dev", "lan0", "scope", "link")
    return shown.split()[3].partition("/")[0]


async def test_where_there_is_link_local_ipv6_alone(lan: TestLan, tmp_path: Path) -> None:
    """By name, and by the address as a person copies it: with the scope of one's own interface."""
    ana, bogdan, carmen = await seats(lan, tmp_path, ("Ana", "Bogdan", "Carmen"))
    address, *_ = [only_link_local(seat.host) for seat in (ana, bogdan, carmen)]
    await opened(ana, "Kitchen")
    await sits_down(bogdan, "kitchen")
    await is_linked(await sits_down(carmen, f"{address}%lan0"), "Bogdan")


def add_bridge_and_tunnel(host: Host) -> None:
    """A bridge as container programs make one, with the same address on every host, and a tunnel that takes all
    traffic that has no better route."""
    inside = ("ip", "-n", host.namespace)
    run(*inside, "link", "add", "docker0", "type", "bridge")
    run(*inside, "addr", "add", "172.17.0.1/16", "dev", "docker0")
    run(*inside, "link", "add", "c0", "type", "veth", "peer", "name", "veth1a2b3c4")
    run(*inside, "link", "set", "veth1a2b3c4", "master", "docker0", "up")
    run(*inside, "link", "set", "c0", "up")
    run(*inside, "link", "set", "docker0", "up")
    run(*inside, "tuntap", "add", "tun0", "mode", "tun")
    run(*inside, "addr", "add", "10.8.0.2/24", "dev", "tun0")
    run(*inside, "link", "set", "tun0", "up")
    run(*inside, "route", "add", "default", "dev", "tun0")


async def test_container_bridges_and_a_tunnel_with_the_default_route_are_in_nobodys_way(
    lan: TestLan, tmp_path: Path
) -> None:
    ana, bogdan, carmen = await seats(lan, tmp_path, ("Ana", "Bogdan", "Carmen"))
    for seat in (ana, bogdan, carmen):
        add_bridge_and_tunnel(seat.host)
    await opened(ana, "Kitchen")
    await sits_down(bogdan, "kitchen")
    # Guests dial each other where each says it is: not at a bridge that every host has.
    await is_linked(await sits_down(carmen, "kitchen"), "Bogdan")


async def test_frames_that_are_long_under_way_and_overtake_each_other(lan: TestLan, tmp_path: Path) -> None:
    """25 to 150 ms each way between a host and the switch: 100 to 600 ms for an answer from another host."""
    ana, bogdan = [
        Seat(await lan.host(name.lower(), delay_ms=(25, 150)), tmp_path / name, name) for name in ("Ana", "Bogdan")
    ]
    host = await ana.start("host", "--open", "--seats", "2", "--table", "Kitchen", "--rounds", "1", "--auto")
    await said(host, "reach this table")
    guest = await bogdan.start("join", "kitchen", "--rounds", "1", "--auto")
    await ended(host, guest)
    for seat in (ana, bogdan):
        over = [item for item in seat.happened() if item["event"] == "over"]
        assert [item["result"] for item in over] == ["finished"]
        dealt = next(item for item in seat.happened() if item["event"] == "hand")
        lasted = datetime.fromisoformat(str(over[0]["at"])) - datetime.fromisoformat(str(dealt["at"]))
        assert lasted.total_seconds() > 1, "a dozen turns one after the other: the wire is no long one"


SLEEP_S = 28.0
"""Longer than a link lives without a word (``p2p.network.transport.IDLE_SECONDS``)."""


async def test_a_machine_that_sleeps_longer_than_its_links_live_plays_on(lan: TestLan, tmp_path: Path) -> None:
    """Nothing runs there meanwhile; the monotonic clock goes on, as it does on some systems.

    Nobody types anything while cards are arranged: only at the limit does each program say ready for its own
    person, and the sleeper's can do that only when it is awake.
    """
    ana, bogdan = await seats(lan, tmp_path, ("Ana", "Bogdan"))
    limits = ("--arrange", "6", "--grace", "600")
    host = await opened(ana, "Kitchen", "--seats", "2", "--rounds", "1", *limits)
    guest = await bogdan.start("join", "kitchen", "--rounds", "1", typing=True)
    await said(guest, SEATED.format("Kitchen"))
    assert host.stdin is not None and guest.stdin is not None
    await said(guest, "Do you play?")  # a first round with a clock is asked about
    guest.stdin.write(b"yes\n")
    await bogdan.until("hand")
    guest.send_signal(signal.SIGSTOP)  # ``ip netns exec`` has become the program itself
    await ana.until("link", player="Bogdan", status="lost")
    await asyncio.sleep(SLEEP_S)  # not a wait for anything: this is the sleep
    guest.send_signal(signal.SIGCONT)
    await ana.until("phase", phase="play")
    for program in (host, guest):
        program.stdin.write(b"away\n")
    await ended(host, guest)
    for seat in (ana, bogdan):
        assert [item["result"] for item in seat.happened() if item["event"] == "over"] == ["finished"]
        # Nobody's program played for them before the limit, and the sleep gave nobody up.
        assert [item["player"] for item in seat.happened() if item["event"] == "ready"].count("Bogdan") == 1

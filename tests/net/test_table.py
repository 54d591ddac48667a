"""Whole evenings between hosts: the program as people start it, found by multicast, over good and bad wires."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from p2p.rounds.audit import Verdict, verify_file
from p2p.rounds.roundfile import list_rounds
from tests.net.lan import TestLan

pytestmark = pytest.mark.netns

PATIENCE_S = 900.0
"""Only ends a test that would hang."""

NAMES = ("Ana", "Bogdan", "Carmen")


async def evening(lan: TestLan, tmp_path: Path, rounds: int, loss: int = 0, *, parted: bool = False) -> None:
    """Three hosts, three bots, nothing said about addresses; everyone's files have to agree.

    ``parted``: the two guests hear nothing of each other, only the host hears both.
    """
    hosts = [await lan.host(name.lower()) for name in NAMES]
    # Only multicast DNS may find the table: questions by broadcast do not get through.
    block = "meta pkttype broadcast drop"
    for host in hosts:
        host.firewall(block, *([f"numgen random mod 100 < {loss} drop"] if loss else []))
    if parted:
        for guest, other in ((hosts[1], hosts[2]), (hosts[2], hosts[1])):
            guest.part_from(other)
    commands = [
        ("host", "--open", "--seats", "3", "--table", "Kitchen"),
        ("join", "kitchen"),
        ("join", "kitchen"),
    ]
    programs = []
    for host, name, command in zip(hosts, NAMES, commands, strict=True):
        programs.append(
            await host.python(
                *("-m", "client.cli", "--data-dir", str(tmp_path / name), *command),
                *("--name", name, "--auto", "--rounds", str(rounds), "--events", str(tmp_path / f"{name}.json")),
            )
        )
        if name == "Ana":
            await said(programs[0], "reach this table")
    async with asyncio.timeout(PATIENCE_S):
        ends = await asyncio.gather(*(program.communicate() for program in programs))
    for program, (out, err) in zip(programs, ends, strict=True):
        assert program.returncode == 0, (out[-2000:].decode(), err.decode())
        assert b"bug" not in err and b"Traceback" not in err
    verdicts = [[verify_file(path) for path in list_rounds(tmp_path / name / "rounds")] for name in NAMES]
    assert [len(found) for found in verdicts] == [rounds] * 3
    for same in zip(*verdicts, strict=True):
        assert {verdict.verdict for verdict in same} == {"fair"}
        assert len({essence(verdict) for verdict in same}) == 1
    for name in NAMES:
        events = [json.loads(line)["event"] for line in (tmp_path / f"{name}.json").read_text().splitlines()]
        assert events.count("over") == rounds
        assert "fault" not in events


def essence(verdict: Verdict) -> object:
    """What has to be the same whoever's file it is."""
    players = tuple((player.name, player.key, player.seat) for player in verdict.players)
    return verdict.round, verdict.contract, players, verdict.finish, verdict.shithead


async def said(program: asyncio.subprocess.Process, words: str) -> str:
    """Reads a program's output until it has said something; that line."""
    assert program.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        while words.encode() not in (line := await program.stdout.readline()):
            assert line, "the program has ended"
        return line.decode().strip()


@pytest.mark.slow
async def test_ten_rounds_between_three_hosts_found_by_multicast_alone(lan: TestLan, tmp_path: Path) -> None:
    await evening(lan, tmp_path, rounds=10)


@pytest.mark.slow
async def test_three_rounds_while_a_fifth_of_all_datagrams_is_lost(lan: TestLan, tmp_path: Path) -> None:
    await evening(lan, tmp_path, rounds=3, loss=20)


async def test_two_who_cannot_reach_each_other_play_through_the_third(lan: TestLan, tmp_path: Path) -> None:
    await evening(lan, tmp_path, rounds=1, parted=True)


async def test_a_killed_host_is_given_up_and_the_others_keep_their_round(lan: TestLan, tmp_path: Path) -> None:
    """Power cut: nobody says goodbye. The round can be ended by the others, and is saved."""
    ana, bogdan = await lan.host("ana"), await lan.host("bogdan")
    host = await ana.python(
        *("-m", "client.cli", "--data-dir", str(tmp_path / "Ana"), "host", "--open", "--table", "Kitchen"),
        *("--name", "Ana", "--seats", "2"),
    )
    await said(host, "reach this table")
    guest = await bogdan.python(
        *("-m", "client.cli", "--data-dir", str(tmp_path / "Bogdan"), "join", ana.address, "--name", "Bogdan")
    )
    await said(guest, "The cards are dealt")
    host.kill()
    await host.communicate()
    assert guest.stdin is not None
    await said(guest, "lost")
    guest.stdin.write(b"void\n")
    await guest.stdin.drain()
    await said(guest, "waits for Ana")
    guest.stdin.write(b"quit\n")
    async with asyncio.timeout(PATIENCE_S):
        _, err = await guest.communicate()
    assert guest.returncode == 0 and b"bug" not in err
    (file,) = list_rounds(tmp_path / "Bogdan" / "rounds")
    assert verify_file(file).verdict == "unproven"

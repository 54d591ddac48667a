"""A hostile host on the LAN, and a hostile member: the table plays on, and neither memory nor work runs away."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from p2p.rounds.audit import verify_file
from p2p.rounds.roundfile import list_rounds
from tests.net.lan import NETWORK, Host, TestLan, run
from tests.net.test_table import PATIENCE_S, said

pytestmark = pytest.mark.netns

MEMORY_MIB = 150
"""What a peer may hold at most; at a quiet table it is about 70."""

QUIET_CPU_S = 60.0
"""Processor time of one program for a start and a round, at the very most: 4 s where nothing else runs."""

CPU_S_PER_ITEM = 0.002
"""Processor time for one hostile datagram, link, entry or frame, at most: a tenth of that was measured."""

SOURCES = [f"{NETWORK}.{number}" for number in range(100, 130)]
"""Addresses that the hostile host sends from, besides its own."""

PORT = 21052

STRANGERS = ("flood", "links", "names")
MEMBERS = ("repeat", "write")
SEATED = (*MEMBERS, "behave")


@dataclass
class Used:
    """What one program has used so far, as the system counts it; zero when it cannot be asked any more."""

    mib: float = 0.0
    cpu_s: float = 0.0


def used(pid: int) -> Used:
    """The most memory that a process has held so far, and its processor time."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{pid}/status").read_text()
        mib = next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return Used(mib, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
    return Used()


async def watched(program: asyncio.subprocess.Process) -> Used:
    """What a program has used, sampled until it ends."""
    most = Used()
    while program.returncode is None:
        now = used(program.pid)
        most = Used(max(most.mib, now.mib), max(most.cpu_s, now.cpu_s))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await program.wait()
    return most


async def play(host: Host, directory: Path, *command: str) -> asyncio.subprocess.Process:
    """A program that plays one round by itself."""
    return await host.python(
        *("-m", "client.cli", "--data-dir", str(directory), *command),
        *("--name", directory.name, "--auto", "--rounds", "1"),
    )


async def ended_well(program: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    """What a program has written until its end; one that fails fails the test at once, whoever waits for it."""
    out, err = await program.communicate()
    assert program.returncode == 0, (out[-2000:].decode(), err.decode())
    return out, err


async def end_well(
    programs: dict[str, asyncio.subprocess.Process], tmp_path: Path, verdicts: tuple[str, ...]
) -> dict[str, Used]:
    """All end in order, with a round that has one of these verdicts; what they used."""
    async with asyncio.timeout(PATIENCE_S):
        watching = [asyncio.create_task(watched(program)) for program in programs.values()]
        ends = await asyncio.gather(*(ended_well(program) for program in programs.values()))
        found = dict(zip(programs, await asyncio.gather(*watching), strict=True))
    for name, (out, err) in zip(programs, ends, strict=True):
        assert b"bug" not in err and b"Traceback" not in err
        assert b"\x1b" not in out + err and "\u202e".encode() not in out + err
        (file,) = list_rounds(tmp_path / name / "rounds")
        assert verify_file(file).verdict in verdicts
    return found


async def play_beside(lan: TestLan, tmp_path: Path, attack: str) -> tuple[dict[str, Used], int]:
    """Two honest programs play a round while ``attack`` goes on (none: empty); what they used, and how much was
    sent."""
    ana, bogdan, mallory = [await lan.host(name) for name in ("ana", "bogdan", "mallory")]
    seats = "3" if attack in SEATED else "2"
    host = await play(ana, tmp_path / "Ana", "host", "--open", "--seats", seats, "--port", str(PORT))
    await said(host, "reach this table")
    hostile: asyncio.subprocess.Process | None = None
    if attack in STRANGERS:
        for source in SOURCES:
            run("ip", "-n", mallory.namespace, "addr", "add", f"{source}/24", "dev", "lan0")
        target = (mallory.address, ana.address) if attack == "names" else (ana.address, str(PORT), *SOURCES)
        hostile = await mallory.python("-m", "tests.net.hostile", attack, *target)
        await said(hostile, "ing")
    elif attack:
        where = (str(tmp_path / "Mallory"), ana.address, str(PORT))
        hostile = await mallory.python("-m", "tests.net.hostile", attack, *where)
    guest = await play(bogdan, tmp_path / "Bogdan", "join", f"{ana.address}:{PORT}")
    # A member that floods may have its own seed come too late, behind all that it sends.
    verdicts = ("fair", "unproven") if attack in MEMBERS else ("fair",)
    found = await end_well({"Ana": host, "Bogdan": guest}, tmp_path, verdicts)
    if hostile is None:
        return found, 0
    if attack in STRANGERS:
        assert hostile.returncode is None
        hostile.terminate()
    out, err = await hostile.communicate()
    if attack in SEATED:
        assert hostile.returncode == 0, err.decode()
    counts = [int(line.split()[1]) for line in out.splitlines() if line.startswith(b"sent ")]
    return found, counts[-1]


@pytest.mark.parametrize("attack", [*STRANGERS, *MEMBERS])
async def test_a_table_plays_on_beside(lan: TestLan, tmp_path: Path, attack: str) -> None:
    """Floods of junk and first packets; links half open and silent ones; ten thousand announced tables; a member
    that repeats all it holds and asks for all; a member that writes, chats and asks as fast as it can."""
    found, sent = await play_beside(lan, tmp_path, attack)
    assert sent > 50
    for each in found.values():
        assert 0 < each.mib < MEMORY_MIB, found
        assert 0 < each.cpu_s < QUIET_CPU_S + sent * CPU_S_PER_ITEM, (found, sent)

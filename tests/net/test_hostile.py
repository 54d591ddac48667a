"""A hostile host on the LAN, and a hostile member: the table plays on, and no memory runs away."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from p2p.audit import verify_file
from p2p.roundfile import list_rounds
from tests.net.lan import NETWORK, Host, TestLan, run
from tests.net.test_table import PATIENCE_S, said

pytestmark = pytest.mark.netns

MEMORY_MIB = 150
"""What a peer may hold at most; at a quiet table it is about 70."""

SOURCES = [f"{NETWORK}.{number}" for number in range(100, 130)]
"""Addresses that the flooding host sends from, besides its own."""

PORT = 21052


def held_mib(pid: int) -> float:
    """The most memory that a process has held so far; 0 when it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0.0


async def peak_mib(program: asyncio.subprocess.Process) -> float:
    """The most memory that a program has held, sampled until it ends."""
    peak = 0.0
    while program.returncode is None:
        peak = max(peak, held_mib(program.pid))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await program.wait()
    return peak


async def play(host: Host, directory: Path, *command: str) -> asyncio.subprocess.Process:
    """A program that plays one round by itself."""
    return await host.python(
        *("-m", "client.cli", "--data-dir", str(directory), *command),
        *("--name", directory.name, "--auto", "--rounds", "1"),
    )


async def end_well(
    programs: dict[str, asyncio.subprocess.Process], tmp_path: Path, verdicts: tuple[str, ...] = ("fair",)
) -> None:
    """All end in order, with a round that has one of these verdicts, and within their memory."""
    async with asyncio.timeout(PATIENCE_S):
        peaks = [asyncio.create_task(peak_mib(program)) for program in programs.values()]
        ends = await asyncio.gather(*(program.communicate() for program in programs.values()))
        found = dict(zip(programs, await asyncio.gather(*peaks), strict=True))
    for (name, program), (out, err) in zip(programs.items(), ends, strict=True):
        assert program.returncode == 0, (out[-2000:].decode(), err.decode())
        assert b"bug" not in err and b"Traceback" not in err
        (file,) = list_rounds(tmp_path / name / "rounds")
        assert verify_file(file).verdict in verdicts
        assert 0 < found[name] < MEMORY_MIB, found


async def test_a_table_plays_on_in_a_flood_from_a_stranger(lan: TestLan, tmp_path: Path) -> None:
    ana, bogdan, mallory = [await lan.host(name) for name in ("ana", "bogdan", "mallory")]
    for source in SOURCES:
        run("ip", "-n", mallory.namespace, "addr", "add", f"{source}/24", "dev", "lan0")
    host = await play(ana, tmp_path / "Ana", "host", "--open", "--seats", "2", "--port", str(PORT))
    await said(host, "reach this table")
    flood = await mallory.python("-m", "tests.net.hostile", "flood", ana.address, str(PORT), *SOURCES)
    await said(flood, "flooding")
    guest = await play(bogdan, tmp_path / "Bogdan", "join", f"{ana.address}:{PORT}")
    await end_well({"Ana": host, "Bogdan": guest}, tmp_path)
    assert flood.returncode is None


async def test_a_table_plays_on_with_a_member_that_repeats_everything(lan: TestLan, tmp_path: Path) -> None:
    ana, bogdan, mallory = [await lan.host(name) for name in ("ana", "bogdan", "mallory")]
    host = await play(ana, tmp_path / "Ana", "host", "--open", "--seats", "3", "--port", str(PORT))
    await said(host, "reach this table")
    hostile = await mallory.python(
        "-m", "tests.net.hostile", "member", str(tmp_path / "Mallory"), ana.address, str(PORT)
    )
    guest = await play(bogdan, tmp_path / "Bogdan", "join", f"{ana.address}:{PORT}")
    # Its own seed may come too late, behind all that it sends; then the round is not proven, and nobody is blamed.
    await end_well({"Ana": host, "Bogdan": guest}, tmp_path, ("fair", "unproven"))
    out, err = await hostile.communicate()
    assert hostile.returncode == 0, err.decode()
    assert int(out.split()[1]) > 50

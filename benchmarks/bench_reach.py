"""Finding and coming back, timed between hosts in network namespaces (Linux, root).

From `join` to a seat: on a plain network, with both firewalls closed (both sides with --search), and with
multicast blocked (join words). From a killed program's start to its seat, and until a lost link is noticed.

    python benchmarks/bench_reach.py [REPEATS]
"""

from __future__ import annotations

import asyncio
import re
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.net.lan import TestLan, why_not
from tests.net.test_reach import Seat, seats

WAIT_S = 60.0


class Reader:
    """The lines of a program, as they come."""

    def __init__(self, program: asyncio.subprocess.Process) -> None:
        self.program = program

    async def until(self, words: str) -> str:
        out = self.program.stdout
        async with asyncio.timeout(WAIT_S):
            while words not in (line := (await out.readline()).decode() if out is not None else ""):
                if not line:
                    raise RuntimeError(f"{words!r} was never said")
        return line


async def table(lan: TestLan, home: Path, *options: str) -> tuple[Seat, Seat, Reader, str]:
    """An open table on one host, a second host, and the table's join words."""
    ana, bogdan = await seats(lan, home, ("Ana", "Bogdan"))
    host = Reader(await ana.start("host", "--open", "--table", "Kitchen", *options, typing=True))
    words = re.findall(r"shithead join (\S+)", await host.until("sit down with"))[0]
    await host.until("reach this table")
    return ana, bogdan, host, words


async def join_s(seat: Seat, *where: str) -> float:
    """Seconds from the command to the seat."""
    start = asyncio.get_running_loop().time()
    program = Reader(await seat.start("join", *where, typing=True))
    await program.until("Table Kitchen")
    return asyncio.get_running_loop().time() - start


async def plain(lan: TestLan, home: Path) -> float:
    _, bogdan, _, _ = await table(lan, home)
    return await join_s(bogdan, "kitchen")


async def both_closed(lan: TestLan, home: Path) -> float:
    ana, bogdan, _, _ = await table(lan, home, "--search")
    ana.host.drop_unasked()
    bogdan.host.drop_unasked()
    return await join_s(bogdan, "kitchen", "--search")


async def blocked(lan: TestLan, home: Path) -> float:
    ana, bogdan, _, words = await table(lan, home)
    for host in (ana.host, bogdan.host):
        host.firewall("ip daddr 224.0.0.0/4 drop", "ip6 daddr ff00::/8 drop", "meta pkttype broadcast drop")
    return await join_s(bogdan, words)


def is_back(item: dict[str, object]) -> bool:
    return item["event"] == "link" and item["status"] == "good"


async def resume(lan: TestLan, home: Path) -> float:
    ana, bogdan, host, _ = await table(lan, home)
    first = Reader(await bogdan.start("join", "kitchen", typing=True))
    await first.until("Table Kitchen")
    if host.program.stdin is not None:
        host.program.stdin.write(b"start\n")
    await first.until("The cards are dealt")
    first.program.kill()
    await ana.until("link", player="Bogdan", status="lost")
    before = len(ana.happened())
    start = asyncio.get_running_loop().time()
    await bogdan.start("join", typing=True)
    async with asyncio.timeout(WAIT_S):
        while not any(is_back(item) for item in ana.happened()[before:]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # a file tells nobody that it has grown
    return asyncio.get_running_loop().time() - start


async def notice(lan: TestLan, home: Path) -> float:
    ana, bogdan, _, _ = await table(lan, home)
    guest = Reader(await bogdan.start("join", "kitchen", typing=True))
    await guest.until("Table Kitchen")
    await ana.until("joined", player="Bogdan")
    start = asyncio.get_running_loop().time()
    guest.program.kill()
    await ana.until("link", player="Bogdan", status="lost")
    return asyncio.get_running_loop().time() - start


CASES: tuple[tuple[str, Callable[[TestLan, Path], Awaitable[float]]], ...] = (
    ("join to seat, same network", plain),
    ("join to seat, both firewalls closed, --search on both sides", both_closed),
    ("join to seat, multicast and broadcast blocked, join words", blocked),
    ("killed in mid-round, start to seat", resume),
    ("killed program to `lost` at another's screen", notice),
)


async def main(repeats: int) -> None:
    """Prints the median and the longest of each case."""
    reason = why_not()
    if reason is not None:
        print(f"skipped: {reason}")
        return
    for name, case in CASES:
        times = []
        for _ in range(repeats):
            lan = TestLan()
            try:
                with tempfile.TemporaryDirectory() as home:
                    times.append(await case(lan, Path(home)))
            finally:
                await lan.close()
        print(f"{name}: median {statistics.median(times):.1f} s, longest {max(times):.1f} s of {repeats}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2))

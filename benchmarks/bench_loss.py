"""Rounds by bots with the real deal between hosts in network namespaces that lose datagrams (Linux, root).

Three hosts, found by multicast; each loses the given share of what comes in, so a question and its answer are
lost more often than that. Afterwards everybody's files are compared: they have to tell the same round.

    python benchmarks/bench_loss.py [ROUNDS] [PERCENT…]      ROUNDS at each loss; 0 10 20 30 unless told
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from p2p.rounds.audit import verify_file
from p2p.rounds.roundfile import list_rounds
from tests.net.lan import Host, TestLan, run, why_not
from tests.net.test_table import NAMES, essence, said

ROUND_WAIT_S = 600.0
"""A round that lasts longer counts as not finished."""


def lasted(events: Path) -> list[float]:
    """Seconds from each offer to the end of its round, by the clock of the program that wrote the events."""
    offered, found = 0.0, []
    for line in events.read_text().splitlines():
        item = json.loads(line)
        if item["event"] == "contract":
            offered = datetime.fromisoformat(item["at"]).timestamp()
        elif item["event"] == "over":
            found.append(datetime.fromisoformat(item["at"]).timestamp() - offered)
    return found


def sent_by(host: Host) -> int:
    """Packets that a host has sent."""
    shown = json.loads(run("ip", "-n", host.namespace, "-s", "-j", "link", "show", "lan0"))
    return int(shown[0]["stats64"]["tx"]["packets"])


async def evening(rounds: int, loss: int) -> tuple[int, int, list[float], float]:
    """Rounds finished alike by all, rounds told differently, their seconds, and datagrams a round."""
    lan = TestLan()
    try:
        with tempfile.TemporaryDirectory() as home:
            hosts = [await lan.host(name.lower()) for name in NAMES]
            programs = []
            for host, name in zip(hosts, NAMES, strict=True):
                if loss:
                    host.lose(loss)
                command = ["join", "kitchen"]
                if name == NAMES[0]:
                    command = ["host", "--open", "--seats", "3", "--table", "Kitchen"]
                home_of = Path(home) / name
                programs.append(
                    await host.python(
                        *("-m", "client.cli", "--data-dir", str(home_of), *command, "--name", name, "--auto"),
                        *("--rounds", str(rounds), "--events", str(home_of.with_suffix(".json"))),
                    )
                )
                if name == NAMES[0]:
                    await said(programs[0], "reach this table")
            try:
                async with asyncio.timeout(ROUND_WAIT_S * rounds):
                    await asyncio.gather(*(program.communicate() for program in programs))
            except TimeoutError:
                print(f"{loss} % lost: the evening did not end in time")
            files = [[verify_file(path) for path in list_rounds(Path(home) / name / "rounds")] for name in NAMES]
            alike = [len({essence(verdict) for verdict in same}) == 1 for same in zip(*files, strict=False)]
            fair = sum(
                is_alike and {verdict.verdict for verdict in same} == {"fair"}
                for is_alike, same in zip(alike, zip(*files, strict=False), strict=True)
            )
            datagrams = sum(sent_by(host) for host in hosts)
            seconds = lasted(Path(home) / f"{NAMES[0]}.json")
            return fair, alike.count(False), seconds, datagrams / max(1, rounds)
    finally:
        await lan.close()


async def main(rounds: int, losses: list[int]) -> None:
    """Prints one line for each loss."""
    reason = why_not()
    if reason is not None:
        print(f"skipped: {reason}")
        return
    plain_s = plain_sent = 0.0
    for loss in losses:
        fair, differ, seconds, sent = await evening(rounds, loss)
        median_s = statistics.median(seconds) if seconds else float("nan")
        plain_s, plain_sent = plain_s or median_s, plain_sent or sent
        print(
            f"{loss:3} % lost each way: {fair} of {rounds} finished, fair and alike, {differ} told differently; "
            f"a round {median_s:.1f} s ({median_s / plain_s:.1f} x), "
            f"{sent:.0f} datagrams ({sent / plain_sent:.1f} x)",
            flush=True,
        )


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(numbers[0] if numbers else 2, numbers[1:] or [0, 10, 20, 30]))

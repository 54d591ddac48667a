"""A real table of real processes on loopback: the deal, a move's trip to the other screen, memory, idling, verify.

    python benchmarks/bench_table.py [PLAYERS] [ROUNDS]

Without arguments: two, four and six players. Every player is a process of its own with its own identity, disk and
sockets; bots play without thinking. Times are of one clock that all processes of a machine share. Medians are
printed; "processor time" is of all cores together, which a busy machine does not change much. LibTMCG's figure is
cited: a deal for four by the same method, measured on the same class of machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

if sys.platform != "win32":
    import resource

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from client.bots import BotPlayer, Level
from engine.rules import RuleSet
from p2p.node.node import Node, NodeConfig
from p2p.rounds.audit import verify_file
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.roundfile import list_rounds

Report = dict[str, Any]
"""What one process has measured, as it came through JSON."""

FOUR = 4
"""Players at the table for which there are most aims, and a figure of another program to compare with."""

AIM_MS = {2: "150", 4: "300", 6: "1200"}
"""Players → how long a deal should take at most."""

IDLE_S = 3.0
"""How long the table is watched doing nothing after its rounds."""


def memory_mib() -> float:
    """Resident memory of this process, or 0 where the system does not tell it this way."""
    pages, page_bytes = 0, 0
    if sys.platform != "win32":
        page_bytes = os.sysconf("SC_PAGE_SIZE")
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * page_bytes / 2**20


class Watch:
    """Notes when this process saw which state of the chain, and when it made which move."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.seen: dict[str, float] = {}
        self.acted: dict[str, float] = {}
        self.phases: dict[str, float] = {}
        self.used: dict[str, float] = {}
        """The processor time of this process when a phase began, in seconds."""
        self._begun = 0.0
        node.subscribe(self.look)
        act = node.act

        async def timed(move: object, stamp: bytes | None = None) -> None:
            self._begun = time.monotonic()
            await act(move, stamp)  # type: ignore[arg-type]
            round_ = node.snapshot.round
            if round_ is not None:
                self.acted[round_.stamp.hex()] = self._begun

        node.act = timed  # type: ignore[method-assign]

    def look(self, news: tuple[News, ...]) -> None:
        round_ = self.node.snapshot.round
        if round_ is not None:
            now = time.monotonic()
            self.seen.setdefault(round_.stamp.hex(), now)
            self.phases.setdefault(f"{round_.number} {round_.phase}", now)
            self.used.setdefault(f"{round_.number} {round_.phase}", time.process_time())


async def until(node: Node, phase: Phase, number: int) -> None:
    """Waits until a node's round is there."""
    event = asyncio.Event()

    def look(news: tuple[News, ...]) -> None:
        round_ = node.snapshot.round
        if round_ is not None and round_.number == number and round_.phase is phase:
            event.set()

    stop = node.subscribe(look)
    look(())
    await event.wait()
    stop()


async def admit_all(node: Node, players: int) -> None:
    """The host lets everybody in."""
    full = asyncio.Event()
    admitting: set[asyncio.Task[None]] = set()
    asked: set[bytes] = set()

    def look(news: tuple[News, ...]) -> None:
        for knock in node.snapshot.door:
            if knock.key not in asked:
                asked.add(knock.key)
                admitting.add(asyncio.get_running_loop().create_task(node.admit(knock.key)))
        present = [p for p in node.snapshot.players if p.link.status in ("self", "good")]
        if len(present) == players:
            full.set()

    stop = node.subscribe(look)
    await full.wait()
    await asyncio.gather(*admitting)
    stop()


async def player(directory: Path, name: str, port: int, players: int, rounds: int) -> None:
    """One process: the host where ``port`` is 0."""
    gc.freeze()  # as the program does
    config = NodeConfig(directory / name, name, loopback=True, port=0, always_consent=True)
    if port:
        node = await Node.join_table(config, ("127.0.0.1", port))
    else:
        node = await Node.open_table(config, "Bench", seats=players, rules=RuleSet())
        print(json.dumps({"port": node.port}), flush=True)
        await admit_all(node, players)
    watch = Watch(node)
    judged = asyncio.Semaphore(0)

    def count_verdicts(news: tuple[News, ...]) -> None:
        for item in news:
            if item.name == "verdict":
                judged.release()

    node.subscribe(count_verdicts)
    bot = BotPlayer(node, Level.NORMAL, 0, Random(name))
    bot.start()
    offers = []
    for number in range(1, rounds + 1):
        if not port:
            offers.append(time.monotonic())
            await node.offer_round()
        await until(node, Phase.CLOSED, number)
        await judged.acquire()
    before = time.process_time()
    await asyncio.sleep(IDLE_S)
    idle = (time.process_time() - before) / IDLE_S
    report = {
        "name": name,
        "idle": idle,
        "used": watch.used,
        "offers": offers,
        "seen": watch.seen,
        "acted": watch.acted,
        "phases": watch.phases,
        "memory": memory_mib(),
    }
    print(json.dumps(report), flush=True)
    await bot.close()
    await node.close()


async def measure(players: int, rounds: int) -> None:
    """Starts the processes and prints what they measured."""
    with tempfile.TemporaryDirectory() as directory:

        async def start(number: int, port: int) -> asyncio.subprocess.Process:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                __file__,
                "--player",
                directory,
                f"player{number}",
                str(port),
                str(players),
                str(rounds),
                stdout=asyncio.subprocess.PIPE,
                limit=2**26,
            )

        host = await start(0, 0)
        assert host.stdout is not None  # noqa: S101 - a pipe was asked for
        port = json.loads(await host.stdout.readline())["port"]
        others = [await start(number, port) for number in range(1, players)]
        reports = []
        for process in (host, *others):
            assert process.stdout is not None  # noqa: S101
            reports.append(json.loads(await process.stdout.readline()))
        for process in (host, *others):
            await process.wait()
        print(f"-- {players} players, {rounds} rounds{'':<44}  aim")
        show(players, rounds, reports)
        show_verify(Path(directory) / "player0" / "rounds", players)


def row(what: str, value: float, unit: str, aim: str = "", cited: str = "") -> None:
    """Prints one figure with its aim and the other program's."""
    print(f"{what:<58} {value:>8.1f} {unit:<4} {aim:>7}  {cited}".rstrip())


def show_verify(directory: Path, players: int) -> None:
    """Verifies each saved round in this process, and one by the command, and prints the times."""
    times, used = [], []
    files = list_rounds(directory)
    for file in files:
        before, before_used = time.perf_counter(), time.process_time()
        verdict = verify_file(file)
        times.append(1000 * (time.perf_counter() - before))
        used.append(1000 * (time.process_time() - before_used))
        if verdict.verdict != "fair":
            print(f"{file.name} is {verdict.verdict}")
    aim = "500" if players == FOUR else ""
    if times:
        row("verify of a saved round", statistics.median(times), "ms", aim)
        row("verify of a saved round, processor time", statistics.median(used), "ms")
    if files and sys.platform != "win32":
        before_used = children_s()
        words = ["-m", "client.cli", "--data-dir", str(directory.parent), "verify", str(files[0].absolute())]
        project = Path(__file__).resolve().parent.parent
        subprocess.run([sys.executable, *words], check=False, stdout=subprocess.DEVNULL, cwd=project)
        row("shithead verify, processor time with the start of Python", 1000 * (children_s() - before_used), "ms")


def children_s() -> float:
    """The processor time of all processes started here that have ended, in seconds; 0 where it is not told."""
    used_s = 0.0
    if sys.platform != "win32":
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        used_s = usage.ru_utime + usage.ru_stime
    return used_s


def used_at(report: Report, number: int, *phases: str) -> float | None:
    """The processor time of a peer when the first of these phases that its screen saw began: a phase that takes no
    time is not always seen."""
    found = [report["used"][f"{number} {phase}"] for phase in phases if f"{number} {phase}" in report["used"]]
    return found[0] if found else None


def used_ms(rounds: int, reports: list[Report], begin: tuple[str, ...], end: tuple[str, ...]) -> list[float]:
    """Of each round: milliseconds of processors that all peers together take from one phase to another."""
    sums = []
    for number in range(1, rounds + 1):
        spans = [(used_at(report, number, *begin), used_at(report, number, *end)) for report in reports]
        known = [last - first for first, last in spans if first is not None and last is not None]
        if len(known) == len(reports):
            sums.append(1000 * sum(known))
    return sums


def deal_times(players: int, rounds: int, reports: list[Report]) -> list[float]:
    """Of each round: milliseconds from the offer to the last screen's cards."""
    deals = []
    for number in range(1, rounds + 1):
        done = [report["phases"].get(f"{number} arrange") for report in reports]
        times = [moment for moment in done if moment is not None]
        if len(times) == players:
            deals.append(1000 * (max(times) - reports[0]["offers"][number - 1]))
    return deals


def trip_times(reports: list[Report]) -> list[float]:
    """Milliseconds from each key to each other screen."""
    return [
        1000 * (other["seen"][stamp] - begun)
        for mover in reports
        for stamp, begun in mover["acted"].items()
        for other in reports
        if other is not mover and stamp in other["seen"]
    ]


def show(players: int, rounds: int, reports: list[Report]) -> None:
    """Prints the medians."""
    deals = deal_times(players, rounds, reports)
    used = used_ms(rounds, reports, ("offer", "keys"), ("arrange",))
    if deals:
        cited = "LibTMCG 2,471 ms" if players == FOUR else ""
        row(
            "deal, offer to the last screen's cards",
            statistics.median(deals),
            "ms",
            AIM_MS.get(players, ""),
            cited,
        )
    if used:
        row("deal, processor time of all peers together", statistics.median(used), "ms")
    trips = trip_times(reports)
    if len(trips) > 1:
        cuts = statistics.quantiles(trips, n=100)
        row("move, from the key to another screen, median", statistics.median(trips), "ms", "10")
        row(f"move, 99th percentile of {len(trips)}", cuts[98], "ms", "30")
    playing = used_ms(rounds, reports, ("play",), ("ending", "reveal", "closed"))
    if len(playing) == rounds:
        moves = sum(len(report["acted"]) for report in reports)
        row("move, processor time of all peers together", sum(playing) / moves, "ms")
    row("idle table, a peer's share of a core", 100 * max(r["idle"] for r in reports), "%", "2")
    row("resident memory of a peer, largest", max(r["memory"] for r in reports), "MiB", "110")


def main() -> None:
    """Reads the arguments."""
    if len(sys.argv) > 1 and sys.argv[1] == "--player":
        directory, name, *numbers = sys.argv[2:7]
        port, seats, played = map(int, numbers)
        asyncio.run(player(Path(directory), name, port, seats, played))
        return
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for players in [int(sys.argv[1])] if len(sys.argv) > 1 else [2, 4, 6]:
        asyncio.run(measure(players, rounds))


if __name__ == "__main__":
    main()

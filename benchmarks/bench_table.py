"""A real table of real processes on loopback: the deal, a move's trip to the other screen, memory, idling, verify.

    python benchmarks/bench_table.py [PLAYERS] [ROUNDS]

Without arguments: two, four and six players. Every player is a process of its own with its own identity, disk and
sockets; bots play without thinking. Times are of one clock that all processes of a machine share. Medians are
printed; "processor time" is what a deal takes of all cores together, which a busy machine does not change much.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from client.bots import BotPlayer, Level
from engine.rules import RuleSet
from p2p.audit import verify_file
from p2p.news import News
from p2p.node import Node, NodeConfig
from p2p.phases import Phase
from p2p.roundfile import list_rounds

IDLE_S = 3.0
"""How long the table is watched doing nothing after its rounds."""


def memory_mib() -> float:
    """Resident memory of this process, or 0 where the system does not tell it this way."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


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
    node.subscribe(lambda news: [judged.release() for item in news if item.name == "verdict"] and None)
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
        print(f"-- {players} players, {rounds} rounds")
        show(players, rounds, reports)
        show_verify(Path(directory) / "player0" / "rounds")


def show_verify(directory: Path) -> None:
    """Verifies each saved round once and prints the median time."""
    times = []
    for file in list_rounds(directory):
        before = time.perf_counter()
        verdict = verify_file(file)
        times.append(1000 * (time.perf_counter() - before))
        if verdict.verdict != "fair":
            print(f"{file.name} is {verdict.verdict}")
    if times:
        print(f"verify of a saved round                                   {statistics.median(times):8.0f} ms")


def show(players: int, rounds: int, reports: list[dict[str, object]]) -> None:
    """Prints the medians."""
    offers = reports[0]["offers"]
    deals = []
    for number in range(1, rounds + 1):
        done = [report["phases"].get(f"{number} arrange") for report in reports]  # type: ignore[attr-defined]
        times = [moment for moment in done if moment is not None]
        if len(times) == players:
            deals.append(1000 * (max(times) - offers[number - 1]))  # type: ignore[index]
    trips = []
    for mover in reports:
        for stamp, begun in mover["acted"].items():  # type: ignore[attr-defined]
            for other in reports:
                if other is not mover and stamp in other["seen"]:  # type: ignore[operator]
                    trips.append(1000 * (other["seen"][stamp] - begun))  # type: ignore[index]
    memory = [report["memory"] for report in reports]
    used = []
    for number in range(1, rounds + 1):
        spans = [(r["used"].get(f"{number} offer"), r["used"].get(f"{number} arrange")) for r in reports]  # type: ignore[attr-defined]
        if all(first is not None and last is not None for first, last in spans):
            used.append(1000 * sum(last - first for first, last in spans))
    if used:
        print(f"deal, processor time of all peers together                {statistics.median(used):8.0f} ms")
    if deals:
        print(f"deal, {players} players, offer to the last screen's cards   {statistics.median(deals):8.0f} ms")
    if len(trips) > 1:
        cuts = statistics.quantiles(trips, n=100)
        print(f"move, from the key to another screen, median              {statistics.median(trips):8.1f} ms")
        print(f"move, 99th percentile of {len(trips):5d}                          {cuts[98]:8.1f} ms")
    print(
        f"idle table, a peer's share of a core                      {100 * max(r['idle'] for r in reports):8.1f} %"
    )  # type: ignore[type-var,operator]
    print(f"resident memory of a peer, largest                        {max(memory):8.0f} MiB")  # type: ignore[type-var]


def main() -> None:
    """Reads the arguments."""
    if len(sys.argv) > 1 and sys.argv[1] == "--player":
        directory, name, port, players, rounds = sys.argv[2:7]
        asyncio.run(player(Path(directory), name, int(port), int(players), int(rounds)))
        return
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    for players in [int(sys.argv[1])] if len(sys.argv) > 1 else [2, 4, 6]:
        asyncio.run(measure(players, rounds))


if __name__ == "__main__":
    main()

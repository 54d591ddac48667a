"""What the full screen costs: drawing a table, a key until its screen is written, an idle client.

Run as ``python -m benchmarks.bench_screen`` or as a file, in the checkout. Work is told in processor time, which
other programs on the machine change little; from a key to the screen in wall-clock time as well.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from client.tui.render import draw
from client.tui.restoring import spare_pauses
from client.view import make_view
from engine.rules import RuleSet
from tests.client.nodes import House
from tests.client.positions import snapshot_of
from tests.client.tui import scenes
from tests.client.tui.desk import desk

SCREENS = 300
KEYS = 400
IDLE_S = 5.0

KEY_LIMIT_MS = 50.0
REDRAW_LIMIT_MS = 5.0
IDLE_LIMIT = 0.01


def at(share: float, times: Sequence[float]) -> float:
    """That quantile of times."""
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def judged(value: float, limit: float) -> str:
    """Whether a figure keeps its limit."""
    return f"limit {limit:g}: {'kept' if value <= limit else 'NOT KEPT'}"


def drawing() -> None:
    """The pure part: a snapshot becomes a view, a view becomes rows."""
    state = scenes.table_state()
    snapshot = snapshot_of(state)
    times = []
    for _ in range(SCREENS):
        start = time.process_time_ns()
        make_view(snapshot)
        times.append((time.process_time_ns() - start) / 1e6)
    worst = at(0.99, times)
    print(f"view of a table                {statistics.median(times):6.2f} ms of work, 99th {worst:6.2f} ms")
    for name, (width, height) in (("60x16", (60, 16)), ("80x24", (80, 24)), ("120x40", (120, 40))):
        for scene in ("playing", "ten_players", "many_cards", "over"):
            view, ui = getattr(scenes, scene)()
            times = []
            for _ in range(SCREENS):
                start = time.process_time_ns()
                draw(view, ui, RuleSet(), 5, width, height)
                times.append((time.process_time_ns() - start) / 1e6)
            worst = at(0.99, times)
            print(
                f"rows of {scene:<12} {name:<8} {statistics.median(times):6.2f} ms of work, 99th {worst:6.2f} ms"
            )


async def keys() -> None:
    """A key until the toolkit has written the changed screen, at a terminal that costs nothing."""
    from client.tui.client import ScreenClient

    house = House("Ana", "Bogdan", seed=3)
    # As the program does before it fills the screen.
    spare_pauses()
    async with desk() as (screen, ends):
        # What is measured is the client, not the terminal in memory.
        screen.tube.stream.feed = lambda data: None  # type: ignore[method-assign]
        client = ScreenClient(house.nodes[0], **ends)
        screen.client = client
        written = asyncio.Event()
        flush = screen.tube.flush

        def flushed() -> None:
            flush()
            written.set()

        screen.tube.flush = flushed  # type: ignore[method-assign]
        running = asyncio.create_task(client.run())
        await written.wait()
        await house.nodes[0].offer_round()
        waits, work = [], []
        for number in range(KEYS):
            # Far enough from the screen before that no two are drawn as one.
            await asyncio.sleep(0.03)
            written.clear()
            start, spent = time.perf_counter(), time.process_time_ns()
            screen.press("right" if number % 2 else "?" if number % 4 == 0 else "left")
            await written.wait()
            waits.append((time.perf_counter() - start) * 1000)
            work.append((time.process_time_ns() - spent) / 1e6)
        late, busy = at(0.99, waits), at(0.99, work)
        print(
            f"key to screen                  {statistics.median(waits):6.2f} ms, 99th percentile {late:6.2f} ms; "
            f"{judged(late, KEY_LIMIT_MS)}"
        )
        print(
            f"redraw of the table            {statistics.median(work):6.2f} ms of work, 99th {busy:6.2f} ms; "
            f"{judged(statistics.median(work), REDRAW_LIMIT_MS)}"
        )
        await screen.quiet()
        count, cpu, wall = len(screen.tube.raw), time.process_time(), time.perf_counter()
        for _ in range(int(IDLE_S)):
            # A node looks after its table once a second; nothing has changed there.
            house.nodes[0].tell()
            await asyncio.sleep(1.0)
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
        print(f"idle client                    {share * 100:6.2f} % of a core; {judged(share, IDLE_LIMIT)}")
        print(f"written meanwhile              {len(screen.tube.raw) - count:6d} characters; limit 0")
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(int(IDLE_S)):
            # Somebody is waited for: a clock on the screen goes on every second.
            house.wait(1.0)
            await asyncio.sleep(1.0)
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
        print(f"idle client, a clock on it     {share * 100:6.2f} % of a core; {judged(share, IDLE_LIMIT)}")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


if __name__ == "__main__":
    drawing()
    asyncio.run(keys())

"""What the full screen costs: drawing a table, a key until its screen is written, an idle client.

Run as ``python -m benchmarks.bench_screen`` or as a file, in the checkout.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from client.tui.render import draw
from engine.rules import RuleSet
from tests.client.nodes import House
from tests.client.tui import scenes
from tests.client.tui.desk import desk

SCREENS = 300
KEYS = 200
IDLE_S = 3.0


def drawing() -> None:
    """The pure part: a view becomes rows."""
    for name, (width, height) in (("80x24", (80, 24)), ("120x40", (120, 40))):
        for scene in ("playing", "ten_players", "many_cards", "over"):
            view, ui = getattr(scenes, scene)()
            times = []
            for _ in range(SCREENS):
                start = time.perf_counter()
                draw(view, ui, RuleSet(), 5, width, height)
                times.append((time.perf_counter() - start) * 1000)
            print(f"draw {scene:<12} {name:<7} {statistics.median(times):6.2f} ms, worst {max(times):6.2f} ms")


async def keys() -> None:
    """A key until the toolkit has written the changed screen, at a terminal that costs nothing."""
    from client.tui.client import ScreenClient

    house = House("Ana", "Bogdan", seed=3)
    async with desk() as (at, ends):
        # What is measured is the client, not the terminal in memory.
        at.tube.stream.feed = lambda text: None  # type: ignore[method-assign]
        client = ScreenClient(house.nodes[0], **ends)
        written = asyncio.Event()
        flush = at.tube.flush

        def flushed() -> None:
            flush()
            written.set()

        at.tube.flush = flushed  # type: ignore[method-assign]
        running = asyncio.create_task(client.run())
        await written.wait()
        await house.nodes[0].offer_round()
        times = []
        for number in range(KEYS):
            await asyncio.sleep(0.03)
            written.clear()
            start = time.perf_counter()
            at.press("right" if number % 2 else "?" if number % 4 == 0 else "left")
            await written.wait()
            times.append((time.perf_counter() - start) * 1000)
        times.sort()
        print(
            f"key to screen: median {statistics.median(times):.1f} ms, 99th percentile "
            f"{times[len(times) * 99 // 100]:.1f} ms"
        )
        cpu, wall = time.process_time(), time.perf_counter()
        await asyncio.sleep(IDLE_S)
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
        print(f"idle: {share * 100:.2f} % of a core")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


if __name__ == "__main__":
    drawing()
    asyncio.run(keys())

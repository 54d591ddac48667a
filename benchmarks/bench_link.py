"""What a link costs by itself: handshake, round trip and throughput between two endpoints on loopback.

Both ends share one process and one processor, so a real LAN is at least as fast. Prints medians.
"""

from __future__ import annotations

import asyncio
import statistics
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from p2p.network.frames import Entries, Frame, Knock, Refuse
from p2p.network.link import Link
from p2p.network.transport import Endpoint

HANDSHAKES = 50
ROUND_TRIPS = 500
BIG_FRAMES = 64
BIG_BYTES = 30_000
LOOPBACK = ("127.0.0.1", "::1")


def quantiles(seconds: list[float]) -> str:
    """Median and 95th percentile in milliseconds."""
    cuts = statistics.quantiles(seconds, n=20)
    return f"median {1000 * statistics.median(seconds):7.2f} ms   95 % {1000 * cuts[-1]:7.2f} ms"


async def handshakes(one: Endpoint, address: tuple[str, int]) -> list[float]:
    """Seconds from the first packet to a link that is up, certificates and both hellos included."""
    took = []
    for _ in range(HANDSHAKES):
        begun = time.perf_counter()
        link = await one.dial(address)
        took.append(time.perf_counter() - begun)
        closed = asyncio.get_running_loop().create_future()
        link.when_closed(closed)
        link.close()
        await closed
    return took


async def round_trips(link: Link, frame: Frame) -> list[float]:
    """Seconds for a small frame there and back."""
    back = asyncio.Event()
    link.on_frame = lambda _: back.set()
    took = []
    for _ in range(ROUND_TRIPS):
        begun = time.perf_counter()
        link.send(frame)
        await back.wait()
        back.clear()
        took.append(time.perf_counter() - begun)
    return took


async def throughput(link: Link) -> float:
    """Bytes a second of frames as big as a shuffle, one way, until the last is answered."""
    done = asyncio.Event()
    link.on_frame = lambda frame: done.set() if isinstance(frame, Refuse) else None
    big = Entries(((bytes(BIG_BYTES), bytes(64)),))
    begun = time.perf_counter()
    for _ in range(BIG_FRAMES):
        link.send(big)
    link.send(Refuse(code="last"))
    await done.wait()
    return BIG_FRAMES * BIG_BYTES / (time.perf_counter() - begun)


def answer(link: Link) -> None:
    """The other side: sends small frames back, swallows big ones. A member of its table is read at full speed."""
    link.trust()

    def echo(frame: Frame) -> None:
        if not isinstance(frame, Entries):
            link.send(frame)

    link.on_frame = echo


async def main() -> None:
    """Measure, and print a line for each."""
    one = await Endpoint.open(Ed25519PrivateKey.generate(), addresses=LOOPBACK, port=0)
    two = await Endpoint.open(Ed25519PrivateKey.generate(), addresses=LOOPBACK, port=0, on_link=answer)
    address = ("127.0.0.1", two.port)
    print(f"handshake      {quantiles(await handshakes(one, address))}")
    link = await one.dial(address, two.key)
    print(f"round trip     {quantiles(await round_trips(link, Knock(table_id=b'', name='Ann', operator=b'')))}")
    print(f"throughput     {await throughput(link) / 1e6:7.1f} MB/s")
    begun = time.perf_counter()
    await one.close()
    await two.close()
    print(f"goodbye        {1000 * (time.perf_counter() - begun):7.2f} ms")


if __name__ == "__main__":
    asyncio.run(main())

"""Hostile programs, run on a host of a test LAN: ``python -m tests.net.hostile flood|member …``.

Each runs until it is killed, or (a member) until the round it sits in is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection

from client.bots import BotPlayer, Level
from p2p.frames import Ask, Entries, Have
from p2p.node import Node, NodeConfig
from p2p.phases import Phase

BURST = 40
"""Datagrams sent at once, then a pause: about 2,000 a second, far more than any table sends."""

PAUSE_S = 0.02
ENTRIES_AGAIN = 60
"""Old entries in one frame of a hostile member."""

MEMBER_PAUSE_S = 0.05
"""Some 1,200 old entries a second to each peer. More would only delay the hostile member's own moves: they wait
behind its flood, since whoever is over the rate is read slowly."""


def first_packet(number: int) -> bytes:
    """The first packet of a link that will never be heard of again."""
    quic = QuicConnection(configuration=QuicConfiguration(alpn_protocols=["shithead"], server_name="x"))
    quic.connect(("10.0.0.1", number), now=0.0)
    return quic.datagrams_to_send(now=0.0)[0][0]


def say(text: str) -> None:
    """Tells the test."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def flood(address: str, port: int, sources: Iterable[str]) -> None:
    """Junk and first packets, from many addresses and ports, as fast as the pauses let it."""
    random = Random(1)
    packets = [first_packet(number) for number in range(64)]
    sockets = []
    for source in sources:
        for _ in range(4):
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.setblocking(False)
            one.bind((source, 0))
            sockets.append(one)
    say("flooding")
    while True:
        for _ in range(BURST):
            one = random.choice(sockets)
            junk = random.randbytes(random.randint(1, 1200))
            data = random.choice((junk, random.choice(packets), damaged(random.choice(packets), random)))
            with contextlib.suppress(BlockingIOError, OSError):
                one.sendto(data, (address, port))
        await asyncio.sleep(PAUSE_S)


def damaged(packet: bytes, random: Random) -> bytes:
    """A first packet with some bytes of its connection ids changed: every one begins another link."""
    changed = bytearray(packet)
    changed[6 + random.randrange(8)] = random.randrange(256)
    return bytes(changed)


async def member(directory: Path, address: str, port: int) -> None:
    """Plays as anybody does, and sends everybody all that it holds, again and again, and asks for all of it."""
    config = NodeConfig(directory, "Mallory", always_consent=True)
    node = await Node.join_table(config, (address, port))
    bot = BotPlayer(node, Level.NORMAL, 0, Random(1))
    bot.start()
    over = asyncio.Event()

    def look(news: object) -> None:
        round_ = node.snapshot.round
        if round_ is not None and round_.phase is Phase.CLOSED:
            over.set()

    node.subscribe(look)
    sending = asyncio.create_task(again_and_again(node))
    await over.wait()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    say(f"sent {COUNT[0]} frames")
    await bot.close()
    await node.close()


COUNT = [0]


async def again_and_again(node: Node) -> None:
    """Old entries, questions for them, and claims to have nothing, to everybody."""
    while True:
        core, mesh = node._table.core, node._table.mesh
        if core is not None and mesh is not None:
            held = list(core.session.feeds.by_id.values())[:ENTRIES_AGAIN]
            frames = [
                Entries(
                    tuple((fact.entry.data, fact.entry.signature) for fact in held if len(fact.entry.data) < 2000)
                ),
                Ask(core.session.table, tuple(fact.id for fact in held)),
                Have(core.session.table, ()),
            ]
            for peer in list(mesh.peers):
                for frame in frames:
                    mesh.send(peer, frame)
                    COUNT[0] += 1
        await asyncio.sleep(MEMBER_PAUSE_S)


def main() -> None:
    """Reads the arguments."""
    match sys.argv[1:]:
        case ["flood", address, port, *sources]:
            asyncio.run(flood(address, int(port), sources))
        case ["member", directory, address, port]:
            asyncio.run(member(Path(directory), address, int(port)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()

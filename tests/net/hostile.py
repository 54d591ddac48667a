"""Hostile programs, run on a host of a test LAN: ``python -m tests.net.hostile MODE …``.

Strangers: ``flood``, ``links``, ``names``; members: ``repeat``, ``write``. Each runs until it is killed, a member
until the round that it sits in is over. ``sent N`` says how much it has sent so far.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Coroutine, Iterable
from pathlib import Path
from random import Random

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from zeroconf import DNSAddress, DNSOutgoing, DNSPointer, DNSService, DNSText, const

from client.bots import BotPlayer, Level
from engine.errors import ShitheadError
from p2p.errors import NetworkProblem
from p2p.feeds import entries as e
from p2p.network.discovery import SERVICE
from p2p.network.frames import Ask, Entries, Have, Knock, Linked
from p2p.network.gossip import make_say
from p2p.network.transport import Endpoint
from p2p.node.node import Node, NodeConfig
from p2p.rounds.phases import Phase

BURST = 40
"""Datagrams sent at once, then a pause: about 2,000 a second, far more than any table sends."""

PAUSE_S = 0.02
ENTRIES_AGAIN = 60
"""Old entries in one frame of a hostile member."""

MEMBER_PAUSE_S = 0.05
"""Some 1,200 old entries a second to each peer. More would only delay the hostile member's own moves: they wait
behind its flood, since whoever is over the rate is read slowly."""


SILENT_AT_ONCE = 24
"""Links kept without a word, or tried: more than strangers may have."""

NAMES = 10_000
"""Tables announced."""

MARKS_AT_ONCE = 20
"""New entries of a writing member every `MEMBER_PAUSE_S`: 400 a second, beside all else."""

MARKS_IN_ALL = 2000
"""More than 4,096 entries of one author in a round are a breach, which ends the round and names the author."""

COUNT = [0]


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
                COUNT[0] += 1
        await asyncio.sleep(PAUSE_S)


def damaged(packet: bytes, random: Random) -> bytes:
    """A first packet with some bytes of its connection ids changed: every one begins another link."""
    changed = bytearray(packet)
    changed[6 + random.randrange(8)] = random.randrange(256)
    return bytes(changed)


async def half_open(address: str, port: int, source: str) -> None:
    """Begins handshakes, shows that its address is its own where it is asked to, and goes no further."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.bind((source, 0))
        while True:
            quic = QuicConnection(configuration=QuicConfiguration(alpn_protocols=["shithead"], server_name="x"))
            quic.connect((address, port), now=loop.time())
            for _ in range(2):
                for data, _ in quic.datagrams_to_send(now=loop.time()):
                    await loop.sock_sendto(sock, data, (address, port))
                    COUNT[0] += 1
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(PAUSE_S):
                        answer, _ = await loop.sock_recvfrom(sock, 2048)
                        if answer[0] & 0xF0 == 0xF0:  # a Retry; whatever else comes gets no answer
                            quic.receive_datagram(answer, (address, port), now=loop.time())


async def silent(address: str, port: int, source: str) -> None:
    """Links under a new name each time, and never says a word."""
    while True:
        endpoint = await Endpoint.open(Ed25519PrivateKey.generate(), addresses=(source,), port=0)
        with contextlib.suppress(NetworkProblem):
            link = await endpoint.dial((address, port))
            COUNT[0] += 1
            gone = asyncio.get_running_loop().create_future()
            link.when_closed(gone)
            await gone
        await endpoint.close()
        await asyncio.sleep(PAUSE_S)


async def links(address: str, port: int, sources: Iterable[str]) -> None:
    """Half-open links from some addresses, silent ones from the others."""
    addresses = list(sources)
    tasks = [asyncio.create_task(silent(address, port, one)) for one in addresses[:SILENT_AT_ONCE]]
    tasks += [asyncio.create_task(half_open(address, port, one)) for one in addresses[SILENT_AT_ONCE:]]
    say("linking")
    await asyncio.gather(*tasks)


HOSTILE_TEXTS = ("\x1b[2J\x1b[31mKitchen", "Kit\u202echen", "x" * 60, "a\u0301" * 20, "Kitchen\x07")


def announcement(number: int, victim: str) -> bytes:
    """A multicast DNS packet of a table with hostile text, at somebody else's address."""
    name, host = f"T{number} (abcd).{SERVICE}", f"h{number}.local."
    out = DNSOutgoing(const._FLAGS_QR_RESPONSE | const._FLAGS_AA, multicast=True)
    key = Ed25519PrivateKey.from_private_bytes(number.to_bytes(32, "big")).public_key().public_bytes_raw()
    items = {
        "v": "1-1",
        "t": HOSTILE_TEXTS[number % len(HOSTILE_TEXTS)],
        "id": "00" * 8,
        "k": key.hex(),
        "n": "00" * 8,
        "p": "2",
        "s": "5",
        "r": "\x1b[5m",
        "ph": "open",
    }
    text = b"".join(bytes([len(item)]) + item for item in (f"{k}={v}".encode() for k, v in items.items()))
    in_, ttl = const._CLASS_IN, 4500
    for record in (
        DNSPointer(SERVICE, const._TYPE_PTR, in_, ttl, name),
        DNSService(name, const._TYPE_SRV, in_, ttl, 0, 0, 21052, host),
        DNSText(name, const._TYPE_TXT, in_, ttl, text),
        DNSAddress(host, const._TYPE_A, in_, ttl, socket.inet_aton(victim)),
    ):
        out.add_answer_at_time(record, 0)
    return out.packets()[0]


async def names(own: str, victim: str) -> None:
    """Announces ten thousand tables, then all of them again."""
    packets = [announcement(number, victim) for number in range(NAMES)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        sock.bind((own, 5353))
        say("announcing")
        while True:
            for number, packet in enumerate(packets):
                with contextlib.suppress(BlockingIOError, OSError):
                    sock.sendto(packet, ("224.0.0.251", 5353))
                    COUNT[0] += 1
                if number % BURST == 0:
                    await asyncio.sleep(PAUSE_S)


async def member(mode: str, directory: Path, address: str, port: int) -> None:
    """Plays as anybody does, and floods everybody beside it (mode ``behave``: only plays)."""
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
    flooding = {"repeat": again_and_again, "write": write_on}.get(mode)
    sending = asyncio.create_task(flooding(node) if flooding is not None else over.wait())
    await over.wait()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    say(f"sent {COUNT[0]}")
    await bot.close()
    await node.close()


async def write_on(node: Node) -> None:
    """New entries that nobody needs, lines of chat, and every other frame there is, to everybody."""
    table, number = node._table, 0
    while True:
        if number < MARKS_IN_ALL:
            with contextlib.suppress(ShitheadError):
                await node._pump.write(lambda core: [e.Mark()] * MARKS_AT_ONCE)
                COUNT[0] += MARKS_AT_ONCE
        ident, mesh = node.snapshot.table, table.mesh
        for _ in range(MARKS_AT_ONCE):
            number += 1
            for frame in (
                make_say(table.private, ident, number, f"line {number}"),
                Knock(ident, "Mallory", b""),
                Linked((os.urandom(32),)),
                Have(ident, ()),
                Ask(ident, (os.urandom(32),)),
            ):
                for peer in list(mesh.peers) if mesh is not None else ():
                    mesh.send(peer, frame)
                    COUNT[0] += 1
        await asyncio.sleep(MEMBER_PAUSE_S)


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


async def counted(attack: Coroutine[object, object, None]) -> None:
    """Says from time to time how much has been sent."""
    task = asyncio.create_task(attack)
    while not task.done():
        await asyncio.wait([task], timeout=1.0)
        say(f"sent {COUNT[0]}")
    await task


def main() -> None:
    """Reads the arguments."""
    match sys.argv[1:]:
        case ["flood", address, port, *sources]:
            asyncio.run(counted(flood(address, int(port), sources)))
        case ["links", address, port, *sources]:
            asyncio.run(counted(links(address, int(port), sources)))
        case ["names", own, victim]:
            asyncio.run(counted(names(own, victim)))
        case [("repeat" | "write" | "behave") as mode, directory, address, port]:
            asyncio.run(member(mode, Path(directory), address, int(port)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()

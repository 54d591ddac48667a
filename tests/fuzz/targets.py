"""What is fed with arbitrary bytes: every reader of what comes from the network or from a file.

A target takes bytes and says whether they were taken. The errors that a reader documents are caught here, anything
else is a finding. Each also checks that what was read is the one way to write it, so that nothing passes in two
encodings.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
from collections.abc import Callable
from functools import cache
from random import Random

from aioquic.quic.events import StreamDataReceived

from engine.errors import RuleError
from engine.record import check, read, write
from engine.record.errors import RecordError, UnreadableRecord
from engine.record.reader import decode as decode_record
from p2p.canonical import NotCanonical, dec, enc
from p2p.dealing import TransparentDealing
from p2p.errors import RemoteProtocolError
from p2p.feeds.entries import MAX_ENTRY_BYTES, Unreadable, read_entry
from p2p.network import advert, frames, link
from p2p.network.addresses import Address
from p2p.network.link_types import LinkState
from p2p.rounds import roundfile
from p2p.rounds.fold import Fold
from tests.p2p.recorded import recorded

SIGNATURE = bytes(64)

MAX_FOLD_STEPS = 150
"""Entries received in one run."""

MAX_RECORD_BYTES = 4096
"""A record is played through; a longer one takes time, not other paths."""


def canonical(data: bytes) -> bool:
    """The encoding of everything."""
    try:
        value = dec(data)
    except NotCanonical:
        return False
    assert enc(value) == data
    return True


def entry(data: bytes) -> bool:
    """An entry without its signature."""
    try:
        read_one = read_entry(data, SIGNATURE)
    except Unreadable:
        return False
    assert len(data) <= MAX_ENTRY_BYTES
    assert read_one.data == data
    return True


def frame(data: bytes) -> bool:
    """One frame of a link."""
    try:
        found = frames.decode(data)
    except RemoteProtocolError:
        return False
    assert frames.encode(found) == data
    return True


def stream(data: bytes) -> bool:
    """A stream, in pieces whose lengths the first byte gives: it cuts alike however it comes."""
    step = data[0] % 64 + 1 if data else 1
    rest = data[1:]
    pieces, whole = frames.FrameCutter(), frames.FrameCutter()
    found = [one for at in range(0, len(rest), step) for one in pieces.feed(rest[at : at + step])]
    assert found == whole.feed(rest)
    assert pieces.oversized == whole.oversized
    assert all(len(one) <= frames.MAX_FRAME_BYTES for one in found)
    return True


class _Wire:
    """A QUIC connection that has just been authenticated and takes everything."""

    host_cid = bytes(8)
    _streams: dict[int, object] = {}  # noqa: RUF012 - the library's name; nothing is ever put in
    _spaces: dict[object, object] = {}  # noqa: RUF012 - the same

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send_stream_data(self, stream: int, data: bytes) -> None:
        self.sent.append(data)

    def send_ping(self, number: int) -> None:
        pass

    def close(self, **reason: object) -> None:
        pass

    def next_event(self) -> None:
        return None

    def datagrams_to_send(self, now: float) -> list[tuple[bytes, Address]]:
        return []

    def get_timer(self) -> None:
        return None

    def get_peer_address(self) -> None:
        return None


class _Owner:
    """An endpoint that welcomes everybody."""

    ups = 0

    def link_greeted(self, one: link.Link) -> None:
        return None

    def link_up(self, one: link.Link) -> None:
        self.ups += 1

    def link_closed(self, one: link.Link) -> None:
        pass


def hello(data: bytes) -> bool:
    """The first bytes of a link, as the dialled side (or the dialling one) reads them, in pieces: it is up only
    after a hello of a version that both speak, and nothing that came before one is handed on."""
    return _loop().run_until_complete(_greeted(data))


async def _greeted(data: bytes) -> bool:
    wire, owner, own = _Wire(), _Owner(), frames.Hello(1, 1, "0.1", bytes(8))
    is_dialled, step = bool(data and data[0] & 1), (data[0] >> 1) + 1 if data else 1
    one = link.Link(wire, owner, ("127.0.0.1", 9), own, dialled=is_dialled)  # type: ignore[arg-type]
    one.state = LinkState.GREETING
    taken: list[frames.Frame] = []
    one.on_frame = taken.append
    for at in range(1, len(data), step):
        was = one.state
        one._handle(StreamDataReceived(data=data[at : at + step], end_stream=False, stream_id=link.STREAM))
        assert was is not LinkState.CLOSED or one.state is LinkState.CLOSED
    assert one.bad_frames <= link.MAX_BAD_FRAMES + 1 or one.state is LinkState.CLOSED
    assert owner.ups == (one.hello is not None and one.hello.low <= 1 <= one.hello.high)
    assert owner.ups or not taken
    assert len(one._cutter._buffer) <= frames.MAX_FRAME_BYTES + frames.LENGTH_BYTES
    one.forget()
    return bool(owner.ups)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    return loop


def round_file(data: bytes) -> bool:
    """A saved round, its checksum made to fit: what is behind it has to be as safe."""
    body = roundfile.MAGIC + data
    for candidate in (data, body + hashlib.sha256(body).digest()):
        try:
            roundfile.decode(candidate, "fuzz")
        except (roundfile.NotARound, roundfile.DamagedRound):
            continue
        return True
    return False


def ad(data: bytes) -> bool:
    """An advert by datagram."""
    try:
        found = advert.decode_ad(data)
    except RemoteProtocolError:
        return False
    assert found.table == advert.clean_text(found.table, len(found.table))
    assert len(advert.instance_label(found).encode()) <= advert.MAX_LABEL_BYTES
    return True


def txt(data: bytes) -> bool:
    """A TXT record: ``key=value`` strings with a length before each (RFC 6763, section 6)."""
    record: dict[bytes, bytes | None] = {}
    at = 0
    while at < len(data):
        item = data[at + 1 : at + 1 + data[at]]
        key, equals, value = item.partition(b"=")
        record.setdefault(key, value if equals else None)
        at += 1 + data[at]
    try:
        advert.from_txt(record, 21052)
    except RemoteProtocolError:
        return False
    return True


def record(data: bytes) -> bool:
    """A record of a round, in text."""
    try:
        found = read(decode_record(data[:MAX_RECORD_BYTES]))
        check(found)
    except (RecordError, UnreadableRecord, RuleError):
        return False
    assert write(read(write(found))) == write(found)
    return True


@cache
def _entries() -> tuple[tuple[bytes, bytes], ...]:
    return tuple((one.data, one.signature) for one in recorded(2, "finished")[0])


def fold(data: bytes) -> bool:
    """Entries of a round in an order, with gaps and repeats, that the bytes choose; some of them damaged.

    Signatures are left out on purpose: everything is as if its author had signed it. No honest order blames
    anybody; nothing held grows beyond its bound.
    """
    held = _entries()
    session = Fold(read_entry(*held[0]).table, TransparentDealing())
    damaged = False
    random = Random(data)
    for byte in data[:MAX_FOLD_STEPS]:
        raw, signature = held[byte % len(held)]
        if byte > 250:
            changed = bytearray(raw)
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
            raw, damaged = bytes(changed), True
        try:
            session.receive(read_entry(raw, signature))
        except Unreadable:
            continue
        if byte % 16 == 0 and (job := session.job()) is not None:
            session.finish(job, job.run())
    assert len(session.feeds.by_id) <= len(data)
    if not damaged:
        assert session.table_faults == []
        assert all(not round_.faults for round_ in session.rounds.values())
    return True


TARGETS: dict[str, Callable[[bytes], bool]] = {
    target.__name__: target
    for target in (canonical, entry, frame, stream, hello, round_file, ad, txt, record, fold)
}

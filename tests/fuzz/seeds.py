"""Small good inputs for each target: where a search by coverage begins, and what mutation starts from."""

from __future__ import annotations

from pathlib import Path

import msgspec

from p2p.network import advert, frames
from p2p.rounds import roundfile
from tests.p2p.peers import Peer
from tests.p2p.recorded import recorded

RECORDS = Path(__file__).parent.parent / "records"

KINDS = 14
"""Entries taken as seeds, the first ones of a round: every kind up to the first moves."""


def seeds() -> dict[str, list[bytes]]:
    """Target → inputs."""
    entries = recorded(2, "finished")[0]
    ad = advert.TableAd(
        table="Kitchen",
        table_id=bytes(8),
        key=Peer("Ada").me,
        nonce=bytes(8),
        port=21052,
        players=2,
        seats=4,
        rules="classic",
        phase="table",
        low=1,
        high=1,
    )
    record = b"".join(bytes([len(item)]) + item for item in _txt(ad))
    some = [
        frames.Hello(1, 1, "0.1.0", bytes(8), ()),
        frames.Have(bytes(32), ((bytes(32), 3, bytes(32)),)),
        frames.Ask(bytes(32), (bytes(32),)),
        frames.Entries(tuple((one.data[:100], one.signature) for one in entries[:2])),
        frames.Refuse("full", (("seats", "4"),)),
    ]
    encoded = [frames.encode(one) for one in some]
    short = [one for one in entries if len(one.data) < 1024]
    body = msgspec.msgpack.encode(
        roundfile._File(
            roundfile.Head(bytes(32), 1, "2026-01-01", "0.1.0", bytes(32), "finished"),
            [(one.data, one.signature) for one in short[:3]],
        )
    )
    return {
        "canonical": [one.data for one in short[:4]],
        "entry": [one.data for one in short[:KINDS]],
        "frame": encoded,
        "stream": [b"\x07" + b"".join(frames.pack(one) for one in encoded)],
        "hello": [
            first + frames.pack(encoded[0]) + rest
            for first in (b"\x00", b"\x0f")
            for rest in (b"", frames.pack(encoded[1]))
        ],
        "round_file": [body],
        "ad": [advert.encode_ad(ad)],
        "txt": [record],
        "record": _records(),
        "fold": [bytes(range(200)), bytes(range(0, 250, 2))],
    }


def _txt(ad: advert.TableAd) -> list[bytes]:
    return [f"{key}={value}".encode() for key, value in advert.to_txt(ad).items()]


def _records() -> list[bytes]:
    return [path.read_bytes() for path in sorted(RECORDS.glob("*.shr"))[::12]]

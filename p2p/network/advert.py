"""What a peer says about its table to those who are not there yet, and how a stranger's saying is read.

Nothing here is trusted: it is bounded, decoded strictly and cleaned before it gets near a screen. Who is
really at an address, the link proves.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from p2p.errors import RemoteProtocolError
from p2p.feeds.entries import MAX_TABLE_NAME_CHARACTERS
from p2p.network.certificates import is_identity
from p2p.network.frames import MAX_PORT, MAX_VERSION, PROTOCOL_HIGH, PROTOCOL_LOW

MAX_WORD_CHARACTERS: Final = 24
"""Names of rules and phases: the longest of ours has half of that."""

MAX_LABEL_BYTES: Final = 63
"""A DNS label (RFC 1035, section 2.3.4)."""

MAX_TXT_VALUE_BYTES: Final = 128
"""Ours are at most 64; zeroconf itself refuses ``key=value`` over 255."""

MAX_SMALL: Final = 255
"""Players and seats: far more than fit, so that a later version may have more."""

NONCE_BYTES: Final = 8
"""Enough to tell two starts of one peer apart."""

TABLE_ID_PREFIX_BYTES: Final = 8
"""Enough to group adverts of one table on a LAN."""

CUSTOM_RULES: Final = "custom"
"""What an advert calls rules that are no preset; the whole rules are seen at the door."""

_Small: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_SMALL)]
_Version: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_VERSION)]
_Word: TypeAlias = Annotated[str, Meta(max_length=MAX_WORD_CHARACTERS)]


class TableAd(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A table as one of its peers announces it.

    ``table_id``: the first 8 bytes of the table's id; ``key``: the peer that announces; ``nonce``: 8 bytes,
    new at each start of it; ``low``, ``high``: protocol versions; ``rules``: name of a preset or
    :data:`CUSTOM_RULES`, empty from a peer that does not act as host; ``phase``: ``open``, ``full``, ``playing``,
    … as the peer calls it; ``port``: of its game socket.
    """

    table: Annotated[str, Meta(min_length=1, max_length=MAX_TABLE_NAME_CHARACTERS)]
    table_id: Annotated[bytes, Meta(min_length=TABLE_ID_PREFIX_BYTES, max_length=TABLE_ID_PREFIX_BYTES)]
    key: Annotated[bytes, Meta(min_length=32, max_length=32)]
    nonce: Annotated[bytes, Meta(min_length=NONCE_BYTES, max_length=NONCE_BYTES)]
    port: Annotated[int, Meta(ge=1, le=MAX_PORT)]
    players: _Small
    seats: _Small
    rules: _Word
    phase: _Word
    low: _Version = PROTOCOL_LOW
    high: _Version = PROTOCOL_HIGH

    @property
    def is_compatible(self) -> bool:
        """True if this program speaks one of its protocol versions."""
        return self.high >= PROTOCOL_LOW and self.low <= PROTOCOL_HIGH


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(TableAd)


def clean_text(text: str, limit: int) -> str:
    """A stranger's text made fit for a screen: NFC, without control, format (zero width, bidirectional),
    private and unassigned characters, white space made single, at most ``limit`` characters."""
    kept = (
        " " if unicodedata.category(character) in {"Zs", "Zl", "Zp"} else character
        for character in unicodedata.normalize("NFC", text)
        if unicodedata.category(character)[0] != "C"
    )
    return " ".join("".join(kept).split())[:limit].rstrip()


def encode_ad(ad: TableAd) -> bytes:
    """The bytes of an advert, as probes carry them."""
    return _ENCODER.encode(ad)


def _checked(ad: TableAd) -> TableAd:
    table = clean_text(ad.table, MAX_TABLE_NAME_CHARACTERS)
    if not table or not is_identity(ad.key) or ad.low > ad.high:
        raise RemoteProtocolError("bad_ad", "An advert with impossible values.", peer=ad.key)
    return msgspec.structs.replace(
        ad,
        table=table,
        rules=clean_text(ad.rules, MAX_WORD_CHARACTERS),
        phase=clean_text(ad.phase, MAX_WORD_CHARACTERS),
    )


def decode_ad(data: bytes) -> TableAd:
    """The advert of these bytes, its texts cleaned; raises :class:`RemoteProtocolError`."""
    try:
        ad = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise RemoteProtocolError("bad_ad", "Bytes that are no advert.", evidence=data) from error
    if _ENCODER.encode(ad) != data:
        raise RemoteProtocolError("not_canonical", "An advert in another encoding.", evidence=data)
    return _checked(ad)


def to_txt(ad: TableAd) -> dict[str, str]:
    """The TXT record of an advert (RFC 6763, section 6); the port goes into SRV."""
    return {
        "v": f"{ad.low}-{ad.high}",
        "t": ad.table,
        "id": ad.table_id.hex(),
        "k": ad.key.hex(),
        "n": ad.nonce.hex(),
        "p": str(ad.players),
        "s": str(ad.seats),
        "r": ad.rules,
        "ph": ad.phase,
    }


def from_txt(txt: Mapping[bytes, bytes | None], port: int) -> TableAd:
    """The advert of a TXT record, cleaned; raises :class:`RemoteProtocolError`. Unknown keys are ignored."""

    def text(key: bytes) -> str:
        value = txt.get(key)
        if value is None or len(value) > MAX_TXT_VALUE_BYTES:
            raise RemoteProtocolError("bad_ad", "A TXT record without a value, or with a long one.")
        return value.decode("utf-8")

    def number(value: str) -> int:
        if not (value.isascii() and value.isdecimal() and len(value) <= 5):
            raise RemoteProtocolError("bad_ad", "A TXT record with a bad number.")
        return int(value)

    try:
        low, dash, high = text(b"v").partition("-")
        values = {
            "table": text(b"t"),
            "table_id": bytes.fromhex(text(b"id")),
            "key": bytes.fromhex(text(b"k")),
            "nonce": bytes.fromhex(text(b"n")),
            "port": port,
            "players": number(text(b"p")),
            "seats": number(text(b"s")),
            "rules": text(b"r"),
            "phase": text(b"ph"),
            "low": number(low),
            "high": number(high) if dash else number(low),
        }
        ad = msgspec.convert(tuple(values.values()), TableAd)
    except (ValueError, msgspec.MsgspecError) as error:
        raise RemoteProtocolError("bad_ad", "A TXT record that is no advert.") from error
    return _checked(ad)


def instance_label(ad: TableAd, key_characters: int = 4) -> str:
    """The DNS-SD instance name ``TABLE (abcd)``: unique by characters of the key, at most 63 bytes.

    Made unique by construction, because two programs on one machine may register one name unnoticed.
    """
    tail = f" ({ad.key.hex()[:key_characters]})"
    table = clean_text(ad.table, MAX_TABLE_NAME_CHARACTERS).replace(".", " ") or "table"
    room = MAX_LABEL_BYTES - len(tail)
    return table.encode()[:room].decode("utf-8", "ignore").rstrip() + tail

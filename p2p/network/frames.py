"""The frames of a link: their types, their one encoding, and the cutting of a byte stream into frames.

On the stream each frame is a 4-byte big-endian length and that many bytes of msgpack: an array whose first
item is the frame's name. There is exactly one encoding of each frame; anything else is not a frame.
``Hello`` never changes its shape, so that two programs of different ages can at least name their versions.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from p2p.errors import LocalProtocolError, RemoteProtocolError
from p2p.feeds.entries import MAX_ENTRY_BYTES, MAX_NAME_CHARACTERS, SIGNATURE_BYTES

PROTOCOL_LOW: Final = 1
PROTOCOL_HIGH: Final = 1
"""The versions of the protocol that this program speaks, both ends included."""

MAX_FRAME_BYTES: Final = 256 * 1024
"""A frame without its length (D22): six of the largest entries, and little enough to hold for each link."""

MAX_HEADS: Final = 256
"""Heads in one ``have``: two of each feed that a table can have, and some to spare."""

MAX_ENTRIES: Final = 1024
"""Entries in one frame, and ids in one ``ask``; the frame's size bounds them first."""

MAX_SAY_CHARACTERS: Final = 400
"""A line of chat: five lines of a terminal."""

MAX_ADDRESSES: Final = 16
"""Addresses of one peer: a few interfaces, two families."""

MAX_VALUES: Final = 16
"""Values beside a refusal, and extras of a hello."""

MAX_WORD_CHARACTERS: Final = 32
"""Codes, names of values and versions of programs: the longest of ours has half of that."""

MAX_VALUE_CHARACTERS: Final = 256
"""One value beside a refusal, such as a name or an address."""

MAX_EXTRA_BYTES: Final = 256
"""One extra of a hello: what a later version may want to say before anything else."""

MAX_HOST_CHARACTERS: Final = 64
"""An address in digits: the longest of IPv6 have 45, and some leave room for a scope."""

MAX_PORT: Final = 65535
"""Ports are 16 bits (RFC 768), as ``p2p.network.addresses`` has it, which knows sockets; frames don't."""

MAX_VERSION: Final = 0xFFFF
"""Versions of the protocol: 16 bits, for ever, so that any two programs can name theirs."""

MAX_NUMBER: Final = 2**62 - 1
"""Numbers of entries, lines and lists: QUIC's largest (RFC 9000, section 16), which no peer reaches."""

_LENGTH: Final = struct.Struct(">I")

LENGTH_BYTES: Final = _LENGTH.size

INSTANCE_BYTES: Final = 8
"""Enough to tell two starts of one peer apart."""


class CloseCode(StrEnum):
    """Why a link ends; the text goes into ``bye``, the number (its place here + 1) into QUIC's close."""

    DONE = "done"  # going away politely
    WRONG_KEY = "wrong_key"  # not the identity that was dialled
    NO_CERTIFICATE = "no_certificate"  # no identity, or none that counts
    OWN_KEY = "own_key"  # linked to itself
    DUPLICATE = "duplicate"  # another link to the same peer stays
    GARBAGE = "garbage"  # too much that is not the wire format
    VERSION = "version"  # no protocol version in common
    REFUSED = "refused"  # the owner does not want this peer
    TOO_SLOW = "too_slow"  # does not read what it is sent
    NO_ANSWER = "no_answer"  # the handshake or the hello did not come in time
    LOST = "lost"  # nothing heard for the idle timeout; never sent
    FAILED = "failed"  # QUIC or TLS itself gave up

    @property
    def number(self) -> int:
        """The application error code of QUIC (RFC 9000, section 20.2)."""
        return list(CloseCode).index(self) + 1

    @classmethod
    def of_number(cls, number: int) -> CloseCode:
        """The code of an application error; unknown numbers are FAILED."""
        codes = list(cls)
        return codes[number - 1] if 1 <= number <= len(codes) else cls.FAILED


_Version: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_VERSION)]
_Port: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_PORT)]
_U62: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
_Instance: TypeAlias = Annotated[bytes, Meta(min_length=INSTANCE_BYTES, max_length=INSTANCE_BYTES)]
_Bytes32: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]
_UpTo32: TypeAlias = Annotated[bytes, Meta(max_length=32)]
_Signature: TypeAlias = Annotated[bytes, Meta(min_length=SIGNATURE_BYTES, max_length=SIGNATURE_BYTES)]
_Word: TypeAlias = Annotated[str, Meta(max_length=MAX_WORD_CHARACTERS)]
_Value: TypeAlias = Annotated[str, Meta(max_length=MAX_VALUE_CHARACTERS)]
_Extra: TypeAlias = Annotated[bytes, Meta(max_length=MAX_EXTRA_BYTES)]
_Host: TypeAlias = Annotated[str, Meta(max_length=MAX_HOST_CHARACTERS)]
_EntryBytes: TypeAlias = Annotated[bytes, Meta(max_length=MAX_ENTRY_BYTES)]


class _Frame(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What all frames have in common."""


class Hello(_Frame, frozen=True, tag="hello"):
    """The first frame of each side. Its shape never changes; news goes into ``extras``, unknown ones ignored.

    ``low`` and ``high``: protocol versions spoken, both included. ``program``: version of the program.
    ``instance``: 8 random bytes, new at each start, so that a restarted peer is told from a second link.
    """

    low: _Version
    high: _Version
    program: _Word
    instance: _Instance
    extras: Annotated[tuple[tuple[_Word, _Extra], ...], Meta(max_length=MAX_VALUES)] = ()


class Have(_Frame, frozen=True, tag="have"):
    """The newest entries held of each feed of a table: ``(author, seq, id)``."""

    table_id: _Bytes32
    heads: Annotated[tuple[tuple[_Bytes32, _U62, _Bytes32], ...], Meta(max_length=MAX_HEADS)]


class Entries(_Frame, frozen=True, tag="entries"):
    """Entries as signed, each with its signature: ``(bytes, signature)`` (D1)."""

    entries: Annotated[tuple[tuple[_EntryBytes, _Signature], ...], Meta(max_length=MAX_ENTRIES)]


class Ask(_Frame, frozen=True, tag="ask"):
    """Entries wanted, by id, of one table."""

    table_id: _Bytes32
    ids: Annotated[tuple[_Bytes32, ...], Meta(max_length=MAX_ENTRIES)]


class Knock(_Frame, frozen=True, tag="knock"):
    """A wish to be admitted. ``table_id`` may be empty (whatever table is there); ``operator`` is the key of
    who runs this player, empty for a person (who runs itself). The peer's key is the one TLS proved."""

    table_id: _UpTo32
    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARACTERS)]
    operator: _UpTo32


class Say(_Frame, frozen=True, tag="say"):
    """A line of chat: signed by its author, outside feeds and saved rounds, passed on as it is.

    ``number`` rises with each line of an author, so that a line passed on twice is shown once.
    """

    table_id: _Bytes32
    author: _Bytes32
    number: _U62
    text: Annotated[str, Meta(max_length=MAX_SAY_CHARACTERS)]
    signature: _Signature


class Addresses(_Frame, frozen=True, tag="addresses"):
    """Where ``author`` can be dialled, signed by it and passed on by others. Link-local IPv6 is left out:
    its scope means something on one machine only."""

    author: _Bytes32
    number: _U62
    addresses: Annotated[tuple[tuple[_Host, _Port], ...], Meta(max_length=MAX_ADDRESSES)]
    signature: _Signature


class Linked(_Frame, frozen=True, tag="linked"):
    """Whom the sender is linked to: what comes from these need not be passed on to it."""

    keys: Annotated[tuple[_Bytes32, ...], Meta(max_length=MAX_HEADS)]


class Bye(_Frame, frozen=True, tag="bye"):
    """The last frame: a :class:`CloseCode` as text (an unknown one counts as ``done``)."""

    code: _Word


class Refuse(_Frame, frozen=True, tag="refuse"):
    """A no with a reason: of a link (before it is up) or of a request (a knock)."""

    code: _Word
    values: Annotated[tuple[tuple[_Word, _Value], ...], Meta(max_length=MAX_VALUES)] = ()


Frame: TypeAlias = Hello | Have | Entries | Ask | Knock | Say | Addresses | Linked | Bye | Refuse

_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final[msgspec.msgpack.Decoder[Frame]] = msgspec.msgpack.Decoder(Frame)


def _texts(frame: Frame) -> Iterator[str]:
    match frame:
        case Hello(program=program, extras=extras):
            yield program
            yield from (name for name, _ in extras)
        case Knock(name=text) | Say(text=text) | Bye(code=text):
            yield text
        case Addresses(addresses=addresses):
            yield from (host for host, _ in addresses)
        case Refuse(code=code, values=values):
            yield code
            for pair in values:
                yield from pair
        case _:
            return


def _is_plain(text: str) -> bool:
    """D0 wants NFC; control and format characters would reach a terminal."""
    return unicodedata.is_normalized("NFC", text) and not any(
        unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in text
    )


def encode(frame: Frame) -> bytes:
    """The bytes of a frame, without its length.

    Raises :class:`LocalProtocolError` if this program made a frame that no peer would take.
    """
    data = _ENCODER.encode(frame)
    if len(data) > MAX_FRAME_BYTES:
        raise LocalProtocolError(
            "frame_too_big", "A frame of {size} bytes is over the limit of {limit}.", size=len(data),
            limit=MAX_FRAME_BYTES,
        )  # fmt: skip
    try:
        decode(data)
    except RemoteProtocolError as error:
        raise LocalProtocolError("bad_frame", "This frame has values out of range.") from error
    return data


def decode(data: bytes) -> Frame:
    """The frame of these bytes; raises :class:`RemoteProtocolError` if they are not exactly one frame.

    Wrong types are refused by the schema, other encodings of the same values by encoding once more.
    """
    if len(data) > MAX_FRAME_BYTES:
        raise RemoteProtocolError("frame_too_big", "A frame over the limit.", evidence=data)
    try:
        frame = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RemoteProtocolError("bad_frame", "Bytes that are not a frame.", evidence=data) from error
    if _ENCODER.encode(frame) != data:
        raise RemoteProtocolError("not_canonical", "A frame in another encoding.", evidence=data)
    if not all(_is_plain(text) for text in _texts(frame)):
        raise RemoteProtocolError("bad_text", "A frame with text that no screen should show.", evidence=data)
    return frame


def pack(data: bytes) -> bytes:
    """The bytes of a frame with its length before them, as they go into the stream."""
    return _LENGTH.pack(len(data)) + data


class FrameCutter:
    """Cuts a stream of bytes into frames. Sans-IO; holds at most one frame.

    A frame over :data:`MAX_FRAME_BYTES` is skipped byte by byte without being kept, and counted in
    ``oversized``: the stream stays in step.
    """

    def __init__(self) -> None:
        self.oversized = 0
        self._buffer = bytearray()
        self._skip = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The frames completed by ``data``, in order, without their lengths."""
        if self._skip:
            skipped = min(self._skip, len(data))
            self._skip -= skipped
            data = data[skipped:]
        self._buffer += data
        frames: list[bytes] = []
        start = 0
        while len(self._buffer) - start >= LENGTH_BYTES:
            (length,) = _LENGTH.unpack_from(self._buffer, start)
            body = start + LENGTH_BYTES
            if length > MAX_FRAME_BYTES:
                self.oversized += 1
                start = min(body + length, len(self._buffer))
                self._skip = body + length - start
                continue
            if len(self._buffer) - body < length:
                break
            frames.append(bytes(self._buffer[body : body + length]))
            start = body + length
        del self._buffer[:start]
        return frames

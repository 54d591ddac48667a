"""A saved round: one file that anybody can verify anywhere (docs/protocol.md, 10 and D24).

It holds every entry of the table from its opening to the end of this round, as signed. So the chain of every
feed starts at its first entry, the terms of the round (who sits where, who deals) can be checked from the
rounds before, and an entry that was cut out leaves a gap that nobody can be blamed for. The head (dates, the
program, what the saver's screen called the players) is not signed; a checksum over the file finds accidents.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from engine.errors import Sentence, ShitheadError
from p2p.canonical import NotCanonical
from p2p.feeds.entries import VERSION, Entry, OtherProtocol, Unreadable, read_entry
from p2p.files import read_bounded

FORMAT_VERSION: Final = 1
"""Of round files."""

MAGIC: Final = b"shithead-round %d\n" % FORMAT_VERSION
"""The first bytes of every round file."""

_ANY_MAGIC: Final = re.compile(rb"shithead-round (\d{1,6})\n")
"""The same in any version there will be."""

SUFFIX: Final = ".round"

NAMED_BYTES: Final = 4
"""So much of the contract is in a file's name: enough to tell the rounds of a directory apart."""

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""A long evening of ten players stays below 20 MB, eight feeds that are full fit; a larger file is not one of
ours, and none is written."""

MAX_HEAD_CHARACTERS: Final = 40
"""A date, a version of the program, an ending: none of ours has as many."""

_CHECKSUM_BYTES: Final = 32

_ENTRY_FRAME_BYTES: Final = 16
"""What an entry takes in a file besides its bytes and its signature."""

_FRAME_BYTES: Final = 1024
"""What a file has besides its entries."""

_HeadText: TypeAlias = Annotated[str, Meta(max_length=MAX_HEAD_CHARACTERS, pattern=r"\A[ -~]*\Z")]
"""Printable ASCII, as the program writes it: nobody signs it, and nothing of it may move a cursor."""


class NotARound(ShitheadError):
    """The file is no round file, or cannot be read; the sentence says which."""


class OtherVersion(NotARound):
    """A round file of another version of the program, which this one does not read; nothing is wrong with it.

    Codes ``round_format`` and ``round_protocol``.
    """


class DamagedRound(ShitheadError):
    """The file was a round file once, and is not what was saved."""


class Head(msgspec.Struct, frozen=True):
    """What the saver adds. Nothing of it is signed."""

    contract: Annotated[bytes, Meta(min_length=32, max_length=32)]
    round: Annotated[int, Meta(ge=1)]
    saved_at: _HeadText
    program: _HeadText
    saver: Annotated[bytes, Meta(max_length=32)]
    ending: _HeadText


class _File(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    head: Head
    entries: list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class RoundFile:
    """A round file as read. Signatures are not yet checked; that is the audit's part."""

    head: Head
    entries: tuple[Entry, ...]


def size_of(entries: Sequence[Entry]) -> int:
    """How many bytes a file of these entries has at most."""
    return sum(len(entry.data) + len(entry.signature) + _ENTRY_FRAME_BYTES for entry in entries) + _FRAME_BYTES


def encode(head: Head, entries: Sequence[Entry]) -> bytes:
    """The bytes of a round file."""
    body = msgspec.msgpack.encode(_File(head, [(entry.data, entry.signature) for entry in entries]))
    return MAGIC + body + hashlib.sha256(MAGIC + body).digest()


def _other(code: str, what: str, found: int, known: int, values: dict[str, object]) -> OtherVersion:
    """``what``: of what there are two versions."""
    return OtherVersion(
        Sentence(
            code,
            f"{{file}} was saved by another version of shithead: it is a round {what} {{found}}, and this program "
            "reads {known}. Use the version that saved it.",
            {**values, "found": found, "known": known},
        )
    )


def decode(data: bytes, name: str) -> RoundFile:
    """Reads the bytes of a round file; ``name`` is for the sentences.

    Raises ``NotARound`` (``OtherVersion``, where that is all) or ``DamagedRound``.
    """
    values: dict[str, object] = {"file": name}
    magic = _ANY_MAGIC.match(data)
    if magic is not None and int(magic[1]) != FORMAT_VERSION:
        raise _other("round_format", "of format", int(magic[1]), FORMAT_VERSION, values)
    if not data.startswith(MAGIC):
        raise NotARound(Sentence("not_a_round", "{file} is not a round of shithead.", values))
    body, checksum = data[len(MAGIC) : -_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if hashlib.sha256(MAGIC + body).digest() != checksum:
        raise DamagedRound(
            Sentence("round_damaged", "{file} is damaged: it is not, byte for byte, what was saved.", values)
        )
    try:
        file = msgspec.msgpack.decode(body, type=_File)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise DamagedRound(
            Sentence("round_unreadable", "{file} does not hold a readable round.", values)
        ) from error
    entries = []
    for number, (raw, signature) in enumerate(file.entries):
        try:
            entries.append(read_entry(raw, signature))
        except OtherProtocol as error:
            raise _other("round_protocol", "with entries of protocol", error.found, VERSION, values) from error
        except (Unreadable, NotCanonical) as error:
            raise DamagedRound(
                Sentence(
                    "round_entry_unreadable",
                    "{file} is damaged: its entry {number} is not an entry.",
                    {**values, "number": number + 1},
                )
            ) from error
    return RoundFile(file.head, tuple(entries))


def read(path: Path) -> RoundFile:
    """Reads a round file; raises ``NotARound`` or ``DamagedRound``."""
    try:
        data = read_bounded(path, MAX_FILE_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise NotARound(
                Sentence(
                    "round_too_big",
                    "{file} is too big to be a round: it has {size}, and a round has {most} MB at most.",
                    {"file": str(path), "size": _size(path), "most": MAX_FILE_BYTES // 10**6},
                )
            ) from error
        raise NotARound(
            Sentence(
                "round_unopened",
                "{file} can't be read ({reason}).",
                {"file": str(path), "reason": error.strerror or str(error)},
            )
        ) from error
    return decode(data, path.name)


def _size(path: Path) -> str:
    """How big a file is that was too big to be read; a device has no size."""
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    return f"{size // 10**6} MB" if size > MAX_FILE_BYTES else "no end"


def write(directory: Path, name: str, data: bytes) -> Path:
    """Writes a round file under its final name only when it is whole; raises ``OSError``."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = directory / (name + SUFFIX)
    partial = directory / (name + ".part")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    return path


def file_name(date: str, table: str, number: int, contract: bytes) -> str:
    """``DATE-TABLE-rN-XXXXXXXX``: only letters, digits, ``-`` and ``_`` of the table's name are kept."""
    kept = "".join(c if c.isalnum() and c.isascii() else "_" for c in table).strip("_") or "table"
    return f"{date}-{kept}-r{number}-{contract[:NAMED_BYTES].hex()}"


def remove_older(directory: Path, newest: Path) -> None:
    """Removes other files of the round in ``newest``: those of its first part, from a day before."""
    contract = newest.stem.rpartition("-")[2]
    for path in list_rounds(directory):
        if path != newest and path.stem.rpartition("-")[2] == contract:
            with contextlib.suppress(OSError):
                path.unlink()


def list_rounds(directory: Path) -> list[Path]:
    """The round files of a directory, oldest first; none if there is no such directory."""
    try:
        found = [path for path in directory.iterdir() if path.suffix == SUFFIX and path.is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: (_written_at(path), path.name))


def _written_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # removed in this moment
        return 0

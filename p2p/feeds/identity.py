"""Who somebody is: an Ed25519 key, and the name that people see beside it."""

from __future__ import annotations

import errno
import os
import unicodedata
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nacl.bindings import crypto_core_ed25519_is_valid_point

from engine.errors import Sentence, ShitheadError
from p2p.feeds.entries import MAX_NAME_CHARACTERS, MAX_TABLE_NAME_CHARACTERS
from p2p.files import read_bounded

KEY_FILE_BYTES: Final = 32
"""The file holds the raw private key and nothing else."""


_INVISIBLE: Final = frozenset(
    chr(code)
    for code in (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)
"""Letters, marks and signs that show nothing (Unicode's Default_Ignorable_Code_Point, and the empty Braille cell):
with them two names could look alike."""

_PICTURES: Final = (
    range(0x268A, 0x2701),
    range(0x1F0A0, 0x1F0AF),
    range(0x1F0B1, 0x1F0C0),
    range(0x1F0C1, 0x1F0D0),
    range(0x1F0D1, 0x1F0F6),
    range(0x1F300, 0x1F3FB),
    range(0x1F400, 0x1F6D8),
    range(0x1F900, 0x1FA54),
)
"""Pictures that came after Unicode 3.2: all of them signs since Unicode 14 (Python 3.11) at the latest, and none
with another spelling."""

MAX_MARKS: Final = 2
"""Combining marks in a row: no script's names need more, and piles of them leave their line."""


class IdentityProblem(ShitheadError):
    """The key file cannot be read or made; the sentence says what to do."""


class BadName(ShitheadError):
    """A name that cannot be used at a table; the sentence says why."""


def is_identity(key: bytes) -> bool:
    """Whether 32 bytes are a public key that only its holder can sign for.

    A point of small order has signatures that fit every message, so only points of the prime-order
    subgroup count (docs/protocol.md, 2).
    """
    return len(key) == 32 and bool(crypto_core_ed25519_is_valid_point(key))


def public_key(key: Ed25519PrivateKey) -> bytes:
    """The 32 raw bytes that identify the holder of ``key``."""
    return key.public_key().public_bytes_raw()


def load_or_make_key(path: Path) -> Ed25519PrivateKey:
    """Reads the identity from ``path``, or makes a new one there, readable by its owner alone.

    Raises ``IdentityProblem`` when the file is damaged or the directory cannot be written. A damaged file is
    never replaced: somebody may still have a good copy of it.
    """
    try:
        raw = read_bounded(path, KEY_FILE_BYTES)
    except FileNotFoundError:
        return _make_key(path)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _damaged(path) from error
        raise IdentityProblem(
            Sentence(
                "key_unreadable",
                "Your identity {path} can't be read ({reason}). Check its permissions.",
                {"path": str(path), "reason": error.strerror or str(error)},
            )
        ) from error
    if len(raw) != KEY_FILE_BYTES:
        raise _damaged(path)
    return Ed25519PrivateKey.from_private_bytes(raw)


def _damaged(path: Path) -> IdentityProblem:
    return IdentityProblem(
        Sentence(
            "key_damaged",
            "Your identity {path} is damaged, or of another version: it does not have {bytes} bytes. Restore it "
            "from a copy, or move it away: a new one is then made, and others will see you as a new player.",
            {"path": str(path), "bytes": KEY_FILE_BYTES},
        )
    )


def _make_key(path: Path) -> Ed25519PrivateKey:
    key = Ed25519PrivateKey.generate()
    partial = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial.unlink(missing_ok=True)
        # Created with its final permissions, so that there is no moment in which others can read it.
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(key.private_bytes_raw())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise IdentityProblem(
            Sentence(
                "key_unwritable",
                "Your identity can't be stored at {path} ({reason}). Choose another place with --data-dir.",
                {"path": str(path), "reason": error.strerror or str(error)},
            )
        ) from error
    return key


def check_name(name: str) -> str:
    """A player's name in the form in which it is used (NFC, trimmed); raises ``BadName``."""
    cleaned = _check(name, MAX_NAME_CHARACTERS, "name")
    if not all(map(_is_known_to_all, cleaned)):
        raise BadName(
            Sentence("name_new_characters", "A name holds no characters that older programs don't know.", {})
        )
    return cleaned


def check_table_name(name: str) -> str:
    """A table's name in the form in which it is used; raises ``BadName``."""
    return _check(name, MAX_TABLE_NAME_CHARACTERS, "table name")


def _check(name: str, longest: int, what: str) -> str:
    cleaned = unicodedata.normalize("NFC", name).strip()
    values: dict[str, object] = {"what": what, "longest": longest}
    if not cleaned:
        raise BadName(Sentence("name_empty", "A {what} needs at least one character.", values))
    if len(cleaned) > longest:
        raise BadName(Sentence("name_long", "A {what} has at most {longest} characters.", values))
    marks = "".join("m" if unicodedata.category(character)[0] == "M" else " " for character in cleaned)
    piled = "m" * (MAX_MARKS + 1) in marks
    if not all(_is_plain(character) for character in cleaned) or marks.startswith("m") or piled:
        raise BadName(
            Sentence("name_unprintable", "A {what} holds letters, digits, signs and blanks only.", values)
        )
    if len(_scripts(cleaned)) > 1:
        raise BadName(
            Sentence(
                "name_mixed",
                "A {what} keeps to one script, so that nobody can pass for somebody else.",
                values,
            )
        )
    return cleaned


def _is_plain(character: str) -> bool:
    # Letters, marks, numbers, punctuation, symbols, and the ordinary blank. Not: control, format (bidi,
    # zero width), private use, surrogates, other blanks.
    return character == " " or (unicodedata.category(character)[0] in "LMNPS" and character not in _INVISIBLE)


def _is_known_to_all(character: str) -> bool:
    # Whether a name is one is judged by every peer, and every version of Python has a Unicode of its own: what is
    # a letter in a newer one is nothing in an older one, whose owner would blame whoever let such a name in.
    return unicodedata.ucd_3_2_0.category(character) != "Cn" or any(ord(character) in run for run in _PICTURES)


def _scripts(name: str) -> set[str]:
    # The first word of a letter's Unicode name is its script; Japanese mixes three by nature.
    found = {
        unicodedata.name(character, "?").split()[0]
        for character in name
        if unicodedata.category(character)[0] == "L"
    }
    if found & {"CJK", "HIRAGANA", "KATAKANA"}:
        found -= {"HIRAGANA", "KATAKANA", "CJK"}
        found |= {"CJK"}
    return found - {"MODIFIER", "FULLWIDTH", "HALFWIDTH", "FEMININE", "MASCULINE", "MICRO"}


def fold_name(name: str) -> str:
    """The form in which names are compared: two names of one folded form cannot sit at one table."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())

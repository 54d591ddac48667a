"""One encoding for everything that is hashed or signed.

Two peers must get the same bytes for the same value, so each value has exactly one encoding: msgpack,
shortest forms, with only unsigned integers below 2⁶³, byte strings, NFC text, booleans and arrays.
There are no maps, floats, nil, negative numbers or extension types. "Absent" is the empty byte string.

Hashes take a label and parts, encoded as one such array, so every part is length-prefixed and no two
different lists of parts can give the same input. Definitions: docs/crypto.md, "Bytes and hashes".
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from typing import Final, TypeAlias, cast

import msgpack  # type: ignore[import-untyped]  # it ships no types

from engine.errors import Sentence, ShitheadError

__all__ = [
    "GROUP_ORDER",
    "MAX_ARRAY_ITEMS",
    "MAX_DEPTH",
    "PROTOCOL",
    "NotCanonical",
    "Value",
    "dec",
    "enc",
    "h",
    "hash_to_scalar",
]

Value: TypeAlias = "int | bytes | str | bool | Sequence[Value]"
"""What can be encoded. ``dec`` gives arrays as tuples; ``enc`` takes lists and tuples alike."""

PROTOCOL: Final = "shithead/1"
"""The first part of every hash: nothing hashed here means anything in another protocol or version."""

MAX_DEPTH: Final = 6
"""Arrays within arrays. The deepest honest value (the digest of a state) has five."""

MAX_ARRAY_ITEMS: Final = 4096
"""Items in one array. The decoder reserves an array's memory from its announced length, so without a
bound a short frame of nested long arrays would cost gigabytes. 4,096 is the most entries of one author."""

INTEGER_BITS: Final = 63
"""Integers stay below 2⁶³, so that every language's signed 64-bit type holds them."""

GROUP_ORDER: Final = 2**252 + 27742317777372353535851937790883648493
"""L, the order of the prime-order subgroup of Ed25519 (RFC 8032, section 5.1)."""


_UNICODE: Final = unicodedata.ucd_3_2_0
"""The one state of Unicode that every version of Python holds. By that of the day, a text with a character that is
new in it would be readable to some peers and not to others, who could then never follow them again."""


class NotCanonical(ShitheadError):
    """A value that has no encoding, or bytes that are not the one encoding of a value."""

    def __init__(self, reason: str) -> None:
        super().__init__(Sentence("not_canonical", "not in canonical form: {reason}", {"reason": reason}))


def _check(value: object, depth: int) -> None:
    """Raise ``NotCanonical`` unless ``value`` is one of the five allowed types, in its bounds."""
    match value:
        case bool() | bytes():
            return
        case int():
            if not 0 <= value < 1 << INTEGER_BITS:
                raise NotCanonical("an integer is outside 0 to 2^63-1")
        case str():
            if not _UNICODE.is_normalized("NFC", value):
                raise NotCanonical("a text is not in Unicode form NFC")
        case msgpack.ExtType():  # before tuples: the library's extension type is one of them
            raise NotCanonical("extension types are not allowed")
        case list() | tuple():
            if depth >= MAX_DEPTH:
                raise NotCanonical(f"arrays are nested deeper than {MAX_DEPTH}")
            if len(value) > MAX_ARRAY_ITEMS:
                raise NotCanonical(f"an array has more than {MAX_ARRAY_ITEMS} items")
            for item in value:
                # Most items by far are bytes and small integers, and every state that is hashed has hundreds.
                kind = type(item)
                if kind is not bytes and not (kind is int and 0 <= item < 1 << INTEGER_BITS):
                    _check(item, depth + 1)
        case _:
            raise NotCanonical(f"the type {type(value).__name__} is not allowed")


def enc(value: Value) -> bytes:
    """The canonical bytes of ``value``.

    Raises ``NotCanonical`` for a type, integer, text, depth or length outside the definition; text is
    never normalised silently, the caller does that where a person typed it.
    """
    _check(value, 0)
    try:
        return cast(bytes, msgpack.packb(value, use_bin_type=True))
    except UnicodeEncodeError:
        raise NotCanonical("a text has a lone surrogate") from None


def dec(data: bytes) -> Value:
    """The value whose canonical encoding is ``data``; arrays come as tuples.

    Strict: the value is checked and encoded again, and must give the same bytes, so longer forms,
    trailing bytes and every other ambiguity are refused. Raises ``NotCanonical``, nothing else.
    """
    try:
        value = msgpack.unpackb(data, raw=False, use_list=False, max_array_len=MAX_ARRAY_ITEMS, max_map_len=0)
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException):
        raise NotCanonical("the bytes are not one msgpack value of the allowed kinds") from None
    if enc(value) != data:
        raise NotCanonical("the value was not written in its shortest form")
    return cast(Value, value)


def h(label: str, *parts: Value) -> bytes:
    """SHA-256 over ``[protocol, label, *parts]``: 32 bytes."""
    return hashlib.sha256(enc([PROTOCOL, label, *parts])).digest()


def hash_to_scalar(label: str, *parts: Value) -> int:
    """SHA-512 over ``[protocol, label, *parts]``, little-endian, modulo L.

    512 bits for a 252-bit modulus: the result is uniform to within 2⁻²⁵⁹.
    """
    return int.from_bytes(hashlib.sha512(enc([PROTOCOL, label, *parts])).digest(), "little") % GROUP_ORDER

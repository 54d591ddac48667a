"""One encoding for each value, and hashes that keep their parts apart."""

from __future__ import annotations

import hashlib
import tracemalloc
import unicodedata

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.canonical import (
    GROUP_ORDER,
    MAX_ARRAY_ITEMS,
    MAX_DEPTH,
    NotCanonical,
    Value,
    dec,
    enc,
    h,
    hash_to_scalar,
)

LEAVES = (
    st.integers(0, 2**63 - 1)
    | st.binary(max_size=40)
    | st.booleans()
    | st.text(max_size=20).map(lambda text: unicodedata.normalize("NFC", text))
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=12)


def depth(value: object) -> int:
    return 1 + max(map(depth, value), default=0) if isinstance(value, tuple) else 0


@given(VALUES)
def test_every_value_comes_back_as_it_was(value: Value) -> None:
    if depth(value) > MAX_DEPTH:
        with pytest.raises(NotCanonical):
            enc(value)
    else:
        again = dec(enc(value))
        assert again == value
        assert enc(again) == enc(value)


@given(st.binary(max_size=60))
def test_random_bytes_are_refused_or_are_the_one_encoding(data: bytes) -> None:
    try:
        value = dec(data)
    except NotCanonical:
        return
    assert enc(value) == data


def test_known_bytes() -> None:
    assert enc([1, b"a", "é", True, [300, []]]).hex() == "9501c40161a2c3a9c392cd012c90"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01\x01",  # trailing byte
        b"\xcc\x01",  # 1 in a longer form
        b"\xcd\x00\xff",
        b"\xdc\x00\x01\x01",  # array of one in a longer form
        b"\xd9\x01a",  # text in a longer form
        b"\xc5\x00\x01a",  # bytes in a longer form
        b"\xc0",  # nil
        b"\xff",  # -1
        b"\xcf" + b"\xff" * 8,  # above 2^63-1
        b"\xcb" + bytes(8),  # float
        b"\x80",  # map
        b"\x81\x01\x02",
        b"\xd4\x01\x02",  # extension
        b"\xd6\xff\0\0\0\0",  # timestamp
        b"\xa1\xff",  # not UTF-8
        b"\xa3e\xcc\x81",  # e + combining acute: not NFC
        b"\x92\x01",  # truncated
        b"\xdd\xff\xff\xff\xff",
        b"\x91" * (MAX_DEPTH + 1) + b"\x01",
        b"\x91" * 5000,
    ],
    ids=lambda data: data[:12].hex() or "empty",
)
def test_what_is_not_canonical_is_refused(data: bytes) -> None:
    with pytest.raises(NotCanonical):
        dec(data)


@pytest.mark.parametrize("value", [-1, 2**63, None, 1.5, {}, "e\u0301", "\ud800", [0] * (MAX_ARRAY_ITEMS + 1)])
def test_what_has_no_encoding_is_refused(value: Value) -> None:
    with pytest.raises(NotCanonical):
        enc(value)


def test_a_short_frame_of_nested_long_arrays_costs_little_memory() -> None:
    frame = b"\xdd\x00\x00\x9c\x40" * 50_000  # each announces 40,000 items: plausible by the frame's length
    tracemalloc.start()
    try:
        with pytest.raises(NotCanonical):
            dec(frame)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_hashes_keep_parts_apart() -> None:
    assert h("x", b"ab", b"c") != h("x", b"a", b"bc")
    assert h("x", [b"a"], b"b") != h("x", [b"a", b"b"])
    assert h("x", b"a") != h("y", b"a")
    assert h("x", b"") != h("x")
    assert h("x", True) != h("x", 1)
    assert h("x", "a") != h("x", b"a")


def test_hash_to_scalar_is_little_endian_sha512_modulo_the_order() -> None:
    full = hashlib.sha512(msgpack.packb(["shithead/1", "x", b"part"])).digest()
    assert hash_to_scalar("x", b"part") == int.from_bytes(full, "little") % GROUP_ORDER

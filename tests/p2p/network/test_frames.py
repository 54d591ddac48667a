"""Frames: one encoding each, nothing else is taken, and a stream is cut in step."""

from __future__ import annotations

import contextlib

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.errors import LocalProtocolError, RemoteProtocolError
from p2p.network.frames import (
    MAX_ENTRY_BYTES,
    MAX_FRAME_BYTES,
    MAX_HEADS,
    Addresses,
    Ask,
    Bye,
    CloseCode,
    Entries,
    Frame,
    FrameCutter,
    Have,
    Hello,
    Knock,
    Refuse,
    Say,
    decode,
    encode,
    pack,
)

KEY = st.binary(min_size=32, max_size=32)
U62 = st.integers(0, 2**62 - 1)
WORD = st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=32)

FRAMES = st.one_of(
    st.builds(
        Hello,
        st.integers(0, 0xFFFF),
        st.integers(0, 0xFFFF),
        WORD,
        st.binary(min_size=8, max_size=8),
        st.lists(st.tuples(WORD, st.binary(max_size=256)), max_size=3).map(tuple),
    ),
    st.builds(Have, KEY, st.lists(st.tuples(KEY, U62, KEY), max_size=5).map(tuple)),
    st.builds(
        Entries,
        st.lists(st.tuples(st.binary(max_size=300), st.binary(min_size=64, max_size=64)), max_size=4).map(tuple),
    ),
    st.builds(Ask, KEY, st.lists(KEY, max_size=4).map(tuple)),
    st.builds(
        Knock, st.binary(max_size=32), WORD.filter(lambda word: 0 < len(word) <= 20), st.binary(max_size=32)
    ),
    st.builds(Say, KEY, KEY, U62, WORD, st.binary(min_size=64, max_size=64)),
    st.builds(
        Addresses,
        KEY,
        U62,
        st.lists(st.tuples(WORD, st.integers(0, 0xFFFF)), max_size=3).map(tuple),
        st.binary(min_size=64, max_size=64),
    ),
    st.builds(Bye, WORD),
    st.builds(Refuse, WORD, st.lists(st.tuples(WORD, WORD), max_size=3).map(tuple)),
)

HELLO = Hello(low=1, high=1, program="0.1", instance=bytes(8))


@given(FRAMES)
def test_every_frame_comes_back_as_it_was(frame: Frame) -> None:
    assert decode(encode(frame)) == frame


@given(FRAMES)
def test_the_encoding_is_plain_msgpack_in_shortest_form(frame: Frame) -> None:
    data = encode(frame)
    assert msgpack.packb(msgpack.unpackb(data)) == data


def test_the_hello_never_changes_its_shape() -> None:
    """Pinned: another program of any age must be able to read it."""
    frame = Hello(low=1, high=2, program="0.1", instance=b"instance", extras=(("x", b"y"),))
    assert encode(frame) == msgpack.packb(["hello", 1, 2, "0.1", b"instance", [["x", b"y"]]])


@given(st.binary(max_size=200))
def test_bytes_at_large_give_a_frame_or_a_protocol_error(data: bytes) -> None:
    try:
        frame = decode(data)
    except RemoteProtocolError as error:
        assert error.evidence == data[:64]
    else:
        assert encode(frame) == data


@given(FRAMES, st.data())
def test_a_changed_byte_gives_another_frame_or_none(frame: Frame, data: st.DataObject) -> None:
    good = bytearray(encode(frame))
    place = data.draw(st.integers(0, len(good) - 1))
    good[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(RemoteProtocolError):
        assert decode(bytes(good)) != frame


@pytest.mark.parametrize(
    "value",
    [
        ["hello", 1, 1, "0.1", bytes(8)],  # a field short
        ["hello", 1, 1, "0.1", bytes(8), [], 0],  # a field too many
        ["hello", True, 1, "0.1", bytes(8), []],  # a bool is no number
        ["hello", 1.0, 1, "0.1", bytes(8), []],
        ["hello", -1, 1, "0.1", bytes(8), []],
        ["hello", 1, 0x10000, "0.1", bytes(8), []],
        ["hello", 1, 1, b"0.1", bytes(8), []],  # bytes are no text
        ["hello", 1, 1, "0.1", "12345678", []],  # text is no bytes
        ["hello", 1, 1, "0.1", bytes(7), []],
        ["hello", 1, 1, "x" * 33, bytes(8), []],
        ["hello", 1, 1, "0\u0007", bytes(8), []],  # a bell
        ["bye", "e\u0301"],  # not NFC
        ["bye", "a\u202eb"],  # right-to-left override
        ["bye", None],
        ["have", bytes(32), [[bytes(32), 2**62, bytes(32)]]],
        ["have", bytes(32), [[bytes(32), 0, bytes(32)]] * (MAX_HEADS + 1)],
        ["entries", [[bytes(MAX_ENTRY_BYTES + 1), bytes(64)]]],
        ["entries", [[b"", bytes(63)]]],
        ["knock", b"", "", b""],
        ["knock", b"", "x" * 21, b""],
        {"bye": "done"},
        "bye",
        [],
        ["unknown", 1],
    ],
    ids=lambda value: repr(value)[:40],
)
def test_values_out_of_range_are_no_frame(value: object) -> None:
    with pytest.raises(RemoteProtocolError):
        decode(msgpack.packb(value))


@pytest.mark.parametrize(
    "longer", [b"\xdc\x00\x02\xa3bye\xa4done", b"\x92\xd9\x03bye\xa4done", b"\x92\xa3bye\xda\x00\x04done"]
)
def test_a_longer_encoding_of_the_same_is_no_frame(longer: bytes) -> None:
    assert msgpack.unpackb(longer) == ["bye", "done"]
    with pytest.raises(RemoteProtocolError) as caught:
        decode(longer)
    assert caught.value.code in {"not_canonical", "bad_frame"}


def test_deep_nesting_is_no_frame() -> None:
    with pytest.raises(RemoteProtocolError):
        decode(b"\x91" * 100_000)


def test_our_own_bad_frames_are_our_mistake() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        encode(Knock(table_id=b"", name="", operator=b""))
    assert caught.value.code == "bad_frame"
    with pytest.raises(LocalProtocolError) as caught:
        encode(Entries(tuple((bytes(MAX_ENTRY_BYTES), bytes(64)) for _ in range(9))))
    assert caught.value.code == "frame_too_big"


@given(st.lists(st.binary(max_size=300), max_size=8), st.lists(st.integers(1, 50), min_size=1, max_size=30))
def test_the_cutter_gives_the_frames_however_the_bytes_come(bodies: list[bytes], sizes: list[int]) -> None:
    stream = b"".join(pack(body) for body in bodies)
    cutter, got, place = FrameCutter(), [], 0
    while place < len(stream):
        size = sizes[place % len(sizes)]
        got += cutter.feed(stream[place : place + size])
        place += size
    assert got == bodies and cutter.oversized == 0


@pytest.mark.parametrize("step", [1000, 5_000_000])
@pytest.mark.parametrize("length", [MAX_FRAME_BYTES + 1, 1_000_000])
def test_the_cutter_skips_what_is_too_big_and_stays_in_step(length: int, step: int) -> None:
    stream = pack(b"before") + pack(bytes(length)) + pack(b"after")
    cutter, got = FrameCutter(), []
    for place in range(0, len(stream), step):
        got += cutter.feed(stream[place : place + step])
        assert len(cutter._buffer) <= MAX_FRAME_BYTES
    assert got == [b"before", b"after"] and cutter.oversized == 1


def test_a_frame_of_the_largest_size_passes() -> None:
    assert FrameCutter().feed(pack(bytes(MAX_FRAME_BYTES))) == [bytes(MAX_FRAME_BYTES)]


def test_close_codes_have_fixed_numbers() -> None:
    """On the wire: new codes go to the end."""
    assert [code.value for code in CloseCode][:8] == [
        "done",
        "wrong_key",
        "no_certificate",
        "own_key",
        "duplicate",
        "garbage",
        "version",
        "refused",
    ]
    assert all(CloseCode.of_number(code.number) is code for code in CloseCode)
    assert CloseCode.of_number(0) is CloseCode.of_number(999) is CloseCode.FAILED
    assert decode(encode(HELLO)) == HELLO

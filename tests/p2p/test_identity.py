"""Keys and names: whose signature counts, and what people may be called."""

from __future__ import annotations

import os
import stat
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from p2p.feeds.entries import MAX_TABLE_NAME_CHARACTERS
from p2p.feeds.identity import (
    BadName,
    IdentityProblem,
    check_name,
    check_table_name,
    fold_name,
    is_identity,
    load_or_make_key,
    public_key,
)

SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
]
"""The eight points of small order on edwards25519 (RFC 7748 and 8032 give the curve)."""


@pytest.mark.parametrize("key", SMALL_ORDER)
def test_a_point_of_small_order_is_nobody(key):
    assert not is_identity(bytes.fromhex(key))


@pytest.mark.parametrize("key", [b"", bytes(31), b"\x02" + bytes(31), b"\xff" * 32, bytes(33)])
def test_what_is_no_point_is_nobody(key):
    assert not is_identity(key)


def test_a_fresh_key_is_somebody():
    assert is_identity(public_key(Ed25519PrivateKey.generate()))


def test_a_key_is_made_once_and_read_again(tmp_path):
    path = tmp_path / "data" / "identity.key"
    key = load_or_make_key(path)
    assert public_key(load_or_make_key(path)) == public_key(key)
    assert path.read_bytes() == key.private_bytes_raw()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions there")
def test_only_its_owner_can_read_the_key(tmp_path):
    previous = os.umask(0)
    try:
        path = tmp_path / "data" / "identity.key"
        load_or_make_key(path)
    finally:
        os.umask(previous)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("content", [b"", bytes(31), bytes(33), b"-----BEGIN PRIVATE KEY-----\n"])
def test_a_damaged_key_is_said_to_be_and_never_replaced(tmp_path, content):
    path = tmp_path / "identity.key"
    path.write_bytes(content)
    with pytest.raises(IdentityProblem) as problem:
        load_or_make_key(path)
    assert problem.value.code == "key_damaged"
    assert str(path) in str(problem.value)
    assert path.read_bytes() == content


def test_a_key_that_cannot_be_read_has_a_sentence(tmp_path):
    (tmp_path / "identity.key").mkdir()
    with pytest.raises(IdentityProblem) as problem:
        load_or_make_key(tmp_path / "identity.key")
    assert problem.value.code == "key_unreadable"


def test_a_key_that_cannot_be_stored_has_a_sentence(tmp_path):
    (tmp_path / "data").write_text("a file where a directory should be")
    with pytest.raises(IdentityProblem) as problem:
        load_or_make_key(tmp_path / "data" / "identity.key")
    assert problem.value.code in ("key_unwritable", "key_unreadable")
    assert str(tmp_path) in str(problem.value)


def test_a_crash_while_making_the_key_leaves_none_half_made(tmp_path):
    (tmp_path / "identity.key.new").write_bytes(b"half")
    key = load_or_make_key(tmp_path / "identity.key")
    assert (tmp_path / "identity.key").read_bytes() == key.private_bytes_raw()
    assert not (tmp_path / "identity.key.new").exists()


@pytest.mark.parametrize(
    ("name", "is_used_as"),
    [
        ("Ada", "Ada"),
        ("  Ada ", "Ada"),
        ("A\u0301da", "\u00c1da"),
        ("Élodie 2", "Élodie 2"),
        ("O'Neil", "O'Neil"),
        ("Ада", "Ада"),
        ("花子", "花子"),
        ("はなこ花", "はなこ花"),
        ("x" * 20, "x" * 20),
        ("Ada 🃏", "Ada 🃏"),
    ],
)
def test_names_that_can_be_used(name, is_used_as):
    assert check_name(name) == is_used_as
    assert check_name(check_name(name)) == is_used_as


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", "name_empty"),
        ("   ", "name_empty"),
        ("x" * 21, "name_long"),
        ("Ada\n", None),
        ("A\nda", "name_unprintable"),
        ("A\x1b[31mda", "name_unprintable"),
        ("A\u202eda", "name_unprintable"),
        ("A\u200bda", "name_unprintable"),
        ("A\u00a0da", "name_unprintable"),
        ("\u0301da", "name_unprintable"),
        ("Ad\ue000", "name_unprintable"),
        ("Ad\u0430", "name_mixed"),
        ("A\u03b1", "name_mixed"),
    ],
)
def test_names_that_cannot_be_used_say_why(name, code):
    if code is None:
        assert check_name(name) == name.strip()
        return
    with pytest.raises(BadName) as problem:
        check_name(name)
    assert problem.value.code == code
    assert "{" not in str(problem.value)


def test_a_table_name_has_its_own_bound():
    longest = "x" * MAX_TABLE_NAME_CHARACTERS
    assert check_table_name(longest) == longest
    with pytest.raises(BadName):
        check_table_name(longest + "x")


@pytest.mark.parametrize(("one", "other"), [("Ada", "ADA"), ("Straße", "STRASSE"), ("Ａda", "ada"), ("ﬁn", "fin")])
def test_names_that_look_alike_are_one(one, other):
    assert fold_name(one) == fold_name(other)


def test_different_names_are_two():
    assert fold_name("Ada") != fold_name("Ava")

"""Addresses as people type them and as sockets want them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.errors import NetworkProblem
from p2p.network.addresses import (
    DEFAULT_PORT,
    Address,
    is_literal,
    is_local,
    is_loopback,
    make_address,
    parse_address,
    show_address,
)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.168.1.23", ("192.168.1.23", DEFAULT_PORT)),
        (" 192.168.1.23:4000 ", ("192.168.1.23", 4000)),
        ("::1", ("::1", DEFAULT_PORT, 0, 0)),
        ("[::1]:99", ("::1", 99, 0, 0)),
        ("[fd00::5]", ("fd00::5", DEFAULT_PORT, 0, 0)),
        ("fe80::1%1", ("fe80::1", DEFAULT_PORT, 0, 1)),
        ("[FE80::0001%lo]:7", ("fe80::1", 7, 0, 1)),
        ("::ffff:10.0.0.1", ("10.0.0.1", DEFAULT_PORT)),
    ],
)
def test_what_people_type(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert is_literal(text)


@pytest.mark.parametrize(
    "text",
    ["", "kitchen", "10.0.0", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:1x",
     "[::1", "[::1]x", "[::1]:", "fe80::1%no-such-interface", "10.0.0.1:123456", "10.0.0.1:٣"],
)  # fmt: skip
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(NetworkProblem) as caught:
        parse_address(text)
    assert caught.value.code == "bad_address"
    assert caught.value.sentence.values["text"] == text.strip()
    assert not is_literal(text)


@given(st.ip_addresses(), st.integers(1, 65535), st.integers(1, 9))
def test_shown_addresses_are_read_back(ip: object, port: int, scope: int) -> None:
    address = make_address(str(ip), port)
    assert parse_address(show_address(address)) == address
    scoped = make_address("fe80::7", port, scope)
    assert parse_address(show_address(scoped)) == scoped


@given(st.text(max_size=40))
def test_text_at_large_is_an_address_or_a_problem(text: str) -> None:
    if is_literal(text):
        assert parse_address(show_address(parse_address(text))) == parse_address(text)


def test_only_addresses_of_a_lan_are_local() -> None:
    local = ["10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.3.4", "127.0.0.1", "fe80::1", "fd00::1", "::1"]
    assert all(is_local(make_address(host, 1)) for host in local)
    others = ["8.8.8.8", "2600::1", "224.0.0.251", "ff02::fb", "0.0.0.0", "255.255.255.255", "::"]
    assert not any(is_local(make_address(host, 1)) for host in others)


def test_loopback() -> None:
    assert is_loopback(("127.3.2.1", 1)) and is_loopback(("::1", 1, 0, 0)) and not is_loopback(("10.0.0.1", 1))

"""Join words and the watch over interfaces."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.dealing.words import WORDS
from p2p.errors import NetworkProblem
from p2p.network.addresses import DEFAULT_PORT, PORT_RANGE
from p2p.network.interface_watch import InterfaceWatch
from p2p.network.interfaces import Interface, Verdict
from p2p.network.join_words import candidates, fingerprint, make_join_words, read_join_words


def interface(*texts: str) -> Interface:
    return Interface("lan0", 2, tuple(ipaddress.IPv4Interface(text) for text in texts), (), Verdict.USED)


@given(st.ip_addresses(v=4), st.integers(0, PORT_RANGE - 1), st.binary(min_size=32, max_size=32))
def test_words_lead_back_to_where_they_came_from(ip: ipaddress.IPv4Address, place: int, key: bytes) -> None:
    address = (str(ip), DEFAULT_PORT + place)
    words = make_join_words(address, key)
    assert words is not None and len(words.split("-")) == 4
    read = read_join_words(words)
    assert read is not None
    low, port, print_ = read
    assert print_ == fingerprint(key)
    assert candidates(low, port, [interface(f"{ip}/24")]) == (address,)


def test_the_words_are_pinned() -> None:
    """Programs of different versions must read each other's words."""
    assert make_join_words(("192.168.1.23", DEFAULT_PORT + 2), bytes(32)) == "absurd-rich-ocean-hedgehog"


@pytest.mark.parametrize(
    "text", ["", "about", "about about about", "about about about nonsense", "1 2 3 4", "a b c d e"]
)
def test_what_is_not_four_words_of_the_list_is_none(text: str) -> None:
    assert read_join_words(text) is None


def test_spelling_is_forgiven() -> None:
    words = [WORDS[number] for number in (3, 500, 2047, 0)]
    assert read_join_words("-".join(words)) == read_join_words("  " + " – ".join(words).upper()) is not None


def test_no_words_for_ipv6_or_a_port_outside_the_range() -> None:
    assert make_join_words(("fd00::1", DEFAULT_PORT, 0, 0), bytes(32)) is None
    assert make_join_words(("10.0.0.1", DEFAULT_PORT + PORT_RANGE), bytes(32)) is None
    assert make_join_words(("10.0.0.1", DEFAULT_PORT - 1), bytes(32)) is None


def test_candidates_in_our_own_network_come_first() -> None:
    low = 0x0107  # .1.7
    found = candidates(low, 21052, [interface("10.5.9.1/24"), interface("192.168.1.23/24", "192.168.7.1/24")])
    assert found == (("192.168.1.7", 21052), ("10.5.1.7", 21052))


async def test_a_change_of_interfaces_is_told_once() -> None:
    lists = [(interface("10.0.0.1/24"),), (interface("10.0.0.1/24"),), (interface("10.0.0.2/24"),)]
    told: list[tuple[Interface, ...]] = []
    now = iter(lists)
    watch = InterfaceWatch(told.append, ("lan0",), lambda only: next(now))
    try:
        assert watch.current == lists[0]
        watch.look_now()
        assert told == []
        watch.look_now()
        assert told == [lists[2]] and watch.current == lists[2]
    finally:
        watch.close()


async def test_the_watch_looks_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr("p2p.network.interface_watch.LOOK_SECONDS", 0.01)
    changed = asyncio.Event()
    lists = iter([(), *[(interface("10.0.0.2/24"),)] * 1000])
    watch = InterfaceWatch(lambda seen: changed.set(), (), lambda only: next(lists))
    try:
        async with asyncio.timeout(120):
            await changed.wait()
    finally:
        watch.close()


async def test_an_interface_that_went_away_is_an_empty_list() -> None:
    def read(only: object) -> tuple[Interface, ...]:
        raise NetworkProblem("no_interface", wanted="lan0", present="lo")

    watch = InterfaceWatch(lambda seen: None, ("lan0",), read)
    watch.close()
    assert watch.current == ()

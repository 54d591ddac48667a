"""Four words that say where a table is: to be read aloud across a room, without any discovery.

44 bits, four words of 11: the low 16 bits of the host's IPv4 address, 4 bits of the port's place in the range,
24 bits of a fingerprint of its key. The reader adds the high bits of its own networks. The fingerprint only
picks the right door: 24 bits can be ground, so what makes a link safe is the key, and the table words.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Sequence
from typing import Final

from p2p.dealing.words import WORDS
from p2p.network.addresses import DEFAULT_PORT, PORT_RANGE, Address, is_ipv6
from p2p.network.interfaces import Interface

JOIN_WORDS: Final = 4
BITS_PER_WORD: Final = 11
FINGERPRINT_BITS: Final = 24
PORT_BITS: Final = 4
HOST_BITS: Final = 16

SEPARATOR: Final = "-"

_NUMBERS: Final = {word: number for number, word in enumerate(WORDS)}


def fingerprint(key: bytes) -> int:
    """24 bits of a key, under a label of its own."""
    return int.from_bytes(hashlib.sha256(b"shithead/1 join\0" + key).digest()[:3], "big")


def make_join_words(address: Address, key: bytes) -> str | None:
    """The words for a host at ``address``, joined by ``-``; None for IPv6 or a port outside the range."""
    place = address[1] - DEFAULT_PORT
    if is_ipv6(address) or not 0 <= place < PORT_RANGE:
        return None
    low = int(ipaddress.IPv4Address(address[0])) & ((1 << HOST_BITS) - 1)
    value = ((low << PORT_BITS | place) << FINGERPRINT_BITS) | fingerprint(key)
    mask = (1 << BITS_PER_WORD) - 1
    numbers = [value >> (BITS_PER_WORD * turn) & mask for turn in reversed(range(JOIN_WORDS))]
    return SEPARATOR.join(WORDS[number] for number in numbers)


def read_join_words(text: str) -> tuple[int, int, int] | None:
    """The low 16 address bits, the port and the fingerprint of some words; None if they are not four of ours.

    Capitals, spaces and other dashes than ``-`` are forgiven.
    """
    words = text.casefold().translate({ord(mark): " " for mark in "-‐‑–—_.,"}).split()
    if len(words) != JOIN_WORDS or any(word not in _NUMBERS for word in words):
        return None
    value = 0
    for word in words:
        value = value << BITS_PER_WORD | _NUMBERS[word]
    print_ = value & ((1 << FINGERPRINT_BITS) - 1)
    place = value >> FINGERPRINT_BITS & ((1 << PORT_BITS) - 1)
    return value >> (FINGERPRINT_BITS + PORT_BITS), DEFAULT_PORT + place, print_


def candidates(low: int, port: int, interfaces: Sequence[Interface]) -> tuple[Address, ...]:
    """Where such a host may be: one address for each /16 that our own addresses are in, likeliest first."""
    found: dict[Address, None] = {}
    for interface in interfaces:
        for own in interface.ipv4:
            host = int(own.ip) >> HOST_BITS << HOST_BITS | low
            found[(str(ipaddress.IPv4Address(host)), port)] = None
    # An address in one of our own networks before one that is only near.
    networks = [own.network for interface in interfaces for own in interface.ipv4]
    return tuple(
        sorted(found, key=lambda address: not any(ipaddress.ip_address(address[0]) in net for net in networks))
    )

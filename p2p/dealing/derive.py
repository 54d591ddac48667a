"""What follows from seeds and coins: streams of secret or public numbers, and what the coins decide.

A stream is SHAKE-256 over a label and length-prefixed parts. Whoever knows a seed can draw the same
numbers again, which is how a revealed seed is checked. Every draw is free of modulo bias.
Definitions: docs/crypto.md, "Derivation" and "Coins".
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from p2p.canonical import GROUP_ORDER, PROTOCOL, Value, enc, h
from p2p.dealing.words import WORDS

SCALAR_STREAM_BYTES: Final = 64
"""Read for one scalar: 512 bits modulo a 252-bit order are uniform to within 2⁻²⁵⁹."""

WORD_BYTES: Final = 4
"""Read for one number below m. Every m here is far below 2³², so almost no draw is rejected."""

BITS_PER_WORD: Final = 11
"""Three table words of 2,048 words: one guess at a collision succeeds with 2⁻³³, and coins allow one guess."""


class Stream:
    """The numbers that a label and its parts fix, drawn in order. ``repr`` shows nothing of them."""

    __slots__ = ("_buffer", "_hash", "_position")

    def __init__(self, label: str, *parts: Value) -> None:
        self._hash = hashlib.shake_256(enc([PROTOCOL, "derive", label, *parts]))
        self._buffer = b""
        self._position = 0

    def __repr__(self) -> str:
        return "Stream(<secret>)"

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        end = self._position + count
        if end > len(self._buffer):  # SHAKE can't be read on from where it stopped: double and read again
            self._buffer = self._hash.digest(max(end, 2 * len(self._buffer), 1024))
        part = self._buffer[self._position : end]
        self._position = end
        return part

    def scalar(self) -> int:
        """The next number from 1 to L−1."""
        while True:
            value = int.from_bytes(self.take(SCALAR_STREAM_BYTES), "little") % GROUP_ORDER
            if value:
                return value

    def below(self, bound: int) -> int:
        """The next number from 0 to ``bound`` − 1, uniform: words in the incomplete last interval are
        rejected. ``bound`` is from 1 to 2³²."""
        limit = (1 << 8 * WORD_BYTES) // bound * bound
        while True:
            value = int.from_bytes(self.take(WORD_BYTES), "big")
            if value < limit:
                return value % bound

    def permutation(self, size: int) -> tuple[int, ...]:
        """A uniform permutation of 0 … size−1 (Fisher–Yates; Knuth, TAOCP 2, 3.4.2, algorithm P).

        Each element may stay where it is: swapping only with *lower* places would give cycles alone.
        """
        order = list(range(size))
        for last in range(size - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return tuple(order)


def seed_stream(label: str, seed: bytes, contract: bytes, author: int, *extra: Value) -> Stream:
    """Secret numbers of the player with number ``author``, fixed by its seed for one contract."""
    return Stream(label, seed, contract, author, *extra)


def nonce_stream(seed: bytes, contract: bytes, author: int, fresh: bytes, kind: str, *statement: Value) -> Stream:
    """Secret numbers for one proof, never drawn again.

    Hedged: with ``fresh`` bytes of the operating system they differ at each call, and should those be
    predictable or repeat, seed and statement still keep them secret and different for each statement.
    """
    return Stream("nonce", seed, contract, author, fresh, kind, *statement)


def seed_commitment(contract: bytes, author: int, seed: bytes) -> bytes:
    """The commitment of player ``author`` (its number) to its seed, in its acceptance of ``contract``."""
    return h("seed", contract, author, seed)


def coin_commitment(contract: bytes, author: int, coin: bytes) -> bytes:
    """The commitment of player ``author`` (its number) to its coin, in its acceptance of ``contract``."""
    return h("coin", contract, author, coin)


def coins_digest(contract: bytes, accept_ids: Sequence[bytes], coins: Sequence[bytes]) -> bytes:
    """K: what all coins together decide from. Acceptances and coins in the order of the roster."""
    return h("coins", contract, list(accept_ids), list(coins))


def table_words(digest: bytes) -> tuple[str, str, str]:
    """Three words that players read to each other; equal words mean that nobody sits in between.

    ``digest`` is K, which is over every identity key of the round.
    """
    bits = int.from_bytes(h("words", digest)[:5], "big") >> 7
    mask = (1 << BITS_PER_WORD) - 1
    return (WORDS[bits >> 22 & mask], WORDS[bits >> 11 & mask], WORDS[bits & mask])


def seating(digest: bytes, players: int) -> tuple[int, ...]:
    """Who sits where at a new table: the number of the player in seat 0, 1, 2 … clockwise."""
    return Stream("seats", digest).permutation(players)


def first_dealer(digest: bytes, players: int) -> int:
    """The seat that deals the first round, uniform over the seats."""
    return Stream("dealer", digest).below(players)


def drawn_eldest(digest: bytes, players: int) -> int:
    """The seat that leads where a lot decides (option ``start=random``), uniform over the seats."""
    return Stream("eldest", digest).below(players)

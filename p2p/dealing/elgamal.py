"""Cards as ElGamal ciphertexts under the players' joint key (ElGamal 1985; additive notation).

Card k is the point (k+1)·G. Encrypted with randomness r under X it is (r·G, (k+1)·G + r·X). A deck on the
wire is ``a_0 b_0 a_1 b_1 …``, position 0 on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from p2p.dealing.group import IDENTITY, POINT_BYTES, G, Point, Terms, add, all_points, base
from p2p.dealing.interface import DealingError, Ground

CARD_BYTES: Final = 2 * POINT_BYTES
"""One encrypted card on the wire."""


class Deck(NamedTuple):
    """The two halves of each ciphertext, by position."""

    a: tuple[Point, ...]
    b: tuple[Point, ...]

    def to_bytes(self) -> bytes:
        """The deck on the wire."""
        return b"".join(part for pair in zip(self.a, self.b, strict=True) for part in pair)


def split_deck(ground: Ground, deck: bytes) -> Deck | None:
    """The parts of a deck, or ``None`` for a wrong length. The points are **not** checked: for decks that
    have passed ``decode_deck``, and for sums that check each point."""
    if len(deck) != CARD_BYTES * ground.deck_size:
        return None
    parts = tuple(Point(deck[i : i + POINT_BYTES]) for i in range(0, len(deck), POINT_BYTES))
    return Deck(parts[::2], parts[1::2])


def decode_deck(ground: Ground, deck: bytes, threads: int = 1) -> Deck | None:
    """The parts of a deck, or ``None`` if the length or any point is wrong."""
    parts = split_deck(ground, deck)
    if parts is None or not all_points((*parts.a, *parts.b), threads):
        return None
    return parts


@lru_cache(maxsize=4)
def card_points(count: int) -> tuple[Point, ...]:
    """The point of each card: card k is (k+1)·G. Public and linear on purpose: nothing is hidden by the
    choice of the points, and proofs about ranks stay cheap."""
    return tuple(base(k + 1) for k in range(count))


@lru_cache(maxsize=4)
def faces(count: int) -> dict[Point, int]:
    """The card of each point."""
    return {point: k for k, point in enumerate(card_points(count))}


@lru_cache(maxsize=8)
def first_deck(count: int, joint: Point) -> Deck:
    """Card k at position k, with the public randomness 1, so that no identity occurs: (G, (k+1)·G + X).

    Raises ``DealingError`` where it occurs all the same: X is the negative of a card, which no one can
    bring about without breaking a commitment.
    """
    b = tuple(add(point, joint) for point in card_points(count))
    if IDENTITY in b:
        raise DealingError("joint_key", "the keys do not add up to a usable joint key")
    return Deck((G,) * count, b)


def put_deck(terms: Terms, deck: Deck, joint: Point, a_factors: Sequence[int], b_factors: Sequence[int]) -> None:
    """Add Σ a_factors·a + Σ b_factors·b to ``terms``. The first deck, whose points are public sums of G
    and X, becomes these two terms instead of 2N."""
    if deck.a[0] == G and deck == first_deck(len(deck.a), joint):
        terms.put(G, sum(a_factors) + sum((k + 1) * factor for k, factor in enumerate(b_factors)))
        terms.put(joint, sum(b_factors))
        return
    terms.put_all(deck.a, a_factors)
    terms.put_all(deck.b, b_factors)

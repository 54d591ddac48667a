"""Challenges: what takes the place of the verifier's coin tosses (Fiat–Shamir).

A challenge is over the kind of proof, the contract, the round, the author and the whole statement with
all commitments; parts are length-prefixed. Leaving a part out is the classical mistake: Bernhard,
Pereira, Warinschi, *How not to prove yourself*, 2012. Definitions: docs/crypto.md, "Challenges".
"""

from __future__ import annotations

import hashlib
from typing import Final

from p2p.canonical import Value, hash_to_scalar
from p2p.dealing.interface import Ground

WEIGHT_BYTES: Final = 16
"""128 bits: the chance that a false sum is hidden by its weights is 2⁻¹²⁸."""

NOBODY_GONE: Final[tuple[int, ...]] = ()
"""The players that left for good. The place is in the format; this version has none."""


def challenge(kind: str, ground: Ground, author: int, *parts: Value) -> int:
    """The challenge of one proof of ``author`` (its number): a scalar."""
    return hash_to_scalar("proof", kind, ground.contract, ground.round, NOBODY_GONE, author, *parts)


def weights(digest: bytes, count: int) -> list[int]:
    """``count`` weights of 128 bits that ``digest`` fixes, by SHAKE-256."""
    stream = hashlib.shake_256(digest).digest(WEIGHT_BYTES * count)
    return [int.from_bytes(stream[i : i + WEIGHT_BYTES], "little") for i in range(0, len(stream), WEIGHT_BYTES)]

"""Shares of cards and the proof that they are right (Chaum and Pedersen 1992, batched).

The share of a player with X = x·G for the card (a, b) is D = x·a; all players' shares open the card:
b − ΣD is its point. One proof covers all shares of an entry: it is about their weighted sums, with
weights from a hash over all of them, so that errors in two shares can't cancel out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from nacl.exceptions import CryptoError

from p2p.canonical import Value
from p2p.dealing.derive import nonce_stream
from p2p.dealing.elgamal import Deck
from p2p.dealing.group import (
    IDENTITY,
    POINT_BYTES,
    SCALAR_BYTES,
    G,
    Point,
    Terms,
    base,
    combination,
    decode_scalar,
    encode_scalar,
    mul,
    sub,
    total,
)
from p2p.dealing.interface import HASH_BYTES, DealingError, Ground, Opening
from p2p.dealing.keys import round_secret
from p2p.dealing.transcript import challenge, weights

SHARE_BYTES: Final = POINT_BYTES
SHARES_PROOF_BYTES: Final = 2 * POINT_BYTES + SCALAR_BYTES
"""T1, T2, s."""


def _statement(number: int, key: bytes, deck: Deck, openings: Sequence[Opening]) -> list[Value]:
    """What a proof of shares is about, one item a share in each list: causes, positions, components, then
    the key, the a of each position and the shares. A component says whose key a share is under; here it
    is always the author's own."""
    causes: list[Value] = []
    positions: list[int] = []
    shares: list[Value] = []
    for opening in openings:
        causes += [opening.cause] * len(opening.positions)
        positions += opening.positions
        shares += opening.shares
    components: list[Value] = [[number]] * len(positions)
    return [causes, positions, components, key, [deck.a[p] for p in positions], shares]


def _weights(ground: Ground, number: int, statement: Sequence[Value], count: int) -> list[int]:
    return weights(encode_scalar(challenge("share.w", ground, number, *statement)), count)


def make_shares(
    ground: Ground,
    number: int,
    seed: bytes,
    deck: Deck,
    calls: Sequence[tuple[bytes, tuple[int, ...]]],
    random_bytes: Callable[[int], bytes],
) -> tuple[tuple[Opening, ...], bytes]:
    """The shares for ``calls`` (cause, positions), whose shape the caller has checked, and their proof."""
    x = round_secret(ground, number, seed)
    openings = tuple(
        Opening(cause, tuple(positions), tuple(mul(x, deck.a[p]) for p in positions)) for cause, positions in calls
    )
    key = base(x)
    statement = _statement(number, key, deck, openings)
    positions = [p for opening in openings for p in opening.positions]
    terms = Terms()
    terms.put_all([deck.a[p] for p in positions], _weights(ground, number, statement, len(positions)))
    weighted = combination(terms)
    if weighted is None:
        raise DealingError("deck", "this is not a deck")
    fresh = random_bytes(HASH_BYTES)
    nonce = nonce_stream(seed, ground.contract, number, fresh, "share", *statement).scalar()
    commitments = (base(nonce), mul(nonce, weighted))
    c = challenge("share.c", ground, number, *statement, *commitments)
    return openings, b"".join([*commitments, encode_scalar(nonce + c * x)])


def check_shares(
    ground: Ground, number: int, key: bytes, deck: Deck, openings: Sequence[Opening], proof: bytes
) -> bool:
    """Whether s·G = T1 + c·X and s·Σw·a = T2 + c·Σw·D, all encodings being strict. The caller has checked
    the shape of the openings."""
    if any(len(opening.shares) != len(opening.positions) for opening in openings):
        return False
    if len(proof) != SHARES_PROOF_BYTES:
        return False
    t1, t2 = proof[:POINT_BYTES], proof[POINT_BYTES : 2 * POINT_BYTES]
    s = decode_scalar(proof[2 * POINT_BYTES :])
    if s is None:
        return False
    statement = _statement(number, key, deck, openings)
    positions = [p for opening in openings for p in opening.positions]
    shares = [share for opening in openings for share in opening.shares]
    w = _weights(ground, number, statement, len(positions))
    c = challenge("share.c", ground, number, *statement, t1, t2)
    knows_key, same_key = Terms({G: s}), Terms()
    knows_key.put_all([t1, key], [-1, -c])
    same_key.put_all([deck.a[p] for p in positions], [s * weight for weight in w])
    same_key.put_all(shares, [-c * weight for weight in w])
    same_key.put(t2, -1)
    return combination(knows_key) == IDENTITY and combination(same_key) == IDENTITY


def opened_point(deck: Deck, position: int, shares: Sequence[bytes]) -> Point | None:
    """b − ΣD, or ``None`` if a share is on no curve.

    The shares are not checked again: that they are in the subgroup, and right, ``check_shares`` has shown. Nor
    could others come to anything here, since what opens a card is that the result is one of the known points.
    """
    try:
        return sub(deck.b[position], total(Point(share) for share in shares)) if shares else None
    except CryptoError:
        return None

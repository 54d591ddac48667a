"""Round keys and the proof that their maker knows them (Schnorr 1991).

Without it a player who shows its key last could choose it as the negative of all others' and hold the
joint key alone (a rogue key). Keys are also fixed by the commitment to the seed before any is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from p2p.dealing.derive import nonce_stream, seed_stream
from p2p.dealing.group import (
    IDENTITY,
    POINT_BYTES,
    SCALAR_BYTES,
    Point,
    add,
    base,
    decode_point,
    decode_scalar,
    encode_scalar,
    mul,
    total,
)
from p2p.dealing.interface import HASH_BYTES, DealingError, Ground, KeyPart
from p2p.dealing.transcript import challenge

KEY_PROOF_BYTES: Final = 2 * POINT_BYTES + 2 * SCALAR_BYTES
"""T_X, T_Y, s_X, s_Y."""


def round_secret(ground: Ground, number: int, seed: bytes) -> int:
    """x: the secret behind the player's X."""
    return seed_stream("key", seed, ground.contract, number).scalar()


def seal_secret(ground: Ground, number: int, seed: bytes) -> int:
    """y: the secret behind the player's Y."""
    return seed_stream("seal", seed, ground.contract, number).scalar()


def public_keys(ground: Ground, number: int, seed: bytes) -> tuple[Point, Point]:
    """X and Y."""
    return base(round_secret(ground, number, seed)), base(seal_secret(ground, number, seed))


def make_key(ground: Ground, number: int, seed: bytes, random_bytes: Callable[[int], bytes]) -> KeyPart:
    """The key part of a player with one proof for both keys: the same challenge answers for each."""
    secrets = (round_secret(ground, number, seed), seal_secret(ground, number, seed))
    keys = [base(secret) for secret in secrets]
    stream = nonce_stream(seed, ground.contract, number, random_bytes(HASH_BYTES), "key", *keys)
    nonces = [stream.scalar() for _ in secrets]
    commitments = [base(nonce) for nonce in nonces]
    c = challenge("key", ground, number, *keys, *commitments)
    answers = [encode_scalar(nonce + c * secret) for nonce, secret in zip(nonces, secrets, strict=True)]
    return KeyPart(keys[0], keys[1], b"".join([*commitments, *answers]))


def check_key(ground: Ground, number: int, part: KeyPart) -> bool:
    """Whether s·G = T + c·key for both keys, all encodings being strict."""
    if len(part.proof) != KEY_PROOF_BYTES:
        return False
    chunks = [part.proof[i : i + POINT_BYTES] for i in range(0, KEY_PROOF_BYTES, POINT_BYTES)]
    keys = [decode_point(part.X), decode_point(part.Y)]
    commitments = [decode_point(chunk) for chunk in chunks[:2]]
    answers = [decode_scalar(chunk) for chunk in chunks[2:]]
    c = challenge("key", ground, number, part.X, part.Y, *chunks[:2])
    for key, commitment, answer in zip(keys, commitments, answers, strict=True):
        if key is None or commitment is None or answer is None:
            return False
        if base(answer) != add(commitment, mul(c, key)):
            return False
    return True


def joint_key(keys: Sequence[bytes]) -> Point:
    """X = ΣX_i. Raises ``DealingError`` if a key is not a point or the sum is the identity."""
    points = [point for key in keys if (point := decode_point(key)) is not None]
    joint = total(points)
    if len(points) != len(keys) or joint == IDENTITY:
        raise DealingError("joint_key", "the keys do not add up to a joint key")
    return joint

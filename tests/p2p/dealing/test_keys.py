"""Round keys: who shows one must know its secret."""

from __future__ import annotations

import pytest

from p2p.dealing import DealingError, ElGamalDealing, KeyPart, keys
from p2p.dealing.group import IDENTITY, L, add, base, decode_point, encode_scalar, mul, sub, total
from tests.p2p.dealing.table import digest, flip, ground, real
from tests.p2p.dealing.test_group import BAD

GROUND = ground()
PART = real().make_key(GROUND, 1, digest("seed"))


def test_an_honest_key_is_accepted_and_follows_from_the_seed() -> None:
    assert real().check_key(GROUND, 1, PART)
    again = ElGamalDealing().make_key(GROUND, 1, digest("seed"))
    assert (again.X, again.Y) == (PART.X, PART.Y)
    assert PART.X != PART.Y


def test_rogue_key_refused() -> None:
    """X = r·G − ΣX_j would make r the joint secret. Its maker knows no secret of X itself."""
    others = [base(5), base(7)]
    rogue = sub(base(11), total(others))
    assert keys.joint_key([*others, rogue]) == base(11)
    for secret in (11, 11 - 12 + 1):
        nonce = 99
        commitments = (base(nonce), base(nonce))
        y = base(3)
        c = keys.challenge("key", GROUND, 0, rogue, y, *commitments)
        answers = encode_scalar(nonce + c * secret), encode_scalar(nonce + c * 3)
        assert not real().check_key(GROUND, 0, KeyPart(rogue, y, b"".join([*commitments, *answers])))


def test_rogue_key_with_a_copied_proof_refused() -> None:
    rogue = sub(base(11), decode_point(PART.X) or IDENTITY)
    assert not real().check_key(GROUND, 1, PART._replace(X=rogue))


@pytest.mark.parametrize(
    ("where", "number"),
    [
        (ground(contract="other"), 1),
        (ground(number=2), 1),
        (GROUND, 0),
        (GROUND, 2),
        (GROUND, 3),
        (GROUND, -1),
    ],
    ids=["contract", "round", "player 0", "player 2", "no player", "negative"],
)
def test_a_replayed_key_is_refused(where: object, number: int) -> None:
    assert not real().check_key(where, number, PART)  # type: ignore[arg-type]


def test_every_changed_bit_is_refused() -> None:
    for field in KeyPart._fields:
        value = getattr(PART, field)
        for index in range(len(value)):
            changed = PART._replace(**{field: flip(value, index, index % 8)})
            assert not real().check_key(GROUND, 1, changed), (field, index)


@pytest.mark.parametrize("name", BAD)
def test_a_malformed_point_is_refused_wherever_it_stands(name: str) -> None:
    bad = BAD[name]
    for part in (
        PART._replace(X=bad),
        PART._replace(Y=bad),
        PART._replace(proof=bad + PART.proof[32:]),
        PART._replace(proof=PART.proof[:32] + bad + PART.proof[64:]),
    ):
        assert not real().check_key(GROUND, 1, part)


def test_a_scalar_plus_the_order_is_refused() -> None:
    s = int.from_bytes(PART.proof[64:96], "little")
    twice = PART.proof[:64] + (s + L).to_bytes(32, "little") + PART.proof[96:]
    assert not real().check_key(GROUND, 1, PART._replace(proof=twice))


def test_weak_fiat_shamir_forgery_of_a_key_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a challenge that leaves the keys out, keys can be fitted to it afterwards."""
    commitments, answers = (base(21), base(22)), (31, 32)

    def weak(kind: str, where: object, author: int, *parts: object) -> int:
        return int.from_bytes(b"".join(p for p in parts[2:] if isinstance(p, bytes)), "little") % L

    c = weak("key", GROUND, 1, b"", b"", *commitments)
    fitted = [
        mul(pow(c, -1, L), sub(base(s), commitment)) for s, commitment in zip(answers, commitments, strict=True)
    ]
    part = KeyPart(fitted[0], fitted[1], b"".join([*commitments, *map(encode_scalar, answers)]))
    assert not real().check_key(GROUND, 1, part)
    monkeypatch.setattr(keys, "challenge", weak)
    assert real().check_key(GROUND, 1, part)  # the forgery is a good one: only the hash stops it


def test_the_same_statement_twice_has_different_commitments() -> None:
    dealing = real()
    first, second = (dealing.make_key(GROUND, 1, digest("seed")) for _ in range(2))
    assert first[:2] == second[:2]
    assert first.proof[:32] != second.proof[:32]
    assert first.proof[32:64] != second.proof[32:64]


def test_a_broken_random_source_gives_no_nonce_twice() -> None:
    """Hedging: constant bytes instead of random ones, yet another player, round or seed has another nonce."""
    broken = ElGamalDealing(bytes)
    made = [
        broken.make_key(where, number, digest(seed)).proof[:64]
        for where in (GROUND, ground(contract="other"))
        for number in (0, 1)
        for seed in ("a", "b")
    ]
    points = [proof[i : i + 32] for proof in made for i in (0, 32)]
    assert len(set(points)) == len(points)


def test_the_joint_key_is_the_sum() -> None:
    assert real().joint_key([base(2), base(3), base(4)]) == base(9)
    assert add(base(2), base(7)) == base(9)


@pytest.mark.parametrize("points", [[], [base(5), base(L - 5)], [base(5), bytes(32)], [base(5), b""]])
def test_a_joint_key_that_is_none_raises(points: list[bytes]) -> None:
    with pytest.raises(DealingError) as raised:
        real().joint_key(points)
    assert isinstance(raised.value, ValueError)
    assert raised.value.code == "joint_key"

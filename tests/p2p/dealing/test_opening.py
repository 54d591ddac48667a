"""Shares of cards and their proof."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p2p.dealing import DealingError, ElGamalDealing, Ground, Opening, keys, opening
from p2p.dealing.elgamal import Deck, split_deck
from p2p.dealing.group import IDENTITY, L, Point, add, base, encode_scalar, mul, sub, total
from tests.p2p.dealing.table import Draws, deal, digest, flip, ground, real
from tests.p2p.dealing.test_group import BAD

TABLE = deal(real(), ground(5))
CALLS = ((digest("move"), (0, 3)), (digest("agreed"), (2,)))
OPENINGS, PROOF = TABLE.dealing.shares(TABLE.ground, 1, TABLE.seeds[1], TABLE.deck, CALLS)
X = TABLE.keys[1].X


def check(
    openings: tuple[Opening, ...] = OPENINGS,
    proof: bytes = PROOF,
    *,
    number: int = 1,
    key: bytes = X,
    deck: bytes = TABLE.deck,
    where: Ground = TABLE.ground,
) -> bool:
    return real().check_shares(where, number, key, deck, openings, proof)


def parts() -> Deck:
    deck = split_deck(TABLE.ground, TABLE.deck)
    assert deck is not None
    return deck


def all_shares(position: int) -> list[bytes]:
    made = [
        TABLE.dealing.shares(TABLE.ground, i, seed, TABLE.deck, [(b"", (position,))])[0]
        for i, seed in enumerate(TABLE.seeds)
    ]
    return [one[0].shares[0] for one in made]


def test_honest_shares_are_accepted() -> None:
    assert check()
    assert [one.cause for one in OPENINGS] == [digest("move"), digest("agreed")]
    assert [one.positions for one in OPENINGS] == [(0, 3), (2,)]


def test_all_shares_together_open_every_card_once() -> None:
    faces = [TABLE.dealing.open(TABLE.ground, TABLE.deck, p, all_shares(p)) for p in range(5)]
    assert sorted(face for face in faces if face is not None) == [0, 1, 2, 3, 4]
    assert TABLE.dealing.open(TABLE.ground, TABLE.deck, 2, all_shares(2)[::-1]) == faces[2]


def test_fewer_shares_or_wrong_ones_open_nothing() -> None:
    shares = all_shares(2)
    for wrong in (shares[:2], [], [*shares, base(1)], [shares[0]] * 3, all_shares(3), [*shares[:2], base(9)]):
        assert TABLE.dealing.open(TABLE.ground, TABLE.deck, 2, wrong) is None
    for name in BAD:
        assert TABLE.dealing.open(TABLE.ground, TABLE.deck, 2, [*shares[:2], BAD[name]]) is None
    for position in (-1, 5):
        assert TABLE.dealing.open(TABLE.ground, TABLE.deck, position, shares) is None
    assert TABLE.dealing.open(TABLE.ground, TABLE.deck[:-1], 2, shares) is None


@pytest.mark.parametrize("players", [2, 3])
def test_all_but_one_learn_nothing_from_their_own_shares(players: int) -> None:
    """Without the last share the point is none of the cards, for every card of the deck."""
    table = deal(real(), ground(5, players))
    deck = split_deck(table.ground, table.deck)
    assert deck is not None
    cards = {base(k + 1) for k in range(5)}
    for position in range(5):
        held = [
            mul(keys.round_secret(table.ground, i, seed), deck.a[position])
            for i, seed in enumerate(table.seeds[:-1])
        ]
        assert sub(deck.b[position], total(held)) not in cards


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 0},
        {"number": 2},
        {"number": 3},
        {"number": -1},
        {"key": TABLE.keys[0].X},
        {"key": b""},
        {"where": ground(5, contract="other")},
        {"where": ground(5, number=2)},
        {"deck": TABLE.items[0].deck_out},
        {"deck": b""},
        {"proof": b""},
        {"proof": PROOF[:-1]},
        {"proof": PROOF + b"\0"},
    ],
    ids="-".join,
)
def test_a_replay_over_player_key_contract_round_or_deck_is_refused(changes: dict[str, object]) -> None:
    assert not check(**changes)  # type: ignore[arg-type]


def test_every_field_of_an_opening_is_hashed() -> None:
    first, second = OPENINGS
    for changed in (
        (first._replace(cause=digest("x")), second),
        (first, second._replace(cause=digest("move"))),
        (first._replace(positions=(0, 4)), second),
        (first._replace(shares=first.shares[::-1]), second),
        (first._replace(shares=(first.shares[0], base(5))), second),
        (second, first),
        (first,),
        (second,),
        (Opening(first.cause, (0,), first.shares[:1]), Opening(first.cause, (3,), first.shares[1:]), second)[:2],
    ):
        assert not check(changed)


@pytest.mark.parametrize(
    "openings",
    [
        (),
        (Opening(b"c", (), ()),),
        (Opening(b"c", (3, 0), OPENINGS[0].shares),),
        (Opening(b"c", (0, 0), OPENINGS[0].shares),),
        (Opening(b"c", (-1, 0), OPENINGS[0].shares),),
        (Opening(b"c", (0, 5), OPENINGS[0].shares),),
        (Opening(b"c", (0, 3), OPENINGS[0].shares[:1]),),
        (Opening(b"c", (0,), OPENINGS[0].shares),),
        (*OPENINGS, OPENINGS[1]),
    ],
    ids=["none", "empty", "descending", "twice", "negative", "outside", "too few", "too many", "repeated"],
)
def test_openings_of_a_wrong_shape_are_refused(openings: tuple[Opening, ...]) -> None:
    assert not check(openings)


@pytest.mark.parametrize(
    "calls", [(), ((b"c", ()),), ((b"c", (1, 0)),), ((b"c", (5,)),), ((b"c", (1,)), (b"d", (1,)))]
)
def test_calls_of_a_wrong_shape_raise(calls: tuple[tuple[bytes, tuple[int, ...]], ...]) -> None:
    with pytest.raises(DealingError):
        TABLE.dealing.shares(TABLE.ground, 1, TABLE.seeds[1], TABLE.deck, calls)


def prove_false(deck: Deck, openings: tuple[Opening, ...], number: int = 1, seed: bytes = TABLE.seeds[1]) -> bytes:
    """A fresh proof by a cheating prover for ``openings``, as the honest one makes it."""
    secret = keys.round_secret(TABLE.ground, number, seed)
    key = base(secret)
    statement = opening._statement(number, key, deck, openings)
    positions = [p for one in openings for p in one.positions]
    w = opening._weights(TABLE.ground, number, statement, len(positions))
    weighted = total(mul(weight, deck.a[p]) for weight, p in zip(w, positions, strict=True))
    t1, t2 = base(4711), mul(4711, weighted)
    c = opening.challenge("share.c", TABLE.ground, number, *statement, t1, t2)
    return t1 + t2 + encode_scalar(4711 + c * secret)


def test_a_wrong_share_is_refused_with_a_fresh_proof() -> None:
    assert check(OPENINGS, prove_false(parts(), OPENINGS))  # the helper is a good prover
    first, second = OPENINGS
    for shares in (
        (first.shares[0], add(Point(first.shares[1]), base(1))),
        first.shares[::-1],
        (mul(2, Point(first.shares[0])), first.shares[1]),
    ):
        wrong = (first._replace(shares=shares), second)
        assert not check(wrong, prove_false(parts(), wrong))


def test_compensating_errors_of_shares_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """D_0 + E and D_1 − E: with fixed weights their sum is right, and each card would be changed."""
    first, second = OPENINGS
    error = base(1)
    shares = (add(Point(first.shares[0]), error), sub(Point(first.shares[1]), error))
    wrong = (first._replace(shares=shares), second)
    assert not check(wrong, prove_false(parts(), wrong))
    monkeypatch.setattr(opening, "_weights", lambda ground, number, statement, count: [1] * count)
    assert check(wrong, prove_false(parts(), wrong))  # a good forgery: only the weights stop it


def test_weak_fiat_shamir_forgery_of_a_share_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """X and D chosen after the challenge: possible if they are not hashed."""

    def weak(kind: str, where: object, author: int, *parts: object) -> int:
        return int.from_bytes(b"".join(p for p in parts[-2:] if isinstance(p, bytes)), "little") % L

    deck = parts()
    t1, t2, s = base(21), mul(22, deck.a[0]), 33
    c = weak("share.c", None, 1, t1, t2)
    inverse = pow(c, -1, L)
    key = mul(inverse, sub(base(s), t1))
    with monkeypatch.context() as patched:
        patched.setattr(opening, "challenge", weak)
        patched.setattr(opening, "_weights", lambda ground, number, statement, count: [1] * count)
        share = mul(inverse, sub(mul(s, deck.a[0]), t2))
        forged = (Opening(b"c", (0,), (share,)),)
        proof = t1 + t2 + encode_scalar(s)
        assert check(forged, proof, key=key)
    assert not check(forged, proof, key=key)


def test_challenge_and_weights_see_the_whole_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, tuple[object, ...]] = {}
    inner = opening.challenge

    def recorder(kind: str, where: Ground, author: int, *parts: object) -> int:
        seen[kind] = (where, author, *parts)
        return inner(kind, where, author, *parts)  # type: ignore[arg-type]

    monkeypatch.setattr(opening, "challenge", recorder)
    assert check()
    deck = parts()
    shares = [share for one in OPENINGS for share in one.shares]
    statement = (
        [digest("move"), digest("move"), digest("agreed")],
        [0, 3, 2],
        [[1], [1], [1]],
        X,
        [deck.a[p] for p in (0, 3, 2)],
        shares,
    )
    assert seen["share.w"] == (TABLE.ground, 1, *statement)
    assert seen["share.c"] == (TABLE.ground, 1, *statement, PROOF[:32], PROOF[32:64])


def test_every_flipped_bit_of_a_proof_is_refused() -> None:
    for index in range(len(PROOF)):
        assert not check(proof=flip(PROOF, index, index % 8))


@pytest.mark.parametrize("name", BAD)
def test_malformed_points_are_refused(name: str) -> None:
    first, second = OPENINGS
    bad = BAD[name]
    assert not check((first._replace(shares=(bad, first.shares[1])), second))
    assert not check(key=bad)
    assert not check(proof=bad + PROOF[32:])
    assert not check(proof=PROOF[:32] + bad + PROOF[64:])


def test_a_scalar_plus_the_order_is_refused() -> None:
    s = int.from_bytes(PROOF[64:], "little")
    assert not check(proof=PROOF[:64] + (s + L).to_bytes(32, "little"))


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=120), st.binary(max_size=40))
def test_random_bytes_are_refused_and_raise_nothing(proof: bytes, share: bytes) -> None:
    assert not check(proof=proof)
    assert not check((Opening(b"c", (0,), (share,)),), proof)
    assert TABLE.dealing.open(TABLE.ground, TABLE.deck, 0, [share, share, share]) is None


def test_the_same_statement_twice_has_different_commitments() -> None:
    dealing = real()
    made = [dealing.shares(TABLE.ground, 1, TABLE.seeds[1], TABLE.deck, CALLS) for _ in range(2)]
    assert made[0][0] == made[1][0]
    assert made[0][1][:64] != made[1][1][:64]
    assert made[0][1][:32] != made[1][1][:32]


def test_a_broken_random_source_gives_no_nonce_twice() -> None:
    broken = ElGamalDealing(bytes)
    made = {
        broken.shares(TABLE.ground, 1, TABLE.seeds[1], TABLE.deck, [(cause, positions)])[1][:32]
        for cause in (b"c", b"d")
        for positions in ((0,), (1,), (0, 1))
    }
    assert len(made) == 6


def test_the_audit_names_what_is_not_by_the_seed() -> None:
    item = TABLE.items[1]
    shares = {p: s for one in OPENINGS for p, s in zip(one.positions, one.shares, strict=True)}

    def audit(**changes: object) -> tuple[str, ...]:
        given_ = {
            "ground": TABLE.ground,
            "number": 1,
            "seed": TABLE.seeds[1],
            "joint": TABLE.joint,
            "key": TABLE.keys[1],
            "deck_in": item.deck_in,
            "deck_out": item.deck_out,
            "agreed_deck": TABLE.deck,
            "shares": shares,
        }
        return real().audit_seed(**(given_ | changes))  # type: ignore[arg-type]

    assert audit() == ()
    assert audit(key=TABLE.keys[0]) == ("key",)
    assert audit(key=TABLE.keys[1]._replace(Y=base(3))) == ("key",)
    assert audit(deck_out=TABLE.deck) == ("deck",)
    assert audit(shares=shares | {3: base(1), 99: base(1)}) == ("share:3", "share:99")
    assert audit(seed=digest("other")) == ("key", "deck", "share:0", "share:2", "share:3")


def test_an_honest_shuffle_with_other_randomness_is_proven_but_not_by_the_seed() -> None:
    """The proof takes it, since it is a shuffle; the audit says that the seed was not followed."""
    item = TABLE.items[1]
    dealing = ElGamalDealing(Draws())
    other = dealing.shuffle(TABLE.ground, 1, digest("other"), TABLE.joint, item.deck_in)
    proof = dealing.prove(TABLE.ground, 1, digest("other"), TABLE.joint, item.deck_in, other)
    assert dealing.check_proofs(TABLE.ground, TABLE.joint, [item._replace(deck_out=other.deck, proof=proof)]) == ()
    args = (
        TABLE.ground,
        1,
        TABLE.seeds[1],
        TABLE.joint,
        TABLE.keys[1],
        item.deck_in,
        other.deck,
        other.deck,
        {},
    )
    assert dealing.audit_seed(*args) == ("deck",)


def test_the_identity_is_no_share() -> None:
    assert not check((Opening(b"c", (0,), (IDENTITY,)),))


def test_another_roster_size_needs_another_number_of_shares() -> None:
    smaller = replace(TABLE.ground, roster=TABLE.ground.roster[:2])
    assert TABLE.dealing.open(smaller, TABLE.deck, 2, all_shares(2)) is None


def test_shares_under_another_key_are_refused_with_a_fresh_proof() -> None:
    """All shares by one wrong secret, consistently: only the half of the proof about X shows it."""
    deck, secret = parts(), 987
    key = Point(X)
    wrong = tuple(one._replace(shares=tuple(mul(secret, deck.a[p]) for p in one.positions)) for one in OPENINGS)
    statement = opening._statement(1, key, deck, wrong)
    positions = [p for one in wrong for p in one.positions]
    w = opening._weights(TABLE.ground, 1, statement, len(positions))
    weighted = total(mul(weight, deck.a[p]) for weight, p in zip(w, positions, strict=True))
    t1, t2 = base(4711), mul(4711, weighted)
    c = opening.challenge("share.c", TABLE.ground, 1, *statement, t1, t2)
    assert not check(wrong, t1 + t2 + encode_scalar(4711 + c * secret))

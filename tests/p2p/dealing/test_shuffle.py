"""The shuffle proof: what it accepts, and every way of cheating that it must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl import bindings

from p2p.dealing import ElGamalDealing, Ground, OwnShuffle, ShuffleStatement, shuffle
from p2p.dealing.derive import Stream, nonce_stream
from p2p.dealing.elgamal import Deck, split_deck
from p2p.dealing.group import G, L, Point, add, base, encode_scalar, generators, mul, sub, total
from p2p.dealing.shuffle import Claim, Witness, proof_bytes, respond, u_digest
from p2p.dealing.transcript import challenge, weights
from tests.p2p.dealing.table import Draws, Table, deal, digest, flip, ground, real
from tests.p2p.dealing.test_group import BAD

TABLE = deal(real(), ground(5))
SMALL = deal(real(), ground(3, players=2))
Z2, Z4A, Z4B = 1, 3, 4  # places of these weights in _put_statement


class Blind(Draws):
    """A verifier's weights with some equations left out: a mutant that shows what a forgery gets past."""

    def __init__(self, *equations: int) -> None:
        super().__init__()
        self.equations = equations

    def __call__(self, count: int) -> bytes:
        drawn = bytearray(super().__call__(count))
        for equation in self.equations:
            drawn[16 * equation : 16 * (equation + 1)] = bytes(16)
        return bytes(drawn)


def deck_of(table: Table, index: int = 0) -> Deck:
    """The deck that shuffle ``index`` of the table starts from."""
    deck = split_deck(table.ground, table.items[index].deck_in)
    assert deck is not None
    return deck


def cheat(
    table: Table, witness: Witness, tamper: Callable[[Deck], Deck] = lambda deck: deck, number: int = 0
) -> ShuffleStatement:
    """A fresh proof by a cheating prover, who runs the prover on a witness or a deck that is false."""
    joint = Point(table.joint)
    out = tamper(shuffle.apply_witness(deck_of(table, number), joint, witness)).to_bytes()
    assert table.dealing.check_deck(table.ground, out)
    start = table.items[number].deck_in
    proof = shuffle.prove(table.ground, number, digest("x"), joint, (start, out), witness, Draws())
    return ShuffleStatement(number, start, out, proof)


def verdict(table: Table, item: ShuffleStatement, draws: Callable[[int], bytes] | None = None) -> bool:
    return ElGamalDealing(draws or Draws()).check_proofs(table.ground, table.joint, [item]) == ()


R = (11, 12, 13, 14, 15)


@pytest.mark.parametrize("cards", [1, 2, 52, 104])
def test_honest_shuffles_of_any_size_are_accepted(cards: int) -> None:
    players = 3 if cards == 52 else 1
    table = deal(ElGamalDealing(), ground(cards, players))
    assert table.bad(table.items) == ()
    assert all(len(item.proof) == proof_bytes(cards) for item in table.items)
    assert all(table.dealing.check_deck(table.ground, item.deck_out) for item in table.items)


def test_a_52_card_proof_has_the_documented_length() -> None:
    assert proof_bytes(52) == 8608


def test_the_shuffle_follows_from_the_seed_and_is_no_identity() -> None:
    item = TABLE.items[0]
    again = ElGamalDealing().shuffle(TABLE.ground, 0, TABLE.seeds[0], TABLE.joint, item.deck_in)
    assert again.deck == item.deck_out != item.deck_in


def test_an_honest_prover_with_its_own_witness_is_accepted() -> None:
    """The helper that cheats below is a good prover when it does not cheat."""
    assert verdict(TABLE, cheat(TABLE, Witness((2, 0, 1, 4, 3), R)))
    assert verdict(TABLE, cheat(TABLE, Witness((2, 0, 1, 4, 3), R), number=1))


@pytest.mark.parametrize("number", [0, 1])
def test_duplicate_card_refused_with_a_fresh_proof(number: int) -> None:
    """A non-permutation with matching commitments: the sum of the commitments and the permuted u hold,
    the product of u and the relation of the decks do not."""
    item = cheat(TABLE, Witness((0, 0, 2, 3, 4), R), number=number)
    assert not verdict(TABLE, item)
    assert not verdict(TABLE, item, Blind(Z2))
    assert not verdict(TABLE, item, Blind(Z4A, Z4B))
    assert verdict(TABLE, item, Blind(Z2, Z4A, Z4B))


def test_slot_copy_refused() -> None:
    """A victim's card re-randomised into a slot whose shares the copier will get."""
    item = cheat(TABLE, Witness((0, 1, 2, 3, 1), R), number=1)
    assert not verdict(TABLE, item)


def test_replaced_card_refused_with_a_fresh_proof() -> None:
    def replace(deck: Deck) -> Deck:
        return Deck(deck.a, (add(deck.b[0], base(3)), *deck.b[1:]))

    item = cheat(TABLE, Witness((2, 0, 1, 4, 3), R), replace)
    assert not verdict(TABLE, item)
    assert verdict(TABLE, item, Blind(Z4B))


def test_shifted_cards_refused_with_a_fresh_proof() -> None:
    """One card up, another down: the sum of the deck stays the same."""

    def shift(deck: Deck) -> Deck:
        return Deck(deck.a, (add(deck.b[0], G), sub(deck.b[1], G), *deck.b[2:]))

    assert not verdict(TABLE, cheat(TABLE, Witness((2, 0, 1, 4, 3), R), shift))


def test_changed_randomness_refused_with_a_fresh_proof() -> None:
    """Only the first half of a card is changed: it would never open."""

    def change(deck: Deck) -> Deck:
        return Deck((add(deck.a[0], G), *deck.a[1:]), deck.b)

    item = cheat(TABLE, Witness((2, 0, 1, 4, 3), R), change)
    assert not verdict(TABLE, item)
    assert verdict(TABLE, item, Blind(Z4A))


def test_proof_for_another_permutation_refused() -> None:
    item = cheat(TABLE, Witness((2, 0, 1, 4, 3), R))
    other = Witness((0, 1, 2, 3, 4), R)
    decks = (item.deck_in, item.deck_out)
    proof = shuffle.prove(TABLE.ground, 0, digest("x"), Point(TABLE.joint), decks, other, Draws())
    assert not verdict(TABLE, item._replace(proof=proof))


def square_root(value: int) -> int | None:
    """A square root modulo L, which is 5 modulo 8 (Atkin)."""
    b = pow(2 * value, (L - 5) // 8, L)
    i = 2 * value * b * b % L
    root = value * b * (i - 1) % L
    return root if root * root % L == value % L else None


def forge_with_known_u(table: Table, u: list[int], r: tuple[int, ...]) -> ShuffleStatement | None:
    """A proof for a deck with card 0 doubled and card 1 missing, by one who knows u before choosing c.

    The first deck holds (k+1)·G in the clear, so u' only has to keep the sum of the cards and the product
    of u: two equations for u'_0 and u'_1. Then c is made to fit: M·1 = 1 and M·u = u'.
    """
    cards = [1, 1, 3, 4, 5]
    deck_sum = sum((k + 1) * value for k, value in enumerate(u)) - sum(cards[i] * u[i] for i in range(2, 5))
    product = u[0] * u[1] % L
    root = square_root(deck_sum * deck_sum - 4 * product)  # u'_0 + u'_1 = sum, u'_0·u'_1 = product
    if root is None:
        return None
    first = (deck_sum + root) * pow(2, -1, L) % L
    u_out = [first, (deck_sum - first) % L, *u[2:]]
    rows: list[list[int]] = []
    for i in range(5):
        row = [int(i == j) for j in range(5)]
        if i < 2:
            row[0] = (u_out[i] - u[1]) * pow(u[0] - u[1], -1, L) % L
            row[1] = (1 - row[0]) % L
        rows.append(row)
    blinds = [101, 102, 103, 104, 105]
    hs = generators(5)[1:]
    c = b"".join(
        add(base(blinds[j]), total(mul(rows[i][j], hs[i]) for i in range(5) if rows[i][j])) for j in range(5)
    )
    joint = Point(table.joint)
    out = Deck(
        tuple(base(1 + one) for one in r),
        tuple(add(base(cards[i]), mul(1 + one, joint)) for i, one in enumerate(r)),
    )
    # Σu'(1+r_i) − Σu: the input's randomness is 1 everywhere
    r_prime = sum(w * (1 + one) for w, one in zip(u_out, r, strict=True)) - sum(u)
    claim = Claim(sum(blinds), sum(b * w for b, w in zip(blinds, u, strict=True)), r_prime, u_out)
    decks = (table.items[0].deck_in, out.to_bytes())
    proof = respond(table.ground, 0, joint, decks, c, claim, Stream("forger", 1))
    return ShuffleStatement(0, *decks, proof)


def test_u_before_c_forgery_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forged proof that passes a verifier whose u leaves c out must fail with ours."""

    def mutant(where: Ground, number: int, joint: bytes, decks: tuple[bytes, bytes], c: bytes) -> bytes:
        return u_digest(where, number, joint, decks, b"")

    forged = None
    with monkeypatch.context() as patched:
        patched.setattr(shuffle, "u_digest", mutant)
        joint = Point(TABLE.joint)
        for attempt in range(1, 40):  # half of all u have a square root
            r = (attempt, 2, 3, 4, 5)
            out = Deck(
                tuple(base(1 + one) for one in r),
                tuple(add(base(k), mul(1 + one, joint)) for k, one in zip([1, 1, 3, 4, 5], r, strict=True)),
            )
            decks = (TABLE.items[0].deck_in, out.to_bytes())
            u = weights(mutant(TABLE.ground, 0, joint, decks, b""), 5)
            forged = forge_with_known_u(TABLE, u, r)
            if forged is not None:
                break
        assert forged is not None
        assert verdict(TABLE, forged)  # the mutant takes a deck with a doubled card
    assert not verdict(TABLE, forged)


def test_weak_fiat_shamir_every_field_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both challenges see kind, round, author, key, decks and all commitments. Generators are constants."""
    seen: dict[str, tuple[object, ...]] = {}
    inner = shuffle.challenge

    def recorder(kind: str, where: Ground, author: int, *parts: bytes) -> int:
        seen[kind] = (where, author, *parts)
        return inner(kind, where, author, *parts)

    monkeypatch.setattr(shuffle, "challenge", recorder)
    item = SMALL.items[1]
    assert verdict(SMALL, item)
    proof = shuffle.parse_proof(item.proof, 3)
    assert proof is not None
    c = b"".join(proof.c)
    assert seen["shuffle.u"] == (SMALL.ground, 1, 3, SMALL.joint, item.deck_in, item.deck_out, c)
    digest_u = u_digest(SMALL.ground, 1, SMALL.joint, (item.deck_in, item.deck_out), c)
    expected = (SMALL.ground, 1, digest_u, b"".join(proof.chain), *proof.t, b"".join(proof.t_chain))
    assert seen["shuffle.c"] == expected


def test_challenges_differ_in_every_field() -> None:
    made = [
        challenge("shuffle.c", ground(), 0, b"part", b"other"),
        challenge("shuffle.u", ground(), 0, b"part", b"other"),
        challenge("shuffle.c", ground(contract="x"), 0, b"part", b"other"),
        challenge("shuffle.c", ground(number=2), 0, b"part", b"other"),
        challenge("shuffle.c", ground(), 1, b"part", b"other"),
        challenge("shuffle.c", ground(), 0, b"parto", b"ther"),
        challenge("shuffle.c", ground(), 0, b"partother"),
    ]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize(
    ("where", "number", "joint"),
    [
        (ground(5, contract="other"), 0, TABLE.joint),
        (ground(5, number=2), 0, TABLE.joint),
        (TABLE.ground, 1, TABLE.joint),
        (TABLE.ground, 0, base(77)),
        (TABLE.ground, 3, TABLE.joint),
        (TABLE.ground, -1, TABLE.joint),
    ],
    ids=["contract", "round", "player", "key", "no player", "negative"],
)
def test_a_replayed_proof_is_refused(where: Ground, number: int, joint: bytes) -> None:
    item = TABLE.items[0]._replace(number=number)
    assert real().check_proofs(where, joint, [item]) == (number,)


def test_a_proof_of_other_decks_is_refused() -> None:
    first, second = TABLE.items[:2]
    assert not verdict(TABLE, first._replace(deck_in=second.deck_in))
    assert not verdict(TABLE, first._replace(deck_out=second.deck_out))
    assert not verdict(TABLE, second._replace(proof=first.proof))
    assert not verdict(TABLE, first._replace(deck_in=first.deck_out, deck_out=first.deck_in))


def test_every_chunk_of_a_proof_counts() -> None:
    item = SMALL.items[1]
    for chunk in range(len(item.proof) // 32):
        changed = bytearray(item.proof)
        changed[32 * chunk : 32 * chunk + 32] = (
            base(chunk + 5) if chunk < 14 else encode_scalar(chunk + 5)  # 3·3+5 points come first
        )
        assert not verdict(SMALL, item._replace(proof=bytes(changed))), chunk


def test_every_point_of_both_decks_counts() -> None:
    item = SMALL.items[1]
    for field in ("deck_in", "deck_out"):
        for start in range(0, len(item.deck_in), 32):
            value = getattr(item, field)
            changed = value[:start] + base(start + 9) + value[start + 32 :]
            assert not verdict(SMALL, item._replace(**{field: changed}))


@pytest.mark.parametrize("name", [name for name in BAD if len(BAD[name]) == 32])
def test_malformed_points_in_a_proof_are_refused(name: str) -> None:
    item = SMALL.items[1]
    for chunk in (0, 3, 6, 10, 11):  # c, ĉ, t1, t4b, t̂
        changed = item.proof[: 32 * chunk] + BAD[name] + item.proof[32 * chunk + 32 :]
        assert not verdict(SMALL, item._replace(proof=changed))


def test_torsion_added_to_a_commitment_is_refused() -> None:
    item, proof = SMALL.items[1], SMALL.items[1].proof
    for name in ("order 2", "order 4", "order 8"):
        moved = bindings.crypto_core_ed25519_add(proof[:32], BAD[name])
        assert not verdict(SMALL, item._replace(proof=moved + proof[32:]))


def test_scalars_of_the_order_or_more_are_refused() -> None:
    item = SMALL.items[1]
    last = int.from_bytes(item.proof[-32:], "little")
    changed = item.proof[:-32] + (last + L).to_bytes(32, "little")
    assert not verdict(SMALL, item._replace(proof=changed))


@pytest.mark.parametrize("cut", [0, 1, 32, 31, -1, -32])
def test_truncated_or_longer_proofs_are_refused(cut: int) -> None:
    item = SMALL.items[1]
    changed = item.proof[:cut] if cut <= 0 else item.proof + bytes(cut)
    assert not verdict(SMALL, item._replace(proof=changed))


def test_decks_of_a_wrong_length_are_refused() -> None:
    item = SMALL.items[1]
    assert not verdict(SMALL, item._replace(deck_in=item.deck_in[:-64]))
    assert not verdict(SMALL, item._replace(deck_out=item.deck_out + bytes(64)))
    assert not verdict(SMALL, item._replace(deck_in=b"", deck_out=b""))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_flipped_bit_is_refused(data: st.DataObject) -> None:
    field = data.draw(st.sampled_from(["deck_in", "deck_out", "proof"]))
    item = SMALL.items[1]
    value = getattr(item, field)
    index = data.draw(st.integers(0, len(value) - 1))
    changed = flip(value, index, data.draw(st.integers(0, 7)))
    assert not verdict(SMALL, item._replace(**{field: changed}))


@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=900))
def test_random_bytes_are_no_proof_and_raise_nothing(data: bytes) -> None:
    padded = (data * 900)[: proof_bytes(3)] if data else b""
    for proof in (data, padded):
        assert not verdict(SMALL, SMALL.items[1]._replace(proof=proof))


def test_a_failing_batch_names_the_culprits() -> None:
    for guilty in ((0,), (1,), (2,), (0, 2), (0, 1, 2)):
        items = list(TABLE.items)
        for index in guilty:
            items[index] = items[index]._replace(proof=flip(items[index].proof, 32 * 20))
        assert TABLE.bad(tuple(items)) == guilty
    assert TABLE.bad(TABLE.with_item(1, proof=b"")) == (1,)


def test_compensating_errors_in_a_batch_are_refused() -> None:
    """s1 is in no hash: one proof's is a little more, another's as much less. With fixed weights the
    errors cancel; with the verifier's own they do not, and both are named."""
    items = list(TABLE.items)
    for index, change in ((0, 1), (1, -1)):
        parts = shuffle.parse_proof(items[index].proof, 5)
        assert parts is not None
        start = 32 * (3 * 5 + 5)
        changed = encode_scalar(parts.s[0] + change)
        proof = items[index].proof
        items[index] = items[index]._replace(proof=proof[:start] + changed + proof[start + 32 :])

    def ones(count: int) -> bytes:
        return (1).to_bytes(16, "little") * (count // 16)

    assert ElGamalDealing(ones).check_proofs(TABLE.ground, TABLE.joint, items) == ()
    assert TABLE.bad(tuple(items)) == (0, 1)


def test_compensating_errors_inside_one_proof_are_refused() -> None:
    """s1 up, s2 down: the two equations differ by ±G and cancel under equal weights."""
    item = TABLE.items[0]
    parts = shuffle.parse_proof(item.proof, 5)
    assert parts is not None
    start = 32 * (3 * 5 + 5)
    changed = encode_scalar(parts.s[0] + 1) + encode_scalar(parts.s[1] - 1)
    forged = item._replace(proof=item.proof[:start] + changed + item.proof[start + 64 :])
    assert verdict(TABLE, forged, lambda count: (1).to_bytes(16, "little") * (count // 16))
    assert not verdict(TABLE, forged)


def test_the_verifier_draws_new_weights_for_each_check() -> None:
    draws = Draws()
    dealing = ElGamalDealing(draws)
    dealing.check_proofs(TABLE.ground, TABLE.joint, TABLE.items)
    assert draws.calls == len(TABLE.items)
    dealing.check_proofs(TABLE.ground, TABLE.joint, TABLE.items)
    assert draws.calls == 2 * len(TABLE.items)


def test_the_same_statement_twice_shares_no_commitment() -> None:
    dealing, item = real(), TABLE.items[0]
    shuffled = dealing.shuffle(TABLE.ground, 0, TABLE.seeds[0], TABLE.joint, item.deck_in)
    first, second = (
        dealing.prove(TABLE.ground, 0, TABLE.seeds[0], TABLE.joint, item.deck_in, shuffled) for _ in range(2)
    )
    points = [proof[i : i + 32] for proof in (first, second) for i in range(0, 32 * 20, 32)]
    assert len(set(points)) == len(points)


def test_no_nonce_of_a_shuffle_is_shared_with_another_proof() -> None:
    """Even from a random source that is stuck, another deck has other nonces."""
    broken = ElGamalDealing(bytes)
    first, second = (
        broken.prove(
            TABLE.ground,
            0,
            TABLE.seeds[0],
            TABLE.joint,
            deck,
            broken.shuffle(TABLE.ground, 0, TABLE.seeds[0], TABLE.joint, deck),
        )
        for deck in (TABLE.items[0].deck_in, TABLE.items[1].deck_in)
    )
    points = [proof[i : i + 32] for proof in (first, second) for i in range(0, 32 * 20, 32)]
    assert len(set(points)) == len(points)
    stream = nonce_stream(TABLE.seeds[0], TABLE.ground.contract, 0, bytes(32), "share", b"")
    assert base(stream.scalar()) not in points


def test_two_shuffles_of_one_deck_by_different_players_are_unrelated() -> None:
    item = TABLE.items[0]
    outs = [
        TABLE.dealing.shuffle(TABLE.ground, number, TABLE.seeds[0], TABLE.joint, item.deck_in).deck
        for number in range(3)
    ]
    assert len(set(outs)) == 3


def test_the_witness_is_bound_to_contract_player_key_and_input_deck() -> None:
    where, joint = ground(52), Point(TABLE.joint)
    first = shuffle.derive_witness(where, 0, digest("seed"), joint, b"deck")
    others = [
        shuffle.derive_witness(where, 0, digest("seed"), joint, b"other deck"),
        shuffle.derive_witness(where, 0, digest("seed"), base(7), b"deck"),
        shuffle.derive_witness(where, 1, digest("seed"), joint, b"deck"),
        shuffle.derive_witness(where, 0, digest("other"), joint, b"deck"),
        shuffle.derive_witness(ground(52, contract="other"), 0, digest("seed"), joint, b"deck"),
    ]
    for other in others:
        same = sum(a == b for a, b in zip(first.psi, other.psi, strict=True))
        assert same < 8  # about one by chance, eight with 10⁻⁵; the inputs are fixed
        assert not set(first.r) & set(other.r)


@pytest.mark.parametrize("cards", [4, 9])
def test_checks_that_were_begun_early_come_to_the_same_answer(cards: int) -> None:
    table = deal(real(), ground(cards, 4))
    dealing = ElGamalDealing(Draws("halves"))
    false = tuple(item._replace(proof=flip(item.proof, -1 - 32 * i)) for i, item in enumerate(table.items))
    for bad in ([], [0], [2], [0, 3], [0, 1, 2, 3]):
        items = [false[i] if i in bad else item for i, item in enumerate(table.items)]
        begun = [dealing.begin_check(table.ground, table.joint, item) for item in items]
        assert dealing.finish_checks(table.ground, table.joint, begun) == tuple(bad)
        assert dealing.finish_checks(table.ground, table.joint, begun[::-1]) == tuple(bad)


@pytest.mark.parametrize("me", range(4))
def test_who_made_a_deck_finds_the_same_proofs_bad_with_less_work(me: int) -> None:
    """In place of the own deck's points stand those it was made of; the others' proofs are judged alike, right
    before the own deck, right behind it and elsewhere."""
    table = deal(real(), ground(6, 4))
    dealing = ElGamalDealing(Draws("own"))
    mine = table.items[me]
    made = dealing.shuffle(table.ground, me, table.seeds[me], table.joint, mine.deck_in)
    assert made.deck == mine.deck_out
    own = OwnShuffle(mine.deck_in, made)
    others = [item for item in table.items if item.number != me]
    for bad in ((), *((item.number,) for item in others)):
        items = [item._replace(proof=flip(item.proof, -1)) if item.number in bad else item for item in others]
        begun = [dealing.begin_check(table.ground, table.joint, item) for item in items]
        assert dealing.finish_checks(table.ground, table.joint, begun, own) == bad


@pytest.mark.parametrize("number", [0, 2])
def test_a_cheat_beside_the_own_deck_is_found(number: int) -> None:
    """A doubled card before or after the own shuffle, with a proof by a prover who cheats."""
    table = deal(real(), ground(5, 3))
    dealing = ElGamalDealing(Draws("beside"))
    mine = table.items[1]
    made = dealing.shuffle(table.ground, 1, table.seeds[1], table.joint, mine.deck_in)
    item = cheat(table, Witness((0, 0, 2, 3, 4), R), number=number)
    if number == 0:
        made = dealing.shuffle(table.ground, 1, table.seeds[1], table.joint, item.deck_out)
    own = OwnShuffle(item.deck_out if number == 0 else mine.deck_in, made)
    begun = dealing.begin_check(table.ground, table.joint, item)
    assert dealing.finish_checks(table.ground, table.joint, [begun], own) == (number,)


def test_a_false_own_shuffle_only_makes_proofs_bad() -> None:
    dealing = ElGamalDealing(Draws("false"))
    made = dealing.shuffle(TABLE.ground, 1, digest("another seed"), TABLE.joint, TABLE.items[1].deck_in)
    own = OwnShuffle(TABLE.items[1].deck_in, made._replace(deck=TABLE.items[1].deck_out))
    begun = [dealing.begin_check(TABLE.ground, TABLE.joint, item) for item in TABLE.items]
    assert dealing.finish_checks(TABLE.ground, TABLE.joint, begun, own) != ()


def test_points_of_a_begun_proof_are_checked_where_they_are_multiplied() -> None:
    """One of its own points that is none makes a proof bad alone; a bad point of a deck both that touch it."""
    dealing = ElGamalDealing(Draws("bad points"))
    for point in BAD.values():
        item = TABLE.items[1]._replace(proof=point + TABLE.items[1].proof[32:])
        begun = [dealing.begin_check(TABLE.ground, TABLE.joint, one) for one in (TABLE.items[0], item)]
        assert dealing.finish_checks(TABLE.ground, TABLE.joint, begun) == (1,)

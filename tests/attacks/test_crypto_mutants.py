"""Every check of the arithmetic bites: without it, a forgery that it alone stops is accepted.

Weights make the equations of a shuffle separable: with the weight of one set to zero it is not checked.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module

import pytest

from p2p import dealing
from p2p.dealing import KeyPart, Opening, group, keys, opening, shuffle
from p2p.dealing.derive import nonce_stream
from p2p.dealing.elgamal import split_deck
from p2p.dealing.group import IDENTITY, POINT_BYTES, Point, base, encode_scalar, mul
from p2p.dealing.shuffle import parse_proof
from p2p.dealing.transcript import WEIGHT_BYTES, challenge
from tests.attacks.mutants import Site, install, sites
from tests.p2p.dealing.table import Draws, Table, deal, ground, real

CARDS = 4


@pytest.fixture(scope="module")
def table() -> Table:
    return deal(real(), ground(CARDS, 2))


def bump(proof: bytes, chunk: int) -> bytes:
    """One scalar of a proof, greater by one."""
    at = chunk * POINT_BYTES
    value = int.from_bytes(proof[at : at + POINT_BYTES], "little") + 1
    return proof[:at] + encode_scalar(value) + proof[at + POINT_BYTES :]


def without(*equations: int) -> Callable[[int], bytes]:
    """Weights that leave some equations of a shuffle out."""
    draws = Draws()

    def weights(count: int) -> bytes:
        drawn = bytearray(draws(count))
        for index in equations:
            drawn[index * WEIGHT_BYTES : (index + 1) * WEIGHT_BYTES] = bytes(WEIGHT_BYTES)
        return bytes(drawn)

    return weights


SCALARS = 3 * CARDS + 5
"""The first chunk of a proof that is a scalar: s1."""

BROKEN = {
    "s1": (SCALARS, (0,)),
    "s2": (SCALARS + 1, (1,)),
    "s3": (SCALARS + 2, (2,)),
    "s4": (SCALARS + 3, (3, 4)),
    **{f"chain {i}": (SCALARS + 4 + i, (5 + i,)) for i in range(CARDS)},
}


@pytest.mark.parametrize("name", BROKEN)
def test_every_equation_of_a_shuffle_bites(table: Table, name: str) -> None:
    chunk, equations = BROKEN[name]
    item = table.items[0]
    broken = item._replace(proof=bump(item.proof, chunk))
    parsed = parse_proof(broken.proof, CARDS)
    assert parsed is not None
    joint = Point(table.joint)
    assert not shuffle.verify(table.ground, joint, [(broken, parsed)], Draws())
    for other in range(CARDS + 5):
        if other not in equations:
            assert not shuffle.verify(table.ground, joint, [(broken, parsed)], without(other))
    assert shuffle.verify(table.ground, joint, [(broken, parsed)], without(*equations))


class _Skip:
    """A sum of which the ``number``-th taken is said to be the identity."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0

    def __call__(self, terms: object, threads: int = 1) -> Point | None:
        self.calls += 1
        return IDENTITY if self.calls == self.number else group.combination(terms, threads)  # type: ignore[arg-type]


def under_another_key(table: Table) -> tuple[Opening, bytes]:
    """A share under a key that is not the author's, with a proof that is right for that key alone."""
    x, deck = 1234567, split_deck(table.ground, table.deck)
    assert deck is not None
    openings = [Opening(b"cause", (0,), (mul(x, deck.a[0]),))]
    statement = opening._statement(0, table.keys[0].X, deck, openings)
    (weight,) = opening._weights(table.ground, 0, statement, 1)
    nonce = nonce_stream(bytes(32), table.ground.contract, 0, bytes(32), "forged").scalar()
    commitments = (base(nonce), mul(nonce * weight, deck.a[0]))
    c = challenge("share.c", table.ground, 0, *statement, *commitments)
    return openings[0], b"".join([*commitments, encode_scalar(nonce + c * x)])


def wrong_share(table: Table) -> tuple[Opening, bytes]:
    """A share that is not by the author's key, with a proof that only shows that the key is known."""
    openings, _ = table.dealing.shares(table.ground, 0, table.seeds[0], table.deck, [(b"cause", (0,))])
    deck = split_deck(table.ground, table.deck)
    assert deck is not None
    false = [Opening(b"cause", (0,), (base(5),))]
    statement = opening._statement(0, table.keys[0].X, deck, false)
    nonce, x = 99, keys.round_secret(table.ground, 0, table.seeds[0])
    commitments = (base(nonce), mul(nonce, deck.a[0]))
    c = challenge("share.c", table.ground, 0, *statement, *commitments)
    assert openings[0].shares != false[0].shares
    return false[0], b"".join([*commitments, encode_scalar(nonce + c * x)])


@pytest.mark.parametrize(("forge", "number"), [(under_another_key, 1), (wrong_share, 2)])
def test_both_equations_of_shares_bite(
    table: Table,
    forge: Callable[[Table], tuple[Opening, bytes]],
    number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, proof = forge(table)

    def accepted(skipped: int) -> bool:
        monkeypatch.setattr(opening, "combination", _Skip(skipped))
        return table.dealing.check_shares(table.ground, 0, table.keys[0].X, table.deck, [one], proof)

    assert [accepted(skipped) for skipped in (0, 1, 2)] == [False, number == 1, number == 2]


def key_of_another(table: Table) -> bool:
    rogue = KeyPart(base(7), base(8), table.keys[0].proof)
    return table.dealing.check_key(table.ground, 0, rogue)


def short_key_proof(table: Table) -> bool:
    part = table.keys[0]
    return table.dealing.check_key(table.ground, 0, part._replace(proof=part.proof + b"\0"))


def key_that_is_no_point(table: Table) -> bool:
    return table.dealing.check_key(table.ground, 0, table.keys[0]._replace(X=IDENTITY))


def long_scalar_of_shares(table: Table) -> bool:
    (one,), proof = table.dealing.shares(table.ground, 0, table.seeds[0], table.deck, [(b"cause", (0,))])
    return table.dealing.check_shares(
        table.ground, 0, table.keys[0].X, table.deck, [one], proof[:64] + b"\xff" * 32
    )


def point_of_small_order(table: Table) -> bool:
    return group.decode_point(bytes([1]) + bytes(31)) is not None


def deck_of_no_points(table: Table) -> bool:
    return table.dealing.check_deck(table.ground, b"\xff" * len(table.deck))


def long_deck(table: Table) -> bool:
    return table.dealing.check_deck(table.ground, table.deck + table.deck[:64])


def long_proof(table: Table) -> bool:
    item = table.items[0]
    return table.bad((item._replace(proof=item.proof + bytes(32)),)) == ()


def scalar_beyond_the_order(table: Table) -> bool:
    item = table.items[0]
    return table.bad((item._replace(proof=item.proof[:-32] + b"\xff" * 32),)) == ()


def sum_with_a_point_that_is_none(table: Table) -> bool:
    return group.combination({b"\xff" * 32: 5}) is not None


def sum_with_such_a_point_once(table: Table) -> bool:
    return group.combination({b"\xff" * 32: 1, group.G: 5}) is not None


def sum_with_such_a_point_times_zero(table: Table) -> bool:
    return group.combination({b"\xff" * 32: 0}) is not None


def one_position_twice(table: Table) -> bool:
    deck = split_deck(table.ground, table.deck)
    assert deck is not None
    made, proof = opening.make_shares(table.ground, 0, table.seeds[0], deck, [(b"cause", (0, 0))], Draws())
    return table.dealing.check_shares(table.ground, 0, table.keys[0].X, table.deck, made, proof)


def shares_for(table: Table, positions: tuple[int, ...]) -> bool:
    """Good shares for positions in this order, made by a program that does not look at it."""
    deck = split_deck(table.ground, table.deck)
    assert deck is not None
    made, proof = opening.make_shares(table.ground, 0, table.seeds[0], deck, [(b"cause", positions)], Draws())
    return table.dealing.check_shares(table.ground, 0, table.keys[0].X, table.deck, made, proof)


def descending_positions(table: Table) -> bool:
    return shares_for(table, (1, 0))


def position_beyond_the_deck(table: Table) -> bool:
    (made,), proof = table.dealing.shares(table.ground, 0, table.seeds[0], table.deck, [(b"cause", (0,))])
    beyond = made._replace(positions=(CARDS,))
    return table.dealing.check_shares(table.ground, 0, table.keys[0].X, table.deck, [beyond], proof)


FORGERIES: dict[Callable[[Table], bool], str] = {
    key_of_another: "dealing.keys.check_key.2",
    short_key_proof: "dealing.keys.check_key.0",
    key_that_is_no_point: "dealing.keys.check_key.1",
    long_scalar_of_shares: "dealing.opening.check_shares.2",
    point_of_small_order: "dealing.group.decode_point.0",
    deck_of_no_points: "dealing.elgamal.decode_deck.0",
    long_deck: "dealing.elgamal.split_deck.0",
    long_proof: "dealing.shuffle.parse_proof.0",
    scalar_beyond_the_order: "dealing.shuffle.parse_proof.1",
    sum_with_a_point_that_is_none: "dealing.group._sum.2",
    sum_with_such_a_point_once: "dealing.group._sum.0",
    sum_with_such_a_point_times_zero: "dealing.group._sum.1",
    descending_positions: "dealing.interface.ascending_positions.0",
    position_beyond_the_deck: "dealing.interface.ascending_positions.1",
    one_position_twice: "dealing.real.ElGamalDealing.check_shares.0",
}
"""What must be refused → the refusal without which it is not, or only by a program that stumbles."""

SITES: dict[str, Site] = {}


def _find_sites() -> None:
    # Every module of the deal, so that a new one cannot be forgotten.
    for info in pkgutil.iter_modules(dealing.__path__):
        if info.name not in ("transparent", "words"):
            module = import_module(f"p2p.dealing.{info.name}")
            SITES.update({str(site): site for site, _ in sites(module, ("return",))})


_find_sites()

SECOND_LINES = {
    "dealing.opening.check_shares.0": "the front has checked the shape",
    "dealing.opening.check_shares.1": "a scalar of another length is none",
    "dealing.real.ElGamalDealing.open.0": "a caller's mistake: positions and shares come from the fold",
    "dealing.real.ElGamalDealing.open_all.0": "a caller's mistake: there is one seed of each on the roster",
    "dealing.opening.opened_point.0": "the deck and each share have been checked before",
    "dealing.shuffle.finish.0": "without the half of its sum no proof comes to the identity",
}


def test_every_refusal_of_the_arithmetic_has_a_forgery() -> None:
    assert set(FORGERIES.values()) | SECOND_LINES.keys() == SITES.keys()


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.__name__)
def test_a_refusal_of_the_arithmetic_bites(
    table: Table, forgery: Callable[[Table], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = SITES[FORGERIES[forgery]]
    with monkeypatch.context() as patch:
        install(patch, [site], ("return",), keep=True)
        assert not forgery(table)
    install(monkeypatch, [site], ("return",))
    try:
        assert forgery(table)
    except Exception as error:  # the mutant stumbles over what its check would have refused
        assert not isinstance(error, AssertionError)


def test_random_weights_of_the_verifier_are_needed(table: Table) -> None:
    """With weights that a prover knows, two false equations can make up for each other."""
    item = table.items[0]
    changed = bytearray(bump(item.proof, SCALARS))
    at = (SCALARS + 1) * POINT_BYTES
    s2 = int.from_bytes(changed[at : at + POINT_BYTES], "little")
    changed[at : at + POINT_BYTES] = encode_scalar(s2 - 1)
    forged = bytes(changed)
    parsed = parse_proof(forged, CARDS)
    assert parsed is not None
    one = (1).to_bytes(WEIGHT_BYTES, "little")
    known = shuffle.verify(
        table.ground, Point(table.joint), [(item._replace(proof=forged), parsed)], lambda n: one * (n // len(one))
    )
    assert known
    assert table.bad((item._replace(proof=forged),)) == (item.number,)

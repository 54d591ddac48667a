"""What both ways of dealing do alike: the transparent one must give the outcomes of the real one."""

from __future__ import annotations

import pytest

from p2p.dealing import Dealing, DealingError, ElGamalDealing, Ground, ShuffleStatement, TransparentDealing
from tests.p2p.dealing.table import Table, deal, digest, flip, ground, real

TABLES = {"real": deal(real(), ground(6)), "transparent": deal(TransparentDealing(), ground(6))}


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Table:
    return TABLES[request.param]


def shares_of_all(table: Table, position: int) -> list[bytes]:
    made = [
        table.dealing.shares(table.ground, i, seed, table.deck, [(digest("cause"), (position,))])
        for i, seed in enumerate(table.seeds)
    ]
    return [openings[0].shares[0] for openings, _ in made]


def faces(table: Table) -> list[int | None]:
    return [
        table.dealing.open(table.ground, table.deck, position, shares_of_all(table, position))
        for position in range(table.ground.deck_size)
    ]


def test_a_whole_deal_opens_to_every_card_once(table: Table) -> None:
    assert all(table.dealing.check_key(table.ground, i, key) for i, key in enumerate(table.keys))
    assert table.bad(table.items) == ()
    assert sorted(face for face in faces(table) if face is not None) == list(range(6))
    assert all(len(item.deck_out) == table.dealing.deck_bytes(table.ground) for item in table.items)
    assert all(len(item.proof) == table.dealing.proof_bytes(table.ground) for item in table.items)


def test_a_deal_is_repeatable_from_its_seeds(table: Table) -> None:
    again = deal(type(table.dealing)(), table.ground)
    assert again.deck == table.deck
    assert again.joint == table.joint
    assert again.keys == tuple(k._replace(proof=a.proof) for k, a in zip(table.keys, again.keys, strict=True))


def test_two_rounds_deal_differently(table: Table) -> None:
    other = deal(table.dealing, ground(6, contract="another"))
    assert other.deck != table.deck


@pytest.mark.parametrize("changed", [ground(6, contract="x"), ground(6, number=2)])
def test_nothing_can_be_replayed_in_another_round(table: Table, changed: Ground) -> None:
    assert not table.dealing.check_key(changed, 0, table.keys[0])
    assert table.dealing.check_proofs(changed, table.joint, table.items) == (0, 1, 2)
    openings, proof = table.dealing.shares(table.ground, 0, table.seeds[0], table.deck, [(b"c", (1,))])
    assert table.dealing.check_shares(table.ground, 0, table.keys[0].X, table.deck, openings, proof)
    assert not table.dealing.check_shares(changed, 0, table.keys[0].X, table.deck, openings, proof)


def test_nothing_can_be_replayed_by_another_player(table: Table) -> None:
    dealing = table.dealing
    assert not dealing.check_key(table.ground, 1, table.keys[0])
    assert table.bad(table.with_item(1, number=2)[1:2]) == (2,)
    openings, proof = dealing.shares(table.ground, 0, table.seeds[0], table.deck, [(b"c", (1,))])
    assert not dealing.check_shares(table.ground, 1, table.keys[1].X, table.deck, openings, proof)
    assert not dealing.check_shares(table.ground, 1, table.keys[0].X, table.deck, openings, proof)
    assert not dealing.check_shares(table.ground, 0, table.keys[1].X, table.deck, openings, proof)


def test_changed_bytes_are_refused_everywhere(table: Table) -> None:
    dealing = table.dealing
    for field in ("X", "Y", "proof"):
        part = table.keys[0]._replace(**{field: flip(getattr(table.keys[0], field), 3)})
        assert not dealing.check_key(table.ground, 0, part)
    for field in ("deck_in", "deck_out", "proof"):
        items = table.with_item(1, **{field: flip(getattr(table.items[1], field), 3)})
        assert 1 in table.bad(items)
    openings, proof = dealing.shares(table.ground, 0, table.seeds[0], table.deck, [(b"c", (1, 2))])
    key, one = table.keys[0].X, openings[0]
    assert not dealing.check_shares(table.ground, 0, key, table.deck, openings, flip(proof, 0))
    for changed in (
        one._replace(cause=b"d"),
        one._replace(positions=(1, 3)),
        one._replace(shares=(flip(one.shares[0], 31), one.shares[1])),
        one._replace(shares=(one.shares[1], one.shares[0])),
        one._replace(shares=one.shares[:1]),
    ):
        assert not dealing.check_shares(table.ground, 0, key, table.deck, (changed,), proof)


def test_a_doubled_card_is_a_deck_but_no_shuffle(table: Table) -> None:
    card = table.dealing.deck_bytes(table.ground) // 6
    out = table.items[1].deck_out
    doubled = out[card : 2 * card] + out[card:]
    assert table.dealing.check_deck(table.ground, doubled)
    assert table.bad(table.with_item(1, deck_out=doubled)[:2]) == (1,)


def test_decks_of_a_wrong_length_are_no_decks(table: Table) -> None:
    for deck in (b"", table.deck[:-1], table.deck + b"\0"):
        assert not table.dealing.check_deck(table.ground, deck)
    assert table.dealing.check_deck(table.ground, table.deck)


def test_wrong_shares_open_nothing(table: Table) -> None:
    shares = shares_of_all(table, 2)
    wrongs = [shares[:2], [shares[0], shares[0], shares[2]], [flip(shares[0], 9), *shares[1:]], []]
    for wrong in [*wrongs, shares_of_all(table, 3)]:
        assert table.dealing.open(table.ground, table.deck, 2, wrong) is None


def test_the_audit_finds_other_seeds(table: Table) -> None:
    item = table.items[0]
    rest = (table.keys[0], item.deck_in, item.deck_out, table.deck, {2: shares_of_all(table, 2)[0]})
    audit = table.dealing.audit_seed
    assert audit(table.ground, 0, table.seeds[0], table.joint, *rest) == ()
    assert audit(table.ground, 0, digest("x"), table.joint, *rest) == ("key", "deck", "share:2")


def test_the_two_ways_are_not_to_be_mistaken(table: Table) -> None:
    other = TABLES["transparent" if table is TABLES["real"] else "real"]
    assert other.dealing.name != table.dealing.name
    assert not other.dealing.check_deck(table.ground, table.deck)
    assert not other.dealing.check_key(table.ground, 0, table.keys[0])
    assert other.dealing.check_proofs(other.ground, other.joint, table.items) == (0, 1, 2)


@pytest.mark.parametrize("number", [-1, 3])
def test_numbers_off_the_roster_are_refused(table: Table, number: int) -> None:
    dealing: Dealing = table.dealing
    assert not dealing.check_key(table.ground, number, table.keys[0])
    assert dealing.check_proofs(table.ground, table.joint, [table.items[0]._replace(number=number)]) == (number,)
    assert not dealing.check_shares(table.ground, number, table.keys[0].X, table.deck, (), b"")
    with pytest.raises(DealingError):
        dealing.make_key(table.ground, number, table.seeds[0])
    with pytest.raises(DealingError):
        dealing.make_key(table.ground, 0, b"short")


def test_grounds_that_make_no_sense_raise() -> None:
    good = (digest("c"), 1, (bytes(32), bytes([1] * 32)), 1, 0)
    assert Ground(*good).deck_size == 52
    assert Ground(*good[:3], 2, 4).deck_size == 108
    for index, value in (
        (0, b""),
        (1, 0),
        (2, good[2][::-1]),
        (2, (b"",)),
        (2, ()),
        (2, good[2][:1] * 2),
        (3, 0),
        (3, -1),
        (3, 9),
        (4, -1),
    ):
        changed = [*good[:index], value, *good[index + 1 :]]
        with pytest.raises(DealingError):
            Ground(*changed)  # type: ignore[arg-type]


def test_an_empty_batch_has_no_culprit(table: Table) -> None:
    empty: list[ShuffleStatement] = []
    assert table.dealing.check_proofs(table.ground, table.joint, empty) == ()


def test_the_default_randomness_is_that_of_the_system() -> None:
    import secrets

    assert ElGamalDealing().random_bytes is secrets.token_bytes


def test_shares_to_look_are_the_shares_that_would_be_sent(table: Table) -> None:
    dealing = table.dealing
    for number, seed in enumerate(table.seeds):
        (opening,), _ = dealing.shares(table.ground, number, seed, table.deck, [(b"cause", (1, 4))])
        assert dealing.shares_to_look(table.ground, number, seed, table.deck, (1, 4)) == opening.shares


def test_the_seeds_of_all_open_every_card(table: Table) -> None:
    dealing, size = table.dealing, table.ground.deck_size
    faces = [dealing.open(table.ground, table.deck, p, shares_of_all(table, p)) for p in range(size)]
    assert dealing.open_all(table.ground, table.seeds, table.deck) == tuple(faces)
    assert dealing.open_all(table.ground, table.seeds[:2], table.deck) is None

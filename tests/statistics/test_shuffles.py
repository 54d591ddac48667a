"""Whether shuffled decks look like shuffled decks, by chi-square at stated thresholds and fixed seeds.

Every threshold is the value that a fair shuffle exceeds once in a million runs (and, where a deck could also be
too even, falls below as rarely), so a failure is a mistake and not bad luck. Seeds are fixed: a test that has
passed passes again.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations

import pytest

from p2p.dealing import ElGamalDealing, Ground, TransparentDealing
from p2p.dealing.derive import seed_stream
from p2p.dealing.elgamal import split_deck
from p2p.dealing.group import Point, mul
from p2p.dealing.keys import public_keys, round_secret
from p2p.dealing.shuffle import Witness, apply_witness
from tests.p2p.dealing.table import Draws, digest

log = logging.getLogger(__name__)

CARDS = 52
MANY = 100_000
SOME = 10_000
Z_MILLION = 4.7534
"""The normal distribution exceeds this once in a million."""

Order = Sequence[int]


def quantile(freedom: int, z: float = Z_MILLION) -> float:
    """The chi-square value exceeded as rarely as ``z`` is by the normal (Wilson and Hilferty 1931)."""
    part = 2 / (9 * freedom)
    return freedom * (1 - part + z * math.sqrt(part)) ** 3


def chi_square(counts: Iterable[float], expected: Sequence[float]) -> float:
    return sum((count - wanted) ** 2 / wanted for count, wanted in zip(counts, expected, strict=True))


def is_plausible(statistic: float, freedom: int) -> bool:
    """Neither too uneven nor too even."""
    return quantile(freedom, -Z_MILLION) < statistic < quantile(freedom)


def positions(orders: Sequence[Order]) -> tuple[float, int]:
    """Every card at every position. Rows and columns have fixed sums, hence the factor and the freedom."""
    size = len(orders[0])
    expected = [len(orders) / size] * size
    total = 0.0
    for column in zip(*orders, strict=True):
        held = Counter(column)
        total += chi_square([held[card] for card in range(size)], expected)
    return total * (size - 1) / size, (size - 1) ** 2


def pairs(orders: Sequence[Order], first: int, second: int) -> tuple[float, int]:
    """Every ordered pair of cards at two positions."""
    size = len(orders[0])
    held = Counter((order[first], order[second]) for order in orders)
    outcomes = [(a, b) for a in range(size) for b in range(size) if a != b]
    return chi_square([held[pair] for pair in outcomes], [len(orders) / len(outcomes)] * len(outcomes)), (
        len(outcomes) - 1
    )


FIXED_BINS = 6


def fixed_points(orders: Sequence[Order]) -> tuple[float, int]:
    """How many cards stay where they were: 0, 1, …, 5, more (de Montmort's problem of coincidences)."""
    size = len(orders[0])
    counts = Counter(min(sum(p == c for p, c in enumerate(order)), FIXED_BINS) for order in orders)
    chances = [
        sum((-1) ** i / math.factorial(i) for i in range(size - k + 1)) / math.factorial(k)
        for k in range(FIXED_BINS)
    ]
    chances.append(1 - sum(chances))
    return chi_square([counts[k] for k in range(FIXED_BINS + 1)], [len(orders) * c for c in chances]), FIXED_BINS


@cache
def permutations(count: int) -> tuple[Order, ...]:
    """Permutations drawn as a player's are: from a seed, for one contract, key and input deck."""
    contract, joint, deck = digest("statistics"), digest("joint"), digest("deck")
    return tuple(
        seed_stream(
            "shuffle", hashlib.sha256(f"statistics {i}".encode()).digest(), contract, 0, joint, deck
        ).permutation(CARDS)
        for i in range(count)
    )


COUNTS = [pytest.param(SOME, id="10,000"), pytest.param(MANY, id="100,000", marks=pytest.mark.slow)]


@pytest.mark.parametrize("count", COUNTS)
def test_every_position_of_every_card_is_as_likely(count: int) -> None:
    assert is_plausible(*positions(permutations(count)))


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 51), (25, 26), (50, 51)])
def test_every_pair_of_cards_is_as_likely(first: int, second: int) -> None:
    assert is_plausible(*pairs(permutations(MANY), first, second))


@pytest.mark.parametrize("count", COUNTS)
def test_cards_stay_in_place_as_often_as_chance_has_it(count: int) -> None:
    statistic, freedom = fixed_points(permutations(count))
    assert statistic < quantile(freedom)


def sattolo(index: int) -> Order:
    """A shuffle that lets no card stay: the best known mistake."""
    stream = seed_stream("shuffle", digest(f"sattolo {index}"), bytes(32), 0)
    order = list(range(CARDS))
    for last in range(CARDS - 1, 0, -1):
        other = stream.below(last)
        order[last], order[other] = order[other], order[last]
    return order


def any_place(index: int) -> Order:
    """A shuffle that swaps each card with any place."""
    stream = seed_stream("shuffle", digest(f"any place {index}"), bytes(32), 0)
    order = list(range(CARDS))
    for place in range(CARDS):
        other = stream.below(CARDS)
        order[place], order[other] = order[other], order[place]
    return order


def by_remainder(index: int) -> Order:
    """A shuffle by one byte modulo the bound, with no byte rejected."""
    stream = seed_stream("shuffle", digest(f"remainder {index}"), bytes(32), 0)
    order = list(range(CARDS))
    for last in range(CARDS - 1, 0, -1):
        other = stream.take(1)[0] % (last + 1)
        order[last], order[other] = order[other], order[last]
    return order


@pytest.mark.parametrize("wrong", [sattolo, any_place, by_remainder])
def test_the_statistics_find_wrong_shuffles(wrong: object) -> None:
    orders = [wrong(index) for index in range(SOME)]  # type: ignore[operator]
    assert not (is_plausible(*positions(orders)) and fixed_points(orders)[0] < quantile(FIXED_BINS))


def dealt_by_one(place: int, index: int, players: int, cards: int) -> Order:
    """The deck when all players but one leave it as they got it."""
    dealing = TransparentDealing()
    roster = tuple(sorted(digest(f"player {i}") for i in range(players)))
    packs, jokers = divmod(cards, 52)
    ground = Ground(digest(f"one honest {index}"), 1, roster, packs, jokers)
    joint = digest("joint")
    deck = dealing.first_deck(ground, joint)
    seed = hashlib.sha256(f"honest {place} {index}".encode()).digest()
    deck = dealing.shuffle(ground, place, seed, joint, deck).deck
    width = dealing.deck_bytes(ground) // cards
    return [int.from_bytes(deck[i : i + width], "big") for i in range(0, len(deck), width)]


@pytest.mark.parametrize("place", range(3))
def test_one_honest_shuffler_is_enough(place: int) -> None:
    orders = [dealt_by_one(place, index, 3, CARDS) for index in range(SOME // 2)]
    assert is_plausible(*positions(orders))
    assert fixed_points(orders)[0] < quantile(FIXED_BINS)


REAL_CARDS = 8
REAL_DEALS = int(os.environ.get("SHITHEAD_REAL_DEALS", "300"))
"""Deals by the real arithmetic for each who is honest; docs/benchmarks.md has the outcome of 10,000."""


def by_identity(ground: Ground, number: int, joint: bytes, deck: bytes) -> bytes:
    """The deck of a player who leaves every card where it is: re-encrypted in earnest, not permuted."""
    parts = split_deck(ground, deck)
    assert parts is not None
    blinds = tuple(seed_stream("identity", ground.contract, ground.contract, number).scalar() for _ in parts.a)
    return apply_witness(parts, Point(joint), Witness(tuple(range(len(parts.a))), blinds)).to_bytes()


def really_dealt(index: int, cards: int, players: int, honest: frozenset[int]) -> Order:
    """The faces of a deal by the real arithmetic, in order; who is not honest permutes nothing."""
    dealing = ElGamalDealing(Draws(f"deal {index}"), threads=1)
    roster = tuple(sorted(digest(f"player {i}") for i in range(players)))
    ground = Ground(digest(f"real {index}"), 1, roster, 0, cards)
    seeds = [digest(f"seed {index} {i}") for i in range(players)]
    joint = dealing.joint_key([public_keys(ground, i, seed)[0] for i, seed in enumerate(seeds)])
    deck = dealing.first_deck(ground, joint)
    for i, seed in enumerate(seeds):
        if i in honest:
            deck = dealing.shuffle(ground, i, seed, joint, deck).deck
        else:
            deck = by_identity(ground, i, joint, deck)
    parts = split_deck(ground, deck)
    assert parts is not None
    secrets = [round_secret(ground, i, seed) for i, seed in enumerate(seeds)]
    found = [dealing.open(ground, deck, p, [mul(x, parts.a[p]) for x in secrets]) for p in range(cards)]
    faces = [face for face in found if face is not None]
    assert sorted(faces) == list(range(cards))
    return faces


@pytest.mark.slow
@pytest.mark.parametrize("honest", [frozenset({0, 1, 2}), frozenset({0}), frozenset({1}), frozenset({2})], ids=str)
def test_real_deals_are_as_even(honest: frozenset[int]) -> None:
    """Every card at every position, every pair of cards at every pair of positions, and cards that stay.

    ``SHITHEAD_REAL_DEALS=10000 pytest -m slow -k real --log-cli-level=info tests/statistics`` is the long run.
    """
    orders = [really_dealt(index, REAL_CARDS, 3, honest) for index in range(REAL_DEALS)]
    told = {"positions": positions(orders)}
    for first, second in combinations(range(REAL_CARDS), 2):
        told[f"pair {first} {second}"] = pairs(orders, first, second)
    for what, (statistic, freedom) in told.items():
        log.info("%s: %.1f, from %.1f to %.1f", what, statistic, quantile(freedom, -Z_MILLION), quantile(freedom))
        assert is_plausible(statistic, freedom), what
    statistic, freedom = fixed_points(orders)
    log.info("cards that stay: %.1f, up to %.1f", statistic, quantile(freedom))
    assert statistic < quantile(freedom)

"""Seeds and coins: unbiased, bound to what they are for, recomputable."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter

from p2p.dealing.derive import (
    Stream,
    coin_commitment,
    coins_digest,
    first_dealer,
    nonce_stream,
    seating,
    seed_commitment,
    seed_stream,
    table_words,
)
from p2p.dealing.words import WORDS
from tests.p2p.dealing.table import digest

# Upper limits of chi-square at a chance of 0.001 for an unbiased source; seeds are fixed, so the verdict
# is the same in every run.
CHI_SQUARE_16 = 39.25
CHI_SQUARE_119 = 173.6
CHI_SQUARE_5 = 20.52


def chi_square(counts: list[int], draws: int) -> float:
    expected = draws / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts)


class Scripted(Stream):
    """A stream that gives what a test says."""

    def __init__(self, *reads: bytes) -> None:
        super().__init__("scripted")
        self._reads = iter(reads)

    def take(self, count: int) -> bytes:
        read = next(self._reads)
        assert len(read) == count
        return read


def permutations(count: int, size: int) -> list[tuple[int, ...]]:
    return [Stream("test", i).permutation(size) for i in range(count)]


def position_statistic(drawn: list[tuple[int, ...]], size: int) -> float:
    cells = Counter((place, value) for order in drawn for place, value in enumerate(order))
    counts = [cells[cell] for cell in itertools.product(range(size), repeat=2)]
    return chi_square(counts, len(drawn) * size)


def test_permutation_positions_are_unbiased() -> None:
    assert position_statistic(permutations(4000, 5), 5) < CHI_SQUARE_16


def test_every_permutation_is_as_likely() -> None:
    counts = Counter(permutations(6000, 5))
    assert chi_square([counts[order] for order in itertools.permutations(range(5))], 6000) < CHI_SQUARE_119


def test_the_statistic_finds_sattolo_and_swapping_with_any_place() -> None:
    """The two shuffles that are wrong in published projects fail the same threshold."""

    def shuffled(index: int, bound_of: object) -> tuple[int, ...]:
        stream, order = Stream("mutant", index), list(range(5))
        for last in range(4, 0, -1):
            other = stream.below(bound_of(last))  # type: ignore[operator]
            order[last], order[other] = order[other], order[last]
        return tuple(order)

    for bound_of in (lambda last: last, lambda last: 5):
        assert position_statistic([shuffled(i, bound_of) for i in range(4000)], 5) > CHI_SQUARE_16


def test_about_one_card_stays_in_place() -> None:
    drawn = permutations(1000, 52)
    fixed = sum(place == value for order in drawn for place, value in enumerate(order)) / len(drawn)
    assert 0.9 < fixed < 1.1
    assert all(sorted(order) == list(range(52)) for order in drawn)


def test_below_rejects_the_incomplete_interval() -> None:
    stream = Scripted(*((2**32 - 1).to_bytes(4, "big"), (2**32 - 2).to_bytes(4, "big"), bytes([0, 0, 0, 7])))
    bound = 3 * 2**30  # 2^32 is one and a third of it: a remainder would favour the first third
    assert stream.below(bound) == 7


def test_below_is_uniform() -> None:
    stream = Stream("uniform")
    counts = Counter(stream.below(6) for _ in range(6000))
    assert chi_square([counts[value] for value in range(6)], 6000) < CHI_SQUARE_5


def test_a_stream_does_not_depend_on_the_size_of_reads() -> None:
    whole = Stream("reads").take(5000)
    stream = Stream("reads")
    assert b"".join(stream.take(size) for size in (1, 31, 992, 1, 3000, 975)) == whole
    assert whole == hashlib.shake_256(b"\x93\xaashithead/1\xa6derive\xa5reads").digest(5000)


def test_two_decks_under_one_seed_give_unrelated_permutations() -> None:
    """With one permutation on two decks the slots of both would show each other without any key."""
    size, pairs = 52, 200
    same = 0
    for i in range(pairs):
        first, second = (
            seed_stream("shuffle", digest(f"s{i}"), digest("c"), 0, digest("X"), digest(deck)).permutation(size)
            for deck in ("one", "two")
        )
        same += sum(a == b for a, b in zip(first, second, strict=True))
    assert 0.7 < same / pairs < 1.3  # one agreement is what chance gives


def test_the_seed_stream_is_bound_to_every_part() -> None:
    parts = [("shuffle", digest("seed"), digest("contract"), 1, digest("X"), digest("deck"))]
    parts += [
        ("key", *parts[0][1:]),
        ("shuffle", digest("other"), *parts[0][2:]),
        ("shuffle", digest("seed"), digest("other"), *parts[0][3:]),
        ("shuffle", digest("seed"), digest("contract"), 2, *parts[0][4:]),
        (*parts[0][:4], digest("other"), parts[0][5]),
        (*parts[0][:5], digest("other")),
    ]
    assert len({seed_stream(*part).take(32) for part in parts}) == len(parts)


def test_nonces_differ_by_fresh_bytes_and_by_statement() -> None:
    common = (digest("seed"), digest("contract"), 0)
    drawn = {
        nonce_stream(*common, digest(fresh), kind, statement).take(32)
        for fresh in ("a", "b")
        for kind in ("key", "share")
        for statement in (b"one", b"two")
    }
    assert len(drawn) == 8


def test_commitments_are_bound_to_contract_author_and_kind() -> None:
    value = digest("value")
    made = {
        commit(digest(contract), author, value)
        for commit in (seed_commitment, coin_commitment)
        for contract in ("one", "two")
        for author in (0, 1)
    }
    assert len(made) == 8


def test_the_coins_digest_is_bound_to_every_acceptance_and_coin() -> None:
    ids, coins = [digest("id0"), digest("id1")], [digest("c0"), digest("c1")]
    made = [
        coins_digest(digest("C"), ids, coins),
        coins_digest(digest("D"), ids, coins),
        coins_digest(digest("C"), ids[::-1], coins),
        coins_digest(digest("C"), ids, coins[::-1]),
        coins_digest(digest("C"), [ids[0], digest("x")], coins),
        coins_digest(digest("C"), ids, [digest("x"), coins[1]]),
    ]
    assert len(set(made)) == len(made)


def test_the_word_list_is_pinned() -> None:
    assert len(set(WORDS)) == 2048
    text = "".join(f"{word}\n" for word in WORDS).encode()
    assert hashlib.sha256(text).hexdigest() == "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"


def test_table_words_are_the_first_33_bits() -> None:
    from p2p.canonical import h

    bits = "".join(f"{byte:08b}" for byte in h("words", digest("K")))[:33]
    assert table_words(digest("K")) == tuple(WORDS[int(bits[i : i + 11], 2)] for i in (0, 11, 22))


def test_seats_and_first_dealer_are_uniform() -> None:
    digests = [digest(f"K{i}") for i in range(3000)]
    seats = Counter(seating(one, 3) for one in digests)
    assert chi_square([seats[order] for order in itertools.permutations(range(3))], 3000) < CHI_SQUARE_5
    dealers = Counter(first_dealer(one, 6) for one in digests)
    assert chi_square([dealers[seat] for seat in range(6)], 3000) < CHI_SQUARE_5


def test_scalars_are_never_zero() -> None:
    assert Scripted(bytes(64), (5).to_bytes(64, "little")).scalar() == 5

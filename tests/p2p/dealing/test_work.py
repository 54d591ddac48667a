"""The work of a deal, counted: it may become less, never more, whatever machine runs the test."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.rules import RuleSet, packs_for
from p2p.dealing.interface import PACK_CARDS
from tests.p2p.dealing.counting import PHASES, Counts, count_deal

HAND = UP = 3
"""Cards of each player whose shares a deal takes; the downcards stay closed."""


def most(players: int) -> Counts:
    """What a deal takes of all peers together, by docs/benchmarks.md, "Counted"."""
    n, cards = players, PACK_CARDS * packs_for(RuleSet(), players)
    owed = UP * n + HAND * (n - 1)
    others = n - 1
    pairs = n * others
    return {
        "make key": Counter({"k·G": 4 * n}),
        "check key": Counter({"k·P": 2 * pairs, "k·G": 2 * pairs}),
        "shuffle": Counter({"k·P": n * cards, "k·G": n * cards}),
        "check deck": Counter({"check": pairs * 2 * cards + n * (n + 1)}),
        # t3, t4a, t4b; the chain and its commitments; the joint key once.
        "prove": Counter({"k·P": n * (5 * cards + 1), "k·G": n * (3 * cards + 4)}),
        # c, ĉ and t̂ of each proof of another, and its five t.
        "begin + verify, proofs": Counter({"k·P": pairs * (3 * cards + 5)}),
        # The generators and the joint key once a peer, and every deck but the first and the own one.
        "begin + verify, shared": Counter({"k·P": n * (cards + 2 + 2 * cards * others)}),
        "make shares": Counter({"k·P": n * (2 * owed + 1), "k·G": 2 * n}),
        "check shares": Counter({"k·P": pairs * (2 * owed + 1), "k·G": pairs}),
        "look": Counter({"k·P": n * HAND}),
    }


@pytest.mark.parametrize("players", [2, 4, pytest.param(6, marks=pytest.mark.slow)])
def test_a_deal_takes_no_more_multiplications_than_it_must(players: int) -> None:
    counts, bound = count_deal(players), most(players)
    assert set(counts) <= set(PHASES)

    def taken(phases: tuple[str, ...], operation: str) -> int:
        return sum(counts.get(phase, Counter())[operation] for phase in phases)

    for phase in PHASES:
        if phase not in ("begin", "verify"):
            assert taken((phase,), "k·P") <= bound[phase]["k·P"], phase
            assert taken((phase,), "k·G") <= bound[phase]["k·G"], phase
    proofs = bound["begin + verify, proofs"]["k·P"] + bound["begin + verify, shared"]["k·P"]
    assert taken(("begin", "verify"), "k·P") <= proofs
    # With more than one other, the half of a proof is done before the last one comes.
    assert (counts.get("begin", Counter())["k·P"] > 0) is (players > 2)
    assert taken(("check deck",), "check") <= bound["check deck"]["check"]

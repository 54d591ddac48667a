"""The order of arrival has no say: the same entries give the same state, ending and faults to everyone."""

from __future__ import annotations

import os
from random import Random

import pytest

from p2p.dealing import TransparentDealing
from tests.p2p.peers import closure, fold_all, verdict
from tests.p2p.recorded import KINDS, PLAYERS, recorded

CASES = [(players, kind) for players in PLAYERS for kind in KINDS]

ENDINGS = {
    "finished": "finished",
    "voided": "unfinished",
    "faulted": "faulted",
    "forked": "faulted",
    "two culprits": "faulted",
    "dead": None,
}


@pytest.mark.parametrize(("players", "kind"), CASES)
def test_a_recorded_round_ended_as_it_says(players, kind):
    entries, _, contract = recorded(players, kind)
    session = fold_all(entries, TransparentDealing(), Random(1), causal=True)
    lens = session.rounds[contract].everything()
    expected = ENDINGS.get(kind, "forfeit" if players == 2 else "unfinished")
    assert (lens.final.kind if lens.final is not None else None) == expected
    assert session.dropped.total() == 0
    assert len(session.feeds.by_id) == len(entries)


def orders(players, kind, count, seed):
    """Folds prefixes of a round in random orders and compares."""
    entries, whole, _ = recorded(players, kind)
    random = Random(seed)
    for number in range(count):
        if number % 3 == 0:
            part, expected = list(entries), whole
        else:
            heads = [one.id for one in random.sample(entries, random.randint(1, 4))]
            part = closure(entries, heads)
            expected = verdict(fold_all(part, TransparentDealing(), Random(0), causal=True))
        causal = number % 2 == 0
        session = fold_all(part, TransparentDealing(), random, causal)
        assert len(session.feeds.by_id) == len(part)
        assert verdict(session) == expected


@pytest.mark.parametrize(("players", "kind"), CASES)
def test_every_order_and_every_prefix_gives_one_verdict(players, kind):
    orders(players, kind, 30 // players, seed=players)


MANY = {2: 150, 3: 50, 5: 20}
"""Orders in the long run of the tests; ``SHITHEAD_ORDERS=1000`` makes it a thousand for each, in half an hour."""


@pytest.mark.slow
@pytest.mark.parametrize(("players", "kind"), CASES)
def test_many_orders_give_one_verdict(players, kind):
    orders(players, kind, int(os.environ.get("SHITHEAD_ORDERS", MANY[players])), seed=players + 1)


@pytest.mark.parametrize("players", PLAYERS)
def test_a_peer_with_an_identity_folds_as_an_auditor_does(players):
    entries, whole, contract = recorded(players, "finished")
    for key in {entry.author for entry in entries}:
        session = fold_all(entries, TransparentDealing(), Random(2), causal=True, me=key)
        assert verdict(session) == whole
        assert session.rounds[contract].everything().final is not None

"""Every cheat is named by every honest peer, with its code, and nobody honest is blamed."""

from __future__ import annotations

from random import Random

import pytest

from p2p.dealing import ElGamalDealing, TransparentDealing
from p2p.phases import Phase
from tests.p2p.cheats import CHEATS, Cheat
from tests.p2p.peers import Peer, Table, fold_all, verdict
from tests.p2p.recorded import NAMES, PLAYERS, is_in


def commit(table: Table, cheat: Cheat, cheater: Peer) -> None:
    """Plays a round in which the cheat happens."""
    cheat.rig(table, cheater)
    table.start()
    if cheat.when is not None:
        table.play_until(lambda: cheat.when(cheater))
        cheat.strike(table, cheater)
        table.settle()
    else:
        table.play()


def honest(table: Table, *cheaters: Peer) -> list[Peer]:
    return [peer for peer in table.peers if peer not in cheaters]


def check(table: Table, cheat: Cheat, cheater: Peer) -> None:
    watching = honest(table, cheater)
    found = [verdict(peer.session) for peer in watching]
    assert all(one == found[0] for one in found)
    for peer in watching:
        round_ = peer.round
        lens = round_.everything()
        assert [(fault.player, fault.code) for fault in lens.faults] == [(cheater.me, cheat.code)]
        assert not [fault for fault in peer.session.table_faults if fault.player != cheater.me]
        culprit = round_.number_of[cheater.me]
        if cheat.before_agreed:
            assert lens.phase is Phase.DEAD
            assert not any(fact.entry.kind == "shares" for fact in honest_facts(table, cheater))
        elif cheat.before_agreed is None:
            assert lens.phase is Phase.DEAD or lens.final.kind == "faulted"
        elif cheat.ends:
            assert lens.final.kind == "faulted"
            assert [number for number, _, _ in lens.final.culprits] == [culprit]
            assert culprit not in lens.final.signers
        elif cheat.ends is None:
            assert lens.final.kind in ("faulted", "finished")
        else:
            assert lens.final.kind == "finished"


def honest_facts(table: Table, *cheaters: Peer):
    keys = {peer.me for peer in honest(table, *cheaters)}
    return [fact for peer in table.peers for fact in peer.session.feeds.by_id.values() if fact.author in keys]


def check_new_start(table: Table, *cheaters: Peer) -> None:
    """The others play on without them."""
    rest = honest(table, *cheaters)
    if len(rest) < 2:
        return
    first = rest[0]
    before = first.round
    first.write(first.session.offer(before.rules, [peer.me for peer in rest]))
    table.play_until(lambda: all(is_in(peer, Phase.PLAY) for peer in rest))
    assert all(peer.round is not before and set(peer.round.roster) == {p.me for p in rest} for peer in rest)
    assert not first.round.everything().faults


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("cheat", CHEATS, ids=str)
def test_a_cheat_is_named_by_all_and_nobody_else_is(cheat, players):
    table = Table(NAMES[:players], seed=players)
    cheater = table.peers[-1]
    commit(table, cheat, cheater)
    check(table, cheat, cheater)
    if cheat.ends is not False:
        check_new_start(table, cheater)


@pytest.mark.parametrize("cheat", CHEATS, ids=str)
def test_the_host_is_named_like_anyone(cheat):
    table = Table(NAMES[:3], seed=4)
    commit(table, cheat, table.peers[0])
    check(table, cheat, table.peers[0])


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("cheat", [cheat for cheat in CHEATS if cheat.before_agreed], ids=str)
def test_no_place_in_the_order_of_shuffling_protects(cheat, number):
    table = Table(NAMES[:3], seed=5)
    cheater = table.by_number(number)
    commit(table, cheat, cheater)
    check(table, cheat, cheater)


@pytest.mark.parametrize("cheat", CHEATS, ids=str)
def test_an_auditor_comes_to_the_same_verdict_in_any_order(cheat):
    table = Table(NAMES[:3], seed=6)
    commit(table, cheat, table.peers[-1])
    expected = verdict(table.peers[0].session)
    entries = [fact.entry for fact in table.peers[0].session.feeds.by_id.values()]
    for seed in range(4):
        session = fold_all(entries, TransparentDealing(), Random(seed), causal=seed % 2 == 0)
        assert verdict(session) == expected


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("cheat", [cheat for cheat in CHEATS if cheat.real], ids=str)
def test_false_arithmetic_is_found_by_the_real_deal(cheat, players):
    if players == 5 and cheat.name not in ("doubled card", "false share"):
        pytest.skip("two are enough of the slowest")
    table = Table(NAMES[:players], ElGamalDealing(), seed=7)
    cheater = table.by_number(players - 1)
    cheat.rig(table, cheater)
    table.start()
    check(table, cheat, cheater)


PAIRS = [
    ("wrong digest", "form of another type"),
    ("seen itself", "no such form"),
    ("doubled card", "decline after accept"),
    ("doubled card", "two decks under one number"),
    ("two moves under one number", "wrong result"),
    ("false share", "two agreements under one number"),
    ("two decks under one number", "two decks under one number"),
    ("two accepts under one number", "another coin"),
    ("false proof", "false proof"),
    ("two results under one number", "two results under one number"),
]


@pytest.mark.parametrize("players", [3, 5])
@pytest.mark.parametrize("names", PAIRS, ids=" and ".join)
def test_of_two_dishonest_ones_only_the_dishonest_are_named(names, players):
    table = Table(NAMES[:players], seed=8)
    cheats = [next(cheat for cheat in CHEATS if cheat.name == name) for name in names]
    cheaters = table.peers[-2:]
    for cheat, cheater in zip(cheats, cheaters, strict=True):
        cheat.rig(table, cheater)
    table.start()
    late = [(cheat, cheater) for cheat, cheater in zip(cheats, cheaters, strict=True) if cheat.when is not None]
    if late:
        table.play_until(lambda: all(cheat.when(cheater) for cheat, cheater in late))
    for cheat, cheater in late:
        cheat.strike(table, cheater)
    table.play()
    watching = honest(table, *cheaters)
    found = [verdict(peer.session) for peer in watching]
    assert all(one == found[0] for one in found)
    lens = watching[0].round.everything()
    blamed = [fault.player for fault in lens.faults]
    assert blamed and set(blamed) <= {peer.me for peer in cheaters}
    assert blamed == sorted(blamed)
    kinds = ("faulted", "finished") if None in [cheat.ends for cheat in cheats] else ("faulted",)
    assert lens.phase is Phase.DEAD or lens.final.kind in kinds
    check_new_start(table, *cheaters)

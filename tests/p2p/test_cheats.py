"""Every cheat is named by every honest peer, with its code, and nobody honest is blamed."""

from __future__ import annotations

from random import Random

import pytest

from p2p.dealing import ElGamalDealing, TransparentDealing
from p2p.feeds import entries as e
from p2p.rounds.news import News, Reporter
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import Surroundings, make_snapshot
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
    reporters = [(peer, Reporter(peer.session)) for peer in table.peers]
    told: list[list[News]] = [[] for _ in table.peers]
    settle = table.settle

    def telling() -> None:
        settle()
        for (peer, reporter), heard in zip(reporters, told, strict=True):
            heard.extend(reporter.news())
            make_snapshot(peer.session, Surroundings(), 0.0)

    table.settle = telling  # type: ignore[method-assign]
    commit(table, cheat, table.peers[-1])
    for heard in told[:-1]:
        faults = [(news.values["player"], news.values["code"]) for news in heard if news.name == "fault"]
        assert (table.peers[-1].me, cheat.code) in faults
        assert {player for player, _ in faults} == {table.peers[-1].me}
    expected = verdict(table.peers[0].session)
    entries = [fact.entry for fact in table.peers[0].session.feeds.by_id.values()]
    for seed in range(3):
        session = fold_all(entries, TransparentDealing(), Random(seed), causal=seed % 2 == 0)
        assert verdict(session) == expected


REAL = [(cheat, players) for cheat in CHEATS if cheat.real for players in (2, 3)]
REAL += [(cheat, 5) for cheat in CHEATS if cheat.name in ("doubled card", "false share")]


@pytest.mark.parametrize(("cheat", "players"), REAL, ids=str)
def test_false_arithmetic_is_found_by_the_real_deal(cheat, players):
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


class OtherSeed(TransparentDealing):
    """Does one piece of its work by another seed than the one committed to, with good proofs."""

    def __init__(self, what: str) -> None:
        self.what = what

    def make_key(self, ground, number, seed):
        return super().make_key(ground, number, bytes(32) if self.what == "key" else seed)

    def shuffle(self, ground, number, seed, joint, deck):
        return super().shuffle(ground, number, bytes(32) if self.what == "deck" else seed, joint, deck)

    def shares(self, ground, number, seed, deck, calls):
        # The shares have to fit the key that was given.
        return super().shares(ground, number, bytes(32) if self.what == "key" else seed, deck, calls)


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("what", ["key", "deck"])
def test_what_is_not_by_the_seed_is_on_record_at_everyones_and_changes_no_ending(what, players):
    table = Table(NAMES[:players], seed=9)
    cheater = table.peers[-1]
    cheater.session.dealing = OtherSeed(what)
    table.start()
    table.play()
    for peer in honest(table, cheater):
        round_ = peer.round
        assert [(f.player, f.code) for f in round_.on_record] == [(cheater.me, "not_by_seed")]
        assert what in round_.on_record[0].reason
        lens = round_.everything()
        assert (lens.final.kind, lens.faults) == ("finished", ())


@pytest.mark.parametrize("players", [2, 3])
def test_passing_in_spite_of_a_hidden_card_is_no_fault_before_the_hands_are_open(players):
    for seed in range(30):
        table = Table(NAMES[:players], seed=seed)
        passed: list[Peer] = []

        def passing(peer: Peer, body: e.Body, passed: list[Peer] = passed) -> list[e.Body]:
            if isinstance(body, e.Declare):
                passed.append(peer)
                return [e.Pass(body.contract)]
            return [body]

        for peer in table.peers:
            peer.on_write = passing
        table.start()
        table.play_until(lambda table=table: is_in(table.peers[0], Phase.PLAY))
        if passed:
            table.play()
            for peer in table.peers:
                assert peer.round.everything().faults == ()
                assert peer.round.everything().final.kind in ("finished", "stalled")
            return
    raise AssertionError("nobody ever has to declare")

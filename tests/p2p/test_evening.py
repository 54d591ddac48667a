"""An evening: rounds on one another, seats and dealer, people who come and go, the score."""

from __future__ import annotations

from random import Random

import pytest

from engine.rules import RuleSet
from p2p.canonical import h
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import Surroundings, make_snapshot
from tests.p2p.peers import Peer, Table, fold_all, verdict
from tests.p2p.recorded import NAMES, is_in


def play_round(table: Table, *keys: bytes) -> None:
    """One round with these (or all) to its end."""
    host = table.peers[0]
    host.write(host.session.offer(RuleSet(), keys or [peer.me for peer in table.peers]))
    table.settle()
    table.play()


def seats_of(peer: Peer) -> list[bytes]:
    """The keys in the order of the seats."""
    round_ = peer.round
    return [round_.roster[number] for number in round_.everything().agreement.seats]


def dealer_of(peer: Peer) -> bytes:
    return seats_of(peer)[peer.round.everything().agreement.dealer]


def join(table: Table, name: str) -> Peer:
    """Somebody new comes in."""
    host = table.peers[0]
    peer = Peer(name, seed=table.random.randrange(1000))
    peer.sit(host.session.table)
    host.write(e.Admit(peer.me, name, b""))
    table.peers.append(peer)
    table.fetched.append(0)
    table.settle()
    return peer


def settled(table: Table) -> None:
    found = [verdict(peer.session) for peer in table.peers]
    assert all(one == found[0] for one in found)
    assert not any(round_.everything().faults for round_ in table.peers[0].session.rounds.values())
    assert not table.peers[0].session.table_faults


@pytest.mark.parametrize("players", [2, 3, 5])
def test_coins_seat_the_first_round_and_the_shithead_deals_the_next(players):
    table = Table(NAMES[:players], seed=players)
    table.settle()
    play_round(table)
    peer = table.peers[-1]
    first = peer.round
    assert first.terms.seats == [] and first.terms.dealer == []
    assert first.terms.last == h("first", peer.session.table)
    seats, final = seats_of(peer), first.everything().final
    numbers = (2, 3) if players == 2 else (2,)
    for number in numbers:
        loser = peer.round.roster[final.shithead]
        play_round(table)
        assert peer.round.terms.round == number
        assert peer.round.terms.last == final.digest
        assert seats_of(peer) == seats
        assert dealer_of(peer) == loser
        final = peer.round.everything().final
    settled(table)
    assert [r.terms.round for r in peer.session.ended_rounds()] == [1, *numbers]


def test_the_first_dealer_and_seats_are_not_always_the_same():
    dealers, seatings = set(), set()
    for seed in range(12):
        table = Table(NAMES[:3], seed=seed)
        table.start()
        peer = table.peers[0]
        dealers.add(dealer_of(peer))
        seatings.add(tuple(seats_of(peer)))
    assert len(dealers) == 3
    assert len(seatings) > 3


def test_who_comes_later_sits_behind_and_sees_nothing_odd():
    table = Table(NAMES[:3], seed=1)
    table.settle()
    play_round(table)
    before = seats_of(table.peers[0])
    cleo, dora = join(table, "Gil"), join(table, "Hal")
    play_round(table)
    assert seats_of(cleo) == [*before, cleo.me, dora.me]
    settled(table)


def test_who_joins_in_the_middle_of_a_round_watches_it_and_plays_the_next():
    table = Table(NAMES[:2], seed=2)
    table.start()
    table.play_until(lambda: is_in(table.peers[0], Phase.PLAY))
    new = join(table, "Gil")
    assert new.round.contract == table.peers[0].round.contract
    assert new.session.own_state(new.round) == new.round.everything().state
    table.play()
    assert new.round.everything().final.kind == "finished"
    play_round(table)
    assert new.me in new.round.roster
    settled(table)


def test_who_is_dismissed_is_gone_and_the_others_close_up():
    table = Table(NAMES[:4], seed=3)
    table.settle()
    play_round(table)
    host, gone = table.peers[0], table.peers[2]
    before = seats_of(host)
    host.write(e.Dismiss(gone.me, "late"))
    table.settle()
    assert all(gone.me not in peer.session.members() for peer in table.peers)
    rest = [peer.me for peer in table.peers if peer is not gone]
    play_round(table, *rest)
    assert seats_of(host) == [key for key in before if key != gone.me]
    assert host.session.offer(RuleSet(), [*rest, gone.me]).roster == host.session.offer(RuleSet(), rest).roster
    settled(table)


def test_when_the_shithead_goes_the_seat_after_the_dealer_deals():
    for seed in range(8):
        table = Table(NAMES[:4], seed=seed)
        table.settle()
        play_round(table)
        host = table.peers[0]
        loser = host.round.roster[host.round.everything().final.shithead]
        if loser == host.me:
            continue
        seats, dealer = seats_of(host), dealer_of(host)
        host.write(e.Dismiss(loser, "went home"))
        table.settle()
        play_round(table, *(key for key in seats if key != loser))
        circle = seats[seats.index(dealer) + 1 :] + seats[: seats.index(dealer) + 1]
        assert dealer_of(host) == next(key for key in circle if key != loser)
        return
    raise AssertionError("the host always loses")


def test_nobody_can_be_dismissed_or_leave_the_table_while_seated():
    table = Table(NAMES[:3], seed=4)
    table.start()
    host, other = table.peers[:2]
    host.write(e.Dismiss(other.me, "x"))
    other.write(e.Leave(other.session.table, []))
    table.settle()
    for peer in table.peers:
        assert len(peer.session.members()) == 3
        assert [fault.code for fault in peer.session.table_faults] == ["bad_kind"] * 2


def test_who_has_left_may_come_back():
    table = Table(NAMES[:3], seed=5)
    table.settle()
    host, other = table.peers[:2]
    other.write(e.Leave(other.session.table, []))
    table.settle()
    assert other.me not in host.session.members()
    host.write(e.Admit(other.me, other.name, b""))
    table.settle()
    assert list(host.session.members())[-1] == other.me
    play_round(table)
    settled(table)


@pytest.mark.parametrize("name", ["Ada", "ADA", " Bo", "", "x" * 21, "Ad\u0430", "\uff21da"])
def test_a_name_that_is_taken_or_none_lets_nobody_in(name):
    table = Table(NAMES[:2], seed=6)
    table.settle()
    host = table.peers[0]
    new = Peer("Gil")
    host.put(host.sign_raw("admit", [new.me, name, b""]))
    assert new.me not in host.session.members()
    assert [fault.player for fault in host.session.table_faults] == [host.me]


def test_a_key_of_small_order_lets_nobody_in():
    table = Table(NAMES[:2], seed=6)
    host = table.peers[0]
    host.write(e.Admit(bytes([1]) + bytes(31), "Gil", b""))
    assert len(host.session.members()) == 2
    assert [fault.code for fault in host.session.table_faults] == ["bad_kind"]


def test_an_offer_while_a_round_goes_on_is_a_bad_start():
    table = Table(NAMES[:2], seed=7)
    table.settle()
    host, other = table.peers
    first = host.session.offer(RuleSet(), [peer.me for peer in table.peers])
    host.write(first)
    table.settle()
    other.write(first)
    table.settle()
    for peer in table.peers:
        assert [(f.player, f.code) for f in peer.session.table_faults] == [(other.me, "bad_start")]
        assert len(peer.session.rounds) == 1
    table.play()
    assert host.round.everything().final.kind == "finished"


def test_who_says_no_ends_the_attempt_and_is_asked_again():
    table = Table(NAMES[:2], seed=8)
    table.settle()
    host, other = table.peers
    other.session.always_consent = False
    host.write(host.session.offer(RuleSet(), [peer.me for peer in table.peers]))
    table.settle()
    asked = other.session.asks_consent()
    assert asked is not None
    other.session.consent(asked.contract, False)
    table.settle()
    assert asked.everything().phase is Phase.DEAD
    host.write(host.session.offer(RuleSet(), [peer.me for peer in table.peers]))
    table.settle()
    again = other.session.asks_consent()
    assert again is not asked and again.terms.attempt == 2
    other.session.consent(again.contract, True)
    table.settle()
    assert again.everything().agreement is not None


def test_the_score_of_the_evening_is_the_same_for_all():
    table = Table(NAMES[:3], seed=9)
    table.settle()
    play_round(table)
    host = table.peers[0]
    host.write(host.session.offer(RuleSet(), [peer.me for peer in table.peers]))
    table.settle()
    table.play_until(lambda: is_in(host, Phase.PLAY))
    table.peers[1].write(table.peers[1].session.leave_round())
    table.settle()
    play_round(table)
    scores = [make_snapshot(peer.session, Surroundings(), 0.0).score for peer in table.peers]
    assert scores[0] == scores[1] == scores[2]
    assert [line.kind for line in scores[0]] == ["finished", "unfinished", "finished"]
    assert [line.number for line in scores[0]] == [1, 2, 3]
    assert scores[0][1].shithead is None


def test_a_whole_evening_folds_alike_in_any_order():
    table = Table(NAMES[:3], seed=10)
    table.settle()
    play_round(table)
    join(table, "Gil")
    play_round(table)
    table.peers[0].write(e.Dismiss(table.peers[1].me, "x"))
    table.settle()
    expected = verdict(table.peers[0].session)
    for seed in range(3):
        assert verdict(fold_all(table.entries(), TransparentDealing(), Random(seed), causal=True)) == expected

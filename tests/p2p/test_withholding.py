"""Somebody stops: nobody is blamed, everyone sees who owes what, and the round can be given up for good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from p2p.feeds import entries as e
from p2p.rounds.duties import Duty, duties
from p2p.rounds.ending import needs_reveal
from p2p.rounds.phases import Phase
from p2p.rounds.session import GRACE_S, REVEAL_GRACE_S
from tests.p2p.peers import Peer, Table
from tests.p2p.recorded import NAMES, is_in

BEFORE = ("accept", "key", "deck", "proof", "agreed")
DURING = ("shares of the deal", "ready", "declare", "move", "shares of a draw", "flip")
KIND = {
    "accept": e.Accept,
    "key": e.Key,
    "deck": e.Deck,
    "proof": e.Proof,
    "agreed": e.Agreed,
    "shares of the deal": e.Shares,
    "result": e.Result,
    "reveal": e.Reveal,
}
WHAT = {"shares of the deal": "shares", "shares of a draw": "shares"}


@dataclass
class Stopped:
    """A table where one has stopped at a step; the others have gone as far as they can."""

    table: Table
    debtor: Peer
    what: str

    @property
    def others(self) -> list[Peer]:
        return [peer for peer in self.table.peers if peer is not self.debtor]


def silence(peer: Peer, when: Callable[[e.Body], bool]) -> None:
    """From the first body that fits on, the peer writes nothing any more."""
    stopped: list[bool] = []

    def write(peer: Peer, body: e.Body) -> list[e.Body]:
        if stopped or when(body):
            stopped.append(True)
            return []
        return [body]

    peer.on_write = write


def drive(table: Table, is_still: Callable[[Peer], bool]) -> None:
    """Plays on until nobody moves; ``is_still``: does not move of its own will."""
    for _ in range(3000):
        table.settle()
        if not any([not is_still(peer) and table.move(peer) for peer in table.peers]):  # noqa: C419
            return
    raise AssertionError("it does not come to rest")


def stop(step: str, players: int, seed: int) -> Stopped | None:
    """Plays until one stops at the step; None if the round with this seed does not come to it."""
    table = Table(NAMES[:players], seed=seed)
    debtor = table.peers[-1] if seed % 2 else table.peers[0]
    what = WHAT.get(step, step)
    if step in KIND:
        silence(debtor, lambda body: isinstance(body, KIND[step]))
        table.start()
        drive(table, lambda peer: False)
    elif step in ("shares of a draw", "flip"):
        phase = Phase.OPENING if step == "flip" else Phase.PLAY
        silence(debtor, lambda body: isinstance(body, e.Shares) and is_in(debtor, phase))
        table.start()
        drive(table, lambda peer: False)
    elif step == "declare":
        silence(debtor, lambda body: isinstance(body, e.Declare | e.Pass))
        table.start()
        drive(table, lambda peer: False)
    else:
        phase = Phase.ARRANGE if step == "ready" else Phase.PLAY
        table.start()
        drive(table, lambda peer: peer is debtor and is_in(peer, phase))
    stopped = Stopped(table, debtor, what)
    owed = set(duties(stopped.others[0].round.everything()))
    return stopped if Duty(debtor.round.number_of[debtor.me], what) in owed else None


def stopped_at(step: str, players: int) -> Stopped:
    return next(found for seed in range(1, 60) if (found := stop(step, players, seed)) is not None)


def number(stopped: Stopped) -> int:
    return stopped.debtor.round.number_of[stopped.debtor.me]


def check_owed(stopped: Stopped) -> None:
    """Nobody is blamed, and after the grace the debtor, and nobody else, is overdue at everyone's."""
    for peer in stopped.others:
        session = peer.session
        assert not peer.round.everything().faults and not session.table_faults
        session.tick(100.0)
        owed = session.waiting_for(100.0)
        assert {duty.number for duty, _ in owed} == {number(stopped)}
        assert stopped.what in {duty.what for duty, _ in owed}
        assert all(seconds == 0.0 for _, seconds in owed)
        assert session.overdue(99.0 + GRACE_S) == ()
        session.tick(100.0 + GRACE_S)
        late = session.overdue(100.0 + GRACE_S)
        assert late == tuple(duty for duty, _ in owed)


def agree(table: Table, *peers: Peer) -> None:
    assert len({peer.round.everything().ending for peer in peers}) == 1
    assert not [fault for peer in peers for fault in peer.round.everything().faults]


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("step", [*BEFORE, *DURING, "result", "reveal"])
def test_whoever_stops_is_shown_and_not_blamed(step, players):
    check_owed(stopped_at(step, players))


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("step", BEFORE)
def test_before_all_have_agreed_the_attempt_dies_and_another_one_begins(step, players):
    stopped = stopped_at(step, players)
    table, first = stopped.table, stopped.others[0]
    attempt = first.round
    body = first.session.leave_round(first.session.overdue(0.0))
    assert body is not None
    first.write(body)
    table.settle()
    for peer in stopped.others:
        assert peer.session.rounds[attempt.contract].everything().phase is Phase.DEAD
    stopped.debtor.on_write = None
    again = [peer.me for peer in (stopped.others if players > 2 else table.peers)]
    first.write(first.session.offer(attempt.rules, again))
    table.settle()
    for peer in stopped.others:
        assert peer.round.terms.attempt == 2
        assert peer.round.everything().phase in (Phase.ARRANGE, Phase.START, Phase.PLAY)
        assert not peer.round.everything().faults
        # No card of the dead attempt was ever opened.
        assert not [fact for facts in attempt.facts["shares"] for fact in facts]


def test_a_later_attempt_leaves_the_earlier_one_behind_without_a_departure():
    stopped = stopped_at("key", 3)
    first = stopped.others[0]
    first.write(first.session.offer(first.round.rules, [peer.me for peer in stopped.others]))
    stopped.table.settle()
    for peer in stopped.others:
        assert peer.round.terms.attempt == 2
        assert peer.round.everything().phase in (Phase.ARRANGE, Phase.START, Phase.PLAY)


def test_two_offers_made_at_once_give_one_round():
    for seed in range(6):
        table = Table(NAMES[:3], seed=seed)
        table.settle()
        for peer in table.peers[:2]:
            peer.write(peer.session.offer(rules(), [one.me for one in table.peers]))
        table.settle()
        dealt = [
            round_
            for round_ in table.peers[2].session.rounds.values()
            if round_.everything().agreement is not None
        ]
        assert len(dealt) == 1
        table.play()
        assert table.peers[0].round.everything().final.kind == "finished"


def rules():
    from engine.rules import RuleSet

    return RuleSet()


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("step", DURING)
def test_giving_up_for_a_debt_ends_the_round_as_unfinished(step, players):
    stopped = stopped_at(step, players)
    first = stopped.others[0]
    first.session.tick(0.0)
    first.session.tick(float(GRACE_S))
    late = first.session.overdue(float(GRACE_S))
    assert late
    first.write(first.session.leave_round(late))
    stopped.table.settle()
    for peer in stopped.others:
        final = peer.round.everything().final
        assert final.kind == "unfinished" and final.shithead is None and final.finish == ()
        assert {debt for debt, _ in final.debts} == {number(stopped)}
        assert number(stopped) not in final.signers
        assert [how for _, how, _ in final.gone] == ["owed"]
        assert peer.round.everything().phase is Phase.CLOSED
        assert not needs_reveal(final)
    agree(stopped.table, *stopped.others)
    # Nothing of it stays in the way of the next round.
    first.session.offer(first.round.rules, [peer.me for peer in stopped.table.peers])


@pytest.mark.parametrize("players", [2, 3])
def test_a_withheld_result_lets_the_round_be_given_up(players):
    stopped = stopped_at("result", players)
    first = stopped.others[0]
    first.session.tick(0.0)
    late = first.session.overdue(float(GRACE_S))
    first.write(first.session.leave_round(late))
    stopped.table.settle()
    for peer in stopped.others:
        final = peer.round.everything().final
        assert final.kind == "finished"
        assert number(stopped) not in final.signers


@pytest.mark.parametrize("players", [2, 3])
def test_a_withheld_seed_is_waited_for_only_so_long(players):
    stopped = stopped_at("reveal", players)
    for peer in stopped.others:
        peer.session.tick(0.0)
        assert not peer.session.is_over(peer.round, REVEAL_GRACE_S - 0.1)
        assert peer.session.is_over(peer.round, REVEAL_GRACE_S)
        assert peer.round.everything().final.kind == "finished"
        peer.session.offer(peer.round.rules, [one.me for one in stopped.table.peers])


@pytest.mark.parametrize("players", [2, 3, 5])
def test_leaving_without_a_debt_is_a_forfeit_for_two_and_unfinished_for_more(players):
    table = Table(NAMES[:players], seed=3)
    table.start()
    table.play_until(lambda: is_in(table.peers[0], Phase.PLAY))
    leaver = table.peers[-1]
    leaver.write(leaver.session.leave_round())
    table.settle()
    for peer in table.peers:
        final = peer.round.everything().final
        left = peer.round.number_of[leaver.me]
        if players == 2:
            assert (final.kind, final.shithead, final.finish) == ("forfeit", left, (1 - left,))
        else:
            assert (final.kind, final.shithead) == ("unfinished", None)
        assert final.gone[0][:2] == (left, "left")


def test_a_debt_that_is_none_makes_a_forfeit_of_giving_up():
    table = Table(NAMES[:2], seed=3)
    table.start()
    table.play_until(lambda: is_in(table.peers[0], Phase.PLAY))
    liar = next(peer for peer in table.peers if peer.state().turn == peer.seat)
    other = next(peer for peer in table.peers if peer is not liar)
    owed = [Duty(other.round.number_of[other.me], "move"), Duty(liar.round.number_of[liar.me], "move")]
    liar.write(liar.session.leave_round(owed))
    table.settle()
    final = other.round.everything().final
    assert (final.kind, final.shithead) == ("forfeit", liar.round.number_of[liar.me])
    assert final.debts == ()


@pytest.mark.parametrize("players", [2, 3])
def test_when_all_give_one_another_up_the_round_is_settled_still(players):
    table = Table(NAMES[:players], seed=3)
    for peer in table.peers:
        silence(peer, lambda body: isinstance(body, e.Shares))
    table.start()
    for peer in table.peers:
        owed = [duty for duty in duties(peer.round.everything()) if duty.number != peer.round.number_of[peer.me]]
        assert len(owed) == players - 1
        peer.write(peer.session.leave_round(owed))
    table.settle()
    for peer in table.peers:
        final = peer.round.everything().final
        assert (final.kind, final.signers) == ("unfinished", ())
        assert peer.round.everything().phase is Phase.CLOSED
        peer.session.offer(peer.round.rules, [one.me for one in table.peers])
    agree(table, *table.peers)


def test_the_clock_of_a_debt_stands_still_while_it_is_not_owed():
    stopped = stopped_at("move", 2)
    first = stopped.others[0]
    first.session.tick(0.0)
    first.session.tick(GRACE_S / 2)
    stopped.table.move(stopped.debtor)
    stopped.table.settle()
    first.session.tick(GRACE_S - 1.0)
    assert first.session.overdue(GRACE_S + 1.0) == ()


def test_the_clock_starts_anew_with_each_move_however_fast_the_others_are():
    table = Table(NAMES[:2], seed=5)
    table.start()
    table.play_until(lambda: is_in(table.peers[0], Phase.PLAY))
    slow, watching = table.peers
    now = 0.0
    for _ in range(6):
        drive(table, lambda peer: peer is slow and is_in(peer, Phase.PLAY))
        if not is_in(slow, Phase.PLAY):
            break
        now += GRACE_S - 1.0
        watching.session.tick(now)
        assert watching.session.overdue(now) == ()
        assert [seconds for _, seconds in watching.session.waiting_for(now)] == [0.0]
        table.move(slow)
    assert now > 3 * GRACE_S

"""House rules at a table: hands stay hidden, every option is played, and who broke one is found."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from engine import game
from engine.moves import Chance, Choose, PickUp, Play, PlayerMove, Ready
from engine.rules import PRESETS, RuleSet, with_options
from p2p.audit import Verdict, verify
from p2p.dealing import TransparentDealing
from p2p.news import Reporter
from p2p.phases import Phase
from p2p.roundfile import Head, decode, encode
from p2p.session import Session
from tests.p2p.peers import Peer, Table, choose

NAMES = ("Ana", "Bogdan", "Carmen", "Dan")

SINGLE: tuple[Mapping[str, str], ...] = (
    {"arrange": "choose"},
    {"arrange": "none"},
    {"start": "random"},
    {"start": "dealer_left"},
    {"start": "hand_lowest"},
    {"start": "hand_lowest", "start_tie": "most_copies"},
    {"start": "hand_lowest", "lead_must_be_start_rank": "true"},
    {"pick_up": "forced_only"},
    {"chance": "chance"},
    {"chance": "chance_free"},
    {"draw_follow_up": "true"},
    {"jokers": "2", "joker_power": "wild"},
    {"jokers": "2", "joker_power": "reverse"},
    {"jokers": "2", "joker_power": "burn"},
    {"jokers": "2", "joker_power": "transparent"},
    {"upcard_pick_up": "pile_plus_one"},
    {"upcard_pick_up": "pile_plus_set"},
    {"combine_last_hand": "true"},
    {"blind_pick_up": "true"},
    {"burn_run": "5"},
    {"next_dealer": "random"},
    {"next_dealer": "winner"},
    {"next_dealer": "rotate"},
    {"deal": "3/3/5", "refill_to": "5"},
    {"arrange": "choose", "jokers": "2", "joker_power": "wild", "chance": "chance", "draw_follow_up": "true"},
)

CASES = [pytest.param(options, id=name) for name, options in PRESETS.items()] + [
    pytest.param(options, id=" ".join(f"{k}={v}" for k, v in options.items())) for options in SINGLE
]


def judged(session: Session) -> Verdict:
    """The verdict on the round that a peer would save."""
    round_ = session.current()
    assert round_ is not None
    head = Head(round_.contract, round_.terms.round, "", "", b"", "finished")
    facts = sorted(session.feeds.by_id.values(), key=lambda fact: fact.order)
    return verify(decode(encode(head, [fact.entry for fact in facts]), "test"), TransparentDealing())


def rules_of(options: Mapping[str, str]) -> RuleSet:
    """A rule set that ends soon whatever is played."""
    return with_options(RuleSet(), {**options, "turn_limit": "200"})


@pytest.mark.parametrize("options", CASES)
def test_two_rounds_are_played_and_fair(options: Mapping[str, str]) -> None:
    players = 2 + len(repr(options)) % 3
    table = Table(NAMES[:players], seed=len(repr(options)))
    reporters = [Reporter(peer.session) for peer in table.peers]
    for number in (1, 2):
        if number == 1:
            table.start(rules_of(options))
        else:
            host = table.peers[0]
            host.write(host.session.offer(rules_of(options), [peer.me for peer in table.peers]))
            table.settle()
        table.play()
        for reporter in reporters:
            reporter.news()
        lenses = [peer.round.everything() for peer in table.peers]
        assert {lens.phase for lens in lenses} == {Phase.CLOSED}
        assert all(lens.faults == () for lens in lenses)
        assert len({lens.final.digest for lens in lenses}) == 1
        verdict = judged(table.peers[-1].session)
        assert (verdict.verdict, verdict.faults) == ("fair", ())


def test_the_dealer_follows_the_option() -> None:
    for option, expected in (("winner", 0), ("loser", -1)):
        table = Table(NAMES[:3], seed=2)
        table.start(with_options(RuleSet(), {"next_dealer": option}))
        table.play()
        ending = table.peers[0].round.everything().final
        order = (*ending.finish, ending.shithead)
        first = table.peers[0].round.roster[order[expected]]
        host = table.peers[0]
        host.write(host.session.offer(RuleSet(), [peer.me for peer in table.peers]))
        table.settle()
        round_ = host.round
        deal = round_.everything().agreement
        assert round_.roster[deal.seats[deal.dealer]] == first


def liar_plays(table: Table, liar: Peer, lie: type[PlayerMove]) -> bool:
    """Plays a round in which one player makes a move of a kind wherever the public rules let it."""
    lied = False
    for _ in range(3000):
        table.settle()
        moved = False
        for peer in table.peers:
            move = choose(peer, table.random)
            if move is None:
                continue
            moved = True
            if peer is liar and isinstance(move, Play):
                public = peer.round.everything().state
                wanted: PlayerMove = PickUp(peer.seat) if lie is PickUp else Chance(peer.seat)
                if peer.state().hands[peer.seat] and game.check(public, wanted) is None:
                    session = peer.session
                    round_, lens = session.current(), peer.round.everything()
                    own = session._own[round_.contract]
                    peer.write(session._body(round_, lens, round_.number_of[peer.me], own, wanted))
                    lied = True
                    continue
            peer.act(move)
        if not moved:
            return lied
    raise AssertionError("the round does not end")


@pytest.mark.parametrize(
    ("options", "lie", "code"),
    [
        ({"pick_up": "forced_only"}, PickUp, "pick_up_not_forced"),
        ({"chance": "chance"}, Chance, "chance_not_forced"),
    ],
)
def test_who_was_not_forced_is_named_once_the_hands_are_open(
    options: Mapping[str, str], lie: type[PlayerMove], code: str
) -> None:
    """While hands are closed nobody can tell; the seeds show it, with the name, and blame nobody else."""
    for seed in range(20):
        table = Table(NAMES[:2], seed=seed)
        table.start(rules_of(options))
        liar = table.peers[0]
        lied = liar_plays(table, liar, lie)
        lens = table.peers[1].round.everything()
        assert lens.faults == ()
        if not lied or lens.final.kind not in ("finished", "stalled"):
            continue
        verdict = judged(table.peers[1].session)
        if verdict.verdict == "cheating":
            assert {(fault.player, fault.code) for fault in verdict.faults} == {("Ana", code)}
            return
    pytest.fail("no deal let the liar lie")


def test_chosen_upcards_stay_closed_until_all_are_ready() -> None:
    table = Table(NAMES[:2], seed=4)
    table.start(with_options(RuleSet(), {"arrange": "choose"}))
    one, other = table.peers
    for peer in table.peers:
        state = peer.state()
        move = next(m for m in game.actions(state) if isinstance(m, Choose) and m.seat == peer.seat)
        peer.act(move)
    table.settle()
    seen = other.state()
    assert len(seen.ups[one.seat]) == 3
    assert all(seen.faces[position] < 0 for position in seen.ups[one.seat])
    assert all(one.state().faces[position] >= 0 for position in one.state().ups[one.seat])
    one.act(Ready(one.seat))
    table.settle()
    assert all(other.state().faces[position] < 0 for position in other.state().ups[one.seat])
    other.act(Ready(other.seat))
    table.settle()
    assert all(other.state().faces[position] >= 0 for position in other.state().ups[one.seat])

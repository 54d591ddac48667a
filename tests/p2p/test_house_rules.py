"""House rules at a table: hands stay hidden, every option is played, and who broke one is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest

from engine import game
from engine.moves import Chance, Choose, Declare, Pass, PickUp, Play, PlayAs, PlayerMove, Ready
from engine.rules import PRESETS, RuleSet, with_options
from engine.state import GameState
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.rounds.audit import Verdict, verify
from p2p.rounds.intent import body_of_move
from p2p.rounds.news import Reporter
from p2p.rounds.phases import Phase
from p2p.rounds.roundfile import Head, decode, encode
from p2p.rounds.session import Session
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


Lie = Callable[[Peer, GameState, PlayerMove], Iterable[PlayerMove]]
"""What a liar would rather do than a move, given what it knows; the first that nobody else can refuse is done."""


def picking_up(peer: Peer, own: GameState, move: PlayerMove) -> Iterable[PlayerMove]:
    """The pile instead of a play from the hand."""
    return [PickUp(peer.seat)] if isinstance(move, Play | PlayAs) and own.hands[peer.seat] else []


def chancing(peer: Peer, own: GameState, move: PlayerMove) -> Iterable[PlayerMove]:
    """A chance card instead of a play from the hand."""
    return [Chance(peer.seat)] if isinstance(move, Play | PlayAs) and own.hands[peer.seat] else []


def leading(peer: Peer, own: GameState, move: PlayerMove) -> Iterable[PlayerMove]:
    """A first lead without the rank that it has to hold."""
    start = own.extra.start_rank
    if start < 0 or not isinstance(move, Play):
        return []
    return [Play(peer.seat, (p,)) for p in own.hands[peer.seat] if own.rank_at(p) != start]


def passing(peer: Peer, own: GameState, move: PlayerMove) -> Iterable[PlayerMove]:
    """A pass instead of declaring."""
    return [Pass(peer.seat)] if isinstance(move, Declare) else []


def declaring(peer: Peer, own: GameState, move: PlayerMove) -> Iterable[PlayerMove]:
    """A card of a worse suit declared, or one of another rank than that asked for."""
    if not isinstance(move, Declare):
        return []
    same = [p for p in own.hands[peer.seat] if own.rank_at(p) == own.asked]
    return [Declare(peer.seat, p) for p in same if p != move.position]


def lie_told(peer: Peer, lie: Lie, move: PlayerMove) -> e.Body | None:
    """The body of a lie, if one is possible now: the rules forbid it, and who does not see the hand can't tell."""
    session, lens = peer.session, peer.round.everything()
    own = peer.state()
    for wanted in lie(peer, own, move):
        shown = (
            wanted.positions
            if isinstance(wanted, Play)
            else (wanted.position,)
            if isinstance(wanted, Declare)
            else ()
        )
        seen = game.with_faces(lens.state, {p: own.faces[p] for p in shown})
        if game.check(own, wanted) is not None and game.check(seen, wanted) is None:
            round_ = session.current()
            assert round_ is not None
            seed = session._own[round_.contract].seed
            return body_of_move(session.dealing, round_, lens, round_.number_of[peer.me], seed, wanted)
    return None


def liar_plays(table: Table, liar: Peer, lie: Lie) -> bool:
    """Plays the round that was offered; one player lies once, where it can. Returns whether it did."""
    lied: list[bool] = []

    def write(peer: Peer, body: e.Body) -> Iterable[e.Body]:
        # Declaring is what a program does by itself.
        if isinstance(body, e.Declare) and not lied:
            told = lie_told(peer, lie, Declare(peer.seat, body.position))
            if told is not None:
                lied.append(True)
                return [told]
        return [body]

    liar.on_write = write
    for _ in range(3000):
        table.settle()
        moved = False
        for peer in table.peers:
            move = choose(peer, table.random)
            if move is None:
                continue
            moved = True
            told = lie_told(peer, lie, move) if peer is liar and not lied else None
            if told is not None:
                lied.append(True)
                peer.write(told)
            else:
                peer.act(move)
        if not moved:
            return bool(lied)
    raise AssertionError("the round does not end")


FORCED = {"pick_up": "forced_only"}
WILD = {"jokers": "4", "joker_power": "wild"}
MANY = {"deal": "3/3/9"}
"""Big hands, in which there is something to lie about sooner."""

LIES: tuple[tuple[Mapping[str, str], Lie, str], ...] = (
    (FORCED, picking_up, "pick_up_not_forced"),
    (FORCED | WILD, picking_up, "pick_up_not_forced"),
    (FORCED | {"ceiling": "5,6,7,8,9", "ten_on_ceiling": "false"}, picking_up, "pick_up_not_forced"),
    (FORCED | {"transparent": "3,4,5"}, picking_up, "pick_up_not_forced"),
    (FORCED | {"quartet_beats_all": "true", "burn_run": "2"}, picking_up, "pick_up_not_forced"),
    (FORCED | {"chance": "chance"}, picking_up, "pick_up_not_forced"),
    (FORCED | {"combine_last_hand": "true", "deal": "1/1/1", "refill_to": "1"}, picking_up, "pick_up_not_forced"),
    (FORCED | {"upcards_strict": "true", "arrange": "choose"}, picking_up, "pick_up_not_forced"),
    ({"chance": "chance"}, chancing, "chance_not_forced"),
    ({"chance": "chance"} | WILD, chancing, "chance_not_forced"),
    (MANY | {"chance": "chance_free", "lead_must_be_start_rank": "true"}, chancing, "chance_not_forced"),
    (MANY | {"lead_must_be_start_rank": "true"}, leading, "lead_not_start_rank"),
    (MANY | WILD | {"lead_must_be_start_rank": "true"}, leading, "lead_not_start_rank"),
    ({}, passing, "false_pass"),
    ({"arrange": "choose"}, passing, "false_pass"),
    ({"start": "hand_lowest"}, passing, "false_pass"),
    ({"start": "hand_lowest", "start_tie": "most_copies"}, passing, "false_pass"),
    ({"start": "hand_lowest", "start_tie": "suit/shdc"}, passing, "false_pass"),
    (MANY | {"start": "hand_lowest", "start_tie": "suit/shdc"}, declaring, "false_declare"),
)


@pytest.mark.parametrize(
    ("options", "lie", "code"),
    [pytest.param(*row, id=f"{row[1].__name__} {' '.join(map('='.join, row[0].items()))}") for row in LIES],
)
def test_a_lie_about_a_hidden_hand_is_named_once_the_hands_are_open(
    options: Mapping[str, str], lie: Lie, code: str
) -> None:
    """While hands are closed nobody can tell; the seeds show it, with the name, and blame nobody else."""
    for seed in range(60):
        table = Table(NAMES[:2], seed=seed)
        table.start(with_options(RuleSet(), {"turn_limit": "30", **options}))
        lied = liar_plays(table, table.peers[0], lie)
        lens = table.peers[1].round.everything()
        assert lens.faults == ()
        if lied and lens.final.kind in ("finished", "stalled"):
            verdict = judged(table.peers[1].session)
            assert verdict.verdict == "cheating"
            assert {(fault.player, fault.code) for fault in verdict.faults} == {("Ana", code)}
            return
    pytest.fail("no deal let the liar lie")


def test_every_breach_of_a_hidden_hand_has_its_liar() -> None:
    assert {code for _, _, code in LIES} == set(game.BREACH_CODES.values())


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

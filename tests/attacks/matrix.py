"""Every kind of entry in every phase, and what is wrong with it there.

For each number of players and each phase there is a table that stands in it (``standing``): honest peers and one
that is about to cheat. ``WRONG`` says for each pair of phase and kind which entry to write there, and with which
code everybody has to answer. So a pair without a case cannot exist: ``test_matrix`` compares with
``p2p.rounds.phases``.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from engine.options import StartRule
from engine.rules import RuleSet
from engine.state import Phase as GamePhase
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.rounds.audit import verify
from p2p.rounds.phases import TABLE, Phase, refusal
from p2p.rounds.round import Lens, Round
from p2p.rounds.roundfile import Head, RoundFile
from tests.attacks.scenes import withhold
from tests.p2p.peers import Peer, Table, verdict
from tests.p2p.recorded import NAMES, is_in

COUNTS = (2, 3, 5)
LONG = (pytest.mark.slow,)
ALL = bool(os.environ.get("SHITHEAD_MATRIX"))
"""Whether the long run has every case with every number of players, and not only some of many alike."""

KINDS = sorted(e.ROUND_KINDS)
BEFORE_AGREED = (Phase.OFFER, Phase.KEYS, Phase.PREPARE, Phase.DEAD)
SETTLED = (Phase.REVEAL, Phase.CLOSED)
"""Phases in which the ending is final: what turns up now is on record and changes it no more."""

sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))  # to copy a table: each fact holds the one before


@dataclass
class Stand:
    """A table that stands in a phase, as it is at every peer, and who is about to cheat."""

    table: Table
    cheater: Peer

    @property
    def honest(self) -> list[Peer]:
        return [peer for peer in self.table.peers if peer is not self.cheater]

    def strike(self, *entries: Entry) -> None:
        """The cheater sends these, and everybody does what an honest program does then."""
        for entry in entries:
            self.cheater.put(entry)
        for peer in self.honest:
            peer.on_write = None
            # Before anybody goes on with what has been waited for.
            for entry in entries:
                peer.session.receive(entry)
        self.cheater.on_write = lambda peer, body: []
        self.table.settle()


_WITHHELD: dict[Phase, tuple[type[e.Body], ...]] = {
    Phase.OFFER: (e.Accept,),
    Phase.KEYS: (e.Key,),
    Phase.PREPARE: (e.Deck,),
    Phase.DEAL: (e.Shares,),
    Phase.START: (e.Declare, e.Pass),
    Phase.ENDING: (e.Result,),
    Phase.REVEAL: (e.Reveal,),
    Phase.DEAD: (e.Agreed,),
}


@cache
def _standing(players: int, phase: Phase) -> Stand:
    for seed in range(1, 40):
        table = Table(NAMES[:players], seed=seed, shuffled=False)
        table.settle()
        # In the order of shuffling the cheater comes after somebody honest, who can keep everybody waiting.
        slow, cheater = table.by_number(0), table.by_number(1)
        withhold(slow, *_WITHHELD.get(phase, ()))
        if phase is Phase.START:
            for peer in table.peers:
                withhold(peer, e.Declare, e.Pass)
        table.start(RuleSet(start=StartRule.HAND_LOWEST) if phase is Phase.START else None)
        match phase:
            case Phase.DEAD:
                slow.write(e.Leave(slow.round.contract, []))
                table.settle()
            case Phase.PLAY:
                _play_some_moves(table)
            case Phase.OPENING:
                _play_to_a_flip(table)
            case Phase.START | Phase.ENDING | Phase.REVEAL | Phase.CLOSED:
                table.play()
        if not is_in(cheater, phase):
            continue
        return Stand(table, cheater)
    raise AssertionError(f"no table of {players} comes to stand in {phase}")


def moves(table: Table) -> int:
    tip = table.peers[0].round.everything().tip
    return 0 if tip is None else tip.depth


def _play_some_moves(table: Table) -> None:
    table.play_until(lambda: moves(table) >= 4)


def _play_to_a_flip(table: Table) -> None:
    def quiet(peer: Peer, body: e.Body) -> list[e.Body]:
        return [] if isinstance(body, e.Shares) and is_in(peer, Phase.OPENING) else [body]

    table.by_number(0).on_write = quiet
    for _ in range(2000):
        table.settle()
        if is_in(table.by_number(1), Phase.OPENING) or not any([table.move(peer) for peer in table.peers]):  # noqa: C419
            return


def standing(players: int, phase: Phase) -> Stand:
    """A table of its own that stands in a phase."""
    return copy.deepcopy(_standing(players, phase))


def body(kind: str, stand: Stand) -> e.Body:
    """A well-formed body of a kind that is right nowhere."""
    contract, zeros = stand.cheater.round.contract, bytes(32)
    bodies: dict[str, Callable[[], e.Body]] = {
        "accept": lambda: e.Accept(contract, zeros, zeros),
        "decline": lambda: e.Decline(contract, "no"),
        "key": lambda: e.Key(contract, zeros, zeros, zeros, zeros),
        "deck": lambda: e.Deck(contract, zeros, zeros),
        "proof": lambda: e.Proof(contract, zeros),
        "agreed": lambda: e.Agreed(contract, zeros),
        "shares": lambda: e.Shares(contract, [], [(contract, [0], [zeros])], zeros),
        "swap": lambda: e.Swap(contract, 51, 50, b"", b""),
        "choose": lambda: e.Choose(contract, [51]),
        "ready": lambda: e.Ready(contract),
        "declare": lambda: e.Declare(contract, 51, b"", b""),
        "pass": lambda: e.Pass(contract),
        "move": lambda: e.Move(contract, 1, contract, zeros, "pick_up", [], [], [], b""),
        "result": lambda: e.Result(contract, zeros),
        "reveal": lambda: e.Reveal(contract, zeros),
        "leave": lambda: e.Leave(contract, []),
    }
    return bodies[kind]()


PRESENT: dict[tuple[Phase, str], str] = {
    (Phase.OFFER, "accept"): "second_accept",
    (Phase.OFFER, "decline"): "second_accept",
    (Phase.KEYS, "key"): "bad_kind",
    (Phase.PREPARE, "deck"): "bad_kind",
    (Phase.PREPARE, "proof"): "bad_kind",
    (Phase.PREPARE, "agreed"): "bad_agreed",
    (Phase.DEAL, "shares"): "uncalled_share",
    (Phase.ARRANGE, "swap"): "illegal_move",
    (Phase.ARRANGE, "choose"): "illegal_move",
    (Phase.ARRANGE, "ready"): "bad_kind",
    (Phase.START, "declare"): "bad_declare",
    (Phase.START, "pass"): "bad_kind",
    (Phase.PLAY, "move"): "illegal_move",
    (Phase.PLAY, "shares"): "uncalled_share",
    (Phase.OPENING, "shares"): "uncalled_share",
    (Phase.ENDING, "result"): "bad_result",
    (Phase.REVEAL, "result"): "bad_result",
    (Phase.REVEAL, "reveal"): "bad_kind",
    (Phase.CLOSED, "result"): "bad_result",
    (Phase.CLOSED, "reveal"): "bad_kind",
    (Phase.DEAD, "accept"): "second_accept",
    (Phase.DEAD, "decline"): "second_accept",
    (Phase.DEAD, "key"): "bad_kind",
    (Phase.DEAD, "deck"): "bad_kind",
    (Phase.DEAD, "proof"): "bad_kind",
}
"""What of an allowed pair is refused, and with which code: once too often, out of turn, or for what it says."""

NEVER_WRONG = {pair for pair in TABLE if pair[1] == "leave"}
"""Anybody may leave at any time. A debt that it claims and that is none counts for nothing."""

WRONG = {
    (phase, kind): PRESENT.get((phase, kind)) or refusal(phase, kind)
    for phase in Phase
    for kind in KINDS
    if (phase, kind) not in NEVER_WRONG
}
"""Every pair of phase and kind → the code of a wrong entry there."""


def wrong_entries(stand: Stand, phase: Phase, kind: str) -> tuple[Entry, ...]:
    """The entries with which the cheater breaks the protocol in this place; the last one is the breach."""
    cheater = stand.cheater
    if (phase, kind) == (Phase.ARRANGE, "ready"):
        cheater.write(body(kind, stand))
    if (phase, kind) == (Phase.START, "declare"):
        stand.cheater = cheater = next(peer for peer in stand.table.peers if peer.state().turn == peer.seat)
    if (phase, kind) == (Phase.START, "pass"):
        stand.cheater = cheater = next(peer for peer in stand.table.peers if peer.state().turn != peer.seat)
    if (phase, kind) == (Phase.PLAY, "move"):
        stand.cheater = cheater = next(peer for peer in stand.table.peers if peer.state().turn == peer.seat)
    return (cheater.sign(body(kind, stand)),)


# -- deviations that any entry can have -------------------------------------------------------------


def seen_itself(stand: Stand) -> tuple[Entry, ...]:
    """Names an entry of its own."""
    peer = stand.cheater
    own = peer.session.feeds.line[peer.me][-1].id
    return (peer.sign_raw("leave", [peer.round.contract, []], seen=(own,)),)


def seen_out_of_order(stand: Stand) -> tuple[Entry, ...]:
    """Names two entries of one feed, the one before the other."""
    peer = stand.cheater
    other = next(one for number in range(2) if (one := stand.table.by_number(number)) is not peer)
    for _ in range(2):
        mark = other.write(e.Mark())
        for one in stand.table.peers:
            one.session.receive(mark)
    line = peer.session.feeds.line[other.me]
    named = tuple(sorted((line[-1].id, line[-2].id)))
    return (peer.sign_raw("leave", [peer.round.contract, []], seen=named),)


def no_such_form(stand: Stand) -> tuple[Entry, ...]:
    """A body of too many fields."""
    peer = stand.cheater
    return (peer.sign_raw("leave", [peer.round.contract, [], 7]),)


def another_version(stand: Stand) -> tuple[Entry, ...]:
    """Signs its newest entry of the round once more, with another body."""
    peer = stand.cheater
    line = peer.session.feeds.line[peer.me]
    newest = next(fact.entry for fact in reversed(line) if fact.entry.contract == peer.round.contract)
    other: e.Body = e.Leave(peer.round.contract, [])
    return (peer.sign_again(newest, other),)


GENERIC: dict[str, tuple[Callable[[Stand], tuple[Entry, ...]], str]] = {
    "seen itself": (seen_itself, "bad_seen"),
    "seen out of order": (seen_out_of_order, "bad_seen"),
    "no such form": (no_such_form, "bad_schema"),
    "another version": (another_version, "fork"),
}
"""What can be wrong with an entry whatever it says, and its code."""


# -- what has to be found --------------------------------------------------------------------------


def saved(peer: Peer, round_: Round) -> RoundFile:
    """The round as this peer saves it."""
    head = Head(round_.contract, round_.terms.round, "2026-05-12T20:14:00+00:00", "0", peer.me, "")
    facts = sorted(peer.session.feeds.by_id.values(), key=lambda fact: fact.order)
    return RoundFile(head, tuple(fact.entry for fact in facts))


def check_named(stand: Stand, contract: bytes, code: str) -> None:
    """All honest peers name the cheat by this code, and nobody else; so does the audit of what they save."""
    found = [verdict(peer.session) for peer in stand.honest]
    assert all(one == found[0] for one in found)
    names = {peer.me: peer.name for peer in stand.table.peers}
    for peer in stand.honest:
        round_ = peer.session.rounds[contract]
        faults = round_.everything().faults
        assert [(fault.player, fault.code) for fault in faults] == [(stand.cheater.me, code)]
        blamed = {fault.player for fault, _ in round_.faults} | {f.player for f in peer.session.table_faults}
        assert blamed == {stand.cheater.me}
    # They hold the same entries, so one file stands for all.
    audited = verify(saved(stand.honest[-1], stand.honest[-1].session.rounds[contract]), TransparentDealing())
    assert audited.verdict == "cheating"
    assert {(fault.player, fault.code) for fault in audited.faults} == {(names[stand.cheater.me], code)}


def check_ending(stand: Stand, contract: bytes, phase: Phase, before: object) -> None:
    """The attempt is dead, the round has ended with the culprit last, or an ending that was final stays."""
    for peer in stand.honest:
        round_ = peer.session.rounds[contract]
        lens = round_.everything()
        culprit = round_.number_of[stand.cheater.me]
        if phase in BEFORE_AGREED:
            assert lens.phase is Phase.DEAD
        elif phase in SETTLED:
            assert lens.final == before and lens.final is not None and lens.final.kind == "finished"
        else:
            assert lens.final is not None and lens.final.kind == "faulted"
            assert [number for number, _, _ in lens.final.culprits] == [culprit]
            assert culprit not in lens.final.signers and lens.final.shithead is None


def check_kept_closed(stand: Stand, contract: bytes) -> None:
    """Nobody honest gives a share before all have agreed or after a breach, nor a seed before the end is final."""
    session = stand.honest[0].session
    round_ = session.rounds[contract]
    honest = {peer.me for peer in stand.honest}
    for fact in session.feeds.by_id.values():
        if fact.author in honest and fact.entry.contract == contract:
            lens = Lens(round_, fact)
            if fact.entry.kind == "shares":
                assert lens.agreement is not None and not lens.faults
            if fact.entry.kind == "reveal":
                assert lens.final is not None
    check_hidden(round_, {round_.number_of[peer.me] for peer in stand.honest if peer.me in round_.number_of})


def check_hidden(round_: Round, honest: set[int]) -> None:
    """No card that nobody may know, or honest players alone, can be opened without one of them.

    Looked at are the shares alone: of each such card at least one honest player has kept its own.
    """
    lens = round_.everything()
    deal, state = lens.agreement, lens.state
    if deal is None or state is None:
        return
    calls = [
        *deal.calls,
        *(call for node in (*round_.nodes.values(), *round_.roots.values()) for call in node.calls),
    ]
    theirs = {call.position for call in calls if call.to is None or call.to not in honest}
    # A fork takes moves back, but not what their makers have laid open with them.
    theirs |= {
        position
        for (number, position), given in round_.given.items()
        if number in honest and any(fact.entry.kind != "shares" for fact, _ in given)
    }
    hands = [position for seat, hand in enumerate(state.hands) if deal.seats[seat] in honest for position in hand]
    closed = {*state.stock, *(p for downs in state.downs for p in downs if p >= 0), *hands}
    closed -= theirs | {position for position in closed if state.is_public(position)}
    assert closed or state.phase is GamePhase.OVER or lens.final is not None
    for position in closed:
        assert any(lens.share(number, position) is None for number in honest)


def check_new_deal(stand: Stand) -> None:
    """The others deal anew without the cheat."""
    rest = stand.honest
    if len(rest) < 2:
        return
    first = rest[0]
    offered = first.write(first.session.offer(RuleSet(), [peer.me for peer in rest])).id
    stand.table.settle()
    for peer in rest:
        round_ = peer.session.rounds[offered]
        assert peer.round is round_ and round_.everything().dealt is not None
        assert not round_.faults and stand.cheater.me not in round_.number_of

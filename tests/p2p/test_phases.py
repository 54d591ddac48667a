"""The phase table: every pair of phase and kind is in it, or is refused with its code and changes nothing else."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.rounds.phases import TABLE, Phase, Who, refusal
from p2p.rounds.round import Round
from p2p.rounds.session import Session
from tests.p2p.peers import Peer, Table, fold_all, in_causal_order
from tests.p2p.recorded import recorded

KINDS = sorted(e.ROUND_KINDS)
ABSENT = [(phase, kind) for phase in Phase for kind in KINDS if (phase, kind) not in TABLE]
PRESENT = sorted(TABLE)


@cache
def prefixes() -> dict[Phase, list[Entry]]:
    """For every phase, entries that lead to it (and no further)."""
    found: dict[Phase, list[Entry]] = {}
    dead = in_causal_order(recorded(2, "dead")[0])
    rounds = [in_causal_order(finished(seed)) for seed in range(12)]
    for entries in [dead, *rounds]:
        if len(found) == len(Phase):
            break
        session = Session(entries[0].table, TransparentDealing())
        for count, entry in enumerate(entries, 1):
            session.receive(entry)
            while (job := session.job()) is not None:
                session.finish(job, job.run())
            for round_ in session.rounds.values():
                found.setdefault(round_.everything().phase, entries[:count])
    return found


def finished(seed: int) -> list[Entry]:
    table = Table(("Ada", "Bert"), seed=seed)
    table.start()
    table.play()
    return table.entries()


def body(kind: str, contract: bytes, session: Session) -> e.Body:
    """A well-formed body of a kind."""
    b = bytes(32)
    match kind:
        case "accept":
            return e.Accept(contract, b, b)
        case "decline":
            return e.Decline(contract, "no")
        case "key":
            return e.Key(contract, b, b, b, b)
        case "deck":
            return e.Deck(contract, b, b)
        case "proof":
            return e.Proof(contract, b)
        case "agreed":
            return e.Agreed(contract, b)
        case "shares":
            return e.Shares(contract, [], [(contract, [0], [b])], b)
        case "swap":
            return e.Swap(contract, 0, 1, b"", b"")
        case "choose":
            return e.Choose(contract, [0])
        case "ready":
            return e.Ready(contract)
        case "declare":
            return e.Declare(contract, 0, b"", b"")
        case "pass":
            return e.Pass(contract)
        case "move":
            return e.Move(contract, 1, contract, b, "pick_up", [], [], [], b"")
        case "result":
            return e.Result(contract, b)
        case "reveal":
            return e.Reveal(contract, b)
        case "leave":
            return e.Leave(contract, [])
    raise ValueError(kind)


def at(phase: Phase) -> tuple[Peer, Round]:
    """A player of a round that stands in a phase: one who is no culprit and, where it matters, in turn."""
    entries = prefixes()[phase]
    keys = {entry.author for entry in entries}
    auditor = fold_all(entries, TransparentDealing(), Random(0), causal=True)
    (round_,) = auditor.rounds.values()
    lens = round_.everything()
    author = sorted(keys)[0]
    if lens.agreement is not None and lens.state is not None and lens.state.turn >= 0:
        author = round_.roster[lens.agreement.seats[lens.state.turn]]
    peer = next(peer for name in ("Ada", "Bert") if (peer := Peer(name)).me == author)
    peer.session = fold_all(entries, TransparentDealing(), Random(0), causal=True, me=peer.me)
    (round_,) = peer.session.rounds.values()
    return peer, round_


def inside(round_: Round) -> object:
    """All that a round has taken in, but for faults."""
    return (
        {kind: [[fact.id for fact in facts] for facts in each] for kind, each in round_.facts.items()},
        sorted(round_.decks),
        sorted(round_.deals),
        sorted(round_.arranged),
        sorted(round_.nodes),
        {key: len(shares) for key, shares in round_.given.items()},
        {number: len(facts) for number, facts in round_.deal_done.items()},
        sorted(round_.results),
        sorted(round_.debts),
        sorted(round_.proven),
        list(round_.unmet),
        list(round_.on_record),
    )


def test_every_phase_is_reached():
    assert set(prefixes()) == set(Phase)


@pytest.mark.parametrize(("phase", "kind"), ABSENT, ids=str)
def test_a_pair_that_is_not_in_the_table_is_refused_and_nothing_else_changes(phase, kind):
    peer, round_ = at(phase)
    before = inside(round_)
    entry = peer.write(body(kind, round_.contract, peer.session))
    (fault,) = [fault for fault, _ in round_.faults if fault.evidence == (entry.id,)]
    assert (fault.player, fault.code) == (peer.me, refusal(phase, kind))
    assert inside(round_) == before
    assert not peer.session.table_faults


@pytest.mark.parametrize(("phase", "kind"), PRESENT, ids=str)
def test_a_pair_in_the_table_is_judged_by_its_guard(phase, kind):
    # A body of zeros is refused for what it says, or accepted; never because of the phase.
    peer, round_ = at(phase)
    entry = peer.write(body(kind, round_.contract, peer.session))
    while (job := peer.session.job()) is not None:
        peer.session.finish(job, job.run())
    taken = entry.id in {fact.id for facts in round_.facts[kind] for fact in facts}
    faults = [fault for fault, _ in round_.faults if fault.evidence == (entry.id,)]
    assert taken or faults
    if kind in ("leave", "ready", "decline") and phase is not Phase.DEAD:
        assert taken and not faults


def test_every_phase_leads_only_to_phases_that_the_table_knows():
    for (phase, _), row in TABLE.items():
        assert row.leads_to
        assert phase is not Phase.DEAD or row.leads_to == (Phase.DEAD,)
        assert all(isinstance(following, Phase) for following in row.leads_to)
        assert isinstance(row.who, Who)


@pytest.mark.parametrize("seed", range(6))
def test_play_only_ever_goes_where_the_table_leads(seed):
    entries = in_causal_order(finished(seed))
    session = Session(entries[0].table, TransparentDealing())
    phase = Phase.OFFER
    for entry in entries:
        session.receive(entry)
        while (job := session.job()) is not None:
            session.finish(job, job.run())
        for round_ in session.rounds.values():
            now = round_.everything().phase
            if now is not phase:
                assert now in TABLE[phase, entry.kind].leads_to
            phase = now
    assert phase is Phase.CLOSED


def test_leave_is_possible_in_every_phase():
    assert {phase for phase, kind in TABLE if kind == "leave"} == set(Phase)

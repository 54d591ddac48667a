"""Two versions of one entry for different peers: of every kind, passed on by others, or shown when all is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from engine.options import ArrangeRule, StartRule
from engine.rules import RuleSet
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.rounds.audit import verify
from p2p.rounds.phases import Phase
from tests.attacks.matrix import ALL, COUNTS, LONG, Stand, check_kept_closed, check_new_deal, saved
from tests.p2p.cheats import another_key, changed, flipped, second_version
from tests.p2p.peers import Peer, Table, verdict
from tests.p2p.recorded import NAMES


def fewer_shares(peer: Peer, body: e.Shares) -> e.Body:
    """Shares for all positions but the last, as good as the others."""
    round_ = peer.round
    (cause, positions, _), *rest = body.openings
    calls = [(cause, tuple(positions[:-1])), *((c, tuple(p)) for c, p, _ in rest)]
    seed = peer.session._own[round_.contract].seed
    deck = round_.everything().agreement.deck
    openings, proof = peer.dealing.shares(round_.ground, round_.number_of[peer.me], seed, deck, calls)
    return e.Shares(body.contract, [], [(o.cause, list(o.positions), list(o.shares)) for o in openings], proof)


def another_move(peer: Peer, body: e.Move) -> e.Body:
    """The pile taken instead, which is allowed wherever there is one."""
    return changed(body, action="pick_up", places=[], positions=[], shares=[], proof=b"")


@dataclass(frozen=True)
class Version:
    """How the second version of an entry of a kind differs. ``when``: of which entries there can be one."""

    kind: str
    change: Callable[[Peer, Any], e.Body]
    rules: RuleSet | None = None
    when: Callable[[Any], bool] = lambda body: True

    def __str__(self) -> str:
        return self.kind


def _leave(peer: Peer, body: e.Body) -> e.Body:
    return e.Leave(peer.round.contract, [])


VERSIONS = [
    Version("start", lambda peer, body: changed(body, limits=[0, 0, 99])),
    Version("accept", lambda peer, body: changed(body, coin_commitment=flipped(body.coin_commitment))),
    Version("key", another_key),
    Version("deck", lambda peer, body: changed(body, deck=body.deck[52:] + body.deck[:52])),
    Version("proof", lambda peer, body: changed(body, proof=flipped(body.proof))),
    Version("agreed", lambda peer, body: changed(body, digest=flipped(body.digest))),
    Version("shares", fewer_shares, when=lambda body: len(body.openings[0][1]) > 1),
    Version("swap", lambda peer, body: changed(body, share=b"", proof=b"", hand=body.up, up=body.hand)),
    Version(
        "choose",
        lambda peer, body: changed(body, positions=body.positions[::-1]),
        RuleSet(arrange=ArrangeRule.CHOOSE),
    ),
    Version("ready", _leave),
    Version("declare", lambda peer, body: e.Pass(body.contract), RuleSet(start=StartRule.HAND_LOWEST)),
    Version("pass", _leave, RuleSet(start=StartRule.HAND_LOWEST)),
    Version("move", another_move, when=lambda body: body.action == "play" and body.turn > 1),
    Version("result", lambda peer, body: changed(body, ending=flipped(body.ending))),
    Version("reveal", lambda peer, body: changed(body, seed=flipped(body.seed))),
]
"""Every kind that an honest player of a whole round writes."""


@dataclass
class Forked:
    """A table whose cheater signs two versions of an entry."""

    table: Table
    cheater: Peer
    first: Entry | None = None
    second: Entry | None = None

    @property
    def honest(self) -> list[Peer]:
        return [peer for peer in self.table.peers if peer is not self.cheater]


def forked(version: Version, players: int, seed: int, share_out: bool) -> Forked | None:
    """Plays a round in which the cheater signs two versions; None where it never writes such an entry.

    ``share_out``: each half of the others gets one at once. Else the second is kept for later.
    """
    table = Table(NAMES[:players], seed=seed)
    made = Forked(table, table.peers[0 if version.kind == "start" else -1])
    put = made.cheater.put

    def doubling(entry: Entry) -> Entry:
        put(entry)
        if made.first is None and entry.kind == version.kind and version.when(entry.body):
            made.first = entry
            body = version.change(made.cheater, entry.body)
            made.second = made.cheater.sign_again(entry, body)
            if share_out:
                second_version(table, made.cheater, entry, body)
        return entry

    made.cheater.put = doubling  # type: ignore[method-assign]
    table.start(version.rules)
    table.play()
    return made if made.first is not None else None


FIRST_SEED = {"swap": 4, "declare": 3}
"""Where looking for a round with such an entry begins: with those before it there is none for some tables."""


def found_fork(version: Version, players: int, share_out: bool) -> Forked:
    first = FIRST_SEED.get(version.kind, 1)
    return next(one for seed in range(first, 60) if (one := forked(version, players, seed, share_out)) is not None)


def check(made: Forked) -> None:
    """All honest peers, and the audit of what they save, name the fork, and nobody but the cheater."""
    found = [verdict(peer.session) for peer in made.honest]
    assert all(one == found[0] for one in found)
    assert made.first is not None and made.second is not None
    pair = tuple(sorted((made.first.id, made.second.id)))
    name = made.cheater.name
    for peer in made.honest:
        rounds = [one for one in peer.session.rounds.values() if one.everything().faults]
        assert rounds
        for round_ in rounds:
            (fault,) = round_.everything().faults
            assert (fault.player, fault.code, fault.evidence) == (made.cheater.me, "fork", pair)
            audited = verify(saved(peer, round_), TransparentDealing())
            assert audited.verdict == "cheating"
            assert {(one.player, one.code) for one in audited.faults} == {(name, "fork")}
            assert str(audited.faults[0].sentence).startswith(f"{name} signed two different entries")
            check_kept_closed(Stand(made.table, made.cheater), round_.contract)
        assert {fault.player for fault in peer.session.table_faults} <= {made.cheater.me}


def cases(fast: set[str], long: int) -> list[object]:
    """Every version with some number of players: the fast run has some kinds with three, the long one all kinds
    with so many."""
    found: list[object] = []
    for version in VERSIONS:
        for players in COUNTS:
            is_fast = players == 3 and version.kind in fast
            if is_fast or players == long or ALL:
                marks = () if is_fast else LONG
                found.append(pytest.param(version, players, marks=marks, id=f"{version}-{players}"))
    return found


AT_ONCE = {version.kind for version in VERSIONS} - {"accept", "key", "swap", "pass"}
AFTERWARDS = {"start", "deck", "agreed", "shares", "move", "reveal"}


@pytest.mark.parametrize(("version", "players"), cases(AT_ONCE, 5))
def test_two_versions_for_different_peers_are_named_by_all(version: Version, players: int) -> None:
    made = found_fork(version, players, share_out=True)
    check(made)
    for peer in made.honest:
        for round_ in peer.session.rounds.values():
            lens = round_.everything()
            assert lens.phase is Phase.DEAD or lens.final is not None
    check_new_deal(Stand(made.table, made.cheater))


@pytest.mark.parametrize(("version", "players"), cases(AFTERWARDS, 2))
def test_a_second_version_shown_after_the_round_is_on_record_and_changes_no_ending(
    version: Version, players: int
) -> None:
    made = found_fork(version, players, share_out=False)
    before = [peer.round.everything().final for peer in made.honest]
    assert before[0] is not None and before[0].kind == "finished" and made.second is not None
    # One of them gets it from somebody else, and passes it on.
    made.honest[0].session.receive(made.second)
    made.table.settle()
    check(made)
    assert [peer.round.everything().final for peer in made.honest] == before
    check_new_deal(Stand(made.table, made.cheater))


TABLE_VERSIONS = {
    "admit": (e.Admit(Peer("Gil").me, "Gil", b""), e.Admit(Peer("Hal").me, "Hal", b"")),
    "dismiss": (e.Dismiss(Peer("Ada").me, "x"), e.Dismiss(Peer("Ada").me, "y")),
    "mark": (e.Mark(), e.Dismiss(Peer("Ada").me, "x")),
    "leave": (e.Leave(bytes(32), []), e.Mark()),
}


@pytest.mark.parametrize("kind", TABLE_VERSIONS)
def test_two_versions_at_the_table_are_named_by_all(kind: str) -> None:
    table = Table(NAMES[:4], seed=2)
    table.settle()
    cheater = table.peers[-1]
    first, second = TABLE_VERSIONS[kind]
    if isinstance(first, e.Leave):
        first = e.Leave(cheater.session.table, [])
    second_version(table, cheater, cheater.write(first), second)
    table.settle()
    honest = table.peers[:-1]
    found = [verdict(peer.session) for peer in honest]
    assert all(one == found[0] for one in found)
    for peer in honest:
        assert [(fault.player, fault.code) for fault in peer.session.table_faults] == [(cheater.me, "fork")]


def test_every_kind_has_two_versions() -> None:
    elsewhere = {
        "open": "its id is the table's: another one is another table",
        "decline": "ends the attempt, as any second version does: test_a_flaw_of_any_entry_in_any_phase",
    }
    assert {version.kind for version in VERSIONS} | TABLE_VERSIONS.keys() | elsewhere.keys() == e.BODIES.keys()

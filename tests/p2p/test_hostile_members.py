"""What a member with a changed program could do beside cheating: blame, freeze, crowd out, crash."""

from __future__ import annotations

import os

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine.rules import RuleSet
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import make_entry
from p2p.feeds.identity import BadName, check_name
from p2p.network.frames import Have
from p2p.node.core import CATCH_UP_S, Core
from p2p.node.store import Store
from p2p.node.sync import make_have
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import Surroundings, make_snapshot
from tests.p2p.peers import Peer, Table


def puppets(table: Table, host: Peer, count: int) -> list[Peer]:
    """Members that somebody has let in and speaks for."""
    made = [Peer(f"Puppet {number}") for number in range(count)]
    for puppet in made:
        host.write(e.Admit(puppet.me, puppet.name, b""))
    table.settle()
    for puppet in made:
        puppet.sit(host.session.table)
        for fact in sorted(host.session.feeds.by_id.values(), key=lambda fact: fact.order):
            puppet.session.receive(fact.entry)
    return made


def test_more_new_entries_than_one_can_name_are_carried_by_marks() -> None:
    """An entry is decided on all that is held, so all of it has to be in its past."""
    table = Table(["Ana", "Bogdan"], seed=1)
    table.settle()
    ana, bogdan = table.peers
    made = puppets(table, ana, 40)
    for puppet in made:
        for branch in range(2):
            entry = make_entry(puppet.key, ana.session.table, 0, bytes(32), (), e.Leave(bytes([branch]) * 32, []))
            # Both branches of a forked feed, each naming the admission.
            seen = (ana.session.feeds.heads(ana.me)[0].id,)
            entry = make_entry(puppet.key, ana.session.table, 0, bytes(32), seen, entry.body)
            bogdan.session.receive(entry)
    assert bogdan.session.lags
    while bogdan.session.lags:
        bogdan.write(e.Mark())
    assert len(bogdan.session.seen()) <= e.MAX_SEEN
    bogdan.write(e.Mark())
    assert bogdan.session.seen() == ()


def test_a_round_of_another_revision_among_others_is_neither_judged_nor_in_the_way() -> None:
    table = Table(["Ana", "Bogdan", "Carmen"], seed=2)
    table.settle()
    ana = table.peers[0]
    for packs, jokers in ((4, 0), (1, 4), (4, 4)):
        body = ana.session.offer(RuleSet(), [peer.me for peer in table.peers[1:]])
        assert isinstance(body, e.Start)
        offer = msgspec.structs.replace(body, engine_revision=999, packs=packs, jokers=jokers)
        contract = table.peers[1].write(offer).id
        for peer in table.peers[1:]:
            peer.write(e.Accept(contract, bytes(32), bytes(32)))
            peer.write(e.Key(contract, bytes(32), bytes(32), b"", bytes(32)))
            peer.write(e.Agreed(contract, bytes(32)))
        table.settle()
        for peer in table.peers:
            round_ = peer.session.rounds[contract]
            assert round_.everything().agreement is None
            assert round_.faults == []
            make_snapshot(peer.session, Surroundings(), 0.0)
            peer.session.tick(0.0)
    host = table.peers[0]
    host.write(host.session.offer(RuleSet(), [peer.me for peer in table.peers]))
    table.settle()
    table.play()
    assert {peer.round.everything().phase for peer in table.peers} == {Phase.CLOSED}


def core_after_a_restart() -> tuple[Core, bytes]:
    """A peer that has written at a table and starts again."""
    key = Ed25519PrivateKey.generate()
    me = key.public_key().public_bytes_raw()
    store = Store(None, me)
    opening = make_entry(key, bytes(32), 0, bytes(32), (), e.Open("Kitchen", "Ana", b"", os.urandom(32)))
    store.add(opening)
    guest = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    store.add(make_entry(key, opening.id, 1, opening.id, (), e.Admit(guest, "Bogdan", b"")))
    return Core(opening.id, key, store, TransparentDealing(), None, "0"), me


def test_a_claim_about_the_own_feed_holds_writing_up_for_a_while_only() -> None:
    core, me = core_after_a_restart()
    assert not core.may_write
    core.step([], 100.0)
    core.note_have(Have(core.session.table, ((me, 5000, os.urandom(32)),)))
    assert not core.may_write
    core.step([], 100.0 + CATCH_UP_S + 1)
    assert core.may_write
    core.store.close()


def test_once_told_no_claim_about_the_own_feed_stops_a_peer() -> None:
    core, me = core_after_a_restart()
    core.step([], 100.0)
    core.note_have(core.have())
    assert core.may_write
    for _ in range(100):
        core.note_have(Have(core.session.table, ((me, 5000, os.urandom(32)),)))
    assert core.may_write
    core.store.close()


def test_a_forked_feed_crowds_nobody_out_of_a_have() -> None:
    table = Table(["Ana", "Bogdan"], seed=3)
    table.settle()
    ana, bogdan = table.peers
    seq, prev = bogdan.session.head()
    for number in range(12):
        body = e.Leave(bytes([number]) * 32, [])
        ana.session.receive(make_entry(bogdan.key, ana.session.table, seq, prev, bogdan.session.seen(), body))
    have = make_have(ana.session.table, ana.session.feeds)
    authors = [author for author, _, _ in have.heads]
    assert authors.count(bogdan.me) == 2 and ana.me in authors


def test_versions_that_only_strangers_name_are_not_kept() -> None:
    table = Table(["Ana", "Bogdan"], seed=4)
    table.settle()
    ana, bogdan = table.peers
    seq, prev = bogdan.session.head()
    seen = bogdan.session.seen()
    versions = [
        make_entry(bogdan.key, ana.session.table, seq, prev, seen, e.Leave(bytes([n]) * 32, [])) for n in range(60)
    ]
    stranger = Ed25519PrivateKey.generate()
    for start in range(0, 60, 15):
        ids = tuple(sorted(version.id for version in versions[start : start + 15]))
        ana.session.receive(make_entry(stranger, ana.session.table, 0, bytes(32), ids, e.Leave(bytes(32), [])))
    for version in versions:
        ana.session.receive(version)
    kept = [fact for fact in ana.session.feeds.by_id.values() if fact.author == bogdan.me and fact.seq == seq]
    assert len(kept) <= 16


def test_only_the_host_is_accepted_without_asking() -> None:
    table = Table(["Ana", "Bogdan", "Carmen"], seed=5)
    table.settle()
    ana, bogdan, carmen = table.peers
    for peer in table.peers:
        peer.session.always_consent = False
        peer.session.sits_ready = True
    bogdan.write(bogdan.session.offer(RuleSet(), [peer.me for peer in table.peers]))
    table.settle()
    assert carmen.session.asks_consent() is not None
    assert ana.session.asks_consent() is not None
    ana.write(ana.session.offer(RuleSet(), [peer.me for peer in table.peers]))
    table.settle()
    assert carmen.session.asks_consent() is None


@pytest.mark.parametrize(
    "name",
    [
        "Ana\ufe0f",
        "Ana\u034f",
        "A\u034fna",
        "Ana\u2800",
        "Ana\u17b4",
        "Ana\U000e0100",
        "\u3164",
        "\u2800",
        "a\u0301\u0302\u0303\u0304",
    ],
)
def test_names_that_show_nothing_or_leave_their_line_are_refused(name: str) -> None:
    with pytest.raises(BadName):
        check_name(name)


def test_names_with_marks_that_scripts_need_are_taken() -> None:
    for name in ("Zoë", "नमस्ते", "Nguyễn", "שָׁלוֹם", "ไม่รู้"):
        assert check_name(name)

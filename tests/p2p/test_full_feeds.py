"""Who writes without end fills its own feed and nothing else: rounds go on, and their files can be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import Sentence
from engine.rules import RuleSet, with_options
from p2p.dealing import TransparentDealing
from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry, make_entry
from p2p.feeds.facts import size_of
from p2p.node.core import Core, Wish
from p2p.node.store import Store
from p2p.rounds import roundfile
from p2p.rounds.audit import verify
from p2p.rounds.round import ENTRIES_PER_ACTION, MAX_ROUND_ENTRIES
from tests.p2p.peers import Peer, Table, key_for
from tests.p2p.test_audit import saved

FULL_BYTES = 60_000
"""The limit of these tests; a short round of two leaves it far away."""


def flood(writer: Peer, count: int, of: Peer) -> list[Entry]:
    """Marks without end, after what ``of`` holds of the writer; the writer's own program knows nothing of them."""
    heads = of.session.feeds.heads(writer.me)
    seq, prev = (heads[0].seq + 1, heads[0].id) if heads else (0, e.ZERO_ID)
    # The first entry of a feed has its admission in its past.
    seen = (of.session.feeds.heads(of.me)[0].id,)
    found: list[Entry] = []
    for _ in range(count):
        found.append(make_entry(writer.key, of.session.table, seq, prev, seen, e.Mark()))
        seq, prev, seen = seq + 1, found[-1].id, ()
    return found


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setattr(e, "MAX_FEED_BYTES", FULL_BYTES)
    table = Table(["Ana", "Bogdan", "Mallory"], seed=1)
    table.settle()
    return table


def test_a_member_that_writes_without_end_leaves_a_round_that_is_proven(three: Table) -> None:
    ana, bogdan, mallory = three.peers
    three.peers = [ana, bogdan]
    ana.write(ana.session.offer(RuleSet(), [ana.me, bogdan.me]))
    three.settle()
    sent = flood(mallory, 3 * FULL_BYTES // 150, ana)
    for peer in (ana, bogdan):
        for entry in sent:
            peer.session.receive(entry)
    three.play()
    for peer in (ana, bogdan):
        held = [fact for fact in peer.session.feeds.by_id.values() if fact.author == mallory.me]
        amount = sum(size_of(fact.entry) for fact in held)
        assert FULL_BYTES - 200 < amount == held[-1].feed_bytes <= FULL_BYTES
        assert peer.session.full == {mallory.me}
        assert peer.session.dropped["feed_full"] == len(sent) - len(held)
        assert not peer.session.missing()
        data = saved(peer.session)
        assert len(data) < 3 * FULL_BYTES
        verdict = verify(roundfile.decode(data, "test"), TransparentDealing())
        assert (verdict.verdict, verdict.faults, verdict.notes) == ("fair", (), ())


def test_what_waits_for_an_entry_that_nobody_takes_in_waits_no_longer(three: Table) -> None:
    """In whatever order it comes, and whoever names it."""
    ana, bogdan, mallory = three.peers
    sent = flood(mallory, FULL_BYTES // 100, ana)
    fitting = 0
    for entry in sent:
        if not ana.session.receive(entry):
            break
        fitting += 1
    assert 0 < fitting < len(sent) - 20
    for entry in sent[: fitting - 1]:
        bogdan.session.receive(entry)
    # Two later ones, and one of somebody else's that names a later one, are here before the one that fits no more.
    seq, prev = ana.session.head()
    naming = make_entry(ana.key, ana.session.table, seq, prev, (sent[fitting + 1].id,), e.Mark())
    for entry in (sent[fitting + 2], sent[fitting + 1], naming):
        bogdan.session.receive(entry)
        assert bogdan.session.missing()
    assert bogdan.session.receive(sent[fitting - 1])
    assert not bogdan.session.receive(sent[fitting])
    assert not bogdan.session.missing()
    for entry in sent[fitting + 1 :]:
        bogdan.session.receive(entry)
    assert not bogdan.session.missing()
    assert not any(peer.session.table_faults for peer in (ana, bogdan))


# -- one's own, and others' before a round


def core_of(name: str = "Ana") -> Core:
    """A peer alone at a table of its own."""
    key = key_for(name)
    store = Store(None, key.public_key().public_bytes_raw())
    opening = make_entry(key, bytes(32), 0, bytes(32), (), e.Open("Kitchen", name, b"", bytes(32)))
    store.add(opening)
    core = Core(opening.id, key, store, TransparentDealing(), None, "0")
    core.note_have(core.have())
    core.step([], 0.0)
    assert core.may_write
    return core


def test_whose_own_feed_is_full_writes_nothing_more_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    core = core_of()
    one = Wish(lambda core: [e.Mark()])
    core.step([one], 1.0)
    assert one.problem is None
    head = core.session.head()
    monkeypatch.setattr(e, "MAX_FEED_BYTES", e.MAX_ENTRY_BYTES)
    wish = Wish(lambda core: [e.Mark()])
    core.step([wish], 2.0)
    assert wish.problem is not None and wish.problem.code == "own_feed_full"
    assert core.session.head() == head
    monkeypatch.undo()
    monkeypatch.setattr(e, "MAX_FEED_ENTRIES", head[0])
    wish = Wish(lambda core: [e.Mark()])
    core.step([wish], 3.0)
    assert wish.problem is not None and wish.problem.code == "own_feed_full"
    core.store.close()


def test_without_room_for_a_round_none_is_offered_and_it_is_said_once_for_whom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core = core_of()
    room = core.session.room_bytes(core.me)
    monkeypatch.setattr(e, "ROUND_BYTES", room)
    core.require_room([core.me])
    assert core.step([], 1.0).news == ()
    monkeypatch.setattr(e, "ROUND_BYTES", room + 1)
    with pytest.raises(LocalProtocolError) as problem:
        core.require_room([core.me])
    assert problem.value.code == "no_room" and problem.value.sentence.values["names"] == ("Ana",)
    told = [news.values["sentence"] for second in (2.0, 3.0) for news in core.step([], second).news]
    assert [(each.code, each.values["name"]) for each in told if isinstance(each, Sentence)] == [
        ("feed_full", "Ana")
    ]
    core.store.close()


def test_the_rates_and_sizes_fit_each_other() -> None:
    """A few full feeds fit into a file, rounds of the usual length into a feed."""
    assert 8 * e.MAX_FEED_BYTES <= roundfile.MAX_FILE_BYTES
    assert 4 * e.ROUND_BYTES <= e.MAX_FEED_BYTES
    assert e.ROUND_BYTES >= 450 * MAX_ROUND_ENTRIES


def test_a_round_that_may_be_longer_may_have_more_entries() -> None:
    table = Table(["Ana", "Bogdan"], seed=1)
    table.start()
    round_ = table.peers[0].round
    assert round_.most_entries == MAX_ROUND_ENTRIES
    longer = replace(round_, rules=with_options(RuleSet(), {"turn_limit": "3000"}))
    assert longer.most_entries == MAX_ROUND_ENTRIES + ENTRIES_PER_ACTION * 2000
    shorter = replace(round_, rules=with_options(RuleSet(), {"turn_limit": "10"}))
    assert shorter.most_entries == MAX_ROUND_ENTRIES

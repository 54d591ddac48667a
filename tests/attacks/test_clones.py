"""One identity in two places: a copied data directory on another machine, or a backup brought back.

Nobody can keep a person from it, and no program can tell it from cheating. What has to hold: nobody honest is
blamed, everybody agrees, the sentence says what may have happened, and a program that hears of a longer feed of
its own takes it over instead of signing a number again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from client.sentences import Names, render
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.network.frames import Have
from p2p.node.core import Arrival, Core, Wish
from p2p.node.store import Store, StoreProblem
from p2p.node.sync import make_have
from tests.p2p.peers import Peer, Table, verdict
from tests.p2p.recorded import NAMES


def place(path: Path, peer: Peer, entries: list[Entry]) -> Path:
    """A data directory that holds what the peer has written and read."""
    path.mkdir()
    store = Store(path / "shithead.db", peer.me)
    with store.step():
        for entry in entries:
            store.add(entry)
    store.close()
    return path


def program(path: Path, peer: Peer) -> Core:
    """The program of this person, started on a data directory."""
    store = Store(path / "shithead.db", peer.me)
    return Core(peer.session.table, peer.key, store, TransparentDealing(), None, "0")


def write(core: Core, body: e.Body) -> list[Entry]:
    """What a step in which this is wished for writes."""
    wish = Wish(lambda core: [body])
    outcome = core.step([wish], 1.0)
    assert wish.problem is None
    return [entry for entry, source in outcome.fresh if source is None]


def held_by(peer: Peer) -> Have:
    """What a member tells that it holds."""
    return make_have(peer.session.table, peer.session.feeds)


@pytest.fixture
def copied(tmp_path: Path) -> tuple[Table, Peer, Core, Core]:
    """A table at rest, and twice the program of one who sits there: on its directory, and on a copy of it."""
    table = Table(NAMES[:3], seed=1)
    table.settle()
    owner = table.peers[1]
    owner.write(e.Mark())
    table.settle()
    first = place(tmp_path / "first", owner, table.entries())
    shutil.copytree(first, tmp_path / "second")
    return table, owner, program(first, owner), program(tmp_path / "second", owner)


def test_a_copied_directory_blames_its_owner_alone_and_says_what_it_may_be(
    copied: tuple[Table, Peer, Core, Core],
) -> None:
    table, owner, one, two = copied
    honest = [peer for peer in table.peers if peer is not owner]
    for core in (one, two):
        assert not core.may_write
        core.note_have(held_by(honest[0]))
        assert core.may_write
    versions = [
        write(one, e.Dismiss(bytes(32), "x"))[0],
        write(two, e.Dismiss(bytes(32), "y"))[0],
    ]
    assert versions[0].seq == versions[1].seq and versions[0].id != versions[1].id
    for peer, entry in zip(honest, versions, strict=True):
        peer.session.receive(entry)
    table.peers = honest
    table.settle()
    assert verdict(honest[0].session) == verdict(honest[1].session)
    for peer in honest:
        forks = [fault for fault in peer.session.table_faults if fault.code == "fork"]
        assert {fault.player for fault in peer.session.table_faults} == {owner.me} and len(forks) == 1
        said = render(forks[0].sentence, Names(keys={owner.me: owner.name}))
        assert said == (
            f"{owner.name} signed two different entries with number {versions[0].seq} "
            "(a changed program, or data restored from a backup)."
        )
    for core, foreign in ((one, versions[1]), (two, versions[0])):
        # The program of the owner stops with the reason, and its data stay as they are.
        held = len(core.store.load(core.session.table))
        with pytest.raises(StoreProblem) as problem:
            core.step([Arrival(honest[0].me, [(foreign.data, foreign.signature)])], 2.0)
        assert "restored from a copy, or used by two programs" in str(problem.value)
        assert len(core.store.load(core.session.table)) == held
        core.store.close()


def test_a_program_that_hears_of_a_longer_feed_of_its_own_takes_it_over(
    copied: tuple[Table, Peer, Core, Core],
) -> None:
    table, _, one, two = copied
    host = table.peers[0]
    one.note_have(held_by(host))
    (newer,) = write(one, e.Mark())
    host.session.receive(newer)
    two.note_have(held_by(host))
    assert not two.may_write
    two.step([Arrival(host.me, [(newer.data, newer.signature)])], 2.0)
    assert two.may_write
    (following,) = write(two, e.Mark())
    assert (following.seq, following.prev) == (newer.seq + 1, newer.id)
    host.session.receive(following)
    assert not host.session.table_faults
    for core in (one, two):
        core.store.close()

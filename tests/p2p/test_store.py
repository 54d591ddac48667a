"""The feeds on disk: what is sent is stored, numbers are used once, and every trouble has a sentence."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from engine.rules import RuleSet
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry, make_entry
from p2p.node.store import SCHEMA_VERSION, Store, StoreProblem
from p2p.rounds.phases import Phase
from p2p.rounds.session import Session
from tests.p2p.peers import Peer, Table, choose, key_for, verdict
from tests.p2p.recorded import NAMES, is_in

ADA = key_for("Ada")
ME = ADA.public_key().public_bytes_raw()
TABLE = bytes([7]) * 32


def entry(seq: int, text: str = "x", name: str = "Ada") -> Entry:
    prev = seq.to_bytes(32, "big")
    return make_entry(key_for(name), TABLE, seq, prev, (), e.Dismiss(ME, text))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shithead.db"


@contextlib.contextmanager
def opened(path: Path | None) -> Iterator[Store]:
    store = Store(path, ME)
    try:
        yield store
    finally:
        store.close()


def test_entries_come_back_in_their_order(path):
    written = [entry(0), entry(0, name="Bert"), entry(1)]
    with opened(path) as store, store.step():
        for one in written:
            store.add(one)
    with opened(path) as store:
        assert store.load(TABLE) == written
        assert [one.signature for one in store.load(TABLE)] == [one.signature for one in written]
        assert store.own_head(TABLE) == (1, written[2].id)
        assert store.own_head(bytes(32)) is None
        assert store.load(bytes(32)) == []


def test_what_was_not_committed_is_as_if_it_had_never_been(path):
    class Crash(BaseException):
        pass

    with opened(path) as store:
        with pytest.raises(Crash), store.step():
            store.add(entry(0))
            store.keep_secret(bytes(32), bytes(32), bytes(32))
            raise Crash
        assert store.load(TABLE) == []
    with opened(path) as store:
        assert store.own_head(TABLE) is None
        assert store.secret(bytes(32)) is None
        with store.step():
            store.add(entry(0, "another one, and no fork"))
        assert len(store.load(TABLE)) == 1


def test_a_killed_process_leaves_whole_steps_only(path):
    with opened(path) as store:
        with store.step():
            store.add(entry(0))
        program = (
            "import os, sqlite3, sys\n"
            "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "db.execute('begin immediate')\n"
            "db.execute('insert into entries select 99, table_id, author, 1, zeroblob(32), data, signature"
            " from entries')\n"
            "os._exit(9)\n"
        )
        killed = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
        assert killed.returncode == 9
    with opened(path) as store:
        assert store.own_head(TABLE) == (0, entry(0).id)


def test_an_own_number_cannot_be_written_twice(path):
    with opened(path) as store:
        with store.step():
            store.add(entry(0))
        with pytest.raises(StoreProblem) as problem, store.step():
            store.add(entry(0, "y"))
        assert problem.value.code == "own_fork"
        assert store.load(TABLE) == [entry(0)]


def test_the_same_entry_twice_is_kept_once(path):
    with opened(path) as store:
        for _ in range(2):
            with store.step():
                store.add(entry(0))
        assert store.load(TABLE) == [entry(0)]


def test_both_versions_of_somebody_elses_fork_are_kept(path):
    versions = [entry(0, "x", "Bert"), entry(0, "y", "Bert")]
    with opened(path) as store, store.step():
        for one in versions:
            store.add(one)
    with opened(path) as store:
        assert store.load(TABLE) == versions


def test_a_damaged_file_is_said_to_be_and_left_alone(path):
    path.write_bytes(b"This is no database, whatever its name says." * 50)
    before = path.read_bytes()
    with pytest.raises(StoreProblem) as problem:
        Store(path, ME)
    assert problem.value.code == "store_damaged"
    assert path.read_bytes() == before


def test_a_page_gone_bad_is_found_on_opening_or_loading(path):
    with opened(path) as store, store.step():
        for seq in range(300):
            store.add(entry(seq, "x" * 60))
    data = bytearray(path.read_bytes())
    for at in range(2 * 4096, len(data) - 4096, 4096):
        data[at : at + 64] = b"\xff" * 64
    path.write_bytes(bytes(data))
    with pytest.raises(StoreProblem) as problem, opened(path) as store:
        store.load(TABLE)
    assert problem.value.code == "store_damaged"


def test_an_entry_that_cannot_be_read_is_damage(path):
    with opened(path) as store, store.step():
        store.add(entry(0))
    db = sqlite3.connect(path)
    db.execute("update entries set data = x'ff'")
    db.commit()
    db.close()
    with opened(path) as store, pytest.raises(StoreProblem) as problem:
        store.load(TABLE)
    assert problem.value.code == "store_damaged"


def test_data_of_a_newer_version_are_refused_and_left_alone(path):
    with opened(path):
        pass
    db = sqlite3.connect(path)
    db.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    db.commit()
    db.close()
    with pytest.raises(StoreProblem) as problem:
        Store(path, ME)
    assert problem.value.code == "store_newer"


def test_a_locked_file_is_said_to_be_in_use(path, monkeypatch):
    monkeypatch.setattr("p2p.node.store.BUSY_TIMEOUT_S", 0.0)
    with opened(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(StoreProblem) as problem, store.step():
            store.add(entry(0))
        assert problem.value.code == "store_locked"
        other.execute("rollback")
        other.close()
        with store.step():
            store.add(entry(0))
        assert store.own_head(TABLE) is not None


def test_a_place_that_is_none_is_unwritable(tmp_path):
    with pytest.raises(StoreProblem) as problem:
        Store(tmp_path / "no such directory" / "shithead.db", ME)
    assert problem.value.code == "store_unwritable"


def test_a_full_disk_is_said_to_be_full(path):
    with opened(path) as store:
        (pages,) = store._db.execute("pragma page_count").fetchone()
        store._db.execute(f"pragma max_page_count = {pages}")
        with pytest.raises(StoreProblem) as problem, store.step():
            for seq in range(500):
                store.add(entry(seq, "x" * 60))
        assert problem.value.code == "store_full"
        assert store.load(TABLE) == []


def test_a_read_only_database_is_unwritable(path):
    with opened(path) as store:
        store._db.execute("pragma query_only = on")
        with pytest.raises(StoreProblem) as problem, store.step():
            store.add(entry(0))
        assert problem.value.code == "store_unwritable"


@pytest.mark.parametrize(
    "code", ["store_newer", "store_locked", "store_unwritable", "store_full", "store_failing", "store_damaged"]
)
def test_every_problem_says_what_happened_and_what_to_do(code, path):
    texts = {
        "store_locked": "database is locked",
        "store_unwritable": "attempt to write a readonly database",
        "store_full": "database or disk is full",
        "store_failing": "disk I/O error",
        "store_damaged": "database disk image is malformed",
    }
    with opened(path) as store:
        if code == "store_newer":
            store._db.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
            with pytest.raises(StoreProblem) as problem:
                Store(path, ME)
            found = problem.value
        else:
            found = store._problem(sqlite3.OperationalError(texts[code]))
    assert found.code == code
    assert str(path) in str(found)
    assert "{" not in str(found)


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_the_database_and_its_journal_are_for_their_owner_alone(path):
    for _ in range(2):
        with opened(path) as store:
            with store.step():
                store.note_player(ME, "Ada", "2026-01-02")
            for file in path.parent.glob(path.name + "*"):
                assert stat.S_IMODE(file.stat().st_mode) == 0o600
        # One of an older version, or restored from a copy, was open to others.
        path.chmod(0o644)


def test_players_met_are_remembered(path):
    with opened(path) as store:
        with store.step():
            store.note_player(ME, "Ada", "2026-01-02")
            store.note_player(ME, "Ada L.", "2026-02-03")
            store.note_player(bytes(32), "Bert", "2026-02-03")
            store.note_address(ME, "192.168.1.23", 21052)
            store.count_round(ME)
        first, second = store.players()
        assert (first.name, first.met_at, first.rounds, first.port) == ("Ada L.", "2026-01-02", 1, 21052)
        assert (second.name, second.rounds) == ("Bert", 0)


def test_a_seed_is_kept_once_and_can_be_forgotten(path):
    with opened(path) as store:
        with store.step():
            store.keep_secret(TABLE, b"s" * 32, b"c" * 32)
        assert store.secret(TABLE) == (b"s" * 32, b"c" * 32)
        with pytest.raises(StoreProblem), store.step():
            store.keep_secret(TABLE, b"t" * 32, b"c" * 32)
        assert store.secret(TABLE) == (b"s" * 32, b"c" * 32)
        with store.step():
            store.forget_secret(TABLE)
        assert store.secret(TABLE) is None


# -- a peer with a disk ----------------------------------------------------------------------------


class StoredPeer(Peer):
    """A peer that stores before it sends, and can be killed at any moment."""

    def __init__(self, peer: Peer, store: Store) -> None:
        super().__init__(peer.name, peer.dealing)
        self.store = store
        self.entropy = peer.entropy
        self.load(peer.session.table)

    def load(self, table: bytes) -> None:
        self.session = Session(table, self.dealing, self.me, self.entropy)
        self.session.always_consent = True
        receive = self.session.receive

        def keeping(one: Entry) -> tuple[object, ...]:
            facts = receive(one)
            for fact in facts:
                self.store.add(fact.entry)
            return facts

        for one in self.store.load(table):
            receive(one)
            while (job := self.session.job()) is not None:
                self.session.finish(job, job.run())
        self.session.restore(self.store.secret)
        self.session.receive = keeping  # type: ignore[method-assign, assignment]

    def work(self) -> bool:
        busy = False
        while True:
            write = self.session.next_write()
            if write is not None:
                with self.store.step():
                    signed = self.write(write.body)
                    if write.secret is not None:
                        self.store.keep_secret(signed.contract, *write.secret)
                busy = True
            elif (job := self.session.job()) is not None:
                for fact in self.session.finish(job, job.run()):
                    self.store.add(fact.entry)
                busy = True
            else:
                return busy


@pytest.mark.parametrize("seed", range(12))
def test_a_peer_killed_at_any_moment_comes_back_and_the_round_goes_on(seed):
    random = Random(seed)
    table = Table(NAMES[: 2 + seed % 2], seed=seed)
    table.settle()
    number = random.randrange(len(table.peers))
    with contextlib.ExitStack() as stack:
        before = table.peers[number]
        store = Store(None, before.me)
        stack.callback(store.close)
        for fact in sorted(before.session.feeds.by_id.values(), key=lambda fact: fact.order):
            store.add(fact.entry)
        peer = StoredPeer(before, store)
        peer.sent, table.peers[number] = list(before.sent), peer
        host = table.peers[0]
        host.write(host.session.offer(RuleSet(), [one.me for one in table.peers]))
        deaths = sorted(random.sample(range(90), 6))
        for step in range(6000):
            busy = table.step()
            if step in deaths:
                peer.load(peer.session.table)
            if not busy and not any([table.move(one) for one in table.peers]):  # noqa: C419 - every one moves
                break
        found = [verdict(one.session) for one in table.peers]
        assert all(one == found[0] for one in found)
        lens = peer.round.everything()
        assert (lens.phase, lens.final.kind, lens.faults) == (Phase.CLOSED, "finished", ())
        assert store.secret(peer.round.contract) is not None


def test_the_hand_is_known_again_after_coming_back():
    table = Table(NAMES[:2], seed=3)
    table.settle()
    before = table.peers[1]
    store = Store(None, before.me)
    for fact in sorted(before.session.feeds.by_id.values(), key=lambda fact: fact.order):
        store.add(fact.entry)
    peer = StoredPeer(before, store)
    table.peers[1] = peer
    table.start()
    table.play_until(lambda: is_in(peer, Phase.PLAY))
    hand = peer.state().faces
    move = choose(peer, Random(1))
    peer.load(peer.session.table)
    assert peer.state().faces == hand
    assert choose(peer, Random(1)) == move
    store.close()


def test_without_its_seed_a_peer_owes_and_writes_nothing():
    table = Table(NAMES[:2], seed=4)
    table.start()
    peer = table.peers[1]
    session = Session(peer.session.table, TransparentDealing(), peer.me)
    for one in table.entries():
        session.receive(one)
        while (job := session.job()) is not None:
            session.finish(job, job.run())
    session.restore(lambda contract: None)
    assert session.next_write() is None
    assert session.own_state(session.current()) == session.current().everything().state

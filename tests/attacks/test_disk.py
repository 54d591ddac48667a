"""Bad disks and bad clocks, at each table of the database: said in words, nothing half-written."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from p2p.feeds import entries as e
from p2p.feeds.entries import make_entry
from p2p.node.store import NUMBERS_A_START, SCHEMA_VERSION, RememberedTable, Store, StoreProblem
from p2p.rounds.phases import Phase
from tests.p2p.peers import Table, key_for
from tests.p2p.recorded import NAMES, is_in

ADA = key_for("Ada")
ME = ADA.public_key().public_bytes_raw()
TABLE = bytes([7]) * 32
MANY = 400
"""Rows enough to need new pages in every table."""

PAGE = 4096


def entry(seq: int) -> e.Entry:
    prev = seq.to_bytes(32, "big")
    return make_entry(ADA, TABLE, seq, prev, (), e.Dismiss(ME, "x" * 60))


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def add_entries(store: Store, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        store.add(entry(number))


def add_seeds(store: Store, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        store.keep_secret(key(number), bytes(32), bytes(32))


def add_tables(store: Store, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        at = f"2026-05-12T20:{number:04}Z"
        store.note_table(RememberedTable(key(number), "Kitchen", at, 4, "x" * 60, False))


def add_players(store: Store, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        store.note_player(key(number), "Bert", "2026-05-12")


ADD: dict[str, Callable[..., None]] = {
    "entries": add_entries,
    "seeds": add_seeds,
    "tables": add_tables,
    "players": add_players,
}

READ: dict[str, Callable[[Store], int]] = {
    "entries": lambda store: len(store.load(TABLE)),
    "seeds": lambda store: sum(store.secret(key(number)) is not None for number in range(2 * MANY)),
    "tables": lambda store: len(store.remembered_tables()),
    "players": lambda store: len(store.players()),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shithead.db"


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Store]:
    store = Store(path, ME)
    try:
        yield store
    finally:
        store.close()


def filled(path: Path, table: str) -> None:
    with opened(path) as store, store.step():
        ADD[table](store, MANY)


@pytest.mark.parametrize("table", ADD)
def test_a_full_disk_leaves_each_table_as_it_was(path: Path, table: str) -> None:
    filled(path, table)
    with opened(path) as store:
        (pages,) = store._db.execute("pragma page_count").fetchone()
        store._db.execute(f"pragma max_page_count = {pages}")
        with pytest.raises(StoreProblem) as problem, store.step():
            ADD[table](store, MANY, MANY)
        assert problem.value.code == "store_full"
        assert READ[table](store) == MANY
        store._db.execute("pragma max_page_count = 100000")
        with store.step():
            ADD[table](store, MANY, MANY)
    with opened(path) as store:
        assert READ[table](store) == 2 * MANY


@pytest.mark.parametrize("table", ADD)
def test_a_read_only_disk_leaves_each_table_as_it_was(path: Path, table: str) -> None:
    filled(path, table)
    with opened(path) as store:
        store._db.execute("pragma query_only = on")
        with pytest.raises(StoreProblem) as problem, store.step():
            ADD[table](store, 1, MANY)
        assert problem.value.code == "store_unwritable"
        assert READ[table](store) == MANY


@pytest.mark.parametrize("table", ADD)
def test_a_locked_database_leaves_each_table_as_it_was(
    path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.node.store.BUSY_TIMEOUT_S", 0.0)
    filled(path, table)
    with opened(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(StoreProblem) as problem, store.step():
            ADD[table](store, 1, MANY)
        assert problem.value.code == "store_locked"
        assert READ[table](store) == MANY
        other.execute("rollback")
        other.close()


def pages_of(path: Path, table: str) -> list[int]:
    """The page where a table begins, counted from 0."""
    db = sqlite3.connect(path)
    rows = db.execute("select rootpage from sqlite_master where name = ?", (table,)).fetchall()
    db.close()
    return [page - 1 for (page,) in rows]


@pytest.mark.parametrize("table", ADD)
def test_damage_to_each_table_is_found_on_opening(path: Path, table: str) -> None:
    filled(path, table)
    (page,) = pages_of(path, table)
    data = bytearray(path.read_bytes())
    data[page * PAGE : page * PAGE + 64] = b"\xff" * 64
    path.write_bytes(bytes(data))
    with pytest.raises(StoreProblem) as problem:
        Store(path, ME)
    assert problem.value.code == "store_damaged"
    assert path.read_bytes()[page * PAGE : page * PAGE + 64] == b"\xff" * 64


@pytest.mark.parametrize("table", ADD)
def test_damage_to_each_table_after_opening_is_found_on_reading(path: Path, table: str) -> None:
    filled(path, table)
    (page,) = pages_of(path, table)
    with opened(path) as store:
        store._db.execute("pragma shrink_memory")
        with path.open("r+b") as file:
            file.seek(page * PAGE)
            file.write(b"\xff" * 64)
        # Somebody else's write makes this connection look at the disk again.
        other = sqlite3.connect(path)
        other.execute(f"pragma user_version = {SCHEMA_VERSION}")
        other.commit()
        other.close()
        with pytest.raises(StoreProblem) as problem:
            READ[table](store)
    assert problem.value.code == "store_damaged"


VERSION_1 = """
create table entries (number integer primary key, table_id blob not null, author blob not null,
    seq integer not null, id blob not null unique, data blob not null, signature blob not null) strict;
create index entries_by_table on entries (table_id, number);
create table seeds (contract blob primary key, seed blob not null, coin blob not null) strict, without rowid;
create table tables (table_id blob primary key, name text not null, opened_at text not null,
    closed integer not null default 0) strict, without rowid;
create table players (key blob primary key, name text not null, met_at text not null,
    rounds integer not null default 0, words_compared integer not null default 0,
    address text not null default '', port integer not null default 0) strict, without rowid;
pragma user_version = 1;
"""
"""The database as the first version made it."""


def test_a_database_of_the_first_version_is_brought_up_with_all_that_is_in_it(path: Path) -> None:
    old = sqlite3.connect(path)
    old.executescript(VERSION_1)
    one = entry(0)
    old.execute(
        "insert into entries (table_id, author, seq, id, data, signature) values (?, ?, ?, ?, ?, ?)",
        (TABLE, ME, 0, one.id, one.data, one.signature),
    )
    old.execute("insert into seeds values (?, ?, ?)", (key(1), bytes(32), bytes(32)))
    old.execute("insert into tables values (?, 'Kitchen', '2026-05-12T20:00:00Z', 0)", (TABLE,))
    old.execute("insert into players (key, name, met_at) values (?, 'Bert', '2026-05-12')", (key(2),))
    old.commit()
    old.close()
    with opened(path) as store:
        assert store.load(TABLE) == [one]
        assert store.secret(key(1)) == (bytes(32), bytes(32))
        assert [table.name for table in store.remembered_tables()] == ["Kitchen"]
        assert [player.name for player in store.players()] == ["Bert"]
        for table in ADD:
            with store.step():
                ADD[table](store, 1, 5)
        (version,) = store._db.execute("pragma user_version").fetchone()
        assert version == SCHEMA_VERSION


def test_a_clock_set_back_makes_nobody_a_debtor(path: Path) -> None:
    """Duties are counted by a steady clock; should it go back all the same, everyone has time anew."""
    table = Table(NAMES[:2], seed=3)
    table.start()
    table.play_until(lambda: is_in(table.peers[0], Phase.PLAY))
    session = table.peers[0].session
    session.tick(10_000.0)
    assert session.waiting_for(10_000.0)
    session.tick(6_400.0)
    assert [age for _, age in session.waiting_for(6_400.0)] == [0.0] * len(session.waiting_for(6_400.0))
    assert session.overdue(6_400.0) == ()
    table.play()
    assert table.peers[1].round.everything().final.kind == "finished"


def test_a_wall_clock_set_back_only_reorders_what_is_remembered(path: Path) -> None:
    with opened(path) as store:
        store.note_table(RememberedTable(key(1), "Kitchen", "2026-05-12T20:00:00Z", 2, "", False))
        store.note_table(RememberedTable(key(1), "Kitchen", "2026-05-12T19:00:00Z", 3, "", False))
        (table,) = store.remembered_tables()
        assert (table.seats, table.met_at) == (3, "2026-05-12T19:00:00Z")
        store.note_player(key(2), "Bert", "2026-05-12")
        store.note_player(key(2), "Bert", "1970-01-01")
        assert store.players()[0].met_at == "2026-05-12"


def test_numbers_of_what_is_said_outside_of_feeds_rise_though_the_clock_is_set_back(path: Path) -> None:
    hour_ms = 3_600_000
    used = 0
    for now_ms in (10 * hour_ms, 9 * hour_ms, 9 * hour_ms + 1, 20 * hour_ms, 0):
        with opened(path) as store:
            first = store.begin_numbers(now_ms)
        assert first >= max(used, now_ms)
        used = first + NUMBERS_A_START

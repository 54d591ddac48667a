"""The feeds on disk: one SQLite database a person (docs/protocol.md, 2).

Everything that one step of the program takes in and writes goes into one transaction, committed before
anything is sent. So what an own entry's ``seen`` names is on disk with it, and no entry is ever sent that a
crash could make us sign differently a second time.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.errors import Sentence, ShitheadError
from p2p.feeds.entries import VERSION, Entry, OtherProtocol, read_entry
from p2p.files import make_private

SCHEMA_VERSION: Final = 3
"""Stored as SQLite's ``user_version``; a newer one is refused, an older one is brought up by `_STEPS`."""

_STEPS: Final = {
    1: (
        "alter table tables add column seats integer not null default 0",
        "alter table tables add column rules text not null default ''",
        "alter table tables add column is_here_only integer not null default 0",
    ),
    2: ("create table counters (name text primary key, value integer not null) strict, without rowid",),
}
"""Version → what brings a database of it up to the next one."""

NUMBERS_A_START: Final = 1 << 20
"""Lines of chat and lists of addresses of one start of the program: far more than the allowances let through."""

BUSY_TIMEOUT_S: Final = 2.0
"""Nobody else should have the database open (the lock file sees to it): a short wait covers a backup tool."""

_SCHEMA: Final = """
create table entries (
    number integer primary key,
    table_id blob not null,
    author blob not null,
    seq integer not null,
    id blob not null unique,
    data blob not null,
    signature blob not null
) strict;
create index entries_by_table on entries (table_id, number);
create table seeds (
    contract blob primary key,
    seed blob not null,
    coin blob not null
) strict, without rowid;
create table tables (
    table_id blob primary key,
    name text not null,
    opened_at text not null,
    closed integer not null default 0,
    seats integer not null default 0,
    rules text not null default '',
    is_here_only integer not null default 0
) strict, without rowid;
create table players (
    key blob primary key,
    name text not null,
    met_at text not null,
    rounds integer not null default 0,
    words_compared integer not null default 0,
    address text not null default '',
    port integer not null default 0
) strict, without rowid;
create table counters (
    name text primary key,
    value integer not null
) strict, without rowid;
"""


_COLUMNS: Final = {
    "entries": "number, table_id, author, seq, id, data, signature",
    "seeds": "contract, seed, coin",
    "tables": "table_id, name, opened_at, closed, seats, rules, is_here_only",
    "players": "key, name, met_at, rounds, words_compared, address, port",
    "counters": "name, value",
}
"""Table → what has to be in it: a table that has gone is found at the start, not in the middle of a round."""


class StoreProblem(ShitheadError):
    """The database cannot be used; the sentence says why and what to do."""


@dataclass(frozen=True, slots=True)
class KnownPlayer:
    """A player met before. ``met_at``: RFC 3339 date of the first time."""

    key: bytes
    name: str
    met_at: str
    rounds: int
    words_compared: bool
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class RememberedTable:
    """A table that this peer sat at and has neither left nor seen closed.

    ``met_at``: RFC 3339 time of the last change noted; ``seats`` and ``rules`` (TOML-like text, see
    ``Node``): what its host offers next; ``is_here_only``: a table on loopback.
    """

    table: bytes
    name: str
    met_at: str
    seats: int
    rules: str
    is_here_only: bool


class Store:
    """The database. Not safe for use by several threads at once; any one thread at a time is fine."""

    def __init__(self, path: Path | None, own: bytes) -> None:
        """Opens or makes the database at ``path`` (None: in memory), for the identity ``own``.

        Raises ``StoreProblem`` when it is damaged, locked, newer than this program, or not writable.
        """
        self.path = path
        self.own = own
        self._pending: list[tuple[str, tuple[object, ...]]] = []
        self._durable = False
        self._stepping = False
        self.committing_since: float | None = None
        """Since when (``time.monotonic``) the disk has been at work on a step, or None. Any thread may look."""
        self._continued: list[bytes] = []
        """Own entries that have to be on disk for the step to be committed."""
        if path is not None:
            # Seeds are in it, and its journal gets the same rights.
            make_private(path)
        try:
            self._db = sqlite3.connect(
                str(path) if path is not None else ":memory:",
                timeout=BUSY_TIMEOUT_S,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise self._problem(error) from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            raise self._problem(error) from error
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        run = self._db.execute
        # A power cut must not lose a committed own entry: we would sign its number anew.
        run("pragma synchronous = full")
        run("pragma fullfsync = on")
        run("pragma foreign_keys = on")
        (version,) = run("pragma user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise StoreProblem(
                Sentence(
                    "store_newer",
                    "The data in {path} were written by a newer version of shithead: they are of version {found}, "
                    "and this program knows {known}. Nothing was changed. Update the program, or choose another "
                    "place with --data-dir.",
                    {"path": str(self.path), "found": version, "known": SCHEMA_VERSION},
                )
            )
        if version < 0:
            raise sqlite3.DatabaseError(f"version {version}")
        run("pragma journal_mode = wal")
        if version == 0:
            run("begin immediate")
            for statement in filter(None, (part.strip() for part in _SCHEMA.split(";"))):
                run(statement)
            run(f"pragma user_version = {SCHEMA_VERSION}")
            run("commit")
        elif version < SCHEMA_VERSION:
            run("begin immediate")
            for step in range(version, SCHEMA_VERSION):
                for statement in _STEPS[step]:
                    run(statement)
            run(f"pragma user_version = {SCHEMA_VERSION}")
            run("commit")
        (verdict,) = run("pragma quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)
        for table, columns in _COLUMNS.items():
            run(f"select {columns} from {table} limit 0")
        # One own entry a number, whatever goes wrong above; others' forks are kept, they are evidence.
        own = self.own.hex()
        run(
            f"create unique index if not exists own_{own[:16]} on entries (table_id, author, seq)"
            f" where author = x'{own}'"
        )

    def _problem(self, error: sqlite3.Error) -> StoreProblem:
        values: dict[str, object] = {"path": str(self.path), "reason": str(error)}
        text = str(error)
        if "locked" in text or "busy" in text:
            return StoreProblem(
                Sentence("store_locked", "The data in {path} are in use by another program.", values)
            )
        if "readonly" in text or "unable to open" in text or "permission" in text.lower():
            return StoreProblem(
                Sentence(
                    "store_unwritable",
                    "The data in {path} can't be written ({reason}). Check permissions and free space, "
                    "or choose another place with --data-dir.",
                    values,
                )
            )
        if "i/o error" in text.lower():
            # The disk has failed, or a quota or a limit of files is reached: what is there may be all right.
            return StoreProblem(
                Sentence(
                    "store_failing",
                    "The disk that holds {path} can't be read or written ({reason}). Nothing was changed. Check "
                    "the disk, its free space and your quota, and start again; leave the file where it is.",
                    values,
                )
            )
        if "full" in text:
            return StoreProblem(
                Sentence(
                    "store_full",
                    "The disk that holds {path} is full. Free some space and start again.",
                    values,
                )
            )
        return StoreProblem(
            Sentence(
                "store_damaged",
                "The data in {path} are damaged ({reason}). Nothing was changed. Move the file away to "
                "start afresh; your identity and saved rounds are separate files and stay.",
                values,
            )
        )

    def close(self) -> None:
        """Closes the database; what was not committed is lost."""
        with contextlib.suppress(sqlite3.Error):
            self._db.close()

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """One transaction around everything that happens in one step. Raises ``StoreProblem`` at its end.

        Only a step that holds an own entry or a secret waits for the disk: what others wrote could be had
        again from them, and is made durable by the next own entry, which may name it.
        """
        self._stepping = True
        try:
            yield
        except BaseException:
            self._pending.clear()
            self._continued.clear()
            raise
        finally:
            self._stepping = False
        if self._pending:
            self._commit()

    def _commit(self) -> None:
        pending, self._pending = self._pending, []
        durable, self._durable = self._durable, False
        continued, self._continued = self._continued, []
        self.committing_since = time.monotonic()
        try:
            self._db.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
            self._db.execute("begin immediate")
            for statement, values in pending:
                self._db.execute(statement, values)
            for ident in continued:
                if self._db.execute("select 1 from entries where id = ?", (ident,)).fetchone() is None:
                    raise self._changed()
            self._db.execute("commit")
        except StoreProblem:
            self._roll_back()
            raise
        except sqlite3.IntegrityError as error:
            self._roll_back()
            if "entries" not in str(error):
                raise self._problem(error) from error
            raise StoreProblem(
                Sentence(
                    "own_fork",
                    "Your data hold another entry of yours with the same number: they seem to be restored "
                    "from a copy, or used by two programs. Nothing was written.",
                    {},
                )
            ) from error
        except sqlite3.Error as error:
            self._roll_back()
            raise self._problem(error) from error
        finally:
            self.committing_since = None

    def _changed(self) -> StoreProblem:
        return StoreProblem(
            Sentence(
                "store_changed",
                "Entries of yours have gone from {path} while this program ran: something else changes the data. "
                "Nothing was written. Start again once nothing else uses them: the others send what is missing.",
                {"path": str(self.path)},
            )
        )

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("rollback")

    def _do(self, statement: str, *values: object) -> None:
        """Has a statement done at the end of the step; outside of one, at once."""
        self._pending.append((statement, values))
        if not self._stepping:
            self._commit()

    def _ask(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a question; a disk that fails while it is read is a ``StoreProblem`` too."""
        try:
            return self._db.execute(question, values).fetchall()
        except sqlite3.Error as error:
            raise self._problem(error) from error

    def add(self, entry: Entry, *, is_new: bool = False) -> None:
        """Keeps an entry. A second version of an own number makes the step fail with ``own_fork``.

        ``is_new``: it has just been signed. Where the own entry before it is not on disk any more, something else
        has changed the data, and the step fails with ``store_changed``: what a restart would not know of must not
        be sent.
        """
        self._durable |= entry.author == self.own
        if is_new and entry.seq:
            self._continued.append(entry.prev)
        self._do(
            "insert into entries (table_id, author, seq, id, data, signature) values (?, ?, ?, ?, ?, ?)"
            " on conflict (id) do nothing",
            *(entry.table, entry.author, entry.seq, entry.id, entry.data, entry.signature),
        )

    def own_head(self, table: bytes) -> tuple[int, bytes] | None:
        """The number and id of the own newest entry at a table."""
        rows = self._ask(
            "select seq, id from entries where table_id = ? and author = ? order by seq desc limit 1",
            *(table, self.own),
        )
        return (rows[0][0], rows[0][1]) if rows else None

    def load(self, table: bytes) -> list[Entry]:
        """All entries of a table in the order in which they came, which is a causal one.

        Raises ``StoreProblem`` if one of them cannot be read any more.
        """
        rows = self._ask("select data, signature from entries where table_id = ? order by number", table)
        try:
            return [read_entry(data, signature) for data, signature in rows]
        except OtherProtocol as error:
            values = {"path": str(self.path), "found": error.found, "known": VERSION}
            raise StoreProblem(
                Sentence(
                    "table_other_version",
                    "This table, kept in {path}, is of another version of shithead: it speaks protocol {found}, "
                    "and this program {known}. Nothing was changed. Return to it with the version that it was "
                    "played with, or leave it with --new.",
                    values,
                )
            ) from error
        except ValueError as error:
            raise self._problem(sqlite3.DatabaseError(str(error))) from error

    def keep_secret(self, contract: bytes, seed: bytes, coin: bytes) -> None:
        """Keeps the seed and coin of a contract, in the transaction of the ``accept`` that commits to them."""
        self._durable = True
        self._do("insert into seeds (contract, seed, coin) values (?, ?, ?)", contract, seed, coin)

    def secret(self, contract: bytes) -> tuple[bytes, bytes] | None:
        """The seed and coin of a contract, if this peer has accepted it."""
        rows = self._ask("select seed, coin from seeds where contract = ?", contract)
        return (rows[0][0], rows[0][1]) if rows else None

    def forget_secret(self, contract: bytes) -> None:
        """Drops a seed that has been revealed or is of no more use."""
        self._do("delete from seeds where contract = ?", contract)

    def begin_numbers(self, now_ms: int) -> int:
        """The number above which this start counts its lines of chat and lists of addresses.

        At most ``NUMBERS_A_START`` of them. Others pass over what has a smaller number than they know, so it lies
        above those of every earlier start: by the clock (``now_ms``: wall time in milliseconds) where the data are
        new, by what is stored where the clock has been set back. Raises ``StoreProblem``.
        """
        rows = self._ask("select value from counters where name = 'numbers'")
        first = max(now_ms, rows[0][0]) if rows else now_ms
        self._durable = True
        self._do(
            "insert into counters (name, value) values ('numbers', ?)"
            " on conflict do update set value = excluded.value",
            first + NUMBERS_A_START,
        )
        return first

    def note_table(self, table: RememberedTable) -> None:
        """Remembers a table that this peer sits at, as it is now. Raises ``StoreProblem``."""
        self._do(
            "insert into tables (table_id, name, opened_at, seats, rules, is_here_only)"
            " values (?, ?, ?, ?, ?, ?) on conflict do update set name = excluded.name,"
            " opened_at = excluded.opened_at, seats = excluded.seats, rules = excluded.rules, closed = 0",
            *(table.table, table.name, table.met_at, table.seats, table.rules, table.is_here_only),
        )

    def forget_table(self, table: bytes) -> None:
        """This peer has left a table, or the table has ended: it is not offered again."""
        self._do("update tables set closed = 1 where table_id = ?", table)

    def remembered_tables(self) -> list[RememberedTable]:
        """The tables that this peer may return to, the newest first."""
        rows = self._ask(
            "select table_id, name, opened_at, seats, rules, is_here_only from tables"
            " where not closed order by opened_at desc, name"
        )
        return [
            RememberedTable(table, name, met_at, seats, rules, bool(here))
            for table, name, met_at, seats, rules, here in rows
        ]

    def note_player(self, key: bytes, name: str, met_at: str) -> None:
        """Remembers a player, with the name used last."""
        self._do(
            "insert into players (key, name, met_at) values (?, ?, ?)"
            " on conflict (key) do update set name = excluded.name",
            *(key, name, met_at),
        )

    def note_address(self, key: bytes, address: str, port: int) -> None:
        """Remembers where a player was last met."""
        self._do("update players set address = ?, port = ? where key = ?", address, port, key)

    def count_round(self, key: bytes) -> None:
        """Adds one finished round to a player."""
        self._do("update players set rounds = rounds + 1 where key = ?", key)

    def players(self) -> list[KnownPlayer]:
        """All players met, the most familiar first."""
        rows = self._ask(
            "select key, name, met_at, rounds, words_compared, address, port from players"
            " order by rounds desc, name"
        )
        return [
            KnownPlayer(key, name, met_at, rounds, bool(compared), address, port)
            for key, name, met_at, rounds, compared, address, port in rows
        ]

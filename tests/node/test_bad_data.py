"""The database of a node, damaged at each table: while a round is played, and before the program starts again.

Whatever happens is said in words that tell what to do; nothing is signed twice under one number; and the others'
table goes on.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import Sentence, ShitheadError
from engine.moves import Ready
from p2p.dealing import TransparentDealing
from p2p.errors import LocalProtocolError
from p2p.feeds.identity import load_or_make_key
from p2p.node.core import Core
from p2p.node.node import Node
from p2p.node.store import Store, StoreProblem
from p2p.rounds.phases import Phase
from tests.node.conftest import PATIENCE_S, Evening, until
from tests.node.test_node import is_over
from tests.node.test_return import come_back, is_in, stop

TABLES = ("entries", "seeds", "tables", "players")
PAGE = 4096


def changed(path: Path, *statements: str) -> None:
    """Another program changes the database."""
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    for statement in statements:
        db.execute(statement)
    db.close()


def drop(path: Path, table: str) -> None:
    changed(path, f"drop table {table}")


def empty(path: Path, table: str) -> None:
    changed(path, f"delete from {table}")


def damage(path: Path, table: str) -> None:
    """Overwrites the page where a table begins."""
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    db.execute("pragma wal_checkpoint(truncate)")
    (page,) = db.execute("select rootpage from sqlite_master where name = ?", (table,)).fetchone()
    db.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xff" * 64)


def database(node: Node) -> Path:
    return node.config.data_dir / "shithead.db"


async def in_mid_round(evening: Evening) -> tuple[Node, Node]:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await ana.offer_round()
    for node in (ana, bogdan):
        await until(node, is_in(Phase.ARRANGE))
    return ana, bogdan


def own_numbers_are_used_once(*nodes: Node) -> bool:
    """Whether nobody holds two versions of anything."""
    return all(node._table.core is None or not node._table.core.session.feeds.forks for node in nodes)


STOPS = {
    ("drop", "entries"): "store_damaged",
    ("drop", "seeds"): None,
    ("drop", "tables"): None,
    ("drop", "players"): None,
    ("empty", "entries"): "store_changed",
    ("empty", "seeds"): None,
    ("empty", "tables"): None,
    ("empty", "players"): None,
}
"""What becomes of a node in mid-round: None where what is gone is not needed before the round is over."""


@pytest.mark.parametrize(("how", "table"), STOPS)
async def test_in_mid_round_it_is_said_or_the_round_goes_on(evening: Evening, how: str, table: str) -> None:
    ana, bogdan = await in_mid_round(evening)
    {"drop": drop, "empty": empty}[how](database(bogdan), table)
    evening.seat_bots(ana, bogdan)
    expected = STOPS[how, table]
    if expected is not None:
        async with asyncio.timeout(PATIENCE_S):
            await bogdan.gone.wait()
    else:
        await until(ana, lambda s: s.round is not None and s.round.ending is not None)
    problem = bogdan.gone_problem
    if expected is not None or problem is not None:
        assert isinstance(problem, StoreProblem)
        assert problem.code == (expected or "store_damaged")
        assert str(database(bogdan)) in str(problem)
    assert own_numbers_are_used_once(ana, bogdan)


@pytest.mark.parametrize("table", TABLES)
async def test_a_database_that_another_program_locks_in_mid_round_is_said(
    evening: Evening, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setattr("p2p.node.store.BUSY_TIMEOUT_S", 0.0)
    ana, bogdan = await in_mid_round(evening)
    other = sqlite3.connect(database(bogdan), isolation_level=None, timeout=30)
    other.execute("begin immediate")
    other.execute(f"delete from {table}")
    with pytest.raises(StoreProblem) as problem:
        await bogdan.act(Ready(_seat(bogdan)))
    assert problem.value.code == "store_locked"
    other.execute("rollback")
    other.close()
    await stop(evening, bogdan)
    again = await come_back(evening, "Bogdan", (ana,))
    evening.seat_bots(ana, again)
    snapshot = await until(ana, is_over(1))
    assert snapshot.score[0].kind == "finished"
    assert own_numbers_are_used_once(ana, again)


def _seat(node: Node) -> int:
    round_ = node.snapshot.round
    assert round_ is not None
    return round_.seats.index(node.key)


HARMS: dict[str, Callable[[Path, str], None]] = {"drop": drop, "damage": damage}


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("table", TABLES)
async def test_at_the_start_it_is_said_before_anything_is_done(evening: Evening, harm: str, table: str) -> None:
    ana, bogdan = await in_mid_round(evening)
    ident = bogdan.snapshot.table
    await stop(evening, bogdan)
    HARMS[harm](database(bogdan), table)
    with pytest.raises(StoreProblem) as problem:
        await Node.return_to(bogdan.config, ident)
    assert problem.value.code == "store_damaged"
    assert "Move the file away" in str(problem.value)
    assert own_numbers_are_used_once(ana)


async def test_without_its_secret_somebody_is_told_and_can_leave(evening: Evening) -> None:
    ana, bogdan = await in_mid_round(evening)
    await stop(evening, bogdan)
    empty(database(bogdan), "seeds")
    told: list[Sentence] = []
    again = await come_back(evening, "Bogdan", (ana,))
    again.subscribe(lambda news: told.extend(item.values["sentence"] for item in news if item.name == "error"))
    async with asyncio.timeout(PATIENCE_S):
        while not told:
            await again.changed()
    assert [sentence.code for sentence in told] == ["seed_gone"]
    await until(again, lambda s: again.has_heard)
    with pytest.raises(ShitheadError) as problem:
        await again.act(Ready(0))
    assert problem.value.code == "seed_gone"
    await again.leave()
    snapshot = await until(ana, is_over(1))
    assert snapshot.score[0].kind == "forfeit"
    assert own_numbers_are_used_once(ana)


async def test_whose_entries_have_gone_gets_them_back_by_knocking_again(evening: Evening) -> None:
    ana, bogdan = await in_mid_round(evening)
    await stop(evening, bogdan)
    await until(ana, lambda s: any(p.link.status == "lost" for p in s.players))
    empty(database(bogdan), "entries")
    with pytest.raises(LocalProtocolError) as problem:
        await Node.return_to(bogdan.config, ana.snapshot.table)
    assert problem.value.code == "nothing_held"
    again = await Node.join_table(evening.config("Bogdan"), ("127.0.0.1", ana.port))
    evening.nodes.append(again)
    evening.seat_bots(ana, again)
    snapshot = await until(ana, is_over(1))
    assert snapshot.score[0].kind == "finished"
    assert own_numbers_are_used_once(ana, again)


async def test_a_gap_in_the_own_entries_is_filled_before_anything_is_written(evening: Evening) -> None:
    ana, bogdan = await in_mid_round(evening)
    await stop(evening, bogdan)
    # All but the newest own entry: a number that was used must not be free again.
    own = f"author = x'{bogdan.key.hex()}'"
    newest = f"(select max(seq) from entries where {own})"
    changed(database(bogdan), f"delete from entries where {own} and seq < {newest}")
    told: list[str] = []
    again = await come_back(evening, "Bogdan")
    again.subscribe(
        lambda news: told.extend(item.values["sentence"].code for item in news if item.name == "error")
    )
    assert again._table.core is not None and not again._table.core.may_write
    again._table.mesh.set_members({ana.key: [("127.0.0.1", ana.port)]})  # type: ignore[union-attr]
    await until(again, lambda s: again._table.core is not None and again._table.core.may_write)
    assert told == ["own_gap"]
    evening.seat_bots(ana, again)
    snapshot = await until(ana, is_over(1))
    assert snapshot.score[0].kind == "finished"
    assert own_numbers_are_used_once(ana, again)


def test_a_gap_that_nobody_fills_stays_a_reason_not_to_write(tmp_path: Path) -> None:
    from p2p.feeds import entries as e
    from p2p.feeds.entries import make_entry

    key = load_or_make_key(tmp_path / "identity.key")
    me = key.public_key().public_bytes_raw()
    with_gap = Store(None, me)
    opening = make_entry(key, bytes(32), 0, bytes(32), (), e.Open("Kitchen", "Ana", b"", bytes(32)))
    first = make_entry(key, opening.id, 1, opening.id, (), e.Mark())
    second = make_entry(key, opening.id, 2, first.id, (), e.Mark())
    with_gap.add(opening)
    with_gap.add(second)
    core = Core(opening.id, key, with_gap, TransparentDealing(), None, "0")
    for now in (0.0, 100.0, 10_000.0):
        core.step([], now)
        core.note_have(core.have())
        assert not core.may_write
    with_gap.close()

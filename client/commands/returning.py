"""Coming back: the table that this person was at when the program ended, offered before anything else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import click

from client.commands.common import is_interactive
from client.commands.finding import PATIENCE_S

if TYPE_CHECKING:
    from client.commands.seat import Seat
    from client.datadir import DataDir
    from p2p.node.node import Node
    from p2p.node.store import RememberedTable, Store

REMEMBERED_H: Final = 24
"""A table of the day before yesterday has broken up, whatever its players' programs know of it."""

ALONE_S: Final = 60.0
"""How long a seat that plays by itself waits at a table where nobody answers before it looks elsewhere."""


def last_table(data: DataDir, *, is_here_only: bool) -> RememberedTable | None:
    """The table that this person neither left nor saw closed, if there is one of the last hours."""
    if not data.database.exists():
        return None
    with _store(data) as store:
        tables = store.remembered_tables()
    oldest = datetime.now(UTC) - timedelta(hours=REMEMBERED_H)
    for table in tables:
        if table.is_here_only is is_here_only and datetime.fromisoformat(table.met_at) >= oldest:
            return table
    return None


@contextlib.contextmanager
def _store(data: DataDir) -> Iterator[Store]:
    from p2p.feeds.identity import load_or_make_key, public_key
    from p2p.node.store import Store

    store = Store(data.database, public_key(load_or_make_key(data.identity)))
    try:
        yield store
    finally:
        store.close()


def table_words(name: str) -> str:
    """The table ``name`` within a sentence: most are called ``Ana's table``, which says already what it is."""
    return name if name.casefold().endswith(" table") else f"the table {name}"


def wants_back(seat: Seat, table: RememberedTable) -> bool:
    """Whether this person takes its seat again; a table declined is not offered a second time.

    Where nobody can be asked the answer is yes: whoever starts a stopped program again means to go on.
    """
    if seat.auto or not is_interactive():
        return True
    if click.confirm(f"You were at {table_words(table.name)}. Return to it?", default=True, err=True):
        return True
    with _store(seat.data) as store:
        store.forget_table(table.table)
    return False


def take_seat_again(
    seat: Seat,
    *,
    is_here_only: bool,
    name: str | None,
    sit: Callable[[RememberedTable], Coroutine[object, object, int]],
) -> int | None:
    """Returns to the last table, if there is one and it is wanted; None: go on as if there were none.

    ``name``: the only table meant, if the person has named one. ``sit`` plays there until it is over.
    """
    from client.commands.running import run
    from client.sentences import render_error
    from p2p.errors import LocalProtocolError
    from p2p.feeds.identity import fold_name

    table = last_table(seat.data, is_here_only=is_here_only)
    if table is None or (name is not None and fold_name(name) != fold_name(table.name)):
        return None
    if not wants_back(seat, table):
        return None
    try:
        return run(lambda: sit(table))
    except NobodyThere:
        click.echo(f"Nobody of {table_words(table.name)} answers.", err=True)
    except LocalProtocolError as error:
        if error.code == "nothing_held":
            click.echo(render_error(error), err=True)
        elif error.code != "not_a_member":
            raise
    return None


class NobodyThere(Exception):
    """A seat that plays by itself has waited long enough for the others of its table."""


async def wait_for_somebody(node: Node, seat: Seat) -> None:
    """Says whom the table waits for, and after a while what may be wrong. Returns once a member answers.

    Raises `NobodyThere` for a seat that plays by itself; a person may wait as long as they like.
    """
    from client.commands.screen import wants_screen

    # Nothing may be printed over a full screen, which shows itself whose links are missing.
    is_quiet = wants_screen(seat)
    if not is_quiet:
        click.echo(f"You are back at {table_words(node.snapshot.name)}.", file=seat.out)
    started = asyncio.get_running_loop().time()
    advised = False
    while not node.has_heard and not node.gone.is_set():
        waited = asyncio.get_running_loop().time() - started
        if seat.auto and waited > ALONE_S:
            raise NobodyThere
        if not is_quiet and not advised and waited > PATIENCE_S:
            advised = True
            names = ", ".join(player.name for player in node.snapshot.players if not player.is_me)
            click.echo(
                f"Nobody answers yet of: {names}. They are looked for where they were last met and on this whole "
                "network, for as long as you stay. Type quit to give your seat up.",
                file=seat.out,
            )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await node.changed()

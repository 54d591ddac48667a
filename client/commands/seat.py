"""Sitting down: the data directory, the name, and what a person's program does at a table until the end."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, TextIO

import click

from client.commands.common import Options, is_interactive, told
from client.commands.logs import log_to
from client.commands.running import Trace, open_for_appending
from client.datadir import DataDir
from client.problems import EXIT_GOOD, EXIT_NEGATIVE
from client.settings import choose_name
from engine.errors import ShitheadError

if TYPE_CHECKING:
    from p2p.node import Node

STANDARD_OUTPUT: Final = "-"


@dataclass(frozen=True, slots=True)
class Seat:
    """What the options of `seat_options` say, and the name that came of them."""

    data: DataDir
    name: str
    auto: bool
    level: str
    rounds: int | None
    events: str | None
    trace: Path | None

    @property
    def out(self) -> TextIO:
        """Where sentences go: standard error if standard output carries events."""
        return sys.stderr if self.events == STANDARD_OUTPUT else sys.stdout


@contextmanager
def sitting(
    options: Options, *, name: str | None, auto: bool, level: str, rounds: int | None, events: str | None
) -> Iterator[Seat]:
    """A seat on a prepared and locked data directory, with its log open.

    Asks for the name if there is none yet and somebody to ask. Raises ``UsageProblem`` and ``BadName``.
    """
    data = options.data
    data.prepare()
    with data.locked(), log_to(data.log):
        chosen, is_stored = choose_name(data.settings, name, _ask_name if is_interactive() else None)
        if is_stored:
            click.echo(f"You are {chosen}. To change that: --name, or the file {data.settings}", err=True)
        yield Seat(data, chosen, auto, level, rounds, events, options.trace)


def _ask_name(default: str) -> str:
    """Asks until the answer can be used."""
    from p2p.identity import BadName, check_name

    while True:
        answer: str = click.prompt("Your name at the table", default=default, err=True)
        try:
            return check_name(answer)
        except BadName as error:
            click.echo(told(error), err=True)


@contextmanager
def tracing(seat: Seat) -> Iterator[Trace | None]:
    """The writer for ``--trace``, if that was given."""
    trace = Trace(seat.trace) if seat.trace is not None else None
    try:
        yield trace
    finally:
        if trace is not None:
            trace.close()


@asynccontextmanager
async def closing(node: Node) -> AsyncIterator[Node]:
    """Ends ``node`` in order, whatever happens: it leaves the table if no round of its own goes on.

    In mid-round it only says goodbye: who was stopped by accident can come back, and gives nothing up.
    """
    try:
        yield node
    finally:
        if not node.gone.is_set() and not _is_playing(node):
            await node.leave()
        await node.close()


def _is_playing(node: Node) -> bool:
    from p2p.phases import Phase

    round_ = node.snapshot.round
    over = (Phase.CLOSED, Phase.DEAD, Phase.REVEAL)
    return round_ is not None and round_.phase not in over and node.key in round_.roster


async def stay(
    node: Node,
    seat: Seat,
    *,
    rounds: int | None = None,
    until: asyncio.Task[None] | None = None,
    seat_bots: Callable[[int], Awaitable[None]] | None = None,
) -> int:
    """Plays at ``node``'s table until somebody or something ends it; the exit code.

    ``rounds``: leave after so many finished ones; ``until``: a task whose end means that the table is done,
    which closes it for everybody; ``seat_bots``: what the command `bots K` does.
    """
    from client.bots import BotPlayer, Level
    from client.lines import LineClient, StreamLines

    client = LineClient(
        node,
        seat.out,
        StreamLines(sys.stdin),
        auto=seat.auto,
        interactive=is_interactive(),
        rounds=rounds,
        seat_bots=seat_bots,
    )
    bot = BotPlayer(node, Level(seat.level), 0.0, Random()) if seat.auto else None
    with _events(node, seat):
        if bot is not None:
            bot.start()
        playing = asyncio.create_task(client.run(), name="lines")
        try:
            return await _first(node, seat, playing, until)
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            if bot is not None:
                await bot.close()


async def _first(node: Node, seat: Seat, playing: asyncio.Task[int], until: asyncio.Task[None] | None) -> int:
    """Waits for the client or ``until``, whichever ends first."""
    from client.phrases import said
    from client.sentences import render

    await asyncio.wait([playing] if until is None else [playing, until], return_when=asyncio.FIRST_COMPLETED)
    if playing.done():
        return playing.result()
    if until is not None:
        until.result()
    click.echo(render(said("rounds_done")), file=seat.out)
    with contextlib.suppress(ShitheadError):
        await node.close_table()
    return EXIT_NEGATIVE if any(score.kind == "faulted" for score in node.snapshot.score) else EXIT_GOOD


@contextmanager
def _events(node: Node, seat: Seat) -> Iterator[None]:
    """Writes what happens for ``--events``, if that was given."""
    if seat.events is None:
        yield
        return
    from client.events import EventWriter

    file = sys.stdout if seat.events == STANDARD_OUTPUT else open_for_appending(Path(seat.events), "--events")
    writer = EventWriter(node, file)
    try:
        yield
    finally:
        writer.close()
        if file is not sys.stdout:
            file.close()

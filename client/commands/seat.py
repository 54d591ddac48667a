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
    from client.lines import LineClient
    from client.standing_in import StandIn
    from client.tui.client import ScreenClient
    from p2p.node.node import Node

STANDARD_OUTPUT: Final = "-"


@dataclass(frozen=True, slots=True)
class Seat:
    """What the options of `seat_options` say, and what came of them.

    ``events``: the open file for ``--events``; ``trace``: the writer for ``--trace``; ``lines``: the line mode
    whatever the terminal can do; ``ascii_only``: nothing beyond ASCII.
    """

    data: DataDir
    name: str
    auto: bool
    level: str
    rounds: int | None
    events: TextIO | None
    trace: Trace | None
    lines: bool = False
    ascii_only: bool = False

    @property
    def out(self) -> TextIO:
        """Where sentences go: standard error if standard output carries events."""
        return sys.stderr if self.events is sys.stdout else sys.stdout


@contextmanager
def sitting(
    options: Options,
    *,
    name: str | None,
    auto: bool,
    level: str,
    rounds: int | None,
    events: str | None,
    lines: bool = False,
    ascii_only: bool = False,
) -> Iterator[Seat]:
    """A seat on a prepared and locked data directory, with its log and the files asked for open.

    Asks for the name if there is none yet and somebody to ask. Raises ``UsageProblem`` and ``BadName``.
    """
    data = options.data
    data.prepare()
    with data.locked(), log_to(data.log), _events_file(events) as file, _trace(options.trace) as trace:
        chosen, is_stored = choose_name(data.settings, name, _ask_name if is_interactive() else None)
        if is_stored:
            click.echo(f"You are {chosen}. To change that: --name, or the file {data.settings}", err=True)
        yield Seat(data, chosen, auto, level, rounds, file, trace, lines, ascii_only)


@contextmanager
def _events_file(name: str | None) -> Iterator[TextIO | None]:
    if name is None or name == STANDARD_OUTPUT:
        yield None if name is None else sys.stdout
        return
    with open_for_appending(Path(name), "--events") as file:
        yield file


@contextmanager
def _trace(path: Path | None) -> Iterator[Trace | None]:
    trace = Trace(path) if path is not None else None
    try:
        yield trace
    finally:
        if trace is not None:
            trace.close()


def _ask_name(default: str) -> str:
    """Asks until the answer can be used."""
    from client.names import check_own_name
    from p2p.feeds.identity import BadName

    while True:
        answer: str = click.prompt("Your name at the table", default=default, err=True)
        try:
            return check_own_name(answer)
        except BadName as error:
            click.echo(told(error), err=True)


@asynccontextmanager
async def at_table(node: Node, seat: Seat) -> AsyncIterator[Node]:
    """Writes the events of ``node``, and ends it in order whatever happens.

    It leaves the table if no round of its own goes on. In mid-round it only says goodbye: who was stopped by
    accident can come back, and gives nothing up.
    """
    with _events_of(node, seat):
        try:
            yield node
        finally:
            if not node.gone.is_set() and not _is_playing(node):
                await node.leave()
            await node.close()


@contextmanager
def _events_of(node: Node, seat: Seat) -> Iterator[None]:
    from client.backlog import unhurried
    from client.events import EventWriter

    if seat.events is None:
        yield
        return
    with unhurried(seat.events) as file:
        writer = EventWriter(node, file)
        try:
            yield
        finally:
            writer.close()


def _is_playing(node: Node) -> bool:
    from p2p.rounds.phases import Phase

    round_ = node.snapshot.round
    over = (Phase.CLOSED, Phase.DEAD, Phase.REVEAL)
    return round_ is not None and round_.phase not in over and node.key in round_.roster


def _words_when_stopped(node: Node) -> str:
    """What a person who stops the program in whatever way should know of their seat."""
    round_ = node.snapshot.round
    if round_ is None or not _is_playing(node):
        return "Stopped; you have left the table."
    again = "play" if node.config.loopback else "join"
    return f"Stopped in the middle of round {round_.number}. Your seat is kept: shithead {again} plays on."


async def stay(
    node: Node,
    seat: Seat,
    *,
    rounds: int | None = None,
    until: asyncio.Task[None] | None = None,
    seat_bots: Callable[[int], Awaitable[None]] | None = None,
    is_back: bool = False,
) -> int:
    """Plays at ``node``'s table until somebody or something ends it; the exit code.

    ``rounds``: leave after so many finished ones; ``until``: a task whose end means that the table is done,
    which closes it for everybody; ``seat_bots``: what the command `bots K` does; ``is_back``: whether the person
    sat here before.
    """
    from client.bots import BotPlayer, Level
    from client.commands.screen import THINK_SEEN_S, make_screen, wants_screen
    from client.standing_in import StandIn

    full = wants_screen(seat, says=True)
    # The client is made below, and told only once it runs.
    standing_in = StandIn(node, lambda why: client.stood_in(why))  # noqa: PLW0108
    client: LineClient | ScreenClient
    if full:
        client = make_screen(node, seat, rounds, seat_bots, standing_in, is_back=is_back)
    else:
        client = _in_lines(node, seat, rounds, seat_bots, standing_in)
    playing = asyncio.create_task(client.run(), name="client")
    bot = BotPlayer(node, Level(seat.level), THINK_SEEN_S if full else 0.0, Random()) if seat.auto else None
    if bot is not None:
        bot.start()
    standing = asyncio.create_task(standing_in.run(), name="standing in") if bot is None else None
    stopped = ""
    try:
        code = await _first(node, seat, playing, until)
        if not node.gone.is_set() and _is_playing(node):
            stopped = _words_when_stopped(node)
        return code
    except asyncio.CancelledError:
        stopped = _words_when_stopped(node)
        raise
    finally:
        for task in filter(None, (playing, standing)):
            task.cancel()
        await asyncio.gather(*filter(None, (playing, standing)), return_exceptions=True)
        # Whoever reads our output may have been stopped by the same Ctrl-C, and the disk it goes to be full.
        # A window that was closed takes no words either (EIO).
        with contextlib.suppress(OSError):
            if client.last_words or stopped:
                click.echo(client.last_words or stopped, file=seat.out)
        if bot is not None:
            await bot.close()


def _in_lines(
    node: Node,
    seat: Seat,
    rounds: int | None,
    seat_bots: Callable[[int], Awaitable[None]] | None,
    standing_in: StandIn,
) -> LineClient:
    from client.lines import LineClient, StreamLines

    return LineClient(
        node,
        seat.out,
        StreamLines(sys.stdin),
        ascii_only=seat.ascii_only,
        auto=seat.auto,
        interactive=is_interactive(),
        rounds=rounds,
        seat_bots=seat_bots,
        standing_in=standing_in,
    )


async def _first(node: Node, seat: Seat, playing: asyncio.Task[int], until: asyncio.Task[None] | None) -> int:
    """Waits for the client or ``until``, whichever ends first."""
    from client.phrases import said
    from client.sentences import render

    await asyncio.wait([playing] if until is None else [playing, until], return_when=asyncio.FIRST_COMPLETED)
    if playing.done():
        return playing.result()
    if until is not None:
        until.result()
    playing.cancel()
    # A full screen has to be gone before anything is printed.
    await asyncio.gather(playing, return_exceptions=True)
    click.echo(render(said("rounds_done")), file=seat.out)
    with contextlib.suppress(ShitheadError):
        await node.close_table()
    return EXIT_NEGATIVE if any(score.kind == "faulted" for score in node.snapshot.score) else EXIT_GOOD

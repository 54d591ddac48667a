"""``shithead replay``: watch a saved round again, with everybody's cards."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from client.commands.common import Options, data_options
from client.commands.saved import LAST, find_round
from client.problems import EXIT_GOOD, UsageProblem
from client.texts import of_saved

if TYPE_CHECKING:
    from client.cards import Style
    from client.replay import Replay


@click.command("replay", short_help="Watch a saved round again.")
@data_options
@click.argument("file", default=LAST, metavar="[ROUND|FILE|last]")
@click.option("--eyes", metavar="NAME", help="From the eyes of this player (else: all cards open).")
@click.option("--lines", is_flag=True, help="Plain lines, for pipes and screen readers.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Letters for suits, nothing beyond ASCII.")
@click.pass_obj
def command(options: Options, file: str, eyes: str | None, lines: bool, ascii_only: bool) -> int:
    """Watch a round again: step, jump, let it play, from anybody's eyes or with all cards open."""
    from client.cards import style_for
    from client.commands.screen import can_fill, look_for
    from client.replay import load_replay
    from client.settings import load

    path = find_round(options.data, file)
    fills = can_fill() and not lines
    # Plain lines ask the terminal nothing: a screen reader might read the question out.
    style = (
        look_for(load(options.data.settings), ascii_only).style
        if fills
        else style_for(sys.stdout.encoding, ascii_only)
    )
    with _working():
        shown = load_replay(path, style=style)
    seat = _seat(shown, eyes)
    return _on_screen(shown, seat, ascii_only, options) if fills else _in_lines(shown, seat, style)


@contextmanager
def _working() -> Iterator[None]:
    """Says that the round is being opened, which takes seconds for ten players; wiped when it is."""
    is_seen = sys.stderr.isatty()
    if is_seen:
        click.echo(of_saved("opening") + "\r", nl=False, err=True)
    try:
        yield
    finally:
        if is_seen:
            click.echo("\033[K", nl=False, err=True)


def _seat(shown: Replay, eyes: str | None) -> int | None:
    if eyes is None:
        return None
    for seat, name in enumerate(shown.names):
        if name.casefold() == eyes.casefold():
            return seat
    raise UsageProblem(
        "no_such_player",
        "Nobody called {name} played that round. There were: {names}.",
        name=eyes,
        names=", ".join(shown.names),
    )


def _on_screen(shown: Replay, eyes: int | None, ascii_only: bool, options: Options) -> int:
    from client.commands.running import run
    from client.commands.screen import is_mono, look_for
    from client.settings import load
    from client.tui.replaying import ReplayApp

    look = look_for(load(options.data.settings), ascii_only)

    async def main() -> int:
        await ReplayApp(shown, look, eyes, is_mono=is_mono()).run()
        return EXIT_GOOD

    return run(main)


def _in_lines(shown: Replay, eyes: int | None, style: Style) -> int:
    from client.replay_lines import ReplayLines

    typed = sys.stdin if sys.stdin.isatty() else None
    ReplayLines(shown, eyes, style, click.echo).run(typed)
    return EXIT_GOOD

"""``shithead record``: text records of rounds and positions (docs/record.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click

from client.commands.common import Commands, Options, data_options, shown, told
from client.commands.saved import LAST
from client.problems import EXIT_GOOD, EXIT_NEGATIVE, EXIT_USAGE, UsageProblem

MAX_RECORD_BYTES: Final = 4 << 20
"""Of a record: a line a move, a hundred thousand of them."""

_FILE = click.Path(path_type=Path)


@click.group("record", cls=Commands)
def command() -> None:
    """Check, show or write text records of rounds and positions (.shr)."""


@command.command("export", short_help="Write a saved round as a record.")
@data_options
@click.argument("wanted", default="last", metavar="[ROUND|FILE|last]")
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Write there (a new file), not to the screen.")
@click.pass_obj
def export(options: Options, wanted: str, output: Path | None) -> int:
    """Write a saved round, played to its end, as a text record with all cards open."""
    text = _saved(options, wanted)
    if isinstance(text, int):
        return text
    if output is None:
        click.echo(text, nl=False)
        return EXIT_GOOD
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        click.echo(f"{shown(output)}: can't be written ({error.strerror or error}).", err=True)
        return EXIT_USAGE
    click.echo(f"Written to {shown(output)}.")
    return EXIT_GOOD


def _saved(options: Options, wanted: str) -> str | int:
    """A saved round as a text record; an exit code where it is none, which has been told."""
    from client.commands.saved import find_round
    from engine.record import write
    from p2p.rounds.export import NoRecord, record_of
    from p2p.rounds.roundfile import DamagedRound, NotARound, read

    path = find_round(options.data, wanted)
    try:
        return write(record_of(read(path), path.name))
    except (NoRecord, DamagedRound) as error:
        click.echo(told(error), err=True)
        return EXIT_NEGATIVE
    except NotARound as error:
        click.echo(told(error), err=True)
        return EXIT_USAGE


def _is_saved_round(path: Path) -> bool:
    """Whether a saved round is meant: ``last``, or a bare name without a dot, where there is no such file."""
    from p2p.files import is_there

    return str(path) == LAST or (path.name == str(path) and not path.suffix and not is_there(path))


@command.command("check", short_help="Play records by the rules: does all hold?")
@data_options
@click.argument("files", nargs=-1, required=True, type=_FILE, metavar="FILE|ROUND|last…")
@click.pass_obj
def check(options: Options, files: tuple[Path, ...]) -> int:
    """Play every FILE, or saved ROUND, by the rules; every move must be legal and every expectation hold."""
    return max(_check_one(options, path) for path in files)


def _check_one(options: Options, path: Path) -> int:
    from client.reading import read_small
    from engine.record import RecordError, UnreadableRecord, check_text, decode

    text = _saved(options, str(path)) if _is_saved_round(path) else None
    if isinstance(text, int):
        return text
    try:
        if text is None:
            text = decode(read_small(path, MAX_RECORD_BYTES))
        record = check_text(text, path.name)
    except RecordError as error:
        click.echo(f"{shown(path)}:{error.line}: {told(error)}")
        return EXIT_NEGATIVE
    except (UnreadableRecord, UsageProblem) as error:
        click.echo(f"{shown(path)}: {told(error)}", err=True)
        return EXIT_USAGE
    except OSError as error:
        click.echo(f"{shown(path)}: can't be read ({error.strerror or error}).", err=True)
        return EXIT_USAGE
    count = len(record.statements)
    click.echo(f"{shown(path)}: good, {count} statement{'' if count == 1 else 's'}")
    return EXIT_GOOD


@command.command("show", short_help="Print every position of a record.")
@data_options
@click.argument("file", type=_FILE, metavar="FILE|ROUND|last")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a move.")
@click.pass_obj
def show(options: Options, file: Path, as_json: bool) -> int:
    """Print the position after each move of FILE, or of a saved ROUND that was played to its end."""
    from client.reading import read_small
    from engine.record import RecordError, UnreadableRecord, as_dict, decode, draw, moments, read

    text = _saved(options, str(file)) if _is_saved_round(file) else None
    if isinstance(text, int):
        return text
    try:
        data = b"" if text is not None else read_small(file, MAX_RECORD_BYTES)
    except OSError as error:
        click.echo(f"{shown(file)}: can't be read ({error.strerror or error}).", err=True)
        return EXIT_USAGE
    try:
        record = read(decode(data) if text is None else text, file.name)
        for number, moment in enumerate(moments(record)):
            if as_json:
                click.echo(json.dumps(as_dict(record, moment), ensure_ascii=False))
            else:
                click.echo(("\n" if number else "") + draw(record, moment))
    except RecordError as error:
        click.echo(f"{shown(file)}:{error.line}: {told(error)}", err=True)
        return EXIT_NEGATIVE
    except (UnreadableRecord, UsageProblem) as error:
        click.echo(f"{shown(file)}: {told(error)}", err=True)
        return EXIT_USAGE
    return EXIT_GOOD

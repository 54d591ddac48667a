"""``shithead rounds``: the saved rounds, without judging them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from client.commands.common import Options, data_options, shown
from client.problems import EXIT_GOOD

if TYPE_CHECKING:
    from p2p.rounds.roundfile import RoundFile

STATES: Final[dict[str, str]] = {
    "finished": "finished",
    "stalled": "stopped at the limit of moves, nobody lost",
    "forfeit": "lost by who left, as always with two",
    "faulted": "ended by a fault",
    "unfinished": "stopped, counts for nobody",
    "damaged": "the file is damaged",
    "offer": "never begun: not everybody said yes",
    "keys": "left while the deal was prepared",
    "prepare": "left while the deal was prepared",
    "deal": "left while the cards were dealt",
    "arrange": "left while players arranged their cards",
    "start": "left before the first move",
    "play": "left in mid-round",
    "opening": "left in mid-round",
    "ending": "over, not everybody has signed the result",
    "reveal": "over, the seeds are not open",
    "other_version": "saved by another version of shithead",
    "dead": "ended by a fault before the first move",
}
"""What a file says of the round's end (a result, or else the phase it stopped in), for a person."""


@click.command("rounds")
@data_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a round.")
@click.pass_obj
def command(options: Options, as_json: bool) -> int:
    """The saved rounds, oldest first."""
    from p2p.rounds.roundfile import list_rounds

    paths = list_rounds(options.data.rounds)
    for path in paths:
        line = describe(path)
        click.echo(json.dumps(line, ensure_ascii=False) if as_json else _in_words(line))
    if not paths and not as_json:
        click.echo(f"No round is saved in {options.data.rounds} yet. Rounds are saved when they end.")
    return EXIT_GOOD


def _changed_at(path: Path) -> str:
    try:
        seconds = path.stat().st_mtime
    except OSError:  # removed in this moment
        seconds = 0.0
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def describe(path: Path) -> dict[str, object]:
    """What a round file says of itself: nothing here is checked, ``verify`` does that."""
    from p2p.rounds.roundfile import DamagedRound, NotARound, OtherVersion, read

    line: dict[str, object] = {"file": str(path), "name": path.stem}
    try:
        file = read(path)
    except OtherVersion:
        return {**line, "saved_at": _changed_at(path), "ending": "other_version", "players": []}
    except (NotARound, DamagedRound):
        return {**line, "saved_at": _changed_at(path), "ending": "damaged", "players": []}
    return {
        **line,
        "saved_at": file.head.saved_at,
        "round": file.head.round,
        "ending": file.head.ending,
        "players": _players(file),
        "left": _gone(file, owed=False),
        "gave_up": _gone(file, owed=True),
    }


def _gone(file: RoundFile, *, owed: bool) -> list[str]:
    """Who left the round before its end: naming what others owed, or not. Names, as far as the file says."""
    from p2p.feeds import entries as e

    start = next((entry.body for entry in file.entries if entry.id == file.head.contract), None)
    names = {key: name for key, name, _ in start.roster} if isinstance(start, e.Start) else {}
    return [
        names[entry.author]
        for entry in file.entries
        if isinstance(entry.body, e.Leave)
        and entry.body.contract == file.head.contract
        and bool(entry.body.owed) is owed
        and entry.author in names
    ]


def _players(file: RoundFile) -> list[str]:
    """Names of the round's roster, as its start has them."""
    from p2p.feeds import entries as e

    for entry in file.entries:
        if entry.id == file.head.contract and isinstance(entry.body, e.Start):
            return [name for _, name, _ in entry.body.roster]
    return []


def _in_words(line: dict[str, object]) -> str:
    names = ", ".join(_names(line["players"]))
    return f"{shown(line['name'])}  {names or 'players not known'}: {_ending(line)}"


def _names(names: object) -> list[str]:
    """Names out of a description, fit to be shown."""
    from client.cards import clean
    from client.names import shown_name

    return [shown_name(clean(str(name))) for name in names] if isinstance(names, list) else []


def _ending(line: dict[str, object]) -> str:
    """How it ended, with the names of those who ended it before its time."""
    from client.sentences import listed

    ending = str(line["ending"])
    left, gave_up = _names(line.get("left")), _names(line.get("gave_up"))
    match ending:
        case "forfeit" if left or gave_up:
            # Who gave it up for a debt that was none has left it.
            return f"{listed(left or gave_up)} left, and so lost"
        case "unfinished" if left:
            return f"stopped when {listed(left)} left, counts for nobody"
        case "unfinished" if gave_up:
            return f"given up by {listed(gave_up)}, counts for nobody"
        case _:
            return STATES.get(ending, ending)

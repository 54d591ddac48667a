"""``shithead rounds``: the saved rounds, without judging them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from client.commands.common import Options, data_options
from client.problems import EXIT_GOOD

if TYPE_CHECKING:
    from p2p.roundfile import RoundFile

STATES: Final[dict[str, str]] = {
    "finished": "finished",
    "stalled": "stopped at the limit of moves, nobody lost",
    "forfeit": "lost by somebody who left",
    "faulted": "ended by a fault",
    "unfinished": "given up, counts for nobody",
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
    from p2p.roundfile import list_rounds

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
    from p2p.roundfile import DamagedRound, NotARound, OtherVersion, read

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
    }


def _players(file: RoundFile) -> list[str]:
    """Names of the round's roster, as its start has them."""
    from p2p import entries as e

    for entry in file.entries:
        if entry.id == file.head.contract and isinstance(entry.body, e.Start):
            return [name for _, name, _ in entry.body.roster]
    return []


def _in_words(line: dict[str, object]) -> str:
    from client.cards import clean

    players = line["players"]
    names = ", ".join(clean(str(name)) for name in players) if isinstance(players, list) else ""
    ending = str(line["ending"])
    return f"{line['name']}  {names or 'players not known'}: {STATES.get(ending, ending)}"

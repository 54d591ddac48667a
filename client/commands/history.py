"""``shithead history``: who was the shithead how often, with whom, and the rounds themselves."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import TYPE_CHECKING, Final

import click

from client.commands.common import Options, data_options, shown
from client.problems import EXIT_GOOD, UsageProblem
from client.texts import of_saved

if TYPE_CHECKING:
    from client.history import Pair, PlayedRound, Standing

BAR_CELLS: Final = 30
"""The longest bar: all rounds a shithead."""

MAX_PAIRS: Final = 10
"""Pairs of players that are listed, those who met most often: as many as fit below the rest on one screen."""

NAME_CELLS: Final = 20


@click.command("history", short_help="Who was the shithead how often, and with whom.")
@data_options
@click.option("--rounds", "all_rounds", is_flag=True, help="Every round, one a line.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Every round as CSV, one a line.")
@click.pass_obj
def command(options: Options, all_rounds: bool, as_json: bool, as_csv: bool) -> int:
    """The rounds saved here, and what they add up to: a table and a bar chart.

    Of two players, who leaves has lost: that counts. Rounds of more that somebody left, or that were given up, do
    not; it is told who left them. Nor do such as hold the proof of a breach.
    """
    from client.history import CACHE_NAME, pairs, read_rounds, standings

    if as_json and as_csv:
        raise UsageProblem("one_form", "--json and --csv are two forms of the same: choose one.")
    data = options.data
    rounds = read_rounds(data.rounds, data.path / CACHE_NAME, _progress)
    if as_json:
        click.echo(json.dumps(as_object(rounds, standings(rounds), pairs(rounds)), ensure_ascii=False))
    elif as_csv:
        click.echo(as_table(rounds), nl=False)
    elif not rounds:
        click.echo(of_saved("none", path=str(data.rounds)))
    else:
        for line in _round_lines(rounds) if all_rounds else in_words(rounds, standings(rounds), pairs(rounds)):
            click.echo(line)
    return EXIT_GOOD


def _progress(done: int, count: int) -> None:
    if sys.stderr.isatty():
        end = "\r" if done + 1 < count else "\r\033[K"
        click.echo(of_saved("checking", done=done + 1, all=count) + end, nl=False, err=True)


def as_object(
    rounds: tuple[PlayedRound, ...], standings: tuple[Standing, ...], pairs: tuple[Pair, ...]
) -> dict[str, object]:
    """All of it for JSON."""
    return {
        "rounds": [
            {
                "file": each.file,
                "saved_at": each.saved_at,
                "round": each.round,
                "players": [{"name": name, "key": key, "bot": key in each.bots} for name, key in each.players],
                "finish": list(each.finish),
                "shithead": each.shithead,
                "ending": each.ending,
                "verdict": each.verdict,
                "moves": each.moves,
                "left": list(each.left),
                "missed": list(each.missed),
                "counts": each.counts,
            }
            for each in rounds
        ],
        "players": [
            {
                "name": each.name,
                "key": each.key,
                "bot": each.is_bot,
                "rounds": each.rounds,
                "shithead": each.shitheads,
                "first": each.firsts,
                "average_place": round(each.average_place, 3),
                "streak": each.streak,
                "longest_streak": each.longest,
                "longest_curse": each.cursed,
                "left": each.left,
                "missed": each.missed,
            }
            for each in standings
        ],
        "pairs": [
            {
                "players": [each.first, each.second],
                "rounds": each.rounds,
                "shithead": [each.first_shithead, each.second_shithead],
            }
            for each in pairs
        ],
    }


def as_table(rounds: tuple[PlayedRound, ...]) -> str:
    """The rounds as CSV with a heading (RFC 4180)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ["saved_at", "file", "round", "players", "finish", "shithead", "ending", "verdict", "moves", "left"]
    )
    for each in rounds:
        names = ";".join(_cell(name) for name, _ in each.players)
        finish = ";".join(_cell(name) for name in each.finish)
        last = _cell(each.shithead or "")
        left = ";".join(_cell(name) for name in each.left)
        row = [each.saved_at, each.file, each.round, names, finish, last, each.ending, each.verdict, each.moves]
        writer.writerow([*row, left])
    return out.getvalue()


def _cell(name: str) -> str:
    """A name that a spreadsheet takes for text, whatever it begins with."""
    return "'" + name if name[:1] in ("=", "+", "-", "@") else name


def _counted(saved: int, counted: int) -> str:
    if saved == 1:
        return of_saved("saved_one_counts" if counted else "saved_one_not")
    return of_saved(
        "saved_counts", count=saved, counted=counted, counted_verb="counts" if counted == 1 else "count"
    )


def in_words(
    rounds: tuple[PlayedRound, ...], standings: tuple[Standing, ...], pairs: tuple[Pair, ...]
) -> list[str]:
    """The table and the chart."""
    from client.names import shown_name
    from client.tui.cells import fit

    counted = sum(each.counts for each in rounds)
    lines = [_counted(len(rounds), counted), ""]
    if not any(each.rounds for each in standings):
        return lines[:1] + _gone_lines(standings)
    lines.append(fit(of_saved("name"), NAME_CELLS) + of_saved("columns"))
    for each in (each for each in standings if each.rounds):
        shown = shown_name(each.name)
        name = fit(of_saved("bot", name=shown) if each.is_bot else shown, NAME_CELLS)
        lines.append(
            f"{name} {each.rounds:>6}  {each.shitheads:>8}  {each.firsts:>5}  {each.average_place:>9.2f}"
            f"  {each.streak:>7}  {each.longest:>8}  {each.cursed:>9}"
        )
    lines += ["", of_saved("row_means"), "", of_saved("chart")]
    for each in (each for each in standings if each.rounds):
        bar = "#" * round(each.share * BAR_CELLS)
        lines.append(f"{fit(each.name, NAME_CELLS)} {bar:<{BAR_CELLS}} {each.share * 100:>3.0f} %")
    if pairs:
        lines += ["", of_saved("together")]
        for pair in pairs[:MAX_PAIRS]:
            names = f"{fit(pair.first, NAME_CELLS)} {fit(pair.second, NAME_CELLS)} "
            said = of_saved("pair", count=pair.rounds, first=pair.first_shithead, second=pair.second_shithead)
            # Figures below each other: the longest count that has a place here has four of them.
            lines.append(names + " " * (4 - len(str(pair.rounds))) + said)
    return lines + _gone_lines(standings)


def _gone_lines(standings: tuple[Standing, ...]) -> list[str]:
    """Who walked out of rounds, or was waited for in vain, and how often; nothing where nobody was."""
    from client.tui.cells import fit

    gone = [each for each in standings if each.left or each.missed]
    if not gone:
        return []
    lines = ["", of_saved("walked_out")]
    for each in sorted(gone, key=lambda each: (-each.left, -each.missed, each.name.casefold())):
        parts = [of_saved("left_count", count=each.left)] if each.left else []
        parts += [of_saved("missed_count", count=each.missed)] if each.missed else []
        lines.append(f"{fit(each.name, NAME_CELLS)} {', '.join(parts)}")
    return lines


def _round_lines(rounds: tuple[PlayedRound, ...]) -> list[str]:
    lines = []
    for each in rounds:
        places = [of_saved("place", number=number + 1, name=name) for number, name in enumerate(each.finish)]
        last = of_saved("last", name=each.shithead) if each.shithead is not None else each.ending
        gone = [of_saved("left_it", name=name) for name in each.left]
        gone += [of_saved("missed_it", name=name) for name in each.missed]
        lines.append(
            f"{shown(each.saved_at[:16]).replace('T', ' ')}  "
            f"{', '.join(part for part in (*places, last, *gone) if part)}"
        )
    return lines

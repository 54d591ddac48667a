"""``shithead verify``: the verdict on a saved round, in words or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import click

from client.commands.common import Options, data_options, shown
from client.commands.saved import LAST, find_round, known_keys
from client.fairness import STOPPED, how_far
from client.problems import EXIT_GOOD, EXIT_NEGATIVE

if TYPE_CHECKING:
    from p2p.rounds.audit import Verdict

HEADLINES: Final = {
    "fair": "FAIR: round {round} was played by the rules, with a deck that nobody could rig.",
    "cheating": "CHEATING: round {round} was not played by the rules.",
    "unproven": "UNPROVEN: round {round} is not complete here, so nothing can be said of its cards.",
    "damaged": "DAMAGED: this file is not what was saved.",
}

FORFEIT_HEADLINE: Final = (
    "UNPROVEN: round {round} was stopped before its end, so its cards stay closed. {left} left it; of two "
    "players, whoever leaves loses."
)
LEFT_HEADLINE: Final = "UNPROVEN: round {round} was stopped before its end: {left} left it. It counts for nobody."
GIVEN_UP_HEADLINE: Final = (
    "UNPROVEN: round {round} was given up by {gave_up} while it waited for {debtors}. It counts for nobody."
)
STOPPED_HEADLINE: Final = "UNPROVEN: round {round} was stopped before its end. It counts for nobody."

STRANGERS: Final = (
    "Fair for these keys. This machine has not met {names} before, so the file alone does not prove which "
    "people they were."
)


@click.command("verify", short_help="Was a saved round fair?")
@data_options
@click.argument("file", default=LAST, metavar="[FILE|last]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def command(options: Options, file: str, as_json: bool) -> int:
    """Was a saved round fair? FILE is a round file, or the beginning of the name of a saved round.

    Exit code 0: fair; 1: cheating, unproven or damaged; 2: not a round file.
    """
    from p2p.rounds.audit import verify_file

    path = find_round(options.data, file)
    verdict = verify_file(path)
    known = known_keys(options.data)
    if as_json:
        click.echo(json.dumps(as_object(verdict, known), ensure_ascii=False))
    else:
        click.echo(shown(path))
        for line in in_words(verdict, known):
            click.echo(line)
    return EXIT_GOOD if verdict.verdict == "fair" else EXIT_NEGATIVE


def as_object(verdict: Verdict, known: frozenset[bytes]) -> dict[str, object]:
    """The verdict as one JSON object; ``known`` are the identities that this machine has met."""
    from client.sentences import render

    return {
        "verdict": verdict.verdict,
        "round": verdict.round,
        "players": [
            {
                "name": player.name,
                "key": player.key.hex(),
                "seat": player.seat,
                "bot": player.bot,
                "known": player.key in known,
            }
            for player in verdict.players
        ],
        "finish": list(verdict.finish),
        "shithead": verdict.shithead,
        "ending": verdict.ending,
        "left": list(verdict.left),
        "gave_up": list(verdict.gave_up),
        "debtors": list(verdict.debtors),
        "faults": [
            {
                "player": fault.player,
                "code": fault.code,
                "entry": fault.entry,
                "sentence": render(fault.sentence),
            }
            for fault in verdict.faults
        ],
        "checks": dict(verdict.checks),
    }


def _headline(verdict: Verdict) -> str:
    """The verdict in one sentence; of a stopped round also who stopped it, and what that means."""
    from client.cards import clean
    from client.names import shown_name
    from client.sentences import listed

    left, gave_up, debtors = (
        listed([shown_name(clean(name)) for name in names])
        for names in (verdict.left, verdict.gave_up, verdict.debtors)
    )
    headline = HEADLINES[verdict.verdict]
    if verdict.verdict == "unproven" and verdict.ending in STOPPED:
        if verdict.ending == "forfeit" and left:
            headline = FORFEIT_HEADLINE
        elif gave_up and debtors:
            headline = GIVEN_UP_HEADLINE
        else:
            headline = LEFT_HEADLINE if left else STOPPED_HEADLINE
    return headline.format(round=verdict.round, left=left, gave_up=gave_up, debtors=debtors)


def in_words(verdict: Verdict, known: frozenset[bytes]) -> list[str]:
    """The verdict as lines for a person."""
    from client.cards import clean
    from client.names import shown_name
    from client.sentences import listed, render

    lines = [_headline(verdict)]
    lines += [f"  {render(fault.sentence)}  [{fault.code}, entry {fault.entry[:16]}]" for fault in verdict.faults]
    lines.append(f"  {render(how_far(verdict))}")
    lines += [f"  {render(note)}" for note in verdict.notes]
    if verdict.players:
        names = [shown_name(clean(player.name)) + (" (bot)" if player.bot else "") for player in verdict.players]
        lines.append(f"Players: {listed(names)}.")
    if verdict.finish:
        lines.append(f"Out, in this order: {listed([shown_name(clean(name)) for name in verdict.finish])}.")
    if verdict.shithead is not None:
        how = ", by leaving" if verdict.ending == "forfeit" else ""
        lines.append(f"The shithead is {shown_name(clean(verdict.shithead))}{how}.")
    checks = verdict.checks
    lines.append(
        "Checked: "
        + ", ".join(
            f"{count} {what if count != 1 else what.removesuffix('s').replace('entrie', 'entry')}"
            for what, count in checks.items()
        )
        + "."
    )
    strangers = [shown_name(clean(player.name)) for player in verdict.players if player.key not in known]
    if verdict.verdict == "fair" and strangers:
        lines.append(STRANGERS.format(names=listed(strangers, "or")))
    return lines

"""``shithead rules``: the rules in force, as people tell them."""

from __future__ import annotations

import contextlib
import json
import textwrap
from typing import TYPE_CHECKING, Final

import click

from client.commands.common import data_options, read_rules
from client.problems import EXIT_GOOD
from engine.errors import RuleError

if TYPE_CHECKING:
    from engine.rules import RuleSet


OPTION_WIDTH: Final = 79
"""Of the lines of ``--options``, in characters: the width of a terminal but for the last cell."""


@click.command("rules", short_help="The rules in force, in sentences.")
@data_options
@click.argument("name", default="wikipedia", metavar="[PRESET|FILE]")
@click.option("--set", "changes", multiple=True, metavar="OPTION=VALUE", help="Change one option; repeatable.")
@click.option(
    "--options",
    "by_name",
    is_flag=True,
    help="Every option: its value, as --set takes it, what it does and what it can be.",
)
@click.option("--json", "as_json", is_flag=True, help="Every option with its value, as one JSON object.")
def command(name: str, changes: tuple[str, ...], by_name: bool, as_json: bool) -> int:
    """The rules in force, as people tell them; * marks what differs from the usual ones.

    PRESET is one of wikipedia (the usual rules), wikipedia_old, pagat, backpacker, party, nordic; FILE a TOML
    file with house rules.
    """
    from client.lines.show import rules_lines
    from client.option_words import ABOUT, values_in_words
    from client.sentences import listed
    from engine.rules import MAX_PLAYERS, MIN_PLAYERS, changed_items, check_playable, to_items

    rules = read_rules(name, changes)
    if as_json:
        click.echo(json.dumps(dict(to_items(rules))))
        return EXIT_GOOD
    if by_name:
        changed = dict(changed_items(rules))
        width = max(len(option) for option, _ in to_items(rules))
        for option, value in to_items(rules):
            click.echo(f"{'*' if option in changed else ' '} {option:<{width}}  {value}".rstrip())
            about = f"{ABOUT[option]}: {values_in_words(option)}"
            for part in textwrap.wrap(about, OPTION_WIDTH, initial_indent="      ", subsequent_indent="      "):
                click.echo(part)
        return EXIT_GOOD
    # What can't be played is not explained as if it could.
    check_playable(rules, MIN_PLAYERS)
    for line in rules_lines(rules, 0):
        click.echo(line)
    fitting = playable_counts(rules)
    if len(fitting) < MAX_PLAYERS - MIN_PLAYERS + 1:
        click.echo(
            f"There are cards for {listed([str(count) for count in fitting], 'or')} players, and no other number."
        )
    return EXIT_GOOD


def playable_counts(rules: RuleSet) -> list[int]:
    """With how many players ``rules`` can be dealt (R6, R7); six may fit where five don't: they use more packs."""
    from engine.rules import MAX_PLAYERS, MIN_PLAYERS, check_playable

    fitting = []
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        with contextlib.suppress(RuleError):
            check_playable(rules, players)
            fitting.append(players)
    return fitting

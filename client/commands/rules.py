"""``shithead rules``: the rules in force, as people tell them."""

from __future__ import annotations

import json

import click

from client.commands.common import data_options, read_rules
from client.problems import EXIT_GOOD


@click.command("rules", short_help="The rules in force, in sentences.")
@data_options
@click.argument("name", default="wikipedia", metavar="[PRESET|FILE]")
@click.option("--set", "changes", multiple=True, metavar="OPTION=VALUE", help="Change one option; repeatable.")
@click.option("--options", "by_name", is_flag=True, help="Every option with its value, as --set takes it.")
@click.option("--json", "as_json", is_flag=True, help="Every option with its value, as one JSON object.")
def command(name: str, changes: tuple[str, ...], by_name: bool, as_json: bool) -> int:
    """The rules in force, as people tell them; * marks what differs from the usual ones.

    PRESET is one of wikipedia (the usual rules), wikipedia_old, pagat, backpacker, party, nordic; FILE a TOML
    file with house rules.
    """
    from client.lines.show import rules_lines
    from engine.rules import MIN_PLAYERS, changed_items, check_playable, to_items

    rules = read_rules(name, changes)
    if as_json:
        click.echo(json.dumps(dict(to_items(rules))))
        return EXIT_GOOD
    if by_name:
        changed = dict(changed_items(rules))
        width = max(len(option) for option, _ in to_items(rules))
        for option, value in to_items(rules):
            click.echo(f"{'*' if option in changed else ' '} {option:<{width}}  {value}".rstrip())
        return EXIT_GOOD
    # What can't be played is not explained as if it could.
    check_playable(rules, MIN_PLAYERS)
    for line in rules_lines(rules, 0):
        click.echo(line)
    return EXIT_GOOD

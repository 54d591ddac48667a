"""``shithead rules``: the options in force."""

from __future__ import annotations

import json

import click

from client.commands.common import data_options, read_rules
from client.problems import EXIT_GOOD


@click.command("rules", short_help="The options of a rule set.")
@data_options
@click.argument("name", default="wikipedia", metavar="[PRESET|FILE]")
@click.option("--set", "changes", multiple=True, metavar="OPTION=VALUE", help="Change one option; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(name: str, changes: tuple[str, ...], as_json: bool) -> int:
    """The options of a rule set, the ones that differ from the default marked."""
    from engine.rules import changed_items, to_items

    rules = read_rules(name, changes)
    if as_json:
        click.echo(json.dumps(dict(to_items(rules))))
        return EXIT_GOOD
    changed = dict(changed_items(rules))
    width = max(len(option) for option, _ in to_items(rules))
    for option, value in to_items(rules):
        click.echo(f"{'*' if option in changed else ' '} {option:<{width}}  {value}".rstrip())
    return EXIT_GOOD

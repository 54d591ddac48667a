"""``shithead where``."""

from __future__ import annotations

import json

import click

from client.commands.common import Options, data_options
from client.problems import EXIT_GOOD


@click.command("where")
@data_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def command(options: Options, as_json: bool) -> int:
    """Where data lie, and how to remove all of it."""
    data = options.data
    data.check_place()
    places = {
        "data": data.path,
        "identity": data.identity,
        "database": data.database,
        "rounds": data.rounds,
        "bots": data.bots,
        "settings": data.settings,
        "log": data.log,
    }
    if as_json:
        click.echo(json.dumps({name: str(path) for name, path in places.items()}))
        return EXIT_GOOD
    width = max(map(len, places))
    for name, path in places.items():
        click.echo(f"{name:<{width}}  {path}{'' if path.exists() else '  (not there yet)'}")
    click.echo()
    removal = data.removal()
    if not removal:
        click.echo("Nothing is kept anywhere yet, so there is nothing to remove.")
        return EXIT_GOOD
    click.echo("Nothing is kept anywhere else. This removes all of it, your identity too, and nothing of others:")
    for line in removal:
        click.echo(f"  {line}")
    return EXIT_GOOD

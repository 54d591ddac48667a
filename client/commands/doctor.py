"""``shithead doctor``: what is wrong with this network, and what to do about it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import click

from client.commands.common import data_options
from client.problems import EXIT_GOOD, EXIT_NEGATIVE, NoTable, UsageProblem

if TYPE_CHECKING:
    from p2p.network.addresses import Address


@click.command("doctor", short_help="What is wrong with this network, and what to do.")
@data_options
@click.option("--interface", "interfaces", multiple=True, metavar="NAME|ADDRESS", help="Only there; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.argument("where", required=False)
def command(where: str | None, interfaces: tuple[str, ...], as_json: bool) -> int:
    """What is wrong with this network, and what to do about it.

    WHERE, the address or the join words of a table that can't be reached, makes it sure: without it one side
    alone can be looked at. Nothing is sent beyond this network. Exit code 1 if something is wrong.
    """
    from client.checkup import as_object, facts, head, remedies, system
    from client.commands.logs import silence
    from p2p.network.checkup import Cause, diagnose, measure

    silence()
    found = asyncio.run(measure(_target(where, interfaces), only=interfaces))
    cause, on = diagnose(found), system()
    code = EXIT_GOOD if cause in (Cause.FINE, Cause.HERE, Cause.NOBODY) else EXIT_NEGATIVE
    if as_json:
        click.echo(json.dumps(as_object(found, cause, on), ensure_ascii=False))
        return code
    for line in facts(found):
        click.echo(f"  {line}")
    click.echo()
    click.echo(head(found, cause))
    for line in remedies(found, cause, on):
        click.echo(f"  {line}")
    return code


def _target(where: str | None, interfaces: tuple[str, ...]) -> Address | None:
    from p2p.network.addresses import is_literal, parse_address
    from p2p.network.interfaces import usable_interfaces
    from p2p.network.join_words import candidates, read_join_words

    if where is None:
        return None
    meant = read_join_words(where)
    if meant is None:
        if not is_literal(where):
            raise UsageProblem(
                "bad_where",
                "{text} is neither an address, such as 192.168.1.23 or 192.168.1.23:21053, nor the four words "
                "that the host's screen says.",
                text=where,
            )
        return parse_address(where)
    places = candidates(meant[0], meant[1], usable_interfaces(interfaces))
    if not places:
        raise NoTable("no_place", "These words fit no network of this machine.")
    return places[0]

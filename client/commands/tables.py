"""``shithead tables``: what can be joined on this network."""

from __future__ import annotations

import asyncio
import json
from typing import Final

import click

from client.commands.common import Seconds, data_options
from client.commands.finding import ADVICE, FoundTable, browsing, group
from client.problems import EXIT_GOOD, EXIT_REFUSED

DEFAULT_WAIT_S: Final = 3.0
"""Multicast DNS needs up to 1.2 s on one machine; a lost packet is repeated a second later."""


MIN_WAIT_S: Final = 0.1
"""Less is no time to hear anything."""

MAX_WAIT_S: Final = 600.0
"""Whoever wants to listen for longer asks again."""


@click.command("tables")
@data_options
@click.option(
    "--wait",
    "wait_s",
    type=Seconds(min=MIN_WAIT_S, max=MAX_WAIT_S),
    default=DEFAULT_WAIT_S,
    show_default=True,
    metavar="S",
    help="How many seconds to listen.",
)
@click.option("--interface", "interfaces", multiple=True, metavar="NAME|ADDRESS", help="Only there; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list.")
def command(wait_s: float, interfaces: tuple[str, ...], as_json: bool) -> int:
    """The tables on this network. Exit code 3 when there is none."""
    from client.commands.logs import silence

    silence()
    tables = asyncio.run(_listen(wait_s, interfaces))
    if as_json:
        click.echo(json.dumps([table.as_object() for table in tables], ensure_ascii=False))
    else:
        for table in tables:
            click.echo(table.in_words())
    if not tables:
        click.echo(ADVICE, err=True)
        return EXIT_REFUSED
    return EXIT_GOOD


async def _listen(wait_s: float, interfaces: tuple[str, ...]) -> list[FoundTable]:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    # A key of the moment: whoever only looks need not say who is looking.
    async with browsing(Ed25519PrivateKey.generate(), interfaces) as browser:
        await asyncio.sleep(wait_s)
        return group(browser.tables())

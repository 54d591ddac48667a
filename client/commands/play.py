"""``shithead play``: a table against bots on this machine; nothing leaves it."""

from __future__ import annotations

from typing import Final

import click

from client.commands.common import (
    MAX_BOTS,
    Options,
    WholeNumber,
    data_options,
    new_option,
    read_rules,
    rules_options,
    seat_options,
)
from client.commands.host import TablePlan, check_rules, open_table, own_table, return_to_table

DEFAULT_BOTS: Final = 3
"""Four at the table: what most people know the game with."""


@click.command("play")
@data_options
@seat_options
@rules_options
@click.option(
    "--bots",
    type=WholeNumber(1, MAX_BOTS),
    default=DEFAULT_BOTS,
    show_default=True,
    metavar="K",
    help="How many.",
)
@new_option
@click.pass_obj
def command(
    options: Options,
    bots: int,
    is_new: bool,
    rules_name: str,
    changes: tuple[str, ...],
    name: str | None,
    auto: bool,
    level: str,
    rounds: int | None,
    lines: bool,
    ascii_only: bool,
    events: str | None,
) -> int:
    """Play against bots on this machine. Nothing is announced on the network."""
    from client.commands.returning import take_seat_again
    from client.commands.running import run
    from client.commands.seat import sitting

    rules = read_rules(rules_name, changes)
    check_rules(rules, bots + 1)
    with sitting(
        options,
        name=name,
        auto=auto,
        level=level,
        rounds=rounds,
        events=events,
        lines=lines,
        ascii_only=ascii_only,
    ) as seat:
        plan = TablePlan(
            own_table(seat.name),
            rules,
            bots + 1,
            bots,
            starts_itself=True,
            goes_on=auto or rounds is not None,
            is_here_only=True,
        )
        if not is_new:
            code = take_seat_again(
                seat, is_here_only=True, name=None, sit=lambda table: return_to_table(seat, plan, table)
            )
            if code is not None:
                return code
        return run(lambda: open_table(seat, plan))

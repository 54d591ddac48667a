"""``shithead host``: open a table on this network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import click

from client.clocks import DEFAULT_GRACE_S
from client.commands.common import (
    MAX_BOTS,
    MAX_PORT,
    MAX_SEATS,
    MIN_SEATS,
    Options,
    WholeNumber,
    data_options,
    limit_options,
    new_option,
    read_rules,
    rules_options,
    search_option,
    seat_options,
)
from client.problems import UsageProblem

if TYPE_CHECKING:
    from client.commands.seat import Seat
    from client.seating import Bots
    from engine.rules import RuleSet
    from p2p.node.node import Node, NodeConfig
    from p2p.node.store import RememberedTable

DEFAULT_SEATS: Final = 5
"""One pack's worth (R6), where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A table to be opened. ``starts_itself``, ``goes_on``: see ``client.hosting.Policy``."""

    name: str
    rules: RuleSet
    seats: int
    bots: int
    is_open: bool = False
    starts_itself: bool = False
    goes_on: bool = False
    is_here_only: bool = False
    """Loopback: nothing of the table leaves this machine."""
    port: int | None = None
    interfaces: tuple[str, ...] = ()
    is_announced: bool = True
    searches: bool = False
    """Whether to ask every address of the own networks while the table is open."""
    limits: tuple[int, int, int] = (0, 0, DEFAULT_GRACE_S)
    """Seconds for a turn, for arranging, and the grace; see ``p2p.rounds.session.Session.offer``."""


@click.command("host", short_help="Open a table on this network.")
@data_options
@seat_options
@rules_options
@click.option("--table", "table_name", help="The table's name (else made of mine).")
@click.option("--bots", type=WholeNumber(0, MAX_BOTS), default=0, metavar="K", help="Seat K bots.")
@click.option(
    "--seats",
    type=WholeNumber(MIN_SEATS, MAX_SEATS),
    metavar="K",
    help="At most K players, and the first round starts by itself once K are seated.",
)
@click.option("--open", "is_open", is_flag=True, help="Let in whoever knocks, without asking me.")
@click.option("--port", type=WholeNumber(0, MAX_PORT), metavar="P", help="This UDP port and no other.")
@click.option("--interface", "interfaces", multiple=True, metavar="NAME|ADDRESS", help="Only there; repeatable.")
@click.option("--no-discovery", is_flag=True, help="Announce nothing: others join by address.")
@limit_options
@search_option
@new_option
@click.pass_obj
def command(
    options: Options,
    table_name: str | None,
    bots: int,
    seats: int | None,
    is_open: bool,
    port: int | None,
    interfaces: tuple[str, ...],
    no_discovery: bool,
    turn_s: int,
    arrange_s: int,
    grace_s: int,
    searches: bool,
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
    """Open a table on this network; others sit down with: shithead join."""
    from client.commands.returning import take_seat_again
    from client.commands.running import run
    from client.commands.seat import sitting

    rules = read_rules(rules_name, changes)
    if auto and seats is None:
        if not bots:
            raise UsageProblem(
                "auto_needs_seats", "With --auto say how many players to wait for: --seats K or --bots K."
            )
        seats = bots + 1
    if seats is not None and bots >= seats:
        raise UsageProblem(
            "too_many_bots",
            "{bots} bots and you do not fit on {seats} seats.",
            bots=bots,
            seats=seats,
        )
    check_rules(rules, seats or MIN_SEATS)
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
            table_name if table_name is not None else own_table(seat.name),
            rules,
            seats or max(DEFAULT_SEATS, bots + 1),
            bots,
            is_open=is_open,
            starts_itself=seats is not None,
            goes_on=auto or rounds is not None,
            port=port,
            interfaces=interfaces,
            is_announced=not no_discovery,
            searches=searches,
            limits=(turn_s, arrange_s, grace_s),
        )
        if not is_new:
            code = take_seat_again(
                seat, is_here_only=False, name=table_name, sit=lambda table: return_to_table(seat, plan, table)
            )
            if code is not None:
                return code
        return run(lambda: open_table(seat, plan))


def check_rules(rules: RuleSet, players: int) -> None:
    """Raises ``RuleError`` unless this version plays ``rules`` with so many players."""
    from engine.rules import check_playable

    check_playable(rules, players)


def own_table(name: str) -> str:
    """The table's name made of its host's: ``Ana's table``, or the bare name where that does not do."""
    from p2p.feeds.identity import BadName, check_table_name

    try:
        return check_table_name(f"{name}'s table")
    except BadName:
        # Too long, or another script than the English words.
        return check_table_name(name)


async def open_table(seat: Seat, plan: TablePlan) -> int:
    """Opens the table, seats its bots and plays until it is over; the exit code."""
    from p2p.node.node import Node

    node = await Node.open_table(_config(seat, plan), plan.name, seats=plan.seats, rules=plan.rules)
    return await hold_table(node, seat, plan)


async def return_to_table(seat: Seat, plan: TablePlan, table: RememberedTable) -> int:
    """Takes up a table where this person's program ended; the exit code."""
    from client.commands.returning import NobodyThere, wait_for_somebody
    from p2p.node.node import Node
    from p2p.node.remember import read_rules_text

    rules = read_rules_text(table.rules)
    node = await Node.return_to(_config(seat, plan), table.table, seats=table.seats, rules=rules)
    plan = replace(plan, seats=table.seats)
    playing = asyncio.create_task(hold_table(node, seat, plan, is_back=True), name="play on")
    waiting = asyncio.create_task(wait_for_somebody(node, seat), name="wait for somebody")
    try:
        await asyncio.wait((playing, waiting), return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            waiting.result()
        return await playing
    except NobodyThere:
        await node.close()
        raise
    finally:
        for task in (playing, waiting):
            task.cancel()
        await asyncio.gather(playing, waiting, return_exceptions=True)


def _config(seat: Seat, plan: TablePlan) -> NodeConfig:
    from p2p.node.node import NodeConfig

    return NodeConfig(
        seat.data.path,
        seat.name,
        auto=seat.auto,
        loopback=plan.is_here_only,
        port=0 if plan.is_here_only else plan.port,
        interfaces=plan.interfaces,
        discovery=plan.is_announced and not plan.is_here_only,
        search=plan.searches,
        turn_s=plan.limits[0],
        arrange_s=plan.limits[1],
        grace_s=plan.limits[2],
        always_consent=seat.auto,
        trace=seat.trace,
    )


async def hold_table(node: Node, seat: Seat, plan: TablePlan, *, is_back: bool = False) -> int:
    """Seats the bots and plays until the table is over; the exit code. ``is_back``: it stood before.

    Whoever opened a table closes it when its rounds are played. Everybody else's program does what a host's
    does only while this peer acts for the host.
    """
    from client.bots import THINK_S, Level
    from client.commands.seat import at_table, stay
    from client.hosting import Host, Policy
    from client.seating import Bots

    is_host = node.snapshot.host == node.key
    async with at_table(node, seat):
        if is_host and not plan.is_here_only:
            _say_words(node, seat)
        policy = Policy(
            plan.seats,
            plan.is_open,
            plan.starts_itself,
            plan.goes_on,
            _last_round(node, seat, is_host=is_host),
            voids=seat.auto,
        )
        host = Host(node, policy)
        bots = Bots(node, host, seat.data, Level(seat.level), THINK_S)
        hosting = asyncio.create_task(host.run(), name="host")
        try:
            there = len(await bots.seat_again()) if is_back else 0
            # Who comes back may have been stopped before all of the bots were seated.
            free = plan.seats - len(node.snapshot.players) if is_back else plan.bots
            await bots.seat(max(0, min(plan.bots - there, free)))
            return await stay(
                node,
                seat,
                rounds=None if is_host else seat.rounds,
                until=hosting if is_host else None,
                seat_bots=_seater(bots),
                is_back=is_back,
            )
        finally:
            hosting.cancel()
            await asyncio.gather(hosting, return_exceptions=True)
            await bots.close()


def _last_round(node: Node, seat: Seat, *, is_host: bool) -> int | None:
    """After how many finished rounds of the table no more are offered: a guest counts those that it plays."""
    from client.hosting import finished_rounds

    if seat.rounds is None or is_host:
        return seat.rounds
    return finished_rounds(node.snapshot) + seat.rounds


def _seater(bots: Bots) -> Callable[[int], Awaitable[None]]:
    async def seat(count: int) -> None:
        await bots.seat(count)

    return seat


def _say_words(node: Node, seat: Seat) -> None:
    """Says the join words of the first address that has some."""
    from p2p.network.addresses import parse_address
    from p2p.network.join_words import make_join_words

    for text in node.snapshot.addresses:
        words = make_join_words(parse_address(text), node.key)
        if words is not None:
            click.echo(f"Others sit down with: shithead join {words}", file=seat.out)
            return

"""``shithead join``: sit down at a table on this network."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from client.commands.common import (
    MAX_SEATS,
    Options,
    WholeNumber,
    data_options,
    is_interactive,
    new_option,
    search_option,
    seat_options,
    told,
)
from client.commands.finding import (
    ADVICE,
    PATIENCE_S,
    SETTLE_S,
    FoundTable,
    browsing,
    choose,
    group,
    look,
    looks_like_address,
    one_a_line,
)
from client.problems import NoTable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from client.commands.host import TablePlan
    from client.commands.seat import Seat
    from p2p.network.addresses import Address
    from p2p.network.discovery import Browser
    from p2p.node.node import Node

BUSY_TRIES: Final = 10
BUSY_PAUSE_S: Final = 0.5
"""Where strangers beset a table, who comes is told to try again: so often, and so far apart. One try in six was
turned away beside a flood of links."""

WORDS_S: Final = 3.0
"""A host that is there answers the first question in milliseconds; a lost one is repeated."""

ASK_AGAIN_S: Final = 0.5
"""Between two questions to one who does not answer: a lost datagram is not noticed as a delay."""


KNOCK_SAID_S: Final = 1.0
"""An open table's host lets in sooner; a person at the door takes longer."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where to knock: an address, and what is known of who should be there."""

    address: Address
    table_id: bytes = b""
    key: bytes | None = None
    seats: int | None = None


@click.command("join", short_help="Sit down at a table on this network.")
@data_options
@seat_options
@click.option("--interface", "interfaces", multiple=True, metavar="NAME|ADDRESS", help="Only there; repeatable.")
@search_option
@new_option
@click.argument("where", required=False)
@click.pass_obj
def command(
    options: Options,
    where: str | None,
    interfaces: tuple[str, ...],
    searches: bool,
    is_new: bool,
    name: str | None,
    auto: bool,
    level: str,
    rounds: int | None,
    lines: bool,
    ascii_only: bool,
    events: str | None,
) -> int:
    """Sit down at a table.

    WHERE is its address, its four join words, or its name, of which the beginning is enough. Without it: what
    there is on this network.
    """
    from client.commands.host import return_to_table
    from client.commands.returning import take_seat_again
    from client.commands.running import run
    from client.commands.screen import wants_screen
    from client.commands.seat import sitting
    from p2p.network.addresses import is_literal
    from p2p.network.join_words import read_join_words

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
        is_place = where is not None and (
            is_literal(where) or looks_like_address(where) or read_join_words(where) is not None
        )
        if not is_new and not is_place:
            code = take_seat_again(
                seat,
                is_here_only=False,
                name=where,
                sit=lambda table: return_to_table(seat, _guest_plan(seat, interfaces, searches), table),
            )
            if code is not None:
                return code
        plan = _guest_plan(seat, interfaces, searches)
        if where is None and wants_screen(seat):
            return run(lambda: _join_from_list(seat, plan))
        code, doors = _doors_at(seat, where, interfaces, searches=searches)
        if code or not doors:
            return code
        return run(lambda: _join(seat, doors, plan))


def _doors_at(
    seat: Seat, where: str | None, interfaces: tuple[str, ...], *, searches: bool
) -> tuple[int, list[Door]]:
    """An exit code and where to knock, by an address, join words or a name; without one by what there is."""
    from client.commands.running import run
    from p2p.network.addresses import is_literal, parse_address
    from p2p.network.join_words import read_join_words

    if where is not None and (is_literal(where) or looks_like_address(where)):
        return 0, [Door(parse_address(where))]
    if where is not None and read_join_words(where) is not None:
        doors: list[Door] = []
        return run(lambda: find_by_words(seat, where, interfaces, doors)), doors
    found: list[FoundTable] = []
    code = run(lambda: _find(seat, where, interfaces, found, searches=searches))
    if code or not found:
        return code, []
    return 0, doors_of(found[0] if where is not None or len(found) == 1 else _ask(found))


async def _join_from_list(seat: Seat, plan: TablePlan) -> int:
    """Sits down at what a person chooses from the live list, on the full screen; 0 if it was left."""
    from client.commands.choosing import choose_on_screen
    from client.commands.host import hold_table
    from client.commands.screen import is_mono, look_for
    from client.settings import load
    from client.tui.find import FindScreen

    look = look_for(load(seat.data.settings), seat.ascii_only)
    found = await choose_on_screen(
        seat, plan, lambda looking, go: FindScreen(looking, look, is_mono=is_mono(), go=go)
    )
    if found is None:
        return 0
    node, seat = found
    return await hold_table(node, seat, replace(plan, seats=node.seats))


async def _find(
    seat: Seat, wanted: str | None, interfaces: tuple[str, ...], found: list[FoundTable], *, searches: bool = False
) -> int:
    """Puts the tables that fit into ``found``, at least one. Raises ``NoTable``."""
    from client.commands.saved import known_addresses
    from p2p.feeds.identity import load_or_make_key

    key: Ed25519PrivateKey = load_or_make_key(seat.data.identity)
    async with browsing(key, interfaces, known_addresses(seat.data), sweeps=searches) as browser:
        if wanted is not None:
            found.append(await wait_for(browser, wanted))
            return 0
        tables = await _live(browser)
        while not tables:
            tables = await _live(browser)
        found.extend(tables)
    if len(found) > 1 and not is_interactive():
        raise one_a_line("There are several tables; say which:", found)
    return 0


async def find_by_words(seat: Seat, words: str, interfaces: tuple[str, ...], doors: list[Door]) -> int:
    """Puts the door that join words mean into ``doors``: whoever answers there with the right fingerprint.

    If nobody answers the question (a host that announces nothing does not), every address that fits is
    knocked at.
    """
    from p2p.feeds.identity import load_or_make_key
    from p2p.network.interfaces import usable_interfaces
    from p2p.network.join_words import candidates, fingerprint, read_join_words

    meant = read_join_words(words)
    if meant is None:
        raise NoTable("bad_words", "{words} are not join words.", words=words)
    low, port, wanted = meant
    addresses = candidates(low, port, usable_interfaces(interfaces))
    async with browsing(load_or_make_key(seat.data.identity), interfaces, addresses) as browser:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WORDS_S):
                while True:
                    for table in browser.tables():
                        if table.is_live and fingerprint(table.ad.key) == wanted:
                            doors.append(Door(table.addresses[0], table.ad.table_id, table.ad.key, table.ad.seats))
                            return 0
                    browser.ask(addresses)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(ASK_AGAIN_S):
                            await browser.changed.wait()
                            browser.changed.clear()
    doors.extend(Door(address) for address in addresses)
    if not doors:
        raise NoTable("no_address", "No network of this machine fits the words {words}.", words=words)
    return 0


async def _live(browser: Browser) -> list[FoundTable]:
    """The tables that answer; after a while without one, what may be wrong is said.

    In a terminal that list may be empty, to be asked for again; elsewhere ``NoTable`` is raised.
    """
    tables = await look(browser, PATIENCE_S)
    live = [table for table in tables if table.is_live]
    if live:
        return live
    problem = one_a_line(f"{ADVICE}\nAnnounced, but not answering:" if tables else ADVICE, tables)
    if not is_interactive():
        raise problem
    click.echo(f"{told(problem)}\nStill looking; Ctrl-C ends it.", err=True)
    return []


async def wait_for(browser: Browser, wanted: str) -> FoundTable:
    """The live table that fits ``wanted``; raises ``NoTable`` if none does after a while.

    A beginning of a name is taken only when others have had time to answer: it might fit them too.
    """
    from p2p.feeds.identity import fold_name

    started = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                await browser.changed.wait()
                browser.changed.clear()
                live = [table for table in group(browser.tables()) if table.is_live]
                if not live:
                    continue
                if any(fold_name(table.name) == fold_name(wanted.strip()) for table in live):
                    return choose(live, wanted)
                await asyncio.sleep(max(0.0, started + SETTLE_S - asyncio.get_running_loop().time()))
                live = [table for table in group(browser.tables()) if table.is_live]
                try:
                    return choose(live, wanted)
                except NoTable as error:
                    if error.code == "several_tables":
                        raise
    except TimeoutError:
        return choose(group(browser.tables()), wanted)


def _ask(tables: list[FoundTable]) -> FoundTable:
    for number, table in enumerate(tables, start=1):
        click.echo(f"{number:>3}  {table.in_words()}", err=True)
    number = click.prompt("Which one", type=WholeNumber(1, len(tables)), default=1, err=True)
    return tables[number - 1]


def doors_of(table: FoundTable) -> list[Door]:
    """Every address at which the table was seen, the host's word or not: any member knows the way."""
    doors = [
        Door(address, table.table_id, seen.ad.key, table.seats)
        for seen in table.peers
        for address in seen.addresses
    ]
    if not doors:
        raise NoTable(
            "no_address",
            "The table {name} is announced, but not at an address that can be reached. "
            "The host's screen shows its address; try: shithead join ADDRESS",
            name=table.name,
        )
    return doors


def _guest_plan(seat: Seat, interfaces: tuple[str, ...], searches: bool) -> TablePlan:
    """What this person's program does while it acts for a host who is away: a program lets everybody in."""
    from client.commands.host import TablePlan
    from engine.rules import RuleSet

    return TablePlan(
        "",
        RuleSet(),
        MAX_SEATS,
        0,
        is_open=seat.auto,
        goes_on=seat.auto or seat.rounds is not None,
        interfaces=interfaces,
        searches=searches,
    )


async def _join(seat: Seat, doors: list[Door], plan: TablePlan) -> int:
    from client.commands.host import hold_table

    node = await knock(seat, doors, plan, lambda said: click.echo(said, file=seat.out))
    return await hold_table(node, seat, replace(plan, seats=node.seats))


async def _when_not_busy(join: Callable[[], Awaitable[Node]]) -> Node:
    """Sits down, trying again while there are too many new links; raises what the last try came to."""
    from p2p.errors import NetworkProblem

    for _ in range(BUSY_TRIES - 1):
        try:
            return await join()
        except NetworkProblem as error:
            if error.code != "busy":
                raise
        await asyncio.sleep(BUSY_PAUSE_S)
    return await join()


class Waiting:
    """Says once that a door is not opened at once: at an open table there is nothing to wait for."""

    def __init__(self, say: Callable[[str], None], sentence: str) -> None:
        self._say = say
        self._sentence = sentence
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """The knock has been sent."""
        self.end()
        self._timer = asyncio.get_running_loop().call_later(KNOCK_SAID_S, self._say, self._sentence)

    def end(self) -> None:
        """It has been answered."""
        if self._timer is not None:
            self._timer.cancel()


async def knock(seat: Seat, doors: list[Door], plan: TablePlan, say: Callable[[str], None]) -> Node:
    """A node that has been let in at the first door that answers; raises what the last one said.

    ``say``: tells a person that the host is being asked; not where the door opens at once.
    """
    from p2p.errors import NetworkProblem
    from p2p.network.addresses import is_loopback, show_address
    from p2p.node.node import Node, NodeConfig

    for number, door in enumerate(doors):
        config = NodeConfig(
            seat.data.path,
            seat.name,
            interfaces=plan.interfaces,
            search=plan.searches,
            # A table found at a loopback address has its own host's announcement on this machine.
            discovery=not is_loopback(door.address),
            auto=seat.auto,
            always_consent=seat.auto,
            trace=seat.trace,
        )
        where = show_address(door.address)

        asked = Waiting(say, f"Knocked at {where}; the host decides who comes in.")
        try:
            join = partial(
                Node.join_table,
                *(config, door.address),
                table_id=door.table_id,
                expected=door.key,
                on_waiting=asked.begin,
            )
            node = await _when_not_busy(join)
            if door.seats is not None:
                node.seats = door.seats
            return node
        except NetworkProblem as error:
            # A wrong answer is an answer; only silence sends us to the next address.
            if error.code not in ("no_answer", "lost") or number == len(doors) - 1:
                raise
        finally:
            asked.end()
    raise NoTable("no_table", ADVICE)

"""Choosing a table from the live list, and sitting down at it without leaving the list before one has a seat."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from client.commands.finding import FoundTable, browsing, choose, group, looks_like_address
from client.names import check_own_name
from client.problems import NoTable

if TYPE_CHECKING:
    from client.commands.host import TablePlan
    from client.commands.join import Door
    from client.commands.seat import Seat
    from client.tui.find import FindScreen
    from p2p.network.discovery import Browser, SeenTable
    from p2p.node.node import Node


class Looking:
    """The tables that are seen, by a browser that is let go while a table is joined: the game wants its port.

    ``opened``: makes the browser.
    """

    def __init__(self, opened: Callable[[], AbstractAsyncContextManager[Browser]]) -> None:
        self.changed = asyncio.Event()
        self._opened = opened
        self._stack: AsyncExitStack | None = None
        self._browser: Browser | None = None
        self._last: tuple[SeenTable, ...] = ()

    @property
    def browser(self) -> Browser | None:
        """What looks now."""
        return self._browser

    def tables(self) -> Iterable[SeenTable]:
        """What is seen now, or was when it was last looked."""
        return self._last if self._browser is None else self._browser.tables()

    async def start(self) -> None:
        """Looks, from now on. Raises ``NetworkProblem`` as ``browsing``."""
        if self._browser is not None:
            return
        stack = AsyncExitStack()
        browser = await stack.enter_async_context(self._opened())
        # One event for whoever follows the list: it outlives the browser.
        browser.changed = self.changed
        self._stack, self._browser = stack, browser
        self.changed.set()

    async def stop(self) -> None:
        """Looks no more; the list stays as it is."""
        if self._browser is None or self._stack is None:
            return
        self._last = tuple(self._browser.tables())
        stack, self._stack, self._browser = self._stack, None, None
        await stack.aclose()


class Chooser:
    """Goes where a person wants, from the list: finds the table, knocks, and holds the seat.

    ``say``: shows what is done meanwhile. ``node`` and ``seat``: what came of it.
    """

    def __init__(self, seat: Seat, plan: TablePlan, looking: Looking, say: Callable[[str], None]) -> None:
        self.seat = seat
        self.node: Node | None = None
        self._plan = plan
        self._looking = looking
        self._say = say

    async def go(self, wanted: FoundTable | str, name: str | None) -> None:
        """Sits down at a table of the list, at an address, by join words or at a table of that name.

        ``name``: another name than before. Raises ``ShitheadError``, back at the list.
        """
        from client.commands.join import knock

        if name is not None:
            self.seat = replace(self.seat, name=check_own_name(name))
        try:
            doors = await self._doors(wanted)
            # A sweep goes out from the port that the game will have.
            await self._looking.stop()
            self.node = await knock(self.seat, doors, self._plan, self._say)
        except BaseException:
            await self._looking.start()
            raise

    async def _doors(self, wanted: FoundTable | str) -> list[Door]:
        from client.cards import clean
        from client.commands.join import Door, doors_of, find_by_words, wait_for
        from client.tui.phrases import text
        from p2p.network.addresses import is_literal, parse_address
        from p2p.network.join_words import read_join_words

        if isinstance(wanted, FoundTable):
            return doors_of(wanted)
        if is_literal(wanted) or looks_like_address(wanted):
            address = parse_address(wanted)
            self._say(text("find_trying", place=clean(wanted)))
            return [Door(address)]
        self._say(text("find_going", place=clean(wanted)))
        if read_join_words(wanted) is not None:
            await self._looking.stop()
            doors: list[Door] = []
            await find_by_words(self.seat, wanted, self._plan.interfaces, doors)
            return doors
        try:
            return doors_of(choose([table for table in group(self._looking.tables()) if table.is_live], wanted))
        except NoTable as problem:
            if problem.code != "no_such_table" or self._looking.browser is None:
                raise
        return doors_of(await wait_for(self._looking.browser, wanted))


async def choose_on_screen(
    seat: Seat,
    plan: TablePlan,
    make_screen: Callable[[Looking, Callable[[FoundTable | str, str | None], Awaitable[None]]], FindScreen],
) -> tuple[Node, Seat] | None:
    """A seat at the table that a person chose from the list, under the name that was free there.

    None if the list was left. ``make_screen``: the list, given what it shows and what a choice does.
    """
    from client.commands.saved import known_addresses
    from p2p.feeds.identity import load_or_make_key

    key = load_or_make_key(seat.data.identity)
    known = known_addresses(seat.data)
    looking = Looking(lambda: browsing(key, plan.interfaces, known, sweeps=plan.searches))
    screen: FindScreen
    # The screen is made below, and tells only once it runs.
    chooser = Chooser(seat, plan, looking, lambda said: screen.say(said))  # noqa: PLW0108
    screen = make_screen(looking, chooser.go)
    await looking.start()
    is_seated = False
    try:
        is_seated = await screen.run() is not None and chooser.node is not None
    finally:
        await looking.stop()
        if chooser.node is not None and not is_seated:
            # Ctrl-C at the very moment in which the door was opened.
            await chooser.node.leave()
    return (chooser.node, chooser.seat) if is_seated and chooser.node is not None else None

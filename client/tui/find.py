"""Finding a table: a live list of what answers on this network, and a line to type where one is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from client.commands.finding import PATIENCE_S, FoundTable, group
from client.sentences import render_error
from client.tui.cells import Row, Span, cut, filled, fit, line, row, wrap
from client.tui.phrases import text
from client.tui.state import Look
from client.tui.terminal import Terminal
from engine.errors import ShitheadError
from p2p.feeds.identity import BadName

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from p2p.network.discovery import SeenTable

MAX_TYPED_CHARACTERS: Final = 100
"""Of an address or table words: the longest have some fifty."""

MAX_NUMBER_DIGITS: Final = 3
"""Of a table's number in the list; more tables are on no network."""

MESSAGE_ROWS: Final = 3
"""For why a table can't be joined: the longest sentences of the network fit at 60 columns."""

WHERE_WIDTH: Final = 100
"""From this width on the addresses are shown as well."""


class Tables(Protocol):
    """What this needs of ``p2p.network.discovery.Browser``."""

    changed: asyncio.Event

    def tables(self) -> Iterable[SeenTable]:
        """What is seen now."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    """What the screen shows. ``typed``: what has been typed, None while nothing is; ``row``: the line chosen;
    ``is_late``: whether nothing has been found for so long that the likeliest causes should be said.
    """

    tables: tuple[FoundTable, ...] = ()
    typed: str | None = None
    row: int = 0
    is_late: bool = False
    is_help: bool = False
    message: str = ""
    asks_name: bool = False
    """Whether what is typed is a name for me: mine is taken at the table that was chosen."""
    busy: str = ""
    """What is being done; keys wait till it is."""


def find_rows(shown: Finding, look: Look, width: int, height: int) -> list[Row]:
    """The screen of the list (pure)."""
    style = look.style
    top = [row(width, Span(" SHITHEAD  " + text("find_title", style), "title")), line(width)]
    top[0] = (*top[0][:-1], Span(top[0][-1].text, "title"))
    name_room = max(14, width - 48 - (22 if width >= WHERE_WIDTH else 0))
    head = f"    {text('find_table', style):<{name_room}} {text('find_players', style):<9}"
    body: list[Row] = []
    if shown.tables:
        body.append(
            row(width, Span(head + f"{text('find_rules', style):<14}{text('find_state', style)}", "label"))
        )
    for number, table in enumerate(shown.tables):
        body.append(_table_row(number, table, shown, look, width, name_room))
    if not shown.tables:
        body += [row(width), row(width, Span("  " + text("find_looking", style), "wait"))]
    if shown.is_late and not any(table.is_live for table in shown.tables):
        body.append(row(width))
        for code in ("find_late", "find_late_1", "find_late_2", "find_late_3"):
            indent = "  " if code == "find_late" else "   - "
            for index, part in enumerate(wrap(text(code, style), width - 6)):
                body.append(row(width, Span((indent if index == 0 else "     ") + part, "hint")))
    body += [row(width), *_typed_rows(shown, look, width)]
    if shown.is_help:
        codes = ("find_help_1", "find_help_2", "find_help_3", "find_help_4")
        parts = [part for code in codes for part in wrap(text(code, style), width - 4)]
        body = [row(width, Span("  " + part, "hint")) for part in parts]
    foot = text("find_keys_typing" if shown.typed is not None else "find_keys", style)
    if shown.busy:
        foot = text("find_keys_busy", style)
    said, look_of = (shown.busy, "wait") if shown.busy else (shown.message, "warning")
    parts = wrap(said, width - 2)[:MESSAGE_ROWS] if said else [""]
    bottom = [
        *(row(width, Span(" " + part, look_of)) for part in parts),
        line(width),
        row(width, Span(" " + foot, "footer")),
    ]
    return [*top, *filled(body, height - len(top) - len(bottom), width), *bottom]


def _table_row(number: int, table: FoundTable, shown: Finding, look: Look, width: int, room: int) -> Row:
    style = look.style
    chosen = number == shown.row and shown.typed is None
    usable = table.is_compatible and table.is_live
    state = table.state
    if not table.is_compatible:
        state = text("find_version", style)
    elif not table.is_live:
        state = text("find_gone", style)
    elif table.milliseconds is not None:
        state += f"  {table.milliseconds:.0f} ms"
    where = ""
    if width >= WHERE_WIDTH and table.address is not None:
        from p2p.network.addresses import show_address

        where = show_address(table.address)
    name = "turn" if chosen else "name" if usable else "dim"
    return row(
        width,
        Span(f" {'>' if chosen else ' '}{number + 1:>2} ", "key", f"table:{number}"),
        Span(fit(table.name, room) + " ", name, f"table:{number}"),
        Span(fit(f"{table.players} of {table.seats}", 9), "text" if usable else "dim"),
        Span(fit(table.rules, 14), "text" if usable else "dim"),
        Span(cut(state, 22) + " ", "text" if usable else "dim"),
        Span(where, "dim"),
    )


def _typed_rows(shown: Finding, look: Look, width: int) -> list[Row]:
    style = look.style
    if shown.typed is None:
        return [row(width, Span("  " + text("find_type", style), "dim", "type"))]
    prompt = text("find_name" if shown.asks_name else "find_where", style)
    return [row(width, Span(f"  {prompt} {shown.typed[-(width - 20) :]}", "typing"), Span("_", "cursor"))]


def press_find(key: str, shown: Finding, look: Look) -> tuple[Finding, FoundTable | str | None]:
    """What a key leads to: another state, and the table that was chosen or what was typed."""
    was_help, shown = shown.is_help, replace(shown, message="", is_help=False)
    if shown.typed is not None:
        return _press_typing(key, shown, look)
    count = len(shown.tables)
    match key:
        case "up" | "down":
            step = -1 if key == "up" else 1
            return (replace(shown, row=(shown.row + step) % count) if count else shown), None
        case "enter" if count:
            return _chosen(shown, shown.row, look)
        case _ if key.startswith("table:"):
            return _chosen(shown, int(key.partition(":")[2]), look)
        case "?" if not was_help:
            return replace(shown, is_help=True), None
        case _ if was_help and (len(key) == 1 or key == "escape"):
            # Any key leads back; what it means else, it means there.
            return shown, None
        case "type":
            return replace(shown, typed=""), None
        case _ if len(key) == 1 and not key.isspace():
            return replace(shown, typed=key), None
        case _:
            return shown, None


def _chosen(shown: Finding, number: int, look: Look) -> tuple[Finding, FoundTable | None]:
    table = shown.tables[number % len(shown.tables)]
    shown = replace(shown, row=number % len(shown.tables))
    if not table.is_compatible:
        return replace(shown, message=text("find_version_long", look.style)), None
    if not table.is_live:
        return replace(shown, message=text("find_gone_long", look.style)), None
    return shown, table


def _press_typing(key: str, shown: Finding, look: Look) -> tuple[Finding, FoundTable | str | None]:
    typed = shown.typed or ""
    number = int(typed) if typed.isascii() and typed.isdigit() and len(typed) <= MAX_NUMBER_DIGITS else 0
    match key:
        case "enter" if 1 <= number <= len(shown.tables) and not shown.asks_name:
            # Not at once: an address begins with a digit too.
            return _chosen(replace(shown, typed=None), number - 1, look)
        case "enter":
            return shown, typed.strip() or None
        case "escape":
            return replace(shown, typed=None, asks_name=False), None
        case "backspace" if typed or shown.asks_name:
            return replace(shown, typed=typed[:-1]), None
        case "backspace":
            return replace(shown, typed=None), None
        case _ if len(key) == 1:
            return replace(shown, typed=(typed + key)[:MAX_TYPED_CHARACTERS]), None
        case _:
            return shown, None


class FindScreen:
    """The list on a terminal, live. ``run`` returns the table chosen, what was typed, or None for neither.

    ``go``: sits down there, under another name where one is given; the list stays on the screen until it has, and
    says what it raised. Without it the choice itself ends the list.
    """

    def __init__(
        self,
        browser: Tables,
        look: Look,
        *,
        is_mono: bool = False,
        go: Callable[[FoundTable | str, str | None], Awaitable[None]] | None = None,
        input: Input | None = None,  # noqa: A002 - the toolkit's word
        output: Output | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._browser = browser
        self._look = look
        self._clock = clock
        self._started = clock()
        self._shown = Finding()
        self._answer: FoundTable | str | None = None
        self._go = go
        self._going: asyncio.Task[None] | None = None
        self._wanted: FoundTable | str = ""
        self._failure: Exception | None = None
        self.terminal = Terminal(self, is_mono=is_mono, input=input, output=output)

    @property
    def theme(self) -> str:
        """The name of the colours."""
        return self._look.theme

    @property
    def has_mouse(self) -> bool:
        """Whether clicks are wanted."""
        return self._look.mouse

    @property
    def title(self) -> str:
        """The window's title stays as it is."""
        return ""

    def rows(self, width: int, height: int) -> list[Row]:
        """The screen at that size."""
        return find_rows(self._shown, self._look, width, height)

    def key(self, key: str) -> None:
        """A key was pressed, or something clicked."""
        if key == "ctrl-c":
            self.terminal.stop()
            return
        if self._going is not None:
            # Whatever else is pressed meanwhile was not meant for what comes next.
            if key == "escape":
                self._going.cancel()
            return
        before = self._shown
        self._shown, answer = press_find(key, before, self._look)
        if answer is None:
            return
        if self._go is None:
            self._answer = answer
            self.terminal.stop()
            return
        name = answer if before.asks_name and isinstance(answer, str) else None
        self._wanted = self._wanted if name is not None else answer
        self._begin(self._go, name)

    def paste(self, pasted: str) -> None:
        """Pasted text is an address, or words that somebody sent."""
        if self._going is not None:
            return
        typed = (self._shown.typed or "") + " ".join(pasted.split())
        self._shown = replace(self._shown, typed=typed[:MAX_TYPED_CHARACTERS])

    async def run(self) -> FoundTable | str | None:
        """Shows the list until something is chosen."""
        watching = asyncio.create_task(self._follow(), name="tables")
        late = asyncio.get_running_loop().call_later(PATIENCE_S, self._be_late)
        try:
            await self.terminal.run()
        finally:
            late.cancel()
            tasks = [watching] if self._going is None else [watching, self._going]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._failure is not None:
            raise self._failure
        return self._answer

    def say(self, said: str) -> None:
        """Shows what is being done."""
        self._shown = replace(self._shown, busy=said)
        self.terminal.refresh()

    def _begin(self, go: Callable[[FoundTable | str, str | None], Awaitable[None]], name: str | None) -> None:
        place = self._wanted if isinstance(self._wanted, str) else self._wanted.name
        self.say(text("find_trying", self._look.style, place=place))
        self._going = asyncio.create_task(self._attempt(go, name), name="joining")

    async def _attempt(
        self, go: Callable[[FoundTable | str, str | None], Awaitable[None]], name: str | None
    ) -> None:
        """Goes there; the list says why not, or has done its part."""
        try:
            await go(self._wanted, name)
        except asyncio.CancelledError:
            self._back("", asks_name=False)
        except ShitheadError as error:
            if error.code == "name_taken":
                taken = str(error.sentence.values.get("name", ""))
                self._back(text("find_name_taken", self._look.style, name=taken), asks_name=True)
            else:
                said = " ".join(render_error(error, style=self._look.style)).partition("\n")[0]
                self._back(said, asks_name=name is not None and isinstance(error, BadName))
        except Exception as error:
            self._failure = error
            self.terminal.stop()
        else:
            self._answer = self._wanted
            self.terminal.stop()

    def _back(self, said: str, *, asks_name: bool) -> None:
        self._going = None
        typed = "" if asks_name else None
        self._shown = replace(self._shown, busy="", message=said, asks_name=asks_name, typed=typed)
        self.terminal.refresh()

    def _be_late(self) -> None:
        self._shown = replace(self._shown, is_late=True)
        self.terminal.refresh()

    async def _follow(self) -> None:
        while True:
            self._take(group(self._browser.tables()))
            await self._browser.changed.wait()
            self._browser.changed.clear()

    def _take(self, tables: list[FoundTable]) -> None:
        """The new list; the chosen line stays with its table."""
        before = self._shown
        marked = before.tables[before.row].table_id if before.tables else None
        rows = [number for number, table in enumerate(tables) if table.table_id == marked]
        self._shown = replace(before, tables=tuple(tables), row=rows[0] if rows else 0)
        if self._shown != before:
            self.terminal.refresh()

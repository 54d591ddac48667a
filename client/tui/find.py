"""Finding a table: a live list of what answers on this network, and a line to type where one is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from client.commands.finding import PATIENCE_S, FoundTable, group
from client.tui.cells import Row, Span, cut, filled, fit, line, row, wrap
from client.tui.phrases import text
from client.tui.state import Look
from client.tui.terminal import Terminal

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from p2p.discovery import SeenTable

MAX_TYPED_CHARACTERS: Final = 100
"""Of an address or table words: the longest have some fifty."""

WHERE_WIDTH: Final = 100
"""From this width on the addresses are shown as well."""


class Tables(Protocol):
    """What this needs of ``p2p.discovery.Browser``."""

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
    bottom = [
        row(width, Span(" " + cut(shown.message, width - 2), "warning")),
        line(width),
        row(width, Span(" " + foot, "footer")),
    ]
    return [*top, *filled(body, height - len(top) - len(bottom), width), *bottom]


def _table_row(number: int, table: FoundTable, shown: Finding, look: Look, width: int, room: int) -> Row:
    style = look.style
    chosen = number == shown.row and shown.typed is None
    usable = table.is_compatible and table.is_live
    state = table.phase
    if not table.is_compatible:
        state = text("find_version", style)
    elif not table.is_live:
        state = text("find_gone", style)
    elif table.milliseconds is not None:
        state += f"  {table.milliseconds:.0f} ms"
    where = ""
    if width >= WHERE_WIDTH and table.address is not None:
        from p2p.addresses import show_address

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
    prompt = text("find_where", style)
    return [row(width, Span(f"  {prompt} {shown.typed[-(width - 20) :]}", "typing"), Span("_", "cursor"))]


def press_find(key: str, shown: Finding, look: Look) -> tuple[Finding, FoundTable | str | None]:
    """What a key leads to: another state, and the table that was chosen or what was typed."""
    was_help, shown = shown.is_help, replace(shown, message="", is_help=False)
    if shown.typed is not None:
        return _press_typing(key, shown)
    count = len(shown.tables)
    match key:
        case "up" | "down":
            step = -1 if key == "up" else 1
            return (replace(shown, row=(shown.row + step) % count) if count else shown), None
        case "enter" if count:
            return _chosen(shown, shown.row, look)
        case _ if key.startswith("table:"):
            return _chosen(shown, int(key.partition(":")[2]), look)
        case _ if len(key) == 1 and key.isdigit() and 1 <= int(key) <= count:
            return _chosen(shown, int(key) - 1, look)
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


def _press_typing(key: str, shown: Finding) -> tuple[Finding, str | None]:
    typed = shown.typed or ""
    match key:
        case "enter":
            return shown, typed.strip() or None
        case "escape":
            return replace(shown, typed=None), None
        case "backspace":
            return replace(shown, typed=typed[:-1] if typed else None), None
        case _ if len(key) == 1:
            return replace(shown, typed=(typed + key)[:MAX_TYPED_CHARACTERS]), None
        case _:
            return shown, None


class FindScreen:
    """The list on a terminal, live. ``run`` returns the table chosen, what was typed, or None for neither.

    ``message``: what is said first, until a key is pressed.
    """

    def __init__(
        self,
        browser: Tables,
        look: Look,
        *,
        is_mono: bool = False,
        message: str = "",
        input: Input | None = None,  # noqa: A002 - the toolkit's word
        output: Output | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._browser = browser
        self._look = look
        self._clock = clock
        self._started = clock()
        self._shown = Finding(message=message)
        self._answer: FoundTable | str | None = None
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
        self._shown, answer = press_find(key, self._shown, self._look)
        if answer is not None:
            self._answer = answer
            self.terminal.stop()

    def paste(self, pasted: str) -> None:
        """Pasted text is an address, or words that somebody sent."""
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
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        return self._answer

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

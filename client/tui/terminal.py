"""The toolkit's part: one window of rows, keys by name, clicks; the only module that knows prompt_toolkit."""

from __future__ import annotations

import re
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final, Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.bindings.mouse import load_mouse_bindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import UIContent, UIControl
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import DynamicStyle

from client.tui.cells import Row
from client.tui.restoring import restored
from client.tui.styles import classes, style_of

if TYPE_CHECKING:
    from prompt_toolkit.key_binding.key_bindings import NotImplementedOrNone

ESCAPE_S: Final = 0.05
"""How long a lone Esc might still be the beginning of an arrow key; the toolkit's half second feels broken."""

REDRAW_S: Final = 0.02
"""At most fifty screens a second, whatever happens at the table."""

NAMED: Final = {
    "enter": "enter",
    "escape": "escape",
    "up": "up",
    "down": "down",
    "left": "left",
    "right": "right",
    "pageup": "pageup",
    "pagedown": "pagedown",
    "home": "home",
    "end": "end",
    "backspace": "backspace",
    "delete": "backspace",
    "tab": "tab",
    "c-c": "ctrl-c",
    "c-d": "ctrl-c",
    "c-q": "ctrl-c",
    "f1": "?",
}
"""The toolkit's name → ours."""

_OTHER: Final = re.compile(r"c-([a-z])|f[0-9]{1,2}|insert|s-tab")
"""Names of the toolkit for keys that a person may press and that mean nothing here."""

_OTHER_NAMES: Final = {"s-tab": "tab"}


class Screenful(Protocol):
    """What fills a terminal: rows for a size, and what keys do."""

    @property
    def theme(self) -> str:
        """The name of the colours."""
        ...

    @property
    def has_mouse(self) -> bool:
        """Whether clicks are wanted."""
        ...

    @property
    def title(self) -> str:
        """What the window is called, empty for no change."""
        ...

    def rows(self, width: int, height: int) -> list[Row]:
        """The screen at that size."""
        ...

    def key(self, key: str) -> None:
        """A key was pressed, or something clicked."""
        ...

    def paste(self, pasted: str) -> None:
        """Text was pasted."""
        ...


class Terminal:
    """Shows a `Screenful` on the whole terminal until :meth:`stop`, and restores it on every way out.

    ``is_mono``: no colours whatever the theme. ``input`` and ``output``: the process's own by default.
    """

    def __init__(
        self,
        screenful: Screenful,
        *,
        is_mono: bool = False,
        input: Input | None = None,  # noqa: A002 - the toolkit's word
        output: Output | None = None,
    ) -> None:
        self._screenful = screenful
        self._failure: BaseException | None = None
        self._title = ""
        self._is_own = input is None and output is None
        self.app: Application[None] = Application(
            layout=Layout(Window(_Control(self), wrap_lines=False, always_hide_cursor=True)),
            key_bindings=self._bindings(),
            full_screen=True,
            mouse_support=Condition(lambda: screenful.has_mouse),
            style=DynamicStyle(lambda: style_of("mono" if is_mono else screenful.theme)),
            color_depth=ColorDepth.DEPTH_1_BIT if is_mono else None,
            min_redraw_interval=REDRAW_S,
            input=input,
            output=output,
        )
        self.app.ttimeoutlen = ESCAPE_S
        self.app.timeoutlen = ESCAPE_S

    async def run(self) -> None:
        """Shows the screen until :meth:`stop`. Raises what drawing or a key raised, terminal restored."""
        # The toolkit's own handler of exceptions would put a prompt over the table.
        with restored() if self._is_own else nullcontext():
            await self.app.run_async(set_exception_handler=False, handle_sigint=False)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Ends :meth:`run`."""
        if self.app.is_running and self.app.future is not None and not self.app.future.done():
            self.app.exit()

    def refresh(self) -> None:
        """Something has changed: the screen is drawn again soon."""
        self.app.invalidate()
        title = self._screenful.title
        if title != self._title and self.app.is_running:
            self._title = title
            self.app.output.set_title(title)

    def bell(self) -> None:
        """The terminal's bell."""
        if self.app.is_running:
            self.app.output.bell()
            self.app.output.flush()

    def draw(self, width: int, height: int) -> list[Row]:
        """The rows, or none after a failure, which ends the program in order."""
        try:
            return self._screenful.rows(width, height)
        except Exception as error:
            self._fail(error)
            return []

    def press(self, key: str) -> None:
        """Passes a key or a click on."""
        try:
            self._screenful.key(key)
        except Exception as error:
            self._fail(error)
        self.refresh()

    def press_other(self, name: str) -> None:
        """Passes on a key of no character and no meaning, by the toolkit's name, so that it can be answered."""
        match = _OTHER.fullmatch(name)
        if match is not None:
            self.press(f"ctrl-{match[1]}" if match[1] else _OTHER_NAMES.get(name, name))

    def _fail(self, error: Exception) -> None:
        self._failure = self._failure or error
        self.stop()

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        for name, ours in NAMED.items():

            def named(event: KeyPressEvent, ours: str = ours) -> None:
                self.press(ours)

            bindings.add(name, eager=name != "escape")(named)

        @bindings.add("<any>")
        def any_key(event: KeyPressEvent) -> None:
            data = event.data
            if len(data) == 1 and data.isprintable():
                self.press(data)
            else:
                key = event.key_sequence[-1].key
                self.press_other(key.value if isinstance(key, Keys) else key)

        @bindings.add("<bracketed-paste>", eager=True)
        def pasted(event: KeyPressEvent) -> None:
            try:
                self._screenful.paste(event.data)
            except Exception as error:
                self._fail(error)
            self.refresh()

        (by_toolkit,) = load_mouse_bindings().get_bindings_for_keys((Keys.Vt100MouseEvent,))

        @bindings.add(Keys.Vt100MouseEvent, eager=True)
        def moused(event: KeyPressEvent) -> NotImplementedOrNone:
            # Buttons that there are not, numbers of thousands of digits: what follows them has to be read still.
            with suppress(KeyError, ValueError):
                return by_toolkit.handler(event)
            return NotImplemented

        @bindings.add("c-l", eager=True)
        def redraw(event: KeyPressEvent) -> None:
            event.app.renderer.clear()

        return bindings


class _Control(UIControl):
    """The rows as the toolkit wants them, and which of them was clicked."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._rows: list[Row] = []

    def create_content(self, width: int, height: int) -> UIContent:
        self._rows = self._terminal.draw(width, height)

        def get_line(number: int) -> StyleAndTextTuples:
            return [(classes(span.style), span.text) for span in without_padding(self._rows[number])]

        return UIContent(get_line, len(self._rows), cursor_position=Point(0, 0), show_cursor=False)

    def is_focusable(self) -> bool:
        return True

    def mouse_handler(self, mouse_event: MouseEvent) -> NotImplementedOrNone:
        match mouse_event.event_type:
            case MouseEventType.MOUSE_UP:
                clicked = at(self._rows, mouse_event.position.x, mouse_event.position.y)
                if clicked:
                    self._terminal.press(clicked)
            case MouseEventType.SCROLL_UP:
                self._terminal.press("scroll-up")
            case MouseEventType.SCROLL_DOWN:
                self._terminal.press("scroll-down")
            case _:
                return NotImplemented
        return None


def without_padding(row: Row) -> Row:
    """A row without the plain blanks at its end, which the toolkit would look after one by one."""
    end = len(row)
    while end and not row[end - 1].style and row[end - 1].text.isspace():
        end -= 1
    return row[:end]


def at(rows: list[Row], column: int, line: int) -> str:
    """What a click on that cell presses; empty for nothing."""
    if not 0 <= line < len(rows):
        return ""
    for span in rows[line]:
        # The toolkit counts characters here, not cells.
        column -= len(span.text)
        if column < 0:
            return span.click
    return ""

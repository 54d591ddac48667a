"""Typing to the table, or a name: letters, the ready phrases, what is pasted (pure; for ``control``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from client.cards import clean
from client.orders import Talk
from client.texts import PHRASES
from client.tui.orders import Rename
from client.tui.state import Ui

MAX_TYPED_CHARACTERS: Final = 300
"""Of a line of talk; the table takes a little more."""


def press_typing(key: str, ui: Ui) -> tuple[Ui, Talk | Rename | None]:
    """A key while a line is being typed."""
    typed = ui.typing or ""
    done = replace(ui, typing=None, types_name=False)
    match key:
        case "enter":
            said = " ".join(clean(typed).split())
            if not said:
                return done, None
            return done, Rename(said) if ui.types_name else Talk(said)
        case "escape" | "ctrl-c":
            return done, None
        case "backspace":
            return replace(ui, typing=typed[:-1]), None
        case "up" | "down" if not ui.types_name:
            return replace(ui, typing=_next_phrase(typed, 1 if key == "down" else -1)), None
        case _ if len(key) == 1:
            return replace(ui, typing=append(typed, key)), None
        case _:
            return ui, None


def append(typed: str, more: str) -> str:
    """The line with more at its end, made safe and not too long."""
    return (typed + clean(more))[:MAX_TYPED_CHARACTERS]


def _next_phrase(typed: str, step: int) -> str:
    """The phrase after the one that stands there; from anything else the first or the last."""
    if typed in PHRASES:
        return PHRASES[(PHRASES.index(typed) + step) % len(PHRASES)]
    return PHRASES[0 if step > 0 else -1]

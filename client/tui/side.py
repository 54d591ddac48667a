"""The log, and above it the guide of the first round."""

from __future__ import annotations

from typing import Final

from client.tui.cells import Row, Span, row, wrap
from client.tui.guide import guide_text
from client.tui.phrases import text
from client.tui.state import Ui
from client.view import View

MIN_LOG_ROWS: Final = 3
"""A heading and two lines: with less there are only lines."""


def side_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """In at most ``height`` rows: what the guide says now, if anything, and of the log what there is room for."""
    guide = _guide_rows(view, ui, width, height)
    if not guide:
        return log_rows(ui, width, height)
    room = height - len(guide) - 1
    return [*guide, row(width), *log_rows(ui, width, room)] if room >= MIN_LOG_ROWS else guide


def _guide_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """The guide's heading and words; the words alone where it is narrow; nothing where they don't fit at all."""
    style, said = ui.look.style, guide_text(view, ui)
    if not said:
        return []
    rows = [row(width, Span(" " + part, "does")) for part in wrap(said, width - 2)]
    if len(rows) >= height:
        return rows if len(rows) == height else []
    off = Span(text("guide_off", style), "dim", "e")
    return [row(width, Span(" " + text("guide_head", style) + " ", "label"), off), *rows]


def log_rows(ui: Ui, width: int, height: int) -> list[Row]:
    """The newest lines of the log that fit, oldest first, below a heading."""
    if height <= 0:
        return []
    room = height - 1 if height >= MIN_LOG_ROWS else height
    head = text("log_new", ui.look.style, count=ui.unread) if ui.unread else text("log", ui.look.style)
    lines: list[Row] = []
    for entry in reversed(ui.log):
        if len(lines) >= room:
            break
        if entry.by in ui.muted:
            continue
        style = "chat" if entry.kind == "chat" else "log"
        parts = wrap(entry.text, max(8, width - 3))
        for number, part in reversed(list(enumerate(parts))):
            lines.append(row(width, Span((" " if number == 0 else "   ") + part, style)))
    newest = lines[:room][::-1]
    return [row(width, Span(" " + head, "label", "l")), *newest] if room < height else newest

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

LEAST_LOG_ROWS: Final = 2
"""So much of the log is seen below the guide: what somebody has said, and what came of it."""


def side_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """In at most ``height`` rows: what the guide says now, if anything, and of the log what there is room for."""
    style, said = ui.look.style, guide_text(view, ui)
    words = [row(width, Span(" " + part, "does")) for part in wrap(said, width - 2)] if said else []
    if not words or len(words) > height:
        return log_rows(ui, width, height)
    off = Span(text("guide_off", style), "dim", "e")
    guide = [row(width, Span(" " + text("guide_head", style) + " ", "label"), off), *words]
    for rows, least in (([*guide, row(width)], MIN_LOG_ROWS), (guide, LEAST_LOG_ROWS), (words, LEAST_LOG_ROWS)):
        room = height - len(rows)
        if room >= least:
            return [*rows, *log_rows(ui, width, room)]
    if ui.unread:
        # Where there is no room for both, the guide waits until what somebody has said is read.
        return log_rows(ui, width, height)
    return guide if len(guide) <= height else words


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

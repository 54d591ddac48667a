"""A view and the screen's own state become the rows of a screen (pure)."""

from __future__ import annotations

from client.tui.cells import Row, Span, filled, row, wrap
from client.tui.keys import MIN_HEIGHT, MIN_WIDTH
from client.tui.lobby import deal_rows, lobby_rows, over_rows
from client.tui.pages import page_rows
from client.tui.phrases import text
from client.tui.state import Ui
from client.tui.table import table_rows
from client.view import Stage, View
from engine.rules import RuleSet


def draw(view: View, ui: Ui, rules: RuleSet, seats: int, width: int, height: int) -> list[Row]:
    """Exactly ``height`` rows of exactly ``width`` cells. ``rules``: those in force, or of the next round;
    ``seats``: how many may sit at the table.
    """
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        return too_small(ui, width, height)
    if ui.page:
        return page_rows(view, ui, rules, width, height)
    match view.stage:
        case Stage.LOBBY | Stage.OFFER:
            rows = lobby_rows(view, ui, rules, seats, width, height)
        case Stage.DEALING:
            rows = deal_rows(view, ui, width, height)
        case Stage.ENDING | Stage.OVER:
            rows = over_rows(view, ui, width, height)
        case _:
            rows = table_rows(view, ui, width, height)
    return rows


def too_small(ui: Ui, width: int, height: int) -> list[Row]:
    """One sentence with the size that is needed."""
    said = text("too_small", ui.look.style, width=width, height=height, least=MIN_WIDTH, lines=MIN_HEIGHT)
    rows = [row(width, Span(part, "warning")) for part in wrap(said, max(1, width))]
    return filled(rows, height, width)

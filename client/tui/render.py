"""A view and the screen's own state become the rows of a screen (pure)."""

from __future__ import annotations

from client.tui.cells import Row, Span, filled, row, wrap
from client.tui.keys import MIN_HEIGHT, MIN_WIDTH, fits
from client.tui.lobby import deal_rows, lobby_rows, over_rows
from client.tui.messages import question
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
    if not fits(width, height):
        return too_small(view, ui, width, height)
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


def too_small(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """The question whether to leave where it has been asked; the size that is needed, and what can be done."""
    style = ui.look.style
    said = text("too_small", style, width=width, height=height, least=MIN_WIDTH, lines=MIN_HEIGHT)
    told = [(question(view, ui), "ask")] if ui.asks == "quit" else []
    told += [(said, "warning"), (text("too_small_keys", style), "hint")]
    rows = [row(width, Span(part, look)) for each, look in told for part in wrap(each, max(1, width))]
    return filled(rows, height, width)

"""What news from the table change on the screen beside the table itself: log, unread talk, results (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from client.names import shown_name
from client.phrases import said
from client.sentences import render
from client.tui.guide import PLAYED, ROUND
from client.tui.phrases import text
from client.tui.state import Flash, Logged, Ui
from client.view import Stage, View
from engine.cards import card_text
from p2p.rounds.audit import Verdict
from p2p.rounds.news import News

MAX_LOG_LINES: Final = 2000
"""A long evening; older lines go."""

SHOWN: Final = frozenset({"knocked", "hand", "verdict", "saved", "said"})
"""News that `note` takes care of, or the screen shows: they need no sentence of the narrator."""

_MOVES: Final = frozenset({"played", "picked_up", "flipped"})


def note(item: News, view: View, ui: Ui, now: float, day: str) -> Ui:
    """The screen's state after one piece of news.

    ``now``: seconds of the client's clock; ``day``: the time of day.
    """
    values = item.values
    match item.name:
        case "contract":
            # The guide is for one round; where that is over, this is another one.
            look = replace(ui.look, guide=ui.look.guide and ROUND not in ui.guided)
            return replace(ui, look=look, verdict=None, saved="", steps={}, began=now, turns=0, picked=())
        case "over" if view.my_seat is not None and values.get("result") in PLAYED:
            return replace(ui, guided=ui.guided | {ROUND})
        case "knocked":
            return logged(ui, view, text("door_log", name=shown_name(str(values.get("name", "")))), day)
        case "saved":
            return replace(ui, saved=Path(str(values.get("path", ""))).name)
        case "verdict":
            audit = values.get("audit")
            return replace(ui, verdict=audit if isinstance(audit, Verdict) else None)
        case "said":
            return _heard(values, view, ui, day)
        case name if name in _MOVES:
            return replace(ui, turns=ui.turns + 1)
        case _:
            return ui


def _heard(values: Mapping[str, object], view: View, ui: Ui, day: str) -> Ui:
    """Somebody has said something."""
    key, name, words = values.get("player"), shown_name(str(values.get("name", ""))), str(values.get("text", ""))
    by = key if isinstance(key, bytes) else b""
    line = Logged(render(said("said", name=name, text=words)), "chat", day, by)
    # On the page of the log it is read as it comes.
    counts = not ui.page and by not in ui.muted and by != view.me
    return replace(ui, log=(*ui.log, line)[-MAX_LOG_LINES:], unread=ui.unread + counts)


def logged(ui: Ui, view: View, line: str, day: str) -> Ui:
    """The screen's state with a line more in the log, with the number of the turn or the time of day."""
    if not line:
        return ui
    playing = view.stage in (Stage.PLAY, Stage.OPENING, Stage.ENDING)
    entry = Logged(line, "event", f"{ui.turns}" if playing and ui.turns else day)
    return replace(ui, log=(*ui.log, entry)[-MAX_LOG_LINES:])


def note_steps(view: View, ui: Ui, now: float) -> Ui:
    """The screen's state with the times of the steps of the deal that are new."""
    known = dict(ui.steps)
    for player in view.players:
        for step in player.steps:
            known.setdefault((player.key, step), now)
    return replace(ui, steps=known) if len(known) != len(ui.steps) else ui


def flash_of(item: News, view: View) -> Flash | None:
    """What is shown large for a moment of a piece of news."""
    values: Mapping[str, object] = item.values
    seat = values.get("seat")
    name = view.names.of_seat(seat) if isinstance(seat, int) else "?"
    count = values.get("count")
    match item.name:
        case "burnt":
            return Flash(text("flash_ten"), "burnt")
        case "picked_up" if isinstance(count, int):
            return Flash(text("flash_picked", name=name, count=count), "picked_up")
        case "flipped":
            face, packs = values.get("face"), values.get("packs")
            if isinstance(face, int) and isinstance(packs, int):
                return Flash(text("flash_flipped", name=name, cards=(card_text(face, packs),)), "flipped")
    return None

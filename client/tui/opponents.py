"""The other players on the screen: their cards, and why nothing happens where it is on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from client.cards import card_label
from client.lines.narrate import place_word
from client.tui.cells import Row, Span, cells, cut, fit, row
from client.tui.hand import suit_style
from client.tui.phrases import text
from client.tui.state import Look, Ui
from client.view import PlayerRow, Stage, View, WaitRow

COLUMNS_HEIGHT: Final = 22
"""From this height on four opponents at most have a column each; else a line each."""

MAX_COLUMNS: Final = 4
"""Opponents beside each other: with more a column is too narrow for a name and three cards."""

LATE_S: Final = 10
"""A person thinks for a while; from here on it is shown for how long."""

WIDE_COLUMN: Final = 42
"""An opponent alone needs no more."""
BACK: Final = "##"


def clock(seconds: int) -> str:
    """Seconds as ``0:27``."""
    return f"{seconds // 60}:{seconds % 60:02}"


def card_span(card: str, look: Look, width: int = 0) -> Span:
    """A face in its colour, at least ``width`` cells."""
    label = card_label(card, look.style)
    return Span(label + " " * max(0, width - cells(label)), suit_style(card))


def opponents(view: View) -> list[PlayerRow]:
    """The others with seats, clockwise from me."""
    seated = [player for player in view.players if player.seat is not None]
    mine = next((number for number, player in enumerate(seated) if player.is_me), None)
    if mine is None:
        return seated
    return [*seated[mine + 1 :], *seated[:mine]]


def opponent_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """The opponents: in columns of four lines where there is room, else a line each."""
    others = opponents(view)
    if not others:
        return []
    if height >= COLUMNS_HEIGHT and len(others) <= MAX_COLUMNS and width // len(others) >= 19:
        return _columns(others, view, ui, width)
    per_row = 2 if len(others) > MAX_COLUMNS or (height < 20 and len(others) > 3) else 1
    room = (width - (per_row - 1)) // per_row
    rows: list[Row] = []
    for start in range(0, len(others), per_row):
        spans: list[Span] = []
        for number, player in enumerate(others[start : start + per_row]):
            if number:
                spans.append(Span("|", "rule"))
            spans += row(room, *_one_line(player, view, ui, room))
        rows.append(row(width, *spans))
    return rows


def _columns(others: Sequence[PlayerRow], view: View, ui: Ui, width: int) -> list[Row]:
    count = len(others)
    room = min(WIDE_COLUMN, (width - (count - 1)) // count)
    blocks = [_column(player, view, ui, room) for player in others]
    rows: list[Row] = []
    for number in range(4):
        spans: list[Span] = []
        for block_number, block in enumerate(blocks):
            if block_number:
                spans.append(Span("|", "rule"))
            spans += block[number]
        rows.append(row(width, *spans))
    return rows


def _column(player: PlayerRow, view: View, ui: Ui, room: int) -> list[Row]:
    look = ui.look
    hand = text("cards_in_hand", look.style, count=player.hand) + " "
    gone = player.status in ("out", "left")
    tail = (Span("" if gone else hand, "count"),)
    mark = ">" if player.in_turn and view.stage in (Stage.PLAY, Stage.OPENING, Stage.START) else " "
    name = cut(f"{mark} {_name(player, look)}", room - (0 if gone else cells(hand)) - 1)
    ups = [Span(f"  {text('up', look.style):<6}" if player.upcards else "", "label")]
    for card in player.upcards:
        ups += [card_span(card, look, 3), Span(" ")]
    slots = " ".join(BACK + " " if there else "   " for there in player.slots)
    return [
        row(room, Span(name, "turn" if mark == ">" else "name"), right=tail),
        row(room, *(() if gone else ups)),
        row(
            room,
            Span("" if gone or not player.downcards else f"  {text('blind', look.style):<6}", "label"),
            Span("" if gone else slots, "back"),
        ),
        row(room, "  ", _status(player, view, ui)),
    ]


def _one_line(player: PlayerRow, view: View, ui: Ui, room: int) -> list[Span]:
    look = ui.look
    is_narrow = room < WIDE_COLUMN
    mark = ">" if player.in_turn and view.stage in (Stage.PLAY, Stage.OPENING, Stage.START) else " "
    name_room = max(6, room - 22) if is_narrow else min(16, max(6, room - 24))
    name = player.name if is_narrow else _name(player, look)
    spans = [Span(fit(f"{mark} {name}", name_room) + " ", "turn" if mark == ">" else "name")]
    if player.status in ("out", "left"):
        return [*spans, _status(player, view, ui)]
    spans.append(Span(f"{player.hand}# ".rjust(4), "count"))
    if player.link == "lost" and not player.is_me:
        # Worth more than the cards.
        spans.append(_status(player, view, ui))
        spans.append(Span(" "))
    for card in player.upcards:
        spans += [card_span(card, look), Span(" ")]
    spans.append(Span(text("blind_short", look.style, count=player.downcards) + " ", "back"))
    if player.link != "lost" or player.is_me:
        spans.append(_short_status(player, view, ui) if is_narrow else _status(player, view, ui))
    return spans


def _short_status(player: PlayerRow, view: View, ui: Ui) -> Span:
    """Where there is no room for a word: a star for who is ready, a time for who is waited for."""
    wait = next((each for each in view.waits if each.name == player.name), None)
    if view.stage is Stage.ARRANGE:
        return Span("*" if player.status == "ready" else " ", "good")
    return Span(clock(wait.seconds) if wait is not None and wait.seconds >= LATE_S else "", "wait")


def _name(player: PlayerRow, look: Look) -> str:
    return player.name + (f" ({text('bot', look.style)})" if player.is_bot else "")


def _status(player: PlayerRow, view: View, ui: Ui) -> Span:
    """Why nothing happens, if it is on this player; else the link."""
    style = ui.look.style
    wait = next((each for each in view.waits if each.name == player.name), None)
    if player.status == "left":
        return Span(text("left_round", style), "dim")
    if player.status == "out":
        return Span(text("out_place", style, place=place_word(player.place or 0)), "good")
    if player.link == "lost" and not player.is_me:
        return Span(_lost(wait, view, ui) if player.present else text("left_table", style), "bad")
    if view.stage is Stage.ARRANGE:
        return Span(text("ready" if player.status == "ready" else "not_ready", style), "dim")
    if wait is not None and wait.seconds >= LATE_S:
        return Span(text("late", style, time=clock(wait.seconds)), "wait")
    return link_span(player, ui)


def _lost(wait: WaitRow | None, view: View, ui: Ui) -> str:
    """That a link is lost; where something is waited for, for how long, and how much longer it has to be."""
    style = ui.look.style
    if wait is None:
        return text("lost", style)
    left = wait.patience_s - wait.seconds
    if left <= 0:
        return text("lost_for", style, time=clock(wait.seconds))
    return text("lost_waits", style, time=clock(wait.seconds), rest=clock(left))


def link_span(player: PlayerRow, ui: Ui) -> Span:
    """How well a player is heard."""
    style = ui.look.style
    if player.is_me:
        return Span("--", "dim")
    match player.link:
        case "lost":
            return Span(text("lost" if player.present else "left_table", style), "bad")
        case "slow":
            return Span(text("link_slow", style, ms=player.rtt_ms or 0), "wait")
        case "relayed":
            return Span(text("link_relayed", style), "wait")
        case _ if player.rtt_ms is not None:
            return Span(text("link_ok", style, ms=player.rtt_ms), "dim")
        case _:
            return Span(text("link_good", style), "dim")

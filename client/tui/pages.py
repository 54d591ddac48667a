"""Pages that lie over the table: help, rules, fairness, network, log, settings, the evening."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from client.fairness import how_far
from client.howto import how_to_play
from client.lines.narrate import clock_words
from client.lines.show import LOOPBACK, rules_lines
from client.sentences import render
from client.texts import HOW
from client.tui.cells import Row, Span, cut, filled, fit, line, row, wrap
from client.tui.keys import helped
from client.tui.lists import (
    MARK,
    SETTINGS,
    THEMES,
    choices_page,
    clocks_page,
    mute_page,
    muteable,
    option_words,
    options_page,
    settings_page,
)
from client.tui.lobby import checks, fair_word, score_table
from client.tui.messages import message_rows
from client.tui.opponents import link_span
from client.tui.phrases import text
from client.tui.state import Ui
from client.tui.table import title_row
from client.view import Stage, View
from engine.rules import RuleSet, preset_named

MAX_EVENING_ROUNDS: Final = 12
"""Rounds in columns of four cells beside names and sums, on 80 columns."""

_BACKS: Final = {
    "settings": "page_settings_back",
    "mute": "page_mute_back",
    "options": "page_options_back",
    "log": "page_log_back",
    "choices": "page_choices_back",
    "rules": "page_rules_back",
    "clocks": "page_options_back",
}
"""Pages with keys of their own."""

PAGE_FRAME_ROWS: Final = 5
"""Title, heading, two lines, keys."""


_MINE: Final = frozenset({"rules", "options", "clocks"})
"""Pages on which a host may do more than look."""


def page_rows(view: View, ui: Ui, rules: RuleSet, width: int, height: int) -> list[Row]:
    """The page that is open, with its heading and its keys."""
    style = ui.look.style
    content = _PAGES[ui.page](view, ui, rules, width)
    code = _BACKS.get(ui.page, "page_back")
    if ui.page in _MINE and view.i_host and view.stage in (Stage.OVER, Stage.LOBBY):
        code += "_host"
    top = [
        title_row(view, ui, width),
        row(width, Span(" " + _heading(view, ui, rules), "label")),
        line(width),
    ]
    urgent = view.my_turn and view.stage is Stage.PLAY
    right = (Span(text("your_turn", style) + " ", "turn", "escape"),) if urgent else ()
    bottom = [line(width), row(width, Span(" " + text(code, style), "footer", "escape"), right=right)]
    if ui.typing is not None or ui.asks or ui.message:
        bottom = [*message_rows(view, ui, width), *bottom]
    elif ui.page == "options":
        bottom = [*option_words(rules, ui, width), *bottom]
    room = height - len(top) - len(bottom)
    first = min(_first_shown(content, ui, room), max(0, len(content) - room))
    if len(content) > room:
        said = (
            text("page_line", style, first=first + 1, last=min(first + room, len(content)), all=len(content)) + " "
        )
        top[1] = row(width, *top[1][:1], right=(Span(said, "dim"),))
    return [*top, *filled(content[first : first + room], room, width), *bottom]


def _first_shown(content: list[Row], ui: Ui, room: int) -> int:
    """The first line shown: where the page is scrolled to, or so that the chosen line of a list is seen."""
    marked = next((number for number, each in enumerate(content) if each and each[0].text.startswith(MARK)), None)
    if marked is None:
        return ui.scroll
    return max(0, marked - room + 2)


def _heading(view: View, ui: Ui, rules: RuleSet) -> str:
    """The heading of the open page; of the rules whose they are, and between rounds which preset."""
    style = ui.look.style
    if ui.page != "rules" or view.stage not in (Stage.OVER, Stage.LOBBY):
        return text(f"page_{ui.page}", style)
    if not view.i_host:
        return text("page_rules_last" if view.rules is not None else "page_rules_untold", style)
    return text("page_rules_next", style, name=preset_named(rules) or text("rules_own", style))


def last_scroll(view: View, ui: Ui, rules: RuleSet, width: int, height: int) -> int:
    """The first line of the open page when it is scrolled to its end."""
    return max(0, len(_PAGES[ui.page](view, ui, rules, width)) - (height - PAGE_FRAME_ROWS))


def _texts(lines: list[str], width: int, style: str = "text") -> list[Row]:
    return [row(width, Span("  " + part, style)) for each in lines for part in (wrap(each, width - 4) or [""])]


def _help(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    style = ui.look.style
    rows = _texts([text("help_how", style)], width, "hint")
    for code, entries in zip(("help_now", "help_besides"), helped(view), strict=True):
        rows += [row(width), row(width, Span("  " + text(code, style), "label"))]
        for each in entries:
            for number, part in enumerate(wrap(each.long, width - 18)):
                label = fit(each.label if number == 0 else "", 14)
                rows.append(row(width, Span(f"  {label} ", "key", each.keys[0]), Span(part, "text", each.keys[0])))
    said = [text("signs_help", style), text("mouse_help", style)]
    return [*rows, row(width), *_texts(said, width, "dim")]


def _rules(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    rows: list[Row] = []
    if view.rules is None and not view.i_host:
        rows = [*_texts([text("rules_untold_long", ui.look.style)], width, "hint"), row(width)]
    rows.append(row(width, Span("  " + HOW["head"], "label")))
    for each in how_to_play(rules):
        for number, part in enumerate(wrap(each, width - 6)):
            rows.append(row(width, Span(("    " if number == 0 else "      ") + part, "text")))
    if view.clocks is not None or view.i_host:
        rows += [row(width), row(width, Span("  " + text("page_clocks", ui.look.style), "label"))]
        for words in clock_words(ui.clocks):
            rows += [row(width, Span("    " + part, "text")) for part in wrap(words, width - 6)]
    rows += [row(width), row(width, Span("  " + HOW["rules_head"], "label"))]
    for each in rules_lines(rules, max(2, len(view.players))):
        # Two columns of a mark, then the sentence; the last line of all says what the mark means.
        mark, said = each[:2], each[2:]
        if mark not in ("  ", "* "):
            mark, said = "  ", each
        style = "message" if mark == "* " else "text"
        for number, part in enumerate(wrap(said, width - 6)):
            rows.append(row(width, Span(f"  {mark if number == 0 else '  '}" + part, style)))
    return rows


def _fair(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    style = ui.look.style
    rows: list[Row] = []
    if view.deal is not None and view.stage not in (Stage.OVER, Stage.LOBBY, Stage.ENDING):
        deal = view.deal
        rows += _texts([text("fair_not_yet", style)], width, "label")
        facts = [
            text("so_far_proofs", style, done=deal.proven, all=deal.players),
            text("so_far_agreed", style, done=deal.agreed, all=deal.players),
        ]
        if view.words:
            facts.append(text("so_far_words", style, words="-".join(view.words)))
        rows += _texts([f"  {fact}" for fact in facts], width)
        rows.append(row(width))
    if ui.verdict is not None:
        rows.append(row(width, Span("  " + text("fair_done", style) + " ", "label"), fair_word(ui.verdict, ui)))
        for good, said in checks(ui.verdict, ui):
            mark = text("ok" if good else "open", style)
            for number, part in enumerate(wrap(said, width - 10)):
                head = f"   {mark} " if number == 0 else " " * 8
                rows.append(row(width, Span(head, "good" if good else "dim"), Span(part, "text")))
        for fault in ui.verdict.faults:
            rows += _texts([render(fault.sentence, view.names, style)], width, "bad")
        for note in (how_far(ui.verdict), *ui.verdict.notes):
            rows += _texts([render(note, view.names, style)], width)
        rows += _texts([text("fair_again", style)], width, "dim")
        rows.append(row(width))
    elif not rows:
        rows += [*_texts([text("fair_none", style)], width, "label"), row(width)]
    return rows + _texts([text(f"fair_{number}", style) for number in range(1, 7)], width, "hint")


def _network(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    style = ui.look.style
    outside = [f"  {address}" for address in view.addresses if not address.startswith(LOOPBACK)]
    rows = [row(width, Span("  " + text("network_own", style), "label"))]
    rows += _texts(outside or ["  " + text("network_none", style)], width)
    if "no_mdns" in view.notices:
        rows += _texts([text("network_notice", style)], width, "warning")
    rows += [row(width), row(width, Span("  " + text("network_links", style), "label"))]
    for player in view.players:
        link = link_span(player, ui)
        key = text("network_key", style, key=player.key.hex()[:16])
        rows.append(
            row(
                width,
                Span("    " + fit(player.name, 18) + " ", "name"),
                Span(fit(link.text, 20) + " ", link.style),
                Span(cut(key, max(0, width - 45)), "dim"),
            )
        )
    for wait in view.waits:
        rows += _texts([text("hint_wait_for", style, name=wait.name, what=_wait_words(wait.what))], width, "wait")
    return [*rows, row(width), *_texts([text("network_doctor", style)], width, "dim")]


def _wait_words(what: str) -> str:
    from client.phrases import WAITS

    return WAITS.get(what, what)


def _log(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    rows: list[Row] = []
    for entry in ui.log:
        if entry.by in ui.muted:
            continue
        parts = wrap(entry.text, width - 10)
        for number, part in enumerate(parts):
            at = entry.at if number == 0 else ""
            rows.append(
                row(width, Span(f" {at:<6} ", "dim"), Span(part, "chat" if entry.kind == "chat" else "log"))
            )
    return rows


def _evening(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    from client.lines.show import score_lines

    table = [row(width, Span("  "), each) for each in score_table(view, ui, MAX_EVENING_ROUNDS)]
    lines = score_lines(view, ui.look.style)
    return [*table, *([row(width)] if table else []), *_texts(lines, width)]


_PAGES: Final[dict[str, Callable[[View, Ui, RuleSet, int], list[Row]]]] = {
    "help": _help,
    "rules": _rules,
    "fair": _fair,
    "network": _network,
    "log": _log,
    "evening": _evening,
    "settings": settings_page,
    "choices": choices_page,
    "mute": mute_page,
    "options": options_page,
    "clocks": clocks_page,
}


__all__ = ["SETTINGS", "THEMES", "last_scroll", "muteable", "page_rows"]

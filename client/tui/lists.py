"""Pages that are lists with a chosen line: settings, choices, whose talk is hidden, options (pure)."""

from __future__ import annotations

from typing import Final

from client.cards import card_label
from client.clocks import LEAST_S
from client.lines.narrate import clock_words
from client.lines.show import choice_words
from client.tui.cells import Row, Span, fit, row, wrap
from client.tui.messages import MESSAGE_ROWS
from client.tui.options import SHOWN, values_of, words_for
from client.tui.phrases import text
from client.tui.state import Ui
from client.view import PlayerRow, Stage, View
from engine.options import ArrangeRule
from engine.rules import RuleSet, changed_items, to_items

SETTINGS: Final = ("style", "order", "theme", "motion", "sound", "mouse", "guide", "name")
"""The lines of the settings page that can be changed, in order."""

THEMES: Final = ("dark", "light", "contrast", "blind", "four", "mono")
"""Names of ``client.tui.styles``."""

MARK: Final = "  > "
"""How the chosen line of a list begins; a page is scrolled so that it is seen."""

NO_MARK: Final = "    "
NAME_CELLS: Final = 26


def texts(lines: list[str], width: int, style: str = "text") -> list[Row]:
    """Sentences, wrapped."""
    return [row(width, Span("  " + part, style)) for each in lines for part in (wrap(each, width - 4) or [""])]


def settings_page(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    """What can be set, with its values."""
    style, look = ui.look.style, ui.look
    values = {
        "style": text("letters" if look.style.ascii else "symbols", style),
        "order": look.order,
        "theme": look.theme,
        "motion": text("on" if look.motion else "off", style),
        "sound": text("on" if look.sound else "off", style),
        "mouse": text("on" if look.mouse else "off", style),
        "guide": text("on" if look.guide else "off", style),
        "name": view.my_name,
    }
    rows = []
    for number, name in enumerate(SETTINGS):
        chosen = ui.row % len(SETTINGS) == number
        label = text(f"setting_{name}", style)
        rows.append(
            row(
                width,
                Span(
                    f"{MARK if chosen else NO_MARK}{label:<26} ", "turn" if chosen else "text", f"setting:{number}"
                ),
                Span(f"< {values[name]} >", "message" if chosen else "text", f"setting:{number}"),
            )
        )
    sample = "   ".join(card_label(card, style) for card in ("2c", "Td", "Qh", "As"))
    rows += [
        row(width),
        row(width, Span(f"    {sample}", "text")),
        row(width, Span("  " + text("settings_kept", style), "dim")),
    ]
    return rows


def choices_page(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    """All that I can do now, as a numbered list."""
    moves = [choice for choice in view.choices if choice.move is not None]
    if not moves:
        return texts([text("no_choices", ui.look.style)], width, "hint")
    rows = []
    for number, choice in enumerate(moves):
        chosen = number == ui.row % len(moves)
        said = f"{MARK if chosen else NO_MARK}{number + 1:>2}  {choice_words(choice, ui.look.style)}"
        rows.append(row(width, Span(said, "turn" if chosen else "text", f"choice:{number}")))
    swaps = view.rules is None or view.rules.arrange is ArrangeRule.SWAP
    if view.stage is Stage.ARRANGE and swaps:
        # Too many to be listed: any hand card for any card laid out.
        rows += [row(width), *texts([text("choices_exchange", ui.look.style)], width, "hint")]
    return rows


def muteable(view: View) -> list[PlayerRow]:
    """Who could talk: everybody but me and the bots."""
    return [player for player in view.players if not player.is_me and not player.is_bot]


def mute_page(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    """Everybody and each, with whether their talk is shown."""
    style, others = ui.look.style, muteable(view)
    if not others:
        return texts([text("mute_nobody", style)], width, "hint")
    everybody = frozenset(player.key for player in others)
    lines = [(text("mute_all", style), everybody <= ui.muted)]
    lines += [(player.name, player.key in ui.muted) for player in others]
    rows = []
    for number, (name, is_muted) in enumerate(lines):
        chosen = ui.row % len(lines) == number
        said = text("mute_on" if is_muted else "mute_off", style)
        look, click = ("turn" if chosen else "text"), f"mute:{number}"
        rows.append(
            row(
                width,
                Span(f"{MARK if chosen else NO_MARK}{fit(name, NAME_CELLS)} ", look, click),
                Span(f"< {said} >", "message" if chosen else "text", click),
            )
        )
    return rows


def options_page(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    """The options of the rules with their values; a star where one is not the usual one."""
    style = ui.look.style
    values, differ = dict(to_items(rules)), dict(changed_items(rules))
    rows = []
    for number, name in enumerate(SHOWN):
        chosen = ui.row % len(SHOWN) == number
        look, click = ("turn" if chosen else "text"), f"option:{number}"
        star = "*" if name in differ else " "
        value = values[name] or text("option_none", style)
        many = len(values_of(rules, name)) > 1
        rows.append(
            row(
                width,
                Span(f"{MARK if chosen else NO_MARK}{star} {name:<{NAME_CELLS}} ", look, click),
                Span(f"< {value} >" if many else value, "message" if chosen else "text", click),
            )
        )
    return rows


def clocks_page(view: View, ui: Ui, rules: RuleSet, width: int) -> list[Row]:
    """The clocks with their seconds, and what they mean."""
    style, rows = ui.look.style, []
    for number, (name, seconds) in enumerate(zip(LEAST_S, ui.clocks.values, strict=True)):
        chosen = ui.row % len(LEAST_S) == number
        look, click = ("turn" if chosen else "text"), f"clock:{number}"
        value = text("clock_seconds", style, seconds=seconds) if seconds else text("option_none", style)
        rows.append(
            row(
                width,
                Span(f"{MARK if chosen else NO_MARK}{text(f'clock_{name}', style):<{NAME_CELLS}} ", look, click),
                Span(f"< {value} >", "message" if chosen else "text", click),
            )
        )
    return [*rows, row(width), *texts(clock_words(ui.clocks), width, "hint")]


def option_words(rules: RuleSet, ui: Ui, width: int) -> list[Row]:
    """What the chosen option says under these rules, in the rows of the messages."""
    said = words_for(rules, SHOWN[ui.row % len(SHOWN)]) or text("option_idle", ui.look.style)
    rows = [row(width, Span(" " + part, "hint")) for part in wrap(said, width - 2)[:MESSAGE_ROWS]]
    return [*rows, *(row(width) for _ in range(MESSAGE_ROWS - len(rows)))]

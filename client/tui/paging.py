"""Keys while a page lies over the table: lists to choose from, scrolling, going back (pure; for ``control``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from client.clocks import LEAST_S
from client.orders import Act
from client.tui.deeds import ACTIONS, Pressed, press_quit
from client.tui.hand import moves_of
from client.tui.keys import changes_rules, find
from client.tui.options import SHOWN
from client.tui.orders import OtherClock, OtherOption, OtherRules, Store
from client.tui.pages import SETTINGS, THEMES, muteable
from client.tui.picking import warn
from client.tui.state import Look, Ui
from client.view import View

SCROLL_ROWS: Final = 8
"""What a page key moves."""

_LIST_KEYS: Final = ("up", "down", "left", "right", " ", "enter")
_OPEN_EACH_OTHER: Final = ("fair", "rules", "log", "mute", "network", "evening", "settings", "help")


def on_page(key: str, view: View, ui: Ui) -> Pressed:
    """What a key means while a page is open."""
    key = key.lower() if len(key) == 1 else key
    if ui.page == "settings" and (key in _LIST_KEYS or key.startswith("setting:")):
        return _set(key, ui)
    if ui.page == "rules" and key in ("left", "right"):
        if not changes_rules(view):
            return warn(ui, view, "no_round_rules", host=view.host)
        return replace(ui, scroll=0), OtherRules(1 if key == "right" else -1)
    if ui.page == "rules" and key == "o":
        return replace(ui, page="options", row=0, scroll=0), None
    if ui.page == "rules" and key == "k":
        return replace(ui, page="clocks", row=0, scroll=0), None
    if ui.page == "clocks" and (key in _LIST_KEYS or key.startswith("clock:")):
        return _clock(key, view, ui)
    if ui.page == "options" and (key in _LIST_KEYS or key.startswith("option:")):
        return _option(key, view, ui)
    if ui.page in ("options", "clocks") and key == "escape":
        return replace(ui, page="rules", scroll=0), None
    if ui.page == "mute" and (key in _LIST_KEYS or key.startswith("mute:")):
        return _mute(key, view, ui)
    if ui.page == "choices" and (key in ("up", "down", "enter") or key.isdigit() or key.startswith("choice:")):
        return _choose(key, view, ui)
    match key:
        case "escape" | "enter" | "?" | "backspace":
            return replace(ui, page="", scroll=0), None
        case "ctrl-c":
            return press_quit(view, ui, key, 0.0)
        case "up" | "down" | "pageup" | "pagedown" | "home" | "end" | "scroll-up" | "scroll-down" | " ":
            return replace(ui, scroll=_scrolled(key, ui.scroll)), None
        case "c":
            return replace(ui, typing=""), None
        case "m" if ui.page == "log":
            return ACTIONS["mute"](view, ui, key, 0.0)
        case _:
            # Another page's key goes there at once; any other closes this page and does nothing else.
            entry = find(view, key)
            if entry is not None and entry.action in _OPEN_EACH_OTHER and entry.action != ui.page:
                return ACTIONS[entry.action](view, ui, key, 0.0)
            return replace(ui, page="", scroll=0), None


def _option(key: str, view: View, ui: Ui) -> Pressed:
    if key in ("up", "down"):
        return replace(ui, row=(ui.row + (1 if key == "down" else -1)) % len(SHOWN)), None
    if key.startswith("option:"):
        ui = replace(ui, row=int(key.partition(":")[2]))
    if not changes_rules(view):
        return warn(ui, view, "no_round_rules", host=view.host)
    return ui, OtherOption(SHOWN[ui.row % len(SHOWN)], -1 if key == "left" else 1)


def _clock(key: str, view: View, ui: Ui) -> Pressed:
    if key in ("up", "down"):
        return replace(ui, row=(ui.row + (1 if key == "down" else -1)) % len(LEAST_S)), None
    if key.startswith("clock:"):
        ui = replace(ui, row=int(key.partition(":")[2]))
    if not changes_rules(view):
        return warn(ui, view, "no_round_rules", host=view.host)
    return ui, OtherClock(tuple(LEAST_S)[ui.row % len(LEAST_S)], -1 if key == "left" else 1)


def _mute(key: str, view: View, ui: Ui) -> Pressed:
    """Hides what one says, or everybody in the first line, or shows it again."""
    others = muteable(view)
    if not others:
        return replace(ui, page=""), None
    if key in ("up", "down"):
        return replace(ui, row=(ui.row + (1 if key == "down" else -1)) % (len(others) + 1)), None
    if key.startswith("mute:"):
        ui = replace(ui, row=int(key.partition(":")[2]))
    row = ui.row % (len(others) + 1)
    keys = frozenset(each.key for each in (others if row == 0 else others[row - 1 : row]))
    return replace(ui, muted=ui.muted - keys if keys <= ui.muted else ui.muted | keys), None


def _choose(key: str, view: View, ui: Ui) -> Pressed:
    """On the list of all choices: goes up and down, or does one."""
    moves = moves_of(view)
    if not moves:
        return replace(ui, page=""), None
    row = ui.row % len(moves)
    if key in ("up", "down"):
        return replace(ui, row=(row + (1 if key == "down" else -1)) % len(moves)), None
    if key != "enter":
        row = int(key.partition(":")[2] or key) - (0 if ":" in key else 1)
    if not 0 <= row < len(moves) or moves[row].move is None:
        return ui, None
    move = moves[row].move
    return replace(ui, page="", picked=(), scroll=0), Act(move, view.stamp) if move is not None else None


def _scrolled(key: str, scroll: int) -> int:
    step = {"up": -1, "down": 1, "pageup": -SCROLL_ROWS, "pagedown": SCROLL_ROWS, " ": SCROLL_ROWS}.get(key, 0)
    match key:
        case "scroll-up":
            step = -3
        case "scroll-down":
            step = 3
        case "home":
            return 0
        case "end":
            return 10**6
    return max(0, scroll + step)


def _set(key: str, ui: Ui) -> Pressed:
    count = len(SETTINGS)
    if key in ("up", "down"):
        return replace(ui, row=(ui.row + (1 if key == "down" else -1)) % count), None
    if key.startswith("setting:"):
        ui = replace(ui, row=int(key.partition(":")[2]))
    name = SETTINGS[ui.row % count]
    if name == "name":
        return replace(ui, typing="", types_name=True), None
    look = changed(ui.look, name, -1 if key == "left" else 1)
    # Whoever asks for the guide wants it from its beginning.
    guided: frozenset[str] = frozenset() if name == "guide" else ui.guided
    return replace(ui, look=look, guided=guided), Store(look)


def changed(look: Look, name: str, step: int) -> Look:
    """The looks with one setting moved on."""
    match name:
        case "style":
            return replace(look, style=replace(look.style, ascii=not look.style.ascii))
        case "order":
            return replace(look, order="suit" if look.order == "rank" else "rank")
        case "theme":
            index = THEMES.index(look.theme) if look.theme in THEMES else 0
            return replace(look, theme=THEMES[(index + step) % len(THEMES)])
        case "motion":
            return replace(look, motion=not look.motion)
        case "sound":
            return replace(look, sound=not look.sound)
        case "guide":
            return replace(look, guide=not look.guide)
        case _:
            return replace(look, mouse=not look.mouse)

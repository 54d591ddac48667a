"""What a key does: the view, the screen's state and a key become another state, and maybe a command (pure).

A key acts on the view that was on the screen; a move carries its stamp, so the table refuses it if it has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from client.cards import clean
from client.lines.commands import (
    Act,
    Admit,
    Answer,
    Away,
    Kick,
    Refuse,
    SeatBots,
    StartRound,
    Talk,
    Void,
)
from client.sentences import render
from client.tui.hand import choice_for, pickable, picked_cards, playable_ranks
from client.tui.keys import PLAYS, RANK_KEYS, Key, context_of, find
from client.tui.pages import SETTINGS, THEMES
from client.tui.phrases import text
from client.tui.picking import (
    move_cursor,
    pick_rank,
    press_clear,
    press_rank,
    press_slot,
    press_space,
    toggle,
    warn,
    warn_sentence,
    why_not_of,
)
from client.tui.state import Look, Ui
from client.view import Choice, Stage, View
from engine.moves import Flip, PickUp, Play, Ready
from engine.state import Zone

ENTER_GUARD_S: Final = 0.25
"""So long after my turn has come Enter does nothing: it was meant for what was there before."""

OVER_GUARD_S: Final = 1.0
"""So long after the end of a round Enter starts no other: who was still playing wants to see how it ended."""

LARGE_PILE_CARDS: Final = 4
"""Taking so many cards when something could be played is asked about once."""

MAX_TYPED_CHARACTERS: Final = 300
"""Of a line of talk; the table takes a little more."""

SCROLL_ROWS: Final = 8
"""What a page key moves."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the table; it has been asked about."""


@dataclass(frozen=True, slots=True)
class Store:
    """Keep these looks in the settings."""

    look: Look


@dataclass(frozen=True, slots=True)
class OtherRules:
    """Take the preset that is ``step`` further for the next round."""

    step: int


@dataclass(frozen=True, slots=True)
class Watch:
    """Show the last round again."""


Command = (
    Act
    | Answer
    | Talk
    | StartRound
    | Admit
    | Refuse
    | Kick
    | SeatBots
    | Void
    | Away
    | Leave
    | Store
    | OtherRules
    | Watch
)
Pressed = tuple[Ui, Command | None]


def press(key: str, view: View, ui: Ui, now: float) -> Pressed:
    """What a key leads to. ``key``: a character, a name such as ``enter`` or ``left``, or what was clicked
    (``card:12``, ``rank:7``, ``pile``, ``setting:2``); ``now``: seconds, of the clock of ``ui.turn_since``.
    """
    if ui.typing is not None:
        return _type(key, ui)
    ui = replace(ui, message="", is_warning=False, flash=None)
    if ui.asks:
        return _answered(key, view, ui)
    if ui.page:
        return _on_page(key, view, ui)
    if (":" in key and len(key) > 1) or key == "pile":
        return _clicked(key, view, ui, now)
    if len(key) == 1 and key.isupper():
        key = key.lower()
    entry = find(view, key)
    if entry is None:
        return _unknown(key, view, ui)
    if ui.is_auto and entry.action in PLAYS:
        return warn(ui, view, "auto")
    if entry.host and not view.i_host:
        return _not_host(entry, view, ui)
    return _ACTIONS[entry.action](view, ui, key, now)


def paste(pasted: str, ui: Ui) -> Ui:
    """Pasted text: into a line that is being typed, else nowhere."""
    if ui.typing is None:
        return replace(ui, message=text("pasted", ui.look.style), is_warning=True)
    return replace(ui, typing=(ui.typing + clean(pasted))[:MAX_TYPED_CHARACTERS])


def follow(before: View, after: View, ui: Ui, now: float) -> Ui:
    """The screen's state after the table has changed: what is picked stays so far as it still makes sense."""
    if after.stamp != before.stamp or after.stage is not before.stage:
        ui = replace(ui, asks="" if ui.asks == "take" else ui.asks)
        if after.stage is not before.stage:
            ui = replace(ui, stage_since=now)
            ui = replace(ui, cursor=None, slot=None, message="", is_warning=False)
    if after.asked and not before.asked:
        ui = replace(ui, stage_since=now)
    if after.my_turn and not before.my_turn:
        ui = replace(ui, turn_since=now, message="", is_warning=False)
    if after.stage is Stage.ARRANGE and before.stage is not Stage.ARRANGE:
        ui = replace(ui, picked=())
    if ui.slot is not None and after.zone is not Zone.DOWNCARDS:
        ui = replace(ui, slot=None)
    return _still_picked(before, after, ui)


def _still_picked(before: View, after: View, ui: Ui) -> Ui:
    allowed = {card.position: card for card in pickable(after, ui.look)}
    kept = tuple(position for position in ui.picked if position in allowed)
    if len(kept) < len(ui.picked):
        kept = ()
    if kept and after.stage is Stage.PLAY and after.my_turn:
        fits = playable_ranks(after)
        picked = (allowed[position] for position in kept)
        blocked = next((card for card in picked if card.why_not is not None and card.rank not in fits), None)
        if blocked is not None and blocked.why_not is not None:
            why = render(blocked.why_not, after.names, ui.look.style)
            cards = tuple(allowed[position].text for position in kept)
            said = text("selection_gone", ui.look.style, cards=cards, why=why)
            return replace(ui, picked=(), message=said, is_warning=True)
    return replace(ui, picked=kept)


# -- keys that do nothing ------------------------------------------------------------------------------


def _unknown(key: str, view: View, ui: Ui) -> Pressed:
    """Why a key does nothing here."""
    if key in RANK_KEYS and context_of(view) in ("blind", "deal", "lobby", "over", "offer"):
        why = why_not_of(view, RANK_KEYS[key])
        if why is not None and context_of(view) == "blind":
            return warn(ui, view, "flip_first")
        return warn_sentence(ui, view, why) if why is not None else warn(ui, view, "key_unknown", key=key)
    if key in (
        "escape",
        "tab",
        "enter",
        "up",
        "down",
        "left",
        "right",
        "pageup",
        "pagedown",
        "backspace",
        "home",
        "end",
    ):
        if key == "enter" and context_of(view) in ("lobby", "over"):
            return warn(ui, view, "next_other", host=view.host)
        return ui, None
    return warn(ui, view, "key_unknown", key=key)


def _not_host(entry: Key, view: View, ui: Ui) -> Pressed:
    if entry.action == "enter":
        return warn(ui, view, "next_other", host=view.host)
    return warn(ui, view, "host_only", host=view.host)


# -- doing --------------------------------------------------------------------------------------------


def _enter(view: View, ui: Ui, key: str, now: float) -> Pressed:
    context = context_of(view)
    if context in ("lobby", "over"):
        if context == "over" and now - ui.stage_since < OVER_GUARD_S:
            return warn(ui, view, "over_guard")
        if sum(player.present for player in view.players) < 2:
            return warn(ui, view, "start_alone" if ui.can_seat_bots else "next_alone")
        return ui, StartRound()
    if context == "arrange":
        return _be_ready(view, ui, now)
    if not view.my_turn:
        return _not_yet(view, ui)
    if now - ui.turn_since < ENTER_GUARD_S:
        return warn(ui, view, "enter_guard")
    if view.my_seat is None:
        return warn(ui, view, "watching")
    if context == "blind":
        if ui.slot is None:
            return warn(ui, view, "flip_first")
        return replace(ui, slot=None), Act(Flip(view.my_seat, ui.slot - 1), view.stamp)
    picked = picked_cards(view, ui)
    if not picked:
        playable = any(choice.kind == "play" for choice in view.choices)
        return warn(ui, view, "nothing_picked" if playable else "hint_none")
    move = Play(view.my_seat, tuple(card.position for card in picked))
    choice = choice_for(view, ui)
    if choice is None:
        return warn(ui, view, "other_rank")
    return replace(ui, picked=(), cursor=None), Act(move, view.stamp)


def _be_ready(view: View, ui: Ui, now: float) -> Pressed:
    if not view.my_turn or view.my_seat is None:
        return warn(ui, view, "already_ready" if view.my_seat is not None else "watching")
    picked = picked_cards(view, ui)
    if picked:
        what = "card laid out" if picked[0].zone is Zone.HAND else "hand card"
        return warn(ui, view, "pick_other", card=picked[0].text, what=what)
    if now - ui.turn_since < ENTER_GUARD_S:
        return warn(ui, view, "enter_guard")
    return replace(ui, cursor=None), Act(Ready(view.my_seat), view.stamp)


def _not_yet(view: View, ui: Ui) -> Pressed:
    if view.zone is None:
        return warn(ui, view, "watching") if view.my_seat is None else (ui, None)
    if view.stage is Stage.OPENING:
        return warn(ui, view, "hint_opening")
    if view.turn is not None and view.turn != view.my_name:
        return warn(ui, view, "not_your_turn", name=view.turn)
    return warn(ui, view, "hint_drawing")


def _take(view: View, ui: Ui, key: str, now: float) -> Pressed:
    if not view.my_turn or view.my_seat is None:
        return _not_yet(view, ui)
    if view.pick_up_why_not is not None and not any(choice.kind == "pick_up" for choice in view.choices):
        return warn_sentence(ui, view, view.pick_up_why_not)
    if now - ui.turn_since < ENTER_GUARD_S:
        return warn(ui, view, "enter_guard")
    if not any(choice.kind == "pick_up" and not choice.cards for choice in view.choices):
        # Upcards go along under these rules: which, is chosen from the list.
        return _open("choices")(view, ui, "u", now)
    count = len(view.pile.cards) if view.pile is not None else 0
    if count >= LARGE_PILE_CARDS and any(choice.kind == "play" for choice in view.choices):
        return replace(ui, asks="take"), None
    return replace(ui, picked=()), Act(PickUp(view.my_seat), view.stamp)


def _answered(key: str, view: View, ui: Ui) -> Pressed:
    asks, ui = ui.asks, replace(ui, asks="")
    yes = (
        key in ("y", "Y") or (asks == "take" and key in ("p", "P", "pile")) or (asks == "quit" and key == "ctrl-c")
    )
    if not yes:
        # Any other key means no; a key that means something of its own must not do it by accident.
        return ui, None
    match asks:
        case "quit":
            return ui, Leave()
        case "take" if view.my_turn and view.my_seat is not None:
            return replace(ui, picked=()), Act(PickUp(view.my_seat), view.stamp)
        case "kick":
            others = [player for player in view.players if not player.is_me]
            return (ui, Kick(others[ui.row % len(others)].key)) if others else (ui, None)
        case _:
            return ui, None


def _yes(view: View, ui: Ui, key: str, now: float) -> Pressed:
    if key == "enter" and now - ui.stage_since < ENTER_GUARD_S:
        return warn(ui, view, "offer_guard")
    return ui, Answer(True)


def _no(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return ui, Answer(False)


def _admit(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return (ui, Admit(view.door[0].key)) if view.door else warn(ui, view, "nobody_at_door")


def _refuse(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return (ui, Refuse(view.door[0].key)) if view.door else warn(ui, view, "nobody_at_door")


def _bot(view: View, ui: Ui, key: str, now: float) -> Pressed:
    if not ui.can_seat_bots:
        return warn(ui, view, "bots_not_here")
    return replace(ui, busy=text("seating", ui.look.style)), SeatBots(1)


def _choose_row(step: int) -> Callable[[View, Ui, str, float], Pressed]:
    def move(view: View, ui: Ui, key: str, now: float) -> Pressed:
        count = sum(not player.is_me for player in view.players)
        return (replace(ui, row=(ui.row + step) % count) if count else ui), None

    return move


def _kick(view: View, ui: Ui, key: str, now: float) -> Pressed:
    if not any(not player.is_me for player in view.players):
        return warn(ui, view, "kick_who")
    return replace(ui, asks="kick"), None


def _order(view: View, ui: Ui, key: str, now: float) -> Pressed:
    order = "suit" if ui.look.order == "rank" else "rank"
    look = replace(ui.look, order=order)
    said = text(f"order_{order}", ui.look.style)
    return replace(ui, look=look, cursor=None, message=said), Store(look)


def _mute(view: View, ui: Ui, key: str, now: float) -> Pressed:
    muted = not ui.muted
    return replace(ui, muted=muted, message=text("muted" if muted else "unmuted", ui.look.style)), None


def _open(page: str) -> Callable[[View, Ui, str, float], Pressed]:
    def open_page(view: View, ui: Ui, key: str, now: float) -> Pressed:
        # The log opens at its end.
        scroll = 10**6 if page == "log" else 0
        return replace(
            ui, page=page, scroll=scroll, row=0 if page in ("settings", "choices") else ui.row, unread=0
        ), None

    return open_page


def _chat(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return replace(ui, typing=""), None


def _void(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return ui, Void()


def _away(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return ui, Away(not ui.is_away)


def _quit(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return replace(ui, asks="quit", page="", typing=None), None


def _replay(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return ui, Watch()


_ACTIONS: Final[dict[str, Callable[[View, Ui, str, float], Pressed]]] = {
    "rank": press_rank,
    "slot": press_slot,
    "enter": _enter,
    "yes": _yes,
    "no": _no,
    "take": _take,
    "clear": press_clear,
    "left": move_cursor(-1),
    "right": move_cursor(1),
    "space": press_space,
    "order": _order,
    "void": _void,
    "away": _away,
    "admit": _admit,
    "refuse": _refuse,
    "bot": _bot,
    "up": _choose_row(-1),
    "down": _choose_row(1),
    "kick": _kick,
    "replay": _replay,
    "fair": _open("fair"),
    "rules": _open("rules"),
    "chat": _chat,
    "log": _open("log"),
    "mute": _mute,
    "network": _open("network"),
    "evening": _open("evening"),
    "settings": _open("settings"),
    "choices": _open("choices"),
    "help": _open("help"),
    "quit": _quit,
}
"""Action of `client.tui.keys` → what it does."""


# -- typing, pages, clicks ----------------------------------------------------------------------------


def _type(key: str, ui: Ui) -> Pressed:
    typed = ui.typing or ""
    match key:
        case "enter":
            said = " ".join(clean(typed).split())
            return replace(ui, typing=None), Talk(said) if said else None
        case "escape" | "ctrl-c":
            return replace(ui, typing=None), None
        case "backspace":
            return replace(ui, typing=typed[:-1]), None
        case _ if len(key) == 1:
            return replace(ui, typing=(typed + clean(key))[:MAX_TYPED_CHARACTERS]), None
        case _:
            return ui, None


def _on_page(key: str, view: View, ui: Ui) -> Pressed:
    key = key.lower() if len(key) == 1 else key
    if ui.page == "settings" and (
        key in ("up", "down", "left", "right", " ", "enter") or key.startswith("setting:")
    ):
        return _set(key, ui)
    if ui.page == "rules" and key in ("left", "right"):
        if not view.i_host or view.stage not in (Stage.LOBBY, Stage.OVER):
            return warn(ui, view, "no_round_rules", host=view.host)
        return replace(ui, scroll=0), OtherRules(1 if key == "right" else -1)
    if ui.page == "choices" and (key in ("up", "down", "enter") or key.isdigit() or key.startswith("choice:")):
        return _choose(key, view, ui)
    match key:
        case "escape" | "enter" | "?" | "backspace":
            return replace(ui, page="", scroll=0), None
        case "ctrl-c":
            return _quit(view, ui, key, 0.0)
        case "up" | "down" | "pageup" | "pagedown" | "home" | "end" | "scroll-up" | "scroll-down" | " ":
            return replace(ui, scroll=_scrolled(key, ui.scroll)), None
        case "c":
            return replace(ui, typing=""), None
        case "m":
            return _mute(view, ui, key, 0.0)
        case _:
            # Another page's key goes there at once; any other closes this page and does nothing else.
            entry = find(view, key)
            pages = ("fair", "rules", "log", "network", "evening", "settings", "help")
            if entry is not None and entry.action in pages and entry.action != ui.page:
                return _ACTIONS[entry.action](view, ui, key, 0.0)
            return replace(ui, page="", scroll=0), None


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


def moves_of(view: View) -> tuple[Choice, ...]:
    """The choices that are moves of the game."""
    return tuple(choice for choice in view.choices if choice.move is not None)


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
    look = changed(ui.look, SETTINGS[ui.row % count], -1 if key == "left" else 1)
    return replace(ui, look=look), Store(look)


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
        case _:
            return replace(look, mouse=not look.mouse)


def _clicked(key: str, view: View, ui: Ui, now: float) -> Pressed:
    kind, _, value = key.partition(":")
    match kind:
        case "card":
            card = next((each for each in pickable(view, ui.look) if each.position == int(value)), None)
            if card is None:
                return ui, None
            if card.position in ui.picked and len(ui.picked) >= 1 and view.my_turn and view.stage is Stage.PLAY:
                return replace(ui, picked=tuple(p for p in ui.picked if p != card.position)), None
            return toggle(view, ui, card)
        case "rank":
            return pick_rank(view, ui, value)
        case "pile":
            if ui.picked and view.my_turn:
                return _enter(view, ui, "enter", now)
            return _take(view, ui, "p", now)
        case _:
            return ui, None

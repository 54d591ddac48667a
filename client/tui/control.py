"""What a key does: the view, the screen's state and a key become another state, and maybe a command (pure).

A key acts on the view that was on the screen; a move carries its stamp, so the table refuses it if it has changed.
"""

from __future__ import annotations

from dataclasses import replace

from client.cards import JOKER
from client.tui.deeds import ACTIONS, ENTER_GUARD_S, Pressed, answered, press_enter, press_quit, press_take
from client.tui.guide import finished_step
from client.tui.hand import filled_slots, pickable, playable_ranks
from client.tui.keys import GAME, NO_KEYS, PLAYS, RANK_KEYS, Key, context_of, find, key_name
from client.tui.paging import on_page
from client.tui.phrases import text
from client.tui.picking import has_jokers, pick_rank, toggle, warn, warn_sentence, why_not_of
from client.tui.state import Ui
from client.tui.talking import append, press_typing
from client.tui.wording import here
from client.view import Stage, View
from engine.state import Zone


def press(key: str, view: View, ui: Ui, now: float) -> Pressed:
    """What a key leads to. ``key``: a character, a name such as ``enter`` or ``left``, or what was clicked
    (``card:12``, ``rank:7``, ``pile``, ``setting:2``); ``now``: seconds, of the clock of ``ui.turn_since``.
    """
    if ui.typing is not None:
        return press_typing(key, ui)
    ui = replace(ui, message="", is_warning=False, flash=None)
    if ui.asks:
        return answered(key, view, ui)
    if ui.page:
        return on_page(key, view, ui)
    if (":" in key and len(key) > 1) or key == "pile":
        return _clicked(key, view, ui, now)
    if len(key) == 1 and key.isupper():
        key = key.lower()
    entry = find(view, key)
    if entry is None:
        return _unknown(key, view, ui)
    if ui.is_auto and entry.action in PLAYS:
        return warn(ui, view, "auto")
    if ui.is_away and entry.action in PLAYS and context_of(view) in GAME:
        return warn(ui, view, "away_idle")
    if entry.host and not view.i_host:
        return _not_host(entry, view, ui)
    return ACTIONS[entry.action](view, ui, key, now)


def press_unseen(key: str, view: View, ui: Ui) -> Pressed:
    """What a key leads to where the window is too small to show the table: nothing, but leaving can be asked for
    and answered.
    """
    if ui.asks == "quit":
        return answered(key, view, ui)
    return press_quit(view, ui, key, 0.0) if key == "ctrl-c" else (ui, None)


def paste(pasted: str, ui: Ui) -> Ui:
    """Pasted text: into a line that is being typed, else nowhere."""
    if ui.typing is None:
        return replace(ui, message=text("pasted", ui.look.style), is_warning=True)
    return replace(ui, typing=append(ui.typing, pasted))


def follow(before: View, after: View, ui: Ui, now: float) -> Ui:
    """The screen's state after the table has changed: what is picked stays so far as it still makes sense."""
    ui = finished_step(before, after, ui)
    if after.stamp != before.stamp or after.stage is not before.stage:
        ui = replace(ui, asks="" if ui.asks == "take" else ui.asks)
        if after.stage is not before.stage:
            ui = replace(ui, stage_since=now)
            ui = replace(ui, cursor=None, slot=None, message="", is_warning=False)
    if ui.asks == "void" and not after.overdue:
        ui = replace(ui, asks="")
    if (len(after.door) > len(before.door) and after.i_host) or (after.overdue and not before.overdue):
        # What the table asks comes before what was answered to the last key.
        ui = replace(ui, message="", is_warning=False)
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
            why = here(blocked.why_not, after.names, ui.look.style)
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
            return warn(ui, view, "flip_first", slots=" ".join(map(str, filled_slots(view))))
        if why is not None and not (RANK_KEYS[key] == JOKER and not has_jokers(view)):
            return warn_sentence(ui, view, why)
    if key in NO_KEYS:
        return ui, None
    if key == "ctrl-z":
        return warn(ui, view, "no_sleep")
    return warn(ui, view, "key_unknown", key=key_name(key))


def _not_host(entry: Key, view: View, ui: Ui) -> Pressed:
    if entry.action == "enter":
        return warn(ui, view, "next_other", host=view.host)
    return warn(ui, view, "host_only", host=view.host)


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
                return press_enter(view, ui, "enter", now)
            return press_take(view, ui, "p", now)
        case _:
            return ui, None


__all__ = ["ENTER_GUARD_S", "follow", "paste", "press", "press_unseen"]

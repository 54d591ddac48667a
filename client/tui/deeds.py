"""What the actions of the key table do: playing, answering, the table's doings, pages (pure; for ``control``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from client.leaving import what_leaving_does
from client.orders import Act, Admit, Answer, Away, Kick, Refuse, SeatBots, StartRound, Void
from client.tui.guide import step_of
from client.tui.hand import choice_for, filled_slots, moves_of, picked_cards
from client.tui.keys import context_of
from client.tui.lists import SETTINGS
from client.tui.opponents import clock
from client.tui.orders import Command, Leave, Stop, Store, Watch
from client.tui.phrases import text
from client.tui.picking import (
    move_cursor,
    press_clear,
    press_rank,
    press_slot,
    press_space,
    warn,
    warn_sentence,
)
from client.tui.state import Ui
from client.view import Stage, View
from engine.moves import Flip, PickUp, Play, PlayAs, Ready
from engine.state import Zone

ENTER_GUARD_S: Final = 0.25
"""So long after my turn has come Enter does nothing: it was meant for what was there before."""

OVER_GUARD_S: Final = 1.0
"""So long after the end of a round Enter starts no other: who was still playing wants to see how it ended."""

LARGE_PILE_CARDS: Final = 4
"""Taking so many cards when something could be played is asked about once."""

LISTS: Final = frozenset({"settings", "choices", "mute", "options", "clocks"})
"""Pages on which a line is chosen."""

Pressed = tuple[Ui, Command | None]
"""The screen's next state, and what comes of it outside the screen."""


def press_enter(view: View, ui: Ui, key: str, now: float) -> Pressed:
    """Plays what is picked, says ready, starts a round: whatever Enter means here."""
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
            return warn(ui, view, "flip_first", slots=" ".join(map(str, filled_slots(view))))
        return replace(ui, slot=None), Act(Flip(view.my_seat, ui.slot - 1), view.stamp)
    picked = picked_cards(view, ui)
    if not picked:
        playable = any(choice.kind == "play" for choice in view.choices)
        return warn(ui, view, "nothing_picked" if playable else "hint_none")
    move = Play(view.my_seat, tuple(card.position for card in picked))
    choice = choice_for(view, ui)
    if choice is None:
        return _name_jokers(view, ui, view.my_seat)
    return replace(ui, picked=(), cursor=None), Act(move, view.stamp)


def _name_jokers(view: View, ui: Ui, seat: int) -> Pressed:
    """Plays picked wild jokers as what lies beside them; alone the list asks what they count as."""
    picked = picked_cards(view, ui)
    ranks = sorted(card.rank for card in picked)
    rows = {
        choice.move.rank: number
        for number, choice in enumerate(moves_of(view))
        if isinstance(choice.move, PlayAs) and sorted(text[0] for text in choice.cards) == ranks
    }
    if not rows:
        return warn(ui, view, "other_rank")
    if len(rows) == 1:
        move = PlayAs(seat, tuple(sorted(card.position for card in picked)), next(iter(rows)))
        return replace(ui, picked=(), cursor=None), Act(move, view.stamp)
    row = min(rows.values())
    return replace(ui, page="choices", row=row, scroll=0, message=text("joker_what", ui.look.style)), None


def _be_ready(view: View, ui: Ui, now: float) -> Pressed:
    if not view.my_turn or view.my_seat is None:
        return warn(ui, view, "already_ready" if view.my_seat is not None else "watching")
    picked = picked_cards(view, ui)
    if picked:
        what = "an upcard" if picked[0].zone is Zone.HAND else "a hand card"
        return warn(ui, view, "pick_other", card=picked[0].text, what=what)
    if now - ui.turn_since < ENTER_GUARD_S:
        return warn(ui, view, "enter_guard")
    return replace(ui, cursor=None), Act(Ready(view.my_seat), view.stamp)


def _not_yet(view: View, ui: Ui) -> Pressed:
    if view.zone is None:
        return warn(ui, view, "watching" if view.my_seat is None else "no_cards")
    if view.stage is Stage.OPENING:
        return warn(ui, view, "hint_opening")
    if view.turn is not None and view.turn != view.my_name:
        return warn(ui, view, "not_your_turn", name=view.turn)
    return warn(ui, view, "hint_drawing")


def press_take(view: View, ui: Ui, key: str, now: float) -> Pressed:
    """Takes the pile; a large one is asked about where something could be played."""
    if not view.my_turn or view.my_seat is None:
        return _not_yet(view, ui)
    if view.pick_up_why_not is not None and not any(choice.kind == "pick_up" for choice in view.choices):
        return warn_sentence(ui, view, view.pick_up_why_not)
    if now - ui.turn_since < ENTER_GUARD_S:
        return warn(ui, view, "enter_guard")
    if not any(choice.kind == "pick_up" and not choice.cards for choice in view.choices):
        # Upcards go along under these rules: which, is chosen from the list.
        return open_page("choices")(view, ui, "u", now)
    count = len(view.pile.cards) if view.pile is not None else 0
    if count >= LARGE_PILE_CARDS and any(choice.kind == "play" for choice in view.choices):
        return replace(ui, asks="take"), None
    return replace(ui, picked=()), Act(PickUp(view.my_seat), view.stamp)


def answered(key: str, view: View, ui: Ui) -> Pressed:
    """The answer to the question of the screen: any key but yes is no.

    To leaving in a round there is a third one, stopping with the seat kept, and that is what Ctrl-C means there,
    as it does in lines: nothing is lost by pressing it too often.
    """
    asks, ui = ui.asks, replace(ui, asks="")
    if asks == "quit" and key in ("k", "K", "ctrl-c") and what_leaving_does(view):
        return ui, Stop()
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
        case "void":
            return ui, Void()
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
    if ui.seats and len(view.players) >= ui.seats:
        return warn(ui, view, "no_free_seat", count=ui.seats)
    return replace(ui, busy=text("seating", ui.look.style)), SeatBots(1)


def _choose_row(step: int) -> Callable[[View, Ui, str, float], Pressed]:
    def move(view: View, ui: Ui, key: str, now: float) -> Pressed:
        others = [player for player in view.players if not player.is_me]
        if not others:
            return warn(ui, view, "mute_nobody")
        ui = replace(ui, row=(ui.row + step) % len(others))
        if view.stage is Stage.LOBBY:
            return ui, None
        # Only the lobby has a list in which the mark moves.
        return replace(ui, message=text("chosen", ui.look.style, name=others[ui.row].name)), None

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


def open_page(page: str) -> Callable[[View, Ui, str, float], Pressed]:
    """What opens a page."""

    def opened(view: View, ui: Ui, key: str, now: float) -> Pressed:
        # The log opens at its end.
        scroll = 10**6 if page == "log" else 0
        row = 0 if page in LISTS else ui.row
        if page == "settings" and step_of(view, ui):
            # The guide says that this is the way to switch it off.
            row = SETTINGS.index("guide")
        return replace(ui, page=page, scroll=scroll, row=row, unread=0), None

    return opened


def _chat(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return replace(ui, typing=""), None


def _void(view: View, ui: Ui, key: str, now: float) -> Pressed:
    """Asks whether to give the round up, where that may be: it is never done without the question, not even where
    somebody has become overdue since the screen was drawn.
    """
    if not view.in_round or view.stage is Stage.OVER:
        return warn(ui, view, "void_none")
    others = [wait for wait in view.waits if not wait.is_me]
    if view.overdue or any(wait.is_overdue for wait in others):
        return replace(ui, asks="void"), None
    if not others:
        return warn(ui, view, "void_nobody")
    longest = max(others, key=lambda wait: wait.seconds)
    rest = clock(max(1, longest.patience_s - longest.seconds))
    return warn(ui, view, "void_later", name=longest.name, time=rest)


def _away(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return ui, Away(not ui.is_away)


def press_quit(view: View, ui: Ui, key: str, now: float) -> Pressed:
    """Asks whether to leave."""
    return replace(ui, asks="quit", page="", typing=None), None


def _replay(view: View, ui: Ui, key: str, now: float) -> Pressed:
    return ui, Watch()


ACTIONS: Final[dict[str, Callable[[View, Ui, str, float], Pressed]]] = {
    "rank": press_rank,
    "slot": press_slot,
    "enter": press_enter,
    "yes": _yes,
    "no": _no,
    "take": press_take,
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
    "fair": open_page("fair"),
    "rules": open_page("rules"),
    "chat": _chat,
    "log": open_page("log"),
    "mute": open_page("mute"),
    "network": open_page("network"),
    "evening": open_page("evening"),
    "settings": open_page("settings"),
    "choices": open_page("choices"),
    "help": open_page("help"),
    "quit": press_quit,
}
"""Action of `client.tui.keys` → what it does."""

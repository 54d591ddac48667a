"""The two lines above the keys: what there is to ask, to answer, to warn of, or to do next."""

from __future__ import annotations

from typing import Final

from client.leaving import what_leaving_does
from client.lines.narrate import longest_overdue
from client.phrases import WAITS
from client.tui.cells import Row, Span, cells, cut, filled, row, wrap
from client.tui.hand import consequence, filled_slots, picked_cards
from client.tui.keys import context_of
from client.tui.opponents import LATE_S, clock
from client.tui.phrases import text
from client.tui.state import Ui
from client.view import Stage, View
from engine.state import Zone

MESSAGE_ROWS: Final = 2


def message_rows(view: View, ui: Ui, width: int) -> list[Row]:
    """What there is to say or to ask just now, in exactly `MESSAGE_ROWS` rows."""
    said, style = message(view, ui)
    if ui.typing is not None:
        # The end of a long line is what is being typed.
        shown_text = text("name_typed" if ui.types_name else "say", ui.look.style, text=ui.typing)
        while cells(shown_text) > width - 3:
            shown_text = shown_text[1:]
        keys = row(width, Span(" " + text("name_keys" if ui.types_name else "say_keys", ui.look.style), "hint"))
        return [row(width, Span(" " + shown_text, "typing"), Span("_", "cursor")), keys]
    parts = wrap(said, width - 2) if said else []
    if ui.asks == "quit" and len(parts) > MESSAGE_ROWS:
        # No answer may be cut off.
        parts = wrap(text("ask_quit_small", ui.look.style), width - 2)
    return filled([row(width, Span(" " + part, style)) for part in parts], MESSAGE_ROWS, width)


def message(view: View, ui: Ui) -> tuple[str, str]:
    """The sentence for the message lines, and its style: the most urgent of all there is to say."""
    style = ui.look.style
    asked = question(view, ui)
    if ui.is_away and not ui.asks and not ui.message:
        # Whoever is away and reads this has come back: those who knock wait for the host alone.
        said = (asked if view.asked else "", door_words(view, ui), text("hint_away", style))
        return " ".join(part for part in said if part), "warning"
    if ui.message and not ui.asks:
        return ui.message, "warning" if ui.is_warning else "message"
    if asked:
        return asked, "ask"
    others = [player for player in view.players if not player.is_me and player.present]
    if others and all(player.link == "lost" for player in others):
        return text("hint_own_link", style), "warning"
    if view.overdue and view.in_round:
        longest = longest_overdue(view)
        if longest is not None:
            what = WAITS.get(longest.what, longest.what)
            return text("hint_void", style, name=longest.name, time=clock(longest.seconds), what=what), "warning"
    if view.door and view.i_host:
        return door_words(view, ui), "ask"
    does = consequence(view, ui)
    return (does, "does") if does else (hint(view, ui), "hint")


def door_words(view: View, ui: Ui) -> str:
    """Who is at the door, and the keys for it; empty where nobody is or another one decides."""
    if not view.door or not view.i_host:
        return ""
    first = view.door[0]
    return text("ask_door_bot" if first.operator else "ask_door", ui.look.style, name=cut(first.name, 20))


def question(view: View, ui: Ui) -> str:
    """What is asked of me now, by the table or by this client; empty for nothing."""
    style = ui.look.style
    match ui.asks:
        case "quit":
            does = what_leaving_does(view)
            return text(f"ask_quit_{does}", style) + text("ask_keep", style) if does else text("ask_quit", style)
        case "take":
            return text("ask_take", style, count=len(view.pile.cards) if view.pile is not None else 0)
        case "void":
            return text("ask_void", style)
        case "kick":
            others = [player for player in view.players if not player.is_me]
            name = others[ui.row % len(others)].name if others else "?"
            return text("ask_kick", style, name=name)
        case _ if view.asked:
            return text("ask_offer", style, round=view.round or 0)
        case _:
            return ui.busy


def hint(view: View, ui: Ui) -> str:
    """What to do next, or for whom and what the table waits."""
    style = ui.look.style
    waits = [each for each in view.waits if not each.is_me]
    match view.stage:
        case Stage.OFFER | Stage.DEALING | Stage.ARRANGE if not view.in_round:
            return text("hint_watch", style, round=view.round or 0, players=view.roster)
        case Stage.ARRANGE if view.my_turn:
            picked = picked_cards(view, ui)
            if picked:
                return text("hint_arrange_picked", style, card=picked[0].text)
            return text("hint_arrange", style) if context_of(view) == "arrange" and ui.cursor is None else ""
        case Stage.ARRANGE if not ui.is_auto:
            return text("hint_ready", style, players=tuple(each.name for each in waits)) if waits else ""
        case Stage.START:
            return text("hint_start", style)
        case Stage.OPENING:
            return text("hint_opening", style)
        case Stage.PLAY if view.my_turn:
            return _turn_hint(view, ui)
        case Stage.ARRANGE | Stage.PLAY if ui.is_auto:
            return text("auto", style)
        case Stage.PLAY if view.turn == view.my_name:
            return text("hint_drawing", style)
        case Stage.PLAY:
            return _wait_hint(view, ui)
        case _:
            return " ".join(
                text("hint_wait_for", style, name=each.name, what=WAITS.get(each.what, each.what))
                for each in waits
                if each.seconds >= 2
            )


def _turn_hint(view: View, ui: Ui) -> str:
    style = ui.look.style
    if view.zone is Zone.DOWNCARDS:
        if ui.slot is not None:
            return text("hint_blind_chosen", style, slot=ui.slot)
        return text("hint_blind", style, slots=" ".join(map(str, filled_slots(view))))
    kinds = {choice.kind for choice in view.choices}
    if kinds & {"name", "done"}:
        return text("hint_more", style)
    more = " " + text("hint_more", style) if kinds & {"play_as", "chance"} else ""
    if "play_as" in kinds and "play" not in kinds:
        return text("hint_joker", style)
    if "play" in kinds:
        return text("hint_pick", style) + more
    return text("hint_none", style) + more if "pick_up" in kinds else text("hint_more", style)


def _wait_hint(view: View, ui: Ui) -> str:
    style = ui.look.style
    picked = picked_cards(view, ui)
    if picked:
        return text("hint_premove", style, cards=tuple(card.text for card in picked))
    late = [each for each in view.waits if not each.is_me and each.seconds >= LATE_S]
    if late:
        first = late[0]
        player = view.player(first.name)
        lost = player is not None and player.link == "lost"
        what = text("hint_wait_for", style, name=first.name, what=WAITS.get(first.what, first.what))
        if first.what == "move" and not lost:
            return text("hint_wait_late", style, name=first.name, time=clock(first.seconds), what="")
        return f"{what} ({clock(first.seconds)})"
    return text("hint_wait", style, name=view.turn) if view.turn is not None else ""

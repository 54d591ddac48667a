"""The table while a round is played: the others, stock and waste, the log, my own cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from client.cards import card_label, card_labels, number_word, rank_word
from client.lines.narrate import fits_words, place_word
from client.phrases import WAITS
from client.tui.cells import Row, Span, beside, cells, cut, filled, fit, line, row, span, wrap
from client.tui.hand import consequence, hand_rows, key_of, picked_cards, suit_style
from client.tui.keys import context_of, shown
from client.tui.phrases import text
from client.tui.state import Look, Ui
from client.view import PlayerRow, Stage, View
from engine.state import Zone

COLUMNS_HEIGHT: Final = 22
"""From this height on four opponents at most have a column each; else a line each."""

MAX_COLUMNS: Final = 4
LATE_S: Final = 10
"""A person thinks for a while; from here on it is shown for how long."""

MESSAGE_ROWS: Final = 2
WIDE_TITLE: Final = 76
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


# -- title and bottom ---------------------------------------------------------------------------------


def title_row(view: View, ui: Ui, width: int) -> Row:
    """The first line: where we are, and how the links are."""
    style = ui.look.style
    code = {
        Stage.LOBBY: "title_lobby",
        Stage.OFFER: "title_offer",
        Stage.DEALING: "title_deal",
        Stage.ARRANGE: "title_arrange",
        Stage.ENDING: "title_over",
        Stage.OVER: "title_over",
    }.get(view.stage, "title_play")
    has_words = bool(view.words) and view.stage is not Stage.LOBBY
    # The table words are worth more than the table's name.
    table = cut(view.table, 20) if width >= WIDE_TITLE or not has_words else ""
    left = text(code, style, table=table, round=view.round or 0).lstrip()
    left = (" SHITHEAD  " if width >= WIDE_TITLE or not has_words else " ") + left
    if has_words:
        left += "  " + text("words", style, words="-".join(view.words))
    others = [player for player in view.players if not player.is_me and player.present]
    good = sum(player.link != "lost" for player in others)
    links = text("links", style, good=good, all=len(others)) + " " if others else ""
    style_name = "title" if good == len(others) else "title bad"
    return row(width, Span(cut(left, width - cells(links) - 1), "title"), right=(Span(links, style_name),))


def footer_row(view: View, ui: Ui, width: int) -> Row:
    """The last line: the keys that matter now; each can be clicked."""
    spans: list[Span] = [Span(" ")]
    used = 1
    found = list(shown(view, ui))
    # Help and leaving stand at the right, whatever else is cut.
    tail = [each for each in found if each.action in ("help", "quit")]
    right: list[Span] = []
    for each in tail:
        right += [Span(f" {each.label}", "footkey", each.keys[0]), Span(f" {each.short} ", "footer", each.keys[0])]
    room = width - sum(cells(each.text) for each in right)
    for each in found:
        if each in tail:
            continue
        label = text("card_keys", ui.look.style) if each.action == "rank" else each.label
        part = cells(label) + cells(each.short) + 3
        if used + part > room:
            break
        click = "" if each.action in ("rank", "slot") else each.keys[0]
        spans += [Span(label, "footkey", click), Span(f" {each.short}  ", "footer", click)]
        used += part
    return row(width, *spans, right=right)


# -- opponents ----------------------------------------------------------------------------------------


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
    spans.append(Span(f"+{player.downcards}{text('blind', look.style)[0]} ", "back"))
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
        lost = text("lost_for", style, time=clock(wait.seconds)) if wait is not None else text("lost", style)
        return Span(lost if player.present else text("left_table", style), "bad")
    if view.stage is Stage.ARRANGE:
        return Span(text("ready" if player.status == "ready" else "not_ready", style), "dim")
    if wait is not None and wait.seconds >= LATE_S:
        return Span(text("late", style, time=clock(wait.seconds)), "wait")
    return link_span(player, ui)


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


# -- stock, waste, log --------------------------------------------------------------------------------


def middle_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """Stock and waste at the left, the log at the right, in exactly ``height`` rows."""
    left_width = min(46, width * 57 // 100)
    right_width = width - left_width - 1
    left = _art(view, ui, left_width) if height >= 7 else _pile_text(view, ui, left_width)
    log = log_rows(ui, right_width, height)
    return beside(filled(left, height, left_width), filled(log, height, right_width), left_width, right_width, "|")


def pile_facts(view: View, ui: Ui) -> list[str]:
    """What the waste asks for, in short lines."""
    pile, style = view.pile, ui.look.style
    if pile is None:
        return []
    if not pile.cards:
        return [text("lead_any", style)]
    lines = []
    if pile.run > 1:
        lines.append(text("run", style, cards=pile.cards[-pile.run :]))
        if pile.run == pile.burns_at - 1:
            lines.append(text("one_more", style, rank=pile.cards[-1][0]))
    lines.append(text("play_fits" if view.my_turn else "fits", style, fits=fits_words(pile.fits)))
    return lines


def _art(view: View, ui: Ui, width: int) -> list[Row]:
    style, pile = ui.look.style, view.pile
    if view.stage is Stage.ARRANGE:
        return _guide(view, ui, width)
    if ui.flash is not None:
        return _flash_rows(ui, width)
    back = [".-----.", "|#####|", f"|#{view.stock:>3}#|", "|#####|", "'-----'"]
    if not view.stock:
        back = [".     .", "       ", f"{text('empty', style):^7}", "       ", "'     '"]
    front, colour = [".     .", "       ", f"{text('empty', style):^7}", "       ", "'     '"], "dim"
    if pile is not None and pile.cards:
        face, colour = card_label(pile.cards[-1], style), suit_style(pile.cards[-1])
        rank, suit = face[:-1], face[-1]
        front = [".-----.", f"|{rank:<5}|", f"|  {suit}  |", f"|{rank:>5}|", "'-----'"]
    count = len(pile.cards) if pile is not None else 0
    head = row(
        width,
        Span(f"  {text('stock', style):<10}", "label"),
        Span(text("waste_count", style, count=count), "label", "pile"),
    )
    facts = [part for fact in pile_facts(view, ui) for part in wrap(fact, max(10, width - 22))]
    facts = ["", *facts][:5] if len(facts) < 5 else facts[:5]
    rows = [head]
    for number in range(5):
        fact = facts[number] if number < len(facts) else ""
        rows.append(
            row(
                width,
                Span(f"  {back[number]}  ", "back"),
                Span(f" {front[number]}  ", colour, "pile"),
                Span(fact, "hint"),
            )
        )
    rows.append(row(width, Span("  " + text("burnt", style, count=view.burnt), "dim")))
    return rows


def _flash_rows(ui: Ui, width: int) -> list[Row]:
    flash = ui.flash
    if flash is None:
        return []
    edge = "~" * min(width - 4, cells(flash.text) + 4)
    return [
        row(width),
        row(width, Span(f"  {edge}", "flash")),
        row(width, Span(f"    {flash.text}", "flash")),
        row(width, Span(f"  {edge}", "flash")),
    ]


def _guide(view: View, ui: Ui, width: int) -> list[Row]:
    said = text("guide_arrange", ui.look.style)
    return [row(width)] + [row(width, Span("  " + part, "hint")) for part in wrap(said, width - 4)]


def _pile_text(view: View, ui: Ui, width: int) -> list[Row]:
    style, pile = ui.look.style, view.pile
    if view.stage is Stage.ARRANGE:
        return _guide(view, ui, width)[1:]
    if ui.flash is not None:
        return [row(width, Span("  " + ui.flash.text, "flash"))]
    cards = pile.cards if pile is not None else ()
    head = [
        Span(f" {text('stock', style)} {view.stock}  ", "label"),
        Span(f"{text('waste', style)} {len(cards)} ", "label", "pile"),
    ]
    top = cards[-max(1, pile.run if pile is not None else 1) :]
    for card in top[-4:]:
        head += [Span("[", suit_style(card), "pile"), card_span(card, ui.look), Span("]", suit_style(card))]
    rows = [row(width, *head)]
    for fact in pile_facts(view, ui)[-2:]:
        rows += [row(width, Span(" " + part, "hint")) for part in wrap(fact, width - 1)]
    return rows


def log_rows(ui: Ui, width: int, height: int) -> list[Row]:
    """The newest lines of the log that fit, oldest first, below a heading."""
    if height <= 0:
        return []
    head = text("log_new", ui.look.style, count=ui.unread) if ui.unread else text("log", ui.look.style)
    lines: list[Row] = []
    for entry in reversed([each for each in ui.log if each.kind != "chat" or not ui.muted]):
        if len(lines) >= height - 1:
            break
        style = "chat" if entry.kind == "chat" else "log"
        parts = wrap(entry.text, max(8, width - 3))
        for number, part in reversed(list(enumerate(parts))):
            lines.append(row(width, Span((" " if number == 0 else "   ") + part, style)))
    return [row(width, Span(" " + head, "label", "l")), *reversed(lines[: height - 1])]


# -- my own part --------------------------------------------------------------------------------------


def me_row(view: View, ui: Ui, width: int) -> Row:
    """The line above my cards: my upcards, my blind cards, whether it is my turn."""
    look, style = ui.look, ui.look.style
    me = next((player for player in view.players if player.is_me), None)
    if me is None or me.seat is None:
        return row(width, Span("  " + text("watching", style), "hint"))
    if me.status in ("out", "left"):
        code = "hint_out" if me.status == "out" else "hint_gave_up"
        return row(width, Span("  " + text(code, style, place=place_word(me.place or 0)), "good"))
    in_turn = view.turn == view.my_name and view.stage is Stage.PLAY
    name = text("you_play" if in_turn else "you_wait", style, name=cut(me.name, 12))
    spans = [Span(name + "  ", "turn" if in_turn else "name")]
    if view.stage is not Stage.ARRANGE and view.zone is Zone.HAND:
        spans.append(Span(f" {text('up', style)}  ", "label"))
        for card in me.upcards:
            spans += [card_span(card, look), Span("  ")]
    if view.zone is not Zone.DOWNCARDS:
        slots = " ".join(BACK for there in me.slots if there)
        spans += [Span(f" {text('blind', style)}  ", "label"), Span(slots, "back")]
    right: tuple[Span, ...] = ()
    if in_turn:
        wait = next((each for each in view.waits if each.is_me), None)
        late = wait is not None and wait.seconds >= LATE_S
        said = (
            text("your_turn_time", style, time=clock(wait.seconds)) if late and wait else text("your_turn", style)
        )
        right = (Span(said + " ", "turn"),)
    return row(width, *spans, right=right)


def own_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """My cards with their keys."""
    if view.zone is Zone.DOWNCARDS and view.stage is not Stage.ARRANGE:
        me = next((player for player in view.players if player.is_me), None)
        cards, keys = [Span("   ")], [Span("   ")]
        for number, there in enumerate(me.slots if me is not None else ()):
            if there:
                chosen = ui.slot == number + 1
                face = f"[{BACK}]" if chosen else f" {BACK} "
                cards.append(Span(f"{face}   ", "picked" if chosen else "back", str(number + 1)))
                keys.append(Span(f" {number + 1}".ljust(7), "key", str(number + 1)))
        return [row(width, *cards), row(width, *keys)]
    if view.zone is None:
        return []
    return hand_rows(view, ui, width, height)


def message_rows(view: View, ui: Ui, width: int) -> list[Row]:
    """What there is to say or to ask just now, in exactly `MESSAGE_ROWS` rows."""
    said, style = message(view, ui)
    if ui.typing is not None:
        # The end of a long line is what is being typed.
        shown_text = text("say", ui.look.style, text=ui.typing)
        while cells(shown_text) > width - 3:
            shown_text = shown_text[1:]
        return filled([row(width, Span(" " + shown_text, "typing"), Span("_", "cursor"))], MESSAGE_ROWS, width)
    parts = wrap(said, width - 2) if said else []
    return filled([row(width, Span(" " + part, style)) for part in parts], MESSAGE_ROWS, width)


def message(view: View, ui: Ui) -> tuple[str, str]:
    """The sentence for the message lines, and its style: the most urgent of all there is to say."""
    style = ui.look.style
    asked = question(view, ui)
    if ui.is_away and not ui.asks and not ui.message:
        return text("hint_away", style), "warning"
    if ui.message and not ui.asks:
        return ui.message, "warning" if ui.is_warning else "message"
    if asked:
        return asked, "ask"
    others = [player for player in view.players if not player.is_me and player.present]
    if others and all(player.link == "lost" for player in others):
        return text("hint_own_link", style), "warning"
    if view.overdue:
        longest = max((each for each in view.waits if not each.is_me), key=lambda each: each.seconds, default=None)
        if longest is not None:
            return text("hint_void", style, name=longest.name, time=clock(longest.seconds)), "warning"
    if view.door and view.i_host:
        code = "ask_door_bot" if view.door[0].operator else "ask_door"
        return text(code, style, name=view.door[0].name), "ask"
    does = consequence(view, ui)
    return (does, "does") if does else (hint(view, ui), "hint")


def question(view: View, ui: Ui) -> str:
    """What is asked of me now, by the table or by this client; empty for nothing."""
    style = ui.look.style
    match ui.asks:
        case "quit":
            mid = view.in_round and view.stage not in (Stage.LOBBY, Stage.OFFER, Stage.OVER)
            return text("ask_quit_round" if mid else "ask_quit", style)
        case "take":
            return text("ask_take", style, count=len(view.pile.cards) if view.pile is not None else 0)
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
        return text("hint_blind_chosen", style, slot=ui.slot) if ui.slot is not None else text("hint_blind", style)
    kinds = {choice.kind for choice in view.choices}
    if kinds & {"name", "done"}:
        return text("hint_more", style)
    more = " " + text("hint_more", style) if kinds & {"play_as", "chance"} else ""
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


def table_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """The whole screen of a round in play or being arranged."""
    top = [title_row(view, ui, width), *opponent_rows(view, ui, width, height), line(width)]
    own = own_rows(view, ui, width, height)
    bottom = [line(width), me_row(view, ui, width)]
    if height >= COLUMNS_HEIGHT:
        bottom.append(row(width))
    bottom += [*own, *message_rows(view, ui, width)]
    if height >= COLUMNS_HEIGHT:
        bottom.append(line(width))
    bottom.append(footer_row(view, ui, width))
    room = height - len(top) - len(bottom)
    if room < 1:
        # Very many cards on a small screen: the log goes first, then the line below the others.
        rest = [*top[: len(top) - 1], *bottom[:-1]]
        return [*filled(rest, height - 1, width), bottom[-1]]
    return [*top, *middle_rows(view, ui, width, room), *bottom]


__all__ = [
    "card_labels",
    "card_span",
    "clock",
    "footer_row",
    "key_of",
    "link_span",
    "message_rows",
    "number_word",
    "rank_word",
    "span",
    "table_rows",
    "title_row",
]

"""The table while a round is played: the others, stock and pile, the log, my own cards."""

from __future__ import annotations

from typing import Final

from client.cards import card_label
from client.lines.narrate import fits_words, place_word
from client.tui.cells import Row, Span, beside, cells, cut, filled, fit, line, row, wrap
from client.tui.hand import hand_rows, suit_style
from client.tui.keys import shown
from client.tui.messages import message_rows
from client.tui.opponents import BACK, COLUMNS_HEIGHT, LATE_S, card_span, clock, opponent_rows
from client.tui.phrases import text
from client.tui.side import MIN_LOG_ROWS, side_rows
from client.tui.state import Ui
from client.view import Stage, View
from engine.state import Zone

WIDE_TITLE: Final = 76
"""From this width on there is room for the table's name beside its words."""


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
    words = "  " + text("words", style, words="-".join(view.words)) if has_words else ""
    others = [player for player in view.players if not player.is_me and player.present]
    good = sum(player.link != "lost" for player in others)
    links = text("links", style, good=good, all=len(others)) + " " if others else ""
    style_name = "title" if good == len(others) else "title bad"
    is_wide = width >= WIDE_TITLE or not has_words

    def left(code: str, table: str, head: str) -> str:
        progress = deal_progress(view, ui)
        return head + text(code, style, table=table, round=view.round or 0, progress=progress).lstrip() + words

    # The table words are worth more than anything else here: whoever can't read them whole can't compare them.
    name, head = (cut(view.table, 20), " SHITHEAD  ") if is_wide else ("", " ")
    tries = [left(code, name, head), left(code, "", head), left(code, "", " ")]
    if has_words:
        tries.append(left("title_short", "", " "))
    room = width - cells(links) - 1
    fits = next((each for each in tries if cells(each) <= room), tries[-1])
    return row(width, Span(fit(fits, width - cells(links)), "title"), right=(Span(links, style_name),))


def deal_progress(view: View, ui: Ui) -> str:
    """How far the deal has come: the first step that not everybody has done."""
    style, deal = ui.look.style, view.deal
    if deal is None:
        return ""
    steps = {"accepted": deal.accepted, "shuffled": deal.shuffled, "proven": deal.proven, "agreed": deal.agreed}
    for step, done in steps.items():
        if done < deal.players:
            return text(f"progress_{step}", style, done=done, all=deal.players)
    return text("progress_cards", style)


def footer_row(view: View, ui: Ui, width: int, log_rows: int = MIN_LOG_ROWS) -> Row:
    """The last line: the keys that matter now; each can be clicked. ``log_rows``: how many rows the log has, which
    says itself what of the talk is new only where it has a heading.
    """
    spans: list[Span] = [Span(" ")]
    used = 1
    found = list(shown(view, ui))
    # Help and leaving stand at the right, whatever else is cut.
    tail = [each for each in found if each.action in ("help", "quit")]
    right: list[Span] = []
    if ui.unread and log_rows < MIN_LOG_ROWS:
        said = text("foot_new", ui.look.style, count=ui.unread)
        right += [Span(" L", "footkey", "l"), Span(f" {said} ", "footer", "l")]
    for each in tail:
        right += [Span(f" {each.label}", "footkey", each.keys[0]), Span(f" {each.short} ", "footer", each.keys[0])]
    room = width - sum(cells(each.text) for each in right)
    for each in found:
        if each in tail:
            continue
        label = text("card_keys", ui.look.style) if each.action == "rank" else each.label
        # Where there is little room, what P does is worth more than that a key can be pressed again.
        short = each.short if width >= WIDE_TITLE else each.short.partition(",")[0]
        part = cells(label) + cells(short) + 3
        if used + part > room:
            break
        click = "" if each.action in ("rank", "slot") else each.keys[0]
        spans += [Span(label, "footkey", click), Span(f" {short}  ", "footer", click)]
        used += part
    return row(width, *spans, right=right)


# -- stock, pile, log --------------------------------------------------------------------------------


def middle_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """Stock and pile at the left, the log at the right, in exactly ``height`` rows."""
    left_width = min(46, width * 57 // 100)
    right_width = width - left_width - 1
    left = _art(view, ui, left_width) if height >= 7 else _pile_text(view, ui, left_width, height)
    log = side_rows(view, ui, right_width, height)
    return beside(filled(left, height, left_width), filled(log, height, right_width), left_width, right_width, "|")


def pile_facts(view: View, ui: Ui) -> list[str]:
    """What the pile asks for, in short lines."""
    pile, style = view.pile, ui.look.style
    if pile is None:
        return []
    if not pile.cards:
        return [text("lead_any", style)]
    lines = []
    if pile.run > 1:
        lines.append(text("run", style, cards=pile.cards[-pile.run :]))
        if pile.run == pile.burns_at - 1:
            lines.append(text("one_more", style, rank=pile.top))
    counts_as = dict(pile.named).get(pile.cards[-1])
    if counts_as is not None:
        lines.append(text("counts_as", style, rank=counts_as))
    lines.append(text("play_fits" if view.my_turn else "fits", style, fits=fits_words(pile.fits, pile.to_beat)))
    return lines


def _art(view: View, ui: Ui, width: int) -> list[Row]:
    style, pile = ui.look.style, view.pile
    if view.stage is Stage.ARRANGE:
        return [row(width), *_exchange(ui, width, 5)]
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


def _exchange(ui: Ui, width: int, height: int) -> list[Row]:
    """Why cards are exchanged, in as many words as there is room for."""
    style = ui.look.style
    parts = wrap(text("exchange_first", style), width - 4)
    if len(parts) > height:
        parts = wrap(text("exchange_short", style), width - 2)
    return [row(width, Span(f"  {part}", "hint")) for part in parts]


def _pile_text(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    style, pile = ui.look.style, view.pile
    if view.stage is Stage.ARRANGE:
        return _exchange(ui, width, height)
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
    is_wide = width >= WIDE_TITLE
    gap = "  " if is_wide else " "
    name = text("you_play" if in_turn else "you_wait", style, name=cut(me.name, 12))
    spans = [Span(name + gap, "turn" if in_turn else "name")]
    if view.stage is not Stage.ARRANGE and view.zone in (Zone.UPCARDS, Zone.DOWNCARDS):
        code = "your_upcards" if view.zone is Zone.UPCARDS else "your_downcards"
        spans.append(Span(f" {text(code, style)}{gap}", "label"))
    if view.stage is not Stage.ARRANGE and view.zone is Zone.HAND and me.upcards:
        spans.append(Span(f" {text('up', style)}{gap}", "label"))
        for card in me.upcards:
            spans += [card_span(card, look), Span(gap)]
    if view.zone is not Zone.DOWNCARDS and any(me.slots):
        spans += _blind_left(me.slots, ui, is_wide or view.stage is Stage.ARRANGE)
    is_timed = in_turn or (view.stage is Stage.ARRANGE and view.my_turn)
    return row(width, *spans, right=_my_clock(view, ui, is_wide) if is_timed else ())


def _blind_left(slots: tuple[bool, ...], ui: Ui, is_wide: bool) -> list[Span]:
    style = ui.look.style
    if not is_wide:
        return [Span(" " + text("blind_short", style, count=sum(slots)), "back")]
    backs = " ".join(BACK for there in slots if there)
    return [Span(f" {text('blind', style)}  ", "label"), Span(backs, "back")]


def _my_clock(view: View, ui: Ui, is_wide: bool) -> tuple[Span, ...]:
    """That it is my turn, and how long it still lasts, or after a while for how long it has lasted."""
    style = ui.look.style
    wait = next((each for each in view.waits if each.is_me), None)
    arranging = view.stage is Stage.ARRANGE
    if wait is not None and wait.limit_s:
        code = "time_left" if arranging else "your_turn_left" if is_wide else "your_turn_left_short"
        return (Span(text(code, style, time=clock(max(0, wait.limit_s - wait.seconds))) + " ", "turn"),)
    if arranging:
        return ()
    if wait is None or wait.seconds < LATE_S:
        return (Span(text("your_turn", style) + " ", "turn"),)
    code = "your_turn_time" if is_wide else "your_turn_short"
    return (Span(text(code, style, time=clock(wait.seconds)) + " ", "turn"),)


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
    room = height - len(top) - len(bottom) - 1
    bottom.append(footer_row(view, ui, width, max(0, room)))
    if room < 1:
        # Very many cards on a small screen: the log goes first, then the line below the others.
        rest = [*top[: len(top) - 1], *bottom[:-1]]
        return [*filled(rest, height - 1, width), bottom[-1]]
    return [*top, *middle_rows(view, ui, width, room), *bottom]

"""The screens between rounds: the lobby, the deal, the end of a round."""

from __future__ import annotations

from typing import Final

from client.clocks import in_short
from client.evening import played, sums
from client.fairness import STOPPED, how_far
from client.lines.narrate import place_word
from client.lines.show import LOOPBACK
from client.phrases import WAITS
from client.sentences import render
from client.tui.cells import Row, Span, cells, cut, filled, fit, line, row, span, wrap
from client.tui.guide import guide_text
from client.tui.messages import message_rows
from client.tui.opponents import link_span
from client.tui.phrases import text
from client.tui.side import MIN_LOG_ROWS, side_rows
from client.tui.state import Ui
from client.tui.table import footer_row, title_row
from client.view import PlayerRow, Stage, View
from engine.rules import RuleSet, changed_items
from p2p.rounds.audit import Verdict
from p2p.rounds.snapshot import STEPS

RESULT_CELLS: Final = 34
"""``***       YOU ARE THE SHITHEAD`` fits in."""
MAX_SCORE_ROUNDS: Final = 4
"""Rounds beside the result; the page W has more."""
SCORE_CELLS: Final = 22
"""A name and the number of lost rounds; a round takes four cells more."""
ROOMY_HEIGHT: Final = 20
"""From here on there is room for what is good to know, below it only for what matters now."""
ROOMY_SIDE_ROWS: Final = 8
"""The guide, a blank line and the log with its heading: with less, no line is left empty above them."""
WIDE: Final = 100
"""From this width on there is room for dates."""
DOT: Final = "..."
MAX_RULES_ROWS: Final = 4
"""So much of the rules is read before a yes; those that differ in more stand on the page R."""


def framed(view: View, ui: Ui, body: list[Row], width: int, height: int) -> list[Row]:
    """A screen of a title, ``body``, the log in what room is left, messages and keys."""
    top = [title_row(view, ui, width), line(width)]
    bottom = [*message_rows(view, ui, width), line(width)]
    room = height - len(top) - len(bottom) - 1
    if len(body) > room:
        # The line under the title is worth less than the last of ten players.
        top, room = top[:1], room + 1
    rest = room - len(body)
    if rest > (ROOMY_SIDE_ROWS if guide_text(view, ui) else MIN_LOG_ROWS):
        body, rest = [*body, row(width)], rest - 1
    body = [*body, *side_rows(view, ui, width, rest)]
    return [*top, *filled(body, room, width), *bottom, footer_row(view, ui, width, rest)]


# -- lobby --------------------------------------------------------------------------------------------


def lobby_rows(view: View, ui: Ui, rules: RuleSet, seats: int, width: int, height: int) -> list[Row]:
    """Who is here, who is at the door, how others come in, what is played."""
    body = [_head(ui, width)]
    others = [player for player in view.players if not player.is_me]
    marked = others[ui.row % len(others)] if others and view.i_host else None
    for number, player in enumerate(view.players):
        body.append(_player_row(number + 1, player, view, ui, width, player is marked))
    style = ui.look.style
    if view.i_host and ui.can_seat_bots and len(view.players) < seats and view.stage is Stage.LOBBY:
        free = Span(f"  {len(view.players) + 1:>2}   {text('no_seat', style):<14}", "dim")
        body.append(row(width, free, Span(text("press_bot", style), "hint", "b")))
    if any(player.is_bot for player in view.players) and height >= ROOMY_HEIGHT:
        body.append(row(width, Span("       " + text("bots_seen", style), "dim")))
    body += _door(view, ui, width)
    if height >= ROOMY_HEIGHT:
        body.append(row(width))
    body += _joining(view, ui, width, height)
    body += _rules_rows(view, rules, ui, width, MAX_RULES_ROWS if view.stage is Stage.OFFER else 1)
    body += _clocks(view, ui, width)
    if view.stage is Stage.LOBBY:
        body.append(row(width, Span("  " + next_words(view, ui), "hint", "enter")))
    return framed(view, ui, body, width, height)


def next_words(view: View, ui: Ui) -> str:
    """How a round begins."""
    style = ui.look.style
    if sum(player.present for player in view.players) < 2:
        return text("start_alone" if view.i_host and ui.can_seat_bots else "next_alone", style)
    return text("lobby_start", style) if view.i_host else text("lobby_wait", style, host=view.host)


def rules_words(view: View, rules: RuleSet, ui: Ui) -> str:
    """The rules in a few words; a guest knows none before a round is offered."""
    if view.rules is None and not view.i_host:
        return text("rules_untold", ui.look.style)
    changed = ", ".join(f"{name} {value}" for name, value in changed_items(rules))
    style = ui.look.style
    return text("rules_changed", style, options=changed) if changed else text("rules_default", style)


def _rules_rows(view: View, rules: RuleSet, ui: Ui, width: int, most: int) -> list[Row]:
    """The rules in a few words, in at most so many rows; R has them in sentences."""
    head = f" {text('rules_head', ui.look.style)}  "
    words = rules_words(view, rules, ui)
    parts = wrap(words, width - cells(head)) if most > 1 else [words]
    shown = [*parts[: most - 1], " ".join(parts[most - 1 :])] if len(parts) > most else parts
    heads = [head, *(" " * cells(head) for _ in shown[1:])]
    return [
        row(width, Span(each, "label"), Span(part, "text", "r")) for each, part in zip(heads, shown, strict=True)
    ]


def _clocks(view: View, ui: Ui, width: int) -> list[Row]:
    """The clocks, where they are unusual; a guest knows none before a round is offered."""
    if ui.clocks.are_usual or (view.clocks is None and not view.i_host):
        return []
    style = ui.look.style
    head = Span(f" {text('clocks_head', style)}  ", "label")
    return [row(width, head, Span(in_short(ui.clocks), "message", "r"))]


def _head(ui: Ui, width: int) -> Row:
    style = ui.look.style
    name = max(12, min(26, width * 26 // 100))
    said = f" {text('seat_head', style):<5} {text('player_head', style):<{name}}"
    said += f" {text('state_head', style):<12} {text('link_head', style):<10} {text('identity_head', style)}"
    return row(width, Span(said, "label"))


def _player_row(number: int, player: PlayerRow, view: View, ui: Ui, width: int, is_marked: bool) -> Row:
    style = ui.look.style
    name_room = max(12, min(26, width * 26 // 100))
    marks = [
        text(code, style)
        for code, holds in (("you", player.is_me), ("host", player.is_host), ("bot", player.is_bot))
        if holds
    ]
    tail = f" ({', '.join(marks)})" if marks else ""
    name = cut(player.name, max(4, name_room - cells(tail))) + tail
    link = link_span(player, ui)
    return row(
        width,
        Span(f" {'>' if is_marked else ' '}{number:>2}   ", "key"),
        Span(fit(name, name_room) + " ", "turn" if player.is_me else "name"),
        Span(fit(_state(player, view, ui), 12) + " ", "text"),
        Span(fit(link.text, 10) + " ", link.style),
        _identity(player, ui, width),
    )


def _state(player: PlayerRow, view: View, ui: Ui) -> str:
    style = ui.look.style
    if not player.present:
        return text("left_table", style)
    if view.stage is Stage.OFFER and player.name in view.roster:
        return text("state_said_yes" if "accept" in player.steps else "state_asked", style)
    return text("state_here", style)


def _identity(player: PlayerRow, ui: Ui, width: int) -> Span:
    style = ui.look.style
    if player.is_me or player.is_bot:
        return Span("--", "dim")
    if player.met == "renamed-key":
        return Span(text("renamed", style), "bad")
    if player.met == "known":
        since = text("known", style, count=player.rounds_before, date=player.met_at[:10])
        return Span(since if width >= WIDE else text("known_short", style, count=player.rounds_before), "good")
    return Span(text("new", style), "dim")


def _door(view: View, ui: Ui, width: int) -> list[Row]:
    style = ui.look.style
    rows: list[Row] = []
    for number, who in enumerate(view.door[:3]):
        said = text(
            "door_row" if view.i_host else "door_row_other",
            style,
            name=who.name,
            address=who.address,
            host=view.host,
        )
        head = text("door_head", style) if number == 0 else ""
        rows.append(row(width, Span(f" {head:<12}", "label"), Span(said, "ask", "+" if view.i_host else "")))
    return rows


def _joining(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    style = ui.look.style
    outside = [address for address in view.addresses if not address.startswith(LOOPBACK)]
    if not outside:
        return [row(width, Span(" " + text("join_none", style), "dim"))]
    rows = [row(width, Span(" " + text("join_head", style), "label"))]
    code = "no_mdns" if "no_mdns" in view.notices else "join_same"
    rows.append(row(width, Span("   " + text(code, style), "text")))
    words = join_words(outside[0], view.me)
    if words is not None:
        said_words = text("join_words" if width >= 76 else "join_words_short", style, words=words)
        rows.append(row(width, Span("   " + said_words, "text")))
    for address in outside[: 1 if words or height < ROOMY_HEIGHT else 2]:
        rows.append(row(width, Span("   " + text("join_address", style, address=address), "text")))
    return rows


def join_words(address: str, key: bytes) -> str | None:
    """The four words for an address of mine; None where it has none."""
    from p2p.errors import NetworkProblem
    from p2p.network.addresses import parse_address
    from p2p.network.join_words import make_join_words

    try:
        return make_join_words(parse_address(address), key)
    except NetworkProblem:
        return None


# -- the deal -----------------------------------------------------------------------------------------


def deal_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """The deal as it happens: a line a player, a column a step, with the seconds it took."""
    style = ui.look.style
    has_times = width >= 76
    room = 10 if has_times else 7
    name_room = max(8, width - 4 - 6 * room)
    head = [Span("  " + fit(text("deal_head", style), name_room) + " ", "label")]
    head += [Span(fit(text(f"step_{step}", style), room), "label") for step in STEPS]
    body = [row(width, *head)]
    for player in view.players:
        if player.name not in view.roster:
            continue
        spans = [Span("  " + fit(player.name, name_room) + " ", "turn" if player.is_me else "name")]
        first = True
        for step in STEPS:
            if step in player.steps:
                at = ui.steps.get((player.key, step))
                took = f" {max(0.0, at - ui.began):.1f}" if at is not None and has_times else ""
                spans.append(Span(fit(f"{text('ok', style)}{took}", room), "good"))
            else:
                spans.append(Span(fit(DOT if first else "", room), "wait"))
                first = False
        body.append(row(width, *spans))
    body.append(row(width))
    body += [row(width, Span("  " + part, "hint")) for part in wrap(text("hint_deal", style), width - 4)]
    if view.words:
        said = text("words", style, words="-".join(view.words))
        body += [row(width, Span("  " + said, "message"))]
    if view.words and any(not (player.is_me or player.is_bot) for player in view.players):
        # Of bots at one's own machine nobody has to be asked what they read.
        body += [row(width, Span("  " + part, "hint")) for part in wrap(text("deal_words", style), width - 4)]
    if view.rules is not None and changed_items(view.rules):
        # Whoever sits down plays by these rules, and sees here that they are not the usual ones.
        changed = Span(rules_words(view, view.rules, ui), "message")
        body.append(row(width, Span(f"  {text('rules_head', style)}  ", "label"), changed))
    body += _clocks(view, ui, width)
    return framed(view, ui, body, width, height)


# -- the end ------------------------------------------------------------------------------------------


def over_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """Who is the shithead, the evening's score, whether it was fair, and how it goes on."""
    left = _result(view, ui, width)
    half = max(width // 2, RESULT_CELLS)
    score = score_table(view, ui, max(1, min(MAX_SCORE_ROUNDS, (width - half - SCORE_CELLS) // 4)))
    body: list[Row] = []
    for number in range(max(len(left), len(score))):
        first = left[number] if number < len(left) else Span("")
        second = score[number] if number < len(score) else Span("")
        body.append(row(width, Span(fit(first.text, half), first.style), second))
    body += _remarks(view, ui, width)
    body += _door(view, ui, width)
    if height >= ROOMY_HEIGHT:
        body.append(row(width))
    fairness = fairness_rows(view, ui, width)
    # On a small screen the word alone; the page F has the rest.
    body += fairness if height >= ROOMY_HEIGHT else fairness[:1]
    style = ui.look.style
    if ui.saved and height >= ROOMY_HEIGHT:
        body.append(row(width, Span("   " + text("saved", style, path=ui.saved), "dim")))
    if view.stage is Stage.OVER and not view.asked:
        said = text("next_mine" if view.i_host else "next_wait", style, host=view.host)
        if sum(player.present for player in view.players) < 2:
            said = text("next_alone", style)
        body.append(row(width, Span(f"  {text('next_head', style)}  ", "label"), Span(said, "hint", "enter")))
    top = [title_row(view, ui, width), line(width)]
    bottom = [*message_rows(view, ui, width), line(width)]
    room = height - len(top) - len(bottom) - 1
    if len(body) > room:
        # What matters most stands first: drop the empty lines, then cut.
        body = [each for each in body if any(part.text.strip() for part in each)]
    rest = room - len(body)
    body += side_rows(view, ui, width, rest)
    return [*top, *filled(body, room, width), *bottom, footer_row(view, ui, width, rest)]


def _result(view: View, ui: Ui, width: int) -> list[Span]:
    style, ending = ui.look.style, view.ending
    if ending is None:
        return []
    spans: list[Span] = []
    for number, name in enumerate(ending.finish):
        place = place_word(number + 1)
        spans.append(span("  " + text("place_out", style, place=f"{place:<8}", name=name), "good"))
    if ending.shithead is not None:
        mine = ending.shithead == view.my_name
        code = "is_shithead" if width >= 76 else "is_shithead_short"
        said = text("you_shithead", style) if mine else text(code, style, name=ending.shithead)
        spans.append(span(f"  {'***':<8}  {said}", "loser"))
    return spans


def _remarks(view: View, ui: Ui, width: int) -> list[Row]:
    """What there is to say of the end of a round in whole sentences, over the whole width."""
    style, ending = ui.look.style, view.ending
    if ending is None:
        return []
    said: list[tuple[str, str]] = []
    if ending.shithead is None and ending.kind == "stalled":
        said.append((text("no_shithead", style), "warning"))
    elif ending.kind == "forfeit":
        said.append((text("over_forfeit", style, name=ending.shithead or ""), "warning"))
    elif ending.shithead is None and ending.kind in ("unfinished", "faulted"):
        said.append((text(f"over_{ending.kind}", style), "warning"))
        said += [(text("over_left", style, name=name), "warning") for name in ending.left[:2]]
    said += [(render(fault, view.names, style), "bad") for fault in view.faults[:2]]
    for name, what in ending.debts[:3]:
        said.append((text("owed", style, name=name, what=WAITS.get(what, what)), "warning"))
    said += [(text("gave_up", style, name=name), "warning") for name in ending.gave_up[:2]]
    if view.stage is Stage.ENDING:
        said.append((text("ending", style, done=ending.signed, all=ending.signers), "hint"))
    return [row(width, Span("  " + part, look)) for each, look in said for part in wrap(each, width - 4)]


def score_table(view: View, ui: Ui, rounds: int) -> list[Span]:
    """The evening: a line a player, a column a round, how often shithead; only the last ``rounds``."""
    style = ui.look.style
    rows = played(view.score)
    if not rows:
        return []
    shown = rows[-rounds:]
    head = f"{text('evening_head', style):<12}" + "".join(f"{'R' + str(score.number):>4}" for score in shown)
    spans = [Span(f"{head}  {text('shitheads', style)}", "label")]
    for each in sums(rows)[:10]:
        places = "".join(f"{_placed(place):>4}" for place in each.places[-rounds:])
        spans.append(span(f"{fit(each.name, 12)}{places}  {each.shitheads:>4}", "text"))
    return spans


def _placed(place: int | None) -> str:
    if place is None:
        return "-"
    return str(place) if place else "***"


def fairness_rows(view: View, ui: Ui, width: int) -> list[Row]:
    """The verdict on the round in a few checked lines."""
    style, verdict = ui.look.style, ui.verdict
    head = Span(f"  {text('fair_head', style)}   ", "label", "f")
    if verdict is None:
        ending = view.ending
        revealing = (
            view.stage is Stage.OVER
            and ending is not None
            and ending.kind not in STOPPED
            and ending.revealed < ending.signers
        )
        said = (
            text("revealing", style, done=ending.revealed, all=ending.signers)
            if revealing and ending is not None
            else text("fair_soon", style)
        )
        if ending is not None and ending.kind in STOPPED:
            # Also for whoever left it, who has no file to check.
            said = text("fair_stopped", style)
        return [row(width, head, Span(said, "wait"))]
    rows = [row(width, head, fair_word(verdict, ui))]
    for good, said in checks(verdict, ui):
        mark = text("ok" if good else "open", style)
        rows.append(row(width, Span(f"   {mark} ", "good" if good else "dim"), Span(said, "text")))
    return rows


def fair_word(verdict: Verdict, ui: Ui) -> Span:
    """The verdict in a word or two."""
    style = ui.look.style
    match verdict.verdict:
        case "fair":
            return Span(text("fair_yes", style), "good")
        case "cheating":
            return Span(text("fair_no", style), "bad")
        case "unproven" if verdict.ending in STOPPED:
            return Span(text("fair_stopped", style), "warning")
        case kind:
            code = "fair_damaged" if kind == "damaged" else "fair_unproven"
            return span(text(code, style, text=render(how_far(verdict), style=style)), "warning")


def checks(verdict: Verdict, ui: Ui) -> list[tuple[bool, str]]:
    """Each check as whether it is complete, and words."""
    style, counts = ui.look.style, verdict.checks
    players = len(verdict.players)
    found = [
        (counts["shuffles"] >= players, text("check_shuffle", style, count=counts["shuffles"], all=players)),
        (False, text("check_closed", style))
        if verdict.ending in STOPPED
        else (counts["reveals"] >= players, text("check_seeds", style, count=counts["reveals"], all=players)),
        (counts["shares"] > 0, text("check_shares", style, count=counts["shares"])),
        (counts["moves"] > 0, text("check_moves", style, count=counts["moves"])),
    ]
    if verdict.verdict == "fair":
        found.insert(1, (True, text("check_deck", style)))
    return [*found, (False, text("check_not", style))]

"""What the line mode shows when asked, and on my turn: views as lines of text (pure)."""

from __future__ import annotations

from collections import Counter
from typing import Final

from client.cards import Style, card_labels, number_word, rank_word
from client.lines.narrate import fits_words, next_round, place_word
from client.phrases import HELP, HELP_HOST, STAGES, WAITS, said, told
from client.sentences import Names, render
from client.view import Choice, PlayerRow, Stage, View
from engine.errors import Sentence
from engine.rules import RuleSet, changed_items, packs_for
from engine.state import Zone

LOOPBACK: Final = ("127.", "[::1]")
"""How addresses begin that nobody else can reach."""

MAX_PILE_SHOWN_CARDS: Final = 8
"""The top of a big pile; how many lie below is said in figures."""


def turn_lines(view: View, style: Style) -> list[str]:
    """What I can do now: my cards, what may be played, numbered choices. Where it is not my turn: whose."""
    if view.my_turn and view.stage is Stage.ARRANGE:
        lines = _rendered([said("arrange_turn")], view, style) + _own_lines(view, style)
    elif view.my_turn:
        lines = [*_play_lines(view, style), *_own_lines(view, style)]
    elif view.stage is Stage.PLAY and view.turn is not None:
        is_me = view.turn == view.my_name
        lines = _rendered([said("drawing") if is_me else told("turn", False, player=view.turn)], view, style)
    elif view.stage in (Stage.LOBBY, Stage.OVER):
        lines = _rendered([next_round(view)], view, style)
    else:
        lines = _wait_lines(view, style)
    return lines + choice_lines(view, style)


def _play_lines(view: View, style: Style) -> list[str]:
    found = [said("your_turn")]
    pile = view.pile
    if pile is None or not pile.cards:
        found.append(said("lead"))
    else:
        shown = pile.cards[-MAX_PILE_SHOWN_CARDS:]
        values: dict[str, object] = {"cards": shown, "count": len(pile.cards)}
        if pile.run > 1:
            ranks = rank_word(pile.cards[-1][0], pile.run)
            found.append(said("on_pile_run", number=number_word(pile.run), ranks=ranks, **values))
        else:
            found.append(said("on_pile", **values))
        if pile.run == pile.burns_at - 1:
            found.append(said("one_more", rank=pile.cards[-1][0]))
    if view.zone is Zone.DOWNCARDS:
        found.append(said("blind"))
    elif pile is not None and pile.cards:
        none = all(card.why_not is not None for card in view.own if card.zone is view.zone)
        found.append(said("none_fits") if none else said("may_play", fits=fits_words(pile.fits)))
    return _rendered(found, view, style)


def _own_lines(view: View, style: Style) -> list[str]:
    hand = tuple(card.text for card in view.own if card.zone is Zone.HAND)
    ups = tuple(card.text for card in view.own if card.zone is Zone.UPCARDS)
    found: list[Sentence] = []
    if hand:
        found.append(said("your_hand", cards=hand))
    if ups:
        found.append(said("your_upcards", cards=ups))
    return _rendered(found, view, style)


def choice_lines(view: View, style: Style) -> list[str]:
    """The numbered choices in one line, if there are any."""
    if not view.choices:
        return []
    choices = "   ".join(f"#{choice.number} {choice_words(choice, style)}" for choice in view.choices)
    return _rendered([said("choices", choices=choices)], view, style)


def choice_words(choice: Choice, style: Style) -> str:
    """A choice in few words."""
    match choice.kind:
        case "play":
            return card_labels(choice.cards, style)
        case "play_as":
            return f"{card_labels(choice.cards, style)} as {rank_word(choice.name, choice.count)}"
        case "pick_up":
            along = f" with {card_labels(choice.cards, style)}" if choice.cards else ""
            return f"pick up {choice.count}{along}"
        case "choose":
            return f"lay out {card_labels(choice.cards, style)}"
        case "chance":
            return "turn the top card of the stock"
        case "name":
            return f"it counts as {rank_word(choice.name)}"
        case "done":
            return "lay no more"
        case "flip":
            return f"flip {choice.slot}"
        case "admit" | "refuse":
            return render(Sentence(choice.kind, choice.kind + " {name}", {"name": choice.name}))
        case kind:
            return kind


def _wait_lines(view: View, style: Style) -> list[str]:
    return _rendered(
        [told("wait", wait.is_me, player=wait.name, what=WAITS.get(wait.what, wait.what)) for wait in view.waits],
        view,
        style,
    )


def table_lines(view: View, style: Style) -> list[str]:
    """Everything that lies open, player by player."""
    head = [said("table_head", table=view.table)]
    if view.round is None or view.stage is Stage.LOBBY:
        head.append(said("no_round"))
    else:
        head.append(said("round_head", round=view.round, stage=STAGES[view.stage]))
    if view.words:
        head.append(said("words", words="-".join(view.words)))
    lines = _rendered(head, view, style)
    lines += [_player_line(row, view, style) for row in view.players]
    found: list[Sentence] = []
    if view.pile is not None:
        values: dict[str, object] = {"stock": view.stock, "burnt": view.burnt}
        cards = view.pile.cards
        found.append(said("pile_line", cards=cards, **values) if cards else said("pile_none", **values))
    if view.door:
        found.append(said("door_line", names=tuple(row.name for row in view.door)))
    found += _reach(view)
    return lines + _rendered(found, view, style) + turn_lines(view, style)


def _reach(view: View) -> list[Sentence]:
    """Where others can join; nothing of a table that only this machine can reach."""
    outside = tuple(text for text in view.addresses if not text.startswith(LOOPBACK))
    return [said("reach", addresses=outside)] if outside else []


def _player_line(row: PlayerRow, view: View, style: Style) -> str:
    marks = [
        mark
        for mark, holds in (("you", row.is_me), ("host", row.is_host), ("bot", row.is_bot), ("deals", row.deals))
        if holds
    ]
    parts: list[str] = []
    if row.seat is not None and view.stage not in (Stage.OFFER, Stage.DEALING):
        parts += _zones(row, style)
    if not row.is_me:
        parts.append(_link(row))
    name = render(Sentence("name", "{player}", {"player": row.name}))
    marked = f"{name} ({', '.join(marks)})" if marks else name
    return f"  {marked}: {'; '.join(parts) or 'here'}"


def _zones(row: PlayerRow, style: Style) -> list[str]:
    if row.status == "out":
        return [f"out, {place_word(row.place or 0)}"]
    if row.status == "left":
        return ["has left"]
    found = [f"hand {row.hand}", f"up {card_labels(row.upcards, style) or 'none'}", f"down {row.downcards}"]
    if row.status == "ready":
        found.append("ready")
    return [*found, "to move"] if row.in_turn else found


def _link(row: PlayerRow) -> str:
    if not row.present:
        return "has left the table"
    delay = f" {row.rtt_ms} ms" if row.rtt_ms is not None and row.link != "lost" else ""
    known = {"renamed-key": "; not the one you know by this name", "new": "; new"}.get(row.met, "")
    return f"link {row.link}{delay}{'' if row.is_bot else known}"


def score_lines(view: View, style: Style) -> list[str]:
    """The evening's rounds, and how often each was the shithead."""
    if not view.score:
        return _rendered([said("score_none")], view, style)
    found: list[Sentence] = []
    for row in view.score:
        order = ", ".join(f"{number + 1}. {name}" for number, name in enumerate(row.finish))
        last = f"shithead {row.shithead}" if row.shithead is not None else "no shithead"
        text = ", ".join(part for part in (order, last) if part)
        found.append(
            said("score_line", round=row.number, order=text if row.kind != "unfinished" else "unfinished")
        )
    counts = Counter(row.shithead for row in view.score if row.shithead is not None)
    if counts:
        listed_counts = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        found.append(said("score_sum", counts=listed_counts))
    return _rendered(found, view, style)


def help_lines(view: View) -> list[str]:
    """What can be typed."""
    return [f"  {line}" for line in (*HELP, *(HELP_HOST if view.i_host else ()))]


def rules_lines(rules: RuleSet, players: int) -> list[str]:
    """The rules in force, in words; ``players``: how many play."""
    down, up, hand = rules.deal.down, rules.deal.up, rules.deal.hand
    packs = packs_for(rules, max(players, 1))
    lines = [
        f"{number_word(packs).capitalize()} pack{'s' if packs > 1 else ''} of 52 cards, without jokers. "
        f"Everybody gets {down} downcards, {up} upcards on them and {hand} cards in the hand.",
        "Before play everybody may exchange hand cards for own upcards.",
        "Who was dealt the first 3 as an upcard leads, else the first with a 3 in the hand, "
        "else it goes by 4s, 5s and so on.",
        "Clockwise, each plays one card or several of one rank that equal or beat the top of the pile "
        "(3 lowest, ace highest), or picks the pile up, able to play or not.",
        "A 2 goes on anything and anything goes on it. A 10 goes on anything and burns the pile; "
        "four equal ranks on top burn it as well. Who burns plays again.",
        f"After playing from the hand one draws up to {rules.refill_to} cards as long as there is a stock.",
        "The hand goes first, then the upcards, then the downcards, unseen and one at a time: "
        "one that cannot be played is picked up with the pile.",
        "Who has no cards left is out. The last one with cards is the shithead"
        + {"loser": ", and deals the next round.", "winner": "; the first one out deals next."}.get(
            rules.next_dealer.value, "; the next clockwise deals the next round."
        ),
        f"After {rules.turn_limit} turns the round ends without a shithead.",
    ]
    changed = ", ".join(f"{name} {value}" for name, value in changed_items(rules))
    return [f"  {line}" for line in [*lines, *([f"Changed options: {changed}."] if changed else [])]]


def welcome_lines(view: View, style: Style) -> list[str]:
    """The first lines at a table."""
    found = [said("welcome", table=view.table)]
    if view.i_host:
        found += _reach(view)
    found += [said(code) for code in view.notices if code == "no_mdns"]
    people = tuple(row.name for row in view.players if not row.is_me)
    if people:
        found.append(said("here", names=people))
    bots = tuple(row.name for row in view.players if row.is_bot)
    if bots:
        found.append(said("bots_here", names=bots))
    goes_on = view.round is not None and view.stage not in (Stage.LOBBY, Stage.OVER)
    if goes_on and not view.in_round:
        found.append(said("joins_next", round=view.round, players=view.roster))
    elif goes_on:
        found.append(said("offer" if view.asked else "offer_all", round=view.round, players=view.roster))
    return _rendered(found, view, style)


def _rendered(sentences: list[Sentence], view: View, style: Style) -> list[str]:
    names: Names = view.names
    return [render(sentence, names, style) for sentence in sentences]

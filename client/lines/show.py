"""What the line mode shows when asked, and on my turn: views as lines of text (pure)."""

from __future__ import annotations

from typing import Final

from client.cards import Style, card_labels, number_word, rank_label, rank_word
from client.clocks import Clocks
from client.evening import played, sums
from client.lines.narrate import clock_words, fits_words, next_round, place_word
from client.phrases import STAGES, WAITS, said, told
from client.sentences import Names, listed, render
from client.texts import HELP, HELP_HOST
from client.view import Choice, PileRow, PlayerRow, Stage, View
from engine.errors import Sentence
from engine.explain import explain
from engine.options import ArrangeRule
from engine.rules import RuleSet, changed_items, packs_for
from engine.state import Zone

LOOPBACK: Final = ("127.", "[::1]")
"""How addresses begin that nobody else can reach."""

MAX_CHOICES_SHOWN: Final = 12
"""So many fit two or three lines of a terminal; where upcards are chosen or jokers named there are more."""

MAX_PILE_SHOWN_CARDS: Final = 8
"""The top of a big pile; how many lie below is said in figures."""


def turn_lines(view: View, style: Style) -> list[str]:
    """What I can do now: my cards, what may be played, numbered choices. Where it is not my turn: whose."""
    if view.my_turn and view.stage is Stage.ARRANGE:
        limit = next((wait.limit_s for wait in view.waits if wait.is_me), 0)
        timed = [said("arrange_limit", seconds=limit)] if limit else []
        lines = _rendered([_arrange_turn(view), *timed], view, style) + _own_lines(view, style)
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


def _arrange_turn(view: View) -> Sentence:
    arrange = view.rules.arrange if view.rules is not None else ArrangeRule.SWAP
    if arrange is ArrangeRule.SWAP or view.rules is None:
        return said("arrange_turn")
    return said(f"arrange_turn_{arrange.value}", count=view.rules.deal.up)


def _play_lines(view: View, style: Style) -> list[str]:
    limit = next((wait.limit_s for wait in view.waits if wait.is_me), 0)
    found = [said("your_turn_limit", seconds=limit) if limit else said("your_turn")]
    pile = view.pile
    if pile is None or not pile.cards:
        found.append(said("lead_rank", rank=view.start_rank) if view.start_rank else said("lead"))
    else:
        found += _on_pile(pile)
    found += _to_do(view)
    return _rendered(found, view, style)


def _on_pile(pile: PileRow) -> list[Sentence]:
    """What lies on the pile, named jokers with their rank."""
    shown = pile_cards(pile)[-MAX_PILE_SHOWN_CARDS:]
    values: dict[str, object] = {"cards": shown, "count": len(pile.cards)}
    code = "on_pile"
    if len(shown) < len(pile.cards):
        code, values["shown"] = "on_pile_deep", len(shown)
    if pile.run > 1:
        ranks = rank_word(pile.top, pile.run)
        found = [said(f"{code}_run", number=number_word(pile.run), ranks=ranks, **values)]
    else:
        found = [said(code, **values)]
    if pile.run == pile.burns_at - 1:
        found.append(said("one_more", rank=pile.top))
    return found


def pile_cards(pile: PileRow) -> tuple[str, ...]:
    """The cards of the pile as texts, bottom first; a wild joker with the rank that it counts as: ``X1=9``."""
    named = {joker: f"{joker}={rank_label(rank)}" for joker, rank in pile.named}
    return tuple(named.get(card, card) for card in pile.cards)


def _to_do(view: View) -> list[Sentence]:
    """What is expected of me."""
    kinds = {choice.kind for choice in view.choices}
    if view.naming:
        return [said("name_it", card=view.naming)]
    if "done" in kinds:
        return [said("lay_more", cards=tuple(card.text for card in view.own if card.position in view.follow))]
    if view.zone is Zone.DOWNCARDS:
        return [said("blind")]
    if view.pile is None or not view.pile.cards:
        return []
    if kinds & {"play", "play_as"}:
        return [said("may_play", fits=fits_words(view.pile.fits, view.pile.to_beat))]
    if "chance" in kinds:
        return [said("none_fits_chance")]
    along = any(choice.kind == "pick_up" and choice.cards for choice in view.choices)
    return [said("none_fits_with" if along else "none_fits")]


def _own_lines(view: View, style: Style) -> list[str]:
    hand = tuple(card.text for card in view.own if card.zone is Zone.HAND)
    ups = tuple(card.text for card in view.own if card.zone is Zone.UPCARDS)
    found: list[Sentence] = []
    if hand:
        found.append(said("your_hand", cards=hand))
    if ups:
        found.append(said("your_upcards", cards=ups))
    return _rendered(found, view, style)


def hand_lines(view: View, style: Style) -> list[str]:
    """My hand and upcards, and how many blind cards; also where it is not my turn."""
    me = next((row for row in view.players if row.is_me), None)
    lines = _own_lines(view, style)
    if view.in_round and me is not None and me.downcards:
        lines += _rendered([said("your_downcards", count=me.downcards)], view, style)
    return lines or _rendered([said("no_cards")], view, style)


def choice_lines(view: View, style: Style) -> list[str]:
    """The numbered choices in one line, if there are any; of very many the first."""
    if not view.choices:
        return []
    most = MAX_CHOICES_SHOWN if len(view.choices) > MAX_CHOICES_SHOWN + 1 else len(view.choices)
    choices = "   ".join(f"#{choice.number} {choice_words(choice, style)}" for choice in view.choices[:most])
    if most < len(view.choices):
        return _rendered([said("choices_more", choices=choices, count=len(view.choices) - most)], view, style)
    return _rendered([said("choices", choices=choices)], view, style)


def all_choice_lines(view: View, style: Style) -> list[str]:
    """All numbered choices, one a line."""
    if not view.choices:
        return _rendered([said("no_choices")], view, style)
    lines = [f"  #{choice.number} {choice_words(choice, style)}" for choice in view.choices]
    # Exchanges are too many to be listed one by one.
    more = [_arrange_turn(view)] if view.my_turn and view.stage is Stage.ARRANGE else []
    return lines + _rendered(more, view, style)


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
        cards = pile_cards(view.pile)
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
        if row.kind == "forfeit":
            last += ", by leaving"
        if row.kind == "unfinished":
            order, last = "unfinished", f"{listed(row.left)} left" if row.left else ""
        found.append(said("score_line", round=row.number, order=", ".join(part for part in (order, last) if part)))
    lost = [each for each in reversed(sums(played(view.score))) if each.shitheads]
    if lost:
        found.append(said("score_sum", counts=", ".join(f"{each.name} {each.shitheads}" for each in lost)))
    return _rendered(found, view, style)


def help_lines(view: View) -> list[str]:
    """What can be typed."""
    return [f"  {line}" for line in (*HELP, *(HELP_HOST if view.i_host else ()))]


def rules_lines(rules: RuleSet, players: int) -> list[str]:
    """The rules in force as people tell them, made from the options; lines that differ from the usual rules begin
    with ``*``. ``players``: how many play.
    """
    packs = packs_for(rules, max(players, 1))
    lines = [f"{'*' if line.differs else ' '} {line}" for line in explain(rules)]
    if not rules.packs and players:
        lines.insert(1, f"  That is {number_word(packs)} pack{'s' if packs > 1 else ''} for {players}.")
    changes = tuple(f"{name}={value}" for name, value in changed_items(rules))
    if changes:
        lines.append(render(said("rules_marked", changes=", ".join(changes))))
    return lines


def clock_lines(clocks: Clocks) -> list[str]:
    """The clocks in force, a sentence each."""
    return [f"  {words}" for words in clock_words(clocks)]


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
        found.append(said("bot_here", name=bots[0]) if len(bots) == 1 else said("bots_here", names=bots))
    goes_on = view.round is not None and view.stage not in (Stage.LOBBY, Stage.OVER)
    if goes_on and not view.in_round:
        found.append(said("joins_next", round=view.round, players=view.roster))
        if view.pile is not None:
            hands = tuple(f"{row.name} {row.hand}" for row in view.players if row.seat is not None)
            found.append(said("how_far", count=view.stock, hands=hands))
    elif goes_on:
        found.append(said("offer" if view.asked else "offer_all", round=view.round, players=view.roster))
        if view.clocks is not None and not view.clocks.are_usual:
            found.append(said("clock_head"))
            found += [said("rules_line", text=words) for words in clock_words(view.clocks)]
    return _rendered(found, view, style)


def _rendered(sentences: list[Sentence], view: View, style: Style) -> list[str]:
    names: Names = view.names
    return [render(sentence, names, style) for sentence in sentences]

"""My own cards on the screen: which are shown in which order, what is picked, and what picking would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from client.cards import card_label, number_word, rank_label, rank_word
from client.lines.narrate import fits_words, place_word
from client.tui.cells import Row, Span, cells, row, width_of
from client.tui.phrases import text
from client.tui.state import Look, Ui
from client.view import Choice, Outcome, OwnCard, Stage, View
from engine.cards import RANKS, SUITS
from engine.state import Zone

CARD_CELLS: Final = 5
"""``[10♦]``: a card with the brackets that show it is picked."""

BIG_WIDTH: Final = 100
BIG_HEIGHT: Final = 30
"""From here on there is room for cards with a frame."""

SUIT_STYLES: Final = {"c": "club", "d": "diamond", "h": "heart", "s": "spade"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A card of mine on the screen. ``key``: what picks it, ``.`` if it can't be played now."""

    card: OwnCard
    key: str
    is_picked: bool
    has_cursor: bool
    starts_group: bool


def key_of(rank: str) -> str:
    """The key of a rank character, as it is shown under cards."""
    return {"T": "0"}.get(rank, rank)


def suit_style(card: str) -> str:
    """The style of a card's own colour."""
    return SUIT_STYLES.get(card[1:2], "card")


def pickable(view: View, look: Look) -> tuple[OwnCard, ...]:
    """My cards in the order of the screen: those that can be picked; while arranging hand, then upcards."""
    zone = Zone.UPCARDS if view.zone is Zone.UPCARDS else Zone.HAND
    cards = [card for card in view.own if card.zone is zone]
    if view.stage is Stage.ARRANGE:
        hand = _sorted([card for card in view.own if card.zone is Zone.HAND], look)
        return (*hand, *_sorted([card for card in view.own if card.zone is Zone.UPCARDS], look))
    return tuple(_sorted(cards, look))


def _sorted(cards: Sequence[OwnCard], look: Look) -> list[OwnCard]:
    def by_suit(card: OwnCard) -> tuple[int, int]:
        suit = SUITS.find(card.text[1:2])
        return (suit if suit >= 0 else len(SUITS), RANKS.find(card.rank))

    return sorted(cards, key=by_suit) if look.order == "suit" else list(cards)


def playable_ranks(view: View) -> frozenset[str]:
    """Rank characters of which I can play something now, one card or only several together."""
    return frozenset(choice.cards[0][0] for choice in view.choices if choice.kind == "play")


def laid(view: View, ui: Ui) -> list[Shown]:
    """The pickable cards with what is to be seen of them."""
    found: list[Shown] = []
    before: OwnCard | None = None
    fits = playable_ranks(view)
    for number, card in enumerate(pickable(view, ui.look)):
        by_suit = ui.look.order == "suit"
        same = before is not None and (before.text[1:2] == card.text[1:2] if by_suit else before.rank == card.rank)
        new = before is None or not same or before.zone is not card.zone
        arranging = view.stage is Stage.ARRANGE
        playable = view.my_turn if arranging else not view.my_turn or card.why_not is None or card.rank in fits
        found.append(
            Shown(
                card,
                key_of(card.rank) if playable else ".",
                card.position in ui.picked,
                ui.cursor == number,
                new,
            )
        )
        before = card
    return found


def hand_rows(view: View, ui: Ui, width: int, height: int) -> list[Row]:
    """The rows of my pickable cards with their keys: two, or more where there are many cards or much room."""
    shown = laid(view, ui)
    if view.stage is Stage.ARRANGE:
        rows: list[Row] = []
        for zone, name in ((Zone.HAND, "hand"), (Zone.UPCARDS, "laid_out")):
            label = text(name, ui.look.style)
            part = [each for each in shown if each.card.zone is zone]
            rows += _card_rows(part, ui, width, f"   {label:<9}")
        return rows
    if _needed(shown) + 3 > width:
        return _grouped_rows(shown, ui, width)
    if width >= BIG_WIDTH and height >= BIG_HEIGHT and 7 * len(shown) + 3 <= width:
        return _big_rows(shown, ui, width)
    return _card_rows(shown, ui, width, "   ")


def _needed(shown: Sequence[Shown]) -> int:
    return sum(CARD_CELLS + each.starts_group for each in shown)


def _style(each: Shown, view_style: str = "") -> str:
    parts = [suit_style(each.card.text)]
    if each.is_picked:
        parts.append("picked")
    elif each.key == ".":
        parts.append("unplayable")
    return " ".join(parts)


def _card_rows(shown: Sequence[Shown], ui: Ui, width: int, label: str) -> list[Row]:
    cards: list[Span] = [Span(label, "label")]
    keys: list[Span] = [Span(" " * len(label))]
    for each in shown:
        if each.starts_group:
            cards.append(Span(" "))
            keys.append(Span(" "))
        face = card_label(each.card.text, ui.look.style)
        boxed = f"[{face}]" if each.is_picked else f" {face} "
        boxed += " " * (CARD_CELLS - cells(boxed))
        click = f"card:{each.card.position}"
        cards.append(Span(boxed, _style(each), click))
        says_key = each.starts_group or each.key == "." or ui.look.order == "suit"
        under = "^" if each.has_cursor else each.key if says_key else " "
        keys.append(Span(f" {under}".ljust(CARD_CELLS), "cursor" if each.has_cursor else "key", click))
    return [row(width, *cards), row(width, *keys)]


def _big_rows(shown: Sequence[Shown], ui: Ui, width: int) -> list[Row]:
    lines: list[list[Span]] = [[Span("   ")] for _ in range(5)]
    for each in shown:
        face = card_label(each.card.text, ui.look.style)
        rank, suit = face[:-1], face[-1]
        click, style = f"card:{each.card.position}", _style(each)
        side = "#" if each.is_picked else "|"
        edge = "#####" if each.is_picked else ".---."
        for number, body in enumerate((edge, f"{side}{rank:<3}{side}", f"{side}{suit:>3}{side}")):
            lines[number].append(Span(f"{body}  ", style, click))
        lines[3].append(Span(("#####" if each.is_picked else "'---'") + "  ", style, click))
        under = "^" if each.has_cursor else each.key
        lines[4].append(Span(f"  {under}    ", "cursor" if each.has_cursor else "key", click))
    return [row(width, *spans) for spans in lines]


def _grouped_rows(shown: Sequence[Shown], ui: Ui, width: int) -> list[Row]:
    """Many cards: each rank once, with how many there are and how many of them are picked."""
    groups: dict[str, list[Shown]] = {}
    for each in sorted(shown, key=lambda item: RANKS.find(item.card.rank)):
        groups.setdefault(each.card.rank, []).append(each)
    rows: list[Row] = []
    cards: list[Span] = [Span("   ")]
    keys: list[Span] = [Span("   ")]
    for rank, members in groups.items():
        picked = [each for each in members if each.is_picked]
        marked = next((each for each in members if each.has_cursor), None)
        face = f"{rank_label(rank)}:{len(members)}"
        boxed = f"[{face} {len(picked)}]" if picked else f" {face} "
        if marked is not None:
            boxed += card_label(marked.card.text, ui.look.style)
        boxed += " "
        if width_of(cards) + cells(boxed) > width:
            rows += [row(width, *cards), row(width, *keys)]
            cards, keys = [Span("   ")], [Span("   ")]
        click = f"rank:{rank}"
        style = "picked" if picked else "unplayable" if members[0].key == "." else "card"
        cards.append(Span(boxed, style, click))
        under = "^" if marked is not None else members[0].key
        keys.append(Span(f" {under}".ljust(cells(boxed)), "cursor" if marked is not None else "key", click))
    return [*rows, row(width, *cards), row(width, *keys)]


def filled_slots(view: View) -> list[int]:
    """My downcard slots with a card, from 1."""
    me = next((player for player in view.players if player.is_me), None)
    return [number + 1 for number, there in enumerate(me.slots if me is not None else ()) if there]


def picked_cards(view: View, ui: Ui) -> tuple[OwnCard, ...]:
    """The picked cards that I still hold, in the order of picking."""
    here = {card.position: card for card in view.own}
    return tuple(here[position] for position in ui.picked if position in here)


def moves_of(view: View) -> tuple[Choice, ...]:
    """The choices that are moves of the game."""
    return tuple(choice for choice in view.choices if choice.move is not None)


def choice_for(view: View, ui: Ui) -> Choice | None:
    """What playing the picked cards is among the choices of the view: of that rank and count."""
    picked = picked_cards(view, ui)
    if not picked:
        return None
    return next(
        (
            choice
            for choice in view.choices
            if choice.kind == "play" and choice.count == len(picked) and choice.cards[0][0] == picked[0].rank
        ),
        None,
    )


def consequence(view: View, ui: Ui) -> str:
    """What playing the picked cards would do, in a sentence; empty where nothing legal is picked."""
    choice = choice_for(view, ui)
    if choice is None or choice.outcome is None:
        return ""
    picked = picked_cards(view, ui)
    said = _outcome_words(choice.outcome, view, ui, picked)
    more = sum(card.rank == picked[0].rank and card.position not in ui.picked for card in pickable(view, ui.look))
    if more:
        said += " " + text("does_more", ui.look.style, key=key_of(picked[0].rank))
    return said


def _outcome_words(outcome: Outcome, view: View, ui: Ui, picked: Sequence[OwnCard]) -> str:
    rank = picked[0].rank
    values: dict[str, object] = {
        "cards": tuple(card.text for card in picked),
        "next": outcome.next or "",
        "fits": fits_words(outcome.fits, outcome.to_beat),
        "count": outcome.burnt,
        "number": number_word(outcome.run),
        "ranks": rank_word(rank, outcome.run),
    }
    if outcome.out is not None:
        code, values["place"] = "does_out", place_word(outcome.out)
    elif outcome.burns:
        code = "does_quartet" if outcome.burns == "quartet" else "does_ten"
    elif outcome.again:
        code = "does_again"
    elif len(outcome.fits) >= len(RANKS):
        code = "does_any"
    elif outcome.run > len(picked):
        code = "does_run"
    else:
        code = "does_next"
    return text(code, ui.look.style, view.names, **values)

"""Picking cards by rank keys, arrows and clicks, and exchanging them before play (pure; used by ``control``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from client.cards import JOKER, card_label, rank_word
from client.lines.interpret import interpret
from client.orders import Act, Explain, Problem
from client.phrases import said
from client.tui.hand import filled_slots, pickable, picked_cards, playable_ranks
from client.tui.keys import RANK_KEYS, context_of
from client.tui.phrases import text
from client.tui.state import Ui
from client.tui.wording import here
from client.view import OwnCard, Stage, View
from engine.errors import Sentence
from engine.moves import Swap
from engine.state import Zone

Picked = tuple[Ui, Act | None]
"""The screen's next state, and the move that comes of it."""


def warn(ui: Ui, view: View, code: str, **values: object) -> Picked:
    """Says why something was not done, in the words of a code of the screen."""
    return replace(ui, message=text(code, ui.look.style, view.names, **values), is_warning=True), None


def warn_sentence(ui: Ui, view: View, sentence: Sentence) -> Picked:
    """Says why something was not done, in a sentence of the rules or of the line mode."""
    return replace(ui, message=here(sentence, view.names, ui.look.style), is_warning=True), None


def why_not_of(view: View, rank: str) -> Sentence | None:
    """Why a rank can't be played now, in the words of the line mode."""
    meaning = interpret(view, f"why {rank.lower()}")
    return meaning.sentence if isinstance(meaning, Explain | Problem) else None


# -- picking ------------------------------------------------------------------------------------------


def press_rank(view: View, ui: Ui, key: str, now: float) -> Picked:
    """A rank key: picks a card of that rank, or one more."""
    rank = RANK_KEYS[key]
    if rank == JOKER and not has_jokers(view):
        return warn(ui, view, "key_unknown", key=key)
    return pick_rank(view, ui, rank)


def has_jokers(view: View) -> bool:
    """Whether jokers are in play."""
    return view.rules is not None and view.rules.jokers > 0


def pick_rank(view: View, ui: Ui, rank: str) -> Picked:
    """Picks a card of a rank character, or one more; where none can be played, says why."""
    if view.stage is Stage.ARRANGE:
        return _pick_to_swap(view, ui, rank)
    cards = [card for card in pickable(view, ui.look) if card.rank == rank]
    if not cards or (view.my_turn and cards[0].why_not is not None and rank not in playable_ranks(view)):
        if view.zone is None:
            return warn(ui, view, "watching")
        why = cards[0].why_not if cards and cards[0].why_not is not None else _not_here(view, rank)
        return warn_sentence(replace(ui, picked=ui.picked if not cards else ()), view, why)
    picked = [card for card in picked_cards(view, ui) if card.rank == rank]
    rest = [card for card in cards if card not in picked]
    if not rest:
        return warn(ui, view, "all_picked")
    return replace(ui, picked=(*_kept(view, ui, rank), rest[0].position)), None


def _kept(view: View, ui: Ui, rank: str) -> tuple[int, ...]:
    """What stays picked when a card of ``rank`` is added: others of that rank; wild jokers go with any."""
    wild = any(choice.kind == "play_as" for choice in view.choices)
    return tuple(
        card.position
        for card in picked_cards(view, ui)
        if card.rank == rank or (wild and JOKER in (card.rank, rank))
    )


def _not_here(view: View, rank: str) -> Sentence:
    held = [card for card in view.own if card.rank == rank]
    if held and held[0].why_not is not None and view.my_turn:
        return held[0].why_not
    if view.my_turn:
        why = why_not_of(view, rank)
        if why is not None:
            return why

    return said("not_held", what=f"a {rank_word(rank)}")


def toggle(view: View, ui: Ui, card: OwnCard) -> Picked:
    """Picks exactly this card, or puts it back."""
    if view.stage is Stage.ARRANGE:
        return _swap_with(view, ui, card)
    if card.position in ui.picked:
        return replace(ui, picked=tuple(position for position in ui.picked if position != card.position)), None
    if view.my_turn and card.why_not is not None and card.rank not in playable_ranks(view):
        return warn_sentence(ui, view, card.why_not)
    return replace(ui, picked=(*_kept(view, ui, card.rank), card.position)), None


def _pick_to_swap(view: View, ui: Ui, rank: str) -> Picked:
    if any(choice.kind == "choose" for choice in view.choices):
        return replace(ui, page="choices", row=0, scroll=0), None
    if not view.my_turn:
        return warn(ui, view, "already_ready" if view.my_seat is not None else "watching")
    picked = picked_cards(view, ui)
    cards = [card for card in pickable(view, ui.look) if card.rank == rank]
    if not cards:
        return warn_sentence(ui, view, said("not_held", what=f"a {rank_word(rank)}"))
    if not picked:
        return _swap_with(view, ui, cards[0])
    first = picked[0]
    partner = next((card for card in cards if card.zone is not first.zone and card.rank != first.rank), None)
    if partner is not None:
        return _swap_with(view, ui, partner)
    # The same key again: the next card of that rank, in whichever row it lies.
    if first in cards:
        return replace(ui, picked=(cards[(cards.index(first) + 1) % len(cards)].position,)), None
    return replace(ui, picked=(cards[0].position,)), None


def _swap_with(view: View, ui: Ui, card: OwnCard) -> Picked:
    if not view.my_turn or view.my_seat is None:
        return warn(ui, view, "already_ready")
    picked = picked_cards(view, ui)
    if not picked or picked[0].zone is card.zone:
        same = bool(picked) and picked[0] == card
        return replace(ui, picked=() if same else (card.position,)), None
    first = picked[0]
    if first.rank == card.rank:
        return warn(replace(ui, picked=()), view, "same_rank", ranks=rank_word(card.rank, 2))
    hand, up = (first, card) if first.zone is Zone.HAND else (card, first)
    said = text("arranged", ui.look.style, up=_face(hand, ui), hand=_face(up, ui))
    return replace(ui, picked=(), message=said), Act(Swap(view.my_seat, hand.position, up.position), view.stamp)


def _face(card: OwnCard, ui: Ui) -> str:

    return card_label(card.text, ui.look.style)


def move_cursor(step: int) -> Callable[[View, Ui, str, float], Picked]:
    """The arrow keys: the mark goes ``step`` cards on."""

    def move(view: View, ui: Ui, key: str, now: float) -> Picked:
        if context_of(view) == "blind":
            return _next_slot(view, ui, step), None
        count = len(pickable(view, ui.look))
        if not count:
            return warn(ui, view, "no_cards")
        start = (-1 if step > 0 else 0) if ui.cursor is None else ui.cursor
        return replace(ui, cursor=(start + step) % count), None

    return move


def _next_slot(view: View, ui: Ui, step: int) -> Ui:
    slots = filled_slots(view)
    if not slots:
        return ui
    index = slots.index(ui.slot) + step if ui.slot in slots else (0 if step > 0 else -1)
    return replace(ui, slot=slots[index % len(slots)])


def press_space(view: View, ui: Ui, key: str, now: float) -> Picked:
    """Picks exactly the card with the mark, or puts it back."""
    cards = pickable(view, ui.look)
    if context_of(view) == "blind":
        return warn(ui, view, "flip_first", slots=" ".join(map(str, filled_slots(view))))
    if not cards:
        return warn(ui, view, "no_cards")
    if ui.cursor is None:
        return replace(ui, cursor=0), None
    return toggle(view, ui, cards[ui.cursor % len(cards)])


def press_slot(view: View, ui: Ui, key: str, now: float) -> Picked:
    """Chooses a downcard by its number."""
    slot = int(key)
    if slot not in filled_slots(view):
        return warn_sentence(ui, view, _bad_slot(slot))
    return replace(ui, slot=slot), None


def _bad_slot(slot: int) -> Sentence:

    return said("bad_slot", slot=slot)


def press_clear(view: View, ui: Ui, key: str, now: float) -> Picked:
    """Nothing is picked any more."""
    return replace(ui, picked=(), slot=None, cursor=None), None

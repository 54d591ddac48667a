"""What is typed about cards and moves of the game: text in, a move or a sentence out (pure).

What would be refused is not sent: the view says why (``View.refuse``), in the engine's own sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from client.cards import JOKER, rank_word, read_card, read_rank
from client.orders import Act, Explain, Meaning, Problem
from client.phrases import said
from client.view import OwnCard, Stage, View
from engine.cards import JOKER_RANK, RANKS
from engine.errors import Sentence
from engine.moves import Chance, Choose, Done, Flip, Name, PickUp, Play, PlayAs, PlayerMove, Ready, Swap
from engine.options import ArrangeRule, JokerPower
from engine.state import Zone

_CARD: Final = re.compile(r"(10|[2-9tjqka0])([cdhs♣♦♥♠])?", re.IGNORECASE)
_JOKER: Final = re.compile(r"joker|x([1-9][0-9]?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Pick:
    """A rank, or an exact card, that somebody typed."""

    rank: str
    card: str | None

    def fits(self, card: OwnCard) -> bool:
        return card.text.rstrip("'") == self.card if self.card is not None else card.rank == self.rank

    @property
    def words(self) -> str:
        return f"a {rank_word(self.rank)}"


def laid(view: View, line: str, shown: str) -> Meaning:
    """Cards to play: ranks, exact cards, and behind ``as`` what jokers among them count as."""
    words = line.lower().split()
    rank = None
    if len(words) > 2 and words[-2] == "as":
        rank = read_rank(words[-1])
        words = words[:-2] if rank is not None else words
    picks = read_picks(words, jokers=_has_jokers(view))
    return Problem(said("unknown", text=shown)) if picks is None else _play(view, picks, rank)


def _has_jokers(view: View) -> bool:
    return view.rules is not None and view.rules.jokers > 0


def read_picks(words: Sequence[str], *, jokers: bool = False) -> tuple[_Pick, ...] | None:
    """The ranks and cards that ``words`` name, ``55`` and ``5h5c`` included; None for anything else.

    ``jokers``: whether ``x``, ``x2`` and ``joker`` are cards.
    """
    found: list[_Pick] = []
    for word in words:
        start = 0
        while start < len(word):
            joker = _JOKER.match(word, start) if jokers else None
            match = joker or _CARD.match(word, start)
            if match is None:
                return None
            if joker is not None:
                found.append(_Pick(JOKER, f"{JOKER}{joker[1]}" if joker[1] else None))
            else:
                rank = read_rank(match[1])
                if rank is None:
                    return None
                found.append(_Pick(rank, read_card(match[0]) if match[2] else None))
            start = match.end()
    return tuple(found) or None


def _play(view: View, picks: tuple[_Pick, ...], rank: str | None = None) -> Meaning:
    problem = _not_my_turn(view)
    if problem is not None:
        return problem
    if view.naming and view.my_turn and len(picks) == 1 and picks[0].card is None:
        return _act_if(view, lambda seat: Name(seat, _number(picks[0].rank)))
    chosen: list[OwnCard] = []
    # Exact cards first, so that a bare rank does not take a card that is named as well.
    for pick in sorted(picks, key=lambda pick: pick.card is None):
        card = _find(view, pick, chosen, view.zone)
        if card is None and view.rules is not None and view.rules.combine_last_hand and not view.stock:
            card = _find(view, pick, chosen, Zone.UPCARDS)
        if card is None:
            fitting = sum(pick.fits(card) for card in chosen)
            if fitting:
                return Problem(said("too_many", count=fitting))
            # Elsewhere it may lie: then the card itself says why it can't be played.
            card = _find(view, pick, chosen, None)
        if card is None:
            return Problem(_not_held(pick))
        chosen.append(card)
    return _lay(view, tuple(chosen), rank)


def _lay(view: View, chosen: tuple[OwnCard, ...], rank: str | None) -> Meaning:
    """Plays these cards; ``rank``: what was said that jokers among them count as."""
    wild = view.rules is not None and view.rules.joker_power is JokerPower.WILD and _has_jokers(view)
    natural = {card.rank for card in chosen if not (wild and card.rank == JOKER)}
    if len(natural) > 1:
        return Problem(said("not_a_set"))
    positions = tuple(card.position for card in chosen)
    if rank is None and not (wild and any(card.rank == JOKER for card in chosen)):
        return _act_if(view, lambda seat: Play(seat, positions))
    # With a natural card among them there is nothing to say.
    counts_as = rank or next(iter(natural), None)
    if counts_as is None:
        return Problem(said("joker_as"))
    return _act_if(view, lambda seat: PlayAs(seat, positions, _number(counts_as)))


def _number(rank: str) -> int:
    return JOKER_RANK if rank == JOKER else RANKS.index(rank)


def _act_if(view: View, move: Callable[[int], PlayerMove]) -> Meaning:
    """The move of my seat, or why it is refused."""
    if view.my_seat is None:
        return Problem(said("not_in_round"))
    wanted = move(view.my_seat)
    refused = view.refuse(wanted)
    return Act(wanted, view.stamp) if refused is None else Problem(refused)


def _not_held(pick: _Pick) -> Sentence:
    if pick.card is not None:
        return said("card_not_held", card=pick.card)
    return said("not_held", what=pick.words)


def _find(view: View, pick: _Pick, chosen: Sequence[OwnCard], zone: Zone | None) -> OwnCard | None:
    found = [
        card for card in view.own if card not in chosen and pick.fits(card) and (zone is None or card.zone is zone)
    ]
    # Where cards just drawn may be laid, they are meant.
    return min(found, key=lambda card: card.position not in view.follow, default=None)


def _not_my_turn(view: View) -> Problem | None:
    """Why nothing can be played or picked up now, where the cards have nothing to do with it."""
    match view.stage:
        case Stage.PLAY | Stage.START | Stage.ARRANGE if view.zone is None:
            return Problem(said("not_in_round"))
        case Stage.OPENING:
            return Problem(said("opening"))
        case Stage.PLAY if view.unseen and view.turn == view.my_name:
            return Problem(said("drawing"))
        case Stage.PLAY if view.my_turn:
            return None
        case Stage.PLAY | Stage.START | Stage.ARRANGE:
            reason = view.pick_up_why_not
            general = reason is not None and reason.code in ("wrong_phase", "not_your_turn")
            return Problem(reason) if reason is not None and general else None
        case _:
            return Problem(said("nothing_to_play"))


def pick_up(view: View, rest: str) -> Meaning:
    """``pick up``, ``pick up with 7c``."""
    problem = _not_my_turn(view)
    if problem is not None:
        return problem
    words = rest.lower().split()
    chosen: list[OwnCard] = []
    if words[:1] == ["with"]:
        for pick in read_picks(words[1:], jokers=_has_jokers(view)) or ():
            card = _find(view, pick, chosen, Zone.UPCARDS) or _find(view, pick, chosen, None)
            if card is None:
                return Problem(_not_held(pick))
            chosen.append(card)
        if not chosen:
            return Problem(said("pick_up_with"))
    elif words:
        return Problem(said("unknown", text=f"pick up {rest}"))
    return _act_if(view, lambda seat: PickUp(seat, tuple(card.position for card in chosen)))


def pick(view: View, rest: str) -> Meaning:
    """``pick`` and what comes behind it."""
    first, _, more = rest.partition(" ")
    if first.lower() in ("up", ""):
        return pick_up(view, more)
    return pick_up(view, rest) if first.lower() == "with" else Problem(said("unknown", text=f"pick {rest}"))


def chance(view: View, rest: str) -> Meaning:
    """``chance``."""
    return _not_my_turn(view) or _act_if(view, Chance)


def done(view: View, rest: str) -> Meaning:
    """``done``."""
    return _not_my_turn(view) or _act_if(view, Done)


def name(view: View, rest: str) -> Meaning:
    """``name 9``."""
    rank = read_rank(rest)
    if rank is None:
        return Problem(said("name_what"))
    return _not_my_turn(view) or _act_if(view, lambda seat: Name(seat, _number(rank)))


def choose(view: View, rest: str) -> Meaning:
    """``choose 3c 4d 5h``."""
    problem = _not_arranging(view)
    if problem is not None:
        return problem
    chosen: list[OwnCard] = []
    for pick in read_picks(rest.split(), jokers=_has_jokers(view)) or ():
        card = _find(view, pick, chosen, None)
        if card is None:
            return Problem(_not_held(pick))
        chosen.append(card)
    if not chosen:
        return Problem(said("choose_how"))
    return _act_if(view, lambda seat: Choose(seat, tuple(card.position for card in chosen)))


def flip(view: View, rest: str) -> Meaning:
    """``flip 2``."""
    problem = _not_my_turn(view)
    if problem is not None:
        return problem
    if not (rest.isascii() and rest.isdigit()):
        return Problem(said("flip_what"))
    if view.zone is not Zone.DOWNCARDS or view.my_seat is None:
        held = "upcards" if view.zone is Zone.UPCARDS else "hand cards"
        return Problem(said("come_first", held=held))
    slot = int(rest[:3])
    if not view.naming and not any(choice.kind == "flip" and choice.slot == slot for choice in view.choices):
        return Problem(said("bad_slot", slot=slot))
    return _act_if(view, lambda seat: Flip(seat, slot - 1))


def _not_arranging(view: View) -> Problem | None:
    """Why nothing can be arranged now."""
    if view.stage is not Stage.ARRANGE:
        return Problem(said("not_arranging"))
    if view.my_seat is None:
        return Problem(said("not_in_round"))
    return None if view.my_turn else Problem(said("ready_sent"))


def swap(view: View, rest: str) -> Meaning:
    """``swap 2h 7s``."""
    problem = _not_arranging(view)
    if problem is not None:
        return problem
    if view.rules is not None and view.rules.arrange is not ArrangeRule.SWAP:
        return Problem(said("no_swap"))
    picks = read_picks(rest.split(), jokers=_has_jokers(view))
    if picks is None or len(picks) != 2:
        return Problem(said("swap_how"))
    for hand, up in (picks, picks[::-1]):
        in_hand, laid_out = _find(view, hand, (), Zone.HAND), _find(view, up, (), Zone.UPCARDS)
        if in_hand is not None and laid_out is not None:
            return _act_if(view, partial(Swap, hand=in_hand.position, up=laid_out.position))
    for pick in picks:
        if _find(view, pick, (), None) is None:
            return Problem(_not_held(pick))
    return Problem(said("swap_how"))


def ready(view: View, rest: str) -> Meaning:
    """``ready``."""
    if view.stage is not Stage.ARRANGE or view.my_seat is None:
        return Problem(said("not_arranging"))
    if not view.my_turn:
        return Problem(said("ready_already"))
    return _act_if(view, Ready)


def unready(view: View, rest: str) -> Meaning:
    """``unready``."""
    if view.stage is not Stage.ARRANGE or view.my_seat is None:
        return Problem(said("not_arranging"))
    return Problem(said("not_ready" if view.my_turn else "ready_sent"))


def why(view: View, rest: str) -> Meaning:
    """``why 4d``, ``why pick up``."""
    if rest.lower() in ("pick up", "pickup", "pick", "p"):
        return Explain(view.pick_up_why_not or said("why_pick_up") if view.zone is not None else _idle(view))
    picks = read_picks(rest.split(), jokers=_has_jokers(view))
    if picks is None:
        return Problem(said("why_what"))
    pick = picks[0]
    card = _find(view, pick, (), view.zone) or _find(view, pick, (), None)
    if card is not None:
        return Explain(card.why_not or said("playable", cards=(card.text,)))
    if view.pile is None:
        return Explain(_not_held(pick) if view.zone is not None else _idle(view))
    if pick.rank in view.pile.fits:
        return Explain(said("fits_not_held", what=f"A {rank_word(pick.rank)}"))
    return Explain(_does_not_follow(view, pick.rank, view.pile.to_beat))


def _does_not_follow(view: View, rank: str, top: str) -> Sentence:
    """Why a rank that I don't hold would not go on what is to be beaten."""
    if view.rules is not None and top and top != JOKER and RANKS.index(top) in view.rules.ceiling:
        return said("above_ceiling", rank=rank, top=top)
    return said("too_high_top" if rank == top else "too_low", rank=rank, top=top)


def _idle(view: View) -> Sentence:
    problem = _not_my_turn(view)
    return problem.sentence if problem is not None else said("nothing_to_play")


def play_word(view: View, rest: str) -> Meaning:
    """``play 7 7``."""
    return laid(view, rest, f"play {rest}".strip())

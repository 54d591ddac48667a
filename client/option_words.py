"""What each option of the rules is about, in a few words: for the list of ``shithead rules --options``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.options import RANKS_KIND
from engine.rules import KINDS, UNPLAYED_VALUES

ABOUT: Final[Mapping[str, str]] = {
    "again": "ranks after which the player goes again",
    "arrange": "before play: exchange hand cards for upcards, choose the upcards, or neither",
    "blind_pick_up": "with only downcards left the pile may be taken instead of a flip",
    "burn": "ranks that go on anything and burn the pile",
    "burn_run": "so many of one rank on top of each other burn the pile",
    "ceiling": "ranks after which that rank or a lower one has to be played",
    "chance": "the top card of the stock may be tried: only when nothing fits, or always (free)",
    "combine_last_hand": "with the whole hand equal upcards may be played, once the stock is used up",
    "deal": "cards for each player: downcards/upcards/hand",
    "draw_follow_up": "cards just drawn of the rank just played may be laid as well",
    "joker_power": "what jokers do",
    "jokers": "jokers in each pack",
    "jump_in": "four of a rank may be completed out of turn",
    "lead_must_be_start_rank": "the first lead has to hold a card of the rank that decided who leads",
    "next_dealer": "who deals next: the shithead, the first one out, the next in turn, or by lot",
    "packs": "packs of cards; auto: one for each five players",
    "pick_up": "the pile may be taken at any time, or only when nothing can be played",
    "quartet_beats_all": "as many equal cards as burn the pile may be played on anything",
    "refill_to": "cards in the hand up to which is drawn after a play",
    "replay_after_quartet": "whether who burns the pile with equal cards goes again",
    "reset": "ranks that go on anything, and anything on them",
    "reverse": "ranks that turn the direction of play",
    "reverse_count": "several reversing cards at once turn it each, or once",
    "skip": "ranks after which the next player misses a turn",
    "skip_per_card": "each card of such a play skips one player more",
    "start": "how it is found out who leads the first round of play",
    "start_tie": "with start=hand_lowest: who of several with the lowest rank leads",
    "ten_on_ceiling": "a ten may be played after a card of ceiling",
    "transparent": "ranks that go on anything; what lies below them counts",
    "transparent_breaks_run": "a transparent card between equal ranks ends their run",
    "turn_limit": "moves after which a round that does not end is stopped",
    "turn_limit_result": "then: nobody loses, or who holds the most cards",
    "upcard_pick_up": "who takes the pile from the upcards takes it alone, or one or all equal upcards with it",
    "upcards_strict": "from the upcards a card has to be higher, not equal",
}
"""Option → what it is about."""


def values_in_words(option: str) -> str:
    """What an option can be: ranges, or its words, those first that are played."""
    kind = KINDS[option]
    unplayed = tuple(value for name, value in sorted(UNPLAYED_VALUES) if name == option)
    if kind is RANKS_KIND:
        return "ranks with commas, such as 3,9,J, or none"
    if not unplayed:
        return kind.form
    played = ", ".join(word for word in kind.words if word not in unplayed)
    return f"one of {played} (not yet played: {', '.join(unplayed)})"


__all__ = ["ABOUT", "values_in_words"]

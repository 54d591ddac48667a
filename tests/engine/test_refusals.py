"""Every refusal: its code and, word for word, the sentence with its values (docs/record.md, codes)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import checks, early_checks, refusals
from engine.cards import card_text
from engine.game import apply, check, deal, mask
from engine.moves import (
    Chance,
    Choose,
    Declare,
    Done,
    Flip,
    Leave,
    Move,
    Name,
    Open,
    Pass,
    PickUp,
    Play,
    PlayAs,
    Ready,
    Swap,
    Unready,
)
from engine.rules import RuleSet
from engine.state import GameState
from tests.engine.helpers import THREE, record

DEUCE, FOUR, NINE, TEN_RANK, JOKER = 0, 2, 7, 8, 13

WILD = "wikipedia jokers=2 joker_power=wild"
FOLLOW = "wikipedia draw_follow_up=true"
ONE_RANK = "One or more cards of one rank can be played at a time."
UNSEEN = "There is no such card, or nobody has seen it yet."
FLIP_ONE = "Only downcards are left: flip one."
NO_NAMING = "These rules have no such move: naming the rank of a card."
NO_TAKING_ALONG = "These rules have no such move: picking up with an upcard."
NO_CHANCE = "These rules have no such move: turning a chance card."

BOGDAN = "hand Bogdan Jc Qc\nup Bogdan Kc\n"


def at(state: GameState, *cards: str) -> tuple[int, ...]:
    """The positions of cards, by their text."""
    place = {card_text(face, state.packs): position for position, face in enumerate(state.faces)}
    return tuple(place[card] for card in cards)


def hand(rules: str = "wikipedia", pile: str = "9c", cards: str = "4c 4d Ac", stock: str = "3c") -> GameState:
    """Ana plays from the hand."""
    ana = f"hand Ana {cards}\nup Ana 6c\ndown Ana 7c - -\n"
    return record(f"pile {pile}\nstock {stock}\n{ana}{BOGDAN}turn Ana\n", rules=rules)


def upcards(rules: str = "wikipedia", pile: str = "9c") -> GameState:
    """Ana plays from the upcards."""
    return record(f"pile {pile}\nup Ana 9d 9h 4c\ndown Ana 7c - -\n{BOGDAN}turn Ana\n", rules=rules)


def downcards(rules: str = "wikipedia") -> GameState:
    """Ana has only downcards."""
    return record(f"pile 9c\nstock 3c\ndown Ana 7c - -\n{BOGDAN}turn Ana\n", rules=rules)


def naming() -> GameState:
    """Ana has turned up a wild joker."""
    return record(f"pile 9c\ndown Ana X1 7c -\n{BOGDAN}turn Ana\nAna flips 1\n", rules=WILD)


def laying() -> GameState:
    """Ana has drawn cards of the rank just played, and another one."""
    body = f"pile 4c\nstock 5d 5h 8c\nhand Ana 5c 9d\n{BOGDAN}turn Ana\nAna plays 5c\n"
    return record(body, rules=FOLLOW + " refill_to=4")


def arranging(rules: str = "wikipedia") -> GameState:
    body = "hand Ana 4c 9c\nup Ana 6c\ndown Ana 7c - -\nhand Bogdan Jc Qc\nup Bogdan Kc\nphase arrange\n"
    return record(body, rules=rules)


def choosing(more: str = "") -> GameState:
    """Ana chooses three upcards of five cards."""
    body = "hand Ana 4c 9c 6c 5h 8h\ndown Ana 7c - -\nhand Bogdan Jc Qc Kc Kd Kh\nphase arrange\n"
    return record(body + more, rules="wikipedia arrange=choose")


def asked(rules: str = "") -> GameState:
    """Ana is asked for a 4, of which she has two."""
    body = "hand Ana 4c 4d 9c\nup Ana 6c\nhand Bogdan 4h Qc\nphase arrange\nAna ready\nBogdan ready\n"
    return record(body + "Ana passes\nBogdan passes\n= turn Ana\n", rules="wikipedia start=hand_lowest " + rules)


def first_lead(rules: str = "") -> GameState:
    """Ana has to lead the 4 that made her eldest hand."""
    body = "hand Ana 4c 9c\nstock 3c\nhand Bogdan Jc Qc\nphase arrange\nAna ready\nBogdan ready\n"
    rules = "wikipedia start=hand_lowest lead_must_be_start_rank=true " + rules
    return record(body + "= turn Ana\n= phase play\n", rules=rules)


def gone(phase: str = "turn Bogdan") -> GameState:
    """Ana has left a round of three."""
    body = f"hand Ana 4c\nhand Bogdan 5c\nhand Carmen 6c\n{phase}\nAna leaves\n"
    return record(body, **THREE)


def opened() -> GameState:
    """A closed round in which the first upcard has been opened."""
    return apply(deal(RuleSet(), 2, 0), Open(6, 40))


def declared_once() -> GameState:
    """Ana has declared one of two fours where most copies decide."""
    state = asked("start_tie=most_copies")
    return apply(state, Declare(0, at(state, "4c")[0]))


def deuce_lead() -> GameState:
    """Ana has to lead the 2 that made her eldest hand, as nobody had another rank but jokers."""
    body = "stock 3c\nhand Ana 2c X1\nhand Bogdan X2\nphase arrange\nAna ready\nBogdan ready\n"
    rules = f"{WILD} start=hand_lowest lead_must_be_start_rank=true chance=chance_free"
    return record(body + "= turn Ana\n= phase play\n", rules=rules)


SCENES: dict[str, Callable[[], GameState]] = {
    "play": hand,
    "onlooker": lambda: mask(hand(), None),
    "low": lambda: hand("wikipedia ceiling=9"),
    "twelve": lambda: hand("wikipedia ceiling=Q", pile="Qd"),
    "forced": lambda: hand("wikipedia pick_up=forced_only"),
    "empty_pile": lambda: record(f"hand Ana 4c\n{BOGDAN}turn Ana\n"),
    "wild": lambda: hand(WILD, cards="4c 9d X1"),
    "upcards": upcards,
    "strict": lambda: upcards("wikipedia upcards_strict=true"),
    "one": lambda: upcards("wikipedia upcard_pick_up=pile_plus_one"),
    "one_hand": lambda: hand("wikipedia upcard_pick_up=pile_plus_one"),
    "one_empty": lambda: upcards("wikipedia upcard_pick_up=pile_plus_one", pile=""),
    "some": lambda: upcards("wikipedia upcard_pick_up=pile_plus_set"),
    "some_empty": lambda: upcards("wikipedia upcard_pick_up=pile_plus_set", pile=""),
    "forced_up": lambda: upcards("wikipedia pick_up=forced_only"),
    "downcards": downcards,
    "blind_pick_up": lambda: record(f"down Ana 7c - -\n{BOGDAN}turn Ana\n", rules="wikipedia blind_pick_up=true"),
    "chance_down": lambda: downcards("wikipedia chance=chance"),
    "chance_up": lambda: upcards("wikipedia chance=chance"),
    "chance_able": lambda: hand("wikipedia chance=chance"),
    "chance_empty": lambda: hand("wikipedia chance=chance", stock=""),
    "lead": first_lead,
    "chance_lead": lambda: first_lead("chance=chance_free"),
    "combined": lambda: hand("wikipedia combine_last_hand=true", cards="Ac", stock=""),
    "combined_hidden": lambda: mask(hand("wikipedia combine_last_hand=true", cards="Ac", stock=""), 1),
    "naming": naming,
    "laying": laying,
    "following": lambda: hand(FOLLOW),
    "closed": lambda: apply(mask(downcards(), None), Flip(0, 0)),
    "over": lambda: record(f"hand Ana 4c\n{BOGDAN}turn Ana\nAna plays 4c\n"),
    "dealt": lambda: deal(RuleSet(), 2, 0),
    "opened": opened,
    "opened_first": lambda: apply(deal(RuleSet(), 2, 0), Open(6, 0)),
    "deuce_lead": deuce_lead,
    "gone": gone,
    "gone_arranging": lambda: gone("phase arrange"),
    "arranging": arranging,
    "arranging_hidden": lambda: mask(arranging(), 1),
    "ready": lambda: apply(arranging(), Ready(0)),
    "choosing": choosing,
    "chosen": lambda: choosing("Ana chooses 4c 9c 6c\nAna ready\n"),
    "asked": asked,
    "asked_hidden": lambda: mask(asked(), 1),
    "suits": lambda: asked("start_tie=suit/dhcs"),
    "most": lambda: asked("start_tie=most_copies"),
    "most_declared": declared_once,
}


CASES: list[tuple[str, Callable[[GameState], Move], str, str]] = [
    ("closed", lambda s: Done(0), "wrong_phase", "A card is being opened; wait for it."),
    ("closed", lambda s: Ready(0), "wrong_phase", "A card is being opened; wait for it."),
    ("laying", lambda s: Play(0, at(s, "9d")), "not_in_zone", "Only cards just drawn can be laid now."),
    ("laying", lambda s: Play(0, at(s, "8c")), "not_a_set", "Only a 5 can be laid now, as before."),
    ("laying", lambda s: Play(0, at(s, "5d", "5h", "8c")), "not_a_set", ONE_RANK),
    ("laying", lambda s: PickUp(0), "wrong_phase", "0 lays 5s just drawn, or is done."),
    ("laying", lambda s: Play(1, at(s, "Jc")), "not_your_turn", "It is 0's turn."),
    ("naming", lambda s: Flip(0, 1), "wrong_phase", "0 has to say first what the joker counts as."),
    ("naming", lambda s: Name(0, TEN_RANK), "bad_rank", "A joker can't count as a T."),
    ("naming", lambda s: Name(0, DEUCE), "bad_rank", "A joker can't count as a 2."),
    ("naming", lambda s: Name(0, FOUR), "too_low", "A 4 can't be played on a 9."),
    ("naming", lambda s: Name(0, 99), "bad_rank", "A joker can't count as a ?."),
    ("naming", lambda s: Name(0, JOKER), "bad_rank", "A joker can't count as a X."),
    ("naming", lambda s: Name(0, -1), "bad_rank", "A joker can't count as a ?."),
    ("naming", lambda s: Name(1, NINE), "not_your_turn", "It is 0's turn."),
    ("play", lambda s: Name(0, NINE), "not_allowed", NO_NAMING),
    ("wild", lambda s: Name(0, NINE), "wrong_phase", "No joker has to be named."),
    ("play", lambda s: PlayAs(0, at(s, "4c"), NINE), "not_allowed", NO_NAMING),
    ("play", lambda s: Play(1, at(s, "Jc")), "not_your_turn", "It is 0's turn."),
    ("play", lambda s: Ready(0), "wrong_phase", "That can't be done any more: play has begun."),
    ("play", lambda s: Swap(0, 0, 1), "wrong_phase", "That can't be done any more: play has begun."),
    ("play", lambda s: Declare(0, 0), "wrong_phase", "That can't be done any more: play has begun."),
    ("play", lambda s: Pass(0), "wrong_phase", "That can't be done any more: play has begun."),
    ("play", lambda s: Play(0, ()), "not_a_set", ONE_RANK),
    ("play", lambda s: Play(0, at(s, "4c")), "too_low", "A 4 can't be played on a 9."),
    ("play", lambda s: Play(0, at(s, "4c", "4d")), "too_low", "A 4 can't be played on a 9."),
    ("play", lambda s: Play(0, at(s, "4c", "Ac")), "not_a_set", ONE_RANK),
    ("play", lambda s: Play(0, at(s, "Ac", "Ac")), "duplicate_card", "A card is named twice."),
    ("play", lambda s: Play(0, at(s, "6c")), "not_in_zone", "The hand cards come first."),
    ("play", lambda s: Play(0, at(s, "Ac", "6c")), "not_in_zone", "The hand cards come first."),
    ("play", lambda s: Play(0, at(s, "Jc")), "not_yours", "0 does not hold Jc."),
    ("play", lambda s: Play(0, at(s, "9c")), "not_yours", "0 does not hold 9c."),
    ("play", lambda s: Play(0, at(s, "4c", "Jc")), "not_yours", "0 does not hold Jc."),
    ("play", lambda s: Play(0, (-1,)), "no_such_card", UNSEEN),
    ("play", lambda s: Play(0, (52,)), "no_such_card", UNSEEN),
    ("play", lambda s: Play(0, (-2, 3)), "no_such_card", UNSEEN),
    ("play", lambda s: Flip(0, 0), "not_in_zone", "The hand cards come first."),
    ("play", lambda s: PickUp(0, at(s, "6c")), "not_allowed", NO_TAKING_ALONG),
    ("play", lambda s: Chance(0), "not_allowed", NO_CHANCE),
    ("play", lambda s: Done(0), "not_allowed", "These rules have no such move: being done."),
    ("play", lambda s: Unready(0), "wrong_phase", "That can't be done any more: play has begun."),
    ("play", lambda s: Declare(1, 0), "wrong_phase", "That can't be done any more: play has begun."),
    ("play", lambda s: Choose(0, ()), "wrong_phase", "That can't be done any more: play has begun."),
    ("onlooker", lambda s: Play(0, (s.hands[0][0],)), "no_such_card", UNSEEN),
    ("low", lambda s: Play(0, at(s, "Ac")), "above_ceiling", "After a 9 a A can't be played: 9 or lower."),
    ("twelve", lambda s: Play(0, at(s, "Ac")), "above_ceiling", "After a Q a A can't be played: Q or lower."),
    ("upcards", lambda s: Play(0, at(s, "4c")), "too_low", "A 4 can't be played on a 9."),
    ("upcards", lambda s: Play(0, at(s, "7c")), "not_in_zone", "The upcards come first."),
    ("upcards", lambda s: Play(0, at(s, "9d", "4c")), "not_a_set", ONE_RANK),
    ("upcards", lambda s: Flip(0, 0), "not_in_zone", "The upcards come first."),
    ("upcards", lambda s: PickUp(0, at(s, "9d")), "not_allowed", NO_TAKING_ALONG),
    ("strict", lambda s: Play(0, at(s, "9d")), "too_low", "An upcard has to be higher than the 9; a 9 is not."),
    ("strict", lambda s: Play(0, at(s, "4c")), "too_low", "A 4 can't be played on a 9."),
    ("one", lambda s: PickUp(0), "wrong_count", "One upcard goes along: name it."),
    ("one", lambda s: PickUp(0, at(s, "9d", "9h")), "wrong_count", "One upcard goes along: name it."),
    ("one", lambda s: PickUp(0, at(s, "9d", "9d")), "duplicate_card", "A card is named twice."),
    ("one", lambda s: PickUp(0, at(s, "9d", "4c")), "not_a_set", "Only upcards of one rank go along."),
    ("one", lambda s: PickUp(0, at(s, "7c")), "not_in_zone", "Only upcards go along."),
    ("one", lambda s: PickUp(0, at(s, "Jc")), "not_yours", "0 does not hold Jc."),
    ("one", lambda s: PickUp(0, (99,)), "no_such_card", UNSEEN),
    (
        "one_hand",
        lambda s: PickUp(0, at(s, "6c")),
        "not_in_zone",
        "Upcards go along only when they are played from.",
    ),
    (
        "one_hand",
        lambda s: PickUp(0, at(s, "Ac")),
        "not_in_zone",
        "Upcards go along only when they are played from.",
    ),
    ("some", lambda s: PickUp(0), "wrong_count", "One upcard or several equal ones go along: name them."),
    ("some", lambda s: PickUp(0, at(s, "9d", "4c")), "not_a_set", "Only upcards of one rank go along."),
    ("some_empty", lambda s: PickUp(0), "empty_pile", "There is nothing to pick up: any card can be led."),
    (
        "some_empty",
        lambda s: PickUp(0, at(s, "9d")),
        "empty_pile",
        "There is nothing to pick up: any card can be led.",
    ),
    ("one_empty", lambda s: PickUp(0), "empty_pile", "There is nothing to pick up: any card can be led."),
    ("downcards", lambda s: PickUp(0), "must_flip", FLIP_ONE),
    ("downcards", lambda s: Chance(0), "not_allowed", NO_CHANCE),
    ("downcards", lambda s: Play(0, at(s, "7c")), "must_flip", FLIP_ONE),
    ("downcards", lambda s: Play(0, at(s, "Jc")), "not_yours", "0 does not hold Jc."),
    ("downcards", lambda s: Flip(0, 1), "bad_slot", "There is no downcard in slot 2."),
    ("downcards", lambda s: Flip(0, 2), "bad_slot", "There is no downcard in slot 3."),
    ("downcards", lambda s: Flip(0, -1), "bad_slot", "There is no downcard in slot 0."),
    ("downcards", lambda s: Flip(1, 0), "not_your_turn", "It is 0's turn."),
    ("chance_down", lambda s: Chance(0), "must_flip", FLIP_ONE),
    ("chance_up", lambda s: Chance(0), "not_in_zone", "The upcards come first."),
    ("chance_able", lambda s: Chance(0), "must_play", "Only a player who can't play turns a chance card."),
    ("chance_empty", lambda s: Chance(0), "empty_stock", "There is no card left in the stock."),
    ("blind_pick_up", lambda s: PickUp(0), "empty_pile", "There is nothing to pick up: any card can be led."),
    ("forced", lambda s: PickUp(0), "must_play", "Only a player who can't play picks up."),
    ("forced_up", lambda s: PickUp(0), "must_play", "Only a player who can't play picks up."),
    ("empty_pile", lambda s: PickUp(0), "empty_pile", "There is nothing to pick up: any card can be led."),
    ("wild", lambda s: Play(0, at(s, "X1")), "bad_rank", "Say what rank the joker counts as."),
    ("wild", lambda s: Play(0, at(s, "9d", "X1")), "bad_rank", "Say what rank the joker counts as."),
    (
        "wild",
        lambda s: PlayAs(0, at(s, "9d"), NINE),
        "bad_rank",
        "Only a joker is named; there is none among these cards.",
    ),
    ("wild", lambda s: PlayAs(0, at(s, "9d", "4c", "X1"), NINE), "not_a_set", ONE_RANK),
    ("wild", lambda s: PlayAs(0, at(s, "9d", "X1"), FOUR), "bad_rank", "A joker played with a 9 counts as one."),
    ("wild", lambda s: PlayAs(0, at(s, "X1"), TEN_RANK), "bad_rank", "A joker can't count as a T."),
    ("wild", lambda s: PlayAs(0, at(s, "X1"), FOUR), "too_low", "A 4 can't be played on a 9."),
    ("wild", lambda s: PlayAs(0, at(s, "X1"), 99), "bad_rank", "A joker can't count as a ?."),
    ("wild", lambda s: PlayAs(0, at(s, "X1", "X1"), NINE), "duplicate_card", "A card is named twice."),
    ("wild", lambda s: PlayAs(0, at(s, "X2"), NINE), "not_yours", "0 does not hold X2."),
    ("wild", lambda s: PlayAs(0, (), NINE), "not_a_set", ONE_RANK),
    ("lead", lambda s: Play(0, at(s, "9c")), "must_play", "The first lead has to be a 4."),
    ("chance_lead", lambda s: Chance(0), "must_play", "The first lead has to be a 4."),
    ("combined", lambda s: Play(0, at(s, "Ac", "6c")), "not_a_set", ONE_RANK),
    ("combined", lambda s: Play(0, at(s, "6c")), "not_in_zone", "The hand cards come first."),
    ("combined", lambda s: Play(0, at(s, "Ac", "Ad", "Ad")), "not_yours", "0 does not hold Ad."),
    ("combined_hidden", lambda s: Play(0, s.hands[0] + s.ups[0]), "no_such_card", UNSEEN),
    ("wild", lambda s: Done(0), "not_allowed", "These rules have no such move: being done."),
    ("following", lambda s: Done(0), "wrong_phase", "No cards were drawn that could be laid."),
    ("over", lambda s: Play(1, at(s, "Jc")), "wrong_phase", "The round is over."),
    ("over", lambda s: Leave(1), "wrong_phase", "The round is over."),
    ("over", lambda s: Open(s.hands[1][0], s.faces[s.hands[1][0]]), "wrong_phase", "The round is over."),
    ("dealt", lambda s: Leave(0), "wrong_phase", "The cards are still being dealt."),
    ("dealt", lambda s: Ready(0), "wrong_phase", "The cards are still being dealt."),
    ("dealt", lambda s: Open(6, 52), "no_such_card", "There is no such card."),
    ("dealt", lambda s: Open(52, 6), "no_such_card", "There is no such card."),
    ("dealt", lambda s: Open(-1, 6), "no_such_card", "There is no such card."),
    ("dealt", lambda s: Open(6, -1), "no_such_card", "There is no such card."),
    ("dealt", lambda s: Open(0, 6), "not_in_zone", "That is not the card that is being opened."),
    ("opened", lambda s: Open(7, 40), "no_such_card", "Qc can't be there: another card is."),
    ("opened", lambda s: Open(6, 41), "no_such_card", "Qd can't be there: another card is."),
    ("opened_first", lambda s: Open(6, 41), "no_such_card", "Qd can't be there: another card is."),
    ("deuce_lead", lambda s: PlayAs(0, at(s, "X1"), NINE), "must_play", "The first lead has to be a 2."),
    ("deuce_lead", lambda s: Chance(0), "must_play", "The first lead has to be a 2."),
    ("play", lambda s: Leave(2), "not_your_turn", "2 does not play in this round any more."),
    ("play", lambda s: Leave(-1), "not_your_turn", "-1 does not play in this round any more."),
    ("gone", lambda s: Leave(0), "not_your_turn", "0 does not play in this round any more."),
    ("gone", lambda s: Play(0, at(s, "4c")), "not_your_turn", "It is 1's turn."),
    (
        "play",
        lambda s: Open(at(s, "3c")[0], s.faces[at(s, "3c")[0]]),
        "not_in_zone",
        "Nobody may open that card now.",
    ),
    (
        "onlooker",
        lambda s: Open(s.hands[1][0], s.faces[s.pile[0]]),
        "no_such_card",
        "9c can't be there: another card is.",
    ),
    (
        "arranging",
        lambda s: Play(0, at(s, "4c")),
        "wrong_phase",
        "Play has not begun: players are arranging their cards.",
    ),
    ("arranging", lambda s: Leave(5), "not_your_turn", "5 does not play in this round any more."),
    ("arranging", lambda s: Ready(2), "not_your_turn", "2 does not play in this round."),
    ("arranging", lambda s: Ready(-1), "not_your_turn", "-1 does not play in this round."),
    ("arranging", lambda s: Unready(0), "not_allowed", "0 is not ready yet."),
    (
        "arranging",
        lambda s: Choose(0, at(s, "4c")),
        "not_allowed",
        "These rules have no such move: choosing upcards.",
    ),
    ("arranging", lambda s: Swap(0, *at(s, "6c", "4c")), "not_in_zone", "A hand card is exchanged for an upcard."),
    ("arranging", lambda s: Swap(0, *at(s, "4c", "9c")), "not_in_zone", "A hand card is exchanged for an upcard."),
    ("arranging", lambda s: Swap(0, *at(s, "4c", "7c")), "not_in_zone", "A hand card is exchanged for an upcard."),
    ("arranging", lambda s: Swap(0, *at(s, "4c", "Kc")), "not_yours", "0 does not hold Kc."),
    ("arranging", lambda s: Swap(0, *at(s, "Jc", "6c")), "not_yours", "0 does not hold Jc."),
    ("arranging", lambda s: Swap(0, 99, 0), "no_such_card", UNSEEN),
    ("arranging", lambda s: Swap(0, s.hands[0][0], -1), "no_such_card", UNSEEN),
    ("arranging_hidden", lambda s: Swap(0, s.hands[0][0], s.ups[0][0]), "no_such_card", UNSEEN),
    ("ready", lambda s: Swap(0, *at(s, "4c", "6c")), "already_ready", "0 is ready already."),
    ("ready", lambda s: Ready(0), "already_ready", "0 is ready already."),
    ("gone_arranging", lambda s: Ready(0), "not_your_turn", "0 does not play in this round."),
    (
        "choosing",
        lambda s: Swap(0, *at(s, "4c", "6c")),
        "not_allowed",
        "These rules have no such move: exchanging cards.",
    ),
    ("choosing", lambda s: Ready(0), "must_choose", "0 has not chosen upcards yet."),
    ("choosing", lambda s: Choose(0, at(s, "4c")), "wrong_count", "Choose 3 cards."),
    ("choosing", lambda s: Choose(0, at(s, "4c", "9c", "6c", "5h")), "wrong_count", "Choose 3 cards."),
    ("choosing", lambda s: Choose(0, at(s, "4c", "9c", "9c")), "duplicate_card", "A card is named twice."),
    ("choosing", lambda s: Choose(0, at(s, "4c", "9c", "7c")), "not_in_zone", "Upcards are chosen from the hand."),
    ("choosing", lambda s: Choose(0, at(s, "4c", "9c", "Jc")), "not_yours", "0 does not hold Jc."),
    ("choosing", lambda s: Choose(0, (99,)), "no_such_card", UNSEEN),
    ("chosen", lambda s: Choose(0, at(s, "4c", "9c", "6c")), "already_ready", "0 is ready already."),
    ("chosen", lambda s: Ready(0), "already_ready", "0 is ready already."),
    ("asked", lambda s: Declare(1, s.hands[1][0]), "not_your_turn", "It is 0's turn."),
    ("asked", lambda s: Pass(1), "not_your_turn", "It is 0's turn."),
    (
        "asked",
        lambda s: Play(0, at(s, "4c")),
        "wrong_phase",
        "Play has not begun: it is being found out who leads.",
    ),
    ("asked", lambda s: Pass(0), "must_play", "0 has a 4 and must declare it."),
    ("asked", lambda s: Declare(0, at(s, "9c")[0]), "not_a_set", "0 is asked for a 4, not for 9c."),
    (
        "asked",
        lambda s: Declare(0, at(s, "6c")[0]),
        "not_in_zone",
        "That is none of the cards that are asked for.",
    ),
    ("asked", lambda s: Declare(0, at(s, "Qc")[0]), "not_yours", "0 does not hold Qc."),
    ("asked", lambda s: Declare(0, 99), "no_such_card", UNSEEN),
    ("asked", lambda s: Declare(0, -1), "no_such_card", UNSEEN),
    ("asked_hidden", lambda s: Declare(0, s.hands[0][0]), "no_such_card", UNSEEN),
    ("suits", lambda s: Declare(0, at(s, "4c")[0]), "must_play", "0 declares the best card: 4d."),
    ("suits", lambda s: Pass(0), "must_play", "0 has a 4 and must declare it."),
    ("most", lambda s: Pass(0), "must_play", "0 has a 4 and must declare it."),
    ("most_declared", lambda s: Declare(0, at(s, "4c")[0]), "duplicate_card", "4c is declared already."),
    ("most_declared", lambda s: Declare(0, at(s, "9c")[0]), "not_a_set", "0 is asked for a 4, not for 9c."),
    ("most_declared", lambda s: Pass(0), "must_play", "0 has a 4 and must declare it."),
]
"""Scene, move, code, sentence (seats by their numbers, as everywhere below ``client``)."""


@pytest.mark.parametrize(("scene", "move", "code", "words"), CASES)
def test_a_refusal_has_its_code_and_its_words(
    scene: str, move: Callable[[GameState], Move], code: str, words: str
) -> None:
    state = SCENES[scene]()
    error = check(state, move(state))
    assert error is not None
    assert (error.code, str(error)) == (code, words)


ABOUT_A_SEAT = {
    "A hand card is exchanged for an upcard.",
    "Only a player who can't play picks up.",
    "Only a player who can't play turns a chance card.",
    "Only downcards are left: flip one.",
    "Only upcards go along.",
    "That is none of the cards that are asked for.",
    "The {held} come first.",
    "Upcards are chosen from the hand.",
    "Upcards go along only when they are played from.",
}
"""Sentences that don't name the player, and by whose seat a client still tells "you" from somebody else."""


@pytest.mark.parametrize(("scene", "move", "code", "words"), CASES)
def test_a_refusal_tells_whom_it_is_about(
    scene: str, move: Callable[[GameState], Move], code: str, words: str
) -> None:
    state = SCENES[scene]()
    made = move(state)
    error = check(state, made)
    assert error is not None
    sentence = error.sentence
    about = "{seat}" in sentence.template or sentence.template in ABOUT_A_SEAT
    assert ("seat" in sentence.values) == about
    if about:
        assert not isinstance(made, Open)
        assert sentence.values["seat"] == (
            state.turn if sentence.template == "It is {seat}'s turn." else made.seat
        )


def test_every_refusal_there_is_has_a_case_above() -> None:
    """By the templates in the source of the checks: a new refusal needs a case."""
    given = {check(state, move(state)).sentence.template for scene, move, _, _ in CASES  # type: ignore[union-attr]
             for state in [SCENES[scene]()]}  # fmt: skip
    written = set()
    for module in (checks, early_checks, refusals):
        assert module.__file__ is not None
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="RuleError"), args=[_, ast.Constant(value=str(template)), *_]):
                    written.add(template)
                case ast.Dict(values=values):
                    written |= {value.value for value in values if isinstance(value, ast.Constant)}
    assert written and written <= given

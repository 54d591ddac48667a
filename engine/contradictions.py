"""Options that can't both hold: each pair is a row, and its sentence names both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engine.cards import DEUCE, RANKS, TEN
from engine.errors import RuleError
from engine.options import ArrangeRule, JokerPower, StartRule

if TYPE_CHECKING:  # rules.py calls this module
    from engine.rules import RuleSet

MAX_CHOOSE_CARDS: Final = 12
"""The most cards that ``arrange=choose`` lets a player choose from: 924 ways at most, which can be listed."""

CLASHES: Final = (
    ("burn", "reset", "it is gone before anything could be played on it"),
    ("burn", "ceiling", "it is gone before anything could be played on it"),
    ("burn", "transparent", "it is gone before anything could be seen through it"),
    ("burn", "skip", "a burn gives the same player another turn"),
    ("burn", "reverse", "a burn gives the same player another turn"),
    ("burn", "again", "a burn gives the same player another turn already"),
    ("reset", "ceiling", "after one anything may be played, after the other only low cards"),
    ("reset", "transparent", "after one anything may be played, the other shows what is to be beaten"),
    ("ceiling", "transparent", "a card that is looked through can't ask for low cards"),
    ("skip", "again", "one passes the turn over the next player, the other keeps it"),
)
"""Powers that no rank can have both, and why (3.2, 3.3)."""


def check_consistent(rules: RuleSet) -> None:
    """Raise ``RuleError("contradiction")`` with the first contradiction in ``rules``."""
    for error in contradictions(rules):
        raise error


def contradictions(rules: RuleSet) -> Iterator[RuleError]:
    """Everything in ``rules`` that contradicts itself, each with a sentence that names both options."""
    for one, other, why in CLASHES:
        both = sorted(set(getattr(rules, one)) & set(getattr(rules, other)))
        if both:
            yield _clash(
                "The rank {rank} can't be in both {option} and {other}: {why}.",
                one,
                other,
                rank=RANKS[both[0]],
                why=why,
            )
    yield from _about_starting(rules)
    yield from _about_jokers(rules)


def _clash(template: str, option: str, other: str, **values: object) -> RuleError:
    return RuleError("contradiction", template, option=option, other=other, **values)


def _about_starting(rules: RuleSet) -> Iterator[RuleError]:
    if rules.lead_must_be_start_rank and rules.start in (StartRule.DEALER_LEFT, StartRule.RANDOM):
        yield _clash(
            "{option} needs a start that goes by ranks, and {other}={value} does not.",
            "lead_must_be_start_rank",
            "start",
            value=rules.start.value,
        )
    if rules.arrange is ArrangeRule.CHOOSE:
        if not rules.deal.up:
            yield _clash(
                "{option}=choose lets players choose upcards, and {other} gives them none.", "arrange", "deal"
            )
        if rules.deal.up + rules.deal.hand > MAX_CHOOSE_CARDS:
            yield _clash(
                "{option}=choose can be played with up to {most} cards to choose from; {other} gives {cards}.",
                "arrange",
                "deal",
                most=MAX_CHOOSE_CARDS,
                cards=rules.deal.up + rules.deal.hand,
            )


def _about_jokers(rules: RuleSet) -> Iterator[RuleError]:
    if rules.jokers and rules.joker_power is JokerPower.WILD:
        barred = {DEUCE, TEN, *rules.reset, *rules.burn}
        if len(barred) == len(RANKS):
            taken = "burn" if rules.burn else "reset"
            yield _clash(
                "With {option}=wild a joker is named any rank without reset or burn, and {other} leaves none.",
                "joker_power",
                taken,
            )

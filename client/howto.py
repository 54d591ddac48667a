"""How to play, in lines that a newcomer reads in a minute: made from the rules in force (pure)."""

from __future__ import annotations

from client.cards import number_word, rank_label
from client.sentences import render
from client.texts import HOW
from engine.cards import RANKS
from engine.errors import Sentence
from engine.options import ArrangeRule, PickUpRule
from engine.rules import POWERS, RuleSet


def how_to_play(rules: RuleSet) -> list[str]:
    """The game in about twenty lines, under ``rules``. The details are those of ``engine.explain``."""
    down, up, hand = rules.deal
    chosen = rules.arrange is ArrangeRule.CHOOSE
    lines = [_line("aim"), _line("cards", hand=hand, up=up, down=down)]
    if rules.arrange is not ArrangeRule.NONE:
        lines.append(_line("choose" if chosen else "swap"))
    lines += [
        _line("turn"),
        _line("order"),
        _line("draw", count=rules.refill_to),
        _line("take" if rules.pick_up is PickUpRule.VOLUNTARY else "take_forced"),
    ]
    lines += [_line(power, ranks=_ranks(getattr(rules, power))) for power in POWERS if getattr(rules, power)]
    lines.append(_line("quartet", number=number_word(rules.burn_run).capitalize()))
    lines += [_line("upcards"), _line("downcards")]
    if RANKS.index("2") in rules.reset and RANKS.index("T") in rules.burn:
        lines.append(_line("hints"))
    return [*lines, _line("more")]


def _line(code: str, **values: object) -> str:
    return render(Sentence(code, HOW[code], values))


def _ranks(ranks: tuple[int, ...]) -> str:
    return " ".join(rank_label(RANKS[rank]) for rank in ranks)

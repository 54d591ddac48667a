"""Sentences of rules, table and line mode as the screen says them: with keys in place of words to type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from client.cards import Style
from client.phrases import SAID, TOLD
from client.sentences import YOU, Names, form_of, render
from engine.errors import Sentence, ShitheadError

OF_SAID: Final[Mapping[str, str]] = {
    "offer": "Round {round} is offered to {players}. Do you play? Enter or Y plays, N not.",
    "unknown": "{text} means nothing here. ? shows the keys.",
    "why_what": "There is nothing to pick just now. ? shows the keys.",
    "joker_as": "X picks the joker, Enter then asks what it counts as.",
    "pick_up_with": "An upcard goes along: U lists which.",
    "name_what": "U lists what the joker can count as.",
    "flip_what": "Choose a downcard by its number, then Enter turns it over.",
    "away": "Your program plays for you until you press Z again.",
}
"""Code of ``client.phrases.SAID`` → what the screen says instead."""

OF_TOLD: Final[Mapping[str, str]] = {
    "overdue": (
        "{player} has been waited for {seconds} s {what}. G gives the round up for everybody: it ends unfinished, "
        "nobody is the shithead, and that {player} was waited for is on record. Till then all wait."
    ),
}
"""Code of ``client.phrases.TOLD`` → what the screen says instead of the form for another player."""

OF_YOU: Final[Mapping[str, str]] = {
    "{seat} has to say first what the joker counts as.": "Say first what the joker counts as: U lists it.",
    "{seat} lays {rank}s just drawn, or is done.": "Lay a {rank} that you have just drawn, or U: you lay no more.",
}
"""Template of ``client.sentences.YOU`` → what the screen says instead."""

FORMS: Final[Mapping[str, str]] = (
    {SAID[code]: words for code, words in OF_SAID.items()}
    | {TOLD[code][0]: words for code, words in OF_TOLD.items()}
    | {YOU[template]: words for template, words in OF_YOU.items()}
)
"""Template that names a word to type → the same with keys."""


def here(sentence: Sentence, names: Names | None = None, style: Style | None = None) -> str:
    """The sentence as the screen says it, in one line; as ``client.sentences.render`` does otherwise."""
    form = FORMS.get(form_of(sentence, names or Names()))
    return render(sentence if form is None else replace(sentence, template=form), names, style)


def here_error(error: ShitheadError, names: Names | None = None, style: Style | None = None) -> str:
    """An error as the screen says it: what happened, and what to do about it where the error knows that."""
    remedy = getattr(error, "remedy", None)
    told = [error.sentence, *([remedy] if isinstance(remedy, Sentence) else [])]
    return " ".join(here(each, names, style) for each in told)

"""House rules as a person types them: what there is not is answered with the nearest that there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final

from engine.errors import RuleError
from engine.rules import KINDS, PRESETS, RuleSet, to_items, with_options

LIKENESS: Final = 0.7
"""How like a word has to be (difflib's ratio): ``forced`` is to ``forced_only``, ``powers`` not to ``jokers``."""


def meant(typed: str, words: Iterable[str]) -> str:
    """A question to put behind a word that there is not; empty where nothing is like it."""
    close = get_close_matches(typed.lower(), list(words), n=1, cutoff=LIKENESS)
    return f" (did you mean {close[0]}?)" if close else ""


def dropped(before: RuleSet, after: RuleSet) -> tuple[str, ...]:
    """Single options, as ``option=value``, that were set beside a preset in ``before`` and hold no more in
    ``after``. Which preset that was is nowhere kept: the nearest one is taken.
    """
    old, new = dict(to_items(before)), dict(to_items(after))
    presets = [dict(to_items(RuleSet.preset(name))) for name in PRESETS]
    nearest = min(presets, key=lambda preset: sum(preset[name] != value for name, value in old.items()))
    return tuple(f"{name}={value}" for name, value in old.items() if nearest[name] != value and new[name] != value)


def changed_rules(rules: RuleSet, changes: Mapping[str, str]) -> RuleSet:
    """``rules`` with options set, values in text form.

    Raises ``RuleError``: ``no_option`` for an option that there is not, ``bad_value`` for a value that it can't
    have.
    """
    for option, value in changes.items():
        if option == "preset":
            raise RuleError(
                "no_option",
                "A preset is no option: it is a whole set of rules. At the start: --rules {value}; at the table: "
                "set {value}.",
                value=value,
            )
        if option not in KINDS:
            raise RuleError(
                "no_option",
                "There is no option {option}{hint}. All are listed by: shithead rules --options",
                option=option,
                hint=meant(option, KINDS),
            )
        try:
            rules = with_options(rules, {option: value})
        except RuleError as error:
            kind = KINDS[option]
            raise RuleError(
                "bad_value",
                "The option {option} can't be {value}{hint}; expected: {form}.",
                option=option,
                value=repr(value),
                hint=meant(value, kind.words),
                form=kind.form,
            ) from error
    return rules

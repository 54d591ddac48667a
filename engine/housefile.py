"""House rules as a TOML text: a preset and the options that differ from it.

    preset = "backpacker"
    ceiling = [7]
    reverse = [9, "J"]
    deal = "3/3/7"
    pick_up = "forced_only"

Ranks may be numbers (10 is the ten) or letters; everything else is written as in docs/rules.md 3.1.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Final

from engine.cards import RANKS
from engine.errors import RuleError, Sentence, ShitheadError
from engine.rules import KINDS, POWERS, PRESETS, RuleSet, check_played, with_options

PRESET_KEY: Final = "preset"

NO_LINE: Final = 0
"""The line of a fault that belongs to no line."""

MAX_WORD_CHARACTERS: Final = 60
"""So much of a wrong line or value is repeated: enough to find it, and no screen full of it."""

_PLACE: Final = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


class HouseRulesError(ShitheadError):
    """The text is wrong at ``line`` (from 1, 0 for the whole), at ``word``; ``meant``: words that there are, of
    which a person may have meant one.

    Codes: ``bad_toml``, ``unknown_option``, ``bad_value``; ``not_yet`` and ``contradiction`` as in
    ``engine.rules.check_played``, at the line of the option that came last.
    """

    def __init__(
        self, line: int, word: str, code: str, template: str, *, meant: tuple[str, ...] = (), **values: object
    ) -> None:
        super().__init__(Sentence(code, template, {**values, "line": line, "word": word}))
        self.line = line
        self.word = word
        self.meant = meant


def rules_from_toml(text: str) -> RuleSet:
    """The rule set that ``text`` describes; raises :class:`HouseRulesError`.

    For how many players there are cards is not asked: ``engine.rules.check_playable`` does that.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _damaged(text, str(error)) from error
    lines = _lines_of_keys(text)
    base = RuleSet()
    if PRESET_KEY in data:
        base = _preset(data.pop(PRESET_KEY), lines.get(PRESET_KEY, NO_LINE))
    changes = {}
    for option, value in data.items():
        line = lines.get(option, NO_LINE)
        if option not in KINDS:
            raise HouseRulesError(
                line,
                option,
                "unknown_option",
                "Line {line}: there is no option {word}; expected one of {expected}.",
                meant=(PRESET_KEY, *KINDS),
                expected=", ".join((PRESET_KEY, *KINDS)),
            )
        changes[option] = _checked(option, value, line)
    rules = with_options(base, changes)
    try:
        check_played(rules)
    except RuleError as error:
        raise _clash(error, lines) from error
    return rules


def _clash(error: RuleError, lines: Mapping[str, int]) -> HouseRulesError:
    """An option that is not played, or two that can't both hold: at the line of the one that came last."""
    sentence = error.sentence
    named = [str(sentence.values[key]) for key in ("option", "other") if key in sentence.values]
    word = max(named, key=lambda option: lines.get(option, NO_LINE))
    template = "Line {line}: " + sentence.template
    return HouseRulesError(lines.get(word, NO_LINE), word, sentence.code, template, meant=(), **sentence.values)


def _damaged(text: str, reason: str) -> HouseRulesError:
    place = _PLACE.search(reason)
    count = text.count("\n") + 1
    line = int(place[1]) if place is not None and place[1] is not None else count
    shown = _cut(text.split("\n")[min(line, count) - 1].strip())
    return HouseRulesError(
        line, shown, "bad_toml", "Line {line}: `{word}` is no TOML ({reason}).", reason=_PLACE.sub("", reason)
    )


def _lines_of_keys(text: str) -> dict[str, int]:
    """Where each key stands first, from 1."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        match = re.match(r"\s*\[*\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[\].=]", line)
        if match:
            found.setdefault(match[1], number)
    return found


def _preset(value: object, line: int) -> RuleSet:
    if not isinstance(value, str) or value not in PRESETS:
        raise HouseRulesError(
            line,
            _shown(value),
            "bad_value",
            "Line {line}: there is no preset {word}; expected one of {expected}.",
            meant=tuple(PRESETS),
            expected=", ".join(PRESETS),
        )
    return RuleSet.preset(value)


def _checked(option: str, value: object, line: int) -> str:
    """``value`` in the text form of ``option``."""
    kind = KINDS[option]
    try:
        text = _text(option, value)
        if kind.write(kind.read(text)) == text:
            return text
    except ValueError:
        pass
    raise HouseRulesError(
        line,
        _shown(value),
        "bad_value",
        "Line {line}: {option} can't be {word}; expected {expected}.",
        meant=kind.words,
        option=option,
        expected=kind.form,
    )


def _text(option: str, value: object) -> str:
    if option in POWERS:
        parts = value if isinstance(value, list) else [value] if isinstance(value, int) else None
        if parts is None:
            return _plain(value)
        ranks = sorted(RANKS.index(_rank(part)) for part in parts)
        return ",".join(RANKS[rank] for rank in ranks)
    return _plain(value)


def _rank(value: object) -> str:
    """The character of a rank written as a number or a letter; ``ValueError`` for anything else."""
    text = "T" if value in (10, "10") and not isinstance(value, bool) else _plain(value)
    if len(text) != 1 or text not in RANKS:
        raise ValueError(text)
    return text


def _plain(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case _:
            raise ValueError(value)


def _shown(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            return "a table"
        case str() | list():
            return _cut(repr(value))
        case _:
            return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_WORD_CHARACTERS else text[: MAX_WORD_CHARACTERS - 1] + "…"

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
from typing import Final

from engine.cards import RANKS
from engine.errors import Sentence, ShitheadError
from engine.rules import KINDS, POWERS, PRESETS, RuleSet, with_options

PRESET_KEY: Final = "preset"

NO_LINE: Final = 0
"""The line of a fault that belongs to no line."""

_PLACE: Final = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


class HouseRulesError(ShitheadError):
    """The text is wrong at ``line`` (from 1, 0 for the whole), at ``word``.

    Codes: ``bad_toml``, ``unknown_option``, ``bad_value``.
    """

    def __init__(self, line: int, word: str, code: str, template: str, **values: object) -> None:
        super().__init__(Sentence(code, template, {**values, "line": line, "word": word}))
        self.line = line
        self.word = word


def rules_from_toml(text: str) -> RuleSet:
    """The rule set that ``text`` describes; raises :class:`HouseRulesError`.

    It is not asked whether this version plays it: ``engine.rules.check_playable`` does that.
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
                expected=", ".join((PRESET_KEY, *KINDS)),
            )
        changes[option] = _checked(option, value, line)
    return with_options(base, changes)


def _damaged(text: str, reason: str) -> HouseRulesError:
    place = _PLACE.search(reason)
    count = text.count("\n") + 1
    line = int(place[1]) if place is not None and place[1] is not None else count
    shown = text.split("\n")[min(line, count) - 1].strip()
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
    return "true" if value is True else "false" if value is False else repr(value)

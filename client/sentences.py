"""From sentences (code, template, values) to text for a person: the only place where that happens.

The template is the message id. Values called ``seat`` or ``player`` become names, cards get their symbols,
ranks their words. Templates that read badly in the second person have another form in :data:`YOU`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from client.cards import Style, card_label, clean, rank_word
from engine.cards import is_card_text
from engine.errors import Sentence, ShitheadError

KEY_CHARACTERS: Final = 8
"""So much of an identity is shown where its name is not known: enough to tell players at one table apart."""

YOU: Final[Mapping[str, str]] = {
    "{seat} does not hold {card}.": "You don't hold {card}.",
    "{seat} is ready already.": "You are ready already.",
    "{seat} is not ready yet.": "You are not ready yet.",
    "{seat} does not play in this round.": "You don't play in this round.",
    "{seat} does not play in this round any more.": "You don't play in this round any more.",
    "{seat} is asked for a {rank}, not for {card}.": "You are asked for a {rank}, not for {card}.",
    "{seat} has a {rank} and must declare it.": "You have a {rank} and must declare it.",
    "{seat} has not chosen upcards yet.": "You have not chosen your upcards yet.",
    "{seat} declares the best card: {card}.": "You declare your best card: {card}.",
    "{seat} has to say first what the joker counts as.": "Say first what the joker counts as, such as `name 9`.",
    "{seat} lays {rank}s just drawn, or is done.": "Lay a {rank} that you have just drawn, or type `done`.",
    "It is {seat}'s turn.": "It is your turn.",
}
"""Template → its form when the seat or player in it is the reader."""

_VOWEL_SOUND: Final = re.compile(r"\b([Aa]) (?=(?:ace|eight|8|11|18)\b)")


@dataclass(frozen=True, slots=True)
class Names:
    """Who is who for the reader. ``seats``: names by seat; ``keys``: names by identity key."""

    seats: tuple[str, ...] = ()
    keys: Mapping[bytes, str] = field(default_factory=dict)
    my_seat: int | None = None
    my_key: bytes = b""

    def of_seat(self, seat: int) -> str:
        """The name at a seat, or ``seat 3`` where there is none yet."""
        return clean(self.seats[seat]) if 0 <= seat < len(self.seats) else f"seat {seat + 1}"

    def of_key(self, key: bytes) -> str:
        """The name of a key, or the first characters of the key."""
        return clean(self.keys[key]) if key in self.keys else key.hex()[:KEY_CHARACTERS]


class _Count(int):
    """A number that chooses a word: ``{count:card|cards}``; without a choice just the number."""

    def __format__(self, spec: str) -> str:
        if "|" not in spec:
            return int.__format__(self, spec)
        one, more = spec.split("|", 1)
        return f"{int(self)} {one if self == 1 else more}"


class _Text(str):
    """A text that takes any format specification for itself."""

    def __format__(self, spec: str) -> str:
        return str(self)


class _Values(dict[str, object]):
    def __missing__(self, key: str) -> object:
        # A hole in a sentence is better than no sentence.
        return _Text("?")


def form_of(sentence: Sentence, names: Names) -> str:
    """The template that `render` fills: in the second person where the sentence is about the reader."""
    template = sentence.template
    return YOU.get(template, template) if _is_about_me(sentence, names) else template


def render(sentence: Sentence, names: Names | None = None, style: Style | None = None) -> str:
    """The sentence as text for a person, in one line. Never raises."""
    names, style = names or Names(), style or Style()
    template = form_of(sentence, names)
    values = _Values({key: _value(key, value, names, style) for key, value in sentence.values.items()})
    try:
        text = template.format_map(values)
    except (ValueError, LookupError, AttributeError, TypeError):
        text = template
    return _VOWEL_SOUND.sub(r"\1n ", text)


def render_error(error: ShitheadError, names: Names | None = None, style: Style | None = None) -> tuple[str, ...]:
    """An error as text: what happened, and what to do about it where the error knows that."""
    said = [render(error.sentence, names, style)]
    remedy = getattr(error, "remedy", None)
    if isinstance(remedy, Sentence):
        said.append(render(remedy, names, style))
    return tuple(said)


def _is_about_me(sentence: Sentence, names: Names) -> bool:
    if "seat" in sentence.values:
        return names.my_seat is not None and sentence.values["seat"] == names.my_seat
    return bool(names.my_key) and sentence.values.get("player") == names.my_key


def _value(key: str, value: object, names: Names, style: Style) -> object:
    match value:
        case bool():
            return _Text("yes" if value else "no")
        case int() if key == "seat":
            return _Text(names.of_seat(value))
        case int():
            return _Count(value)
        case float():
            return _Text(f"{value:.1f}".removesuffix(".0"))
        case bytes():
            return _Text(names.of_key(value))
        case str() if key in ("rank", "top"):
            return _Text(rank_word(value))
        case str() if key.startswith("card") and is_card_text(value):
            return _Text(card_label(value, style))
        case str():
            return _Text(clean(value).replace("_", " ") if key == "reason" else clean(value))
        case tuple() | list() if key.startswith("card"):
            return _Text(" ".join(str(_value(key, item, names, style)) for item in value))
        case tuple() | list():
            return _Text(listed([str(_value(key, item, names, style)) for item in value]))
        case _:
            return _Text(clean(str(value)))


def listed(items: list[str] | tuple[str, ...], word: str = "and") -> str:
    """Several things in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {word} {items[-1]}"

"""Cards as people read and type them.

Inside, a card is its text of ``engine.cards.card_text`` (``Td``, in later packs ``9c'``). On a screen it is
``10♦``, or ``10d`` where suit symbols cannot be shown; which pack it comes from is nothing to a player.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from engine.cards import RANKS, SUITS, UNKNOWN_TEXT

GLYPHS: Final = "♣♦♥♠"
"""By suit number, as :data:`engine.cards.SUITS`. Bare: a variation selector would make some of them wide."""

RANK_WORDS: Final = (
    ("two", "twos"),
    ("three", "threes"),
    ("four", "fours"),
    ("five", "fives"),
    ("six", "sixes"),
    ("seven", "sevens"),
    ("eight", "eights"),
    ("nine", "nines"),
    ("ten", "tens"),
    ("jack", "jacks"),
    ("queen", "queens"),
    ("king", "kings"),
    ("ace", "aces"),
)
"""By rank number: one, several."""

JOKER: Final = "X"
"""The rank character of jokers."""

NUMBER_WORDS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_TYPED_RANKS: Final = {
    **{rank.lower(): rank for rank in RANKS},
    "10": "T",
    "0": "T",
}
_TYPED_SUITS: Final = {
    **{suit: suit for suit in SUITS},
    **dict(zip(GLYPHS, SUITS, strict=True)),
}


@dataclass(frozen=True, slots=True)
class Style:
    """How text is written. ``ascii``: letters for suits, nothing beyond ASCII from this program itself."""

    ascii: bool = False


def style_for(encoding: str | None, ascii_only: bool = False) -> Style:
    """The style that an output with this encoding can show."""
    if ascii_only:
        return Style(ascii=True)
    try:
        GLYPHS.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return Style(ascii=True)
    return Style()


def rank_label(rank: str) -> str:
    """A rank character as it is shown: ``10`` for ``T``, else itself."""
    return "10" if rank == "T" else rank


def rank_word(rank: str, count: int = 1) -> str:
    """A rank character in words: ``seven``, ``sevens``, of jokers ``joker``; anything else unchanged."""
    if rank == JOKER:
        return "joker" if count == 1 else "jokers"
    if len(rank) != 1 or rank not in RANKS:
        return rank
    return RANK_WORDS[RANKS.index(rank)][count != 1]


def number_word(count: int) -> str:
    """A small number in words, a larger one in figures."""
    return NUMBER_WORDS[count] if 0 <= count < len(NUMBER_WORDS) else str(count)


def card_label(text: str, style: Style) -> str:
    """A card of ``card_text`` as it is shown; jokers and unknown cards as they are."""
    if text == UNKNOWN_TEXT or len(text) < 2 or text[0] not in RANKS or text[1] not in SUITS:
        return text
    suit = text[1] if style.ascii else GLYPHS[SUITS.index(text[1])]
    return rank_label(text[0]) + suit


def card_labels(texts: tuple[str, ...], style: Style) -> str:
    """Several cards with blanks between them."""
    return " ".join(card_label(text, style) for text in texts)


def read_rank(word: str) -> str | None:
    """The rank character that a word means (``10``, ``t`` and ``0`` are ten), or None."""
    return _TYPED_RANKS.get(word.lower())


def read_card(word: str) -> str | None:
    """The card that a word such as ``7d``, ``10h``, ``th`` or ``7♦`` means, as ``card_text`` of the first
    pack, or None.
    """
    rank, suit = read_rank(word[:-1]), _TYPED_SUITS.get(word[-1:].lower())
    return rank + suit if rank is not None and suit is not None else None


def clean(text: str) -> str:
    """Text of others made safe to show: NFC, and without control, bidirectional, zero-width, private and
    surrogate characters; line breaks and tabs become blanks.
    """
    kept = (
        " " if character in "\t\n\r" or unicodedata.category(character) == "Zs" else character
        for character in unicodedata.normalize("NFC", text)
        if character in "\t\n\r" or unicodedata.category(character)[0] != "C"
    )
    # Line and paragraph separators break lines on some terminals as well.
    return "".join(character for character in kept if unicodedata.category(character) not in ("Zl", "Zp"))

"""Rows of styled text of an exact width: the only place that counts cells.

A row never holds a control character, and never more cells than it was made for, whatever names and chat hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from prompt_toolkit.utils import get_cwidth

from client.cards import clean

MAX_MARKS: Final = 2
"""Combining marks on one letter: enough for every language, too few to reach into other rows."""

ELLIPSIS: Final = "~"
"""Where a text was cut. ASCII, and one cell wide everywhere."""

_VARIATION_SELECTORS: Final = frozenset((*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))))


@dataclass(frozen=True, slots=True)
class Span:
    """Text in one style. ``style``: class names of ``client.tui.styles``, blank-separated; ``click``: the key
    that a click on it presses, empty for none.
    """

    text: str
    style: str = ""
    click: str = ""


Row = tuple[Span, ...]
"""One line of the screen, left to right."""


@lru_cache(maxsize=4096)
def safe(text: str) -> str:
    """Text made safe to show: see ``client.cards.clean``; besides without variation selectors, and with few
    combining marks.
    """
    if text.isascii() and text.isprintable():
        return text
    kept: list[str] = []
    marks = 0
    for character in clean(text):
        if character in _VARIATION_SELECTORS:
            continue
        marks = marks + 1 if get_cwidth(character) <= 0 else 0
        if marks <= MAX_MARKS and (marks == 0 or kept):
            kept.append(character)
    return "".join(kept)


def cells(text: str) -> int:
    """How many cells a text takes that `safe` has gone over."""
    return len(text) if text.isascii() else sum(max(0, get_cwidth(character)) for character in text)


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells; where something is missing it ends in `ELLIPSIS`."""
    text = safe(text)
    if cells(text) <= width:
        return text
    kept, room = "", width - 1
    for character in text:
        room -= max(0, get_cwidth(character))
        if room < 0:
            break
        kept += character
    return kept + ELLIPSIS if width > 0 else ""


def fit(text: str, width: int) -> str:
    """``text`` in exactly ``width`` cells: cut, or followed by blanks."""
    short = cut(text, width)
    return short + " " * (width - cells(short))


def span(text: str, style: str = "", click: str = "") -> Span:
    """A span of text from anywhere."""
    return Span(safe(text), style, click)


def width_of(row: Iterable[Span]) -> int:
    """The cells of several spans."""
    return sum(cells(each.text) for each in row)


def row(width: int, *spans: Span | str, right: Sequence[Span] = ()) -> Row:
    """A row of exactly ``width`` cells: ``spans`` from the left, ``right`` from the right edge; what does not
    fit is cut, from the left part first.
    """
    tail = _cut_row(right, width)
    room = width - width_of(tail)
    head = _cut_row((Span(each) if isinstance(each, str) else each for each in spans), room)
    gap = room - width_of(head)
    return (*head, *((Span(" " * gap),) if gap else ()), *tail)


def _cut_row(spans: Iterable[Span], width: int) -> Row:
    kept: list[Span] = []
    room = width
    for each in spans:
        text = safe(each.text)
        if text != each.text:
            # Wherever it comes from, and whoever has forgotten it.
            each = Span(text, each.style, each.click)
        if cells(each.text) > room:
            if room > 0:
                kept.append(Span(cut(each.text, room), each.style, each.click))
            break
        kept.append(each)
        room -= cells(each.text)
    return tuple(kept)


def beside(left: Sequence[Row], right: Sequence[Row], left_width: int, right_width: int, bar: str) -> list[Row]:
    """Two blocks side by side with ``bar`` between them; the shorter one is filled up."""
    height = max(len(left), len(right))
    rows = []
    for number in range(height):
        first = left[number] if number < len(left) else row(left_width)
        second = right[number] if number < len(right) else row(right_width)
        rows.append((*first, Span(bar, "rule"), *second))
    return rows


def line(width: int, crossings: Iterable[int] = ()) -> Row:
    """A horizontal line in ASCII; ``crossings``: columns with a ``+``."""
    characters = ["-"] * width
    for column in crossings:
        if 0 <= column < width:
            characters[column] = "+"
    return (Span("".join(characters), "rule"),)


def wrap(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width`` cells, broken at blanks; a word longer than a line is broken."""
    width = max(width, 1)
    lines: list[str] = []
    current = ""
    for word in safe(text).split():
        while cells(word) > width:
            if current:
                lines.append(current)
                current = ""
            head = _first_cells(word, width)
            lines.append(head)
            word = word[len(head) :]
        joined = f"{current} {word}" if current else word
        if cells(joined) <= width:
            current = joined
        else:
            lines.append(current)
            current = word
    return [*lines, current] if current or not lines else lines


def _first_cells(word: str, width: int) -> str:
    kept = ""
    for character in word:
        if kept and cells(kept + character) > width:
            break
        kept += character
    return kept


def filled(rows: Sequence[Row], height: int, width: int) -> list[Row]:
    """Exactly ``height`` rows: cut at the end, or filled up with empty ones."""
    return [*rows[:height], *(row(width) for _ in range(height - len(rows)))]

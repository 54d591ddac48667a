"""The words of a line, and names."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

from engine.checks import CODES
from engine.record.errors import FORM, RecordError

MAX_NAME_CHARACTERS: Final = 20
"""As at a table: longer names would not fit a seat on an 80-column screen."""

_HEAD_WORDS = "shithead-record rules players dealer deck hand up down stock pile burnt turn phase direction out"
_MOVE_WORDS = "swaps for ready unready declares passes plays as names picks with flips chances chooses done leaves"
_VALUE_WORDS = "= - eldest over illegal arrange declare play clockwise anticlockwise stalled void forfeit finished"

KEYWORDS: Final = frozenset((*_HEAD_WORDS.split(), *_MOVE_WORDS.split(), *_VALUE_WORDS.split(), *CODES))
"""Words of the format; a player with such a name is written in quotes."""

BLANKS: Final = " \t"


class Word(NamedTuple):
    """A word of a line. A quoted word is never a keyword."""

    text: str
    quoted: bool

    def is_keyword(self, text: str) -> bool:
        """Whether this is the keyword ``text``."""
        return not self.quoted and self.text == text


def split_line(text: str, line: int) -> list[Word]:
    """The words of one line, without its comment; ``RecordError`` for a quote that does not end well."""
    words: list[Word] = []
    at = 0
    while at < len(text):
        if text[at] in BLANKS:
            at += 1
        elif text[at] == "#":
            break
        elif text[at] == '"':
            word, at = _quoted(text, at + 1, line)
            words.append(word)
        else:
            end = at
            while end < len(text) and text[end] not in BLANKS and text[end] not in '#"':
                end += 1
            if text[end : end + 1] == '"':
                raise RecordError(line, FORM, "A quote can only begin a word.")
            words.append(Word(text[at:end], False))
            at = end
    return words


def _quoted(text: str, start: int, line: int) -> tuple[Word, int]:
    """The quoted word whose content begins at ``start``, and where the text after it begins."""
    content: list[str] = []
    at = start
    while at < len(text) and text[at] != '"':
        if text[at] == "\\":
            at += 1
            if text[at : at + 1] not in ('"', "\\"):
                raise RecordError(line, FORM, 'In quotes a backslash stands before " or \\ only.')
        content.append(text[at])
        at += 1
    if at >= len(text):
        raise RecordError(line, FORM, "The quote does not end on its line.")
    if text[at + 1 : at + 2] not in ("", " ", "\t", "#"):
        raise RecordError(line, FORM, "A blank is expected after a quoted word.")
    return Word("".join(content), True), at + 1


def is_plain(name: str) -> bool:
    """Whether ``name`` needs no quotes."""
    return name not in KEYWORDS and bool(name) and all(c.isalnum() or c in ".-_" for c in name)


def name_text(name: str) -> str:
    """``name`` as it is written in a record, in quotes where needed."""
    if is_plain(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def parse_name(word: Word, line: int) -> str:
    """The name that ``word`` is; ``RecordError`` unless it is one."""
    name = word.text
    if not word.quoted and not is_plain(name):
        raise RecordError(line, FORM, "A name is expected, not {word}; put it in quotes.", word=name)
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS:
        raise RecordError(line, FORM, "A name has 1 to {most} characters.", most=MAX_NAME_CHARACTERS)
    if unicodedata.normalize("NFC", name) != name or not name.isprintable():
        raise RecordError(line, FORM, "A name has printable characters in the composed form (NFC).")
    return name


class Cursor:
    """The words of one line, taken one after another; every complaint names the line and what was
    expected.
    """

    def __init__(self, words: Sequence[Word], line: int) -> None:
        self._words = words
        self._at = 0
        self.line = line

    def peek(self) -> Word | None:
        """The next word, or None at the end."""
        return self._words[self._at] if self._at < len(self._words) else None

    def take(self, expected: str) -> Word:
        """The next word; ``expected`` says in the complaint what is missing."""
        word = self.peek()
        if word is None:
            raise RecordError(self.line, FORM, "{expected} is expected at the end of the line.", expected=expected)
        self._at += 1
        return word

    def accept(self, keyword: str) -> bool:
        """Take the next word if it is ``keyword``."""
        word = self.peek()
        if word is None or not word.is_keyword(keyword):
            return False
        self._at += 1
        return True

    def require(self, keyword: str) -> None:
        """Take the next word, which must be ``keyword``."""
        word = self.peek()
        if not self.accept(keyword):
            raise self.unexpected(f"`{keyword}`", word)

    def rest(self) -> list[Word]:
        """All words that are left."""
        words = list(self._words[self._at :])
        self._at = len(self._words)
        return words

    def end(self) -> None:
        """Complain unless nothing is left."""
        word = self.peek()
        if word is not None:
            raise self.unexpected("the end of the line", word)

    def unexpected(self, expected: str, word: Word | None) -> RecordError:
        """The complaint that ``word`` stands where ``expected`` should."""
        found = "the end of the line" if word is None else word.text
        return RecordError(self.line, FORM, "{expected} is expected, not {found}.", expected=expected, found=found)

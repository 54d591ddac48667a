"""Names that could be taken for a role, or for the reader: who chooses one is refused, whoever has one is marked.

Which names may sit at a table is the protocol's to say (``p2p.feeds.identity.check_name``), and all programs have
to agree on it. This is stricter, and only for the own name: with an older program somebody may still be called
``you`` or ``Mia (bot)``, and is shown in quotation marks.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from engine.errors import Sentence
from p2p.feeds.entries import MAX_NAME_CHARACTERS
from p2p.feeds.identity import BadName, check_name, fold_name

ROLES: Final = frozenset({"bot", "host", "you"})
"""Words that the clients put beside names, or in the place of one."""

SPEAKERS: Final = frozenset({"me", "i", "nobody", "everybody", "somebody", "all", "log", "table", "shithead"})
"""Words that are no name where they are the whole of it: sentences of the clients have them as their subject."""

BRACKETS: Final = frozenset({"Ps", "Pe", "Pi", "Pf"})
"""Unicode's categories of what opens and closes: brackets and quotation marks of all scripts."""

APOSTROPHES: Final = "'\u2019"
"""Signs of that kind that names do have."""

QUOTE: Final = '"'
"""Around a name that is marked."""

MAX_KEPT_NAMES: Final = 256
"""Names whose look is remembered: those of some tables, as every screen asks for all of them."""


@lru_cache(maxsize=MAX_KEPT_NAMES)
def is_doubtful(name: str) -> bool:
    """Whether a name looks like a role or like the reader, in whatever case, width or spacing of its letters."""
    plain = fold_name(name)
    return any(map(_encloses, name + plain)) or _has_role(plain)


def _encloses(character: str) -> bool:
    enclosing = unicodedata.category(character) in BRACKETS or character in '<>"`'
    return enclosing and character not in APOSTROPHES


def _has_role(plain: str) -> bool:
    words = "".join(character if character.isalnum() else " " for character in plain).split()
    return not ROLES.isdisjoint(words) or "".join(words) in ROLES | SPEAKERS


def check_own_name(name: str) -> str:
    """The name that somebody chooses, in the form in which it is used; raises ``BadName``."""
    cleaned = check_name(name)
    if is_doubtful(cleaned):
        raise BadName(
            Sentence(
                "name_doubtful",
                "{name} could be taken for what the screen says of players (you, host, bot, or a note in "
                "brackets). Choose another name.",
                {"name": cleaned},
            )
        )
    return cleaned


def shown_name(name: str) -> str:
    """A name as it is shown: in quotation marks where it could be taken for something else."""
    return f"{QUOTE}{name}{QUOTE}" if is_doubtful(name) else name


def typed_name(text: str) -> str:
    """A name that was typed, or one to compare it with: without the marks, folded as names are compared."""
    return fold_name(text.strip().strip(QUOTE)[: MAX_NAME_CHARACTERS + 1])

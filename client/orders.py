"""What a typed line can mean, as values."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import Sentence
from engine.moves import PlayerMove


@dataclass(frozen=True, slots=True)
class Act:
    """A move, meant for the state with this stamp."""

    move: PlayerMove
    stamp: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """Yes or no to what was asked."""

    yes: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """Something to say to the table."""

    text: str


@dataclass(frozen=True, slots=True)
class StartRound:
    """Offer a round."""


@dataclass(frozen=True, slots=True)
class Admit:
    """Let somebody in."""

    key: bytes


@dataclass(frozen=True, slots=True)
class Refuse:
    """Turn somebody at the door away."""

    key: bytes


@dataclass(frozen=True, slots=True)
class Kick:
    """Send somebody away from the table."""

    key: bytes


@dataclass(frozen=True, slots=True)
class SeatBots:
    """Seat this many bots more."""

    count: int


@dataclass(frozen=True, slots=True)
class Void:
    """Give the round up."""


@dataclass(frozen=True, slots=True)
class ChangeRules:
    """Offer the next rounds with another value of an option."""

    option: str
    value: str


@dataclass(frozen=True, slots=True)
class Away:
    """Go away (my program plays for me) or come back."""

    is_away: bool


@dataclass(frozen=True, slots=True)
class Show:
    """Show ``turn``, ``table``, ``score``, ``rules``, ``choices`` or ``help``."""

    what: str


@dataclass(frozen=True, slots=True)
class Quit:
    """Leave the table."""


@dataclass(frozen=True, slots=True)
class Explain:
    """An answer to a question such as ``why 4d``."""

    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the line cannot be done, in a sentence."""

    sentence: Sentence


Command = (
    Act
    | Answer
    | Talk
    | StartRound
    | Admit
    | Refuse
    | Kick
    | SeatBots
    | Void
    | Away
    | ChangeRules
    | Show
    | Quit
    | Explain
)
"""Everything that a line can mean."""

Meaning = Command | Problem

"""What a person can want of their program at a table, as values: what a typed line or a key means."""

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
class TakePreset:
    """Offer the next rounds by the rules of this preset."""

    name: str


@dataclass(frozen=True, slots=True)
class ChangeClock:
    """Offer the next rounds with another clock: ``turn``, ``arrange`` or ``grace``; see `client.rows.Clocks`."""

    clock: str
    seconds: int


@dataclass(frozen=True, slots=True)
class Away:
    """Go away (my program plays for me) or come back."""

    is_away: bool


@dataclass(frozen=True, slots=True)
class Mute:
    """Hide what these say from now on, or show it again. ``keys``: their identities."""

    keys: frozenset[bytes]
    is_muted: bool


@dataclass(frozen=True, slots=True)
class Show:
    """Show ``turn``, ``hand``, ``table``, ``score``, ``rules``, ``choices``, ``phrases``, ``how``, ``clock`` or
    ``help``."""

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


Order = (
    Act
    | Answer
    | Talk
    | StartRound
    | Admit
    | Refuse
    | Kick
    | SeatBots
    | Void
    | ChangeRules
    | TakePreset
    | ChangeClock
    | Away
)
"""What both clients can be told to do at a table; ``client.doing`` does it."""

Command = Order | Mute | Show | Quit | Explain
"""Everything that a line can mean."""

Meaning = Command | Problem

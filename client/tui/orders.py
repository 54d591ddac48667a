"""What only the full screen's keys can mean, beside what both clients can do (``client.orders``)."""

from __future__ import annotations

from dataclasses import dataclass

from client.orders import Order
from client.tui.state import Look


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the table; it has been asked about."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the program and keep the seat in the round that goes on, to come back to it."""


@dataclass(frozen=True, slots=True)
class Store:
    """Keep these looks in the settings."""

    look: Look


@dataclass(frozen=True, slots=True)
class Rename:
    """Keep this name for the next start: at this table the old one is signed."""

    name: str


@dataclass(frozen=True, slots=True)
class OtherRules:
    """Take the preset that is ``step`` further for the next round."""

    step: int


@dataclass(frozen=True, slots=True)
class OtherOption:
    """Take the value of one option that is ``step`` further for the next round; see ``client.tui.options``."""

    option: str
    step: int


@dataclass(frozen=True, slots=True)
class OtherClock:
    """Take the seconds of one clock that are ``step`` further for the next round; see ``client.clocks``."""

    clock: str
    step: int


@dataclass(frozen=True, slots=True)
class Announce:
    """Tell the table of the rules and clocks of the next round, if they have become others."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Show the last round again."""


Command = Order | Leave | Stop | Store | Rename | OtherRules | OtherOption | OtherClock | Announce | Watch
"""Everything that a key can lead to outside the screen."""

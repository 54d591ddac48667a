"""What the screen itself remembers, beside what the table is: frozen, replaced by every key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from client.cards import Style
from client.clocks import Clocks
from p2p.rounds.audit import Verdict


@dataclass(frozen=True, slots=True)
class Look:
    """How a person wants things drawn. ``order``: ``rank`` or ``suit``."""

    style: Style = field(default_factory=Style)
    order: str = "rank"
    motion: bool = True
    sound: bool = True
    mouse: bool = True
    theme: str = "dark"
    guide: bool = False
    """Whether what a first round needs is explained as it comes; see ``client.tui.guide``."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A line of the log. ``kind``: ``event`` or ``chat``; ``at``: the time of day as it is shown; ``by``: who said
    it.
    """

    text: str
    kind: str = "event"
    at: str = ""
    by: bytes = b""


@dataclass(frozen=True, slots=True)
class Flash:
    """Something that has just happened, shown large for a moment."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Ui:
    """The screen's own state.

    ``picked``: positions of my cards that are selected, in the order of picking; ``slot``: the downcard that is
    chosen, from 1; ``cursor``: index among the cards on screen, None while arrows are not used.
    ``page``: the page that lies over the table, empty for none; ``scroll``: its first line.
    ``message``: the answer to the last key; ``is_warning``: whether it says that something was not done.
    ``typing``: what is being typed to the table, None while nothing is. ``asks``: a question of this client that
    waits for yes or no (``quit``, ``take``, ``kick``, ``void``), empty for none.
    ``turn_since``: when my turn began, seconds of the caller's clock; ``row``: the line chosen in a list.
    ``steps``: for each player and step of the deal, when it was first seen.
    """

    look: Look = field(default_factory=Look)
    picked: tuple[int, ...] = ()
    slot: int | None = None
    cursor: int | None = None
    page: str = ""
    scroll: int = 0
    message: str = ""
    is_warning: bool = False
    typing: str | None = None
    types_name: bool = False
    """Whether what is being typed is my name of the next start, not talk."""
    muted: frozenset[bytes] = frozenset()
    """Whose talk is hidden."""
    asks: str = ""
    turn_since: float = 0.0
    stage_since: float = 0.0
    """When the stage of the round became what it is, and an offer came, on the same clock."""
    row: int = 0
    clocks: Clocks = field(default_factory=Clocks)
    """Those in force, or of the next round."""
    log: tuple[Logged, ...] = ()
    unread: int = 0
    flash: Flash | None = None
    verdict: Verdict | None = None
    saved: str = ""
    turns: int = 0
    steps: Mapping[tuple[bytes, str], float] = field(default_factory=dict)
    began: float = 0.0
    can_seat_bots: bool = False
    seats: int = 0
    """How many may sit at the table; 0 where that is not known."""
    is_auto: bool = False
    """Whether a bot plays my seat: then keys only look and talk."""
    is_away: bool = False
    """Whether I have said that I am away, so that my program plays for me."""
    guided: frozenset[str] = frozenset()
    """Steps of ``client.tui.guide`` that have been shown and are over."""
    busy: str = ""
    """What this program is doing for me just now, such as seating a bot."""

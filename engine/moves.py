"""What players, and the cards that turn up, can do to a round.

Cards are named by their position in the shuffled deck. Seats are 0, 1, 2 … clockwise; slots count from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class Swap:
    """Exchange the hand card at position ``hand`` with the own upcard at position ``up`` (R12)."""

    seat: int
    hand: int
    up: int


@quick
@dataclass(frozen=True, slots=True)
class Ready:
    """Arranging is done (R13)."""

    seat: int


@quick
@dataclass(frozen=True, slots=True)
class Unready:
    """Take back being ready, as long as somebody else is not (R13)."""

    seat: int


@quick
@dataclass(frozen=True, slots=True)
class Declare:
    """Lay open a card of the rank asked for that was dealt to this hand (R15.2)."""

    seat: int
    position: int


@quick
@dataclass(frozen=True, slots=True)
class Pass:
    """No card of the rank asked for was dealt to this hand (R15.2)."""

    seat: int


@quick
@dataclass(frozen=True, slots=True)
class Play:
    """Play a set from the active zone (R19, R20); the last position ends up on top."""

    seat: int
    positions: tuple[int, ...]


@quick
@dataclass(frozen=True, slots=True)
class PickUp:
    """Take the wastepile into the hand (R32); ``upcards`` go along where the option ``upcard_pick_up`` says
    so.
    """

    seat: int
    upcards: tuple[int, ...] = ()


@quick
@dataclass(frozen=True, slots=True)
class Flip:
    """Turn over the downcard in ``slot``, counted from 0 (R40)."""

    seat: int
    slot: int


@quick
@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the round; the cards are laid aside unopened (section 2, row 81)."""

    seat: int


@quick
@dataclass(frozen=True, slots=True)
class Open:
    """The card at ``position`` turns out to be ``face``; known to all from now on (1.19)."""

    position: int
    face: int


@quick
@dataclass(frozen=True, slots=True)
class Chance:
    """Turn the top card of the stock in the hope that it fits (option ``chance``)."""

    seat: int


@quick
@dataclass(frozen=True, slots=True)
class Choose:
    """Lay these own cards out as upcards, still closed; replaces an earlier choice (``arrange=choose``)."""

    seat: int
    positions: tuple[int, ...]


@quick
@dataclass(frozen=True, slots=True)
class PlayAs:
    """Play a set with wild jokers that count as ``rank`` (option ``joker_power=wild``)."""

    seat: int
    positions: tuple[int, ...]
    rank: int


@quick
@dataclass(frozen=True, slots=True)
class Name:
    """Say what rank the wild joker counts as that was just turned up (option ``joker_power=wild``)."""

    seat: int
    rank: int


@quick
@dataclass(frozen=True, slots=True)
class Done:
    """Lay no more of the cards just drawn; the turn passes (option ``draw_follow_up``)."""

    seat: int


PlayerMove = (
    Swap | Ready | Unready | Declare | Pass | Play | PickUp | Flip | Leave | Chance | Choose | PlayAs | Name | Done
)
"""Everything that a seat does."""

Move = PlayerMove | Open
"""Everything that changes a state."""

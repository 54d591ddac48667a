"""What happened when a move was applied, for everybody to see: what a screen shows and a log tells.

Cards are positions; whoever holds the state after the move looks their faces up there, so an event can never
show a face to somebody who does not know it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from engine.quick import quick
from engine.state import Result, Zone


class BurnCause(Enum):
    """Why the wastepile burned: R27 or R28."""

    TEN = "ten"
    QUARTET = "quartet"


class EldestBy(Enum):
    """What made a player eldest hand: R15.1, R15.2, the place at the dealer's left (``start=dealer_left``, or
    nobody having anything), or a lot (``start=random``).
    """

    UPCARD = "upcard"
    HAND = "hand"
    SEAT = "seat"
    LOT = "lot"


@quick
@dataclass(frozen=True, slots=True)
class Opened:
    """The face of a position became known to all."""

    position: int
    face: int


@quick
@dataclass(frozen=True, slots=True)
class Swapped:
    """The card at ``up`` is an upcard no longer, the one at ``hand`` now is (R12). Positions, before the
    swap.
    """

    seat: int
    hand: int
    up: int


@quick
@dataclass(frozen=True, slots=True)
class SeatReady:
    """A seat is ready, or no longer (R13)."""

    seat: int
    ready: bool


@quick
@dataclass(frozen=True, slots=True)
class Chose:
    """A seat laid out its upcards, still closed (``arrange=choose``)."""

    seat: int
    positions: tuple[int, ...]


@quick
@dataclass(frozen=True, slots=True)
class Asked:
    """A seat is asked whether it was dealt a card of ``rank`` to the hand (R15.2)."""

    seat: int
    rank: int


@quick
@dataclass(frozen=True, slots=True)
class Declared:
    """A seat laid open a card of ``rank`` (R15.2)."""

    seat: int
    rank: int
    position: int


@quick
@dataclass(frozen=True, slots=True)
class Passed:
    """A seat said that it has no card of ``rank`` (R15.2)."""

    seat: int
    rank: int


@quick
@dataclass(frozen=True, slots=True)
class EldestFound:
    """Who leads, and the rank that decided (R15); ``rank`` is -1 when ``by`` is ``SEAT`` or ``LOT``."""

    seat: int
    rank: int
    by: EldestBy


@quick
@dataclass(frozen=True, slots=True)
class Played:
    """A set went onto the wastepile (R20); with ``combine_last_hand`` upcards may be among the hand cards."""

    seat: int
    positions: tuple[int, ...]
    from_zone: Zone


@quick
@dataclass(frozen=True, slots=True)
class NameAsked:
    """A wild joker was turned up; its player says next what it counts as."""

    seat: int
    position: int


@quick
@dataclass(frozen=True, slots=True)
class Named:
    """These wild jokers count as ``rank`` from now on."""

    seat: int
    positions: tuple[int, ...]
    rank: int


@quick
@dataclass(frozen=True, slots=True)
class FollowUpOpen:
    """The seat may lay cards of ``rank`` that it has just drawn, and then says that it is done
    (``draw_follow_up``).
    """

    seat: int
    rank: int


@quick
@dataclass(frozen=True, slots=True)
class FollowUpDone:
    """The seat lays no more cards; its turn ends."""

    seat: int


@quick
@dataclass(frozen=True, slots=True)
class ChanceStarted:
    """The top card of the stock was chosen; its face comes next (option ``chance``)."""

    seat: int
    position: int


@quick
@dataclass(frozen=True, slots=True)
class Chanced:
    """The top card of the stock was turned up; when not ``legal`` it goes to the hand with the wastepile."""

    seat: int
    position: int
    face: int
    legal: bool


@quick
@dataclass(frozen=True, slots=True)
class Reversed:
    """The direction of play turned; it is +1 clockwise or -1 now (power ``reverse``)."""

    seat: int
    direction: int


@quick
@dataclass(frozen=True, slots=True)
class Skipped:
    """These seats miss their turn, in order; the mover's own may be among them (power ``skip``)."""

    seats: tuple[int, ...]


@quick
@dataclass(frozen=True, slots=True)
class Drew:
    """Cards came from the stock to a hand, in this order (R22)."""

    seat: int
    positions: tuple[int, ...]


@quick
@dataclass(frozen=True, slots=True)
class PickedUp:
    """These positions went to a hand: the wastepile, then a card that was turned up and failed (R34, R42), or
    the upcards that go along (``upcard_pick_up``); ``along`` are the latter alone.
    """

    seat: int
    positions: tuple[int, ...]
    along: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many cards were picked up."""
        return len(self.positions)


@quick
@dataclass(frozen=True, slots=True)
class FlipStarted:
    """A downcard was chosen; its face comes next (R40)."""

    seat: int
    position: int
    slot: int


@quick
@dataclass(frozen=True, slots=True)
class Flipped:
    """A downcard was turned up; when not ``legal`` it goes to the hand with the wastepile (R41–R43)."""

    seat: int
    position: int
    face: int
    legal: bool


@quick
@dataclass(frozen=True, slots=True)
class Burnt:
    """The wastepile, ``count`` cards, went out of the round (R27, R28)."""

    seat: int
    count: int
    by: BurnCause


@quick
@dataclass(frozen=True, slots=True)
class Out:
    """A player has no cards left and is safe, as number ``place`` (from 1) (R44)."""

    seat: int
    place: int


@quick
@dataclass(frozen=True, slots=True)
class SeatLeft:
    """A player left; the cards are laid aside (row 81)."""

    seat: int


@quick
@dataclass(frozen=True, slots=True)
class TurnTo:
    """Whose turn it is now; the same seat as before after a burn (R18, R30)."""

    seat: int


@quick
@dataclass(frozen=True, slots=True)
class Over:
    """The round has ended (R46, R50, row 81); ``shithead`` is -1 when there is none."""

    shithead: int
    result: Result


Event = (
    Opened
    | Swapped
    | SeatReady
    | Chose
    | Asked
    | Declared
    | Passed
    | EldestFound
    | Played
    | NameAsked
    | Named
    | FollowUpOpen
    | FollowUpDone
    | ChanceStarted
    | Chanced
    | Reversed
    | Skipped
    | Drew
    | PickedUp
    | FlipStarted
    | Flipped
    | Burnt
    | Out
    | SeatLeft
    | TurnTo
    | Over
)
"""Everything that can happen."""

"""The values that options can have, and their text forms.

One form each: what is not written exactly so is refused, because a rule set is signed as text and hashed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, TypeVar

from engine.cards import RANKS, SUITS
from engine.errors import RuleError

MAX_TURN_LIMIT_ACTIONS: Final = 1_000_000
"""The highest turn limit: far beyond any round that ends (R50 met 18,000), and small enough to be counted
to.
"""

MAX_ZONE_CARDS: Final = 52
"""The most cards of one kind that a deal gives a player; more would never fit (R7)."""

MAX_PACKS: Final = 4
"""The most packs; ten players with big deals fit into three."""

MAX_JOKERS_PER_PACK: Final = 4
"""The most jokers that come with a pack of cards."""


class JokerPower(Enum):
    """What jokers do."""

    REVERSE = "reverse"
    WILD = "wild"
    GIVE = "give"
    NEXT_TAKES = "next_takes"
    BURN = "burn"
    TRANSPARENT = "transparent"
    HIGH = "high"


class ReverseCount(Enum):
    """Whether every card of a set turns the direction, or the set once."""

    EACH = "each"
    ONCE = "once"


class JumpIn(Enum):
    """Completing a quartet out of turn."""

    OFF = "off"
    COMPLETE = "complete"


class PickUpRule(Enum):
    """When the wastepile may be picked up."""

    VOLUNTARY = "voluntary"
    FORCED_ONLY = "forced_only"


class UpcardPickUp(Enum):
    """Whether upcards go along with a pick-up from the upcards."""

    PILE = "pile"
    PILE_PLUS_ONE = "pile_plus_one"
    PILE_PLUS_SET = "pile_plus_set"


class ChanceRule(Enum):
    """Turning the top card of the stock in the hope that it fits."""

    OFF = "off"
    CHANCE = "chance"
    CHANCE_FREE = "chance_free"


class ReplayAfterQuartet(Enum):
    """Whether a quartet gives another turn."""

    MUST = "must"
    NONE = "none"


class TurnLimitResult(Enum):
    """Whether a round that reached its turn limit has a loser."""

    STALLED = "stalled"
    MOST_CARDS = "most_cards"


class StartRule(Enum):
    """How eldest hand is found."""

    UPCARD_THEN_HAND = "upcard_then_hand"
    HAND_LOWEST = "hand_lowest"
    UPCARDS_AFTER_ARRANGE = "upcards_after_arrange"
    DEALER_LEFT = "dealer_left"
    RANDOM = "random"
    WORST_UPCARDS = "worst_upcards"


class ArrangeRule(Enum):
    """What players do with their upcards before play."""

    SWAP = "swap"
    CHOOSE = "choose"
    NONE = "none"


class NextDealer(Enum):
    """Who deals the next round."""

    LOSER = "loser"
    ROTATE = "rotate"
    WINNER = "winner"
    RANDOM = "random"


class DealShape(NamedTuple):
    """How many downcards, upcards and hand cards each player is dealt."""

    down: int
    up: int
    hand: int


Ranks = tuple[int, ...]
"""Rank numbers in ascending order: the ranks that have a power."""

SEAT_TIE: Final = "seat"
MOST_COPIES_TIE: Final = "most_copies"
SUIT_TIE_PREFIX: Final = "suit/"

E = TypeVar("E", bound=Enum)


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of value is read and written.

    ``read`` raises ``ValueError`` for anything that is not a value of this kind; ``form`` says what it takes;
    ``words``: the values that are words, of which a person may have meant one.
    """

    read: Callable[[str], object]
    write: Callable[[object], str]
    form: str
    words: tuple[str, ...] = ()


def parse_option(name: str, kind: Kind, text: str) -> object:
    """The value of option ``name`` written as ``text``; ``RuleError("bad_rules")`` unless in its one form."""
    try:
        value = kind.read(text)
    except ValueError:
        value = None
    if value is None or kind.write(value) != text:
        raise RuleError(
            "bad_rules",
            "The option {option} can't be {value}; expected: {form}.",
            option=name,
            value=repr(text),
            form=kind.form,
        )
    return value


def _read_boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _write_boolean(value: object) -> str:
    return "true" if value is True else "false"


def _read_number(text: str, low: int, high: int) -> int:
    # int() takes blanks, signs, underscores and other scripts' digits, and long texts cost time.
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(high))):
        raise ValueError(text)
    number = int(text)
    if not low <= number <= high:
        raise ValueError(text)
    return number


def number(low: int, high: int) -> Kind:
    """Whole numbers from ``low`` to ``high``."""
    return Kind(lambda text: _read_number(text, low, high), str, f"a number from {low} to {high}")


def choice(enum: type[E]) -> Kind:
    """One of the values of ``enum``."""

    def write(value: object) -> str:
        return str(value.value) if isinstance(value, enum) else ""

    words = tuple(str(member.value) for member in enum)
    return Kind(enum, write, "one of " + ", ".join(words), words)


def _read_ranks(text: str) -> Ranks:
    return tuple(RANKS.index(part) if len(part) == 1 else -1 for part in text.split(",")) if text else ()


def _write_ranks(value: object) -> str:
    if not isinstance(value, tuple) or list(value) != sorted(set(value)):
        return "?"
    return ",".join(RANKS[number] for number in value)


def _read_deal(text: str) -> DealShape:
    down, up, hand = (_read_number(part, 0, MAX_ZONE_CARDS) for part in text.split("/"))
    if hand == 0:
        raise ValueError(text)
    return DealShape(down, up, hand)


def _write_deal(value: object) -> str:
    return "/".join(str(part) for part in value) if isinstance(value, DealShape) else ""


def _read_packs(text: str) -> int:
    return 0 if text == "auto" else _read_number(text, 1, MAX_PACKS)


def _write_packs(value: object) -> str:
    return "auto" if value == 0 else str(value)


def _read_tie(text: str) -> str:
    order = text.removeprefix(SUIT_TIE_PREFIX)
    if text not in (SEAT_TIE, MOST_COPIES_TIE) and not (order != text and sorted(order) == sorted(SUITS)):
        raise ValueError(text)
    return text


BOOLEAN: Final = Kind(_read_boolean, _write_boolean, "true or false", ("true", "false"))
RANKS_KIND: Final = Kind(_read_ranks, _write_ranks, "ranks of 2 3 4 5 6 7 8 9 T J Q K A, ascending, with commas")
DEAL: Final = Kind(
    _read_deal, _write_deal, f"downcards/upcards/hand, each at most {MAX_ZONE_CARDS}, hand at least 1"
)
PACKS: Final = Kind(_read_packs, _write_packs, f"auto or a number from 1 to {MAX_PACKS}", ("auto",))
TIE: Final = Kind(
    _read_tie,
    str,
    "seat, most_copies or suit/ with the four suits in order, as suit/cdhs",
    (SEAT_TIE, MOST_COPIES_TIE, SUIT_TIE_PREFIX + SUITS),
)

"""The clocks of a round: what a host may choose, and how they are told (pure)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from engine.errors import RuleError

MIN_GRACE_S: Final = 5
"""Less is over before a program that was killed can be started again."""

DEFAULT_GRACE_S: Final = 60
"""Time to fetch a charger, or to start again. As in ``p2p.rounds.session``, which is too heavy to be loaded for
a help text; a test compares them."""

MAX_LIMIT_S: Final = 3600
"""Of a turn, of arranging and of the grace: whoever wants an hour wants no limit."""

LEAST_S: Final = {"turn": 0, "arrange": 0, "grace": MIN_GRACE_S}
"""The clocks by name, and the least seconds of each."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks of a round, in seconds. At the end of ``turn_s`` and ``arrange_s`` (0: no limit) a player's own
    program plays; after ``grace_s`` more others may give the round up.
    """

    turn_s: int = 0
    arrange_s: int = 0
    grace_s: int = DEFAULT_GRACE_S

    @property
    def are_usual(self) -> bool:
        """Whether nobody needs to be told of them."""
        return self == Clocks()

    @property
    def values(self) -> tuple[int, int, int]:
        """As the contract has them."""
        return (self.turn_s, self.arrange_s, self.grace_s)


def changed_clocks(clocks: Clocks, clock: str, seconds: int) -> Clocks:
    """``clocks`` with one of `LEAST_S` set. Raises ``RuleError("bad_clock")`` for too few or too many seconds."""
    least = LEAST_S[clock]
    if not least <= seconds <= MAX_LIMIT_S:
        raise RuleError(
            "bad_clock",
            "The clock {clock} can be {least} to {most} s.",
            clock=clock,
            least=least,
            most=MAX_LIMIT_S,
        )
    match clock:
        case "turn":
            return replace(clocks, turn_s=seconds)
        case "arrange":
            return replace(clocks, arrange_s=seconds)
        case _:
            return replace(clocks, grace_s=seconds)


STEPS_S: Final = (0, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800, MAX_LIMIT_S)
"""What a clock is set to by going up and down; any other number can be typed."""


def next_clocks(clocks: Clocks, clock: str, step: int) -> Clocks:
    """``clocks`` with one of `LEAST_S` set to the seconds that come next, in the direction of ``step``."""
    now = dict(zip(LEAST_S, clocks.values, strict=True))[clock]
    values = sorted({now, *(seconds for seconds in STEPS_S if seconds >= LEAST_S[clock])})
    return changed_clocks(clocks, clock, values[(values.index(now) + step) % len(values)])


def in_short(clocks: Clocks) -> str:
    """``turn 30 s, arranging 90 s, grace 60 s``; what has no limit is said so."""

    def limit(seconds: int) -> str:
        return f"{seconds} s" if seconds else "no limit"

    return f"turn {limit(clocks.turn_s)}, arranging {limit(clocks.arrange_s)}, grace {clocks.grace_s} s"

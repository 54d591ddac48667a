"""Whether an expectation of a record holds."""

from __future__ import annotations

from collections.abc import Sequence

from engine.record.syntax import (
    EMPTY,
    ExpectDirection,
    ExpectOut,
    ExpectOver,
    ExpectPhase,
    ExpectSeat,
    ExpectZone,
    Statement,
    Where,
    direction_text,
)
from engine.record.words import name_text
from engine.state import NOBODY, GameState, Result


def mismatch(state: GameState, expected: Statement, names: tuple[str, ...], cards: Sequence[str]) -> str | None:
    """What ``state`` has in place of what is ``expected``, as a text to show; None when it holds.

    ``cards``: position → card text.
    """
    match expected:
        case ExpectSeat(what, seat):
            actual = state.turn if what == "turn" else state.eldest
            return None if actual == seat else f"{what} {_name(names, actual)}"
        case ExpectZone(where, seat, texts):
            return _zone(state, where, seat, texts, cards)
        case ExpectDirection(direction):
            return None if state.direction == direction else direction_text(state.direction)
        case ExpectOut(seats):
            actual_order = " ".join(_name(names, seat) for seat in state.finish_order)
            return None if state.finish_order == seats else f"out {actual_order}".rstrip()
        case ExpectOver(shithead, result):
            if state.shithead == shithead and (shithead != NOBODY or state.result is result):
                return None
            return _ending(state, names)
        case ExpectPhase(phase):
            return None if state.phase is phase else f"phase {state.phase.value}"
        case _:
            return None


def _name(names: tuple[str, ...], seat: int) -> str:
    return "nobody" if seat == NOBODY else name_text(names[seat])


def _ending(state: GameState, names: tuple[str, ...]) -> str:
    if state.result is Result.NONE:
        return "not over"
    return f"over {state.result.value if state.shithead == NOBODY else _name(names, state.shithead)}"


def _zone(
    state: GameState, where: Where, seat: int, expected: tuple[str, ...], cards: Sequence[str]
) -> str | None:
    zone = {
        Where.HAND: lambda: state.hands[seat],
        Where.UP: lambda: state.ups[seat],
        Where.DOWN: lambda: state.downs[seat],
        Where.STOCK: lambda: state.stock,
        Where.PILE: lambda: state.pile,
        Where.BURNT: lambda: state.burnt,
    }[where]()
    actual = tuple(EMPTY if position < 0 else cards[position] for position in zone)
    if where is Where.DOWN and not expected:
        holds = all(text == EMPTY for text in actual)
    elif where in (Where.HAND, Where.UP, Where.BURNT):
        holds = sorted(actual) == sorted(expected)
    else:
        holds = actual == expected
    return None if holds else " ".join((where.value, *actual))

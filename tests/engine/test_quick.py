"""The faster constructor: the same values as before, made in less time."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from engine import events, moves
from engine.quick import quick
from engine.state import Extra, GameState
from tests.engine.helpers import in_play


@quick
@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 7


@dataclass(frozen=True, slots=True)
class Plain:
    x: int
    y: int = 7


def test_it_is_called_as_before() -> None:
    assert Point(1) == Point(x=1, y=7) == Point(1, 7) != Point(1, 8)
    assert (repr(Point(1, 2)), hash(Point(1, 2))) == ("Point(x=1, y=2)", hash(Plain(1, 2)))
    assert replace(Point(1), y=3) == Point(1, 3)
    for wrong in ((), (1, 2, 3)):
        with pytest.raises(TypeError, match=r"Point\.__init__"):
            Point(*wrong)
    with pytest.raises(TypeError):
        Point(1, z=2)  # type: ignore[call-arg]


def test_the_values_stay_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del Point(1).x  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["factory", "post", "keyword", "left out"])
def test_what_it_does_not_know_it_refuses(kind: str) -> None:
    @dataclass(frozen=True, slots=True)
    class Made:
        x: list[int] = field(default_factory=list)

    @dataclass(frozen=True, slots=True)
    class Post:
        x: int

        def __post_init__(self) -> None:
            raise AssertionError

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Keyword:
        x: int

    @dataclass(frozen=True, slots=True)
    class LeftOut:
        x: int = field(default=1, init=False)

    with pytest.raises(TypeError, match="constructor"):
        quick({"factory": Made, "post": Post, "keyword": Keyword, "left out": LeftOut}[kind])


def test_states_moves_and_events_are_made_so_and_every_field_is_its_own() -> None:
    state = in_play(3, 5)
    values = [getattr(state, each.name) for each in fields(state)]
    assert (
        GameState(*values) == state == GameState(**dict(zip((f.name for f in fields(state)), values, strict=True)))
    )
    for made in (Extra(), events.TurnTo(1), moves.Play(0, (1,))):
        assert type(made).__init__.__code__.co_filename == "<string>"
        numbers = list(range(len(fields(made))))
        assert [getattr(type(made)(*numbers), each.name) for each in fields(made)] == numbers

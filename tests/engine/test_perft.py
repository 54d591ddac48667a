"""Perft: how many sequences of actions there are to a depth. Any change of the rules changes a number.

The numbers were counted once and frozen; the engines of all peers must agree on every one of them.
"""

from __future__ import annotations

import pytest

from engine.game import actions, apply, deal
from engine.moves import Ready
from engine.rules import RuleSet
from engine.state import GameState, Phase
from tests.engine.helpers import in_play, record, rules_with, shuffled


def perft(state: GameState, depth: int) -> int:
    """The number of action sequences of exactly ``depth`` moves, shorter ones that end the round included."""
    if depth == 0 or state.phase is Phase.OVER:
        return 1
    return sum(perft(apply(state, move), depth - 1) for move in actions(state))


@pytest.mark.parametrize(
    ("players", "seed", "counts"),
    [
        (2, 1, [3, 10, 27, 78, 211, 652, 1993, 6522]),
        (3, 2, [3, 9, 23, 68, 214, 596, 2123, 7632]),
        (4, 3, [3, 8, 16, 35, 121, 414, 1268, 3178]),
        (5, 4, [3, 11, 35, 110, 359, 991, 3157]),
        (6, 5, [3, 4, 12, 39, 97, 255, 749, 2024, 5543]),
    ],
)
def test_perft_from_the_first_lead(players: int, seed: int, counts: list[int]) -> None:
    state = in_play(players, seed)
    assert [perft(state, depth) for depth in range(1, len(counts) + 1)] == counts


def test_perft_of_arranging_and_declaring() -> None:
    state = deal(RuleSet(), 2, 0, shuffled(2, 9))
    assert [perft(state, depth) for depth in range(1, 4)] == [20, 382, 7116]
    state = apply(apply(state, Ready(0)), Ready(1))
    assert [perft(state, depth) for depth in range(1, 8)] == [1, 1, 1, 1, 3, 5, 14]


BLIND = """
pile 3c
down Ana 4c 2s Th
up Bogdan 5d 5h
down Bogdan 9c 6d 3s
hand Carmen Kd Kh 5s
down Carmen 9d 9h 9s
turn Ana
"""


def test_perft_of_an_endgame() -> None:
    state = record(BLIND, players="Ana Bogdan Carmen", dealer="Carmen")
    assert [perft(state, depth) for depth in range(1, 11)] == [3, 8, 28, 66, 96, 251, 538, 1164, 3647, 8708]


def test_perft_counts_a_limit_as_an_end() -> None:
    state = in_play(2, 1, rules_with(turn_limit="2"))
    assert perft(state, 2) == perft(state, 5)

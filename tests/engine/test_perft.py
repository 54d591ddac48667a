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
from tests.engine.options_of import begun_at


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


@pytest.mark.parametrize(
    ("preset", "players", "seed", "counts"),
    [
        ("wikipedia", 2, 12, [3, 7, 19, 51, 128, 373, 1146, 3593]),
        ("wikipedia", 3, 13, [3, 7, 25, 78, 230, 859, 3034]),
        ("wikipedia", 4, 14, [3, 5, 9, 27, 87, 256, 695, 1851, 5174]),
        ("wikipedia", 5, 15, [3, 10, 34, 62, 186, 409, 1343, 5450]),
        ("wikipedia_old", 2, 22, [1, 3, 5, 13, 21, 39, 89, 149, 297, 568, 1374, 2739]),
        ("wikipedia_old", 3, 23, [1, 3, 6, 12, 24, 60, 123, 189, 369, 639, 1209, 2505]),
        ("wikipedia_old", 4, 24, [1, 3, 3, 9, 27, 63, 189, 252, 675, 1395, 3411]),
        ("wikipedia_old", 5, 25, [1, 3, 4, 12, 32, 58, 82, 122, 249, 611, 1394, 2766]),
        ("pagat", 2, 32, [3, 7, 20, 59, 164, 437, 1306, 4249]),
        ("pagat", 3, 33, [3, 8, 16, 57, 190, 414, 1358, 4921]),
        ("pagat", 4, 34, [3, 9, 33, 99, 217, 725, 2536]),
        ("pagat", 5, 35, [3, 10, 33, 111, 356, 1031, 3028]),
        ("backpacker", 2, 42, [3, 11, 35, 103, 346, 1125, 3982]),
        ("backpacker", 3, 43, [3, 10, 31, 102, 320, 972, 3339]),
        ("backpacker", 4, 44, [3, 10, 26, 84, 218, 681, 2408, 8907]),
        ("backpacker", 5, 45, [3, 10, 35, 112, 306, 1113, 4013]),
        ("party", 2, 52, [3, 10, 26, 83, 272, 1011, 3904]),
        ("party", 3, 53, [3, 8, 21, 63, 197, 623, 1868, 6316]),
        ("party", 4, 54, [3, 10, 34, 106, 311, 984, 3284]),
        ("party", 5, 55, [3, 10, 31, 100, 318, 992, 3090]),
        ("nordic", 2, 62, [3, 3, 9, 15, 28, 65, 136, 295, 609, 1656, 4777]),
        ("nordic", 3, 63, [3, 5, 7, 18, 34, 63, 153, 331, 698, 1567, 3353]),
        ("nordic", 4, 64, [3, 4, 12, 21, 51, 108, 195, 396, 782, 1714, 4269]),
        ("nordic", 5, 65, [3, 6, 14, 27, 53, 106, 203, 390, 722, 1493, 3260]),
    ],
)
def test_perft_of_each_preset(preset: str, players: int, seed: int, counts: list[int]) -> None:
    state = begun_at(RuleSet.preset(preset), players, seed)
    assert [perft(state, depth) for depth in range(1, len(counts) + 1)] == counts


WILD_JOKERS = "jokers=2 joker_power=wild combine_last_hand=true chance=chance_free upcard_pick_up=pile_plus_set"


def test_perft_of_wild_jokers_and_last_cards() -> None:
    body = """
pile 3c X1 as 5
stock X2
hand Ana 9c 6c
up Ana 9d 4c 4d
down Bogdan 9h Kd Tc
up Bogdan 6d 6h
turn Ana
"""
    state = record(body, rules=f"wikipedia {WILD_JOKERS}")
    assert [perft(state, depth) for depth in range(1, 6)] == [4, 17, 128, 679, 2214]


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

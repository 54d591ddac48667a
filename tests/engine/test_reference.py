"""The engine against a second, plain model of 1.16: whole rounds, compared after every action."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cards import card_text
from engine.game import actions, apply
from engine.moves import Flip, PickUp, Play, PlayerMove
from engine.state import GameState, Phase
from tests.engine.helpers import in_play, rules_with
from tests.engine.reference import Reference
from tests.engine.test_perft import perft

LIMIT = rules_with(turn_limit="100000")


def texts(state: GameState, positions: Iterable[int]) -> list[str]:
    return [card_text(state.faces[p], state.packs) if p >= 0 else "" for p in positions]


def model(state: GameState) -> Reference:
    return Reference(
        [texts(state, zone) for zone in state.hands],
        [texts(state, zone) for zone in state.ups],
        [texts(state, zone) for zone in state.downs],
        texts(state, state.stock),
        texts(state, state.pile),
        state.turn,
    )


def described(state: GameState, move: PlayerMove) -> tuple[str, object, int]:
    match move:
        case Play(_, positions):
            return ("play", card_text(state.faces[positions[0]], state.packs)[0], len(positions))
        case Flip(_, slot):
            return ("flip", slot, 0)
        case _:
            assert isinstance(move, PickUp)
            return ("pick up", "", 0)


@given(st.integers(2, 10), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_engine_and_the_plain_model_agree(players: int, seed: int) -> None:
    rng = random.Random(seed)
    state = in_play(players, seed, LIMIT)
    plain = model(state)
    for _ in range(300):
        moves = list(actions(state))
        assert sorted(map(str, plain.actions())) == sorted(str(described(state, move)) for move in moves)
        if state.phase is Phase.OVER:
            break
        if rng.random() < 0.9:
            moves = [move for move in moves if not isinstance(move, PickUp)] or moves
        move = rng.choice(moves)
        if isinstance(move, Play):
            plain.play(texts(state, move.positions))
        else:
            plain.do(described(state, move))
        state = apply(state, move)
        assert [sorted(zone) for zone in plain.hands] == [sorted(texts(state, zone)) for zone in state.hands]
        assert [sorted(zone) for zone in plain.ups] == [sorted(texts(state, zone)) for zone in state.ups]
        assert plain.downs == [texts(state, zone) for zone in state.downs]
        assert (plain.stock, plain.pile) == (texts(state, state.stock), texts(state, state.pile))
        assert plain.burnt == texts(state, state.burnt)
        assert tuple(plain.out) == state.finish_order
        assert plain.over == (state.phase is Phase.OVER)
        assert plain.over or plain.turn == state.turn


@pytest.mark.parametrize(("players", "seed"), [(2, 1), (3, 2), (4, 3), (5, 4), (6, 5)])
def test_both_count_the_same_sequences(players: int, seed: int) -> None:
    state = in_play(players, seed)
    assert [model(state).perft(depth) for depth in range(1, 5)] == [perft(state, depth) for depth in range(1, 5)]

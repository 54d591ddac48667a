"""The engine against a second, plain model of the options: whole rounds, compared after every action."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cards import card_text, rank_text
from engine.game import actions, apply
from engine.moves import Chance, Done, Flip, Name, PickUp, Play, PlayAs, PlayerMove, Ready, Unready
from engine.rules import PRESETS, RuleSet, to_items
from engine.state import GameState, Phase
from tests.engine.option_model import Action, Model
from tests.engine.options_of import begun_at, dealt_under, rule_sets
from tests.engine.test_perft import perft

LONGEST = 200
"""Moves of a round that are compared."""


def texts(state: GameState, positions: Iterable[int]) -> list[str]:
    return [card_text(state.faces[p], state.packs) if p >= 0 else "" for p in positions]


def model(state: GameState) -> Model:
    return Model(
        dict(to_items(state.rules)),
        [texts(state, zone) for zone in state.hands],
        [texts(state, zone) for zone in state.ups],
        [texts(state, zone) for zone in state.downs],
        texts(state, state.stock),
        state.turn,
        rank_text(state.extra.start_rank).strip("?"),
    )


def described(state: GameState, move: PlayerMove) -> Action:
    """A move as the model names it."""
    hand = state.hands[move.seat]

    def letter(position: int) -> str:
        rank = rank_text(state.rank_at(position))
        return rank if position in hand or not hand else rank.lower() + "+"

    match move:
        case Play(_, positions):
            return ("play", rank_text(state.rank_at(positions[0])), "".join(sorted(map(letter, positions))))
        case PlayAs(_, positions, rank):
            return ("play", rank_text(rank), "".join(sorted(map(letter, positions))))
        case PickUp(_, along):
            return ("pick up", "".join(rank_text(state.rank_at(p)) for p in along))
        case Flip(_, slot):
            return ("flip", slot)
        case Name(_, rank):
            return ("name", rank_text(rank))
        case Done():
            return ("done",)
        case _:
            assert isinstance(move, Chance)
            return ("chance",)


def follow(plain: Model, state: GameState, move: PlayerMove) -> None:
    """The same move in the model."""
    match move:
        case Play(_, positions):
            plain.play(texts(state, positions), rank_text(state.rank_at(positions[0])))
        case PlayAs(_, positions, rank):
            plain.play(texts(state, positions), rank_text(rank))
        case PickUp(_, along):
            plain.pick_up(texts(state, along))
        case Flip(_, slot):
            plain.turn_up(plain.downs[plain.turn][slot], slot)
        case Name(_, rank):
            plain.name(rank_text(rank))
        case Done():
            plain.done()
        case _:
            plain.turn_up(plain.stock[0], -1)


def begun(rules: RuleSet, players: int, seed: int) -> GameState:
    """A round at its first lead, arranged at random."""
    rng = random.Random(seed)
    state = dealt_under(rules, players, seed)
    while state.phase is not Phase.PLAY:
        moves = [move for move in actions(state) if not isinstance(move, Unready)]
        ready = [move for move in moves if isinstance(move, Ready)]
        state = apply(state, rng.choice(ready if ready and rng.random() < 0.7 else moves))
    return state


@st.composite
def games(draw: st.DrawFn) -> tuple[RuleSet, int, int]:
    players = draw(st.integers(2, 6))
    rules = replace(draw(rule_sets(players)), turn_limit=100_000)
    return rules, players, draw(st.integers(0, 2**32))


@given(games())
@settings(max_examples=70, deadline=None)
def test_the_engine_and_the_plain_model_of_the_options_agree(game: tuple[RuleSet, int, int]) -> None:
    state = begun(*game)
    rng = random.Random(game[2])
    plain = model(state)
    for _ in range(LONGEST):
        moves = list(actions(state))
        offered = {described(state, move) for move in moves}
        assert len(offered) == len(moves)
        assert plain.actions() == offered
        if state.phase is Phase.OVER:
            break
        if rng.random() < 0.8:
            moves = [move for move in moves if not isinstance(move, PickUp)] or moves
        move = rng.choice(moves)
        follow(plain, state, move)
        state = apply(state, move)
        assert [sorted(zone) for zone in plain.hands] == [sorted(texts(state, zone)) for zone in state.hands]
        assert [sorted(zone) for zone in plain.ups] == [sorted(texts(state, zone)) for zone in state.ups]
        assert plain.downs == [texts(state, zone) for zone in state.downs]
        assert plain.stock == texts(state, state.stock)
        assert plain.pile == [
            (card, rank_text(state.counts_as(p)))
            for p, card in zip(state.pile, texts(state, state.pile), strict=True)
        ]
        assert plain.burnt == texts(state, state.burnt)
        assert tuple(plain.out) == state.finish_order
        assert plain.over == (state.phase is Phase.OVER)
        assert plain.over or (plain.turn, plain.step) == (state.turn, state.direction)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 3, 5])
def test_both_count_the_same_sequences(preset: str, players: int) -> None:
    state = begun_at(RuleSet.preset(preset), players, players)
    assert [model(state).perft(depth) for depth in range(1, 5)] == [perft(state, depth) for depth in range(1, 5)]

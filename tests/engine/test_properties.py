"""What holds for every deal and every way of playing it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import RuleError
from engine.game import actions, apply, check, deal, mask, problems
from engine.moves import (
    Declare,
    Flip,
    Leave,
    Move,
    Open,
    Pass,
    PickUp,
    Play,
    Ready,
    Swap,
    Unready,
)  # fmt: skip
from engine.record import check as check_record
from engine.record import from_moves, read, write
from engine.rules import RuleSet
from engine.state import GameState, Phase, Result
from tests.engine.helpers import at_random, in_play, played_out, rules_with, sensibly, shuffled

SEEDS = st.integers(0, 2**32)
PLAYERS = st.integers(2, 10)
LIMIT = rules_with(turn_limit="200")


def lived(
    players: int, seed: int, *, swaps: bool = True, pick_ups: float = 0.3
) -> Iterator[tuple[GameState, Move]]:
    """A whole open round at random: each state with the move made in it."""
    rng = random.Random(seed)
    state = deal(LIMIT, players, rng.randrange(players), shuffled(players, seed, LIMIT))
    while state.phase is not Phase.OVER:
        moves = [move for move in actions(state) if not isinstance(move, Unready)]
        if state.phase is Phase.ARRANGE and (not swaps or rng.random() < 0.3):
            moves = [move for move in moves if isinstance(move, Ready)]
        if rng.random() > pick_ups:
            moves = [move for move in moves if not isinstance(move, PickUp)] or moves
        move = rng.choice(moves)
        yield state, move
        state = apply(state, move)


@given(PLAYERS, SEEDS)
@settings(max_examples=25, deadline=None)
def test_r1_every_card_is_in_one_place_and_every_state_is_sound(players: int, seed: int) -> None:
    for state, move in lived(players, seed):
        assert problems(apply(state, move)) == []


@given(PLAYERS, SEEDS)
@settings(max_examples=25, deadline=None)
def test_whoever_is_in_turn_can_do_something(players: int, seed: int) -> None:
    for state, _ in lived(players, seed):
        assert actions(state)
        assert actions(state).count() == len(list(actions(state)))


def carried(move: Move) -> tuple[int, ...]:
    """The hand cards whose faces a move has to show."""
    match move:
        case Play():
            return move.positions
        case Swap():
            return (move.hand,)
        case Declare():
            return (move.position,)
        case _:
            return ()


@given(PLAYERS, SEEDS)
@settings(max_examples=40, deadline=None)
def test_open_and_hidden_play_go_in_step(players: int, seed: int) -> None:
    """1.19: what is legal with all faces known is legal without, and leads to the same public state."""
    hidden = None
    for state, move in lived(players, seed):
        if hidden is None:
            hidden = deal(LIMIT, players, state.dealer)
            for position in hidden.awaiting:
                hidden = apply(hidden, Open(position, state.faces[position]))
        assert hidden == mask(state, None)
        assert hidden.canonical() == state.canonical()
        for position in carried(move):
            hidden = apply(hidden, Open(position, state.faces[position]))
        hidden = apply(hidden, move)
        for position in hidden.awaiting:
            hidden = apply(hidden, Open(position, state.faces[position]))
        assert hidden == mask(apply(state, move), None)


def every_turn(state: GameState) -> set[tuple[object, ...]]:
    """All that is accepted of the seat in turn, tried one by one; plays as (rank, count)."""
    seat, found = state.turn, set[tuple[object, ...]]()
    by_rank: dict[int, list[int]] = {}
    for position in (*state.hands[seat], *state.ups[seat], *(p for p in state.downs[seat] if p >= 0)):
        by_rank.setdefault(state.rank_at(position), []).append(position)
    for rank, positions in by_rank.items():
        for zone in (state.hands[seat], state.ups[seat], state.downs[seat]):
            own = sorted(p for p in positions if p in zone)
            for count in range(1, len(own) + 1):
                if check(state, Play(seat, tuple(own[:count]))) is None:
                    found.add((rank, count))
    if check(state, PickUp(seat)) is None:
        found.add(("pick up",))
    found |= {("flip", slot) for slot in range(4) if check(state, Flip(seat, slot)) is None}
    return found


@given(PLAYERS, SEEDS)
@settings(max_examples=20, deadline=None)
def test_actions_are_what_apply_accepts(players: int, seed: int) -> None:
    for state, _ in lived(players, seed, swaps=False):
        if state.phase is not Phase.PLAY:
            continue
        offered = [
            (state.rank_at(move.positions[0]), len(move.positions)) if isinstance(move, Play)
            else ("flip", move.slot) if isinstance(move, Flip)
            else ("pick up",)
            for move in actions(state)
        ]  # fmt: skip
        assert len(set(offered)) == len(offered)
        assert set(offered) == every_turn(state)


@given(st.integers(2, 5), SEEDS, st.data())
@settings(max_examples=40, deadline=None)
def test_any_subset_of_equal_cards_is_as_good(players: int, seed: int, data: st.DataObject) -> None:
    state = in_play(players, seed)
    hand = state.hands[state.turn]
    rank = data.draw(st.sampled_from(sorted({state.rank_at(p) for p in hand})))
    equal = [p for p in hand if state.rank_at(p) == rank]
    chosen = tuple(data.draw(st.permutations(equal))[: data.draw(st.integers(1, len(equal)))])
    assert Play(state.turn, chosen) in actions(state)


SEAT_NUMBERS = st.integers(-1, 4)
POSITIONS = st.integers(-1, 52)
ANY_MOVE: st.SearchStrategy[Move] = st.one_of(
    st.builds(Swap, SEAT_NUMBERS, POSITIONS, POSITIONS),
    st.builds(Ready, SEAT_NUMBERS),
    st.builds(Unready, SEAT_NUMBERS),
    st.builds(Declare, SEAT_NUMBERS, POSITIONS),
    st.builds(Pass, SEAT_NUMBERS),
    st.builds(Play, SEAT_NUMBERS, st.lists(POSITIONS, max_size=4).map(tuple)),
    st.builds(PickUp, SEAT_NUMBERS, st.lists(POSITIONS, max_size=1).map(tuple)),
    st.builds(Flip, SEAT_NUMBERS, st.integers(-1, 4)),
    st.builds(Leave, SEAT_NUMBERS),
    st.builds(Open, POSITIONS, POSITIONS),
)


@given(st.integers(2, 4), SEEDS, st.integers(0, 120), st.booleans(), st.lists(ANY_MOVE, min_size=5, max_size=30))
@settings(max_examples=60, deadline=None)
def test_a_refusal_changes_nothing_and_everything_else_leaves_a_sound_state(
    players: int, seed: int, steps: int, hide: bool, moves: list[Move]
) -> None:
    state = next(reversed([s for (s, _), _ in zip(lived(players, seed), range(steps + 1), strict=False)]))
    state = mask(state, None) if hide else state
    for move in moves:
        before = state.canonical()
        error = check(state, move)
        if error is None:
            assert problems(apply(state, move)) == []
        else:
            with pytest.raises(RuleError) as refused:
                apply(state, move)
            assert refused.value.code == error.code
            assert str(error)
        assert state.canonical() == before


@given(st.integers(2, 6), SEEDS)
@settings(max_examples=25, deadline=None)
def test_a_record_of_a_round_survives_writing_and_is_legal(players: int, seed: int) -> None:
    states, moves = zip(*lived(players, seed), strict=True)
    first = states[0]
    names = [f"Player {seat}" for seat in range(players)]
    record = from_moves(LIMIT, names, first.dealer, first.faces, moves)
    again = read(write(record))
    assert again == record
    assert write(again) == write(record)
    check_record(again)


@pytest.mark.parametrize("players", range(2, 11))
def test_r49_sensible_play_ends(players: int) -> None:
    for seed in range(4):
        state = played_out(in_play(players, seed, rules_with(turn_limit="5000")), random.Random(seed), sensibly)
        assert state.result is Result.FINISHED
        assert len(state.finish_order) == players - 1
        assert state.shithead not in state.finish_order


@pytest.mark.parametrize("players", [2, 3, 5, 6])
def test_r50_random_play_ends_or_stalls(players: int) -> None:
    for seed in range(3):
        state = played_out(in_play(players, seed), random.Random(seed), at_random)
        assert state.result in (Result.FINISHED, Result.STALLED)
        assert (state.result is Result.STALLED) == (state.action_count == RuleSet().turn_limit)

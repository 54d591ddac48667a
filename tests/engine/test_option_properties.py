"""What holds for every deal and every way of playing it, under any options that can be played."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import RuleError
from engine.events import Drew, FollowUpOpen, Named, Reversed, Skipped, TurnTo
from engine.game import actions, apply, check, deal, hidden_breach, mask, problems, step
from engine.moves import (
    Chance,
    Choose,
    Declare,
    Done,
    Flip,
    Leave,
    Move,
    Name,
    Open,
    Pass,
    PickUp,
    Play,
    PlayAs,
    Ready,
    Swap,
    Unready,
)
from engine.record import check as check_record
from engine.record import from_moves, read, write
from engine.rules import PRESETS, RuleSet, changed_items, from_items, to_items
from engine.state import GameState, Phase, Result
from tests.engine.helpers import played_out, sensibly
from tests.engine.options_of import begun_at, lived_under, rule_sets

SEEDS = st.integers(0, 2**32)
PLAYERS = st.integers(2, 6)


@st.composite
def games(draw: st.DrawFn) -> tuple[RuleSet, int, int]:
    players = draw(PLAYERS)
    return draw(rule_sets(players)), players, draw(SEEDS)


@given(games())
@settings(max_examples=60, deadline=None)
def test_every_state_is_sound_and_every_round_ends(game: tuple[RuleSet, int, int]) -> None:
    """R1 and R50 under any options; whoever is in turn can do something (1.16)."""
    state = None
    for state, move in lived_under(*game):
        assert problems(state) == []
        assert actions(state)
        state, events = step(state, move)
        for event in events:
            assert not isinstance(event, Drew | Named) or event.positions
            assert not isinstance(event, Skipped) or event.seats
            assert not isinstance(event, TurnTo | FollowUpOpen) or event.seat == state.turn
            assert not isinstance(event, Reversed) or event.direction == state.direction
    assert state is not None and state.phase is Phase.OVER
    assert problems(state) == []
    assert state.result in (Result.FINISHED, Result.STALLED)


def carried(state: GameState, move: Move) -> tuple[int, ...]:
    """The closed cards whose faces a move has to show."""
    match move:
        case Play() | PlayAs():
            return tuple(p for p in move.positions if not state.is_public(p))
        case Swap():
            return () if state.is_public(move.hand) else (move.hand,)
        case Declare():
            return () if state.is_public(move.position) else (move.position,)
        case _:
            return ()


@given(games())
@settings(max_examples=60, deadline=None)
def test_open_and_hidden_play_go_in_step(game: tuple[RuleSet, int, int]) -> None:
    """1.19: what is legal with all faces known is legal without, and leads to the same public state."""
    rules, players, _ = game
    hidden = None
    for state, move in lived_under(*game):
        if hidden is None:
            hidden = deal(rules, players, state.dealer, eldest=state.setup.drawn_eldest)
            for position in hidden.awaiting:
                hidden = apply(hidden, Open(position, state.faces[position]))
        assert hidden == mask(state, None)
        assert hidden.canonical() == state.canonical()
        assert hidden_breach(state, move) is None  # type: ignore[arg-type]
        for position in carried(state, move):
            hidden = apply(hidden, Open(position, state.faces[position]))
        hidden = apply(hidden, move)
        for position in hidden.awaiting:
            hidden = apply(hidden, Open(position, state.faces[position]))
        assert hidden == mask(apply(state, move), None)


@given(games())
@settings(max_examples=50, deadline=None)
def test_an_owner_can_find_every_own_move(game: tuple[RuleSet, int, int]) -> None:
    """Each seat's own view offers what the open state offers it."""
    for at, (state, _) in enumerate(lived_under(*game)):
        if at % 7 == 0:
            moves = list(actions(state))
            for seat in range(state.players):
                own = [move for move in moves if move.seat == seat]
                assert [move for move in actions(mask(state, seat)) if move.seat == seat] == own


def tried(state: GameState) -> list[Move]:
    """Every kind of move of the seat in turn, tried one by one with single cards and pairs."""
    seat = state.turn
    cards = [*state.hands[seat], *state.ups[seat], *(p for p in state.downs[seat] if p >= 0)]
    sets = [(), *((a,) for a in cards), *((a, b) for a in cards for b in cards if a < b)]
    whole = tuple(state.hands[seat])
    sets += [(*whole, *state.ups[seat][:1])] if whole else []
    found: list[Move] = [Chance(seat), Done(seat), *(Name(seat, rank) for rank in range(14))]
    found += [Flip(seat, slot) for slot in range(4)]
    for positions in sets:
        found += [Play(seat, positions), PickUp(seat, positions)]
        if state.rules.jokers:
            found += [PlayAs(seat, positions, rank) for rank in range(13)]
    return found


def shape(state: GameState, move: Move) -> tuple[object, ...]:
    """A move by ranks and zones, as actions offers one of each."""
    hand = state.hands[state.turn]

    def ranks(positions: tuple[int, ...]) -> tuple[object, ...]:
        return tuple(sorted((state.rank_at(p), p in hand) for p in positions))

    match move:
        case Play(_, positions) | PickUp(_, positions):
            return (type(move).__name__, ranks(positions))
        case PlayAs(_, positions, rank):
            return ("PlayAs", ranks(positions), rank)
        case _:
            return (move,)


@given(games())
@settings(max_examples=35, deadline=None)
def test_actions_are_what_apply_accepts(game: tuple[RuleSet, int, int]) -> None:
    for at, (state, _) in enumerate(lived_under(*game)):
        if state.phase is not Phase.PLAY or at % 7:
            continue
        offered = list(actions(state))
        shapes = [shape(state, move) for move in offered]
        assert len(set(shapes)) == len(shapes)
        assert all(check(state, move) is None for move in offered)
        accepted = {shape(state, move) for move in tried(state) if check(state, move) is None}
        assert accepted <= set(shapes)


SEAT_NUMBERS = st.integers(-1, 4)
POSITIONS = st.integers(-1, 60)
LISTS = st.lists(POSITIONS, max_size=4).map(tuple)
ANY_MOVE: st.SearchStrategy[Move] = st.one_of(
    st.builds(Swap, SEAT_NUMBERS, POSITIONS, POSITIONS),
    st.builds(Choose, SEAT_NUMBERS, LISTS),
    st.builds(Ready, SEAT_NUMBERS),
    st.builds(Unready, SEAT_NUMBERS),
    st.builds(Declare, SEAT_NUMBERS, POSITIONS),
    st.builds(Pass, SEAT_NUMBERS),
    st.builds(Play, SEAT_NUMBERS, LISTS),
    st.builds(PlayAs, SEAT_NUMBERS, LISTS, st.integers(-2, 15)),
    st.builds(Name, SEAT_NUMBERS, st.integers(-2, 15)),
    st.builds(Done, SEAT_NUMBERS),
    st.builds(Chance, SEAT_NUMBERS),
    st.builds(PickUp, SEAT_NUMBERS, st.lists(POSITIONS, max_size=2).map(tuple)),
    st.builds(Flip, SEAT_NUMBERS, st.integers(-1, 4)),
    st.builds(Leave, SEAT_NUMBERS),
    st.builds(Open, POSITIONS, POSITIONS),
)


@given(games(), st.integers(0, 80), st.booleans(), st.lists(ANY_MOVE, min_size=5, max_size=25))
@settings(max_examples=60, deadline=None)
def test_a_refusal_changes_nothing_and_everything_else_leaves_a_sound_state(
    game: tuple[RuleSet, int, int], steps: int, hide: bool, moves: list[Move]
) -> None:
    state = next(reversed([s for (s, _), _ in zip(lived_under(*game), range(steps + 1), strict=False)]))
    state = mask(state, None) if hide else state
    for move in moves:
        # A seat in turn makes more of the made-up moves meaningful.
        mine = move if isinstance(move, Open) or move.seat % 2 else replace(move, seat=max(state.turn, 0))
        before = state.canonical()
        error = check(state, mine)
        if error is None:
            assert problems(apply(state, mine)) == []
        else:
            with pytest.raises(RuleError) as refused:
                apply(state, mine)
            assert refused.value.code == error.code
            assert str(error)
        assert state.canonical() == before


@given(games())
@settings(max_examples=60, deadline=None)
def test_a_record_of_a_round_survives_writing_and_is_legal(game: tuple[RuleSet, int, int]) -> None:
    rules, players, _ = game
    states, moves = zip(*lived_under(*game), strict=True)
    first = states[0]
    names = [f"Player {seat}" for seat in range(players)]
    record = from_moves(rules, names, first.dealer, first.faces, moves, eldest=first.setup.drawn_eldest)
    again = read(write(record))
    assert again == record
    assert write(again) == write(record)
    check_record(again)


@given(games())
@settings(max_examples=60, deadline=None)
def test_rule_sets_survive_their_text_form(game: tuple[RuleSet, int, int]) -> None:
    rules, _, _ = game
    assert from_items(to_items(rules)) == rules
    assert (rules == RuleSet()) == (changed_items(rules) == ())


@given(games(), st.data())
@settings(max_examples=40, deadline=None)
def test_leaving_at_any_time_leaves_a_sound_round(game: tuple[RuleSet, int, int], data: st.DataObject) -> None:
    """Row 81 under any options: play goes on around the gap, and ends."""
    for at, (state, _) in enumerate(lived_under(*game)):
        if at % 9 == 0:
            for seat in range(state.players):
                if state.active[seat]:
                    after = apply(state, Leave(seat))
                    assert problems(after) == []
                    assert after.phase is Phase.OVER or actions(after)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_r49_sensible_play_ends_under_every_preset(preset: str, players: int) -> None:
    state = begun_at(RuleSet.preset(preset), players, players)
    state = played_out(state, random.Random(players), sensibly)
    assert state.result is Result.FINISHED
    assert len(state.finish_order) == players - 1
    assert state.shithead not in state.finish_order

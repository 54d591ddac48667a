"""Short ways to set up rounds in tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from engine.game import actions, apply, deal, to_declare
from engine.moves import Move, PickUp, PlayerMove, Ready
from engine.record import check_text, moments
from engine.rules import RuleSet, packs_for, with_options
from engine.state import GameState, Phase

Chooser = Callable[[random.Random, Sequence[PlayerMove]], PlayerMove]


def rules_with(**changes: str) -> RuleSet:
    """The default rules with options in text form."""
    return with_options(RuleSet(), changes)


def shuffled(players: int, seed: int, rules: RuleSet | None = None) -> list[int]:
    """A deck for that many players."""
    faces = list(range(52 * packs_for(rules or RuleSet(), players)))
    random.Random(seed).shuffle(faces)
    return faces


def in_play(players: int, seed: int, rules: RuleSet | None = None) -> GameState:
    """An open round in which nobody has exchanged, at the first lead."""
    rules = rules or RuleSet()
    state = deal(rules, players, seed % players, shuffled(players, seed, rules))
    for seat in range(players):
        state = apply(state, Ready(seat))
    return declared(state)


def declared(state: GameState) -> GameState:
    """``state`` after all answers that are forced."""
    while state.phase is Phase.DECLARE:
        answer = to_declare(state)
        assert answer is not None
        state = apply(state, answer)
    return state


def played_out(state: GameState, rng: random.Random, choose: Chooser) -> GameState:
    """``state`` played to the end of the round."""
    while state.phase is not Phase.OVER:
        state = apply(state, choose(rng, list(actions(state))))
    return state


def at_random(rng: random.Random, moves: Sequence[PlayerMove]) -> PlayerMove:
    """Any move."""
    return rng.choice(moves)


def sensibly(rng: random.Random, moves: Sequence[PlayerMove]) -> PlayerMove:
    """Any move but a pick-up, and mostly the longest set of a low rank."""
    if rng.random() < 0.3:
        return rng.choice([move for move in moves if not isinstance(move, PickUp)] or list(moves))
    first = moves[0]
    positions = getattr(first, "positions", ())
    same = [m for m in moves if positions and positions[0] in getattr(m, "positions", ())]
    return max(same, key=lambda m: len(getattr(m, "positions", ())), default=first)


def record(body: str, players: str = "Ana Bogdan", dealer: str = "Bogdan", rules: str = "wikipedia") -> GameState:
    """Check the record with this body; the state at its end."""
    text = f"shithead-record 1\nrules {rules}\nplayers {players}\ndealer {dealer}\n{body}"
    *_, last = moments(check_text(text))
    return last.state


THREE = {"players": "Ana Bogdan Carmen", "dealer": "Carmen"}
"""For ``record``: three players."""


def after(state: GameState, *moves: Move) -> GameState:
    """``state`` after ``moves``."""
    for move in moves:
        state = apply(state, move)
    return state

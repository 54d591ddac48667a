"""How fast the engine is: actions a second of processor time, by kind, on whole rounds.

    python benchmarks/bench_engine.py [ROUNDS]

Prints numbers and asserts nothing: what a machine is capable of is not ours to promise.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.cards import pack_size
from engine.game import actions, apply, check, deal, to_declare
from engine.moves import Move, Ready
from engine.rules import PRESETS, RuleSet, packs_for
from engine.state import GameState, Phase

DEFAULT_ROUNDS = 200
REPEATS = 3


def random_round(rules: RuleSet, players: int, seed: int) -> list[tuple[GameState, Move]]:
    """Every state of the play phase of one open round, with the move made in it."""
    rng = random.Random(seed)
    faces = list(range(pack_size(packs_for(rules, players), rules.jokers)))
    rng.shuffle(faces)
    state = deal(rules, players, seed % players, faces)
    for seat in range(players):
        state = apply(state, Ready(seat))
    while (answer := to_declare(state)) is not None:
        state = apply(state, answer)
    steps: list[tuple[GameState, Move]] = []
    while state.phase is not Phase.OVER:
        move = rng.choice(list(actions(state)))
        steps.append((state, move))
        state = apply(state, move)
    return steps


def per_second(count: int, seconds: float) -> str:
    """A rate for people."""
    return f"{count / seconds:>12,.0f} a second"


def timed(steps: Sequence[tuple[GameState, Move]], what: str) -> float:
    """Seconds of processor time of the best of some repeats of doing ``what`` in every step."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        if what == "apply":
            for state, move in steps:
                apply(state, move)
        elif what == "check":
            for state, move in steps:
                check(state, move)
        elif what == "actions":
            for state, _ in steps:
                actions(state).count()
        else:
            for state, _ in steps:
                state.canonical()
        best = min(best, time.process_time() - start)
    return best


def main(rounds: int) -> None:
    """Measure and print."""
    for players in (2, 3, 5, 8):
        steps = [step for seed in range(rounds // 4) for step in random_round(RuleSet(), players, seed)]
        kinds = Counter(type(move).__name__ for _, move in steps)
        print(
            f"{players} players, {len(steps):,} actions: "
            + ", ".join(f"{n:,} {k}" for k, n in kinds.most_common())
        )
        for kind in kinds:
            chosen = [step for step in steps if type(step[1]).__name__ == kind]
            print(f"  apply {kind:<10}{per_second(len(chosen), timed(chosen, 'apply'))}")
        for what in ("apply", "check", "actions", "canonical"):
            print(f"  {what:<16}{per_second(len(steps), timed(steps, what))}")
    for preset in PRESETS:
        rules = RuleSet.preset(preset)
        print(f"{preset}:")
        for players in (2, 3, 4, 5):
            steps = [step for seed in range(rounds // 4) for step in random_round(rules, players, seed)]
            rates = "  ".join(
                f"{what}{per_second(len(steps), timed(steps, what))}" for what in ("apply", "actions")
            )
            print(f"  {players} players, {len(steps):>7,} actions  {rates}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_ROUNDS)

"""How long rounds of bots are, and whether any goes on for ever (docs/rules.md 1.14).

    python benchmarks/bench_bots.py [--rounds 1000]

Rounds are played openly, without the deal: ``rounds`` for each number of players, all with the ``normal`` bot.
Shows accepted actions (median, 99th percentile, longest), stalled rounds, and milliseconds a move.
"""

from __future__ import annotations

import argparse
import time
from random import Random

from client.bots import Level, choose
from engine.game import apply, deal, mask
from engine.rules import RuleSet
from engine.state import GameState, Phase, Result

PLAYERS = (2, 3, 4, 5)


def play(players: int, seed: int) -> GameState:
    """One round to its end."""
    rng = Random(seed)
    faces = list(range(52))
    rng.shuffle(faces)
    state = deal(RuleSet(), players, seed % players, faces)
    while state.phase is not Phase.OVER:
        arranging = state.phase is Phase.ARRANGE
        seat = state.ready.index(False) if arranging else state.turn
        move = choose(mask(state, seat), seat, Level.NORMAL, rng)
        if move is None:
            raise RuntimeError("a bot in turn has no move")
        state = apply(state, move)
    return state


def main() -> None:
    """Prints a row for each number of players."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=1000)
    rounds: int = parser.parse_args().rounds
    print(f"{'players':<8} {'median':>7} {'99 %':>6} {'longest':>8} {'stalled':>8} {'ms/move':>8}")
    for players in PLAYERS:
        start = time.perf_counter()
        ends = [play(players, seed) for seed in range(rounds)]
        took = time.perf_counter() - start
        counts = sorted(end.action_count for end in ends)
        stalled = sum(end.result is Result.STALLED for end in ends)
        row = (counts[len(counts) // 2], counts[len(counts) * 99 // 100], counts[-1], stalled)
        print(f"{players:<8} {row[0]:>7} {row[1]:>6} {row[2]:>8} {row[3]:>8} {took * 1000 / sum(counts):>8.3f}")


if __name__ == "__main__":
    main()

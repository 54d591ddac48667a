"""Rounds under seeded schedules, in memory: delays, losses, partitions, kills at every moment of a step.

python benchmarks/bench_schedules.py                    a sample of both
python benchmarks/bench_schedules.py many FROM TO       the schedules of a range of seeds
python benchmarks/bench_schedules.py boundaries [N]     kills each of four at each (each N-th) own entry
python benchmarks/bench_schedules.py SEED…              replays schedules and says what happened
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine.errors import ShitheadError
from tests.p2p.simulator import (
    FIRST_OF_HOST,
    MOMENTS,
    NAMES,
    Simulation,
    Weather,
    Wrong,
    boundary,
    own_entries,
    simulation_of,
)


def boundaries(every: int) -> int:
    """Kills each of four players at each (each ``every``-th) of its own entries, at each moment in turn."""
    tried = resumed = 0
    turn = count()
    for number, written in enumerate(own_entries()):
        for seq in range(FIRST_OF_HOST if number == 0 else 0, written, every):
            made = boundary(number, seq, MOMENTS[next(turn) % 3])
            tried += 1
            try:
                # A killed program may write other entries than it would have: the last numbers may not come.
                resumed += made.play() == "finished"
            except Wrong as wrong:
                print(f"{NAMES[number]} at {seq} {made.kills}: {wrong}\n{made.describe()}")
    print(f"resumed / tried: {resumed} / {tried}")
    return 0 if resumed == tried else 1


def many(start: int, end: int) -> int:
    """Plays the schedules of the seeds from ``start`` to before ``end``."""
    endings: Counter[str] = Counter()
    kills = 0
    for seed in range(start, end):
        made = simulation_of(seed)
        try:
            endings[made.play()] += 1
        except (Wrong, ShitheadError) as wrong:
            endings["WRONG"] += 1
            print(f"seed {seed}: {wrong}")
        kills += len(made.kills)
    print(f"{end - start} schedules, {kills} kills: " + ", ".join(f"{n} {kind}" for kind, n in endings.items()))
    return 1 if endings["WRONG"] else 0


def replay(seeds: list[str]) -> int:
    """Replays schedules by their seeds and says what happened."""
    for text in seeds:
        made = simulation_of(int(text))
        print(f"seed {text}: {len(made.peers)} players, {made.weather}")
        try:
            print(f"  {made.play()} after {made.now:.1f} s of its own time; {'; '.join(made.kills)}")
        except (Wrong, ShitheadError) as wrong:
            print(f"  WRONG: {wrong}\n{made.describe()}")
            return 1
    return 0


def losses(rounds: int) -> int:
    """Rounds of three at several shares of lost frames; nothing else goes wrong."""
    plain_s = 0.0
    for loss in (0.0, 0.1, 0.2, 0.3):
        finished = wrong = 0
        lasted_s = []
        for seed in range(rounds):
            made = Simulation(seed, 3, Weather(loss=loss, doubled=0.0, slow=0.0, kills=0, cuts=0))
            made.calms = False
            try:
                finished += made.play() == "finished"
            except Wrong as problem:
                wrong += 1
                print(f"seed {seed}: {problem}")
            lasted_s.append(made.now)
        mean_s = sum(lasted_s) / rounds
        plain_s = plain_s or mean_s
        print(
            f"{loss:4.0%} lost: {finished} of {rounds} finished, {wrong} wrong, {mean_s / plain_s:.1f} x as long"
        )
    return 0


def main(words: list[str]) -> int:
    """Does what the words say; the exit code."""
    match words:
        case []:
            return many(0, 20) or boundaries(25)
        case ["many", start, end]:
            return many(int(start), int(end))
        case ["losses", *rounds]:
            return losses(int(rounds[0]) if rounds else 10)
        case ["boundaries", *every]:
            return boundaries(int(every[0]) if every else 1)
        case _:
            return replay(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

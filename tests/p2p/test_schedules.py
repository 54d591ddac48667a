"""Rounds under schedules drawn from seeds: delays, losses, partitions, kills at every moment of a step.

What has to hold is said in ``tests.p2p.simulator``; the few seeds here are a sample, `slow` has the many.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from p2p.node.core import Core
from tests.p2p.simulator import (
    FIRST_OF_HOST,
    MOMENTS,
    Simulation,
    Weather,
    Wrong,
    boundary,
    own_entries,
    simulation_of,
)

ROOT = Path(__file__).parents[2]

SCHEDULES = int(os.environ.get("SHITHEAD_SCHEDULES", "600"))
"""How many are played with ``slow``: four minutes of one core."""

PARTS = 10


@pytest.mark.parametrize("seed", range(8))
def test_a_schedule_ends_and_nothing_is_broken(seed: int) -> None:
    simulation_of(seed).play()


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("seq", [0, 1, 3, 5, 20])
def test_a_player_killed_at_an_own_entry_plays_on(seq: int, moment: str) -> None:
    made = boundary(1, seq, moment, players=2)
    assert made.play() == "finished"
    assert len(made.kills) == 1


def test_one_who_stays_away_is_waited_for_by_name_and_can_be_given_up() -> None:
    weather = Weather(loss=0.0, doubled=0.0, slow=0.0, kills=0, cuts=0, one_stays_away=True)
    kinds = {Simulation(seed, 3, weather).play() for seed in range(3)}
    assert "unfinished" in kinds
    assert kinds <= {"unfinished", "finished", "not begun"}


def test_a_schedule_is_the_same_every_time() -> None:
    first, second = simulation_of(3), simulation_of(3)
    assert first.play() == second.play()
    assert (first.kills, first.now, first.signed) == (second.kills, second.now, second.signed)


def test_a_schedule_is_the_same_in_every_process() -> None:
    """The order in which a set is walked differs from process to process; nothing may depend on it."""
    program = (
        "from tests.p2p.simulator import simulation_of\n"
        "made = simulation_of(3)\n"
        "print(made.play(), made.now, made.steps, sorted(made.signed.values())[:9], made.kills)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": number, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in ("1", "2")
    ]
    assert runs[0] and runs[0] == runs[1]


def forgetful(made: Simulation, at_s: float = 1.0) -> None:
    """The second player's disk loses its own entries, as a restored backup has, and it is killed early."""
    disk = made.peers[1].disk
    keep = disk.add
    disk.add = lambda entry, **how: None if entry.author == disk.own else keep(entry)  # type: ignore[method-assign]
    made.at(at_s, lambda: made._doom(1, ""))


CALM = Weather(loss=0.0, doubled=0.0, slow=0.0, kills=0, cuts=0)


@pytest.mark.parametrize("at_s", [0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 2.0])
def test_whoever_has_lost_its_own_feed_takes_it_over_from_the_others(at_s: float) -> None:
    made = Simulation(1, 2, CALM)
    forgetful(made, at_s)
    assert made.play() == "finished"
    assert len(made.kills) == 1


def test_without_waiting_for_the_others_it_would_sign_numbers_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Core, "may_write", property(lambda core: True))

    def goes_wrong(at_s: float) -> bool:
        made = Simulation(1, 2, CALM)
        forgetful(made, at_s)
        try:
            made.play()
        except Wrong as wrong:
            return "twice" in str(wrong)
        return False

    # Often the others' word comes in time all the same; it is not to be left to luck.
    assert any(goes_wrong(1.0 + step / 4) for step in range(12))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_many_schedules(part: int) -> None:
    for seed in range(part, SCHEDULES, PARTS):
        simulation_of(seed).play()


@pytest.mark.slow
def test_every_boundary_of_a_round_of_four() -> None:
    for number, written in enumerate(own_entries()):
        for seq in range(FIRST_OF_HOST if number == 0 else 0, written, 7):
            assert boundary(number, seq, MOMENTS[seq % 3]).play() == "finished"

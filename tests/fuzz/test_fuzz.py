"""Every reader of foreign bytes, fed with bytes at large, with good inputs that were damaged, and by coverage."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.seeds import seeds
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).parent.parent.parent
COVERAGE_SECONDS = 3
"""For each target in the long test run; ``make fuzz SECONDS=…`` for more."""

DAMAGED = 60
"""Mutants of each seed in the fast run."""


@cache
def all_seeds() -> dict[str, list[bytes]]:
    return seeds()


def test_every_target_has_seeds_that_it_takes() -> None:
    assert all_seeds().keys() == TARGETS.keys()
    for name, target in TARGETS.items():
        assert all_seeds()[name]
        for seed in all_seeds()[name]:
            assert target(seed), (name, seed)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400))
def test_bytes_at_large_raise_nothing(name: str, data: bytes) -> None:
    TARGETS[name](data)


def damage(data: bytes, random: Random) -> bytes:
    """The bytes with a few of them changed, doubled, taken out or moved."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(changed) + 1)
        length = random.choice((1, 1, 2, 8, 32))
        match random.randrange(5):
            case 0 if at < len(changed):
                changed[at] = random.randrange(256)
            case 1 if at < len(changed):
                changed[at] ^= 1 << random.randrange(8)
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = random.randbytes(length)
            case _:
                changed[at:at] = changed[at : at + length]
    return bytes(changed)


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_inputs_raise_nothing(name: str) -> None:
    random = Random(name)
    for seed in all_seeds()[name]:
        for _ in range(DAMAGED // (10 if name == "fold" else 1)):
            TARGETS[name](damage(seed, random))


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_search_by_coverage_finds_nothing(name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed (the extra fuzz)")
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.run", name, str(COVERAGE_SECONDS)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=COVERAGE_SECONDS * 20,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "stat::number_of_executed_units" in done.stderr

"""The start of the event loop."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from client.commands.running import SIGNALS, run

ROOT = Path(__file__).parents[2]


def test_what_the_program_is_made_of_is_left_out_of_collections() -> None:
    async def main() -> int:
        return gc.get_freeze_count()

    try:
        assert run(main) > 0
    finally:
        gc.unfreeze()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("before", "code"), [(signal.SIG_IGN, 7), (signal.SIG_DFL, 130)])
def test_a_program_that_is_to_outlive_its_terminal_does(before: signal.Handlers, code: int) -> None:
    async def main() -> int:
        # A handler of Python's has run before this returns.
        signal.raise_signal(signal.SIGHUP)
        for _ in range(3):
            await asyncio.sleep(0)
        return 7

    handlers = {number: signal.getsignal(number) for number in map(signal.Signals.__getitem__, SIGNALS[:3])}
    signal.signal(signal.SIGHUP, before)
    try:
        assert run(main) == code
        # Without a signal all is as before; after one the next one ends the process.
        assert (signal.getsignal(signal.SIGHUP) is before) == (code == 7)
        assert (signal.getsignal(signal.SIGTERM) is handlers[signal.SIGTERM]) == (code == 7)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        gc.unfreeze()


IMPATIENT = """
import asyncio, signal, sys
from client.commands.running import run

async def main():
    signal.raise_signal(signal.SIGTERM)
    await asyncio.sleep(60)

number = signal.Signals[sys.argv[1]]
assert run(main) == 130
print("ended in order", flush=True)
signal.raise_signal(number)
print("still here")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_to_a_program_that_has_just_ended_in_order_makes_no_other_end_of_it(number: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPATIENT, number],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "ended in order\n", "")

"""The start of the event loop."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys

import pytest

from client.commands.running import run


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

    restored = signal.signal(signal.SIGHUP, before)
    try:
        assert run(main) == code
        assert signal.getsignal(signal.SIGHUP) is before
    finally:
        signal.signal(signal.SIGHUP, restored)
        gc.unfreeze()

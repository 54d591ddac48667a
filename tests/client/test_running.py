"""The start of the event loop."""

from __future__ import annotations

import gc

from client.commands.running import run


def test_what_the_program_is_made_of_is_left_out_of_collections() -> None:
    async def main() -> int:
        return gc.get_freeze_count()

    try:
        assert run(main) > 0
    finally:
        gc.unfreeze()

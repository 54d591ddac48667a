"""The three standard streams as they may really be: closed, full, or with nobody at the other end."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Final, TextIO

_MODES: Final = ("r", "w", "w")


def fill_missing() -> None:
    """Opens the null device for each standard stream that was closed when the program was started.

    Else the next file opened would take its number, and what is meant for a person be written into it.
    """
    for number, mode in enumerate(_MODES):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is taken: this one, as those below are open by now.
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_RDONLY if mode == "r" else os.O_WRONLY)
    for name, mode in zip(("stdin", "stdout", "stderr"), _MODES, strict=True):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # for good


def mute(stream: TextIO) -> None:
    """Lets what is still waiting in a stream that takes nothing go nowhere: Python flushes it on its way out."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


__all__ = ["fill_missing", "mute"]

"""What the command line can go wrong with, and the exit code of everything that can.

0 good; 1 a negative answer; 2 usage, unreadable input, data directory; 3 the network or the table said no;
130 stopped by a signal.
"""

from __future__ import annotations

from typing import Final

from engine.errors import Sentence, ShitheadError

EXIT_GOOD: Final = 0
EXIT_NEGATIVE: Final = 1
"""A negative answer: not fair, a record that is wrong, a round that ended with a fault."""
EXIT_USAGE: Final = 2
"""Usage, unreadable input, a data directory that is unusable or in use."""
EXIT_REFUSED: Final = 3
"""The network or the table said no."""
EXIT_SIGNAL: Final = 130
"""Stopped by SIGINT, SIGTERM or SIGHUP (128 + SIGINT, as shells count)."""

REFUSALS: Final = frozenset(
    {"refused", "kicked", "name_taken", "full", "table_full", "too_few", "playing", "admission_refused"}
)
"""Codes of errors that are a table's no, whatever class they have."""


class UsageProblem(ShitheadError):
    """What was typed, or a file or directory that was named, can't be used; exit code 2."""

    def __init__(self, code: str, template: str, **values: object) -> None:
        super().__init__(Sentence(code, template, values))


class NoTable(ShitheadError):
    """No table, or more than one, fits what was asked for; exit code 3."""

    def __init__(self, code: str, template: str, **values: object) -> None:
        super().__init__(Sentence(code, template, values))


def exit_code(error: ShitheadError) -> int:
    """The exit code that says what kind of trouble ``error`` is."""
    # Imported here: an error is rare, and the module must stay cheap to import.
    from p2p.errors import NetworkProblem

    if isinstance(error, NetworkProblem | NoTable) or error.code in REFUSALS:
        return EXIT_REFUSED
    return EXIT_USAGE

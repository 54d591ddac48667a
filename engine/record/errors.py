"""What can be wrong with a record file."""

from __future__ import annotations

from typing import Final

from engine.errors import Sentence, ShitheadError

FORM: Final = "form"
"""The line is not a statement of the format."""

HEAD: Final = "head"
"""The head does not describe a round or a position."""

EXPECTATION: Final = "expectation"
"""The rules were kept, but the position is not as the line says."""


class UnreadableRecord(ShitheadError):
    """The file can't be read at all, or has an option that this version does not play; there is no line to
    blame.
    """

    def __init__(self, code: str, template: str, **values: object) -> None:
        super().__init__(Sentence(code, template, values))


class RecordError(ShitheadError):
    """The record is wrong at ``line`` (counted from 1); ``code`` is one above, or that of the refused
    move.
    """

    def __init__(self, line: int, code: str, template: str, **values: object) -> None:
        super().__init__(Sentence(code, template, values))
        self.line = line

"""The text record of a round or a position (docs/record.md): read, write, check, show."""

from engine.record.errors import RecordError, UnreadableRecord
from engine.record.reader import Moment, Record, check, check_text, decode, from_moves, moments, read, write
from engine.record.show import as_dict, draw

__all__ = [
    "Moment",
    "Record",
    "RecordError",
    "UnreadableRecord",
    "as_dict",
    "check",
    "check_text",
    "decode",
    "draw",
    "from_moves",
    "moments",
    "read",
    "write",
]

"""Small files that a person names or may have written: read whole, but never more than they could rightly hold."""

from __future__ import annotations

import errno
from pathlib import Path

from client.problems import UsageProblem


def read_small(path: Path, most_bytes: int) -> bytes:
    """The bytes of a file. Raises ``OSError``, and ``UsageProblem("file_too_big")`` past ``most_bytes``: what was
    named by mistake may be a film, or a device that never ends.
    """
    from p2p.files import read_bounded

    try:
        return read_bounded(path, most_bytes)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise UsageProblem(
            "file_too_big",
            "{path} has more than {most} bytes: it can't be what was meant.",
            path=str(path),
            most=most_bytes,
        ) from error


def read_small_text(path: Path, most_bytes: int) -> str:
    """The same as text in UTF-8, each line ending in ``\\n``. Raises ``UnicodeDecodeError`` as well."""
    return read_small(path, most_bytes).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")

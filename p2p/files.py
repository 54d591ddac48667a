"""Reading files that anybody may have named or put there: never more than can be meant.

A path may lead to a device that never ends, a pipe that nobody writes to, or a file as big as the disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path
from typing import Final

PRIVATE_MODE: Final = 0o600
"""What holds keys, seeds or an own hand: for its owner alone, whatever directory it lies in."""

_PART_BYTES: Final = 1 << 20
"""Read at once, so that little memory is taken for a small file."""


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """The bytes of a file that holds at most ``most_bytes``.

    Raises ``OSError``: ``EFBIG`` for a longer one, of which no more than that is read, whatever size it says it
    has. A pipe is read as far as there is a writer; one without is empty, and is not waited for.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
    handle = os.open(path, flags)
    try:
        if sys.platform != "win32":
            # Only the opening must not wait for a writer; one that is there is waited for.
            os.set_blocking(handle, True)
        parts: list[bytes] = []
        left = most_bytes + 1
        while left and (part := os.read(handle, min(left, _PART_BYTES))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    if not left:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return b"".join(parts)


def is_there(path: Path) -> bool:
    """Whether something is at ``path``; a path that the system can't look at, such as one too long, is nowhere."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def make_private(path: Path) -> None:
    """Makes sure that ``path`` is a file that its owner alone may read and write; makes an empty one.

    Does what the system allows and raises nothing: whoever opens it next says what is wrong.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), PRIVATE_MODE))
        if os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(PRIVATE_MODE)


__all__ = ["PRIVATE_MODE", "is_there", "make_private", "read_bounded"]

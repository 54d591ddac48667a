"""The log file, and where the traceback of a bug goes. Standard error is the person's, never a logger's."""

from __future__ import annotations

import logging
import os
import re
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from client.datadir import DataDir

MAX_LOG_BYTES: Final = 1_000_000
"""Several evenings; with the one kept before it 2 MB at most."""

FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def silence() -> None:
    """Keeps libraries from writing warnings to standard error where no log is open."""
    logging.getLogger().addHandler(logging.NullHandler())


@contextmanager
def log_to(path: Path) -> Iterator[None]:
    """Everything logged goes to ``path`` alone; a log that can't be written is no reason not to play."""
    root = logging.getLogger()
    handler: logging.Handler
    try:
        handler = RotatingFileHandler(path, maxBytes=MAX_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    except OSError:
        handler = logging.NullHandler()
    # A full disk must not print tracebacks over the game.
    handler.handleError = lambda record: None  # type: ignore[method-assign]
    handler.setFormatter(_Discreet(FORMAT))
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # Every packet is an INFO line there.
    logging.getLogger("quic").setLevel(logging.WARNING)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()


_SECRETS: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:10|[2-9TJQKAtjqka])[cdhsCDHS♣♦♥♠](?![0-9A-Za-z])"  # cards, as shown and inside
    r"|\bb'(?:[^'\\]|\\.)*'|\bb\"(?:[^\"\\]|\\.)*\""  # bytes: keys, seeds, shares
    r"|(?<![0-9A-Za-z])[0-9a-fA-F]{16,}(?![0-9A-Za-z])"  # the same in hexadecimal digits
    r"|(?<![0-9A-Za-z])[0-9]{16,}(?![0-9A-Za-z])"  # and as numbers
)
"""What a report must not give away, whatever words an error has."""

_LEFT_OUT: Final = "..."


def scrubbed(text: str) -> str:
    """A traceback without what could be cards, keys and seeds."""
    return _SECRETS.sub(_LEFT_OUT, text)


class _Discreet(logging.Formatter):
    """What went wrong is logged with a traceback, by asyncio with what was called: nobody chose those words."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return scrubbed(text) if record.exc_info or record.levelno >= logging.ERROR else text


def write_crash(error: BaseException, data: DataDir | None) -> Path | None:
    """Appends the traceback to the log in ``data``, or to a file among the temporary ones; None if neither works.

    Source lines and the error's own words only, no values of variables: those could be keys and cards. Of the
    words whatever looks like one of these is left out (`scrubbed`).
    """
    at = datetime.now(UTC).isoformat(timespec="seconds")
    text = f"{at} CRITICAL shithead stopped\n" + scrubbed("".join(traceback.format_exception(error)))
    try:
        if data is not None:
            with data.log.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            return data.log
    except OSError:
        pass  # no data directory yet, or none that can be written: among the temporary files then
    try:
        handle, name = tempfile.mkstemp(prefix="shithead-crash-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        return Path(name)
    except OSError:
        return None

"""Saved rounds as the commands find and name them, and whose keys this machine has met."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final
from urllib.request import pathname2url

from client.datadir import DataDir
from client.problems import UsageProblem

LAST: Final = "last"
"""What a person types for the newest saved round."""


def find_round(data: DataDir, wanted: str) -> Path:
    """The round file meant: a path, the name or beginning of the name of a saved round, or ``last``.

    Raises ``UsageProblem`` when there is none, or more than one of that beginning.
    """
    from p2p.roundfile import list_rounds

    path = Path(wanted)
    if wanted != LAST and (path.exists() or path.name != wanted):
        return path
    saved = list_rounds(data.rounds)
    if wanted == LAST:
        if not saved:
            raise UsageProblem(
                "no_rounds",
                "No round is saved in {path} yet. Rounds are saved when they end.",
                path=str(data.rounds),
            )
        return saved[-1]
    fitting = [each for each in saved if each.name.startswith(wanted)]
    if not fitting:
        raise UsageProblem(
            "no_such_round",
            "There is no file and no saved round called {name}. See them all with: shithead rounds",
            name=wanted,
        )
    if len(fitting) > 1:
        raise UsageProblem(
            "several_rounds",
            "{count} saved rounds begin with {name}. Type more of the name; see them with: shithead rounds",
            count=len(fitting),
            name=wanted,
        )
    return fitting[0]


def known_keys(data: DataDir) -> frozenset[bytes]:
    """The identities that this machine has met at a table, read without touching the database.

    Empty where there is no database, or none that can be read: then everybody is new.
    """
    try:
        database = sqlite3.connect(f"file:{pathname2url(str(data.database))}?mode=ro", uri=True)
    except sqlite3.Error:
        return frozenset()
    try:
        return frozenset(key for (key,) in database.execute("select key from players"))
    except sqlite3.Error:
        return frozenset()
    finally:
        database.close()

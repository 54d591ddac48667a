"""Saved rounds as the commands find and name them, and whose keys this machine has met."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote
from urllib.request import pathname2url

from client.datadir import DataDir
from client.problems import UsageProblem

if TYPE_CHECKING:
    from p2p.network.addresses import Address

LAST: Final = "last"
"""What a person types for the newest saved round."""

MAX_KNOWN_ADDRESSES: Final = 16
"""Asked once a second while looking: the most familiar players are enough."""


def find_round(data: DataDir, wanted: str) -> Path:
    """The round file meant: a path, the name or beginning of the name of a saved round, or ``last``.

    Raises ``UsageProblem`` when there is none, or more than one of that beginning.
    """
    from p2p.files import is_there
    from p2p.rounds.roundfile import list_rounds

    path = Path(wanted)
    if wanted != LAST and (is_there(path) or path.name != wanted):
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
    """The identities that this machine knows: its own, and those it has met at a table.

    Where there is no database, or none that can be read, everybody else is new.
    """
    known = {key for key, _, _ in _players(data)}
    from p2p.files import is_there

    if is_there(data.identity):
        from p2p.feeds.identity import IdentityProblem, load_or_make_key, public_key

        with contextlib.suppress(IdentityProblem):
            known.add(public_key(load_or_make_key(data.identity)))
    return frozenset(known)


def known_addresses(data: DataDir) -> list[Address]:
    """Where players were last met, at most `MAX_KNOWN_ADDRESSES`."""
    from p2p.errors import NetworkProblem
    from p2p.network.addresses import is_local, make_address

    found: list[Address] = []
    for _, host, port in _players(data):
        if host and len(found) < MAX_KNOWN_ADDRESSES:
            try:
                address = make_address(host, port)
            except NetworkProblem:
                continue
            if is_local(address):
                found.append(address)
    return found


def _players(data: DataDir) -> list[tuple[bytes, str, int]]:
    """Key, host and port of each player met, read without touching the database: it may be in use."""
    try:
        # As the system has the name: it need not be text.
        place = pathname2url(str(data.database)) if os.name == "nt" else quote(os.fsencode(data.database))
        database = sqlite3.connect(f"file:{place}?mode=ro", uri=True)
    except (sqlite3.Error, ValueError):
        return []
    try:
        rows = database.execute("select key, address, port from players order by rounds desc").fetchall()
        return [(bytes(key), str(host), int(port)) for key, host, port in rows]
    except (sqlite3.Error, ValueError, TypeError):
        return []
    finally:
        database.close()

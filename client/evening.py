"""The evening's score by player: places, lost rounds and the names that somebody has had (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from client.rows import ScoreRow


@dataclass(frozen=True, slots=True)
class Sum:
    """What the rounds of one player add up to.

    ``name``: the last one, with those before it behind slashes; ``places``: for each round from 1, 0 for its
    shithead, None where the player was not in it; ``shitheads``: how many were lost, a forfeit like any other.
    """

    name: str
    places: tuple[int | None, ...]
    shitheads: int


def sums(rows: Sequence[ScoreRow]) -> tuple[Sum, ...]:
    """Everybody of ``rows``, who lost least first. A player is who holds the key, whatever the name was."""
    names: dict[bytes, list[str]] = {}
    places: dict[bytes, dict[int, int]] = {}
    for number, row in enumerate(rows):
        names_then = row.finish if row.shithead is None else (*row.finish, row.shithead)
        for place, (key, name) in enumerate(zip(row.keys, names_then, strict=True)):
            had = names.setdefault(key, [])
            if name in had:
                had.remove(name)
            had.insert(0, name)
            places.setdefault(key, {})[number] = place + 1 if place < len(row.finish) else 0
    found = [
        Sum(
            "/".join(names[key]),
            tuple(at.get(number) for number in range(len(rows))),
            sum(place == 0 for place in at.values()),
        )
        for key, at in places.items()
    ]
    return tuple(sorted(found, key=lambda each: (each.shitheads, each.name.casefold())))


def played(rows: Sequence[ScoreRow]) -> tuple[ScoreRow, ...]:
    """Those of ``rows`` that have places or a shithead; a round that was given up has neither."""
    return tuple(row for row in rows if row.keys)

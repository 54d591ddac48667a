"""The rounds that are saved here, and what they add up to: who was the shithead how often (no output).

Every round is judged as ``verify`` does it, which takes a second or so; what came of it is kept beside the data
under the file's name, size and time, so that only new files are judged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from client.problems import UsageProblem
from client.reading import read_small
from p2p.rounds.audit import Verdict, verify_file
from p2p.rounds.roundfile import DamagedRound, NotARound, list_rounds, read

CACHE_NAME: Final = "history.json"
CACHE_VERSION: Final = 2
"""1 did not say who had left."""

MAX_CACHE_BYTES: Final = 32 << 20
"""Of what is kept of judged rounds, half a kilobyte each: more than anybody plays in a life."""

COUNTED: Final = frozenset({"finished", "stalled", "forfeit"})
"""Endings that count. Of two, who leaves loses, which the signed ``leave`` proves although the hands stay closed;
a round that was stopped otherwise says nothing about how anybody plays.
"""


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """One saved round. ``players``: names and keys (hexadecimal) by seat; ``moves``: plays, pick-ups and flips
    with the answers at the start; ``verdict``: as ``verify`` says.
    """

    file: str
    saved_at: str
    round: int
    players: tuple[tuple[str, str], ...]
    bots: tuple[str, ...]
    finish: tuple[str, ...]
    shithead: str | None
    ending: str
    verdict: str
    moves: int
    left: tuple[str, ...] = ()
    """Names of those who left it before its end."""
    missed: tuple[str, ...] = ()
    """Names of those for whom the others waited in vain, until they gave it up."""

    @property
    def counts(self) -> bool:
        """Whether it says anything about who plays how well."""
        return self.ending in COUNTED and self.verdict != "cheating"


@dataclass(frozen=True, slots=True)
class Standing:
    """What one player's rounds add up to. ``key``: hexadecimal; ``name``: the last one used.

    ``average_place``: from 1 (0 where no round counts), the shithead's being the number of players; ``streak``:
    how many rounds in a row, up to now, without being the shithead; ``longest``: the longest such row; ``cursed``:
    the longest row of being it.
    """

    key: str
    name: str
    is_bot: bool
    rounds: int
    shitheads: int
    firsts: int
    average_place: float
    streak: int
    longest: int
    cursed: int
    left: int = 0
    """Rounds walked out of, whether they count or not."""
    missed: int = 0
    """Rounds that the others gave up because this player owed something."""

    @property
    def share(self) -> float:
        """How often the shithead, of all rounds, from 0 to 1."""
        return self.shitheads / self.rounds if self.rounds else 0.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two players that met: how often, and how often each was the shithead of those rounds. Names."""

    first: str
    second: str
    rounds: int
    first_shithead: int
    second_shithead: int


def read_rounds(
    directory: Path, cache: Path, told: Callable[[int, int], None] = lambda done, all_: None
) -> tuple[PlayedRound, ...]:
    """The rounds of a directory, oldest first. ``told``: called with how many new files of how many are judged.

    Files that are no rounds, or damaged, are left out.
    """
    kept = _load_cache(cache)
    paths = list_rounds(directory)
    fresh = [path for path in paths if _stamp(path) not in kept]
    found: dict[str, PlayedRound] = {}
    for number, path in enumerate(fresh):
        told(number, len(fresh))
        judged = _judge(path)
        if judged is not None:
            found[_stamp(path)] = judged
    rounds = {stamp: kept[stamp] if stamp in kept else found.get(stamp) for stamp in map(_stamp, paths)}
    wanted = {stamp: each for stamp, each in rounds.items() if each is not None}
    if found or set(wanted) != set(kept):
        _save_cache(cache, wanted)
    return tuple(sorted(wanted.values(), key=lambda each: each.saved_at))


def _stamp(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:  # removed in this moment; reading it will say so
        return path.name
    return f"{path.name} {stat.st_size} {stat.st_mtime_ns}"


def _judge(path: Path) -> PlayedRound | None:
    try:
        head = read(path).head
        verdict = verify_file(path)
    except (NotARound, DamagedRound):
        return None
    return as_played(path.name, head.saved_at, verdict)


def as_played(file: str, saved_at: str, verdict: Verdict) -> PlayedRound:
    """What is kept of a judged round."""
    players = sorted(verdict.players, key=lambda player: (player.seat is None, player.seat or 0))
    return PlayedRound(
        file=file,
        saved_at=saved_at,
        round=verdict.round,
        players=tuple((player.name, player.key.hex()) for player in players),
        bots=tuple(player.key.hex() for player in players if player.bot),
        finish=verdict.finish,
        shithead=verdict.shithead,
        ending=verdict.ending,
        verdict=verdict.verdict,
        moves=verdict.checks.get("moves", 0),
        left=verdict.left,
        missed=verdict.debtors,
    )


def _load_cache(path: Path) -> dict[str, PlayedRound]:
    """What was kept; nothing if the file is not there or not ours."""
    try:
        data = json.loads(read_small(path, MAX_CACHE_BYTES))
        if data["version"] != CACHE_VERSION:
            return {}
        return {
            str(stamp): PlayedRound(
                str(item["file"]),
                str(item["saved_at"]),
                int(item["round"]),
                tuple((str(name), str(key)) for name, key in item["players"]),
                tuple(str(key) for key in item["bots"]),
                tuple(str(name) for name in item["finish"]),
                None if item["shithead"] is None else str(item["shithead"]),
                str(item["ending"]),
                str(item["verdict"]),
                int(item["moves"]),
                tuple(str(name) for name in item["left"]),
                tuple(str(name) for name in item["missed"]),
            )
            for stamp, item in data["rounds"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageProblem):
        return {}


def _save_cache(path: Path, rounds: dict[str, PlayedRound]) -> None:
    """Keeps it; a disk that does not take it costs time at the next look, nothing else."""
    data = {"version": CACHE_VERSION, "rounds": {stamp: asdict(each) for stamp, each in rounds.items()}}
    partial = path.with_name(path.name + ".new")
    try:
        partial.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
        partial.replace(path)
    except OSError:
        return


def standings(rounds: Sequence[PlayedRound]) -> tuple[Standing, ...]:
    """Everybody's sums over the rounds that count, oldest round first; the worst first.

    Who only left rounds, or was waited for in vain, is among them too.
    """
    places: dict[str, list[tuple[int, bool]]] = {}
    names: dict[str, str] = {}
    bots: set[str] = set()
    left: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for played in rounds:
        left.update(key for name, key in played.players if name in played.left)
        missed.update(key for name, key in played.players if name in played.missed)
        for name, key in played.players:
            if not played.counts and name not in played.left and name not in played.missed:
                continue
            names[key] = name
            if not played.counts:
                places.setdefault(key, [])
                continue
            place = played.finish.index(name) + 1 if name in played.finish else len(played.players)
            places.setdefault(key, []).append((place, name == played.shithead))
        bots.update(played.bots)
    found = [_standing(key, names[key], key in bots, row, (left[key], missed[key])) for key, row in places.items()]
    return tuple(sorted(found, key=lambda each: (-each.share, -each.rounds, each.name.casefold())))


def _standing(key: str, name: str, is_bot: bool, row: list[tuple[int, bool]], gone: tuple[int, int]) -> Standing:
    was = [shithead for _, shithead in row]
    streak = next((number for number, one in enumerate(reversed(was)) if one), len(was))
    return Standing(
        key=key,
        name=name,
        is_bot=is_bot,
        rounds=len(row),
        shitheads=sum(was),
        firsts=sum(place == 1 for place, _ in row),
        average_place=sum(place for place, _ in row) / len(row) if row else 0.0,
        streak=streak,
        longest=_longest(was, False),
        cursed=_longest(was, True),
        left=gone[0],
        missed=gone[1],
    )


def _longest(row: list[bool], wanted: bool) -> int:
    best = current = 0
    for each in row:
        current = current + 1 if each is wanted else 0
        best = max(best, current)
    return best


def pairs(rounds: Sequence[PlayedRound]) -> tuple[Pair, ...]:
    """Everybody who met somebody, most often first."""
    met: dict[tuple[str, str], list[int]] = {}
    names: dict[str, str] = {}
    for played in rounds:
        if not played.counts:
            continue
        loser = next((key for name, key in played.players if name == played.shithead), None)
        names.update({key: name for name, key in played.players})
        keys = sorted(key for _, key in played.players)
        for number, first in enumerate(keys):
            for second in keys[number + 1 :]:
                sums = met.setdefault((first, second), [0, 0, 0])
                sums[0] += 1
                sums[1] += loser == first
                sums[2] += loser == second
    found = [Pair(names[a], names[b], *sums) for (a, b), sums in met.items()]
    return tuple(sorted(found, key=lambda pair: (-pair.rounds, pair.first.casefold(), pair.second.casefold())))

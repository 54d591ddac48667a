"""What a host's program does by itself: who is let in, when a round starts, when the table closes.

`decide` is pure: a snapshot in, actions out. `Host` carries them out on a node whenever the table changes. A
person's own commands (`admit`, `start`, …) go to the node directly and need none of this.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Protocol

from engine.errors import ShitheadError
from p2p.feeds.identity import fold_name
from p2p.rounds.duties import PERSONAL
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import PlayerView, Snapshot

log = logging.getLogger(__name__)

BOT_NAMES: Final = (
    "Robin",
    "Wren",
    "Heron",
    "Finch",
    "Kite",
    "Jay",
    "Swift",
    "Rook",
    "Lark",
    "Teal",
    "Crane",
    "Plover",
    "Merlin",
    "Osprey",
    "Dunlin",
    "Siskin",
    "Avocet",
    "Curlew",
    "Linnet",
)
"""Birds: twice as many as there are seats for bots, so that some are free whatever people are called."""

FINISHED: Final = frozenset({"finished", "stalled"})
"""Kinds of endings that count as a finished round; a stalled one (R50) has come to its end too."""

LAST_WORD_S: Final = 15.0
"""How long a table that is done waits for the verdict on its last round: others have 10 s for their seeds, and
checking ten players takes a few more."""


AWAY_S: Final = 60.0
"""How long somebody between two rounds is waited for before the next one is offered without them, where no round
has said what its grace is."""


class HostNode(Protocol):
    """What a host needs of ``p2p.node.node.Node``."""

    @property
    def snapshot(self) -> Snapshot:
        """The table now."""
        ...

    def subscribe(self, listener: Callable[[tuple[News, ...]], None]) -> Callable[[], None]:
        """Calls ``listener`` after each change; returns the end of that."""
        ...

    async def admit(self, key: bytes) -> None:
        """Lets somebody in."""
        ...

    async def refuse(self, key: bytes, why: str = "refused") -> None:
        """Sends somebody away."""
        ...

    async def offer_round(self) -> None:
        """Offers a round to everybody present."""
        ...

    async def answer_offer(self, yes: bool) -> None:
        """Says yes or no to the round that is offered."""
        ...

    async def void(self) -> None:
        """Gives up a round that somebody's silence has stopped."""
        ...


@dataclass(frozen=True, slots=True)
class Policy:
    """What the host wants.

    ``seats``: the most players; ``is_open``: strangers are let in without asking; ``starts_itself``: the first
    round starts once all seats are taken; ``goes_on``: the next rounds start without asking; ``rounds``: the
    table closes after so many finished ones; ``own_bots``: keys that are let in at once.
    """

    seats: int
    is_open: bool = False
    starts_itself: bool = False
    goes_on: bool = False
    rounds: int | None = None
    own_bots: frozenset[bytes] = frozenset()
    voids: bool = False
    """Whether a round that somebody's silence has stopped for longer than its grace is given up by itself:
    where no person sits who could. A person who is there and thinks is no silence."""


@dataclass(frozen=True, slots=True)
class Admit:
    """Let this key in."""

    key: bytes


@dataclass(frozen=True, slots=True)
class Refuse:
    """Send this key away; ``why`` is a code of the wire."""

    key: bytes
    why: str


@dataclass(frozen=True, slots=True)
class Offer:
    """Offer a round to all that are present."""


@dataclass(frozen=True, slots=True)
class Void:
    """Give up a round whose debtors are overdue."""


Action = Admit | Refuse | Offer | Void


def decide(
    policy: Policy, snapshot: Snapshot, given_up: frozenset[bytes] = frozenset(), *, was_in_vain: bool = False
) -> tuple[Action, ...]:
    """What to do about a table as it is now; doing it changes the snapshot, so nothing is decided twice.

    ``given_up``: players away for so long that the next round is offered without them. While somebody else
    acts for the host there is nothing to do but to give up a round that has stopped. ``was_in_vain``: see
    `wants_round`.
    """
    actions: list[Action] = []
    if policy.voids and _has_stopped(snapshot):
        return (Void(),)
    if snapshot.acting_host != snapshot.me:
        return ()
    # Whoever is lost for longer than the grace holds no seat against somebody at the door.
    players = len(snapshot.players) - len(snapshot.lapsed)
    for knocking in snapshot.door:
        if players >= policy.seats:
            actions.append(Refuse(knocking.key, "full"))
        elif knocking.key in policy.own_bots or policy.is_open:
            actions.append(Admit(knocking.key))
            players += 1
    if not actions and wants_round(policy, snapshot, given_up, was_in_vain=was_in_vain):
        actions.append(Offer())
    return tuple(actions)


def _has_stopped(snapshot: Snapshot) -> bool:
    """Whether somebody is overdue who is not there, or owes what no person has to think about."""
    here = {player.key for player in snapshot.players if is_present(player)}
    waits = snapshot.round.waits if snapshot.round is not None else ()
    return any(
        wait.is_overdue and wait.player != snapshot.me and (wait.player not in here or wait.what not in PERSONAL)
        for wait in waits
    )


def wants_round(
    policy: Policy, snapshot: Snapshot, given_up: frozenset[bytes] = frozenset(), *, was_in_vain: bool = False
) -> bool:
    """Whether the host should offer a round now, by itself.

    ``was_in_vain``: the offer before died since somebody was waited for in vain, and nobody said no to it.
    """
    round_ = snapshot.round
    if is_done(policy, snapshot) or (round_ is not None and round_.phase not in (Phase.CLOSED, Phase.DEAD)):
        return False
    here = [player for player in snapshot.players if is_present(player)]
    died = round_ is not None and round_.phase is Phase.DEAD and _is_same_company(round_.roster, here)
    if died and not (was_in_vain and policy.goes_on):
        # An offer to the very same people died: somebody does not want to, or misbehaves. A person decides.
        return False
    if not snapshot.score:
        return policy.starts_itself and len(here) >= policy.seats
    if snapshot.score[-1].kind == "faulted":
        return False
    missing = [player for player in snapshot.players if not is_present(player) and player.key not in given_up]
    return policy.goes_on and not missing and len(here) >= min(policy.seats, 2)


def _is_same_company(roster: tuple[bytes, ...], here: list[PlayerView]) -> bool:
    return set(roster) == {player.key for player in here}


def is_present(player: PlayerView) -> bool:
    """Whether a player can be reached now."""
    return player.link.status != "lost"


def finished_rounds(snapshot: Snapshot) -> int:
    """How many rounds of this table came to their end."""
    return sum(score.kind in FINISHED for score in snapshot.score)


def is_done(policy: Policy, snapshot: Snapshot) -> bool:
    """Whether the table has played all the rounds it was opened for, or a cheat has ended an automatic one."""
    if policy.rounds is not None and finished_rounds(snapshot) >= policy.rounds:
        return True
    return policy.goes_on and bool(snapshot.score) and snapshot.score[-1].kind == "faulted"


def bot_names(count: int, taken: Collection[str]) -> list[str]:
    """Names for ``count`` bots, none of which folds to one that is taken; the same ones every evening."""
    folded = {fold_name(name) for name in taken}
    free = [name for name in BOT_NAMES if fold_name(name) not in folded]
    number = 2
    while len(free) < count:
        free += [f"{name} {number}" for name in BOT_NAMES if fold_name(f"{name} {number}") not in folded]
        number += 1
    return free[:count]


class Host:
    """Carries out a `Policy` on a node until the table is done."""

    def __init__(self, node: HostNode, policy: Policy) -> None:
        self._node = node
        self.policy = policy
        self._changed = asyncio.Event()
        self._judged: set[int] = set()
        self._was_in_vain = False
        self._lost_at: dict[bytes, float] = {}

    async def run(self) -> None:
        """Returns when the table is done and the verdict on its last round is in; else goes on for ever."""
        unsubscribe = self._node.subscribe(self._heard)
        try:
            self._changed.set()
            while not is_done(self.policy, self._node.snapshot):
                await self._wait()
                for action in decide(
                    self.policy, self._node.snapshot, self._given_up(), was_in_vain=self._was_in_vain
                ):
                    await self._do(action)
            await self._last_word()
        finally:
            unsubscribe()

    def set_policy(self, policy: Policy) -> None:
        """Another policy from now on, for instance with more bots of one's own."""
        self.policy = policy
        self._changed.set()

    async def _wait(self) -> None:
        """Until something changes, or somebody who is away has been so for long enough."""
        now = asyncio.get_running_loop().time()
        away_s = self._away_s()
        ends = [at + away_s - now for at in self._lost_at.values() if at + away_s > now]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(ends, default=None)):
                await self._changed.wait()
        self._changed.clear()

    def _given_up(self) -> frozenset[bytes]:
        now = asyncio.get_running_loop().time()
        away = {player.key for player in self._node.snapshot.players if not is_present(player)}
        self._lost_at = {key: self._lost_at.get(key, now) for key in away}
        return frozenset(key for key, at in self._lost_at.items() if now - at >= self._away_s())

    def _away_s(self) -> float:
        round_ = self._node.snapshot.round
        return round_.limits[2] if round_ is not None else AWAY_S

    def _heard(self, news: tuple[News, ...]) -> None:
        why = [each.values.get("reason") for each in news if each.name in ("declined", "contract")]
        if why:
            self._was_in_vain = all(reason == "gave_up" for reason in why)
        for each in news:
            if each.name in ("verdict", "unsaved"):
                number = each.values.get("round")
                if isinstance(number, int):
                    self._judged.add(number)
        self._changed.set()

    async def _do(self, action: Action) -> None:
        try:
            match action:
                case Admit(key=key):
                    await self._node.admit(key)
                case Refuse(key=key, why=why):
                    await self._node.refuse(key, why)
                case Offer():
                    await self._node.offer_round()
                    # Whoever opened a table that starts by itself has said yes already.
                    await self._node.answer_offer(True)
                case Void():
                    await self._node.void()
        except ShitheadError as error:
            # The table has changed in between; the next change is decided afresh.
            log.info("%s: %s", type(action).__name__, error)

    async def _last_word(self) -> None:
        try:
            async with asyncio.timeout(LAST_WORD_S):
                while not self._is_judged():
                    await self._changed.wait()
                    self._changed.clear()
        except TimeoutError:
            log.warning("closing without the verdict on the last round")

    def _is_judged(self) -> bool:
        score = self._node.snapshot.score
        return not score or score[-1].number in self._judged

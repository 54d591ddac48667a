"""Bots: players that make their moves through a node (``client.tactics`` says which).

:class:`BotPlayer` sits on a node like a person does, and owns no secret that a person in its place would not have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final, Protocol

from client.tactics import Level, choose
from engine.errors import RuleError
from engine.moves import PlayerMove
from engine.state import Phase
from p2p.errors import LocalProtocolError
from p2p.rounds.news import News
from p2p.rounds.snapshot import Snapshot

THINK_S: Final = 0.7
"""How long a bot waits before a move when a person is at the table: long enough to read what happened."""


def parse_level(text: str) -> Level:
    """The level of that name; ``RuleError("bad_level")`` if there is none."""
    try:
        return Level(text)
    except ValueError:
        raise RuleError(
            "bad_level", "There is no level {level}; there are {levels}.", level=text, levels=", ".join(Level)
        ) from None


class PlayerNode(Protocol):
    """What a bot needs of ``p2p.node.node.Node``."""

    @property
    def snapshot(self) -> Snapshot:
        """The table now."""
        ...

    def subscribe(self, listener: Callable[[tuple[News, ...]], None]) -> Callable[[], None]:
        """Calls ``listener`` after each change; returns the end of that."""
        ...

    async def act(self, move: PlayerMove, stamp: bytes | None = None) -> None:
        """Makes a move."""
        ...

    async def answer_offer(self, yes: bool) -> None:
        """Answers the offer of a round."""
        ...


class BotPlayer:
    """Plays the seat of ``node``: accepts every offer, arranges, moves when it is to move.

    ``think_s``: seconds before each move while a person is at the table. ``await run()`` plays until
    cancelled; :meth:`start` does it in a task of its own and :meth:`close` ends that.
    """

    def __init__(self, node: PlayerNode, level: Level, think_s: float, rng: Random) -> None:
        self._node = node
        self._level = level
        self._think_s = think_s
        self._rng = rng
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Plays in a task of its own. Called within a running event loop, once."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self.run(), name="bot")

    async def close(self) -> None:
        """Ends the task of :meth:`start` and waits for it. Idempotent."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def run(self) -> None:
        """Plays until cancelled."""
        unsubscribe = self._node.subscribe(lambda news: self._changed.set())
        try:
            self._changed.set()
            while True:
                await self._changed.wait()
                self._changed.clear()
                await self._step()
        finally:
            unsubscribe()

    async def _step(self) -> None:
        snapshot = self._node.snapshot
        if snapshot.asked:
            await self._try(self._node.answer_offer(True))
            return
        if snapshot.round is None or next_move(snapshot, self._level, self._rng) is None:
            return
        stamp = snapshot.round.stamp
        if self._think_s and any(not player.is_bot for player in snapshot.players):
            # A person wants to see what happens; among themselves bots don't wait.
            await asyncio.sleep(self._think_s)
        # Chosen after the pause, from what there is then; a move meant for another state is refused as stale.
        now = self._node.snapshot
        move = next_move(now, self._level, self._rng)
        if move is None or now.round is None or now.round.stamp != stamp:
            self._changed.set()
            return
        await self._try(self._node.act(move, stamp))

    async def _try(self, doing: Awaitable[None]) -> None:
        try:
            await doing
        except (RuleError, LocalProtocolError):
            # The table has moved on in the meantime; the next change is answered afresh.
            return


def next_move(snapshot: Snapshot, level: Level, rng: Random) -> PlayerMove | None:
    """The move of the player of ``snapshot``, or None. Declaring (R15.2) is not a choice: the node does it."""
    round_ = snapshot.round
    if round_ is None or round_.my_seat is None or round_.state is None or round_.ending is not None:
        return None
    if round_.state.phase not in (Phase.ARRANGE, Phase.PLAY):
        return None
    return choose(round_.state, round_.my_seat, level, rng)


__all__ = [
    "THINK_S",
    "BotPlayer",
    "Level",
    "PlayerNode",
    "choose",
    "next_move",
    "parse_level",
]

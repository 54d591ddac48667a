"""Bots: which move a seat makes, and the player that makes it through a node.

:func:`choose` is pure and sees what its seat sees: of other hands only the sizes. :class:`BotPlayer` sits on a
node like a person does, and owns no secret that a person in its place would not have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum
from random import Random
from typing import Final, Protocol

from engine.actions import actions
from engine.cards import RANKS
from engine.errors import RuleError
from engine.moves import Flip, PickUp, Play, PlayerMove, Ready, Swap
from engine.starting import to_declare
from engine.state import GameState, Phase
from p2p.errors import LocalProtocolError
from p2p.news import News
from p2p.snapshot import Snapshot

THINK_S: Final = 0.7
"""How long a bot waits before a move when a person is at the table: long enough to read what happened."""

WHIM: Final = 0.04
"""How often the ``normal`` bot makes some other play than its best. Two players who always do the same can
pass the same cards round for ever (R49); now and then another move ends every such cycle."""

BIG_PILE_CARDS: Final = 4
"""From this many cards on a ten is worth more than a deuce: it takes them out of everybody's way."""

HIGH_RANK: Final = RANKS.index("Q")
"""Queens and up are led and followed one at a time while there is a stock: each beats nearly everything."""

LATER_LEVELS: Final = frozenset({"easy"})
"""Names that are taken for levels of later versions."""


class Level(StrEnum):
    """How well a bot plays."""

    NORMAL = "normal"
    """Keeps deuces, tens and high upcards for late, gets rid of low cards, completes quartets."""
    RANDOM = "random"
    """Any legal move. Such rounds can go on to the turn limit (R50)."""


def parse_level(text: str) -> Level:
    """The level of that name. ``RuleError``: ``not_yet`` for a level of a later version, else ``bad_level``."""
    levels = ", ".join(Level)
    if text in LATER_LEVELS:
        raise RuleError(
            "not_yet", "The level {level} comes in a later version; there are {levels}.", level=text, levels=levels
        )
    try:
        return Level(text)
    except ValueError:
        raise RuleError(
            "bad_level", "There is no level {level}; there are {levels}.", level=text, levels=levels
        ) from None


def choose(state: GameState, seat: int, level: Level, rng: Random) -> PlayerMove | None:
    """The move of ``seat``, or None when it is not to move or does not see all its cards yet.

    ``state`` is what the seat sees (``engine.views.mask``); faces of other hands and of closed cards are not
    looked at, even where they are known. Equal arguments give equal moves.
    """
    if state.awaiting or not state.active[seat]:
        return None
    if any(state.faces[position] < 0 for position in state.hands[seat]):
        return None
    match state.phase:
        case Phase.ARRANGE:
            return None if state.ready[seat] else _arrange(state, seat, level, rng)
        case Phase.DECLARE if state.turn == seat:
            return to_declare(state)
        case Phase.PLAY if state.turn == seat:
            options = list(actions(state))
            return rng.choice(options) if level is Level.RANDOM else _play(state, options, rng)
        case _:
            return None


def _arrange(state: GameState, seat: int, level: Level, rng: Random) -> PlayerMove:
    """Exchanges the best hand card for the worst upcard as long as that is a gain; then is ready."""
    hand, ups = state.hands[seat], state.ups[seat]
    if level is Level.RANDOM or not hand or not ups:
        return Ready(seat)
    best = max(hand, key=lambda position: (_worth(state, position), position))
    worst = min(ups, key=lambda position: (_worth(state, position), position))
    return Swap(seat, best, worst) if _worth(state, best) > _worth(state, worst) else Ready(seat)


def _worth(state: GameState, position: int) -> int:
    """How good it is to have a card late in the round."""
    rank = state.rank_at(position)
    if rank in state.rules.burn:
        return 2 * len(RANKS)
    if rank in state.rules.reset:
        return 2 * len(RANKS) + 1
    return rank


def _play(state: GameState, options: list[PlayerMove], rng: Random) -> PlayerMove:
    flips = [move for move in options if isinstance(move, Flip)]
    if flips:
        return rng.choice(flips)
    plays = [move for move in options if isinstance(move, Play)]
    if not plays:
        return PickUp(state.turn)
    if rng.random() < WHIM:
        return rng.choice(plays)
    return min(plays, key=lambda play: (_cost(state, play), play.positions))


def _cost(state: GameState, play: Play) -> tuple[int, int]:
    """Sorts plays, best first: (what it costs to give these cards away, minus their number if that is good)."""
    rank, count = state.rank_at(play.positions[0]), len(play.positions)
    run = state.top_run() if state.top_rank() == rank else 0
    special = rank in state.rules.reset or rank in state.rules.burn
    if run + count >= state.rules.burn_run:
        return (-1, -count)
    if not special:
        keeps_back = bool(state.stock) and rank >= HIGH_RANK
        return (rank, count if keeps_back else -count)
    # One deuce or ten does what several do.
    burns = rank in state.rules.burn
    wanted = burns == (len(state.pile) >= BIG_PILE_CARDS)
    return (len(RANKS) + (0 if wanted else 1), count)


class PlayerNode(Protocol):
    """What a bot needs of ``p2p.node.Node``."""

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
    "LATER_LEVELS",
    "THINK_S",
    "BotPlayer",
    "Level",
    "PlayerNode",
    "choose",
    "next_move",
    "parse_level",
]

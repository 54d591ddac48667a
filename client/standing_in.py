"""Playing for a person who is away, or whose time is up: their own program, and nobody else's.

`reason` is pure. A limit counts the seconds that this player has owed the move, which stand still while the others
owe what the move needs (``p2p.rounds.duties``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from client.bots import Level, PlayerNode, next_move
from engine.errors import RuleError
from engine.moves import Ready
from engine.options import ArrangeRule
from p2p.errors import LocalProtocolError
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import RoundView, Snapshot

AWAY: Final = "away"
TIME_UP: Final = "time_up"


def reason(snapshot: Snapshot, is_away: bool) -> str:
    """Why this player's program should play now: ``away``, ``time_up``, or empty."""
    round_ = snapshot.round
    if round_ is None or round_.my_seat is None:
        return ""
    for wait in round_.waits:
        if wait.player != snapshot.me or wait.what not in ("move", "ready"):
            continue
        if is_away:
            return AWAY
        if wait.limit_s and wait.seconds >= wait.limit_s:
            return TIME_UP
    return ""


def _may_be_ready(round_: RoundView) -> bool:
    """Whether the cards can stay as they are: not before upcards are chosen (``arrange=choose``)."""
    state, seat = round_.state, round_.my_seat
    return state is None or seat is None or state.rules.arrange is not ArrangeRule.CHOOSE or bool(state.ups[seat])


class StandIn:
    """Plays for the person at ``node`` whenever there is a `reason`.

    ``told(reason)`` is called before each move that it makes. ``is_away`` is set by the person; while it is, the
    next rounds are accepted too, by the same rules and clocks as before and by no others.
    """

    def __init__(self, node: PlayerNode, told: Callable[[str], None], rng: Random | None = None) -> None:
        self._node = node
        self._told = told
        self._rng = rng or Random()
        self._changed = asyncio.Event()
        self._is_away = False
        self._played_by: tuple[object, object] | None = None

    @property
    def is_away(self) -> bool:
        """Whether the person has said that they are away."""
        return self._is_away

    def set_away(self, is_away: bool) -> None:
        """The person goes, or is back."""
        self._is_away = is_away
        self._changed.set()

    async def run(self) -> None:
        """Until cancelled."""
        unsubscribe = self._node.subscribe(lambda news: self._changed.set())
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                await self._step()
        finally:
            unsubscribe()

    async def _step(self) -> None:
        snapshot = self._node.snapshot
        if snapshot.asked:
            if self._is_away and self._is_as_before(snapshot):
                await self._try(self._node.answer_offer(True))
            return
        self._note(snapshot)
        why = reason(snapshot, self._is_away)
        round_ = snapshot.round
        if not why or round_ is None or round_.my_seat is None:
            return
        move = next_move(snapshot, Level.NORMAL, self._rng)
        arranging = any(wait.what == "ready" and wait.player == snapshot.me for wait in round_.waits)
        if why == TIME_UP and arranging and _may_be_ready(round_):
            # Out of time for arranging: the cards stay as the person has left them.
            move = Ready(round_.my_seat)
        if move is not None:
            self._told(why)
            await self._try(self._node.act(move, round_.stamp))

    def _note(self, snapshot: Snapshot) -> None:
        """By what rules and clocks the person has played, or said yes to."""
        round_ = snapshot.round
        if round_ is not None and snapshot.me in round_.roster and round_.phase not in (Phase.OFFER, Phase.DEAD):
            self._played_by = (round_.rules, round_.limits)

    def _is_as_before(self, snapshot: Snapshot) -> bool:
        """Whether a round is offered as the person has played it: to anything else nobody else says yes."""
        round_ = snapshot.round
        return round_ is not None and self._played_by == (round_.rules, round_.limits)

    async def _try(self, doing: Awaitable[None]) -> None:
        try:
            await doing
        except (RuleError, LocalProtocolError):
            # The person was quicker, or the table has moved on.
            return

"""What one peer may cost the others: rates of everything that makes work, sans clock.

A member may send what it likes, signed and well formed, as fast as it likes. What is cheap to send and dear to
take in is paid for from an allowance of that peer, so that nobody can use up the time or the memory of the
table. Nothing here judges anybody, and an honest program never comes near these rates. Times are seconds of any
steady clock.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ENTRY_OVERHEAD_BYTES: Final = 1024
"""What one entry costs besides its bytes: its objects in memory (0.9 KB measured), the check of its signature."""

ENTRIES_BURST_BYTES: Final = 16 << 20
"""New entries, with their overhead, that one peer may send at once: some 35 rounds of four players, for whoever
was away so long."""

ENTRIES_BYTES_PER_SECOND: Final = 128 << 10
"""New entries of one peer in the long run, with their overhead: some 100 a second. Four bots that play without a
pause write a quarter of that each."""

MAX_WAITING_BYTES: Final = 4 << 20
"""Entries of one peer, with a part of their overhead, that wait to be taken in. Past it the link is not read; QUIC
sends again."""

WAITING_OVERHEAD_BYTES: Final = 256
"""What an entry that waits costs besides its bytes."""

STEP_ENTRIES: Final = 128
"""Entries taken in with one step, of all peers together: some 30 ms, for which an own move waits at most."""

STEP_BYTES: Final = 1 << 20
"""Bytes of entries taken in with one step: 25 of the largest."""

ANSWERS_BURST_BYTES: Final = 4 << 20
"""What one peer is sent at once because it asks (``have``, ``ask``): nine rounds of four. One answer is always
whole, however long; the next ones wait until it is paid."""

ANSWERS_BYTES_PER_SECOND: Final = 256 << 10
"""… and in the long run. Whoever is slower to take in than to ask is asked less by itself."""

QUESTION_BYTES: Final = 16 << 10
"""What a question costs of that, whatever the answer: sixteen a second in the long run."""

CHANGES_BURST: Final = 32.0
CHANGES_PER_SECOND: Final = 4.0
"""How often what one peer says of itself and its links may make the screens look again. What it says is taken in
all the same."""

LINES_BURST: Final = 10.0
LINES_PER_SECOND: Final = 1.0
"""Chat of one author that is shown and passed on: nobody reads faster. The rest is dropped."""

RELAYED_LINES_BURST: Final = 64.0
RELAYED_LINES_PER_SECOND: Final = 16.0
"""Chat of all authors whose signatures are checked for one peer that brings it."""

CARDS_BURST: Final = 64.0
CARDS_PER_SECOND: Final = 4.0
"""Lists of addresses of one peer that are checked and passed on: a table's worth after a link comes up."""


class Allowance:
    """A token bucket that may run into debt: ``burst`` at once, ``per_second`` in the long run."""

    __slots__ = ("_at", "_left", "burst", "per_second")

    def __init__(self, burst: float, per_second: float) -> None:
        self.burst = burst
        self.per_second = per_second
        self._left = burst
        self._at: float | None = None

    def _fill(self, now: float) -> None:
        if self._at is not None and now > self._at:
            self._left = min(self.burst, self._left + (now - self._at) * self.per_second)
        self._at = now

    def allows(self, now: float) -> bool:
        """Whether anything is left."""
        self._fill(now)
        return self._left > 0

    def spend(self, cost: float, now: float) -> None:
        """Takes ``cost`` out, which may lead into debt."""
        self._fill(now)
        self._left -= cost

    def take(self, cost: float, now: float) -> bool:
        """Takes ``cost`` out where anything is left."""
        if not self.allows(now):
            return False
        self._left -= cost
        return True

    def wait_s(self, now: float) -> float:
        """How long until something is left again."""
        self._fill(now)
        return 0.0 if self._left > 0 else (1 - self._left) / self.per_second


RawEntry = tuple[bytes, bytes]
"""An entry's bytes and its signature."""


@dataclass(slots=True)
class _Queue:
    waiting: deque[RawEntry]
    allowance: Allowance
    size: int = 0


class Inflow:
    """Entries that have come and wait to be taken in: a few of each peer in turn, so that nobody waits for the
    flood of another, and each peer's within its allowance."""

    def __init__(self) -> None:
        self._queues: OrderedDict[bytes, _Queue] = OrderedDict()

    def _of(self, peer: bytes) -> _Queue:
        queue = self._queues.get(peer)
        if queue is None:
            allowance = Allowance(ENTRIES_BURST_BYTES, ENTRIES_BYTES_PER_SECOND)
            queue = self._queues[peer] = _Queue(deque(), allowance)
        return queue

    def put(self, peer: bytes, entries: Sequence[RawEntry]) -> None:
        """Entries of a frame have come."""
        queue = self._of(peer)
        queue.waiting.extend(entries)
        queue.size += sum(len(data) + WAITING_OVERHEAD_BYTES for data, _ in entries)

    def is_full(self, peer: bytes) -> bool:
        """Whether no more should be read of a peer for now."""
        queue = self._queues.get(peer)
        return queue is not None and queue.size >= MAX_WAITING_BYTES

    def take(self, now: float) -> list[tuple[bytes, list[RawEntry]]]:
        """What the next step takes in, peer by peer, each peer's in the order in which they came."""
        ready = [peer for peer, queue in self._queues.items() if queue.waiting and queue.allowance.allows(now)]
        taken: dict[bytes, list[RawEntry]] = {}
        left, room = STEP_ENTRIES, STEP_BYTES
        while ready and left > 0 and room > 0:
            # One of each in turn: whoever has only one is served in this step, whatever others send.
            for peer in list(ready):
                queue = self._queues[peer]
                entry = queue.waiting.popleft()
                queue.size -= len(entry[0]) + WAITING_OVERHEAD_BYTES
                taken.setdefault(peer, []).append(entry)
                left, room = left - 1, room - len(entry[0])
                if not queue.waiting:
                    ready.remove(peer)
        return list(taken.items())

    def charge(self, peer: bytes, cost_bytes: int, now: float) -> None:
        """A step has found so much of it new: ``cost_bytes`` with :data:`ENTRY_OVERHEAD_BYTES` for each."""
        self._of(peer).allowance.spend(cost_bytes, now)

    def wait_s(self, now: float) -> float | None:
        """How long until there is something to take in; 0: now, None: nothing waits."""
        waits = [queue.allowance.wait_s(now) for queue in self._queues.values() if queue.waiting]
        return min(waits, default=None)

    def flooding(self, now: float) -> list[bytes]:
        """Peers whose entries wait because they have sent too many new ones."""
        return [peer for peer, queue in self._queues.items() if queue.waiting and not queue.allowance.allows(now)]

    def drop(self, peer: bytes) -> None:
        """What waits of a peer is of no use any more; its debt is kept."""
        queue = self._queues.get(peer)
        if queue is not None:
            queue.waiting.clear()
            queue.size = 0


class Rates:
    """Allowances of one kind, one for each key, for at most ``most`` keys: the one unused longest is forgotten."""

    def __init__(self, burst: float, per_second: float, most: int) -> None:
        self._burst = burst
        self._per_second = per_second
        self._most = most
        self._of: OrderedDict[bytes, Allowance] = OrderedDict()

    def __getitem__(self, key: bytes) -> Allowance:
        allowance = self._of.pop(key, None) or Allowance(self._burst, self._per_second)
        self._of[key] = allowance
        while len(self._of) > self._most:
            self._of.popitem(last=False)
        return allowance


class Attention:
    """What each peer gets of everything else, for at most ``most`` peers at a time.

    ``answers``: bytes sent because it asks; ``changes``: looks at what it says of its links; ``lines``: chat of an
    author shown; ``heard``: chat of all authors that it brings.
    """

    def __init__(self, most: int) -> None:
        self.answers = Rates(ANSWERS_BURST_BYTES, ANSWERS_BYTES_PER_SECOND, most)
        self.changes = Rates(CHANGES_BURST, CHANGES_PER_SECOND, most)
        self.lines = Rates(LINES_BURST, LINES_PER_SECOND, most)
        self.heard = Rates(RELAYED_LINES_BURST, RELAYED_LINES_PER_SECOND, most)

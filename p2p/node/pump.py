"""The steps of one peer at one table: what came in goes to the core, what the core wrote goes out.

All judging and writing happens in ``Core`` on the worker thread, a step at a time. Nothing is sent before the
step that made it has been committed; should a step fail, what is in memory may be ahead of the disk, and nothing
more is sent at all.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from engine import __version__
from engine.errors import Sentence, ShitheadError
from p2p.errors import LocalProtocolError, NetworkProblem
from p2p.feeds.entries import Entry
from p2p.network.budget import Inflow, RawEntry
from p2p.network.frames import Ask
from p2p.node.core import Arrival, BodyMaker, Core, Done, Input, Outcome, Wish
from p2p.node.links import Links
from p2p.node.sync import batches
from p2p.node.table import Table
from p2p.rounds.audit import Verdict, verify_file
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.session import Job
from p2p.rounds.snapshot import Snapshot, Surroundings, make_snapshot

log = logging.getLogger(__name__)

TICK_S: Final = 1.0
"""While somebody is waited for, snapshots are renewed once a second, so that screens can count."""

ASK_ROUND_TICKS: Final = 3
"""While somebody has been waited for this many seconds, everyone says as often what it has: should an entry
have been lost between two links, it is sent again."""

_DISK_SLOW: Final = (
    "The disk with {path} takes long to store what is played. The game goes on when that is done: nothing is sent "
    "before, and nothing is lost."
)
_DISK_SLOW_REMEDY: Final = (
    "If that goes on, choose a place on another disk with --data-dir before the next evening."
)

SLOW_DISK_S: Final = 2.0
"""From here on a person is told why nothing moves. A disk that sleeps or is busy takes a second now and then."""

SLOW_DISK_LOOK_S: Final = 0.5
"""How often it is looked whether the disk is still at work on the same step."""

SLOW_DISK_AGAIN_S: Final = 60.0
"""A disk that stays slow is not told of more often."""


class Pump:
    """Runs the core of a table, one step after the other."""

    def __init__(self, table: Table, links: Links) -> None:
        self.last_round_file: Path | None = None
        self._table = table
        self._links = links
        self.host = b""
        """At whose door this peer knocks: until it is let in, that one sends all that there is."""
        self.inflow = Inflow()
        self._flooders: set[bytes] = set()
        self._rested: asyncio.TimerHandle | None = None
        """Wakes the pump when a peer's allowance lets in more of what waits."""
        self._inbox: list[Input] = []
        self._wishes: dict[int, asyncio.Future[None]] = {}
        self._wake = asyncio.Event()
        self._audits: set[asyncio.Future[Verdict]] = set()
        table.on_failure.append(self.end_wishes)

    def start(self) -> None:
        """Begins to take steps, as soon as there is a core."""
        self._table.spawn(self._run(), "pump")
        self._table.spawn(self._tick(), "tick")
        self._table.spawn(self._watch_disk(), "disk")

    async def take_up(self, ident: bytes, first: Sequence[tuple[bytes, bytes]]) -> None:
        """Takes up the table with this id where the store left it, with the entries of ``first``.

        Raises ``StoreProblem``.
        """
        table = self._table
        config = table.config

        def make() -> Core:
            core = Core(
                ident,
                table.private,
                table.store,
                config.dealing,
                config.data_dir / "rounds" if config.keeps_rounds else None,
                __version__,
            )
            core.session.always_consent = config.always_consent
            core.session.sits_ready = config.sits_ready
            return core

        core = await table.in_worker(make)
        table.core = core
        if first:
            arrival = Arrival(table.key, first)
            outcome = await table.in_worker(lambda: core.step([arrival], table.clock.now()))
            await self._publish(core, outcome)
        else:
            await table.refresh()

    # -- what comes in -------------------------------------------------------------------------------

    def wake(self) -> None:
        """A step is due, though nothing came in."""
        self._wake.set()

    def take_in(self, item: Input) -> None:
        """Puts an input before the next step."""
        self._inbox.append(item)
        self._wake.set()

    def take_in_entries(self, peer: bytes, entries: Sequence[RawEntry]) -> None:
        """Puts entries of a linked peer before one of the next steps, a few of each peer in turn."""
        self.inflow.put(peer, entries)
        self._pace(peer)
        self._wake.set()

    async def write(self, make: BodyMaker) -> None:
        """Has a step write something; returns when it is on disk and on its way. Raises what ``make`` raises."""
        table = self._table
        if table.closing or table.core is None:
            raise LocalProtocolError("closed", "This peer is closed.")
        wish = Wish(make)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wishes[id(wish)] = future
        self.take_in(wish)
        try:
            await future
        finally:
            self._wishes.pop(id(wish), None)
        if wish.problem is not None:
            raise wish.problem

    def end_wishes(self, problem: ShitheadError) -> None:
        """Nothing that is still wished for will be written."""
        for future in self._wishes.values():
            if not future.done():
                future.set_exception(problem)

    def stop(self) -> None:
        """No step is due any more."""
        if self._rested is not None:
            self._rested.cancel()

    async def end_audits(self) -> None:
        """Waits for the threads of audits: they can't be stopped, and a closed node has none."""
        await asyncio.gather(*self._audits, return_exceptions=True)

    async def _watch_disk(self) -> None:
        """Says it when the disk takes long. The worker waits for it then, and nothing else does."""
        told_at = -SLOW_DISK_AGAIN_S
        while True:
            await asyncio.sleep(SLOW_DISK_LOOK_S)
            now, since = time.monotonic(), self._table.store.committing_since
            if since is not None and now - since >= SLOW_DISK_S and now - told_at >= SLOW_DISK_AGAIN_S:
                told_at = now
                problem = Sentence("disk_slow", _DISK_SLOW, {"path": str(self._table.store.path)})
                remedy = Sentence("disk_slow_remedy", _DISK_SLOW_REMEDY, {})
                log.warning("%s", problem)
                self._table.tell_at_once(News("error", {"sentence": problem, "remedy": remedy}))

    async def _tick(self) -> None:
        ticks, lapsed = 0, self._links.lapsed()
        while True:
            await asyncio.sleep(TICK_S)
            self._table.clock.now()
            snapshot = self._table.snapshot
            if (now_lapsed := self._links.lapsed()) != lapsed:
                # Time alone makes room at a full table.
                lapsed = now_lapsed
                self._table.nudge()
            if snapshot is not None and snapshot.round is not None and snapshot.round.waits:
                # A step, not only a snapshot: duties get old, and a round may be closed by time alone.
                self._wake.set()
                ticks += 1
                if ticks % ASK_ROUND_TICKS == 0 and any(
                    w.seconds >= ASK_ROUND_TICKS for w in snapshot.round.waits
                ):
                    await self._table.say_what_is_here_to_all()

    # -- steps ---------------------------------------------------------------------------------------

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        table = self._table
        while True:
            await self._wake.wait()
            self._wake.clear()
            core, wiring = table.core, table.wiring
            if core is None or wiring is None:
                continue
            batch, self._inbox = self._inbox, []
            batch += [Arrival(peer, entries) for peer, entries in self.inflow.take(loop.time())]
            around = wiring.surroundings()

            def step(
                core: Core = core, batch: list[Input] = batch, around: Surroundings = around
            ) -> tuple[Outcome, Snapshot]:
                now = table.clock.now()
                return core.step(batch, now), make_snapshot(core.session, around, now)

            try:
                outcome, snapshot = await table.in_worker(step)
            except ShitheadError as problem:
                log.error("giving up: %s", problem)
                table.fail(problem)
                return
            self._charge(outcome, loop)
            await self._publish(core, outcome, snapshot)
            for item in batch:
                if isinstance(item, Wish):
                    future = self._wishes.get(id(item))
                    if future is not None and not future.done():
                        future.set_result(None)
            for job in outcome.jobs:
                table.spawn(self._run_job(job), job.kind)

    def _charge(self, outcome: Outcome, loop: asyncio.AbstractEventLoop) -> None:
        """Has peers pay for what a step found new, and sees to it that what still waits is taken in in time."""
        table, now = self._table, loop.time()
        for peer, cost in outcome.checked.items():
            if table.key in table.members or peer != self.host:
                self.inflow.charge(peer, cost, now)
        for peer in self.inflow.flooding(now):
            if peer not in self._flooders and table.snapshot is not None:
                self._flooders.add(peer)
                problem = NetworkProblem("flooding", name=table.snapshot.name_of(peer))
                log.warning("%s", problem)
                table.tell(News("error", {"sentence": problem.sentence, "remedy": problem.remedy}))
        if table.mesh is not None:
            for peer in table.mesh.peers:
                self._pace(peer)
        self.stop()
        wait_s = self.inflow.wait_s(now)
        self._rested = loop.call_later(wait_s, self._wake.set) if wait_s is not None else None

    def _pace(self, peer: bytes) -> None:
        """Reads on from a peer, or not while too much of it waits."""
        if self._table.mesh is not None:
            self._table.mesh.pause(peer, self.inflow.is_full(peer))

    async def _run_job(self, job: Job) -> None:
        """Arithmetic beside the steps, so that entries are taken in meanwhile. The shuffle, for which all
        others wait, does not queue behind proofs."""
        pool = self._table.worker if job.kind == "shuffle" else self._table.helper
        self.take_in(Done(job, await asyncio.get_running_loop().run_in_executor(pool, job.run)))

    # -- what goes out -------------------------------------------------------------------------------

    async def _publish(self, core: Core, outcome: Outcome, snapshot: Snapshot | None = None) -> None:
        table = self._table
        mesh = table.mesh
        if mesh is not None and outcome.fresh:
            for peer in list(mesh.peers):
                if peer not in table.members:
                    continue
                wanted = [entry for entry, source in outcome.fresh if self._should_send(peer, entry, source)]
                for frame in batches(wanted):
                    mesh.send(peer, frame)
        if mesh is not None:
            for peer, ids in outcome.ask.items():
                mesh.send(peer, Ask(core.session.table, ids))
        for round_, path in outcome.saved:
            self.last_round_file = path
            table.spawn(self._audit(round_.terms.round, path), "audit")
        await table.refresh(outcome.news, snapshot)

    def _should_send(self, peer: bytes, entry: Entry, source: bytes | None) -> bool:
        """Own entries go to everyone; others' only to those who cannot have them from their author."""
        if source is None:
            return True
        return peer not in (source, entry.author) and not self._links.are_linked(peer, entry.author)

    async def _audit(self, number: int, path: Path) -> None:
        table = self._table
        dealing = table.config.dealing
        while self._is_dealing():
            # A round that is being dealt wants all the arithmetic there is; the verdict can wait a second.
            await table.changed()
        loop = asyncio.get_running_loop()
        audit = loop.run_in_executor(None, lambda: verify_file(path, dealing))
        self._audits.add(audit)
        audit.add_done_callback(self._audits.discard)
        try:
            verdict = await asyncio.shield(audit)
        except ShitheadError as problem:
            log.warning("the saved round cannot be read back: %s", problem)
            table.tell(News("unsaved", {"round": number, "sentence": problem.sentence}))
            return
        table.tell(News("verdict", {"round": number, "verdict": verdict.verdict, "audit": verdict}))

    def _is_dealing(self) -> bool:
        snapshot = self._table.snapshot
        round_ = snapshot.round if snapshot is not None else None
        return round_ is not None and round_.phase in (Phase.OFFER, Phase.KEYS, Phase.PREPARE, Phase.DEAL)


__all__ = ["ASK_ROUND_TICKS", "TICK_S", "Pump"]

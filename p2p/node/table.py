"""One table as this peer stands at it: what the parts of a node share, and how they hear of each other.

The parts are ``pump`` (steps of the core), ``links`` (who is heard), ``exchange`` (frames), ``door`` and
``knocking`` (coming in) and ``outward`` (being found, and finding again). A part keeps what is its own and
changes here only what the others have to see: the snapshot, the membership, how it all ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine.errors import ShitheadError
from engine.rules import RuleSet
from p2p.dealing import Dealing, ElGamalDealing
from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.network.budget import Attention
from p2p.network.mesh import Mesh
from p2p.node.awake import AwakeClock
from p2p.node.core import Core
from p2p.node.remember import Memory
from p2p.node.store import Store
from p2p.rounds.news import News
from p2p.rounds.session import GRACE_S
from p2p.rounds.snapshot import Snapshot, Surroundings, make_snapshot

log = logging.getLogger(__name__)

T = TypeVar("T")

Listener = Callable[[tuple[News, ...]], None]


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """How a peer takes part. ``data_dir`` is this peer's own; ``operator`` the key of a bot's host.

    ``auto``: a program plays this person's own seat, and everybody is told so.
    """

    data_dir: Path
    name: str
    operator: bytes = b""
    auto: bool = False
    loopback: bool = False
    port: int | None = None
    interfaces: tuple[str, ...] = ()
    discovery: bool = True
    keeps_rounds: bool = True
    """Whether ended rounds are saved and verified here: a bot leaves that to its host."""
    search: bool = False
    """Whether to ask every address of the own networks while the table is open; only if a person wants it."""
    always_consent: bool = False
    sits_ready: bool = True
    """Whether the first offer is accepted without asking."""
    dealing: Dealing = field(default_factory=ElGamalDealing)
    grace_s: int = GRACE_S
    turn_s: int = 0
    arrange_s: int = 0
    """Limits of the rounds that this peer offers; see ``Session.offer``."""
    trace: Callable[[dict[str, object]], None] | None = None


@dataclass(slots=True)
class Wiring:
    """Which part says or does what when the table changes; set once, by the node."""

    surroundings: Callable[[], Surroundings]
    """What a snapshot shows beside the session."""
    before_telling: Callable[[Snapshot], None]
    """What has to follow a new snapshot before listeners see it."""
    after_telling: Callable[[Snapshot], None]


class Table:
    """Config, identity, disk, worker threads and tasks of one peer at one table, with its latest snapshot."""

    def __init__(self, config: NodeConfig, key: Ed25519PrivateKey, store: Store) -> None:
        self.config = config
        self.private: Final = key
        self.key: Final = key.public_key().public_bytes_raw()
        self.operator: Final = config.operator or (self.key if config.auto else b"")
        self.store = store
        self.memory = Memory(store)
        self.first_number = store.begin_numbers(time.time_ns() // 1_000_000)
        """Above it this start numbers what it says outside of feeds."""
        self.core: Core | None = None
        self.mesh: Mesh | None = None
        self.snapshot: Snapshot | None = None
        self.members: frozenset[bytes] = frozenset()
        self.rules = RuleSet()
        self.seats = e.MAX_PLAYERS
        self.limits = (config.turn_s, config.arrange_s, config.grace_s)
        self.clock: Final = AwakeClock(time.monotonic)
        """By which debts get old."""
        self.gone = asyncio.Event()
        self.gone_why = ""
        self.gone_problem: ShitheadError | None = None
        self.closing = False
        self.wiring: Wiring | None = None
        self.worker = ThreadPoolExecutor(1, thread_name_prefix="shithead-core")
        self.helper = ThreadPoolExecutor(1, thread_name_prefix="shithead-proofs")
        self.on_gone: list[Callable[[str], None]] = []
        """Called with the reason when this peer is no longer at the table, before the listeners."""
        self.on_failure: list[Callable[[ShitheadError], None]] = []
        """Called when nothing more can be done here."""
        self._refreshing = self._stale = False
        self._listeners: list[Listener] = []
        self._extra_news: list[News] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.attention = Attention(e.MAX_ADMISSIONS)
        """What each peer gets of everything that makes work."""

    # -- threads and tasks ---------------------------------------------------------------------------

    async def in_worker(self, call: Callable[[], T]) -> T:
        """Runs ``call`` on the thread that owns core and store."""
        return await asyncio.get_running_loop().run_in_executor(self.worker, call)

    def spawn(self, coroutine: Coroutine[object, object, None], name: str) -> None:
        """Runs a coroutine as long as the table is open; should it raise, the table has failed."""
        if self.closing:
            coroutine.close()
            return
        task = asyncio.get_running_loop().create_task(coroutine, name=f"node {name}")
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not self.closing:
            log.error("%s failed", task.get_name(), exc_info=error)
            if not isinstance(error, ShitheadError):
                error = LocalProtocolError(
                    "bug", "Something went wrong in this program: {what}.", what=repr(error)
                )
            self.fail(error)

    async def stop_tasks(self) -> None:
        """Cancels everything that was spawned."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def close_threads(self) -> None:
        """Ends the worker threads; nothing runs in them any more."""
        self.worker.shutdown(wait=True)
        self.helper.shutdown(wait=True)

    # -- listeners -----------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls ``listener`` after each change, with the news of it (maybe none); returns what ends it."""
        self._listeners.append(listener)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    async def changed(self) -> None:
        """Waits for the next change of the snapshot."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def listener(news: tuple[News, ...]) -> None:
            if not future.done():
                future.set_result(None)

        stop = self.subscribe(listener)
        try:
            await future
        finally:
            stop()

    def tell(self, news: News) -> None:
        """Tells one piece of news that does not come from the session."""
        self._extra_news.append(news)
        self.nudge()

    def tell_at_once(self, news: News) -> None:
        """Tells what no snapshot shows, without waiting for the worker, which may be what it is about."""
        if self.snapshot is not None and not self.closing:
            self._call_listeners((news,))

    def nudge(self) -> None:
        """Something that a snapshot shows has changed beside the session: it is made anew soon; however often that
        is asked for, one at a time."""
        self._stale = True
        if not self.closing and not self._refreshing:
            self._refreshing = True
            self.spawn(self._refresh_while_stale(), "refresh")

    async def _refresh_while_stale(self) -> None:
        try:
            while self._stale:
                self._stale = False
                await self.refresh()
        finally:
            self._refreshing = False

    async def refresh(self, news: Sequence[News] = (), snapshot: Snapshot | None = None) -> None:
        """Makes the snapshot anew (or takes one just made), follows what changed in it, tells listeners."""
        core, wiring = self.core, self.wiring
        if core is None or wiring is None:
            return
        extra: list[News] = []
        if snapshot is None or self.closing:
            # What is told has to show in the snapshot that it is told with: whoever begins to listen in between
            # has the one or the other. So what comes while a snapshot is made waits for the next.
            extra, self._extra_news = self._extra_news, []
        if snapshot is None:
            around = wiring.surroundings()
            try:
                snapshot = await self.in_worker(lambda: make_snapshot(core.session, around, self.clock.now()))
            except BaseException:
                self._extra_news[:0] = extra
                raise
        self.snapshot = snapshot
        wiring.before_telling(snapshot)
        told = (*news, *extra)
        if self.config.trace is not None:
            for item in told:
                self.config.trace({"news": item.name, "private": item.private})
        self._call_listeners(told)
        wiring.after_telling(snapshot)

    def _call_listeners(self, news: tuple[News, ...]) -> None:
        for listener in list(self._listeners):
            listener(news)

    # -- members -------------------------------------------------------------------------------------

    def follow_members(self, snapshot: Snapshot) -> None:
        """Keeps links to whoever is a member now, and finds out when this peer is none any more."""
        members = frozenset(player.key for player in snapshot.players)
        if members == self.members:
            return
        was_in = self.key in self.members
        came = members - self.members
        self.members = members
        if self.mesh is not None:
            self.mesh.set_members({key: self.memory.met.get(key, ()) for key in members})
            for key in came & self.mesh.peers.keys():
                if self.key in members:
                    self.spawn(self.say_what_is_here(key), "have")
        if not was_in or self.closing:
            return
        if self.key not in members:
            self.spawn(self._find_out_why(), "gone")
        elif len(members) == 1 and snapshot.host != self.key:
            self.leave("closed")

    async def _find_out_why(self) -> None:
        core = self.core
        if core is not None:
            self.leave(await self.in_worker(lambda: reason_for_departure(core, core.me)))

    # -- what is held --------------------------------------------------------------------------------

    async def say_what_is_here(self, peer: bytes) -> None:
        """Tells a peer what this one holds; it answers with what is lacking."""
        core, mesh = self.core, self.mesh
        if core is not None and mesh is not None:
            mesh.send(peer, await self.in_worker(core.have))

    async def say_what_is_here_to_all(self) -> None:
        """Tells every linked member what this peer holds."""
        core, mesh = self.core, self.mesh
        if mesh is not None and core is not None:
            have = await self.in_worker(core.have)
            for key in self.members & mesh.peers.keys():
                mesh.send(key, have)

    # -- the end -------------------------------------------------------------------------------------

    def leave(self, why: str) -> None:
        """This peer is no longer at the table: ``kicked``, ``replaced``, ``closed`` or ``failed``."""
        if self.gone.is_set():
            return
        self.gone_why = why
        self.gone.set()
        for hear in self.on_gone:
            hear(why)
        self._call_listeners(())

    def fail(self, problem: ShitheadError) -> None:
        """Nothing more can be done at this table."""
        self.gone_problem = problem
        self.leave("failed")
        for hear in self.on_failure:
            hear(problem)


def reason_for_departure(core: Core, key: bytes) -> str:
    """Why somebody is no member any more: ``closed``, ``replaced`` or ``kicked``."""
    reason = core.session.membership.reason_for_departure(key)
    return reason if reason in ("closed", "replaced") else "kicked"


__all__ = ["Listener", "NodeConfig", "Table", "Wiring"]

"""One peer at one table: network, disk, clock and session joined (docs/protocol.md, how a move travels).

Everything that judges or writes entries happens in ``Core`` on one worker thread, a step at a time; the event
loop only moves frames, keeps the latest ``Snapshot`` and tells listeners. Nothing is sent before the step that
made it has been committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from engine import __version__
from engine.errors import ShitheadError
from engine.moves import PlayerMove
from engine.rules import RuleSet, check_playable, preset_named
from p2p import entries as e
from p2p.addresses import Address, is_local, parse_address, show_address
from p2p.advert import CUSTOM_RULES, TABLE_ID_PREFIX_BYTES, TableAd
from p2p.audit import verify_file
from p2p.core import Arrival, BodyMaker, Core, Done, Input, Outcome, Wish
from p2p.dealing import Dealing, ElGamalDealing
from p2p.entries import Entry, make_entry
from p2p.errors import LocalProtocolError, NetworkProblem
from p2p.faults import Breach
from p2p.frames import Ask, CloseCode, Entries, Frame, Have, Hello, Knock, Linked, Refuse, Say
from p2p.gossip import is_said, make_say
from p2p.identity import BadName, check_name, check_table_name, fold_name, load_or_make_key
from p2p.link_types import LinkStatus
from p2p.members import check_admission
from p2p.mesh import Mesh
from p2p.news import News
from p2p.phases import Phase
from p2p.reach import Reach
from p2p.remember import Memory
from p2p.round import Round
from p2p.session import GRACE_S, Job
from p2p.snapshot import Knocking, LinkView, Snapshot, Surroundings, make_snapshot, stamp_of
from p2p.store import Store
from p2p.sync import answer, batches, lacking, unknown_heads
from p2p.transport import Endpoint, make_hello

log = logging.getLogger(__name__)

TICK_S: Final = 1.0
"""While somebody is waited for, snapshots are renewed once a second, so that screens can count."""

ASK_ROUND_TICKS: Final = 3
"""While somebody has been waited for this many seconds, everyone says as often what it has: should an entry
have been lost between two links, it is sent again."""

KNOCK_TIMEOUT_S: Final = 600.0
"""Somebody at the door waits for a person to look at the screen; after ten minutes nobody will."""

JOIN_TIMEOUT_S: Final = 15.0
"""Once admitted, the table's feeds are here within a second or two even on a bad Wi-Fi."""

MAX_DOOR: Final = 16
"""People at the door at once: more than ever fit at a table, so that a flood of knocks stays a short list."""

MAX_REDIRECTS: Final = 8
"""A member that does not act for the host names the one who does. Should that one just have died, the first is
asked again, until it has noticed; each try takes seconds."""

CLOSE_WAIT_S: Final = 5.0
"""How long a peer that leaves after a round waits until the others hold its reveal."""

FLUSH_WAIT_S: Final = 1.0
"""How long a leaving peer waits for the others' links to take its last entries."""

MAX_SAY_CHARACTERS: Final = 400

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


class Node:
    """A peer at a table. Made by ``open_table`` or ``join_table``; ``close`` ends everything it started."""

    def __init__(self, config: NodeConfig, store: Store, mesh_key: _Key) -> None:
        self.config = config
        self.key = mesh_key.public
        self._operator = config.operator or (self.key if config.auto else b"")
        self.rules = RuleSet()
        self.seats = e.MAX_PLAYERS
        self.limits = (config.turn_s, config.arrange_s, config.grace_s)
        self.port = 0
        self.gone = asyncio.Event()
        self.gone_why = ""
        self.gone_problem: ShitheadError | None = None
        self.last_round_file: Path | None = None
        self._private = mesh_key
        self._store = store
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="shithead-core")
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="shithead-proofs")
        self._core: Core | None = None
        self._mesh: Mesh | None = None
        self._snapshot: Snapshot | None = None
        self._listeners: list[Listener] = []
        self._inbox: list[Input] = []
        self._wishes: dict[int, asyncio.Future[None]] = {}
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._door: dict[bytes, Knocking] = {}
        self._links: dict[bytes, LinkView] = {}
        self._extra_news: list[News] = []
        self._linked: dict[bytes, frozenset[bytes]] = {}
        """Whom each member says it is linked to."""
        self._said_linked: frozenset[bytes] = frozenset()
        self._knocked = b""
        """At whose door this peer knocks: nobody else's word ends the wait there."""
        self._said: dict[bytes, int] = {}
        self._say_number = 0
        self._dismissed_as = ""
        self._wanted_table = b""
        self._entry: asyncio.Future[bytes] | None = None
        self._notices: list[str] = []
        self._reach: Reach | None = None
        self._memory = Memory(store)
        self._remembered: tuple[object, ...] = ()
        self._unkept: tuple[str, Mapping[bytes, Address]] | None = None
        """What of the table is still to be stored: its name, and where members are."""
        self._rules_of = b""
        self._strangers: set[bytes] = set()
        """Members that say they sit at another table now."""
        self._own_addresses: tuple[Address, ...] = ()
        self._closing = False
        self._members: frozenset[bytes] = frozenset()
        self._table_lock = asyncio.Lock()

    # -- making one ----------------------------------------------------------------------------------

    @classmethod
    async def open_table(cls, config: NodeConfig, table_name: str, *, seats: int, rules: RuleSet) -> Node:
        """Opens a table. Raises ``BadName``, ``RuleError``, ``StoreProblem``, ``NetworkProblem``."""
        check_playable(rules, 2)
        name, table = check_name(config.name), check_table_name(table_name)
        node = await cls._prepare(config)
        try:
            node.rules, node.seats = rules, seats
            opening = make_entry(
                node._private.key,
                bytes(32),
                0,
                bytes(32),
                (),
                e.Open(table, name, node._operator, _random32()),
            )
            await node._set_table(opening.id, [(opening.data, opening.signature)])
            await node._connect()
            node._advertise()
        except BaseException:
            await node.close()
            raise
        return node

    @classmethod
    async def join_table(
        cls,
        config: NodeConfig,
        address: Address,
        *,
        table_id: bytes = b"",
        expected: bytes | None = None,
        on_waiting: Callable[[], None] = lambda: None,
    ) -> Node:
        """Joins the table of whoever is at ``address``; returns once admitted and caught up.

        ``table_id``: its id or the first bytes of it, where known; ``expected``: the key that has to answer.
        ``on_waiting`` is called when the knock has been sent. Raises ``NetworkProblem`` (``refused`` with the
        reason, ``no_answer``, …), ``BadName``, ``StoreProblem``.
        """
        check_name(config.name)
        node = await cls._prepare(config)
        try:
            node._wanted_table = table_id
            await node._connect()
            await node._knock(address, expected, on_waiting)
            node._advertise()
        except BaseException:
            await node.close()
            raise
        return node

    @classmethod
    async def return_to(
        cls,
        config: NodeConfig,
        table_id: bytes,
        *,
        addresses: Mapping[bytes, Sequence[Address]] | None = None,
        seats: int | None = None,
        rules: RuleSet | None = None,
    ) -> Node:
        """Takes up the stored table with this id where this peer left it, without a knock.

        Returns at once: the others are dialled where they were last met (and at ``addresses``, key by key),
        and looked for. Until one of them has told what it holds nothing is written. Raises
        ``LocalProtocolError("not_a_member")``, ``StoreProblem``, ``NetworkProblem``.
        """
        node = await cls._prepare(config)
        try:
            node.seats = seats if seats is not None else node.seats
            node.rules = rules if rules is not None else node.rules
            for key, places in (addresses or {}).items():
                node._memory.met.setdefault(key, [])[:0] = places
            await node._connect()
            await node._set_table(table_id, [])
            if node.key not in node._members:
                raise LocalProtocolError("not_a_member", "You do not sit at that table any more.")
            if rules is None:
                node.rules = await node._in_worker(lambda: _last_rules(node._core))
            node._advertise()
            node._wake.set()
        except BaseException:
            await node.close()
            raise
        return node

    @classmethod
    async def _prepare(cls, config: NodeConfig) -> Node:
        key = load_or_make_key(config.data_dir / "identity.key")
        private = _Key(key)
        store = Store(config.data_dir / "shithead.db", private.public)
        node = cls(config, store, private)
        node._spawn(node._pump(), "pump")
        node._spawn(node._tick(), "tick")
        return node

    async def _connect(self) -> None:
        config = self.config
        addresses = ("127.0.0.1",) if config.loopback else ("0.0.0.0", "::")
        endpoint = await Endpoint.open(
            self._private.key, addresses=addresses, port=config.port, hello=make_hello(__version__)
        )
        self.port = endpoint.port
        self._mesh = Mesh(endpoint, self._private.key, _Handler(self))
        self._reach = Reach(
            endpoint,
            self._mesh,
            self,
            only=config.interfaces,
            is_here_only=config.loopback,
            announces=config.discovery and not config.operator,
        )
        self._reach.start()
        self._reach.sweep(config.search)
        await self._refresh()

    def _advertise(self) -> None:
        """Announces the table as it is now; nothing happens where that has been done."""
        ad = self._make_ad()
        if ad is not None and self._reach is not None and not self.config.operator:
            self._reach.advertise(ad)

    def reach_changed(self, addresses: tuple[Address, ...]) -> None:
        """Of ``Reach``: others reach this peer at these addresses from now on."""
        self._own_addresses = addresses
        self._nudge()

    def reach_problem(self, problem: NetworkProblem) -> None:
        """Of ``Reach``: a lasting trouble."""
        if problem.code not in self._notices:
            self._notices.append(problem.code)
            self._tell(News("error", {"sentence": problem.sentence, "remedy": problem.remedy}))

    def _make_ad(self) -> TableAd | None:
        snapshot, mesh = self._snapshot, self._mesh
        if snapshot is None or mesh is None or not snapshot.name:
            return None
        playing = snapshot.round is not None and snapshot.round.phase not in (Phase.CLOSED, Phase.DEAD)
        full = len(snapshot.players) >= self.seats
        return TableAd(
            table=snapshot.name,
            table_id=snapshot.table[:TABLE_ID_PREFIX_BYTES],
            key=self.key,
            nonce=mesh.endpoint.hello.instance,
            port=self.port,
            players=len(snapshot.players),
            seats=self.seats,
            # The seats and the rules to come are known to whoever acts for the table, and to nobody else for sure.
            rules=(preset_named(self.rules) or CUSTOM_RULES) if snapshot.acting_host == self.key else "",
            phase="playing" if playing else "full" if full else "open",
        )

    # -- at the door ---------------------------------------------------------------------------------

    async def _knock(self, address: Address, expected: bytes | None, on_waiting: Callable[[], None]) -> None:
        mesh = self._mesh
        if mesh is None:
            raise LocalProtocolError("closed", "This peer is closed.")
        first = (address, expected)
        for _ in range(MAX_REDIRECTS):
            try:
                await self._knock_once(mesh, address, expected, on_waiting)
                break
            except _Elsewhere as elsewhere:
                address, expected = elsewhere.address, None
            except NetworkProblem as problem:
                if (address, expected) == first or problem.code not in ("no_answer", "lost"):
                    raise
                # Whoever was named does not answer; soon the one who named it knows that too, and acts itself.
                address, expected = first
        else:
            raise NetworkProblem("refused", address=show_address(address), reason="nobody acts for the host")
        try:
            async with asyncio.timeout(JOIN_TIMEOUT_S):
                while self.key not in self._members:
                    await self._changed()
        except TimeoutError:
            raise NetworkProblem("no_answer", address=show_address(address), seconds=JOIN_TIMEOUT_S) from None

    async def _knock_once(
        self, mesh: Mesh, address: Address, expected: bytes | None, on_waiting: Callable[[], None]
    ) -> None:
        entry: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._entry = entry
        try:
            peer = self._knocked = await mesh.connect(address, expected)
            mesh.send(peer, Knock(self._wanted_table, self.config.name, self._operator))
            on_waiting()
            async with asyncio.timeout(KNOCK_TIMEOUT_S):
                await entry
        except TimeoutError:
            raise NetworkProblem("no_answer", address=show_address(address), seconds=KNOCK_TIMEOUT_S) from None
        finally:
            if entry.done() and not entry.cancelled():
                entry.exception()  # or it would be reported as never looked at

    async def _changed(self) -> None:
        """Waits for the next change of the snapshot."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def listener(news: tuple[News, ...]) -> None:
            if not future.done():
                future.set_result(None)

        stop = self.subscribe(listener)
        try:
            await future
        finally:
            stop()

    async def _answer_knock(self, peer: bytes, knock: Knock) -> None:
        core, mesh = self._core, self._mesh
        if core is None or mesh is None:
            return
        refusal = self._refusal(peer, knock)
        if peer in self._members:
            # It comes back: it gets what it lacks.
            mesh.send(peer, await self._in_worker(core.have))
        elif refusal is not None:
            mesh.send(peer, refusal)
        elif len(self._door) < MAX_DOOR and peer not in self._door:
            address = mesh.address_of(peer)
            shown = show_address(address) if address is not None else ""
            self._door[peer] = Knocking(peer, check_name(knock.name), knock.operator, shown)
            values = {"player": peer, "name": knock.name, "bot": bool(knock.operator), "address": shown}
            self._tell(News("knocked", values))
            await self._refresh()

    def _refusal(self, peer: bytes, knock: Knock) -> Refuse | None:
        snapshot = self._snapshot
        if snapshot is None or not snapshot.name:
            return Refuse("no_table")
        if knock.table_id and not snapshot.table.startswith(knock.table_id):
            return Refuse("other_table")
        acting = snapshot.acting_host
        if acting is not None and acting != self.key and self._mesh is not None:
            # The scope of a link-local address means something on this machine only.
            places = [place for place in self._mesh.addresses_of(acting) if not (len(place) == 4 and place[3])]
            if places:
                return Refuse("elsewhere", (("address", show_address(places[0])),))
        try:
            name = check_name(knock.name)
        except BadName as problem:
            return Refuse("bad_name", (("why", problem.code),))
        if any(fold_name(player.name) == fold_name(name) for player in snapshot.players):
            return Refuse("name_taken", (("name", name),))
        if len(snapshot.players) >= self.seats:
            return Refuse("full", (("seats", str(self.seats)),))
        if knock.operator and knock.operator not in self._members | {peer}:
            return Refuse("operator")
        return None

    async def admit(self, key: bytes) -> None:
        """Lets somebody in who is at the door. Raises ``LocalProtocolError`` where there is nobody."""
        knocking = self._door.get(key)
        if knocking is None:
            raise LocalProtocolError("nobody_there", "Nobody of that name is at the door.")
        if len(self._members) >= self.seats:
            await self.refuse(key, "full")
            raise LocalProtocolError("table_full", "The table is full: it has {seats} seats.", seats=self.seats)
        body = e.Admit(key, knocking.name, knocking.operator)

        def make(core: Core) -> Sequence[e.Body]:
            # Others may have come or gone since the knock: a host must not sign what nobody may sign.
            try:
                check_admission(body, core.session.members())
            except Breach as breach:
                raise LocalProtocolError(
                    "cannot_admit", "{name} can't be let in: {reason}.", name=knocking.name, reason=breach.reason
                ) from None
            return [body]

        try:
            await self._write(make)
        except LocalProtocolError as problem:
            if problem.code == "cannot_admit" and key in self._door:
                refusal = self._refusal(key, Knock(b"", knocking.name, knocking.operator))
                await self.refuse(key, refusal.code if refusal is not None else "refused")
            raise
        self._door.pop(key, None)
        if self._mesh is not None and self._core is not None:
            self._mesh.send(key, await self._in_worker(self._core.have))
        await self._refresh()

    async def refuse(self, key: bytes, why: str = "refused") -> None:
        """Turns somebody at the door away."""
        if self._door.pop(key, None) is None:
            raise LocalProtocolError("nobody_there", "Nobody of that name is at the door.")
        if self._mesh is not None:
            self._mesh.send(key, Refuse(why))
        await self._refresh()

    async def kick(self, key: bytes) -> None:
        """Takes a member off the table, never in mid-round. Raises ``LocalProtocolError``."""
        await self._dismiss([key], "kicked")

    async def close_table(self) -> None:
        """Ends the table for everybody, in order: between rounds only."""
        others = [key for key in self._members if key != self.key]
        if others:
            await self._dismiss(others, "closed")

    async def _dismiss(self, keys: Sequence[bytes], reason: str) -> None:
        def make(core: Core) -> Sequence[e.Body]:
            members = core.session.members()
            if any(key not in members or key == core.me for key in keys):
                raise LocalProtocolError("not_a_member", "Nobody of that name is at the table.")
            round_ = core.session.current()
            if round_ is not None and _goes_on(round_) and any(key in round_.number_of for key in keys):
                raise LocalProtocolError(
                    "seated", "Somebody who plays can't be sent away in mid-round; give the round up first."
                )
            return [e.Dismiss(key, reason) for key in keys]

        await self._write(make)

    # -- what a person does ----------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """The table as this person may see it now."""
        if self._snapshot is None:
            raise LocalProtocolError("no_table", "There is no table yet.")
        return self._snapshot

    @property
    def has_heard(self) -> bool:
        """False from a start at a stored table until a member has told what it holds."""
        core = self._core
        return core is not None and (core.has_heard or len(self._members) <= 1)

    async def changed(self) -> None:
        """Waits for the next change of the snapshot."""
        await self._changed()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls ``listener`` on the event loop after each change, with the news of it (maybe none).

        Returns what ends it.
        """
        self._listeners.append(listener)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    async def act(self, move: PlayerMove, stamp: bytes | None = None) -> None:
        """Makes a move. Raises ``RuleError``, or ``LocalProtocolError``: ``stale`` when ``stamp`` is not that
        of the round as it now stands, ``no_round``, ``not_playing``."""

        def make(core: Core) -> Sequence[e.Body]:
            if stamp is not None:
                round_ = core.session.current()
                if round_ is None or make_stamp(round_) != stamp:
                    raise LocalProtocolError("stale", "The table has changed meanwhile: look again.")
            return [core.session.intend(move)]

        await self._write(make)

    async def offer_round(self) -> None:
        """Offers the next round to all who are present. Raises ``RuleError`` or ``LocalProtocolError``."""
        present = {self.key} | {key for key in self._members if self._is_present(key)}

        def make(core: Core) -> Sequence[e.Body]:
            members = [key for key in core.session.members() if key in present]
            if len(members) < 2:
                raise LocalProtocolError("too_few", "A round needs at least two players.")
            turn_s, arrange_s, grace_s = self.limits
            body = core.session.offer(self.rules, members, grace_s, turn_s=turn_s, arrange_s=arrange_s)
            return [body]

        await self._write(make)

    async def answer_offer(self, yes: bool) -> None:
        """Says yes or no to the round that is offered."""

        def make(core: Core) -> Sequence[e.Body]:
            round_ = core.session.asks_consent()
            if round_ is None:
                raise LocalProtocolError("no_offer", "No round is offered at the moment.")
            core.session.consent(round_.contract, yes)
            return []

        await self._write(make)

    async def void(self) -> None:
        """Gives up a round that somebody's silence has stopped. Raises ``LocalProtocolError``."""
        loop = asyncio.get_running_loop()

        def make(core: Core) -> Sequence[e.Body]:
            session = core.session
            now = loop.time()
            debts = session.overdue(now)
            round_ = session.current()
            if round_ is None or not _goes_on(round_):
                raise LocalProtocolError("no_round", "There is no round to give up.")
            if not debts:
                mine = round_.number_of.get(core.me)
                waits = [(duty, age) for duty, age in session.waiting_for(now) if duty.number != mine]
                if not waits:
                    raise LocalProtocolError("nothing_overdue", "Nobody but you is being waited for.")
                duty, age = max(waits, key=lambda item: item[1])
                raise LocalProtocolError(
                    "not_yet_overdue",
                    "The round waits for {player}. It can be given up in {seconds} s.",
                    player=round_.roster[duty.number],
                    seconds=max(1, round(round_.terms.limits[2] - age)),
                )
            body = session.leave_round(debts)
            return [body] if body is not None else []

        await self._write(make)

    async def say(self, text: str) -> None:
        """Says something to everyone at the table. Raises ``LocalProtocolError`` for what no screen takes."""
        cleaned = " ".join(text.split())
        if not cleaned:
            return
        if len(cleaned) > MAX_SAY_CHARACTERS:
            raise LocalProtocolError(
                "say_long", "One line has at most {longest} characters.", longest=MAX_SAY_CHARACTERS
            )
        # Wall time only to begin above the numbers of an earlier start; nothing is judged by it.
        self._say_number = max(self._say_number + 1, time.time_ns() // 1_000_000)
        frame = make_say(self._private.key, self.snapshot.table, self._say_number, cleaned)
        if self._mesh is not None:
            for key in self._members:
                self._mesh.send(key, frame)
        self._tell(News("said", {"player": self.key, "name": self.snapshot.name_of(self.key), "text": cleaned}))

    async def leave(self) -> None:
        """Leaves the round if one goes on, then the table, then closes. Never raises for the network."""
        if self._core is not None and not self.gone.is_set():

            def make(core: Core) -> Sequence[e.Body]:
                bodies: list[e.Body] = []
                left = core.session.leave_round()
                if left is not None:
                    bodies.append(left)
                return bodies

            def make_last(core: Core) -> Sequence[e.Body]:
                return [e.Leave(core.session.table, [])] if core.me in core.session.members() else []

            with contextlib.suppress(ShitheadError):
                await self._wait_for_reveal()
                await self._write(make)
                await self._write(make_last)
        self._unkept = None
        await self._forget()
        await self.close()

    async def _wait_for_reveal(self) -> None:
        """A peer that ends first waits a little until the others hold its reveal."""
        snapshot = self._snapshot
        if snapshot is None or snapshot.round is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_WAIT_S):
                while (
                    self._snapshot is not None
                    and self._snapshot.round is not None
                    and self._snapshot.round.phase is Phase.REVEAL
                ):
                    await self._changed()

    # -- the pump --------------------------------------------------------------------------------------

    async def _in_worker(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, call)

    async def _write(self, make: BodyMaker) -> None:
        """Has the pump write something; returns when it is on disk and on its way."""
        if self._closing or self._core is None:
            raise LocalProtocolError("closed", "This peer is closed.")
        wish = Wish(make)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wishes[id(wish)] = future
        self._inbox.append(wish)
        self._wake.set()
        try:
            await future
        finally:
            self._wishes.pop(id(wish), None)
        if wish.problem is not None:
            raise wish.problem

    async def _pump(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            self._wake.clear()
            core = self._core
            if core is None:
                continue
            batch, self._inbox = self._inbox, []
            around = self._surroundings()

            def step(
                core: Core = core, batch: list[Input] = batch, around: Surroundings = around
            ) -> tuple[Outcome, Snapshot]:
                now = loop.time()
                return core.step(batch, now), make_snapshot(core.session, around, now)

            try:
                outcome, snapshot = await self._in_worker(step)
            except ShitheadError as problem:
                await self._fail(problem, batch)
                return
            await self._publish(core, outcome, snapshot)
            for item in batch:
                if isinstance(item, Wish):
                    future = self._wishes.get(id(item))
                    if future is not None and not future.done():
                        future.set_result(None)
            for job in outcome.jobs:
                self._spawn(self._run_job(job), job.kind)

    async def _run_job(self, job: Job) -> None:
        """Arithmetic beside the steps, so that entries are taken in meanwhile. The shuffle, for which all
        others wait, does not queue behind proofs."""
        pool = self._worker if job.kind == "shuffle" else self._helper
        result = await asyncio.get_running_loop().run_in_executor(pool, job.run)
        self._inbox.append(Done(job, result))
        self._wake.set()

    async def _fail(self, problem: ShitheadError, batch: Sequence[Input]) -> None:
        # What the session holds in memory may be ahead of the disk now: nothing more may be sent.
        log.error("giving up: %s", problem)
        self.gone_problem = problem
        self._leave_table("failed")
        for item in batch:
            if isinstance(item, Wish):
                future = self._wishes.get(id(item))
                if future is not None and not future.done():
                    future.set_exception(problem)
        for future in self._wishes.values():
            if not future.done():
                future.set_exception(problem)

    async def _publish(self, core: Core, outcome: Outcome, snapshot: Snapshot | None = None) -> None:
        mesh = self._mesh
        if mesh is not None and outcome.fresh:
            for peer in list(mesh.peers):
                if peer not in self._members:
                    continue
                wanted = [entry for entry, source in outcome.fresh if self._should_send(peer, entry, source)]
                for frame in batches(wanted):
                    mesh.send(peer, frame)
        if mesh is not None:
            for peer, ids in outcome.ask.items():
                mesh.send(peer, Ask(core.session.table, ids))
        for round_, path in outcome.saved:
            self.last_round_file = path
            self._spawn(self._audit(round_.terms.round, path), "audit")
        await self._refresh(outcome.news, snapshot)

    def _should_send(self, peer: bytes, entry: Entry, source: bytes | None) -> bool:
        """Own entries go to everyone; others' only to those who cannot have them from their author."""
        if source is None:
            return True
        if peer in (source, entry.author):
            return False
        theirs = self._linked.get(peer)
        return theirs is None or entry.author not in theirs

    async def _audit(self, number: int, path: Path) -> None:
        loop = asyncio.get_running_loop()
        dealing = self.config.dealing
        while self._is_dealing():
            # A round that is being dealt wants all the arithmetic there is; the verdict can wait a second.
            await self._changed()
        try:
            verdict = await loop.run_in_executor(None, lambda: verify_file(path, dealing))
        except ShitheadError as problem:
            log.warning("the saved round cannot be read back: %s", problem)
            self._tell(News("unsaved", {"round": number, "reason": str(problem)}))
            return
        self._tell(News("verdict", {"round": number, "verdict": verdict.verdict, "audit": verdict}))

    def _is_dealing(self) -> bool:
        round_ = self._snapshot.round if self._snapshot is not None else None
        return round_ is not None and round_.phase in (Phase.OFFER, Phase.KEYS, Phase.PREPARE, Phase.DEAL)

    async def _refresh(self, news: Sequence[News] = (), snapshot: Snapshot | None = None) -> None:
        """Makes the snapshot anew (or takes one just made), follows changes of the membership, tells listeners."""
        core = self._core
        if core is None:
            return
        if snapshot is None:
            around = self._surroundings()
            loop = asyncio.get_running_loop()
            snapshot = await self._in_worker(lambda: make_snapshot(core.session, around, loop.time()))
        self._snapshot = snapshot
        self._follow_members(snapshot, news)
        told = (*news, *self._extra_news)
        self._extra_news = []
        if self.config.trace is not None:
            for item in told:
                self.config.trace({"news": item.name, "private": item.private})
        for listener in list(self._listeners):
            listener(told)
        self._follow_table(snapshot)

    def _surroundings(self) -> Surroundings:
        core = self._core
        return Surroundings(
            links={key: self._view_of(key) for key in self._links.keys() | self._members},
            known=core.known if core is not None else {},
            known_names=core.known_names if core is not None else {},
            door=tuple(self._door.values()),
            acting_host=self._acting_host(),
            addresses=tuple(show_address(address) for address in self._own_addresses),
            notices=tuple(self._notices),
        )

    def _acting_host(self) -> bytes | None:
        snapshot = self._snapshot
        if snapshot is None:
            return None
        # A bot that somebody else runs has no say; a seat that plays by itself has its owner beside it.
        order = [player.key for player in snapshot.players if player.operator in (b"", player.key)]
        if snapshot.host in order:
            order.remove(snapshot.host)
            order.insert(0, snapshot.host)
        return next((key for key in order if self._is_present(key)), None)

    def _status(self, key: bytes) -> str:
        """How well the own link to a peer is heard."""
        return "self" if key == self.key else self._links.get(key, LinkView("lost")).status

    def _view_of(self, key: bytes) -> LinkView:
        """What a person is shown of a peer: one that only others reach is ``relayed``."""
        view = self._links.get(key, LinkView("lost"))
        if view.status != "lost":
            return view
        relayed = any(key in theirs and self._status(peer) != "lost" for peer, theirs in self._linked.items())
        return LinkView("relayed") if relayed else view

    def _is_present(self, key: bytes) -> bool:
        return key == self.key or self._view_of(key).status != "lost"

    def _follow_members(self, snapshot: Snapshot, news: Sequence[News]) -> None:
        members = frozenset(player.key for player in snapshot.players)
        if members != self._members:
            was_in = self.key in self._members
            came = members - self._members
            self._members = members
            if self._mesh is not None:
                self._mesh.set_members({key: self._memory.met.get(key, ()) for key in members})
                for key in came:
                    if key in self._mesh.peers and self.key in members:
                        self._spawn(self._say_what_is_here(key), "have")
            if was_in and self.key not in members and not self._closing:
                self._spawn(self._find_out_why(), "gone")
            elif was_in and len(members) == 1 and snapshot.host != self.key and not self._closing:
                self._leave_table("closed")
        self._acting_changed(snapshot)

    def _follow_table(self, snapshot: Snapshot) -> None:
        """Announces what has changed, looks for who is not linked, and remembers the table."""
        if self._closing or self.gone.is_set() or self.key not in self._members:
            return
        round_ = snapshot.round
        agreed = round_ is not None and round_.phase not in (Phase.OFFER, Phase.KEYS, Phase.PREPARE, Phase.DEAD)
        if round_ is not None and agreed and round_.contract != self._rules_of:
            # Whoever acts for the host one day goes on with the rules of the table.
            self._rules_of, self.rules, self.limits = round_.contract, round_.rules, round_.limits
        self._advertise()
        if self._reach is not None:
            self._reach.seek(frozenset(key for key in self._members if self._status(key) == "lost"))
        mesh = self._mesh
        met = {key: address for key in self._members if mesh and (address := mesh.address_of(key)) is not None}
        noted = (snapshot.name, self.seats, self.rules, len(snapshot.score), met)
        if noted != self._remembered and snapshot.name and not self.config.operator:
            self._remembered = noted
            self._unkept = (snapshot.name, met)
            self._spawn(self._remember(), "remember")

    async def _remember(self) -> None:
        table, here = self.snapshot.table, self.config.loopback

        def note() -> None:
            unkept, self._unkept = self._unkept, None
            if unkept is not None:
                name, met = unkept
                self._memory.note_table(table, name, self.seats, self.rules, is_here_only=here)
                self._memory.note_met(met)

        await self._in_worker(note)

    async def _forget(self) -> None:
        """This peer has left, or the table has ended: nobody is asked to return to it."""
        snapshot = self._snapshot
        if snapshot is not None and not self.config.operator:
            with contextlib.suppress(ShitheadError):
                await self._in_worker(lambda: self._memory.forget_table(snapshot.table))

    def _acting_changed(self, snapshot: Snapshot) -> None:
        if snapshot.acting_host != self._acting_host() and self._core is not None:
            asyncio.get_running_loop().call_soon(self._nudge)

    def _nudge(self) -> None:
        if not self._closing:
            self._spawn(self._refresh(), "refresh")

    async def _find_out_why(self) -> None:
        core = self._core
        if core is None:
            return
        reason = await self._in_worker(lambda: _reason_for_departure(core))
        self._leave_table(reason)

    def _leave_table(self, why: str) -> None:
        if not self.gone.is_set():
            self.gone_why = why
            self.gone.set()
            if why != "failed":
                self._spawn(self._forget(), "forget")
            for listener in list(self._listeners):
                listener(())

    def _tell(self, news: News) -> None:
        """Tells one piece of news that does not come from the session."""
        self._extra_news.append(news)
        self._nudge()

    async def _say_what_is_here_to_all(self) -> None:
        if self._mesh is not None and self._core is not None:
            have = await self._in_worker(self._core.have)
            for key in self._members & self._mesh.peers.keys():
                self._mesh.send(key, have)

    async def _tick(self) -> None:
        ticks = 0
        while True:
            await asyncio.sleep(TICK_S)
            snapshot = self._snapshot
            if snapshot is not None and snapshot.round is not None and snapshot.round.waits:
                # A step, not only a snapshot: duties get old, and a round may be closed by time alone.
                self._wake.set()
                ticks += 1
                if ticks % ASK_ROUND_TICKS == 0 and any(
                    w.seconds >= ASK_ROUND_TICKS for w in snapshot.round.waits
                ):
                    await self._say_what_is_here_to_all()

    def _spawn(self, coroutine: object, name: str) -> None:
        if self._closing:
            coroutine.close()  # type: ignore[attr-defined]
            return
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(coroutine, name=f"node {name}")  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not self._closing:
            log.error("%s failed", task.get_name(), exc_info=error)
            if not isinstance(error, ShitheadError):
                error = LocalProtocolError(
                    "bug", "Something went wrong in this program: {what}.", what=repr(error)
                )
            self.gone_problem = error
            self._leave_table("failed")
            for future in self._wishes.values():
                if not future.done():
                    future.set_exception(error)

    # -- frames ----------------------------------------------------------------------------------------

    def _on_frame(self, peer: bytes, frame: Frame) -> None:
        match frame:
            case Entries():
                if self._core is not None and (peer in self._members or self.key not in self._members):
                    self._inbox.append(Arrival(peer, frame.entries))
                    self._wake.set()
            case Have():
                self._spawn(self._on_have(peer, frame), "have")
            case Ask():
                self._spawn(self._on_ask(peer, frame), "ask")
            case Knock():
                self._spawn(self._answer_knock(peer, frame), "knock")
            case Refuse():
                self._on_refuse(peer, frame)
            case Say():
                self._on_say(peer, frame)
            case Linked():
                self._linked[peer] = frozenset(frame.keys)
                self._nudge()
            case _:
                pass

    async def _on_have(self, peer: bytes, have: Have) -> None:
        if self._core is None:
            if self._entry is None or peer != self._knocked or not have.table_id.startswith(self._wanted_table):
                # Only whose door was knocked at can let this peer in.
                return
            async with self._table_lock:
                if self._core is None:
                    await self._set_table(have.table_id, [])
            if not self._entry.done():
                self._entry.set_result(have.table_id)
        core, mesh = self._core, self._mesh
        if core is None or mesh is None:
            return
        if have.table_id != core.session.table:
            if peer not in self._members:
                # It was here, or thinks that this peer sits where it once did.
                mesh.send(peer, Refuse("other_table"))
            return
        if self._entry is not None and not self._entry.done():
            self._entry.set_result(have.table_id)

        def work() -> tuple[list[e.Entry], Have | None, bool]:
            members = core.session.members()
            if peer in members or core.me not in members:
                core.note_have(have)
            mine = core.have() if unknown_heads(core.session.feeds, have) else None
            was_here = peer not in members and peer in core.session.membership.ever()
            return lacking(core.session.feeds, have), mine, was_here

        entries, mine, was_here = await self._in_worker(work)
        if was_here:
            mesh.send(peer, Refuse("kicked"))
        if peer in self._members:
            for frame in batches(entries):
                mesh.send(peer, frame)
        if mine is not None:
            mesh.send(peer, mine)
        if peer in self._members and self._said_linked:
            mesh.send(peer, Linked(tuple(sorted(self._said_linked))))
        self._wake.set()

    async def _on_ask(self, peer: bytes, ask: Ask) -> None:
        core, mesh = self._core, self._mesh
        if core is None or mesh is None or peer not in self._members or ask.table_id != core.session.table:
            return
        for frame in batches(await self._in_worker(lambda: answer(core.session.feeds, ask))):
            mesh.send(peer, frame)

    async def _say_what_is_here(self, peer: bytes) -> None:
        core, mesh = self._core, self._mesh
        if core is not None and mesh is not None:
            mesh.send(peer, await self._in_worker(core.have))

    def _on_refuse(self, peer: bytes, refuse: Refuse) -> None:
        if self._entry is None or self._entry.done():
            self._on_news_of_the_table(peer, refuse.code)
            return
        if peer != self._knocked:
            return
        values = dict(refuse.values)
        if refuse.code == "elsewhere":
            try:
                elsewhere = parse_address(values.get("address", ""))
                if is_local(elsewhere):
                    self._entry.set_exception(_Elsewhere(elsewhere))
                    return
            except NetworkProblem:
                pass
        address = self._mesh.address_of(peer) if self._mesh is not None else None
        shown = show_address(address) if address is not None else "the other side"
        self._entry.set_exception(refusal_problem(refuse, shown, self.config.name))

    def _on_news_of_the_table(self, peer: bytes, code: str) -> None:
        """A member tells somebody who comes back what has become of its seat, or of the table."""
        core, snapshot = self._core, self._snapshot
        if core is None or snapshot is None or peer not in self._members:
            return
        if code == "kicked" and not core.has_heard:
            self._leave_table("kicked")
        elif code == "other_table":
            self._strangers.add(peer)
            gone = self._strangers | {self.key}
            if all(player.key in gone or player.operator in gone for player in snapshot.players):
                self._leave_table("closed")

    def _on_say(self, peer: bytes, frame: Say) -> None:
        snapshot = self._snapshot
        if snapshot is None or frame.table_id != snapshot.table or frame.author not in self._members:
            return
        if frame.number <= self._said.get(frame.author, -1) or not is_said(frame) or frame.author == self.key:
            return
        self._said[frame.author] = frame.number
        if self._mesh is not None:
            for key in self._members - {peer, frame.author}:
                self._mesh.send(key, frame)
        name = snapshot.name_of(frame.author)
        self._tell(News("said", {"player": frame.author, "name": name, "text": frame.text}))

    def _say_linked(self) -> None:
        """Tells the members whom this peer is linked to; where a link was lost, also what it has, so that
        the others send what it may have missed."""
        mesh = self._mesh
        if mesh is None or self._closing:
            return
        linked = frozenset(key for key in mesh.peers if key in self._members and self._status(key) != "lost")
        if linked == self._said_linked:
            return
        lost = self._said_linked - linked
        self._said_linked = linked
        for key in linked:
            mesh.send(key, Linked(tuple(sorted(linked))))
            if lost:
                self._spawn(self._say_what_is_here(key), "have")

    def _on_link(self, peer: bytes, status: str) -> None:
        mesh = self._mesh
        rtt = mesh.rtt_s(peer) if mesh is not None else None
        before = self._links.get(peer)
        self._links[peer] = LinkView(status, rtt)
        self._say_linked()
        if status == "lost":
            self._linked.pop(peer, None)
            self._door.pop(peer, None)
            if self._entry is not None and not self._entry.done() and peer == self._knocked:
                self._entry.set_exception(NetworkProblem("lost", address="the table"))
        if peer in self._members and (before is None or before.status != status):
            ms = round(rtt * 1000) if rtt is not None else None
            self._tell(News("link", {"player": peer, "status": status, "rtt_ms": ms}))
        elif not self._closing:
            self._nudge()

    # -- ends ------------------------------------------------------------------------------------------

    async def _set_table(self, table: bytes, first: Sequence[tuple[bytes, bytes]]) -> None:
        config = self.config

        def make() -> Core:
            core = Core(
                table,
                self._private.key,
                self._store,
                config.dealing,
                config.data_dir / "rounds" if config.keeps_rounds else None,
                __version__,
            )
            core.session.always_consent = config.always_consent
            core.session.sits_ready = config.sits_ready
            return core

        core = await self._in_worker(make)
        self._core = core
        loop = asyncio.get_running_loop()
        if first:
            arrival = Arrival(self.key, first)
            outcome = await self._in_worker(lambda: core.step([arrival], loop.time()))
            await self._publish(core, outcome)
        else:
            await self._refresh()

    async def close(self) -> None:
        """Says goodbye and ends everything this node started. May be called more than once."""
        if self._closing:
            return
        self._closing = True
        core, mesh = self._core, self._mesh
        if self._unkept is not None and not self.gone.is_set():
            with contextlib.suppress(ShitheadError):
                await self._remember()
        if core is not None and self.gone_why != "failed":
            with contextlib.suppress(ShitheadError, OSError):
                await self._in_worker(lambda: core.save_unfinished(Outcome()))
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for future in self._wishes.values():
            if not future.done():
                future.set_exception(LocalProtocolError("closed", "This peer is closed."))
        if self._reach is not None:
            await self._reach.close()
        if mesh is not None:
            await mesh.close()
        await self._in_worker(self._store.close)
        self._worker.shutdown(wait=True)
        self._helper.shutdown(wait=True)
        self.gone.set()


class _Handler:
    """What the mesh tells a node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def link_up(self, peer: bytes, hello: Hello) -> None:
        node = self._node
        node._on_link(peer, "good")
        if peer in node._members:
            node._spawn(node._say_what_is_here(peer), "have")

    def link_down(self, peer: bytes, reason: CloseCode) -> None:
        self._node._on_link(peer, "lost")

    def frame(self, peer: bytes, frame: Frame) -> None:
        self._node._on_frame(peer, frame)

    def may_enter(self, peer: bytes, address: Address) -> Refuse | None:
        return None

    def status(self, peer: bytes, status: LinkStatus) -> None:
        self._node._on_link(peer, status.name.lower())

    def problem(self, address: Address, problem: NetworkProblem) -> None:
        self._node._tell(News("error", {"sentence": problem.sentence, "remedy": problem.remedy}))


class _Key:
    """An identity's two halves; its repr shows neither."""

    def __init__(self, key: object) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if not isinstance(key, Ed25519PrivateKey):
            raise TypeError("an identity is an Ed25519 key")
        self.key = key
        self.public = key.public_key().public_bytes_raw()


class _Elsewhere(Exception):
    def __init__(self, address: Address) -> None:
        super().__init__(show_address(address))
        self.address = address


def _random32() -> bytes:
    return os.urandom(32)


def _last_rules(core: Core | None) -> RuleSet:
    """The rules of the newest round of a table, else the default ones."""
    round_ = core.session.current() if core is not None else None
    return round_.rules if round_ is not None else RuleSet()


def _goes_on(round_: Round) -> bool:
    return round_.everything().phase not in (Phase.CLOSED, Phase.DEAD, Phase.REVEAL)


def _reason_for_departure(core: Core) -> str:
    for key, fact in reversed(core.session.membership.departures):
        if key == core.me:
            body = fact.entry.body
            return "closed" if isinstance(body, e.Dismiss) and body.reason == "closed" else "kicked"
    return "kicked"


_REFUSALS: Final = {
    "bad_name": "your name cannot be used at that table",
    "no_table": "there is no table there",
    "other_table": "another table is there now",
    "operator": "a bot came without its host",
    "kicked": "the host has sent you away",
}


def refusal_problem(refuse: Refuse, address: str, name: str) -> NetworkProblem:
    """What a refusal of a knock means, as a sentence."""
    values = dict(refuse.values)
    match refuse.code:
        case "name_taken":
            return NetworkProblem("name_taken", name=values.get("name", name))
        case "full":
            return NetworkProblem("table_full", address=address, seats=values.get("seats", "no more"))
        case "refused":
            return NetworkProblem("turned_away", address=address)
        case code:
            return NetworkProblem("refused", address=address, reason=_REFUSALS.get(code, "no reason was given"))


def make_stamp(round_: Round) -> bytes:
    """The stamp of a round as it now stands; see ``RoundView.stamp``."""
    return stamp_of(round_, round_.everything())


__all__ = ["Node", "NodeConfig", "refusal_problem"]

"""One peer at one table: network, disk, clock and session joined (docs/protocol.md, how a move travels).

``Node`` is what clients use. Its parts share a ``Table`` (see ``p2p.node.table``); everything that judges or
writes entries happens in ``Core`` on one worker thread, a step at a time, and the event loop only moves frames,
keeps the latest ``Snapshot`` and tells listeners.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from engine import __version__
from engine.errors import Sentence, ShitheadError
from engine.moves import PlayerMove
from engine.rules import RuleSet, check_playable
from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.feeds.entries import make_entry
from p2p.feeds.identity import check_name, check_table_name, load_or_make_key
from p2p.network.addresses import Address
from p2p.network.mesh import Mesh
from p2p.network.transport import Endpoint, make_hello
from p2p.node.core import Core, Outcome
from p2p.node.door import Door
from p2p.node.exchange import Exchange
from p2p.node.knocking import Knocker
from p2p.node.links import Links
from p2p.node.outward import Outward
from p2p.node.pump import Pump
from p2p.node.store import Store
from p2p.node.table import Listener, NodeConfig, Table, Wiring
from p2p.rounds.duties import patience_s
from p2p.rounds.news import News
from p2p.rounds.phases import Phase, goes_on
from p2p.rounds.snapshot import Snapshot, Surroundings, stamp_of

CLOSE_WAIT_S: Final = 5.0
"""How long a peer that leaves after a round waits until the others hold its reveal."""


class Node:
    """A peer at a table, made by ``open_table``, ``join_table`` or ``return_to``; ``close`` ends it all."""

    def __init__(self, table: Table, wanted: bytes = b"") -> None:
        """``wanted``: the id of the table to join, or the first bytes of it."""
        self._table = table
        self._links = Links(table)
        self._pump = Pump(table, self._links)
        self._door = Door(table, self._links, self._pump)
        self._knocker = Knocker(table, self._pump, wanted)
        self._exchange = Exchange(table, self._links, self._pump, self._door, self._knocker)
        self._outward = Outward(table, self._links)
        table.wiring = Wiring(self._surroundings, self._follow, self._outward.follow)
        self._pump.start()

    # -- making one ----------------------------------------------------------------------------------

    @classmethod
    async def open_table(cls, config: NodeConfig, table_name: str, *, seats: int, rules: RuleSet) -> Node:
        """Opens a table. Raises ``BadName``, ``RuleError``, ``StoreProblem``, ``NetworkProblem``."""
        check_playable(rules, 2)
        name, called = check_name(config.name), check_table_name(table_name)
        node = cls._prepare(config)
        try:
            table = node._table
            table.rules, table.seats = rules, seats
            body = e.Open(called, name, table.operator, os.urandom(32))
            opening = make_entry(table.private, bytes(32), 0, bytes(32), (), body)
            await node._pump.take_up(opening.id, [(opening.data, opening.signature)])
            await node._connect()
            node._outward.advertise()
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
        node = cls._prepare(config, table_id)
        try:
            await node._connect()
            await node._knocker.knock(address, expected, on_waiting)
            await node._outward.learn_seats()
            node._outward.advertise()
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
        ``LocalProtocolError``: ``not_a_member``, ``nothing_held``; ``StoreProblem``, ``NetworkProblem``.
        """
        node = cls._prepare(config)
        try:
            table = node._table
            table.seats = seats if seats is not None else table.seats
            table.rules = rules if rules is not None else table.rules
            for key, places in (addresses or {}).items():
                table.memory.met.setdefault(key, [])[:0] = places
            await node._connect()
            await node._pump.take_up(table_id, [])
            if not table.members:
                raise LocalProtocolError(
                    "nothing_held",
                    "Your data hold nothing of that table any more. Join it again: your seat is your identity's, "
                    "and the others send what is missing.",
                )
            if table.key not in table.members:
                raise LocalProtocolError("not_a_member", "You do not sit at that table any more.")
            if rules is None:
                table.rules = await table.in_worker(lambda: _last_rules(table.core))
            node._outward.advertise()
            node._pump.wake()
        except BaseException:
            await node.close()
            raise
        return node

    @classmethod
    def _prepare(cls, config: NodeConfig, wanted: bytes = b"") -> Node:
        key = load_or_make_key(config.data_dir / "identity.key")
        store = Store(config.data_dir / "shithead.db", key.public_key().public_bytes_raw())
        try:
            return cls(Table(config, key, store), wanted)
        except BaseException:
            store.close()
            raise

    async def _connect(self) -> None:
        table = self._table
        config = table.config
        addresses = ("127.0.0.1",) if config.loopback else ("0.0.0.0", "::")
        endpoint = await Endpoint.open(
            table.private, addresses=addresses, port=config.port, hello=make_hello(__version__)
        )
        table.mesh = Mesh(endpoint, table.private, self._exchange, table.first_number)
        table.mesh.is_guest = self._door.is_waiting
        self._outward.start(endpoint, table.mesh)
        await table.refresh()

    # -- how the parts see each other ----------------------------------------------------------------

    def _surroundings(self) -> Surroundings:
        core = self._table.core
        return Surroundings(
            links=self._links.views(),
            known=core.known if core is not None else {},
            known_names=core.known_names if core is not None else {},
            door=self._door.waiting,
            acting_host=self._links.acting_host(),
            lapsed=self._door.may_be_replaced(),
            addresses=self._outward.addresses,
            notices=self._outward.notices,
        )

    def _follow(self, snapshot: Snapshot) -> None:
        table = self._table
        table.follow_members(snapshot)
        self._links.follow_members()
        if snapshot.acting_host != self._links.acting_host():
            asyncio.get_running_loop().call_soon(table.nudge)

    # -- what a client sees --------------------------------------------------------------------------

    @property
    def config(self) -> NodeConfig:
        """What this node was made with."""
        return self._table.config

    @property
    def key(self) -> bytes:
        """The own identity key."""
        return self._table.key

    @property
    def port(self) -> int:
        """The UDP port of the game socket; 0 before there is one."""
        mesh = self._table.mesh
        return mesh.endpoint.port if mesh is not None else 0

    @property
    def rules(self) -> RuleSet:
        """The rules of the next offer."""
        return self._table.rules

    @rules.setter
    def rules(self, rules: RuleSet) -> None:
        self._table.rules = rules

    @property
    def seats(self) -> int:
        """How many may sit at the table."""
        return self._table.seats

    @seats.setter
    def seats(self, seats: int) -> None:
        self._table.seats = seats

    @property
    def limits(self) -> tuple[int, int, int]:
        """Turn, arranging and grace of the next offer, in seconds (0: no limit); see ``Session.offer``."""
        return self._table.limits

    @limits.setter
    def limits(self, limits: tuple[int, int, int]) -> None:
        self._table.limits = limits

    @property
    def gone(self) -> asyncio.Event:
        """Set when this peer is no longer at the table."""
        return self._table.gone

    @property
    def gone_why(self) -> str:
        """``kicked``, ``replaced`` (away for so long that somebody else got the seat), ``closed`` (everybody else
        has left) or ``failed``; empty while it is at the table."""
        return self._table.gone_why

    @property
    def gone_problem(self) -> ShitheadError | None:
        """What failed."""
        return self._table.gone_problem

    @property
    def last_round_file(self) -> Path | None:
        """The file of the last round that was saved in this run."""
        return self._pump.last_round_file

    @property
    def snapshot(self) -> Snapshot:
        """The table as this person may see it now."""
        snapshot = self._table.snapshot
        if snapshot is None:
            raise LocalProtocolError("no_table", "There is no table yet.")
        return snapshot

    @property
    def has_heard(self) -> bool:
        """False from a start at a stored table until a member has told what it holds."""
        core = self._table.core
        return core is not None and (core.has_heard or len(self._table.members) <= 1)

    async def changed(self) -> None:
        """Waits for the next change of the snapshot."""
        await self._table.changed()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls ``listener`` on the event loop after each change, with the news of it (maybe none).

        Returns what ends it.
        """
        return self._table.subscribe(listener)

    def tell(self, sentence: Sentence) -> None:
        """Tells the listeners of this node alone something that its person should hear."""
        self._table.tell(News("error", {"sentence": sentence}))

    # -- what a host does ----------------------------------------------------------------------------

    async def admit(self, key: bytes) -> None:
        """Lets somebody in who is at the door. Raises ``LocalProtocolError`` where there is nobody."""
        await self._door.admit(key)

    async def refuse(self, key: bytes, why: str = "refused") -> None:
        """Turns somebody at the door away."""
        await self._door.refuse(key, why)

    async def kick(self, key: bytes) -> None:
        """Takes a member off the table, never in mid-round. Raises ``LocalProtocolError``."""
        await self._door.dismiss([key], "kicked")

    async def close_table(self) -> None:
        """Ends the table for everybody, in order: between rounds only."""
        others = [key for key in self._table.members if key != self.key]
        if others:
            await self._door.dismiss(others, "closed")

    async def offer_round(self) -> None:
        """Offers the next round to all who are present. Raises ``RuleError`` or ``LocalProtocolError``."""
        table = self._table
        present = {self.key} | {key for key in table.members if self._links.is_present(key)}

        def make(core: Core) -> Sequence[e.Body]:
            members = [key for key in core.session.members() if key in present]
            if len(members) < 2:
                raise LocalProtocolError("too_few", "A round needs at least two players.")
            core.require_room(members)
            turn_s, arrange_s, grace_s = table.limits
            return [core.session.offer(table.rules, members, grace_s, turn_s=turn_s, arrange_s=arrange_s)]

        await self._pump.write(make)

    # -- what a player does --------------------------------------------------------------------------

    async def act(self, move: PlayerMove, stamp: bytes | None = None) -> None:
        """Makes a move. Raises ``RuleError``, or ``LocalProtocolError``: ``stale`` when ``stamp`` is not that
        of the round as it now stands, ``no_round``, ``not_playing``."""

        def make(core: Core) -> Sequence[e.Body]:
            if stamp is not None:
                round_ = core.session.current()
                if round_ is None or stamp_of(round_, round_.everything()) != stamp:
                    raise LocalProtocolError("stale", "The table has changed meanwhile: look again.")
            return [core.session.intend(move)]

        await self._pump.write(make)

    async def answer_offer(self, yes: bool) -> None:
        """Says yes or no to the round that is offered."""

        def make(core: Core) -> Sequence[e.Body]:
            round_ = core.session.asks_consent()
            if round_ is None:
                raise LocalProtocolError("no_offer", "No round is offered at the moment.")
            core.session.consent(round_.contract, yes)
            return []

        await self._pump.write(make)

    async def void(self) -> None:
        """Gives up a round that somebody's silence has stopped. Raises ``LocalProtocolError``."""
        clock = self._table.clock
        await self._pump.write(lambda core: _give_up(core, clock.now()))

    async def say(self, text: str) -> None:
        """Says something to everyone at the table. Raises ``LocalProtocolError`` for what no screen takes."""
        self._exchange.say(text)

    # -- ends ----------------------------------------------------------------------------------------

    async def leave(self) -> None:
        """Leaves the round if one goes on, then the table, then closes. Never raises for the network."""
        table = self._table
        if table.core is not None and not table.gone.is_set():

            def make(core: Core) -> Sequence[e.Body]:
                left = core.session.leave_round()
                return [left] if left is not None else []

            def make_last(core: Core) -> Sequence[e.Body]:
                stays = core.me not in core.session.members() or core.session.is_seated(core.me)
                return [] if stays else [e.Leave(core.session.table, [])]

            with contextlib.suppress(ShitheadError):
                await self._wait_for_reveal()
                await self._pump.write(make)
                await self._pump.write(make_last)
        await self._outward.forget()
        await self.close()

    async def _wait_for_reveal(self) -> None:
        """A peer that ends first waits a little until the others hold its reveal."""
        table = self._table
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_WAIT_S):
                while (
                    table.snapshot is not None
                    and table.snapshot.round is not None
                    and table.snapshot.round.phase is Phase.REVEAL
                ):
                    await table.changed()

    async def close(self) -> None:
        """Says goodbye and ends everything this node started. May be called more than once."""
        table = self._table
        if table.closing:
            return
        table.closing = True
        core, mesh = table.core, table.mesh
        await self._outward.remember_last()
        if core is not None and table.gone_why != "failed":
            with contextlib.suppress(ShitheadError, OSError):
                await table.in_worker(lambda: core.save_unfinished(Outcome()))
        self._pump.stop()
        await table.stop_tasks()
        self._pump.end_wishes(LocalProtocolError("closed", "This peer is closed."))
        await self._pump.end_audits()
        await self._outward.close()
        if mesh is not None:
            await mesh.close()
        await table.in_worker(table.store.close)
        table.close_threads()
        table.gone.set()


def _give_up(core: Core, now: float) -> Sequence[e.Body]:
    """The entry that gives up a round whose debtors are overdue. Raises ``LocalProtocolError``."""
    session = core.session
    debts = session.overdue(now)
    round_ = session.current()
    if round_ is None or not goes_on(round_.everything().phase):
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
            seconds=max(1, round(patience_s(round_, duty) - age)),
        )
    body = session.leave_round(debts)
    if body is None:
        raise LocalProtocolError("not_in_round", "Only who plays in a round can give it up.")
    return [body]


def _last_rules(core: Core | None) -> RuleSet:
    """The rules of the newest round of a table, else the default ones."""
    round_ = core.session.current() if core is not None else None
    return round_.rules if round_ is not None else RuleSet()


__all__ = ["Node", "NodeConfig"]

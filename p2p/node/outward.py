"""A table seen from outside: announced as it is now, looked for where it is lost, remembered on this disk."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

from engine.errors import ShitheadError
from engine.rules import preset_named
from p2p.errors import NetworkProblem
from p2p.network.addresses import Address, show_address
from p2p.network.advert import CUSTOM_RULES, TABLE_ID_PREFIX_BYTES, TableAd
from p2p.network.mesh import Mesh
from p2p.network.transport import Endpoint
from p2p.node.links import Links
from p2p.node.reach import Reach
from p2p.node.table import Table
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import Snapshot

SEATS_WAIT_S: Final = 0.5
"""For an answer on a LAN that loses nothing a hundredth of this is enough."""

SEATS_ASKED: Final = 6
"""At 30 % loss each way one of six questions is answered in 98 of 100 cases."""


class Outward:
    """What others learn of a table, and what is kept of it. A part of a node (see ``p2p.node.table``)."""

    def __init__(self, table: Table, links: Links) -> None:
        self._table = table
        self._links = links
        self._reach: Reach | None = None
        self._notices: list[str] = []
        self._own_addresses: tuple[Address, ...] = ()
        self._rules_of = b""
        """The round whose rules the next one begins with."""
        self._offered = b""
        self._wanted: tuple[object, object] = ((), ())
        """The newest round seen, and what the next one was to be played by when it was seen first."""
        self._remembered: tuple[object, ...] = ()
        self._unkept: tuple[str, Mapping[bytes, Address]] | None = None
        """What of the table is still to be stored: its name, and where members are."""
        table.on_gone.append(self._on_gone)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where others reach this peer."""
        return tuple(show_address(address) for address in self._own_addresses)

    @property
    def notices(self) -> tuple[str, ...]:
        """Codes of lasting troubles."""
        return tuple(self._notices)

    def start(self, endpoint: Endpoint, mesh: Mesh) -> None:
        """Begins to follow the interfaces. Raises ``NetworkProblem("no_interface")``."""
        config = self._table.config
        self._reach = Reach(
            endpoint,
            mesh,
            self,
            only=config.interfaces,
            is_here_only=config.loopback,
            announces=config.discovery and not config.operator,
        )
        self._reach.start()
        self._reach.sweep(config.search)

    async def close(self) -> None:
        """Takes back what was announced."""
        if self._reach is not None:
            await self._reach.close()

    # -- what Reach tells ----------------------------------------------------------------------------

    def reach_changed(self, addresses: tuple[Address, ...]) -> None:
        """Others reach this peer at these addresses from now on."""
        self._own_addresses = addresses
        self._table.nudge()

    def reach_problem(self, problem: NetworkProblem) -> None:
        """A lasting trouble; told once."""
        if problem.code not in self._notices:
            self._notices.append(problem.code)
            self._table.tell(News("error", {"sentence": problem.sentence, "remedy": problem.remedy}))

    # -- announcing ----------------------------------------------------------------------------------

    def advertise(self) -> None:
        """Announces the table as it is now; nothing happens where that has been done."""
        ad = self.make_ad()
        if ad is not None and self._reach is not None and not self._table.config.operator:
            self._reach.advertise(ad)

    def make_ad(self) -> TableAd | None:
        """The table as this peer announces it; None before there is one."""
        table = self._table
        snapshot, mesh = table.snapshot, table.mesh
        if snapshot is None or mesh is None or not snapshot.name:
            return None
        playing = snapshot.round is not None and snapshot.round.phase not in (Phase.CLOSED, Phase.DEAD)
        full = len(snapshot.players) >= table.seats
        return TableAd(
            table=snapshot.name,
            table_id=snapshot.table[:TABLE_ID_PREFIX_BYTES],
            key=table.key,
            nonce=mesh.endpoint.hello.instance,
            port=mesh.endpoint.port,
            players=len(snapshot.players),
            seats=table.seats,
            # The seats and the rules to come are known to whoever acts for the table, and to nobody else for sure.
            rules=(preset_named(table.rules) or CUSTOM_RULES) if snapshot.acting_host == table.key else "",
            phase="playing" if playing else "full" if full else "open",
        )

    async def learn_seats(self) -> None:
        """A newcomer asks whoever acts for the host how many may sit here; the other entries say all the rest.

        No answer leaves the limit of the program. The link stands, so one comes, unless datagrams are lost.
        """
        table, reach = self._table, self._reach
        host = self._links.acting_host()
        address = table.mesh.address_of(host) if table.mesh is not None and host is not None else None
        if reach is None or address is None:
            return
        answered = asyncio.Event()

        def heard(ad: TableAd) -> None:
            if ad.key == host and table.core is not None and table.core.session.table.startswith(ad.table_id):
                table.seats = ad.seats
                answered.set()

        for _ in range(SEATS_ASKED):
            reach.ask(address, heard)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SEATS_WAIT_S):
                    await answered.wait()
                return

    def follow(self, snapshot: Snapshot) -> None:
        """Announces what has changed, looks for who is not linked, and remembers the table."""
        table = self._table
        if table.closing or table.gone.is_set() or table.key not in table.members:
            return
        round_ = snapshot.round
        agreed = round_ is not None and round_.phase not in (Phase.OFFER, Phase.KEYS, Phase.PREPARE, Phase.DEAL)
        if round_ is not None and round_.contract != self._offered:
            self._offered, self._wanted = round_.contract, (table.rules, table.limits)
        if round_ is not None and agreed and round_.contract != self._rules_of:
            self._rules_of = round_.contract
            if self._wanted == (table.rules, table.limits):
                # Whoever acts for the host one day goes on with the rules of the table; what its host has chosen
                # since it was offered is for the next one.
                table.rules, table.limits = round_.rules, round_.limits
        self.advertise()
        if self._reach is not None:
            self._reach.seek(self._links.lost())
        mesh = table.mesh
        met = {key: address for key in table.members if mesh and (address := mesh.address_of(key)) is not None}
        noted = (snapshot.name, table.seats, table.rules, len(snapshot.score), met)
        if noted != self._remembered and snapshot.name and not table.config.operator:
            self._remembered = noted
            self._unkept = (snapshot.name, met)
            table.spawn(self._remember(snapshot.table), "remember")

    # -- remembering ---------------------------------------------------------------------------------

    async def _remember(self, ident: bytes) -> None:
        table = self._table

        def note() -> None:
            unkept, self._unkept = self._unkept, None
            if unkept is not None:
                name, met = unkept
                here = table.config.loopback
                table.memory.note_table(ident, name, table.seats, table.rules, is_here_only=here)
                table.memory.note_met(met)

        await table.in_worker(note)

    async def remember_last(self) -> None:
        """On the way out: stores what is not stored yet."""
        snapshot = self._table.snapshot
        if self._unkept is not None and snapshot is not None and not self._table.gone.is_set():
            with contextlib.suppress(ShitheadError):
                await self._remember(snapshot.table)

    async def forget(self) -> None:
        """This peer has left, or the table has ended: nobody is asked to return to it."""
        table = self._table
        snapshot = table.snapshot
        self._unkept = None
        if snapshot is not None and not table.config.operator:
            with contextlib.suppress(ShitheadError):
                await table.in_worker(lambda: table.memory.forget_table(snapshot.table))

    def _on_gone(self, why: str) -> None:
        if why != "failed":
            self._table.spawn(self.forget(), "forget")


__all__ = ["Outward"]

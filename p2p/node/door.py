"""The door of a table: who knocks, who is let in or turned away, and who is sent away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.feeds.faults import Breach
from p2p.feeds.identity import BadName, check_name, fold_name
from p2p.network.addresses import is_loopback, show_address
from p2p.network.frames import Knock, Refuse
from p2p.network.mesh import Mesh
from p2p.node.core import Core
from p2p.node.links import Links
from p2p.node.pump import Pump
from p2p.node.table import Table
from p2p.rounds.news import News
from p2p.rounds.phases import goes_on
from p2p.rounds.snapshot import Knocking

MAX_DOOR: Final = 16
"""People at the door at once: more than ever fit at a table, so that a flood of knocks stays a short list."""

MAX_DOOR_PER_HOST: Final = 4
"""… from one host, this machine excepted: one machine can't keep everybody else out."""


REPLACED: Final = "replaced"
"""Why somebody is dismissed who was lost for so long that a newcomer got the seat."""


class Door:
    """Who is at the door. A part of a node (see ``p2p.node.table``)."""

    def __init__(self, table: Table, links: Links, pump: Pump) -> None:
        self._table = table
        self._links = links
        self._pump = pump
        self._waiting: dict[bytes, Knocking] = {}

    @property
    def waiting(self) -> tuple[Knocking, ...]:
        """Who waits, in the order of the knocks."""
        return tuple(self._waiting.values())

    def is_waiting(self, peer: bytes) -> bool:
        """Whether a peer is at the door."""
        return peer in self._waiting

    def went_away(self, peer: bytes) -> None:
        """The link to somebody who may have waited is lost."""
        self._waiting.pop(peer, None)

    def may_be_replaced(self) -> tuple[bytes, ...]:
        """Members whose seat a newcomer may have: lost for longer than the grace, and in no round that goes on.

        A host of bots that are still here is none of them.
        """
        core, snapshot = self._table.core, self._table.snapshot
        if core is None or snapshot is None:
            return ()
        round_ = snapshot.round
        playing = round_.roster if round_ is not None and goes_on(round_.phase) else ()
        operators = {player.operator for player in snapshot.players}
        return tuple(key for key in self._links.lapsed() if key not in operators and key not in playing)

    # -- knocks --------------------------------------------------------------------------------------

    async def knocked(self, peer: bytes, knock: Knock) -> None:
        """Answers a knock: members get what they lack, others wait for a person or hear why they can't."""
        table = self._table
        core, mesh = table.core, table.mesh
        if core is None or mesh is None:
            return
        refusal = self._refusal(peer, knock)
        if peer in table.members:
            # It comes back: it gets what it lacks.
            mesh.send(peer, await table.in_worker(core.have))
        elif refusal is not None:
            mesh.send(peer, refusal)
        elif self._has_room(mesh, peer):
            address = mesh.address_of(peer)
            shown = show_address(address) if address is not None else ""
            self._waiting[peer] = Knocking(peer, check_name(knock.name), knock.operator, shown)
            values = {"player": peer, "name": knock.name, "bot": bool(knock.operator), "address": shown}
            table.tell(News("knocked", values))
            await table.refresh()

    def _has_room(self, mesh: Mesh, peer: bytes) -> bool:
        address = mesh.address_of(peer)
        if peer in self._waiting or len(self._waiting) >= MAX_DOOR or address is None:
            return False
        places = [mesh.address_of(key) for key in self._waiting]
        beside = sum(place is not None and place[0] == address[0] for place in places)
        return beside < MAX_DOOR_PER_HOST or is_loopback(address)

    def _refusal(self, peer: bytes, knock: Knock) -> Refuse | None:
        table = self._table
        snapshot = table.snapshot
        if snapshot is None or not snapshot.name:
            return Refuse("no_table")
        if knock.table_id and not snapshot.table.startswith(knock.table_id):
            return Refuse("other_table")
        acting = snapshot.acting_host
        if acting is not None and acting != table.key and table.mesh is not None:
            # The scope of a link-local address means something on this machine only.
            places = [place for place in table.mesh.addresses_of(acting) if not (len(place) == 4 and place[3])]
            if places:
                return Refuse("elsewhere", (("address", show_address(places[0])),))
        try:
            name = check_name(knock.name)
        except BadName as problem:
            return Refuse("bad_name", (("why", problem.code),))
        if any(fold_name(player.name) == fold_name(name) for player in snapshot.players):
            return Refuse("name_taken", (("name", name),))
        if len(snapshot.players) - len(self.may_be_replaced()) >= table.seats:
            return Refuse("full", (("seats", str(table.seats)),))
        if knock.operator and knock.operator not in table.members | {peer}:
            return Refuse("operator")
        return None

    # -- what a host does ----------------------------------------------------------------------------

    async def admit(self, key: bytes) -> None:
        """Lets somebody in who is at the door. Raises ``LocalProtocolError`` where there is nobody."""
        table = self._table
        knocking = self._at_door(key)
        replaced = list(self.may_be_replaced()[: max(0, len(table.members) + 1 - table.seats)])
        if len(table.members) - len(replaced) >= table.seats:
            await self.refuse(key, "full")
            raise LocalProtocolError("table_full", "The table is full: it has {seats} seats.", seats=table.seats)
        body = e.Admit(key, knocking.name, knocking.operator)

        def make(core: Core) -> Sequence[e.Body]:
            # Others may have come or gone since the knock: a host must not sign what nobody may sign.
            try:
                core.session.check_admission(body)
            except Breach as breach:
                raise LocalProtocolError(
                    "cannot_admit", "{name} can't be let in: {reason}.", name=knocking.name, reason=breach.reason
                ) from None
            gone = [e.Dismiss(each, REPLACED) for each in _dismissible(core, replaced)]
            if len(gone) < len(replaced):
                raise LocalProtocolError(
                    "table_full", "The table is full: it has {seats} seats.", seats=table.seats
                )
            return [*gone, body]

        try:
            await self._pump.write(make)
        except LocalProtocolError as problem:
            if problem.code == "cannot_admit" and key in self._waiting:
                refusal = self._refusal(key, Knock(b"", knocking.name, knocking.operator))
                await self.refuse(key, refusal.code if refusal is not None else "refused")
            raise
        self._waiting.pop(key, None)
        await table.say_what_is_here(key)
        await table.refresh()

    async def refuse(self, key: bytes, why: str = "refused") -> None:
        """Turns somebody at the door away. Raises ``LocalProtocolError`` where there is nobody (any more)."""
        self._at_door(key)
        snapshot = self._table.snapshot
        if snapshot is not None and snapshot.player(key) is not None:
            raise LocalProtocolError("nobody_there", "Nobody of that name is at the door.")
        del self._waiting[key]
        if self._table.mesh is not None:
            self._table.mesh.send(key, Refuse(why))
        await self._table.refresh()

    def _at_door(self, key: bytes) -> Knocking:
        knocking = self._waiting.get(key)
        if knocking is None:
            raise LocalProtocolError("nobody_there", "Nobody of that name is at the door.")
        return knocking

    async def dismiss(self, keys: Sequence[bytes], reason: str) -> None:
        """Takes members off the table, none of them in mid-round. Raises ``LocalProtocolError``."""

        def make(core: Core) -> Sequence[e.Body]:
            members = core.session.members()
            if any(key not in members or key == core.me for key in keys):
                raise LocalProtocolError("not_a_member", "Nobody of that name is at the table.")
            if len(_dismissible(core, keys)) < len(keys):
                raise LocalProtocolError(
                    "seated", "Somebody who plays can't be sent away in mid-round; give the round up first."
                )
            return [e.Dismiss(key, reason) for key in keys]

        await self._pump.write(make)


def _dismissible(core: Core, keys: Sequence[bytes]) -> list[bytes]:
    """Those of the keys that are members and sit in no round that goes on."""
    members, round_ = core.session.members(), core.session.current()
    playing = round_.number_of if round_ is not None and goes_on(round_.everything().phase) else {}
    return [key for key in keys if key in members and key not in playing and not core.session.is_seated(key)]


__all__ = ["MAX_DOOR", "MAX_DOOR_PER_HOST", "REPLACED", "Door"]

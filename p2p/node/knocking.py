"""Coming in: knocking at a table, following whoever acts for its host, and what a refusal means."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from p2p.errors import LocalProtocolError, NetworkProblem
from p2p.network.addresses import Address, is_local, parse_address, show_address
from p2p.network.frames import Have, Knock, Refuse
from p2p.network.mesh import Mesh
from p2p.node.pump import Pump
from p2p.node.table import Table

KNOCK_TIMEOUT_S: Final = 600.0
"""Somebody at the door waits for a person to look at the screen; after ten minutes nobody will."""

JOIN_TIMEOUT_S: Final = 15.0
"""Once admitted, the table's feeds are here within a second or two even on a bad Wi-Fi."""

MAX_REDIRECTS: Final = 8
"""A member that does not act for the host names the one who does. Should that one just have died, the first is
asked again, until it has noticed; each try takes seconds."""


class _Elsewhere(Exception):
    def __init__(self, address: Address) -> None:
        super().__init__(show_address(address))
        self.address = address


class Knocker:
    """This peer before it is a member. A part of a node (see ``p2p.node.table``)."""

    def __init__(self, table: Table, pump: Pump, wanted: bytes = b"") -> None:
        """``wanted``: the id of the table to join or the first bytes of it, empty: whichever is there."""
        self._table = table
        self._pump = pump
        self._wanted = wanted
        self._entry: asyncio.Future[bytes] | None = None
        """The id of the table, once its door has opened."""
        self._knocked = b""
        """At whose door this peer knocks: nobody else's word ends the wait there."""
        self._lock = asyncio.Lock()

    async def knock(self, address: Address, expected: bytes | None, on_waiting: Callable[[], None]) -> None:
        """Knocks until let in, and waits until the table's feeds are here. Raises ``NetworkProblem``."""
        table = self._table
        mesh = table.mesh
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
                while table.key not in table.members:
                    await table.changed()
        except TimeoutError:
            raise NetworkProblem("no_answer", address=show_address(address), seconds=JOIN_TIMEOUT_S) from None

    async def _knock_once(
        self, mesh: Mesh, address: Address, expected: bytes | None, on_waiting: Callable[[], None]
    ) -> None:
        table = self._table
        entry: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._entry = entry
        try:
            peer = self._knocked = self._pump.host = await mesh.connect(address, expected)
            mesh.send(peer, Knock(self._wanted, table.config.name, table.operator))
            on_waiting()
            async with asyncio.timeout(KNOCK_TIMEOUT_S):
                await entry
        except TimeoutError:
            raise NetworkProblem("no_answer", address=show_address(address), seconds=KNOCK_TIMEOUT_S) from None
        finally:
            if entry.done() and not entry.cancelled():
                entry.exception()  # or it would be reported as never looked at

    # -- what the other side says --------------------------------------------------------------------

    async def finds_table(self, peer: bytes, have: Have) -> bool:
        """Whether there is a table to compare with what ``peer`` has; taken up if its door has just opened."""
        table = self._table
        if table.core is not None:
            return True
        if self._entry is None or peer != self._knocked or not have.table_id.startswith(self._wanted):
            # Only whose door was knocked at can let this peer in.
            return False
        async with self._lock:
            if table.core is None:
                await self._pump.take_up(have.table_id, [])
        self.let_in(have.table_id)
        return True

    def let_in(self, table_id: bytes) -> None:
        """The door is open."""
        if self._entry is not None and not self._entry.done():
            self._entry.set_result(table_id)

    def lost(self, peer: bytes) -> None:
        """The link to a peer is lost: the wait at its door is over."""
        if self._entry is not None and not self._entry.done() and peer == self._knocked:
            self._entry.set_exception(NetworkProblem("lost", address="the table"))

    def refused(self, peer: bytes, refuse: Refuse) -> bool:
        """Takes a refusal in while this peer waits at a door; False: it does not wait at any."""
        entry = self._entry
        if entry is None or entry.done():
            return False
        if peer != self._knocked:
            return True
        values = dict(refuse.values)
        if refuse.code == "elsewhere":
            try:
                elsewhere = parse_address(values.get("address", ""))
                if is_local(elsewhere):
                    entry.set_exception(_Elsewhere(elsewhere))
                    return True
            except NetworkProblem:
                pass
        mesh = self._table.mesh
        address = mesh.address_of(peer) if mesh is not None else None
        shown = show_address(address) if address is not None else "the other side"
        entry.set_exception(refusal_problem(refuse, shown, self._table.config.name))
        return True


_REFUSALS: Final = {
    "bad_name": "your name cannot be used at that table",
    "no_table": "there is no table there",
    "other_table": "another table is there now",
    "operator": "a bot came without its host",
    "kicked": "the host has sent you away",
    "replaced": "your seat was given to somebody else while you were away",
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


__all__ = ["Knocker", "refusal_problem"]

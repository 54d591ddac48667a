"""Who of a table is heard, by this peer or through others, and who therefore acts for the host."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from p2p.network.frames import Linked
from p2p.node.table import Table
from p2p.rounds.news import News
from p2p.rounds.snapshot import LinkView


class Links:
    """How well each peer is heard. A part of a node (see ``p2p.node.table``)."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._own: dict[bytes, LinkView] = {}
        self._theirs: dict[bytes, frozenset[bytes]] = {}
        """Whom each member says it is linked to."""
        self._shown: dict[bytes, str] = {}
        """The status of each member that has been told as news, or was there when it came."""
        self._missed_at: dict[bytes, float] = {}
        """Since when, by the table's clock, each member is heard neither here nor by others."""
        self._said: frozenset[bytes] = frozenset()
        """Whom this peer has told the members it is linked to."""

    # -- what is known -------------------------------------------------------------------------------

    def status(self, key: bytes) -> str:
        """How well the own link to a peer is heard."""
        return "self" if key == self._table.key else self._own.get(key, LinkView("lost")).status

    def view(self, key: bytes) -> LinkView:
        """What a person is shown of a peer: one that only others reach is ``relayed``."""
        view = self._own.get(key, LinkView("lost"))
        if view.status != "lost":
            return view
        relayed = any(key in theirs and self.status(peer) != "lost" for peer, theirs in self._theirs.items())
        return LinkView("relayed") if relayed else view

    def views(self) -> Mapping[bytes, LinkView]:
        """The views of all members and of whoever else is or was linked."""
        return {key: self.view(key) for key in self._own.keys() | self._table.members}

    def is_present(self, key: bytes) -> bool:
        """Whether a peer is heard at all."""
        return key == self._table.key or self.view(key).status != "lost"

    def are_linked(self, peer: bytes, other: bytes) -> bool:
        """Whether ``peer`` says that it is linked to ``other``; False too where it has said nothing."""
        theirs = self._theirs.get(peer)
        return theirs is not None and other in theirs

    def lost(self) -> frozenset[bytes]:
        """The members that are not linked with this peer."""
        return frozenset(key for key in self._table.members if self.status(key) == "lost")

    def lapsed(self) -> tuple[bytes, ...]:
        """Members that have been missed for longer than the grace, those first who have been so longest."""
        snapshot = self._table.snapshot
        round_ = snapshot.round if snapshot is not None else None
        grace_s = round_.limits[2] if round_ is not None else self._table.limits[2]
        now = self._table.clock.now()
        missed = sorted((at, key) for key, at in self._missed_at.items() if now - at >= grace_s)
        return tuple(key for _, key in missed)

    def acting_host(self) -> bytes | None:
        """Who acts for the host: the host itself, else the first of the members who is present."""
        snapshot = self._table.snapshot
        if snapshot is None:
            return None
        # A bot that somebody else runs has no say; a seat that plays by itself has its owner beside it.
        order = [player.key for player in snapshot.players if player.operator in (b"", player.key)]
        if snapshot.host in order:
            order.remove(snapshot.host)
            order.insert(0, snapshot.host)
        return next((key for key in order if self.is_present(key)), None)

    # -- what changes --------------------------------------------------------------------------------

    def changed(self, peer: bytes, status: str) -> None:
        """The own link to a peer is heard otherwise now."""
        table = self._table
        rtt = table.mesh.rtt_s(peer) if table.mesh is not None else None
        self._own[peer] = LinkView(status, rtt)
        self._tell_members()
        if status == "lost":
            self._theirs.pop(peer, None)
        self._follow()

    def heard(self, peer: bytes, linked: Linked) -> None:
        """A peer says whom it is linked to."""
        table, keys = self._table, frozenset(linked.keys)
        if self._theirs.get(peer) != keys:
            self._theirs[peer] = keys
            if peer in table.members and table.attention.changes[peer].take(1, asyncio.get_running_loop().time()):
                self._follow()

    def follow_members(self) -> None:
        """The membership may have changed: a newcomer's link is no news, it has come by it."""
        table = self._table
        others = table.members - {table.key}
        self._shown = {key: self._shown.get(key) or self.view(key).status for key in others}
        self._note_missed()
        self._tell_members()

    def _follow(self) -> None:
        """Tells whose status is another now: also one that others alone make or unmake (``relayed``)."""
        table = self._table
        for key, before in self._shown.items():
            view = self.view(key)
            if view.status != before:
                self._shown[key] = view.status
                ms = round(view.rtt_s * 1000) if view.rtt_s is not None else None
                table.tell(News("link", {"player": key, "status": view.status, "rtt_ms": ms}))
        self._note_missed()
        table.nudge()

    def _note_missed(self) -> None:
        now = self._table.clock.now()
        missed = [key for key in self._table.members if not self.is_present(key)]
        self._missed_at = {key: self._missed_at.get(key, now) for key in missed}

    def own(self) -> Linked | None:
        """What this peer has told of its links; None: nothing yet."""
        return Linked(tuple(sorted(self._said))) if self._said else None

    def _tell_members(self) -> None:
        """Tells the members whom this peer is linked to; where a link was lost, also what it has, so that
        the others send what it may have missed."""
        table = self._table
        mesh = table.mesh
        if mesh is None or table.closing:
            return
        linked = frozenset(key for key in mesh.peers if key in table.members and self.status(key) != "lost")
        if linked == self._said:
            return
        lost = self._said - linked
        self._said = linked
        for key in linked:
            mesh.send(key, Linked(tuple(sorted(linked))))
            if lost:
                table.spawn(table.say_what_is_here(key), "have")


__all__ = ["Links"]

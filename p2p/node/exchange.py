"""What members send each other: entries, what each has, what each asks for, and what is said (docs/protocol.md).

``Exchange`` is the handler of the mesh: every frame and every change of a link comes in here and goes on to the
part that it concerns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from p2p.errors import LocalProtocolError, NetworkProblem
from p2p.feeds.entries import Entry
from p2p.network.addresses import Address
from p2p.network.budget import QUESTION_BYTES
from p2p.network.frames import (
    MAX_SAY_CHARACTERS,
    Ask,
    CloseCode,
    Entries,
    Frame,
    Have,
    Hello,
    Knock,
    Linked,
    Refuse,
    Say,
)
from p2p.network.gossip import is_said, make_say
from p2p.network.link_types import LinkStatus
from p2p.node.door import Door
from p2p.node.knocking import Knocker
from p2p.node.links import Links
from p2p.node.pump import Pump
from p2p.node.sync import answer, batches, lacking, unknown_heads
from p2p.node.table import Table, reason_for_departure
from p2p.rounds.news import News


class Exchange:
    """The frames of a table. A part of a node (see ``p2p.node.table``), and the handler of its mesh."""

    def __init__(self, table: Table, links: Links, pump: Pump, door: Door, knocker: Knocker) -> None:
        self._table = table
        self._links = links
        self._pump = pump
        self._door = door
        self._knocker = knocker
        self._said: dict[bytes, int] = {}
        """The number of the last line heard of each author."""
        self._say_number = table.first_number
        self._asked: dict[tuple[bytes, type], Have | Ask | Knock | None] = {}
        """Questions that are being answered, by peer and kind, and the newest that waits behind each."""
        self._strangers: set[bytes] = set()
        """Members that say they sit at another table now."""

    # -- what the mesh tells -------------------------------------------------------------------------

    def link_up(self, peer: bytes, hello: Hello) -> None:
        """A fresh link: both sides say what they have."""
        self._links.changed(peer, "good")
        if peer in self._table.members:
            self._table.spawn(self._table.say_what_is_here(peer), "have")

    def link_down(self, peer: bytes, reason: CloseCode) -> None:
        """No link any more."""
        self._heard_otherwise(peer, "lost")

    def may_enter(self, peer: bytes, address: Address) -> Refuse | None:
        """Everybody may link; the door is further in."""
        return None

    def status(self, peer: bytes, status: LinkStatus) -> None:
        """A link is heard better or worse."""
        self._heard_otherwise(peer, status.name.lower())

    def problem(self, address: Address, problem: NetworkProblem) -> None:
        """A link failed in a way that a person should hear."""
        self._table.tell(News("error", {"sentence": problem.sentence, "remedy": problem.remedy}))

    def _heard_otherwise(self, peer: bytes, status: str) -> None:
        if status == "lost":
            self._door.went_away(peer)
            self._knocker.lost(peer)
        self._links.changed(peer, status)

    def frame(self, peer: bytes, frame: Frame) -> None:
        """A frame of a peer, member or not."""
        table = self._table
        match frame:
            case Entries():
                if table.core is not None and (peer in table.members or table.key not in table.members):
                    self._pump.take_in_entries(peer, frame.entries)
            case Have() | Ask() | Knock():
                self._on_question(peer, frame)
            case Refuse():
                if not self._knocker.refused(peer, frame):
                    self._on_news_of_the_table(peer, frame.code)
            case Say():
                self._on_say(peer, frame)
            case Linked():
                self._links.heard(peer, frame)
            case _:
                pass

    # -- questions -----------------------------------------------------------------------------------

    def _on_question(self, peer: bytes, frame: Have | Ask | Knock) -> None:
        """A question is worked on while the newest of its kind and peer waits behind it; those between would ask
        for no more than that one."""
        key = (peer, type(frame))
        if key in self._asked:
            self._asked[key] = frame
        elif self._table.attention.answers[peer].take(QUESTION_BYTES, asyncio.get_running_loop().time()):
            self._asked[key] = None
            self._table.spawn(self._answer_all(key, frame), "answer")

    async def _answer_all(self, key: tuple[bytes, type], frame: Have | Ask | Knock | None) -> None:
        peer, loop = key[0], asyncio.get_running_loop()
        try:
            while frame is not None:
                match frame:
                    case Have():
                        await self._on_have(peer, frame)
                    case Ask():
                        await self._on_ask(peer, frame)
                    case Knock():
                        await self._door.knocked(peer, frame)
                frame, self._asked[key] = self._asked[key], None
                if not self._table.attention.answers[peer].take(QUESTION_BYTES, loop.time()):
                    return
        finally:
            del self._asked[key]

    def _send_entries(self, peer: bytes, entries: Sequence[Entry]) -> None:
        """Sends a peer what it has asked for, and counts it."""
        mesh = self._table.mesh
        size = 0
        for frame in batches(entries):
            size += sum(len(data) for data, _ in frame.entries)
            if mesh is not None:
                mesh.send(peer, frame)
        self._table.attention.answers[peer].spend(size, asyncio.get_running_loop().time())

    # -- what is held --------------------------------------------------------------------------------

    async def _on_have(self, peer: bytes, have: Have) -> None:
        table = self._table
        if not await self._knocker.finds_table(peer, have):
            return
        core, mesh = table.core, table.mesh
        if core is None or mesh is None:
            return
        if have.table_id != core.session.table:
            if peer not in table.members:
                # It was here, or thinks that this peer sits where it once did.
                mesh.send(peer, Refuse("other_table"))
            return
        self._knocker.let_in(have.table_id)

        def work() -> tuple[list[Entry], Have | None, bool]:
            members = core.session.members()
            if peer in members or core.me not in members:
                core.note_have(have)
            mine = core.have() if unknown_heads(core.session.feeds, have) else None
            was_here = peer not in members and peer in core.session.membership.ever()
            return lacking(core.session.feeds, have) if peer in members else [], mine, was_here

        entries, mine, was_here = await table.in_worker(work)
        if was_here:
            mesh.send(peer, Refuse(reason_for_departure(core, peer)))
        if peer in table.members:
            self._send_entries(peer, entries)
        if mine is not None:
            mesh.send(peer, mine)
        linked = self._links.own()
        if peer in table.members and linked is not None:
            mesh.send(peer, linked)
        self._pump.wake()

    async def _on_ask(self, peer: bytes, ask: Ask) -> None:
        table = self._table
        core, mesh = table.core, table.mesh
        if core is None or mesh is None or peer not in table.members or ask.table_id != core.session.table:
            return
        self._send_entries(peer, await table.in_worker(lambda: answer(core.session.feeds, ask)))

    def _on_news_of_the_table(self, peer: bytes, code: str) -> None:
        """A member tells somebody who comes back what has become of its seat, or of the table."""
        table = self._table
        core, snapshot = table.core, table.snapshot
        if core is None or snapshot is None or peer not in table.members:
            return
        if code in ("kicked", "replaced", "closed") and not core.has_heard:
            table.leave(code)
        elif code == "other_table":
            self._strangers.add(peer)
            gone = self._strangers | {table.key}
            if all(player.key in gone or player.operator in gone for player in snapshot.players):
                table.leave("closed")

    # -- what is said --------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Says something to everyone at the table. Raises ``LocalProtocolError`` for what no screen takes."""
        table = self._table
        cleaned = " ".join(text.split())
        if not cleaned:
            return
        if len(cleaned) > MAX_SAY_CHARACTERS:
            raise LocalProtocolError(
                "say_long", "One line has at most {longest} characters.", longest=MAX_SAY_CHARACTERS
            )
        snapshot, mesh = table.snapshot, table.mesh
        if snapshot is None:
            raise LocalProtocolError("no_table", "There is no table yet.")
        self._say_number += 1
        frame = make_say(table.private, snapshot.table, self._say_number, cleaned)
        if mesh is not None:
            for key in table.members:
                mesh.send(key, frame)
        table.tell(News("said", {"player": table.key, "name": snapshot.name_of(table.key), "text": cleaned}))

    def _on_say(self, peer: bytes, frame: Say) -> None:
        table = self._table
        snapshot, mesh = table.snapshot, table.mesh
        if snapshot is None or frame.table_id != snapshot.table or frame.author not in table.members:
            return
        if frame.number <= self._said.get(frame.author, -1) or frame.author == table.key:
            return
        attention, now = table.attention, asyncio.get_running_loop().time()
        if peer not in table.members or not attention.heard[peer].take(1, now) or not is_said(frame):
            return
        if not attention.lines[frame.author].take(1, now):
            return
        self._said[frame.author] = frame.number
        if mesh is not None:
            for key in table.members - {peer, frame.author}:
                mesh.send(key, frame)
        name = snapshot.name_of(frame.author)
        table.tell(News("said", {"player": frame.author, "name": name, "text": frame.text}))


__all__ = ["Exchange"]

"""Everyone linked to everyone: links to peers by identity, kept up, one each.

The mesh knows keys, addresses and frames, and nothing of the game. Both sides dial, from the one game
socket: between two firewalls that drop what they did not ask for, only that gets through. Of the two links
that may come of it, the one whose dialler has the smaller key stays.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from p2p.errors import NetworkProblem
from p2p.network.addresses import Address, is_loopback, show_address
from p2p.network.budget import CARDS_BURST, CARDS_PER_SECOND, Rates
from p2p.network.frames import Addresses, CloseCode, Frame, Hello, Refuse, encode
from p2p.network.gossip import dialable, is_from_author, make_addresses
from p2p.network.link import BUSY, Link
from p2p.network.link_types import LinkStatus
from p2p.network.transport import Endpoint

log = logging.getLogger(__name__)

PING_SECONDS: Final = 2.0
"""Often enough to show a lost player within seconds, rare enough to be no traffic at all."""

TICK_SECONDS: Final = 0.5

FRESH_SECONDS: Final = 3.0
"""A link heard within this time is alive (pings come every 2 s); an older one gives way to a new one."""

GRACE_SECONDS: Final = 1.0
"""After a link fell to the rule of the smaller key, its twin is up within this time or there is none."""

FIRST_BACKOFF_SECONDS: Final = 0.25
MAX_BACKOFF_SECONDS: Final = 4.0
"""A peer that comes back is linked within 4 s; one that stays away costs a packet or two a second."""

MAX_PEER_ADDRESSES: Final = 8
"""Addresses remembered of a peer, the last that worked first."""

MAX_CARDS: Final = 64
"""Address lists kept of peers, members or not (yet); those of members stay."""

MAX_STRANGERS: Final = 16
"""Links of peers that dialled this one and are no members: as many as may wait at the door."""

MAX_STRANGERS_PER_HOST: Final = 4
"""… of one host, this machine excepted: a few bots with who brings them."""

STRANGER_SECONDS: Final = 20.0
"""How long a stranger may stay linked without being at the door. Whoever wants in knocks at once."""

KNOCK_SECONDS: Final = 0.5
"""How long it has to knock before it gives way to another stranger where there is no room for both: so short that
places become free faster (16 in that time) than `p2p.network.gate` lets strangers in (24 a second)."""

MAX_SPARES: Final = 2
"""Links that a member dialled beside the one in use: each of its addresses may have brought one. A stranger has
one such link."""

SLEEP_SECONDS: Final = 5.0
"""A gap between two ticks, by either clock, that means the machine slept: sockets may be dead."""


class MeshHandler(Protocol):
    """Who uses a mesh. All calls come from the event loop and must not block it."""

    def link_up(self, peer: bytes, hello: Hello) -> None:
        """A fresh link to ``peer`` carries frames; called again when another link took its place, since
        frames under way on the old one may be lost: say again what you have."""

    def link_down(self, peer: bytes, reason: CloseCode) -> None:
        """There is no link to ``peer`` any more."""

    def frame(self, peer: bytes, frame: Frame) -> None:
        """``peer`` sent a frame."""

    def may_enter(self, peer: bytes, address: Address) -> Refuse | None:
        """None lets a peer that dialled us in; a refusal is sent to it."""

    def status(self, peer: bytes, status: LinkStatus) -> None:
        """How well ``peer`` is heard has changed."""

    def problem(self, address: Address, problem: NetworkProblem) -> None:
        """A link to ``address`` failed in a way that a person should hear."""


@dataclass(slots=True)
class _Member:
    """A peer that is to be linked."""

    addresses: list[Address] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def learn(self, address: Address, *, first: bool = False) -> bool:
        """Remember an address; True if it is news."""
        known = address in self.addresses
        if known and first:
            self.addresses.remove(address)
        if not known or first:
            self.addresses.insert(0 if first else len(self.addresses), address)
            del self.addresses[MAX_PEER_ADDRESSES:]
        if not known:
            self.wake.set()
        return not known


@dataclass(slots=True)
class _Peer:
    """A peer that is linked: the link in use, and others it dialled and may still prefer."""

    link: Link
    status: LinkStatus = LinkStatus.GOOD
    pinged_at: float = 0.0
    came_at: float = 0.0
    """When the peer was linked, whatever links it has had since."""
    spares: list[Link] = field(default_factory=list)


class Mesh:
    """Links to peers by key over one endpoint; takes over the endpoint's callbacks.

    ``close`` closes the endpoint as well. ``on_wake`` is called after the machine slept, when the sockets have
    been opened again: a good moment to look at the interfaces and to announce anew.
    """

    def __init__(
        self, endpoint: Endpoint, key: Ed25519PrivateKey, handler: MeshHandler, first_number: int | None = None
    ) -> None:
        """``first_number``: above it the own lists of addresses are numbered; without one, by the clock."""
        self.endpoint = endpoint
        self._key = key
        self._handler = handler
        self._peers: dict[bytes, _Peer] = {}
        self._members: dict[bytes, _Member] = {}
        self._cards: OrderedDict[bytes, Addresses] = OrderedDict()
        self._own_card: Addresses | None = None
        # Above the numbers of an earlier start, or others would pass over what is new.
        self._card_number = first_number if first_number is not None else time.time_ns() // 1_000_000
        self.on_wake: Callable[[], None] = lambda: None
        self.is_guest: Callable[[bytes], bool] = lambda peer: False
        """Of the owner: whether a stranger is waited for, so that it may stay linked."""
        self._checks = Rates(CARDS_BURST, CARDS_PER_SECOND, MAX_CARDS)
        self._graces: dict[bytes, asyncio.TimerHandle] = {}
        self._loop = asyncio.get_running_loop()
        self._closed = False
        endpoint.on_link = self._adopt
        endpoint.allow = self._may_enter
        endpoint.on_problem = handler.problem
        self._ticked = (self._loop.time(), time.time())
        self._ticker = self._loop.call_later(TICK_SECONDS, self._tick)

    # -- what users call

    @property
    def peers(self) -> Mapping[bytes, LinkStatus]:
        """Everyone linked, with how well each is heard."""
        return {key: peer.status for key, peer in self._peers.items()}

    def address_of(self, peer: bytes) -> Address | None:
        """Where a linked peer is."""
        held = self._peers.get(peer)
        return held.link.address if held is not None else None

    def rtt_s(self, peer: bytes) -> float | None:
        """Smoothed round trip to a linked peer in seconds, None before the first ping is answered."""
        held = self._peers.get(peer)
        return held.link.rtt_s if held is not None else None

    async def connect(self, address: Address, expected: bytes | None = None) -> bytes:
        """Link to whoever is at ``address`` and give its key; raises what ``Endpoint.dial`` raises."""
        link = await self.endpoint.dial(address, expected)
        self._adopt(link)
        return link.peer

    def set_members(self, members: Mapping[bytes, Iterable[Address]]) -> None:
        """The peers that are to be linked from now on, with addresses known of each; our own key is left out.

        Members are dialled until they are linked, and again after each loss. Links to others stay.
        """
        came = members.keys() - self._members.keys()
        for key in self._members.keys() - members.keys():
            task = self._members.pop(key).task
            if task is not None:
                task.cancel()
        for key, addresses in members.items():
            if key == self.endpoint.key:
                continue
            member = self._members.setdefault(key, _Member())
            for address in addresses:
                member.learn(address)
            if key in self._cards:
                for address in dialable(self._cards[key]):
                    member.learn(address)
            peer = self._peers.get(key)
            if peer is not None:
                member.learn(peer.link.address, first=True)
                if key in came:
                    peer.link.trust()
            if key in came and key in self._cards:
                # As a stranger's it was kept and not passed on.
                self.broadcast(self._cards[key], but={key})
            self._want(key)
        self._tell_gate()

    def learn(self, peer: bytes, addresses: Iterable[Address]) -> None:
        """A member may be at these addresses too; it is dialled there if it is not linked."""
        member = self._members.get(peer)
        if member is None:
            return
        for address in reversed(list(addresses)):
            member.learn(address, first=True)
        self._want(peer)
        self._tell_gate()

    def addresses_of(self, peer: bytes) -> tuple[Address, ...]:
        """Where a peer may be dialled: of its link, as a member, by its own word; the likeliest first."""
        found: dict[Address, None] = {}
        held, member, card = self._peers.get(peer), self._members.get(peer), self._cards.get(peer)
        if held is not None:
            found[held.link.address] = None
        found.update(dict.fromkeys(member.addresses if member is not None else ()))
        found.update(dict.fromkeys(dialable(card) if card is not None else ()))
        return tuple(found)

    def send(self, peer: bytes, frame: Frame) -> bool:
        """Send a frame to a peer; False if there is no link to it."""
        held = self._peers.get(peer)
        if held is None:
            return False
        held.link.send(frame)
        return True

    def broadcast(self, frame: Frame, but: Collection[bytes] = ()) -> None:
        """Send a frame to everyone linked, except ``but``."""
        data = encode(frame)
        for key, peer in list(self._peers.items()):
            if key not in but:
                peer.link.send_encoded(data)

    def pause(self, peer: bytes, is_paused: bool) -> None:
        """Whether nothing is read of a peer for now: QUIC sends it again later."""
        held = self._peers.get(peer)
        if held is not None:
            held.link.is_paused = is_paused

    def drop(self, peer: bytes, code: CloseCode = CloseCode.DONE) -> None:
        """Close the link to a peer; a member will be dialled again, so take it out of the members first."""
        held = self._peers.get(peer)
        if held is not None:
            for link in (held.link, *held.spares):
                link.close(code)

    def announce(self, addresses: Iterable[Address]) -> None:
        """Tell everyone linked, now and later, where we can be dialled; they pass it on."""
        self._card_number += 1
        self._own_card = make_addresses(self._key, self._card_number, addresses)
        self.broadcast(self._own_card)

    async def close(self) -> None:
        """Stop dialling, say goodbye, close the endpoint; nothing of the mesh survives."""
        self._closed = True
        self._ticker.cancel()
        for handle in self._graces.values():
            handle.cancel()
        self._graces.clear()
        tasks = [member.task for member in self._members.values() if member.task is not None]
        self._members.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.endpoint.close()

    # -- links come and go

    def _may_enter(self, peer: bytes, address: Address) -> Refuse | None:
        """Whether somebody who dialled may stay: the owner's word, and for strangers room among the others."""
        if peer not in self._members and peer not in self._peers:
            strangers = self._strangers()
            beside = [key for key in strangers if self._peers[key].link.address[0] == address[0]]
            crowded = len(beside) >= MAX_STRANGERS_PER_HOST and not is_loopback(address)
            if crowded or len(strangers) >= MAX_STRANGERS:
                # Room is made among those of the same host, if it has too many, by one who only holds a place.
                idle = [key for key in (beside if crowded else strangers) if self._may_give_way(key)]
                if not idle:
                    return Refuse(code=BUSY)
                self.drop(min(idle, key=lambda key: self._peers[key].came_at), CloseCode.REFUSED)
        return self._handler.may_enter(peer, address)

    def _may_give_way(self, peer: bytes) -> bool:
        return self._loop.time() - self._peers[peer].came_at > KNOCK_SECONDS and not self.is_guest(peer)

    def _strangers(self) -> list[bytes]:
        """Linked peers that dialled this one and are no members."""
        return [key for key, held in self._peers.items() if key not in self._members and not held.link.dialled]

    def _adopt(self, link: Link) -> None:
        """A link is up: it becomes the peer's link, a spare, or falls to one already there."""
        held = self._peers.get(link.peer)
        link.on_closed = partial(self._on_closed, link)
        if link.peer in self._members:
            link.trust()
        if held is None or not held.link.is_up:
            spares = held.spares if held is not None else []
            came_at = held.came_at if held is not None else self._loop.time()
            self._peers[link.peer] = _Peer(link, spares=spares, came_at=came_at)
            self._use(link)
            return
        old = held.link
        if self._is_over(old, link) or self._wins(link, old):
            held.link = link
            if not self._is_over(old, link) and not old.dialled and not link.dialled:
                # It dialled twice and will close the one it does not want: closing ours might hit its choice.
                held.spares.append(old)
                if len(held.spares) > (MAX_SPARES if link.peer in self._members else 1):
                    held.spares.pop(0).close(CloseCode.DUPLICATE)
            else:
                old.close(CloseCode.DUPLICATE)
            self._use(link)
        else:
            link.close(CloseCode.DUPLICATE)

    @staticmethod
    def _is_over(old: Link, new: Link) -> bool:
        """True if the peer was started again since ``old``, or has not been heard on it for a while."""
        if new.hello is None or old.hello is None:
            return True
        return new.hello.instance != old.hello.instance or old.unheard_s > FRESH_SECONDS

    def _wins(self, new: Link, old: Link) -> bool:
        """Of two live links, whether ``new`` stays; both ends come to the same answer."""
        if new.dialled == old.dialled:
            return not new.dialled
        we_are_smaller = self.endpoint.key < new.peer
        return new.dialled == we_are_smaller

    def _use(self, link: Link) -> None:
        peer = link.peer
        grace = self._graces.pop(peer, None)
        if grace is not None:
            grace.cancel()
        held = self._peers[peer]
        held.pinged_at = self._loop.time()
        member = self._members.get(peer)
        if member is not None:
            member.learn(link.address, first=True)
            self._tell_gate()
        link.ping()
        link.on_frame = partial(self._on_frame, link)
        if held.link is not link or not link.is_up:
            return  # a frame that came before its callback closed it
        cards = [card for card in self._cards.values() if card.author in self._members and card.author != peer]
        for card in [self._own_card, *cards]:
            if card is not None:
                link.send(card)
        self._handler.link_up(peer, link.hello if link.hello is not None else self.endpoint.hello)
        if held.status is not LinkStatus.GOOD:
            held.status = LinkStatus.GOOD
            self._handler.status(peer, held.status)

    def _on_closed(self, link: Link, reason: CloseCode) -> None:
        held = self._peers.get(link.peer)
        if held is None:
            return
        if held.link is not link:
            if link in held.spares:
                held.spares.remove(link)
            return
        spare = next((spare for spare in reversed(held.spares) if spare.is_up), None)
        if spare is not None:
            held.spares.remove(spare)
            held.link = spare
            self._use(spare)
            return
        del self._peers[link.peer]
        if reason is CloseCode.DUPLICATE and not self._closed:
            # Its twin is about to come up (or just did not, on this side): no reason to cry yet.
            self._graces[link.peer] = self._loop.call_later(GRACE_SECONDS, self._down, link.peer, reason)
        else:
            self._down(link.peer, reason)

    def _down(self, peer: bytes, reason: CloseCode) -> None:
        self._graces.pop(peer, None)
        if peer not in self._peers:
            self._handler.link_down(peer, reason)
            self._want(peer)

    def _on_frame(self, link: Link, frame: Frame) -> None:
        if isinstance(frame, Addresses):
            self._take_card(link.peer, frame)
        else:
            self._handler.frame(link.peer, frame)

    def _take_card(self, sender: bytes, card: Addresses) -> None:
        held = self._cards.get(card.author)
        if card.author == self.endpoint.key or (held is not None and held.number >= card.number):
            return
        if sender not in self._members and card.author not in self._members and card.author != sender:
            return  # a stranger's word about strangers
        if not self._checks[sender].take(1, self._loop.time()):
            return
        if not is_from_author(card):
            log.info("addresses not signed by whom they name, from %s", sender.hex()[:8])
            return
        self._cards[card.author] = card
        self._cards.move_to_end(card.author)
        while len(self._cards) > MAX_CARDS:
            del self._cards[
                next((key for key in self._cards if key not in self._members), next(iter(self._cards)))
            ]
        member = self._members.get(card.author)
        if member is not None:
            # What it says now comes before what it said elsewhere; the list is short.
            for address in reversed(dialable(card)):
                member.learn(address, first=True)
            self._tell_gate()
            self.broadcast(card, but={sender, card.author})

    # -- dialling

    def _is_linked(self, peer: bytes) -> bool:
        held = self._peers.get(peer)
        return held is not None and held.link.is_up and held.status is not LinkStatus.LOST

    def _want(self, peer: bytes) -> None:
        """See to it that a member without a link is being dialled."""
        member = self._members.get(peer)
        if member is None or self._closed or self._is_linked(peer) or member.task is not None:
            return
        member.task = self._loop.create_task(self._redial(peer, member), name=f"dial {peer.hex()[:8]}")

    async def _redial(self, peer: bytes, member: _Member) -> None:
        wait_s = FIRST_BACKOFF_SECONDS
        try:
            while self._members.get(peer) is member and not self._is_linked(peer):
                member.wake.clear()
                await self._race(peer, member)
                if self._is_linked(peer):
                    return
                try:
                    async with asyncio.timeout(wait_s):
                        await member.wake.wait()
                except TimeoutError:
                    wait_s = min(2 * wait_s, MAX_BACKOFF_SECONDS)
        finally:
            member.task = None

    async def _race(self, peer: bytes, member: _Member) -> None:
        """Dial all addresses of a member at once; the first link up ends it."""
        dials = {
            self._loop.create_task(self._dial(peer, member, address)): address for address in member.addresses
        }
        running = set(dials)
        try:
            while running and not self._is_linked(peer):
                _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*dials, return_exceptions=True)

    async def _dial(self, peer: bytes, member: _Member, address: Address) -> None:
        try:
            await self.connect(address, expected=peer)
        except NetworkProblem as problem:
            log.debug("dialling %s: %s", show_address(address), problem.code)
            if problem.code in {"wrong_key", "own_key"} and address in member.addresses:
                member.addresses.remove(address)  # somebody else lives there now
            if problem.is_version:
                self._handler.problem(address, problem)

    def _tell_gate(self) -> None:
        self.endpoint.gate.known = frozenset(
            address[0] for member in self._members.values() for address in member.addresses
        )

    # -- the one timer

    def _tick(self) -> None:
        now, wall = self._loop.time(), time.time()
        gap = max(now - self._ticked[0], wall - self._ticked[1])
        self._ticked = (now, wall)
        self._ticker = self._loop.call_later(TICK_SECONDS, self._tick)
        if gap > SLEEP_SECONDS:
            log.info("a gap of %.0f s: opening the sockets again", gap)
            self.endpoint.rebuild_sockets()
            self.on_wake()
        for key in self._strangers():
            if now - self._peers[key].came_at > STRANGER_SECONDS and not self.is_guest(key):
                self.drop(key, CloseCode.REFUSED)
        for key, peer in list(self._peers.items()):
            if now - peer.pinged_at >= PING_SECONDS:
                peer.pinged_at = now
                peer.link.ping()
            status = peer.link.status
            if status is not peer.status:
                peer.status = status
                self._handler.status(key, status)
            if status is LinkStatus.LOST:
                self._want(key)

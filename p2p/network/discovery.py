"""Finding tables: DNS-SD announced and browsed, questions by broadcast, and a probe of everything found.

All ways run at once and feed one list. What multicast DNS says is hearsay and outlives the program that said
it; a table counts as live only while its own socket answered a probe of ours in the last seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from zeroconf import (
    BadTypeInNameException,
    IPVersion,
    NonUniqueNameException,
    NotRunningException,
    ServiceStateChange,
    Zeroconf,
)
from zeroconf import Error as ZeroconfError
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from p2p.errors import NetworkProblem, RemoteProtocolError
from p2p.network.addresses import DEFAULT_PORT, PORT_RANGE, Address, is_local, make_address
from p2p.network.advert import TableAd, from_txt, instance_label, to_txt
from p2p.network.budget import Allowance
from p2p.network.interfaces import Interface
from p2p.network.probe import Prober

log = logging.getLogger(__name__)

SERVICE: Final = "_shithead._udp.local."
"""The DNS-SD service type (RFC 6763, section 7)."""

MAX_TABLES: Final = 64
"""More than a screen shows; a flood of names costs no more memory than that."""

MAX_RESOLVING: Final = 16
"""Names being looked up at once."""

MAX_ADDRESSES: Final = 8
"""Addresses kept of one announcing peer."""

MAX_NAMES: Final = 2048
"""Announcements heard of one browser. Past them multicast DNS is no longer listened to: the library keeps what it
means to ask again for every name ever heard, and a flood of names finds no table. Questions by broadcast go on."""

HEARSAY_BURST: Final = 80.0
HEARSAY_PER_SECOND: Final = 40.0
"""Questions to addresses that only multicast DNS names, and that have not answered: whoever announces other
people's addresses has nobody flooded, and questions to where nobody is fill the send buffer of the game socket."""

RESOLVE_MS: Final = 2000
"""How long a name is looked up."""

RESOLVE_TRIES: Final = 8
"""The browser speaks of a name once. Where datagrams are lost, or this machine is too busy to read them in time,
what belongs to it is asked for again."""

SETTLE_SECONDS: Final = 0.3
"""Packets of one announcement come within this time of each other."""

LIVE_SECONDS: Final = 3.0
"""A table whose last answer is older may be gone."""

TICK_SECONDS: Final = 1.0
"""Everything found is probed once a tick."""

SEARCH_TICKS: Final = 2
"""Broadcast questions go out every other tick: 16 ports of 0.5 KB each for an interface."""


def _multicast_on(interfaces: Sequence[Interface]) -> tuple[list[str | int], list[str | int]]:
    """Where to send multicast: IPv4 by address, IPv6 by interface index, as zeroconf takes them."""
    four: list[str | int] = [str(address.ip) for interface in interfaces for address in interface.ipv4]
    six: list[str | int] = [
        interface.index for interface in interfaces if any(ip.is_link_local for ip in interface.ipv6)
    ]
    return four, six


class Responder:
    """The multicast DNS of this process, shared by the advertiser and the browser."""

    def __init__(self, zeroconf: AsyncZeroconf, interfaces: Sequence[Interface]) -> None:
        self.zeroconf = zeroconf
        self.interfaces = tuple(interfaces)

    @classmethod
    def open(cls, interfaces: Sequence[Interface]) -> Responder:
        """Listen on these interfaces, IPv4 and link-local IPv6.

        Raises :class:`NetworkProblem` ``no_mdns`` if the system does not let us (another responder holds the
        port, no interface does multicast): go on without, addresses and broadcasts still work.
        """
        four, six = _multicast_on(interfaces)
        reason = "no interface has an address"
        # One family alone is better than none: IPv6 may be half switched off.
        for chosen, version in (
            ([*four, *six], IPVersion.All),
            (four, IPVersion.V4Only),
            (six, IPVersion.V6Only),
        ):
            if not chosen or (version is IPVersion.All and not (four and six)):
                continue
            try:
                return cls(AsyncZeroconf(interfaces=chosen, ip_version=version), interfaces)
            except (OSError, RuntimeError, ZeroconfError) as error:
                log.info("multicast DNS on %s: %s", chosen, error)
                reason = str(error)
        raise NetworkProblem("no_mdns", reason=reason)

    async def update(self, interfaces: Sequence[Interface]) -> None:
        """Follow a change of interfaces; what is registered is announced on the new ones."""
        self.interfaces = tuple(interfaces)
        four, six = _multicast_on(interfaces)
        try:
            await self.zeroconf.async_update_interfaces([*four, *six], IPVersion.All)
        except (OSError, RuntimeError, ZeroconfError) as error:
            log.info("multicast DNS could not follow the interfaces: %s", error)

    async def close(self) -> None:
        """Take everything back that was announced (goodbyes go out only here), and stop."""
        with contextlib.suppress(NotRunningException):
            await self.zeroconf.async_close()


class Advertiser:
    """Announces one table by DNS-SD, and lets the prober answer for it.

    ``responder`` None: probes only. The caller keeps responder and prober and closes them.
    """

    def __init__(self, responder: Responder | None, prober: Prober) -> None:
        self._responder = responder
        self._prober = prober
        self._info: AsyncServiceInfo | None = None
        self._label = ""

    async def start(self, ad: TableAd) -> None:
        """Announce ``ad``; takes 1 to 2 s until others hear it by multicast, probes are answered at once.

        Raises :class:`NetworkProblem` ``no_mdns`` if announcing fails; probes are answered even so.
        """
        self._prober.ad = ad
        if self._responder is None:
            return
        for characters in (4, 8, 16):
            label = instance_label(ad, characters)
            info = self._make(label, ad)
            try:
                await (await self._responder.zeroconf.async_register_service(info))
            except NonUniqueNameException:
                continue  # another host has a key that begins alike, or a ghost of ours is still cached
            except (OSError, ZeroconfError, BadTypeInNameException) as error:
                raise NetworkProblem("no_mdns", reason=str(error) or type(error).__name__) from error
            self._info, self._label = info, label
            return
        raise NetworkProblem("no_mdns", reason="the name is taken")

    def _make(self, label: str, ad: TableAd) -> AsyncServiceInfo:
        interfaces = self._responder.interfaces if self._responder is not None else ()
        addresses = [text.partition("%")[0] for interface in interfaces for text in interface.texts]
        return AsyncServiceInfo(
            SERVICE,
            f"{label}.{SERVICE}",
            port=ad.port,
            properties=to_txt(ad),
            # A host name of our own: one machine may run several peers, each with its own addresses.
            server=f"shithead-{ad.key.hex()[:16]}.local.",
            parsed_addresses=addresses,
        )

    async def update(self, ad: TableAd) -> None:
        """Announce what has changed; others see it within half a second. The name stays as it was."""
        self._prober.ad = ad
        if self._responder is None or self._info is None:
            return
        info = self._make(self._label, ad)
        try:
            await (await self._responder.zeroconf.async_update_service(info))
        except (OSError, ZeroconfError) as error:
            log.info("announcing a change: %s", error)
            return
        self._info = info

    async def close(self) -> None:
        """Take the announcement back and answer no more probes."""
        self._prober.ad = None
        if self._responder is not None and self._info is not None:
            info, self._info = self._info, None
            with contextlib.suppress(OSError, ZeroconfError, KeyError):
                await (await self._responder.zeroconf.async_unregister_service(info))


@dataclass(frozen=True, slots=True)
class SeenTable:
    """A table as seen now: one entry for each announcing peer; group them by ``ad.table_id``.

    ``addresses``: the one that answered last first; ``is_live``: it answered within :data:`LIVE_SECONDS`;
    ``seconds``: how long its last answer took, None if it never answered.
    """

    ad: TableAd
    addresses: tuple[Address, ...]
    is_live: bool
    seconds: float | None


@dataclass(slots=True)
class _Sighting:
    ad: TableAd
    addresses: list[Address] = field(default_factory=list)
    heard_at: float | None = None
    seconds: float | None = None
    names: set[str] = field(default_factory=set)
    was_live: bool = False

    def learn(self, address: Address, *, first: bool = False) -> None:
        if first and address in self.addresses:
            self.addresses.remove(address)
        if address not in self.addresses:
            self.addresses.insert(0 if first else len(self.addresses), address)
            del self.addresses[MAX_ADDRESSES:]

    def is_live(self, now: float) -> bool:
        return self.heard_at is not None and now - self.heard_at <= LIVE_SECONDS


class Browser:
    """A list of tables that keeps itself up to date.

    ``changed`` is set (and ``on_change`` called) whenever :meth:`tables` would give something else; clear
    the event before reading. ``search``: also ask by broadcast on the interfaces, every two seconds.
    """

    def __init__(
        self,
        responder: Responder | None,
        prober: Prober,
        interfaces: Sequence[Interface],
        *,
        own_key: bytes,
        search: bool = True,
        ports: Sequence[int] = tuple(range(DEFAULT_PORT, DEFAULT_PORT + PORT_RANGE)),
    ) -> None:
        self.changed = asyncio.Event()
        self.on_change: Callable[[], None] = lambda: None
        self._responder = responder
        self._prober = prober
        self._interfaces = tuple(interfaces)
        self._own_key = own_key
        self._search = search
        self._ports = tuple(ports)
        self._seen: OrderedDict[bytes, _Sighting] = OrderedDict()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._browser: AsyncServiceBrowser | None = None
        self._names = 0
        self._hearsay = Allowance(HEARSAY_BURST, HEARSAY_PER_SECOND)
        self._asked_from = 0
        """Where among the tables that do not answer the next tick begins to ask."""
        self._ticks = 0
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    async def start(self) -> None:
        """Begin to look; tables announced before are seen within 0.1 s."""
        self._prober.found = self._found
        if self._responder is not None:
            self._browser = AsyncServiceBrowser(
                self._responder.zeroconf.zeroconf, [SERVICE], handlers=[self._announced]
            )
        self._tick()

    def watch(self, interfaces: Sequence[Interface]) -> None:
        """Follow a change of interfaces."""
        self._interfaces = tuple(interfaces)

    def tables(self) -> list[SeenTable]:
        """The tables seen, live ones first, then by name; at most 64."""
        now = self._loop.time()
        seen = [
            SeenTable(sighting.ad, tuple(sighting.addresses), sighting.is_live(now), sighting.seconds)
            for sighting in self._seen.values()
        ]
        return sorted(seen, key=lambda table: (not table.is_live, table.ad.table.casefold(), table.ad.key))

    def ask(self, addresses: Iterable[Address]) -> None:
        """Probe addresses that may have a table: where known players were last met, what a person typed."""
        for address in addresses:
            self._prober.ask(address)

    async def close(self) -> None:
        """Stop looking; the list stays as it is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._prober.found = None
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._browser is not None:
            await self._browser.async_cancel()
            self._browser = None

    # -- what is heard

    def _announced(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        self._names += 1
        if self._names > MAX_NAMES:
            self._stop_listening()
        elif state_change is ServiceStateChange.Removed:
            self._again.discard(name)
            self._removed(name)
        elif name in self._tasks:
            self._again.add(name)  # it changed while it was being looked up
        elif len(self._tasks) < MAX_RESOLVING:
            task = self._loop.create_task(self._resolve(zeroconf, name), name="resolve a table")
            self._tasks[name] = task
            task.add_done_callback(lambda _: self._tasks.pop(name, None))

    def _stop_listening(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None:
            log.warning("more than %d announcements: multicast DNS is no longer listened to", MAX_NAMES)
            self._tasks[SERVICE] = self._loop.create_task(browser.async_cancel(), name="stop listening")

    def _removed(self, name: str) -> None:
        for key, sighting in list(self._seen.items()):
            sighting.names.discard(name)
            if not sighting.names and not sighting.is_live(self._loop.time()):
                del self._seen[key]
                self._notify()

    async def _resolve(self, zeroconf: Zeroconf, name: str) -> None:
        try:
            info = AsyncServiceInfo(SERVICE, name)
            for _ in range(RESOLVE_TRIES):
                if await info.async_request(zeroconf, RESOLVE_MS):
                    break
            else:
                return
            self._heard_of(name, info)
            # Addresses of the other family may come in a later packet, which is no event of its own.
            await asyncio.sleep(SETTLE_SECONDS)
            while name in self._again:
                self._again.discard(name)
                await asyncio.sleep(SETTLE_SECONDS)
            later = AsyncServiceInfo(SERVICE, name)
            if later.load_from_cache(zeroconf):
                self._heard_of(name, later)
        except (RemoteProtocolError, OSError, ZeroconfError) as error:
            log.info("an announcement that is none: %s", error)

    def _heard_of(self, name: str, info: AsyncServiceInfo) -> None:
        if not info.port:
            return
        ad = from_txt(info.properties, info.port)
        addresses: list[Address] = []
        for text in info.parsed_scoped_addresses()[: 2 * MAX_ADDRESSES]:
            with contextlib.suppress(NetworkProblem):
                address = make_address(text, info.port)
                if is_local(address):
                    addresses.append(address)
        sighting = self._sight(ad, is_hearsay=True)
        if sighting is None:
            return
        sighting.names.add(name)
        for address in addresses:
            sighting.learn(address)
        self._ask_hearsay(sighting.addresses)

    def _found(self, address: Address, ad: TableAd, seconds: float) -> None:
        sighting = self._sight(ad, is_hearsay=False)
        if sighting is None:
            return
        sighting.learn(address, first=True)
        sighting.heard_at, sighting.seconds = self._loop.time(), seconds
        if not sighting.was_live:
            sighting.was_live = True
            self._notify()

    def _sight(self, ad: TableAd, *, is_hearsay: bool) -> _Sighting | None:
        """The sighting of a peer's table, made or brought up to date; None for our own and past the cap.

        Hearsay (multicast DNS) changes nothing about a table that answers for itself.
        """
        if ad.key == self._own_key:
            return None
        sighting = self._seen.get(ad.key)
        if sighting is not None:
            if sighting.ad != ad and not (is_hearsay and sighting.is_live(self._loop.time())):
                if sighting.ad.nonce != ad.nonce:
                    sighting.addresses.clear()  # started again, perhaps elsewhere
                sighting.ad = ad
                self._notify()
            return sighting
        if len(self._seen) >= MAX_TABLES and not self._make_room():
            return None
        self._seen[ad.key] = sighting = _Sighting(ad)
        self._notify()
        return sighting

    def _make_room(self) -> bool:
        """Drop the oldest table that is not live; False if all are."""
        now = self._loop.time()
        for key, sighting in self._seen.items():
            if not sighting.is_live(now):
                del self._seen[key]
                return True
        return False

    def _notify(self) -> None:
        self.changed.set()
        self.on_change()

    # -- asking

    def _tick(self) -> None:
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick)
        now = self._loop.time()
        live, silent = dict[Address, None](), dict[Address, None]()
        for sighting in self._seen.values():
            if sighting.was_live and not sighting.is_live(now):
                sighting.was_live = False
                self._notify()
            # The address that answers is enough; until one does, all are tried.
            if sighting.was_live:
                live.update(dict.fromkeys(sighting.addresses[:1]))
            else:
                silent.update(dict.fromkeys(sighting.addresses))
        self.ask(live)
        waiting = [address for address in silent if address not in live]
        start = self._asked_from % max(1, len(waiting))
        self._asked_from = start + self._ask_hearsay(waiting[start:] + waiting[:start])
        if self._search and self._ticks % SEARCH_TICKS == 0:
            self._ask_everybody()
        self._ticks += 1

    def _ask_hearsay(self, addresses: Sequence[Address]) -> int:
        """Asks as many of these addresses as the allowance lets; how many."""
        now = self._loop.time()
        for number, address in enumerate(addresses):
            if not self._hearsay.take(1, now):
                return number
            self._prober.ask(address)
        return len(addresses)

    def _ask_everybody(self) -> None:
        """Broadcast and multicast die in different routers, so both are used."""
        for interface in self._interfaces:
            for port in self._ports:
                if interface.is_loopback:
                    self._prober.ask(("127.0.0.1", port))
                for host in interface.broadcasts:
                    self._prober.ask((host, port), broadcast=True)

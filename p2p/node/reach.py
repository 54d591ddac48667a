"""How one peer is found and finds the others again: announcements, interfaces, and looking for who is lost.

One task does all of it, one thing after the other: interfaces come and go while an announcement is being made,
and an announcement takes more than a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from p2p.errors import NetworkProblem
from p2p.network.addresses import Address, parse_address
from p2p.network.advert import TableAd
from p2p.network.discovery import Advertiser, Browser, Responder
from p2p.network.interface_watch import InterfaceWatch
from p2p.network.interfaces import Interface, loopback_interfaces, usable_interfaces, worth_telling
from p2p.network.mesh import Mesh
from p2p.network.probe import Prober
from p2p.network.sweep import Sweep
from p2p.network.transport import Endpoint

log = logging.getLogger(__name__)

CLOSE_WAIT_S: Final = 5.0
"""How long taking back an announcement may hold up the end of the program."""

SWEEP_AGAIN_S: Final = 15.0
"""Pause between two sweeps of a table that keeps asking: whoever sweeps towards it takes as long."""


class ReachUser(Protocol):
    """Who uses a `Reach`. All calls come from the event loop."""

    def reach_changed(self, addresses: tuple[Address, ...]) -> None:
        """A person says from now on that others reach this peer at these addresses."""

    def reach_problem(self, problem: NetworkProblem) -> None:
        """Something lasting that a person should hear, such as ``no_mdns``."""


class Reach:
    """Announces one table on the interfaces there are, and looks for members that are not linked.

    ``only``: names or addresses of interfaces (see ``usable_interfaces``); ``is_here_only``: loopback, nothing
    is announced or looked for; ``announces``: whether multicast and broadcasts are used at all.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        mesh: Mesh,
        user: ReachUser,
        *,
        only: Sequence[str] = (),
        is_here_only: bool = False,
        announces: bool = True,
    ) -> None:
        self.prober = Prober(endpoint)
        self._endpoint = endpoint
        self._mesh = mesh
        self._user = user
        self._only = tuple(only)
        self._is_here_only = is_here_only
        self._announces = announces and not is_here_only
        self._responder: Responder | None = None
        self._advertiser: Advertiser | None = None
        self._browser: Browser | None = None
        self._watch: InterfaceWatch | None = None
        self._sweep: Sweep | None = None
        self._sweeps = False
        self._ad: TableAd | None = None
        self._announced: TableAd | None = None
        self._wanted: frozenset[bytes] = frozenset()
        self._interfaces: tuple[Interface, ...] = ()
        self._followed: tuple[Interface, ...] = ()
        self._work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def interfaces(self) -> tuple[Interface, ...]:
        """The interfaces in use, best first."""
        return self._interfaces

    def start(self) -> None:
        """Reads the interfaces and follows them from now on.

        Raises ``NetworkProblem("no_interface")`` where there is none at all.
        """
        if self._is_here_only:
            self._interfaces = loopback_interfaces()
        else:
            self._interfaces = usable_interfaces(self._only)
            if not self._interfaces:
                raise NetworkProblem("no_interface", wanted="a local network", present="none")
            self._watch = InterfaceWatch(self._on_interfaces, self._only)
            self._mesh.on_wake = self._woke
        self._followed = self._interfaces
        self._tell_addresses()
        self._task = asyncio.get_running_loop().create_task(self._run(), name="reach")

    def advertise(self, ad: TableAd) -> None:
        """Announces ``ad`` from now on, in place of what was announced before."""
        if ad != self._ad:
            self._ad = self.prober.ad = ad
            self._work.set()

    def seek(self, wanted: frozenset[bytes]) -> None:
        """Looks for the peers with these keys (none: for nobody) and tells the mesh where they are seen."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._work.set()

    def ask(self, address: Address, then: Callable[[TableAd], None]) -> None:
        """Asks one peer how its table stands; ``then`` hears the answer, should one come."""
        self.prober.ask(address, then=then)

    def sweep(self, wanted: bool) -> None:
        """Whether to ask every address of the own networks, again and again; only if a person wants it."""
        if wanted != self._sweeps:
            self._sweeps = wanted
            self._work.set()

    async def close(self) -> None:
        """Takes everything back and stops."""
        if self._watch is not None:
            self._watch.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._sweep is not None:
            self._sweep.close()
        if self._browser is not None:
            await self._browser.close()
        with contextlib.suppress(NetworkProblem, TimeoutError):
            async with asyncio.timeout(CLOSE_WAIT_S):
                if self._advertiser is not None:
                    await self._advertiser.close()
                if self._responder is not None:
                    await self._responder.close()
        self.prober.close()

    # -- what changes

    def _on_interfaces(self, interfaces: tuple[Interface, ...]) -> None:
        log.info("interfaces: %s", ", ".join(each.name for each in interfaces) or "none")
        self._interfaces = interfaces
        self._tell_addresses()
        self._work.set()

    def _woke(self) -> None:
        if self._watch is not None:
            self._watch.look_now()
        # Others may have forgotten us meanwhile, whether or not anything has changed here.
        self._tell_addresses()
        self._announced = None
        self._work.set()

    def _tell_addresses(self) -> None:
        if self._is_here_only:
            addresses: tuple[Address, ...] = (("127.0.0.1", self._endpoint.port),)
            self._mesh.announce(addresses)
            self._user.reach_changed(addresses)
            return
        self._mesh.announce(own_addresses(self._interfaces, self._endpoint.port))
        self._user.reach_changed(own_addresses(worth_telling(self._interfaces), self._endpoint.port))

    # -- the one task

    async def _run(self) -> None:
        while True:
            wait_s = SWEEP_AGAIN_S if self._sweeps else None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._work.wait()
            self._work.clear()
            try:
                await self._follow_interfaces()
                await self._follow_ad()
                await self._follow_search()
            except NetworkProblem as problem:
                self._user.reach_problem(problem)
            self._follow_sweep()

    async def _follow_interfaces(self) -> None:
        if self._interfaces == self._followed:
            return
        self._followed = self._interfaces
        if self._browser is not None:
            self._browser.watch(self._interfaces)
        if self._responder is not None:
            await self._responder.update(self._interfaces)
            self._announced = None

    async def _follow_ad(self) -> None:
        ad = self._ad
        if ad is None or ad == self._announced:
            return
        self._announced = ad
        if self._advertiser is not None:
            await self._advertiser.update(ad)
            return
        self._open_responder()
        self._advertiser = Advertiser(self._responder, self.prober)
        await self._advertiser.start(ad)

    def _open_responder(self) -> None:
        if self._responder is not None or not self._announces or not self._interfaces:
            return
        try:
            self._responder = Responder.open(self._interfaces)
        except NetworkProblem as problem:
            # Answers to questions, known addresses and words still work.
            self._user.reach_problem(problem)

    async def _follow_search(self) -> None:
        if bool(self._wanted) == (self._browser is not None) or not self._announces:
            return
        if self._browser is not None:
            browser, self._browser = self._browser, None
            await browser.close()
            return
        self._open_responder()
        browser = Browser(self._responder, self.prober, self._interfaces, own_key=self._endpoint.key)
        browser.on_change = self._seen
        self._browser = browser
        await browser.start()

    def _seen(self) -> None:
        if self._browser is None:
            return
        for table in self._browser.tables():
            if table.ad.key in self._wanted:
                self._mesh.learn(table.ad.key, table.addresses)

    def _follow_sweep(self) -> None:
        if self._sweeps and (self._sweep is None or self._sweep.is_over):
            self._sweep = Sweep(self.prober, self._interfaces)
        elif not self._sweeps and self._sweep is not None:
            self._sweep.close()
            self._sweep = None


def own_addresses(interfaces: Sequence[Interface], port: int) -> tuple[Address, ...]:
    """Where a peer with this port is reached on these interfaces."""
    found: list[Address] = []
    for interface in interfaces:
        for text in interface.texts:
            with contextlib.suppress(NetworkProblem):
                found.append(parse_address(f"[{text}]:{port}" if ":" in text else f"{text}:{port}"))
    return tuple(found)

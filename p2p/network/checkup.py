"""What is wrong with this network: measurements, and the likeliest cause that they prove. No call leaves the LAN.

`measure` looks, listens and asks for a few seconds; `diagnose` is pure. The client says it in words.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from p2p.errors import NetworkProblem
from p2p.network.addresses import Address, is_ipv6
from p2p.network.datagrams import bind_range
from p2p.network.discovery import Browser, Responder, SeenTable
from p2p.network.interfaces import Interface, read_adapters, survey
from p2p.network.interfaces import Verdict as InterfaceVerdict
from p2p.network.probe import Prober
from p2p.network.transport import Endpoint

MDNS: Final = ("224.0.0.251", 5353)
LISTEN_S: Final = 4.0
"""Multicast DNS needs up to 1.2 s, an address that nobody has 3 s to be given up by the kernel."""

MULTICAST_BYTES: Final = 9000
"""Of a packet of multicast DNS (RFC 6762, section 17); only its sender matters."""

ANSWER_BYTES: Final = 2048
"""Of an answer to a question; only its first bytes matter."""

NOWHERE: Final = "192.0.2.1"
"""TEST-NET-1 (RFC 5737): asking the system how it would get there sends nothing."""

ARP_TABLE: Final = Path("/proc/net/arp")
ROUTE_TABLE: Final = Path("/proc/net/route")
_ARP_COMPLETE: Final = 0x2
_DISCARD_PORT: Final = 9


class Cause(Enum):
    """The likeliest cause of not finding or reaching a table."""

    FINE = "fine"
    NO_INTERFACE = "no_interface"
    WRONG_SUBNET = "wrong_subnet"
    VPN = "vpn"
    OWN_FIREWALL = "own_firewall"
    OTHER_FIREWALL = "other_firewall"
    BOTH_FIREWALLS = "both_firewalls"
    MULTICAST_BLOCKED = "multicast_blocked"
    ISOLATION = "isolation"
    ABSENT = "absent"
    NOT_ALLOWED = "not_allowed"
    HERE = "here"
    """The tables that answer are open on this machine: nothing is proven of others, and nothing is wrong."""
    NOT_HERE = "not_here"
    """The address asked about is this machine's own, and no table answers there."""
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Findings:
    """What was measured. None: it could not be on this system, or nobody was there to measure it with.

    ``interfaces``: all, with their verdicts; ``tunnel``: the tunnel that holds the default route; ``swallowed``:
    interfaces to whose own network the system would not send by them; ``own_broadcast``, ``own_multicast``: own
    packets to the game's ports and to multicast DNS came back in; ``heard``: other hosts whose multicast DNS was
    heard; ``target``: the address asked about, whether it ``is_near`` (in an own network), ``answers``, is
    ``resolved`` (its hardware answers; None for this machine); ``gateway_resolved``; ``reverse``: another
    machine's answer came in at a port that had not asked; ``refused_by_system``: sending failed for want of a
    permission.
    """

    interfaces: tuple[Interface, ...] = ()
    tunnel: str = ""
    swallowed: tuple[str, ...] = ()
    own_broadcast: bool | None = None
    own_multicast: bool | None = None
    has_mdns: bool = True
    heard: frozenset[str] = frozenset()
    tables: tuple[SeenTable, ...] = ()
    target: Address | None = None
    is_near: bool | None = None
    answers: bool | None = None
    resolved: bool | None = None
    gateway_resolved: bool | None = None
    reverse: bool | None = None
    refused_by_system: bool = False

    @property
    def used(self) -> tuple[Interface, ...]:
        """The interfaces that a game would use."""
        return tuple(each for each in self.interfaces if each.verdict.is_used and not each.is_loopback)

    @property
    def is_here(self) -> bool:
        """Whether the address asked about is one of this machine."""
        return self.target is not None and _is_own(self.target[0], self.interfaces)

    @property
    def elsewhere(self) -> frozenset[str]:
        """The other machines whose table answers."""
        hosts = {host for table in self.tables if table.is_live for host in _hosts(table)}
        if self.answers and self.target is not None:
            hosts.add(self.target[0])
        return frozenset(host for host in hosts if not _is_own(host, self.interfaces))


def diagnose(found: Findings) -> Cause:
    """The likeliest cause; ``FINE`` if tables are found and reached."""
    if not found.used:
        return Cause.NO_INTERFACE
    if found.refused_by_system:
        return Cause.NOT_ALLOWED
    if found.swallowed:
        return Cause.VPN
    if found.target is not None and not found.answers:
        return Cause.NOT_HERE if found.is_here else _with_silence(found)
    if found.answers or any(table.is_live for table in found.tables):
        return _with_company(found) if found.elsewhere and not found.is_here else _with_ourselves(found)
    if any(not table.is_live for table in found.tables):
        # It is announced, so its multicast gets here; what we ask gets no answer.
        return Cause.BOTH_FIREWALLS if found.own_broadcast is False else Cause.OTHER_FIREWALL
    if found.own_broadcast is False or found.own_multicast is False:
        return Cause.OWN_FIREWALL
    return Cause.VPN if found.tunnel else Cause.NOBODY


def _with_company(found: Findings) -> Cause:
    """Somebody answers: what is left is what keeps others from finding us, or us from finding them unasked."""
    if found.reverse is False or (found.reverse is None and found.own_broadcast is False):
        return Cause.OWN_FIREWALL
    hosts = {found.target[0]} if found.target is not None else found.elsewhere
    if found.own_multicast is False or not hosts & found.heard:
        return Cause.MULTICAST_BLOCKED
    return Cause.FINE


def _with_ourselves(found: Findings) -> Cause:
    """A table of this machine answers: its packets meet no firewall, so only what went out and came in counts."""
    if found.own_broadcast is False or found.own_multicast is False:
        return Cause.OWN_FIREWALL
    return Cause.HERE


def _with_silence(found: Findings) -> Cause:
    """The address asked about does not answer."""
    if found.is_near is False:
        return Cause.WRONG_SUBNET
    if found.resolved is False:
        return Cause.ISOLATION if found.gateway_resolved and not found.heard else Cause.ABSENT
    if found.own_broadcast is False:
        # Its answer to our own question would have come in: so it is not let in over there either.
        return Cause.BOTH_FIREWALLS
    return Cause.OTHER_FIREWALL


async def measure(
    target: Address | None = None, *, only: Sequence[str] = (), listen_s: float = LISTEN_S
) -> Findings:
    """Looks at this network for some seconds. ``target``: where a table should be, if that is known.

    Never raises for the network: what cannot be measured is None.
    """
    interfaces = survey(read_adapters(), only)
    used = tuple(each for each in interfaces if each.verdict.is_used and not each.is_loopback)
    tunnel, swallowed = _tunnel(interfaces), _swallowed(used)
    near = _is_near(target, used) if target is not None else None
    if not used:
        return Findings(interfaces, tunnel, target=target, is_near=near)
    with contextlib.ExitStack() as stack:
        mdns = stack.enter_context(_mdns_listener(used))
        quiet = stack.enter_context(_quiet_socket())
        endpoint = await Endpoint.open(Ed25519PrivateKey.generate())
        responder: Responder | None = None
        with contextlib.suppress(NetworkProblem):
            responder = Responder.open(used)
        prober = Prober(endpoint)
        # All ports of the range are asked, ours too: whether that comes back in says what our firewall lets in.
        browser = Browser(responder, prober, used, own_key=endpoint.key)
        heard: set[str] = set()
        listening = asyncio.create_task(_listen(mdns, heard), name="listen to multicast DNS")
        back = asyncio.create_task(_hears(quiet), name="wait for an answer unasked for")
        try:
            await browser.start()
            await _ask(browser, prober, target, quiet, listen_s)
            own = {host for host in heard if _is_own(host, interfaces)}
            tables = tuple(browser.tables())
            answers = None
            if target is not None:
                answers = any(table.is_live and _is_at(table, target, interfaces) for table in tables)
            found = Findings(
                interfaces,
                tunnel,
                swallowed,
                own_broadcast=prober.stats.own_heard > 0,
                own_multicast=None if mdns is None or responder is None else bool(heard & own),
                has_mdns=responder is not None,
                heard=frozenset(heard - own),
                tables=tables,
                target=target,
                is_near=near,
                answers=answers,
                gateway_resolved=_gateway_resolved(),
                refused_by_system=endpoint.socket_stats.errors[errno.EHOSTUNREACH] > 0 and _is_macos(),
            )
            return replace(
                found,
                resolved=None if target is None or found.is_here or is_ipv6(target) else _resolved(target[0]),
                # What this machine answers to itself meets no firewall.
                reverse=back.done() if found.elsewhere else None,
            )
        finally:
            for task in (listening, back):
                task.cancel()
            await asyncio.gather(listening, back, return_exceptions=True)
            await browser.close()
            if responder is not None:
                await responder.close()
            await endpoint.close()


def _hosts(table: SeenTable) -> set[str]:
    return {address[0] for address in table.addresses}


def _is_at(table: SeenTable, target: Address, interfaces: Sequence[Interface]) -> bool:
    """Whether a table is open on the machine at an address; on this one, at its port, by whichever own address."""
    if not _is_own(target[0], interfaces):
        return target[0] in _hosts(table)
    return any(_is_own(address[0], interfaces) and address[1] == target[1] for address in table.addresses)


def _is_own(host: str, interfaces: Sequence[Interface]) -> bool:
    ip = ipaddress.ip_address(host.partition("%")[0])
    own = {address.ip for each in interfaces for address in each.ipv4}
    return ip.is_loopback or ip in own or any(ip == address.ip for each in interfaces for address in each.ipv6)


async def _ask(
    browser: Browser, prober: Prober, target: Address | None, quiet: socket.socket, listen_s: float
) -> None:
    """Asks whoever is known to be there, and for an answer to a port that has asked nobody."""
    loop = asyncio.get_running_loop()
    gateway = _gateway()
    if gateway is not None:
        prober.ask((gateway, _DISCARD_PORT))
    end = loop.time() + listen_s
    while loop.time() < end:
        if target is not None:
            browser.ask([target])
            prober.ask_back(target, quiet.getsockname()[1])
        for table in browser.tables():
            if table.is_live:
                prober.ask_back(table.addresses[0], quiet.getsockname()[1])
        await asyncio.sleep(min(0.5, listen_s))


# -- sockets of our own ---------------------------------------------------------------------------------


@contextlib.contextmanager
def _mdns_listener(used: Sequence[Interface]) -> Iterator[socket.socket | None]:
    """A socket that hears multicast DNS beside whoever else does; None where the system does not share it."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "SO_REUSEPORT"):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind(("", MDNS[1]))
        for interface in used:
            for address in interface.ipv4:
                group = socket.inet_aton(MDNS[0]) + address.ip.packed
                with contextlib.suppress(OSError):
                    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    except OSError:
        sock.close()
        yield None
        return
    try:
        yield sock
    finally:
        sock.close()


async def _listen(sock: socket.socket | None, heard: set[str]) -> None:
    while sock is not None:
        _, sender = await asyncio.get_running_loop().sock_recvfrom(sock, MULTICAST_BYTES)
        heard.add(str(sender[0]))


@contextlib.contextmanager
def _quiet_socket() -> Iterator[socket.socket]:
    """A socket on one of the game's ports that never sends: what it receives, the firewall has let in unasked."""
    (sock,) = bind_range(("0.0.0.0",), None)
    try:
        sock.setblocking(False)
        yield sock
    finally:
        sock.close()


async def _hears(sock: socket.socket) -> None:
    from p2p.network.probe import ANSWER

    while True:
        data, _ = await asyncio.get_running_loop().sock_recvfrom(sock, ANSWER_BYTES)
        if data.startswith(ANSWER):
            return


# -- what the system says of itself ---------------------------------------------------------------------


def _way_to(host: str) -> str | None:
    """The own address from which the system would send to ``host``; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect((host, _DISCARD_PORT))
        except OSError:
            return None
        return str(sock.getsockname()[0])


def _tunnel(interfaces: Sequence[Interface]) -> str:
    """The name of a tunnel by which everything that is not local goes; empty if there is none."""
    way = _way_to(NOWHERE)
    for interface in interfaces:
        if interface.verdict is InterfaceVerdict.POINT_TO_POINT and any(
            str(address.ip) == way for address in interface.ipv4
        ):
            return interface.name
    return ""


def _swallowed(used: Sequence[Interface]) -> tuple[str, ...]:
    """Interfaces to whose own network the system would send by another one."""
    found = []
    for interface in used:
        own = {str(address.ip) for address in interface.ipv4}
        for address in interface.ipv4:
            near = next((host for host in address.network.hosts() if str(host) not in own), None)
            way = _way_to(str(near)) if near is not None else None
            if way is not None and way not in own:
                found.append(interface.name)
                break
    return tuple(found)


def _is_near(target: Address, used: Sequence[Interface]) -> bool:
    ip = ipaddress.ip_address(target[0].partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        return ip.is_link_local or any(ip in each.network for interface in used for each in interface.ipv6)
    return any(ip in each.network for interface in used for each in interface.ipv4)


def _resolved(host: str) -> bool | None:
    """Whether the hardware at an address of the own network answers; None where the system does not tell."""
    try:
        lines = ARP_TABLE.read_text(encoding="ascii").splitlines()[1:]
    except (OSError, ValueError):
        return None
    for line in lines:
        fields = line.split()
        if len(fields) > 2 and fields[0] == host:
            return bool(int(fields[2], 16) & _ARP_COMPLETE)
    return False


def _gateway() -> str | None:
    try:
        lines = ROUTE_TABLE.read_text(encoding="ascii").splitlines()[1:]
    except (OSError, ValueError):
        return None
    for line in lines:
        fields = line.split()
        if len(fields) > 2 and fields[1] == "00000000" and fields[2] != "00000000":
            return str(ipaddress.IPv4Address(bytes.fromhex(fields[2])[::-1]))
    return None


def _gateway_resolved() -> bool | None:
    gateway = _gateway()
    return _resolved(gateway) if gateway is not None else None


def _is_macos() -> bool:
    return os.uname().sysname == "Darwin" if hasattr(os, "uname") else False

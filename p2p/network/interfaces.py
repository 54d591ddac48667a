"""Which network interfaces a table is announced and looked for on.

A pure decision over the list of adapters, and one thin function that reads it from the system. No default
route and no host on the internet is ever asked: a LAN without either is the usual case.
"""

from __future__ import annotations

import fnmatch
import ipaddress
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import ifaddr

from p2p.errors import NetworkProblem

log = logging.getLogger(__name__)

POINT_TO_POINT: Final = ("tun*", "utun*", "wg*", "ppp*", "ipsec*", "tailscale*", "wwan*")
"""Tunnels: nobody at the party is behind them, and multicast into a VPN annoys its owner."""

BRIDGES: Final = (
    "docker*",
    "br-*",
    "veth*",
    "virbr*",
    "vboxnet*",
    "vmnet*",
    "vEthernet*",
    "lxc*",
    "lxd*",
    "podman*",
)
"""Networks of containers and virtual machines: a player may be there, but the LAN comes first."""


class Verdict(Enum):
    """What becomes of an interface, and why."""

    USED = "used"
    USED_LAST = "bridge of containers or virtual machines: tried last"
    LOOPBACK = "loopback: only this machine"
    POINT_TO_POINT = "point to point: a tunnel"
    NO_ADDRESS = "no address of a LAN"
    NOT_CHOSEN = "not chosen"

    @property
    def is_used(self) -> bool:
        """True if tables are looked for there."""
        return self in {Verdict.USED, Verdict.USED_LAST}


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface with its verdict.

    ``ipv4``: interfaces with their networks (``192.168.1.23/24``); ``ipv6``: addresses without scope; the
    scope of its link-local ones is ``index``.
    """

    name: str
    index: int
    ipv4: tuple[ipaddress.IPv4Interface, ...]
    ipv6: tuple[ipaddress.IPv6Interface, ...]
    verdict: Verdict

    @property
    def is_loopback(self) -> bool:
        """True if it never leaves this machine."""
        four = all(address.is_loopback for address in self.ipv4)
        return four and all(address.is_loopback for address in self.ipv6)

    @property
    def broadcasts(self) -> tuple[str, ...]:
        """The directed broadcast addresses of its IPv4 networks; none for networks without one."""
        return tuple(
            str(address.network.broadcast_address)
            for address in self.ipv4
            if address.network.prefixlen <= 30 and not address.is_loopback
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """Its addresses as text; link-local IPv6 ones with their scope."""
        return (
            *(str(address.ip) for address in self.ipv4),
            *(f"{address.ip}%{self.index}" if address.is_link_local else str(address.ip) for address in self.ipv6),
        )


def _read(adapter: ifaddr.Adapter) -> Interface:
    four: list[ipaddress.IPv4Interface] = []
    six: list[ipaddress.IPv6Interface] = []
    for ip in adapter.ips:
        if isinstance(ip.ip, str):
            four.append(ipaddress.IPv4Interface(f"{ip.ip}/{ip.network_prefix}"))
        else:
            six.append(ipaddress.IPv6Interface(f"{ip.ip[0].partition('%')[0]}/{ip.network_prefix}"))
    # On Windows ``name`` is a UUID; the nice name is what a person knows.
    name = adapter.nice_name if adapter.name.startswith(("{", "b'{")) else adapter.name
    return Interface(name, adapter.index or 0, tuple(four), tuple(six), Verdict.USED)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(name.casefold(), pattern.casefold()) for pattern in patterns)


def _judge(interface: Interface) -> Verdict:
    if interface.is_loopback:
        return Verdict.LOOPBACK
    networks = [address.network.prefixlen for address in interface.ipv4]
    if _matches(interface.name, POINT_TO_POINT) or (networks and min(networks) == 32):
        return Verdict.POINT_TO_POINT
    if not interface.ipv4 and not any(address.is_link_local for address in interface.ipv6):
        return Verdict.NO_ADDRESS
    return Verdict.USED_LAST if _matches(interface.name, BRIDGES) else Verdict.USED


def _is_meant(interface: Interface, wanted: str) -> bool:
    if interface.name.casefold() == wanted.casefold():
        return True
    bare = wanted.partition("%")[0]
    return bare in {str(address.ip) for address in interface.ipv4} | {str(six.ip) for six in interface.ipv6}


def _with(interface: Interface, verdict: Verdict) -> Interface:
    return Interface(interface.name, interface.index, interface.ipv4, interface.ipv6, verdict)


def survey(adapters: Sequence[ifaddr.Adapter], only: Sequence[str] = ()) -> tuple[Interface, ...]:
    """Every interface with its verdict, those used first.

    ``only``: names or addresses; what they name is used whatever it is, and nothing else is. Raises
    :class:`NetworkProblem` ``no_interface`` if one of them names nothing.
    """
    found: list[Interface] = []
    for adapter in adapters:
        try:
            interface = _read(adapter)
        except ValueError as error:
            log.info("interface %r left out: %s", adapter.name, error)  # one odd adapter must not end the evening
            continue
        if interface.ipv4 or interface.ipv6:
            found.append(_with(interface, _judge(interface)))
    if only:
        for wanted in only:
            if not any(_is_meant(interface, wanted) for interface in found):
                present = ", ".join(interface.name for interface in found) or "none"
                raise NetworkProblem("no_interface", wanted=wanted, present=present)
        found = [
            _with(
                interface,
                Verdict.USED if any(_is_meant(interface, wanted) for wanted in only) else Verdict.NOT_CHOSEN,
            )
            for interface in found
        ]
    elif not any(interface.verdict.is_used for interface in found):
        # Loopback is all there is: a table on one machine still works.
        found = [
            _with(interface, Verdict.USED) if interface.verdict is Verdict.LOOPBACK else interface
            for interface in found
        ]
    order = list(Verdict)
    return tuple(sorted(found, key=lambda interface: (order.index(interface.verdict), interface.index)))


def usable_interfaces(
    only: Sequence[str] = (), adapters: Sequence[ifaddr.Adapter] | None = None
) -> tuple[Interface, ...]:
    """The interfaces to use, best first; ``adapters`` None: those of this machine.

    Raises :class:`NetworkProblem` ``no_interface`` if ``only`` names none of them. May be empty.
    """
    if adapters is None:
        adapters = read_adapters()
    return tuple(interface for interface in survey(adapters, only) if interface.verdict.is_used)


def loopback_interfaces() -> tuple[Interface, ...]:
    """The loopback interface alone, for tables that nothing must leave this machine for."""
    return tuple(_with(interface, Verdict.USED) for interface in survey(read_adapters()) if interface.is_loopback)


def read_adapters() -> list[ifaddr.Adapter]:
    """The adapters of this machine; an empty list where the system does not tell."""
    try:
        return list(ifaddr.get_adapters())
    except OSError as error:
        log.warning("cannot list interfaces: %s", error)
        return []


def worth_telling(interfaces: Sequence[Interface]) -> tuple[Interface, ...]:
    """The interfaces whose addresses a person reads out to others: those of a LAN, and the bridges of containers
    and virtual machines only where there is nothing else. Programs try all."""
    lan = tuple(interface for interface in interfaces if interface.verdict is not Verdict.USED_LAST)
    return lan or tuple(interfaces)

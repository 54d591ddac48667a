"""UDP addresses in the exact shape that ``recvfrom`` gives.

QUIC connections know their peer by that value: a 2-tuple where the system gives a 4-tuple times out
without a word, so every address is brought into shape here, at the border.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import Final, TypeAlias

from p2p.errors import NetworkProblem

Address: TypeAlias = tuple[str, int] | tuple[str, int, int, int]
"""``(host, port)`` for IPv4, ``(host, port, flow label, scope id)`` for IPv6."""

DEFAULT_PORT: Final = 21052
"""The first port tried. Unassigned, and below every system's range of ephemeral ports."""

PORT_RANGE: Final = 16
"""How many ports from :data:`DEFAULT_PORT` on are tried: room for several players on one machine."""

MAX_PORT: Final = 65535
"""Ports are 16 bits (RFC 768)."""


def _scope(text: str) -> int:
    """The scope id of an interface given by number or name; ``OSError`` if there is none of that name."""
    return int(text) if text.isdecimal() else socket.if_nametoindex(text)


def make_address(host: str, port: int, scope: int = 0) -> Address:
    """The address of an IP literal; raises :class:`NetworkProblem` ``bad_address`` for anything else.

    ``host`` may carry a scope (``fe80::1%wlan0``); an IPv4-mapped IPv6 address becomes plain IPv4. Names
    are not looked up: there is no server to ask on a LAN.
    """
    bare, _, zone = host.partition("%")
    try:
        ip = ipaddress.ip_address(bare)
        scope = _scope(zone) if zone else scope
    except (ValueError, OSError) as error:
        raise NetworkProblem("bad_address", text=host) from error
    if not 0 < port <= MAX_PORT:
        raise NetworkProblem("bad_address", text=f"{host}:{port}")
    if isinstance(ip, ipaddress.IPv4Address):
        return (str(ip), port)
    if ip.ipv4_mapped is not None:
        return (str(ip.ipv4_mapped), port)
    return (str(ip), port, 0, scope)


def parse_address(text: str) -> Address:
    """The address a person typed: ``192.168.1.23``, ``…:port``, ``fe80::1%wlan0`` or ``[…]:port``.

    Without a port it is :data:`DEFAULT_PORT`. Raises :class:`NetworkProblem` ``bad_address``.
    """
    text = text.strip()
    host, port = text, ""
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise NetworkProblem("bad_address", text=text)
        port = rest[1:]
        if rest and not port:
            raise NetworkProblem("bad_address", text=text)
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
        if not port:
            raise NetworkProblem("bad_address", text=text)
    if port and not (port.isascii() and port.isdecimal() and len(port) <= 5):
        raise NetworkProblem("bad_address", text=text)
    try:
        return make_address(host, int(port) if port else DEFAULT_PORT)
    except NetworkProblem as error:
        raise NetworkProblem("bad_address", text=text) from error


def is_literal(text: str) -> bool:
    """True if :func:`parse_address` takes ``text``."""
    try:
        parse_address(text)
    except NetworkProblem:
        return False
    return True


def show_address(address: Address) -> str:
    """The text of an address, for logs and sentences; :func:`parse_address` reads it back."""
    if len(address) == 2:
        return f"{address[0]}:{address[1]}"
    scope = f"%{address[3]}" if address[3] else ""
    return f"[{address[0]}{scope}]:{address[1]}"


def is_ipv6(address: Address) -> bool:
    """True for the 4-tuples of IPv6."""
    return len(address) == 4


def is_loopback(address: Address) -> bool:
    """True if the address never leaves this machine."""
    return ipaddress.ip_address(address[0]).is_loopback


def is_local(address: Address) -> bool:
    """True for private, link-local, unique-local and loopback addresses: the ones a LAN is made of.

    What strangers say (gossip, TXT records) is dialled only if this holds, so that nobody can make a
    table of players send packets to the internet.
    """
    ip = ipaddress.ip_address(address[0])
    if ip.is_loopback or ip.is_link_local:
        return True
    return ip.is_private and not (ip.is_multicast or ip.is_unspecified or ip.is_reserved)

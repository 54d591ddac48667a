"""The words in which links, their endpoint and their users speak of each other."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from p2p.errors import NetworkProblem
from p2p.network.addresses import Address, show_address
from p2p.network.frames import CloseCode, Hello, Refuse

if TYPE_CHECKING:
    from p2p.network.link import Link


class LinkState(Enum):
    """Where a link is in its life."""

    SHAKING = auto()
    GREETING = auto()
    UP = auto()
    CLOSING = auto()
    CLOSED = auto()


class LinkStatus(Enum):
    """How well a link is heard: decided by the oldest ping without an answer."""

    GOOD = auto()
    SLOW = auto()
    LOST = auto()


class LinkOwner(Protocol):
    """What a link needs of its endpoint."""

    def link_send(self, data: bytes, address: Address) -> None:
        """Put a datagram on the wire."""

    def link_ids(self, link: Link, added: bytes, removed: bytes) -> None:
        """A connection id of the link came (or went, or both; empty: none)."""

    def link_authenticated(self, link: Link) -> CloseCode | None:
        """TLS proved ``link.peer``; a code says why that peer is not wanted."""

    def link_greeted(self, link: Link) -> Refuse | None:
        """``link.hello`` is here and its version fits; a refusal says why the peer may not enter."""

    def link_up(self, link: Link) -> None:
        """The link is up."""

    def link_closed(self, link: Link) -> None:
        """The link will do nothing more; ``link.reason`` and ``link.problem`` say why."""


def version_problem(own: Hello, theirs: Hello, address: Address) -> NetworkProblem:
    """The sentence that names both versions and says which side is older."""
    code = "version_theirs_older" if theirs.high < own.low else "version_ours_older"
    return NetworkProblem(
        code,
        address=show_address(address),
        their_program=theirs.program,
        their_low=theirs.low,
        their_high=theirs.high,
        own_program=own.program,
        own_low=own.low,
        own_high=own.high,
    )

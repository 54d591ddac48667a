"""Frames that are signed on their own, because others pass them on: addresses and chat.

Neither is an entry: they decide nothing, are kept nowhere and expire with the evening. The labels keep their
signatures apart from those of entries (D23).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from p2p.errors import NetworkProblem
from p2p.network.addresses import Address, is_ipv6, is_local, make_address
from p2p.network.certificates import is_identity, public_bytes
from p2p.network.frames import MAX_ADDRESSES, Addresses, Say

_SAY_LABEL: Final = b"shithead/1 say\0"
_ADDRESSES_LABEL: Final = b"shithead/1 addresses\0"


def _signed_say(frame: Say) -> bytes:
    body = [frame.table_id, frame.author, frame.number, frame.text]
    return _SAY_LABEL + msgspec.msgpack.encode(body)


def _signed_addresses(frame: Addresses) -> bytes:
    body = [frame.author, frame.number, frame.addresses]
    return _ADDRESSES_LABEL + msgspec.msgpack.encode(body)


def _verifies(author: bytes, signature: bytes, signed: bytes) -> bool:
    if not is_identity(author):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(author).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def make_say(key: Ed25519PrivateKey, table_id: bytes, number: int, text: str) -> Say:
    """A signed line of chat; ``number`` must rise with each line of this key."""
    frame = Say(table_id=table_id, author=public_bytes(key), number=number, text=text, signature=bytes(64))
    return msgspec.structs.replace(frame, signature=key.sign(_signed_say(frame)))


def is_said(frame: Say) -> bool:
    """True if the author named in the line signed it."""
    return _verifies(frame.author, frame.signature, _signed_say(frame))


def make_addresses(key: Ed25519PrivateKey, number: int, addresses: Iterable[Address]) -> Addresses:
    """A signed list of where ``key`` can be dialled; scoped addresses are left out, the rest cut to 16."""
    plain = [
        (address[0], address[1])
        for address in addresses
        if not (is_ipv6(address) and address[0].startswith("fe80"))
    ]
    frame = Addresses(
        author=public_bytes(key), number=number, addresses=tuple(plain[:MAX_ADDRESSES]), signature=bytes(64)
    )
    return msgspec.structs.replace(frame, signature=key.sign(_signed_addresses(frame)))


def is_from_author(frame: Addresses) -> bool:
    """True if the peer whose addresses these are signed them."""
    return _verifies(frame.author, frame.signature, _signed_addresses(frame))


def dialable(frame: Addresses) -> tuple[Address, ...]:
    """The addresses of a frame that may be dialled: literals of the kinds a LAN is made of."""
    found: list[Address] = []
    for host, port in frame.addresses:
        try:
            address = make_address(host, port)
        except NetworkProblem:
            continue
        if is_local(address):
            found.append(address)
    return tuple(found)

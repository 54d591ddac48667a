"""Self-signed Ed25519 certificates: a wrapper that carries an identity key through TLS.

Only the key counts. Names and dates in a certificate are ignored, because the clocks of a LAN party are
often wrong and nobody there has a name that a third party vouches for.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.x509.oid import NameOID
from nacl.bindings import crypto_core_ed25519_is_valid_point

KEY_BYTES: Final = 32
"""Length of an Ed25519 public key (RFC 8032, section 5.1.5)."""

_NAME: Final = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "shithead")])
_FROM: Final = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_UNTIL: Final = datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)  # RFC 5280 4.1.2.5: no end


class IdentityError(ValueError):
    """A certificate (or the lack of one) that proves no identity; the text says why, for a log."""


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """The 32 bytes of the public key that name an identity."""
    return key.public_key().public_bytes_raw()


def make_certificate(key: Ed25519PrivateKey) -> x509.Certificate:
    """A certificate for ``key`` signed by itself; the same bytes for the same key."""
    return (
        x509.CertificateBuilder()
        .subject_name(_NAME)
        .issuer_name(_NAME)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(_FROM)
        .not_valid_after(_UNTIL)
        .sign(key, None)
    )


def is_identity(key: bytes) -> bool:
    """True if ``key`` can name an identity: a canonical point of the prime-order subgroup.

    Under a key of small order one signature fits every message, so such a key is nobody's.
    """
    return len(key) == KEY_BYTES and bool(crypto_core_ed25519_is_valid_point(key))


def identity_of(certificates: Sequence[x509.Certificate]) -> bytes:
    """The identity key that a peer's certificates prove: exactly one certificate with a valid Ed25519 key.

    Raises :class:`IdentityError` for none, several, another kind of key, or a point that is no identity.
    """
    if len(certificates) != 1:
        raise IdentityError(f"{len(certificates)} certificates instead of one")
    try:
        key = certificates[0].public_key()
    except (ValueError, UnsupportedAlgorithm) as error:
        raise IdentityError("unreadable key") from error
    if not isinstance(key, Ed25519PublicKey):
        raise IdentityError("not an Ed25519 key")
    raw = key.public_bytes_raw()
    if not is_identity(raw):
        raise IdentityError("not a point of the prime-order subgroup")
    return raw

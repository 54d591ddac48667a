"""The canary for the private names of aioquic: mutual, missing, wrong and small-order certificates.

If one of these fails after an update of aioquic, read p2p/network/tls_private.py before anything else.
"""

from __future__ import annotations

import datetime

import pytest
from aioquic.quic.configuration import QuicConfiguration
from aioquic.tls import Epoch
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256

from p2p.errors import NetworkProblem
from p2p.network import link as link_module
from p2p.network.certificates import IdentityError, identity_of, is_identity, make_certificate
from p2p.network.frames import CloseCode
from p2p.network.tls_private import (
    ACKNOWLEDGE_WITHIN_S,
    MutualConnection,
    acknowledge_by,
    peer_certificates,
    unacknowledged_bytes,
)
from p2p.network.transport import Endpoint
from tests.p2p.network.helpers import Lan, key_of, soon

SMALL_ORDER = [
    bytes(32),
    b"\x01" + bytes(31),
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
]
"""Points of order 1, 2, 4 and 8."""


async def test_both_sides_see_the_others_certificate(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    link = await one.dial(two)
    await two.bell.until(lambda: len(two.links) == 1)
    assert identity_of(peer_certificates(link._quic)) == two.key
    assert identity_of(peer_certificates(two.links[0]._quic)) == one.key


async def test_a_dialler_without_a_certificate_is_refused(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = await lan.host(1), await lan.host(2)
    real = Endpoint._configuration

    def bare(endpoint: Endpoint, *, is_client: bool) -> QuicConfiguration:
        configuration = real(endpoint, is_client=is_client)
        if is_client:
            configuration.certificate = configuration.private_key = None
        return configuration

    monkeypatch.setattr(Endpoint, "_configuration", bare)
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.endpoint.dial(two.address))
    assert caught.value.code == "no_certificate"
    await two.bell.until(lambda: [problem.code for problem in two.problems] == ["no_certificate"])
    assert two.links == []


async def test_a_certificate_signed_with_another_key_is_refused(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS itself must notice that the dialler does not hold the key of the certificate it shows."""
    one, two = await lan.host(1), await lan.host(2)
    monkeypatch.setattr(one.endpoint, "_certificate", make_certificate(key_of(3)))
    with pytest.raises(NetworkProblem):
        await soon(one.endpoint.dial(two.address))
    assert two.links == []


async def test_another_kind_of_key_is_refused(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = await lan.host(1), await lan.host(2)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = make_certificate(key_of(9))
    other = (
        x509.CertificateBuilder()
        .subject_name(certificate.subject)
        .issuer_name(certificate.subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC))
        .sign(key, SHA256())
    )
    monkeypatch.setattr(one.endpoint, "_certificate", other)
    monkeypatch.setattr(one.endpoint, "_private_key", key)
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.endpoint.dial(two.address))
    assert caught.value.code == "no_certificate"
    assert two.links == []


@pytest.mark.parametrize("point", SMALL_ORDER, ids=lambda point: point.hex()[:8])
def test_a_small_order_key_is_no_identity(point: bytes) -> None:
    assert not is_identity(point)
    certificate = make_certificate(key_of(1))

    class Shown:
        """A certificate whose key is the point."""

        @staticmethod
        def public_key() -> Ed25519PublicKey:
            return Ed25519PublicKey.from_public_bytes(point)

    with pytest.raises(IdentityError):
        identity_of([Shown()])  # type: ignore[list-item]
    assert identity_of([certificate]) == key_of(1).public_key().public_bytes_raw()


def test_none_or_several_certificates_are_no_identity() -> None:
    certificate = make_certificate(key_of(1))
    for shown in ([], [certificate, certificate]):
        with pytest.raises(IdentityError):
            identity_of(shown)


async def test_a_small_order_key_ends_the_link(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = await lan.host(1), await lan.host(2)
    monkeypatch.setattr(link_module, "identity_of", refuse)
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.endpoint.dial(two.address))
    assert caught.value.code == "no_certificate"


def refuse(certificates: object) -> bytes:
    raise IdentityError("not a point of the prime-order subgroup")


async def test_unacknowledged_bytes_fall_to_zero(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    link = await one.dial(two)
    assert unacknowledged_bytes(link._quic, 8) == 0
    link._write(b"\0\0\0\1\xc1")
    assert unacknowledged_bytes(link._quic, 0) >= 5
    await two.bell.until(lambda: len(two.links) == 1)
    link.close()
    await one.bell.until(lambda: one.closed == [CloseCode.DONE])
    assert unacknowledged_bytes(link._quic, 0) == 0


def test_a_connection_that_never_began_has_no_certificates() -> None:
    quic = MutualConnection(configuration=QuicConfiguration(alpn_protocols=["x"]))
    quic.connect(("127.0.0.1", 1), now=0.0)
    assert peer_certificates(quic) == ()


async def test_an_acknowledgement_waits_for_company_and_goes_when_told(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    link = await one.dial(two)
    quic = link._quic
    assert quic._ack_delay == ACKNOWLEDGE_WITHIN_S
    space = quic._spaces[Epoch.ONE_RTT]
    space.ack_at = None
    acknowledge_by(quic, 5.0)
    assert space.ack_at is None
    space.ack_at = 7.0
    acknowledge_by(quic, 9.0)
    assert space.ack_at == 7.0
    acknowledge_by(quic, 5.0)
    assert space.ack_at == 5.0

"""The only module that touches private names of aioquic; pinned to ``>=1.7.2,<1.8`` for that reason.

The library can ask a dialler for a certificate, but offers no public switch for it and no public way to
read the answer (aioquic issue 541). Nor does it say how much of a stream is not yet acknowledged, or let
acknowledgements wait for company. A canary
test (tests/p2p/network/test_tls_private.py) fails if any of these names changes its meaning.
"""

from __future__ import annotations

from typing import Final

from aioquic.quic.connection import QuicConnection
from aioquic.tls import Epoch
from cryptography import x509

ACKNOWLEDGE_WITHIN_S: Final = 0.01
"""How long an acknowledgement may wait for something to travel with; peers allow 25 ms for it (RFC 9000, 18.2:
``max_ack_delay``). The library waits 1 ms, and every second datagram of a table was an acknowledgement alone."""


class MutualConnection(QuicConnection):
    """A QUIC connection that asks the dialler for a certificate.

    Asking is not requiring: a dialler that sends none still completes the handshake, so the caller must
    look at :func:`peer_certificates` before it believes anything.
    """

    def _initialize(self, peer_cid: bytes) -> None:
        self._ack_delay = ACKNOWLEDGE_WITHIN_S
        # The request leaves with the answer to the very first packet, hence the switch is set in the
        # moment the TLS context comes into being.
        super()._initialize(peer_cid)
        self.tls._request_client_certificate = True


def peer_certificates(quic: QuicConnection) -> tuple[x509.Certificate, ...]:
    """The certificates that the other side sent, its own first; empty if it sent none.

    TLS has checked that the other side holds the private key of the first one, and nothing else.
    """
    own = quic.tls._peer_certificate
    if own is None:
        return ()
    return (own, *quic.tls._peer_certificate_chain)


def acknowledge_by(quic: QuicConnection, when: float) -> None:
    """Lets the acknowledgement that is due, if there is one, go out at ``when`` (of the loop's clock) at the
    latest: now, with something else, or soon, since the other side can send no more before it has it."""
    space = quic._spaces.get(Epoch.ONE_RTT)
    if space is not None and space.ack_at is not None:
        space.ack_at = min(space.ack_at, when)


def unacknowledged_bytes(quic: QuicConnection, stream_id: int) -> int:
    """How many bytes written to a stream have not been acknowledged yet (0 for an unknown stream)."""
    stream = quic._streams.get(stream_id)
    return len(stream.sender._buffer) if stream is not None else 0

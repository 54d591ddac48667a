"""The only module that touches private names of aioquic; pinned to ``>=1.7.2,<1.8`` for that reason.

The library can ask a dialler for a certificate, but offers no public switch for it and no public way to
read the answer (aioquic issue 541). Nor does it say how much of a stream is not yet acknowledged. A canary
test (tests/p2p/network/test_tls_private.py) fails if any of these names changes its meaning.
"""

from __future__ import annotations

from aioquic.quic.connection import QuicConnection
from cryptography import x509


class MutualConnection(QuicConnection):
    """A QUIC connection that asks the dialler for a certificate.

    Asking is not requiring: a dialler that sends none still completes the handshake, so the caller must
    look at :func:`peer_certificates` before it believes anything.
    """

    def _initialize(self, peer_cid: bytes) -> None:
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


def unacknowledged_bytes(quic: QuicConnection, stream_id: int) -> int:
    """How many bytes written to a stream have not been acknowledged yet (0 for an unknown stream)."""
    stream = quic._streams.get(stream_id)
    return len(stream.sender._buffer) if stream is not None else 0

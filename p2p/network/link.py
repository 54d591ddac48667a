"""One link: a QUIC connection to one authenticated peer, carrying frames on one stream.

A link goes through SHAKING (QUIC and TLS), GREETING (both hellos) to UP. The dialler opens stream 0; each
side says its hello first, and an UP link has a peer key that TLS proved and a version both sides speak.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from aioquic.quic import events
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicFrameType

from p2p.errors import NetworkProblem, RemoteProtocolError
from p2p.network.addresses import Address, show_address
from p2p.network.budget import Allowance
from p2p.network.certificates import IdentityError, identity_of
from p2p.network.frames import (
    Bye,
    CloseCode,
    Frame,
    FrameCutter,
    Hello,
    Refuse,
    decode,
    encode,
    pack,
)
from p2p.network.link_types import LinkOwner, LinkState, LinkStatus, version_problem
from p2p.network.tls_private import acknowledge_by, peer_certificates, unacknowledged_bytes

log = logging.getLogger(__name__)

STREAM: Final = 0
"""The dialler's first bidirectional stream (RFC 9000, section 2.1), the only one used."""

MAX_BAD_FRAMES: Final = 32
"""A program with one wrong frame kind stays linked; one that sends nothing else does not."""

MAX_UNREAD_BYTES: Final = 8 << 20
"""What a peer may leave unacknowledged: more than any round's feeds, little enough for ten peers."""

MAX_STRAY_BYTES: Final = 8 << 20
"""Received but never delivered in order (gaps, other streams): the library would keep it all."""

STRAY_ALLOWANCE_BYTES: Final = 150
"""Of each datagram, for headers and acknowledgements, which deliver nothing."""

BYTES_PER_SECOND: Final = 2 << 20
"""Read from one peer. Past it datagrams go unread and QUIC sends them again, slower; no frame is lost."""

BURST_BYTES: Final = 4 << 20
"""Read from one peer at once: the history of a short evening, or all that a deal of ten sends."""

STRANGER_BYTES_PER_SECOND: Final = 64 << 10
STRANGER_BURST_BYTES: Final = 256 << 10
"""The same of somebody who dialled this peer and does not sit at its table: they have hardly more to say than
that they want to come in."""

DATAGRAM_COST_BYTES: Final = 1200
"""What a datagram counts at least: an empty one costs the same 0.1 ms as a full one."""

FRAME_COST_BYTES: Final = 256
"""What a frame counts besides its bytes, which were counted with their datagram: it has to be looked at."""

GOODBYE_SECONDS: Final = 0.4
"""How long a goodbye may wait for its acknowledgement: ten round trips of a bad Wi-Fi."""

FULL_DATAGRAM_BYTES: Final = 1100
"""A datagram of at least so many bytes is one of several: a proof, a table's feeds."""

ACKNOWLEDGE_FULL_S: Final = 0.001
"""Such are acknowledged sooner, or the sender would stand still with a full window."""

PARTING_SECONDS: Final = 0.005
"""Enough for an acknowledgement that goes out at once."""

SLOW_SECONDS: Final = 1.5
LOST_SECONDS: Final = 6.0
"""A ping unanswered for so long makes a link slow, or as good as lost."""

MAX_PINGS: Final = 16
"""Pings of ours without an answer: with one every two seconds QUIC has given the link up before."""

BUSY: Final = "busy"
"""The refusal of a link for which there is no room now."""

NO_ALPN: Final = 0x100 + 120
"""TLS alert no_application_protocol as a QUIC error: the other side speaks something else."""


class Link:
    """A link to one peer. Made by ``Endpoint``; users see it once it is up.

    ``peer``: the 32 bytes of the authenticated key; ``hello``: what the peer said first; ``dialled``: this
    side began; ``rtt_s``: smoothed round trip in seconds by our own pings, None before the first answer;
    ``bad_frames``: things read that were not frames; ``closed_by_peer``: the other side ended it.
    ``on_frame`` gets each frame in order (those that came
    before it was set are kept for it), ``on_closed`` the reason, once.
    """

    def __init__(
        self, quic: QuicConnection, owner: LinkOwner, address: Address, hello: Hello, *, dialled: bool
    ) -> None:
        self.dialled = dialled
        self.state = LinkState.SHAKING
        self.peer = b""
        self.hello: Hello | None = None
        self.reason: CloseCode = CloseCode.DONE
        self.problem: NetworkProblem | None = None
        self.rtt_s: float | None = None
        self.bad_frames = 0
        self.shed_datagrams = 0
        self.on_closed: Callable[[CloseCode], None] | None = None
        self.closed_by_peer = False
        self.answered = False
        self.is_paused = False
        """While True nothing is read: QUIC sends it again, later."""
        self._on_frame: Callable[[Frame], None] | None = None
        self._waiting: deque[Frame] = deque()
        self._quic = quic
        self._owner = owner
        self._address = address
        self._own_hello = hello
        self._loop = asyncio.get_running_loop()
        self._cutter = FrameCutter()
        self._when_closed: list[asyncio.Future[None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None
        self._goodbye: asyncio.TimerHandle | None = None
        self._parting: asyncio.TimerHandle | None = None
        self._heard_at = self._loop.time()
        self._pings: dict[int, float] = {}
        self._next_ping = 0
        self._reading = (
            Allowance(BURST_BYTES, BYTES_PER_SECOND)
            if dialled
            else Allowance(STRANGER_BURST_BYTES, STRANGER_BYTES_PER_SECOND)
        )
        self._stray = 0

    # -- what users of a link call

    @property
    def address(self) -> Address:
        """Where the peer is now; a dialler may move."""
        return self._quic.get_peer_address() or self._address

    @property
    def on_frame(self) -> Callable[[Frame], None] | None:
        """Called with each frame but hello and bye."""
        return self._on_frame

    @on_frame.setter
    def on_frame(self, callback: Callable[[Frame], None] | None) -> None:
        self._on_frame = callback
        while callback is not None and self._waiting:
            callback(self._waiting.popleft())

    @property
    def is_up(self) -> bool:
        """True while frames can be sent."""
        return self.state is LinkState.UP

    def send(self, frame: Frame) -> None:
        """Send a frame; nothing happens if the link is no longer up. ``LocalProtocolError``: a bad frame."""
        self.send_encoded(encode(frame))

    def send_encoded(self, data: bytes) -> None:
        """Send a frame already encoded; the same bytes can go to many links."""
        if self.state is LinkState.UP:
            self._write(pack(data))
            if unacknowledged_bytes(self._quic, STREAM) > MAX_UNREAD_BYTES:
                self.close(CloseCode.TOO_SLOW)

    def trust(self) -> None:
        """The peer sits at the table: it has more to say than a stranger."""
        self._reading = Allowance(BURST_BYTES, BYTES_PER_SECOND)

    def ping(self) -> None:
        """Ask for a sign of life; the answer sets ``rtt_s``."""
        if self.state is LinkState.UP and len(self._pings) < MAX_PINGS:
            self._pings[self._next_ping] = self._loop.time()
            self._quic.send_ping(self._next_ping)
            self._next_ping += 1
            self._pump_soon()

    @property
    def status(self) -> LinkStatus:
        """How well the peer is heard right now."""
        quiet = self.quiet_s
        if quiet >= LOST_SECONDS:
            return LinkStatus.LOST
        return LinkStatus.SLOW if quiet >= SLOW_SECONDS else LinkStatus.GOOD

    @property
    def quiet_s(self) -> float:
        """Seconds since a ping was sent to which nothing at all came back; 0 if none is out."""
        if not self._pings:
            return 0.0
        return max(0.0, self._loop.time() - max(self._heard_at, next(iter(self._pings.values()))))

    @property
    def unheard_s(self) -> float:
        """Seconds since anything at all came from the peer."""
        return self._loop.time() - self._heard_at

    def close(self, code: CloseCode = CloseCode.DONE) -> None:
        """Say goodbye and close. The goodbye goes on the stream first, since QUIC sends its close only once;
        ``on_closed`` follows within :data:`GOODBYE_SECONDS`."""
        if self.state is LinkState.UP:
            self._say_goodbye(code, Bye(code=code.value))
        else:
            self._finish(code)

    # -- what the endpoint calls

    @property
    def first_id(self) -> bytes:
        """The connection id under which the first answers come."""
        return self._quic.host_cid

    def when_closed(self, future: asyncio.Future[None]) -> None:
        """Resolve ``future`` when the link is closed."""
        self._when_closed.append(future)

    def forget(self) -> None:
        """Drop the link without a packet: there is no one at its other end."""
        self._drop(CloseCode.FAILED)

    def connect(self) -> None:
        """Send the first packet; for a dialled link, once."""
        self._quic.connect(self._address, now=self._loop.time())
        self._pump()

    def receive(self, data: bytes, address: Address) -> None:
        """Take a datagram of this link; over the rate it is left unread (QUIC sends it again)."""
        now = self._loop.time()
        if self.is_paused or not self._reading.take(max(len(data), DATAGRAM_COST_BYTES), now):
            self.shed_datagrams += 1
            return
        self._heard_at = now
        self._stray += max(0, len(data) - STRAY_ALLOWANCE_BYTES)
        try:
            self._quic.receive_datagram(data, address, now=now)
        except Exception:
            # A stranger's bytes found a hole in the library: that may end this link, not the endpoint.
            log.exception("datagram of %s broke its link", show_address(address))
            self._drop(CloseCode.FAILED)
            return
        if len(data) >= FULL_DATAGRAM_BYTES:
            acknowledge_by(self._quic, now + ACKNOWLEDGE_FULL_S)
        self._pump()
        if self._stray > MAX_STRAY_BYTES:
            self._finish(CloseCode.GARBAGE)

    def abandon(self, code: CloseCode, problem: NetworkProblem | None = None) -> None:
        """Close at once, without waiting for a goodbye; for handshakes that take too long."""
        self.problem = self.problem or problem
        self._finish(code)
        self._drop(code)

    # -- writing

    def _write(self, data: bytes) -> None:
        self._quic.send_stream_data(STREAM, data)
        acknowledge_by(self._quic, self._loop.time())
        self._pump_soon()

    def _say_goodbye(self, code: CloseCode, frame: Frame) -> None:
        self.state = LinkState.CLOSING
        self.reason = code
        self._write(pack(encode(frame)))
        self._goodbye = self._loop.call_later(GOODBYE_SECONDS, self._finish, code)

    def _hear_goodbye(self, code: CloseCode) -> None:
        self.state = LinkState.CLOSING
        self.reason = code
        self.closed_by_peer = True
        acknowledge_by(self._quic, self._loop.time())
        # A moment for the acknowledgement to go out: it ends the other side's wait at once.
        self._parting = self._loop.call_later(PARTING_SECONDS, self._finish, code)

    def _finish(self, code: CloseCode) -> None:
        """Close the QUIC connection; its own timer, or the endpoint, ends the link."""
        if self.state is LinkState.CLOSED:
            return
        for handle in (self._goodbye, self._parting):
            if handle is not None:
                handle.cancel()
        self._goodbye = self._parting = None
        if self.state is not LinkState.CLOSING:
            self.state = LinkState.CLOSING
            self.reason = code
        self._quic.close(error_code=code.number, reason_phrase="")
        self._pump()
        self._drop(code)

    def _drop(self, code: CloseCode) -> None:
        """The end: no timer, no callback, no packet after this."""
        if self.state is LinkState.CLOSED:
            return
        if self.state is not LinkState.CLOSING:
            self.reason = code
        self.state = LinkState.CLOSED
        for handle in (self._timer, self._soon, self._goodbye, self._parting):
            if handle is not None:
                handle.cancel()
        self._timer = self._soon = self._goodbye = self._parting = None
        self._owner.link_closed(self)
        for future in self._when_closed:
            if not future.done():
                future.set_result(None)
        if self.on_closed is not None:
            self.on_closed(self.reason)
        self.on_closed = self._on_frame = None

    # -- driving QUIC

    def _pump_soon(self) -> None:
        if self._soon is None and self.state is not LinkState.CLOSED:
            self._soon = self._loop.call_soon(self._pump)

    def _pump(self) -> None:
        """Drain events, send what is due, set the one timer: after every input, in this order."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        while self.state is not LinkState.CLOSED and (event := self._quic.next_event()) is not None:
            self._handle(event)
        if self.state is LinkState.CLOSED:
            return
        for data, address in self._quic.datagrams_to_send(now=self._loop.time()):
            self.answered = True
            self._owner.link_send(data, address)
        if self._goodbye is not None and unacknowledged_bytes(self._quic, STREAM) == 0:
            self._finish(self.reason)
            return
        self._arm()

    def _arm(self) -> None:
        when = self._quic.get_timer()
        if self._timer is not None:
            if self._timer.when() == when:
                return
            self._timer.cancel()
            self._timer = None
        if when is not None:
            self._timer = self._loop.call_at(when, self._on_timer, when)

    def _on_timer(self, when: float) -> None:
        self._timer = None
        self._quic.handle_timer(now=max(when, self._loop.time()))
        self._pump()

    # -- events

    def _handle(self, event: events.QuicEvent) -> None:
        match event:
            case events.HandshakeCompleted():
                self._authenticate()
            case events.StreamDataReceived(stream_id=stream, data=data, end_stream=ended):
                self._stray = max(0, self._stray - len(data))
                if stream != STREAM or ended:
                    self._finish(CloseCode.GARBAGE)
                else:
                    self._read(data)
            case events.StreamReset() | events.StopSendingReceived():
                self._finish(CloseCode.GARBAGE)
            case events.PingAcknowledged(uid=number):
                self._pong(number)
            case events.ConnectionIdIssued(connection_id=added):
                self._owner.link_ids(self, added, b"")
            case events.ConnectionIdRetired(connection_id=removed):
                self._owner.link_ids(self, b"", removed)
            case events.ConnectionTerminated(error_code=code, frame_type=kind, reason_phrase=phrase):
                self._terminated(code, kind, phrase)
            case _:
                pass

    def _pong(self, number: int) -> None:
        sent = self._pings.get(number)
        if sent is None:
            return
        took = self._loop.time() - sent
        self.rtt_s = took if self.rtt_s is None else 0.875 * self.rtt_s + 0.125 * took
        self._pings = {uid: at for uid, at in self._pings.items() if uid > number}

    def _terminated(self, code: int, kind: int | None, phrase: str) -> None:
        if self.state is LinkState.CLOSING:
            self._drop(self.reason)
            return
        self.closed_by_peer = True
        acknowledge_by(self._quic, self._loop.time())
        if kind is None:
            reason = CloseCode.of_number(code)
        elif kind == QuicFrameType.PADDING and phrase == "Idle timeout":
            reason = CloseCode.LOST
            self.closed_by_peer = False
        else:
            reason = CloseCode.FAILED
            if code == NO_ALPN:
                self.problem = NetworkProblem("not_shithead", address=show_address(self.address))
        self._drop(reason)

    def _authenticate(self) -> None:
        try:
            self.peer = identity_of(peer_certificates(self._quic))
        except IdentityError as error:
            log.info("no identity at %s: %s", show_address(self.address), error)
            self.problem = NetworkProblem("no_certificate", address=show_address(self.address))
            self._finish(CloseCode.NO_CERTIFICATE)
            return
        refused = self._owner.link_authenticated(self)
        if refused is not None:
            self._finish(refused)
            return
        self.state = LinkState.GREETING
        if self.dialled:
            # The other side answers once it has judged this hello: its own hello means yes.
            self._write(pack(encode(self._own_hello)))

    def _read(self, data: bytes) -> None:
        over = self._cutter.oversized
        now = self._loop.time()
        for body in self._cutter.feed(data):
            if self.state is LinkState.CLOSED:
                return
            self._reading.spend(FRAME_COST_BYTES, now)
            try:
                frame = decode(body)
            except RemoteProtocolError as error:
                log.info("dropped a frame of %s: %s", self.peer.hex()[:8], error.code)
                self._count_bad(1)
                continue
            self._take(frame)
        self._count_bad(self._cutter.oversized - over)

    def _count_bad(self, count: int) -> None:
        self.bad_frames += count
        if count and self.bad_frames > MAX_BAD_FRAMES:
            self._finish(CloseCode.GARBAGE)

    def _take(self, frame: Frame) -> None:
        match self.state, frame:
            case LinkState.GREETING, Hello():
                self._greet(frame)
            case LinkState.GREETING, Refuse(code=code):
                shown = show_address(self.address)
                is_busy = code == BUSY
                self.problem = (
                    NetworkProblem(BUSY, address=shown)
                    if is_busy
                    else NetworkProblem("refused", address=shown, reason=code)
                )
                self._finish(CloseCode.REFUSED)
            case ((LinkState.GREETING | LinkState.UP), Bye(code=text)):
                self._hear_goodbye(CloseCode(text) if text in set(CloseCode) else CloseCode.DONE)
            case LinkState.UP, Hello():
                self._count_bad(1)
            case LinkState.UP, _:
                self._deliver(frame)
            case LinkState.GREETING, _:
                self._count_bad(1)
            case _:
                pass

    def _deliver(self, frame: Frame) -> None:
        if self._on_frame is None:
            self._waiting.append(frame)
            return
        try:
            self._on_frame(frame)
        except Exception as error:
            # A mistake above must not stop the timers of this link; the loop's handler reports it.
            self._loop.call_exception_handler({"message": "a frame was not handled", "exception": error})

    def _greet(self, hello: Hello) -> None:
        self.hello = hello
        own = self._own_hello
        fits = hello.high >= own.low and hello.low <= own.high
        refusal = self._owner.link_greeted(self) if fits and not self.dialled else None
        if refusal is not None:
            self._say_goodbye(CloseCode.REFUSED, refusal)
            return
        if not self.dialled:
            # Also where the versions do not fit: the other side wants to name both.
            self._write(pack(encode(own)))
        if not fits:
            self.problem = version_problem(own, hello, self.address)
            self._say_goodbye(CloseCode.VERSION, Bye(code=CloseCode.VERSION.value))
            return
        self.state = LinkState.UP
        self._owner.link_up(self)

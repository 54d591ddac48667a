"""Endpoints and links over loopback: identity, versions, frames, endings."""

from __future__ import annotations

import asyncio
import socket

import pytest

from p2p.errors import LocalProtocolError, NetworkProblem
from p2p.network import link as link_module
from p2p.network import transport as transport_module
from p2p.network.addresses import DEFAULT_PORT, PORT_RANGE
from p2p.network.budget import Allowance
from p2p.network.frames import MAX_FRAME_BYTES, CloseCode, Entries, Have, Hello, Knock, Refuse, pack
from p2p.network.link_types import LinkState, LinkStatus
from p2p.network.transport import Endpoint, make_hello
from tests.p2p.network.helpers import Host, Lan, key_of, kill, soon

KNOCK = Knock(table_id=b"", name="Ann", operator=b"")


def hello_of(low: int, high: int, program: str) -> Hello:
    return Hello(low=low, high=high, program=program, instance=bytes(8))


async def linked(lan: Lan) -> tuple[Host, Host]:
    """Two hosts with a link that one dialled to two."""
    one, two = await lan.host(1), await lan.host(2)
    await one.dial(two)
    await two.bell.until(lambda: len(two.links) == 1)
    return one, two


async def test_both_sides_know_each_others_key(lan: Lan) -> None:
    one, two = await linked(lan)
    assert (one.links[0].peer, two.links[0].peer) == (two.key, one.key)
    assert (one.links[0].dialled, two.links[0].dialled) == (True, False)
    assert one.links[0].hello == two.endpoint.hello and two.links[0].hello == one.endpoint.hello
    assert one.links[0].address == two.address and two.links[0].address == one.address


async def test_frames_pass_both_ways_in_order(lan: Lan) -> None:
    one, two = await linked(lan)
    there = [Have(bytes(32), ((bytes(32), number, bytes(32)),)) for number in range(500)]
    for frame in there:
        one.links[0].send(frame)
        two.links[0].send(frame)
    await two.bell.until(lambda: len(two.frames) == 500)
    await one.bell.until(lambda: len(one.frames) == 500)
    assert two.frames == there and one.frames == there


async def test_a_megabyte_arrives_whole(lan: Lan) -> None:
    one, two = await linked(lan)
    two.links[0].trust()
    frames = [Entries(((bytes([number]) * 32_000, bytes(64)),)) for number in range(34)]
    for frame in frames:
        one.links[0].send(frame)
    await two.bell.until(lambda: len(two.frames) == 34)
    assert two.frames == frames


async def test_frames_sent_before_anyone_listens_are_kept(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    two.endpoint.on_link = lambda link: link.send(KNOCK)
    link = await soon(one.endpoint.dial(two.address, two.key))
    async with asyncio.timeout(120):
        while not link._waiting:  # noqa: ASYNC110 - nobody listens yet: that is the point
            await asyncio.sleep(0)
    link.on_frame = one._frame
    assert one.frames == [KNOCK]


async def test_pings_measure_the_round_trip(lan: Lan) -> None:
    one, _ = await linked(lan)
    link = one.links[0]
    assert link.rtt_s is None
    link.ping()
    async with asyncio.timeout(120):
        while link.rtt_s is None:  # noqa: ASYNC110 - an answered ping tells nobody
            await asyncio.sleep(0)
    assert link.rtt_s > 0 and link.status is LinkStatus.GOOD


@pytest.mark.parametrize("closer", [0, 1])
async def test_either_side_can_close(lan: Lan, closer: int) -> None:
    hosts = await linked(lan)
    near, far = hosts[closer], hosts[1 - closer]
    near.links[0].close(CloseCode.REFUSED)
    await near.bell.until(lambda: near.closed == [CloseCode.REFUSED])
    await far.bell.until(lambda: far.closed == [CloseCode.REFUSED])
    assert far.links[0].closed_by_peer and not near.links[0].closed_by_peer
    assert near.endpoint.links == far.endpoint.links == ()
    near.links[0].send(KNOCK)  # nothing happens on a closed link
    assert far.frames == []


async def test_closing_an_endpoint_says_goodbye_on_every_link(lan: Lan) -> None:
    one, two, three = [await lan.host(number) for number in (1, 2, 3)]
    await one.dial(two)
    await one.dial(three)
    await three.bell.until(lambda: len(three.links) == 1)
    await one.endpoint.close()
    for host in (two, three):
        await host.bell.until(lambda host=host: host.closed == [CloseCode.DONE])
    with pytest.raises(NetworkProblem) as caught:
        await one.endpoint.dial(two.address)
    assert caught.value.code == "closed"


async def test_a_dead_peer_is_lost_by_the_idle_timeout(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "IDLE_SECONDS", 0.4)
    one, two = await linked(lan)
    kill(two.endpoint)
    await one.bell.until(lambda: one.closed == [CloseCode.LOST])
    assert not one.links[0].closed_by_peer


async def test_a_silent_peer_is_slow_then_lost(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = await linked(lan)
    link = one.links[0]
    kill(two.endpoint)
    now = asyncio.get_running_loop().time()
    link.ping()
    monkeypatch.setattr(link, "_loop", FakeClock(now + 1.4))
    assert link.status is LinkStatus.GOOD
    monkeypatch.setattr(link, "_loop", FakeClock(now + 2.0))
    assert link.status is LinkStatus.SLOW
    monkeypatch.setattr(link, "_loop", FakeClock(now + 7.0))
    assert link.status is LinkStatus.LOST
    monkeypatch.undo()


class FakeClock:
    """A loop that only tells the time."""

    def __init__(self, now: float) -> None:
        self._now = now

    def time(self) -> float:
        return self._now


# -- who is there


async def test_another_key_than_expected_is_refused(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.endpoint.dial(two.address, key_of(3).public_key().public_bytes_raw()))
    assert caught.value.code == "wrong_key"
    assert two.links == []


async def test_a_peer_does_not_link_to_itself(lan: Lan) -> None:
    one = await lan.host(1)
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.endpoint.dial(one.address))
    assert caught.value.code == "own_key"
    assert one.links == []


async def test_nobody_there_is_said_in_time(lan: Lan) -> None:
    one = await lan.host(1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(NetworkProblem) as caught:
            await one.endpoint.dial(silent.getsockname(), timeout_s=0.2)
    assert caught.value.code == "no_answer"
    assert str(caught.value.sentence.values["address"]).startswith("127.0.0.1:")
    assert "firewall" in str(caught.value.remedy)


async def test_a_refusal_carries_its_code_and_no_hello(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    two.refusal = Refuse(code="table_full")
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.endpoint.dial(two.address))
    assert (caught.value.code, caught.value.sentence.values["reason"]) == ("refused", "table_full")
    assert two.links == []


async def test_a_cancelled_dial_leaves_nothing(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    dial = asyncio.create_task(one.endpoint.dial(two.address))
    await asyncio.sleep(0)
    dial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dial
    assert one.endpoint._links == {} and one.endpoint._by_id == {}


@pytest.mark.parametrize(
    ("ours", "theirs", "code"),
    [((1, 1), (2, 3), "version_ours_older"), ((4, 5), (2, 3), "version_theirs_older")],
)
async def test_a_version_mismatch_names_both_versions_on_both_sides(
    lan: Lan, ours: tuple[int, int], theirs: tuple[int, int], code: str
) -> None:
    one = await lan.host(1, hello_of(*ours, "0.7"))
    two = await lan.host(2, hello_of(*theirs, "0.9"))
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.endpoint.dial(two.address, two.key))
    assert caught.value.code == code and caught.value.is_version
    await two.bell.until(lambda: len(two.problems) == 1)
    assert {caught.value.code, two.problems[0].code} == {"version_ours_older", "version_theirs_older"}
    for problem in (caught.value, two.problems[0]):
        text = str(problem)
        assert all(part in text for part in ("0.7", "0.9", f"{ours[0]}-{ours[1]}", f"{theirs[0]}-{theirs[1]}"))
    assert two.links == []


async def test_ranges_that_overlap_fit(lan: Lan) -> None:
    one, two = await lan.host(1, hello_of(1, 3, "new")), await lan.host(2, hello_of(1, 1, "old"))
    link = await one.dial(two)
    assert link.is_up


async def test_another_protocol_over_quic_is_told(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = await lan.host(1), await lan.host(2)
    real = Endpoint._configuration

    def other(endpoint: Endpoint, *, is_client: bool):  # type: ignore[no-untyped-def]
        configuration = real(endpoint, is_client=is_client)
        if endpoint is two.endpoint:
            configuration.alpn_protocols = ["h3"]
        return configuration

    monkeypatch.setattr(Endpoint, "_configuration", other)
    with pytest.raises(NetworkProblem) as caught:
        await soon(one.endpoint.dial(two.address))
    assert caught.value.code == "not_shithead"


# -- what is not a frame


def raw(host: Host, data: bytes) -> None:
    """Put bytes on the stream as they are."""
    host.links[0]._write(data)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        b"\x91\xa4nope",
        b"\x92\xa3bye\xd9\x04done",  # a frame in a longer encoding
        b"\x93\xa3bye\xa4done\x01",
        b"\x92\xa3bye\xa5do\xe2\x80\xae",  # an override of direction
    ],
)
async def test_what_is_no_frame_is_dropped_and_counted(lan: Lan, body: bytes) -> None:
    one, two = await linked(lan)
    raw(one, pack(body))
    one.links[0].send(KNOCK)
    await two.bell.until(lambda: two.frames == [KNOCK])
    assert two.links[0].bad_frames == 1 and two.links[0].is_up


async def test_an_oversized_frame_is_skipped(lan: Lan) -> None:
    one, two = await linked(lan)
    raw(one, pack(bytes(MAX_FRAME_BYTES + 1)))
    one.links[0].send(KNOCK)
    await two.bell.until(lambda: two.frames == [KNOCK])
    assert two.links[0].bad_frames == 1
    with pytest.raises(LocalProtocolError):
        one.links[0].send(Entries(tuple((bytes(32_000), bytes(64)) for _ in range(9))))


async def test_a_second_hello_is_no_frame(lan: Lan) -> None:
    one, two = await linked(lan)
    one.links[0].send(make_hello("9"))
    one.links[0].send(KNOCK)
    await two.bell.until(lambda: two.frames == [KNOCK])
    assert two.links[0].bad_frames == 1


async def test_too_much_garbage_ends_the_link(lan: Lan) -> None:
    one, two = await linked(lan)
    raw(one, pack(b"\xc1") * (link_module.MAX_BAD_FRAMES + 1))
    await two.bell.until(lambda: two.closed == [CloseCode.GARBAGE])
    await one.bell.until(lambda: one.closed == [CloseCode.GARBAGE])


async def test_another_stream_ends_the_link(lan: Lan) -> None:
    one, two = await linked(lan)
    one.links[0]._quic.send_stream_data(4, b"hello")
    one.links[0]._pump()
    await two.bell.until(lambda: two.closed == [CloseCode.GARBAGE])


async def test_a_peer_that_keeps_the_stream_waiting_is_dropped(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data behind a gap is kept by the library; a bound on what delivers nothing ends that."""
    monkeypatch.setattr(link_module, "MAX_STRAY_BYTES", 20_000)
    one, two = await linked(lan)
    sender = one.links[0]._quic._streams[0].sender
    start = sender._buffer_stop
    sender.write(bytes(100_000))
    sender._pending.subtract(start, start + 1)  # never send the first byte
    one.links[0]._pump()
    await two.bell.until(lambda: two.closed == [CloseCode.GARBAGE])


async def test_a_peer_that_does_not_read_is_dropped(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "MAX_UNREAD_BYTES", 100_000)
    one, two = await linked(lan)
    kill(two.endpoint)
    for _ in range(5):
        one.links[0].send(Entries(((bytes(32_000), bytes(64)),)))
    await one.bell.until(lambda: one.closed == [CloseCode.TOO_SLOW])


async def test_over_the_rate_reading_slows_and_nothing_is_lost(lan: Lan) -> None:
    one, two = await linked(lan)
    link = two.links[0]
    link._reading = Allowance(50_000, 1e-9)
    frames = [Entries(((bytes([number]) * 32_000, bytes(64)),)) for number in range(10)]
    for frame in frames:
        one.links[0].send(frame)
    async with asyncio.timeout(8):
        while not link.shed_datagrams:  # noqa: ASYNC110 - what is not read tells nobody
            await asyncio.sleep(0)
    assert len(two.frames) < 10
    link.trust()
    await two.bell.until(lambda: len(two.frames) == 10)
    assert two.frames == frames


async def test_a_paused_link_reads_nothing_and_loses_nothing(lan: Lan) -> None:
    one, two = await linked(lan)
    link = two.links[0]
    link.is_paused = True
    one.links[0].send(KNOCK)
    async with asyncio.timeout(8):
        while not link.shed_datagrams:  # noqa: ASYNC110 - what is not read tells nobody
            await asyncio.sleep(0)
    assert two.frames == []
    link.is_paused = False
    await two.bell.until(lambda: two.frames == [KNOCK])


async def test_strangers_are_read_slower_than_whom_one_dialled_and_members(lan: Lan) -> None:
    one, two = await linked(lan)
    assert one.links[0]._reading.per_second == link_module.BYTES_PER_SECOND
    assert two.links[0]._reading.per_second == link_module.STRANGER_BYTES_PER_SECOND
    two.links[0].trust()
    assert two.links[0]._reading.burst == link_module.BURST_BYTES


async def test_small_datagrams_and_frames_are_counted_for_the_work_that_they_make(lan: Lan) -> None:
    one, two = await linked(lan)
    link = two.links[0]
    link._reading = Allowance(1_000_000, 1e-9)
    for _ in range(100):
        one.links[0].send(KNOCK)
    await two.bell.until(lambda: len(two.frames) == 100)
    spent = 1_000_000 - link._reading._left
    assert spent >= 100 * link_module.FRAME_COST_BYTES + link_module.DATAGRAM_COST_BYTES


# -- sockets


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x40", b"\xc0" * 1200, bytes(range(256)) * 6, b"\xff" * 1300])
async def test_garbage_datagrams_change_nothing(lan: Lan, data: bytes) -> None:
    one, two = await linked(lan)
    one.endpoint.link_send(data, two.address)
    one.links[0].send(KNOCK)
    await two.bell.until(lambda: two.frames == [KNOCK])
    assert len(two.endpoint._links) == 1 and len(two.endpoint.gate) == 0


async def test_a_garbage_initial_holds_no_slot(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    header = bytes.fromhex("c000000001") + b"\x08" + bytes(8) + b"\x08" + bytes(8) + b"\x00" + b"\x44\x96"
    one.endpoint.link_send(header.ljust(1200, b"\x55"), two.address)
    await one.dial(two)
    assert two.endpoint.stats.garbage == 1
    assert len(two.endpoint._links) == 1 and len(two.endpoint.gate) == 0


async def test_a_port_in_use_is_said(lan: Lan) -> None:
    one = await lan.host(1)
    with pytest.raises(NetworkProblem) as caught:
        await Endpoint.open(key_of(2), addresses=("127.0.0.1",), port=one.endpoint.port)
    assert (caught.value.code, caught.value.sentence.values["port"]) == ("port_busy", one.endpoint.port)


async def test_without_a_port_the_next_free_one_of_the_range_is_taken(lan: Lan) -> None:
    one = await Endpoint.open(key_of(1), addresses=("127.0.0.1",))
    two = await Endpoint.open(key_of(2), addresses=("127.0.0.1",))
    assert DEFAULT_PORT <= one.port < two.port < DEFAULT_PORT + PORT_RANGE
    await one.close()
    await two.close()


async def test_ipv6_works_where_there_is_ipv6(lan: Lan) -> None:
    one = await Endpoint.open(key_of(1), addresses=("127.0.0.1", "::1"), port=0, on_link=lambda link: None)
    two = await Endpoint.open(key_of(2), addresses=("127.0.0.1", "::1"), port=0)
    try:
        if "::1" not in one.hosts:
            pytest.skip("this machine has no IPv6 loopback")
        link = await soon(two.dial(("::1", one.port, 0, 0), one.key))
        assert link.address == ("::1", one.port, 0, 0)
    finally:
        await one.close()
        await two.close()


async def test_a_socket_that_the_system_closed_is_opened_again(lan: Lan) -> None:
    one, two = await linked(lan)
    port = two.endpoint.port
    two.endpoint.rebuild_sockets()
    one.links[0].send(KNOCK)
    await two.bell.until(lambda: two.frames == [KNOCK])
    assert two.endpoint.port == port and two.endpoint.socket_stats.reopened == 1


async def test_closing_twice_is_closing_once(lan: Lan) -> None:
    one, _ = await linked(lan)
    await one.endpoint.close()
    await one.endpoint.close()
    assert one.links[0].state is LinkState.CLOSED


async def test_a_plain_datagram_must_not_look_like_quic(lan: Lan) -> None:
    one = await lan.host(1)
    with pytest.raises(ValueError, match="0x40"):
        one.endpoint.send_plain(b"\x40", one.address)


async def test_the_library_is_silent(lan: Lan, capfd: pytest.CaptureFixture[str]) -> None:
    one, two = await linked(lan)
    raw(one, pack(b"\xc1") * 40)
    await two.bell.until(lambda: two.closed != [])
    two.endpoint.link_send(b"\xff" * 1300, one.address)
    assert capfd.readouterr() == ("", "")

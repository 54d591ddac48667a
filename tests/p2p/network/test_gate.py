"""Half-open links: the caps, and that forged packets lock nobody out."""

from __future__ import annotations

import pytest
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection

from p2p.network.addresses import Address
from p2p.network.gate import (
    FRESH_PER_SECOND,
    FRESH_SECONDS,
    HALF_OPEN_SECONDS,
    HOST_PER_SECOND,
    MAX_FRESH,
    MAX_HOSTS,
    MAX_KNOWN,
    MAX_LOOPBACK,
    MAX_PER_HOST,
    MAX_PROVEN,
    MAX_UNPROVEN,
    PROVEN_PER_SECOND,
    UNPROVEN_PER_SECOND,
    Gate,
    Verdict,
)
from tests.p2p.network.helpers import Host, Lan


def host(number: int) -> Address:
    return (f"192.168.0.{number}", 21052)


def fill(gate: Gate, addresses: list[Address], *, proven: bool, now: float = 0.0) -> list[Verdict]:
    verdicts = []
    for address in addresses:
        verdict = gate.judge(address, proven, now)
        verdicts.append(verdict)
        if verdict is Verdict.ACCEPT:
            gate.enter((address, proven, len(gate)), address, proven, now)
    return verdicts


def test_past_four_unproven_ones_the_answer_is_retry() -> None:
    verdicts = fill(Gate(), [host(number) for number in range(1, 8)], proven=False)
    assert verdicts == [Verdict.ACCEPT] * MAX_UNPROVEN + [Verdict.RETRY] * 3


def stale(gate: Gate, *addresses: Address) -> None:
    """These hosts have begun handshakes lately."""
    gate._begun.update(dict.fromkeys((address[0] for address in addresses), 0.0))


def test_eight_in_all_for_whoever_begins_again_and_again() -> None:
    gate = Gate()
    fill(gate, [host(number) for number in range(1, 9)], proven=False)
    stale(gate, *(host(number) for number in range(1, 9)))
    verdicts = fill(gate, [host(number) for number in range(1, 9)], proven=True)
    assert verdicts == [Verdict.ACCEPT] * MAX_PROVEN + [Verdict.DROP] * 4
    assert len(gate) == 8


def test_whoever_comes_once_comes_in_whatever_thirty_others_do() -> None:
    gate = Gate()
    attackers = [host(number) for number in range(100, 130)]
    for tenth in range(1200):
        now = tenth / 10
        fill(gate, attackers, proven=True, now=now)
        assert len(gate) <= MAX_PROVEN + MAX_FRESH
        if tenth >= 700 and tenth % 50 == 0:
            # Half a minute after their first handshakes: one who has not been here before.
            newcomer = host(tenth // 50)
            assert gate.judge(newcomer, True, now) is Verdict.ACCEPT
            gate.enter("newcomer", newcomer, True, now)
            gate.leave("newcomer")


def test_fresh_hosts_are_bounded_too() -> None:
    gate = Gate()
    verdicts = fill(gate, [host(number) for number in range(1, 60)], proven=True)
    assert verdicts.count(Verdict.ACCEPT) == MAX_FRESH == 2 * FRESH_PER_SECOND
    assert gate.judge(host(1), True, FRESH_SECONDS + 1) is Verdict.ACCEPT


def test_two_of_one_host_then_retry_or_nothing() -> None:
    gate = Gate()
    assert fill(gate, [host(1)] * 3, proven=False) == [Verdict.ACCEPT] * MAX_PER_HOST + [Verdict.RETRY]
    stale(gate, host(1))
    assert fill(gate, [host(1)] * 3, proven=True) == [Verdict.ACCEPT] * MAX_PER_HOST + [Verdict.DROP]


def test_forged_packets_of_a_players_address_do_not_lock_the_player_out() -> None:
    gate = Gate()
    fill(gate, [host(1)] * 50, proven=False)
    assert gate.judge(host(1), False, 0.0) is Verdict.RETRY
    assert gate.judge(host(1), True, 0.0) is Verdict.ACCEPT


def test_known_hosts_have_slots_of_their_own() -> None:
    gate = Gate()
    gate.known = frozenset({"192.168.0.100"})
    stale(gate, *(host(number) for number in range(1, 100)))
    fill(gate, [host(number) for number in range(1, 50)], proven=True)
    assert gate.judge(host(99), True, 0.0) is Verdict.DROP
    assert gate.judge(("192.168.0.100", 1), True, 0.0) is Verdict.ACCEPT


def test_known_slots_are_capped_too() -> None:
    gate = Gate()
    gate.known = frozenset(f"192.168.0.{number}" for number in range(1, 30))
    verdicts = fill(gate, [host(number) for number in range(1, 12)], proven=True)
    assert verdicts.count(Verdict.ACCEPT) == MAX_KNOWN


def test_loopback_is_exempt_up_to_a_bound() -> None:
    gate = Gate()
    verdicts = fill(gate, [("127.0.0.1", port) for port in range(1, MAX_LOOPBACK + 3)], proven=False)
    assert verdicts == [Verdict.ACCEPT] * MAX_LOOPBACK + [Verdict.DROP] * 2
    assert gate.judge(("::1", 9, 0, 0), False, 0.0) is Verdict.DROP
    assert gate.judge(host(1), False, 0.0) is Verdict.ACCEPT


def test_slots_free_themselves_after_five_seconds_and_on_leaving() -> None:
    gate = Gate()
    fill(gate, [host(number) for number in range(1, 6)], proven=False, now=10.0)
    assert gate.judge(host(9), False, 10.0 + HALF_OPEN_SECONDS - 0.1) is Verdict.RETRY
    assert gate.judge(host(9), False, 10.0 + HALF_OPEN_SECONDS) is Verdict.ACCEPT
    gate = Gate()
    gate.enter("a", host(1), False, 0.0)
    gate.leave("a")
    gate.leave("a")
    assert len(gate) == 0


def spin(gate: Gate, address: Address, *, proven: bool, count: int, now: float) -> list[Verdict]:
    """Handshakes that end at once, one after the other."""
    verdicts = []
    for _ in range(count):
        verdicts.append(gate.judge(address, proven, now))
        if verdicts[-1] is Verdict.ACCEPT:
            gate.enter("one", address, proven, now)
            gate.leave("one")
    return verdicts


def test_handshakes_that_end_at_once_are_rationed_too() -> None:
    gate = Gate()
    at_once = int(2 * UNPROVEN_PER_SECOND)
    verdicts = spin(gate, host(1), proven=False, count=50, now=0.0)
    assert verdicts == [Verdict.ACCEPT] * at_once + [Verdict.RETRY] * (50 - at_once)
    assert spin(gate, host(1), proven=False, count=50, now=1.0).count(Verdict.ACCEPT) == UNPROVEN_PER_SECOND
    assert gate.judge(host(1), True, 0.0) is Verdict.ACCEPT


def test_one_proven_host_does_not_use_up_what_others_may_begin() -> None:
    gate = Gate()
    stale(gate, host(1), host(2), host(3))
    assert spin(gate, host(1), proven=True, count=50, now=0.0).count(Verdict.ACCEPT) == 2 * HOST_PER_SECOND
    assert spin(gate, host(2), proven=True, count=50, now=0.0).count(Verdict.ACCEPT) == 2 * HOST_PER_SECOND
    assert 2 * PROVEN_PER_SECOND == 4 * HOST_PER_SECOND
    assert gate.judge(host(3), True, 0.0) is Verdict.DROP
    gate.known = frozenset({host(3)[0]})
    assert gate.judge(host(3), True, 0.0) is Verdict.ACCEPT


def test_hosts_that_are_counted_are_bounded() -> None:
    gate = Gate()
    for number in range(MAX_HOSTS + 50):
        address = (f"10.0.{number // 250}.{number % 250 + 1}", 1)
        gate.judge(address, True, 0.0)
        gate.enter(number, address, True, 0.0)
        gate.leave(number)
    assert len(gate._hosts) == len(gate._begun) == MAX_HOSTS


# -- the endpoint behind the gate


def initial_packet(number: int) -> bytes:
    """The first packet of a real client, never heard of again."""
    quic = QuicConnection(configuration=QuicConfiguration(alpn_protocols=["shithead"], server_name="x"))
    quic.connect(("127.0.0.1", number), now=0.0)
    return quic.datagrams_to_send(now=0.0)[0][0]


async def flood(two: Host, count: int) -> None:
    for number in range(1, count + 1):
        two.endpoint._received(initial_packet(number), (f"10.9.{number // 250}.{number % 250 + 1}", 1000 + number))


async def test_a_flood_holds_four_slots_and_little_memory(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    two = await lan.host(2)
    sent: list[tuple[bytes, Address]] = []
    monkeypatch.setattr(two.endpoint, "link_send", lambda data, address: sent.append((data, address)))
    await flood(two, 60)
    assert len(two.endpoint._links) == MAX_UNPROVEN
    assert two.endpoint.stats.retried == 60 - MAX_UNPROVEN
    retries = [data for data, _ in sent if (data[0] & 0xF0) == 0xF0]
    assert len(retries) == 60 - MAX_UNPROVEN
    assert all(len(data) < 200 for data in retries)  # less than what they answer


async def test_a_real_peer_comes_in_by_retry_during_a_flood(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = await lan.host(1), await lan.host(2)
    real = two.endpoint.link_send
    monkeypatch.setattr(
        two.endpoint, "link_send", lambda data, address: real(data, address) if address == one.address else None
    )
    await flood(two, 20)
    # As if one were elsewhere on the LAN: loopback itself is exempt.
    monkeypatch.setattr("p2p.network.gate.is_loopback", lambda address: False)
    before = two.endpoint.stats.retried
    link = await one.dial(two)
    assert link.is_up and two.endpoint.stats.retried == before + 1
    assert len(two.endpoint.gate) == MAX_UNPROVEN


async def test_a_forged_token_opens_nothing(lan: Lan) -> None:
    two = await lan.host(2)
    quic = QuicConnection(
        configuration=QuicConfiguration(alpn_protocols=["shithead"], server_name="x", token=b"t" * 60)
    )
    quic.connect(("127.0.0.1", 1), now=0.0)
    two.endpoint._received(quic.datagrams_to_send(now=0.0)[0][0], ("10.9.0.1", 1))
    assert two.endpoint._links == {} and two.endpoint.stats.gated == 1


async def test_garbage_that_looks_like_a_first_packet_makes_few_connections(lan: Lan) -> None:
    two = await lan.host(2)
    two.endpoint.link_send = lambda data, address: None  # type: ignore[method-assign]
    two.endpoint._loop = type(
        "Clock", (), {"time": lambda self: 100.0, "call_later": two.endpoint._loop.call_later}
    )()  # type: ignore[assignment]
    header = bytes.fromhex("c00000000108")
    for number in range(200):
        packet = header + number.to_bytes(8, "big") + b"\x08" + bytes(8) + b"\x00\x44\x96"
        two.endpoint._received(packet.ljust(1200, b"\x55"), (f"10.9.0.{number}", 1))
    assert two.endpoint.stats.garbage == 2 * UNPROVEN_PER_SECOND
    assert two.endpoint.stats.retried == 200 - 2 * UNPROVEN_PER_SECOND
    assert two.endpoint._links == {}


async def test_half_open_links_end_after_five_seconds(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("p2p.network.transport.HALF_OPEN_SECONDS", 0.05)
    two = await lan.host(2)
    monkeypatch.setattr(two.endpoint, "link_send", lambda data, address: None)
    await flood(two, 1)
    (link,) = two.endpoint._links
    gone = two.endpoint._loop.create_future()
    link.when_closed(gone)
    await gone
    assert two.endpoint._links == {} and two.endpoint._by_id == {} and len(two.endpoint.gate) == 0

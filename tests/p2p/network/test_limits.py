"""Limits of what others can make a peer read, keep, send and do; more of them are held where they belong."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import msgspec
import pytest

from engine.rules import RuleSet
from p2p import canonical
from p2p.dealing.interface import MAX_DECK_CARDS, DealingError, Ground
from p2p.errors import NetworkProblem, RemoteProtocolError
from p2p.feeds import entries, identity
from p2p.feeds.entries import Unreadable, read_entry
from p2p.feeds.facts import Feeds
from p2p.feeds.identity import BadName, check_name
from p2p.network import advert, budget, datagrams, discovery, frames, mesh, probe, transport
from p2p.network import link as link_module
from p2p.network.addresses import MAX_PORT, make_address
from p2p.node import core as core_module
from p2p.node import knocking, sync
from p2p.node.knocking import Knocker
from p2p.rounds import roundfile
from tests.p2p.network.helpers import Lan, key_of, soon
from tests.p2p.network.test_discovery import ad_of, txt_of
from tests.p2p.peers import Table, key_for

# -- what can be read


DECK = entries.Deck(bytes(32), b"", bytes(30_000))

FRAMES = {
    "MAX_HEADS": lambda count: frames.Have(bytes(32), ((bytes(32), 0, bytes(32)),) * count),
    "MAX_ENTRIES": lambda count: frames.Ask(bytes(32), (bytes(32),) * count),
    "MAX_NAME_CHARACTERS": lambda count: frames.Knock(b"", "x" * count, b""),
    "MAX_SAY_CHARACTERS": lambda count: frames.Say(bytes(32), bytes(32), 0, "x" * count, bytes(64)),
    "MAX_ADDRESSES": lambda count: frames.Addresses(bytes(32), 0, (("10.0.0.1", 9),) * count, bytes(64)),
    "MAX_VALUES": lambda count: frames.Refuse("full", (("a", "b"),) * count),
    "MAX_ENTRY_BYTES": lambda count: frames.Entries(((bytes(count), bytes(64)),)),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_at_its_limit_is_read_and_one_past_it_is_not(name: str) -> None:
    """frames.MAX_HEADS, frames.MAX_ENTRIES, frames.MAX_SAY_CHARACTERS, frames.MAX_ADDRESSES, frames.MAX_VALUES,
    entries.MAX_NAME_CHARACTERS, MAX_ENTRY_BYTES."""
    most = getattr(frames, name)
    make = FRAMES[name]
    assert frames.decode(msgspec.msgpack.encode(make(most))) == make(most)
    with pytest.raises(RemoteProtocolError):
        frames.decode(msgspec.msgpack.encode(make(most + 1)))


@pytest.mark.parametrize(
    ("change", "most"),
    [
        (lambda count: {b"t": b"x" * count}, advert.MAX_TABLE_NAME_CHARACTERS),
        (lambda count: {b"r": b"x" * count}, advert.MAX_WORD_CHARACTERS),
        (lambda count: {b"v": b"1" + b" " * (count - 4) + b"-1 "}, 4),
    ],
)
def test_an_advert_at_its_limit_is_read_and_one_past_it_is_not(change, most: int) -> None:  # type: ignore[no-untyped-def]
    base = txt_of(ad_of(1))
    if most > 4:
        advert.from_txt({**base, **change(most)}, 9)
    with pytest.raises(RemoteProtocolError):
        advert.from_txt({**base, **change(most + 1)}, 9)
    long = b"0" * (advert.MAX_TXT_VALUE_BYTES + 1)
    with pytest.raises(RemoteProtocolError):
        advert.from_txt({**base, b"k": long}, 9)


def test_a_feed_ends_at_its_last_number() -> None:
    key = key_for("Ada")
    for seq, is_read in ((entries.MAX_FEED_ENTRIES - 1, True), (entries.MAX_FEED_ENTRIES, False)):
        try:
            one = entries.make_entry(key, bytes([7]) * 32, seq, bytes([1]) * 32, (), entries.Mark())
            read_entry(one.data, one.signature)
        except (Unreadable, ValueError, msgspec.MsgspecError):
            assert not is_read
        else:
            assert is_read


def test_what_is_nested_or_long_is_not_read() -> None:
    deep: object = 1
    for _ in range(canonical.MAX_DEPTH + 1):
        deep = [deep]
    for value in (deep, [0] * (canonical.MAX_ARRAY_ITEMS + 1)):
        with pytest.raises(canonical.NotCanonical):
            canonical.dec(msgspec.msgpack.encode(value))


def test_decks_ports_marks_and_files_have_their_limits(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DealingError):
        Ground(bytes(32), 1, (bytes(32),), MAX_DECK_CARDS // 52 + 1, 0)
    make_address("10.0.0.1", MAX_PORT)
    with pytest.raises(NetworkProblem):
        make_address("10.0.0.1", MAX_PORT + 1)
    check_name("नमस्ते")
    with pytest.raises(BadName):
        check_name("x" + "\u0301\u0302\u0303\u0304"[: identity.MAX_MARKS + 1] + "\u0327\u0328")
    monkeypatch.setattr(roundfile, "MAX_FILE_BYTES", 100)
    big = tmp_path / "big.round"
    big.write_bytes(bytes(101))
    with pytest.raises(roundfile.NotARound):
        roundfile.read(big)


# -- what is kept


def test_addresses_of_one_peer_are_few() -> None:
    sighting = discovery._Sighting(ad_of(1))
    member = mesh._Member()
    for number in range(50):
        sighting.learn(("10.0.0.1", number + 1))
        member.learn(("10.0.0.1", number + 1), first=True)
    assert len(sighting.addresses) == discovery.MAX_ADDRESSES
    assert len(member.addresses) == mesh.MAX_PEER_ADDRESSES


async def test_questions_that_wait_and_datagrams_that_wait_are_bounded(lan: Lan) -> None:
    host = await lan.host(1)
    prober = probe.Prober(host.endpoint)
    host.endpoint.send_plain = lambda data, address: None  # type: ignore[method-assign]
    for number in range(probe.MAX_PENDING + 50):
        prober.ask(("10.0.0.1", number + 1))
    assert len(prober._pending) == probe.MAX_PENDING
    (sock,) = host.endpoint._sockets
    for task in sock._tasks:
        task.cancel()
    await asyncio.gather(*sock._tasks, return_exceptions=True)
    sock._outgoing.clear()
    for _ in range(datagrams.MAX_QUEUED_DATAGRAMS + 50):
        sock.send(b"\x00", ("127.0.0.1", 9))
    assert sock.queued == datagrams.MAX_QUEUED_DATAGRAMS
    assert host.endpoint.socket_stats.overflowed == 50
    sock._outgoing.clear()


def test_hosts_with_a_ration_of_their_own_are_few() -> None:
    rations = probe.Rations()
    for number in range(probe.MAX_HOSTS + 1):
        rations.take(f"host {number}", 0.0)
    assert len(rations._hosts) == probe.MAX_HOSTS and "host 0" not in rations._hosts


async def test_links_and_pings_are_bounded(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_LINKS", 1)
    one, two, three = [await lan.host(number) for number in (1, 2, 3)]
    link = await one.dial(two)
    with pytest.raises(NetworkProblem):
        await soon(three.endpoint.dial(two.address, two.key, timeout_s=0.2))
    assert two.endpoint.stats.gated > 0
    monkeypatch.setattr(link, "_pong", lambda number: None)
    for _ in range(100):
        link.ping()
    assert len(link._pings) == link_module.MAX_PINGS


async def test_an_error_that_stays_ends_the_tries_of_a_datagram(lan: Lan) -> None:
    host = await lan.host(1)
    (sock,) = host.endpoint._sockets
    tries: list[bytes] = []

    class Broken(datagrams.DatagramServer):  # type: ignore[misc]
        def __init__(self) -> None: ...

        async def send(self, data: bytes, address: object) -> None:
            tries.append(data)
            raise OSError(1, "never")

        def close(self) -> None: ...

        def __del__(self) -> None: ...

    real, sock._stream = sock._stream, Broken()
    await sock._write_one(b"x", ("127.0.0.1", 9))
    assert len(tries) == datagrams.MAX_SEND_TRIES
    sock._stream = real


def test_frames_of_entries_and_questions_are_cut() -> None:
    table = Table(["Ana", "Bogdan"], seed=1)
    table.settle()
    big = [
        entries.make_entry(key_for("Ana"), bytes([7]) * 32, seq, bytes([1]) * 32, (), DECK) for seq in range(1, 40)
    ]
    cut = list(sync.batches(big))
    assert sum(len(frame.entries) for frame in cut) == 39
    assert all(sum(len(data) for data, _ in frame.entries) <= sync.MAX_BATCH_BYTES for frame in cut)
    assert sync.MAX_BATCH_BYTES < frames.MAX_FRAME_BYTES
    assert sync.MAX_BRANCHES * entries.MAX_ADMISSIONS <= frames.MAX_HEADS
    assert core_module.MAX_ASKED <= frames.MAX_ENTRIES
    assert sync.make_have(bytes(32), Feeds()).heads == ()


def test_a_grace_below_the_least_is_a_bad_start() -> None:
    table = Table(["Ana", "Bogdan"], seed=1)
    table.settle()
    ana = table.peers[0]
    body = ana.session.offer(RuleSet(), [peer.me for peer in table.peers])
    assert isinstance(body, entries.Start)
    ana.write(msgspec.structs.replace(body, limits=[0, 0, entries.MIN_GRACE_S - 1]))
    assert [fault.code for fault in ana.session.table_faults] == ["bad_start"]


def test_the_rates_fit_each_other() -> None:
    """What one step takes in stays below what waits, and that below what a link may bring in a moment."""
    assert budget.STEP_BYTES < budget.MAX_WAITING_BYTES < budget.ENTRIES_BURST_BYTES
    assert budget.MAX_WAITING_BYTES <= link_module.BURST_BYTES
    assert link_module.STRANGER_BURST_BYTES < link_module.BURST_BYTES
    assert link_module.STRANGER_BYTES_PER_SECOND < link_module.BYTES_PER_SECOND
    assert budget.CARDS_PER_SECOND < budget.CARDS_BURST
    assert mesh.MAX_SPARES < mesh.MAX_PEER_ADDRESSES
    assert discovery.MAX_NAMES > discovery.MAX_TABLES
    assert mesh.FIRST_BACKOFF_SECONDS < mesh.MAX_BACKOFF_SECONDS < link_module.LOST_SECONDS
    assert probe.ANSWERS_PER_HOST_SECOND < probe.ANSWERS_PER_SECOND
    assert len(key_of(1).public_key().public_bytes_raw()) == 32


async def test_somebody_sent_from_door_to_door_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[object] = []

    async def once(self: Knocker, mesh: object, address: object, expected: object, on_waiting: object) -> None:
        tries.append(address)
        raise knocking._Elsewhere(("10.0.0.1", 9))

    monkeypatch.setattr(Knocker, "_knock_once", once)
    knocker = Knocker(SimpleNamespace(mesh=object()), SimpleNamespace())  # type: ignore[arg-type]
    with pytest.raises(NetworkProblem) as problem:
        await knocker.knock(("10.0.0.1", 9), None, lambda: None)
    assert problem.value.code == "refused"
    assert len(tries) == knocking.MAX_REDIRECTS

"""Between hosts: discovery by multicast, loss, firewalls on both sides, partition."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

import pytest

from p2p.network import link as link_module
from p2p.network.advert import TableAd
from p2p.network.discovery import Advertiser, Browser, Responder
from p2p.network.frames import CloseCode, Entries, Knock
from p2p.network.interfaces import Interface, usable_interfaces
from p2p.network.mesh import Mesh
from p2p.network.probe import Prober
from p2p.network.sweep import Sweep
from p2p.network.transport import Endpoint, make_hello
from tests.net.lan import Host, TestLan, run, why_not
from tests.p2p.network.helpers import Player, key_of, soon

pytestmark = pytest.mark.netns

KNOCK = Knock(table_id=b"", name="Ann", operator=b"")


async def until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - conditions of several hosts at once
            await asyncio.sleep(0.01)


async def open_inside(host: Host, number: int) -> Endpoint:
    with host.inside():
        return await Endpoint.open(key_of(number), port=21052, hello=make_hello("0.1"))


class Peer:
    """A player on a host of its own."""

    def __init__(self, host: Host, number: int, endpoint: Endpoint) -> None:
        self.host = host
        self.player = Player(key_of(number), endpoint)
        self.mesh: Mesh = self.player.mesh
        self.key = self.player.key

    @property
    def address(self) -> tuple[str, int]:
        return (self.host.address, self.mesh.endpoint.port)

    @classmethod
    async def open(cls, host: Host, number: int) -> Peer:
        return cls(host, number, await open_inside(host, number))

    def interfaces(self) -> tuple[Interface, ...]:
        with self.host.inside():
            return usable_interfaces()

    def ad(self, table: str) -> TableAd:
        return TableAd(
            table=table,
            table_id=bytes(8),
            key=self.key,
            nonce=self.mesh.endpoint.hello.instance,
            port=self.mesh.endpoint.port,
            players=1,
            seats=5,
            rules="standard",
            phase="open",
        )


@pytest.fixture
async def party(lan: TestLan) -> AsyncIterator[tuple[Peer, Peer]]:
    """Two peers, each on a host of its own."""
    peers = (await Peer.open(await lan.host("ann"), 1), await Peer.open(await lan.host("bob"), 2))
    yield peers
    await asyncio.gather(*(peer.mesh.close() for peer in peers))


async def test_dns_sd_alone_finds_a_table_on_another_host(party: tuple[Peer, Peer]) -> None:
    ann, bob = party
    with ann.host.inside():
        announcing = Responder.open(ann.interfaces())
        await announcing.zeroconf.zeroconf.async_wait_for_start()
    with bob.host.inside():
        browsing = Responder.open(bob.interfaces())
        await browsing.zeroconf.zeroconf.async_wait_for_start()
    advertiser = Advertiser(announcing, Prober(ann.mesh.endpoint))
    browser = Browser(browsing, Prober(bob.mesh.endpoint), (), own_key=bob.key, search=False)
    try:
        await browser.start()
        await soon(advertiser.start(ann.ad("Kitchen")))
        await until(lambda: any(table.is_live for table in browser.tables()))
        (table,) = browser.tables()
        assert table.ad == ann.ad("Kitchen")
        assert ann.address in table.addresses
        # IPv6 link-local comes with the scope of the one who reads it.
        await until(lambda: any(len(address) == 4 and address[3] for address in browser.tables()[0].addresses))
        link = await soon(bob.mesh.endpoint.dial(table.addresses[0], table.ad.key))
        assert link.peer == ann.key
        await advertiser.close()
        await until(lambda: not any(table.is_live for table in browser.tables()))
    finally:
        await browser.close()
        await announcing.close()
        await browsing.close()


async def test_a_broadcast_question_finds_a_table_where_multicast_is_dropped(party: tuple[Peer, Peer]) -> None:
    ann, bob = party
    for peer in (ann, bob):
        peer.host.firewall("ip daddr 224.0.0.0/4 drop", "ip6 daddr ff00::/8 udp dport 5353 drop")
    advertiser = Advertiser(None, Prober(ann.mesh.endpoint))
    browser = Browser(None, Prober(bob.mesh.endpoint), bob.interfaces(), own_key=bob.key)
    try:
        await advertiser.start(ann.ad("Attic"))
        await browser.start()
        await until(lambda: any(table.is_live for table in browser.tables()))
        (table,) = browser.tables()
        assert (table.ad.table, table.addresses[0]) == ("Attic", ann.address)
    finally:
        await browser.close()


async def test_a_link_works_at_20_percent_loss_each_way(party: tuple[Peer, Peer]) -> None:
    ann, bob = party
    ann.host.lose(20)
    bob.host.lose(20)
    members = {ann.key: [ann.address], bob.key: [bob.address]}
    ann.mesh.set_members(members)
    bob.mesh.set_members(members)
    await until(lambda: bob.key in ann.mesh.peers and ann.key in bob.mesh.peers)
    frames = [Entries(((bytes([number]) * 20_000, bytes(64)),)) for number in range(10)]

    def all_there() -> bool:
        got = [frame for _, frame in bob.player.frames]
        return got[-len(frames) :] == frames

    # A link that gives way to its twin takes what is under way with it; whoever uses a mesh says it again.
    ups = -1
    async with asyncio.timeout(120):
        while not all_there():
            if len(ann.player.ups) != ups:
                ups = len(ann.player.ups)
                for frame in frames:
                    ann.mesh.send(bob.key, frame)
            await asyncio.sleep(0.01)


async def test_mutual_dialling_passes_two_firewalls_that_drop_what_was_not_asked(party: tuple[Peer, Peer]) -> None:
    ann, bob = party
    ann.host.drop_unasked()
    bob.host.drop_unasked()
    members = {ann.key: [ann.address], bob.key: [bob.address]}
    ann.mesh.set_members(members)
    # One side alone gets nowhere.
    with pytest.raises(TimeoutError):
        await until(lambda: bob.key in ann.mesh.peers, seconds=1.0)
    bob.mesh.set_members(members)
    await until(lambda: bob.key in ann.mesh.peers and ann.key in bob.mesh.peers)


async def test_a_partition_is_noticed_and_mended(
    party: tuple[Peer, Peer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "LOST_SECONDS", 2.0)
    ann, bob = party
    members = {ann.key: [ann.address], bob.key: [bob.address]}
    ann.mesh.set_members(members)
    bob.mesh.set_members(members)
    await until(lambda: bob.key in ann.mesh.peers and ann.key in bob.mesh.peers)
    ann.host.part_from(bob.host)
    bob.host.part_from(ann.host)
    await until(lambda: [status.name for _, status in ann.player.statuses][-1:] == ["LOST"])
    ann.host.mend()
    bob.host.mend()
    await until(lambda: ann.mesh.peers.get(bob.key) is not None and ann.mesh.peers[bob.key].name == "GOOD")
    sent = len(bob.player.frames)
    # Again and again: the old link may be back for a moment before a new one takes its place.
    await until(lambda: ann.mesh.send(bob.key, KNOCK) and len(bob.player.frames) > sent)
    assert all(reason is CloseCode.DUPLICATE for _, reason in ann.player.downs)


async def test_a_program_runs_on_a_host(lan: TestLan) -> None:
    host = await lan.host("ann")
    process = await host.python(
        "-c", "from p2p.network.interfaces import usable_interfaces as u; print(u()[0].texts[0])"
    )
    out, err = await soon(process.communicate())
    assert (out.decode().strip(), err) == (host.address, b"")


async def test_namespaces_are_gone_afterwards() -> None:
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    made = TestLan()
    await made.host("ann")
    names = [host.namespace for host in made.hosts]
    assert all(name in run("ip", "netns", "list") for name in names)
    await made.close()
    assert not any(name in run("ip", "netns", "list") for name in names)


async def test_what_a_killed_run_left_is_removed_by_the_next() -> None:
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    dead = run(sys.executable, "-c", "import os; print(os.getpid())").strip()
    orphan = f"sh{dead}x0-switch"
    run("ip", "netns", "add", orphan)
    await TestLan().close()
    assert orphan not in run("ip", "netns", "list")


async def test_two_sweeps_find_each_other_through_two_firewalls(party: tuple[Peer, Peer]) -> None:
    ann, bob = party
    browsers: list[Browser] = []
    sweeps: list[Sweep] = []
    for peer, table in ((ann, "Attic"), (bob, "Cellar")):
        peer.host.drop_unasked()
        prober = Prober(peer.mesh.endpoint)
        prober.ad = peer.ad(table)
        browsers.append(Browser(None, prober, peer.interfaces(), own_key=peer.key, search=False))
        await browsers[-1].start()
        sweeps.append(Sweep(prober, peer.interfaces()))
    try:
        for browser in browsers:
            await until(lambda browser=browser: any(table.is_live for table in browser.tables()))
        # Hundreds of questions to nobody must not fill the game socket: links would stand still.
        await until(lambda: sweeps[0].asked >= 220)
        assert all(sum(peer.mesh.endpoint.queued) <= 2 for peer in party)
    finally:
        for sweep in sweeps:
            sweep.close()
        for browser in browsers:
            await browser.close()

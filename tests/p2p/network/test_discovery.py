"""Adverts, probes and the list of tables: a stranger's text, answers without amplification, live or not."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import unicodedata

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from zeroconf import (
    DNSAddress,
    DNSIncoming,
    DNSOutgoing,
    DNSPointer,
    DNSService,
    DNSText,
    ServiceStateChange,
    const,
)
from zeroconf.asyncio import AsyncServiceInfo

from p2p.errors import RemoteProtocolError
from p2p.network import discovery as discovery_module
from p2p.network import sweep as sweep_module
from p2p.network.addresses import Address
from p2p.network.advert import (
    MAX_LABEL_BYTES,
    TableAd,
    clean_text,
    decode_ad,
    encode_ad,
    from_txt,
    instance_label,
    to_txt,
)
from p2p.network.budget import Allowance
from p2p.network.discovery import MAX_TABLES, SERVICE, Advertiser, Browser, Responder
from p2p.network.gossip import dialable, is_from_author, is_said, make_addresses, make_say
from p2p.network.interfaces import Interface, Verdict, loopback_interfaces
from p2p.network.probe import ANSWER, ANSWERS_PER_HOST_SECOND, ASK, ASK_BACK, ASK_BYTES, Prober, Rations
from p2p.network.sweep import Sweep
from tests.p2p.network.helpers import Bell, Host, Lan, key_of, soon


def ad_of(number: int, table: str = "Kitchen", port: int = 21052, nonce: bytes = b"12345678") -> TableAd:
    return TableAd(
        table=table,
        table_id=bytes([number]) * 8,
        key=key_of(number).public_key().public_bytes_raw(),
        nonce=nonce,
        port=port,
        players=2,
        seats=5,
        rules="standard",
        phase="open",
    )


def txt_of(ad: TableAd) -> dict[bytes, bytes | None]:
    return {key.encode(): value.encode() for key, value in to_txt(ad).items()}


# -- adverts


def test_an_advert_survives_both_ways_of_travel() -> None:
    ad = ad_of(1)
    assert decode_ad(encode_ad(ad)) == ad
    assert from_txt(txt_of(ad), ad.port) == ad
    assert all(len(f"{key}={value}".encode()) <= 255 for key, value in to_txt(ad).items())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"v", b"x-1"),
        (b"v", b"2-1"),
        (b"v", b"999999"),
        (b"v", None),
        (b"t", b""),
        (b"t", b"\xff"),
        (b"t", b"x" * 200),
        (b"t", "\u202e\u200b".encode()),
        (b"id", b"00"),
        (b"id", b"zz" * 8),
        (b"k", b"00" * 32),  # a small-order point
        (b"k", b"00" * 31),
        (b"n", b""),
        (b"p", b"-1"),
        (b"p", b"256"),
        (b"s", "٣".encode()),
        (b"r", b"x" * 25),
        (b"ph", None),
    ],
)
def test_a_txt_record_with_one_bad_value_is_no_advert(key: bytes, value: bytes | None) -> None:
    with pytest.raises(RemoteProtocolError):
        from_txt({**txt_of(ad_of(1)), key: value}, 21052)


def test_unknown_txt_keys_are_ignored() -> None:
    assert from_txt({**txt_of(ad_of(1)), b"new": b"thing", b"flag": None}, 21052) == ad_of(1)


@given(
    st.dictionaries(
        st.sampled_from([b"v", b"t", b"id", b"k", b"n", b"p", b"s", b"r", b"ph"]), st.binary(max_size=80)
    )
)
def test_txt_at_large_gives_an_advert_or_a_protocol_error(changes: dict[bytes, bytes]) -> None:
    try:
        ad = from_txt({**txt_of(ad_of(1)), **changes}, 21052)
    except RemoteProtocolError:
        return
    assert decode_ad(encode_ad(ad)) == ad


@given(st.binary(max_size=120))
def test_bytes_at_large_are_no_advert(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        decode_ad(data)


@given(st.text(max_size=60), st.integers(1, 30))
def test_cleaned_text_is_short_and_shows_only_what_can_be_seen(text: str, limit: int) -> None:
    cleaned = clean_text(text, limit)
    assert len(cleaned) <= limit
    assert all(unicodedata.category(character)[0] != "C" for character in cleaned)
    assert cleaned == cleaned.strip() and "  " not in cleaned


def test_a_strangers_name_cannot_play_tricks() -> None:
    assert clean_text("Kit\u202ech\u200ben\x1b[31m\n 2", 20) == "Kitchen[31m 2"
    ad = msgspec.structs.replace(ad_of(1), table="a\u202eb\u0000c")
    assert decode_ad(encode_ad(ad)).table == "abc"


@given(st.text(min_size=1, max_size=20))
def test_the_instance_name_fits_a_label_and_ends_with_the_key(table: str) -> None:
    ad = msgspec.structs.replace(ad_of(1), table=table)
    label = instance_label(ad)
    assert len(label.encode()) <= MAX_LABEL_BYTES
    assert label.endswith(f" ({ad.key.hex()[:4]})") and "." not in label


def test_versions_that_do_not_fit_are_said() -> None:
    assert ad_of(1).is_compatible
    assert not msgspec.structs.replace(ad_of(1), low=9, high=9).is_compatible


# -- probes


class Watcher:
    """A prober whose answers are recorded."""

    def __init__(self, host: Host) -> None:
        self.bell = Bell()
        self.answers: list[tuple[Address, TableAd]] = []
        self.prober = Prober(host.endpoint, self._found)

    def _found(self, address: Address, ad: TableAd, seconds: float) -> None:
        self.answers.append((address, ad))
        self.bell.ring()


async def test_a_question_is_answered_on_the_game_socket(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    asking, answering = Watcher(one), Watcher(two)
    answering.prober.ad = ad_of(2, port=two.endpoint.port)
    asking.prober.ask(two.address)
    await asking.bell.until(lambda: asking.answers == [(two.address, ad_of(2, port=two.endpoint.port))])


async def test_no_answer_is_longer_than_its_question(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    two = await lan.host(2)
    answering = Watcher(two)
    longest = msgspec.structs.replace(
        ad_of(2), table="\U0001f0a1" * 20, rules="\U0001f0a1" * 24, phase="\U0001f0a1" * 24
    )
    answering.prober.ad = longest
    sent: list[bytes] = []
    monkeypatch.setattr(two.endpoint, "link_send", lambda data, address: sent.append(data))
    two.endpoint._received((ASK + bytes(8)).ljust(ASK_BYTES, b"\0"), ("10.9.0.1", 5))
    assert len(sent) == 1 and len(sent[0]) <= ASK_BYTES
    for short in (ASK, ASK + bytes(8), (ASK + bytes(8)).ljust(ASK_BYTES - 1, b"\0")):
        two.endpoint._received(short, ("10.9.0.1", 5))
    assert len(sent) == 1


async def test_answers_are_rationed_by_host(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    two = await lan.host(2)
    answering = Watcher(two)
    answering.prober.ad = ad_of(2)
    sent: list[Address] = []
    monkeypatch.setattr(two.endpoint, "link_send", lambda data, address: sent.append(address))
    for number in range(100):
        two.endpoint._received((ASK + number.to_bytes(8)).ljust(ASK_BYTES, b"\0"), ("10.9.0.1", 5))
    two.endpoint._received((ASK + b"87654321").ljust(ASK_BYTES, b"\0"), ("10.9.0.2", 5))
    assert sent.count(("10.9.0.1", 5)) <= 2 * ANSWERS_PER_HOST_SECOND + 1
    assert sent[-1] == ("10.9.0.2", 5)
    assert answering.prober.stats.rationed > 0


def test_rations_come_back_with_time() -> None:
    rations = Rations()
    taken = sum(rations.take("10.9.0.1", 0.0) for _ in range(100))
    assert taken == 2 * ANSWERS_PER_HOST_SECOND
    assert not rations.take("10.9.0.1", 0.0)
    assert rations.take("10.9.0.1", 0.2)


async def test_answers_nobody_asked_for_are_dropped(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    asking = Watcher(one)
    one.endpoint._received(ANSWER + bytes(8) + encode_ad(ad_of(2)), two.address)
    asking.prober.ask(two.address)
    (nonce,) = asking.prober._pending
    one.endpoint._received(ANSWER + nonce + encode_ad(ad_of(2)), ("10.9.0.9", 21052))  # from elsewhere
    one.endpoint._received(ANSWER + nonce + b"\xc1", two.address)
    one.endpoint._received(b"\x01nonsense", two.address)
    assert asking.answers == [] and asking.prober.stats.garbage == 4
    one.endpoint._received(ANSWER + nonce + encode_ad(ad_of(2)), two.address)
    assert asking.answers == [(two.address, ad_of(2))]


async def test_own_adverts_are_dropped_by_key_and_by_nonce(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    asking = Watcher(one)
    asking.prober.ask(two.address)
    (nonce,) = asking.prober._pending
    for ad in (ad_of(1), ad_of(2, nonce=one.endpoint.hello.instance)):
        one.endpoint._received(ANSWER + nonce + encode_ad(ad), two.address)
    assert asking.answers == [] and asking.prober.stats.garbage == 0


async def test_a_closed_prober_is_silent(lan: Lan) -> None:
    two = await lan.host(2)
    answering = Watcher(two)
    answering.prober.ad = ad_of(2)
    answering.prober.close()
    two.endpoint._received((ASK + bytes(8)).ljust(ASK_BYTES, b"\0"), ("127.0.0.1", 5))
    assert answering.prober.stats.answered == 0


# -- the list


def browser_of(watcher: Watcher, host: Host, bell: Bell, ports: tuple[int, ...] = ()) -> Browser:
    browser = Browser(None, watcher.prober, loopback_interfaces(), own_key=host.key, ports=ports)
    browser.on_change = bell.ring
    return browser


async def test_a_table_is_live_while_it_answers_and_gone_after(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery_module, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(discovery_module, "LIVE_SECONDS", 0.2)
    one, two = await lan.host(1), await lan.host(2)
    asking, answering, bell = Watcher(one), Watcher(two), Bell()
    browser = browser_of(asking, one, bell, ports=(two.endpoint.port,))
    await browser.start()
    try:
        advertiser = Advertiser(None, answering.prober)
        await advertiser.start(ad_of(2, port=two.endpoint.port))
        await bell.until(lambda: [table.is_live for table in browser.tables()] == [True])
        assert browser.tables()[0].addresses[0] == two.address
        await advertiser.update(msgspec.structs.replace(ad_of(2, port=two.endpoint.port), players=3))
        await bell.until(lambda: browser.tables()[0].ad.players == 3)
        await advertiser.close()
        await bell.until(lambda: [table.is_live for table in browser.tables()] == [False])
        assert browser.changed.is_set()
    finally:
        await browser.close()


async def test_the_list_is_capped_and_live_tables_stay(lan: Lan) -> None:
    one = await lan.host(1)
    browser = browser_of(Watcher(one), one, Bell())
    browser._found(("127.0.0.1", 5), ad_of(2, "Live"), 0.01)
    for number in range(3, 3 + 2 * MAX_TABLES):
        browser._sight(ad_of(number, f"Fake {number}"), is_hearsay=True)
    tables = browser.tables()
    assert len(tables) == MAX_TABLES and tables[0].ad.table == "Live"


async def test_hearsay_changes_nothing_about_a_table_that_answers(lan: Lan) -> None:
    one = await lan.host(1)
    browser = browser_of(Watcher(one), one, Bell())
    browser._found(("127.0.0.1", 5), ad_of(2, "Kitchen"), 0.01)
    browser._sight(ad_of(2, "Cellar", nonce=b"87654321"), is_hearsay=True)
    (table,) = browser.tables()
    assert table.ad.table == "Kitchen" and table.addresses == (("127.0.0.1", 5),)


async def test_a_table_that_started_again_loses_its_old_addresses(lan: Lan) -> None:
    one = await lan.host(1)
    browser = browser_of(Watcher(one), one, Bell())
    browser._found(("127.0.0.1", 5), ad_of(2), 0.01)
    browser._found(("127.0.0.1", 6), ad_of(2, nonce=b"87654321"), 0.01)
    assert browser.tables()[0].addresses == (("127.0.0.1", 6),)


def announcement(name: str, txt: dict[str, str], address: str, port: int = 21052) -> DNSIncoming:
    """A multicast DNS packet that announces a table, with anything in it."""
    out = DNSOutgoing(const._FLAGS_QR_RESPONSE | const._FLAGS_AA, multicast=True)
    full, host, in_, ttl = f"{name}.{SERVICE}", f"{name.encode().hex()[:40]}.local.", const._CLASS_IN, 4500
    text = b"".join(bytes([len(item)]) + item for item in (f"{k}={v}".encode() for k, v in txt.items()))
    for record in (
        DNSPointer(SERVICE, const._TYPE_PTR, in_, ttl, full),
        DNSService(full, const._TYPE_SRV, in_, ttl, 0, 0, port, host),
        DNSText(full, const._TYPE_TXT, in_, ttl, text),
        DNSAddress(host, const._TYPE_A, in_, ttl, ipaddress.ip_address(address).packed),
    ):
        out.add_answer_at_time(record, 0)
    return DNSIncoming(out.packets()[0], ("192.168.0.66", 5353))


async def test_ten_thousand_announced_tables_fill_no_list_and_end_the_listening(
    lan: Lan, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = await lan.host(1)
    interfaces = loopback_interfaces()
    responder = Responder.open(interfaces)
    # Nothing goes out: other tests listen on loopback too.
    monkeypatch.setattr(responder.zeroconf.zeroconf, "async_send", lambda *a, **how: None)
    prober = Prober(host.endpoint)
    browser = Browser(responder, prober, interfaces, own_key=host.key, search=False)
    asked: list[Address] = []
    prober.ask = lambda address, **how: asked.append(address)  # type: ignore[method-assign]
    await browser.start()
    records = responder.zeroconf.zeroconf.record_manager
    started = asyncio.get_running_loop().time()
    for number in range(10_000):
        address = f"10.{number % 200}.{number // 200}.1"
        txt = to_txt(ad_of(number % 200 + 1, f"Table {number}"))
        records.async_updates_from_response(announcement(f"t{number}", txt, address))
        if number % 64 == 0:
            await asyncio.sleep(0)
        assert len(browser._tasks) <= discovery_module.MAX_RESOLVING + 1
        assert len(browser.tables()) <= MAX_TABLES
    assert browser._browser is None
    took = asyncio.get_running_loop().time() - started
    allowed = discovery_module.HEARSAY_BURST + (took + 1) * discovery_module.HEARSAY_PER_SECOND
    assert len(asked) <= allowed
    await browser.close()
    await responder.close()


async def test_other_peoples_addresses_are_asked_only_so_often(lan: Lan) -> None:
    host = await lan.host(1)
    prober = Prober(host.endpoint)
    browser = Browser(None, prober, [], own_key=host.key, search=False)
    browser._hearsay = Allowance(40, 1e-9)
    asked: list[Address] = []
    prober.ask = lambda address, **how: asked.append(address)  # type: ignore[method-assign]
    for number in range(MAX_TABLES):
        sighting = browser._sight(ad_of(number + 2), is_hearsay=True)
        assert sighting is not None
        for last in range(8):
            sighting.learn(("192.168.0.7", 21052) if last < 4 else (f"192.168.{number}.{last}", 21052))
    browser._tick()
    assert len(asked) == len(set(asked)) == 40
    # The next tick begins where this one ended: nobody is asked twice before all have been.
    browser._hearsay = Allowance(40, 1e-9)
    browser._tick()
    assert len(set(asked)) == 80
    await browser.close()


@pytest.mark.parametrize(
    "name",
    [
        "\x1b[2J\x1b[31mKitchen",
        "Kit\u202echen",
        "K" * 60,
        "\u0000",
        "Ki\ntchen",
        "\u200bKitchen\u2066",
        "a\u0301" * 25,
    ],
)
async def test_announced_text_reaches_no_screen_as_it_came(lan: Lan, name: str) -> None:
    host = await lan.host(1)
    browser = Browser(None, Prober(host.endpoint), [], own_key=host.key, search=False)
    txt = {key.encode(): value.encode() for key, value in {**to_txt(ad_of(2)), "t": name, "r": name[:20]}.items()}
    info = AsyncServiceInfo(SERVICE, f"x.{SERVICE}", port=9, properties=txt, addresses=[bytes([192, 168, 0, 9])])
    with contextlib.suppress(RemoteProtocolError):
        browser._heard_of(f"x.{SERVICE}", info)
    for table in browser.tables():
        for text in (table.ad.table, table.ad.rules, table.ad.phase):
            assert text == clean_text(text, 24)
            assert text.isprintable() and len(text) <= 24
    await browser.close()


async def test_a_removed_name_takes_a_silent_table_with_it(lan: Lan) -> None:
    one = await lan.host(1)
    browser = browser_of(Watcher(one), one, Bell())
    for number in (2, 3):
        sighting = browser._sight(ad_of(number), is_hearsay=True)
        assert sighting is not None
        sighting.names.add(f"{number}.{SERVICE}")
    browser._found(("127.0.0.1", 5), ad_of(2), 0.01)
    for number in (2, 3):
        browser._announced(None, SERVICE, f"{number}.{SERVICE}", ServiceStateChange.Removed)  # type: ignore[arg-type]
    assert [table.ad.key for table in browser.tables()] == [ad_of(2).key]  # it answers: not gone


async def test_dns_sd_over_loopback(lan: Lan) -> None:
    one, two = await lan.host(1), await lan.host(2)
    asking, answering, bell = Watcher(one), Watcher(two), Bell()
    responders = [Responder.open(loopback_interfaces()) for _ in range(2)]
    browser = Browser(responders[0], asking.prober, (), own_key=one.key, search=False)
    browser.on_change = bell.ring
    advertiser = Advertiser(responders[1], answering.prober)
    try:
        await browser.start()
        # A key that no other program on this machine has: whatever else is announced here meanwhile is heard too.
        key = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
        ad = msgspec.structs.replace(ad_of(2, port=two.endpoint.port), key=key, nonce=os.urandom(8))
        await soon(advertiser.start(ad))
        await bell.until(lambda: any(table.is_live for table in browser.tables() if table.ad.key == key))
        (found,) = (table for table in browser.tables() if table.ad.key == key)
        assert found.addresses[0] == two.address
    finally:
        await browser.close()
        await advertiser.close()
        await asyncio.gather(*(responder.close() for responder in responders))


async def test_a_name_whose_answer_was_lost_is_asked_for_again(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    one, bell = await lan.host(1), Bell()
    ad = ad_of(2)

    class Info:
        port, properties = ad.port, txt_of(ad)
        asked = 0

        def __init__(self, service: str, name: str) -> None: ...

        async def async_request(self, zeroconf: object, timeout_ms: int) -> bool:
            Info.asked += 1
            return Info.asked == 3

        def load_from_cache(self, zeroconf: object) -> bool:
            return True

        def parsed_scoped_addresses(self) -> list[str]:
            return ["127.0.0.1"]

    monkeypatch.setattr(discovery_module, "AsyncServiceInfo", Info)
    monkeypatch.setattr(discovery_module, "SETTLE_SECONDS", 0)
    browser = browser_of(Watcher(one), one, bell)
    browser._announced(None, SERVICE, f"Kitchen.{SERVICE}", ServiceStateChange.Added)  # type: ignore[arg-type]
    await bell.until(lambda: [table.ad for table in browser.tables()] == [ad])
    assert Info.asked == 3
    await browser.close()


# -- what is signed on its own


def test_a_line_of_chat_is_its_authors() -> None:
    line = make_say(key_of(1), bytes(32), 1, "good luck")
    assert is_said(line)
    for change in ({"text": "bad luck"}, {"number": 2}, {"table_id": bytes([1]) * 32}, {"author": bytes(32)}):
        assert not is_said(msgspec.structs.replace(line, **change))


def test_addresses_are_their_authors_and_only_of_a_lan() -> None:
    card = make_addresses(
        key_of(1), 7, [("10.0.0.1", 1), ("8.8.8.8", 53), ("fe80::1", 1, 0, 3), ("fd00::1", 2, 0, 0)]
    )
    assert is_from_author(card)
    assert dialable(card) == (("10.0.0.1", 1), ("fd00::1", 2, 0, 0))
    assert not is_from_author(msgspec.structs.replace(card, number=8))
    assert dialable(msgspec.structs.replace(card, addresses=(("nonsense", 1), ("10.0.0.2", 0)))) == ()


# -- the sweep


async def test_a_sweep_asks_every_host_near_us_and_nobody_else(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "SWEEP_SECONDS", 0)
    one = await lan.host(1)
    asking, bell = Watcher(one), Bell()
    asked: list[Address] = []

    def ask(address: Address, *, broadcast: bool = False) -> None:
        asked.append(address)
        bell.ring()

    monkeypatch.setattr(asking.prober, "ask", ask)
    for text, count, inside in (("10.9.3.5/29", 5, "10.9.3.0/29"), ("10.9.3.7/8", 1021, "10.9.0.0/22")):
        asked.clear()
        own = ipaddress.IPv4Interface(text)
        where = Interface("lan0", 2, (own,), (), Verdict.USED)
        sweep = Sweep(asking.prober, (where,))
        assert sweep.hosts == count and not sweep.is_over
        await bell.until(lambda sweep=sweep: sweep.is_over)
        assert len(asked) == count * sweep_module.SWEEP_ROUNDS
        assert len(set(asked)) == count
        network = ipaddress.ip_network(inside)
        assert all(ipaddress.ip_address(address[0]) in network for address in asked)
        assert str(own.ip) not in {address[0] for address in asked}
        sweep.close()


async def test_a_sweep_can_be_stopped_and_leaves_loopback_alone(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    one = await lan.host(1)
    prober = Watcher(one).prober
    asked: list[Address] = []
    monkeypatch.setattr(prober, "ask", asked.append)
    texts = ("127.0.0.1/8", "10.9.3.5/24")
    where = Interface("lan0", 2, tuple(ipaddress.IPv4Interface(text) for text in texts), (), Verdict.USED)
    sweep = Sweep(prober, (where,))
    assert sweep.hosts == 253
    sweep.close()
    assert sweep.is_over and len(asked) == sweep_module.SWEEP_AT_ONCE


async def test_an_answer_can_be_asked_for_at_another_port_of_the_same_host(lan: Lan) -> None:
    asking, telling = Prober(await lan.endpoint(1)), Prober(await lan.endpoint(2))
    telling.ad = ad_of(2)
    quiet = await lan.endpoint(3)
    bell = Bell()
    heard: list[tuple[bytes, Address]] = []

    def receive(data: bytes, address: Address) -> None:
        heard.append((data, address))
        bell.ring()

    quiet.on_plain = receive
    asking.ask_back(("127.0.0.1", telling._endpoint.port), quiet.port)
    await bell.until(lambda: bool(heard))
    data, address = heard[0]
    assert data.startswith(ANSWER) and decode_ad(data[len(ANSWER) + 8 :]) == ad_of(2)
    assert address == ("127.0.0.1", telling._endpoint.port)
    assert len(data) <= ASK_BYTES
    # Without a port, or cut short, it is no question.
    asking.found = lambda address, ad, seconds: bell.ring()
    asking.ask_back(("127.0.0.1", telling._endpoint.port), 0)
    asking._endpoint.send_plain(ASK_BACK + bytes(12), ("127.0.0.1", telling._endpoint.port))
    asking.ask(("127.0.0.1", telling._endpoint.port))
    await bell.until(lambda: telling.stats.answered == 2)
    assert len(heard) == 1 and telling.stats.garbage == 1

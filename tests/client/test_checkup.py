"""The doctor without a network: causes from findings, remedies for each system."""

from __future__ import annotations

import ipaddress
from dataclasses import replace

import pytest

from client.checkup import System, as_object, facts, head, let_in, remedies
from p2p.network.advert import TableAd
from p2p.network.checkup import Cause, Findings, diagnose
from p2p.network.discovery import SeenTable
from p2p.network.interfaces import Interface, Verdict

LAN = Interface("wlan0", 2, (ipaddress.IPv4Interface("192.168.1.7/24"),), (), Verdict.USED)
TUNNEL = Interface("wg0", 3, (ipaddress.IPv4Interface("10.8.0.2/32"),), (), Verdict.POINT_TO_POINT)
THERE = ("192.168.1.23", 21052)

ALONE = Findings((LAN,), own_broadcast=True, own_multicast=True, gateway_resolved=True)
ASKED = replace(ALONE, target=THERE, is_near=True, answers=False, resolved=True)


def table(is_live: bool) -> SeenTable:
    ad = TableAd("Kitchen", bytes(8), b"k" * 32, bytes(8), 21052, 1, 5, "wikipedia", "open")
    return SeenTable(ad, (THERE,), is_live, 0.001 if is_live else None)


OWN = ("192.168.1.7", 21052)
AT_HOME = replace(ALONE, tables=(replace(table(True), addresses=(OWN,)),))
ASKED_OWN = replace(AT_HOME, target=OWN, is_near=True, answers=True)

MET = replace(ASKED, answers=True, reverse=True, heard=frozenset({THERE[0]}), tables=(table(True),))


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        (MET, Cause.FINE),
        (replace(MET, target=None), Cause.FINE),
        (replace(MET, reverse=False), Cause.OWN_FIREWALL),
        (replace(MET, reverse=None, own_broadcast=False), Cause.OWN_FIREWALL),
        (replace(MET, heard=frozenset()), Cause.MULTICAST_BLOCKED),
        (replace(MET, own_multicast=False), Cause.MULTICAST_BLOCKED),
        (ASKED, Cause.OTHER_FIREWALL),
        (replace(ASKED, own_broadcast=False), Cause.BOTH_FIREWALLS),
        (replace(ASKED, resolved=None), Cause.OTHER_FIREWALL),
        (replace(ASKED, resolved=False), Cause.ISOLATION),
        (replace(ASKED, resolved=False, heard=frozenset({THERE[0]})), Cause.ABSENT),
        (replace(ASKED, resolved=False, gateway_resolved=None), Cause.ABSENT),
        (replace(ASKED, is_near=False), Cause.WRONG_SUBNET),
        (replace(ALONE, tables=(table(False),)), Cause.OTHER_FIREWALL),
        (replace(ALONE, tables=(table(False),), own_broadcast=False), Cause.BOTH_FIREWALLS),
        (replace(ALONE, own_broadcast=False), Cause.OWN_FIREWALL),
        (replace(ALONE, own_multicast=False), Cause.OWN_FIREWALL),
        (replace(ALONE, interfaces=(LAN, TUNNEL), tunnel="wg0"), Cause.VPN),
        (replace(MET, interfaces=(LAN, TUNNEL), tunnel="wg0"), Cause.FINE),
        (replace(ASKED, swallowed=("wlan0",)), Cause.VPN),
        (replace(ASKED, refused_by_system=True), Cause.NOT_ALLOWED),
        (Findings((TUNNEL,)), Cause.NO_INTERFACE),
        (ALONE, Cause.NOBODY),
        # A table of this machine proves nothing of multicast from elsewhere, and nothing against it.
        (AT_HOME, Cause.HERE),
        (ASKED_OWN, Cause.HERE),
        (replace(AT_HOME, own_multicast=False), Cause.OWN_FIREWALL),
        (replace(AT_HOME, own_broadcast=False), Cause.OWN_FIREWALL),
        (replace(AT_HOME, target=("127.0.0.1", 9), answers=False), Cause.NOT_HERE),
        # The table asked about is silent, whoever else answers.
        (replace(MET, target=("192.168.1.50", 21052), answers=False), Cause.OTHER_FIREWALL),
    ],
)
def test_the_cause_follows_from_what_was_measured(found: Findings, cause: Cause) -> None:
    assert diagnose(found) is cause


@pytest.mark.parametrize("cause", list(Cause))
@pytest.mark.parametrize(
    "on", [System("linux", "ufw"), System("win32"), System("darwin"), System("linux", "", True, True)]
)
def test_every_cause_is_said_in_words_and_has_a_remedy(cause: Cause, on: System) -> None:
    sentence = head(MET, cause)
    assert sentence.endswith(".") and "{" not in sentence
    lines = remedies(MET, cause, on)
    assert bool(lines) is (cause is not Cause.FINE)
    assert as_object(MET, cause, on)["cause"] == cause.value


@pytest.mark.parametrize(
    ("on", "words"),
    [
        (System("linux", "ufw"), "sudo ufw allow 21052:21067/udp"),
        (System("linux", "firewalld"), "sudo firewall-cmd --add-port=21052-21067/udp"),
        (System("linux", "iptables"), "sudo iptables -I INPUT -p udp --dport 21052:21067 -j ACCEPT"),
        (System("linux", "nft"), "sudo nft insert rule"),
        (System("win32"), "netsh advfirewall firewall add rule"),
        (System("darwin"), "Local Network"),
    ],
)
def test_the_line_to_type_fits_the_system(on: System, words: str) -> None:
    assert words in let_in(on)


def test_what_cannot_be_known_is_said_to_be_unknown() -> None:
    lines = facts(replace(MET, resolved=None))
    assert "there is a machine at that address: not known here" in lines
    assert "table Kitchen at 192.168.1.23:21052: answers" in lines


def test_the_own_address_is_said_to_be_this_machine() -> None:
    assert "there is a machine at that address: yes, this one" in facts(ASKED_OWN)
    at_port_9 = replace(AT_HOME, target=("127.0.0.1", 9), answers=False)
    assert "there is a machine at that address: yes, this one" in facts(at_port_9)
    assert head(at_port_9, Cause.NOT_HERE) == "127.0.0.1:9 is this machine, and no table answers there."


def test_a_table_is_told_once_however_many_members_announce_it() -> None:
    second = replace(table(False), addresses=(("192.168.1.24", 21052),))
    found = replace(MET, tables=(second, table(True)))
    assert [line for line in facts(found) if "Kitchen" in line] == ["table Kitchen at 192.168.1.23:21052: answers"]
    assert as_object(found, Cause.FINE, System("linux"))["tables"] == ["Kitchen"]

"""Which interfaces are used: a pure decision, checked on made-up machines."""

from __future__ import annotations

import ifaddr
import pytest

from p2p.errors import NetworkProblem
from p2p.network.interfaces import Verdict, loopback_interfaces, survey, usable_interfaces, worth_telling


def adapter(name: str, *ips: str, index: int = 1, nice: str = "") -> ifaddr.Adapter:
    made = []
    for text in ips:
        host, _, prefix = text.partition("/")
        ip: object = (host, 0, index) if ":" in host else host
        made.append(ifaddr.IP(ip, int(prefix), name))  # type: ignore[arg-type]
    return ifaddr.Adapter(name, nice or name, made, index)


LO = adapter("lo", "127.0.0.1/8", "::1/128")
WLAN = adapter("wlan0", "192.168.1.23/24", "fe80::5/64", index=3)
DOCKER = adapter("docker0", "172.17.0.1/16", index=2)
WG = adapter("wg0", "10.8.0.2/24", index=5)
PPP = adapter("odd0", "100.64.0.9/32", index=6)
V6 = adapter("eth1", "fe80::9/64", index=7)
PUBLIC6 = adapter("eth2", "2600::9/64", index=8)


def verdicts(*adapters: ifaddr.Adapter, only: tuple[str, ...] = ()) -> dict[str, Verdict]:
    return {interface.name: interface.verdict for interface in survey(adapters, only)}


def test_a_laptop_at_a_party() -> None:
    assert verdicts(LO, DOCKER, WLAN, WG, PPP, V6, PUBLIC6) == {
        "lo": Verdict.LOOPBACK,
        "docker0": Verdict.USED_LAST,
        "wlan0": Verdict.USED,
        "wg0": Verdict.POINT_TO_POINT,
        "odd0": Verdict.POINT_TO_POINT,
        "eth1": Verdict.USED,
        "eth2": Verdict.NO_ADDRESS,
    }
    assert [interface.name for interface in usable_interfaces(adapters=[LO, DOCKER, WLAN])] == ["wlan0", "docker0"]


@pytest.mark.parametrize("name", ["tun0", "utun3", "wg-home", "ppp0", "tailscale0"])
def test_tunnels_are_left_out(name: str) -> None:
    assert verdicts(LO, adapter(name, "10.1.2.3/24"), WLAN)[name] is Verdict.POINT_TO_POINT


@pytest.mark.parametrize("name", ["docker0", "br-12ab", "veth9", "virbr0", "vboxnet0", "vEthernet (WSL)"])
def test_bridges_come_last(name: str) -> None:
    usable = usable_interfaces(adapters=[adapter(name, "172.18.0.1/16", index=1), WLAN])
    assert [interface.name for interface in usable] == ["wlan0", name]


def test_a_person_reads_out_addresses_of_the_lan_and_others_only_where_there_is_none() -> None:
    def told(*adapters: ifaddr.Adapter) -> list[str]:
        return [interface.name for interface in worth_telling(usable_interfaces(adapters=list(adapters)))]

    assert told(LO, DOCKER, WLAN, V6) == ["wlan0", "eth1"]
    assert told(LO, DOCKER, WG) == ["docker0"]
    assert told(LO) == ["lo"]


def test_loopback_is_used_when_it_is_all_there_is() -> None:
    assert verdicts(LO, WG) == {"lo": Verdict.USED, "wg0": Verdict.POINT_TO_POINT}


def test_no_interface_at_all_is_an_empty_list() -> None:
    assert usable_interfaces(adapters=[]) == ()


@pytest.mark.parametrize("only", ["wg0", "WG0", "10.8.0.2"])
def test_what_is_named_is_used_whatever_it_is(only: str) -> None:
    assert verdicts(LO, WLAN, WG, only=(only,)) == {
        "wg0": Verdict.USED,
        "lo": Verdict.NOT_CHOSEN,
        "wlan0": Verdict.NOT_CHOSEN,
    }


def test_an_address_with_its_scope_names_its_interface() -> None:
    assert [interface.name for interface in usable_interfaces(("fe80::5%wlan0",), [LO, WLAN])] == ["wlan0"]


def test_a_name_that_fits_nothing_is_said_with_what_there_is() -> None:
    with pytest.raises(NetworkProblem) as caught:
        usable_interfaces(("wlan1",), [LO, WLAN])
    assert caught.value.code == "no_interface"
    assert "wlan1" in str(caught.value.sentence) and "lo, wlan0" in str(caught.value.remedy)


def test_one_odd_adapter_does_not_end_the_evening() -> None:
    odd = adapter("odd", "192.168.9.9/24")
    odd.ips[0].network_prefix = 99
    assert [interface.name for interface in usable_interfaces(adapters=[odd, WLAN])] == ["wlan0"]


def test_texts_and_broadcasts() -> None:
    (wlan,) = usable_interfaces(adapters=[WLAN])
    assert wlan.texts == ("192.168.1.23", "fe80::5%3")
    assert wlan.broadcasts == ("192.168.1.255",)
    (lo,) = usable_interfaces(adapters=[LO])
    assert lo.broadcasts == ()


def test_a_windows_adapter_goes_by_its_nice_name() -> None:
    (interface,) = usable_interfaces(adapters=[adapter("{846EE342}", "192.168.1.5/24", nice="Wi-Fi")])
    assert interface.name == "Wi-Fi"


def test_this_machine_has_a_loopback() -> None:
    assert any("127.0.0.1" in interface.texts for interface in loopback_interfaces())

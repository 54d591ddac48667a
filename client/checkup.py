"""What ``p2p.network.checkup`` has found, in words, with the remedy for this system (pure, but for `system`)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from client.problems import UsageProblem
from client.reading import read_small_text
from p2p.network.addresses import DEFAULT_PORT, PORT_RANGE, show_address
from p2p.network.checkup import Cause, Findings
from p2p.network.discovery import SeenTable

PORTS: Final = f"{DEFAULT_PORT}-{DEFAULT_PORT + PORT_RANGE - 1}"
PORTS_COLON: Final = PORTS.replace("-", ":")

COMMAND_WAIT_S: Final = 2.0
"""For a command that asks the system about its firewall; one that hangs must not hang the doctor."""


MAX_SYSTEM_FILE_BYTES: Final = 64 << 10
"""Of a file in which the system says what it is: a few lines."""


@dataclass(frozen=True, slots=True)
class System:
    """What decides which remedy fits. ``firewall``: ``ufw``, ``firewalld``, ``nft``, ``iptables`` or empty."""

    platform: str
    firewall: str = ""
    is_wsl: bool = False
    is_container: bool = False


def system() -> System:
    """This machine."""
    platform = sys.platform
    if platform != "linux":
        return System(platform)
    release = _read(Path("/proc/sys/kernel/osrelease")).lower()
    container = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    return System(platform, _linux_firewall(), "microsoft" in release, container)


def _read(path: Path) -> str:
    try:
        return read_small_text(path, MAX_SYSTEM_FILE_BYTES)
    except (OSError, UnicodeDecodeError, UsageProblem):
        return ""


def _linux_firewall() -> str:
    if "ENABLED=yes" in _read(Path("/etc/ufw/ufw.conf")):
        return "ufw"
    if shutil.which("firewall-cmd") and _is_running("firewalld"):
        return "firewalld"
    return next((name for name in ("nft", "iptables") if shutil.which(name)), "")


def _is_running(service: str) -> bool:
    try:
        done = subprocess.run(["systemctl", "is-active", "--quiet", service], timeout=COMMAND_WAIT_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def let_in(on: System) -> str:
    """What lets the game's packets in on a system: one line to type, or where to click."""
    match on.platform:
        case "win32":
            return (
                "in a terminal run as administrator: netsh advfirewall firewall add rule "
                f'name="shithead" dir=in action=allow protocol=UDP localport={PORTS} program="{sys.executable}"'
            )
        case "darwin":
            return (
                "System Settings, Network, Firewall, Options: allow incoming connections for "
                f"{sys.executable}; and Privacy & Security, Local Network: allow your terminal"
            )
    match on.firewall:
        case "ufw":
            return f"sudo ufw allow {PORTS_COLON}/udp"
        case "firewalld":
            return f"sudo firewall-cmd --add-port={PORTS}/udp"
        case "iptables":
            return f"sudo iptables -I INPUT -p udp --dport {PORTS_COLON} -j ACCEPT"
        case _:
            rule = f"sudo nft insert rule inet TABLE CHAIN udp dport {PORTS} accept"
            return f"let UDP ports {PORTS} in; with nft: {rule}"


ANYWHERE: Final = (
    f"ufw: sudo ufw allow {PORTS_COLON}/udp; firewalld: sudo firewall-cmd --add-port={PORTS}/udp; Windows, macOS: "
    "shithead doctor over there says the exact line"
)
"""For another machine, whose system nobody here knows."""

MEANWHILE: Final = (
    "Without any rule: both sides start with --search (shithead host --search, shithead join --search), "
    "each opens the way for the other."
)

HEADS: Final[dict[Cause, str]] = {
    Cause.FINE: "All is well: a table answers, and this machine can be found.",
    Cause.NO_INTERFACE: "This machine is on no network.",
    Cause.WRONG_SUBNET: "{target} is not on a network of this machine ({networks}).",
    Cause.VPN: "A VPN ({tunnel}) takes the traffic of this machine, that of its own network too.",
    Cause.OWN_FIREWALL: "The firewall of this machine lets nothing in that was not asked for.",
    Cause.OTHER_FIREWALL: "Over there nothing answers: its firewall lets nothing in, or its program has ended.",
    Cause.BOTH_FIREWALLS: "The firewalls on both sides let nothing in that was not asked for.",
    Cause.MULTICAST_BLOCKED: "Multicast does not get through on this network, so tables are not announced.",
    Cause.ISOLATION: "This network keeps its guests apart: the router answers, {target} does not.",
    Cause.ABSENT: "There is no machine at {target}.",
    Cause.NOT_ALLOWED: "This system does not let the terminal use the local network.",
    Cause.HERE: "A table is open on this machine, and nothing is wrong that can be seen from here.",
    Cause.NOT_HERE: "{target} is this machine, and no table answers there.",
    Cause.NOBODY: "Nothing is wrong that can be seen from here; no table is open on this network.",
}


def head(found: Findings, cause: Cause) -> str:
    """The likeliest cause in one sentence."""
    networks = [str(each.network) for interface in found.used for each in interface.ipv4]
    return HEADS[cause].format(
        target=show_address(found.target) if found.target is not None else "the other machine",
        networks=", ".join(networks) or "none",
        tunnel=found.tunnel or ", ".join(found.swallowed),
    )


def remedies(found: Findings, cause: Cause, on: System) -> list[str]:
    """What to do, most useful first; empty if nothing has to be done."""
    match cause:
        case Cause.FINE:
            return []
        case Cause.NO_INTERFACE:
            return ["Join the Wi-Fi that the others are on, or plug in a cable.", *_virtual(on)]
        case Cause.WRONG_SUBNET:
            return ["Both machines have to be on the same network: the same Wi-Fi, and not its guest network."]
        case Cause.VPN:
            first = found.used[0].name
            return ["Switch the VPN off for the evening, or allow it to reach the local network.",
                    f"Then, if need be: shithead join --interface {first}"]  # fmt: skip
        case Cause.OWN_FIREWALL:
            return [f"Here: {let_in(on)}", MEANWHILE, *_virtual(on)]
        case Cause.OTHER_FIREWALL:
            return [f"Over there: {ANYWHERE}", MEANWHILE]
        case Cause.BOTH_FIREWALLS:
            return [MEANWHILE, f"Or here: {let_in(on)}", f"and over there: {ANYWHERE}"]
        case Cause.MULTICAST_BLOCKED:
            return ["Join with the four words or the address that the host's screen shows.", *_virtual(on)]
        case Cause.ISOLATION:
            return ["No program can get round that. Use another network, or a phone's hotspot; "
                    "the phone itself need not play."]  # fmt: skip
        case Cause.ABSENT:
            return ["Look at the address on the host's screen again; it may have got another one meanwhile."]
        case Cause.NOT_ALLOWED:
            return [
                "System Settings, Privacy & Security, Local Network: allow your terminal, then start it again."
            ]
        case Cause.HERE:
            return [
                "Whether others reach it, another machine knows: there, shithead doctor with this one's address."
            ]
        case Cause.NOT_HERE:
            return ["Open one here: shithead host. Or ask for another machine's: shithead doctor ADDRESS"]
        case Cause.NOBODY:
            return ["Open one: shithead host. If there is one, give its address: shithead doctor ADDRESS"]


def _virtual(on: System) -> list[str]:
    if on.is_wsl:
        return ["In WSL 2: networkingMode=mirrored under [wsl2] in .wslconfig, or run it in Windows itself."]
    if on.is_container:
        return ["In a container: start it with --network host."]
    return []


def facts(found: Findings) -> list[str]:
    """What was measured, one line each."""
    lines = []
    for interface in found.interfaces:
        addresses = ", ".join(str(each) for each in (*interface.ipv4, *interface.ipv6))
        lines.append(f"{interface.name}: {interface.verdict.value} ({addresses})")
    if found.tunnel:
        lines.append(f"the default route goes through {found.tunnel}; tables need none")
    yes = {True: "yes", False: "no", None: "not known here"}
    lines.append(f"own broadcast comes back in: {yes[found.own_broadcast]}")
    lines.append(f"own multicast comes back in: {yes[found.own_multicast]}")
    if not found.has_mdns:
        lines.append("multicast DNS can't be used here: another program holds its port, or no interface has it")
    lines.append(f"multicast DNS heard from: {', '.join(sorted(found.heard)) or 'nobody'}")
    for table in _each_once(found.tables):
        where = show_address(table.addresses[0]) if table.addresses else "no address"
        lines.append(f"table {table.ad.table} at {where}: {'answers' if table.is_live else 'does not answer'}")
    if found.target is not None:
        lines.append(f"{show_address(found.target)} answers: {yes[found.answers]}")
        machine = "yes, this one" if found.is_here else yes[found.resolved]
        lines.append(f"there is a machine at that address: {machine}")
    lines.append(f"the router answers: {yes[found.gateway_resolved]}")
    lines.append(f"an answer came in unasked: {yes[found.reverse]}")
    return lines


def _each_once(seen: Sequence[SeenTable]) -> list[SeenTable]:
    """One of each table's members, an answering one if there is any: every member announces it."""
    tables: dict[bytes, SeenTable] = {}
    for each in seen:
        best = tables.setdefault(each.ad.table_id, each)
        if each.is_live and not best.is_live:
            tables[each.ad.table_id] = each
    return list(tables.values())


def as_object(found: Findings, cause: Cause, on: System) -> dict[str, object]:
    """For JSON."""
    return {
        "cause": cause.value,
        "sentence": head(found, cause),
        "remedies": remedies(found, cause, on),
        "interfaces": {each.name: each.verdict.value for each in found.interfaces},
        "tunnel": found.tunnel,
        "own_broadcast": found.own_broadcast,
        "own_multicast": found.own_multicast,
        "heard": sorted(found.heard),
        "tables": [table.ad.table for table in _each_once(found.tables) if table.is_live],
        "target": show_address(found.target) if found.target is not None else None,
        "answers": found.answers,
        "resolved": found.resolved,
        "gateway_resolved": found.gateway_resolved,
        "reverse": found.reverse,
    }

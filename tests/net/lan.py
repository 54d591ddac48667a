"""Several hosts on one machine: network namespaces on a bridge, made for a test and gone after it.

``lan`` is a fixture that makes hosts (``await lan.host("ann")``), each with its own interfaces, addresses,
multicast and firewall. Programs run inside by :meth:`Host.start` / :meth:`Host.python`, or in this process
by :meth:`Host.inside`, which makes sockets in the host's namespace. Loss, firewalls and partitions are
nftables rules: the network emulator (``netem``) is not in every kernel.

Needs Linux, root, ``ip`` and ``nft``; elsewhere the tests skip and say what is missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

NETWORK = "10.77.0"
"""Inside namespaces only: no packet to it leaves them."""

READY_SECONDS = 60.0

_COUNT = itertools.count()


def why_not() -> str | None:
    """What this machine lacks for namespaces, or None."""
    if sys.platform != "linux":
        return "network namespaces need Linux"
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "nft"):
        if shutil.which(program) is None:
            return f"the program {program} is not installed"
    probe = subprocess.run(["ip", "netns", "list"], capture_output=True, check=False)
    return None if probe.returncode == 0 else "this system does not let us use network namespaces"


def run(*words: str, text: str | None = None) -> str:
    """Run a command; its output, or an error with what it said."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


@dataclass
class Host:
    """A host of a test LAN, with one interface ``lan0``."""

    name: str
    namespace: str
    address: str
    _processes: list[asyncio.subprocess.Process] = field(default_factory=list)

    def run(self, *words: str, text: str | None = None) -> str:
        """Run a command inside and wait for it."""
        return run("ip", "netns", "exec", self.namespace, *words, text=text)

    async def start(self, *words: str, **environment: str) -> asyncio.subprocess.Process:
        """Start a program inside, its output piped; it is killed when the test ends."""
        process = await asyncio.create_subprocess_exec(
            "ip",
            "netns",
            "exec",
            self.namespace,
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        )
        self._processes.append(process)
        return process

    async def python(self, *words: str, **environment: str) -> asyncio.subprocess.Process:
        """Start this Python inside (``python("-m", "client.cli", "host")``)."""
        return await self.start(sys.executable, *words, **environment)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Make sockets of this thread in the host's namespace, for as long as the block lasts.

        A socket stays in the namespace it was made in, so one process can be several hosts. Don't await
        other hosts' work in the block.
        """
        with (
            Path("/proc/thread-self/ns/net").open() as here,
            Path(f"/run/netns/{self.namespace}").open() as there,
        ):
            _setns(there.fileno())
            try:
                yield
            finally:
                _setns(here.fileno())

    def firewall(self, *rules: str, policy: str = "accept") -> None:
        """Replace the firewall: nftables rules for what comes in, and what becomes of the rest."""
        lines = "\n".join(rules)
        chain = f"chain in {{\ntype filter hook input priority 0; policy {policy};\n{lines}\n}}"
        self.run("nft", "-f", "-", text=f"flush ruleset\ntable inet t {{\n{chain}\n}}\n")

    def drop_unasked(self) -> None:
        """A firewall as many desktops have it: only answers come in."""
        self.firewall(
            'iifname "lo" accept',
            "meta l4proto ipv6-icmp accept",
            "ct state established,related accept",
            policy="drop",
        )

    def lose(self, percent: int) -> None:
        """Lose that share of what comes in."""
        self.firewall(f"numgen random mod 100 < {percent} drop")

    def part_from(self, *others: Host) -> None:
        """Hear nothing of these hosts any more (IPv4; the test LAN is dialled by IPv4)."""
        self.firewall(*(f"ip saddr {other.address} drop" for other in others))

    def move_to(self, number: int) -> None:
        """Take another address of the network, as after a new lease; the old one is gone."""
        inside = ("ip", "-n", self.namespace)
        run(*inside, "addr", "add", f"{NETWORK}.{number}/24", "broadcast", "+", "dev", "lan0")
        run(*inside, "addr", "del", f"{self.address}/24", "dev", "lan0")
        self.address = f"{NETWORK}.{number}"

    def mend(self) -> None:
        """No firewall."""
        self.run("nft", "flush", "ruleset")

    async def end(self) -> None:
        """Kill what runs inside."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            # Reads the pipes to their end: a transport left open would outlive the test.
            await process.communicate()
        self._processes.clear()


def _setns(fd: int) -> None:
    if sys.version_info >= (3, 12):
        os.setns(fd, os.CLONE_NEWNET)
        return
    import ctypes

    clone_newnet = 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, clone_newnet) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def _remove(namespace: str) -> None:
    """Remove a namespace with every program in it; removing only its name would leave them running."""
    inside = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False)
    for pid in inside.stdout.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    subprocess.run(["ip", "netns", "del", namespace], capture_output=True, check=False)


def _remove_orphans() -> None:
    """Remove the namespaces of test runs that were killed before they could."""
    for line in run("ip", "netns", "list").splitlines():
        made = re.match(r"sh(\d+)x\d+-", line)
        if made is not None and not Path(f"/proc/{made[1]}").exists():
            _remove(line.split()[0])


class TestLan:
    """A bridge in a namespace of its own, and hosts on it."""

    __test__ = False

    def __init__(self) -> None:
        _remove_orphans()
        # The process is in the name, so that a later run can tell what a killed one left behind.
        self._tag = f"{os.getpid()}x{next(_COUNT)}"
        self._switch = f"sh{self._tag}-switch"
        self.hosts: list[Host] = []
        self._wires: list[Host] = []
        run("ip", "netns", "add", self._switch)
        run("ip", "-n", self._switch, "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
        run("ip", "-n", self._switch, "link", "set", "br0", "up")

    async def host(self, name: str, delay_ms: tuple[int, int] | None = None) -> Host:
        """Add a host with an IPv4 address, link-local IPv6 and a route for multicast; usable at once.

        ``delay_ms``: how long, at least and at most, each frame to and from the switch is under way.
        """
        number = len(self.hosts) + 1
        host = Host(name, f"sh{self._tag}-{name}", f"{NETWORK}.{number}")
        run("ip", "netns", "add", host.namespace)
        self.hosts.append(host)
        port = f"p{number}"
        run(
            *("ip", "-n", self._switch, "link", "add", port, "type", "veth"),
            *("peer", "name", "lan0", "netns", host.namespace),
        )
        if delay_ms is None:
            run("ip", "-n", self._switch, "link", "set", port, "master", "br0", "up")
        else:
            await self._lengthen(host, port, delay_ms)
        inside = ("ip", "-n", host.namespace)
        # Duplicate address detection would make link-local IPv6 unusable for a second or two.
        host.run("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.lan0.accept_dad=0")
        run(*inside, "addr", "add", f"{host.address}/24", "broadcast", "+", "dev", "lan0")
        run(*inside, "link", "set", "lo", "up")
        run(*inside, "link", "set", "lan0", "up")
        run(*inside, "route", "add", "224.0.0.0/4", "dev", "lan0")
        async with asyncio.timeout(READY_SECONDS):
            while "state UP" not in run(*inside, "link", "show", "lan0"):  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.02)
        return host

    async def _lengthen(self, host: Host, port: str, delay_ms: tuple[int, int]) -> None:
        """Puts a wire of `tests.net.wire` between a host and a port of the bridge."""
        inside = ("ip", "-n", self._switch)
        far, near = f"{port}x", f"{port}y"
        run(*inside, "link", "add", far, "type", "veth", "peer", "name", near)
        run(*inside, "link", "set", far, "master", "br0", "up")
        for name in (port, near):
            run(*inside, "link", "set", name, "up")
        wire = (sys.executable, "-m", "tests.net.wire")
        run("ip", "netns", "exec", self._switch, *wire, "plain", far)
        host.run(*wire, "plain", "lan0")
        carrier = Host("wire", self._switch, "")
        self._wires.append(carrier)
        process = await carrier.start(*wire, "delay", port, near, *map(str, delay_ms))
        assert process.stdout is not None
        async with asyncio.timeout(READY_SECONDS):
            await process.stdout.readline()

    def isolate(self, host: Host) -> None:
        """Let a host reach only those that are not isolated, as an access point does with its guests."""
        port = f"p{self.hosts.index(host) + 1}"
        run("bridge", "-n", self._switch, "link", "set", "dev", port, "isolated", "on")

    async def close(self) -> None:
        """Kill every program and remove every namespace, whatever happened before."""
        for host in [*self.hosts, *self._wires]:
            await host.end()
        for namespace in [host.namespace for host in self.hosts] + [self._switch]:
            _remove(namespace)


@pytest.fixture
async def lan() -> AsyncIterator[TestLan]:
    """A LAN of hosts for one test."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    made = TestLan()
    try:
        yield made
    finally:
        await made.close()

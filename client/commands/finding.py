"""Looking for tables: browsing, grouping what is seen, and choosing by a name."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from client.problems import NoTable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from p2p.network.addresses import Address
    from p2p.network.discovery import Browser, SeenTable

SETTLE_S: Final = 2.0
"""After the first table is seen, others that are there answer within this time."""

PATIENCE_S: Final = 8.0
"""After this long with an empty list a person should hear what may be wrong."""

ADVICE: Final = (
    "No table found yet. Most likely:\n"
    "  - nobody has opened one: shithead host, on this or another machine;\n"
    "  - the two machines are not on the same network: a guest Wi-Fi or a VPN may keep them apart;\n"
    "  - a firewall drops it: the host's screen shows an address; try: shithead join ADDRESS"
)

_ADDRESS_LIKE: Final = re.compile(
    r"\[.*"  # [fe80::1
    r"|[0-9]+(\.[0-9]+){2,}(:.*)?"  # 999.1.1.1, 192.168.1, 192.168.1.5:x
    r"|[0-9A-Za-z]*(:[0-9A-Za-z]*){2,}(%.*)?"  # a:b:c
)
"""What has the shape of an address; a table called so is still found in the list."""


PHASES: Final = {"open": "waiting", "full": "full", "playing": "playing"}
"""``p2p.network.advert.TableAd.phase`` → in words: no round is on, nobody else fits, a round is on."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """One table, whichever of its peers are seen. ``peers``: those that answer first come first."""

    name: str
    table_id: bytes
    players: int
    seats: int
    rules: str
    phase: str
    is_live: bool
    is_compatible: bool
    milliseconds: float | None
    peers: tuple[SeenTable, ...]

    @property
    def address(self) -> Address | None:
        """Where to knock; None while no address is known."""
        return next((seen.addresses[0] for seen in self.peers if seen.addresses), None)

    @property
    def key(self) -> bytes | None:
        """Who is expected to answer at `address`."""
        return next((seen.ad.key for seen in self.peers if seen.addresses), None)

    @property
    def state(self) -> str:
        """Its phase in words: ``open`` would look like ``--open``, with which the host asks nobody."""
        return PHASES.get(self.phase, self.phase)

    def as_object(self) -> dict[str, object]:
        """For JSON."""
        from p2p.network.addresses import show_address

        return {
            "table": self.name,
            "id": self.table_id.hex(),
            "players": self.players,
            "seats": self.seats,
            "rules": self.rules,
            "phase": self.phase,
            "live": self.is_live,
            "compatible": self.is_compatible,
            "ms": None if self.milliseconds is None else round(self.milliseconds, 1),
            "addresses": [show_address(address) for seen in self.peers for address in seen.addresses],
        }

    def in_words(self) -> str:
        """One line for a person."""
        from p2p.network.addresses import show_address

        where = show_address(self.address) if self.address is not None else "address not known yet"
        rules = f", rules {self.rules}" if self.rules else ""
        line = f"{self.name}  {self.players} of {self.seats} players{rules}, {self.state}  {where}"
        if not self.is_live:
            line += "  (gone?)"
        if not self.is_compatible:
            line += "  (another version of the protocol: update the older program)"
        return line


def group(seen: Iterable[SeenTable]) -> list[FoundTable]:
    """One entry for each table, in the order given; live peers of a table before the others."""
    tables: dict[bytes, list[SeenTable]] = {}
    for each in seen:
        tables.setdefault(each.ad.table_id, []).append(each)
    found = []
    for table_id, peers in tables.items():
        peers.sort(key=lambda peer: (not peer.is_live, not peer.addresses))
        # Who acts as host names the rules, and knows them and the seats best.
        ad = next((peer.ad for peer in peers if peer.ad.rules), peers[0].ad)
        times = [peer.seconds for peer in peers if peer.seconds is not None]
        found.append(
            FoundTable(
                ad.table,
                table_id,
                ad.players,
                ad.seats,
                ad.rules,
                ad.phase,
                any(peer.is_live for peer in peers),
                any(peer.ad.is_compatible for peer in peers),
                min(times) * 1000 if times else None,
                tuple(peers),
            )
        )
    return found


def choose(tables: Sequence[FoundTable], wanted: str) -> FoundTable:
    """The table that a person means by a name: equal after case folding, or the only one that begins so.

    Raises ``NoTable``: ``no_such_table`` or ``several_tables``.
    """
    from p2p.feeds.identity import fold_name

    folded = fold_name(wanted.strip())
    exact = [table for table in tables if fold_name(table.name) == folded]
    fitting = exact or [table for table in tables if fold_name(table.name).startswith(folded)]
    if not fitting:
        # The advice is part of the template: values are put on one line, whatever strangers called their tables.
        others = "There are: {others}." if tables else ADVICE
        raise NoTable(
            "no_such_table",
            f"No table called {{name}} answers on this network. {others}",
            name=wanted,
            others=", ".join(table.name for table in tables),
        )
    if len(fitting) > 1:
        raise NoTable(
            "several_tables",
            "Several tables fit {name}: {tables}. Type more of the name, or an address.",
            name=wanted,
            tables="; ".join(table.in_words() for table in fitting),
        )
    return fitting[0]


def looks_like_address(text: str) -> bool:
    """Whether what a person typed is meant as an address, and not as the name of a table."""
    return _ADDRESS_LIKE.fullmatch(text.strip()) is not None


def one_a_line(before: str, tables: Sequence[FoundTable]) -> NoTable:
    """``before``, a template without values, and then each table in a line of its own."""
    values = {f"table_{number}": table.in_words() for number, table in enumerate(tables)}
    lines = "".join(f"\n  {{{name}}}" for name in values)
    return NoTable("several_tables_found" if tables else "no_table", before + lines, **values)


@asynccontextmanager
async def browsing(
    key: Ed25519PrivateKey,
    interfaces: Sequence[str] = (),
    known: Iterable[Address] = (),
    *,
    sweeps: bool = False,
) -> AsyncIterator[Browser]:
    """A browser that is looking, on a socket of its own; ``known`` addresses are tried at once.

    ``sweeps``: every address of the own networks is asked too, from the port that a game will use: that opens
    the way for a table that sweeps as well.

    Raises ``NetworkProblem``: ``no_interface``, ``no_socket``.
    """
    from p2p.errors import NetworkProblem
    from p2p.network.discovery import Browser, Responder
    from p2p.network.interfaces import usable_interfaces
    from p2p.network.probe import Prober
    from p2p.network.sweep import Sweep
    from p2p.network.transport import Endpoint

    used = usable_interfaces(interfaces)
    endpoint = await Endpoint.open(key, port=None if sweeps else 0)
    responder = None
    # Without multicast DNS there are still broadcasts and known addresses.
    with contextlib.suppress(NetworkProblem):
        responder = Responder.open(used)
    prober = Prober(endpoint)
    browser = Browser(responder, prober, used, own_key=endpoint.key)
    sweep = Sweep(prober, used) if sweeps else None
    try:
        await browser.start()
        browser.ask(known)
        yield browser
    finally:
        if sweep is not None:
            sweep.close()
        await browser.close()
        if responder is not None:
            await responder.close()
        await endpoint.close()


async def look(browser: Browser, first_s: float, settle_s: float = SETTLE_S) -> list[FoundTable]:
    """The tables there are: waits up to ``first_s`` for a live one, then ``settle_s`` more for others."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(first_s):
            while not any(table.is_live for table in browser.tables()):
                await browser.changed.wait()
                browser.changed.clear()
            await asyncio.sleep(settle_s)
    return group(browser.tables())

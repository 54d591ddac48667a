"""What a peer keeps of a table beside its feeds: that it sits there, and where the others were last met."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime

from engine.errors import RuleError
from engine.rules import RuleSet, changed_items, with_options
from p2p.errors import NetworkProblem
from p2p.network.addresses import Address, is_local, make_address
from p2p.node.store import RememberedTable, Store


class Memory:
    """Over one store; used by one thread at a time, as the store is."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.met: dict[bytes, list[Address]] = {}
        """Key → where a player was last met, the likeliest first."""
        for player in store.players():
            if player.address:
                with contextlib.suppress(NetworkProblem):
                    address = make_address(player.address, player.port)
                    if is_local(address):
                        self.met[player.key] = [address]

    def note_table(self, table: bytes, name: str, seats: int, rules: RuleSet, *, is_here_only: bool) -> None:
        """This peer sits at a table."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._store.note_table(RememberedTable(table, name, at, seats, rules_text(rules), is_here_only))

    def forget_table(self, table: bytes) -> None:
        """This peer has left a table, or it has ended."""
        self._store.forget_table(table)

    def note_met(self, links: Mapping[bytes, Address]) -> None:
        """Members are linked at these addresses."""
        for key, address in links.items():
            if self.met.get(key, [])[:1] != [address]:
                self.met[key] = [address]
                self._store.note_address(key, host_text(address), address[1])


def host_text(address: Address) -> str:
    """The host of an address with its scope, as ``make_address`` reads it back."""
    bare = address[0].partition("%")[0]
    return f"{bare}%{address[3]}" if len(address) == 4 and address[3] else bare


def rules_text(rules: RuleSet) -> str:
    """What of a rule set is not the default: one ``option=value`` a line."""
    return "\n".join(f"{option}={value}" for option, value in changed_items(rules))


def read_rules_text(text: str) -> RuleSet:
    """The rules of `rules_text`; the default ones where this version does not know an option any more."""
    pairs = [line.partition("=") for line in text.splitlines() if line]
    try:
        return with_options(RuleSet(), {option: value for option, _, value in pairs})
    except RuleError:
        return RuleSet()

"""How many operations of the group a deal takes, phase by phase: a figure that no machine and no load changes.

Used by the tests that hold the counts, and by ``benchmarks/bench_work.py``, which prints them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from nacl import bindings

from engine.rules import RuleSet, packs_for
from p2p.dealing import ElGamalDealing
from p2p.dealing.elgamal import card_points, faces
from p2p.dealing.group import generators
from p2p.dealing.interface import PACK_CARDS
from p2p.feeds.entries import Entry
from p2p.rounds.phases import Phase
from p2p.rounds.session import Job, Write
from tests.p2p.dealing.table import Draws
from tests.p2p.peers import Peer, Table

OPERATIONS: Final = {
    "crypto_scalarmult_ed25519_noclamp": "k·P",
    "crypto_scalarmult_ed25519_base_noclamp": "k·G",
    "crypto_core_ed25519_is_valid_point": "check",
    "crypto_core_ed25519_add": "P+Q",
    "crypto_core_ed25519_sub": "P+Q",
    "crypto_core_ed25519_from_uniform": "hash",
}
"""The library's operations by their short names; hashing to the curve is done once a process."""

PHASES: Final = (
    *("make key", "check key", "shuffle", "check deck", "prove", "begin", "verify"),
    *("make shares", "check shares", "look"),
)
"""What a peer does in a deal, in about this order; ``begin`` and ``verify`` are the two halves of checking the
others' proofs, ``look`` is opening the cards that it may see."""

NAMES: Final = ("Ana", "Bogdan", "Chiara", "Dmitri", "Emeka", "Freya")

Counts = dict[str, Counter[str]]
"""Phase → operation → how often, of all peers together."""


class _Meter:
    """Counts operations under the phase that is going on."""

    def __init__(self) -> None:
        self.counts: Counts = {}
        self.phase = "other"

    def during(self, phase: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **named: Any) -> Any:
            before, self.phase = self.phase, phase
            try:
                return call(*args, **named)
            finally:
                self.phase = before

        return counted

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Counts every call of the library's operations."""
        originals = {name: getattr(bindings, name) for name in OPERATIONS}

        def wrap(name: str) -> Callable[..., bytes]:
            def counted(*args: bytes) -> bytes:
                self.counts.setdefault(self.phase, Counter())[OPERATIONS[name]] += 1
                return originals[name](*args)  # type: ignore[no-any-return]

            return counted

        try:
            for name in OPERATIONS:
                setattr(bindings, name, wrap(name))
            yield
        finally:
            for name, original in originals.items():
                setattr(bindings, name, original)

    def watch(self, peer: Peer) -> None:
        """Says of each thing that the peer's session does what it belongs to."""
        session = peer.session
        receive, job, write = session.receive, session.job, session.next_write

        def counted_receive(entry: Entry) -> object:
            # The last shares also turn the upcards open: that is looking.
            return self.during(f"check {entry.kind}", receive)(entry)

        def counted_job() -> Job | None:
            found = job()
            return None if found is None else replace(found, run=self.during(found.kind, found.run))

        def counted_write() -> Write | None:
            phase = session.current() and session.current().everything().phase  # type: ignore[union-attr]
            kind = "make key" if phase is Phase.KEYS else "make shares"
            found: Write | None = self.during(kind, write)()
            return found

        session.receive = counted_receive  # type: ignore[method-assign,assignment]
        session.job = counted_job  # type: ignore[method-assign]
        session.next_write = counted_write  # type: ignore[method-assign]
        session.dealing = _Looks(self)


class _Looks(ElGamalDealing):
    """The deal, with the opening of faces counted for itself."""

    __slots__ = ("meter",)

    def __init__(self, meter: _Meter) -> None:
        super().__init__(Draws("counting"), threads=1)
        object.__setattr__(self, "meter", meter)

    def open(self, *args: Any) -> int | None:
        """See ``Dealing.open``."""
        found: int | None = self.meter.during("look", super().open)(*args)
        return found


def count_deal(players: int) -> Counts:
    """A whole deal of one round with the usual rules, until everybody sees the own cards."""
    meter = _Meter()
    cards = PACK_CARDS * packs_for(RuleSet(), players)
    # Made once a process, and cheap: not counted.
    generators(cards)
    card_points(cards)
    faces(cards)
    table = Table(NAMES[:players], ElGamalDealing(Draws("counting"), threads=1), shuffled=False)
    for peer in table.peers:
        meter.watch(peer)
    with meter.counting():
        table.start()
        for peer in table.peers:
            meter.during("look", peer.state)()
            assert peer.round.everything().phase is Phase.ARRANGE
    return meter.counts

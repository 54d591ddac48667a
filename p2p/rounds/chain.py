"""What the entries of a round build: shuffled decks, the deal that all agreed on, the chain of moves, the ending.

Values that know nothing of who asks; ``p2p.rounds.round`` keeps them and says which of them one entry's past shows
(docs/protocol.md, 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine import game
from engine.events import Event
from engine.options import StartRule
from engine.rules import RuleSet
from engine.state import NOBODY, GameState
from p2p.canonical import h
from p2p.dealing.derive import drawn_eldest
from p2p.feeds import entries as e
from p2p.feeds.facts import Fact, body_of


@dataclass(frozen=True, slots=True)
class DeckStep:
    """A ``deck`` entry with all that its proof speaks of."""

    fact: Fact
    number: int
    joint: bytes
    keys: tuple[Fact, ...]
    previous: DeckStep | None
    deck_in: bytes
    deck_out: bytes

    def steps(self) -> tuple[DeckStep, ...]:
        """All shuffles up to this one, the first one first."""
        before = self.previous.steps() if self.previous is not None else ()
        return (*before, self)


class Call(NamedTuple):
    """A demand to open ``position``, made by ``cause``, to everyone (``to`` None) or to one number."""

    cause: bytes
    position: int
    to: int | None


class Deal:
    """What all have agreed on: the deck, the keys, and what follows for the cards as dealt."""

    def __init__(
        self,
        contract: bytes,
        rules: RuleSet,
        digest: bytes,
        last: DeckStep,
        accepts: Sequence[Fact],
        proofs: Sequence[Fact],
        coins: bytes,
        seating: tuple[tuple[int, ...], int],
    ) -> None:
        """``coins``: K of D6. ``seating``: seat → number, and the dealer's seat (D7)."""
        self.digest = digest
        self.last = last
        self.joint = last.joint
        self.deck = last.deck_out
        self.accepts = tuple(accepts)
        self.proofs = tuple(proofs)
        self.x = tuple(body_of(fact, e.Key).x for fact in last.keys)
        self.coins = coins
        self.seats, self.dealer = seating
        """Seat → number, and the dealer's seat."""
        self.seat_of = {number: seat for seat, number in enumerate(self.seats)}
        by_lot = rules.start is StartRule.RANDOM
        eldest = drawn_eldest(self.coins, len(self.seats)) if by_lot else NOBODY
        self.base = game.deal(rules, len(self.seats), self.dealer, eldest=eldest)
        """The state right after the deal, upcards still closed."""
        self.calls = tuple(self._calls(contract))
        self.owed = {
            number: frozenset(call.position for call in self.calls if call.to != number)
            for number in range(len(self.seats))
        }
        """Number → positions for which it owes a share before rearranging can begin."""
        self.opened: GameState | None = None
        """The state with the upcards open, once somebody held all their shares."""

    def _calls(self, contract: bytes) -> Iterator[Call]:
        for positions in self.base.ups:
            for position in positions:
                yield Call(contract, position, None)
        for seat, positions in enumerate(self.base.hands):
            for position in positions:
                yield Call(contract, position, self.seats[seat])


class Node:
    """One link of the chain: the state after an answer or a move. The root has no fact."""

    __slots__ = (
        "calls",
        "children",
        "depth",
        "fact",
        "hashed",
        "opened",
        "parent",
        "roots",
        "state",
        "told",
        "turn",
    )

    def __init__(
        self,
        fact: Fact | None,
        parent: Node | None,
        state: GameState,
        turn: int,
        calls: tuple[Call, ...] = (),
        roots: tuple[Fact, ...] = (),
        told: tuple[Event, ...] = (),
    ) -> None:
        self.told = told
        """For the root: what became known when the last one was ready."""
        self.fact = fact
        self.parent = parent
        self.state = state
        self.turn = turn
        self.calls = calls
        self.roots = roots
        self.opened: GameState | None = None if state.awaiting else state
        """The state after the flipped card has turned up, once its shares are known."""
        self.hashed: tuple[GameState, bytes] | None = None
        """A state after this link and its digest: every move on it names the same."""
        self.children: list[Node] = []
        self.depth: int = 0 if parent is None else parent.depth + 1

    @property
    def id(self) -> bytes:
        """The id of its entry; empty for the root."""
        return self.fact.id if self.fact is not None else b""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a round ended (D20). Numbers are roster numbers."""

    kind: str
    """``finished``, ``stalled``, ``forfeit``, ``faulted`` or ``unfinished``."""
    head: bytes
    state: bytes
    gone: tuple[tuple[int, str, bytes], ...]
    finish: tuple[int, ...]
    shithead: int | None
    culprits: tuple[tuple[int, str, tuple[bytes, ...]], ...]
    debts: tuple[tuple[int, str], ...]
    signers: tuple[int, ...]
    """Who has to sign it for it to be final; follows from the rest."""
    digest: bytes


def state_digest(contract: bytes, turn: int, state: GameState) -> bytes:
    """D11: the hash that a move names."""
    canonical = state.canonical()
    if not isinstance(canonical, tuple):
        raise TypeError("a canonical state is a tuple")
    return h("state", contract, turn, *canonical)

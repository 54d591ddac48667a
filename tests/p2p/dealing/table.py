"""A whole deal for tests: players with fixed seeds, decks of any size, repeatable randomness."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from p2p.dealing import Dealing, ElGamalDealing, Ground, KeyPart, ShuffleStatement


class Draws:
    """Fresh bytes that are different at each call and the same in each run."""

    def __init__(self, label: str = "draws") -> None:
        self.label = label
        self.calls = 0

    def __call__(self, count: int) -> bytes:
        self.calls += 1
        return hashlib.shake_256(f"{self.label} {self.calls}".encode()).digest(count)


def digest(text: str) -> bytes:
    """32 bytes that stand for ``text``."""
    return hashlib.sha256(text.encode()).digest()


def ground(cards: int = 5, players: int = 3, contract: str = "contract", number: int = 1) -> Ground:
    """A round over ``cards`` cards. Decks other than whole packs are made of jokers."""
    roster = tuple(sorted(digest(f"player {i}") for i in range(players)))
    packs, jokers = (cards // 52, 0) if cards % 52 == 0 else (0, cards)
    return Ground(digest(contract), number, roster, packs, jokers)


def real() -> ElGamalDealing:
    """The real deal with repeatable randomness."""
    return ElGamalDealing(Draws())


@dataclass(frozen=True)
class Table:
    """A deal up to the agreed deck."""

    dealing: Dealing
    ground: Ground
    seeds: tuple[bytes, ...]
    keys: tuple[KeyPart, ...]
    joint: bytes
    items: tuple[ShuffleStatement, ...]

    @property
    def deck(self) -> bytes:
        return self.items[-1].deck_out

    def with_item(self, index: int, **changes: object) -> tuple[ShuffleStatement, ...]:
        """The statements, one of them changed."""
        items = list(self.items)
        items[index] = items[index]._replace(**changes)
        return tuple(items)

    def bad(self, items: tuple[ShuffleStatement, ...]) -> tuple[int, ...]:
        return self.dealing.check_proofs(self.ground, self.joint, items)

    def at(self, **changes: object) -> Table:
        return replace(self, **changes)


def deal(dealing: Dealing, where: Ground) -> Table:
    """Keys, shuffles and proofs of all players."""
    seeds = tuple(digest(f"seed {i}") for i in range(len(where.roster)))
    keys = tuple(dealing.make_key(where, i, seed) for i, seed in enumerate(seeds))
    joint = dealing.joint_key([key.X for key in keys])
    deck, items = dealing.first_deck(where, joint), []
    for i, seed in enumerate(seeds):
        shuffled = dealing.shuffle(where, i, seed, joint, deck)
        proof = dealing.prove(where, i, seed, joint, deck, shuffled)
        items.append(ShuffleStatement(i, deck, shuffled.deck, proof))
        deck = shuffled.deck
    return Table(dealing, where, seeds, keys, joint, tuple(items))


def flip(data: bytes, index: int, bit: int = 0) -> bytes:
    """``data`` with one bit changed."""
    changed = bytearray(data)
    changed[index] ^= 1 << bit
    return bytes(changed)

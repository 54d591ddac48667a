"""What the session needs of a deal, and the values that pass between them.

The session knows positions, faces and opaque bytes; only this package knows what the bytes mean.
Nothing here does I/O or reads a clock. Methods that check bytes of another peer never raise: they say
``False``, ``None`` or who is to blame. Methods that work for this peer's own player raise
``DealingError`` when called wrongly, which is a bug of the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, Protocol

from engine.cards import CARDS_IN_PACK
from engine.errors import Sentence, ShitheadError
from engine.options import MAX_JOKERS_PER_PACK, MAX_PACKS

HASH_BYTES: Final = 32
"""Length of contracts, identity keys, seeds, coins and commitments."""

PACK_CARDS: Final = CARDS_IN_PACK

MAX_DECK_CARDS: Final = MAX_PACKS * (CARDS_IN_PACK + MAX_JOKERS_PER_PACK)
"""The largest deck that the rules allow: a bound, since the work and the proofs grow with the deck."""


class DealingError(ShitheadError, ValueError):
    """The deal was asked for something that makes no sense; codes ``ground``, ``joint_key``, ``calls``,
    ``deck``, ``number``, ``seed``."""

    def __init__(self, code: str, template: str, **values: object) -> None:
        super().__init__(Sentence(code, template, values))


@dataclass(frozen=True, slots=True)
class Ground:
    """What every hash of a round stands on.

    ``contract`` is the id of the round's start (32 bytes), which fixes all the rest and more; ``round``
    counts from 1; ``roster`` holds the identity keys, ascending, and a player's number is its index
    there; ``packs`` and ``jokers`` (of the whole deck) give the cards. Raises ``DealingError``.
    """

    contract: bytes
    round: int
    roster: tuple[bytes, ...]
    packs: int
    jokers: int

    def __post_init__(self) -> None:
        ascending = all(low < high for low, high in pairwise(self.roster))
        if len(self.contract) != HASH_BYTES or any(len(key) != HASH_BYTES for key in self.roster):
            raise DealingError("ground", "contract and identity keys have 32 bytes")
        if self.round < 1 or not self.roster or not ascending:
            raise DealingError("ground", "rounds count from 1 and the roster is ascending")
        if self.packs < 0 or self.jokers < 0 or not 1 <= self.deck_size <= MAX_DECK_CARDS:
            raise DealingError("ground", "the deck has 1 to {most} cards", most=MAX_DECK_CARDS)

    @property
    def deck_size(self) -> int:
        """The number of cards, and of positions."""
        return PACK_CARDS * self.packs + self.jokers


class KeyPart(NamedTuple):
    """A player's public keys of one round: ``X`` for cards, ``Y`` for sealed parts, and ``proof``, which
    shows that their maker knows both secrets (``KEY_PROOF_BYTES`` long)."""

    X: bytes
    Y: bytes
    proof: bytes


class Shuffled(NamedTuple):
    """A shuffled deck and what is needed to prove it. ``secret`` never leaves the process; its ``repr``
    shows nothing."""

    deck: bytes
    secret: object


class ShuffleStatement(NamedTuple):
    """Player ``number`` says: ``deck_out`` is ``deck_in`` permuted and re-encrypted; its proof."""

    number: int
    deck_in: bytes
    deck_out: bytes
    proof: bytes


class Begun(NamedTuple):
    """A check of a proof that has been begun; ``work`` is what it came to so far, of no use to anybody else."""

    statement: ShuffleStatement
    work: object

    def __repr__(self) -> str:
        return f"Begun({self.statement.number})"


class OwnShuffle(NamedTuple):
    """One's own shuffle of ``deck_in``. Who has made a deck can check what others made of it with less work."""

    deck_in: bytes
    shuffled: Shuffled

    def __repr__(self) -> str:
        return "OwnShuffle(<secret>)"


class Opening(NamedTuple):
    """Shares of one player for one cause: ``shares[i]`` belongs to ``positions[i]``, positions ascending.
    ``cause`` is the id of the entry that called for them."""

    cause: bytes
    positions: tuple[int, ...]
    shares: tuple[bytes, ...]


class Dealing(Protocol):
    """A way to deal cards that nobody knows. Decks, keys, shares and proofs are opaque bytes."""

    @property
    def name(self) -> str:
        """What this way of dealing is called; two ways never share a name."""
        ...

    def deck_bytes(self, ground: Ground) -> int:
        """The length of a deck on the wire, in bytes."""
        ...

    def proof_bytes(self, ground: Ground) -> int:
        """The length of a shuffle proof on the wire, in bytes."""
        ...

    def make_key(self, ground: Ground, number: int, seed: bytes) -> KeyPart:
        """The key part of player ``number``, from the 32-byte seed it has committed to."""
        ...

    def check_key(self, ground: Ground, number: int, part: KeyPart) -> bool:
        """Whether the keys are well formed and their maker has proved to know the secrets."""
        ...

    def joint_key(self, keys: Sequence[bytes]) -> bytes:
        """The key of all players together, from each one's checked ``X``. Raises ``DealingError``."""
        ...

    def first_deck(self, ground: Ground, joint: bytes) -> bytes:
        """The deck before the first shuffle: card k at position k, computed by everyone alike."""
        ...

    def check_deck(self, ground: Ground, deck: bytes) -> bool:
        """Whether the bytes are a deck at all: length and every element. That it holds the right cards is
        what ``check_proofs`` shows."""
        ...

    def shuffle(self, ground: Ground, number: int, seed: bytes, joint: bytes, deck: bytes) -> Shuffled:
        """The one shuffle of ``deck`` that the seed fixes. ``deck`` has passed ``check_deck``."""
        ...

    def prove(
        self, ground: Ground, number: int, seed: bytes, joint: bytes, deck: bytes, shuffled: Shuffled
    ) -> bytes:
        """A proof that ``shuffled.deck`` permutes and re-encrypts ``deck``, and says no more."""
        ...

    def check_proofs(self, ground: Ground, joint: bytes, items: Sequence[ShuffleStatement]) -> tuple[int, ...]:
        """The numbers, ascending, whose proof is bad; empty if all are good. The decks have passed
        ``check_deck``; that each begins where the one before ended is the caller's to see."""
        ...

    def begin_check(self, ground: Ground, joint: bytes, item: ShuffleStatement) -> Begun:
        """The part of checking a proof that no other proof can make cheaper: to be done while others are
        still being waited for. Says nothing about the proof yet."""
        ...

    def finish_checks(
        self, ground: Ground, joint: bytes, begun: Sequence[Begun], own: OwnShuffle | None = None
    ) -> tuple[int, ...]:
        """The rest, for all proofs together: the same answer as ``check_proofs``. ``own`` is the shuffle of
        the caller, if it made one of the decks; it has to be right, or good proofs are said to be bad."""
        ...

    def shares(
        self,
        ground: Ground,
        number: int,
        seed: bytes,
        deck: bytes,
        calls: Sequence[tuple[bytes, tuple[int, ...]]],
    ) -> tuple[tuple[Opening, ...], bytes]:
        """This player's shares for ``calls``, pairs of cause and ascending positions in the agreed
        ``deck``, with one proof for all. No position may be named twice. Raises ``DealingError``."""
        ...

    def shares_to_look(
        self, ground: Ground, number: int, seed: bytes, deck: bytes, positions: Sequence[int]
    ) -> tuple[bytes, ...]:
        """The same shares, one for each position, without a proof: for opening one's own cards, never to be
        sent. Raises ``DealingError``."""
        ...

    def check_shares(
        self,
        ground: Ground,
        number: int,
        X: bytes,  # noqa: N803 - the name it has in the mathematics
        deck: bytes,
        openings: Sequence[Opening],
        proof: bytes,
    ) -> bool:
        """Whether every share is the one that player ``number`` with key ``X`` has for its position."""
        ...

    def open(self, ground: Ground, deck: bytes, position: int, shares: Sequence[bytes]) -> int | None:
        """The face at ``position`` from the shares of all players, in any order: the k of
        docs/crypto.md, "Cards". ``None`` if they give no card of the deck. The deck has passed
        ``check_deck`` and each share ``check_shares`` (or is the caller's own)."""
        ...

    def open_all(self, ground: Ground, seeds: Sequence[bytes], deck: bytes) -> tuple[int, ...] | None:
        """Every face by position, from the seeds of all players in roster order. ``None`` if they do not give
        a card of the deck at each position."""
        ...

    def audit_seed(
        self,
        ground: Ground,
        number: int,
        seed: bytes,
        joint: bytes,
        key: KeyPart,
        deck_in: bytes,
        deck_out: bytes,
        agreed_deck: bytes,
        shares: Mapping[int, bytes],
    ) -> tuple[str, ...]:
        """What player ``number`` did that is not by its revealed seed: ``"key"``, ``"deck"`` (its shuffle
        of ``deck_in``) and ``"share:<position>"`` for shares given in the agreed deck, in this order."""
        ...


def ascending_positions(ground: Ground, calls: Sequence[tuple[bytes, tuple[int, ...]]]) -> bool:
    """Whether calls name at least one position, each inside the deck, ascending within its call, and none
    twice; the shape that ``shares`` and ``check_shares`` ask for."""
    seen: set[int] = set()
    for _, positions in calls:
        if not positions or any(low >= high for low, high in pairwise(positions)):
            return False
        if positions[0] < 0 or positions[-1] >= ground.deck_size or not seen.isdisjoint(positions):
            return False
        seen.update(positions)
    return bool(seen)


def require_player(ground: Ground, number: int, seed: bytes) -> None:
    """Raise ``DealingError`` unless ``number`` is on the roster and ``seed`` has 32 bytes."""
    if not 0 <= number < len(ground.roster):
        raise DealingError("number", "there is no player {number} on the roster", number=number)
    if len(seed) != HASH_BYTES:
        raise DealingError("seed", "a seed has 32 bytes")

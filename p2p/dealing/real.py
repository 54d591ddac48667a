"""The deal that is played with: ElGamal, proven shuffles, proven shares.

A thin front of the modules that do the mathematics: it takes encoded values, checks numbers, lengths and
shapes, and turns everything malformed into a plain answer.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from p2p.dealing import keys as round_keys
from p2p.dealing import opening, shuffle
from p2p.dealing.elgamal import CARD_BYTES, Deck, decode_deck, faces, first_deck, split_deck
from p2p.dealing.group import Point, decode_point, mul, spread, sub
from p2p.dealing.interface import (
    Begun,
    DealingError,
    Ground,
    KeyPart,
    Opening,
    OwnShuffle,
    Shuffled,
    ShuffleStatement,
    ascending_positions,
    require_player,
)
from p2p.dealing.shuffle import Made


def _require_joint(joint: bytes) -> Point:
    point = decode_point(joint)
    if point is None:
        raise DealingError("joint_key", "this is not a joint key")
    return point


def _require_deck(ground: Ground, deck: bytes) -> Deck:
    parts = split_deck(ground, deck)
    if parts is None:
        raise DealingError("deck", "this is not a deck of {cards} cards", cards=ground.deck_size)
    return parts


def _made_of(ground: Ground, own: OwnShuffle | None) -> Made | None:
    made: Made | None = None
    if own is not None and isinstance(own.shuffled.secret, shuffle.Witness):
        decks = _require_deck(ground, own.deck_in), _require_deck(ground, own.shuffled.deck)
        made = Made(*decks, own.shuffled.secret)
    return made


@dataclass(frozen=True, slots=True)
class ElGamalDealing:
    """See ``Dealing`` for the methods and docs/crypto.md for the mathematics.

    ``random_bytes`` gives that many fresh random bytes, for nonces (hedged with the seed) and for the
    weights of batch verification; tests replace it to be repeatable, nothing else may. ``threads`` is
    how many threads a method may use while it runs. Stateless, safe to call from several threads; a call
    can take some 100 ms, so never from an event loop.
    """

    random_bytes: Callable[[int], bytes] = secrets.token_bytes
    threads: int = 2

    name: ClassVar[str] = "elgamal-ed25519/1"

    def deck_bytes(self, ground: Ground) -> int:
        """See ``Dealing.deck_bytes``."""
        return CARD_BYTES * ground.deck_size

    def proof_bytes(self, ground: Ground) -> int:
        """See ``Dealing.proof_bytes``."""
        return shuffle.proof_bytes(ground.deck_size)

    def make_key(self, ground: Ground, number: int, seed: bytes) -> KeyPart:
        """See ``Dealing.make_key``."""
        require_player(ground, number, seed)
        return round_keys.make_key(ground, number, seed, self.random_bytes)

    def check_key(self, ground: Ground, number: int, part: KeyPart) -> bool:
        """See ``Dealing.check_key``."""
        return 0 <= number < len(ground.roster) and round_keys.check_key(ground, number, part)

    def joint_key(self, keys: Sequence[bytes]) -> bytes:
        """See ``Dealing.joint_key``."""
        return round_keys.joint_key(keys)

    def first_deck(self, ground: Ground, joint: bytes) -> bytes:
        """See ``Dealing.first_deck``."""
        return first_deck(ground.deck_size, _require_joint(joint)).to_bytes()

    def check_deck(self, ground: Ground, deck: bytes) -> bool:
        """See ``Dealing.check_deck``: every point canonical, in the subgroup, not the identity."""
        return decode_deck(ground, deck, self.threads) is not None

    def shuffle(self, ground: Ground, number: int, seed: bytes, joint: bytes, deck: bytes) -> Shuffled:
        """See ``Dealing.shuffle``."""
        require_player(ground, number, seed)
        parts, key = _require_deck(ground, deck), _require_joint(joint)
        witness = shuffle.derive_witness(ground, number, seed, key, deck)
        return Shuffled(shuffle.apply_witness(parts, key, witness, self.threads).to_bytes(), witness)

    def prove(
        self, ground: Ground, number: int, seed: bytes, joint: bytes, deck: bytes, shuffled: Shuffled
    ) -> bytes:
        """See ``Dealing.prove``."""
        require_player(ground, number, seed)
        if not isinstance(shuffled.secret, shuffle.Witness):
            raise DealingError("deck", "this shuffle was made by another way of dealing")
        decks, key = (deck, shuffled.deck), _require_joint(joint)
        witness, draw = shuffled.secret, self.random_bytes
        return shuffle.prove(ground, number, seed, key, decks, witness, draw, self.threads)

    def check_proofs(self, ground: Ground, joint: bytes, items: Sequence[ShuffleStatement]) -> tuple[int, ...]:
        """See ``Dealing.check_proofs``. All together first; one by one only if that fails."""
        return self.finish_checks(ground, joint, [self.begin_check(ground, joint, item) for item in items])

    def begin_check(self, ground: Ground, joint: bytes, item: ShuffleStatement) -> Begun:
        """See ``Dealing.begin_check``. ``work`` is None where the proof is bad at sight."""
        key = _require_joint(joint)
        proof = shuffle.parse_proof(item.proof, ground.deck_size)
        lengths_fit = len(item.deck_in) == len(item.deck_out) == self.deck_bytes(ground)
        if proof is None or not lengths_fit or not 0 <= item.number < len(ground.roster):
            return Begun(item, None)
        return Begun(item, shuffle.begin(ground, key, item, proof, self.random_bytes, self.threads))

    def finish_checks(
        self, ground: Ground, joint: bytes, begun: Sequence[Begun], own: OwnShuffle | None = None
    ) -> tuple[int, ...]:
        """See ``Dealing.finish_checks``. All together first; one by one only if that fails."""
        key, made = _require_joint(joint), _made_of(ground, own)
        sums = {i: one.work for i, one in enumerate(begun) if isinstance(one.work, shuffle.HalfSum)}
        bad = {i for i in range(len(begun)) if i not in sums}
        if sums and not shuffle.finish(key, list(sums.values()), made, self.threads):
            bad.update(i for i, half in sums.items() if not shuffle.finish(key, [half], made, self.threads))
        return tuple(sorted({begun[i].statement.number for i in bad}))

    def shares(
        self,
        ground: Ground,
        number: int,
        seed: bytes,
        deck: bytes,
        calls: Sequence[tuple[bytes, tuple[int, ...]]],
    ) -> tuple[tuple[Opening, ...], bytes]:
        """See ``Dealing.shares``."""
        require_player(ground, number, seed)
        if not ascending_positions(ground, calls):
            raise DealingError("calls", "positions are ascending, in the deck, and named once")
        parts = _require_deck(ground, deck)
        return opening.make_shares(ground, number, seed, parts, calls, self.random_bytes)

    def shares_to_look(
        self, ground: Ground, number: int, seed: bytes, deck: bytes, positions: Sequence[int]
    ) -> tuple[bytes, ...]:
        """See ``Dealing.shares_to_look``."""
        require_player(ground, number, seed)
        if not all(0 <= position < ground.deck_size for position in positions):
            raise DealingError("calls", "positions are in the deck")
        parts, x = _require_deck(ground, deck), round_keys.round_secret(ground, number, seed)
        return tuple(mul(x, parts.a[position]) for position in positions)

    def check_shares(
        self,
        ground: Ground,
        number: int,
        X: bytes,  # noqa: N803 - the name it has in the mathematics
        deck: bytes,
        openings: Sequence[Opening],
        proof: bytes,
    ) -> bool:
        """See ``Dealing.check_shares``."""
        parts = split_deck(ground, deck)
        calls = [(one.cause, one.positions) for one in openings]
        if parts is None or not 0 <= number < len(ground.roster) or not ascending_positions(ground, calls):
            return False
        return opening.check_shares(ground, number, X, parts, openings, proof)

    def open(self, ground: Ground, deck: bytes, position: int, shares: Sequence[bytes]) -> int | None:
        """See ``Dealing.open``."""
        parts = split_deck(ground, deck)
        if parts is None or not 0 <= position < ground.deck_size or len(shares) != len(ground.roster):
            return None
        point = opening.opened_point(parts, position, shares)
        return None if point is None else faces(ground.deck_size).get(point)

    def open_all(self, ground: Ground, seeds: Sequence[bytes], deck: bytes) -> tuple[int, ...] | None:
        """See ``Dealing.open_all``: with all secrets one multiplication opens a card, Σx_i·a = (Σx_i)·a."""
        if len(seeds) != len(ground.roster):
            return None
        parts, table = _require_deck(ground, deck), faces(ground.deck_size)
        x = sum(round_keys.round_secret(ground, number, seed) for number, seed in enumerate(seeds))
        cards = spread(
            lambda pair: table.get(sub(pair[1], mul(x, pair[0]))), list(zip(*parts, strict=True)), self.threads
        )
        found = tuple(card for card in cards if card is not None)
        return found if len(found) == len(cards) else None

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
        """See ``Dealing.audit_seed``."""
        require_player(ground, number, seed)
        wrong = [] if round_keys.public_keys(ground, number, seed) == (key.X, key.Y) else ["key"]
        if self.shuffle(ground, number, seed, joint, deck_in).deck != deck_out:
            wrong.append("deck")
        x, agreed = round_keys.round_secret(ground, number, seed), _require_deck(ground, agreed_deck)
        for position, share in sorted(shares.items()):
            if not 0 <= position < ground.deck_size or mul(x, agreed.a[position]) != share:
                wrong.append(f"share:{position}")
        return tuple(wrong)

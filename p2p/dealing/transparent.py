"""A deal with open cards, for tests of everything above the deal.

NOT A DEAL TO PLAY WITH: the deck shows every face, and every proof can be made by anyone. It has the
interface of the real deal and the same outcomes: the seed's permutation is really applied; a changed
byte, a wrong statement, number, cause, contract or round is refused; a deck with a doubled card passes
``check_deck`` and is caught by ``check_proofs``. Nothing that starts from a command line can choose it.

A deck is the faces, two bytes each, big-endian. A share is the start of the player's key and a hash over
number, position and deck, so that one share can be judged alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from p2p.canonical import PROTOCOL, Value, enc
from p2p.dealing.derive import seed_stream
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

FACE_BYTES: Final = 2
KEY_BYTES: Final = 32
KEY_PROOF_BYTES: Final = 128
SHARE_BYTES: Final = 32
SHARE_KEY_BYTES: Final = 8
SHUFFLE_PROOF_BYTES: Final = 64
SHARES_PROOF_BYTES: Final = 96


def _tag(length: int, kind: str, ground: Ground, number: int, *parts: Value) -> bytes:
    """What stands in for a proof: ``length`` bytes of a hash over kind, round, player and statement."""
    data = enc([PROTOCOL, "transparent", kind, ground.contract, ground.round, number, *parts])
    return hashlib.shake_256(data).digest(length)


def _faces(ground: Ground, deck: bytes) -> tuple[int, ...]:
    return tuple(
        int.from_bytes(deck[i : i + FACE_BYTES], "big")
        for i in range(0, FACE_BYTES * ground.deck_size, FACE_BYTES)
    )


def _deck(faces: Sequence[int]) -> bytes:
    return b"".join(face.to_bytes(FACE_BYTES, "big") for face in faces)


def _flat(openings: Sequence[Opening]) -> list[Value]:
    return [[opening.cause, opening.positions, opening.shares] for opening in openings]


class TransparentDealing:
    """The deal with open cards (see the module). Holds no state."""

    name: Final = "transparent: every card is open"

    def deck_bytes(self, ground: Ground) -> int:
        """See ``Dealing.deck_bytes``."""
        return FACE_BYTES * ground.deck_size

    def proof_bytes(self, ground: Ground) -> int:
        """See ``Dealing.proof_bytes``."""
        return SHUFFLE_PROOF_BYTES

    def make_key(self, ground: Ground, number: int, seed: bytes) -> KeyPart:
        """See ``Dealing.make_key``."""
        require_player(ground, number, seed)
        x, y = (_tag(KEY_BYTES, kind, ground, number, seed) for kind in ("key", "seal"))
        return KeyPart(x, y, _tag(KEY_PROOF_BYTES, "key proof", ground, number, x, y))

    def check_key(self, ground: Ground, number: int, part: KeyPart) -> bool:
        """See ``Dealing.check_key``."""
        if not 0 <= number < len(ground.roster) or len(part.X) != KEY_BYTES or len(part.Y) != KEY_BYTES:
            return False
        return part.proof == _tag(KEY_PROOF_BYTES, "key proof", ground, number, part.X, part.Y)

    def joint_key(self, keys: Sequence[bytes]) -> bytes:
        """See ``Dealing.joint_key``; like a sum it does not depend on the order."""
        if not keys or any(len(key) != KEY_BYTES for key in keys):
            raise DealingError("joint_key", "the keys do not add up to a joint key")
        return hashlib.sha256(b"transparent joint key" + b"".join(sorted(keys))).digest()

    def first_deck(self, ground: Ground, joint: bytes) -> bytes:
        """See ``Dealing.first_deck``."""
        return _deck(range(ground.deck_size))

    def check_deck(self, ground: Ground, deck: bytes) -> bool:
        """See ``Dealing.check_deck``. Doubled cards pass here, as they would when encrypted."""
        if len(deck) != self.deck_bytes(ground):
            return False
        return all(face < ground.deck_size for face in _faces(ground, deck))

    def shuffle(self, ground: Ground, number: int, seed: bytes, joint: bytes, deck: bytes) -> Shuffled:
        """See ``Dealing.shuffle``."""
        require_player(ground, number, seed)
        if not self.check_deck(ground, deck):
            raise DealingError("deck", "this is not a deck")
        digest = hashlib.sha256(deck).digest()
        stream = seed_stream("shuffle", seed, ground.contract, number, joint, digest)
        faces = _faces(ground, deck)
        return Shuffled(_deck([faces[i] for i in stream.permutation(ground.deck_size)]), None)

    def prove(
        self, ground: Ground, number: int, seed: bytes, joint: bytes, deck: bytes, shuffled: Shuffled
    ) -> bytes:
        """See ``Dealing.prove``."""
        require_player(ground, number, seed)
        return _tag(SHUFFLE_PROOF_BYTES, "shuffle", ground, number, joint, deck, shuffled.deck)

    def check_proofs(self, ground: Ground, joint: bytes, items: Sequence[ShuffleStatement]) -> tuple[int, ...]:
        """See ``Dealing.check_proofs``."""

        def good(item: ShuffleStatement) -> bool:
            if not 0 <= item.number < len(ground.roster):
                return False
            if not (self.check_deck(ground, item.deck_in) and self.check_deck(ground, item.deck_out)):
                return False
            if sorted(_faces(ground, item.deck_in)) != sorted(_faces(ground, item.deck_out)):
                return False
            statement = (joint, item.deck_in, item.deck_out)
            return item.proof == _tag(SHUFFLE_PROOF_BYTES, "shuffle", ground, item.number, *statement)

        return tuple(sorted({item.number for item in items if not good(item)}))

    def begin_check(self, ground: Ground, joint: bytes, item: ShuffleStatement) -> Begun:
        """See ``Dealing.begin_check``: nothing can be done before."""
        return Begun(item, None)

    def finish_checks(
        self, ground: Ground, joint: bytes, begun: Sequence[Begun], own: OwnShuffle | None = None
    ) -> tuple[int, ...]:
        """See ``Dealing.finish_checks``."""
        return self.check_proofs(ground, joint, [one.statement for one in begun])

    def _share(self, ground: Ground, number: int, start: bytes, deck: bytes, position: int) -> bytes:
        length = SHARE_BYTES - SHARE_KEY_BYTES
        return start + _tag(length, "share", ground, number, start, deck, position)

    def shares(
        self,
        ground: Ground,
        number: int,
        seed: bytes,
        deck: bytes,
        calls: Sequence[tuple[bytes, tuple[int, ...]]],
    ) -> tuple[tuple[Opening, ...], bytes]:
        """See ``Dealing.shares``."""
        if not ascending_positions(ground, calls):
            raise DealingError("calls", "positions are ascending, in the deck, and named once")
        key = self.make_key(ground, number, seed).X
        openings = tuple(
            Opening(
                cause,
                tuple(positions),
                tuple(self._share(ground, number, key[:SHARE_KEY_BYTES], deck, p) for p in positions),
            )
            for cause, positions in calls
        )
        return openings, _tag(SHARES_PROOF_BYTES, "shares", ground, number, key, deck, _flat(openings))

    def shares_to_look(
        self, ground: Ground, number: int, seed: bytes, deck: bytes, positions: Sequence[int]
    ) -> tuple[bytes, ...]:
        """See ``Dealing.shares_to_look``."""
        start = self.make_key(ground, number, seed).X[:SHARE_KEY_BYTES]
        return tuple(self._share(ground, number, start, deck, position) for position in positions)

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
        calls = [(opening.cause, opening.positions) for opening in openings]
        if not 0 <= number < len(ground.roster) or not ascending_positions(ground, calls):
            return False
        for opening in openings:
            right = [
                self._share(ground, number, X[:SHARE_KEY_BYTES], deck, position) for position in opening.positions
            ]
            if list(opening.shares) != right:
                return False
        return proof == _tag(SHARES_PROOF_BYTES, "shares", ground, number, X, deck, _flat(openings))

    def open(self, ground: Ground, deck: bytes, position: int, shares: Sequence[bytes]) -> int | None:
        """See ``Dealing.open``."""
        if not self.check_deck(ground, deck) or not 0 <= position < ground.deck_size:
            return None
        owners = [
            number
            for share in shares
            for number in range(len(ground.roster))
            if share == self._share(ground, number, share[:SHARE_KEY_BYTES], deck, position)
        ]
        complete = len(shares) == len(ground.roster) and sorted(owners) == list(range(len(ground.roster)))
        return _faces(ground, deck)[position] if complete else None

    def open_all(self, ground: Ground, seeds: Sequence[bytes], deck: bytes) -> tuple[int, ...] | None:
        """See ``Dealing.open_all``."""
        if len(seeds) != len(ground.roster) or not self.check_deck(ground, deck):
            return None
        return _faces(ground, deck)

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
        made = self.make_key(ground, number, seed)
        wrong = [] if (made.X, made.Y) == (key.X, key.Y) else ["key"]
        if self.shuffle(ground, number, seed, joint, deck_in).deck != deck_out:
            wrong.append("deck")
        start = made.X[:SHARE_KEY_BYTES]
        wrong += [
            f"share:{position}"
            for position, share in sorted(shares.items())
            if share != self._share(ground, number, start, agreed_deck, position)
        ]
        return tuple(wrong)

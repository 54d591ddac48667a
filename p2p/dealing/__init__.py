"""The deal: cards that nobody knows until those who should agree to show them.

``Dealing`` is what the session uses and ``ElGamalDealing`` the deal that is played with;
``TransparentDealing`` is for tests alone. The mathematics: docs/crypto.md.
"""

from p2p.dealing.derive import (
    coin_commitment,
    coins_digest,
    first_dealer,
    seating,
    seed_commitment,
    table_words,
)
from p2p.dealing.interface import (
    Begun,
    Dealing,
    DealingError,
    Ground,
    KeyPart,
    Opening,
    OwnShuffle,
    Shuffled,
    ShuffleStatement,
)
from p2p.dealing.real import ElGamalDealing
from p2p.dealing.transparent import TransparentDealing

__all__ = [
    "Begun",
    "Dealing",
    "DealingError",
    "ElGamalDealing",
    "Ground",
    "KeyPart",
    "Opening",
    "OwnShuffle",
    "ShuffleStatement",
    "Shuffled",
    "TransparentDealing",
    "coin_commitment",
    "coins_digest",
    "first_dealer",
    "seating",
    "seed_commitment",
    "table_words",
]

"""What one peer keeps to itself in a round, and the arithmetic that it does with it (docs/crypto.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from p2p.dealing import Dealing, OwnShuffle, Shuffled
from p2p.feeds import entries as e
from p2p.feeds.facts import body_of
from p2p.rounds.chain import DeckStep
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round


@dataclass(slots=True)
class Own:
    """A peer's secrets in one round and what it has made with them; in memory only, never shown.

    Only the seed and the coin are stored; the rest follows from them and is made again after a restart.
    """

    seed: bytes
    coin: bytes
    shuffled: tuple[DeckStep | None, Shuffled] | None = None
    """The deck before the own one, and what ``Dealing.shuffle`` made of it."""
    proof: bytes | None = None
    faces: dict[int, int] = field(default_factory=dict)
    """Position → face, for cards that have been in the own hand."""

    def __repr__(self) -> str:
        return "Own(…)"


def shuffle_work(
    dealing: Dealing, round_: Round, lens: Lens, number: int, own: Own
) -> Callable[[], tuple[DeckStep | None, Shuffled]] | None:
    """The own shuffle, to be run off the event loop, if it is the own turn for it; gives ``Own.shuffled``."""
    if own.shuffled is not None or lens.phase is not Phase.PREPARE or lens.next_to_shuffle() != number:
        return None
    previous = lens.deck_of(number - 1) if number else None
    keys = lens.each("key")
    ground, seed = round_.ground, own.seed

    def run() -> tuple[DeckStep | None, Shuffled]:
        if previous is not None:
            joint, deck = previous.joint, previous.deck_out
        else:
            joint = dealing.joint_key([body_of(keys[n], e.Key).x for n in round_.numbers])
            deck = dealing.first_deck(ground, joint)
        return previous, dealing.shuffle(ground, number, seed, joint, deck)

    return run


def prove_work(dealing: Dealing, round_: Round, lens: Lens, number: int, own: Own) -> Callable[[], bytes] | None:
    """The proof of the own shuffle, to be run off the event loop, once the deck is written."""
    if own.proof is not None or lens.phase is not Phase.PREPARE:
        return None
    step = lens.deck_of(number)
    if step is None or lens.first("proof", number) is not None:
        return None
    made = own.shuffled
    ground, seed = round_.ground, own.seed

    def run() -> bytes:
        # After a restart the shuffle is made again from the seed: the same bytes, and its secret.
        shuffled = dealing.shuffle(ground, number, seed, step.joint, step.deck_in) if made is None else made[1]
        return dealing.prove(ground, number, seed, step.joint, step.deck_in, shuffled)

    return run


def own_shuffle(own: Own, step: DeckStep, joint: bytes) -> OwnShuffle | None:
    """The own shuffle, for checking what others made of the deck; None where it isn't the one written, or gone."""
    if own.shuffled is None or step.joint != joint:
        return None
    shuffled = own.shuffled[1]
    return OwnShuffle(step.deck_in, shuffled) if shuffled.deck == step.deck_out else None

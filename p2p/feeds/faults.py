"""Faults: breaches that signed bytes alone prove (docs/protocol.md, faults)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from engine.errors import Sentence

FAULT_SENTENCES: Final[dict[str, str]] = {
    "fork": "{player} signed two different entries with number {seq} (a changed program, or data restored "
    "from a backup).",
    "bad_seen": "{player} signed an entry that claims to have seen two entries of one feed, or its own.",
    "bad_schema": "{player} signed an entry that does not have the form of its kind.",
    "bad_kind": "{player} wrote an entry of kind {kind} where the protocol has no place for it.",
    "bad_start": "{player} offered a round on terms that do not follow from the rounds before.",
    "bad_commitment": "{player} showed a value that is not the one committed to.",
    "bad_key": "{player} gave a round key without a valid proof.",
    "bad_deck": "{player} gave a deck that is not made of valid points, or not on top of the deck before.",
    "bad_proof": "{player} gave a shuffled deck whose proof fails: it is not an honest shuffle.",
    "bad_share": "{player} gave a false share for opening a card.",
    "uncalled_share": "{player} gave a share for a card that was not to be opened.",
    "share_before_agreed": "{player} gave a share before everybody had agreed on the shuffled deck.",
    "bad_agreed": "{player} signed an agreement that does not fit the decks and proofs it had.",
    "bad_digest": "{player} signed a wrong state of the game.",
    "bad_result": "{player} signed a result that does not follow from what it had.",
    "illegal_move": "{player} made a move that the rules do not allow ({reason}).",
    "bad_declare": "{player} declared a card that does not count, or passed with an open one that does.",
    "second_accept": "{player} answered one offer twice.",
    "not_by_seed": "{player} did not shuffle or open by the seed committed to ({what}).",
    "false_pass": "{player} passed while holding a card of the rank asked for.",
    "false_declare": "{player} declared another card than the rules ask for.",
    "pick_up_not_forced": "{player} took the pile while holding a card that could be played.",
    "chance_not_forced": "{player} took a chance while holding a card that could be played.",
    "lead_not_start_rank": "{player} led without the rank that the first lead has to hold.",
    "hidden_breach": "{player} broke a rule that only the open hands show ({reason}).",
}
"""Code → sentence. ``player`` becomes a name."""

ON_RECORD_ONLY: Final = frozenset(
    {
        "not_by_seed",
        "false_pass",
        "false_declare",
        "pick_up_not_forced",
        "chance_not_forced",
        "lead_not_start_rank",
        "hidden_breach",
    }
)
"""Found only with the seeds, after the ending was final: they are on record and change no ending."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One breach: who, what, and the ids of the entries that prove it, ascending.

    ``player`` is an identity key. Equal faults are found by every peer that holds the evidence.
    """

    player: bytes
    code: str
    evidence: tuple[bytes, ...]
    seq: int
    kind: str = ""
    reason: str = field(default="", compare=False)
    """More about the breach, for people; no part of what peers have to find alike."""

    @property
    def sentence(self) -> Sentence:
        """The fault in words, with ``player`` still a key."""
        return Sentence(
            self.code,
            FAULT_SENTENCES[self.code],
            {
                "player": self.player,
                "seq": self.seq,
                "kind": self.kind,
                "reason": self.reason,
                "what": self.reason,
            },
        )


class Breach(Exception):
    """Raised inside a check: the entry at hand breaks the protocol. Becomes a ``Fault``."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.reason = reason

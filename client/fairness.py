"""How far a saved round goes, as a person is told (``p2p.rounds.audit`` judges it)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.errors import Sentence

if TYPE_CHECKING:
    from p2p.rounds.audit import Verdict

STOPPED: Final = frozenset({"unfinished", "forfeit"})
"""Endings (``p2p.rounds.chain.Ending.kind``) of rounds that were stopped: their seeds are never opened."""

_SIGNED: Final = "That the round was stopped is signed by {signed} of {players}."


def how_far(verdict: Verdict) -> Sentence:
    """Who has signed the result, or where the file stops; of a stopped round nothing is called complete."""
    said = verdict.complete
    if verdict.ending in STOPPED and said.code == "complete":
        return Sentence("stopped_signed", _SIGNED, said.values)
    return said


def why_unproven(verdict: Verdict) -> Sentence:
    """The first reason why a round without a breach is not called fair."""
    if verdict.verdict == "unproven" and verdict.complete.code == "complete" and verdict.notes:
        return next((note for note in verdict.notes if note.code == "stopped"), verdict.notes[0])
    return verdict.complete

"""How far a saved round goes, in words."""

from __future__ import annotations

from dataclasses import replace

from client.commands.verify import in_words
from client.fairness import how_far, why_unproven
from client.sentences import render
from engine.errors import Sentence
from p2p.rounds.audit import NO_CHECKS, Verdict

STOPPED = Verdict(
    "unproven",
    1,
    (),
    (),
    None,
    (),
    dict(NO_CHECKS),
    Sentence("complete", "Complete: the result is signed by {signed} of {players}.", {"signed": 2, "players": 3}),
    (Sentence("stopped", "The round was stopped before its end.", {}),),
    "unfinished",
)


def test_a_stopped_round_is_not_called_complete() -> None:
    lines = in_words(STOPPED, frozenset())
    assert lines[0] == "UNPROVEN: round 1 was stopped before its end. It counts for nobody."
    assert lines[1] == "  That the round was stopped is signed by 2 of 3."
    assert not any("omplete" in line for line in lines)


def test_the_reason_is_the_first_thing_that_is_missing() -> None:
    assert render(why_unproven(STOPPED)) == "The round was stopped before its end."
    note = Sentence("no_reveal", "The file does not hold {name}'s reveal.", {"name": "Ana"})
    unrevealed = replace(STOPPED, ending="finished", notes=(note,))
    assert why_unproven(unrevealed) is note
    cut = Sentence("stops_after", "The file stops.", {})
    assert why_unproven(replace(unrevealed, complete=cut)) is cut


def test_a_finished_round_is_complete() -> None:
    fair = replace(STOPPED, verdict="fair", ending="finished", notes=())
    assert how_far(fair) is fair.complete
    assert in_words(fair, frozenset())[0].startswith("FAIR")

"""Every check bites: without it, a cheat that it stops is not found any more.

For each refusal of the fold there is a case. With the program as it is the cheater is named with its code; with
that one check taken out (see ``mutants``) it is not. So no check can be lost without a test that fails.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from p2p.dealing import TransparentDealing
from p2p.rounds import fold as fold_module
from p2p.rounds import judge, members
from p2p.rounds.fold import Fold
from tests.attacks.cases import CASES, Case
from tests.attacks.mutants import Site, install, sites
from tests.p2p.recorded import recorded

BREACH = ("Breach", "Unverified")

WHOLE: dict[str, tuple[str, Callable[..., object]]] = {
    "rounds.fold.Fold._bad_seen": ("_bad_seen", lambda self, fact: False),
    "rounds.fold.Fold._note_fork": ("_note_fork", lambda self, fact, versions: None),
}
"""Checks that are no single refusal: the method that stands for them, and it without effect."""


def _all_good(self: Fold, round_: object, fact: object, good: bool) -> object:
    return _NOTE_PROOF(self, round_, fact, good=True)  # type: ignore[arg-type]


_NOTE_PROOF = Fold.note_proof
WHOLE["rounds.fold.Fold.note_proof"] = ("note_proof", _all_good)

OUT_OF_REACH = {
    "rounds.judge._shares.0": "the table of phases has shares only where all have agreed",
    "rounds.judge._swap.0": "the phase ARRANGE means that the cards are dealt",
    "rounds.judge._choose.0": "the same",
    "rounds.judge._ready.1": "the same",
    "rounds.judge._declare.0": "the phase START means that there is a chain",
    "rounds.judge._pass.0": "the same",
    "rounds.judge._move.0": "the phase PLAY means that there is a chain",
    "rounds.judge._reveal.2": "the phase REVEAL means that all have agreed, on decks of everybody",
    "rounds.judge._open_own.5": "a card whose shares are proven has one face, and a proven shuffle has each once",
    "rounds.fold.Fold._judge_start.0": "terms hang on agreements, and these have waited for the proofs already",
    "rounds.fold.Fold._judge_at_table.1": "an opening is taken only if its id is the table's",
}
"""Refusals that no entry can reach: the types need them, and a mistake elsewhere would end there."""

SEPARATE = {"rounds.judge._check.1"}
"""Not a breach: see ``test_agreements_wait_until_the_proofs_before_them_are_checked``."""


def all_sites() -> dict[str, Site]:
    """Every refusal of the fold, by its name."""
    found = [site for module in (judge, members, fold_module) for site, _ in sites(module, BREACH)]
    return {str(site): site for site in found}


SITES = all_sites()


def remove(patch: pytest.MonkeyPatch, checks: tuple[str, ...], keep: bool = False) -> None:
    """Takes checks out of the program; ``keep``: leaves all in, though compiled anew."""
    for check in checks:
        if check in WHOLE and not keep:
            method, instead = WHOLE[check]
            patch.setattr(Fold, method, instead)
    install(patch, [SITES[check] for check in checks if check in SITES], BREACH, keep)


def test_every_refusal_has_a_case_or_is_out_of_reach() -> None:
    covered = {check for case in CASES for check in case.checks}
    assert covered - SITES.keys() - WHOLE.keys() == set()
    assert SITES.keys() - covered - OUT_OF_REACH.keys() - SEPARATE == set()
    assert OUT_OF_REACH.keys() <= SITES.keys()
    assert not OUT_OF_REACH.keys() & covered


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_check_bites(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        remove(patch, case.checks, keep=True)
        assert case.run() == {(True, case.code)}
    remove(monkeypatch, case.checks)
    try:
        found = case.run()
    except Exception:  # the mutant stumbles over what its check would have refused
        return
    assert (True, case.code) not in found


def test_agreements_wait_until_the_proofs_before_them_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    entries, _, contract = recorded(3, "finished")

    def faults() -> list[str]:
        session = Fold(entries[0].table, TransparentDealing())
        for entry in entries:
            session.receive(entry)
        assert (
            "agreed" not in {fact.entry.kind for fact in session.feeds.by_id.values()}
            or session.rounds[contract].everything().faults
        )
        while (job := session.job()) is not None:
            session.finish(job, job.run())
        return [fault.code for fault in session.rounds[contract].everything().faults]

    assert faults() == []
    remove(monkeypatch, ("rounds.judge._check.1",))
    assert set(faults()) == {"bad_agreed"}

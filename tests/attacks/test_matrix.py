"""Every kind in every phase, every flaw in every phase: named by all honest peers, by the right code, alone."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from p2p.entries import Entry
from p2p.phases import TABLE, Phase
from tests.attacks.matrix import (
    COUNTS,
    GENERIC,
    KINDS,
    NEVER_WRONG,
    PRESENT,
    WRONG,
    Stand,
    check_ending,
    check_kept_closed,
    check_named,
    check_new_deal,
    standing,
    wrong_entries,
)

PAIRS = sorted(WRONG)
FLAWS = [(phase, name) for phase in Phase for name in GENERIC]
LONG, EXTRA = (
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("SHITHEAD_MATRIX"), reason="SHITHEAD_MATRIX=1"),
)


def spread(cases: list[tuple[Phase, str]]) -> list[object]:
    """Each case with each number of players.

    The fast run has each case of what is allowed there with two or three players, in turn, and a third of those of
    what is not; the long one has the others, of the latter with one number each. ``SHITHEAD_MATRIX=1``: with all.
    """
    found: list[object] = []
    for number, (phase, name) in enumerate(cases):
        absent = (phase, name) in WRONG.keys() - PRESENT.keys()
        for place, players in enumerate(COUNTS):
            marks: tuple[object, ...] = (LONG,)
            if absent and place != number % 3:
                marks = (LONG, EXTRA)
            elif place == number % 2:
                marks = ()
            found.append(pytest.param(players, phase, name, marks=marks, id=f"{players}-{phase}-{name}"))
    return found


def meets(
    stand: Stand, phase: Phase, code: str, make: Callable[[Stand], tuple[Entry, ...]], anew: bool = True
) -> None:
    """The cheater writes what ``make`` signs; everything that has to hold then is looked at (``anew``: also that
    the others can deal without it)."""
    contract = stand.cheater.round.contract
    before = stand.cheater.round.everything().final
    entries = make(stand)
    stand.strike(*entries)
    check_named(stand, contract, code)
    check_ending(stand, contract, phase, before)
    check_kept_closed(stand, contract)
    if anew:
        check_new_deal(stand)


@pytest.mark.parametrize(("players", "phase", "kind"), spread(PAIRS))
def test_a_wrong_entry_in_any_phase_is_named_by_all(players: int, phase: Phase, kind: str) -> None:
    stand = standing(players, phase)
    code = WRONG[phase, kind]
    meets(stand, phase, code, lambda stand: wrong_entries(stand, phase, kind), anew=(phase, kind) in PRESENT)


@pytest.mark.parametrize(("players", "phase", "name"), spread(FLAWS))
def test_a_flaw_of_any_entry_in_any_phase_is_named_by_all(players: int, phase: Phase, name: str) -> None:
    make, code = GENERIC[name]
    meets(standing(players, phase), phase, code, make)


def test_every_pair_of_phase_and_kind_has_a_case() -> None:
    assert {(phase, kind) for phase in Phase for kind in KINDS} == WRONG.keys() | NEVER_WRONG
    assert TABLE.keys() == PRESENT.keys() | NEVER_WRONG
    assert not WRONG.keys() & NEVER_WRONG

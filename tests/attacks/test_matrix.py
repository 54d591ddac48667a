"""Every kind in every phase, every flaw in every phase: named by all honest peers, by the right code, alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement

import pytest

from p2p.dealing import TransparentDealing
from p2p.feeds.entries import Entry
from p2p.rounds.audit import verify
from p2p.rounds.phases import TABLE, Phase
from tests.attacks.matrix import (
    ALL,
    COUNTS,
    GENERIC,
    KINDS,
    LONG,
    NEVER_WRONG,
    PRESENT,
    WRONG,
    Stand,
    check_ending,
    check_kept_closed,
    check_named,
    check_new_deal,
    saved,
    standing,
    wrong_entries,
)
from tests.p2p.peers import verdict

PAIRS = sorted(WRONG)
FLAW_PAIRS = list(combinations_with_replacement(GENERIC, 2))
FLAWS = [(phase, name) for phase in Phase for name in GENERIC]


def spread(cases: list[tuple[Phase, str]]) -> list[object]:
    """Each case with each number of players.

    The fast run has each case of what is allowed there with two or three players, in turn, and a third of those of
    what is not; the long one has five players, and the rest of the latter with one number each.
    """
    found: list[object] = []
    for number, (phase, name) in enumerate(cases):
        absent = (phase, name) in WRONG.keys() - PRESENT.keys()
        for place, players in enumerate(COUNTS):
            chosen = place == (number % 3 if absent else number % 2)
            fast = chosen and place == number % 2
            if fast or chosen or ALL or (not absent and players == max(COUNTS)):
                marks = () if fast else LONG
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


FLAWS_OF_TWO = [
    pytest.param(
        players,
        phase,
        *pair,
        marks=() if players == 3 and chosen else LONG,
        id=f"{players}-{phase}-{' and '.join(pair)}",
    )
    for players in (3, 5)
    for place, phase in enumerate(Phase)
    for number, pair in enumerate(FLAW_PAIRS)
    if (chosen := number == place % len(FLAW_PAIRS)) or ALL
]


@pytest.mark.parametrize(("players", "phase", "first", "second"), FLAWS_OF_TWO)
def test_two_who_cheat_at_once_are_both_named(players: int, phase: Phase, first: str, second: str) -> None:
    stand = standing(players, phase)
    one, other = stand.cheater, stand.table.by_number(2)
    contract = one.round.contract
    honest = [peer for peer in stand.table.peers if peer not in (one, other)]
    signed = []
    for cheater, name in ((one, first), (other, second)):
        stand.cheater = cheater
        signed.append((cheater, GENERIC[name][0](stand)))
    for cheater, entries in signed:
        cheater.on_write = lambda peer, body: []
        for entry in entries:
            cheater.put(entry)
            for peer in honest:
                peer.session.receive(entry)
    for peer in honest:
        peer.on_write = None
    stand.table.settle()
    expected = {(one.me, GENERIC[first][1]), (other.me, GENERIC[second][1])}
    found = [verdict(peer.session) for peer in honest]
    assert all(each == found[0] for each in found)
    for peer in honest:
        lens = peer.session.rounds[contract].everything()
        assert {(fault.player, fault.code) for fault in lens.faults} == expected
        assert not {fault.player for fault in peer.session.table_faults} - {one.me, other.me}
        assert lens.phase is Phase.DEAD or lens.final is not None
    audited = verify(saved(honest[0], honest[0].session.rounds[contract]), TransparentDealing())
    assert audited.verdict == "cheating"
    assert {fault.player for fault in audited.faults} == {one.name, other.name}


def test_every_pair_of_phase_and_kind_has_a_case() -> None:
    assert {(phase, kind) for phase in Phase for kind in KINDS} == WRONG.keys() | NEVER_WRONG
    assert TABLE.keys() == PRESENT.keys() | NEVER_WRONG
    assert not WRONG.keys() & NEVER_WRONG

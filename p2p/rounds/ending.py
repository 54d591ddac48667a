"""How a round ends, and when that is settled (docs/protocol.md, endings; D20).

An ending follows from a past like everything else. Peers whose pasts still differ sign different endings;
since pasts only grow and an ended round takes no more moves, a peer whose past has grown signs again, and
all come to the same one. It is final once everyone needed has signed it; what turns up later is on record
and changes it no more, except that a fault may overtake a finish that not everyone has seen settled.
"""

from __future__ import annotations

from typing import Final

from engine.state import GameState, Result
from engine.state import Phase as GamePhase
from p2p.canonical import h
from p2p.rounds.chain import Ending
from p2p.rounds.round import Lens

_RANK: Final = {"faulted": 3, "finished": 2, "stalled": 2, "forfeit": 1, "unfinished": 0}
"""Which of two endings that are both signed by all counts."""

_REVEALED: Final = frozenset({"finished", "stalled", "faulted"})
"""After these everyone shows the seed. An unfinished round may be disputed still: its hands stay closed."""

FORFEIT_PLAYERS: Final = 2
"""Of so many, who leaves loses; with more, the round ends for all and counts for nobody."""

EMPTY_STATE: Final = bytes(32)
"""The state digest of a round that ended before there was a game."""


def needs_reveal(ending: Ending) -> bool:
    """Whether seeds are shown after this ending."""
    return ending.kind in _REVEALED


def find_ending(lens: Lens) -> Ending | None:
    """The ending that follows from what the lens shows; None while the round goes on."""
    if lens.agreement is None:
        return None
    state = lens.state
    over = state is not None and state.phase is GamePhase.OVER
    if lens.faults:
        return _make(lens, "faulted", state)
    if over and state is not None:
        return _make(lens, "stalled" if state.result is Result.STALLED else "finished", state)
    if not lens.leaves:
        return None
    if lens.round.players == FORFEIT_PLAYERS and len(lens.gone) == 1 and not lens.debtors:
        return _make(lens, "forfeit", state)
    return _make(lens, "unfinished", state)


def _make(lens: Lens, kind: str, state: GameState | None) -> Ending:
    round_ = lens.round
    deal = lens.agreement
    finish: tuple[int, ...] = ()
    shithead: int | None = None
    if kind in ("finished", "stalled") and state is not None and deal is not None:
        finish = tuple(deal.seats[seat] for seat in state.finish_order)
        shithead = deal.seats[state.shithead] if state.shithead >= 0 else None
    elif kind == "forfeit":
        (shithead,) = lens.gone
        finish = (1 - shithead,)
    tip = lens.tip
    head = tip.id if tip is not None else b""
    state_hash = lens.digest(tip) if tip is not None else EMPTY_STATE
    gone = tuple(
        (round_.number_of[fact.author], "owed" if round_.debts.get(fact.id) else "left", fact.id)
        for fact in lens.leaves
    )
    culprits = tuple((round_.number_of[fault.player], fault.code, fault.evidence) for fault in lens.faults)
    debts = tuple(sorted({debt for fact in lens.leaves for debt in round_.debts.get(fact.id, ())}))
    out = lens.culprits | lens.gone | lens.debtors
    signers = tuple(number for number in round_.numbers if number not in out)
    digest = h(
        "ending",
        round_.contract,
        kind,
        head,
        state_hash,
        [list(item) for item in gone],
        list(finish),
        b"" if shithead is None else shithead,
        [[number, code, list(evidence)] for number, code, evidence in culprits],
        [list(debt) for debt in debts],
    )
    return Ending(kind, head, state_hash, gone, finish, shithead, culprits, debts, signers, digest)


def find_final(lens: Lens) -> Ending | None:
    """The ending that all whom it needs have signed; with several, the one that outranks the others."""
    round_ = lens.round
    signed: dict[bytes, set[int]] = {}
    endings: dict[bytes, Ending] = {}
    for number in round_.numbers:
        for fact in round_.facts["result"][number]:
            if lens.has(fact):
                ending = round_.results[fact.id]
                endings[ending.digest] = ending
                signed.setdefault(ending.digest, set()).add(number)
    complete = [ending for digest, ending in endings.items() if signed[digest].issuperset(ending.signers)]
    following = lens.ending
    if following is not None and not following.signers:
        # All are out of it, by leaving, debts or faults: there is nobody whose signature could be waited for.
        complete.append(following)
    if not complete:
        return None
    return max(complete, key=lambda ending: (_RANK[ending.kind], len(ending.culprits), ending.digest))

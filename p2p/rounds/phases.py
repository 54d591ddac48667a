"""The phases of a round and who may write what in each: data, no code (docs/protocol.md, phases).

The phase meant is always the one that the past of the entry shows, never the one at the moment of arrival.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Phase(StrEnum):
    """Where a round stands."""

    OFFER = "offer"
    KEYS = "keys"
    PREPARE = "prepare"
    DEAL = "deal"
    ARRANGE = "arrange"
    START = "start"
    PLAY = "play"
    OPENING = "opening"
    ENDING = "ending"
    REVEAL = "reveal"
    CLOSED = "closed"
    DEAD = "dead"


def goes_on(phase: Phase) -> bool:
    """Whether a round in this phase is still being played (its ending has not been signed by all)."""
    return phase not in (Phase.CLOSED, Phase.DEAD, Phase.REVEAL)


class Who(StrEnum):
    """Whose entry it may be; checked before the guard of the kind."""

    ROSTER = "anyone on the roster"
    NEXT_SHUFFLER = "the next of the roster to shuffle"
    SHUFFLER = "one who has shuffled"
    ASKED = "the seat asked"
    IN_TURN = "the seat in turn"


class Row(NamedTuple):
    """One cell of the table: who may write the kind in the phase, and the phases it can lead to."""

    who: Who
    leads_to: tuple[Phase, ...]


_P = Phase
_W = Who

TABLE: Final[dict[tuple[Phase, str], Row]] = {
    (_P.OFFER, "accept"): Row(_W.ROSTER, (_P.OFFER, _P.KEYS)),
    (_P.OFFER, "decline"): Row(_W.ROSTER, (_P.DEAD,)),
    (_P.OFFER, "leave"): Row(_W.ROSTER, (_P.DEAD,)),
    (_P.KEYS, "key"): Row(_W.ROSTER, (_P.KEYS, _P.PREPARE)),
    (_P.KEYS, "leave"): Row(_W.ROSTER, (_P.DEAD,)),
    (_P.PREPARE, "deck"): Row(_W.NEXT_SHUFFLER, (_P.PREPARE,)),
    (_P.PREPARE, "proof"): Row(_W.SHUFFLER, (_P.PREPARE, _P.DEAD)),
    (_P.PREPARE, "agreed"): Row(_W.ROSTER, (_P.PREPARE, _P.DEAL)),
    (_P.PREPARE, "leave"): Row(_W.ROSTER, (_P.DEAD,)),
    (_P.DEAL, "shares"): Row(_W.ROSTER, (_P.DEAL, _P.ARRANGE)),
    (_P.DEAL, "leave"): Row(_W.ROSTER, (_P.ENDING,)),
    (_P.ARRANGE, "swap"): Row(_W.ROSTER, (_P.ARRANGE,)),
    (_P.ARRANGE, "choose"): Row(_W.ROSTER, (_P.ARRANGE,)),
    (_P.ARRANGE, "ready"): Row(_W.ROSTER, (_P.ARRANGE, _P.START, _P.PLAY, _P.OPENING)),
    (_P.ARRANGE, "leave"): Row(_W.ROSTER, (_P.ENDING,)),
    (_P.START, "declare"): Row(_W.ASKED, (_P.PLAY,)),
    (_P.START, "pass"): Row(_W.ASKED, (_P.START, _P.PLAY)),
    (_P.START, "leave"): Row(_W.ROSTER, (_P.ENDING,)),
    (_P.PLAY, "move"): Row(_W.IN_TURN, (_P.PLAY, _P.OPENING, _P.ENDING)),
    (_P.PLAY, "shares"): Row(_W.ROSTER, (_P.PLAY,)),
    (_P.PLAY, "leave"): Row(_W.ROSTER, (_P.ENDING,)),
    (_P.OPENING, "shares"): Row(_W.ROSTER, (_P.OPENING, _P.START, _P.PLAY, _P.ENDING)),
    (_P.OPENING, "leave"): Row(_W.ROSTER, (_P.ENDING,)),
    (_P.ENDING, "result"): Row(_W.ROSTER, (_P.ENDING, _P.REVEAL, _P.CLOSED)),
    (_P.ENDING, "leave"): Row(_W.ROSTER, (_P.ENDING, _P.REVEAL, _P.CLOSED)),
    (_P.REVEAL, "result"): Row(_W.ROSTER, (_P.REVEAL, _P.CLOSED)),
    (_P.REVEAL, "reveal"): Row(_W.ROSTER, (_P.REVEAL, _P.CLOSED)),
    (_P.REVEAL, "leave"): Row(_W.ROSTER, (_P.REVEAL,)),
    (_P.CLOSED, "result"): Row(_W.ROSTER, (_P.CLOSED, _P.REVEAL)),
    (_P.CLOSED, "reveal"): Row(_W.ROSTER, (_P.CLOSED,)),
    (_P.CLOSED, "leave"): Row(_W.ROSTER, (_P.CLOSED,)),
    # A dead attempt: what its members were just writing is void, and a breach only where it lies.
    (_P.DEAD, "accept"): Row(_W.ROSTER, (_P.DEAD,)),
    (_P.DEAD, "decline"): Row(_W.ROSTER, (_P.DEAD,)),
    (_P.DEAD, "key"): Row(_W.ROSTER, (_P.DEAD,)),
    (_P.DEAD, "deck"): Row(_W.NEXT_SHUFFLER, (_P.DEAD,)),
    (_P.DEAD, "proof"): Row(_W.SHUFFLER, (_P.DEAD,)),
    (_P.DEAD, "leave"): Row(_W.ROSTER, (_P.DEAD,)),
}
"""Every pair that is allowed; any other is a breach of its author, named by ``refusal``."""

_BEFORE_AGREED: Final = frozenset({Phase.OFFER, Phase.KEYS, Phase.PREPARE, Phase.DEAD})


def refusal(phase: Phase, kind: str) -> str:
    """The fault code of a pair that ``TABLE`` does not hold."""
    if kind == "shares" and phase in _BEFORE_AGREED:
        return "share_before_agreed"
    if kind == "agreed" and phase in _BEFORE_AGREED:
        return "bad_agreed"
    if kind in ("accept", "decline"):
        return "second_accept"
    if kind == "result" and phase not in _BEFORE_AGREED:
        return "bad_result"
    return "bad_kind"

"""What leaving now would mean, for the question before it and the word after it (pure)."""

from __future__ import annotations

from typing import Final

from client.view import Stage, View
from p2p.rounds.ending import FORFEIT_PLAYERS

_GOING: Final = frozenset({Stage.DEALING, Stage.ARRANGE, Stage.START, Stage.PLAY, Stage.OPENING})
"""Where leaving changes how the round ends."""


def what_leaving_does(view: View) -> str:
    """What becomes of the round if I leave now.

    ``""``: nothing, I am in none that goes on; ``deal``: it does not come about; ``lose``: I lose it; ``overdue``:
    the same, and giving it up for the other's debt would not; ``stop``: it ends for all, and counts for nobody.
    """
    if not view.in_round or view.stage not in _GOING:
        return ""
    deal = view.deal
    if view.stage is Stage.DEALING and (deal is None or deal.agreed < deal.players):
        return "deal"
    if len(view.roster) > FORFEIT_PLAYERS:
        return "stop"
    return "overdue" if view.overdue else "lose"


def bye_code(view: View) -> str:
    """The last word, as a code of ``client.phrases.SAID``, for who leaves a table that looked like ``view``."""
    match what_leaving_does(view):
        case "lose" | "overdue":
            return "bye_lose"
        case "stop":
            return "bye_stop"
        case _:
            return "bye"

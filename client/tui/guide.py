"""The guide of the first round: what somebody needs to know now who has never played, each thing once (pure).

It stands where the log is, so that nothing else has to move. A step is over when what it explains has been done.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from client.tui.cells import cut
from client.tui.hand import laid, picked_cards
from client.tui.keys import seats_bots
from client.tui.phrases import text
from client.tui.state import Ui
from client.view import Stage, View
from engine.state import Zone

PLAYED: Final = frozenset({"finished", "stalled"})
"""Ends of a round (``p2p.rounds.chain.Ending.kind``) after which it has been seen as a whole."""

NAME_CELLS: Final = 12
"""Of somebody at the door: the words of a step have little room."""

ROUND: Final = "round"
"""Among the steps that are over: that a whole round has been played."""


def step_of(view: View, ui: Ui) -> str:
    """The step for this moment: a code of ``client.tui.phrases`` after ``guide_``; empty for none."""
    if not ui.look.guide or ui.is_auto or ui.is_away:
        return ""
    step = _moment(view, ui)
    return "" if step in ui.guided else step


def guide_text(view: View, ui: Ui) -> str:
    """What is explained now; empty for nothing."""
    step = step_of(view, ui)
    if not step:
        return ""
    name = cut(view.door[0].name, NAME_CELLS) if view.door else ""
    return text(f"guide_{_form(step, view, ui)}", ui.look.style, name=name)


def _form(step: str, view: View, ui: Ui) -> str:
    """The code of a step after ``guide_``, in the form that is true just now."""
    match step:
        case "host" if view.door:
            return "host_door"
        case "host" if not seats_bots(view, ui):
            return "host_alone"
        case "turn" if not any(each.key == "." for each in laid(view, ui)):
            return "turn_all"
        case "over" if view.ending is not None and view.ending.kind not in PLAYED:
            return "over_stopped"
        case _:
            return step


def finished_step(before: View, after: View, ui: Ui) -> Ui:
    """The screen's state with the step marked as over that what has happened at the table has ended."""
    step = step_of(before, ui)
    moved = before.my_turn and before.stamp != after.stamp and before.stage is Stage.PLAY
    if not step or not (moved or before.stage is not after.stage or before.my_turn is not after.my_turn):
        return ui
    # Whoever has played has picked and sent, whichever of the two was on the screen last.
    done = {"turn", "send"} if step == "send" else {step}
    return replace(ui, guided=ui.guided | done)


def _moment(view: View, ui: Ui) -> str:
    match view.stage:
        case Stage.LOBBY:
            return "host" if view.i_host else "guest"
        case Stage.OFFER if view.asked:
            return "offer"
        case Stage.DEALING:
            return "deal"
        case Stage.PLAY if view.my_turn:
            return _my_turn(view, ui)
        case Stage.PLAY | Stage.OPENING if view.zone is not None:
            return "wait"
        case Stage.PLAY | Stage.OPENING if view.my_seat is not None:
            return "out"
        case Stage.OVER if view.ending is not None:
            return "over"
        case _:
            return ""


def _my_turn(view: View, ui: Ui) -> str:
    """What my turn is about, what is rare before what comes every time."""
    kinds = {choice.kind for choice in view.choices}
    if view.zone is Zone.DOWNCARDS:
        return "blind"
    if not kinds & {"play", "play_as", "chance"}:
        return "take" if "pick_up" in kinds else ""
    several = any(choice.kind == "play" and choice.count > 1 for choice in view.choices)
    burns = any(choice.outcome is not None and choice.outcome.burns for choice in view.choices)
    holds = {
        "upcards": view.zone is Zone.UPCARDS,
        "send": bool(picked_cards(view, ui)),
        "turn": True,
        "several": several,
        "burn": burns,
    }
    return next((step for step, is_so in holds.items() if is_so and step not in ui.guided), "")

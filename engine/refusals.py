"""Refusals that several kinds of moves share."""

from __future__ import annotations

from engine.cards import card_text
from engine.errors import RuleError
from engine.state import GameState, Phase


def wrong_phase(state: GameState) -> RuleError:
    """The move belongs to another phase."""
    template = {
        Phase.DEAL: "The cards are still being dealt.",
        Phase.ARRANGE: "Play has not begun: players are arranging their cards.",
        Phase.DECLARE: "Play has not begun: it is being found out who leads.",
        Phase.PLAY: "That can't be done any more: play has begun.",
        Phase.OVER: "The round is over.",
    }[state.phase]
    return RuleError("wrong_phase", template, phase=state.phase.value)


def not_allowed(what: str) -> RuleError:
    """The rule set has no such move."""
    return RuleError("not_allowed", "These rules have no such move: {what}.", what=what)


def no_such_card() -> RuleError:
    """There is no card there, or nobody has seen it."""
    return RuleError("no_such_card", "There is no such card, or nobody has seen it yet.")


def card_shown(state: GameState, position: int) -> str:
    """The text of the card at ``position``."""
    return card_text(state.faces[position], state.packs)


def not_own(state: GameState, seat: int, positions: tuple[int, ...]) -> RuleError | None:
    """Refuse unless every position exists and belongs to ``seat``, in whichever zone."""
    for position in positions:
        if not 0 <= position < len(state.faces):
            return no_such_card()
    zones = (state.hands[seat], state.ups[seat], state.downs[seat])
    for position in positions:
        if not any(position in zone for zone in zones):
            return RuleError(
                "not_yours", "{seat} does not hold {card}.", seat=seat, card=card_shown(state, position)
            )
    return None


def not_seen(state: GameState, positions: tuple[int, ...]) -> RuleError | None:
    """Refuse unless the face at every position is known here."""
    if any(0 <= position < len(state.faces) and state.faces[position] < 0 for position in positions):
        return no_such_card()
    return None

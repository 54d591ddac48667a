"""Who owes what: the one place that says for whom a round is waiting (docs/protocol.md, who waits for whom)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from p2p.rounds.chain import Call, Deal, Node
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round


class Duty(NamedTuple):
    """Something that a roster number has to write before the round can go on."""

    number: int
    what: str
    """``accept``, ``key``, ``deck``, ``proof``, ``agreed``, ``shares`` (of the deal or of a draw), ``ready``,
    ``declare``, ``move``, ``flip`` (shares for a flipped card), ``result`` or ``reveal``."""


PERSONAL: Final = frozenset({"accept", "move", "ready"})
"""Duties that a person does, who may think about it; all others a program does at once."""


def limit_s(round_: Round, what: str) -> int:
    """After how many seconds of owing ``what`` a player's own program does it for them; 0: it waits for them."""
    turn_s, arrange_s, _ = round_.terms.limits
    match what:
        case "move":
            return turn_s
        case "ready":
            return arrange_s
        case _:
            return 0


def patience_s(round_: Round, duty: Duty) -> int:
    """For how many seconds a duty may be owed before others may give the round up.

    That is the grace, and before it whatever time the contract gives the player for it: nobody is given up while
    their own program would still come in.
    """
    return limit_s(round_, duty.what) + round_.terms.limits[2]


def duties(lens: Lens) -> tuple[Duty, ...]:
    """Everything owed in what the lens shows, in roster order."""
    found = sorted(set(_find(lens)))
    return tuple(found)


def _find(lens: Lens) -> Iterable[Duty]:
    round_ = lens.round
    match lens.phase:
        case Phase.OFFER:
            return _lacking(lens, "accept", round_.numbers)
        case Phase.KEYS:
            return _lacking(lens, "key", round_.numbers)
        case Phase.PREPARE:
            return _preparing(lens)
        case Phase.DEAL:
            return [
                Duty(number, "shares")
                for number in round_.numbers
                if not any(lens.has(fact) for fact in round_.deal_done.get(number, ()))
            ]
        case Phase.ARRANGE:
            return _lacking(lens, "ready", round_.numbers)
        case Phase.START | Phase.PLAY | Phase.OPENING:
            return _playing(lens)
        case Phase.ENDING:
            ending = lens.ending
            if ending is None:
                return []
            return [Duty(number, "result") for number in ending.signers if not _signed(lens, number)]
        case Phase.REVEAL:
            return _lacking(lens, "reveal", lens.revealers)
        case Phase.CLOSED | Phase.DEAD:
            return []


def _lacking(lens: Lens, kind: str, numbers: Iterable[int]) -> list[Duty]:
    return [Duty(number, kind) for number in numbers if lens.first(kind, number) is None]


def _signed(lens: Lens, number: int) -> bool:
    ending = lens.ending
    return ending is not None and any(
        lens.round.results[fact.id].digest == ending.digest for fact in lens.all("result", number)
    )


def _preparing(lens: Lens) -> list[Duty]:
    shuffler = lens.next_to_shuffle()
    found = [
        Duty(number, "proof")
        for number in lens.round.numbers
        if lens.first("deck", number) is not None and lens.first("proof", number) is None
    ]
    if shuffler is not None:
        found.append(Duty(shuffler, "deck"))
    elif not found:
        found = _lacking(lens, "agreed", lens.round.numbers)
    return found


def _playing(lens: Lens) -> list[Duty]:
    deal, tip, state = lens.agreement, lens.tip, lens.state
    if deal is None or tip is None or state is None:
        return []
    found = [Duty(number, "shares") for call in open_calls(lens) for number in owing(lens, deal, call)]
    if state.awaiting:
        return found + [Duty(number, "flip") for position in state.awaiting for number in lens.missing(position)]
    mover = deal.seats[state.turn]
    if lens.phase is Phase.START:
        return [*found, Duty(mover, "declare")]
    waits = any(lens.missing(position, besides=mover) for position in state.hands[state.turn])
    return found if waits else [*found, Duty(mover, "move")]


def duty_about(lens: Lens, duty: Duty) -> bytes:
    """What tells a debt from the next one of the same kind: its clock starts anew with each move.

    For shares it is the oldest call that they answer, else the last link of the chain; empty before play.
    """
    deal, tip = lens.agreement, lens.tip
    if deal is None or tip is None:
        return b""
    if duty.what == "shares":
        return next((call.cause for call in open_calls(lens) if duty.number in owing(lens, deal, call)), b"")
    return tip.id if duty.what in ("move", "declare", "flip") else b""


def owing(lens: Lens, deal: Deal, call: Call) -> tuple[int, ...]:
    """Who still owes a share for a call."""
    return lens.missing(call.position, besides=call.to)


def open_calls(lens: Lens) -> list[Call]:
    """Calls for drawn cards on the chain that are not met in what the lens shows."""
    if lens.of is None:
        return [call for call in lens.round.unmet if call.to is not None and _on_chain(lens, call)]
    found: list[Call] = []
    node: Node | None = lens.tip
    while node is not None:
        found.extend(call for call in node.calls if call.to is not None and lens.missing(call.position, call.to))
        node = node.parent
    return found


def _on_chain(lens: Lens, call: Call) -> bool:
    # Without a fork every node is on the chain; with one the round is over and nobody owes shares.
    node = lens.round.nodes.get(call.cause)
    return node is not None and lens.missing(call.position, call.to) != ()

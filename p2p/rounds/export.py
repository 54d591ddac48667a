"""From a saved round with open seeds to a text record of the game (docs/record.md).

What is written is what the entries say: the deck from everybody's seeds, the moves from the chain that all signed.
It is played once by the engine before it is handed out, so that a record never tells another round.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine import record as records
from engine.errors import RuleError, Sentence, ShitheadError
from engine.moves import Choose, Move, Open, Ready, Swap
from engine.record import Record, RecordError
from engine.state import GameState
from p2p.dealing import Dealing, ElGamalDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import signature_fits
from p2p.feeds.facts import Fact, body_of
from p2p.rounds.audit import all_faces, fold
from p2p.rounds.chain import Deal, Node
from p2p.rounds.news import moves_of
from p2p.rounds.round import Lens, Round
from p2p.rounds.roundfile import DamagedRound, RoundFile


class NoRecord(ShitheadError):
    """The round cannot be written down: its seeds are not open, or it did not go by the rules."""


def record_of(file: RoundFile, name: str, dealing: Dealing | None = None) -> Record:
    """The record of a saved round; ``name`` is for the sentences.

    Raises ``DamagedRound`` for entries that nobody signed, ``NoRecord`` (``not_revealed``, ``against_rules``).
    """
    values: dict[str, object] = {"file": name}
    if not all(map(signature_fits, file.entries)):
        raise DamagedRound(Sentence("entry_unsigned", "{file} holds entries that nobody signed so.", values))
    contract = file.head.contract
    start = next((entry for entry in file.entries if entry.id == contract and entry.kind == "start"), None)
    dealing = dealing or ElGamalDealing()
    folded = fold(file.entries, start.table, dealing, start.id) if start is not None else None
    round_ = folded.rounds.get(contract) if folded is not None else None
    if round_ is None:
        raise DamagedRound(Sentence("no_start", "The file does not hold the start of its round.", values))
    lens = round_.everything()
    deal, tip = lens.agreement, lens.tip
    faces = all_faces(round_, lens, deal, dealing) if deal is not None else None
    if deal is None or tip is None or faces is None:
        raise NoRecord(
            Sentence(
                "not_revealed",
                "The seeds of this round are not open, so that its cards can't be written down. "
                "They are opened when a round is played to its end.",
                values,
            )
        )
    record = _record(round_, lens, deal, tip, faces)
    _require_same(record, lens.state_at(tip), values)
    return record


def _record(round_: Round, lens: Lens, deal: Deal, tip: Node, faces: tuple[int, ...]) -> Record:
    names = [round_.names[number] for number in deal.seats]
    moves = [*_arranging(round_, lens, deal), *_playing(lens, tip)]
    eldest = deal.base.setup.drawn_eldest
    return records.from_moves(round_.rules, names, deal.dealer, faces, moves, eldest=eldest)


def _arranging(round_: Round, lens: Lens, deal: Deal) -> Iterator[Move]:
    """What each has done before being ready, one player after the other: any order comes to the same (R12)."""
    for number in round_.numbers:
        seat = deal.seat_of[number]
        for fact in lens.arrangements(number):
            yield _arranged(seat, fact)
        yield Ready(seat)


def _arranged(seat: int, fact: Fact) -> Move:
    if isinstance(fact.entry.body, e.Choose):
        return Choose(seat, tuple(fact.entry.body.positions))
    body = body_of(fact, e.Swap)
    return Swap(seat, body.hand, body.up)


def _playing(lens: Lens, tip: Node) -> list[Move]:
    path: list[Node] = []
    node: Node | None = tip
    while node is not None and node.parent is not None:
        path.append(node)
        node = node.parent
    found: list[Move] = []
    for node in reversed(path):
        if node.parent is not None:
            before = lens.state_at(node.parent)
            found.extend(move for move in moves_of(node, before) if not isinstance(move, Open))
    return found


def _require_same(record: Record, tip: GameState, values: dict[str, object]) -> None:
    """Refuses unless the engine, with all cards open, plays the record to where the table came."""
    try:
        *_, last = records.moments(record)
    except (RuleError, RecordError) as error:
        raise NoRecord(
            Sentence(
                "against_rules",
                "This round holds a move against the rules, so that it can't be written down: {reason} "
                "`shithead verify` says whose.",
                {**values, "reason": str(error)},
            )
        ) from error
    if _end(last.state) != _end(tip):
        raise NoRecord(
            Sentence("another_end", "This round does not come out the same when it is played again.", values)
        )


def _end(state: GameState) -> tuple[object, ...]:
    """How a round came out, and where its cards were then."""
    return (state.finish_order, state.shithead, state.result, state.pile, state.hands, state.action_count)


__all__ = ["NoRecord", "record_of"]

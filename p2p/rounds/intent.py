"""What a player wants, as the entry that says it (docs/protocol.md, moves)."""

from __future__ import annotations

from engine.moves import Chance, Choose, Done, Flip, Name, PickUp, Play, PlayAs, PlayerMove, Swap
from engine.moves import Declare as DeclareMove
from engine.moves import Pass as PassMove
from engine.moves import Ready as ReadyMove
from p2p.dealing import Dealing
from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.rounds.judge import chain_id
from p2p.rounds.round import Lens, Round


def body_of_move(
    dealing: Dealing, round_: Round, lens: Lens, number: int, seed: bytes, move: PlayerMove
) -> e.Body:
    """The entry of a move that the rules accept, with the shares of the cards that it lays open.

    Raises ``LocalProtocolError`` where there is no chain yet to move on.
    """
    contract = round_.contract
    match move:
        case ReadyMove():
            return e.Ready(contract)
        case Choose():
            return e.Choose(contract, list(move.positions))
        case PassMove():
            return e.Pass(contract)
        case Swap():
            shares, proof = _shares(dealing, round_, lens, number, seed, contract, [move.hand])[1:]
            return e.Swap(contract, move.hand, move.up, shares[0] if shares else b"", proof)
        case DeclareMove():
            shares, proof = _shares(dealing, round_, lens, number, seed, contract, [move.position])[1:]
            return e.Declare(contract, move.position, shares[0] if shares else b"", proof)
    tip = lens.tip
    if tip is None or lens.state is None:
        raise LocalProtocolError("not_playing", "There is nothing to play at the moment.")
    parent = chain_id(round_, tip)
    places: list[int]
    wanted: list[int] = []
    match move:
        case Play():
            action, places = "play", list(move.positions)
            wanted = [p for p in places if p in lens.state.hands[move.seat]]
        case PlayAs():
            action, places = "play_as", [move.rank, *move.positions]
            wanted = [p for p in move.positions if p in lens.state.hands[move.seat]]
        case Chance():
            action, places = "chance", []
            wanted = list(lens.state.stock[:1])
        case Name():
            action, places = "name", [move.rank]
        case Done():
            action, places = "done", []
        case PickUp():
            action, places = "pick_up", list(move.upcards)
        case Flip():
            action, places = "flip", [move.slot]
            wanted = [lens.state.downs[move.seat][move.slot]]
        case _:
            raise LocalProtocolError("no_such_move", "This version has no such move.")
    positions, shares, proof = _shares(dealing, round_, lens, number, seed, parent, wanted)
    return e.Move(contract, tip.turn + 1, parent, lens.digest(tip), action, places, positions, shares, proof)


def _shares(
    dealing: Dealing, round_: Round, lens: Lens, number: int, seed: bytes, cause: bytes, wanted: list[int]
) -> tuple[list[int], list[bytes], bytes]:
    deal, state = lens.agreement, lens.state
    if deal is None or state is None:
        raise LocalProtocolError("not_playing", "There is nothing to play at the moment.")
    closed = sorted(position for position in set(wanted) if not state.is_public(position))
    if not closed:
        return [], [], b""
    (opening,), proof = dealing.shares(round_.ground, number, seed, deal.deck, [(cause, tuple(closed))])
    return closed, list(opening.shares), proof

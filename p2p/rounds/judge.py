"""The check of every entry of a round, on its past and on nothing else (docs/protocol.md, 7).

The same code runs live and in the audit. A check that fails raises ``Breach`` with the code of the fault; a
check that needs proofs which nobody has verified yet raises ``Unverified``, and is made again when they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from engine import game
from engine.errors import RuleError
from engine.moves import Chance, Done, Flip, Name, PickUp, Play, PlayAs, PlayerMove
from engine.moves import Choose as ChooseMove
from engine.moves import Declare as DeclareMove
from engine.moves import Open as OpenFace
from engine.moves import Pass as PassMove
from engine.moves import Ready as ReadyMove
from engine.moves import Swap as SwapMove
from engine.state import GameState
from p2p.dealing import KeyPart, Opening
from p2p.dealing.derive import coin_commitment, seed_commitment
from p2p.feeds import entries as e
from p2p.feeds.facts import Fact, body_of
from p2p.feeds.faults import Breach, Fault
from p2p.rounds.chain import Call, Deal, DeckStep, Node
from p2p.rounds.duties import duties
from p2p.rounds.phases import TABLE, Who, refusal
from p2p.rounds.round import MAX_SWAPS, Lens, Round

JUDGED_IN_FOREIGN_ROUNDS: Final = frozenset({"accept", "decline", "leave"})
"""What means the same whatever the rules are. By other rules nobody can be judged, nor blamed."""


class Unverified(Exception):
    """The check has to wait: proofs in the entry's past have not been verified yet."""


def judge(round_: Round, fact: Fact) -> None:
    """Checks one entry of a round on its past and takes it into the round.

    A breach becomes a fault of the round; what a culprit writes after its breach is void. Raises
    ``Unverified`` (and changes nothing) when proofs have to be checked first.
    """
    number = round_.number_of.get(fact.author)
    lens = Lens(round_, fact)
    if number is None or not round_.feeds.in_past(fact, round_.start):
        # Not on the roster, or written without having seen the offer: it means nothing to the round.
        return
    if _is_void(round_, fact) or (round_.is_foreign and fact.entry.kind not in JUDGED_IN_FOREIGN_ROUNDS):
        return
    try:
        _check(round_, lens, fact, number)
    except Breach as breach:
        fault = Fault(fact.author, breach.code, (fact.id,), fact.seq, fact.entry.kind, breach.reason)
        round_.faults.append((fault, (fact,)))
    finally:
        round_.changed()


def _is_void(round_: Round, fact: Fact) -> bool:
    # A bad proof makes nothing void: when it is found out hangs on when it is checked, and what counts must not.
    return any(
        fault.player == fact.author
        and fault.code not in ("fork", "bad_proof")
        and round_.feeds.in_past(fact, evidence[0])
        for fault, evidence in round_.faults
    )


def _check(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    kind = fact.entry.kind
    if isinstance(fact.entry.body, e.Malformed):
        raise Breach("bad_schema", fact.entry.body.reason)
    if kind == "agreed" and lens.unverified:
        raise Unverified
    row = TABLE.get((lens.phase, kind))
    if row is None:
        raise Breach(refusal(lens.phase, kind))
    _check_author(lens, kind, number, row.who)
    accept = lens.first("accept", number)
    if accept is not None and fact.seq - accept.seq >= round_.most_entries:
        raise Breach("bad_kind", "too many entries in one round")
    _GUARDS[kind](round_, lens, fact, number)
    round_.facts[kind][number].append(fact)


def _check_author(lens: Lens, kind: str, number: int, who: Who) -> None:
    match who:
        case Who.ROSTER:
            return
        case Who.NEXT_SHUFFLER:
            if lens.next_to_shuffle() != number:
                raise Breach("bad_kind", "not this player's turn to shuffle")
        case Who.SHUFFLER:
            if lens.first("deck", number) is None:
                raise Breach("bad_kind", "a proof without a deck")
        case Who.ASKED | Who.IN_TURN:
            deal, state = lens.agreement, lens.state
            if deal is None or state is None or deal.seats[state.turn] != number:
                raise Breach("bad_kind" if who is Who.ASKED else "illegal_move", "not in turn")


# -- before the deal -----------------------------------------------------------------------------


def _accept(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    if lens.first("accept", number) is not None or lens.first("decline", number) is not None:
        raise Breach("second_accept")


def _decline(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    if lens.first("accept", number) is not None or lens.first("decline", number) is not None:
        raise Breach("second_accept")


def _key(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    body = body_of(fact, e.Key)
    accept = lens.first("accept", number)
    if lens.first("key", number) is not None:
        raise Breach("bad_kind", "a second key")
    if accept is None or len(lens.each("accept")) < round_.players:
        raise Breach("bad_kind", "a key before all had accepted")
    if body_of(accept, e.Accept).coin_commitment != coin_commitment(round_.contract, number, body.coin):
        raise Breach("bad_commitment")
    part = KeyPart(body.x, body.y, body.proof)
    if not round_.on_trust(fact) and not round_.dealing.check_key(round_.ground, number, part):
        raise Breach("bad_key")


def _deck(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    body = body_of(fact, e.Deck)
    keys = lens.each("key")
    if len(keys) < round_.players:
        raise Breach("bad_kind", "a deck before all keys were there")
    ordered = tuple(keys[n] for n in round_.numbers)
    previous: DeckStep | None = None
    if number:
        before = lens.first("deck", number - 1)
        previous = round_.decks.get(before.id) if before is not None else None
        if previous is None or before is None or body.previous != before.id:
            raise Breach("bad_deck", "not on top of the deck before")
        if previous.keys != ordered:
            raise Breach("bad_deck", "under other keys than the deck before")
        joint, deck_in = previous.joint, previous.deck_out
    else:
        if body.previous:
            raise Breach("bad_deck", "the first deck has none before it")
        try:
            joint = round_.dealing.joint_key([body_of(key, e.Key).x for key in ordered])
            deck_in = round_.dealing.first_deck(round_.ground, joint)
        except ValueError:
            # All of a roster together can do this, for instance one program with two seats, before bystanders.
            raise Breach("bad_deck", "the keys cancel out") from None
    if not round_.on_trust(fact) and not round_.dealing.check_deck(round_.ground, body.deck):
        raise Breach("bad_deck", "not made of valid points")
    round_.decks[fact.id] = DeckStep(fact, number, joint, ordered, previous, deck_in, body.deck)


def _proof(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    if lens.first("proof", number) is not None:
        raise Breach("bad_kind", "a second proof")
    step = lens.deck_of(number)
    if step is None:
        raise Breach("bad_kind", "a proof without a deck")
    round_.proven[fact.id] = step


def _agreed(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    if lens.first("agreed", number) is not None:
        raise Breach("bad_agreed", "a second agreement")
    deal = lens.agreed_deal()
    if deal is None or deal.digest != body_of(fact, e.Agreed).digest:
        raise Breach("bad_agreed")
    round_.deals.setdefault(deal.digest, deal)


# -- cards ---------------------------------------------------------------------------------------


def _shares(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    deal = lens.agreement
    if deal is None:
        raise Breach("share_before_agreed")
    body = body_of(fact, e.Shares)
    openings = []
    named: set[int] = set()
    for cause, positions, shares in body.openings:
        if len(positions) != len(shares) or any(a >= b for a, b in pairwise(positions)):
            raise Breach("bad_schema", "positions do not ascend, or not one share for each")
        called = _called(round_, lens, deal, cause)
        for position in positions:
            call = called.get(position)
            if call is None or call.to == number or position in named:
                raise Breach("uncalled_share")
            if lens.share(number, position) is not None:
                raise Breach("uncalled_share", "given before")
            named.add(position)
        openings.append(Opening(cause, tuple(positions), tuple(shares)))
    if not _are_shares(round_, fact, number, deal, openings, body.proof):
        raise Breach("bad_share")
    for opening in openings:
        for position, share in zip(opening.positions, opening.shares, strict=True):
            round_.given.setdefault((number, position), []).append((fact, share))
    _note_deal_done(round_, deal, fact, number)
    if round_.unmet:
        everything = Lens(round_, None)
        round_.unmet = [c for c in round_.unmet if everything.missing(c.position, c.to)]


def _are_shares(
    round_: Round, fact: Fact, number: int, deal: Deal, openings: Sequence[Opening], proof: bytes
) -> bool:
    """Whether the shares are the author's. Of one's own it is known: they cost as much to check as to make."""
    if round_.on_trust(fact):
        return True
    return round_.dealing.check_shares(round_.ground, number, deal.x[number], deal.deck, openings, proof)


def _called(round_: Round, lens: Lens, deal: Deal, cause: bytes) -> dict[int, Call]:
    if cause == round_.contract:
        return {call.position: call for call in deal.calls}
    root = lens.root
    if root is not None and root.calls and cause == root.calls[0].cause:
        return {call.position: call for call in root.calls}
    node = round_.nodes.get(cause)
    if node is None or node.fact is None or not lens.has(node.fact):
        return {}
    return {call.position: call for call in node.calls}


def _note_deal_done(round_: Round, deal: Deal, fact: Fact, number: int) -> None:
    done = round_.deal_done.setdefault(number, [])
    if any(round_.feeds.in_past(fact, earlier) for earlier in done):
        return
    own = Lens(round_, fact)
    if all(own.share(number, position) is not None for position in deal.owed[number]):
        done.append(fact)


def _open_own(
    round_: Round,
    lens: Lens,
    fact: Fact,
    number: int,
    state: GameState,
    cause: bytes,
    positions: Sequence[int],
    shares: Sequence[bytes],
    proof: bytes,
    wanted: Sequence[int],
) -> GameState:
    """Opens the author's own closed cards among ``wanted``, which the entry has to bring shares for."""
    deal = lens.agreement
    closed = tuple(sorted(p for p in set(wanted) if p < len(state.faces) and not state.is_public(p)))
    if deal is None or tuple(positions) != closed or len(shares) != len(closed):
        raise Breach("bad_schema", "not exactly the shares for the closed cards")
    if not closed:
        if proof:
            raise Breach("bad_schema", "a proof for nothing")
        return state
    opening = Opening(cause, tuple(positions), tuple(shares))
    if not _are_shares(round_, fact, number, deal, [opening], proof):
        raise Breach("bad_share")
    for position, share in zip(positions, shares, strict=True):
        if lens.share(number, position) is not None or lens.missing(position, besides=number):
            raise Breach("illegal_move", "a card that its author cannot know")
        face = lens.face(deal, position, (number, share))
        if face is None:
            raise Breach("bad_share", "no such card")
        try:
            state = game.apply(state, OpenFace(position, face))
        except RuleError as error:
            raise Breach("illegal_move", error.code) from None
    return state


def _keep_shares(
    round_: Round, fact: Fact, number: int, positions: Sequence[int], shares: Sequence[bytes]
) -> None:
    for position, share in zip(positions, shares, strict=True):
        round_.given.setdefault((number, position), []).append((fact, share))


def _apply(state: GameState, move: PlayerMove, code: str) -> GameState:
    try:
        return game.apply(state, move)
    except RuleError as error:
        raise Breach(code, error.code) from None


# -- rearranging and the start -------------------------------------------------------------------


def _swap(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    body = body_of(fact, e.Swap)
    deal, state = lens.agreement, lens.arranged_by(number)
    if deal is None or state is None:
        raise Breach("bad_kind")
    if lens.first("ready", number) is not None:
        raise Breach("illegal_move", "already_ready")
    if len(lens.arrangements(number)) >= MAX_SWAPS:
        raise Breach("illegal_move", "too many swaps")
    seat = deal.seat_of[number]
    if body.hand not in state.hands[seat]:
        raise Breach("illegal_move", "not_yours")
    positions = [body.hand] if body.share else []
    shares = [body.share] if body.share else []
    state = _open_own(
        round_, lens, fact, number, state, round_.contract, positions, shares, body.proof, [body.hand]
    )
    state = _apply(state, SwapMove(seat, body.hand, body.up), "illegal_move")
    _keep_shares(round_, fact, number, positions, shares)
    round_.arranged[fact.id] = state


def _choose(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    deal, state = lens.agreement, lens.arranged_by(number)
    if deal is None or state is None:
        raise Breach("bad_kind")
    if lens.first("ready", number) is not None:
        raise Breach("illegal_move", "already_ready")
    if len(lens.arrangements(number)) >= MAX_SWAPS:
        raise Breach("illegal_move", "too many choices")
    move = ChooseMove(deal.seat_of[number], tuple(body_of(fact, e.Choose).positions))
    round_.arranged[fact.id] = _apply(state, move, "illegal_move")


def _ready(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    if lens.first("ready", number) is not None:
        raise Breach("bad_kind", "ready twice")
    deal, state = lens.agreement, lens.arranged_by(number)
    if deal is None or state is None:
        raise Breach("bad_kind")
    _apply(state, ReadyMove(deal.seat_of[number]), "illegal_move")


def _declare(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    body = body_of(fact, e.Declare)
    deal, tip, state = lens.agreement, lens.tip, lens.state
    if deal is None or tip is None or state is None:
        raise Breach("bad_kind")
    seat = deal.seat_of[number]
    if body.position not in state.hands[seat] and body.position not in state.ups[seat]:
        raise Breach("bad_declare", "not_yours")
    positions = [body.position] if body.share else []
    shares = [body.share] if body.share else []
    state = _open_own(
        round_, lens, fact, number, state, round_.contract, positions, shares, body.proof, [body.position]
    )
    state = _apply(state, DeclareMove(seat, body.position), "bad_declare")
    _keep_shares(round_, fact, number, positions, shares)
    round_.add_node(Node(fact, tip, state, tip.turn))


def _pass(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    deal, tip, state = lens.agreement, lens.tip, lens.state
    if deal is None or tip is None or state is None:
        raise Breach("bad_kind")
    state = _apply(state, PassMove(deal.seat_of[number]), "bad_declare")
    round_.add_node(Node(fact, tip, state, tip.turn))


# -- play ----------------------------------------------------------------------------------------


def _move(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    body = body_of(fact, e.Move)
    deal, tip, before = lens.agreement, lens.tip, lens.state
    if deal is None or tip is None or before is None:
        raise Breach("bad_kind")
    if body.parent != chain_id(round_, tip):
        raise Breach("illegal_move", "not on the last move")
    if body.turn != tip.turn + 1:
        raise Breach("illegal_move", "wrong turn number")
    if body.digest != lens.digest(tip):
        raise Breach("bad_digest")
    seat = deal.seat_of[number]
    move, wanted = _read_action(body, seat, before)
    state = before
    if isinstance(move, Flip | Chance):
        # The mover's own share comes with the card turned up; the others' are called for by it.
        _check_flip_share(round_, fact, deal, number, body, wanted)
    else:
        if any(position not in before.hands[seat] for position in body.positions):
            raise Breach("illegal_move", "not_yours")
        state = _open_own(
            round_,
            lens,
            fact,
            number,
            state,
            body.parent,
            body.positions,
            body.shares,
            body.proof,
            [position for position in wanted if position in before.hands[seat]],
        )
    after = _apply(state, move, "illegal_move")
    _keep_shares(round_, fact, number, body.positions, body.shares)
    calls = calls_of(fact.id, before, after, number)
    round_.add_node(Node(fact, tip, after, body.turn, calls))
    round_.unmet.extend(calls)


def chain_id(round_: Round, node: Node) -> bytes:
    """What the next move names as its parent: the last link, or the contract before there is one."""
    return node.id or round_.contract


def _read_action(body: e.Move, seat: int, before: GameState) -> tuple[PlayerMove, tuple[int, ...]]:
    """The engine's move, and the positions whose faces it needs."""
    match body.action:
        case "play":
            return Play(seat, tuple(body.places)), tuple(body.places)
        case "play_as" if len(body.places) > 1:
            return PlayAs(seat, tuple(body.places[1:]), body.places[0]), tuple(body.places[1:])
        case "chance" if not body.places:
            if not before.stock:
                raise Breach("illegal_move", "empty_stock")
            return Chance(seat), before.stock[:1]
        case "name" if len(body.places) == 1:
            return Name(seat, body.places[0]), ()
        case "done" if not body.places:
            return Done(seat), ()
        case "pick_up":
            return PickUp(seat, tuple(body.places)), ()
        case "flip" if len(body.places) == 1:
            slots = before.downs[seat]
            slot = body.places[0]
            if slot >= len(slots) or slots[slot] < 0:
                raise Breach("illegal_move", "bad_slot")
            return Flip(seat, slot), (slots[slot],)
        case _:
            raise Breach("bad_schema", "no such action")


def _check_flip_share(
    round_: Round, fact: Fact, deal: Deal, number: int, body: e.Move, wanted: tuple[int, ...]
) -> None:
    if tuple(body.positions) != wanted or len(body.shares) != 1:
        raise Breach("bad_schema", "a card turned up comes with one share, for itself")
    opening = Opening(body.parent, wanted, tuple(body.shares))
    if not _are_shares(round_, fact, number, deal, [opening], body.proof):
        raise Breach("bad_share")


def calls_of(cause: bytes, before: GameState, after: GameState, number: int) -> tuple[Call, ...]:
    """The shares that a move calls for: cards drawn, to the mover; a flipped card, to all (D15)."""
    drawn = before.stock[: len(before.stock) - len(after.stock)]
    return (
        *(Call(cause, position, number) for position in drawn),
        *(Call(cause, position, None) for position in after.awaiting),
    )


# -- endings -------------------------------------------------------------------------------------


def _result(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    body = body_of(fact, e.Result)
    earlier = lens.all("result", number)
    ending = lens.ending
    if ending is None or ending.digest != body.ending:
        # A result may also join an ending that all others have made final.
        ending = lens.final if lens.final is not None and lens.final.digest == body.ending else None
    if ending is None:
        raise Breach("bad_result")
    if any(round_.results[one.id].digest == body.ending for one in earlier):
        raise Breach("bad_result", "signed twice")
    round_.results[fact.id] = ending


def _reveal(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    accept = lens.first("accept", number)
    seed = body_of(fact, e.Reveal).seed
    if lens.first("reveal", number) is not None:
        raise Breach("bad_kind", "revealed twice")
    if accept is None or (
        body_of(accept, e.Accept).seed_commitment != seed_commitment(round_.contract, number, seed)
    ):
        raise Breach("bad_commitment")
    deal, step = lens.agreement, lens.deck_of(number)
    if deal is None or step is None:
        raise Breach("bad_kind")
    if round_.on_trust(fact):
        return
    key = body_of(deal.last.keys[number], e.Key)
    shares = {
        position: share
        for position in range(round_.ground.deck_size)
        if (share := lens.share(number, position)) is not None
    }
    wrong = round_.dealing.audit_seed(
        round_.ground,
        number,
        seed,
        deal.joint,
        KeyPart(key.x, key.y, key.proof),
        step.deck_in,
        step.deck_out,
        deal.deck,
        shares,
    )
    if wrong:
        ids = tuple(sorted((accept.id, step.fact.id, fact.id)))
        round_.on_record.append(Fault(fact.author, "not_by_seed", ids, fact.seq, "reveal", ", ".join(wrong)))


def _leave(round_: Round, lens: Lens, fact: Fact, number: int) -> None:
    owed = duties(lens)
    named = body_of(fact, e.Leave).owed
    round_.debts[fact.id] = tuple(sorted({(n, what) for n, what in named if n != number and (n, what) in owed}))


_GUARDS: Final[dict[str, Callable[[Round, Lens, Fact, int], None]]] = {
    "accept": _accept,
    "decline": _decline,
    "key": _key,
    "deck": _deck,
    "proof": _proof,
    "agreed": _agreed,
    "shares": _shares,
    "swap": _swap,
    "choose": _choose,
    "ready": _ready,
    "declare": _declare,
    "pass": _pass,
    "move": _move,
    "result": _result,
    "reveal": _reveal,
    "leave": _leave,
}

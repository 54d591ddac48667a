"""Cheats: what a changed program could sign, each as one function that makes a peer do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.rounds.phases import Phase
from tests.p2p.peers import Peer, Table
from tests.p2p.recorded import is_in


def flipped(data: bytes, at: int = 0) -> bytes:
    """The bytes with one bit changed."""
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def changed(body: e.Body, **values: object) -> e.Body:
    """The body with other values."""
    return msgspec.structs.replace(body, **values)


@dataclass
class Cheat:
    """A cheat: the fault code everyone has to find, and how it is done."""

    name: str
    code: str
    rig: Callable[[Table, Peer], None] = lambda table, peer: None
    """Called before the offer."""
    when: Callable[[Peer], bool] | None = None
    """If set, ``strike`` is called once this holds for the cheater (all being quiet)."""
    strike: Callable[[Table, Peer], None] = lambda table, peer: None
    before_agreed: bool | None = False
    """Whether the attempt dies, no share having left anybody. None: it dies or ends as faulted, for a deck
    that all have checked."""
    ends: bool | None = True
    """Whether it makes the round end as faulted; a false seed comes too late for that. None: that depends on
    who has seen the finish settled before."""
    real: bool = False
    """Whether to try it with the real deal too."""
    players: tuple[int, ...] = field(default=(2, 3, 5))

    def __str__(self) -> str:
        return self.name


def on(kind: type[e.Body], change: Callable[[Peer, Any], e.Body]) -> Callable[[Table, Peer], None]:
    """Rigs a peer to change the first body of a kind that it writes."""

    def rig(table: Table, peer: Peer) -> None:
        done: list[bool] = []

        def write(peer: Peer, body: e.Body) -> Iterable[e.Body]:
            if isinstance(body, kind) and not done:
                done.append(True)
                return [change(peer, body)]
            return [body]

        peer.on_write = write

    return rig


def raw(kind: str, *rest: object) -> Callable[[Table, Peer], None]:
    """Strikes with a raw body of the round under a kind."""

    def strike(table: Table, peer: Peer) -> None:
        peer.put(peer.sign_raw(kind, [peer.round.contract, *rest]))  # type: ignore[list-item]

    return strike


def in_turn(peer: Peer) -> bool:
    """Whether the peer can move now."""
    if not is_in(peer, Phase.PLAY):
        return False
    state = peer.state()
    return state.turn == peer.seat and all(state.faces[p] >= 0 for p in state.hands[peer.seat])


def instead_of_moving(change: Callable[[Peer, e.Move], e.Body]) -> Callable[[Table, Peer], None]:
    """Strikes with a move that is legal but for what is changed."""

    def strike(table: Table, peer: Peer) -> None:
        peer.write(change(peer, legal_move(table, peer)))

    return strike


def legal_move(table: Table, peer: Peer) -> e.Move:
    """The body of a legal play of the peer in turn."""
    from engine import game
    from engine.moves import PickUp, Play

    options = list(game.actions(peer.state()))
    plays = [move for move in options if isinstance(move, Play)] or [m for m in options if isinstance(m, PickUp)]
    body = peer.session.intend((plays or options)[0])
    assert isinstance(body, e.Move)
    return body


def uncalled(table: Table, peer: Peer) -> None:
    """A valid share for the top card of the stock, which nobody has asked for."""
    round_ = peer.round
    deal = round_.everything().agreement
    secret = peer.session._own[round_.contract].seed
    number = round_.number_of[peer.me]
    position = deal.base.stock[0]
    openings, proof = peer.dealing.shares(
        round_.ground, number, secret, deal.deck, [(round_.contract, (position,))]
    )
    listed = [(one.cause, list(one.positions), list(one.shares)) for one in openings]
    peer.write(e.Shares(round_.contract, [], listed, proof))


def early_share(table: Table, peer: Peer) -> None:
    """A share while the deck is being made."""
    contract = peer.round.contract
    peer.write(e.Shares(contract, [], [(contract, [0], [bytes(32)])], bytes(96)))


def doubled_card(peer: Peer, body: e.Deck) -> e.Body:
    """The first card in place of the second one."""
    size = len(body.deck) // peer.round.ground.deck_size
    return changed(body, deck=body.deck[:size] + body.deck[:size] + body.deck[2 * size :])


def lying_seen(table: Table, peer: Peer) -> None:
    """Names two entries of one feed, the one before the other."""
    other = next(one for one in table.peers if one is not peer)
    line = peer.session.feeds.line[other.me]
    named = tuple(sorted((line[-1].id, line[-2].id)))
    peer.put(peer.sign_raw("leave", [peer.round.contract, []], seen=named))


def seen_itself(table: Table, peer: Peer) -> None:
    """Names an entry of its own."""
    own = peer.session.feeds.line[peer.me][-1].id
    peer.put(peer.sign_raw("leave", [peer.round.contract, []], seen=(own,)))


def second_version(table: Table, peer: Peer, entry: Entry, body: e.Body) -> None:
    """Hands one version of an entry to some, and another one to the others."""
    other = peer.sign_again(entry, body)
    me = table.peers.index(peer)
    others = [number for number in range(len(table.peers)) if number != me]
    fooled = set(others[len(others) // 2 :])
    passes = table.filter

    def route(source: int, target: int, passed: Entry) -> bool:
        # The cheater itself sends each one only its version; what others hold they pass on.
        if source == me and passed.author == peer.me:
            if passed.id == entry.id and target in fooled and len(others) > 1:
                return False
            if passed.id == other.id and target not in fooled:
                return False
        return passes(source, target, passed)

    table.filter = route
    peer.put(other)


def fork_of(kind: str, change: Callable[[Peer, Any], e.Body]) -> Callable[[Table, Peer], None]:
    """Rigs a peer to sign the first entry of a kind twice, for different peers."""

    def rig(table: Table, peer: Peer) -> None:
        put = peer.put
        done: list[bool] = []

        def doubling(entry: Entry) -> Entry:
            put(entry)
            if entry.kind == kind and not done:
                done.append(True)
                second_version(table, peer, entry, change(peer, entry.body))
            return entry

        peer.put = doubling  # type: ignore[method-assign]

    return rig


def another_key(peer: Peer, body: e.Key) -> e.Body:
    """A key with a good proof, made from another seed."""
    ground = peer.round.ground
    part = peer.dealing.make_key(ground, peer.round.number_of[peer.me], bytes(32))
    return changed(body, x=part.X, y=part.Y, proof=part.proof)


def leaving(peer: Peer, body: e.Body) -> e.Body:
    """A departure, which is allowed at any time."""
    return e.Leave(peer.round.contract, [])


CHEATS = [
    Cheat("doubled card", "bad_proof", on(e.Deck, doubled_card), before_agreed=True, real=True),
    Cheat(
        "false proof",
        "bad_proof",
        on(e.Proof, lambda peer, body: changed(body, proof=flipped(body.proof, 40))),
        before_agreed=True,
        real=True,
    ),
    Cheat(
        "deck of no points",
        "bad_deck",
        on(e.Deck, lambda peer, body: changed(body, deck=b"\xff" * len(body.deck))),
        before_agreed=True,
        real=True,
    ),
    Cheat(
        "deck on nothing",
        "bad_deck",
        on(e.Deck, lambda peer, body: changed(body, previous=bytes(32))),
        before_agreed=True,
    ),
    Cheat(
        "false share",
        "bad_share",
        on(
            e.Shares,
            lambda peer, body: changed(
                body,
                openings=[(c, p, [flipped(d[0], 20), *d[1:]]) for c, p, d in body.openings],
            ),
        ),
        real=True,
    ),
    Cheat(
        "false proof of shares",
        "bad_share",
        on(e.Shares, lambda peer, body: changed(body, proof=flipped(body.proof, 70))),
        real=True,
    ),
    Cheat("share for an uncalled card", "uncalled_share", when=lambda p: is_in(p, Phase.PLAY), strike=uncalled),
    Cheat(
        "share before all agreed",
        "share_before_agreed",
        on(e.Agreed, lambda p, b: e.Shares(b.contract, [], [(b.contract, [0], [bytes(32)])], bytes(96))),
        before_agreed=True,
    ),
    Cheat(
        "another coin",
        "bad_commitment",
        on(e.Key, lambda peer, body: changed(body, coin=flipped(body.coin))),
        before_agreed=True,
    ),
    Cheat(
        "key without proof",
        "bad_key",
        on(e.Key, lambda peer, body: changed(body, proof=flipped(body.proof))),
        before_agreed=True,
        real=True,
    ),
    Cheat(
        "another agreement",
        "bad_agreed",
        on(e.Agreed, lambda peer, body: changed(body, digest=flipped(body.digest))),
        before_agreed=True,
    ),
    Cheat(
        "second accept",
        "second_accept",
        on(e.Key, lambda peer, body: e.Accept(body.contract, bytes(32), bytes(32))),
        before_agreed=True,
    ),
    Cheat(
        "decline after accept",
        "second_accept",
        on(e.Key, lambda peer, body: e.Decline(body.contract, "no")),
        before_agreed=True,
    ),
    Cheat(
        "kind out of place",
        "bad_kind",
        on(e.Key, lambda peer, body: e.Ready(body.contract)),
        before_agreed=True,
    ),
    Cheat("no such form", "bad_schema", when=lambda p: is_in(p, Phase.ARRANGE), strike=raw("ready", b"too much")),
    Cheat(
        "form of another type",
        "bad_schema",
        when=lambda p: is_in(p, Phase.PLAY),
        strike=raw("result", 7),
    ),
    Cheat("seen out of order", "bad_seen", when=lambda p: is_in(p, Phase.ARRANGE), strike=lying_seen),
    Cheat("seen itself", "bad_seen", when=lambda p: is_in(p, Phase.ARRANGE), strike=seen_itself),
    Cheat(
        "wrong digest",
        "bad_digest",
        when=in_turn,
        strike=instead_of_moving(lambda peer, body: changed(body, digest=flipped(body.digest))),
    ),
    Cheat(
        "wrong turn",
        "illegal_move",
        when=in_turn,
        strike=instead_of_moving(lambda peer, body: changed(body, turn=body.turn + 1)),
    ),
    Cheat(
        "wrong parent",
        "illegal_move",
        when=in_turn,
        strike=instead_of_moving(lambda peer, body: changed(body, parent=flipped(body.parent))),
    ),
    Cheat(
        "somebody else's card",
        "illegal_move",
        when=in_turn,
        strike=instead_of_moving(
            lambda peer, body: changed(
                body,
                places=[peer.state().ups[(peer.seat + 1) % peer.state().players][0]],
                positions=[],
                shares=[],
                proof=b"",
            )
        ),
    ),
    Cheat(
        "a move out of turn",
        "illegal_move",
        when=lambda p: is_in(p, Phase.PLAY) and p.state().turn != p.seat,
        strike=lambda table, peer: peer.write(
            e.Move(peer.round.contract, 1, peer.round.contract, bytes(32), "pick_up", [], [], [], b"")
        ),
    ),
    Cheat(
        "wrong result",
        "bad_result",
        on(e.Result, lambda peer, body: changed(body, ending=flipped(body.ending))),
    ),
    Cheat(
        "wrong seed",
        "bad_commitment",
        on(e.Reveal, lambda peer, body: changed(body, seed=flipped(body.seed))),
        ends=False,
    ),
    Cheat(
        "two accepts under one number",
        "fork",
        fork_of("accept", lambda peer, body: changed(body, coin_commitment=flipped(body.coin_commitment))),
        before_agreed=True,
    ),
    Cheat("two keys under one number", "fork", fork_of("key", another_key), before_agreed=True),
    Cheat(
        "two decks under one number",
        "fork",
        fork_of(
            "deck",
            lambda peer, body: changed(
                body, deck=body.deck[len(body.deck) // 2 :] + body.deck[: len(body.deck) // 2]
            ),
        ),
        before_agreed=True,
    ),
    Cheat(
        "two agreements under one number",
        "fork",
        fork_of("agreed", leaving),
        before_agreed=None,
    ),
    Cheat(
        "two moves under one number",
        "fork",
        fork_of("move", leaving),
    ),
    Cheat(
        "two results under one number",
        "fork",
        fork_of("result", leaving),
        ends=None,
    ),
]

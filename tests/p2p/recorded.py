"""Rounds of every kind, played once and kept: what the tests of the fold look at from all sides."""

from __future__ import annotations

from functools import cache

from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.rounds.phases import Phase
from tests.p2p.peers import Peer, Table, verdict

PLAYERS = (2, 3, 5)
KINDS = ("finished", "voided", "forfeited", "faulted", "forked", "dead", "two culprits")
NAMES = ("Ada", "Bert", "Cleo", "Dora", "Emil")


def new_table(players: int, seed: int = 0, **options: bool) -> Table:
    """A table of so many, nothing offered yet."""
    return Table(NAMES[:players], seed=seed, **options)


def is_in(peer: Peer, *phases: Phase) -> bool:
    """Whether a peer sees its round in one of some phases."""
    return peer.round is not None and peer.round.everything().phase in phases


def moves_made(peer: Peer) -> int:
    """How long the chain is that a peer sees."""
    tip = peer.round.everything().tip
    return 0 if tip is None else tip.depth


def record(players: int, kind: str, seed: int = 0) -> Table:
    """Plays a round that comes to an end of the kind wanted."""
    table = new_table(players, seed)
    last = table.peers[-1]
    match kind:
        case "finished":
            table.start()
            table.play()
        case "voided":
            table.start()
            table.play_until(lambda: moves_made(last) >= 6)
            mover = _mover(table)
            other = next(peer for peer in table.peers if peer is not mover)
            debts = [duty for duty in _duties(other) if duty.number == mover.round.number_of[mover.me]]
            other.write(other.session.leave_round(debts))
        case "forfeited":
            table.start()
            table.play_until(lambda: moves_made(last) >= 6)
            last.write(last.session.leave_round())
        case "faulted":
            table.start()
            table.play_until(lambda: moves_made(last) >= 6)
            mover = _mover(table)
            mover.put(mover.sign_raw("ready", [mover.round.contract]))
        case "forked":
            table.start()
            table.play_until(lambda: moves_made(last) >= 6)
            mover = _mover(table)
            entry = next(
                fact.entry
                for fact in reversed(mover.session.feeds.line[mover.me])
                if fact.entry.kind in ("move", "shares")
            )
            mover.put(mover.sign_again(entry, e.Ready(mover.round.contract)))
        case "dead":
            last.on_write = lambda peer, body: [] if isinstance(body, e.Agreed) else [body]
            table.start()
            last.write(e.Leave(last.round.contract, []))
        case "two culprits":
            table.start()
            table.play_until(lambda: moves_made(last) >= 6)
            for peer in table.peers[-2:]:
                peer.put(peer.sign_raw("reveal", [peer.round.contract, bytes(32)]))
    table.settle()
    return table


def _mover(table: Table) -> Peer:
    return next(peer for peer in table.peers if peer.state().turn == peer.seat)


def _duties(peer: Peer) -> list:  # type: ignore[type-arg]
    peer.session.tick(0.0)
    return [duty for duty, _ in peer.session.waiting_for(0.0)]


@cache
def recorded(players: int, kind: str) -> tuple[tuple[Entry, ...], object, bytes]:
    """Entries, what every peer made of them, and the contract of such a round."""
    table = record(players, kind)
    found = [verdict(peer.session) for peer in table.peers]
    assert all(one == found[0] for one in found)
    return tuple(table.entries()), found[0], table.peers[0].round.contract

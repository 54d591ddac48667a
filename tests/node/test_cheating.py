"""Dishonest programs among real ones, over real sockets: who plays reads who cheated, and plays on without."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from client.sentences import Names, render
from p2p.dealing import Dealing, Ground, Opening, Shuffled, TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import make_entry
from p2p.network.frames import Entries
from p2p.node.core import Core
from p2p.node.node import Node
from p2p.rounds.audit import verify_file
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import RoundView, Snapshot
from tests.node.conftest import Evening, until
from tests.p2p.cheats import flipped

DEALT = (Phase.ARRANGE, Phase.START, Phase.PLAY, Phase.OPENING)


class FalseProof(TransparentDealing):
    """Proves its shuffle falsely."""

    def prove(
        self, ground: Ground, number: int, seed: bytes, joint: bytes, deck: bytes, shuffled: Shuffled
    ) -> bytes:
        return flipped(super().prove(ground, number, seed, joint, deck, shuffled))


class FalseShare(TransparentDealing):
    """Opens cards falsely."""

    def shares(
        self,
        ground: Ground,
        number: int,
        seed: bytes,
        deck: bytes,
        calls: Sequence[tuple[bytes, tuple[int, ...]]],
    ) -> tuple[tuple[Opening, ...], bytes]:
        openings, proof = super().shares(ground, number, seed, deck, calls)
        return tuple(one._replace(shares=tuple(map(flipped, one.shares))) for one in openings), proof


async def table(evening: Evening, dealing: Dealing) -> list[Node]:
    """Ana, Bogdan, and Mal, who deals in a way of its own; all linked."""
    await evening.open("Ana")
    await evening.join("Bogdan")
    evening.dealing = dealing
    await evening.join("Mal")
    for node in evening.nodes:
        await until(
            node,
            lambda s: len(s.players) == 3 and all(player.link.status in ("self", "good") for player in s.players),
        )
    return evening.nodes


def round_of(snapshot: Snapshot) -> RoundView:
    assert snapshot.round is not None
    return snapshot.round


def has_fault(snapshot: Snapshot) -> bool:
    return snapshot.round is not None and bool(snapshot.round.faults)


async def is_found_out(nodes: list[Node], sentence: str) -> None:
    """All but the last node name it, and it alone, in these words; then they play on without."""
    *honest, mal = nodes
    for node in honest:
        snapshot = await until(node, has_fault)
        (fault,) = round_of(snapshot).faults
        assert fault.player == mal.key
        names = Names(keys={player.key: player.name for player in snapshot.players})
        assert render(fault.sentence, names).startswith(sentence)
    host = honest[0]
    # A round that all had agreed on has to be settled first.
    snapshot = await until(host, lambda s: round_of(s).phase in (Phase.DEAD, Phase.CLOSED))
    number, is_dead = round_of(snapshot).number, round_of(snapshot).phase is Phase.DEAD
    await host.kick(mal.key)
    await host.offer_round()

    def plays_anew(snapshot: Snapshot) -> bool:
        view = snapshot.round
        return view is not None and view.phase in DEALT and set(view.roster) == {node.key for node in honest}

    for node in honest:
        view = round_of(await until(node, plays_anew))
        assert view.number == (number if is_dead else number + 1) and not view.faults
    if not is_dead:
        for node in honest:
            path = node.last_round_file
            assert path is not None
            verdict = await asyncio.to_thread(verify_file, path, TransparentDealing())
            assert verdict.verdict == "cheating"
            assert {one.player for one in verdict.faults} == {"Mal"}


@pytest.mark.parametrize(
    ("dealing", "sentence"),
    [
        (FalseProof(), "Mal gave a shuffled deck whose proof fails"),
        (FalseShare(), "Mal gave a false share for opening a card."),
    ],
    ids=["proof", "share"],
)
async def test_false_arithmetic_is_told_and_the_others_play_on(
    evening: Evening, dealing: Dealing, sentence: str
) -> None:
    nodes = await table(evening, dealing)
    await nodes[0].offer_round()
    await is_found_out(nodes, sentence)


def swap_of_anothers_card(core: Core) -> list[e.Body]:
    """Signs what no rule allows."""
    round_ = core.session.current()
    assert round_ is not None
    lens = round_.everything()
    assert lens.agreement is not None and lens.dealt is not None
    seat = lens.agreement.seat_of[round_.number_of[core.me]]
    other = lens.dealt.hands[(seat + 1) % 3][0]
    return [e.Swap(round_.contract, other, lens.dealt.ups[seat][0], b"", b"")]


async def dealt(nodes: list[Node]) -> None:
    await nodes[0].offer_round()
    for node in nodes:
        await until(node, lambda s: s.round is not None and s.round.phase is Phase.ARRANGE)


async def test_an_illegal_move_is_told_and_the_others_play_on(evening: Evening) -> None:
    nodes = await table(evening, TransparentDealing())
    await dealt(nodes)
    await nodes[-1]._pump.write(swap_of_anothers_card)
    await is_found_out(nodes, "Mal made a move that the rules do not allow")


async def test_different_entries_for_different_peers_are_told_and_the_others_play_on(evening: Evening) -> None:
    nodes = await table(evening, TransparentDealing())
    await dealt(nodes)
    mal, bogdan = nodes[-1], nodes[1]
    made: list[Entries] = []

    def ready(core: Core) -> list[e.Body]:
        """Signs "ready" for all, and under the same number a departure that only one is sent."""
        round_ = core.session.current()
        assert round_ is not None
        seq, prev = core.session.head()
        leave = e.Leave(round_.contract, [])
        other = make_entry(core.key, core.session.table, seq, prev, core.session.seen(), leave)
        made.append(Entries(((other.data, other.signature),)))
        return [e.Ready(round_.contract)]

    await mal._pump.write(ready)
    mesh = mal._table.mesh
    assert mesh is not None
    # After the first version on the same link: alone it would be a departure, and the round over before the fork.
    mesh.send(bogdan.key, made[0])
    await is_found_out(nodes, "Mal signed two different entries with number")

"""Tables brought to the moment at which a cheat strikes, and what the honest ones find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.options import ArrangeRule, StartRule
from engine.rules import RuleSet
from engine.state import Phase as GamePhase
from p2p.feeds import entries as e
from p2p.rounds.phases import Phase
from tests.p2p.cheats import CHEATS, in_turn
from tests.p2p.peers import Peer, Table
from tests.p2p.recorded import NAMES, is_in

Found = set[tuple[bool, str]]
"""Whether it is the cheater that is blamed, and the code."""


@dataclass
class Scene:
    """A table, and the one of it that is about to cheat."""

    table: Table
    cheater: Peer

    @property
    def honest(self) -> Peer:
        return next(peer for peer in self.table.peers if peer is not self.cheater)

    @property
    def contract(self) -> bytes:
        return self.cheater.round.contract

    def write(self, *bodies: e.Body) -> None:
        """The cheater signs these; then the table comes to rest."""
        for body in bodies:
            self.cheater.write(body)
        self.table.settle()

    def found(self) -> Found:
        """What the honest one blames, at the table and in every round: each culprit's first fault."""
        session = self.honest.session
        faults = list(session.table_faults)
        for round_ in session.rounds.values():
            faults.extend(round_.everything().faults)
        return {(fault.player == self.cheater.me, fault.code) for fault in faults}


def withhold(peer: Peer, *kinds: type[e.Body]) -> None:
    """The peer writes nothing from its first body of these kinds on."""
    stopped: list[bool] = []

    def write(peer: Peer, body: e.Body) -> list[e.Body]:
        if isinstance(body, kinds):
            stopped.append(True)
        return [] if stopped else [body]

    peer.on_write = write


def sitting(players: int = 2, seed: int = 1, number: int = -1) -> Scene:
    """A table where nothing has been offered yet; the cheater has this roster number."""
    table = Table(NAMES[:players], seed=seed, shuffled=False)
    table.settle()
    return Scene(table, table.by_number(number % players))


def stopped(kind: type[e.Body], number: int, players: int = 2, seed: int = 1) -> Scene:
    """A round in which the others withhold their entry of a kind, so that it stands still there."""
    scene = sitting(players, seed, number)
    for peer in scene.table.peers:
        if peer is not scene.cheater:
            withhold(peer, kind)
    scene.table.start()
    scene.table.play()
    return scene


def arranging(rules: RuleSet | None = None) -> Scene:
    """A round in which nobody is ready yet."""
    scene = sitting()
    scene.table.start(rules)
    assert is_in(scene.cheater, Phase.ARRANGE)
    return scene


def choosing() -> Scene:
    """The same where everybody chooses upcards from six cards."""
    return arranging(RuleSet(arrange=ArrangeRule.CHOOSE))


def asked() -> Scene:
    """A round in which somebody is asked for a card of the first rank, and the cheater is not."""
    scene = sitting()
    for peer in scene.table.peers:
        withhold(peer, e.Declare, e.Pass)
    scene.table.start(RuleSet(start=StartRule.HAND_LOWEST))
    scene.table.play()
    assert is_in(scene.cheater, Phase.START)
    for peer in scene.table.peers:
        if peer.state().turn != peer.seat:
            scene.cheater = peer
    return scene


def playing(when: Callable[[Peer], bool] = in_turn, number: int = -1, seed: int = 1, players: int = 2) -> Scene:
    """A round in which something holds for the cheater, by default that it is its turn."""
    scene = sitting(players, seed, number)
    scene.table.start()
    scene.table.play_until(lambda: when(scene.cheater))
    return scene


def named(name: str, number: int = -1, players: int = 2) -> Callable[[], Found]:
    """One of the cheats that the tests of the table play, by name."""
    cheat = next(cheat for cheat in CHEATS if cheat.name == name)

    def run() -> Found:
        scene = sitting(players, 3, number)
        cheat.rig(scene.table, scene.cheater)
        scene.table.start()
        if cheat.when is not None:
            scene.table.play_until(lambda: cheat.when(scene.cheater))  # type: ignore[misc]
            cheat.strike(scene.table, scene.cheater)
            scene.table.settle()
        else:
            scene.table.play()
        return scene.found()

    return run


def is_flipping(peer: Peer) -> bool:
    """Whether the peer is in turn with downcards alone."""
    if not (is_in(peer, Phase.PLAY) and in_turn(peer)):
        return False
    state = peer.state()
    return state.phase is GamePhase.PLAY and not state.hands[peer.seat] and not state.ups[peer.seat]

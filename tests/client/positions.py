"""Snapshots and views of made-up positions."""

from __future__ import annotations

from dataclasses import replace

from client.view import View, make_view
from engine.state import GameState
from engine.state import Phase as GamePhase
from engine.views import mask
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import LinkView, PlayerView, RoundView, Snapshot
from tests.p2p.peers import key_for

NAMES = ("Ana", "Bogdan", "Carmen", "Dora", "Emil")

_PHASES = {
    GamePhase.DEAL: Phase.DEAL,
    GamePhase.ARRANGE: Phase.ARRANGE,
    GamePhase.DECLARE: Phase.START,
    GamePhase.PLAY: Phase.PLAY,
    GamePhase.OVER: Phase.CLOSED,
}


def key_of(name: str) -> bytes:
    """The identity key that goes with a name."""
    return key_for(name).public_key().public_bytes_raw()


def player(name: str, me: str = "Ana") -> PlayerView:
    """Somebody at the table; Ana is the host."""
    link = LinkView("self") if name == me else LinkView("good", 0.004)
    return PlayerView(key_of(name), name, name == me, name == "Ana", False, link, 3, "2026-05-12", "known")


def snapshot_of(state: GameState | None = None, seat: int = 0, players: int = 2) -> Snapshot:
    """What the player at ``seat`` sees of an open position; names go by seat. Without one: a lobby."""
    names = NAMES[: state.players if state is not None else players]
    keys = tuple(key_of(name) for name in names)
    round_ = None
    if state is not None:
        opening = state.awaiting and state.phase is GamePhase.PLAY
        phase = Phase.OPENING if opening else _PHASES[state.phase]
        round_ = RoundView(
            contract=bytes(32),
            number=1,
            attempt=0,
            phase=phase,
            rules=state.rules,
            roster=tuple(sorted(keys)),
            names=dict(zip(keys, names, strict=True)),
            seats=keys,
            my_seat=seat,
            state=mask(state, seat),
            stamp=b"stamp",
            words=("lemon", "raven", "bus"),
            accepted=len(keys),
            keys=len(keys),
            shuffled=len(keys),
            proven=len(keys),
            agreed=len(keys),
            waits=(),
            overdue=False,
            faults=(),
            ending=None,
        )
    me = names[seat]
    return Snapshot(
        table=bytes(32),
        name="Kitchen",
        me=key_of(me),
        host=key_of("Ana"),
        acting_host=key_of("Ana"),
        players=tuple(player(name, me) for name in names),
        door=(),
        round=round_,
        asked=False,
        score=(),
        addresses=("192.0.2.7:47101",),
    )


def view_of(state: GameState | None = None, seat: int = 0, **changes: object) -> View:
    """The view of :func:`snapshot_of`, with fields of the snapshot changed."""
    return make_view(replace(snapshot_of(state, seat), **changes))  # type: ignore[arg-type]

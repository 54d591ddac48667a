"""No peer's program holds a face that its person may not see, at any moment of a whole round."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum

import pytest

from engine.state import GameState
from p2p.dealing import Dealing, ElGamalDealing, TransparentDealing
from p2p.rounds.news import News, Reporter
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round
from p2p.rounds.snapshot import Surroundings, make_snapshot
from tests.p2p.peers import Peer, Table
from tests.p2p.recorded import NAMES


def truth(table: Table, round_: Round) -> tuple[int, ...]:
    """Every face, from all seeds together: what no single peer can make."""
    deal = round_.everything().agreement
    ground, places = round_.ground, tuple(range(round_.ground.deck_size))
    given = []
    for number in round_.numbers:
        peer = table.by_number(number)
        seed = peer.session._own[round_.contract].seed
        given.append(
            [
                opening.shares
                for part in (places[:30], places[30:])
                for opening in peer.dealing.shares(ground, number, seed, deal.deck, [(bytes(32), part)])[0]
            ]
        )
    shares = [[share for part in parts for share in part] for parts in given]
    return tuple(peer.dealing.open(ground, deal.deck, p, [of[p] for of in shares]) for p in places)


def states_in(value: object, depth: int = 0) -> list[GameState]:
    """Every state of the game that a value holds anywhere."""
    if isinstance(value, GameState):
        return [value]
    if depth > 6 or isinstance(value, str | bytes | int | float | Enum | None):
        return []
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    elif is_dataclass(value):
        parts = [getattr(value, one.name) for one in fields(value)]
    else:
        return []
    return [state for part in parts for state in states_in(part, depth + 1)]


class Watch:
    """Looks over everybody's shoulder while a round is played."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.reporters = {peer.me: Reporter(peer.session) for peer in table.peers}
        self.faces: tuple[int, ...] = ()
        self.looks = 0
        self.held: dict[bytes, int] = {}

    def look(self) -> None:
        host = self.table.peers[0].round
        if host is None or host.everything().agreement is None:
            return
        if not self.faces:
            self.faces = truth(self.table, host)
        for peer in self.table.peers:
            self.look_at(peer)

    def look_at(self, peer: Peer) -> None:
        round_ = peer.round
        lens = round_.everything()
        state = lens.state
        if state is None:
            return
        held = len(peer.session.feeds.by_id)
        if self.held.get(peer.me) == held:
            return
        self.held[peer.me] = held
        self.looks += 1
        number = round_.number_of.get(peer.me)
        seat = lens.agreement.seat_of[number] if number is not None else None
        own = set(state.hands[seat]) if seat is not None else set()
        self.check_state(state, set())
        self.check_state(peer.session.own_state(round_), own)
        snapshot = make_snapshot(peer.session, Surroundings(), 0.0)
        shown = states_in(snapshot)
        assert shown
        for one in shown:
            self.check_state(one, own)
        for node in list(round_.nodes.values())[-2:]:
            self.check_state(node.state, set())
            self.check_state(node.opened or node.state, set())
        for news in self.reporters[peer.me].news():
            self.check_news(news, state, own)
        if lens.phase not in (Phase.REVEAL, Phase.CLOSED):
            self.check_texts(peer, round_)

    def check_state(self, state: GameState, own: set[int]) -> None:
        known = {position for position, face in enumerate(state.faces) if face >= 0}
        public = {position for position in range(len(state.faces)) if state.is_public(position)}
        assert public <= known <= public | own
        assert all(state.faces[position] == self.faces[position] for position in known)

    def check_news(self, news: News, state: GameState, own: set[int]) -> None:
        public = {self.faces[p] for p in range(len(state.faces)) if state.is_public(p)}
        mine = public | {self.faces[p] for p in own}
        values = news.values
        told = [values[name] for name in ("face", "up_face", "hand_face") if name in values]
        told += list(values.get("faces", ()))
        assert all(face >= 0 for face in told)
        assert set(told) <= (mine if news.private else public)
        assert not states_in(dict(values))

    def check_texts(self, peer: Peer, round_: Round) -> None:
        texts = [repr(peer.session), repr(round_.start), repr(peer.session._own), repr(peer.session.next_write())]
        texts += [repr(fact) for fact in list(peer.session.feeds.by_id.values())[-3:]]
        for other in self.table.peers:
            own = other.session._own[round_.contract]
            for secret in (own.seed, own.coin):
                assert not any(secret.hex() in text or repr(secret) in text for text in texts)


def play_watched(players: int, seed: int, dealing: Dealing) -> Watch:
    table = Table(NAMES[:players], dealing, seed=seed)
    watch = Watch(table)
    step = table.step

    def looking() -> bool:
        went_on = step()
        watch.look()
        return went_on

    table.step = looking  # type: ignore[method-assign]
    table.start()
    table.play()
    return watch


@pytest.mark.parametrize(("players", "seed"), [(2, 1), (2, 2), (3, 3), (4, 4)])
def test_nobodys_program_holds_a_face_that_its_person_may_not_see(players, seed):
    watch = play_watched(players, seed, TransparentDealing())
    assert watch.looks > 50
    assert sorted(watch.faces) == list(range(52))
    final = watch.table.peers[0].round.everything().final
    assert final.kind == "finished"


def test_nor_with_the_real_deal():
    watch = play_watched(2, 5, ElGamalDealing(threads=1))
    assert watch.looks > 50
    assert sorted(watch.faces) == list(range(52))
    for peer in watch.table.peers:
        assert not peer.round.on_record


def test_a_bystander_sees_what_everybody_sees():
    table = Table(NAMES[:3], seed=6)
    table.settle()
    host, other, bystander = table.peers
    host.write(host.session.offer(rules(), [host.me, other.me]))
    table.settle()
    table.play_until(lambda: (t := host.round.everything().tip) is not None and t.depth > 4)
    state = bystander.session.own_state(bystander.round)
    assert state == bystander.round.everything().state
    assert all(state.is_public(p) == (face >= 0) for p, face in enumerate(state.faces))
    assert bystander.round.contract not in bystander.session._own


def rules():
    from engine.rules import RuleSet

    return RuleSet()


def test_the_hand_is_known_to_its_owner_before_anything_has_to_be_decided():
    table = Table(NAMES[:3], seed=7)
    table.start()
    for peer in table.peers:
        state = peer.state()
        assert all(state.faces[p] >= 0 for p in state.hands[peer.seat])
        for seat in range(3):
            if seat != peer.seat:
                assert all(state.faces[p] < 0 for p in state.hands[seat])


def test_seeds_are_shown_only_after_the_ending_is_signed_by_all_it_needs():
    table = Table(NAMES[:3], seed=8)
    table.start()
    table.play()
    for peer in table.peers:
        for fact in peer.session.feeds.by_id.values():
            if fact.entry.kind == "reveal":
                final = Lens(peer.round, fact).final
                assert final is not None and final.kind == "finished"

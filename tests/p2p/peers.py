"""Peers in memory: whole tables without sockets, disks or clocks, with deliveries that can be shuffled,
delayed, dropped and forged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine import game
from engine.moves import Flip, PickUp, Play, PlayerMove, Ready, Swap
from engine.rules import RuleSet
from engine.state import GameState
from engine.state import Phase as GamePhase
from p2p import entries as e
from p2p.dealing import Dealing, TransparentDealing
from p2p.entries import Entry, make_entry
from p2p.facts import Fact
from p2p.phases import Phase
from p2p.session import Job, Session


def key_for(name: str) -> Ed25519PrivateKey:
    """A fixed identity for a name."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"test " + name.encode()).digest())


class Entropy:
    """Fixed bytes that look random, so that a test plays the same round every time."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._count = 0

    def __call__(self, size: int) -> bytes:
        self._count += 1
        return hashlib.shake_256(f"{self._label} {self._count}".encode()).digest(size)


class Peer:
    """One peer: its key, its session and what it has sent. ``write`` can be replaced to cheat."""

    def __init__(self, name: str, dealing: Dealing | None = None, seed: int = 0) -> None:
        self.name = name
        self.key = key_for(name)
        self.me = self.key.public_key().public_bytes_raw()
        self.dealing = dealing or TransparentDealing()
        self.entropy = Entropy(f"{name} {seed}")
        self.session = Session(bytes(32), self.dealing, self.me, self.entropy)
        self.sent: list[Entry] = []
        self.on_write: Callable[[Peer, e.Body], Iterable[e.Body]] | None = None

    def sit(self, table: bytes) -> None:
        self.session = Session(table, self.dealing, self.me, self.entropy)
        self.session.always_consent = True

    def open(self, table: str) -> Entry:
        entry = make_entry(self.key, bytes(32), 0, bytes(32), (), e.Open(table, self.name, b"", bytes(32)))
        self.sit(entry.id)
        self.session.receive(entry)
        self.sent.append(entry)
        return entry

    def sign(self, body: e.Body) -> Entry:
        """Signs a body as the next own entry, without taking it in."""
        seq, prev = self.session.head()
        return make_entry(self.key, self.session.table, seq, prev, self.session.seen(), body)

    def write(self, body: e.Body) -> Entry:
        """Signs, folds and queues an own entry."""
        entry = self.sign(body)
        self.session.receive(entry)
        self.sent.append(entry)
        return entry

    def work(self) -> bool:
        """Writes everything that is owed and does all arithmetic. Returns whether there was any."""
        busy = False
        while True:
            write = self.session.next_write()
            if write is not None:
                bodies = [write.body] if self.on_write is None else list(self.on_write(self, write.body))
                for body in bodies:
                    self.write(body)
                if not bodies:
                    return busy
                busy = True
                continue
            job: Job | None = self.session.job()
            if job is None:
                return busy
            self.session.finish(job, job.run())
            busy = True

    def act(self, move: PlayerMove) -> Entry:
        return self.write(self.session.intend(move))

    @property
    def round(self):  # type: ignore[no-untyped-def]
        return self.session.current()

    @property
    def seat(self) -> int:
        lens = self.round.everything()
        return lens.agreement.seat_of[self.round.number_of[self.me]]

    def state(self) -> GameState:
        state = self.session.own_state(self.round)
        assert state is not None
        return state


class Table:
    """Several peers and the wires between them."""

    def __init__(
        self, names: Iterable[str], dealing: Dealing | None = None, seed: int = 0, shuffled: bool = True
    ) -> None:
        self.random = Random(seed)
        self.peers = [Peer(name, dealing, seed) for name in names]
        self.wires: dict[tuple[int, int], list[Entry]] = {}
        self.fetched = [0] * len(self.peers)
        self.shuffled = shuffled
        self.filter: Callable[[int, int, Entry], bool] = lambda source, target, entry: True
        host = self.peers[0]
        opening = host.open("Kitchen")
        for peer in self.peers[1:]:
            peer.sit(opening.id)
            host.write(e.Admit(peer.me, peer.name, b""))

    def collect(self) -> None:
        """Puts what the peers have written on the wires."""
        for source, peer in enumerate(self.peers):
            for entry in peer.sent[self.fetched[source] :]:
                for target in range(len(self.peers)):
                    if target != source and self.filter(source, target, entry):
                        self.wires.setdefault((source, target), []).append(entry)
            self.fetched[source] = len(peer.sent)

    def step(self) -> bool:
        """Lets every peer work and delivers some of what is under way. False when all is quiet."""
        busy = any([peer.work() for peer in self.peers])  # noqa: C419 - every one works
        self.collect()
        pending = [wire for wire, queue in self.wires.items() if queue]
        for source, target in self.random.sample(pending, len(pending)):
            queue = self.wires[(source, target)]
            count = self.random.randint(0, len(queue)) if self.shuffled else len(queue)
            batch, self.wires[(source, target)] = queue[:count], queue[count:]
            if self.shuffled:
                self.random.shuffle(batch)
            for entry in batch:
                self.peers[target].session.receive(entry)
        return busy or bool(pending)

    def settle(self) -> None:
        """Runs until nothing is under way any more."""
        for _ in range(100_000):
            if not self.step():
                return
        raise AssertionError("the table does not come to rest")

    def start(self, rules: RuleSet | None = None) -> None:
        self.settle()
        host = self.peers[0]
        host.write(host.session.offer(rules or RuleSet(), [peer.me for peer in self.peers]))
        self.settle()

    def play(self, limit: int = 5000) -> None:
        """Plays the round that has started to its end, each seat choosing at random but sensibly."""
        for _ in range(limit):
            self.settle()
            if not any([self.move(peer) for peer in self.peers]):  # noqa: C419 - every one moves
                return
        raise AssertionError("the round does not end")

    def move(self, peer: Peer) -> bool:
        move = choose(peer, self.random)
        if move is None:
            return False
        peer.act(move)
        return True


def choose(peer: Peer, random: Random) -> PlayerMove | None:
    """Some sensible move of a peer; None when it is not to move."""
    round_ = peer.round
    if round_ is None or peer.me not in round_.number_of:
        return None
    lens = round_.everything()
    if lens.phase not in (Phase.ARRANGE, Phase.PLAY):
        return None
    state, seat = peer.state(), peer.seat
    if state.phase is GamePhase.ARRANGE:
        if state.ready[seat]:
            return None
        swaps = len(lens.all("swap", round_.number_of[peer.me]))
        known = [p for p in state.hands[seat] if state.faces[p] >= 0]
        if swaps < 2 and known and random.random() < 0.5:
            return Swap(seat, random.choice(known), random.choice(state.ups[seat]))
        return Ready(seat)
    if state.turn != seat or any(state.faces[p] < 0 for p in state.hands[seat]):
        return None
    options = list(game.actions(state))
    plays = [move for move in options if isinstance(move, Play | Flip)]
    if plays and random.random() < 0.95:
        best = min(
            plays,
            key=lambda m: (
                (99, 0) if isinstance(m, Flip) else (state.rank_at(m.positions[0]) or 50, -len(m.positions))
            ),
        )
        return best if random.random() < 0.8 else random.choice(plays)
    ups = [move for move in options if isinstance(move, PickUp)]
    return random.choice(ups or options)


def fold_all(facts: Iterable[Fact], dealing: Dealing, random: Random) -> Session:
    """A fresh auditor that has been given the entries in a random order."""
    entries = [fact.entry for fact in facts]
    session = Session(entries[0].table, dealing)
    random.shuffle(entries)
    for entry in entries:
        session.receive(entry)
        while (job := session.job()) is not None:
            session.finish(job, job.run())
    return session

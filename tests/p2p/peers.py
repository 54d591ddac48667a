"""Peers in memory: whole tables without sockets, disks or clocks, with deliveries that can be shuffled,
delayed, dropped and forged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine import game
from engine.moves import Choose, Flip, PickUp, Play, PlayerMove, Ready, Swap
from engine.options import ArrangeRule
from engine.rules import RuleSet
from engine.state import GameState
from engine.state import Phase as GamePhase
from p2p.canonical import Value, enc
from p2p.dealing import Dealing, TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry, make_entry
from p2p.feeds.facts import Fact
from p2p.rounds.duties import duties
from p2p.rounds.phases import Phase
from p2p.rounds.round import Round
from p2p.rounds.session import Job, Session


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
        return self.put(self.sign(body))

    def put(self, entry: Entry) -> Entry:
        """Folds and queues an entry that has been signed."""
        self.session.receive(entry)
        self.sent.append(entry)
        return entry

    def sign_raw(self, kind: str, body: Value, seen: tuple[bytes, ...] | None = None) -> Entry:
        """Signs any body under any kind as the next own entry, as a changed program could."""
        seq, prev = self.session.head()
        named = self.session.seen() if seen is None else seen
        data = enc([e.VERSION, self.session.table, self.me, seq, prev, list(named), kind, body])
        return e.read_entry(data, self.key.sign(e.SIGNED_LABEL + data))

    def sign_again(self, entry: Entry, body: e.Body) -> Entry:
        """Signs another body under the number of an own entry: the second version of a fork."""
        return make_entry(self.key, self.session.table, entry.seq, entry.prev, entry.seen, body)

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
        self.gossip = True
        self.mute: set[int] = set()
        """Peers that pass nothing of others on."""
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
        return busy or bool(pending) or self.sync()

    def sync(self) -> bool:
        """When all is quiet, passes on what peers lack of one another's feeds. Returns whether it did."""
        if not self.gossip or any(self.wires.values()):
            return False
        passed = False
        for target, peer in enumerate(self.peers):
            for source, other in enumerate(self.peers):
                if source == target or source in self.mute:
                    continue
                for fact in list(other.session.feeds.by_id.values()):
                    if fact.id not in peer.session.feeds.by_id and self.filter(source, target, fact.entry):
                        passed |= bool(peer.session.receive(fact.entry))
        return passed

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

    def play_until(self, reached: Callable[[], bool], limit: int = 5000) -> None:
        """Plays until something is so; looked at whenever all is quiet."""
        for _ in range(limit):
            self.settle()
            if reached():
                return
            if not any([self.move(peer) for peer in self.peers]):  # noqa: C419 - every one moves
                break
        raise AssertionError("it never comes to that")

    def entries(self) -> list[Entry]:
        """All entries that anybody holds, in an order in which each comes after its past."""
        found: dict[bytes, Entry] = {}
        for peer in self.peers:
            found.update((fact.id, fact.entry) for fact in peer.session.feeds.by_id.values())
        return in_causal_order(found.values())

    def by_number(self, number: int) -> Peer:
        """The peer with a roster number, when all are on the roster."""
        return sorted(self.peers, key=lambda peer: peer.me)[number]

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
        if state.rules.arrange is ArrangeRule.CHOOSE:
            chosen = lens.arrangements(round_.number_of[peer.me])
            options = [move for move in game.actions(state) if isinstance(move, Choose) and move.seat == seat]
            return random.choice(options) if len(chosen) < 2 and options else Ready(seat)
        if state.rules.arrange is ArrangeRule.NONE:
            return Ready(seat)
        swaps = len(lens.all("swap", round_.number_of[peer.me]))
        known = [p for p in state.hands[seat] if state.faces[p] >= 0]
        if swaps < 2 and known and random.random() < 0.5:
            return Swap(seat, random.choice(known), random.choice(state.ups[seat]))
        return Ready(seat)
    if state.turn != seat or any(state.faces[p] < 0 for p in state.hands[seat]):
        return None
    options = list(game.actions(state))
    if not options:
        return None
    plays = [move for move in options if isinstance(move, Play | Flip)]
    others = [move for move in options if not isinstance(move, Play | Flip | PickUp)]
    if others and random.random() < 0.5:
        return random.choice(others)
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


def in_causal_order(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, each after those that its past names."""
    rest = {entry.id: entry for entry in entries}
    ordered: dict[bytes, Entry] = {}

    def add(entry: Entry) -> None:
        stack = [entry]
        while stack:
            top = stack[-1]
            needed = [rest[i] for i in (*top.seen, top.prev) if i in rest and i not in ordered]
            if needed:
                stack.extend(needed)
            else:
                ordered[stack.pop().id] = top

    for entry in rest.values():
        if entry.id not in ordered:
            add(entry)
    return list(ordered.values())


def fold_all(
    facts: Iterable[Fact | Entry],
    dealing: Dealing,
    random: Random,
    causal: bool = False,
    me: bytes | None = None,
) -> Session:
    """A fresh auditor (or peer) that has been given the entries in a random order.

    Not ``causal``: in any order at all, again and again until nothing new is folded, since a peer holds only so
    many entries back. Proofs are checked at random moments, and in the end.
    """
    entries = [one.entry if isinstance(one, Fact) else one for one in facts]
    session = Session(entries[0].table, dealing, me)

    def work() -> None:
        while (job := session.job()) is not None:
            session.finish(job, job.run())

    if causal:
        entries = causal_shuffle(entries, random)
    folded = -1
    while folded < len(session.feeds.by_id):
        folded = len(session.feeds.by_id)
        if not causal:
            random.shuffle(entries)
        for entry in entries:
            session.receive(entry)
            if random.random() < 0.2:
                work()
        work()
    return session


def causal_shuffle(entries: Iterable[Entry], random: Random) -> list[Entry]:
    """A random order in which each entry comes after its past."""
    rest = {entry.id: entry for entry in entries}
    waits = {i: {n for n in (*x.seen, x.prev) if n in rest} for i, x in rest.items()}
    followers: dict[bytes, list[bytes]] = {}
    for ident, named in waits.items():
        for one in named:
            followers.setdefault(one, []).append(ident)
    ready = sorted(ident for ident, named in waits.items() if not named)
    ordered = []
    while ready:
        ident = ready.pop(random.randrange(len(ready)))
        ordered.append(rest[ident])
        for follower in followers.get(ident, ()):
            waits[follower].discard(ident)
            if not waits[follower]:
                ready.append(follower)
    return ordered


def closure(entries: Iterable[Entry], heads: Iterable[bytes]) -> list[Entry]:
    """The entries that the heads reach, themselves included."""
    by_id = {entry.id: entry for entry in entries}
    found: set[bytes] = set()
    stack = list(heads)
    while stack:
        ident = stack.pop()
        if ident in by_id and ident not in found:
            found.add(ident)
            stack.extend((*by_id[ident].seen, by_id[ident].prev))
    return [entry for ident, entry in by_id.items() if ident in found]


def verdict(session: Session) -> object:
    """All that two peers with the same entries have to find alike, as one value to compare."""

    def about(round_: Round) -> object:
        lens = round_.everything()
        deal = lens.agreement
        return (
            round_.contract,
            lens.phase,
            deal.digest if deal is not None else b"",
            lens.tip.id if lens.tip is not None else b"",
            lens.digest(lens.tip) if lens.tip is not None else b"",
            lens.state.canonical() if lens.state is not None else (),
            lens.ending,
            lens.final,
            lens.faults,
            duties(lens),
            sorted((fault.player, fault.code, fault.evidence) for fault in round_.on_record),
        )

    return (
        sorted(session.feeds.by_id),
        [(member.key, member.name) for member in session.members().values()],
        sorted((fault.player, fault.code, fault.evidence) for fault in session.table_faults),
        [about(round_) for _, round_ in sorted(session.rounds.items())],
        session.current().contract if session.current() is not None else b"",
    )

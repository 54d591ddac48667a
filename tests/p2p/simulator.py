"""Peers under a seeded scheduler: real cores, a disk that can be cut short, and a bad network.

Everything that happens is drawn from one seed: how long each frame takes, which are lost, doubled or overtaken,
who cannot reach whom, who is killed at what moment of a step and what its disk still holds. So a schedule that
fails is replayed by its seed: ``python benchmarks/bench_schedules.py SEED``.
"""

from __future__ import annotations

import contextlib
import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from engine.rules import RuleSet
from engine.state import GameState
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry, make_entry
from p2p.network.frames import Ask, Entries, Have
from p2p.node.core import Arrival, Core, Done, Input, Outcome, Wish
from p2p.node.sync import answer, batches, lacking, unknown_heads
from p2p.rounds.phases import Phase
from p2p.rounds.round import Round
from tests.p2p.peers import Entropy, choose, key_for

NAMES = ("Ana", "Bogdan", "Carmen", "Dora", "Emil")

HAVE_EVERY_S = 3.0
"""As in a node: while somebody is waited for, everybody says again what it has."""

GRACE_S = 60
FIRST_OF_HOST = 4
"""The host of four has written its opening and three admissions before the first round."""

NO_FILES = Path("no", "such", "directory")
"""Where round files would be: nothing that happens to lie somewhere may change a schedule."""

MOMENTS = ("before the commit", "after the commit", "after sending")


class Killed(BaseException):
    """The program ends here."""


class Wrong(AssertionError):
    """A schedule has broken what has to hold."""


@dataclass
class Disk:
    """What ``p2p.node.store.Store`` keeps for a core, in memory. ``durable``: so much a power cut leaves."""

    own: bytes
    entries: list[Entry] = field(default_factory=list)
    durable: int = 0
    secrets: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    crash_at: str = ""
    """The moment of the next step that writes an own entry at which the program is killed."""
    crash_seq: int = 0
    """That own entry has this number or a later one."""
    own_seq: int = -1
    """The newest own number that is pending or stored."""
    _pending: list[Callable[[], None]] = field(default_factory=list)
    _is_durable: bool = False

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        yield
        pending, self._pending = self._pending, []
        durable, self._is_durable = self._is_durable, False
        if durable and self.crash_at == MOMENTS[0] and self.own_seq >= self.crash_seq:
            raise Killed
        for write in pending:
            write()
        if durable:
            self.durable = len(self.entries)
            if self.crash_at == MOMENTS[1] and self.own_seq >= self.crash_seq:
                raise Killed

    def add(self, entry: Entry, *, is_new: bool = False) -> None:
        if entry.author == self.own:
            self._is_durable = True
            self.own_seq = entry.seq

        def write() -> None:
            if any(one.id == entry.id for one in self.entries[-64:]) or entry in self.entries:
                return
            if entry.author == self.own and any(
                one.author == self.own and one.seq == entry.seq for one in self.entries
            ):
                raise Wrong(f"a second own entry {entry.seq} is stored")
            self.entries.append(entry)

        self._pending.append(write)

    def keep_secret(self, contract: bytes, seed: bytes, coin: bytes) -> None:
        self._is_durable = True
        self._pending.append(lambda: self.secrets.__setitem__(contract, (seed, coin)))

    def forget_secret(self, contract: bytes) -> None:
        self._pending.append(lambda: (self.secrets.pop(contract, None), None)[1])

    def secret(self, contract: bytes) -> tuple[bytes, bytes] | None:
        return self.secrets.get(contract)

    def load(self, table: bytes) -> list[Entry]:
        return list(self.entries)

    def own_head(self, table: bytes) -> tuple[int, bytes] | None:
        own = [entry for entry in self.entries if entry.author == self.own]
        return (own[-1].seq, own[-1].id) if own else None

    def cut_power(self) -> None:
        """What had not been made durable is gone."""
        del self.entries[self.durable :]

    def lose_step(self) -> None:
        """The program has died in a step: what it had not committed is gone."""
        self._pending.clear()
        self._is_durable = False
        self.crash_at = ""
        self.crash_seq = 0

    def players(self) -> list[Any]:
        return []

    def note_player(self, key: bytes, name: str, met_at: str) -> None: ...

    def count_round(self, key: bytes) -> None: ...


class SimPeer:
    """A peer of a simulation: its disk survives it, its core does not."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.key = key_for(name)
        self.me = self.key.public_key().public_bytes_raw()
        self.disk = Disk(self.me)
        self.core: Core | None = None
        self.seed = seed
        self.starts = 0
        self.inbox: list[Input] = []
        self.is_busy = False

    def start(self, table: bytes) -> None:
        core = Core(table, self.key, self.disk, TransparentDealing(), NO_FILES, "simulation")  # type: ignore[arg-type]
        core.session._entropy = Entropy(f"{self.name} {self.seed} {self.starts}")
        core.session.always_consent = True
        core.save = lambda round_, out: None  # type: ignore[method-assign]
        self.core = core
        self.starts += 1
        self.inbox = []

    # What ``tests.p2p.peers.choose`` looks at.

    @property
    def session(self):  # type: ignore[no-untyped-def]
        assert self.core is not None
        return self.core.session

    @property
    def round(self) -> Round | None:
        found: Round | None = self.session.current()
        return found

    @property
    def seat(self) -> int:
        lens = self.session.current().everything()
        return int(lens.agreement.seat_of[self.session.current().number_of[self.me]])

    def state(self) -> GameState:
        state: GameState = self.session.own_state(self.session.current())
        return state


@dataclass(frozen=True)
class Weather:
    """How bad a schedule is: shares of frames, counts of events, and whether one peer stays away for good."""

    loss: float = 0.1
    doubled: float = 0.05
    slow: float = 0.1
    kills: int = 3
    cuts: int = 2
    one_stays_away: bool = False
    moment: str = ""
    """Every kill at this moment; empty: any."""


class Simulation:
    """A table of ``players`` that plays one round under a schedule drawn from ``seed``."""

    def __init__(self, seed: int, players: int = 3, weather: Weather | None = None) -> None:
        self.random = Random(seed)
        self.weather = weather or Weather()
        self.now = 0.0
        self.peers = [SimPeer(name, seed) for name in NAMES[:players]]
        self.signed: dict[tuple[bytes, int], bytes] = {}
        """Author and number → the id that anybody was ever sent."""
        self.finals: dict[bytes, bytes] = {}
        self.kills: list[str] = []
        self.steps = 0
        self.away: int | None = None
        self.calms = True
        """Whether, after some seconds, nothing more goes wrong."""
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        self._parted: list[tuple[float, float, frozenset[int]]] = []
        self._calm_at = float("inf")
        self._offered: list[bytes] = []
        self._open()

    # -- the scheduler

    def at(self, seconds: float, do: Callable[[], None]) -> None:
        """Does something later."""
        heapq.heappush(self._queue, (self.now + seconds, next(self._number), do))

    def run(self, until_s: float, done: Callable[[], bool] = lambda: False) -> None:
        """Lets things happen until the clock shows ``until_s`` or something is so."""
        while self._queue and self._queue[0][0] <= until_s and not done():
            self.now, _, do = heapq.heappop(self._queue)
            do()

    def _open(self) -> None:
        host = self.peers[0]
        opening = make_entry(host.key, bytes(32), 0, bytes(32), (), e.Open("Kitchen", host.name, b"", bytes(32)))
        self.table = opening.id
        for peer in self.peers:
            peer.start(self.table)
        self._take(0, Arrival(host.me, [(opening.data, opening.signature)]))
        admits = [e.Admit(peer.me, peer.name, b"") for peer in self.peers[1:]]
        self._take(0, Wish(lambda core: admits))
        for number in range(1, len(self.peers)):
            self.at(0.01, lambda number=number: self._say_have(number))  # type: ignore[misc]
        for number in range(len(self.peers)):
            self._tick(number)

    # -- a peer's part, as a node does it

    def _take(self, number: int, item: Input) -> None:
        peer = self.peers[number]
        if peer.core is None:
            return
        peer.inbox.append(item)
        if not peer.is_busy:
            peer.is_busy = True
            self.at(self.random.uniform(0.0005, 0.01), lambda: self._step(number))

    def _step(self, number: int) -> None:
        peer = self.peers[number]
        peer.is_busy = False
        core = peer.core
        if core is None:
            return
        batch, peer.inbox = peer.inbox, []
        try:
            out = core.step(batch, self.now)
        except Killed:
            self._kill(number, peer.disk.crash_at)
            return
        self.steps += 1
        self._publish(number, core, out)
        wrote = any(source is None for _, source in out.fresh)
        if wrote and peer.disk.crash_at == MOMENTS[2] and peer.disk.own_seq >= peer.disk.crash_seq:
            self._kill(number, MOMENTS[2])

    def _publish(self, number: int, core: Core, out: Outcome) -> None:
        for entry, source in out.fresh:
            if source is None and self.signed.setdefault((entry.author, entry.seq), entry.id) != entry.id:
                raise Wrong(f"{self.peers[number].name} has signed number {entry.seq} twice")
        for frame in batches([entry for entry, _ in out.fresh]):
            for other in range(len(self.peers)):
                self._send(number, other, frame)
        for key, ids in out.ask.items():
            target = next(i for i, peer in enumerate(self.peers) if peer.me == key)
            self._send(number, target, Ask(self.table, ids))
        for job in out.jobs:
            # On a thread of its own: anything may come in between.
            self.at(
                self.random.uniform(0.001, 0.2),
                lambda job=job: self._finish(number, core, Done(job, job.run())),  # type: ignore[misc]
            )
        if self.steps % 20 == 0:
            self.check_secrets()
        self.at(self.random.uniform(0.001, 0.05), lambda: self._move(number))

    def _finish(self, number: int, core: Core, done: Done) -> None:
        if self.peers[number].core is core:
            self._take(number, done)

    def _move(self, number: int) -> None:
        peer = self.peers[number]
        if peer.core is None or not peer.core.may_write or choose(peer, Random(0)) is None:  # type: ignore[arg-type]
            return

        def make(core: Core) -> list[e.Body]:
            move = choose(peer, self.random)  # type: ignore[arg-type]
            return [] if move is None else [core.session.intend(move)]

        self._take(number, Wish(make))

    def _tick(self, number: int) -> None:
        peer = self.peers[number]
        if peer.core is not None:
            self._take(number, Wish(self._offer if number == 0 and self._offered else lambda core: []))
            self._say_have(number)
        self.at(HAVE_EVERY_S * self.random.uniform(0.8, 1.2), lambda: self._tick(number))

    def _offer(self, core: Core) -> list[e.Body]:
        """What a host's program does: the first round is offered, again if it died before that was kept."""
        if core.session.current() is not None:
            return []
        return [core.session.offer(RuleSet(), self._offered, GRACE_S)]

    def _say_have(self, number: int) -> None:
        core = self.peers[number].core
        if core is not None:
            for other in range(len(self.peers)):
                self._send(number, other, core.have())

    # -- the network

    def _send(self, source: int, target: int, frame: Have | Entries | Ask) -> None:
        if source == target or self.peers[target].core is None:
            return
        weather, random = self.weather, self.random
        is_calm = self.now >= self._calm_at
        if not is_calm:
            if any(a <= self.now < b and (source in side) != (target in side) for a, b, side in self._parted):
                return
            if random.random() < weather.loss:
                return
        copies = 1 + (not is_calm and random.random() < weather.doubled)
        for _ in range(copies):
            delay = random.uniform(0.0005, 0.03)
            if not is_calm and random.random() < weather.slow:
                delay += random.expovariate(1.0)
            self.at(delay, partial(self._arrive, source, target, self.peers[target].starts, frame))

    def _arrive(self, source: int, target: int, start: int, frame: Have | Entries | Ask) -> None:
        peer = self.peers[target]
        core = peer.core
        if core is None or peer.starts != start:
            # A link ends with the program at its end.
            return
        sender = self.peers[source].me
        match frame:
            case Entries():
                self._take(target, Arrival(sender, frame.entries))
            case Have():
                core.note_have(frame)
                for reply in batches(lacking(core.session.feeds, frame)):
                    self._send(target, source, reply)
                if unknown_heads(core.session.feeds, frame):
                    self._send(target, source, core.have())
                self._take(target, Wish(lambda core: []))
            case Ask():
                for reply in batches(answer(core.session.feeds, frame)):
                    self._send(target, source, reply)

    # -- what goes wrong

    def plan(self) -> None:
        """Draws what will go wrong while the round lasts."""
        random, weather = self.random, self.weather
        for _ in range(weather.kills):
            number = random.randrange(len(self.peers))
            moment = weather.moment or random.choice((*MOMENTS, ""))
            self.at(random.uniform(0.0, 12.0), lambda n=number, m=moment: self._doom(n, m))  # type: ignore[misc]
        for _ in range(weather.cuts):
            size = random.randint(1, len(self.peers) - 1)
            side = frozenset(random.sample(range(len(self.peers)), size))
            start = self.now + random.uniform(0.0, 10.0)
            self._parted.append((start, start + random.uniform(0.5, 8.0), side))
        if weather.one_stays_away:
            self.away = random.randrange(len(self.peers))
            self.at(random.uniform(0.2, 8.0), lambda: self._kill(self.away or 0, "for good"))

    def _doom(self, number: int, moment: str) -> None:
        """Kills a peer at a moment of its next own entry, or at once."""
        if self.peers[number].core is None:
            return
        if moment:
            self.peers[number].disk.crash_at = moment
        else:
            self._kill(number, "between steps")

    def _kill(self, number: int, moment: str) -> None:
        peer = self.peers[number]
        if peer.core is None:
            return
        is_power_cut = self.random.random() < 0.5
        self.kills.append(f"{self.now:.2f} s: {peer.name} {moment}{', power cut' if is_power_cut else ''}")
        peer.core = None
        peer.inbox = []
        peer.disk.lose_step()
        if is_power_cut:
            peer.disk.cut_power()
        if number != self.away:
            self.at(self.random.uniform(0.05, 4.0), lambda: self._restart(number))

    def _restart(self, number: int) -> None:
        if self.peers[number].core is None:
            self.peers[number].start(self.table)
            self._say_have(number)
            for other in range(len(self.peers)):
                core = self.peers[other].core
                if core is not None and other != number:
                    self._send(other, number, core.have())

    # -- what has to hold

    def live(self) -> list[SimPeer]:
        """The peers that run."""
        return [peer for peer in self.peers if peer.core is not None]

    def check_secrets(self) -> None:
        """Nobody holds what opens a card that is neither open nor in the own hand."""
        for peer in self.live():
            round_ = peer.round
            if round_ is None or round_.everything().agreement is None:
                continue
            lens, number = round_.everything(), round_.number_of[peer.me]
            state, deal = lens.state, lens.agreement
            if state is None or deal is None or lens.phase in (Phase.ENDING, Phase.REVEAL, Phase.CLOSED):
                continue
            allowed = set(state.hands[deal.seat_of[number]])
            mine = peer.state()
            for position in range(len(state.faces)):
                if state.is_public(position) or position in allowed:
                    continue
                if mine.faces[position] >= 0:
                    raise Wrong(f"{peer.name} sees the card at {position}")
                if not lens.missing(position, besides=number) and not self._was_called(round_, position):
                    raise Wrong(f"{peer.name} could open the card at {position}")

    @staticmethod
    def _was_called(round_: Round, position: int) -> bool:
        # Shares given to one who drew a card stay given when the card has gone on into another place.
        calls = [*round_.unmet, *(call for node in round_.nodes.values() for call in node.calls)]
        return any(call.position == position for call in calls)

    def check_finals(self) -> None:
        """All agree on every ending, and none that was there is ever lost or another."""
        for peer in self.live():
            for round_ in peer.session.ended_rounds():
                final = round_.everything().final
                digest = final.digest if final is not None else b""
                if self.finals.setdefault(round_.contract, digest) != digest:
                    raise Wrong(f"{peer.name} has another ending")

    def check_blame(self) -> None:
        """Nobody honest is blamed, and no feed is forked."""
        for peer in self.live():
            session = peer.session
            if session.table_faults or session.feeds.forks:
                raise Wrong(f"{peer.name}: {session.table_faults} {session.feeds.forks}")
            for round_ in session.rounds.values():
                if round_.everything().faults or round_.on_record:
                    raise Wrong(f"{peer.name} blames: {round_.everything().faults} {round_.on_record}")

    def check_digests(self) -> None:
        """All who hold the same last link of a chain have the same digest of it."""
        digests: dict[bytes, bytes] = {}
        for peer in self.live():
            for round_ in peer.session.rounds.values():
                lens = round_.everything()
                # While a flipped card is being opened, its face is known to some already.
                if lens.tip is None or lens.state_at(lens.tip).awaiting:
                    continue
                digest = lens.digest(lens.tip)
                if digests.setdefault(lens.tip.id, digest) != digest:
                    raise Wrong(f"{peer.name} has another digest")

    def check(self) -> None:
        """Everything that holds at any moment."""
        self.check_secrets()
        self.check_finals()
        self.check_blame()
        self.check_digests()

    # -- a whole schedule

    def settled(self) -> bool:
        """Whether every running peer has seen the round to its end."""
        return all(
            (round_ := peer.round) is not None and round_.everything().phase is Phase.CLOSED
            for peer in self.peers
            if peer.core is not None
        ) and len(self.live()) == len(self.peers) - (self.away is not None)

    def play(self) -> str:
        """Plays the schedule to its end; how the round has ended. Raises `Wrong`."""
        self.run(0.5)
        self._offered = [peer.me for peer in self.peers]
        self._take(0, Wish(self._offer))
        self.plan()
        self.run(self.now + 15.0, self.settled)
        self.check()
        # From now on nothing more goes wrong: the round has to end, or to say for whom it waits.
        if self.calms:
            self._calm_at = self.now
        for peer in self.peers:
            if peer.disk.crash_at:
                peer.disk.crash_at = ""
        self.run(self.now + 120.0, self.settled)
        self.check()
        if self.away is None and not self.settled():
            raise Wrong(f"the round does not end: {self.describe()}")
        if not any(peer.core is not None and peer.core.may_write for peer in self.peers):
            # Somebody who came back alone writes nothing: nobody can say what it may have sent before.
            return "alone"
        if self.away is not None and not self.settled():
            self._void()
        final = self.live()[0].round
        ending = final.everything().final if final is not None else None
        return ending.kind if ending is not None else "not begun"

    def _lacks_seeds_only(self) -> bool:
        """Whether everybody has the final ending and no longer waits for the seeds that are missing."""
        rounds = [(peer.session, peer.round) for peer in self.live()]
        return all(
            round_ is not None and round_.everything().final is not None and session.is_over(round_, self.now)
            for session, round_ in rounds
        )

    def _void(self) -> None:
        """One stays away: everybody waits for it alone, and may give the round up."""
        away = self.peers[self.away or 0]
        for peer in self.live():
            round_ = peer.round
            if round_ is None:
                continue
            lens = round_.everything()
            waits = peer.session.waiting_for(self.now)
            if not waits and lens.phase not in (Phase.CLOSED, Phase.DEAD):
                raise Wrong(f"{peer.name} waits and cannot say for whom")
            if any(round_.roster[duty.number] != away.me for duty, _ in waits):
                raise Wrong(f"{peer.name} waits for somebody who is there: {waits}")
        first = self.live()[0]
        round_ = first.round
        if round_ is None or round_.everything().agreement is None:
            return
        if self._lacks_seeds_only():
            # It had signed the ending and went before its seed: the round has ended, and nothing is given up.
            return
        number = self.peers.index(first)

        def give_up(core: Core) -> list[e.Body]:
            body = core.session.leave_round(core.session.overdue(self.now))
            return [body] if body is not None else []

        self._take(number, Wish(give_up))
        self.run(self.now + 60.0, self.settled)
        self.check()
        if not self.settled():
            raise Wrong(f"a round that was given up does not end: {self.describe()}")

    def describe(self) -> str:
        """Where everybody stands, for whoever looks at a schedule that failed."""
        found = [f"kills: {'; '.join(self.kills)}"]
        for peer in self.peers:
            if peer.core is None:
                found.append(f"{peer.name}: not running")
                continue
            phase = peer.round.everything().phase if peer.round is not None else None
            found.append(
                f"{peer.name}: {phase}, {len(peer.session.feeds.by_id)} entries, writes: {peer.core.may_write}, "
                f"waits for {peer.session.waiting_for(self.now)}, lacks {len(peer.session.missing())}"
            )
        return "\n".join(found)


def simulation_of(seed: int) -> Simulation:
    """The schedule of a seed: the seed says how many play and how bad the weather is."""
    random = Random(f"weather {seed}")
    weather = Weather(
        loss=random.choice((0.0, 0.1, 0.3)),
        doubled=random.choice((0.0, 0.1)),
        slow=random.choice((0.0, 0.1, 0.4)),
        kills=random.randrange(7),
        cuts=random.randrange(4),
        one_stays_away=random.random() < 0.2,
    )
    return Simulation(seed, random.choice((2, 3, 3, 4)), weather)


def boundary(number: int, seq: int, moment: str, players: int = 4) -> Simulation:
    """A round in good weather, of which one player is killed at its own entry ``seq``."""
    weather = Weather(loss=0.0, doubled=0.0, slow=0.0, kills=0, cuts=0)
    made = Simulation(1, players, weather)
    made.peers[number].disk.crash_at = moment
    made.peers[number].disk.crash_seq = seq
    return made


def own_entries(players: int = 4) -> list[int]:
    """How many entries each player writes in the round of `boundary` in which nobody is killed."""
    made = boundary(0, 1_000_000, MOMENTS[0], players)
    made.play()
    return [peer.disk.own_seq + 1 for peer in made.peers]

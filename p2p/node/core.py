"""The part of a node that runs off the event loop: store and session, one step at a time.

Each step is one transaction: what came in and what had to be written because of it is on disk before anything
of it is handed back to be sent. A core is used by one thread at a time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine.errors import Sentence, ShitheadError
from p2p.canonical import NotCanonical
from p2p.dealing import Dealing
from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry, Unreadable, entry_id, make_entry, read_entry, signature_fits
from p2p.feeds.facts import size_of
from p2p.feeds.identity import fold_name
from p2p.network.budget import ENTRY_OVERHEAD_BYTES
from p2p.network.frames import Have
from p2p.node.store import Store
from p2p.node.sync import make_have
from p2p.rounds import roundfile
from p2p.rounds.fold import settled_by_all
from p2p.rounds.news import News, Reporter
from p2p.rounds.phases import Phase, goes_on
from p2p.rounds.round import Round
from p2p.rounds.session import SEED_GONE, Job, Session

BodyMaker = Callable[["Core"], Sequence[e.Body]]
"""What a person or the node wants to write; runs inside the step and may raise ``ShitheadError``."""


CATCH_UP_S: Final = 10.0
"""How long after a restart a peer waits for an own entry that a member claims to hold. The member sends it at
once if it is true; if it is not, one lie must not keep anybody from playing."""


MAX_ASKED: Final = 256
"""Missing entries asked for at once; the others with the next frames that come, in turn: whoever names thousands
that there are not must not keep those from being asked for that there are."""

_OWN_FULL: Final = (
    "You have written at this table all that one player may write at one. To play on, open a new table."
)

_FULL: Final = (
    "{name} has written at this table nearly all that one player may write at one, and no further round can begin "
    "with {name}. At a new table there is room again."
)

_TOO_BIG: Final = (
    "its file would have {size} MB, and one of more than {most} MB can't be checked; {name} alone has written "
    "{part} MB at this table. A new table begins with small files"
)

_OWN_GAP: Final = (
    "Some of your entries at this table have gone from your data. They are fetched from the others; until they "
    "are here, this program writes nothing."
)


@dataclass(slots=True)
class Wish:
    """A wish to write, and what became of it."""

    make: BodyMaker
    problem: ShitheadError | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """Entries of one frame from a linked peer."""

    peer: bytes
    entries: Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Done:
    """A job's outcome."""

    job: Job
    outcome: object


Input = Wish | Arrival | Done


@dataclass(slots=True)
class Outcome:
    """What a step has led to."""

    fresh: list[tuple[Entry, bytes | None]] = field(default_factory=list)
    """Entries to pass on, each with the peer it came from (None: own)."""
    news: tuple[News, ...] = ()
    ask: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    """Peer → ids to ask it for."""
    jobs: list[Job] = field(default_factory=list)
    """Arithmetic to be done; any of them may run beside the others."""
    saved: list[tuple[Round, Path]] = field(default_factory=list)
    checked: dict[bytes, int] = field(default_factory=dict)
    """Peer → what it sent that was not held yet: bytes, and ``ENTRY_OVERHEAD_BYTES`` for each entry."""


def _is_settled(round_: Round) -> bool:
    lens = round_.everything()
    return lens.final is not None or lens.phase is Phase.DEAD


class Core:
    """Store and session of one table."""

    def __init__(
        self,
        table: bytes,
        key: Ed25519PrivateKey,
        store: Store,
        dealing: Dealing,
        rounds_dir: Path | None,
        program: str,
    ) -> None:
        """Takes up the table where the store left it. ``rounds_dir`` None: rounds are not saved.

        Raises ``StoreProblem``.
        """
        self.key = key
        self.me = key.public_key().public_bytes_raw()
        self.store = store
        self.session = Session(table, dealing, self.me, os.urandom)
        self.reporter = Reporter(self.session)
        self.rounds_dir = rounds_dir
        self.program = program
        self.unreadable = 0
        """Entries that were dropped because they could not be read or were not signed."""
        self._asked = 0
        """How many missing entries have been asked for: where to go on when there are too many for one frame."""
        self._saved: set[bytes] = set()
        self._unsaved: set[bytes] = set()
        """Rounds whose files the disk did not take: tried again with the next round's, and at the next start."""
        self._load(store.load(table))
        others = self.session.members().keys() - {self.me}
        self._told = bool(self.session.members()) and not others
        """False after a restart until a member has told what it holds: an own entry may have been sent that
        a restored backup does not know of, be it the first one; and where the disk knows nothing of the table."""
        head = store.own_head(table)
        self._lost_head = head[1] if head is not None and head[1] not in self.session.feeds.by_id else b""
        """The newest own entry on disk, where entries before it have gone from there: until others have sent
        those, nothing may be written, or a number would be used twice."""
        self._notices = [Sentence("own_gap", _OWN_GAP, {})] if self._lost_head else []
        self._told_full: set[bytes] = set()
        self._seedless: set[bytes] = set()
        self._take_secrets()
        self._heard = False
        self._own_heads: dict[bytes, float] = {}
        self._now = 0.0
        files = roundfile.list_rounds(rounds_dir) if rounds_dir is not None else []
        on_disk = {path.stem.rpartition("-")[2] for path in files}
        # A round that was settled when the program was killed may still lack its file; and the file of one that
        # this peer had left, and has come back to, is of the part until then.
        self._saved.update(
            contract
            for contract, round_ in self.session.rounds.items()
            if (contract[: roundfile.NAMED_BYTES].hex() in on_disk or rounds_dir is None) and _is_settled(round_)
        )
        self.known = {p.key: (p.rounds, p.met_at) for p in store.players()}
        self.known_names = {fold_name(p.name): p.key for p in reversed(store.players())}
        self._noted: set[bytes] = set()

    def _load(self, entries: Sequence[Entry]) -> None:
        """Folds what the store holds. Not done again is arithmetic that this peer has done before: the proofs of
        a round that it has agreed to, and all of one that everybody has signed."""
        self.session.settled = settled_by_all(entries)
        agreed = {entry.contract for entry in entries if entry.kind == "agreed" and entry.author == self.me}
        for entry in entries:
            self.session.receive(entry)
            # Without an own part in memory yet, the only arithmetic there can be is that of checking proofs.
            while (job := self.session.job()) is not None:
                trusted = job.contract in agreed and not self.session.feeds.forks
                self.session.finish(job, () if trusted else job.run())
        # What still comes of these rounds, a late seed for instance, is checked.
        self.session.settled = frozenset()

    def _take_secrets(self) -> None:
        """Takes the stored secrets of the rounds that this peer takes part in, and notes where one has gone."""
        self.session.restore(self.store.secret)
        for round_ in self.session.rounds.values():
            number, lens = round_.number_of.get(self.me), round_.everything()
            owes = number is not None and lens.first("accept", number) is not None and goes_on(lens.phase)
            if owes and round_.contract not in self._seedless and self.store.secret(round_.contract) is None:
                self._seedless.add(round_.contract)
                self._notices.append(Sentence("seed_gone", SEED_GONE, {"round": round_.terms.round}))

    # -- steps ---------------------------------------------------------------------------------------

    def step(self, inputs: Sequence[Input], now: float) -> Outcome:
        """Takes in inputs and writes what is owed, in one transaction. Raises ``StoreProblem``."""
        out = Outcome()
        self._now = now
        with self.store.step():
            for item in inputs:
                match item:
                    case Arrival():
                        self._arrived(item, out)
                    case Wish():
                        self._wished(item, out)
                    case Done():
                        for fact in self.session.finish(item.job, item.outcome):
                            self._keep(fact.entry, None if fact.author == self.me else fact.author, out)
            self._write_owed(out)
            self._note_players()
            self.session.tick(now)
        self._note_full()
        notices, self._notices = self._notices, []
        out.news = (*(News("error", {"sentence": notice}) for notice in notices), *self.reporter.news())
        self._save_ended(now, out)
        while (job := self.session.job()) is not None:
            out.jobs.append(job)
        return out

    def _keep(self, entry: Entry, source: bytes | None, out: Outcome) -> None:
        self.store.add(entry)
        out.fresh.append((entry, source))

    def _arrived(self, arrival: Arrival, out: Outcome) -> None:
        for data, signature in arrival.entries:
            if entry_id(data) in self.session.feeds.by_id:
                continue
            cost = len(data) + ENTRY_OVERHEAD_BYTES
            out.checked[arrival.peer] = out.checked.get(arrival.peer, 0) + cost
            try:
                entry = read_entry(data, signature)
            except (Unreadable, NotCanonical):
                self.unreadable += 1
                continue
            if not signature_fits(entry):
                self.unreadable += 1
                continue
            for fact in self.session.receive(entry):
                self._keep(fact.entry, arrival.peer, out)
                # Who opens a table has nobody to ask what was there before.
                self._told |= fact.entry.kind == "open" and fact.author == arrival.peer == self.me
                if fact.entry.kind == "accept" and fact.author == self.me:
                    self._take_secrets()  # an own entry that this disk had lost
        missing = sorted(self.session.missing())
        if missing:
            first = self._asked % len(missing) if len(missing) > MAX_ASKED else 0
            self._asked += MAX_ASKED
            out.ask[arrival.peer] = tuple(missing[first:] + missing[:first])[:MAX_ASKED]

    def _wished(self, wish: Wish, out: Outcome) -> None:
        try:
            if not self.may_write:
                raise LocalProtocolError("catching_up", "Still catching up with the table: try again in a moment.")
            if self._is_full():
                raise LocalProtocolError("own_feed_full", _OWN_FULL)
            bodies = wish.make(self)
        except ShitheadError as problem:
            wish.problem = problem
            return
        for body in bodies:
            self._write(body, out)

    def _write(self, body: e.Body, out: Outcome) -> Entry:
        while self.session.lags:
            self._sign(e.Mark(), out)
        return self._sign(body, out)

    def _sign(self, body: e.Body, out: Outcome) -> Entry:
        seq, prev = self.session.head()
        entry = make_entry(self.key, self.session.table, seq, prev, self.session.seen(), body)
        self.store.add(entry, is_new=True)
        out.fresh.append((entry, None))
        self.session.receive(entry)
        return entry

    def _write_owed(self, out: Outcome) -> None:
        if not self.may_write or self._is_full():
            return
        while (write := self.session.next_write()) is not None:
            entry = self._write(write.body, out)
            if write.secret is not None:
                self.store.keep_secret(entry.contract, *write.secret)

    def _is_full(self) -> bool:
        """Whether what this peer writes would not be taken in any more, by itself or by others."""
        seq, _ = self.session.head()
        needed = e.MAX_ENTRY_BYTES + e.SIGNATURE_BYTES
        return seq >= e.MAX_FEED_ENTRIES or self.session.room_bytes(self.me) < needed

    def require_room(self, players: Sequence[bytes]) -> None:
        """Raises ``LocalProtocolError`` unless each of these may still write as much as a round takes."""
        members = self.session.members()
        full = [members[key].name for key in players if self.session.room_bytes(key) < e.ROUND_BYTES]
        if full:
            raise LocalProtocolError(
                "no_room",
                "{names} can't play a further round here: all that one player may write at one table is nearly "
                "written. Go on at a new table, or without them.",
                names=tuple(full),
            )

    def _note_full(self) -> None:
        """Says once for whom there is no room for a further round."""
        for key, member in self.session.members().items():
            if key not in self._told_full and self.session.room_bytes(key) < e.ROUND_BYTES:
                self._told_full.add(key)
                self._notices.append(Sentence("feed_full", _FULL, {"name": member.name}))

    def _note_players(self) -> None:
        for key, member in self.session.members().items():
            if key != self.me and key not in self._noted:
                self._noted.add(key)
                self.store.note_player(key, member.name, datetime.now(UTC).date().isoformat())

    # -- sync ----------------------------------------------------------------------------------------

    def have(self) -> Have:
        """What this peer holds, to be told to others."""
        return make_have(self.session.table, self.session.feeds)

    def note_have(self, have: Have) -> None:
        """A member has told what it holds: once its version of the own feed is here, writing may go on."""
        if not self._told:
            # Only after a restart, and only from the first who tell: a claim is no proof, and holds writing up
            # for a while only. What was really sent before comes within moments.
            claimed = [ident for author, _, ident in have.heads if author == self.me]
            self._own_heads.update(dict.fromkeys(claimed, self._now))
        self._told = self._heard = True

    @property
    def has_heard(self) -> bool:
        """Whether, since the start, a member has told what it holds."""
        return self._heard

    @property
    def may_write(self) -> bool:
        """Whether this peer knows its own feed as far as anybody has it."""
        held = self.session.feeds.by_id
        if self._lost_head and self._lost_head not in held:
            return False
        return self._told and all(
            ident in held or self._now - since > CATCH_UP_S for ident, since in self._own_heads.items()
        )

    # -- files ---------------------------------------------------------------------------------------

    def _save_ended(self, now: float, out: Outcome) -> None:
        for round_ in self.session.rounds.values():
            lens = round_.everything()
            if round_.contract in self._saved or not self.session.is_over(round_, now):
                continue
            self._saved.add(round_.contract)
            if lens.phase is Phase.DEAD and not lens.faults:
                continue
            self.save(round_, out)
            if round_.contract not in self._unsaved:
                for contract in tuple(self._unsaved):
                    self.save(self.session.rounds[contract], out)

    def save(self, round_: Round, out: Outcome) -> None:
        """Writes the file of a round; a full disk becomes news, not a failure of the table."""
        if self.rounds_dir is None:
            self._count_round(round_)
            return
        moment = datetime.now(UTC)
        lens = round_.everything()
        ending = lens.final or lens.ending
        head = roundfile.Head(
            round_.contract,
            round_.terms.round,
            moment.isoformat(timespec="seconds"),
            self.program,
            self.me,
            ending.kind if ending is not None else str(lens.phase),
        )
        entries = [fact.entry for fact in sorted(self.session.feeds.by_id.values(), key=lambda fact: fact.order)]
        if roundfile.size_of(entries) > roundfile.MAX_FILE_BYTES:
            # Nobody could read it. That of the next round holds all this and more: no use in trying again.
            self._unsaved.discard(round_.contract)
            reason = self._too_big(entries)
            out.news += (News("unsaved", {"round": round_.terms.round, "sentence": reason}),)
            self._count_round(round_)
            return
        name = roundfile.file_name(
            moment.date().isoformat(), self.session.name, round_.terms.round, round_.contract
        )
        try:
            path = roundfile.write(self.rounds_dir, name, roundfile.encode(head, entries))
        except OSError as error:
            self._unsaved.add(round_.contract)
            out.news += (News("unsaved", {"round": round_.terms.round, "reason": error.strerror or ""}),)
            return
        self._unsaved.discard(round_.contract)
        roundfile.remove_older(self.rounds_dir, path)
        out.saved.append((round_, path))
        out.news += (News("saved", {"path": str(path), "round": round_.terms.round}),)
        self._count_round(round_)

    def _too_big(self, entries: Sequence[Entry]) -> Sentence:
        """How big the file of a round would be, and who has made it so."""
        written: Counter[bytes] = Counter()
        for entry in entries:
            written[entry.author] += size_of(entry)
        ((author, part),) = written.most_common(1)
        member = self.session.members().get(author)
        return Sentence(
            "round_too_big_to_save",
            _TOO_BIG,
            {
                "size": roundfile.size_of(entries) // 10**6,
                "most": roundfile.MAX_FILE_BYTES // 10**6,
                "name": member.name if member is not None else author[:4].hex(),
                "part": part // 10**6,
            },
        )

    def _count_round(self, round_: Round) -> None:
        """Notes a round that came to its end with those it was played with; its seed is public now."""
        final = round_.everything().final
        if final is not None and final.kind in ("finished", "stalled"):
            with self.store.step():
                for key in round_.roster:
                    if key != self.me:
                        self.store.count_round(key)
                self.store.forget_secret(round_.contract)

    def save_unfinished(self, out: Outcome) -> None:
        """On the way out: the file of a round that goes on without this peer."""
        round_ = self.session.current()
        if round_ is None or round_.contract in self._saved:
            return
        if round_.everything().agreement is not None and self.me in round_.number_of:
            self._saved.add(round_.contract)
            self.save(round_, out)

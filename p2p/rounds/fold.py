"""The fold of one table: entries in, what they amount to out. Sans-IO (docs/protocol.md, 1).

A ``Fold`` knows no socket, disk or clock, and nobody's secrets. Whoever drives it hands it entries (``receive``)
and has the heavy arithmetic done for it (``job``, ``finish``). By itself it is the audit; ``p2p.rounds.session``
adds what one peer has to do with its own identity. There is one way in for entries, live and in the audit.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from engine.rules import ENGINE_REVISION
from p2p.dealing import Dealing, OwnShuffle
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.feeds.facts import Fact, Feeds, body_of, size_of
from p2p.feeds.faults import Breach, Fault
from p2p.feeds.identity import is_identity
from p2p.rounds.judge import Unverified, judge
from p2p.rounds.members import Member, Membership, NotNow, check_admission, check_start, next_terms
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round

MAX_HELD_PER_AUTHOR: Final = 64
"""PROTOCOL 3: entries that wait for their past. An honest peer sends an entry only after its past, so more
than a few wait only where datagrams overtake each other through several peers."""

MAX_HELD_STRANGERS: Final = 32
"""Authors not known to be let in for whom entries are held: their admission may be under way, but keys cost
nothing. They share these places; members have their own, which no stranger can fill."""

MAX_NAMED_VERSIONS: Final = 64
"""Versions of one number that are kept at most: as many as there can be feeds to name them."""

MAX_VERSIONS: Final = 4
"""Versions of one number that are kept unasked. Two are proof enough; what entries of others name in their
past is kept beyond it, so that everybody's past can be followed. Ten players and some bystanders, each told other
versions, name fewer than ``MAX_NAMED_VERSIONS`` in all."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Arithmetic to be done off the event loop: call ``run``, hand the outcome to ``Session.finish``."""

    kind: str
    """``shuffle``, ``prove``, ``begin`` (the checks of proofs) or ``verify``."""
    contract: bytes
    run: Callable[[], object]
    facts: tuple[Fact, ...] = ()


def settled_by_all(entries: Iterable[Entry]) -> frozenset[bytes]:
    """The contracts of rounds of which everybody on the roster has signed one and the same result.

    Whoever is honest has checked every proof and share before signing; how such a round ended is settled, and
    what the next one takes from it (who deals, who sat where) follows from the entries without their arithmetic.
    """
    rosters: dict[bytes, frozenset[bytes]] = {}
    signed: dict[tuple[bytes, bytes], set[bytes]] = {}
    for entry in entries:
        match entry.body:
            case e.Start():
                rosters[entry.id] = frozenset(key for key, _, _ in entry.body.roster)
            case e.Result():
                signed.setdefault((entry.contract, entry.body.ending), set()).add(entry.author)
    return frozenset(
        contract for (contract, _), authors in signed.items() if rosters.get(contract, {b""}) <= authors
    )


class Fold:
    """One table, as anybody who holds the same entries sees it."""

    def __init__(self, table: bytes, dealing: Dealing) -> None:
        """``table``: the table's id."""
        self.table = table
        self.dealing = dealing
        self.feeds = Feeds()
        self.rounds: dict[bytes, Round] = {}
        self.membership = Membership(None, [], [])
        self.table_faults: list[Fault] = []
        self.dropped: Counter[str] = Counter()
        self.settled: frozenset[bytes] = frozenset()
        """Rounds whose arithmetic has been checked before or is somebody else's to check (``settled_by_all``)."""
        self.full: set[bytes] = set()
        """Authors whose feeds have reached ``MAX_FEED_BYTES``."""
        self._members: tuple[tuple[Fact | None, int, int], dict[bytes, Member]] | None = None
        """The members now, and the entries that this was found from."""
        self._held: dict[bytes, Entry] = {}
        self._waiting: dict[bytes, set[bytes]] = {}
        self._unverified: dict[bytes, Entry] = {}
        self._busy: set[tuple[str, bytes]] = set()

    def trusts(self, fact: Fact) -> bool:
        """Whether keys, decks, proofs, shares and seeds of an entry are taken as right without the arithmetic."""
        return fact.entry.contract in self.settled

    def _plays_in(self, round_: Round) -> bool:
        """Whether this program is on the roster of a round."""
        return False

    # -- entries in --------------------------------------------------------------------------------

    def receive(self, entry: Entry) -> tuple[Fact, ...]:
        """Takes in an entry whose signature fits. Returns the facts folded now, in causal order.

        An entry waits until its past is here. Nothing raises: what cannot be an honest entry becomes a
        fault if signed bytes prove one, otherwise it is dropped and counted in ``dropped``.
        """
        if entry.table != self.table:
            self.dropped["other_table"] += 1
            return ()
        if entry.id in self.feeds.by_id or entry.id in self._held or entry.id in self._unverified:
            return ()
        folded: list[Fact] = []
        ready = deque([entry])
        while ready:
            following = ready.popleft()
            missing = self._missing(following)
            if following.author in self.full and following.prev in missing:
                # Nobody takes in the one before it either: it would wait for ever.
                self.dropped["feed_full"] += 1
                continue
            if missing:
                self._hold(following, missing)
                continue
            fact = self._fold(following)
            if fact is not None:
                folded.append(fact)
                ready.extend(self._released(fact.id))
        return tuple(folded)

    @property
    def waits_for_proofs(self) -> bool:
        """Whether an entry is held until proofs in its past have been checked."""
        return bool(self._unverified)

    def room_bytes(self, author: bytes) -> int:
        """How much an author may still write at this table (on the first branch, where there are two)."""
        line = self.feeds.line.get(author)
        return e.MAX_FEED_BYTES - (line[-1].feed_bytes if line else 0)

    def missing(self) -> frozenset[bytes]:
        """Ids that held entries wait for and that nobody has sent yet."""
        return frozenset(i for i in self._waiting if i not in self._held and i not in self._unverified)

    def _missing(self, entry: Entry) -> list[bytes]:
        named = [*entry.seen, *([entry.prev] if entry.seq else [])]
        return [ident for ident in named if ident not in self.feeds.by_id]

    def _hold(self, entry: Entry, missing: Iterable[bytes]) -> None:
        authors = Counter(held.author for held in self._held.values())
        strangers = authors.keys() - self.membership.ever()
        crowded = (
            entry.author not in authors
            and entry.author not in self.membership.ever()
            and len(strangers) >= MAX_HELD_STRANGERS
        )
        if crowded or authors[entry.author] >= MAX_HELD_PER_AUTHOR:
            self.dropped["held_full"] += 1
            return
        self._held[entry.id] = entry
        for ident in missing:
            self._waiting.setdefault(ident, set()).add(entry.id)

    def _released(self, ident: bytes) -> list[Entry]:
        return [
            held
            for waiting in sorted(self._waiting.pop(ident, ()))
            if (held := self._held.get(waiting)) is not None
            and not self._missing(held)
            and self._held.pop(waiting, None) is not None
        ]

    def _fold(self, entry: Entry) -> Fact | None:
        if not self._fits_feed(entry):
            return None
        fact = self.feeds.make(entry)
        if not self._is_known(fact):
            self.dropped["stranger"] += 1
            return None
        try:
            self._judge(fact)
        except Unverified:
            waiting = sum(other.author == entry.author for other in self._unverified.values())
            if waiting < MAX_HELD_PER_AUTHOR:
                self._unverified[entry.id] = entry
            else:
                self.dropped["held_full"] += 1
            return None
        versions = self.feeds.add(fact)
        if versions is not None:
            self._note_fork(fact, versions)
        return fact

    def _fits_feed(self, entry: Entry) -> bool:
        """Whether the entry continues a feed of somebody who belongs to the table; else it is dropped."""
        if entry.seq:
            prev = self.feeds.by_id[entry.prev]
            if prev.author != entry.author or prev.seq != entry.seq - 1:
                self.dropped["chain"] += 1
                return False
            if prev.feed_bytes + size_of(entry) > e.MAX_FEED_BYTES:
                self.dropped["feed_full"] += 1
                self.full.add(entry.author)
                self._forget_waiting(entry.id)
                return False
        if entry.kind == "open":
            return entry.id == self.table and is_identity(entry.author)
        versions = self.feeds.forks.get(entry.author, {}).get(entry.seq, ())
        most = MAX_NAMED_VERSIONS if self._is_named_by_member(entry.id) else MAX_VERSIONS
        if len(versions) >= most:
            self.dropped["versions"] += 1
            return False
        return True

    def _forget_waiting(self, ident: bytes) -> None:
        """Drops what waits for an entry that nobody takes in, and what waits for that."""
        gone = [ident]
        while gone:
            for waiting in self._waiting.pop(gone.pop(), ()):
                if self._held.pop(waiting, None) is not None:
                    self.dropped["feed_full"] += 1
                    gone.append(waiting)

    def _is_named_by_member(self, ident: bytes) -> bool:
        """Whether an entry of somebody who was let in waits for this id; a stranger's naming says nothing."""
        waiting = (self._held.get(held) for held in self._waiting.get(ident, ()))
        ever = self.membership.ever()
        return any(held is not None and held.author in ever for held in waiting)

    def _is_known(self, fact: Fact) -> bool:
        """Whether the past of an entry shows that its author was let in; the feed's first entry settles it."""
        return fact.seq > 0 or fact.entry.kind == "open" or self.membership.lets_in(fact, self.feeds.in_past)

    def _note_fork(self, fact: Fact, versions: list[Fact]) -> None:
        for other in versions:
            if other is fact:
                continue
            pair = tuple(sorted((other, fact), key=lambda version: version.id))
            ids = tuple(version.id for version in pair)
            fault = Fault(fact.author, "fork", ids, fact.seq, pair[0].entry.kind)
            # An offer touches the round that it makes, any other entry the one that it belongs to.
            rounds = [self.rounds.get(version.id) or self._round_of(version) for version in pair]
            touched = {
                round_.contract: round_
                for round_ in rounds
                if round_ is not None and fact.author in round_.number_of
            }
            for round_ in touched.values():
                round_.faults.append((fault, pair))
                round_.changed()
            if not touched:
                self.table_faults.append(fault)

    # -- judging -----------------------------------------------------------------------------------

    def _judge(self, fact: Fact) -> None:
        entry = fact.entry
        if self._bad_seen(fact):
            self._blame(fact, Breach("bad_seen"))
            return
        round_ = self._round_of(fact)
        if round_ is not None:
            if entry.kind == "proof" and self.trusts(fact):
                round_.verified[fact.id] = True
                round_.changed()
            judge(round_, fact)
            return
        try:
            self._judge_at_table(fact)
        except Breach as breach:
            self._blame(fact, breach)

    def _blame(self, fact: Fact, breach: Breach) -> None:
        fault = Fault(fact.author, breach.code, (fact.id,), fact.seq, fact.entry.kind, breach.reason)
        round_ = self._round_of(fact)
        if round_ is not None and fact.author in round_.number_of:
            round_.faults.append((fault, (fact,)))
            round_.changed()
        else:
            self.table_faults.append(fault)

    def _round_of(self, fact: Fact) -> Round | None:
        """The round that an entry belongs to; None for a table entry, or where its past has no such offer."""
        round_ = self.rounds.get(fact.entry.contract)
        if round_ is None or fact.entry.kind not in e.ROUND_KINDS:
            return None
        return round_ if self.feeds.in_past(fact, round_.start) else None

    def _bad_seen(self, fact: Fact) -> bool:
        named = [self.feeds.by_id[ident] for ident in fact.entry.seen]
        if any(one.author == fact.author for one in named):
            return True
        # Two branches of one feed may be named: that is how a past comes to hold the proof of a fork.
        return any(self.feeds.reaches(a, b) for a in named for b in named if a is not b and a.author == b.author)

    def _judge_at_table(self, fact: Fact) -> None:
        body = fact.entry.body
        match body:
            case e.Malformed():
                raise Breach("bad_schema", body.reason)
            case e.Mark():
                # It says nothing, so it breaks nothing: somebody sent away meanwhile may have written it.
                pass
            case e.Open():
                if self.membership.opening is not None:
                    raise Breach("bad_kind", "opened twice")
                self.membership.opening = fact
            case e.Admit():
                self._require_member(fact, self.members(fact))
                self.check_admission(body, fact)
                self.membership.admissions.append(fact)
            case e.Dismiss():
                members = self.members(fact)
                self._require_member(fact, members)
                if body.key not in members or self.is_seated(body.key, fact):
                    raise Breach("bad_kind", "dismisses somebody who cannot be")
                self.membership.departures.append((body.key, fact))
            case e.Leave() if body.contract == self.table:
                members = self.members(fact)
                self._require_member(fact, members)
                if self.is_seated(fact.author, fact):
                    raise Breach("bad_kind", "leaves the table in a round")
                self.membership.departures.append((fact.author, fact))
            case e.Start():
                self._judge_start(fact, body)
            case _:
                # A round entry whose contract is not in its past means nothing to anybody.
                self.dropped["no_contract"] += 1

    def check_admission(self, body: e.Admit, of: Fact | None = None) -> None:
        """Raises ``Breach`` unless somebody may be let in so, in the past of ``of`` or now."""
        check_admission(body, self.members(of))
        admitted = sum(of is None or self.feeds.in_past(of, one) for one in self.membership.admissions)
        if admitted >= e.MAX_ADMISSIONS:
            raise Breach("bad_kind", "more admissions than a table may have")

    def _require_member(self, fact: Fact, members: dict[bytes, Member]) -> None:
        if fact.author not in members:
            raise Breach("bad_kind", "not a member of the table")

    def is_seated(self, key: bytes, of: Fact | None = None) -> bool:
        """Whether ``key`` plays in a round that all have agreed on and that is not settled, in the past of
        ``of`` or now."""
        for round_ in self.rounds.values():
            if key in round_.number_of and (of is None or self.feeds.in_past(of, round_.start)):
                lens = round_.everything() if of is None else Lens(round_, of)
                if lens.agreement is not None and lens.final is None:
                    number = round_.number_of[key]
                    if number not in lens.gone | lens.debtors | lens.culprits:
                        return True
        return False

    def _judge_start(self, fact: Fact, body: e.Start) -> None:
        members = self.members(fact)
        self._require_member(fact, members)
        lenses = {
            contract: Lens(round_, fact)
            for contract, round_ in self.rounds.items()
            if self.feeds.in_past(fact, round_.start)
        }
        if any(lens.agreement is None and lens.unverified for lens in lenses.values()):
            raise Unverified
        roster = tuple(key for key, _, _ in body.roster)
        try:
            expected = next_terms(
                self.table,
                self.rounds,
                lambda round_: lenses.get(round_.contract),
                roster,
                tuple(members),
                fact.author,
            )
        except NotNow:
            raise Breach("bad_start", "a round is going on") from None
        rules = check_start(body, expected, members)
        self.rounds[fact.id] = Round(
            self.feeds, fact, self.dealing, rules, self.trusts, is_foreign=body.engine_revision != ENGINE_REVISION
        )

    # -- what there is -----------------------------------------------------------------------------

    def members(self, of: Fact | None = None) -> dict[bytes, Member]:
        """Key → member in order of admission, in the past of ``of``, or now."""
        if of is None:
            stand = (self.membership.opening, len(self.membership.admissions), len(self.membership.departures))
            if self._members is None or self._members[0] != stand:
                self._members = (stand, self.membership.members(lambda fact: True, self.feeds.in_past))
            return dict(self._members[1])
        return self.membership.members(lambda fact: self.feeds.in_past(of, fact), self.feeds.in_past)

    @property
    def name(self) -> str:
        """The table's name; empty before its opening is here."""
        opening = self.membership.opening
        return body_of(opening, e.Open).table if opening is not None else ""

    @property
    def host(self) -> bytes | None:
        """The key of whoever opened the table."""
        opening = self.membership.opening
        return opening.author if opening is not None else None

    def current(self) -> Round | None:
        """The round that counts now: one that all have agreed on and that goes on, else the newest.

        Any two members can play a round of their own, so that one's own comes first. One of another engine
        revision, whose numbers nobody here can judge, counts only where there is no other.
        """
        best: Round | None = None
        rank: tuple[bool, bool, bool, bool, int, bool, int, bytes] | None = None
        mine = [round_ for round_ in self.rounds.values() if self._plays_in(round_) and not round_.is_foreign]
        played = max((round_.terms.round for round_ in mine if round_.everything().final is not None), default=0)
        for round_ in self.rounds.values():
            lens, terms = round_.everything(), round_.terms
            settled = lens.final is not None
            going = lens.agreement is not None and not settled
            own = round_ in mine and terms.round > played and lens.phase is not Phase.DEAD
            number = (terms.round, settled, terms.attempt, round_.contract)
            here = (going and own, going, own, not round_.is_foreign, *number)
            if rank is None or here > rank:
                best, rank = round_, here
        return best

    def ended_rounds(self) -> list[Round]:
        """The rounds whose ending is final, in order."""
        ended = [round_ for round_ in self.rounds.values() if round_.everything().final is not None]
        return sorted(ended, key=lambda round_: (round_.terms.round, round_.contract))

    # -- arithmetic --------------------------------------------------------------------------------

    def job(self) -> Job | None:
        """The most urgent piece of arithmetic to be done, or None. Each is handed out once."""
        return self._first_job(self._verify_job)

    def _first_job(self, *makers: Callable[[Round, Lens], Job | None]) -> Job | None:
        for make in makers:
            for round_ in self.rounds.values():
                job = make(round_, round_.everything())
                if job is not None and (job.kind, job.contract) not in self._busy:
                    self._busy.add((job.kind, job.contract))
                    return job
        return None

    def finish(self, job: Job, outcome: object) -> tuple[Fact, ...]:
        """Takes the outcome of a job. Returns the facts that could be folded thereby."""
        self._busy.discard((job.kind, job.contract))
        return self._verified(job, outcome) if isinstance(outcome, tuple) else ()

    def _verify_job(self, round_: Round, lens: Lens) -> Job | None:
        wanted = lens.unverified
        if not wanted or not self._is_verified_now(round_, lens):
            return None
        joint = wanted[0][2]
        # One proof of each number: with two of a fork the outcome has to say which one it means.
        one_each = {statement.number: (fact, statement) for fact, statement, under in wanted if under == joint}
        batch = list(one_each.values())
        ground, dealing, own = round_.ground, self.dealing, self._own_shuffle(round_, joint)
        begun = [(round_.begun.get(fact.id), statement) for fact, statement in batch]

        def run() -> tuple[int, ...]:
            halves = [half or dealing.begin_check(ground, joint, statement) for half, statement in begun]
            return dealing.finish_checks(ground, joint, halves, own)

        return Job("verify", round_.contract, run, tuple(fact for fact, _ in batch))

    def _is_verified_now(self, round_: Round, lens: Lens) -> bool:
        """Whether the proofs that are here are checked now. All of a deal together are much less work, so it is
        when all are here, or when an entry can't be judged without them; and in an attempt that has come to
        nothing, so that everyone comes to know every culprit."""
        waiting = self._unverified.values()
        if any(entry.contract == round_.contract or entry.kind == "start" for entry in waiting):
            return True
        return lens.agreement is None and (lens.dead or len(lens.each("proof")) == round_.players)

    def _own_shuffle(self, round_: Round, joint: bytes) -> OwnShuffle | None:
        """The shuffle of whoever runs this program, where it has made one."""
        return None

    def _verified(self, job: Job, bad: tuple[object, ...]) -> tuple[Fact, ...]:
        round_ = self.rounds[job.contract]
        for fact in job.facts:
            self.note_proof(round_, fact, good=round_.number_of[fact.author] not in bad)
        waiting, self._unverified = self._unverified, {}
        folded: list[Fact] = []
        for entry in waiting.values():
            folded.extend(self.receive(entry))
        return tuple(folded)

    def note_proof(self, round_: Round, fact: Fact, *, good: bool) -> None:
        """Takes in that a proof of shuffle was checked, and whether it holds."""
        if fact.id in round_.verified:
            return
        round_.verified[fact.id] = good
        round_.begun.pop(fact.id, None)
        round_.changed()
        if not good:
            fault = Fault(fact.author, "bad_proof", (fact.id,), fact.seq, "proof")
            round_.faults.append((fault, (fact,)))

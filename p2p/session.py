"""The fold of one table: entries in, state, duties and own entries out. Sans-IO (docs/protocol.md, 1).

A ``Session`` knows no socket, disk or clock. Whoever drives it hands it entries (``receive``), signs and stores
what it wants to write (``next_write``), runs the heavy arithmetic for it (``job``, ``finish``), and says what
time it is. Without an identity of its own it is the audit: the same checks, nothing to write.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from engine import game
from engine.moves import Chance, Choose, Done, Flip, Name, PickUp, Play, PlayAs, PlayerMove, Swap
from engine.moves import Declare as DeclareMove
from engine.moves import Pass as PassMove
from engine.moves import Ready as ReadyMove
from engine.rules import ENGINE_REVISION, RuleSet, check_playable, packs_for, to_items
from engine.state import GameState
from p2p import entries as e
from p2p.dealing import Dealing, ShuffleStatement
from p2p.dealing.derive import coin_commitment, seed_commitment
from p2p.duties import Duty, duties, duty_about
from p2p.entries import Entry
from p2p.errors import LocalProtocolError
from p2p.facts import Fact, Feeds
from p2p.faults import Breach, Fault
from p2p.judge import Unverified, chain_id, judge
from p2p.members import (
    Member,
    Membership,
    NotNow,
    Terms,
    check_admission,
    check_start,
    next_terms,
)
from p2p.phases import Phase
from p2p.round import Deal, DeckStep, Lens, Round, body_of

MAX_HELD_PER_AUTHOR: Final = 64
"""PROTOCOL 3: entries that wait for their past. An honest peer sends an entry only after its past, so more
than a few wait only where datagrams overtake each other through several peers."""

MAX_HELD_STRANGERS: Final = 32
"""Authors not known to be let in for whom entries are held: their admission may be under way, but keys cost
nothing. They share these places; members have their own, which no stranger can fill."""

MAX_VERSIONS: Final = 16
"""Versions of one number that are kept unasked. Two are proof enough; what entries of others name in their
past is kept beyond it, so that everybody's past can be followed."""

GRACE_S: Final = 60
"""How long somebody may owe a duty before others may give the round up, unless the contract says otherwise."""

REVEAL_GRACE_S: Final = 10.0
"""How long the round waits for the last seeds before it is closed without them (CLI, files)."""


@dataclass(frozen=True, slots=True)
class Write:
    """An entry that this peer has to write now. ``secret`` (seed, coin) is stored in the same transaction."""

    body: e.Body
    secret: tuple[bytes, bytes] | None = None

    def __repr__(self) -> str:
        return f"Write({type(self.body).__name__})"


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Arithmetic to be done off the event loop: call ``run``, hand the outcome to ``Session.finish``."""

    kind: str
    """``shuffle``, ``prove`` or ``verify``."""
    contract: bytes
    run: Callable[[], object]
    facts: tuple[Fact, ...] = ()


@dataclass(slots=True)
class _Own:
    """What this peer keeps in memory about its own part in a round; never shown."""

    seed: bytes
    coin: bytes
    shuffled: tuple[DeckStep | None, object] | None = None
    proof: bytes | None = None
    faces: dict[int, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "_Own(…)"


class Session:
    """One table, as one peer (or an auditor, ``me`` None) sees it."""

    def __init__(
        self,
        table: bytes,
        dealing: Dealing,
        me: bytes | None = None,
        entropy: Callable[[int], bytes] | None = None,
    ) -> None:
        """``table``: the table's id. ``me``: the own identity key. ``entropy``: random bytes for seeds."""
        self.table = table
        self.dealing = dealing
        self.me = me
        self._entropy = entropy
        self.feeds = Feeds()
        self.rounds: dict[bytes, Round] = {}
        self.membership = Membership(None, [], [])
        self.table_faults: list[Fault] = []
        self.dropped: Counter[str] = Counter()
        self._held: dict[bytes, Entry] = {}
        self._waiting: dict[bytes, set[bytes]] = {}
        self._unverified: dict[bytes, Entry] = {}
        self._own: dict[bytes, _Own] = {}
        self._consent: dict[bytes, bool] = {}
        self.always_consent = False
        """Whether offers are accepted without asking: bots."""
        self.sits_ready = False
        """Whether the first offer is accepted without asking: a person who has just sat down wants to play."""
        self._since: dict[tuple[bytes, Duty, bytes], float] = {}
        """Contract, duty and what it is about (see ``duty_about``) → when it was noticed first."""
        self._reveal_since: dict[bytes, float] = {}
        self._busy: set[tuple[str, bytes]] = set()

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
            if missing:
                self._hold(following, missing)
                continue
            fact = self._fold(following)
            if fact is not None:
                folded.append(fact)
                ready.extend(self._released(fact.id))
        return tuple(folded)

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
        if entry.kind == "open":
            return entry.id == self.table
        versions = self.feeds.forks.get(entry.author, {}).get(entry.seq, ())
        if len(versions) >= MAX_VERSIONS and entry.id not in self._waiting:
            self.dropped["versions"] += 1
            return False
        return True

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
            touched = {round_.contract: round_ for round_ in rounds if round_ is not None}
            for round_ in touched.values():
                if fact.author in round_.number_of:
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
            if entry.kind == "proof" and fact.author == self.me:
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
            case e.Open():
                if self.membership.opening is not None:
                    raise Breach("bad_kind", "opened twice")
                self.membership.opening = fact
            case e.Admit():
                members = self.members(fact)
                self._require_member(fact, members)
                check_admission(body, members)
                self.membership.admissions.append(fact)
            case e.Dismiss():
                members = self.members(fact)
                self._require_member(fact, members)
                if body.key not in members or self._is_seated(fact, body.key):
                    raise Breach("bad_kind", "dismisses somebody who cannot be")
                self.membership.departures.append((body.key, fact))
            case e.Leave() if body.contract == self.table:
                members = self.members(fact)
                self._require_member(fact, members)
                if self._is_seated(fact, fact.author):
                    raise Breach("bad_kind", "leaves the table in a round")
                self.membership.departures.append((fact.author, fact))
            case e.Start():
                self._judge_start(fact, body)
            case _:
                # A round entry whose contract is not in its past means nothing to anybody.
                self.dropped["no_contract"] += 1

    def _require_member(self, fact: Fact, members: dict[bytes, Member]) -> None:
        if fact.author not in members:
            raise Breach("bad_kind", "not a member of the table")

    def _is_seated(self, of: Fact, key: bytes) -> bool:
        """Whether the past of ``of`` shows a round with ``key`` that has been agreed and is not settled."""
        for round_ in self.rounds.values():
            if key in round_.number_of and self.feeds.in_past(of, round_.start):
                lens = Lens(round_, of)
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
        if any(lens.agreement is None and lens.unverified() for lens in lenses.values()):
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
        self.rounds[fact.id] = Round(self.feeds, fact, self.dealing, rules)

    # -- what there is -----------------------------------------------------------------------------

    def members(self, of: Fact | None = None) -> dict[bytes, Member]:
        """Key → member in order of admission, in the past of ``of``, or now."""
        if of is None:
            return self.membership.members(lambda fact: True, self.feeds.in_past)
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
        """The round that counts now: one that all have agreed on and that goes on, else the newest."""
        best: Round | None = None
        rank: tuple[bool, int, int, bytes] | None = None
        for round_ in self.rounds.values():
            lens = round_.everything()
            going = lens.agreement is not None and lens.final is None
            mine = (going, round_.terms.round, round_.terms.attempt, round_.contract)
            if rank is None or mine > rank:
                best, rank = round_, mine
        return best

    def ended_rounds(self) -> list[Round]:
        """The rounds whose ending is final, in order."""
        ended = [round_ for round_ in self.rounds.values() if round_.everything().final is not None]
        return sorted(ended, key=lambda round_: (round_.terms.round, round_.contract))

    def own_state(self, round_: Round) -> GameState | None:
        """The game as this peer's player may see it: what is public, and the faces of the own hand."""
        lens = round_.everything()
        state, deal = lens.state, lens.agreement
        if state is None or deal is None or self.me not in round_.number_of:
            return state
        own = self._own.get(round_.contract)
        seat = deal.seat_of[round_.number_of[self.me]]
        if own is None:
            return state
        # Upcards that were chosen from the hand and are not laid open yet are its owner's to see.
        mine = (*state.hands[seat], *(p for p in state.ups[seat] if not state.is_public(p)))
        self._learn_faces(round_, lens, deal, own, mine, state)
        faces = {position: own.faces[position] for position in mine if position in own.faces}
        return game.with_faces(state, faces)

    def _learn_faces(
        self, round_: Round, lens: Lens, deal: Deal, own: _Own, hand: tuple[int, ...], state: GameState
    ) -> None:
        number = round_.number_of[self.me or b""]
        unknown = sorted(
            position
            for position in hand
            if position not in own.faces
            and not state.is_public(position)
            and not lens.missing(position, besides=number)
        )
        if not unknown:
            return
        (opening,), _ = self.dealing.shares(
            round_.ground, number, own.seed, deal.deck, [(round_.contract, tuple(unknown))]
        )
        for position, share in zip(opening.positions, opening.shares, strict=True):
            face = lens.face(deal, position, (number, share))
            if face is not None:
                own.faces[position] = face

    # -- own entries -------------------------------------------------------------------------------

    def restore(self, secrets: Callable[[bytes], tuple[bytes, bytes] | None]) -> None:
        """After a restart: takes the stored seeds of the rounds that this peer has accepted."""
        for contract in self.rounds:
            secret = secrets(contract)
            if secret is not None and contract not in self._own:
                self._own[contract] = _Own(*secret)

    def head(self) -> tuple[int, bytes]:
        """The number and ``prev`` of the next own entry."""
        heads = self.feeds.heads(self.me or b"")
        if not heads:
            return 0, e.ZERO_ID
        newest = max(heads, key=lambda fact: fact.seq)
        return newest.seq + 1, newest.id

    def seen(self) -> tuple[bytes, ...]:
        """What the next own entry names: the newest entries of others that its past does not hold yet."""
        mine = self.feeds.heads(self.me or b"")
        candidates = [
            head
            for author in self.feeds.line
            if author != self.me
            for head in self.feeds.heads(author)
            if not any(self.feeds.in_past(own, head) for own in mine)
        ]
        chosen: list[Fact] = []
        for fact in sorted(candidates, key=lambda fact: -fact.order):
            if not any(self.feeds.in_past(newer, fact) for newer in chosen):
                chosen.append(fact)
        return tuple(sorted(fact.id for fact in chosen[: e.MAX_SEEN]))

    def consent(self, contract: bytes, answer: bool) -> None:
        """What the person says to the offer of a round."""
        self._consent[contract] = answer

    def asks_consent(self) -> Round | None:
        """An offer that this peer's person still has to answer."""
        round_ = self.current()
        if round_ is None or self.me not in round_.number_of or self.always_consent:
            return None
        lens = round_.everything()
        number = round_.number_of[self.me]
        waits = lens.phase is Phase.OFFER and lens.first("accept", number) is None and self._answer(round_) is None
        return round_ if waits else None

    def _answer(self, round_: Round) -> bool | None:
        """What this peer's person says to an offer; None where the person has to be asked."""
        if self.always_consent or round_.start.author == self.me:
            return True
        if self.sits_ready and not any(contract in self._own for contract in self.rounds):
            return True
        return self._consent.get(round_.contract)

    def next_write(self) -> Write | None:
        """The next entry that this peer owes without asking anybody; call again after writing it."""
        if self.me is None or len(self.feeds.heads(self.me)) > 1:
            # Having forked its own feed, a peer can make nothing better by writing on.
            return None
        for round_ in self.rounds.values():
            number = round_.number_of.get(self.me)
            if number is not None:
                write = self._owed(round_, number)
                if write is not None:
                    return write
        return None

    def _owed(self, round_: Round, number: int) -> Write | None:
        lens = round_.everything()
        if number in lens.culprits:
            return None
        own = self._own.get(round_.contract)
        if self._is_superseded(round_, lens, number):
            return None
        match lens.phase:
            case Phase.OFFER:
                return self._answer_offer(round_, lens, number)
            case Phase.CLOSED | Phase.DEAD:
                return None
            case _ if own is None:
                return None
            case Phase.KEYS if lens.first("key", number) is None:
                part = self.dealing.make_key(round_.ground, number, own.seed)
                return Write(e.Key(round_.contract, part.X, part.Y, part.proof, own.coin))
            case Phase.PREPARE:
                return self._prepare(round_, lens, number, own)
            case Phase.DEAL | Phase.OPENING:
                return self._give_shares(round_, lens, number, own)
            case Phase.PLAY:
                return self._give_shares(round_, lens, number, own) or self._done(round_, lens, number, own)
            case Phase.START:
                return self._declare(round_, lens, number, own)
            case Phase.ENDING:
                return self._sign_result(round_, lens, number)
            case Phase.REVEAL if number in lens.revealers and lens.first("reveal", number) is None:
                return Write(e.Reveal(round_.contract, own.seed))
            case _:
                return None

    def _is_superseded(self, round_: Round, lens: Lens, number: int) -> bool:
        """Whether this peer plays another attempt instead: no two may ever be agreed on by an honest peer.

        That is a later one that it has accepted before it agreed to this one, or an earlier one that it has
        agreed to and that may still go on.
        """
        if lens.agreement is not None or lens.first("agreed", number) is not None:
            return False
        for other in self.rounds.values():
            mine = other.number_of.get(self.me or b"")
            if other is round_ or mine is None or other.terms.round != round_.terms.round:
                continue
            view = other.everything()
            # Of two offers made at once the one with the greater id is the later one.
            later = (other.terms.attempt, other.contract) > (round_.terms.attempt, round_.contract)
            if later and view.first("accept", mine) is not None:
                return True
            if view.first("agreed", mine) is not None and not view.dead and view.final is None:
                return True
        return False

    def _answer_offer(self, round_: Round, lens: Lens, number: int) -> Write | None:
        if lens.first("accept", number) is not None or lens.first("decline", number) is not None:
            return None
        if round_.terms.engine_revision != ENGINE_REVISION:
            return Write(e.Decline(round_.contract, "revision"))
        answer = self._answer(round_)
        if answer is None:
            return None
        if not answer:
            return Write(e.Decline(round_.contract, "not_now"))
        if self._entropy is None:
            raise LocalProtocolError("no_entropy", "A peer that plays needs a source of random bytes.")
        seed, coin = self._entropy(32), self._entropy(32)
        self._own[round_.contract] = _Own(seed, coin)
        return Write(
            e.Accept(
                round_.contract,
                seed_commitment(round_.contract, number, seed),
                coin_commitment(round_.contract, number, coin),
            ),
            (seed, coin),
        )

    def _prepare(self, round_: Round, lens: Lens, number: int, own: _Own) -> Write | None:
        if lens.first("deck", number) is None:
            if lens.next_to_shuffle() != number or own.shuffled is None:
                return None
            previous = lens.deck_of(number - 1) if number else None
            made_on, shuffled = own.shuffled
            if made_on is not previous:
                own.shuffled = None
                return None
            deck: bytes = getattr(shuffled, "deck", b"")
            return Write(e.Deck(round_.contract, previous.fact.id if previous else b"", deck))
        if lens.first("proof", number) is None:
            return Write(e.Proof(round_.contract, own.proof)) if own.proof is not None else None
        if lens.first("agreed", number) is None:
            deal = lens.agreed_deal()
            if deal is not None:
                return Write(e.Agreed(round_.contract, deal.digest))
        return None

    def _give_shares(self, round_: Round, lens: Lens, number: int, own: _Own) -> Write | None:
        deal = lens.agreement
        if deal is None:
            return None
        wanted: dict[bytes, list[int]] = {}
        if lens.phase is Phase.DEAL:
            for position in deal.owed[number]:
                if lens.share(number, position) is None:
                    wanted.setdefault(round_.contract, []).append(position)
        else:
            for call in round_.unmet:
                if call.to != number and lens.share(number, call.position) is None:
                    wanted.setdefault(call.cause, []).append(call.position)
        if not wanted:
            return None
        calls = [(cause, tuple(sorted(positions))) for cause, positions in sorted(wanted.items())]
        openings, proof = self.dealing.shares(round_.ground, number, own.seed, deal.deck, calls)
        listed = [(o.cause, list(o.positions), list(o.shares)) for o in openings]
        return Write(e.Shares(round_.contract, [], listed, proof))

    def _done(self, round_: Round, lens: Lens, number: int, own: _Own) -> Write | None:
        """Says by itself that no drawn card can be laid (option ``draw_follow_up``): there is no choice."""
        deal, state = lens.agreement, lens.state
        if deal is None or state is None or not state.extra.follow or deal.seats[state.turn] != number:
            return None
        seen = self.own_state(round_)
        if seen is None or any(seen.faces[position] < 0 for position in seen.hands[state.turn]):
            return None
        if list(game.actions(seen)) != [Done(state.turn)]:
            return None
        return Write(self._body(round_, lens, number, own, Done(state.turn)))

    def _declare(self, round_: Round, lens: Lens, number: int, own: _Own) -> Write | None:
        deal, state = lens.agreement, self.own_state(round_)
        if deal is None or state is None or deal.seats[state.turn] != number:
            return None
        if any(lens.missing(position, besides=number) for position in state.hands[state.turn]):
            return None
        answer = game.to_declare(state)
        if answer is None:
            return None
        return Write(self._body(round_, lens, number, own, answer))

    def _sign_result(self, round_: Round, lens: Lens, number: int) -> Write | None:
        ending = lens.ending
        if ending is None or number not in ending.signers:
            return None
        if any(round_.results[f.id].digest == ending.digest for f in lens.all("result", number)):
            return None
        return Write(e.Result(round_.contract, ending.digest))

    def intend(self, move: PlayerMove) -> e.Body:
        """The entry of a move that the person (or bot) wants to make now.

        Raises ``RuleError`` when the rules refuse it, ``LocalProtocolError`` when there is no round to move
        in or the cards needed are not known yet. Nothing changes.
        """
        round_ = self.current()
        if round_ is None or self.me not in round_.number_of:
            raise LocalProtocolError("no_round", "You are not in a round.")
        lens = round_.everything()
        own = self._own.get(round_.contract)
        if own is None or lens.phase not in (Phase.ARRANGE, Phase.START, Phase.PLAY, Phase.OPENING):
            raise LocalProtocolError("not_playing", "There is nothing to play at the moment.")
        state = self.own_state(round_)
        if state is None:
            raise LocalProtocolError("not_playing", "There is nothing to play at the moment.")
        game.apply(state, move)
        return self._body(round_, lens, round_.number_of[self.me], own, move)

    def _body(self, round_: Round, lens: Lens, number: int, own: _Own, move: PlayerMove) -> e.Body:
        contract = round_.contract
        match move:
            case ReadyMove():
                return e.Ready(contract)
            case Choose():
                return e.Choose(contract, list(move.positions))
            case PassMove():
                return e.Pass(contract)
            case Swap():
                shares, proof = self._own_shares(round_, lens, number, own, contract, [move.hand])[1:]
                return e.Swap(contract, move.hand, move.up, shares[0] if shares else b"", proof)
            case DeclareMove():
                shares, proof = self._own_shares(round_, lens, number, own, contract, [move.position])[1:]
                return e.Declare(contract, move.position, shares[0] if shares else b"", proof)
        tip = lens.tip
        if tip is None or lens.state is None:
            raise LocalProtocolError("not_playing", "There is nothing to play at the moment.")
        parent = chain_id(round_, tip)
        places: list[int]
        wanted: list[int] = []
        match move:
            case Play():
                action, places = "play", list(move.positions)
                wanted = [p for p in places if p in lens.state.hands[move.seat]]
            case PlayAs():
                action, places = "play_as", [move.rank, *move.positions]
                wanted = [p for p in move.positions if p in lens.state.hands[move.seat]]
            case Chance():
                action, places = "chance", []
                wanted = list(lens.state.stock[:1])
            case Name():
                action, places = "name", [move.rank]
            case Done():
                action, places = "done", []
            case PickUp():
                action, places = "pick_up", list(move.upcards)
            case Flip():
                action, places = "flip", [move.slot]
                wanted = [lens.state.downs[move.seat][move.slot]]
            case _:
                raise LocalProtocolError("no_such_move", "This version has no such move.")
        positions, shares, proof = self._own_shares(round_, lens, number, own, parent, wanted)
        return e.Move(contract, tip.turn + 1, parent, lens.digest(tip), action, places, positions, shares, proof)

    def _own_shares(
        self, round_: Round, lens: Lens, number: int, own: _Own, cause: bytes, wanted: list[int]
    ) -> tuple[list[int], list[bytes], bytes]:
        deal, state = lens.agreement, lens.state
        if deal is None or state is None:
            raise LocalProtocolError("not_playing", "There is nothing to play at the moment.")
        closed = sorted(position for position in set(wanted) if not state.is_public(position))
        if not closed:
            return [], [], b""
        (opening,), proof = self.dealing.shares(
            round_.ground, number, own.seed, deal.deck, [(cause, tuple(closed))]
        )
        return closed, list(opening.shares), proof

    # -- offers and departures ---------------------------------------------------------------------

    def offer(
        self,
        rules: RuleSet,
        keys: Iterable[bytes],
        grace_s: int = GRACE_S,
        *,
        turn_s: int = 0,
        arrange_s: int = 0,
    ) -> e.Body:
        """The ``start`` of the next round with these members; raises ``RuleError`` or ``LocalProtocolError``.

        ``turn_s`` and ``arrange_s``: after so many seconds a player's own program plays for them (0: never);
        ``grace_s``: after so many others may give the round up.
        """
        members = self.members()
        roster = sorted(key for key in keys if key in members)
        check_playable(rules, len(roster))
        terms = self._terms(tuple(roster), tuple(members))
        packs = packs_for(rules, len(roster))
        return e.Start(
            terms.round,
            terms.attempt,
            terms.last,
            ENGINE_REVISION,
            list(to_items(rules)),
            packs,
            rules.jokers * packs,
            False,
            [turn_s, arrange_s, grace_s],
            [(key, members[key].name, members[key].operator) for key in roster],
            list(terms.seats),
            [] if terms.dealer is None else [terms.dealer],
        )

    def _terms(self, roster: tuple[bytes, ...], order: tuple[bytes, ...]) -> Terms:
        try:
            return next_terms(
                self.table, self.rounds, lambda round_: round_.everything(), roster, order, self.me or b""
            )
        except NotNow:
            raise LocalProtocolError("round_running", "A round is still going on.") from None

    def leave_round(self, owed: Iterable[Duty] = ()) -> e.Body | None:
        """The ``leave`` that takes this peer out of the round going on; None where there is none."""
        round_ = self.current()
        if round_ is None or self.me not in round_.number_of:
            return None
        lens = round_.everything()
        if lens.phase in (Phase.CLOSED, Phase.DEAD, Phase.REVEAL):
            return None
        return e.Leave(round_.contract, [(duty.number, duty.what) for duty in owed])

    # -- time --------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Notes since when each duty is owed. ``now``: seconds of any steady clock."""
        owed: dict[tuple[bytes, Duty, bytes], float] = {}
        for round_ in self.rounds.values():
            lens = round_.everything()
            for duty in duties(lens):
                key = (round_.contract, duty, duty_about(lens, duty))
                owed[key] = self._since.get(key, now)
            if lens.phase is Phase.REVEAL:
                self._reveal_since.setdefault(round_.contract, now)
        self._since = owed

    def waiting_for(self, now: float) -> tuple[tuple[Duty, float], ...]:
        """What is owed in the current round, and for how many seconds already."""
        round_ = self.current()
        if round_ is None:
            return ()
        return tuple(
            (duty, max(0.0, now - since))
            for (contract, duty, _), since in sorted(self._since.items())
            if contract == round_.contract
        )

    def overdue(self, now: float) -> tuple[Duty, ...]:
        """Debts of others in the current round that have been owed for longer than its grace."""
        round_ = self.current()
        if round_ is None:
            return ()
        mine = round_.number_of.get(self.me or b"")
        grace = round_.terms.limits[2]
        return tuple(duty for duty, age in self.waiting_for(now) if duty.number != mine and age >= grace)

    def is_over(self, round_: Round, now: float) -> bool:
        """Whether nothing more is to be waited for: closed, dead, or the grace for seeds has passed."""
        phase = round_.everything().phase
        if phase in (Phase.CLOSED, Phase.DEAD):
            return True
        since = self._reveal_since.get(round_.contract)
        return phase is Phase.REVEAL and since is not None and now - since >= REVEAL_GRACE_S

    # -- arithmetic --------------------------------------------------------------------------------

    def job(self) -> Job | None:
        """The most urgent piece of arithmetic to be done, or None. Each is handed out once."""
        for make in (self._shuffle_job, self._prove_job, self._verify_job):
            for round_ in self.rounds.values():
                job = make(round_, round_.everything())
                if job is not None and (job.kind, job.contract) not in self._busy:
                    self._busy.add((job.kind, job.contract))
                    return job
        return None

    def finish(self, job: Job, outcome: object) -> tuple[Fact, ...]:
        """Takes the outcome of a job. Returns the facts that could be folded thereby."""
        self._busy.discard((job.kind, job.contract))
        own = self._own.get(job.contract)
        match job.kind, outcome:
            case "shuffle", _ if own is not None:
                own.shuffled = outcome if isinstance(outcome, tuple) else None
            case "prove", bytes() if own is not None:
                own.proof = outcome
            case "verify", tuple():
                return self._verified(job, outcome)
        return ()

    def _shuffle_job(self, round_: Round, lens: Lens) -> Job | None:
        number = round_.number_of.get(self.me or b"")
        own = self._own.get(round_.contract)
        if number is None or own is None or own.shuffled is not None or lens.phase is not Phase.PREPARE:
            return None
        if lens.next_to_shuffle() != number:
            return None
        previous = lens.deck_of(number - 1) if number else None
        keys = lens.each("key")
        ground, seed, dealing = round_.ground, own.seed, self.dealing

        def run() -> object:
            if previous is not None:
                joint, deck = previous.joint, previous.deck_out
            else:
                joint = dealing.joint_key([body_of(keys[n], e.Key).x for n in round_.numbers])
                deck = dealing.first_deck(ground, joint)
            return previous, dealing.shuffle(ground, number, seed, joint, deck)

        return Job("shuffle", round_.contract, run)

    def _prove_job(self, round_: Round, lens: Lens) -> Job | None:
        number = round_.number_of.get(self.me or b"")
        own = self._own.get(round_.contract)
        if number is None or own is None or own.proof is not None or lens.phase is not Phase.PREPARE:
            return None
        step = lens.deck_of(number)
        if step is None or lens.first("proof", number) is not None:
            return None
        made = own.shuffled
        ground, seed, dealing = round_.ground, own.seed, self.dealing

        def run() -> object:
            # After a restart the shuffle is made again from the seed: the same bytes, and its secret.
            shuffled = dealing.shuffle(ground, number, seed, step.joint, step.deck_in) if made is None else made[1]
            return dealing.prove(ground, number, seed, step.joint, step.deck_in, shuffled)  # type: ignore[arg-type]

        return Job("prove", round_.contract, run)

    def _verify_job(self, round_: Round, lens: Lens) -> Job | None:
        wanted = lens.unverified()
        waiting = self._unverified.values()
        stalled = any(entry.contract == round_.contract or entry.kind == "start" for entry in waiting)
        # While others shuffle there is time to check the proofs that are here, a batch at a time; also in an
        # attempt that has come to nothing, so that everyone comes to know every culprit.
        if not wanted or not (stalled or lens.agreement is None):
            return None
        joint = wanted[0][2]
        # One proof of each number: with two of a fork the outcome has to say which one it means.
        one_each = {statement.number: (fact, statement) for fact, statement, under in wanted if under == joint}
        batch = list(one_each.values())
        statements: list[ShuffleStatement] = [statement for _, statement in batch]
        ground, dealing = round_.ground, self.dealing
        return Job(
            "verify",
            round_.contract,
            lambda: dealing.check_proofs(ground, joint, statements),
            tuple(fact for fact, _ in batch),
        )

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
        round_.changed()
        if not good:
            fault = Fault(fact.author, "bad_proof", (fact.id,), fact.seq, "proof")
            round_.faults.append((fault, (fact,)))

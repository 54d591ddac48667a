"""One peer's part at a table: what it owes, what it may do, what it alone can see. Sans-IO.

A ``Session`` is a ``Fold`` with an identity. Whoever drives it signs and stores what it wants to write
(``next_write``) and what its person wants (``intend``), and says what time it is. Without an identity (``me``
None) there is nothing to write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from engine import game
from engine.moves import Done, PlayerMove
from engine.rules import ENGINE_REVISION, RuleSet, check_playable, packs_for, to_items
from engine.state import GameState
from p2p.dealing import Begun, Dealing, OwnShuffle
from p2p.dealing.derive import coin_commitment, seed_commitment
from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.feeds.facts import Fact
from p2p.feeds.identity import fold_name
from p2p.rounds.chain import Deal
from p2p.rounds.duties import Duty, duties, duty_about, patience_s
from p2p.rounds.fold import MAX_HELD_PER_AUTHOR, MAX_HELD_STRANGERS, MAX_VERSIONS, Fold, Job
from p2p.rounds.intent import body_of_move
from p2p.rounds.members import NotNow, Terms, next_terms
from p2p.rounds.own import Own, own_shuffle, prove_work, shuffle_work
from p2p.rounds.phases import Phase, goes_on
from p2p.rounds.round import Lens, Round

__all__ = [
    "GRACE_S",
    "MAX_HELD_PER_AUTHOR",
    "MAX_HELD_STRANGERS",
    "MAX_VERSIONS",
    "REVEAL_GRACE_S",
    "Job",
    "Session",
    "Write",
]

GRACE_S: Final = 60
"""How long somebody may owe a duty before others may give the round up, unless the contract says otherwise."""

REVEAL_GRACE_S: Final = 10.0
"""How long the round waits for the last seeds before it is closed without them (CLI, files)."""


SEED_GONE: Final = (
    "Your secret for round {round} has gone from your data: this program can't open cards in it any more, and the "
    "round waits for you. Leave it, or have the others give it up; or stop, bring the file back, and start again."
)
"""What somebody who restarts without the seed of a running round has to know; nobody else can find it again."""


@dataclass(frozen=True, slots=True)
class Write:
    """An entry that this peer has to write now. ``secret`` (seed, coin) is stored in the same transaction."""

    body: e.Body
    secret: tuple[bytes, bytes] | None = None

    def __repr__(self) -> str:
        return f"Write({type(self.body).__name__})"


class Session(Fold):
    """One table, as one peer sees it and takes part in it."""

    def __init__(
        self,
        table: bytes,
        dealing: Dealing,
        me: bytes | None = None,
        entropy: Callable[[int], bytes] | None = None,
    ) -> None:
        """``table``: the table's id. ``me``: the own identity key. ``entropy``: random bytes for seeds."""
        super().__init__(table, dealing)
        self.me = me
        self._entropy = entropy
        self._own: dict[bytes, Own] = {}
        self._consent: dict[bytes, bool] = {}
        self.always_consent = False
        """Whether offers are accepted without asking: bots."""
        self.sits_ready = False
        """Whether the first offer is accepted without asking where nothing in it is unusual: a person who has just
        sat down wants to play."""
        self._since: dict[tuple[bytes, Duty, bytes], float] = {}
        """Contract, duty and what it is about (see ``duty_about``) → when it was noticed first."""
        self._reveal_since: dict[bytes, float] = {}

    def trusts(self, fact: Fact) -> bool:
        """The own entries too: their arithmetic needs no proof to the one who did it."""
        return fact.author == self.me or super().trusts(fact)

    def _plays_in(self, round_: Round) -> bool:
        return self.me in round_.number_of

    def is_own_and_goes_on(self, round_: Round | None) -> bool:
        """Whether this peer plays in a round that all have agreed on and that is not settled."""
        if round_ is None or not self._plays_in(round_):
            return False
        lens = round_.everything()
        return lens.agreement is not None and lens.final is None

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
        self, round_: Round, lens: Lens, deal: Deal, own: Own, hand: tuple[int, ...], state: GameState
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
        shares = self.dealing.shares_to_look(round_.ground, number, own.seed, deal.deck, unknown)
        for position, share in zip(unknown, shares, strict=True):
            face = lens.face(deal, position, (number, share))
            if face is not None:
                own.faces[position] = face

    # -- own entries -------------------------------------------------------------------------------

    def restore(self, secrets: Callable[[bytes], tuple[bytes, bytes] | None]) -> None:
        """After a restart: takes the stored seeds of the rounds that this peer has accepted."""
        for contract in self.rounds:
            secret = secrets(contract)
            if secret is not None and contract not in self._own:
                self._own[contract] = Own(*secret)

    def head(self) -> tuple[int, bytes]:
        """The number and ``prev`` of the next own entry."""
        heads = self.feeds.heads(self.me or b"")
        if not heads:
            return 0, e.ZERO_ID
        newest = max(heads, key=lambda fact: fact.seq)
        return newest.seq + 1, newest.id

    def seen(self) -> tuple[bytes, ...]:
        """What the next own entry names: the newest entries of others that its past does not hold yet."""
        return tuple(sorted(fact.id for fact in self._unseen()[: e.MAX_SEEN]))

    @property
    def lags(self) -> bool:
        """Whether one entry cannot name all that is held. A ``mark`` has to be written first: an entry that is
        decided on everything held has to be judged on it too."""
        return len(self._unseen()) > e.MAX_SEEN

    def _unseen(self) -> list[Fact]:
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
        return chosen

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
        sat_down_for_it = self.sits_ready and not any(contract in self._own for contract in self.rounds)
        if sat_down_for_it and round_.start.author == self.host and _is_usual(round_):
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
            if other is round_ or other.is_foreign or mine is None or other.terms.round != round_.terms.round:
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
        self._own[round_.contract] = Own(seed, coin)
        return Write(
            e.Accept(
                round_.contract,
                seed_commitment(round_.contract, number, seed),
                coin_commitment(round_.contract, number, coin),
            ),
            (seed, coin),
        )

    def _prepare(self, round_: Round, lens: Lens, number: int, own: Own) -> Write | None:
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

    def _give_shares(self, round_: Round, lens: Lens, number: int, own: Own) -> Write | None:
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

    def _done(self, round_: Round, lens: Lens, number: int, own: Own) -> Write | None:
        """Says by itself that no drawn card can be laid (option ``draw_follow_up``): there is no choice."""
        deal, state = lens.agreement, lens.state
        if deal is None or state is None or not state.extra.follow or deal.seats[state.turn] != number:
            return None
        seen = self.own_state(round_)
        if seen is None or any(seen.faces[position] < 0 for position in seen.hands[state.turn]):
            return None
        if list(game.actions(seen)) != [Done(state.turn)]:
            return None
        return Write(body_of_move(self.dealing, round_, lens, number, own.seed, Done(state.turn)))

    def _declare(self, round_: Round, lens: Lens, number: int, own: Own) -> Write | None:
        deal, state = lens.agreement, self.own_state(round_)
        if deal is None or state is None or deal.seats[state.turn] != number:
            return None
        if any(lens.missing(position, besides=number) for position in state.hands[state.turn]):
            return None
        answer = game.to_declare(state)
        if answer is None:
            return None
        return Write(body_of_move(self.dealing, round_, lens, number, own.seed, answer))

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
        if own is None and lens.first("accept", round_.number_of[self.me]) is not None and goes_on(lens.phase):
            raise LocalProtocolError("seed_gone", SEED_GONE, round=round_.terms.round)
        if own is None or lens.phase not in (Phase.ARRANGE, Phase.START, Phase.PLAY, Phase.OPENING):
            raise LocalProtocolError("not_playing", "There is nothing to play at the moment.")
        state = self.own_state(round_)
        if state is None:
            raise LocalProtocolError("not_playing", "There is nothing to play at the moment.")
        game.apply(state, move)
        return body_of_move(self.dealing, round_, lens, round_.number_of[self.me], own.seed, move)

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
        wanted = sorted(key for key in keys if key in members)
        roster = [key for key in wanted if not self.is_seated(key)]
        if self.is_seated(self.me or b"") or len(roster) < min(2, len(wanted)):
            raise LocalProtocolError("round_running", "A round is still going on.")
        names = Counter(fold_name(members[key].name) for key in roster)
        for key in roster:
            if names[fold_name(members[key].name)] > 1:
                # Two members may let two of one name in at once; no round can seat both.
                raise LocalProtocolError(
                    "two_of_one_name",
                    "There are two at the table who are called {name}: one of them has to leave first.",
                    name=members[key].name,
                )
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
        """Notes since when each duty is owed. ``now``: seconds of any steady clock (see ``p2p.node.awake``)."""
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
        """Debts of others in the current round that have been owed for longer than they may be."""
        round_ = self.current()
        if round_ is None:
            return ()
        mine = round_.number_of.get(self.me or b"")
        return tuple(
            duty for duty, age in self.waiting_for(now) if duty.number != mine and age >= patience_s(round_, duty)
        )

    def is_over(self, round_: Round, now: float) -> bool:
        """Whether nothing more is to be waited for: closed, dead, or the grace for seeds has passed."""
        phase = round_.everything().phase
        if phase in (Phase.CLOSED, Phase.DEAD):
            return True
        since = self._reveal_since.get(round_.contract)
        return phase is Phase.REVEAL and since is not None and now - since >= REVEAL_GRACE_S

    # -- arithmetic --------------------------------------------------------------------------------

    def job(self) -> Job | None:
        """The most urgent piece of arithmetic to be done, or None: the own shuffle, for which others wait, then
        its proof, then others' proofs. Each is handed out once."""
        return self._first_job(self._shuffle_job, self._prove_job, self._begin_job, self._verify_job)

    def finish(self, job: Job, outcome: object) -> tuple[Fact, ...]:
        """Takes the outcome of a job. Returns the facts that could be folded thereby."""
        own = self._own.get(job.contract)
        match job.kind, outcome:
            case "shuffle", _ if own is not None:
                own.shuffled = outcome if isinstance(outcome, tuple) else None
            case "prove", bytes() if own is not None:
                own.proof = outcome
            case "begin", tuple():
                round_ = self.rounds[job.contract]
                for fact, half in zip(job.facts, outcome, strict=True):
                    if fact.id not in round_.verified:
                        round_.begun[fact.id] = half
            case "verify", _:
                return super().finish(job, outcome)
        self._busy.discard((job.kind, job.contract))
        return ()

    def _shuffle_job(self, round_: Round, lens: Lens) -> Job | None:
        return self._own_job("shuffle", shuffle_work, round_, lens)

    def _prove_job(self, round_: Round, lens: Lens) -> Job | None:
        return self._own_job("prove", prove_work, round_, lens)

    def _own_job(
        self,
        kind: str,
        work: Callable[[Dealing, Round, Lens, int, Own], Callable[[], object] | None],
        round_: Round,
        lens: Lens,
    ) -> Job | None:
        number, own = round_.number_of.get(self.me or b""), self._own.get(round_.contract)
        if number is None or own is None:
            return None
        run = work(self.dealing, round_, lens, number, own)
        return None if run is None else Job(kind, round_.contract, run)

    def _begin_job(self, round_: Round, lens: Lens) -> Job | None:
        """What of others' proofs can be checked while more of them are on their way."""
        if round_.contract not in self._own or lens.phase is not Phase.PREPARE:
            return None
        if self._is_verified_now(round_, lens):
            return None
        wanted = [one for one in lens.unverified if one[0].id not in round_.begun]
        if not wanted:
            return None
        ground, dealing = round_.ground, self.dealing

        def run() -> tuple[Begun, ...]:
            return tuple(dealing.begin_check(ground, joint, statement) for _, statement, joint in wanted)

        return Job("begin", round_.contract, run, tuple(fact for fact, _, _ in wanted))

    def _verify_job(self, round_: Round, lens: Lens) -> Job | None:
        # What has been begun is waited for, or it would be done twice.
        return None if ("begin", round_.contract) in self._busy else super()._verify_job(round_, lens)

    def _own_shuffle(self, round_: Round, joint: bytes) -> OwnShuffle | None:
        own, number = self._own.get(round_.contract), round_.number_of.get(self.me or b"")
        step = round_.everything().deck_of(number) if number is not None else None
        return None if own is None or step is None else own_shuffle(own, step, joint)


def _is_usual(round_: Round) -> bool:
    """Whether an offer holds nothing that somebody has to be asked about: the usual rules, and no clocks."""
    turn_s, arrange_s, _ = round_.terms.limits
    return round_.rules == RuleSet() and not turn_s and not arrange_s

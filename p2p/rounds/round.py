"""One attempt at a round, as its contract's entries make it (docs/protocol.md, 5).

``Round`` holds what has been folded. ``Lens`` looks at it through the past of one entry, or at all of it.
Every question that a check asks ("have all accepted?", "what is the state of the game?") is put to a lens, so
that it has one answer whatever arrived when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from engine import game
from engine.moves import Choose as ChooseMove
from engine.moves import Open as OpenFace
from engine.moves import Ready as ReadyMove
from engine.moves import Swap as SwapMove
from engine.rules import RuleSet
from engine.state import GameState
from engine.state import Phase as GamePhase
from p2p.canonical import h
from p2p.dealing import Begun, Dealing, Ground, ShuffleStatement
from p2p.dealing.derive import coins_digest, first_dealer, seating, table_words
from p2p.feeds import entries as e
from p2p.feeds.facts import Fact, Feeds, body_of
from p2p.feeds.faults import Fault
from p2p.rounds.chain import Call, Deal, DeckStep, Ending, Node, state_digest
from p2p.rounds.phases import Phase

MAX_SWAPS: Final = 64
"""1.19, D22: enough to try every arrangement, and a bound on what one player can make all others store."""

MAX_ROUND_ENTRIES: Final = 4096
"""D22: entries of one author in one round; the longest round (1,000 moves of ten players) stays below it."""

ENTRIES_PER_ACTION: Final = 4
"""So many more where ``turn_limit`` allows more: a move, a joker's name, shares, being done."""

USUAL_TURN_LIMIT: Final = RuleSet().turn_limit


@dataclass(eq=False)
class Round:
    """Everything folded of one contract. Only ``p2p.rounds.judge`` and ``p2p.rounds.session`` add to it."""

    feeds: Feeds
    start: Fact
    dealing: Dealing
    rules: RuleSet
    on_trust: Callable[[Fact], bool] = field(default=lambda fact: False)
    """Whether the arithmetic of an entry needs no check here (``Fold.trusts``); all else of it is checked."""
    is_foreign: bool = False
    """Whether it is of another engine revision: it can be declined here, never judged or agreed on."""
    facts: dict[str, list[list[Fact]]] = field(default_factory=dict)
    faults: list[tuple[Fault, tuple[Fact, ...]]] = field(default_factory=list)
    decks: dict[bytes, DeckStep] = field(default_factory=dict)
    proven: dict[bytes, DeckStep] = field(default_factory=dict)
    """``proof`` entry → the shuffle that it speaks of."""
    verified: dict[bytes, bool] = field(default_factory=dict)
    begun: dict[bytes, Begun] = field(default_factory=dict)
    """``proof`` entry → its check as far as it has come; dropped when it is done."""
    deals: dict[bytes, Deal] = field(default_factory=dict)
    arranged: dict[bytes, GameState] = field(default_factory=dict)
    nodes: dict[bytes, Node] = field(default_factory=dict)
    roots: dict[tuple[bytes, ...], Node] = field(default_factory=dict)
    leaves: list[Node] = field(default_factory=list)
    given: dict[tuple[int, int], list[tuple[Fact, bytes]]] = field(default_factory=dict)
    """(number, position) → the shares given: by ``shares`` or inside the owner's own entry."""
    deal_done: dict[int, list[Fact]] = field(default_factory=dict)
    """Number → the facts with which its shares of the deal became complete."""
    results: dict[bytes, Ending] = field(default_factory=dict)
    """``result`` entry → the ending that it signs."""
    debts: dict[bytes, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    """``leave`` entry → those of the debts it names that were true in its past."""
    unmet: list[Call] = field(default_factory=list)
    """Calls of the chain for which shares are missing in all that is held."""
    on_record: list[Fault] = field(default_factory=list)
    """Breaches found with the seeds; no part of the ending."""
    _everything: Lens | None = None

    def __post_init__(self) -> None:
        self.contract = self.start.id
        self.terms = body_of(self.start, e.Start)
        self.roster = tuple(key for key, _, _ in self.terms.roster)
        self.names = tuple(name for _, name, _ in self.terms.roster)
        self.number_of = {key: number for number, key in enumerate(self.roster)}
        self.ground = Ground(self.contract, self.terms.round, self.roster, self.terms.packs, self.terms.jokers)
        self.facts = {kind: [[] for _ in self.roster] for kind in e.ROUND_KINDS}

    @property
    def most_entries(self) -> int:
        """How many entries of one author belong to it at most: what is honest never has as many."""
        longer = max(0, self.rules.turn_limit - USUAL_TURN_LIMIT)
        return MAX_ROUND_ENTRIES + ENTRIES_PER_ACTION * longer

    @property
    def players(self) -> int:
        """How many are on the roster."""
        return len(self.roster)

    @property
    def numbers(self) -> range:
        """All roster numbers."""
        return range(len(self.roster))

    def coins(self, accepts: Sequence[Fact], keys: Sequence[Fact]) -> bytes:
        """K of D6, over the acceptances and the coins shown with the keys, both in roster order."""
        return coins_digest(
            self.contract, [fact.id for fact in accepts], [body_of(fact, e.Key).coin for fact in keys]
        )

    def seating(self, coins: bytes) -> tuple[tuple[int, ...], int]:
        """Seat → number, and the dealer's seat (D7)."""
        if self.terms.seats:
            dealer = self.terms.dealer[0] if self.terms.dealer else first_dealer(coins, self.players)
            return tuple(self.terms.seats), dealer
        return seating(coins, self.players), first_dealer(coins, self.players)

    def words(self, coins: bytes) -> tuple[str, str, str]:
        """The three table words (D6)."""
        return table_words(coins)

    def everything(self) -> Lens:
        """What this peer holds of the round now; the same lens until something changes."""
        if self._everything is None:
            self._everything = Lens(self, None)
        return self._everything

    def changed(self) -> None:
        """Has to be called after every change: what ``everything`` has answered may be true no more."""
        self._everything = None

    def add_node(self, node: Node) -> None:
        """Puts a node of the chain in its place."""
        if node.parent is not None:
            node.parent.children.append(node)
            if node.parent in self.leaves:
                self.leaves.remove(node.parent)
            self.nodes[node.id] = node
        self.leaves.append(node)


class Lens:
    """A round as one entry's past shows it, or (``of`` None) all that is held. Answers are cached."""

    def __init__(self, round_: Round, of: Fact | None) -> None:
        self.round = round_
        self.of = of
        self._first: dict[tuple[str, int], Fact | None] = {}
        self._each: dict[str, dict[int, Fact]] = {}

    def has(self, fact: Fact) -> bool:
        """Whether the fact lies in this past."""
        return self.of is None or self.round.feeds.in_past(self.of, fact)

    def first(self, kind: str, number: int) -> Fact | None:
        """The first entry of a kind that a number has written in this past."""
        key = (kind, number)
        if key not in self._first:
            found = [fact for fact in self.round.facts[kind][number] if self.has(fact)]
            # The smallest id of a forked one, so that the order of arrival has no say.
            self._first[key] = min(found, key=lambda fact: (fact.seq, fact.id)) if found else None
        return self._first[key]

    def all(self, kind: str, number: int) -> list[Fact]:
        """All entries of a kind that a number has written in this past, in feed order."""
        found = [fact for fact in self.round.facts[kind][number] if self.has(fact)]
        return sorted(found, key=lambda fact: (fact.seq, fact.id))

    def each(self, kind: str) -> Mapping[int, Fact]:
        """Number → its first entry of a kind, for those who have one here."""
        if kind not in self._each:
            pairs = ((number, self.first(kind, number)) for number in self.round.numbers)
            self._each[kind] = {number: fact for number, fact in pairs if fact is not None}
        return self._each[kind]

    # -- faults and departures -------------------------------------------------------------------

    @cached_property
    def all_faults(self) -> tuple[Fault, ...]:
        """Every fault whose evidence is here; those on record only are left out."""
        return tuple(
            fault
            for fault, evidence in self.round.faults
            if all(self.has(fact) or fact is self.of for fact in evidence)
        )

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """One fault for each culprit, its first, in roster order."""
        first: dict[bytes, Fault] = {}
        for fault in self.all_faults:
            held = first.get(fault.player)
            if held is None or _order(fault) < _order(held):
                first[fault.player] = fault
        return tuple(first[key] for key in self.round.roster if key in first)

    @cached_property
    def forked_at(self) -> dict[bytes, int]:
        """Author → the smallest number of which two versions are here."""
        found: dict[bytes, int] = {}
        for fault in self.all_faults:
            if fault.code == "fork":
                found[fault.player] = min(fault.seq, found.get(fault.player, fault.seq))
        return found

    def counts(self, fact: Fact) -> bool:
        """Whether the fact is here and on no branch of a fork: the game goes on without either branch."""
        cut = self.forked_at.get(fact.author)
        return self.has(fact) and (cut is None or fact.seq < cut)

    @cached_property
    def culprits(self) -> frozenset[int]:
        """The numbers of those with a fault here."""
        return frozenset(self.round.number_of[fault.player] for fault in self.faults)

    @cached_property
    def debtors(self) -> frozenset[int]:
        """The numbers that somebody truthfully named as debtors when giving up."""
        return frozenset(number for fact in self.leaves for number, _ in self.round.debts.get(fact.id, ()))

    @cached_property
    def gone(self) -> frozenset[int]:
        """The numbers that left without naming a true debt."""
        return frozenset(
            self.round.number_of[fact.author] for fact in self.leaves if not self.round.debts.get(fact.id)
        )

    @cached_property
    def leaves(self) -> tuple[Fact, ...]:
        """All departures here, in roster order."""
        return tuple(fact for number in self.round.numbers for fact in self.all("leave", number))

    # -- before the deal -------------------------------------------------------------------------

    @cached_property
    def agreement(self) -> Deal | None:
        """The deal that everybody on the roster has agreed on."""
        for digest, deal in sorted(self.round.deals.items()):
            if all(
                any(
                    body_of(fact, e.Agreed).digest == digest and self.has(fact)
                    for fact in self.round.facts["agreed"][number]
                )
                for number in self.round.numbers
            ):
                return deal
        return None

    @cached_property
    def dead(self) -> bool:
        """Whether the attempt came to nothing before all had agreed."""
        if self.agreement is not None:
            return False
        return bool(self.each("decline") or self.leaves or self.faults)

    @cached_property
    def unverified(self) -> tuple[tuple[Fact, ShuffleStatement, bytes], ...]:
        """Proofs here that have not been checked yet: fact, statement, joint key."""
        found = []
        for number in self.round.numbers:
            for fact in self.all("proof", number):
                if fact.id in self.round.verified:
                    continue
                # The deck in the past of the proof, not any other that its author may have signed.
                step = self.round.proven[fact.id]
                proof = body_of(fact, e.Proof).proof
                statement = ShuffleStatement(number, step.deck_in, step.deck_out, proof)
                found.append((fact, statement, step.joint))
        return tuple(found)

    def deck_of(self, number: int) -> DeckStep | None:
        """The deck that a number has shuffled here."""
        fact = self.first("deck", number)
        return self.round.decks.get(fact.id) if fact is not None else None

    def next_to_shuffle(self) -> int | None:
        """The number whose deck is missing while all before it are here; None when all are."""
        for number in self.round.numbers:
            if self.first("deck", number) is None:
                return number
        return None

    def agreed_deal(self) -> Deal | None:
        """The deal that a peer with this past has to agree on; None while something is missing or bad."""
        round_ = self.round
        last = self.deck_of(round_.players - 1)
        if last is None:
            return None
        steps = last.steps()
        accepts, keys, proofs = self.each("accept"), self.each("key"), self.each("proof")
        if len(proofs) < round_.players or len(steps) < round_.players:
            return None
        if any(not round_.verified.get(proofs[step.number].id, False) for step in steps):
            return None
        if any(step.keys != tuple(keys[number] for number in round_.numbers) for step in steps):
            return None
        listed = [
            [accepts[step.number].id, keys[step.number].id, step.fact.id, proofs[step.number].id, b""]
            for step in steps
        ]
        digest = h("agreed", round_.contract, [], last.joint, listed)
        known = round_.deals.get(digest)
        if known is not None:
            return known
        accepted = [accepts[number] for number in round_.numbers]
        coins = round_.coins(accepted, last.keys)
        proven = [proofs[number] for number in round_.numbers]
        seating_ = round_.seating(coins)
        return Deal(round_.contract, round_.rules, digest, last, accepted, proven, coins, seating_)

    # -- cards -----------------------------------------------------------------------------------

    def share(self, number: int, position: int) -> bytes | None:
        """The share that a number has given here for a position."""
        for fact, share in self.round.given.get((number, position), ()):
            if self.has(fact) or fact is self.of:
                return share
        return None

    def face(self, deal: Deal, position: int, own: tuple[int, bytes] | None = None) -> int | None:
        """The face at a position from the shares here (and one more, ``own``); None if any is missing."""
        shares = []
        for number in self.round.numbers:
            if own is not None and number == own[0]:
                share: bytes | None = own[1]
            else:
                share = self.share(number, position)
            if share is None:
                return None
            shares.append(share)
        return self.round.dealing.open(self.round.ground, deal.deck, position, shares)

    def missing(self, position: int, besides: int | None = None) -> tuple[int, ...]:
        """Who has not given a share for a position here."""
        return tuple(
            number for number in self.round.numbers if number != besides and self.share(number, position) is None
        )

    @cached_property
    def dealt(self) -> GameState | None:
        """The state with all upcards open, when every share of the deal is here."""
        deal = self.agreement
        if deal is None:
            return None
        for number in self.round.numbers:
            if not any(self.has(fact) for fact in self.round.deal_done.get(number, ())):
                return None
        if deal.opened is None:
            state = deal.base
            for position in deal.base.awaiting:
                face = self.face(deal, position)
                if face is None:
                    return None
                state = game.apply(state, OpenFace(position, face))
            deal.opened = state
        return deal.opened

    def arranged_by(self, number: int) -> GameState | None:
        """The dealt state with the swaps of one number, as this past has them."""
        steps = self.arrangements(number)
        return self.round.arranged.get(steps[-1].id) if steps else self.dealt

    def arrangements(self, number: int) -> list[Fact]:
        """The swaps (or choices of upcards) of one number that count here, in order."""
        found = [*self.all("swap", number), *self.all("choose", number)]
        return sorted((fact for fact in found if self.counts(fact)), key=lambda fact: (fact.seq, fact.id))

    def arranging(self, besides: int | None = None) -> GameState | None:
        """The dealt state with everybody's swaps and readiness (but that of ``besides``) here."""
        deal, state = self.agreement, self.dealt
        if deal is None or state is None:
            return None
        for number in self.round.numbers:
            for fact in self.arrangements(number):
                state = self.apply_arrangement(deal, state, number, fact)
        ready = self.readies
        for number in self.round.numbers:
            if number != besides and number in ready:
                state = game.apply(state, ReadyMove(deal.seat_of[number]))
        return state

    @cached_property
    def readies(self) -> Mapping[int, Fact]:
        """Number → the ``ready`` that counts here."""
        return {number: fact for number, fact in self.each("ready").items() if self.counts(fact)}

    def apply_arrangement(self, deal: Deal, state: GameState, number: int, fact: Fact) -> GameState:
        """The state after a swap or choice that has been judged already."""
        if isinstance(fact.entry.body, e.Choose):
            return game.apply(state, ChooseMove(deal.seat_of[number], tuple(fact.entry.body.positions)))
        body = body_of(fact, e.Swap)
        if not state.is_public(body.hand):
            face = self.face(deal, body.hand)
            if face is not None:
                state = game.apply(state, OpenFace(body.hand, face))
        return game.apply(state, SwapMove(deal.seat_of[number], body.hand, body.up))

    # -- the chain -------------------------------------------------------------------------------

    @cached_property
    def root(self) -> Node | None:
        """The state when all were ready, made on first need."""
        readies = self.readies
        if len(readies) < self.round.players or self.agreement is None:
            return None
        facts = tuple(readies[number] for number in self.round.numbers)
        ids = tuple(fact.id for fact in facts)
        node = self.round.roots.get(ids)
        if node is None:
            last = self.round.players - 1
            before = self.arranging(besides=last)
            if before is None:
                return None
            state, told = game.step(before, ReadyMove(self.agreement.seat_of[last]))
            # Upcards that were chosen, not dealt, are laid open now, by everybody.
            cause = h("chosen", self.round.contract, list(ids))
            calls = tuple(Call(cause, position, None) for position in state.awaiting)
            node = Node(None, None, state, 0, calls, roots=facts, told=told)
            self.round.roots[ids] = node
            self.round.unmet.extend(calls)
            self.round.add_node(node)
        return node

    @cached_property
    def tip(self) -> Node | None:
        """The last link of the chain here; with a fork in the feed, the last one before it."""
        if self.root is None:
            return None
        best: Node | None = None
        for leaf in self.round.leaves:
            node = self._within(leaf)
            if node is not None and (best is None or (node.depth, node.id) > (best.depth, best.id)):
                best = node
        return best

    def _within(self, leaf: Node) -> Node | None:
        """The last link before ``leaf`` up to which everything is here and counts."""
        node: Node | None = leaf
        while node is not None and node.fact is not None and not self.has(node.fact):
            node = node.parent
        if not self.forked_at:
            return node if node is None or all(self.has(fact) for fact in node.roots) else None
        # All that was built on either branch of a fork is void with it.
        last, step = node, node
        while step is not None:
            facts = step.roots if step.fact is None else (step.fact,)
            if not all(self.counts(fact) for fact in facts):
                last = step.parent
            step = step.parent
        return last

    def state_at(self, node: Node) -> GameState:
        """The state after a link, its flipped card turned up if all its shares are here."""
        if not node.state.awaiting:
            return node.state
        deal = self.agreement
        if deal is None:
            return node.state
        state = node.state
        for position in node.state.awaiting:
            if self.missing(position):
                return node.state
            if node.opened is not None:
                continue
            face = self.face(deal, position)
            if face is None:
                return node.state
            state = game.apply(state, OpenFace(position, face))
        if node.opened is None:
            node.opened = state
        return node.opened

    @cached_property
    def state(self) -> GameState | None:
        """The public state of the game here; None before the cards are dealt."""
        if self.tip is not None:
            return self.state_at(self.tip)
        return self.arranging()

    def digest(self, node: Node) -> bytes:
        """D11: the hash of the state after a link."""
        state = self.state_at(node)
        if node.hashed is None or node.hashed[0] is not state:
            node.hashed = (state, state_digest(self.round.contract, node.turn, state))
        return node.hashed[1]

    # -- phases ----------------------------------------------------------------------------------

    @cached_property
    def phase(self) -> Phase:
        """Where the round stands here."""
        round_ = self.round
        if self.agreement is None:
            if self.dead:
                return Phase.DEAD
            if len(self.each("accept")) < round_.players:
                return Phase.OFFER
            if len(self.each("key")) < round_.players:
                return Phase.KEYS
            return Phase.PREPARE
        if self.ending is not None or self.final is not None:
            return self._closing()
        if self.dealt is None:
            return Phase.DEAL
        tip = self.tip
        if tip is None:
            return Phase.ARRANGE
        state = self.state_at(tip)
        if state.phase is GamePhase.DECLARE:
            return Phase.START
        return Phase.OPENING if state.awaiting else Phase.PLAY

    def _closing(self) -> Phase:
        from p2p.rounds.ending import needs_reveal

        final = self.final
        if final is None:
            return Phase.ENDING
        if not needs_reveal(final):
            return Phase.CLOSED
        revealed = all(self.first("reveal", number) is not None for number in self.revealers)
        return Phase.CLOSED if revealed else Phase.REVEAL

    @cached_property
    def revealers(self) -> tuple[int, ...]:
        """Who has to show a seed: everyone but culprits and those who are gone."""
        return self.final.signers if self.final is not None else ()

    @cached_property
    def ending(self) -> Ending | None:
        """The ending that follows from what is here, signed or not."""
        from p2p.rounds.ending import find_ending

        return find_ending(self)

    @cached_property
    def final(self) -> Ending | None:
        """The ending that everyone needed has signed."""
        from p2p.rounds.ending import find_final

        return find_final(self)


def _order(fault: Fault) -> tuple[int, bool, str, tuple[bytes, ...]]:
    """Which of a culprit's faults comes first. A fork comes before whatever is wrong with one of its versions:
    that of a proof may be unknown still at some peers, since the round is over and nobody needs to check it."""
    return fault.seq, fault.code != "fork", fault.code, fault.evidence

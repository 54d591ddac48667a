"""Who belongs to a table, and on what terms the next round may be offered (docs/protocol.md, 4 and D4, D7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from engine.errors import RuleError
from engine.options import NextDealer
from engine.rules import ENGINE_REVISION, RuleSet, check_playable, from_items, packs_for
from p2p.canonical import h
from p2p.feeds import entries as e
from p2p.feeds.facts import Fact, body_of
from p2p.feeds.faults import Breach
from p2p.feeds.identity import BadName, check_name, fold_name, is_identity
from p2p.rounds.chain import Ending
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody at the table. ``operator``: the key of whoever runs this player (a bot's host), or empty."""

    key: bytes
    name: str
    operator: bytes
    admitted: Fact

    @property
    def rank(self) -> tuple[int, bytes]:
        """Sorts members in the order of admission, alike at every peer."""
        return (_depth(self.admitted), self.admitted.id)


def _depth(fact: Fact) -> int:
    # The number of entries in the past: it grows along every chain of causes.
    return sum(max(head.seq for head in heads) + 1 for heads in fact.heads.values())


Has = Callable[[Fact], bool]


@dataclass(slots=True)
class Membership:
    """The entries that let people in and out."""

    opening: Fact | None
    admissions: list[Fact]
    departures: list[tuple[bytes, Fact]]
    """Key, and the ``dismiss`` or ``leave`` that took it off the table."""

    def members(self, has: Has, in_past: Callable[[Fact, Fact], bool]) -> dict[bytes, Member]:
        """Key → member, in the order of admission, in the past that ``has`` describes."""
        found: dict[bytes, Member] = {}
        for member in self._candidates():
            fact = member.admitted
            if not has(fact):
                continue
            gone = any(
                key == member.key and has(departure) and in_past(departure, fact)
                for key, departure in self.departures
            )
            if not gone:
                held = found.get(member.key)
                if held is None or member.rank < held.rank:
                    found[member.key] = member
        return dict(sorted(found.items(), key=lambda item: item[1].rank))

    def ever(self) -> frozenset[bytes]:
        """The keys of all who were ever let in."""
        return frozenset(member.key for member in self._candidates())

    def reason_for_departure(self, key: bytes) -> str:
        """Why a key is no member any more: ``left`` by its own word, else the reason it was dismissed for;
        empty if it never departed."""
        for gone, fact in reversed(self.departures):
            if gone == key:
                body = fact.entry.body
                return body.reason if isinstance(body, e.Dismiss) else "left"
        return ""

    def lets_in(self, fact: Fact, in_past: Callable[[Fact, Fact], bool]) -> bool:
        """Whether the past of an entry shows that its author was ever let in."""
        return any(member.key == fact.author and in_past(fact, member.admitted) for member in self._candidates())

    def _candidates(self) -> list[Member]:
        found = []
        if self.opening is not None:
            opened = body_of(self.opening, e.Open)
            found.append(Member(self.opening.author, opened.name, opened.operator, self.opening))
        for fact in self.admissions:
            admitted = body_of(fact, e.Admit)
            found.append(Member(admitted.key, admitted.name, admitted.operator, fact))
        return found


def check_admission(body: e.Admit, members: Mapping[bytes, Member]) -> None:
    """Raises ``Breach`` unless the admission is one that a member may write."""
    if body.key in members or not is_identity(body.key):
        raise Breach("bad_kind", "admits a key that cannot be admitted")
    if body.operator and body.operator != body.key and body.operator not in members:
        raise Breach("bad_kind", "an operator who is not at the table")
    try:
        if check_name(body.name) != body.name:
            raise Breach("bad_kind", "a name that is not in its plain form")
    except BadName:
        raise Breach("bad_kind", "a name that cannot be used") from None
    if any(fold_name(member.name) == fold_name(body.name) for member in members.values()):
        raise Breach("bad_kind", "a name that is taken")


@dataclass(frozen=True, slots=True)
class Terms:
    """What the next ``start`` has to say, given the rounds before."""

    round: int
    attempt: int
    last: bytes
    seats: tuple[int, ...]
    dealer: int | None
    """The dealer's seat; None (with no seats) when the coins decide."""


class NotNow(Exception):
    """No round can be offered: another one is still going on. ``contract`` says which."""

    def __init__(self, contract: bytes) -> None:
        super().__init__("a round is going on")
        self.contract = contract


def next_terms(
    table: bytes,
    rounds: Mapping[bytes, Round],
    lens_of: Callable[[Round], Lens | None],
    roster: tuple[bytes, ...],
    order: tuple[bytes, ...],
    author: bytes,
) -> Terms:
    """The terms of the next round as one past shows them (``lens_of``: None for a round not in it).

    ``roster`` ascending; ``order``: the members in order of admission; ``author`` offers the round.
    Raises ``NotNow`` when a round is going on there with one of the roster: two members who play on their own,
    and never end it, must not keep all others from playing.
    """
    ended: list[tuple[Round, Lens, Ending]] = []
    lenses: list[tuple[Round, Lens]] = []
    for round_ in rounds.values():
        lens = lens_of(round_)
        if lens is None:
            continue
        lenses.append((round_, lens))
        if lens.final is not None:
            ended.append((round_, lens, lens.final))
        elif lens.agreement is not None:
            if not set(round_.roster).isdisjoint(roster):
                raise NotNow(round_.contract)
        elif lens.phase is not Phase.DEAD:
            number = round_.number_of.get(author)
            if number is not None and lens.first("agreed", number) is not None:
                raise NotNow(round_.contract)
    if not ended:
        return Terms(1, _attempt(lenses, 1), h("first", table), (), None)
    round_, lens, ending = max(ended, key=lambda item: (item[0].terms.round, item[0].contract))
    number = round_.terms.round + 1
    seats, dealer = _next_seats(round_, lens, ending, roster, order)
    return Terms(number, _attempt(lenses, number), ending.digest, seats, dealer)


def _attempt(lenses: list[tuple[Round, Lens]], number: int) -> int:
    # Numbers in a contract of another revision cannot be judged, so nothing may follow from them either.
    attempts = [
        round_.terms.attempt for round_, _ in lenses if round_.terms.round == number and not round_.is_foreign
    ]
    return max(attempts, default=0) + 1


def _next_seats(
    round_: Round, lens: Lens, ending: Ending, roster: tuple[bytes, ...], order: tuple[bytes, ...]
) -> tuple[tuple[int, ...], int | None]:
    deal = lens.agreement
    if deal is None:
        raise ValueError("a round that has ended had a deal")
    number_of = {key: number for number, key in enumerate(roster)}
    before = [round_.roster[number] for number in deal.seats]
    stayed = [key for key in before if key in number_of]
    came = [key for key in order if key in number_of and key not in before]
    seats = [number_of[key] for key in (*stayed, *came)]
    if round_.rules.next_dealer is NextDealer.RANDOM:
        return tuple(seats), None
    dealer_key: bytes | None = None
    if ending.kind in ("finished", "forfeit", "stalled"):
        dealer_key = _dealer_by_rule(round_, ending)
    if dealer_key not in number_of:
        # The rule cannot be kept: the seat after the last dealer deals, past those who are gone.
        after = [before[(deal.dealer + 1 + step) % len(before)] for step in range(len(before))]
        dealer_key = next((key for key in after if key in number_of), roster[seats[0]])
    return tuple(seats), seats.index(number_of[dealer_key])


def _dealer_by_rule(round_: Round, ending: Ending) -> bytes | None:
    """Who deals after this round (R48, option ``next_dealer``); None for the seat after the dealer."""
    match round_.rules.next_dealer:
        case NextDealer.LOSER if ending.shithead is not None:
            return round_.roster[ending.shithead]
        case NextDealer.WINNER if ending.finish:
            return round_.roster[ending.finish[0]]
        case _:
            return None


def check_start(body: e.Start, expected: Terms, members: Mapping[bytes, Member]) -> RuleSet:
    """The rule set of an offer that follows from its past; raises ``Breach`` for any other.

    The rules of another engine revision cannot be judged here: the default ones stand in for them.
    """
    keys = [key for key, _, _ in body.roster]
    if any(a >= b for a, b in pairwise(keys)):
        raise Breach("bad_start", "the roster does not ascend")
    for key, name, operator in body.roster:
        member = members.get(key)
        if member is None or member.name != name or member.operator != operator:
            raise Breach("bad_start", "a roster that is not of this table")
    names = [fold_name(name) for _, name, _ in body.roster]
    if len(set(names)) < len(names):
        raise Breach("bad_start", "two players of one name")
    if body.engine_revision != ENGINE_REVISION:
        return RuleSet()
    if body.limits[2] < e.MIN_GRACE_S:
        raise Breach("bad_start", "no time to answer")
    if (body.round, body.attempt, body.last) != (expected.round, expected.attempt, expected.last):
        raise Breach("bad_start", "not the next round")
    dealer = () if expected.dealer is None else (expected.dealer,)
    if tuple(body.seats) != expected.seats or tuple(body.dealer) != dealer:
        raise Breach("bad_start", "seats or dealer that do not follow")
    if body.escrow:
        raise Breach("bad_start", "escrow is not part of this version")
    try:
        rules = from_items(tuple(body.rules))
        check_playable(rules, len(keys))
        packs = packs_for(rules, len(keys))
    except RuleError as error:
        raise Breach("bad_start", error.code) from None
    if (body.packs, body.jokers) != (packs, rules.jokers * packs):
        raise Breach("bad_start", "packs that do not fit the rules")
    return rules

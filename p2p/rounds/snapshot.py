"""What one person may see of a table, as one frozen value; every client draws from it (pure).

A snapshot holds no face beyond ``GameState`` as ``Session.own_state`` gives it: what everybody knows, and the
own hand. Making it asks nobody and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from engine.rules import RuleSet
from engine.state import GameState
from p2p.feeds.faults import Fault
from p2p.feeds.identity import fold_name
from p2p.rounds.duties import limit_s, patience_s
from p2p.rounds.members import Member
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round
from p2p.rounds.session import Session


@dataclass(frozen=True, slots=True)
class LinkView:
    """How well a player is heard: ``status`` is ``self``, ``good``, ``slow``, ``relayed`` or ``lost``."""

    status: str
    rtt_s: float | None = None


@dataclass(frozen=True, slots=True)
class PlayerView:
    """Somebody at the table. ``met``: "known", "new" or "renamed-key" (a known name under another key);
    ``operator``: who runs this player if it is a bot (itself: a person's seat that plays by itself)."""

    key: bytes
    name: str
    is_me: bool
    is_host: bool
    is_bot: bool
    link: LinkView
    rounds_before: int
    met_at: str
    met: str
    operator: bytes = b""


@dataclass(frozen=True, slots=True)
class Knocking:
    """Somebody at the door. ``operator``: who runs this player, empty for a person."""

    key: bytes
    name: str
    operator: bytes
    address: str


@dataclass(frozen=True, slots=True)
class Wait:
    """What the round waits for: ``player`` owes ``what`` (see ``p2p.rounds.duties.Duty``) for ``seconds``.

    ``limit_s``: after how many the player's own program does it (0: never); ``patience_s``: after how many others
    may give the round up (0: unknown).
    """

    player: bytes
    what: str
    seconds: float
    limit_s: int = 0
    patience_s: int = 0

    @property
    def is_overdue(self) -> bool:
        """Whether others may give the round up for it."""
        return 0 < self.patience_s <= self.seconds


@dataclass(frozen=True, slots=True)
class EndingView:
    """How a round ended. Keys; ``kind`` as in ``p2p.rounds.chain.Ending``."""

    kind: str
    finish: tuple[bytes, ...]
    shithead: bytes | None
    debts: tuple[tuple[bytes, str], ...]
    left: tuple[bytes, ...]
    signed: int
    """How many have signed this very ending."""
    signers: int
    """How many have to."""
    revealed: int
    gave_up: tuple[bytes, ...] = ()
    """Who ended the round for the debts of others."""


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round as this person may see it."""

    contract: bytes
    number: int
    attempt: int
    phase: Phase
    rules: RuleSet
    roster: tuple[bytes, ...]
    names: Mapping[bytes, str]
    seats: tuple[bytes, ...]
    """Seat → player; empty until the coins are known."""
    my_seat: int | None
    state: GameState | None
    """Public knowledge and the own hand's faces; None before the deal."""
    stamp: bytes
    """Changes with every move: an answer meant for one stamp must not be given to another."""
    words: tuple[str, ...]
    accepted: int
    keys: int
    shuffled: int
    proven: int
    agreed: int
    waits: tuple[Wait, ...]
    overdue: bool
    """Whether somebody has owed something for longer than the grace: ``void`` would be taken."""
    faults: tuple[Fault, ...]
    ending: EndingView | None
    limits: tuple[int, int, int] = (0, 0, 0)
    """Seconds for a turn and for arranging, after which a player's own program plays (0: never), and the grace
    after which others may give the round up."""
    steps: Mapping[bytes, tuple[str, ...]] = field(default_factory=dict)
    """Player → the steps of the deal it has done, of :data:`STEPS`, in that order."""


STEPS: Final = ("accept", "key", "deck", "proof", "agreed", "shares")
"""What every player does for the deal, in order."""


@dataclass(frozen=True, slots=True)
class RoundScore:
    """One line of the evening's score. ``names``: key and name of its players as they were called in that round;
    ``left``: who left it without naming a true debt.
    """

    number: int
    kind: str
    finish: tuple[bytes, ...]
    shithead: bytes | None
    names: tuple[tuple[bytes, str], ...] = ()
    left: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The table as this person may see it."""

    table: bytes
    name: str
    me: bytes
    host: bytes | None
    acting_host: bytes | None
    """Who admits and offers rounds now: the host, or the next present member in order of admission."""
    players: tuple[PlayerView, ...]
    door: tuple[Knocking, ...]
    round: RoundView | None
    asked: bool
    """Whether this person has to say yes or no to an offer."""
    score: tuple[RoundScore, ...]
    addresses: tuple[str, ...]
    """Where others can reach this peer."""
    notices: tuple[str, ...] = field(default=())
    """Codes of lasting troubles, such as ``no_mdns``."""
    lapsed: tuple[bytes, ...] = ()
    """Members lost for so long that a newcomer may have their seat."""

    def player(self, key: bytes) -> PlayerView | None:
        """The player with a key, if still at the table."""
        return next((player for player in self.players if player.key == key), None)

    def name_of(self, key: bytes) -> str:
        """A name for a key: of a member, else of the round's roster, else the key's first characters."""
        player = self.player(key)
        if player is not None:
            return player.name
        if self.round is not None and key in self.round.names:
            return self.round.names[key]
        return key[:4].hex()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a snapshot shows beside the session: links, acquaintances, the door."""

    links: Mapping[bytes, LinkView] = field(default_factory=dict)
    known: Mapping[bytes, tuple[int, str]] = field(default_factory=dict)
    """Key → rounds played together before, and since when."""
    known_names: Mapping[str, bytes] = field(default_factory=dict)
    """Folded name → the key under which it was met last."""
    door: tuple[Knocking, ...] = ()
    acting_host: bytes | None = None
    addresses: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    lapsed: tuple[bytes, ...] = ()


def make_snapshot(session: Session, around: Surroundings, now: float) -> Snapshot:
    """The snapshot of a session of a peer with an identity. ``now``: seconds of the driver's clock."""
    round_ = session.current()
    members = session.members()
    players = tuple(_player(session, member, around) for member in members.values())
    return Snapshot(
        session.table,
        session.name,
        session.me or b"",
        session.host,
        around.acting_host,
        players,
        # Who has just been let in is at the door no more, whatever its keeper has come to so far.
        tuple(knocking for knocking in around.door if knocking.key not in members),
        _round(session, round_, now) if round_ is not None else None,
        session.asks_consent() is not None,
        tuple(_score(ended) for ended in session.ended_rounds()),
        around.addresses,
        around.notices,
        around.lapsed,
    )


def _player(session: Session, member: Member, around: Surroundings) -> PlayerView:
    is_me = member.key == session.me
    rounds, met_at = around.known.get(member.key, (0, ""))
    other = around.known_names.get(fold_name(member.name))
    met = "known" if rounds else "new"
    if not is_me and not rounds and other is not None and other != member.key:
        met = "renamed-key"
    link = LinkView("self") if is_me else around.links.get(member.key, LinkView("lost"))
    return PlayerView(
        member.key,
        member.name,
        is_me,
        member.key == session.host,
        bool(member.operator),
        link,
        rounds,
        met_at,
        met,
        member.operator,
    )


def _round(session: Session, round_: Round, now: float) -> RoundView:
    lens = round_.everything()
    deal = lens.agreement
    seats = tuple(round_.roster[number] for number in deal.seats) if deal is not None else ()
    mine = round_.number_of.get(session.me or b"")
    my_seat = deal.seat_of[mine] if deal is not None and mine is not None else None
    waits = tuple(
        Wait(
            round_.roster[duty.number],
            duty.what,
            seconds,
            limit_s(round_, duty.what),
            patience_s(round_, duty),
        )
        for duty, seconds in session.waiting_for(now)
    )
    return RoundView(
        contract=round_.contract,
        number=round_.terms.round,
        attempt=round_.terms.attempt,
        phase=lens.phase,
        rules=round_.rules,
        roster=round_.roster,
        names=dict(zip(round_.roster, round_.names, strict=True)),
        seats=seats,
        my_seat=my_seat,
        state=session.own_state(round_),
        stamp=stamp_of(round_, lens),
        words=round_.words(deal.coins) if deal is not None else (),
        accepted=len(lens.each("accept")),
        keys=len(lens.each("key")),
        shuffled=len(lens.each("deck")),
        proven=len(lens.each("proof")),
        agreed=len(lens.each("agreed")),
        waits=waits,
        overdue=bool(session.overdue(now)),
        faults=(*lens.faults, *round_.on_record),
        ending=_ending(round_, lens),
        steps=_steps(round_, lens),
        limits=(round_.terms.limits[0], round_.terms.limits[1], round_.terms.limits[2]),
    )


def _steps(round_: Round, lens: Lens) -> dict[bytes, tuple[str, ...]]:
    done = {kind: lens.each(kind) for kind in STEPS[:-1]}
    return {
        key: (
            *(kind for kind in STEPS[:-1] if number in done[kind]),
            *(("shares",) if round_.deal_done.get(number) else ()),
        )
        for number, key in enumerate(round_.roster)
    }


def stamp_of(round_: Round, lens: Lens) -> bytes:
    """Changes with every move and answer; see ``RoundView.stamp``."""
    tip = lens.tip
    if tip is None:
        return round_.contract + bytes([len(lens.each("ready"))])
    return tip.id + (b"" if lens.state_at(tip).awaiting else b"+")


def _ending(round_: Round, lens: Lens) -> EndingView | None:
    ending = lens.final or lens.ending
    if ending is None:
        return None
    signed = {
        number
        for number in round_.numbers
        for fact in lens.all("result", number)
        if round_.results[fact.id].digest == ending.digest
    }
    return EndingView(
        ending.kind,
        tuple(round_.roster[number] for number in ending.finish),
        None if ending.shithead is None else round_.roster[ending.shithead],
        tuple((round_.roster[number], what) for number, what in ending.debts),
        tuple(round_.roster[number] for number, how, _ in ending.gone if how == "left"),
        len(signed),
        len(ending.signers),
        len(lens.each("reveal")),
        tuple(round_.roster[number] for number, how, _ in ending.gone if how == "owed"),
    )


def _score(round_: Round) -> RoundScore:
    final = round_.everything().final
    if final is None:
        raise ValueError("only a settled round has a score")
    return RoundScore(
        round_.terms.round,
        final.kind,
        tuple(round_.roster[number] for number in final.finish),
        None if final.shithead is None else round_.roster[final.shithead],
        tuple(zip(round_.roster, round_.names, strict=True)),
        tuple(round_.roster[number] for number, how, _ in final.gone if how == "left"),
    )


__all__ = [
    "EndingView",
    "Knocking",
    "LinkView",
    "PlayerView",
    "RoundScore",
    "RoundView",
    "Snapshot",
    "Surroundings",
    "Wait",
    "make_snapshot",
]

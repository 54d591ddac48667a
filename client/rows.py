"""The parts of a view: what a person may see and do, as frozen values (made by ``client.view``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from client.clocks import Clocks
from client.names import typed_name
from client.sentences import Names
from engine.errors import Sentence
from engine.moves import PlayerMove
from engine.rules import RuleSet
from engine.state import Zone


class Stage(StrEnum):
    """What is going on at the table, for a person."""

    LOBBY = "lobby"
    """No round: before the first, or an offer that came to nothing."""
    OFFER = "offer"
    DEALING = "dealing"
    ARRANGE = "arrange"
    START = "start"
    """It is being found out who leads (R15)."""
    PLAY = "play"
    OPENING = "opening"
    """A flipped card is being opened."""
    ENDING = "ending"
    """The round has ended; not everybody has signed that yet."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A player, and what lies open of theirs.

    ``seat``: clockwise from 0, None without a seat. ``status``: ``waiting`` (not in the round), ``in``,
    ``ready``, ``out`` or ``left``. ``hand``, ``downcards``: how many; ``slots``: for each downcard slot whether
    a card is there. ``place``: as which the player went out, from 1. ``present``: whether still at the table.
    ``link`` and ``met``: as in ``p2p.rounds.snapshot``; ``rtt_ms``: whole milliseconds.
    """

    key: bytes
    name: str
    seat: int | None
    is_me: bool
    is_host: bool
    is_bot: bool
    present: bool
    in_turn: bool
    deals: bool
    status: str
    hand: int
    upcards: tuple[str, ...]
    downcards: int
    slots: tuple[bool, ...]
    place: int | None
    link: str
    rtt_ms: int | None
    met: str
    met_at: str
    rounds_before: int
    steps: tuple[str, ...] = ()
    """Which steps of the deal this player has done: ``accept key deck proof agreed shares``."""


@dataclass(frozen=True, slots=True)
class DoorRow:
    """Somebody who asks to be let in. ``operator``: the name of whose bot it is, empty for a person."""

    key: bytes
    name: str
    operator: str
    address: str


@dataclass(frozen=True, slots=True)
class PileRow:
    """The wastepile, bottom first; ``run``: how many equal ranks lie on top; ``fits``: rank characters that may
    be played on it, ascending; ``burns_at``: the run that burns it. ``top``: the rank character that the top card
    counts as, ``to_beat``: the one that is to be beaten (another where the top is looked through; both empty
    without one). ``named``: wild jokers in it and the rank characters that they count as.
    """

    cards: tuple[str, ...]
    run: int
    fits: tuple[str, ...]
    burns_at: int
    top: str = ""
    to_beat: str = ""
    named: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class OwnCard:
    """A card of mine that I see: where it is, and why it cannot be played alone now (None: it can)."""

    text: str
    position: int
    zone: Zone
    why_not: Sentence | None

    @property
    def rank(self) -> str:
        """The rank character."""
        return self.text[0]


@dataclass(frozen=True, slots=True)
class Group:
    """My cards of one rank in one zone; ``playable``: whether they may be played now."""

    rank: str
    cards: tuple[str, ...]
    playable: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a play would do, as the engine says. ``burns``: ``ten``, ``quartet`` or empty; ``burnt``: how many
    cards would go; ``run``: how many equal ranks would lie on top; ``again``: I would play again; ``next``: who
    would be in turn, else None; ``out``: as which I would go out, from 1; ``fits``: rank characters that could
    be played on it; ``to_beat``: the one that is to be beaten then (empty: none).
    """

    burns: str
    burnt: int
    run: int
    again: bool
    next: str | None
    out: int | None
    fits: tuple[str, ...]
    to_beat: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One numbered thing that I can do now.

    With ``move``: ``play``, ``play_as`` (``name``: the rank character that jokers count as), ``pick_up``
    (``cards``: the upcards that go along), ``flip``, ``chance``, ``name`` (a turned joker, as the rank ``name``),
    ``done`` (with laying drawn cards), ``choose`` (``cards`` as upcards), ``ready``. Without: ``yes``, ``no``,
    ``start``, ``admit``, ``refuse`` (the last two with ``key`` and ``name``). ``number`` counts from 1; ``slot``
    too.
    """

    number: int
    kind: str
    move: PlayerMove | None = None
    cards: tuple[str, ...] = ()
    slot: int | None = None
    count: int = 0
    key: bytes = b""
    name: str = ""
    outcome: Outcome | None = field(default=None, compare=False)
    """Of a play."""


@dataclass(frozen=True, slots=True)
class WaitRow:
    """Whom the round waits for, for what (``p2p.rounds.duties.Duty.what``), and since how many seconds.

    ``limit_s``, ``patience_s``: as in ``p2p.rounds.snapshot.Wait``.
    """

    name: str
    is_me: bool
    what: str
    seconds: int
    limit_s: int = 0
    patience_s: int = 0

    @property
    def is_overdue(self) -> bool:
        """Whether others may give the round up for it."""
        return 0 < self.patience_s <= self.seconds


@dataclass(frozen=True, slots=True)
class DealRow:
    """How far the deal has come: how many of ``players`` have done each step."""

    players: int
    accepted: int
    keys: int
    shuffled: int
    proven: int
    agreed: int


@dataclass(frozen=True, slots=True)
class EndingRow:
    """How the round ended, by names; ``kind`` as in ``p2p.rounds.chain.Ending``."""

    kind: str
    finish: tuple[str, ...]
    shithead: str | None
    debts: tuple[tuple[str, str], ...]
    left: tuple[str, ...]
    signed: int
    signers: int
    revealed: int
    gave_up: tuple[str, ...] = ()
    """Who ended the round for the debts of others."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One round of the evening, by the names that its players had in it.

    ``keys``: whose those of ``finish`` are, and last that of ``shithead`` if there is one; ``left``: who left it.
    """

    number: int
    kind: str
    finish: tuple[str, ...]
    shithead: str | None
    keys: tuple[bytes, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """All of it. ``players``: by seat while a round is on, else in the order in which they came."""

    table: str
    stage: Stage
    me: bytes
    my_name: str
    i_host: bool
    """Whether I admit players and offer rounds now."""
    host: str
    """Who does: whoever opened the table, and while that player is away the next one."""
    names: Names
    players: tuple[PlayerRow, ...]
    door: tuple[DoorRow, ...]
    round: int | None
    roster: tuple[str, ...]
    """Who is in the round, in no order of theirs."""
    rules: RuleSet | None
    words: tuple[str, ...]
    deal: DealRow | None
    in_round: bool
    my_seat: int | None
    my_turn: bool
    """Whether I can do something about the game now: in my turn, and while arranging until I am ready."""
    turn: str | None
    zone: Zone | None
    """The zone I play from (R2)."""
    own: tuple[OwnCard, ...]
    """Hand and upcards of mine, by rank."""
    groups: tuple[Group, ...]
    """The cards of the active zone by rank; while arranging, of the hand."""
    unseen: int
    """Cards of my hand whose faces have not come yet."""
    pile: PileRow | None
    stock: int
    burnt: int
    pick_up_why_not: Sentence | None
    choices: tuple[Choice, ...]
    asked: bool
    waits: tuple[WaitRow, ...]
    overdue: bool
    faults: tuple[Sentence, ...]
    ending: EndingRow | None
    score: tuple[ScoreRow, ...]
    addresses: tuple[str, ...]
    notices: tuple[str, ...]
    stamp: bytes
    """To be given with a move: a move meant for another stamp is refused."""
    naming: str = ""
    """The wild joker that was turned up and that its player has to name now."""
    follow: tuple[int, ...] = ()
    """Positions of the cards just drawn that the player in turn may still lay (``draw_follow_up``)."""
    clocks: Clocks | None = None
    """Those of the round; None where there is none."""
    start_rank: str = ""
    """The rank that my first lead has to hold (``lead_must_be_start_rank``)."""
    refuse: Callable[[PlayerMove], Sentence | None] = field(default=lambda move: None, compare=False, repr=False)
    """Why a move of mine would be refused as far as I can see, or None."""

    def player(self, name: str) -> PlayerRow | None:
        """The player of that name, typed with or without the marks of ``client.names``, in any case."""
        wanted = typed_name(name)
        return next((row for row in self.players if typed_name(row.name) == wanted), None)

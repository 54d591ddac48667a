"""Entries: the signed, canonical bytes of which every feed is made (docs/protocol.md, D0–D2, D16).

An entry's bytes as signed are what is stored, sent and hashed; its id leaves the signature out. Decoding
happens in two steps, because they have different consequences: an envelope that cannot be read is dropped
and blames nobody; a readable, signed envelope whose body does not fit its declared kind is its author's
breach (``bad_schema``).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Meta

from engine.cards import CARDS_IN_PACK
from engine.contradictions import MAX_CHOOSE_CARDS
from engine.options import MAX_JOKERS_PER_PACK, MAX_PACKS
from engine.rules import MAX_PLAYERS as MOST_PLAYERS
from engine.rules import MIN_PLAYERS
from p2p.canonical import NotCanonical, Value, dec, enc

VERSION: Final = 1
"""The protocol version, first field of every entry."""

SIGNED_LABEL: Final = b"shithead/1 entry\0"
"""D1, D23: what is signed starts with its purpose, so that no signature serves another one."""

MAX_ENTRY_BYTES: Final = 40 * 1024
"""D22: the largest honest entry is the proof of a shuffle: 36.3 kB for the largest deck (``MAX_CARDS``), 16.9 kB
for the two packs of ten players."""

MAX_SEEN: Final = 64
"""D22: as many as there can be feeds at a table (``MAX_ADMISSIONS``). Where an author has forked its feed there
may be more heads; then entries of kind ``mark`` carry the rest."""

MAX_ADMISSIONS: Final = 64
"""Admissions of one table: an evening of ten seats with much coming and going. Keys cost nothing, and everything
that is asked of a table costs everybody more with every key that was ever let in."""

MIN_GRACE_S: Final = 1
"""A contract leaves everybody at least this long before somebody may give the round up for a debt."""

MAX_FEED_ENTRIES: Final = 100_000
"""Entries in one feed: more than a hundred rounds of an evening. What a member could make others store ends
here."""

MAX_FEED_BYTES: Final = 8 << 20
"""Entries of one feed with their signatures: some 180 rounds of four players, 130 of ten. What lies beyond is
taken in by nobody, so that no member can make the file of a round (which holds the evening) too big to be read."""

ROUND_BYTES: Final = 2 << 20
"""So much of a feed has to be free for a round: 4,096 entries of 450 bytes, which no round comes near."""

ZERO_ID: Final = bytes(32)
"""``prev`` of a feed's first entry, and the table id inside an ``open`` entry (D1, D2)."""

SIGNATURE_BYTES: Final = 64
"""Ed25519 (RFC 8032)."""

MAX_NAME_CHARACTERS: Final = 20
"""D22: a name has to fit beside others on one line of an 80-column terminal."""

MAX_TABLE_NAME_CHARACTERS: Final = 20
"""A DNS-SD instance label holds 63 bytes, and the key's prefix needs some of them."""

MAX_WRITTEN_NAME_CHARACTERS: Final = 4 * MAX_NAME_CHARACTERS
"""Of a name in an entry: one over ``MAX_NAME_CHARACTERS`` can be read and is a breach that says so; far beyond
that it has no place in an entry."""

MAX_PLAYERS: Final = MOST_PLAYERS
"""R6: two packs seat ten."""

LIMITS: Final = 3
"""Of a contract: for a turn, for arranging, and the grace for a debt."""

MAX_JOKERS: Final = MAX_PACKS * MAX_JOKERS_PER_PACK
"""Jokers of the whole deck, as the rules allow them."""

MAX_CARDS: Final = MAX_PACKS * CARDS_IN_PACK + MAX_JOKERS
"""Cards of the largest deck that the rules allow: places are below it, and no list of them is longer. At the deal
of such a deck a player may owe shares for nearly all of it at once."""

MAX_OPENINGS: Final = 64
"""Calls that one entry answers with shares: each is answered at once, and a move calls for cards once."""

MAX_SMALL_PROOF_BYTES: Final = 512
"""Proofs of possession and of shares have 128 bytes at most."""

MAX_COUNT: Final = 1_000_000
"""Rounds, attempts, turns, seconds: more than any evening has, and as many as ``turn_limit`` may count."""

MAX_OPTIONS: Final = 64
"""Options of a rule set: there are some forty."""

MAX_TEXT_CHARACTERS: Final = 64
"""An option's name or value, or a reason: the longest value names all ranks."""

MAX_WORD_CHARACTERS: Final = 16
"""The name of a kind or of an action: the longest of ours has half of that."""

Bytes32 = Annotated[bytes, Meta(min_length=32, max_length=32)]
Bytes32OrNone = Annotated[bytes, Meta(max_length=32)]
SmallBytes = Annotated[bytes, Meta(max_length=MAX_SMALL_PROOF_BYTES)]
BigBytes = Annotated[bytes, Meta(max_length=MAX_ENTRY_BYTES)]
Position = Annotated[int, Meta(ge=0, lt=MAX_CARDS)]
Number = Annotated[int, Meta(ge=0, lt=MAX_PLAYERS)]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Ordinal = Annotated[int, Meta(ge=1, le=MAX_COUNT)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_WRITTEN_NAME_CHARACTERS)]
ShortText = Annotated[str, Meta(max_length=MAX_TEXT_CHARACTERS)]
Word = Annotated[str, Meta(max_length=MAX_WORD_CHARACTERS)]


class Body(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """The declared content of one kind of entry; on the wire an array in the order of the fields."""


class Open(Body, frozen=True):
    """Opens a table; the id of this entry is the table's id (D2). Only at sequence number 0."""

    table: Annotated[str, Meta(min_length=1, max_length=4 * MAX_TABLE_NAME_CHARACTERS)]
    name: Name
    operator: Bytes32OrNone
    nonce: Bytes32


class Admit(Body, frozen=True):
    """Lets a key in under a name. ``operator``: the key of whoever runs it (a bot's
    host; its own where a program plays a person's seat), or empty."""

    key: Bytes32
    name: Name
    operator: Bytes32OrNone


class Dismiss(Body, frozen=True):
    """Takes a member off the table, never during a round in which it is seated."""

    key: Bytes32
    reason: ShortText


class Mark(Body, frozen=True):
    """Says nothing but what its author has seen: written where one entry cannot name all the newest ones."""


class Start(Body, frozen=True):
    """The contract of a round (D4); the id of this entry is ``C``."""

    round: Ordinal
    attempt: Ordinal
    last: Bytes32
    engine_revision: Count
    rules: Annotated[list[tuple[ShortText, ShortText]], Meta(max_length=MAX_OPTIONS)]
    packs: Annotated[int, Meta(ge=1, le=MAX_PACKS)]
    jokers: Annotated[int, Meta(ge=0, le=MAX_JOKERS)]
    escrow: bool
    limits: Annotated[list[Count], Meta(min_length=LIMITS, max_length=LIMITS)]
    roster: Annotated[
        list[tuple[Bytes32, Name, Bytes32OrNone]], Meta(min_length=MIN_PLAYERS, max_length=MAX_PLAYERS)
    ]
    seats: Annotated[list[Number], Meta(max_length=MAX_PLAYERS)]
    dealer: Annotated[list[Number], Meta(max_length=1)]


class Accept(Body, frozen=True):
    """Commits to a seed and a coin, both bound to the contract and the author (D5)."""

    contract: Bytes32
    seed_commitment: Bytes32
    coin_commitment: Bytes32


class Decline(Body, frozen=True):
    """Does not play this round; ``reason`` is a code."""

    contract: Bytes32
    reason: ShortText


class Key(Body, frozen=True):
    """The author's part of the round key with its proofs of possession, and the coin (D6)."""

    contract: Bytes32
    x: Bytes32
    y: Bytes32
    proof: SmallBytes
    coin: Bytes32


class Deck(Body, frozen=True):
    """The deck as its author has shuffled it; ``previous`` is the ``deck`` entry it took, empty for none."""

    contract: Bytes32
    previous: Bytes32OrNone
    deck: BigBytes


class Proof(Body, frozen=True):
    """The proof that the author's ``deck`` is a shuffle of the one before (D13)."""

    contract: Bytes32
    proof: BigBytes


class Agreed(Body, frozen=True):
    """All decks and proofs are checked, and this hash is over the list of entries meant (D10)."""

    contract: Bytes32
    digest: Bytes32


class Shares(Body, frozen=True):
    """Opening shares for called positions, with one batched proof (D15, D16)."""

    contract: Bytes32
    gone: Annotated[list[Number], Meta(max_length=0)]
    openings: Annotated[
        list[
            tuple[
                Bytes32,
                Annotated[list[Position], Meta(min_length=1, max_length=MAX_CARDS)],
                Annotated[list[Bytes32], Meta(min_length=1, max_length=MAX_CARDS)],
            ]
        ],
        Meta(min_length=1, max_length=MAX_OPENINGS),
    ]
    proof: SmallBytes


class Swap(Body, frozen=True):
    """Exchanges a hand card for an upcard; a closed hand card brings its owner's share along."""

    contract: Bytes32
    hand: Position
    up: Position
    share: Bytes32OrNone
    proof: SmallBytes


class Choose(Body, frozen=True):
    """Picks own hand cards that become upcards (option ``arrange=choose``); replaces an earlier choice."""

    contract: Bytes32
    positions: Annotated[list[Position], Meta(min_length=1, max_length=MAX_CHOOSE_CARDS)]


class Ready(Body, frozen=True):
    """Done rearranging; final (1.19)."""

    contract: Bytes32


class Declare(Body, frozen=True):
    """Lays open a card of the rank asked for that was dealt to the author's hand (D25)."""

    contract: Bytes32
    position: Position
    share: Bytes32OrNone
    proof: SmallBytes


class Pass(Body, frozen=True):
    """Has no dealt hand card of the rank asked for (D25)."""

    contract: Bytes32


class Move(Body, frozen=True):
    """One link of the chain: a play, a pick-up or a flip, answering one state by its digest.

    ``action`` is ``play`` (``places``: positions), ``play_as`` (a rank, then positions), ``pick_up`` (upcards
    that go along), ``flip`` (one slot), ``chance`` (none), ``name`` (one rank) or ``done`` (none).
    ``positions`` are the author's closed cards that it opens, ascending,
    ``shares`` the author's share for each.
    """

    contract: Bytes32
    turn: Count
    parent: Bytes32
    digest: Bytes32
    action: Word
    places: Annotated[list[Position], Meta(max_length=MAX_CARDS)]
    positions: Annotated[list[Position], Meta(max_length=MAX_CARDS)]
    shares: Annotated[list[Bytes32], Meta(max_length=MAX_CARDS)]
    proof: SmallBytes


class Result(Body, frozen=True):
    """The author's signature under the ending of the round (D20)."""

    contract: Bytes32
    ending: Bytes32


class Reveal(Body, frozen=True):
    """The author's seed, after the ending is final (D21)."""

    contract: Bytes32
    seed: Bytes32


class Leave(Body, frozen=True):
    """Gives up the round (or, with the table's id as contract, the table); ``owed`` names true debts."""

    contract: Bytes32
    owed: Annotated[list[tuple[Number, ShortText]], Meta(max_length=2 * MAX_PLAYERS)]


BODIES: Final[dict[str, type[Body]]] = {
    "open": Open,
    "admit": Admit,
    "dismiss": Dismiss,
    "mark": Mark,
    "start": Start,
    "accept": Accept,
    "decline": Decline,
    "key": Key,
    "deck": Deck,
    "proof": Proof,
    "agreed": Agreed,
    "shares": Shares,
    "swap": Swap,
    "choose": Choose,
    "ready": Ready,
    "declare": Declare,
    "pass": Pass,
    "move": Move,
    "result": Result,
    "reveal": Reveal,
    "leave": Leave,
}
"""Every kind of entry and the shape of its body."""

KIND_OF: Final[dict[type[Body], str]] = {body: kind for kind, body in BODIES.items()}

ROUND_KINDS: Final = frozenset(BODIES) - {"open", "admit", "dismiss", "mark", "start"}
"""Kinds whose body starts with the contract they belong to."""


class Malformed(Body, frozen=True):
    """Stands in for a body that does not fit its kind: the author's breach, kept as evidence."""

    reason: str
    contract: bytes = b""
    """The round that it claims to belong to, where that much can be read."""


class Unreadable(ValueError):
    """Bytes that are no entry: dropped, counted, nobody's fault. The text says what was wrong."""


class OtherProtocol(Unreadable):
    """An entry of another version of the protocol; ``found`` says which."""

    def __init__(self, found: int) -> None:
        super().__init__("another protocol version")
        self.found = found


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One signed entry, decoded. Two entries are equal when their ids are."""

    data: bytes
    signature: bytes
    id: bytes
    table: bytes
    author: bytes
    seq: int
    prev: bytes
    seen: tuple[bytes, ...]
    kind: str
    body: Body

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        # Ids only: a body can hold a seed after the reveal, and a repr ends up in logs.
        return f"Entry({self.kind} {self.author[:4].hex()}:{self.seq} {self.id[:4].hex()})"

    @property
    def contract(self) -> bytes:
        """The contract this entry belongs to; its own id for a ``start``, empty for table entries."""
        if self.kind == "start":
            return self.id
        value: bytes = getattr(self.body, "contract", b"")
        return value


def _to_builtin(value: object) -> Value:
    if isinstance(value, Body):
        return [_to_builtin(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, list | tuple):
        return [_to_builtin(item) for item in value]
    if isinstance(value, bool | int | bytes | str):
        return value
    raise TypeError(f"{type(value).__name__} has no place in an entry")


def entry_id(data: bytes) -> bytes:
    """The id of an entry: SHA-256 of the signed string (D1)."""
    return hashlib.sha256(SIGNED_LABEL + data).digest()


def make_entry(
    key: Ed25519PrivateKey,
    table: bytes,
    seq: int,
    prev: bytes,
    seen: tuple[bytes, ...],
    body: Body,
) -> Entry:
    """Encodes and signs one's own entry.

    ``table`` is the table's id (ignored for an ``open``, which signs zeros there), ``seen`` ids ascending.
    Raises ``ValueError`` when the entry would exceed D22.
    """
    author = key.public_key().public_bytes_raw()
    kind = KIND_OF[type(body)]
    named = ZERO_ID if kind == "open" else table
    data = enc([VERSION, named, author, seq, prev, list(seen), kind, _to_builtin(body)])
    if len(data) > MAX_ENTRY_BYTES:
        raise ValueError(f"an entry of {len(data)} bytes exceeds {MAX_ENTRY_BYTES}")
    signature = key.sign(SIGNED_LABEL + data)
    ident = entry_id(data)
    return Entry(data, signature, ident, ident if kind == "open" else table, author, seq, prev, seen, kind, body)


class _Envelope(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    version: Annotated[int, Meta(ge=0)]
    table: Bytes32
    author: Bytes32
    seq: Annotated[int, Meta(ge=0, lt=MAX_FEED_ENTRIES)]
    prev: Bytes32
    seen: Annotated[list[Bytes32], Meta(max_length=MAX_SEEN)]
    kind: Word
    body: tuple[Any, ...]


def read_entry(data: bytes, signature: bytes) -> Entry:
    """Decodes bytes off the wire or off a file; the signature is *not* yet checked.

    Raises ``Unreadable`` for anything whose envelope is not exactly one canonical entry of this version.
    """
    if len(data) > MAX_ENTRY_BYTES:
        raise Unreadable("longer than an entry may be")
    if len(signature) != SIGNATURE_BYTES:
        raise Unreadable(f"a signature has {SIGNATURE_BYTES} bytes")
    try:
        raw = dec(data)
        envelope = msgspec.convert(raw, _Envelope, strict=True)
    except NotCanonical as error:
        raise Unreadable(str(error)) from None
    except (msgspec.ValidationError, RecursionError) as error:
        raise Unreadable(str(error)) from None
    if envelope.version != VERSION:
        raise OtherProtocol(envelope.version)
    if any(a >= b for a, b in zip(envelope.seen, envelope.seen[1:], strict=False)):
        raise Unreadable("`seen` is not ascending")
    if (envelope.seq == 0) != (envelope.prev == ZERO_ID):
        raise Unreadable("only a first entry has no previous one")
    opens = envelope.kind == "open" and envelope.seq == 0
    if (envelope.table == ZERO_ID) != opens:
        raise Unreadable("only an opening has no table id")
    ident = entry_id(data)
    return Entry(
        data,
        signature,
        ident,
        ident if opens else envelope.table,
        envelope.author,
        envelope.seq,
        envelope.prev,
        tuple(envelope.seen),
        envelope.kind,
        _read_body(envelope.kind, envelope.body),
    )


def _read_body(kind: str, raw: tuple[Any, ...]) -> Body:
    declared = BODIES.get(kind)
    if declared is None:
        return Malformed("unknown kind")
    first = raw[0] if raw and kind in ROUND_KINDS else b""
    contract = first if isinstance(first, bytes) else b""
    try:
        body = msgspec.convert(raw, declared, strict=True)
    except msgspec.ValidationError as error:
        return Malformed(str(error), contract)
    if enc(_to_builtin(body)) != enc(raw):
        # A text that happens to be base64 converts to bytes: the comparison refuses it.
        return Malformed("types differ from the declared ones", contract)
    return body


def signature_fits(entry: Entry) -> bool:
    """Whether the entry is signed by its author."""
    try:
        Ed25519PublicKey.from_public_bytes(entry.author).verify(entry.signature, SIGNED_LABEL + entry.data)
    except (InvalidSignature, ValueError):
        return False
    return True

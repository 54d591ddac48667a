"""The statements after the head: what they are, how they are read and written.

Cards stay text here. Whether a card exists, and where it lies, is for the rules to say: a move with a card
that is not in the pack is a move all the same, and an illegal one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from engine.cards import RANKS, is_card_text, rank_text
from engine.checks import CODES
from engine.moves import (
    Chance,
    Choose,
    Declare,
    Done,
    Flip,
    Leave,
    Name,
    Pass,
    PickUp,
    Play,
    PlayAs,
    PlayerMove,
    Ready,
    Swap,
    Unready,
)
from engine.record.errors import FORM, RecordError
from engine.record.words import Cursor, Word, name_text, parse_name
from engine.state import NOBODY, Phase, Result

MAX_SLOT_DIGITS: Final = 3
"""Far more than a slot number has; keeps a made-up number from costing time."""


class Verb(Enum):
    """What a player does, by the word after the name."""

    SWAPS = "swaps"
    READY = "ready"
    UNREADY = "unready"
    DECLARES = "declares"
    PASSES = "passes"
    PLAYS = "plays"
    NAMES = "names"
    PICKS_UP = "picks"
    FLIPS = "flips"
    CHANCES = "chances"
    CHOOSES = "chooses"
    DONE = "done"
    LEAVES = "leaves"


class Where(Enum):
    """The zones that an expectation can speak of; the first three belong to a player."""

    HAND = "hand"
    UP = "up"
    DOWN = "down"
    STOCK = "stock"
    PILE = "pile"
    BURNT = "burnt"


SEAT_ZONES: Final = frozenset({Where.HAND, Where.UP, Where.DOWN})

EMPTY: Final = "-"
"""An empty downcard slot."""


@dataclass(frozen=True, slots=True)
class MoveLine:
    """A move. ``cards`` as the verb takes them (a swap: hand card, upcard); ``slot`` from 1, ``rank`` a
    number.
    """

    seat: int
    verb: Verb
    cards: tuple[str, ...] = ()
    slot: int = 0
    rank: int = -1
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExpectSeat:
    """``= turn NAME`` or ``= eldest NAME``."""

    what: str
    seat: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExpectZone:
    """``= hand NAME CARDS`` and so on; ``seat`` is ``NOBODY`` for a zone on the table."""

    where: Where
    seat: int
    cards: tuple[str, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExpectDirection:
    """``= direction clockwise`` or ``anticlockwise``; +1 or -1."""

    direction: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExpectOut:
    """``= out NAMES``: the finish order so far."""

    seats: tuple[int, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExpectOver:
    """``= over NAME`` (the shithead), ``= over stalled`` or ``= over void``."""

    shithead: int
    result: Result
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExpectPhase:
    """``= phase PHASE``."""

    phase: Phase
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ExpectIllegal:
    """``= illegal [CODE] MOVE``; ``code`` is empty when any refusal will do."""

    code: str
    move: MoveLine
    line: int = field(default=0, compare=False)


Expectation = ExpectSeat | ExpectZone | ExpectDirection | ExpectOut | ExpectOver | ExpectPhase | ExpectIllegal
Statement = MoveLine | Expectation


def parse_seat(word: Word, names: tuple[str, ...], line: int) -> int:
    """The seat of the player whose name ``word`` is."""
    name = parse_name(word, line)
    if name not in names:
        raise RecordError(line, FORM, "Nobody called {name} plays here.", name=name)
    return names.index(name)


def parse_cards(words: list[Word], line: int) -> tuple[str, ...]:
    """``words`` as card texts, whichever packs are in use."""
    for word in words:
        if word.quoted or not is_card_text(word.text):
            raise RecordError(line, FORM, "A card like Td or 9c' is expected, not {found}.", found=word.text)
    return tuple(word.text for word in words)


def parse_pile(cursor: Cursor) -> tuple[tuple[str, ...], dict[str, int]]:
    """The wastepile, bottom to top, and the ranks that wild jokers in it count as: ``9c X1 as 9``."""
    cards: list[str] = []
    named: dict[str, int] = {}
    while cursor.peek() is not None:
        if cards and cursor.accept("as"):
            named[cards[-1]] = _rank(cursor)
        else:
            cards += parse_cards([cursor.take("A card")], cursor.line)
    return tuple(cards), named


def pile_texts(cards: Iterable[tuple[str, int]]) -> Iterator[str]:
    """The words of a wastepile; with each card the rank that it was named, -1 for most."""
    for card, rank in cards:
        yield card
        if rank >= 0:
            yield from ("as", rank_text(rank))


def parse_slots(words: list[Word], line: int) -> tuple[str, ...]:
    """``words`` as downcard slots: cards, and ``-`` for an empty slot."""
    full = [word for word in words if not word.is_keyword(EMPTY)]
    parse_cards(full, line)
    return tuple(word.text for word in words)


def parse_statement(cursor: Cursor, names: tuple[str, ...]) -> Statement:
    """The statement that a line after the head makes; ``RecordError`` if it makes none."""
    statement: Statement = _expectation(cursor, names) if cursor.accept("=") else _move(cursor, names)
    cursor.end()
    return statement


def _some_cards(cursor: Cursor, what: str) -> tuple[str, ...]:
    """The cards up to the next keyword or the end, at least one."""
    words = [cursor.take(what)]
    while (following := cursor.peek()) is not None and is_card_text(following.text):
        words.append(cursor.take(what))
    return parse_cards(words, cursor.line)


def _move(cursor: Cursor, names: tuple[str, ...]) -> MoveLine:
    line = cursor.line
    seat = parse_seat(cursor.take("A name"), names, line)
    word = cursor.take("What the player does")
    try:
        verb = Verb(word.text if not word.quoted else "")
    except ValueError:
        verbs = ", ".join(verb.value for verb in Verb)
        raise cursor.unexpected(f"One of {verbs}", word) from None
    match verb:
        case Verb.SWAPS:
            hand = parse_cards([cursor.take("A card")], line)
            cursor.require("for")
            return MoveLine(seat, verb, hand + parse_cards([cursor.take("A card")], line), line=line)
        case Verb.DECLARES:
            return MoveLine(seat, verb, parse_cards([cursor.take("A card")], line), line=line)
        case Verb.PLAYS:
            cards = _some_cards(cursor, "A card")
            named = _rank(cursor) if cursor.accept("as") else -1
            return MoveLine(seat, verb, cards, rank=named, line=line)
        case Verb.NAMES:
            return MoveLine(seat, verb, rank=_rank(cursor), line=line)
        case Verb.CHOOSES:
            return MoveLine(seat, verb, _some_cards(cursor, "A card"), line=line)
        case Verb.PICKS_UP:
            cursor.require("up")
            cards = _some_cards(cursor, "A card") if cursor.accept("with") else ()
            return MoveLine(seat, verb, cards, line=line)
        case Verb.FLIPS:
            return MoveLine(seat, verb, slot=_slot(cursor), line=line)
        case _:
            return MoveLine(seat, verb, line=line)


def _rank(cursor: Cursor) -> int:
    word = cursor.take("A rank")
    if word.quoted or len(word.text) != 1 or word.text not in RANKS:
        raise cursor.unexpected(f"A rank, one of {RANKS},", word)
    return RANKS.index(word.text)


def _slot(cursor: Cursor) -> int:
    word = cursor.take("A slot number")
    text = word.text
    if word.quoted or not (text.isascii() and text.isdigit() and len(text) <= MAX_SLOT_DIGITS):
        raise cursor.unexpected("A slot number", word)
    return int(text)


def _expectation(cursor: Cursor, names: tuple[str, ...]) -> Expectation:
    line = cursor.line
    word = cursor.take("What is expected")
    match word.text if not word.quoted else "":
        case "turn" | "eldest":
            return ExpectSeat(word.text, parse_seat(cursor.take("A name"), names, line), line)
        case "hand" | "up" | "down" | "stock" | "pile" | "burnt":
            where = Where(word.text)
            owner = parse_seat(cursor.take("A name"), names, line) if where in SEAT_ZONES else NOBODY
            read = parse_slots if where is Where.DOWN else parse_cards
            return ExpectZone(where, owner, read(cursor.rest(), line), line)
        case "direction":
            return ExpectDirection(parse_direction(cursor), line)
        case "out":
            return ExpectOut(tuple(parse_seat(name, names, line) for name in cursor.rest()), line)
        case "over":
            return _over(cursor, names)
        case "phase":
            return ExpectPhase(_phase(cursor), line)
        case "illegal":
            following = cursor.peek()
            is_code = following is not None and not following.quoted and following.text in CODES
            code = cursor.take("A code").text if is_code else ""
            return ExpectIllegal(code, _move(cursor, names), line)
        case _:
            known = "turn, eldest, hand, up, down, stock, pile, burnt, direction, out, over, phase, illegal"
            raise cursor.unexpected(f"One of {known}", word)


def _over(cursor: Cursor, names: tuple[str, ...]) -> ExpectOver:
    for result in (Result.STALLED, Result.VOID):
        if cursor.accept(result.value):
            return ExpectOver(NOBODY, result, cursor.line)
    shithead = parse_seat(cursor.take("A name, `stalled` or `void`"), names, cursor.line)
    return ExpectOver(shithead, Result.FINISHED, cursor.line)


def _phase(cursor: Cursor) -> Phase:
    for phase in (Phase.ARRANGE, Phase.DECLARE, Phase.PLAY, Phase.OVER):
        if cursor.accept(phase.value):
            return phase
    raise cursor.unexpected("`arrange`, `declare`, `play` or `over`", cursor.peek())


def parse_direction(cursor: Cursor) -> int:
    """+1 for ``clockwise``, -1 for ``anticlockwise``."""
    if cursor.accept("clockwise"):
        return 1
    cursor.require("anticlockwise")
    return -1


def direction_text(direction: int) -> str:
    """The word for a direction."""
    return "clockwise" if direction > 0 else "anticlockwise"


def statement_text(statement: Statement, names: tuple[str, ...]) -> str:
    """The one line that ``statement`` is written as, without line end."""
    match statement:
        case MoveLine():
            return _move_text(statement, names)
        case ExpectSeat(what, seat):
            return f"= {what} {name_text(names[seat])}"
        case ExpectZone(where, seat, cards):
            owner = () if seat == NOBODY else (name_text(names[seat]),)
            return " ".join(("=", where.value, *owner, *cards))
        case ExpectDirection(direction):
            return f"= direction {direction_text(direction)}"
        case ExpectOut(seats):
            return " ".join(("= out", *(name_text(names[seat]) for seat in seats)))
        case ExpectOver(shithead, result):
            return f"= over {result.value if shithead == NOBODY else name_text(names[shithead])}"
        case ExpectPhase(phase):
            return f"= phase {phase.value}"
        case ExpectIllegal(code, move):
            return " ".join(part for part in ("= illegal", code, _move_text(move, names)) if part)


def _move_text(move: MoveLine, names: tuple[str, ...]) -> str:
    words = [name_text(names[move.seat]), move.verb.value]
    match move.verb:
        case Verb.SWAPS:
            words += [move.cards[0], "for", move.cards[1]]
        case Verb.PICKS_UP:
            words += ["up", "with", *move.cards] if move.cards else ["up"]
        case Verb.PLAYS if move.rank >= 0:
            words += [*move.cards, "as", rank_text(move.rank)]
        case Verb.NAMES:
            words.append(rank_text(move.rank))
        case Verb.FLIPS:
            words.append(str(move.slot))
        case _:
            words += move.cards
    return " ".join(words)


def to_move(line: MoveLine, place: dict[str, int]) -> PlayerMove:
    """The move that ``line`` stands for; ``place``: card text → position. A card that is nowhere is at -1."""
    seat, at = line.seat, tuple(place.get(card, -1) for card in line.cards)
    match line.verb:
        case Verb.SWAPS:
            return Swap(seat, at[0], at[1])
        case Verb.READY:
            return Ready(seat)
        case Verb.UNREADY:
            return Unready(seat)
        case Verb.DECLARES:
            return Declare(seat, at[0])
        case Verb.PASSES:
            return Pass(seat)
        case Verb.PLAYS:
            return PlayAs(seat, at, line.rank) if line.rank >= 0 else Play(seat, at)
        case Verb.NAMES:
            return Name(seat, line.rank)
        case Verb.PICKS_UP:
            return PickUp(seat, at)
        case Verb.FLIPS:
            return Flip(seat, line.slot - 1)
        case Verb.CHANCES:
            return Chance(seat)
        case Verb.CHOOSES:
            return Choose(seat, at)
        case Verb.DONE:
            return Done(seat)
        case Verb.LEAVES:
            return Leave(seat)


def from_move(move: PlayerMove, cards: tuple[str, ...]) -> MoveLine:
    """The line for ``move``; ``cards``: position → card text."""
    seat = move.seat
    match move:
        case Swap(_, hand, up):
            return MoveLine(seat, Verb.SWAPS, (cards[hand], cards[up]))
        case Ready():
            return MoveLine(seat, Verb.READY)
        case Unready():
            return MoveLine(seat, Verb.UNREADY)
        case Declare(_, position):
            return MoveLine(seat, Verb.DECLARES, (cards[position],))
        case Pass():
            return MoveLine(seat, Verb.PASSES)
        case Play(_, positions):
            return MoveLine(seat, Verb.PLAYS, tuple(cards[p] for p in positions))
        case PlayAs(_, positions, rank):
            return MoveLine(seat, Verb.PLAYS, tuple(cards[p] for p in positions), rank=rank)
        case Name(_, rank):
            return MoveLine(seat, Verb.NAMES, rank=rank)
        case PickUp(_, upcards):
            return MoveLine(seat, Verb.PICKS_UP, tuple(cards[p] for p in upcards))
        case Flip(_, slot):
            return MoveLine(seat, Verb.FLIPS, slot=slot + 1)
        case Chance():
            return MoveLine(seat, Verb.CHANCES)
        case Choose(_, positions):
            return MoveLine(seat, Verb.CHOOSES, tuple(cards[p] for p in positions))
        case Done():
            return MoveLine(seat, Verb.DONE)
        case Leave():
            return MoveLine(seat, Verb.LEAVES)

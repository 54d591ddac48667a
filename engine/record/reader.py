"""Reading and writing whole records, and playing them by the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from engine.cards import card_text
from engine.checks import refusal
from engine.errors import RuleError
from engine.game import apply, deal
from engine.moves import Done, Move, Open, PlayerMove
from engine.plays import plays
from engine.record.errors import EXPECTATION, RecordError, UnreadableRecord
from engine.record.expect import mismatch
from engine.record.head import parse_head
from engine.record.syntax import (
    EMPTY,
    ExpectIllegal,
    ExpectPhase,
    MoveLine,
    Statement,
    Verb,
    direction_text,
    from_move,
    parse_statement,
    pile_texts,
    statement_text,
    to_move,
)
from engine.record.words import Cursor, name_text, split_line
from engine.rules import RuleSet, changed_items
from engine.starting import to_declare
from engine.state import NOBODY, GameState, Phase

ANSWERS = frozenset({Verb.DECLARES, Verb.PASSES})


@dataclass(frozen=True, slots=True)
class Record:
    """A round or a position, and what follows. ``name`` says where it came from (a file name) and is not
    compared.

    ``players`` are names by seat. ``start`` has all faces; ``from_deck``: it is a whole deal, written as a
    deck.
    """

    rules: RuleSet
    players: tuple[str, ...]
    dealer: int
    start: GameState
    from_deck: bool
    statements: tuple[Statement, ...]
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Moment:
    """The position after a statement; ``text`` is the move, empty for the start (``line`` 0)."""

    line: int
    text: str
    state: GameState


def decode(data: bytes) -> str:
    """The text of a record file; ``UnreadableRecord`` when it is not UTF-8. A byte order mark is dropped."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableRecord(
            "not_utf8", "This is not UTF-8 text (at byte {offset}).", offset=error.start
        ) from error


def read(text: str, name: str = "") -> Record:
    """The record that ``text`` is, with the answers put in that R15.2 forces where they are left out.

    Moves are not judged here, :func:`check` does that. Raises ``UnreadableRecord`` when it is no record or
    has an option that this version does not play, ``RecordError`` with the line for everything else.
    """
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = split_line(line.removesuffix("\r"), number)
        if words:
            lines.append((number, words))
    head = parse_head(lines)
    statements = [parse_statement(Cursor(words, number), head.names) for number, words in lines[head.used :]]
    filled = tuple(_with_answers(head.start, statements))
    return Record(head.rules, head.names, head.dealer, head.start, head.from_deck, filled, name)


def from_moves(
    rules: RuleSet,
    players: Sequence[str],
    dealer: int,
    faces: Sequence[int],
    moves: Iterable[Move],
    name: str = "",
    eldest: int = NOBODY,
) -> Record:
    """The record of a round that was dealt from ``faces``; opened cards need no line of their own. ``eldest``
    as for ``engine.game.deal``.

    Raises ``RuleError`` as ``engine.game.deal``.
    """
    start = deal(rules, len(players), dealer, faces, eldest)
    cards = _cards(start)
    statements = tuple(from_move(move, cards) for move in moves if not isinstance(move, Open))
    return Record(rules, tuple(players), dealer, start, True, statements, name)


def write(record: Record) -> str:
    """The text of ``record``; reading it gives an equal record."""
    lines = [
        "shithead-record 1",
        " ".join(("rules wikipedia", *(f"{name}={value}" for name, value in changed_items(record.rules)))),
        " ".join(("players", *map(name_text, record.players))),
        f"dealer {name_text(record.players[record.dealer])}",
        *_eldest_line(record),
        *(_deck_lines(record) if record.from_deck else _position_lines(record)),
        *(statement_text(statement, record.players) for statement in record.statements),
    ]
    return "\n".join(lines) + "\n"


def check(record: Record) -> None:
    """Play ``record``; ``RecordError`` at the first move that is refused or expectation that does not
    hold.
    """
    for _ in moments(record):
        pass


def check_text(text: str, name: str = "") -> Record:
    """Read and check ``text``; raises as :func:`read` and :func:`check`."""
    record = read(text, name)
    check(record)
    return record


def moments(record: Record) -> Iterator[Moment]:
    """The start and the position after each move, checked on the way; raises as :func:`check`."""
    state = record.start
    cards = _cards(state)
    place = {card: position for position, card in enumerate(cards)}
    yield Moment(0, "", state)
    for statement in record.statements:
        match statement:
            case MoveLine():
                move = to_move(statement, place)
                error = refusal(state, move)
                if error is not None:
                    raise _refused(record, statement.line, error)
                state = apply(state, move)
                yield Moment(statement.line, statement_text(statement, record.players), state)
            case ExpectIllegal():
                _check_illegal(record, statement, refusal(state, to_move(statement.move, place)))
            case _:
                found = mismatch(state, statement, record.players, cards)
                if found is not None:
                    text = statement_text(statement, record.players)
                    raise RecordError(
                        statement.line,
                        EXPECTATION,
                        "`{expected}` does not hold; it is `{found}`.",
                        expected=text,
                        found=found,
                    )


def _refused(record: Record, line: int, error: RuleError) -> RecordError:
    # Whoever shows this knows a line of a file, not a table with names: they go in here.
    values = {
        key: record.players[value] if key == "seat" and isinstance(value, int) else value
        for key, value in error.sentence.values.items()
    }
    template = "The move is refused ({refusal}): " + error.sentence.template
    return RecordError(line, error.code, template, **values, refusal=error.code)


def _check_illegal(record: Record, statement: ExpectIllegal, error: RuleError | None) -> None:
    text = statement_text(statement.move, record.players)
    if error is None:
        raise RecordError(
            statement.line, EXPECTATION, "`{move}` is expected to be refused, but it is legal.", move=text
        )
    if statement.code not in ("", error.code):
        raise RecordError(
            statement.line,
            EXPECTATION,
            "`{move}` is expected to be refused with {expected}; it is, but with {found}.",
            move=text,
            expected=statement.code,
            found=error.code,
        )


def _cards(state: GameState) -> tuple[str, ...]:
    return tuple(card_text(face, state.packs) for face in state.faces)


def _with_answers(state: GameState, statements: Sequence[Statement]) -> Iterator[Statement]:
    """``statements`` with the forced answers where they are left out; unchanged from a refused move on.

    Declaring is left out of a record that does not speak of it anywhere, and so is being done
    (``draw_follow_up``), which is forced where no card just drawn can be laid.
    """
    cards = _cards(state)
    place = {card: position for position, card in enumerate(cards)}
    fills_declaring = not any(map(_speaks_of_declaring, statements))
    fills_done = not any(isinstance(s, MoveLine) and s.verb is Verb.DONE for s in statements)
    playable = True
    for statement in statements:
        while playable and (answer := _forced(state, declaring=fills_declaring, done=fills_done)) is not None:
            yield from_move(answer, cards)
            state = apply(state, answer)
        yield statement
        if playable and isinstance(statement, MoveLine):
            move = to_move(statement, place)
            playable = refusal(state, move) is None
            state = apply(state, move) if playable else state


def _forced(state: GameState, *, declaring: bool, done: bool) -> PlayerMove | None:
    """The one answer that there is in ``state``, of the kinds that may be left out."""
    if declaring and state.phase is Phase.DECLARE:
        return to_declare(state)
    if done and state.extra.follow and next(plays(state, state.turn), None) is None:
        return Done(state.turn)
    return None


def _speaks_of_declaring(statement: Statement) -> bool:
    """Whether a record with ``statement`` has its declaring written out."""
    match statement:
        case MoveLine():
            return statement.verb in ANSWERS
        case ExpectPhase(phase):
            return phase is Phase.DECLARE
        case _:
            return False


def _eldest_line(record: Record) -> list[str]:
    drawn = record.start.setup.drawn_eldest
    return [] if drawn == NOBODY else [f"eldest {name_text(record.players[drawn])}"]


def _deck_lines(record: Record) -> list[str]:
    return [" ".join(("deck", *_cards(record.start)))]


def _position_lines(record: Record) -> list[str]:
    state, cards = record.start, _cards(record.start)
    lines = []
    for word, zones in (("hand", state.hands), ("up", state.ups), ("down", state.downs)):
        for name, zone in zip(record.players, zones, strict=True):
            if any(position >= 0 for position in zone):
                texts = (EMPTY if position < 0 else cards[position] for position in zone)
                lines.append(" ".join((word, name_text(name), *texts)))
    named = dict(state.extra.named)
    for word, zone in (("stock", state.stock), ("pile", state.pile), ("burnt", state.burnt)):
        if zone:
            lines.append(" ".join((word, *pile_texts((cards[p], named.get(p, -1)) for p in zone))))
    if state.direction < 0:
        lines.append(f"direction {direction_text(state.direction)}")
    if state.finish_order:
        lines.append(" ".join(("out", *(name_text(record.players[seat]) for seat in state.finish_order))))
    turn = "phase arrange" if state.turn == NOBODY else f"turn {name_text(record.players[state.turn])}"
    return [*lines, turn]

"""The head of a record: rules, players, dealer, and the deck or the position that play starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from engine.cards import pack_size, parse_card
from engine.errors import RuleError
from engine.game import deal
from engine.options import ArrangeRule, JokerPower, StartRule
from engine.record.errors import HEAD, RecordError, UnreadableRecord
from engine.record.syntax import (
    EMPTY,
    parse_cards,
    parse_direction,
    parse_pile,
    parse_seat,
    parse_slots,
)
from engine.record.words import Cursor, Word, parse_name
from engine.rules import MAX_PLAYERS, MIN_PLAYERS, RuleSet, check_playable, check_played, packs_for, with_options
from engine.state import (
    EMPTY_SLOT,
    NOBODY,
    NOTHING,
    Extra,
    GameState,
    Phase,
    Result,
    Zones,
    make_setup,
    seats_from_left,
)
from engine.tables import nameable_ranks

VERSION: Final = "1"

TABLE_ZONES: Final = ("stock", "pile", "burnt")
PLAYER_ZONES: Final = ("hand", "up", "down")
POSITION_WORDS: Final = frozenset((*TABLE_ZONES, *PLAYER_ZONES, "turn", "phase", "direction", "out"))

Lines = Sequence[tuple[int, list[Word]]]
"""The lines that say something: number from 1, words."""


@dataclass(slots=True)
class Head:
    """What the head says; ``used`` lines of the file belong to it."""

    rules: RuleSet
    names: tuple[str, ...]
    dealer: int
    start: GameState
    from_deck: bool
    used: int


@dataclass(slots=True)
class _Position:
    """A position while its lines are being read."""

    zones: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    seen: dict[tuple[str, int], int] = field(default_factory=dict)
    turn: int = NOBODY
    arranging: bool = False
    direction: int = 1
    out: tuple[int, ...] = ()
    named: dict[str, int] = field(default_factory=dict)


def parse_head(lines: Lines) -> Head:
    """The head that ``lines`` begin with.

    Raises ``UnreadableRecord`` when the first statement is not that of a record, or for an option that this
    version does not play; ``RecordError`` for everything else.
    """
    if not lines or not lines[0][1][0].is_keyword("shithead-record"):
        raise UnreadableRecord("no_record", "This is not a record: its first statement is not shithead-record 1.")
    opening = _cursor(lines, 0, "shithead-record")
    version = opening.take("The version of the format")
    if not version.is_keyword(VERSION):
        raise UnreadableRecord(
            "record_version", "This version reads records of version 1, not {version}.", version=version.text
        )
    opening.end()
    rules = _rules(_cursor(lines, 1, "rules"))
    players = _cursor(lines, 2, "players")
    names = _names(players)
    try:
        check_playable(rules, len(names))
    except RuleError as error:
        raise RecordError(players.line, HEAD, error.sentence.template, **error.sentence.values) from error
    dealer_line = _cursor(lines, 3, "dealer")
    dealer = parse_seat(dealer_line.take("A name"), names, dealer_line.line)
    dealer_line.end()
    eldest, used = NOBODY, 4
    if rules.start is StartRule.RANDOM:
        eldest_line = _cursor(lines, 4, "eldest")
        eldest = parse_seat(eldest_line.take("A name"), names, eldest_line.line)
        eldest_line.end()
        used = 5
    if len(lines) > used and lines[used][1][0].is_keyword("deck"):
        start = _deck(_cursor(lines, used, "deck"), rules, len(names), dealer, eldest)
        return Head(rules, names, dealer, start, True, used + 1)
    start, used = _position(lines, used, rules, names, dealer, eldest)
    return Head(rules, names, dealer, start, False, used)


def _cursor(lines: Lines, index: int, keyword: str) -> Cursor:
    """A cursor on line ``index`` behind its first word, which must be ``keyword``."""
    if index >= len(lines):
        last = lines[-1][0] if lines else 1
        raise RecordError(last, HEAD, "After this line `{keyword}` is expected.", keyword=keyword)
    line, words = lines[index]
    cursor = Cursor(words, line)
    cursor.require(keyword)
    return cursor


def _rules(cursor: Cursor) -> RuleSet:
    preset = cursor.take("A preset")
    changes: dict[str, str] = {}
    for word in cursor.rest():
        name, equals, value = word.text.partition("=")
        if word.quoted or not equals:
            raise cursor.unexpected("OPTION=VALUE", word)
        if name in changes:
            raise RecordError(cursor.line, HEAD, "The option {option} is named twice.", option=name)
        changes[name] = value
    try:
        rules = with_options(RuleSet.preset(preset.text), changes)
        check_played(rules)
    except RuleError as error:
        if error.code == "not_yet":
            raise UnreadableRecord(error.code, error.sentence.template, **error.sentence.values) from error
        raise RecordError(cursor.line, HEAD, error.sentence.template, **error.sentence.values) from error
    return rules


def _names(cursor: Cursor) -> tuple[str, ...]:
    names = tuple(parse_name(word, cursor.line) for word in cursor.rest())
    if len(set(names)) < len(names):
        raise RecordError(cursor.line, HEAD, "Two players have the same name.")
    if not MIN_PLAYERS <= len(names) <= MAX_PLAYERS:
        raise RecordError(
            cursor.line, HEAD, "{least} to {most} names are expected.", least=MIN_PLAYERS, most=MAX_PLAYERS
        )
    return names


def _numbers(cards: Sequence[str], packs: int, jokers: int, line: int) -> list[int]:
    try:
        return [parse_card(card, packs, jokers) for card in cards]
    except RuleError as error:
        raise RecordError(line, HEAD, error.sentence.template, **error.sentence.values) from error


def _deck(cursor: Cursor, rules: RuleSet, players: int, dealer: int, eldest: int) -> GameState:
    cards = parse_cards(cursor.rest(), cursor.line)
    faces = _numbers(cards, packs_for(rules, players), rules.jokers, cursor.line)
    twice = next((card for at, card in enumerate(cards) if card in cards[:at]), None)
    if twice is not None:
        raise RecordError(cursor.line, HEAD, "{card} is in the deck twice.", card=twice)
    try:
        return deal(rules, players, dealer, faces, eldest)
    except RuleError as error:
        raise RecordError(cursor.line, HEAD, error.sentence.template, **error.sentence.values) from error


def _position(
    lines: Lines, used: int, rules: RuleSet, names: tuple[str, ...], dealer: int, eldest: int
) -> tuple[GameState, int]:
    position = _Position()
    while used < len(lines) and not lines[used][1][0].quoted and lines[used][1][0].text in POSITION_WORDS:
        line, words = lines[used]
        _position_line(position, Cursor(words, line), names)
        used += 1
    last = lines[used - 1][0]
    if not position.arranging and position.turn == NOBODY:
        if used < len(lines):
            raise RecordError(lines[used][0], HEAD, "`deck`, a zone, `turn` or `phase arrange` is expected here.")
        raise RecordError(last, HEAD, "`deck`, or a position with `turn` or `phase arrange`, is expected.")
    return _build(position, rules, names, dealer, eldest, last), used


def _position_line(position: _Position, cursor: Cursor, names: tuple[str, ...]) -> None:
    line = cursor.line
    word = cursor.take("A statement").text
    seat = parse_seat(cursor.take("A name"), names, line) if word in PLAYER_ZONES else NOBODY
    # `turn` and `phase` say the same thing in two ways, so there is one of them.
    key = ("turn" if word == "phase" else word, seat)
    if key in position.seen:
        raise RecordError(line, HEAD, "Line {first} says this already.", first=position.seen[key])
    position.seen[key] = line
    match word:
        case "down":
            position.zones[key] = parse_slots(cursor.rest(), line)
        case "pile":
            position.zones[key], position.named = parse_pile(cursor)
        case "hand" | "up" | "stock" | "burnt":
            position.zones[key] = parse_cards(cursor.rest(), line)
        case "turn":
            position.turn = parse_seat(cursor.take("A name"), names, line)
        case "phase":
            cursor.require("arrange")
            position.arranging = True
        case "direction":
            position.direction = parse_direction(cursor)
        case _:
            position.out = tuple(parse_seat(name, names, line) for name in cursor.rest())
    cursor.end()


def _build(
    position: _Position, rules: RuleSet, names: tuple[str, ...], dealer: int, eldest: int, last: int
) -> GameState:
    """The state that the lines describe; positions in the deck are given out as in a deal."""
    players = len(names)
    packs = packs_for(rules, players)
    faces_at = _faces(position, rules, players, packs)
    _check_seats(position, rules, names, last)
    _check_jokers(position, rules, last)
    faces: list[int] = []

    def place(key: tuple[str, int], index: int) -> int:
        faces.append(faces_at[key][index])
        return len(faces) - 1

    def deal_zone(name: str) -> Zones:
        """One card a round for each seat, from the dealer's left, as R9 deals them."""
        placed: dict[int, list[int]] = {seat: [] for seat in range(players)}
        for index in range(max(len(faces_at[name, seat]) for seat in range(players))):
            for seat in seats_from_left(players, dealer):
                if index < len(faces_at[name, seat]):
                    empty = faces_at[name, seat][index] == EMPTY_SLOT
                    placed[seat].append(EMPTY_SLOT if empty else place((name, seat), index))
        return tuple(tuple(placed[seat]) for seat in range(players))

    def table_zone(name: str) -> tuple[int, ...]:
        return tuple(place((name, NOBODY), index) for index in range(len(faces_at[name, NOBODY])))

    downs, ups, hands = deal_zone("down"), deal_zone("up"), deal_zone("hand")
    stock, pile, burnt = table_zone("stock"), table_zone("pile"), table_zone("burnt")
    arranging = position.arranging
    named = tuple(
        (at, position.named[card])
        for at, card in zip(pile, position.zones.get(("pile", NOBODY), ()), strict=False)
        if card in position.named
    )
    nothing: Zones = ((),) * players
    open_cards = (*pile, *burnt, *(p for seat in ups for p in seat))
    return GameState(
        setup=make_setup(
            rules, players, dealer, hands if arranging else nothing, ups if arranging else nothing, eldest
        ),
        phase=Phase.ARRANGE if arranging else Phase.PLAY,
        faces=tuple(faces),
        public=sum(1 << p for p in open_cards),
        hands=hands,
        ups=ups,
        downs=downs,
        stock=stock,
        pile=pile,
        burnt=burnt,
        aside=(),
        ready=(not arranging,) * players,
        active=tuple(seat not in position.out for seat in range(players)),
        eldest=NOBODY,
        turn=position.turn,
        asked=-1,
        direction=position.direction,
        awaiting=(),
        finish_order=position.out,
        left=(),
        shithead=NOBODY,
        result=Result.NONE,
        action_count=0,
        extra=Extra(named) if named else NOTHING,
    )


def _check_jokers(position: _Position, rules: RuleSet, last: int) -> None:
    """Complain unless each wild joker in the wastepile, and nothing else, counts as a rank that it can be."""
    line = position.seen.get(("pile", NOBODY), last)
    wild = rules.jokers > 0 and rules.joker_power is JokerPower.WILD
    pile = position.zones.get(("pile", NOBODY), ())
    jokers = [card for card in pile if card.startswith("X")] if wild else []
    if sorted(position.named) != sorted(set(jokers)):
        raise RecordError(line, HEAD, "Each wild joker in the pile, and no other card, has `as` and its rank.")
    if not all(rank in nameable_ranks(rules) for rank in position.named.values()):
        raise RecordError(line, HEAD, "A joker in the pile counts as a rank that it can't be named.")


def _faces(position: _Position, rules: RuleSet, players: int, packs: int) -> _FacesAt:
    """For each zone its cards; every card that stands nowhere is burnt."""
    faces_at = _FacesAt()
    first_line: dict[int, int] = {}
    for key, cards in position.zones.items():
        line = position.seen[key]
        full = [card for card in cards if card != EMPTY]
        numbers = _numbers(full, packs, rules.jokers, line)
        for card, number in zip(full, numbers, strict=True):
            if number in first_line:
                raise RecordError(
                    line, HEAD, "{card} stands in line {first} already.", card=card, first=first_line[number]
                )
            first_line[number] = line
        remaining = iter(numbers)
        if cards:
            faces_at[key] = tuple(EMPTY_SLOT if card == EMPTY else next(remaining) for card in cards)
    for seat in range(players):
        faces_at.setdefault(("down", seat), (EMPTY_SLOT,) * rules.deal.down)
    nowhere = tuple(k for k in range(pack_size(packs, rules.jokers)) if k not in first_line)
    faces_at["burnt", NOBODY] = faces_at["burnt", NOBODY] + nowhere
    return faces_at


class _FacesAt(dict[tuple[str, int], tuple[int, ...]]):
    """Cards by zone; a zone that is not named is empty."""

    def __missing__(self, key: tuple[str, int]) -> tuple[int, ...]:
        return ()


def _check_seats(position: _Position, rules: RuleSet, names: tuple[str, ...], last: int) -> None:
    """Complain unless cards, slots, `out` and `turn` fit together."""
    for (zone, seat), cards in position.zones.items():
        if zone == "down" and cards and len(cards) != rules.deal.down:
            raise RecordError(
                position.seen[zone, seat],
                HEAD,
                "All {slots} slots are expected, `-` for an empty one.",
                slots=rules.deal.down,
            )
    out_line = position.seen.get(("out", NOBODY), last)
    if len(set(position.out)) < len(position.out):
        raise RecordError(out_line, HEAD, "A player is out twice.")
    if position.arranging and position.out:
        raise RecordError(out_line, HEAD, "Nobody can be out while cards are arranged.")
    if position.arranging and rules.arrange is ArrangeRule.CHOOSE:
        for seat in range(len(names)):
            if ("up", seat) in position.seen:
                raise RecordError(
                    position.seen["up", seat], HEAD, "Upcards are chosen by these rules: they stand in `hand`."
                )
    for seat, name in enumerate(names):
        has_cards = any(card != EMPTY for zone in PLAYER_ZONES for card in position.zones.get((zone, seat), ()))
        if has_cards and seat in position.out:
            raise RecordError(out_line, HEAD, "{player} is out but has cards.", player=name)
        if not has_cards and seat not in position.out:
            raise RecordError(last, HEAD, "{player} has no cards and must be named in `out`.", player=name)
    if len(names) - len(position.out) < 2:
        raise RecordError(out_line, HEAD, "The round is over: fewer than two players have cards.")
    if position.turn in position.out:
        raise RecordError(position.seen["turn", NOBODY], HEAD, "A player who is out can't be in turn.")

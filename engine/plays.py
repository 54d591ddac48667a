"""Which sets a player can lay, from the cards whose faces are known here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.cards import JOKER_RANK
from engine.moves import Play, PlayAs
from engine.state import GameState, Zone

Laid = Play | PlayAs


def can_combine(state: GameState, seat: int) -> bool:
    """Whether upcards may go along with the whole hand (``combine_last_hand``)."""
    return state.setup.rules.combine_last_hand and not state.stock and bool(state.hands[seat])


def must_hold(state: GameState, seat: int) -> int:
    """The rank that the first lead has to hold because ``seat`` is known to hold it
    (``lead_must_be_start_rank``), else -1.
    """
    start = state.extra.start_rank
    if start >= 0 and any(state.rank_at(position) == start for position in state.hands[seat]):
        return start
    return -1


def anything_goes(state: GameState) -> bool:
    """Whether every card, seen or not, may be played on the wastepile: then an unable player is lying."""
    tables = state.setup.tables
    upcards = bool(state.turn >= 0 and state.active_zone(state.turn) is Zone.UPCARDS)
    row = tables.matrix(upcards, 1)[state.rank_to_beat()]
    return all(row if state.setup.rules.jokers else row[:JOKER_RANK])


def can_play(state: GameState, seat: int) -> bool:
    """Whether ``seat``, in turn and with hand or upcards, certainly has a legal play."""
    return anything_goes(state) or next(plays(state, seat), None) is not None


def plays(state: GameState, seat: int) -> Iterator[Laid]:
    """The legal sets of ``seat``, in turn: one for each rank and number of cards of each kind, with the lowest
    positions.
    """
    extra = state.extra
    tables, rules = state.setup.tables, state.setup.rules
    hand = state.hands[seat]
    by_rank = _by_rank(state, hand or state.ups[seat])
    if extra.follow:
        fitting = [p for p in sorted(extra.follow) if state.rank_at(p) == extra.follow_rank]
        yield from (Play(seat, tuple(fitting[:count])) for count in range(1, len(fitting) + 1))
        return
    if extra.start_rank >= 0 or tables.nameable or rules.combine_last_hand:
        yield from _all_plays(state, seat, by_rank)
        return
    to_beat, big = state.rank_to_beat(), tables.big_count
    small = (tables.follows if hand else tables.strict)[to_beat]
    for rank in sorted(by_rank):
        equal = tuple(by_rank[rank])
        if small[rank]:
            first = 1
        elif len(equal) >= big and tables.big[to_beat][rank]:
            first = big
        else:
            continue
        for count in range(first, len(equal) + 1):
            yield Play(seat, equal[:count])


def _by_rank(state: GameState, positions: Sequence[int]) -> dict[int, list[int]]:
    ranks, faces = state.setup.tables.ranks, state.faces
    found: dict[int, list[int]] = {}
    for position in sorted(positions):
        rank = ranks[faces[position]]
        if rank >= 0:
            found.setdefault(rank, []).append(position)
    return found


def _all_plays(state: GameState, seat: int, by_rank: dict[int, list[int]]) -> Iterator[Laid]:
    """Also sets with wild jokers, with upcards behind the whole hand, and with the start rank only."""
    tables, hand = state.setup.tables, state.hands[seat]
    required = must_hold(state, seat)
    ups = _by_rank(state, state.ups[seat]) if can_combine(state, seat) else {}
    wild = bool(tables.nameable)
    jokers = by_rank.get(JOKER_RANK, []) if wild else []
    up_jokers = ups.get(JOKER_RANK, []) if wild else []
    naturals = sorted(rank for rank in by_rank if not (wild and rank == JOKER_RANK))
    to_beat = state.rank_to_beat()
    for rank in sorted({*naturals, *tables.nameable}) if jokers or up_jokers else naturals:
        own = by_rank.get(rank, [])
        named = rank in tables.nameable
        for count in range(len(own) + 1):
            if required >= 0 and not (required == rank and count):
                continue
            for extra in range(len(jokers) + 1 if named else 1):
                base = (*own[:count], *jokers[:extra])
                whole = bool(ups) and len(base) == len(hand)
                for more in _behind(ups.get(rank, []), up_jokers if named else [], whole=whole):
                    laid = (*base, *more)
                    if base and tables.matrix(not hand, len(laid))[to_beat][rank]:
                        has_joker = wild and any(p in jokers or p in up_jokers for p in laid)
                        yield PlayAs(seat, laid, rank) if has_joker else Play(seat, laid)


def _behind(ups: Sequence[int], up_jokers: Sequence[int], *, whole: bool) -> Iterator[tuple[int, ...]]:
    """The upcards that may go along: none, unless the whole hand is laid."""
    for count in range(len(ups) + 1 if whole else 1):
        for extra in range(len(up_jokers) + 1 if whole else 1):
            yield (*ups[:count], *up_jokers[:extra])

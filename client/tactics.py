"""Which move a seat makes: the bots' play, at every level and under every rule set (pure).

A bot sees what its seat sees: of other hands only the sizes. What a rank is worth follows from its powers in the
engine's tables, so that a house rule needs no line here.
"""

from __future__ import annotations

from enum import StrEnum
from random import Random
from typing import Final

from engine.actions import actions, legal_ranks
from engine.cards import JOKER_RANK, RANKS
from engine.moves import Chance, Choose, Done, Flip, Name, PickUp, Play, PlayAs, PlayerMove, Ready, Swap
from engine.options import ArrangeRule, ReplayAfterQuartet
from engine.starting import to_declare
from engine.state import GameState, Phase, run_length

WHIM: Final = 0.04
"""How often the ``normal`` bot makes some other play than its best. Two players who always do the same can
pass the same cards round for ever (R49); now and then another move ends every such cycle."""

BIG_PILE_CARDS: Final = 4
"""From this many cards on a ten is worth more than a deuce: it takes them out of everybody's way."""

HIGH_RANK: Final = RANKS.index("Q")
"""Queens and up are led and followed one at a time while there is a stock: each beats nearly everything."""

CHANCE_RANKS: Final = 3
"""So many of the thirteen ranks have to fit before the ``normal`` bot turns a chance card: with fewer it mostly
takes one card more than it has to."""

BLUNDER: Final = 0.6
"""How often the ``easy`` bot plays just any card that fits. Measured over 400 rounds of two against the
``normal`` bot it then loses about four of five, and a player who only ever lays the lowest card beats it."""

Laid = Play | PlayAs


class Level(StrEnum):
    """How well a bot plays."""

    NORMAL = "normal"
    """Keeps deuces, tens and high upcards for late, gets rid of low cards, completes quartets."""
    EASY = "easy"
    """Forgets to exchange, and mostly lays whatever fits, deuces and tens too: a beginner wins."""
    RANDOM = "random"
    """Any legal move. Such rounds can go on to the turn limit (R50)."""


def choose(state: GameState, seat: int, level: Level, rng: Random) -> PlayerMove | None:
    """The move of ``seat``, or None when it is not to move or does not see all its cards yet.

    ``state`` is what the seat sees (``engine.views.mask``); faces of other hands and of closed cards are not
    looked at, even where they are known. Equal arguments give equal moves.
    """
    if state.awaiting or not state.active[seat]:
        return None
    if any(state.faces[position] < 0 for position in state.hands[seat]):
        return None
    match state.phase:
        case Phase.ARRANGE:
            return None if state.ready[seat] else _arrange(state, seat, level, rng)
        case Phase.DECLARE if state.turn == seat:
            return to_declare(state)
        case Phase.PLAY if state.turn == seat:
            options = list(actions(state))
            match level:
                case Level.RANDOM:
                    return rng.choice(options)
                case Level.EASY:
                    return _easily(state, options, rng)
                case Level.NORMAL:
                    return _sensibly(state, options, rng)
        case _:
            return None


# -- before play ---------------------------------------------------------------------------------------


def _arrange(state: GameState, seat: int, level: Level, rng: Random) -> PlayerMove:
    hand, ups = state.hands[seat], state.ups[seat]
    match state.rules.arrange:
        case ArrangeRule.CHOOSE:
            return _upcards(state, seat, level, rng)
        case ArrangeRule.SWAP if level is Level.NORMAL and hand and ups:
            # The best hand card for the worst upcard as long as that is a gain.
            best = max(hand, key=lambda position: (_worth_at(state, position), position))
            worst = min(ups, key=lambda position: (_worth_at(state, position), position))
            if _worth_at(state, best) > _worth_at(state, worst):
                return Swap(seat, best, worst)
    return Ready(seat)


def _upcards(state: GameState, seat: int, level: Level, rng: Random) -> PlayerMove:
    """Lays out the best cards, or any; then is ready (``arrange=choose``)."""
    own, count = sorted(state.hands[seat] + state.ups[seat]), state.rules.deal.up
    if level is not Level.NORMAL:
        return Ready(seat) if state.ups[seat] else Choose(seat, tuple(sorted(rng.sample(own, count))))
    own.sort(key=lambda position: (_worth_at(state, position), position))
    best = tuple(sorted(own[-count:]))
    return Ready(seat) if set(best) == set(state.ups[seat]) else Choose(seat, best)


def _worth_at(state: GameState, position: int) -> int:
    return _worth(state, state.rank_at(position))


def _worth(state: GameState, rank: int) -> int:
    """How good it is to have a card of ``rank`` late in the round: those that go on anything most, else the high
    ones.
    """
    tables = state.setup.tables
    if rank in state.rules.reset:
        return 3 * len(RANKS)
    if rank == JOKER_RANK and tables.nameable:
        return 3 * len(RANKS) + 1
    if tables.burns[rank]:
        return 3 * len(RANKS) - 1
    return 2 * len(RANKS) + rank if tables.transparent[rank] else rank


# -- a turn --------------------------------------------------------------------------------------------


def _sensibly(state: GameState, options: list[PlayerMove], rng: Random) -> PlayerMove:
    flips = [move for move in options if isinstance(move, Flip)]
    if flips:
        return rng.choice(flips)
    names = [move for move in options if isinstance(move, Name)]
    if names:
        return min(names, key=lambda move: _name_cost(state, move.rank, 1))
    plays = [move for move in options if isinstance(move, Play | PlayAs)]
    if any(isinstance(move, Done) for move in options):
        return _follow_up(state, plays)
    if not plays:
        return _without_play(state, options)
    if rng.random() < WHIM:
        return rng.choice(plays)
    return min(plays, key=lambda play: (_cost(state, play), play.positions))


def _easily(state: GameState, options: list[PlayerMove], rng: Random) -> PlayerMove:
    """Any move that gets cards away; picks up only for want of one."""
    away = [move for move in options if not isinstance(move, PickUp | Chance)]
    if not away:
        return rng.choice(options)
    return rng.choice(away) if rng.random() < BLUNDER else _sensibly(state, options, rng)


def _without_play(state: GameState, options: list[PlayerMove]) -> PlayerMove:
    """A chance card if there is a fair chance; else the pile, with the worst upcards if some go along."""
    chances = [move for move in options if isinstance(move, Chance)]
    pick_ups = [move for move in options if isinstance(move, PickUp)]
    if chances and (not pick_ups or len(legal_ranks(state) - {JOKER_RANK}) >= CHANCE_RANKS):
        return chances[0]

    def cost(move: PickUp) -> tuple[int, int]:
        return (max((_worth_at(state, position) for position in move.upcards), default=0), -len(move.upcards))

    return min(pick_ups, key=cost)


def _follow_up(state: GameState, plays: list[Laid]) -> PlayerMove:
    """Lays cards just drawn, unless they are better kept (``draw_follow_up``)."""
    lays = [play for play in plays if _burns(state, play) or not _kept(state, state.extra.follow_rank)]
    return max(lays, key=lambda play: len(play.positions), default=Done(state.turn))


def _kept(state: GameState, rank: int) -> bool:
    """Whether one card of ``rank`` does what several do, so that the others are kept."""
    return _worth(state, rank) > len(RANKS) or (bool(state.stock) and rank >= HIGH_RANK)


def _cost(state: GameState, play: Laid) -> tuple[int, int, tuple[int, int, int]]:
    """Sorts plays, best first: what it costs to give these cards away, then their number if that is good, then
    what a joker is named.
    """
    rank, count = _rank_of(state, play), len(play.positions)
    jokers = sum(state.rank_at(position) == JOKER_RANK for position in play.positions)
    name = _name_cost(state, rank, count) if isinstance(play, PlayAs) else (0, 0, 0)
    if _burns(state, play):
        return (-1, -count, name)
    if _locks_in(state, play, rank):
        return (4 * len(RANKS) + rank, count, name)
    worth = _worth(state, rank)
    if isinstance(play, PlayAs):
        # A wild joker goes on anything: it is kept as long as other cards do.
        return (max(worth, jokers * _worth(state, JOKER_RANK)), count, name)
    if worth <= len(RANKS):
        return (worth, count if _kept(state, rank) else -count, name)
    # One deuce or ten does what several do, and a ten is better on a big pile than a deuce.
    burns = state.setup.tables.burns[rank]
    wanted = burns == (len(state.pile) >= BIG_PILE_CARDS)
    return (2 * len(RANKS) + (0 if wanted else 1), count, name)


def _locks_in(state: GameState, play: Laid, rank: int) -> bool:
    """Whether the play asks its own player for another card, and none that is left fits (power ``again``)."""
    tables, seat = state.setup.tables, play.seat
    if not tables.again[rank]:
        return False
    rest = [position for position in state.hands[seat] or state.ups[seat] if position not in play.positions]
    return bool(rest) and not any(tables.follows[rank][state.rank_at(position)] for position in rest)


def _rank_of(state: GameState, play: Laid) -> int:
    return play.rank if isinstance(play, PlayAs) else state.rank_at(play.positions[0])


def _name_cost(state: GameState, rank: int, count: int) -> tuple[int, int, int]:
    """Sorts ranks that a joker may be named, best first: a quartet, then what fewest ranks beat, then the high."""
    beaten_by = sum(state.setup.tables.follows[rank])
    return (0 if _completes(state, rank, count) else 1, beaten_by, -rank)


def _burns(state: GameState, play: Laid) -> bool:
    """Whether the play completes a quartet, and its player goes on."""
    goes_on = state.rules.replay_after_quartet is ReplayAfterQuartet.MUST
    return goes_on and _completes(state, _rank_of(state, play), len(play.positions))


def _completes(state: GameState, rank: int, count: int) -> bool:
    tables = state.setup.tables
    if tables.burns[rank]:
        return False
    ranks = [*[rank] * count, *(state.counts_as(position) for position in reversed(state.pile))]
    return run_length(ranks, tables.pass_over) >= state.rules.burn_run


__all__ = ["Level", "choose"]

"""What a turn does to the state: the play phase (R18 to R50, order of resolution 1.16 and 3.3).

Every function takes a move that has been checked, and appends what happens to ``log``.
"""

from __future__ import annotations

from dataclasses import replace

from engine.cards import JOKER_RANK
from engine.events import (
    BurnCause,
    Burnt,
    Chanced,
    ChanceStarted,
    Drew,
    Event,
    Flipped,
    FlipStarted,
    FollowUpDone,
    FollowUpOpen,
    NameAsked,
    Named,
    Out,
    Over,
    PickedUp,
    Played,
    Reversed,
    Skipped,
    TurnTo,
)
from engine.moves import Chance, Done, Flip, Name, PickUp, Play, PlayAs
from engine.options import ReplayAfterQuartet, TurnLimitResult
from engine.state import (
    EMPTY_SLOT,
    NOBODY,
    NOTHING,
    Extra,
    GameState,
    Phase,
    Result,
    Zone,
    Zones,
    next_of,
    put,
    run_length,
)

NamedRanks = tuple[tuple[int, int], ...]
"""Wild jokers in the wastepile: (position, rank)."""


def play(state: GameState, move: Play | PlayAs, log: list[Event]) -> GameState:
    """A set from the hand or the upcards goes onto the wastepile (R20, R36)."""
    seat, positions = move.seat, move.positions
    hands, ups, extra = state.hands, state.ups, state.extra
    hand = hands[seat]
    if hand:
        zone = Zone.HAND
        kept = tuple([p for p in hand if p not in positions])
        if len(hand) - len(kept) < len(positions):  # combine_last_hand: upcards go along
            ups = put(ups, seat, tuple([p for p in ups[seat] if p not in positions]))
        hands = put(hands, seat, kept)
    else:
        zone = Zone.UPCARDS
        ups = put(ups, seat, tuple([p for p in ups[seat] if p not in positions]))
    public = state.public
    for position in positions:
        public |= 1 << position
    log.append(Played(seat, positions, zone))
    ranks, faces = state.setup.tables.ranks, state.faces
    named = extra.named
    if isinstance(move, PlayAs):
        rank = move.rank
        jokers = tuple(p for p in positions if ranks[faces[p]] == JOKER_RANK)
        named += tuple((position, rank) for position in jokers)
        log.append(Named(seat, jokers, rank))
    else:
        rank = ranks[faces[positions[-1]]]
    count, waiting = len(positions), extra.follow
    if waiting:
        waiting = tuple(p for p in waiting if p not in positions)
        count += extra.laid
    pile = state.pile + positions
    return _resolve(
        state, seat, hands, ups, state.downs, state.stock, pile, public, zone, rank, count, named, waiting, log
    )


def flip(state: GameState, move: Flip, log: list[Event]) -> GameState:
    """A downcard is chosen; in open play its face is there already, else it is awaited (R40, 1.19)."""
    position = state.downs[move.seat][move.slot]
    log.append(FlipStarted(move.seat, position, move.slot))
    return _turn_up(state, position, log)


def chance(state: GameState, move: Chance, log: list[Event]) -> GameState:
    """The top card of the stock is chosen; its face is awaited as that of a flipped card."""
    position = state.stock[0]
    log.append(ChanceStarted(move.seat, position))
    return _turn_up(state, position, log)


def _turn_up(state: GameState, position: int, log: list[Event]) -> GameState:
    if state.faces[position] < 0:
        return replace(state, awaiting=(position,))
    return turned_up(replace(state, public=state.public | 1 << position), position, log)


def turned_up(state: GameState, position: int, log: list[Event]) -> GameState:
    """The card from a slot or the stock has a face now: it is played, or goes to the hand with the wastepile
    (R41, R42, option ``chance``). A wild joker is named first.
    """
    seat, face = state.turn, state.faces[position]
    tables = state.setup.tables
    rank = tables.ranks[face]
    legal = tables.follows[state.rank_to_beat()][rank]
    from_stock = position in state.stock[:1]
    log.append(Chanced(seat, position, face, legal) if from_stock else Flipped(seat, position, face, legal))
    if not legal:
        downs, stock = _without(state, position)
        return _take(state, seat, (*state.pile, position), state.ups, downs, stock, log)
    if rank == JOKER_RANK and tables.nameable:
        log.append(NameAsked(seat, position))
        return replace(state, extra=replace(state.extra, naming=position))
    return _lay_turned_up(state, position, rank, state.extra.named, log)


def name(state: GameState, move: Name, log: list[Event]) -> GameState:
    """The wild joker that was turned up counts as a rank now, and is played (3.4)."""
    position = state.extra.naming
    log.append(Named(move.seat, (position,), move.rank))
    return _lay_turned_up(state, position, move.rank, (*state.extra.named, (position, move.rank)), log)


def _without(state: GameState, position: int) -> tuple[Zones, tuple[int, ...]]:
    """Downcards and stock without the card that was turned up."""
    seat = state.turn
    slots = state.downs[seat]
    if position in slots:
        return put(state.downs, seat, put(slots, slots.index(position), EMPTY_SLOT)), state.stock
    return state.downs, state.stock[1:]


def _lay_turned_up(state: GameState, position: int, rank: int, named: NamedRanks, log: list[Event]) -> GameState:
    downs, stock = _without(state, position)
    pile = (*state.pile, position)
    return _resolve(
        state,
        state.turn,
        state.hands,
        state.ups,
        downs,
        stock,
        pile,
        state.public,
        Zone.DOWNCARDS,  # as from there: nothing is drawn after it
        rank,
        1,
        named,
        (),
        log,
    )


def pick_up(state: GameState, move: PickUp, log: list[Event]) -> GameState:
    """The wastepile goes to the hand, and the upcards that were named along with it (R32, R34)."""
    seat, along = move.seat, move.upcards
    ups = put(state.ups, seat, tuple(p for p in state.ups[seat] if p not in along)) if along else state.ups
    return _take(state, seat, state.pile + along, ups, state.downs, state.stock, log, along)


def _take(
    state: GameState,
    seat: int,
    taken: tuple[int, ...],
    ups: Zones,
    downs: Zones,
    stock: tuple[int, ...],
    log: list[Event],
    along: tuple[int, ...] = (),
) -> GameState:
    """``taken`` goes to the hand, the upcards ``along`` among it; the turn ends (R34, R42)."""
    log.append(PickedUp(seat, taken, along))
    after = GameState(
        state.setup,
        Phase.PLAY,
        state.faces,
        state.public,
        put(state.hands, seat, state.hands[seat] + taken),
        ups,
        downs,
        stock,
        (),
        state.burnt,
        state.aside,
        state.ready,
        state.active,
        state.eldest,
        next_of(state.active, seat, state.direction),
        -1,
        state.direction,
        (),
        state.finish_order,
        state.left,
        NOBODY,
        Result.NONE,
        state.action_count + 1,
    )
    return _go_on(after, log)


def _resolve(
    state: GameState,
    seat: int,
    hands: Zones,
    ups: Zones,
    downs: Zones,
    stock: tuple[int, ...],
    pile: tuple[int, ...],
    public: int,
    zone: Zone,
    rank: int,
    count: int,
    named: NamedRanks,
    waiting: tuple[int, ...],
    log: list[Event],
) -> GameState:
    """What follows when a set has come to lie on the wastepile (1.16, 3.3).

    ``count`` cards of ``rank`` were laid in this turn, ``waiting`` are cards drawn in it before that.
    """
    setup, burnt = state.setup, state.burnt
    tables, rules = setup.tables, setup.rules
    burn = _burn_cause(state, pile, rank, named)
    if burn is not None:
        log.append(Burnt(seat, len(pile), burn))
        burnt, pile, named = burnt + pile, (), ()
    if zone is Zone.HAND and stock:
        missing = rules.refill_to - len(hands[seat])
        if missing > 0:
            drawn, stock = stock[:missing], stock[missing:]
            hands = put(hands, seat, hands[seat] + drawn)
            waiting += drawn
            log.append(Drew(seat, drawn))
    active, finish_order = state.active, state.finish_order
    stays = bool(hands[seat] or ups[seat]) or max(downs[seat], default=EMPTY_SLOT) >= 0
    if not stays:
        finish_order = (*finish_order, seat)
        active = put(active, seat, False)
        log.append(Out(seat, len(finish_order)))
    turn, direction, follows = seat, state.direction, False
    if burn is not None:
        if not stays or (burn is BurnCause.QUARTET and rules.replay_after_quartet is ReplayAfterQuartet.NONE):
            turn = next_of(active, seat, direction)
    elif waiting and rules.draw_follow_up and not tables.again[rank]:
        follows = True
    elif tables.turns and sum(active) > 1:
        turn, direction = _after_powers(state, active, seat, rank, count, log)
    else:
        turn = next_of(active, seat, direction)
    extra = NOTHING
    if follows:
        extra = Extra(named, follow=waiting, follow_rank=rank, laid=count)
    elif named:
        extra = Extra(named)
    # Written out in the order of the fields: this is the hot path, and replace() takes three times as long.
    after = GameState(
        setup,
        Phase.PLAY,
        state.faces,
        public,
        hands,
        ups,
        downs,
        stock,
        pile,
        burnt,
        state.aside,
        state.ready,
        active,
        state.eldest,
        turn,
        -1,
        direction,
        (),
        finish_order,
        state.left,
        NOBODY,
        Result.NONE,
        state.action_count + 1,
        extra,
    )
    if not stays and sum(active) == 1:
        return over(after, active.index(True), Result.FINISHED, log)
    return _go_on(after, log)


def _burn_cause(state: GameState, pile: tuple[int, ...], top: int, named: NamedRanks) -> BurnCause | None:
    """Whether ``pile`` burns: a burn card on top (R27), or a quartet (R28)."""
    faces, tables, needed = state.faces, state.setup.tables, state.setup.rules.burn_run
    ranks = tables.ranks
    if tables.burns[top]:
        return BurnCause.TEN
    if len(pile) < needed:
        return None
    if named:
        by_name = dict(named)
        counted = [by_name.get(p, ranks[faces[p]]) for p in reversed(pile)]
        return BurnCause.QUARTET if run_length(counted, tables.pass_over) >= needed else None
    below = ranks[faces[pile[-2]]]
    if below != top and not tables.pass_over[below]:
        return None
    run = run_length((ranks[faces[position]] for position in reversed(pile)), tables.pass_over)
    return BurnCause.QUARTET if run >= needed else None


def _after_powers(
    state: GameState, active: tuple[bool, ...], seat: int, rank: int, count: int, log: list[Event]
) -> tuple[int, int]:
    """Who is in turn and in which direction after ``count`` cards of ``rank`` that did not burn (3.3, 5–6)."""
    tables, direction = state.setup.tables, state.direction
    if tables.reverse[rank] and (tables.flip_once or count % 2):
        direction = -direction
        log.append(Reversed(seat, direction))
    if tables.again[rank] and active[seat]:
        return seat, direction
    turn = next_of(active, seat, direction)
    if tables.skip[rank]:
        skipped = []
        for _ in range(count if state.setup.rules.skip_per_card else 1):
            skipped.append(turn)
            turn = next_of(active, turn, direction)
        log.append(Skipped(tuple(skipped)))
    return turn, direction


def done(state: GameState, move: Done, log: list[Event]) -> GameState:
    """No more of the cards just drawn are laid; what was laid in the turn has its effects now."""
    log.append(FollowUpDone(move.seat))
    after = end_turn(state, log)
    log.append(TurnTo(after.turn))
    return after


def end_turn(state: GameState, log: list[Event]) -> GameState:
    """The end of a turn in which cards just drawn could be laid (``draw_follow_up``)."""
    extra = state.extra
    turn, direction = _after_powers(state, state.active, state.turn, extra.follow_rank, extra.laid, log)
    return replace(state, turn=turn, direction=direction, extra=_still_named(extra))


def _still_named(extra: Extra) -> Extra:
    return Extra(extra.named) if extra.named else NOTHING


def _go_on(state: GameState, log: list[Event]) -> GameState:
    """The next turn or step, unless the limit is reached (R50)."""
    rules = state.setup.rules
    if state.action_count >= rules.turn_limit:
        loser = _most_cards(state) if rules.turn_limit_result is TurnLimitResult.MOST_CARDS else NOBODY
        return over(state, loser, Result.STALLED, log)
    extra = state.extra
    log.append(FollowUpOpen(state.turn, extra.follow_rank) if extra.follow else TurnTo(state.turn))
    return state


def _most_cards(state: GameState) -> int:
    """The player with most cards, the lowest seat of several (R50)."""
    playing = [seat for seat, active in enumerate(state.active) if active]
    return max(playing, key=lambda seat: (state.card_count(seat), -seat))


def over(state: GameState, shithead: int, result: Result, log: list[Event]) -> GameState:
    """The round ends."""
    log.append(Over(shithead, result))
    extra = _still_named(state.extra)
    return replace(state, phase=Phase.OVER, turn=NOBODY, asked=-1, shithead=shithead, result=result, extra=extra)

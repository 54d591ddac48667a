"""Everything that a person may see and do now, as one frozen value: what each client draws (pure).

A view is made from a snapshot alone. Cards are texts of ``engine.cards.card_text``, players are names (with
their keys, for commands). It decides nothing about width, colour or wording, and it holds no face beyond those
that lie open and those of the own hand: other hands, downcards and the stock are numbers in it.
"""

from __future__ import annotations

from dataclasses import replace

from client.clocks import Clocks
from client.names import is_doubtful, shown_name
from client.rows import (
    Choice,
    DealRow,
    DoorRow,
    EndingRow,
    Group,
    Outcome,
    OwnCard,
    PileRow,
    PlayerRow,
    ScoreRow,
    Stage,
    View,
    WaitRow,
)
from client.sentences import Names
from engine.actions import actions, legal_ranks
from engine.cards import JOKER_RANK, card_text, rank_text
from engine.checks import refusal
from engine.errors import Sentence
from engine.events import Burnt, Out
from engine.game import step
from engine.moves import Chance, Choose, Done, Flip, Name, PickUp, Play, PlayAs, PlayerMove, Ready
from engine.plays import must_hold
from engine.state import GameState, Zone
from engine.state import Phase as GamePhase
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import PlayerView, RoundScore, RoundView, Snapshot

_STAGES = {
    Phase.OFFER: Stage.OFFER,
    Phase.KEYS: Stage.DEALING,
    Phase.PREPARE: Stage.DEALING,
    Phase.DEAL: Stage.DEALING,
    Phase.ARRANGE: Stage.ARRANGE,
    Phase.START: Stage.START,
    Phase.PLAY: Stage.PLAY,
    Phase.OPENING: Stage.OPENING,
    Phase.ENDING: Stage.ENDING,
    Phase.REVEAL: Stage.OVER,
    Phase.CLOSED: Stage.OVER,
    Phase.DEAD: Stage.LOBBY,
}


def make_view(snapshot: Snapshot) -> View:
    """What the person of ``snapshot`` may see and do."""
    snapshot = _marked(snapshot)
    round_ = snapshot.round
    acting = _acting_host(snapshot)
    stage = _stage(round_)
    state = round_.state if round_ is not None else None
    seat = round_.my_seat if round_ is not None else None
    going = stage in (Stage.ARRANGE, Stage.START, Stage.PLAY, Stage.OPENING)
    mine = seat is not None and state is not None and going and state.active[seat]
    names = _names(snapshot)
    in_play = state is not None and stage in (Stage.PLAY, Stage.OPENING)
    my_turn = mine and state is not None and seat is not None and _may_move(state, seat)
    own = _own(state, seat) if state is not None and seat is not None and mine else ()
    zone = state.active_zone(seat) if state is not None and seat is not None and mine else None
    return View(
        table=snapshot.name,
        stage=stage,
        me=snapshot.me,
        my_name=snapshot.name_of(snapshot.me),
        i_host=snapshot.acting_host == snapshot.me,
        host=snapshot.name_of(acting) if acting is not None else "",
        names=names,
        players=_players(snapshot),
        door=tuple(
            DoorRow(who.key, who.name, snapshot.name_of(who.operator) if who.operator else "", who.address)
            for who in snapshot.door
        ),
        round=round_.number if round_ is not None else None,
        roster=tuple(snapshot.name_of(key) for key in round_.roster) if round_ is not None else (),
        rules=round_.rules if round_ is not None else None,
        words=round_.words if round_ is not None else (),
        deal=_deal(round_) if round_ is not None else None,
        in_round=round_ is not None and snapshot.me in round_.roster and stage is not Stage.LOBBY,
        my_seat=seat,
        my_turn=my_turn,
        turn=_at(round_, snapshot, state.turn) if round_ is not None and state is not None else None,
        zone=zone,
        own=own,
        groups=_groups(own, Zone.UPCARDS if zone is Zone.UPCARDS else Zone.HAND),
        unseen=_unseen(state, seat) if state is not None and seat is not None and mine else 0,
        pile=_pile(state) if state is not None and in_play else None,
        stock=len(state.stock) if state is not None else 0,
        burnt=len(state.burnt) if state is not None else 0,
        pick_up_why_not=_why_not(state, PickUp(seat)) if state is not None and seat is not None and mine else None,
        choices=_choices(snapshot, stage, state if my_turn else None, seat),
        asked=snapshot.asked,
        waits=_waits(snapshot, round_),
        overdue=round_.overdue if round_ is not None else False,
        clocks=Clocks(*round_.limits) if round_ is not None else None,
        faults=tuple(fault.sentence for fault in round_.faults) if round_ is not None else (),
        ending=_ending(snapshot, round_),
        score=tuple(_score_row(snapshot, score) for score in snapshot.score),
        addresses=snapshot.addresses,
        notices=snapshot.notices,
        stamp=round_.stamp if round_ is not None else b"",
        naming=_naming(state),
        follow=state.extra.follow if state is not None else (),
        start_rank=_start_rank(state, seat) if state is not None and seat is not None and my_turn else "",
        refuse=lambda move: None if state is None else _why_not(state, move),
    )


def _marked(snapshot: Snapshot) -> Snapshot:
    """The same with names marked that could be taken for a role, or for the reader."""
    round_ = snapshot.round
    shown = {player.name for player in snapshot.players} | {who.name for who in snapshot.door}
    shown |= set(round_.names.values()) if round_ is not None else set()
    if not any(map(is_doubtful, shown)):
        return snapshot
    if round_ is not None:
        round_ = replace(round_, names={key: shown_name(name) for key, name in round_.names.items()})
    return replace(
        snapshot,
        players=tuple(replace(each, name=shown_name(each.name)) for each in snapshot.players),
        door=tuple(replace(each, name=shown_name(each.name)) for each in snapshot.door),
        round=round_,
    )


def _acting_host(snapshot: Snapshot) -> bytes | None:
    """Who admits and offers rounds now; whoever opened the table where nobody is heard who could."""
    return snapshot.acting_host or snapshot.host


def _score_row(snapshot: Snapshot, score: RoundScore) -> ScoreRow:
    """A round of the evening; who has another name now had the old one in it."""
    then = dict(score.names)

    def name(key: bytes) -> str:
        return shown_name(then[key]) if key in then else snapshot.name_of(key)

    keys = score.finish if score.shithead is None else (*score.finish, score.shithead)
    return ScoreRow(
        score.number,
        score.kind,
        tuple(map(name, score.finish)),
        None if score.shithead is None else name(score.shithead),
        keys,
        tuple(map(name, score.left)),
    )


def _stage(round_: RoundView | None) -> Stage:
    if round_ is None:
        return Stage.LOBBY
    return _STAGES[round_.phase]


def _names(snapshot: Snapshot) -> Names:
    round_ = snapshot.round
    keys = {} if round_ is None else dict(round_.names)
    keys |= {player.key: player.name for player in snapshot.players}
    keys |= {who.key: who.name for who in snapshot.door if who.key not in keys}
    seats = () if round_ is None else tuple(snapshot.name_of(key) for key in round_.seats)
    return Names(seats, keys, None if round_ is None else round_.my_seat, snapshot.me)


def _players(snapshot: Snapshot) -> tuple[PlayerRow, ...]:
    round_ = snapshot.round
    here = {player.key: player for player in snapshot.players}
    seats = () if round_ is None or round_.phase is Phase.DEAD else round_.seats
    order = [*seats, *(key for key in here if key not in seats)]
    return tuple(_row(snapshot, key, here.get(key), seats.index(key) if key in seats else None) for key in order)


def _row(snapshot: Snapshot, key: bytes, player: PlayerView | None, seat: int | None) -> PlayerRow:
    state = snapshot.round.state if snapshot.round is not None else None
    held = seat is not None and state is not None
    slots = tuple(position >= 0 for position in state.downs[seat]) if held and state and seat is not None else ()
    ups = (
        tuple(card_text(state.faces[position], state.packs) for position in state.ups[seat])
        if state is not None and seat is not None
        else ()
    )
    rtt = player.link.rtt_s if player is not None else None
    return PlayerRow(
        key=key,
        name=snapshot.name_of(key),
        seat=seat,
        is_me=key == snapshot.me,
        is_host=key == _acting_host(snapshot),
        is_bot=player is not None and player.is_bot,
        present=player is not None,
        in_turn=state is not None and seat is not None and state.turn == seat,
        deals=state is not None and seat is not None and state.dealer == seat,
        status=_status(state, seat),
        hand=len(state.hands[seat]) if state is not None and seat is not None else 0,
        upcards=ups,
        downcards=sum(slots),
        slots=slots,
        place=_place(state, seat),
        link=player.link.status if player is not None else "lost",
        rtt_ms=None if rtt is None else round(rtt * 1000),
        met=player.met if player is not None else "new",
        met_at=player.met_at if player is not None else "",
        rounds_before=player.rounds_before if player is not None else 0,
        steps=snapshot.round.steps.get(key, ()) if snapshot.round is not None else (),
    )


def _status(state: GameState | None, seat: int | None) -> str:
    if state is None or seat is None:
        return "waiting"
    if seat in state.left:
        return "left"
    if seat in state.finish_order:
        return "out"
    return "ready" if state.phase is GamePhase.ARRANGE and state.ready[seat] else "in"


def _place(state: GameState | None, seat: int | None) -> int | None:
    if state is None or seat is None or seat not in state.finish_order:
        return None
    return state.finish_order.index(seat) + 1


def _deal(round_: RoundView) -> DealRow:
    return DealRow(len(round_.roster), round_.accepted, round_.keys, round_.shuffled, round_.proven, round_.agreed)


def _at(round_: RoundView, snapshot: Snapshot, seat: int) -> str | None:
    return snapshot.name_of(round_.seats[seat]) if 0 <= seat < len(round_.seats) else None


def _may_move(state: GameState, seat: int) -> bool:
    if state.awaiting:
        return False
    if state.phase is GamePhase.ARRANGE:
        return not state.ready[seat]
    return state.phase is GamePhase.PLAY and state.turn == seat and not _unseen(state, seat)


def _unseen(state: GameState, seat: int) -> int:
    return sum(state.faces[position] < 0 for position in state.hands[seat])


def _why_not(state: GameState, move: PlayerMove) -> Sentence | None:
    error = refusal(state, move)
    return None if error is None else error.sentence


def _card_why_not(state: GameState, seat: int, position: int) -> Sentence | None:
    """Why a card cannot be played alone; of a wild joker, whatever it is named."""
    nameable = state.setup.tables.nameable
    if not nameable or state.rank_at(position) != JOKER_RANK:
        return _why_not(state, Play(seat, (position,)))
    found = [_why_not(state, PlayAs(seat, (position,), rank)) for rank in nameable]
    return None if None in found else found[-1]


def _naming(state: GameState | None) -> str:
    if state is None or state.extra.naming < 0:
        return ""
    return card_text(state.faces[state.extra.naming], state.packs)


def _start_rank(state: GameState, seat: int) -> str:
    required = must_hold(state, seat)
    return rank_text(required) if required >= 0 else ""


def _own(state: GameState, seat: int) -> tuple[OwnCard, ...]:
    cards = [
        OwnCard(
            card_text(state.faces[position], state.packs),
            position,
            zone,
            _card_why_not(state, seat, position),
        )
        for zone, positions in ((Zone.HAND, state.hands[seat]), (Zone.UPCARDS, state.ups[seat]))
        for position in positions
        if state.faces[position] >= 0
    ]
    faces = state.faces
    return tuple(
        sorted(
            cards,
            key=lambda card: (card.zone is not Zone.HAND, state.rank_at(card.position), faces[card.position]),
        )
    )


def _groups(own: tuple[OwnCard, ...], zone: Zone) -> tuple[Group, ...]:
    found: dict[str, list[OwnCard]] = {}
    for card in own:
        if card.zone is zone:
            found.setdefault(card.rank, []).append(card)
    return tuple(
        Group(rank, tuple(card.text for card in cards), cards[0].why_not is None) for rank, cards in found.items()
    )


def _pile(state: GameState) -> PileRow:
    return PileRow(
        tuple(card_text(state.faces[position], state.packs) for position in state.pile),
        state.top_run(),
        _fits(state),
        state.rules.burn_run,
        rank_text(state.top_rank()) if state.pile else "",
        _to_beat(state),
        tuple(
            (card_text(state.faces[position], state.packs), rank_text(rank))
            for position, rank in state.extra.named
        ),
    )


def _choices(snapshot: Snapshot, stage: Stage, state: GameState | None, seat: int | None) -> tuple[Choice, ...]:
    """``state``: the game if I may move in it, else None."""
    found: list[Choice] = []

    def add(kind: str, **values: object) -> None:
        # The keyword arguments are fields of Choice; mypy cannot see that through the dictionary.
        found.append(Choice(len(found) + 1, kind, **values))  # type: ignore[arg-type]

    if state is not None and seat is not None:

        def cards_at(positions: tuple[int, ...]) -> tuple[str, ...]:
            return tuple(card_text(state.faces[position], state.packs) for position in positions)

        for move in actions(state):
            if move.seat != seat:
                continue
            match move:
                case Ready():
                    add("ready", move=move)
                case Choose(positions=positions):
                    add("choose", move=move, cards=cards_at(positions))
                case Play(positions=positions):
                    outcome = _outcome(snapshot, state, move)
                    add("play", move=move, cards=cards_at(positions), count=len(positions), outcome=outcome)
                case PlayAs(positions=positions, rank=rank):
                    cards = cards_at(positions)
                    add("play_as", move=move, cards=cards, count=len(cards), name=rank_text(rank))
                case PickUp(upcards=positions):
                    add("pick_up", move=move, cards=cards_at(positions), count=len(state.pile))
                case Flip(slot=slot):
                    add("flip", move=move, slot=slot + 1)
                case Name(rank=rank):
                    add("name", move=move, name=rank_text(rank))
                case Chance():
                    add("chance", move=move)
                case Done():
                    add("done", move=move)
    if snapshot.asked:
        add("yes")
        add("no")
    if snapshot.acting_host == snapshot.me:
        for who in snapshot.door:
            add("admit", key=who.key, name=who.name)
            add("refuse", key=who.key, name=who.name)
        if stage in (Stage.LOBBY, Stage.OVER) and len(snapshot.players) > 1:
            add("start")
    return tuple(found)


def _outcome(snapshot: Snapshot, state: GameState, move: Play) -> Outcome:
    """What a legal play leads to. It draws unknown cards, as everybody sees it."""
    after, events = step(state, move)
    burnt = next((event for event in events if isinstance(event, Burnt)), None)
    out = next((event.place for event in events if isinstance(event, Out) and event.seat == move.seat), None)
    rank = state.rank_at(move.positions[0])
    run = len(move.positions) + (state.top_run() if state.top_rank() == rank else 0)
    return Outcome(
        burns=burnt.by.value if burnt is not None else "",
        burnt=burnt.count if burnt is not None else 0,
        run=run,
        again=after.turn == move.seat and after.phase is GamePhase.PLAY,
        next=_at(snapshot.round, snapshot, after.turn) if snapshot.round is not None else None,
        out=out,
        fits=_fits(after),
        to_beat=_to_beat(after),
    )


def _to_beat(state: GameState) -> str:
    """The rank character that is to be beaten; empty where there is none."""
    rank = state.rank_to_beat()
    return rank_text(rank) if rank >= 0 else ""


def _fits(state: GameState) -> tuple[str, ...]:
    fits = sorted(legal_ranks(state))
    return tuple(rank_text(rank) for rank in fits if rank < JOKER_RANK or state.rules.jokers)


def _waits(snapshot: Snapshot, round_: RoundView | None) -> tuple[WaitRow, ...]:
    if round_ is None:
        return ()
    return tuple(
        WaitRow(
            snapshot.name_of(wait.player),
            wait.player == snapshot.me,
            wait.what,
            int(wait.seconds),
            wait.limit_s,
            wait.patience_s,
        )
        for wait in round_.waits
    )


def _ending(snapshot: Snapshot, round_: RoundView | None) -> EndingRow | None:
    ending = round_.ending if round_ is not None else None
    if ending is None:
        return None
    return EndingRow(
        ending.kind,
        tuple(snapshot.name_of(key) for key in ending.finish),
        None if ending.shithead is None else snapshot.name_of(ending.shithead),
        tuple((snapshot.name_of(key), what) for key, what in ending.debts),
        tuple(snapshot.name_of(key) for key in ending.left),
        ending.signed,
        ending.signers,
        ending.revealed,
        tuple(snapshot.name_of(key) for key in ending.gave_up),
    )


__all__ = [
    "Choice",
    "DealRow",
    "DoorRow",
    "EndingRow",
    "Group",
    "Outcome",
    "OwnCard",
    "PileRow",
    "PlayerRow",
    "ScoreRow",
    "Stage",
    "View",
    "WaitRow",
    "make_view",
]

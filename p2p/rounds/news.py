"""News: what has happened at a table, one thing at a time, for lines, logs and screens.

News are made by comparing what a session shows now with what it showed at the last look, so they come in one
order and once each, whatever arrived when. Faces in news are ones that everybody may see; only ``hand`` and
the ``faces`` of an own ``drew`` are for this player alone, and those are marked ``private``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine import events as ev
from engine import game
from engine.moves import Chance, Declare, Done, Flip, Move, Name, Open, Pass, PickUp, Play, PlayAs
from engine.options import ArrangeRule
from engine.state import GameState
from p2p.feeds import entries as e
from p2p.feeds.facts import body_of
from p2p.rounds.chain import Node
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round
from p2p.rounds.session import Session


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened. ``name`` is one of the events of docs/events.md.

    Values: ``player`` and the like are identity keys, ``seat`` numbers seats clockwise from 0, ``face`` and
    ``faces`` are cards of ``engine.cards`` in a game of ``packs`` packs.
    """

    name: str
    values: Mapping[str, object] = field(default_factory=dict)
    private: bool = False


@dataclass(slots=True)
class _Seen:
    phase: Phase | None = None
    words: bool = False
    node: Node | None = None
    opened: bool = True
    swaps: set[bytes] = field(default_factory=set)
    """Exchanges and choices of upcards that have been told."""
    ready: set[int] = field(default_factory=set)
    faults: set[tuple[bytes, str]] = field(default_factory=set)
    hand: dict[int, int] = field(default_factory=dict)
    dealt: bool = False
    over: bytes = b""
    on_record: int = 0
    lens: Lens | None = None


class Reporter:
    """Turns the changes of a session into news."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._members: dict[bytes, str] = {}
        self._rounds: dict[bytes, _Seen] = {}
        self._table_said = False
        self._table_faults = 0

    def news(self) -> tuple[News, ...]:
        """What has happened since the last call, in order."""
        found: list[News] = []
        self._table(found)
        current = self._session.current()
        for round_ in list(self._session.rounds.values()):
            told: list[News] = []
            self._round(round_, told)
            if self._session.is_own_and_goes_on(current) and round_ is not current:
                # Others may play a round of their own meanwhile: of that, who plays is told breaches alone.
                told = [news for news in told if news.name == "fault"]
            found.extend(told)
        return tuple(found)

    def _table(self, found: list[News]) -> None:
        session = self._session
        if not self._table_said and session.membership.opening is not None:
            self._table_said = True
            found.append(News("table", {"table": session.table, "name": session.name}))
        members = session.members()
        for key, member in members.items():
            if key not in self._members:
                values = {"player": key, "name": member.name, "bot": bool(member.operator)}
                found.append(News("joined", values))
        for key, name in self._members.items():
            if key not in members:
                why = session.membership.reason_for_departure(key)
                found.append(News("left", {"player": key, "name": name, "why": why}))
        self._members = {key: member.name for key, member in members.items()}
        for fault in session.table_faults[self._table_faults :]:
            found.append(News("fault", {"player": fault.player, "code": fault.code, "fault": fault}))
        self._table_faults = len(session.table_faults)

    def _round(self, round_: Round, found: list[News]) -> None:
        seen = self._rounds.get(round_.contract)
        if seen is None:
            seen = self._rounds[round_.contract] = _Seen()
            found.append(
                News(
                    "contract",
                    {
                        "contract": round_.contract,
                        "round": round_.terms.round,
                        "attempt": round_.terms.attempt,
                        "players": round_.roster,
                        "rules": round_.rules,
                        "limits": round_.terms.limits,
                    },
                )
            )
        lens = round_.everything()
        if lens is seen.lens:
            return
        seen.lens = lens
        self._preparing(round_, lens, seen, found)
        self._arranging(round_, lens, seen, found)
        self._chain(round_, lens, seen, found)
        self._own_hand(round_, seen, found)
        self._declined(round_, lens, seen, found)
        # Cards turning up belong to playing; a person is not told of each.
        phase = Phase.PLAY if lens.phase is Phase.OPENING else lens.phase
        if phase is not seen.phase:
            seen.phase = phase
            found.append(News("phase", {"contract": round_.contract, "round": round_.terms.round, "phase": phase}))
        self._endings(round_, lens, seen, found)

    def _declined(self, round_: Round, lens: Lens, seen: _Seen, found: list[News]) -> None:
        """Who makes an offer come to nothing, and why: before all have agreed anybody may, at no cost."""
        if lens.phase is not Phase.DEAD or seen.phase is Phase.DEAD:
            return
        for number, fact in lens.each("decline").items():
            values = {"player": round_.roster[number], "reason": body_of(fact, e.Decline).reason, "debts": ()}
            found.append(News("declined", values))
        for fact in lens.leaves:
            debts = tuple((round_.roster[number], what) for number, what in round_.debts.get(fact.id, ()))
            reason = "gave_up" if debts else "left"
            found.append(News("declined", {"player": fact.author, "reason": reason, "debts": debts}))

    def _preparing(self, round_: Round, lens: Lens, seen: _Seen, found: list[News]) -> None:
        deal = lens.agreement
        if deal is not None and not seen.words:
            seen.words = True
            seats = tuple(round_.roster[number] for number in deal.seats)
            found.append(
                News(
                    "words",
                    {
                        "contract": round_.contract,
                        "words": round_.words(deal.coins),
                        "seats": seats,
                        "dealer": deal.dealer,
                    },
                )
            )

    def _arranging(self, round_: Round, lens: Lens, seen: _Seen, found: list[News]) -> None:
        deal, dealt = lens.agreement, lens.dealt
        if deal is None or dealt is None:
            return
        for number in round_.numbers:
            state: GameState = dealt
            for fact in lens.arrangements(number):
                after = round_.arranged.get(fact.id)
                if isinstance(fact.entry.body, e.Choose):
                    if after is not None and fact.id not in seen.swaps:
                        seen.swaps.add(fact.id)
                        values = {"seat": deal.seat_of[number], "count": len(fact.entry.body.positions)}
                        found.append(News("chose", values))
                    continue
                if not isinstance(fact.entry.body, e.Swap):
                    continue
                body = body_of(fact, e.Swap)
                if after is None:
                    continue
                if fact.id not in seen.swaps:
                    seen.swaps.add(fact.id)
                    found.append(
                        News(
                            "swapped",
                            {
                                "seat": deal.seat_of[number],
                                "up_face": after.faces[body.hand],
                                "hand_face": state.faces[body.up],
                                "packs": state.packs,
                            },
                        )
                    )
                state = after
            if number not in seen.ready and lens.first("ready", number) is not None:
                seen.ready.add(number)
                found.append(News("ready", {"seat": deal.seat_of[number]}))

    def _chain(self, round_: Round, lens: Lens, seen: _Seen, found: list[News]) -> None:
        tip = lens.tip
        if tip is None:
            return
        path: list[Node] = []
        step: Node | None = tip
        while step is not None and step is not seen.node:
            path.append(step)
            step = step.parent
        if step is None and seen.node is not None:
            # The chain was cut back by a fork: nothing of it is told twice.
            seen.node, seen.opened = tip, True
            return
        if seen.node is not None and not seen.opened:
            self._open(lens, seen, seen.node, found)
        for node in reversed(path):
            if node.parent is None:
                found.extend(_laid_out(node.state))
                self._tell(node.state, node.told, found)
            elif node.fact is not None:
                before = lens.state_at(node.parent)
                for move in moves_of(node, before):
                    before, told = game.step(before, move)
                    self._tell(before, told, found)
            seen.node, seen.opened = node, not node.state.awaiting
            if not seen.opened:
                self._open(lens, seen, node, found)

    def _open(self, lens: Lens, seen: _Seen, node: Node, found: list[News]) -> None:
        after = lens.state_at(node)
        if after.awaiting:
            return
        state = node.state
        for position in node.state.awaiting:
            state, told = game.step(state, Open(position, after.faces[position]))
            self._tell(state, told, found)
        seen.opened = True

    def _tell(self, state: GameState, told: tuple[ev.Event, ...], found: list[News]) -> None:
        found.extend(news for event in told if (news := _of_event(event, state)) is not None)

    def _own_hand(self, round_: Round, seen: _Seen, found: list[News]) -> None:
        session = self._session
        lens = round_.everything()
        deal = lens.agreement
        if deal is None or session.me not in round_.number_of or lens.dealt is None:
            return
        state = session.own_state(round_)
        if state is None:
            return
        seat = deal.seat_of[round_.number_of[session.me]]
        known = {p: state.faces[p] for p in state.hands[seat] if state.faces[p] >= 0}
        complete = len(known) == len(state.hands[seat])
        fresh = {p: face for p, face in known.items() if p not in seen.hand and not state.is_public(p)}
        seen.hand.update(known)
        if not seen.dealt:
            if complete:
                seen.dealt = True
                values = {"faces": tuple(known.values()), "packs": state.packs, "seat": seat}
                found.append(News("hand", values, private=True))
            return
        if fresh:
            values = {"seat": seat, "faces": tuple(fresh.values()), "packs": state.packs}
            found.append(News("drew", {**values, "count": len(fresh), "own": True}, private=True))

    def _endings(self, round_: Round, lens: Lens, seen: _Seen, found: list[News]) -> None:
        for fault in lens.faults:
            if (fault.player, fault.code) not in seen.faults:
                seen.faults.add((fault.player, fault.code))
                found.append(News("fault", {"player": fault.player, "code": fault.code, "fault": fault}))
        for fault in round_.on_record[seen.on_record :]:
            found.append(News("fault", {"player": fault.player, "code": fault.code, "fault": fault}))
        seen.on_record = len(round_.on_record)
        final = lens.final
        if final is not None and final.digest != seen.over:
            seen.over = final.digest
            found.append(
                News(
                    "over",
                    {
                        "contract": round_.contract,
                        "round": round_.terms.round,
                        "result": final.kind,
                        "finish": tuple(round_.roster[number] for number in final.finish),
                        "shithead": None if final.shithead is None else round_.roster[final.shithead],
                        "debts": tuple((round_.roster[n], what) for n, what in final.debts),
                        "left": tuple(round_.roster[n] for n, how, _ in final.gone if how == "left"),
                        "gave_up": tuple(round_.roster[n] for n, how, _ in final.gone if how == "owed"),
                    },
                )
            )


def news_of(lens: Lens, node: Node) -> tuple[News, ...]:
    """What one link of the chain made happen, what was opened for it included: for watching a round again."""
    if node.parent is None:
        events: tuple[ev.Event, ...] = node.told
        return tuple(news for event in events if (news := _of_event(event, node.state)) is not None)
    state = lens.state_at(node.parent)
    news_found: list[News] = []
    moves: list[Move] = list(moves_of(node, state))
    after = lens.state_at(node)
    if not after.awaiting:
        moves += [Open(position, after.faces[position]) for position in node.state.awaiting]
    for move in moves:
        state, told = game.step(state, move)
        news_found += [news for event in told if (news := _of_event(event, state)) is not None]
    return tuple(news_found)


def _laid_out(state: GameState) -> list[News]:
    """The upcards that were chosen closed and lie open now that everybody is ready (``arrange=choose``)."""
    if state.rules.arrange is not ArrangeRule.CHOOSE:
        return []
    return [
        News("laid_out", {"seat": seat, "faces": tuple(state.faces[p] for p in ups), "packs": state.packs})
        for seat, ups in enumerate(state.ups)
        if ups and all(state.is_public(position) for position in ups)
    ]


def moves_of(node: Node, before: GameState) -> tuple[Move, ...]:
    """The engine's moves that a link of the chain stands for, openings first."""
    if node.fact is None:
        return ()
    body = node.fact.entry.body
    seat = before.turn
    opened = node.state.faces
    match body:
        case e.Declare():
            moves: tuple[Move, ...] = (Declare(seat, body.position),)
            positions = [body.position] if body.share else []
        case e.Pass():
            return (Pass(seat),)
        case e.Move(action="play"):
            moves, positions = (Play(seat, tuple(body.places)),), list(body.positions)
        case e.Move(action="play_as"):
            moves, positions = (PlayAs(seat, tuple(body.places[1:]), body.places[0]),), list(body.positions)
        case e.Move(action="pick_up"):
            return (PickUp(seat, tuple(body.places)),)
        case e.Move(action="chance"):
            return (Chance(seat),)
        case e.Move(action="name"):
            return (Name(seat, body.places[0]),)
        case e.Move(action="done"):
            return (Done(seat),)
        case e.Move():
            return (Flip(seat, body.places[0]),)
        case _:
            return ()
    return (*(Open(position, opened[position]) for position in positions), *moves)


def _of_event(event: ev.Event, state: GameState) -> News | None:
    packs = state.packs

    def faces(positions: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(state.faces[position] for position in positions)

    match event:
        case ev.Declared(seat=seat, position=position):
            return News("declared", {"seat": seat, "face": state.faces[position], "packs": packs})
        case ev.EldestFound(seat=seat, rank=rank, by=by):
            return News("eldest", {"seat": seat, "rank": rank, "by": by.value})
        case ev.TurnTo(seat=seat):
            return News("turn", {"seat": seat})
        case ev.Played(seat=seat, positions=positions, from_zone=zone):
            values = {"seat": seat, "faces": faces(positions), "packs": packs, "zone": zone.value}
            return News("played", values)
        case ev.Drew(seat=seat, positions=positions):
            return News("drew", {"seat": seat, "count": len(positions), "own": False})
        case ev.PickedUp(seat=seat, along=along):
            return News("picked_up", {"seat": seat, "count": event.count, "faces": faces(along), "packs": packs})
        case ev.Flipped(seat=seat, face=face, legal=legal):
            return News("flipped", {"seat": seat, "face": face, "packs": packs, "legal": legal})
        case ev.Chanced(seat=seat, face=face, legal=legal):
            return News("chanced", {"seat": seat, "face": face, "packs": packs, "legal": legal})
        case ev.Named(seat=seat, positions=positions, rank=rank):
            return News("named", {"seat": seat, "faces": faces(positions), "packs": packs, "rank": rank})
        case ev.FollowUpOpen(seat=seat, rank=rank):
            return News("follow_up", {"seat": seat, "rank": rank})
        case ev.FollowUpDone(seat=seat):
            return News("done", {"seat": seat})
        case ev.Reversed(seat=seat, direction=direction):
            return News("reversed", {"seat": seat, "direction": direction})
        case ev.Skipped(seats=seats):
            return News("skipped", {"seats": seats})
        case ev.Burnt(seat=seat, count=count, by=by):
            return News("burnt", {"seat": seat, "count": count, "by": by.value})
        case ev.Out(seat=seat, place=place):
            return News("out", {"seat": seat, "place": place})
        case _:
            return None

"""A saved round to be watched again: every position of it, and what each move did (no screen, no input).

Once all seeds are open, every card of the round is known, and everybody's hand can be shown at each turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from client.cards import Style
from client.lines.narrate import Narrator
from client.phrases import said, told
from client.sentences import Names, render
from client.view import Stage, View, make_view
from engine.cards import card_text
from engine.errors import Sentence, ShitheadError
from engine.game import mask, with_faces
from engine.state import GameState
from p2p.dealing import Dealing, ElGamalDealing
from p2p.feeds.entries import Swap
from p2p.feeds.facts import Fact
from p2p.rounds.audit import all_faces, fold
from p2p.rounds.chain import Node
from p2p.rounds.news import News, news_of
from p2p.rounds.phases import Phase
from p2p.rounds.round import Lens, Round
from p2p.rounds.roundfile import DamagedRound, NotARound, read
from p2p.rounds.snapshot import LinkView, PlayerView, RoundView, Snapshot


class NoReplay(ShitheadError):
    """The file holds no round that could be watched; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A position of the round. ``state``: with every face that the file gives away; ``turn``: plays, pick-ups
    and flips so far; ``told``: what led to it.
    """

    state: GameState
    turn: int
    told: tuple[str, ...]
    drawn: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Seats whose hands grew from the stock, and the positions of those cards."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A round to be watched. ``names``: by seat; ``is_open``: whether every card of it is known."""

    name: str
    number: int
    words: tuple[str, ...]
    names: tuple[str, ...]
    moments: tuple[Moment, ...]
    is_open: bool
    finish: tuple[str, ...]
    shithead: str | None

    def seen(self, index: int, eyes: int | None) -> GameState:
        """The position as the player at seat ``eyes`` saw it; None: with all cards open."""
        state = self.moments[index].state
        return state if eyes is None else mask(state, eyes)

    def told(self, index: int, eyes: int | None, style: Style) -> tuple[str, ...]:
        """What led to the position, as the player at seat ``eyes`` saw it: own draws with their cards; None: with
        everybody's.
        """
        moment, lines = self.moments[index], list(self.moments[index].told)
        for seat, positions in moment.drawn:
            faces = [moment.state.faces[position] for position in positions]
            closed = render(told("drew", False, player=self.names[seat], count=len(positions)))
            if eyes not in (None, seat) or min(faces) < 0 or closed not in lines:
                continue
            cards = tuple(card_text(face, moment.state.packs) for face in faces)
            shown = render(told("drew_own", False, player=self.names[seat], cards=cards), None, style)
            lines[lines.index(closed)] = shown
        return tuple(lines)

    def at_turn(self, turn: int) -> int:
        """The index of the first moment after that many turns, or of the last one."""
        return next(
            (index for index, moment in enumerate(self.moments) if moment.turn >= turn), len(self.moments) - 1
        )


def load_replay(path: Path, dealing: Dealing | None = None, style: Style | None = None) -> Replay:
    """The round in a file. Raises ``NotARound``, ``DamagedRound`` and ``NoReplay``. Takes a second or so."""
    file = read(path)
    how = dealing or ElGamalDealing()
    start = next((entry for entry in file.entries if entry.id == file.head.contract), None)
    session = fold(file.entries, start.table, how, start.id) if start is not None else None
    round_ = session.rounds.get(file.head.contract) if session is not None else None
    if round_ is None:
        raise NoReplay(_problem("replay_no_round", "{file} does not hold the start of its round.", path))
    lens = round_.everything()
    deal = lens.agreement
    if deal is None or lens.dealt is None:
        raise NoReplay(_problem("replay_no_deal", "The round in {file} ended before the cards were dealt.", path))
    faces = all_faces(round_, lens, deal, how)
    names = tuple(round_.names[number] for number in deal.seats)
    ending = lens.final or lens.ending
    return Replay(
        name=path.stem,
        number=round_.terms.round,
        words=round_.words(deal.coins),
        names=names,
        moments=tuple(_moments(round_, lens, lens.dealt, faces, style or Style())),
        is_open=faces is not None,
        finish=tuple(round_.names[number] for number in ending.finish) if ending is not None else (),
        shithead=None if ending is None or ending.shithead is None else round_.names[ending.shithead],
    )


def _problem(code: str, template: str, path: Path) -> Sentence:
    return Sentence(code, template, {"file": path.name})


def _moments(
    round_: Round, lens: Lens, dealt: GameState, faces: tuple[int, ...] | None, style: Style
) -> list[Moment]:
    def opened(state: GameState) -> GameState:
        return with_faces(state, dict(enumerate(faces))) if faces is not None else state

    moments = [Moment(opened(dealt), 0, (render(said("arrange"), None, style),))]
    path: list[Node] = []
    node: Node | None = lens.tip
    while node is not None:
        path.append(node)
        node = node.parent
    narrator = Narrator(style, asks=False)
    state = dealt
    for seat, number, fact in _arrangements(round_, lens):
        news, state = _arranged(lens, state, seat, number, fact)
        after = _view(round_, lens, opened(state))
        moments.append(Moment(opened(state), 0, tuple(narrator.tell((news,), after, after))))
    before = _view(round_, lens, opened(state))
    turn = 0
    for link in reversed(path):
        items = news_of(lens, link)
        state = opened(lens.state_at(link))
        after = _view(round_, lens, state)
        lines = narrator.tell(items, before, after)
        turn += any(item.name in ("played", "picked_up", "flipped") for item in items)
        moments.append(Moment(state, turn, tuple(lines), _drawn(moments[-1].state, state)))
        before = after
    return moments


def _arrangements(round_: Round, lens: Lens) -> list[tuple[int, int, Fact]]:
    """Every exchange or choice of upcards that was judged good, as seat, number and fact; seat by seat, since
    everybody arranges at once (R13).
    """
    deal = lens.agreement
    if deal is None:
        return []
    order = sorted((deal.seat_of[number], number) for number in round_.numbers)
    return [
        (seat, number, fact)
        for seat, number in order
        for fact in lens.arrangements(number)
        if fact.id in round_.arranged
    ]


def _arranged(lens: Lens, state: GameState, seat: int, number: int, fact: Fact) -> tuple[News, GameState]:
    """What one arrangement is told as, and the position after it."""
    deal, body = lens.agreement, fact.entry.body
    after = lens.apply_arrangement(deal, state, number, fact) if deal is not None else state
    if isinstance(body, Swap):
        values = {"up_face": after.faces[body.hand], "hand_face": state.faces[body.up], "packs": state.packs}
        return News("swapped", {"seat": seat, **values}), after
    return News("chose", {"seat": seat}), after


def _drawn(before: GameState, after: GameState) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Seats with cards in hand that lay in the stock before."""
    stock = frozenset(before.stock)
    found = (
        (seat, tuple(position for position in hand if position in stock)) for seat, hand in enumerate(after.hands)
    )
    return tuple((seat, positions) for seat, positions in found if positions)


def _view(round_: Round, lens: Lens, state: GameState) -> View:
    """A looker-on's view of a position, for the narrator."""
    deal = lens.agreement
    seats = tuple(round_.roster[number] for number in deal.seats) if deal is not None else ()
    names = dict(zip(round_.roster, round_.names, strict=True))
    shown = RoundView(
        contract=round_.contract,
        number=round_.terms.round,
        attempt=round_.terms.attempt,
        phase=Phase.PLAY,
        rules=round_.rules,
        roster=round_.roster,
        names=names,
        seats=seats,
        my_seat=None,
        state=mask(state, None),
        stamp=b"",
        words=(),
        accepted=0,
        keys=0,
        shuffled=0,
        proven=0,
        agreed=0,
        waits=(),
        overdue=False,
        faults=(),
        ending=None,
    )
    players = tuple(
        PlayerView(key, name, False, False, False, LinkView("good"), 0, "", "known") for key, name in names.items()
    )
    snapshot = Snapshot(bytes(32), "", b"", None, None, players, (), shown, False, (), ())
    view = make_view(snapshot)
    return replace(view, names=Names(tuple(names[key] for key in seats), names), stage=Stage.PLAY)


def hand_texts(state: GameState, seat: int) -> tuple[str, ...]:
    """The hand of a seat as card texts, lowest first; ``??`` for what is not known."""
    positions = sorted(state.hands[seat], key=lambda p: (state.faces[p] < 0, state.rank_at(p), state.faces[p]))
    return tuple(card_text(state.faces[position], state.packs) for position in positions)


def up_texts(state: GameState, seat: int) -> tuple[str, ...]:
    """The upcards of a seat."""
    return tuple(card_text(state.faces[position], state.packs) for position in state.ups[seat])


def down_texts(state: GameState, seat: int) -> tuple[str, ...]:
    """The downcards of a seat that are still there."""
    return tuple(card_text(state.faces[position], state.packs) for position in state.downs[seat] if position >= 0)


def pile_texts(state: GameState) -> tuple[str, ...]:
    """The wastepile, bottom first."""
    return tuple(card_text(state.faces[position], state.packs) for position in state.pile)


__all__ = [
    "DamagedRound",
    "Moment",
    "NoReplay",
    "NotARound",
    "Replay",
    "down_texts",
    "hand_texts",
    "load_replay",
    "pile_texts",
    "up_texts",
]

"""A saved round in plain lines: all of it through a pipe, a step at a time at a keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from client.cards import Style
from client.lines.narrate import place_word
from client.replay import Replay, down_texts, hand_texts, pile_texts, up_texts
from client.texts import REPLAY_HELP, of_saved
from engine.state import GameState


class ReplayLines:
    """Tells a round to ``say``, one line a call. ``eyes``: a seat, None for all cards open."""

    def __init__(self, shown: Replay, eyes: int | None, style: Style, say: Callable[[str], object]) -> None:
        self._shown = shown
        self._eyes = eyes
        self._style = style
        self._say = say
        self._index = 0

    def run(self, typed: Iterable[str] | None) -> None:
        """All of it; with ``typed`` what the lines of it ask for, until their end."""
        self._head()
        self._moment()
        if typed is None:
            self._rest()
            return
        self._say(of_saved("more"))
        for line in typed:
            if not self._do(line.strip()):
                return

    def _do(self, line: str) -> bool:
        first, _, rest = line.partition(" ")
        match first.lower():
            case "" | "n" | "next":
                self._step(1)
            case "b" | "back":
                self._step(-1)
            case number if number.isascii() and number.isdigit():
                self._index = self._shown.at_turn(int(number[:6]))
                self._moment()
                self._table()
            case "all":
                self._rest()
            case "table":
                self._table()
            case "open":
                self._eyes = None
                self._table()
            case "eyes":
                self._look_from(rest)
            case "q" | "quit" | "exit":
                return False
            case _:
                for each in REPLAY_HELP:
                    self._say(f"  {each}")
        return True

    def _look_from(self, name: str) -> None:
        seats = [seat for seat, each in enumerate(self._shown.names) if each.casefold() == name.strip().casefold()]
        if not seats:
            self._say(of_saved("players", names=self._shown.names))
            return
        self._eyes = seats[0]
        self._table()

    def _step(self, step: int) -> None:
        index = self._index + step
        if not 0 <= index < len(self._shown.moments):
            self._say(of_saved("at_end" if step > 0 else "at_start"))
            return
        self._index = index
        self._moment()

    def _rest(self) -> None:
        while self._index + 1 < len(self._shown.moments):
            self._step(1)
        self._table()
        if self._shown.finish:
            self._say(of_saved("finish", names=self._shown.finish))
        if self._shown.shithead is not None:
            self._say(of_saved("shithead", name=self._shown.shithead))

    def _head(self) -> None:
        self._say(of_saved("head", round=self._shown.number, words="-".join(self._shown.words)))
        if not self._shown.is_open:
            self._say(of_saved("not_open"))
        self._table()

    def _moment(self) -> None:
        moment = self._shown.moments[self._index]
        for line in self._shown.told(self._index, self._eyes, self._style):
            self._say(f"{moment.turn:>4}  {line}" if moment.turn else f"      {line}")

    def _table(self) -> None:
        state = self._shown.seen(self._index, self._eyes)
        for seat, name in enumerate(self._shown.names):
            self._say(of_saved("player", name=name, zones=self._zones(state, seat)))
        pile = pile_texts(state)
        counts: dict[str, object] = {"stock": len(state.stock), "burnt": len(state.burnt)}
        code = "pile" if pile else "pile_empty"
        self._say(of_saved(code, self._style, cards=pile, **counts))

    def _zones(self, state: GameState, seat: int) -> str:
        if seat in state.finish_order:
            return of_saved("out", place=place_word(state.finish_order.index(seat) + 1))
        if seat in state.left:
            return of_saved("has_left")
        zones = (("hand", hand_texts), ("up", up_texts), ("down", down_texts))
        found = [(name, cards(state, seat)) for name, cards in zones]
        return "; ".join(
            of_saved(f"zone_{name}" if cards else f"zone_{name}_none", self._style, cards=cards)
            for name, cards in found
        )

"""A saved round in plain lines: all of it through a pipe, a step at a time at a keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from client.cards import Style, card_labels, clean
from client.lines.narrate import place_word
from client.replay import Replay, down_texts, hand_texts, pile_texts, up_texts
from engine.state import GameState

HELP: Final = (
    "Enter      the next step       b          one back",
    "12         to turn 12          all        everything from here on",
    "table      who holds what      eyes Ana   from Ana's eyes",
    "open       with all cards open quit       end",
)


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
        self._say("Enter goes on; help says what else can be typed.")
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
                for each in HELP:
                    self._say(f"  {each}")
        return True

    def _look_from(self, name: str) -> None:
        seats = [seat for seat, each in enumerate(self._shown.names) if each.casefold() == name.strip().casefold()]
        if not seats:
            self._say(f"Players: {', '.join(clean(each) for each in self._shown.names)}.")
            return
        self._eyes = seats[0]
        self._table()

    def _step(self, step: int) -> None:
        index = self._index + step
        if not 0 <= index < len(self._shown.moments):
            self._say("That is the end." if step > 0 else "That is the beginning.")
            return
        self._index = index
        self._moment()

    def _rest(self) -> None:
        while self._index + 1 < len(self._shown.moments):
            self._step(1)
        self._table()
        if self._shown.finish:
            self._say(f"Out, in this order: {', '.join(clean(name) for name in self._shown.finish)}.")
        if self._shown.shithead is not None:
            self._say(f"The shithead is {clean(self._shown.shithead)}.")

    def _head(self) -> None:
        self._say(f"Round {self._shown.number}, table words {'-'.join(self._shown.words)}.")
        if not self._shown.is_open:
            self._say("Not every seed was opened: cards that nobody showed stay closed.")
        self._table()

    def _moment(self) -> None:
        moment = self._shown.moments[self._index]
        for line in self._shown.told(self._index, self._eyes, self._style):
            self._say(f"{moment.turn:>4}  {line}" if moment.turn else f"      {line}")

    def _table(self) -> None:
        state = self._shown.seen(self._index, self._eyes)
        for seat, name in enumerate(self._shown.names):
            self._say(f"  {clean(name)}: {self._zones(state, seat)}")
        pile = pile_texts(state)
        cards = card_labels(pile, self._style) if pile else "empty"
        self._say(f"  Pile: {cards}. Stock: {len(state.stock)}. Burnt: {len(state.burnt)}.")

    def _zones(self, state: GameState, seat: int) -> str:
        if seat in state.finish_order:
            return f"out, {place_word(state.finish_order.index(seat) + 1)}"
        if seat in state.left:
            return "has left"
        zones = (("hand", hand_texts), ("up", up_texts), ("down", down_texts))
        return "; ".join(
            f"{name} {card_labels(cards(state, seat), self._style) or 'none'}" for name, cards in zones
        )

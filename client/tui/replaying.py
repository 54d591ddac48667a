"""A saved round on the full screen: step, jump, autoplay, from anybody's eyes or with all cards open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from client.cards import card_label
from client.replay import Replay, down_texts, hand_texts, pile_texts, up_texts
from client.tui.cells import Row, Span, cells, filled, fit, line, row, wrap
from client.tui.hand import suit_style
from client.tui.opponents import BACK
from client.tui.phrases import text
from client.tui.state import Look
from client.tui.terminal import Terminal
from engine.cards import UNKNOWN_TEXT
from engine.state import GameState

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

AUTO_S: Final = 1.0
"""A step of autoplay."""

JUMP: Final = 10
"""Moments that a page key moves."""

WIDE_KEYS: Final = 80
"""From this width on there is room to say how to get to a turn."""

TOLD_ROWS: Final = 4
HELP_LINES: Final = range(1, 8)
"""Numbers of the sentences ``replay_help_1`` and so on."""


@dataclass(frozen=True, slots=True)
class Watching:
    """What is shown: which moment, from whose eyes (a seat; None: all open), whether it goes on by itself.
    ``typed``: digits of the turn to jump to.
    """

    index: int = 0
    eyes: int | None = None
    is_auto: bool = False
    typed: str = ""
    is_help: bool = False


def replay_rows(shown: Replay, at: Watching, look: Look, width: int, height: int) -> list[Row]:
    """The screen of one moment (pure)."""
    style = look.style
    moment = shown.moments[at.index]
    last = shown.moments[-1].turn
    title = text("replay_title", style, round=shown.number, turn=moment.turn, all=last)
    eyes = text("replay_open", style) if at.eyes is None else text("replay_eyes", style, name=shown.names[at.eyes])
    if at.eyes is None and not shown.is_open:
        eyes = text("replay_closed", style)
    top = [
        row(width, Span(fit(" SHITHEAD  " + title, width - cells(eyes) - 1), "title"), Span(eyes + " ", "title")),
        line(width),
    ]
    state = shown.seen(at.index, at.eyes)
    players = range(len(shown.names))
    bottom = [*_told(shown.told(at.index, at.eyes, style), look, width), line(width)]
    keys = (
        text("replay_typed", style, turn=at.typed)
        if at.typed
        else text("replay_keys_wide" if width >= WIDE_KEYS else "replay_keys", style)
    )
    bottom.append(row(width, Span(" " + keys, "footer")))
    middle = _table(state, look, width)
    room = height - len(top) - len(bottom) - len(middle) - 1
    lines = 2 if 2 * len(shown.names) <= room else 1
    body = [part for seat in players for part in _player(shown, state, seat, look, width, lines)]
    body = [*body, line(width), *middle]
    if at.is_help:
        sentences = (text(f"replay_help_{number}", style) for number in HELP_LINES)
        body = [row(width, Span("  " + part, "hint")) for each in sentences for part in wrap(each, width - 4)]
    return [*top, *filled(body, height - len(top) - len(bottom), width), *bottom]


def _told(told: tuple[str, ...], look: Look, width: int) -> list[Row]:
    parts = [part for each in told for part in wrap(each, width - 2)]
    return filled([row(width, Span(" " + part, "message")) for part in parts], TOLD_ROWS, width)


def _cards(cards: tuple[str, ...], look: Look, sep: str = " ") -> list[Span]:
    spans: list[Span] = []
    for card in cards:
        known = card != UNKNOWN_TEXT
        spans.append(Span(card_label(card, look.style) if known else BACK, suit_style(card) if known else "back"))
        spans.append(Span(sep))
    return spans


def _player(shown: Replay, state: GameState, seat: int, look: Look, width: int, lines: int) -> list[Row]:
    style = look.style
    in_turn = state.turn == seat
    name = Span(fit(f"{'>' if in_turn else ' '} {shown.names[seat]}", 14) + " ", "turn" if in_turn else "name")
    if seat in state.finish_order or seat in state.left:
        from client.lines.narrate import place_word

        place = state.finish_order.index(seat) + 1 if seat in state.finish_order else 0
        said = text("out_place", style, place=place_word(place)) if place else text("left_round", style)
        rows = [row(width, name, Span(said, "good"))]
        return [*rows, row(width)] if lines == 2 else rows
    hand, ups, downs = hand_texts(state, seat), up_texts(state, seat), down_texts(state, seat)
    rest = [
        Span(text("up", style) + " ", "label"),
        *_cards(ups, look),
        Span(" " + text("blind", style) + " ", "label"),
        *_cards(downs, look),
    ]
    label = Span(text("hand", style) + " ", "label")
    if lines == 2:
        return [row(width, name, label, *_cards(hand, look)), row(width, " " * 15, *rest)]
    many = hand if len(hand) <= 6 else ()
    count = [Span(f"{len(hand)} ", "count")] if not many else _cards(many, look)
    return [
        row(width, name, *count, Span("| ", "rule"), *_cards(ups, look), Span("| ", "rule"), *_cards(downs, look))
    ]


def _table(state: GameState, look: Look, width: int) -> list[Row]:
    style = look.style
    pile = pile_texts(state)
    head = Span(
        f"  {text('stock', style)} {len(state.stock)}   {text('burnt', style, count=len(state.burnt))}   ", "label"
    )
    shown = pile[-12:]
    more = Span("… " if len(shown) < len(pile) and not style.ascii else "", "dim")
    waste = Span(text("waste_count", style, count=len(pile)) + "  ", "label")
    return [row(width, head, waste, more, *_cards(shown, look))]


class ReplayScreen:
    """A round being watched; a `Screenful`, and an overlay over a table.

    ``changed``: called when the screen has changed by itself (autoplay).
    """

    def __init__(
        self, shown: Replay, look: Look, changed: Callable[[], None] = lambda: None, eyes: int | None = None
    ):
        self._shown = shown
        self._look = look
        self._changed = changed
        self._timer: asyncio.TimerHandle | None = None
        self.at = Watching(eyes=eyes)

    @property
    def theme(self) -> str:
        """The name of the colours."""
        return self._look.theme

    @property
    def has_mouse(self) -> bool:
        """Whether clicks are wanted."""
        return self._look.mouse

    @property
    def title(self) -> str:
        """The window's title stays as it is."""
        return ""

    def rows(self, width: int, height: int) -> list[Row]:
        """The screen at that size."""
        return replay_rows(self._shown, self.at, self._look, width, height)

    def key(self, key: str) -> bool:
        """A key was pressed; False when watching is over."""
        if key in ("escape", "ctrl-c", "q", "Q", "v", "V") and not (key == "escape" and self._leads_back):
            return False
        self.at = press_replay(key, self._shown, self.at)
        self._plan()
        return True

    @property
    def _leads_back(self) -> bool:
        """Whether there is something on this screen that Esc ends before it ends the screen."""
        return bool(self.at.typed) or self.at.is_help

    def close(self) -> None:
        """Stops autoplay."""
        if self._timer is not None:
            self._timer.cancel()

    def _plan(self) -> None:
        self.close()
        self._timer = asyncio.get_running_loop().call_later(AUTO_S, self._step) if self.at.is_auto else None

    def _step(self) -> None:
        if self.at.index + 1 >= len(self._shown.moments):
            self.at = replace(self.at, is_auto=False)
        else:
            self.at = replace(self.at, index=self.at.index + 1)
        self._plan()
        self._changed()


def press_replay(key: str, shown: Replay, at: Watching) -> Watching:
    """What a key leads to (pure)."""
    last = len(shown.moments) - 1
    if len(key) == 1 and key.isdigit():
        return replace(at, typed=(at.typed + key)[-4:], is_auto=False)
    typed, was_help, at = at.typed, at.is_help, replace(at, typed="", is_help=False)
    if key in ("?", "h", "H"):
        return replace(at, is_help=not was_help)
    if key == "enter" and typed:
        return replace(at, index=shown.at_turn(int(typed)))
    steps = {"right": 1, " ": 1, "n": 1, "enter": 1, "down": 1, "left": -1, "b": -1, "up": -1, "backspace": -1}
    steps |= {"pagedown": JUMP, "pageup": -JUMP, "home": -last, "end": last, "scroll-down": 1, "scroll-up": -1}
    match key.lower() if len(key) == 1 else key:
        case step if step in steps:
            return replace(at, index=min(last, max(0, at.index + steps[step])), is_auto=False)
        case "a":
            return replace(at, is_auto=not at.is_auto)
        case "o":
            return replace(at, eyes=None if at.eyes is not None else 0)
        case "e" | "tab":
            return replace(at, eyes=0 if at.eyes is None else (at.eyes + 1) % len(shown.names))
        case _:
            return at


class ReplayApp:
    """A replay alone on the terminal."""

    def __init__(
        self,
        shown: Replay,
        look: Look,
        eyes: int | None = None,
        *,
        is_mono: bool = False,
        input: Input | None = None,  # noqa: A002 - the toolkit's word
        output: Output | None = None,
    ) -> None:
        self.screen = ReplayScreen(shown, look, self._refresh, eyes)
        self.terminal = Terminal(self, is_mono=is_mono, input=input, output=output)
        self.theme, self.has_mouse, self.title = self.screen.theme, self.screen.has_mouse, ""

    def rows(self, width: int, height: int) -> list[Row]:
        """The screen at that size."""
        return self.screen.rows(width, height)

    def key(self, key: str) -> None:
        """A key was pressed, or something clicked."""
        if not self.screen.key(key):
            self.terminal.stop()

    def paste(self, pasted: str) -> None:
        """Pasted text means nothing here."""

    async def run(self) -> None:
        """Shows the round until it is left."""
        try:
            await self.terminal.run()
        finally:
            self.screen.close()

    def _refresh(self) -> None:
        self.terminal.refresh()


__all__ = ["ReplayApp", "ReplayScreen", "Watching", "press_replay", "replay_rows"]

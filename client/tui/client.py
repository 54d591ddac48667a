"""A person at a table on the full screen: joins node, narrator, keys and terminal."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from client.cards import clean
from client.lines.commands import Act, Admit, Answer, Away, Kick, Refuse, SeatBots, StartRound, Talk, Void
from client.lines.narrate import Narrator
from client.lines.shell import EXIT_FAULT, EXIT_GOOD, EXIT_REFUSED, TableNode
from client.phrases import said
from client.sentences import render, render_error
from client.standing_in import AWAY
from client.tui.cells import Row
from client.tui.control import Command, Leave, OtherRules, Store, Watch, follow, paste, press
from client.tui.pages import last_scroll
from client.tui.phrases import text
from client.tui.render import draw
from client.tui.state import Flash, Logged, Look, Ui
from client.tui.terminal import Terminal
from client.view import Stage, View, make_view
from engine.cards import card_text
from engine.errors import ShitheadError
from engine.rules import PRESETS, RuleSet, check_playable
from p2p.audit import Verdict
from p2p.news import News

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from client.standing_in import StandIn

FLASH_S: Final = 0.3
"""How long a burn is shown large; any key ends it sooner."""

MAX_LOG_LINES: Final = 2000
"""A long evening; older lines go."""

_FINISHED: Final = frozenset({"finished", "stalled"})
_MOVES: Final = frozenset({"played", "picked_up", "flipped"})
_SHOWN: Final = frozenset({"knocked", "hand", "verdict", "saved"})
"""News that the screen itself shows, and that need no line in the log."""


class Overlay(Protocol):
    """A screen that takes the table's place for a while, such as a replay."""

    def rows(self, width: int, height: int) -> list[Row]:
        """The screen at that size."""
        ...

    def key(self, key: str) -> bool:
        """A key was pressed; False when the screen is done with."""
        ...

    def close(self) -> None:
        """Stops what it does by itself."""
        ...


class ScreenNode(TableNode, Protocol):
    """What the full screen needs of ``p2p.node.Node``."""

    rules: RuleSet
    """What the next offer uses."""

    @property
    def seats(self) -> int:
        """How many may sit at the table."""
        ...

    @property
    def last_round_file(self) -> Path | None:
        """Where the last round is saved."""
        ...


class ScreenClient:
    """A person, or with ``auto`` a watched bot, at a table on the full screen.

    ``node``: at the table already. ``rounds``: leave after so many finished rounds. ``seat_bots``: seats that
    many bots more. ``store``: keeps changed looks. ``watch``: opens a saved round over the table; its second
    argument is to be called when its screen has changed. ``standing_in``: who plays while the person is away.
    ``is_mono``: no colours at all. ``input``, ``output``:
    the process's terminal by default. ``clock``: seconds, for waits and guards; ``day``: the time of day shown
    in the log.
    """

    def __init__(
        self,
        node: ScreenNode,
        *,
        look: Look | None = None,
        auto: bool = False,
        rounds: int | None = None,
        seat_bots: Callable[[int], Awaitable[None]] | None = None,
        store: Callable[[Look], None] | None = None,
        watch: Callable[[Path, Look, Callable[[], None]], Awaitable[Overlay]] | None = None,
        standing_in: StandIn | None = None,
        is_mono: bool = False,
        input: Input | None = None,  # noqa: A002 - the toolkit's word
        output: Output | None = None,
        clock: Callable[[], float] = time.monotonic,
        day: Callable[[], str] = lambda: time.strftime("%H:%M"),
    ) -> None:
        self._node = node
        self._auto = auto
        self._rounds = rounds
        self._seat_bots = seat_bots
        self._store = store
        self._watch = watch
        self._standing_in = standing_in
        self._clock = clock
        self._day = day
        self._view = self._look()
        self._ui = Ui(
            look or Look(), can_seat_bots=seat_bots is not None, is_auto=auto, began=clock(), turn_since=clock()
        )
        self._narrator = Narrator(self._ui.look.style, asks=False)
        self._commands: asyncio.Queue[Command | None] = asyncio.Queue()
        self._overlay: Overlay | None = None
        self._flash_timer: asyncio.TimerHandle | None = None
        self._drawn: tuple[View, Ui] | None = None
        self._size = (80, 24)
        self._finished = 0
        self._code = EXIT_GOOD
        self._leaves = False
        self.last_words = ""
        """What there is to say once the screen is gone."""
        self.terminal = Terminal(self, is_mono=is_mono, input=input, output=output)

    # -- what fills the terminal -------------------------------------------------------------------------

    @property
    def theme(self) -> str:
        """The name of the colours."""
        return self._ui.look.theme

    @property
    def has_mouse(self) -> bool:
        """Whether clicks are wanted."""
        return self._ui.look.mouse

    @property
    def title(self) -> str:
        """The window's title: a star when it is my turn."""
        mine = self._view.my_turn and self._view.stage is Stage.PLAY
        return f"{'* ' if mine else ''}shithead - {clean(self._view.table)}"

    @property
    def view(self) -> View:
        """What is on the screen."""
        return self._view

    @property
    def ui(self) -> Ui:
        """The screen's own state."""
        return self._ui

    def rows(self, width: int, height: int) -> list[Row]:
        """The screen at that size."""
        self._size = (width, height)
        if self._overlay is not None:
            return self._overlay.rows(width, height)
        return draw(self._view, self._ui, self._rules, self._node.seats, width, height)

    @property
    def _rules(self) -> RuleSet:
        view = self._view
        over = view.stage in (Stage.OVER, Stage.LOBBY)
        # Only the host knows, and sets, the rules of the next round; others see them when it is offered.
        return view.rules if view.rules is not None and not (over and view.i_host) else self._node.rules

    def key(self, key: str) -> None:
        """A key was pressed, or something clicked."""
        if self._overlay is not None:
            if not self._overlay.key(key):
                self._overlay.close()
                self._overlay = None
            return
        if self._ui.page:
            end = last_scroll(self._view, self._ui, self._rules, *self._size)
            self._ui = replace(self._ui, scroll=min(self._ui.scroll, end))
        self._ui, command = press(key, self._view, self._ui, self._clock())
        if command is not None:
            self._commands.put_nowait(command)

    def paste(self, pasted: str) -> None:
        """Text was pasted."""
        if self._overlay is None:
            self._ui = paste(pasted, self._ui)

    # -- the run -----------------------------------------------------------------------------------------

    async def run(self) -> int:
        """Plays until this peer leaves or the table ends; the exit code as that of the line mode.

        Cancelling it restores the terminal and stops at once, without leaving.
        """
        self._view = self._look()
        self._welcome()
        unsubscribe = self._node.subscribe(self._heard)
        tasks = [
            asyncio.create_task(self._work(), name="screen commands"),
            asyncio.create_task(self._wait_gone(), name="screen gone"),
        ]
        screen = asyncio.create_task(self.terminal.run(), name="screen")
        try:
            done, _ = await asyncio.wait([screen, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                # The end of input is a terminal that has gone: nobody is there to be asked anything.
                with contextlib.suppress(EOFError):
                    task.result()
            self._leaves |= screen in done
        finally:
            unsubscribe()
            await self._stop([screen, *tasks])
        if self._leaves:
            await self._node.leave()
            self.last_words = render(said("bye"))
        return self._code

    async def _stop(self, tasks: list[asyncio.Task[None]]) -> None:
        if self._flash_timer is not None:
            self._flash_timer.cancel()
        if self._overlay is not None:
            self._overlay.close()
        self.terminal.stop()
        with contextlib.suppress(Exception):
            # The terminal gets its old state back before anything else happens.
            await asyncio.shield(tasks[0])
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _welcome(self) -> None:
        from client.lines.show import LOOPBACK

        view = self._view
        self._log(text("join_none") if all(a.startswith(LOOPBACK) for a in view.addresses) else "")
        if any(row.is_bot for row in view.players):
            self._log(text("bots_seen"))

    async def _wait_gone(self) -> None:
        await self._node.gone.wait()
        why = self._node.gone_why
        if why in ("closed", ""):
            self.last_words = render(said("closed"))
        else:
            self._code = EXIT_REFUSED
            problem = self._node.gone_problem
            lines = render_error(problem) if problem is not None else ()
            self.last_words = " ".join((render(said("kicked" if why == "kicked" else "failed")), *lines))

    # -- what happens ------------------------------------------------------------------------------------

    def _look(self) -> View:
        view = make_view(self._node.snapshot)
        if not self._auto:
            return view
        # A watched bot's seat: nothing can be done with its cards.
        return replace(view, my_turn=False, asked=False, choices=())

    def _heard(self, news: tuple[News, ...]) -> None:
        before, self._view = self._view, self._look()
        now = self._clock()
        for item in news:
            self._note(item)
        told = tuple(item for item in news if item.name not in _SHOWN)
        for line in self._narrator.tell(told, before, self._view):
            self._log(line)
        self._ui = follow(before, self._view, self._ui, now)
        self._note_steps(now)
        asks_me = (self._view.my_turn and not before.my_turn) or (self._view.asked and not before.asked)
        if self._overlay is not None and asks_me:
            # What happens at the table comes before what is watched again.
            self._overlay.close()
            self._overlay = None
        if self._view.my_turn and not before.my_turn and self._view.stage is Stage.PLAY and self._ui.look.sound:
            self.terminal.bell()
        self._refresh()

    def _refresh(self) -> None:
        """Draws again if anything on the screen may be different."""
        shown = (self._view, self._ui)
        if self._overlay is None and shown != self._drawn:
            self._drawn = shown
            self.terminal.refresh()

    def _note(self, item: News) -> None:
        """What one piece of news changes on the screen beside the log."""
        values, ui = item.values, self._ui
        match item.name:
            case "contract":
                self._ui = replace(ui, verdict=None, saved="", steps={}, began=self._clock(), turns=0, picked=())
            case "knocked":
                self._log(text("door_log", name=str(values.get("name", ""))))
            case "saved":
                self._ui = replace(ui, saved=Path(str(values.get("path", ""))).name)
            case "verdict":
                audit = values.get("audit")
                self._ui = replace(ui, verdict=audit if isinstance(audit, Verdict) else None)
            case "over":
                self._finished += values.get("result") in _FINISHED
                if values.get("result") == "faulted":
                    self._code = EXIT_FAULT
            case "said" if not ui.page:
                self._ui = replace(ui, unread=ui.unread + (not ui.muted and values.get("player") != self._view.me))
            case name if name in _MOVES:
                self._ui = replace(ui, turns=ui.turns + 1)
        if item.name in ("verdict", "unsaved") and self._rounds is not None and self._finished >= self._rounds:
            self._commands.put_nowait(Leave())
        self._flash(item)

    def _flash(self, item: News) -> None:
        if not self._ui.look.motion or item.name not in ("burnt", "picked_up", "flipped"):
            return
        shown = flash_of(item, self._view)
        if shown is None:
            return
        self._ui = replace(self._ui, flash=shown)
        if self._flash_timer is not None:
            self._flash_timer.cancel()
        self._flash_timer = asyncio.get_running_loop().call_later(FLASH_S, self._end_flash)

    def _end_flash(self) -> None:
        self._ui = replace(self._ui, flash=None)
        self._refresh()

    def _note_steps(self, now: float) -> None:
        known = dict(self._ui.steps)
        for player in self._view.players:
            for step in player.steps:
                known.setdefault((player.key, step), now)
        if len(known) != len(self._ui.steps):
            self._ui = replace(self._ui, steps=known)

    def _log(self, line: str, kind: str = "event") -> None:
        if line:
            chat = any(line.startswith(f"{clean(player.name)}> ") for player in self._view.players)
            playing = self._view.stage in (Stage.PLAY, Stage.OPENING, Stage.ENDING) and not chat
            at = f"{self._ui.turns}" if playing and self._ui.turns else self._day()
            entry = Logged(line, "chat" if chat else kind, at)
            self._ui = replace(self._ui, log=(*self._ui.log, entry)[-MAX_LOG_LINES:])

    # -- commands ----------------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Does one command after the other until one of them leaves the table."""
        while True:
            command = await self._commands.get()
            if command is None or isinstance(command, Leave):
                self._leaves = True
                return
            try:
                await self._do(command)
            except ShitheadError as error:
                code = text("not_saved") if isinstance(command, Store) else ""
                told = code or " ".join(render_error(error, self._view.names, self._ui.look.style))
                if error.code == "stale":
                    told = render(said("stale"))
                self._ui = replace(self._ui, message=told, is_warning=True)
            self._ui = replace(self._ui, busy="")
            self._refresh()

    async def _do(self, command: Command) -> None:
        node = self._node
        match command:
            case Act(move=move, stamp=stamp):
                await node.act(move, stamp)
            case Answer(yes=yes):
                await node.answer_offer(yes)
            case Talk(text=words):
                await node.say(words)
            case StartRound():
                await node.offer_round()
            case Admit(key=key):
                await node.admit(key)
            case Refuse(key=key):
                await node.refuse(key)
            case Kick(key=key):
                await node.kick(key)
            case SeatBots(count=count):
                if self._seat_bots is not None:
                    await self._seat_bots(count)
            case Void():
                await node.void()
            case Store(look=look):
                self._narrator.set_style(look.style)
                if self._store is not None:
                    await asyncio.to_thread(self._store, look)
            case OtherRules(step=step):
                await self._take_rules(step)
            case Watch():
                await self._open_replay()
            case Away():
                await self._go_away()

    async def _take_rules(self, step: int) -> None:
        """The next preset for the next round. Raises ``RuleError`` where so many players don't fit."""
        presets = list(PRESETS)
        current = [name for name in presets if RuleSet.preset(name) == self._node.rules]
        index = presets.index(current[0]) + step if current else 0
        name = presets[index % len(presets)]
        rules = RuleSet.preset(name)
        check_playable(rules, max(2, len(self._view.players)))
        self._node.rules = rules
        told = text("rules_taken", name=name)
        self._ui = replace(self._ui, message=told)
        await self._node.say(told)

    async def _go_away(self) -> None:
        """Away, or back where the person was away."""
        if self._standing_in is None or self._auto:
            self._ui = replace(self._ui, message=render(said("no_stand_in")), is_warning=True)
            return
        is_away = not self._standing_in.is_away
        self._standing_in.set_away(is_away)
        self._ui = replace(self._ui, is_away=is_away, message=text("away" if is_away else "back"))
        await self._node.say(render(said("away_said" if is_away else "back_said"), self._view.names))

    def stood_in(self, why: str) -> None:
        """Tells the person that their program plays for them now; ``why``: see ``client.standing_in``."""
        if why != AWAY:
            # Of being away it is told on the message lines as long as it lasts.
            self._log(render(said(f"stood_in_{why}")))
        self._refresh()

    async def _open_replay(self) -> None:
        path = self._node.last_round_file
        if path is None or self._watch is None:
            self._ui = replace(self._ui, message=text("no_replay"), is_warning=True)
            return
        self._ui = replace(self._ui, busy=text("opening_replay"))
        self._refresh()
        self._overlay = await self._watch(path, self._ui.look, self.terminal.refresh)
        self.terminal.refresh()


def flash_of(item: News, view: View) -> Flash | None:
    """What is shown large for a moment of a piece of news."""
    values: Mapping[str, object] = item.values
    seat = values.get("seat")
    name = view.names.of_seat(seat) if isinstance(seat, int) else "?"
    count = values.get("count")
    match item.name:
        case "burnt":
            return Flash(text("flash_ten"), "burnt")
        case "picked_up" if isinstance(count, int):
            return Flash(text("flash_picked", name=name, count=count), "picked_up")
        case "flipped":
            face, packs = values.get("face"), values.get("packs")
            if isinstance(face, int) and isinstance(packs, int):
                return Flash(text("flash_flipped", name=name, cards=(card_text(face, packs),)), "flipped")
    return None


__all__ = ["Overlay", "ScreenClient", "ScreenNode", "flash_of"]

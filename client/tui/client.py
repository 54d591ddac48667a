"""A person at a table on the full screen: joins node, narrator, keys and terminal."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from client.cards import clean
from client.clocks import Clocks
from client.doing import Doer
from client.leaving import bye_code, what_leaving_does
from client.lines.narrate import Narrator
from client.lines.shell import EXIT_FAULT, EXIT_GOOD, EXIT_REFUSED
from client.phrases import said
from client.sentences import render, render_error
from client.standing_in import AWAY
from client.tui.cells import Row
from client.tui.control import follow, paste, press, press_unseen
from client.tui.guide import PLAYED
from client.tui.keys import fits
from client.tui.needs import Overlay, ScreenNode
from client.tui.next_rules import NextRules
from client.tui.noting import SHOWN, flash_of, logged, note, note_steps
from client.tui.orders import (
    Announce,
    Command,
    Leave,
    OtherClock,
    OtherOption,
    OtherRules,
    Rename,
    Stop,
    Store,
    Watch,
)
from client.tui.pages import last_scroll
from client.tui.phrases import text
from client.tui.render import draw
from client.tui.state import Look, Ui
from client.tui.terminal import Terminal
from client.tui.wording import here, here_error
from client.view import Stage, View, make_view
from engine.errors import Sentence, ShitheadError
from engine.rules import RuleSet
from p2p.rounds.news import News

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from client.standing_in import StandIn

FLASH_S: Final = 0.3
"""How long a burn is shown large; any key ends it sooner."""

RULE_PAGES: Final = frozenset({"rules", "options", "clocks"})
"""While one of them is open, rules are tried; when the last is left, the table is told what came of it."""

_REFUSALS: Final = frozenset({"no_bots", "no_stand_in", "nothing_asked"})


class ScreenClient:
    """A person, or with ``auto`` a watched bot, at a table on the full screen.

    ``node``: at the table already. ``rounds``: leave after so many finished rounds. ``seat_bots``: seats that
    many bots more. ``store``: keeps changed looks; ``store_name``: keeps a name for the next start, and returns
    the form that it is kept in. ``watch``: opens a saved round over the table; its last argument is to be called
    when its screen has changed. ``standing_in``: who plays while the person is away. ``is_back``: the person
    has sat here before. ``is_mono``: no colours at all. ``input``, ``output``: the process's terminal by default.
    ``clock``: seconds, for waits and guards; ``day``: the time of day shown in the log.
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
        store_name: Callable[[str], str] | None = None,
        watch: Callable[[Path, Look, Callable[[], None]], Awaitable[Overlay]] | None = None,
        standing_in: StandIn | None = None,
        is_back: bool = False,
        is_mono: bool = False,
        input: Input | None = None,  # noqa: A002 - the toolkit's word
        output: Output | None = None,
        clock: Callable[[], float] = time.monotonic,
        day: Callable[[], str] = lambda: time.strftime("%H:%M"),
    ) -> None:
        self._node = node
        self._auto = auto
        self._rounds = rounds
        self._is_back = is_back
        self._greeting = ""
        self._doer = Doer(node, auto=auto, seat_bots=seat_bots, standing_in=standing_in)
        self._store = store
        self._store_name = store_name
        self._watch = watch
        self._next_rules = NextRules(node)
        self._clock = clock
        self._day = day
        self._view = self._look()
        self._ui = Ui(
            look or Look(),
            can_seat_bots=seat_bots is not None,
            seats=node.seats,
            is_auto=auto,
            began=clock(),
            turn_since=clock(),
        )
        self._narrator = Narrator(self._ui.look.style, asks=False, say=here)
        self._commands: asyncio.Queue[Command] = asyncio.Queue()
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
        self._drawn = (self._view, self._ui)
        if self._overlay is not None:
            return self._overlay.rows(width, height)
        ui = replace(self._ui, clocks=self._clocks)
        return draw(self._view, ui, self._rules, self._node.seats, width, height)

    @property
    def _rules(self) -> RuleSet:
        rules = self._view.rules
        return rules if rules is not None and not self._chooses_next else self._node.rules

    @property
    def _clocks(self) -> Clocks:
        clocks = self._view.clocks
        return clocks if clocks is not None and not self._chooses_next else Clocks(*self._node.limits)

    @property
    def _chooses_next(self) -> bool:
        """Whether the next round is what matters: only the host knows and sets its rules; others see them when it
        is offered."""
        return self._view.i_host and self._view.stage in (Stage.OVER, Stage.LOBBY)

    def key(self, key: str) -> None:
        """A key was pressed, or something clicked."""
        if self._overlay is not None:
            if not self._overlay.key(key):
                self._overlay.close()
                self._overlay = None
            return
        if not fits(*self._size):
            self._ui, command = press_unseen(key, self._view, self._ui)
            if command is not None:
                self._commands.put_nowait(command)
            return
        if self._ui.page:
            end = last_scroll(self._view, self._ui, self._rules, *self._size)
            self._ui = replace(self._ui, scroll=min(self._ui.scroll, end))
        before = self._ui.page
        self._ui, command = press(key, self._view, self._ui, self._clock())
        if command is not None:
            self._commands.put_nowait(command)
        if before in RULE_PAGES and self._ui.page not in RULE_PAGES:
            self._commands.put_nowait(Announce())

    def paste(self, pasted: str) -> None:
        """Text was pasted."""
        if self._overlay is None and fits(*self._size):
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
                # The end of input is a terminal that has gone: nobody is there to be asked anything, so that a
                # round that goes on is not given up.
                with contextlib.suppress(EOFError):
                    task.result()
            self._leaves |= screen in done and not what_leaving_does(self._view)
        finally:
            unsubscribe()
            await self._stop([screen, *tasks])
        if self._leaves:
            view = self._look()
            await self._node.leave()
            self.last_words = render(said(bye_code(view)))
        return self._code

    async def _stop(self, tasks: list[asyncio.Task[None]]) -> None:
        if self._flash_timer is not None:
            self._flash_timer.cancel()
        if self._overlay is not None:
            self._overlay.close()
        self.terminal.stop()
        # The terminal gets its old state back before anything else happens. What the task has raised stays where
        # it is: raised once more here, it would forget where it came from.
        await asyncio.wait(tasks[:1])
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _welcome(self) -> None:
        from client.lines.show import LOOPBACK

        view = self._view
        self._greeting = self._first_words(view)
        self._ui = replace(self._ui, message=self._greeting)
        self._log(self._greeting)
        self._log(text("join_none") if all(a.startswith(LOOPBACK) for a in view.addresses) else "")
        if any(row.is_bot for row in view.players):
            self._log(text("bots_seen"))

    def _first_words(self, view: View) -> str:
        """Where somebody has come to, who is back or comes in the middle of a round; else empty."""
        goes_on = view.round is not None and view.stage not in (Stage.LOBBY, Stage.OVER)
        if goes_on and not view.in_round:
            return render(said("joins_next", round=view.round, players=view.roster), view.names)
        if not self._is_back:
            return ""
        code = "back_at" if goes_on else "back_between"
        if not any(row.present and row.link != "lost" for row in view.players if not row.is_me):
            code = "back_alone"
        return render(said(code, table=view.table, round=view.round or 0))

    async def _wait_gone(self) -> None:
        await self._node.gone.wait()
        why = self._node.gone_why
        if why in ("closed", ""):
            self.last_words = render(said("closed"))
        else:
            self._code = EXIT_REFUSED
            problem = self._node.gone_problem
            lines = render_error(problem) if problem is not None else ()
            self.last_words = " ".join(
                (render(said({"kicked": "kicked", "replaced": "lost_seat"}.get(why, "failed"))), *lines)
            )

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
        if self._greeting and self._ui.message == self._greeting:
            # While it stands there it stays true: the others have been found, the round is over.
            self._greeting = self._first_words(self._view)
            self._ui = replace(self._ui, message=self._greeting)
        for item in news:
            self._count(item)
            self._guide_is_over(item)
            self._ui = note(item, self._view, self._ui, now, self._day())
            self._flash(item)
        told = tuple(item for item in news if item.name not in SHOWN)
        for line in self._narrator.tell(told, before, self._view):
            self._log(line)
        self._ui = note_steps(self._view, follow(before, self._view, self._ui, now), now)
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
            self.terminal.refresh()

    def _count(self, item: News) -> None:
        """What one piece of news means for how long this client stays."""
        if item.name == "over":
            self._finished += item.values.get("result") in PLAYED
            if item.values.get("result") == "faulted":
                self._code = EXIT_FAULT
        if item.name in ("verdict", "unsaved") and self._rounds is not None and self._finished >= self._rounds:
            self._commands.put_nowait(Leave())

    def _guide_is_over(self, item: News) -> None:
        """The guide is for one round: once that is played it is not shown at the next start."""
        if item.name != "over" or item.values.get("result") not in PLAYED:
            return
        if not self._ui.look.guide or self._view.my_seat is None:
            return
        self._commands.put_nowait(Store(replace(self._ui.look, guide=False)))

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

    def _log(self, line: str) -> None:
        self._ui = logged(self._ui, self._view, line, self._day())

    # -- commands ----------------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Does one command after the other until one of them leaves the table."""
        while True:
            command = await self._commands.get()
            if isinstance(command, Leave | Stop):
                # Who stops keeps the seat: whoever runs this client says how to come back to it.
                self._leaves = isinstance(command, Leave)
                return
            try:
                await self._do(command)
            except ShitheadError as error:
                code = text("not_saved") if isinstance(command, Store) else ""
                told = code or here_error(error, self._view.names, self._ui.look.style)
                if error.code == "stale":
                    told = render(said("stale"))
                self._ui = replace(self._ui, message=told, is_warning=True)
            self._ui = replace(self._ui, busy="")
            self._refresh()

    async def _do(self, command: Command) -> None:
        match command:
            case Store(look=look):
                self._narrator.set_style(look.style)
                if self._store is not None:
                    await asyncio.to_thread(self._store, look)
            case Rename(name=name):
                await self._rename(name)
            case OtherRules(step=step):
                self._say(self._next_rules.take_preset(step, self._seated))
            case OtherOption(option=option, step=step):
                self._say(self._next_rules.take_option(option, step, self._seated))
            case OtherClock(clock=clock, step=step):
                self._say(self._next_rules.take_clock(clock, step))
            case Announce():
                await self._next_rules.announce()
            case Watch():
                await self._open_replay()
            case Leave() | Stop():
                pass
            case _:
                told = await self._doer.do(command, self._view, self._ui.look.style)
                self._ui = replace(self._ui, is_away=self._doer.is_away)
                if told is not None:
                    self._answer(told)

    async def _rename(self, name: str) -> None:
        """Keeps a name for the next start. Raises what the name is no good for."""
        if self._store_name is not None:
            kept = await asyncio.to_thread(self._store_name, name)
            self._ui = replace(self._ui, message=text("name_kept", name=kept, now=self._view.my_name))

    @property
    def _seated(self) -> int:
        return max(2, len(self._view.players))

    def _say(self, told: str) -> None:
        self._ui = replace(self._ui, message=told, is_warning=False)

    def _answer(self, told: Sentence) -> None:
        """Says what came of an order, in the words of the screen where it has its own."""
        words = here(told, self._view.names, self._ui.look.style)
        self._ui = replace(self._ui, message=words, is_warning=told.code in _REFUSALS)

    def stood_in(self, why: str) -> None:
        """Tells the person that their program plays for them now; ``why``: see ``client.standing_in``."""
        if why != AWAY:
            # Of being away it is told on the message lines as long as it lasts.
            words = render(said(f"stood_in_{why}"))
            self._log(words)
            self._ui = replace(self._ui, message=words, is_warning=True)
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


__all__ = ["Overlay", "ScreenClient", "ScreenNode"]

"""The line mode at a table: joins the narrator, the interpreter and a node."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final, TextIO

from client.cards import Style, style_for
from client.clocks import Clocks
from client.doing import Doer, TableNode
from client.howto import how_to_play
from client.leaving import bye_code, what_leaving_does
from client.lines.interpret import interpret
from client.lines.narrate import Narrator
from client.lines.show import (
    all_choice_lines,
    choice_lines,
    clock_lines,
    hand_lines,
    help_lines,
    rules_lines,
    score_lines,
    table_lines,
    turn_lines,
    welcome_lines,
)
from client.lines.source import LineSource
from client.orders import Answer, Command, Explain, Mute, Problem, Quit, Show, Void
from client.phrases import said
from client.sentences import render, render_error
from client.standing_in import AWAY, StandIn
from client.texts import PHRASES
from client.view import Stage, make_view
from engine.errors import Sentence, ShitheadError
from engine.rules import RuleSet
from p2p.rounds.news import News

EXIT_GOOD: Final = 0
EXIT_FAULT: Final = 1
"""A round ended with a fault."""
EXIT_REFUSED: Final = 3
"""The table or the network said no."""

_FINISHED: Final = frozenset({"finished", "stalled"})
"""Endings that count for a number of rounds that was asked for."""


class _Typed:
    """A line that was typed; ``text`` None at the end of input. ``done`` when it has been dealt with."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.done = asyncio.Event()


class _Gone:
    """The node is no longer at the table."""


class _Stop(Exception):
    """Raised where the client ends and the seat in the round is kept."""


class _Leave(Exception):
    """Raised by a command that ends the client."""


class LineClient:
    """A person, or with ``auto`` a watched bot, at a table in append-only lines.

    ``node``: at the table already. ``out``: where lines go. ``lines``: where they come from (None: from
    nowhere). ``ascii_only``: letters for suits whatever the output can show. ``auto``: the seat is played by
    somebody else (a ``BotPlayer``); nothing is asked and the end of input is not the end. ``interactive``:
    a person sits there; without one ``quit`` asks nothing. ``rounds``: leave after so many finished rounds.
    ``seat_bots``: seats that many bots more, for the command ``bots``. ``standing_in``: who plays while the person
    is ``away``.
    """

    def __init__(
        self,
        node: TableNode,
        out: TextIO,
        lines: LineSource | None,
        *,
        ascii_only: bool = False,
        auto: bool = False,
        interactive: bool = True,
        rounds: int | None = None,
        seat_bots: Callable[[int], Awaitable[None]] | None = None,
        standing_in: StandIn | None = None,
    ) -> None:
        self._node = node
        self._out = out
        self._lines = lines
        self._auto = auto
        self._interactive = interactive
        self._rounds = rounds
        self._doer = Doer(node, auto=auto, seat_bots=seat_bots, standing_in=standing_in)
        self._muted: frozenset[bytes] = frozenset()
        self._style: Style = style_for(getattr(out, "encoding", None) or "utf-8", ascii_only)
        self._narrator = Narrator(self._style, asks=not auto)
        self._inbox: asyncio.Queue[tuple[News, ...] | _Typed | _Gone] = asyncio.Queue()
        self._view = make_view(node.snapshot)
        self._shown: object = None
        self._asks_quit: str | None = None
        self._finished = 0
        self._faulted = False

    last_words: Final = ""
    """Nothing is left to be said after the last line; see ``client.tui.client``."""

    async def run(self) -> int:
        """Plays until this peer leaves or the table ends; the exit code.

        0: good; 1: a round ended with a fault; 3: sent away, or the table cannot go on. Cancelling it stops at
        once, without leaving: whoever cancels closes the node.
        """
        unsubscribe = self._node.subscribe(self._inbox.put_nowait)
        tasks = [asyncio.create_task(self._wait_gone(), name="gone")]
        if self._lines is not None:
            tasks.append(asyncio.create_task(self._read(self._lines), name="typed"))
        try:
            return await self._run()
        finally:
            unsubscribe()
            if self._lines is not None:
                self._lines.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self) -> int:
        # The table may have moved on since this client was made.
        self._view = make_view(self._node.snapshot)
        self._print(welcome_lines(self._view, self._style))
        self._prompt()
        while True:
            item = await self._inbox.get()
            try:
                match item:
                    case _Gone():
                        return self._say_gone()
                    case _Typed():
                        await self._typed(item.text)
                        item.done.set()
                    case news:
                        self._tell(self._with_following(news))
            except _Stop:
                return EXIT_GOOD
            except (_Leave, BrokenPipeError):
                return await self._go()

    async def _go(self) -> int:
        view = make_view(self._node.snapshot)
        await self._node.leave()
        with contextlib.suppress(OSError):
            self._say(bye_code(view))
        return EXIT_FAULT if self._faulted else EXIT_GOOD

    async def _read(self, lines: LineSource) -> None:
        while True:
            typed = _Typed(await lines.read())
            self._inbox.put_nowait(typed)
            await typed.done.wait()
            if typed.text is None:
                return

    async def _wait_gone(self) -> None:
        await self._node.gone.wait()
        self._inbox.put_nowait(_Gone())

    # -- what happens --------------------------------------------------------------------------------

    def _with_following(self, news: tuple[News, ...]) -> tuple[News, ...]:
        """``news`` and those that wait right behind it: the snapshot shows them all already."""
        found = list(news)
        kept: list[tuple[News, ...] | _Typed | _Gone] = []
        while not self._inbox.empty():
            item = self._inbox.get_nowait()
            if isinstance(item, tuple) and not kept:
                found.extend(item)
            else:
                kept.append(item)
        for item in kept:
            self._inbox.put_nowait(item)
        return tuple(found)

    def _tell(self, news: tuple[News, ...]) -> None:
        before, self._view = self._view, make_view(self._node.snapshot)
        heard = [item for item in news if item.name != "said" or item.values.get("player") not in self._muted]
        self._print(self._narrator.tell(heard, before, self._view))
        self._prompt()
        for item in news:
            if item.name == "over":
                self._finished += item.values.get("result") in _FINISHED
                self._faulted |= item.values.get("result") == "faulted"
                self._asks_quit = None
            # A round is done with when its file has been judged, or could not be written.
            done = item.name in ("verdict", "unsaved")
            if done and self._rounds is not None and self._finished >= self._rounds:
                self._say("rounds_done")
                raise _Leave

    def _prompt(self) -> None:
        """Shows what can be done now, once for each state of it."""
        view = self._view
        if self._auto:
            return
        offered = tuple((choice.kind, choice.key, choice.move) for choice in view.choices)
        turn = (view.stage, view.stamp if view.stage is Stage.PLAY else b"", view.own) if view.my_turn else ()
        shown = (view.my_turn, turn, offered)
        if shown == self._shown:
            return
        self._shown = shown
        if view.my_turn:
            self._print(turn_lines(view, self._style))
        else:
            self._print(choice_lines(view, self._style))

    def _say_gone(self) -> int:
        with contextlib.suppress(OSError):
            match self._node.gone_why:
                case "kicked":
                    self._say("kicked")
                case "replaced":
                    self._say("lost_seat")
                case "closed" | "":
                    self._say("closed")
                case _:
                    self._say("failed")
                    if self._node.gone_problem is not None:
                        self._print(list(render_error(self._node.gone_problem, self._view.names, self._style)))
        if self._node.gone_why not in ("closed", ""):
            return EXIT_REFUSED
        return EXIT_FAULT if self._faulted else EXIT_GOOD

    # -- what is typed -------------------------------------------------------------------------------

    async def _typed(self, text: str | None) -> None:
        if text is None:
            if self._auto:
                return
            if self._interactive and what_leaving_does(self._view):
                # Ctrl-D, or the terminal has gone: nobody can be asked whether to lose the round.
                raise _Stop
            raise _Leave
        meaning = interpret(self._view, text)
        if self._asks_quit is not None and not isinstance(meaning, Answer | Void):
            # Whoever has missed the question would wonder why nothing happens.
            self._ask_quit(self._asks_quit)
            return
        if isinstance(meaning, Problem):
            self._sentence(meaning.sentence)
            return
        try:
            await self._do(meaning)
        except ShitheadError as error:
            if error.code == "stale":
                self._say("stale")
                self._shown = None
                self._prompt()
            else:
                self._print(list(render_error(error, self._view.names, self._style)))

    async def _do(self, command: Command) -> None:
        match command:
            case Answer(yes=yes) if self._asks_quit is not None:
                self._answer_quit(yes)
            case Mute(keys=keys, is_muted=is_muted):
                self._mute(keys, is_muted)
            case Show(what=what):
                self._show(what)
            case Explain(sentence=sentence):
                self._sentence(sentence)
            case Quit():
                self._quit()
            case _:
                told = await self._doer.do(command, self._view, self._style)
                if told is not None:
                    self._sentence(told)

    def _answer_quit(self, yes: bool) -> None:
        asked, self._asks_quit = self._asks_quit, None
        does = what_leaving_does(self._view)
        if not yes:
            self._say("quit_stays")
        elif does in ("", asked):
            raise _Leave
        else:
            # The cards have been dealt meanwhile, or the other is back: that was not what the yes was for.
            self._ask_quit(does)

    def _mute(self, keys: frozenset[bytes], is_muted: bool) -> None:
        self._muted = self._muted | keys if is_muted else self._muted - keys
        names = tuple(row.name for row in self._view.players if row.key in keys)
        self._say("muted" if is_muted else "unmuted", names=names)

    def stood_in(self, why: str) -> None:
        """Tells the person that their program plays for them now; ``why``: see ``client.standing_in``."""
        if why != AWAY:
            # Of being away it has been told when it began; every move of it is told as all moves are.
            self._say(f"stood_in_{why}")

    def _quit(self) -> None:
        does = what_leaving_does(self._view)
        if not self._interactive or not does:
            raise _Leave
        self._ask_quit(does)

    def _ask_quit(self, does: str) -> None:
        self._asks_quit = does
        self._say(f"quit_{does}", players=len(self._view.roster))
        self._say("quit_keep")

    def _show(self, what: str) -> None:
        view, style = self._view, self._style
        match what:
            case "table":
                self._print(table_lines(view, style))
            case "score":
                self._print(score_lines(view, style))
            case "hand":
                self._print(hand_lines(view, style))
            case "how":
                self._print([f"  {line}" for line in how_to_play(self._rules)])
            case "rules" if view.rules is None and not view.i_host:
                # What this program would offer itself says nothing about this table.
                self._say("rules_unknown", host=view.host)
            case "rules":
                self._print(rules_lines(self._rules, max(2, len(view.players))) + clock_lines(self._clocks))
            case "clock" if view.clocks is None and not view.i_host:
                self._say("rules_unknown", host=view.host)
            case "clock":
                self._print(clock_lines(self._clocks))
            case "choices":
                self._print(all_choice_lines(view, style))
            case "phrases":
                self._print([f"  #{number} {words}" for number, words in enumerate(PHRASES, start=1)])
            case "help":
                self._print(help_lines(view))
            case _:
                self._print(turn_lines(view, style))

    @property
    def _rules(self) -> RuleSet:
        """Those in force, or of the next round."""
        view = self._view
        return view.rules if view.rules is not None and view.stage is not Stage.OVER else self._node.rules

    @property
    def _clocks(self) -> Clocks:
        view = self._view
        if view.clocks is not None and view.stage is not Stage.OVER:
            return view.clocks
        return Clocks(*self._node.limits)

    # -- output --------------------------------------------------------------------------------------

    def _say(self, code: str, **values: object) -> None:
        self._sentence(said(code, **values))

    def _sentence(self, sentence: Sentence) -> None:
        self._print([render(sentence, self._view.names, self._style)])

    def _print(self, lines: list[str]) -> None:
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        for line in lines:
            # A name may hold letters that this output has not.
            self._out.write(line.encode(encoding, "replace").decode(encoding) + "\n")
        if lines:
            self._out.flush()

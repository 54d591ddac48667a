"""The full screen as a person has it: keys and clicks in, screens out, tables of peers behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from client.cards import Style
from client.standing_in import StandIn
from client.tui.cells import Row, Span, row
from client.tui.client import ScreenClient
from client.tui.control import ENTER_GUARD_S
from client.tui.hand import key_of, pickable
from client.tui.options import SHOWN
from client.tui.orders import Watch
from client.tui.state import Look
from client.view import Stage
from engine.cards import card_text
from engine.moves import Play
from engine.rules import RuleSet
from engine.state import Zone
from p2p.feeds.identity import check_name
from p2p.rounds.news import News
from p2p.rounds.snapshot import Knocking, LinkView
from tests.client.nodes import House, MemoryNode
from tests.client.positions import key_of as key_for_name
from tests.client.tui.desk import LIMIT_S, Desk, desk
from tests.client.tui.test_properties import faces_in


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float = 1.0) -> None:
        self.now += seconds


class Seated:
    """A person at a node with a terminal in memory."""

    def __init__(self, at: Desk, client: ScreenClient, clock: Clock, node: MemoryNode) -> None:
        self.at, self.client, self.clock, self.node = at, client, clock, node
        self.task = asyncio.create_task(client.run())
        at.task = self.task

    async def code(self) -> int:
        async with asyncio.timeout(LIMIT_S):
            return await self.task


@asynccontextmanager
async def seated(node: MemoryNode, width: int = 80, height: int = 24, **options: Any) -> AsyncIterator[Seated]:
    clock = Clock()
    async with desk(width, height) as (at, ends):
        options.setdefault("look", Look(motion=False))
        client = ScreenClient(node, clock=clock, day=lambda: "20:14", **options, **ends)  # type: ignore[arg-type]
        at.client = client
        person = Seated(at, client, clock, node)
        try:
            await at.shows("SHITHEAD")
            yield person
        finally:
            person.task.cancel()
            await asyncio.gather(person.task, return_exceptions=True)


async def test_a_whole_round_by_keys() -> None:
    house = House("Ana", "Bogdan", seed=3)
    known: set[str] = set()

    def check_faces() -> None:
        """The screen and all of the log hold no face that this player has not been shown."""
        peer = house.table.peers[0]
        state = peer.session.own_state(peer.round) if peer.round is not None else None
        if state is not None:
            # Faces whose shares have come to this player, and to no other player alone.
            known.update(card_text(face, 1) for face in state.faces if face >= 0)
        log = "\n".join(entry.text for entry in ana.client.ui.log)
        assert faces_in(f"{ana.at.text}\n{log}") <= known

    async with seated(house.nodes[0], look=Look(motion=False, style=Style(ascii=True))) as ana:
        await ana.at.shows("Enter starts a round")
        ana.at.press("enter")
        await ana.at.shows("Exchange:")
        ana.clock.forward()
        ana.at.press("enter")
        await ana.at.shows("You are ready")
        other = house.table.peers[1]
        for _ in range(1000):
            view = ana.client.view
            if view.stage is Stage.OVER:
                break
            check_faces()
            if view.my_turn:
                ana.clock.forward()
                await _one_move(ana)
            else:
                assert house.table.move(other) or view.stage is not Stage.PLAY
                house.settle()
                await asyncio.sleep(0)
        await ana.at.shows("WAS IT FAIR?")
        assert ana.client.view.ending is not None
        shithead = ana.client.view.ending.shithead
        assert len(known) > 20
        said = "YOU ARE THE SHITHEAD" if shithead == "Ana" else "Bogdan IS THE SHITHEAD"
        await ana.at.shows(said)


async def _one_move(ana: Seated) -> None:
    """Plays what is lowest, picks up, or flips: always by keys."""
    view, before = ana.client.view, ana.client.view.stamp
    if view.zone is Zone.DOWNCARDS:
        flip = view.choices[0]
        ana.at.press(str(flip.slot), "enter")
    else:
        plays = [choice for choice in view.choices if isinstance(choice.move, Play)]
        if plays:
            rank = plays[0].cards[0][0]
            card = next(card for card in pickable(view, ana.client.ui.look) if card.rank == rank)
            ana.at.press(key_of(card.rank).lower(), "enter")
        else:
            ana.at.press("p")
    await ana.at.until(lambda: ana.client.view.stamp != before, "the move")


async def test_a_round_that_is_offered_is_accepted_with_enter() -> None:
    house = House("Ana", "Bogdan", asked=("Bogdan",))
    house.nodes[1].peer.session.sits_ready = False
    async with seated(house.nodes[1]) as bogdan:
        await house.nodes[0].offer_round()
        await bogdan.at.shows("do you play?")
        bogdan.at.press("enter")
        await bogdan.at.shows("has just been offered")
        bogdan.clock.forward()
        bogdan.at.press("enter")
        await bogdan.at.shows("Exchange:")


async def test_clicks_do_what_keys_do() -> None:
    house = House("Ana", "Bogdan", seed=3)
    async with seated(house.nodes[0]) as ana:
        await ana.at.shows("Enter start")
        ana.at.click("Enter start")
        await ana.at.shows("Exchange:")
        view = ana.client.view
        card = pickable(view, ana.client.ui.look)[0]
        ana.at.click(f"   {key_of(card.rank)}")
        ana.at.click("rules")
        await ana.at.shows("RULES IN FORCE")
        ana.at.click("Esc back")
        await ana.at.lacks("RULES OF THE NEXT ROUND")


async def test_enter_right_after_the_turn_has_come_does_nothing() -> None:
    house = House("Ana", "Bogdan", seed=3)
    async with seated(house.nodes[0]) as ana:
        ana.at.press("enter")
        await ana.at.shows("Exchange:")
        ana.clock.forward(ENTER_GUARD_S / 2)
        ana.at.press("enter")
        await ana.at.shows("only just come")
        assert ana.client.view.my_turn
        ana.clock.forward(ENTER_GUARD_S)
        ana.at.press("enter")
        await ana.at.until(lambda: not ana.client.view.my_turn)


async def test_talk_is_typed_and_a_queen_is_only_a_letter_there() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.at.press("c", *"Quite", "backspace", *"e so", "enter")
        await ana.at.shows("Ana> Quite so")
        ana.at.press("c", *"no", "esc")
        await ana.at.lacks("say>")
        assert "Ana> no" not in ana.at.text


async def test_a_late_answer_of_the_terminal_is_no_key() -> None:
    # Who asks how wide a suit is waits for a fifth of a second; a slow line answers later.
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.at.pipe.send_text("\x1b[12;2R")
        ana.at.press("?")
        await ana.at.shows("HELP")
        assert ana.client.ui.message == ""
        ana.at.press("backspace")
        await ana.at.shows("Enter start")
        assert "does nothing here" not in ana.at.text


async def test_lists_are_clicked_too() -> None:
    kept: list[Look] = []
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0], store=kept.append) as ana:
        ana.at.press("e")
        await ana.at.shows("SETTINGS")
        ana.at.click("bell on my turn")
        await ana.at.until(lambda: bool(kept), "settings")
        assert not kept[-1].sound
        ana.at.press("m")
        await ana.at.shows("WHOSE TALK IS HIDDEN")
        ana.at.click("Bogdan")
        await ana.at.until(lambda: bool(ana.client.ui.muted), "muting")
        assert ana.client.ui.muted == {house.nodes[1].key}
        ana.at.press("r", "o")
        await ana.at.shows("THE OPTIONS OF THE RULES")
        ana.at.click("blind_pick_up")
        await ana.at.until(lambda: ana.node.rules.blind_pick_up, "the option")


async def test_pasted_text_is_not_taken_for_keys() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.at.pipe.send_text("\x1b[200~\rhello\r\x1b[201~")
        await ana.at.shows("Pasted text")
        assert ana.client.view.stage is Stage.LOBBY
        ana.at.press("c")
        ana.at.pipe.send_text("\x1b[200~two\nlines\x1b[201~")
        await ana.at.shows("say> two lines")


async def test_leaving_asks_and_restores_the_terminal() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.at.press("ctrl-c")
        await ana.at.shows("Leave the table?")
        ana.at.press("n")
        await ana.at.lacks("Leave the table?")
        ana.at.press("ctrl-c", "y")
        assert await ana.code() == 0
        assert ana.node.left
        assert ana.client.last_words == "You have left the table."
        assert_restored(ana.at)


async def test_who_stops_in_a_round_leaves_neither_it_nor_the_table() -> None:
    house = House("Ana", "Bogdan", seed=3)
    async with seated(house.nodes[0]) as ana:
        ana.at.press("enter")
        await ana.at.shows("Exchange:")
        ana.at.press("ctrl-c")
        await ana.at.shows("Leave?")
        await ana.at.shows("your seat is kept.")
        ana.at.press("k")
        assert await ana.code() == 0
        assert not ana.node.left
        assert ana.client.last_words == ""
        assert_restored(ana.at)


def assert_restored(at: Desk) -> None:
    assert at.tube.raw.rindex("\x1b[?1049l") > at.tube.raw.rindex("\x1b[?1049h")
    assert "\x1b[?1000h" not in at.tube.raw or at.tube.raw.rindex("\x1b[?1000l") > at.tube.raw.rindex(
        "\x1b[?1000h"
    )
    assert at.tube.raw.rindex("\x1b[?25h") > at.tube.raw.rindex("\x1b[?1049h")


async def test_a_stopped_client_restores_the_terminal() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.task.cancel()
        await asyncio.gather(ana.task, return_exceptions=True)
        assert_restored(ana.at)
        assert not ana.node.left
        assert ana.node.listeners == 0


async def test_a_crash_in_drawing_restores_the_terminal_and_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:

        def broken(*values: object) -> None:
            raise RuntimeError("no pen")

        monkeypatch.setattr("client.tui.client.draw", broken)
        ana.at.press("?")
        with pytest.raises(RuntimeError, match="no pen"):
            await ana.code()
        assert_restored(ana.at)


async def test_the_end_of_input_is_leaving() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.at.pipe.close()
        assert await ana.code() == 0
        assert ana.node.left
        assert_restored(ana.at)


async def test_the_end_of_input_in_a_round_keeps_the_seat() -> None:
    house = House("Ana", "Bogdan", seed=3)
    async with seated(house.nodes[0]) as ana:
        ana.at.press("enter")
        await ana.at.shows("Exchange:")
        ana.at.pipe.close()
        assert await ana.code() == 0
        assert not ana.node.left
        assert_restored(ana.at)


async def test_being_sent_away_is_said_afterwards() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[1]) as bogdan:
        bogdan.node.gone_why = "kicked"
        bogdan.node.gone.set()
        assert await bogdan.code() == 3
        assert "sent you away" in bogdan.client.last_words


async def test_any_size_at_any_moment() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        for width, height in ((60, 16), (59, 16), (10, 3), (120, 40), (1, 1), (80, 24)):
            ana.at.resize(width, height)
            wanted = "before a round" if width >= 60 else "T"
            await ana.at.shows(wanted)


async def test_who_knocks_is_let_in_with_plus() -> None:
    house = House("Ana", "Bogdan")
    node = house.nodes[0]
    async with seated(node) as ana:
        node.door = (Knocking(key_for_name("Emil"), "Emil", b"", "192.0.2.9:1"),)
        node.tell()
        await ana.at.shows("Emil is at the door: +")
        ana.at.press("+")
        ana.at.press("-", "?")
        await ana.at.shows("HELP")
        assert node.done == [("admit", key_for_name("Emil")), ("refuse", key_for_name("Emil"))]


async def test_the_own_link_that_is_lost_is_said_at_once() -> None:
    house = House("Ana", "Bogdan")
    node = house.nodes[0]
    async with seated(node) as ana:
        node.links = {house.nodes[1].key: LinkView("lost")}
        node.tell()
        await ana.at.shows("your own link is lost, or the others'")
        await ana.at.shows("LOST")


async def test_nothing_is_written_while_nothing_changes() -> None:
    house = House("Ana", "Bogdan")
    node = house.nodes[0]
    async with seated(node) as ana:
        await ana.at.shows("Enter start")
        pages = {"?": "HELP", "l": "LOG AND TALK", "e": "SETTINGS", "backspace": "Enter start"}
        for key, heading in pages.items():
            ana.at.press(key)
            await ana.at.shows(heading)
            await ana.at.quiet()
            before = ana.at.tube.raw
            for _ in range(5):
                node.tell()
                await ana.at.quiet()
            assert ana.at.tube.raw == before


async def test_a_key_that_does_nothing_writes_its_reason_and_no_whole_screen() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        await ana.at.shows("Enter start")
        await ana.at.quiet()
        before = len(ana.at.tube.raw)
        ana.at.press("y")
        await ana.at.shows("y does nothing here")
        # 80 x 24 cells are 1,920 characters; what has changed is one line.
        assert len(ana.at.tube.raw) - before < 400


async def test_a_bot_in_my_seat_leaves_me_looking_and_talking() -> None:
    house = House("Ana", "Bogdan", seed=3)
    async with seated(house.nodes[0], auto=True) as ana:
        await house.nodes[0].offer_round()
        await ana.at.shows("A bot plays your seat")
        ana.at.press("enter")
        await ana.at.shows("A bot plays your seat")
        assert not house.table.peers[0].round.everything().first("ready", 0)


async def test_settings_are_changed_and_kept() -> None:
    kept: list[Look] = []
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0], store=kept.append) as ana:
        ana.at.press("e")
        await ana.at.shows("SETTINGS")
        await ana.at.shows("2♣")
        ana.at.press("right")
        await ana.at.shows("2c")
        ana.at.press("down", "down", "right", "esc")
        await ana.at.lacks("SETTINGS")
        assert [look.style.ascii for look in kept] == [True, True]
        assert kept[-1].theme == "light"


async def test_a_name_is_kept_for_the_next_start() -> None:
    kept: list[str] = []

    def keep(name: str) -> str:
        kept.append(check_name(name))
        return kept[-1]

    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0], store_name=keep) as ana:
        ana.at.press("e", "up", "enter", *"Anna", "enter")
        await ana.at.shows("From the next start on you are Anna. At this table you stay Ana.")
        assert kept == ["Anna"]
        ana.at.press("enter", *("a" * 40), "enter")
        await ana.at.shows("A name has at most")
        ana.at.press("enter", "x", "esc")
        await ana.at.lacks("name>")
        assert kept == ["Anna"]
        # Nothing of it was said to the table.
        assert not any(entry.kind == "chat" for entry in ana.client.ui.log)


async def test_the_host_takes_other_rules_between_rounds() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.at.press("r", "right")
        await ana.at.shows("played by the rules")
        assert ana.node.rules != RuleSet()
        ana.at.press("left", "esc")
        await ana.at.lacks("RULES OF THE NEXT ROUND")
        assert ana.node.rules == RuleSet()
        # Nothing has come of it, so nobody is told anything.
        assert not any(entry.kind == "chat" for entry in ana.client.ui.log)
    async with seated(house.nodes[1]) as bogdan:
        bogdan.at.press("r", "right")
        await bogdan.at.shows("Ana can take other rules")


async def test_single_options_are_changed_and_told_when_the_page_is_left() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.at.press("r", "o")
        await ana.at.shows("THE OPTIONS OF THE RULES")
        row = SHOWN.index("burn_run")
        ana.at.press(*["down"] * row, "right")
        await ana.at.shows("< 5 >")
        assert ana.node.rules == RuleSet(burn_run=5)
        assert not any(entry.kind == "chat" for entry in ana.client.ui.log)
        ana.at.press("esc")
        await ana.at.shows("rules of your own")
        ana.at.press("esc")
        await ana.at.shows("Ana> The next round is played")
        assert ana.client.ui.log[-1].text == "Ana> The next round is played with burn_run=5."


async def test_the_guide_is_shown_once_in_a_life() -> None:
    kept: list[Look] = []
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0], look=Look(motion=False, guide=True), store=kept.append) as ana:
        await ana.at.shows("GUIDE (E, Enter: off)")
        ana.at.press("enter")
        await ana.at.shows("Exchange:")
        house.nodes[0].tell(News("over", {"result": "unfinished", "round": 1}))
        house.nodes[0].tell(News("over", {"result": "finished", "round": 1}))
        await ana.at.until(lambda: bool(kept), "settings")
        assert kept == [Look(motion=False, guide=False)]


async def test_away_lets_my_program_play_until_i_am_back() -> None:
    house = House("Ana", "Bogdan", seed=3)
    node = house.nodes[0]
    standing_in = StandIn(node, lambda why: None, Random(1))
    async with seated(node, standing_in=standing_in) as ana:
        running = asyncio.create_task(standing_in.run())
        try:
            ana.at.press("enter")
            await ana.at.shows("Exchange:")
            ana.at.press("z")
            await ana.at.until(lambda: not ana.client.view.my_turn, "being ready")
            assert standing_in.is_away
            ana.at.press("z")
            await ana.at.shows("You play yourself again")
            assert not standing_in.is_away
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


class Watched:
    """An overlay that says what is done with it."""

    def __init__(self) -> None:
        self.closed = False

    def rows(self, width: int, height: int) -> list[Row]:
        return [row(width, Span("WATCHED AGAIN"))]

    def key(self, key: str) -> bool:
        return key != "q"

    def close(self) -> None:
        self.closed = True


async def test_a_replay_lies_over_the_table_until_the_table_needs_me() -> None:
    house = House("Ana", "Bogdan", seed=3)
    node = house.nodes[0]
    overlays: list[Watched] = []

    async def watch(path: Path, look: Look, changed: object) -> Watched:
        overlays.append(Watched())
        return overlays[-1]

    async with seated(node, watch=watch) as ana:
        ana.client._commands.put_nowait(Watch())
        await ana.at.shows("is not saved yet")
        node.last_round_file = Path("some.round")
        for number in range(2):
            ana.client._commands.put_nowait(Watch())
            await ana.at.shows("WATCHED AGAIN")
            if number == 0:
                ana.at.press("7", "q")
            else:
                await node.offer_round()
            await ana.at.lacks("WATCHED AGAIN")
        assert [overlay.closed for overlay in overlays] == [True, True]
        await ana.at.shows("Exchange:")


async def test_a_move_while_i_am_away_needs_no_line_of_its_own() -> None:
    # The message lines say it as long as it lasts; a move because time was up is told.
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        before = ana.client.ui.log
        ana.client.stood_in("away")
        assert ana.client.ui.log == before
        ana.client.stood_in("time_up")
        assert ana.client.ui.log[-1].text == "Your time is up, so your program plays this one for you."


async def test_who_knocks_is_in_the_log() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        house.nodes[0].tell(News("knocked", {"name": "Kim", "address": "192.0.2.9:47101"}))
        assert ana.client.ui.log[-1].text == "Kim is at the door."

"""The line mode at tables in memory: whole rounds by typed commands, mistakes and all."""

from __future__ import annotations

import asyncio
import io
import os
import re
import threading
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from client.bots import BotPlayer, Level, next_move
from client.lines import LineClient, StreamLines
from engine.cards import card_text, rank_text
from engine.errors import Sentence, ShitheadError
from engine.moves import Flip, PickUp, Play, PlayerMove, Ready, Swap
from engine.rules import RuleSet
from p2p.errors import NetworkProblem
from p2p.rounds.audit import NO_CHECKS, Verdict
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import Knocking, LinkView, Snapshot
from tests.client.nodes import House, MemoryNode
from tests.client.positions import key_of

LIMIT_S = 120
"""No test waits for as long; it ends one that would never end."""


class Screen(io.StringIO):
    """What has been written, and a way to wait until a line appears."""

    encoding = "utf-8"  # type: ignore[assignment]

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self.encoding = encoding  # type: ignore[misc]
        self._waiting: list[tuple[str, int, asyncio.Future[None]]] = []

    def write(self, text: str) -> int:
        written = super().write(text)
        for part, start, future in self._waiting:
            if part in self.getvalue()[start:] and not future.done():
                future.set_result(None)
        return written

    async def shows(self, part: str, start: int = 0) -> None:
        """Waits until ``part`` has been written, from character ``start`` on."""
        if part in self.getvalue()[start:]:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((part, start, future))
        try:
            async with asyncio.timeout(LIMIT_S):
                await future
        except TimeoutError:
            raise AssertionError(f"{part!r} does not appear in:\n{self.getvalue()[-2000:]}") from None

    @property
    def lines(self) -> list[str]:
        return self.getvalue().splitlines()


class Keyboard:
    """Lines as a test types them."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self.closed = False
        self.idle = asyncio.Event()

    def type(self, *lines: str | None) -> None:
        self.idle.clear()
        for line in lines:
            self._lines.put_nowait(line)

    async def read(self) -> str | None:
        if self._lines.empty():
            # The next line is asked for when the one before has been dealt with.
            self.idle.set()
        return await self._lines.get()

    def close(self) -> None:
        self.closed = True


class Sitting:
    """A person with screen and keyboard at a node."""

    def __init__(
        self,
        node: MemoryNode,
        *,
        auto: bool = False,
        interactive: bool = True,
        rounds: int | None = None,
        seat_bots: Callable[[int], Awaitable[None]] | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self.node = node
        self.screen = Screen(encoding)
        self.keyboard = Keyboard()
        self.client = LineClient(
            node,
            self.screen,
            self.keyboard,
            auto=auto,
            interactive=interactive,
            rounds=rounds,
            seat_bots=seat_bots,
        )
        self.task = asyncio.get_running_loop().create_task(self.client.run())

    async def says(self, line: str, answer: str) -> None:
        """Types a line and waits for the answer."""
        start = len(self.screen.getvalue())
        self.keyboard.type(line)
        await self.screen.shows(answer, start)

    async def enter(self, line: str) -> str:
        """Types a line and waits until it has been dealt with; what was written meanwhile."""
        start = len(self.screen.getvalue())
        self.keyboard.type(line)
        async with asyncio.timeout(LIMIT_S):
            await self.keyboard.idle.wait()
        return self.screen.getvalue()[start:]

    async def code(self) -> int:
        async with asyncio.timeout(LIMIT_S):
            return await self.task


def in_words(snapshot: Snapshot, move: PlayerMove, random: Random) -> str:
    """One of the ways to type a move."""
    assert snapshot.round is not None
    state = snapshot.round.state
    assert state is not None

    def text(position: int) -> str:
        return card_text(state.faces[position], state.packs)

    match move:
        case Play(positions=positions):
            ranks = [rank_text(state.rank_at(p)).lower() for p in positions]
            return random.choice(
                [
                    " ".join(text(p) for p in positions),
                    " ".join(ranks),
                    "".join(ranks),
                    "play " + " ".join(text(p).upper() for p in positions),
                ]
            )
        case PickUp():
            return random.choice(["pick up", "p", "take"])
        case Flip(slot=slot):
            return random.choice([f"flip {slot + 1}", str(slot + 1)])
        case Swap(hand=hand, up=up):
            return f"swap {text(hand)} {text(up)}"
        case Ready():
            return "ready"
        case _:
            raise AssertionError(move)


MISTAKES = {
    "7x": "is not understood",
    "#77": "There is no choice #77 now.",
    "swap": "",
    "2 3 4 5 6 7": "",
    "bots many": "How many?",
    "void": "Nobody has owed anything for 60 s yet.",
    "refuse Nobody": "There is nobody called Nobody at the door.",
    "no": "Nobody has asked anything.",
}


@pytest.mark.parametrize(("players", "seed"), [(2, 1), (3, 2), (4, 3)])
async def test_a_whole_round_by_typed_commands(players: int, seed: int) -> None:
    names = ["Ana", "Bogdan", "Carmen", "Dora"][:players]
    house = House(*names, seed=seed)
    bots = [BotPlayer(node, Level.NORMAL, 0, Random(i)) for i, node in enumerate(house.nodes[1:])]
    for bot in bots:
        bot.start()
    sitting = Sitting(house.nodes[0])
    node, random = sitting.node, Random(seed)
    await sitting.says("start", "Arrange: ")
    moves = 0
    while node.snapshot.round is not None and node.snapshot.round.ending is None:
        if next_move(node.snapshot, Level.NORMAL, random) is None:
            # Not my turn yet: what I type is answered all the same.
            await asyncio.sleep(0)
            continue
        if random.random() < 0.3:
            stamp = node.snapshot.round.stamp
            mistake, answer = random.choice(list(MISTAKES.items()))
            shown = await sitting.enter(mistake)
            assert shown
            assert answer in shown
            assert node.snapshot.round.stamp == stamp or node.snapshot.round.phase is Phase.ARRANGE
        move = next_move(node.snapshot, Level.NORMAL, random)
        assert move is not None
        start = len(sitting.screen.getvalue())
        shown = await sitting.enter(in_words(node.snapshot, move, random))
        if "changed meanwhile" not in shown:
            await sitting.screen.shows("You ", start)
            moves += 1
    await sitting.screen.shows("Round 1 is over.")
    await sitting.screen.shows("`start` begins another round.")
    assert moves > 5
    await sitting.says("score", "Round 1: 1. ")
    await sitting.says("table", "Round 1, over.")
    sitting.keyboard.type("quit")
    assert await sitting.code() == 0
    assert node.left
    assert sitting.keyboard.closed
    assert sitting.screen.lines[-1] == "You have left the table."
    for bot in bots:
        await bot.close()
    assert [other.listeners for other in house.nodes] == [0] * players


async def test_the_first_lines_and_the_commands_that_only_show() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.screen.shows("Table Kitchen. Type `help`")
    await sitting.says("help", "swap 2h 7s")
    await sitting.says("rules", "There is one pack of 52 cards")
    await sitting.says("score", "No round has ended yet.")
    await sitting.says("table", "Bogdan: link good 4 ms")
    await sitting.says("", "`start` begins another round.")
    await sitting.says("say hello", "Ana> hello")
    await sitting.says("how", "the last one holding any is the SHITHEAD")
    await sitting.says("phrases", "#1 Hello!")
    await sitting.says("say #1", "Ana> Hello!")
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


async def test_the_talk_of_one_is_hidden_until_it_is_shown_again() -> None:
    house = House("Ana", "Bogdan", "Carmen")
    sitting = Sitting(house.nodes[0])
    await sitting.says("mute Bogdan", "The talk of Bogdan is hidden now")
    await house.nodes[1].say("blah")
    await house.nodes[2].say("hello")
    await sitting.screen.shows("Carmen> hello")
    assert "blah" not in sitting.screen.getvalue()
    await sitting.says("unmute", "The talk of Bogdan and Carmen is shown again")
    await house.nodes[1].say("again")
    await sitting.screen.shows("Bogdan> again")
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


async def test_a_preset_for_the_next_round_is_told_to_everybody_once() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.says("set party", "Ana> The next round is played by the rules party.")
    assert house.nodes[0].rules == RuleSet.preset("party")
    await sitting.says("set burn_run=3", "Ana> The next round is offered with burn_run=3.")
    assert house.nodes[0].rules.burn_run == 3
    assert sitting.screen.getvalue().count("rules party") == 1
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


async def test_leaving_in_mid_round_asks_a_person() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.says("start", "Arrange: ")
    await sitting.says("quit", "of two players, whoever leaves is the shithead")
    await sitting.screen.shows("To come back later instead, press Ctrl-C: that stops the program")
    await sitting.says("no", "You stay.")
    await sitting.says("quit", "of two players, whoever leaves is the shithead")
    for other in ("table", "say hello", "", "what"):
        await sitting.says(other, "of two players, whoever leaves is the shithead")
    sitting.keyboard.type("yes")
    assert await sitting.code() == 0
    assert house.nodes[1].snapshot.score[0].kind == "forfeit"


async def test_the_end_of_input_in_mid_round_keeps_a_persons_seat() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.says("start", "Arrange: ")
    sitting.keyboard.type(None)
    assert await sitting.code() == 0
    assert not house.nodes[0].left
    assert house.nodes[1].snapshot.score == ()


async def test_who_says_yes_to_another_question_is_asked_again() -> None:
    """The other has become overdue between the question and the answer: now nobody need lose."""
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.says("start", "Arrange: ")
    await sitting.says("ready", "You are ready.")
    await sitting.says("quit", "of two players, whoever leaves is the shithead")
    house.wait(120)
    house.nodes[0].tell()
    await sitting.says("yes", "`void` gives it up because the other is overdue")
    await sitting.says("void", "You gave the round up.")
    assert house.nodes[1].snapshot.score[0].kind == "unfinished"
    sitting.keyboard.type("quit")
    assert await sitting.code() == 0


@pytest.mark.parametrize("line", ["quit", None])
async def test_leaving_in_mid_round_through_a_pipe_asks_nothing(line: str | None) -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0], interactive=False)
    await sitting.says("start", "Arrange: ")
    sitting.keyboard.type(line)
    assert await sitting.code() == 0
    assert house.nodes[0].left


async def test_an_offer_is_asked_and_answered() -> None:
    house = House("Ana", "Bogdan", asked=("Bogdan",))
    sitting = Sitting(house.nodes[1])
    await sitting.screen.shows("Kitchen")
    await house.nodes[0].offer_round()
    await sitting.screen.shows("Round 1 is offered to")
    await sitting.screen.shows("Choices: #1 yes   #2 no")
    await sitting.says("start", "Only Ana can do that.")
    await sitting.says("1", "Your hand: ")
    sitting.keyboard.type("quit", "yes")
    assert await sitting.code() == 0


async def test_an_offer_that_was_there_before_the_screen_is_asked_too() -> None:
    house = House("Ana", "Bogdan", asked=("Bogdan",))
    await house.nodes[0].offer_round()
    sitting = Sitting(house.nodes[1])
    await sitting.screen.shows("Round 1 is offered to ")
    await sitting.says("yes", "Your hand: ")
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


async def test_an_offer_can_be_declined() -> None:
    house = House("Ana", "Bogdan", asked=("Bogdan",))
    sitting = Sitting(house.nodes[1])
    await house.nodes[0].offer_round()
    await sitting.says("no", "The round did not come about.")
    sitting.keyboard.type("quit")
    assert await sitting.code() == 0


async def test_the_hosts_commands() -> None:
    seated = []

    async def seat_bots(count: int) -> None:
        seated.append(count)

    house = House("Ana", "Bogdan")
    node = house.nodes[0]
    dora = key_of("Dora")
    sitting = Sitting(node, seat_bots=seat_bots)
    await sitting.screen.shows("Table Kitchen")
    node.door = (Knocking(dora, "Dora", b"", "192.0.2.9:1"),)
    values = {"player": dora, "name": "Dora", "bot": False, "address": "192.0.2.9:1"}
    node.tell(News("knocked", values))
    await sitting.screen.shows("Dora is at the door")
    await sitting.screen.shows("Choices: #1 admit Dora   #2 refuse Dora   #3 start")
    await sitting.says("bots 2", "2 bots seated.")
    sitting.keyboard.type("admit dora", "refuse dora", "kick bogdan", "quit")
    assert await sitting.code() == 0
    assert node.done == [("admit", dora), ("refuse", dora), ("kick", house.nodes[1].key)]
    assert seated == [2]


async def test_bots_where_they_cannot_be_seated_and_what_goes_wrong_when_they_are() -> None:
    async def full(count: int) -> None:
        raise NetworkProblem("refused", address="here", reason="the table is full")

    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.says("bots 2", "Bots cannot be seated here.")
    sitting.keyboard.type(None)
    await sitting.code()
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0], seat_bots=full)
    await sitting.says("bots 2", "here refused the link: the table is full.")
    assert "Ask the host of the table." in sitting.screen.getvalue()
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


@pytest.mark.parametrize(
    ("why", "problem", "code", "line"),
    [
        ("closed", None, 0, "The table is closed: nobody else is left."),
        ("kicked", None, 3, "The host has sent you away from the table."),
        ("failed", ShitheadError(Sentence("store_full", "The disk is full.")), 3, "The disk is full."),
    ],
)
async def test_the_table_ends(why: str, problem: ShitheadError | None, code: int, line: str) -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[1])
    await sitting.screen.shows("Kitchen")
    sitting.node.gone_why, sitting.node.gone_problem = why, problem
    sitting.node.gone.set()
    assert await sitting.code() == code
    assert sitting.screen.lines[-1] == line
    assert not sitting.node.left


async def test_cancelling_stops_at_once_and_leaves_to_the_caller_what_to_do() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.screen.shows("Kitchen")
    sitting.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sitting.task
    assert not house.nodes[0].left
    assert sitting.keyboard.closed
    assert house.nodes[0].listeners == 0


async def test_a_watched_bot_is_asked_nothing_and_outlives_its_input() -> None:
    house = House("Ana", "Bogdan", seed=5)
    bots = [BotPlayer(node, Level.NORMAL, 0, Random(i)) for i, node in enumerate(house.nodes)]
    for bot in bots:
        bot.start()
    sitting = Sitting(house.nodes[0], auto=True, rounds=1)
    sitting.keyboard.type(None)
    await sitting.screen.shows("Kitchen")
    await house.nodes[0].offer_round()
    await sitting.screen.shows("Round 1 is over.")
    assert "Choices:" not in sitting.screen.getvalue()
    assert not sitting.task.done()
    audit = Verdict("fair", 1, (), (), None, (), dict(NO_CHECKS), Sentence("a", "All."), ())
    house.nodes[0].tell(News("verdict", {"round": 1, "verdict": "fair", "audit": audit}))
    assert await sitting.code() == 0
    assert "That was the last round; leaving." in sitting.screen.lines
    for bot in bots:
        await bot.close()


async def test_a_round_with_a_fault_shows_in_the_exit_code() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.screen.shows("Kitchen")
    over = {"round": 1, "result": "faulted", "finish": (), "shithead": None, "debts": (), "left": ()}
    house.nodes[0].tell(News("over", over))
    await sitting.screen.shows("ends with a breach")
    sitting.keyboard.type("quit")
    assert await sitting.code() == 1


async def test_a_move_for_a_state_that_has_passed_is_not_made() -> None:
    house = House("Ana", "Bogdan")
    node = house.nodes[0]
    sitting = Sitting(node)
    await sitting.says("start", "Arrange: ")
    # The other gets ready behind the screen's back: this stamp is gone when the line comes.
    listeners, node._listeners = node._listeners, []
    await house.nodes[1].act(Ready(house.nodes[1].peer.seat))
    node._listeners = listeners
    await sitting.says("ready", "The table has changed meanwhile")
    sitting.keyboard.type(None)
    await sitting.code()


async def test_a_guest_is_not_told_rules_that_nobody_has_offered() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[1])
    await sitting.says("rules", "Ana has offered no round yet: its rules are told before you say")
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


async def test_letters_and_question_marks_where_the_output_has_no_more() -> None:
    house = House("Ana", "Zoë")
    sitting = Sitting(house.nodes[0], encoding="ascii")
    await sitting.says("start", "Arrange: ")
    await sitting.says("table", "link good")
    assert re.search(r"^  Zo\?( \(deals\))?: hand 3; up ", sitting.screen.getvalue(), re.MULTILINE)
    assert sitting.screen.getvalue().isascii()
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


async def test_a_reader_that_has_gone_ends_the_game_in_order() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.screen.shows("Kitchen")

    def broken(text: str) -> int:
        raise BrokenPipeError

    sitting.screen.write = broken  # type: ignore[method-assign]
    sitting.keyboard.type("help")
    assert await sitting.code() == 0
    assert house.nodes[0].left


async def test_links_and_waits_are_told() -> None:
    house = House("Ana", "Bogdan")
    sitting = Sitting(house.nodes[0])
    await sitting.says("start", "Arrange: ")
    sitting.keyboard.type("ready")
    await sitting.screen.shows("You are ready.")
    bogdan = house.nodes[1].key
    house.nodes[0].links = {bogdan: LinkView("lost")}
    house.nodes[0].tell(News("link", {"player": bogdan, "status": "lost", "rtt_ms": None}))
    await sitting.screen.shows("The link to Bogdan is lost.")
    house.wait(20)
    await sitting.screen.shows("Waiting for Bogdan to be ready.")
    house.wait(60)
    await sitting.screen.shows("Bogdan has been waited for 80 s to be ready. `void` gives the round up")
    await sitting.says("void", "Round 1 ends unfinished: nobody is the shithead.")
    await sitting.screen.shows("Bogdan was waited for in vain to be ready.")
    await sitting.screen.shows("You gave the round up.")
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


# -- lines from a stream -------------------------------------------------------------------------------


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "lines"]


async def ended() -> None:
    for thread in threading.enumerate():
        if thread.name == "lines":
            await asyncio.to_thread(thread.join, 5)
    assert threads() == []


async def test_lines_of_a_stream_and_its_end() -> None:
    source = StreamLines(io.StringIO("one\r\ntwo\n\nlast"))
    assert [await source.read() for _ in range(6)] == ["one", "two", "", "last", None, None]
    await ended()


async def test_lines_of_a_pipe_in_any_bytes() -> None:
    read, write = os.pipe()
    os.write(write, b"caf\xc3\xa9 \xff\n" + b"x" * 5000 + b"\nnext\n")
    os.close(write)
    with open(read, encoding="utf-8") as stream:  # noqa: PTH123, ASYNC230 - a descriptor
        source = StreamLines(stream)
        assert await source.read() == "café \ufffd"
        long = await source.read()
        assert long is not None
        assert set(long) == {"x"}
        assert await source.read() == "next"
        assert await source.read() is None
        await ended()


async def test_more_lines_than_anybody_can_type_wait_in_the_pipe() -> None:
    source = StreamLines(io.StringIO("".join(f"{n}\n" for n in range(1000))))
    assert await source.read() == "0"
    source.close()
    await ended()
    assert source._lines.qsize() < 100


async def test_a_stream_that_cannot_be_read_is_at_its_end() -> None:
    stream = io.StringIO("one\n")
    stream.close()
    source = StreamLines(stream)
    assert await source.read() is None
    await ended()


async def test_nothing_to_read_is_the_end() -> None:
    with open(os.devnull) as stream:  # noqa: PTH123, ASYNC230 - as standard input is
        source = StreamLines(stream)
        assert await source.read() is None
        await ended()


async def test_the_host_changes_the_rules_and_everybody_hears_it_and_is_asked() -> None:
    house = House("Ana", "Bogdan", asked=("Bogdan",))
    ana, bogdan = (Sitting(node) for node in house.nodes)
    await bogdan.says("set refill_to=4", "Only Ana can do that.")
    await ana.says("set refill_to", "Name an option and its value")
    await ana.says("set colour=red", "There is no option colour")
    await ana.says("set refil_to=4", "There is no option refil_to (did you mean refill_to?).")
    await ana.says("set pick_up=forced", "The option pick_up can't be 'forced' (did you mean forced_only?)")
    await ana.says("set refill_to=4", "Ana> The next round is offered with refill_to=4.")
    await bogdan.screen.shows("Ana> The next round is offered with refill_to=4.")
    await ana.enter("start")
    await bogdan.screen.shows("House rules, where they differ from the usual ones:")
    await bogdan.screen.shows("  After playing from the hand, make it up to 4 from the stock")
    await bogdan.screen.shows("Do you play?")
    for sitting in (ana, bogdan):
        sitting.keyboard.type(None)
        await sitting.code()


async def test_away_where_a_program_plays_already() -> None:
    house = House("Ana", "Bogdan")
    ana = Sitting(house.nodes[0])
    await ana.says("away", "Your seat is played by a program already.")
    ana.keyboard.type(None)
    await ana.code()

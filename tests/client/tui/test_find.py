"""Finding a table: the list, choosing, typing, and what is said when nothing is there."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from client.commands.finding import FoundTable
from client.tui.find import MAX_NUMBER_DIGITS, MESSAGE_ROWS, Finding, FindScreen, find_rows, press_find
from client.tui.state import Look
from engine.errors import Sentence, ShitheadError
from p2p.errors import NetworkProblem
from p2p.feeds.identity import BadName
from p2p.network.advert import TableAd
from p2p.network.discovery import SeenTable
from tests.client.tui.desk import LIMIT_S, desk
from tests.client.tui.scenes import as_text
from tests.client.tui.test_properties import check_size

SCREENS = Path(__file__).parent / "screens"


def seen(name: str, number: int, *, live: bool = True, compatible: bool = True, phase: str = "open") -> SeenTable:
    ad = TableAd(
        table=name,
        table_id=bytes([number]) * 8,
        key=bytes([number]) * 32,
        nonce=bytes(8),
        port=47101,
        players=number,
        seats=5,
        rules="wikipedia",
        phase=phase,
        low=1 if compatible else 99,
        high=99,
    )
    return SeenTable(ad, ((f"192.0.2.{number}", 47101),), live, 0.004 if live else None)


class Tables:
    """A browser that sees what a test says."""

    def __init__(self, *tables: SeenTable) -> None:
        self.changed = asyncio.Event()
        self.found = list(tables)

    def tables(self) -> list[SeenTable]:
        return self.found

    def show(self, *tables: SeenTable) -> None:
        self.found = list(tables)
        self.changed.set()


KITCHEN, GARDEN, OLD, GONE = (
    seen("Kitchen", 1),
    seen("Garden", 2, phase="playing"),
    seen("Attic", 3, compatible=False),
    seen("Cellar", 4, live=False),
)


def listed(*tables: SeenTable) -> Finding:
    from client.commands.finding import group

    return Finding(tuple(group(tables)))


def test_the_list_says_what_can_be_joined_and_why_others_not() -> None:
    shown = as_text(find_rows(listed(KITCHEN, GARDEN, OLD, GONE), Look(), 80, 24))
    assert "> 1 Kitchen" in shown
    assert "another version" in shown
    assert "gone?" in shown
    wide = as_text(find_rows(listed(KITCHEN), Look(), 120, 40))
    assert "192.0.2.1:47101" in wide


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (120, 40)])
def test_it_keeps_to_its_size_whatever_tables_are_called(size: tuple[int, int]) -> None:
    long = seen("宽" * 20, 5)
    for shown in (listed(KITCHEN, long, OLD), Finding(is_late=True), Finding(typed="x" * 99, message="y" * 200)):
        check_size(find_rows(shown, Look(), *size), *size)  # type: ignore[arg-type]


def test_after_a_while_with_nothing_the_likeliest_causes_are_said() -> None:
    assert "Most likely" not in as_text(find_rows(Finding(), Look(), 80, 24))
    shown = as_text(find_rows(Finding(is_late=True), Look(), 60, 16))
    assert "Most likely" in shown
    assert "guest" in shown
    assert "firewall" in shown
    assert "Most likely" not in as_text(find_rows(replace(listed(KITCHEN), is_late=True), Look(), 80, 24))


def test_arrows_numbers_and_enter_choose() -> None:
    shown = listed(KITCHEN, GARDEN)
    shown, answer = press_find("down", shown, Look())
    assert answer is None
    _, answer = press_find("enter", shown, Look())
    assert answer == shown.tables[1]
    typed, answer = press_find("1", shown, Look())
    # It may be the beginning of an address.
    assert (typed.typed, answer) == ("1", None)
    _, answer = press_find("enter", typed, Look())
    assert answer == shown.tables[0]
    for more in ("0", "92.0.2.7"):
        longer, _ = press_find("enter", replace(typed, typed="1" + more), Look())
        assert longer.typed == "1" + more
    assert press_find("enter", replace(typed, typed="9" * (MAX_NUMBER_DIGITS + 1)), Look())[1] == "9999"
    _, answer = press_find("table:1", shown, Look())
    assert answer == shown.tables[1]


def test_a_table_that_cannot_be_joined_says_why() -> None:
    shown = listed(OLD, GONE)
    for key, why in (("1", "another version"), ("2", "does not answer")):
        again, answer = press_find("enter", press_find(key, shown, Look())[0], Look())
        assert answer is None
        assert why in again.message


def test_typing_is_a_way_in_too() -> None:
    shown: Finding = listed(KITCHEN)
    answer: object = None
    for key in ["g", "a", "x", "backspace", "r", "enter"]:
        shown, answer = press_find(key, shown, Look())
    assert answer == "gar"
    shown, answer = press_find("escape", shown, Look())
    assert (shown.typed, answer) == (None, None)


async def test_the_list_is_live_and_the_choice_comes_back() -> None:
    tables = Tables()
    async with desk() as (at, ends):
        screen = FindScreen(tables, Look(), **ends)
        running = asyncio.create_task(screen.run())
        at.task = running
        await at.shows("Looking for tables")
        tables.show(KITCHEN)
        await at.shows("> 1 Kitchen")
        tables.show(GARDEN, KITCHEN)
        # The mark stays on the table it was on.
        await at.shows("> 2 Kitchen")
        at.press("enter")
        async with asyncio.timeout(LIMIT_S):
            answer = await running
        assert answer is not None
        assert not isinstance(answer, str)
        assert answer.name == "Kitchen"


async def test_pasted_words_are_typed_and_ctrl_c_ends() -> None:
    async with desk() as (at, ends):
        screen = FindScreen(Tables(), Look(), **ends)
        running = asyncio.create_task(screen.run())
        at.task = running
        await at.shows("Looking for tables")
        at.pipe.send_text("\x1b[200~tulip-otter\n\x1b[201~")
        await at.shows("Join tulip-otter")
        at.press("ctrl-c")
        async with asyncio.timeout(LIMIT_S):
            assert await running is None


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
def test_help_is_a_key_away_and_any_key_leads_back(size: tuple[int, int]) -> None:
    shown, answer = press_find("?", listed(KITCHEN), Look())
    assert answer is None
    text = as_text(find_rows(shown, Look(), *size))
    assert "shithead host" in text
    assert "Kitchen" not in text
    assert "? help" in text
    for key in ("x", "escape", "?"):
        again, answer = press_find(key, shown, Look())
        assert (again.is_help, again.typed, answer) == (False, None, None)
    typing, _ = press_find("a", replace(shown, is_help=False), Look())
    assert press_find("?", typing, Look())[0].typed == "a?"


class Going:
    """What a choice does: it waits until the test says how it ends."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.ends: asyncio.Queue[ShitheadError | None] = asyncio.Queue()
        self.cancelled = 0

    async def __call__(self, wanted: FoundTable | str, name: str | None) -> None:
        self.asked.append((wanted if isinstance(wanted, str) else wanted.name, name))
        try:
            end = await self.ends.get()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if end is not None:
            raise end


async def test_what_did_not_work_leads_back_to_the_list_and_keys_meanwhile_go_nowhere() -> None:
    going = Going()
    async with desk() as (at, ends):
        screen = FindScreen(Tables(KITCHEN), Look(), go=going, **ends)
        running = at.task = asyncio.create_task(screen.run())
        await at.shows("> 1 Kitchen")
        at.press(*"192.0.2.99", "enter")
        await at.shows("Asking for a seat at 192.0.2.99 ...")
        for key in ("x", "y", "z", "enter"):
            screen.key(key)
        screen.paste("pasted")
        going.ends.put_nowait(NetworkProblem("no_answer", address="192.0.2.99:21052", seconds=5))
        await at.shows("192.0.2.99:21052")
        await at.lacks("Asking for a seat")
        await at.shows("Kitchen")
        assert "xyz" not in at.text
        assert "pasted" not in at.text
        at.press("1", "enter")
        await at.shows("Asking for a seat at Kitchen ...")
        screen.say("Knocked at the door.")
        await at.shows("Knocked at the door.")
        going.ends.put_nowait(None)
        async with asyncio.timeout(LIMIT_S):
            answer = await running
        assert isinstance(answer, FoundTable)
        assert going.asked == [("192.0.2.99", None), ("Kitchen", None)]


async def test_where_the_name_is_taken_another_one_is_asked_for() -> None:
    going = Going()
    async with desk(60, 16) as (at, ends):
        screen = FindScreen(Tables(KITCHEN), Look(), go=going, **ends)
        running = at.task = asyncio.create_task(screen.run())
        await at.shows("Kitchen")
        at.press("enter")
        going.ends.put_nowait(NetworkProblem("name_taken", name="Ana"))
        await at.shows("Somebody at that table is called Ana already.")
        at.press(*"you", "enter")
        going.ends.put_nowait(BadName(Sentence("name_doubtful", "{name} is no name.", {"name": "you"})))
        await at.shows("you is no name.")
        await at.shows("My name")
        at.press(*"Anna", "enter")
        going.ends.put_nowait(None)
        async with asyncio.timeout(LIMIT_S):
            assert await running is not None
        assert going.asked == [("Kitchen", None), ("Kitchen", "you"), ("Kitchen", "Anna")]


async def test_escape_and_ctrl_c_end_the_waiting_at_a_door() -> None:
    going = Going()
    async with desk() as (at, ends):
        screen = FindScreen(Tables(KITCHEN), Look(), go=going, **ends)
        running = at.task = asyncio.create_task(screen.run())
        await at.shows("Kitchen")
        at.press("enter")
        await at.shows("Asking for a seat")
        at.press("esc")
        await at.lacks("Asking for a seat")
        assert going.cancelled == 1
        at.press("enter")
        await at.shows("Asking for a seat")
        at.press("ctrl-c")
        async with asyncio.timeout(LIMIT_S):
            assert await running is None
        assert going.cancelled == 2


async def test_a_bug_in_joining_is_raised_and_not_hidden_behind_the_list() -> None:
    async def breaks(wanted: FoundTable | str, name: str | None) -> None:
        raise ZeroDivisionError

    async with desk() as (at, ends):
        screen = FindScreen(Tables(KITCHEN), Look(), go=breaks, **ends)
        running = asyncio.create_task(screen.run())
        await at.shows("Kitchen")
        at.press("enter")
        with pytest.raises(ZeroDivisionError):
            async with asyncio.timeout(LIMIT_S):
                await running


def test_a_long_reason_is_wrapped_and_not_cut() -> None:
    why = "Nobody answered at 192.0.2.99:21052. " * 3
    shown = as_text(find_rows(replace(listed(KITCHEN), message=why.strip()), Look(), 60, 16))
    assert shown.count("192.0.2.99:21052") == 3
    assert MESSAGE_ROWS == 3
    check_size(find_rows(replace(listed(KITCHEN), busy="y " * 200), Look(), 60, 16), 60, 16)  # type: ignore[arg-type]

"""Clocks, waits, offers and coming back on the full screen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from client.clocks import Clocks
from client.tui import lobby
from client.tui.control import follow
from client.tui.state import Ui
from client.view import DoorRow, View, make_view
from engine.rules import RuleSet, with_options
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import LinkView, Wait
from tests.client.nodes import House, MemoryNode
from tests.client.positions import key_of, snapshot_of
from tests.client.tui import scenes
from tests.client.tui.test_client import seated
from tests.client.tui.test_newcomer import shown
from tests.engine.helpers import rules_with
from tests.p2p.test_evening import join

SIZES = [(80, 24), (60, 16)]


# -- clocks --------------------------------------------------------------------------------------------


def my_wait(what: str, seconds: float, limit_s: int) -> View:
    state = scenes.table_state() if what == "move" else scenes.arranging()
    wait = Wait(key_of("Ana"), what, seconds, limit_s, limit_s + 60)
    return make_view(scenes.with_round(snapshot_of(state), waits=(wait,)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("what", ["move", "ready"])
def test_what_is_left_of_my_limit_stands_beside_my_name(what: str, size: tuple[int, int]) -> None:
    for seconds, words in ((0.0, "0:30 left"), (21.9, "0:09 left"), (99.0, "0:00 left")):
        line = next(line for line in shown((my_wait(what, seconds, 30), Ui()), *size) if "YOU Ana" in line)
        assert line.endswith(words)
    assert not any(" left" in line for line in shown((my_wait(what, 21.0, 0), Ui()), *size))


@pytest.mark.parametrize("size", SIZES)
def test_an_offer_shows_its_clocks_where_there_are_some(size: tuple[int, int]) -> None:
    view, ui = scenes.offered()
    assert not any("CLOCKS" in line for line in shown((view, ui), *size))
    ui = replace(ui, clocks=Clocks(30, 0, 60))
    assert any(
        line.startswith(" CLOCKS  turn 30 s, arranging no limit, grace 60 s") for line in shown((view, ui), *size)
    )


def test_a_guest_is_told_no_clocks_that_nobody_has_offered() -> None:
    view, ui = scenes.lobby()
    ui = replace(ui, clocks=Clocks(30, 0, 60))
    assert any("CLOCKS" in line for line in shown((view, ui)))
    assert not any("CLOCKS" in line for line in shown((replace(view, i_host=False, clocks=None), ui)))
    page = replace(ui, page="rules")
    assert any("A turn lasts 30 s at most" in line for line in shown((view, page), 120, 60))
    assert not any(
        "A turn lasts" in line for line in shown((replace(view, i_host=False, clocks=None), page), 120, 60)
    )


async def test_the_host_sets_clocks_by_keys_and_the_table_is_told_once() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.at.press("r", "k")
        await ana.at.shows("CLOCKS")
        ana.at.press("right", "right")
        await ana.at.shows("< 10 s >")
        ana.at.press("down", "left")
        await ana.at.shows("< 3600 s >")
        assert ana.node.limits == (10, 3600, 60)
        assert not any(entry.kind == "chat" for entry in ana.client.ui.log)
        ana.at.press("esc", "esc")
        await ana.at.shows("Ana> The clocks of the next round")
        ana.at.press("enter")
        await ana.at.shows(
            "59:59 left" if ana.client.view.waits and ana.client.view.waits[0].seconds else "60:00 left"
        )
    async with seated(house.nodes[1]) as bogdan:
        bogdan.at.press("r", "k", "right")
        await bogdan.at.shows("Ana can take other rules between rounds.")
        assert bogdan.node.limits == (0, 0, 60)


async def test_that_my_program_plays_for_me_is_said_where_i_look() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[0]) as ana:
        ana.client.stood_in("time_up")
        ana.client.terminal.refresh()
        await ana.at.shows("Your time is up, so your program plays this one for you.")
        assert ana.client.ui.is_warning


# -- giving up -------------------------------------------------------------------------------------------


async def test_giving_up_is_asked_about_and_says_what_becomes_of_the_round() -> None:
    house = House("Ana", "Bogdan", "Carmen")
    async with seated(house.nodes[0]) as ana:
        ana.at.press("enter")
        await ana.at.shows("Exchange:")
        ana.at.press("g")
        await ana.at.shows("It can be given up in 1:00.")
        assert ana.client.ui.asks == "", "what can't be done is not asked about"
        house.wait(72)
        ana.at.press("esc")
        await ana.at.shows("has been waited for 1:12 to be ready. G gives the round up")
        ana.at.press("g")
        await ana.at.shows("Give the round up for everybody? It ends unfinished")
        ana.at.press("n")
        await ana.at.lacks("for everybody?")
        assert house.nodes[0].peer.round.everything().final is None
        ana.at.press("g", "y")
        await ana.at.shows("The round ended unfinished: nobody is the shithead.")
        await ana.at.shows("Bogdan was waited for in vain to be ready")
        await ana.at.shows("Ana gave the round up")


async def test_the_question_goes_when_nobody_is_overdue_any_more() -> None:
    house = House("Ana", "Bogdan", seed=3)
    async with seated(house.nodes[0]) as ana:
        ana.at.press("enter")
        await ana.at.shows("Exchange:")
        house.wait(72)
        ana.at.press("g")
        await ana.at.shows("Give the round up for everybody?")
        from engine.moves import Ready

        await house.nodes[1].act(Ready(house.nodes[1].peer.seat))
        await ana.at.lacks("Give the round up for everybody?")
        assert ana.client.ui.asks == ""


# -- offers ------------------------------------------------------------------------------------------------


async def test_who_does_not_play_is_named_to_all() -> None:
    house = House("Ana", "Bogdan", "Carmen", asked=("Bogdan",))
    house.nodes[1].peer.session.sits_ready = False
    async with seated(house.nodes[0]) as ana:
        ana.at.press("enter")
        await ana.at.until(lambda: house.nodes[1].snapshot.asked, "the offer")
        await house.nodes[1].answer_offer(False)
        await ana.at.shows("Bogdan does not play this round.")
        await ana.at.shows("Nothing counts; it can be offered again.")
        await ana.at.shows("Enter starts a round with everybody here.")


def test_what_an_offer_changes_is_read_whole_before_the_answer() -> None:
    view, ui = scenes.offered()
    changes = {
        "lead_must_be_start_rank": "true",
        "upcards_strict": "true",
        "pick_up": "forced_only",
        "burn_run": "5",
    }
    rules = rules_with(**changes)
    text = " ".join(" ".join(shown((replace(view, rules=rules), ui), rules=rules)).split())
    assert all(name in text for name in changes)


def test_very_many_changes_take_a_few_rows_and_stand_on_their_page() -> None:
    view, ui = scenes.offered()
    rules = RuleSet.preset("party")
    many = {"lead_must_be_start_rank": "true", "upcards_strict": "true", "draw_follow_up": "true"}
    rules = with_options(
        rules,
        many
        | {
            "pick_up": "forced_only",
            "burn_run": "5",
            "turn_limit": "2000",
            "refill_to": "4",
            "again": "6",
            "packs": "2",
        },
    )
    lines = shown((replace(view, rules=rules), ui), 60, 24, rules)
    first = next(number for number, line in enumerate(lines) if line.startswith(" RULES"))
    after = first + lobby.MAX_RULES_ROWS
    assert all(line.startswith("        ") for line in lines[first + 1 : after])
    assert lines[after - 1].endswith("~") and not lines[after].startswith("   ")


def test_the_question_is_shown_to_somebody_who_is_away() -> None:
    view, ui = scenes.offered()
    lines = " ".join(shown((view, replace(ui, is_away=True))))
    assert "do you play? Enter or Y plays" in lines and "Z when you are back" in lines


def test_what_the_table_asks_comes_before_the_answer_to_the_last_key() -> None:
    before = make_view(snapshot_of(scenes.table_state()))
    ui = Ui(message="Your hand is sorted by rank.")
    knocks = replace(before, door=(DoorRow(key_of("Emil"), "Emil", "", ""),))
    assert follow(before, before, ui, 9.0).message
    assert follow(before, knocks, ui, 9.0).message == ""
    assert follow(before, replace(before, overdue=True), ui, 9.0).message == ""
    assert follow(replace(before, i_host=False), replace(knocks, i_host=False), ui, 9.0).message


def test_who_looks_on_is_not_told_to_give_up_what_others_play() -> None:
    view, ui = scenes.lost_link()
    assert any("G gives the round up" in line for line in shown((view, ui)))
    assert not any("G gives the round up" in line for line in shown((replace(view, in_round=False), ui)))


# -- coming late, and coming back --------------------------------------------------------------------------


def late(house: House, name: str) -> MemoryNode:
    """Somebody who joins while the others play."""
    node = MemoryNode(house, join(house.table, name), True)
    house.nodes.append(node)
    house.settle()
    return node


async def test_whoever_comes_late_is_told_what_is_waited_for_and_sees_the_open_table() -> None:
    house = House("Ana", "Bogdan", seed=3)
    await house.nodes[0].offer_round()
    for node in house.nodes[:2]:
        await node.act(_ready(node))
    gil = late(house, "Gil")
    async with seated(gil) as seat:
        await seat.at.shows("Round 1 is being played by Ana and Bogdan")
        await seat.at.shows("You look on: you play in the next round.")
        view = seat.client.view
        assert view.own == () and view.choices == () and view.zone is None
        state = gil.snapshot.round.state  # type: ignore[union-attr]
        assert state is not None
        public = {position for position in range(len(state.faces)) if state.faces[position] >= 0}
        assert not public & {position for hand in state.hands for position in hand}
        assert any("You look on" in line for line in shown((view, seat.client.ui), 60, 16))


async def test_whoever_comes_between_offer_and_deal_is_told_so() -> None:
    house = House("Ana", "Bogdan", asked=("Bogdan",))
    house.nodes[1].peer.session.sits_ready = False
    await house.nodes[0].offer_round()
    gil = late(house, "Gil")
    assert gil.snapshot.round is not None and gil.snapshot.round.phase is Phase.OFFER
    async with seated(gil) as seat:
        await seat.at.shows("Round 1 is being played by Ana and Bogdan; you join the next one")
        seat.at.press("?", "esc")
        await seat.at.shows("Round 1 is for Ana and Bogdan: you look on, and play in the next one.")


@pytest.mark.parametrize("in_round", [False, True])
async def test_whoever_is_back_is_told_so(in_round: bool) -> None:
    house = House("Ana", "Bogdan", seed=3)
    if in_round:
        await house.nodes[0].offer_round()
    async with seated(house.nodes[1], is_back=True) as bogdan:
        await bogdan.at.shows(
            "You are back at the table Kitchen: round 1 goes on." if in_round else "the table Kitchen."
        )
        assert bogdan.client.ui.log[0].text.startswith("You are back")


async def test_whoever_is_back_before_the_others_is_told_that_they_are_looked_for() -> None:
    house = House("Ana", "Bogdan")
    house.nodes[1].links = {house.nodes[0].key: LinkView("lost")}
    house.nodes[1].tell()
    async with seated(house.nodes[1], is_back=True) as bogdan:
        await bogdan.at.shows("The others are being looked for.")
        house.nodes[1].links = {}
        house.nodes[1].tell()
        await bogdan.at.shows(" You are back at the table Kitchen. ".rstrip() + "\n")
        assert bogdan.client.ui.message == "You are back at the table Kitchen."


async def test_a_newcomer_is_not_told_of_being_back() -> None:
    house = House("Ana", "Bogdan")
    async with seated(house.nodes[1]) as bogdan:
        assert not any("back at" in entry.text for entry in bogdan.client.ui.log)
        assert bogdan.client.ui.message == ""


# -- who acts for the host ---------------------------------------------------------------------------------


def test_who_acts_for_a_host_that_is_away_is_named_and_marked() -> None:
    snapshot = replace(snapshot_of(None, players=3, seat=2), acting_host=key_of("Bogdan"))
    gone = tuple(replace(each, link=LinkView("lost")) if each.name == "Ana" else each for each in snapshot.players)
    view = make_view(replace(snapshot, players=gone))
    lines = shown((view, Ui()))
    assert any("Bogdan starts the round when all are here." in line for line in lines)
    assert any("Bogdan (host)" in line for line in lines)
    assert not any("Ana (host)" in line for line in lines)


def _ready(node: MemoryNode):  # type: ignore[no-untyped-def]
    from engine.moves import Ready

    return Ready(node.peer.seat)

"""The clocks of a round as people meet them: before they say yes, while they run, and at their end."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import json
from datetime import UTC, datetime

import pytest

from client.clocks import (
    DEFAULT_GRACE_S,
    LEAST_S,
    MAX_LIMIT_S,
    STEPS_S,
    Clocks,
    changed_clocks,
    in_short,
    next_clocks,
)
from client.events import EventWriter
from client.lines.interpret import interpret
from client.lines.narrate import Narrator, clock_words
from client.lines.show import turn_lines
from client.orders import ChangeClock, Problem, Show
from client.view import Stage, WaitRow
from engine.errors import RuleError
from engine.moves import Ready
from engine.rules import RuleSet
from p2p.node.awake import SLEPT_S, AwakeClock
from p2p.rounds.duties import Duty, patience_s
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import Snapshot, Surroundings, make_snapshot
from tests.client.nodes import House
from tests.client.positions import key_of, view_of
from tests.client.test_lines import Sitting
from tests.client.test_lines_narrate import PLAIN, STATE, VIEW
from tests.p2p.test_withholding import stopped_at

# -- what is told before anybody says yes --------------------------------------------------------------


def asked(clocks: Clocks, rules: RuleSet | None = None) -> House:
    """A first round is offered; the people at the table sat down for one with the usual rules and no clocks."""
    house = House("Ana", "Bogdan", asked=("Ana", "Bogdan"))
    for node in house.nodes:
        node.peer.session.sits_ready = True
    host = house.nodes[0]
    host.limits, host.rules = clocks.values, rules or RuleSet()
    return house


@pytest.mark.parametrize(
    ("clocks", "rules", "is_asked"),
    [
        (Clocks(), RuleSet(), False),
        (Clocks(grace_s=600), RuleSet(), False),
        (Clocks(turn_s=30), RuleSet(), True),
        (Clocks(arrange_s=30), RuleSet(), True),
        (Clocks(), RuleSet(jokers=2), True),
    ],
)
async def test_nobody_plays_a_first_round_by_clocks_or_rules_they_did_not_agree_to(
    clocks: Clocks, rules: RuleSet, is_asked: bool
) -> None:
    house = asked(clocks, rules)
    await house.nodes[0].offer_round()
    assert [node.snapshot.asked for node in house.nodes] == [False, is_asked]
    assert house.nodes[1].snapshot.round is not None
    assert (house.nodes[1].snapshot.round.phase is Phase.OFFER) is is_asked


async def test_the_clocks_are_told_with_the_question() -> None:
    house = asked(Clocks(30, 90, 45))
    file = io.StringIO()
    writer = EventWriter(house.nodes[1], file, lambda: datetime(2026, 5, 12, tzinfo=UTC))
    sitting = Sitting(house.nodes[1])
    await house.nodes[0].offer_round()
    await sitting.screen.shows("Do you play? `yes` or `no`.")
    await sitting.screen.shows("A turn lasts 30 s at most: then a player's own program plays for them.")
    await sitting.screen.shows("Arranging lasts 90 s at most: then a player's own program says ready for them.")
    await sitting.screen.shows(
        "Whoever is waited for 45 s longer may be given up; the round then ends unfinished."
    )
    assert house.nodes[1].snapshot.asked, "all that is said before the answer"
    sitting.keyboard.type("yes")
    await sitting.screen.shows("Arrange: ")
    sitting.keyboard.type(None)
    assert await sitting.code() == 0
    writer.close()
    contract = next(
        event for event in map(json.loads, file.getvalue().splitlines()) if event["event"] == "contract"
    )
    assert (contract["turn_s"], contract["arrange_s"], contract["grace_s"]) == (30, 90, 45)


async def test_whoever_sits_down_to_an_offer_is_told_its_clocks_too() -> None:
    house = asked(Clocks(turn_s=30))
    await house.nodes[0].offer_round()
    sitting = Sitting(house.nodes[1])
    await sitting.screen.shows("Do you play? `yes` or `no`.")
    await sitting.screen.shows("A turn lasts 30 s at most")
    sitting.keyboard.type(None)
    assert await sitting.code() == 0


def test_clocks_are_told_again_only_where_they_change() -> None:
    from p2p.rounds.news import News

    narrator = Narrator(PLAIN)

    def offered(*limits: int) -> list[str]:
        news = News("contract", {"round": 2, "players": (key_of("Ana"),), "limits": list(limits)})
        return narrator.tell([news], VIEW, VIEW)[1:]

    assert offered(0, 0, DEFAULT_GRACE_S) == []
    assert offered(30, 0, DEFAULT_GRACE_S)[1:] == [f"  {words}" for words in clock_words(Clocks(30))]
    assert offered(30, 0, DEFAULT_GRACE_S) == []
    assert offered(0, 0, DEFAULT_GRACE_S)[1] == "  No clock runs for a turn or for arranging."


# -- what a host may choose ----------------------------------------------------------------------------


def test_clocks_are_typed() -> None:
    view = view_of()
    assert interpret(view, "clock turn 30") == ChangeClock("turn", 30)
    assert interpret(view, "clock grace=120") == ChangeClock("grace", 120)
    assert interpret(view, "clock") == Show("clock")
    for wrong in ("clock turn", "clock turn ten", "clock noon 30", "clock turn -3", "clock turn 99999"):
        meaning = interpret(view, wrong)
        assert isinstance(meaning, Problem) and meaning.sentence.code == "clock_how"
    guest = interpret(view_of(acting_host=key_of("Bogdan")), "clock turn 30")
    assert isinstance(guest, Problem) and guest.sentence.code == "host_only"


@pytest.mark.parametrize("clock", LEAST_S)
def test_a_clock_has_bounds_and_steps_between_them(clock: str) -> None:
    for seconds in (LEAST_S[clock], MAX_LIMIT_S):
        assert seconds in changed_clocks(Clocks(), clock, seconds).values
    for seconds in (LEAST_S[clock] - 1, MAX_LIMIT_S + 1):
        with pytest.raises(RuleError):
            changed_clocks(Clocks(), clock, seconds)
    clocks = Clocks(7, 7, 7)
    found = []
    while (clocks := next_clocks(clocks, clock, 1)).values not in found:
        found.append(clocks.values)
    assert len(found) == sum(step >= LEAST_S[clock] for step in STEPS_S)
    assert next_clocks(next_clocks(clocks, clock, 1), clock, -1) == clocks


async def test_a_clock_for_the_next_round_is_told_to_all_and_is_in_its_contract() -> None:
    house = House("Ana", "Bogdan")
    ana, bogdan = (Sitting(node) for node in house.nodes)
    await ana.says("clock", "No clock runs for a turn or for arranging.")
    await ana.says("clock turn 30", "Ana> The clocks of the next round: turn 30 s, arranging no limit, grace 60 s")
    await bogdan.screen.shows("Ana> The clocks of the next round: turn 30 s")
    await bogdan.says("clock", "Ana has offered no round yet")
    await ana.says("clock turn 4000", "The clock turn can be 0 to 3600 s.")
    await ana.says("start", "Arrange: ")
    await bogdan.says("clock", "A turn lasts 30 s at most")
    await bogdan.says("rules", "A turn lasts 30 s at most")
    assert [node.snapshot.round.limits for node in house.nodes] == [(30, 0, 60)] * 2  # type: ignore[union-attr]
    for sitting in (ana, bogdan):
        sitting.keyboard.type(None)
        assert await sitting.code() == 0


def test_clocks_in_short() -> None:
    assert in_short(Clocks(30, 0, 60)) == "turn 30 s, arranging no limit, grace 60 s"


# -- while they run ------------------------------------------------------------------------------------


def playing(clocks: Clocks) -> House:
    house = House("Ana", "Bogdan", seed=1)
    session = house.nodes[0].peer.session
    turn_s, arrange_s, grace_s = clocks.values
    house.nodes[0].peer.write(
        session.offer(RuleSet(), list(session.members()), grace_s, turn_s=turn_s, arrange_s=arrange_s)
    )
    house.settle()
    return house


@pytest.mark.parametrize(("clocks", "arrange", "turn"), [(Clocks(), 60, 60), (Clocks(30, 90, 20), 110, 50)])
def test_nobody_is_given_up_before_their_own_limit_and_the_grace_after_it_are_over(
    clocks: Clocks, arrange: int, turn: int
) -> None:
    house = playing(clocks)
    house.wait(arrange - 1)
    assert not any(node.snapshot.round.overdue for node in house.nodes)  # type: ignore[union-attr]
    house.wait(1)
    assert all(node.snapshot.round.overdue for node in house.nodes)  # type: ignore[union-attr]
    for node in house.nodes:
        node.peer.write(node.peer.session.intend(Ready(node.peer.seat)))
    house.settle()
    (mover,) = {wait.player for wait in house.nodes[0].snapshot.round.waits}  # type: ignore[union-attr]
    other = next(node for node in house.nodes if node.key != mover)
    house.wait(turn - 1)
    assert not other.snapshot.round.overdue  # type: ignore[union-attr]
    house.wait(1)
    assert other.snapshot.round.overdue  # type: ignore[union-attr]
    assert not next(node for node in house.nodes if node.key == mover).snapshot.round.overdue  # type: ignore[union-attr]
    round_ = house.nodes[0].peer.round
    # What a program owes, no person thinks about.
    assert patience_s(round_, Duty(0, "shares")) == clocks.grace_s


def timed(seconds: int, what: str = "move", limit_s: int = 30) -> tuple[WaitRow, ...]:
    return (WaitRow("Ana", True, what, seconds, limit_s, limit_s + 60),)


def test_the_end_of_a_limit_is_told_once_before_it_comes() -> None:
    narrator = Narrator(PLAIN)

    def at(seconds: int, what: str = "move", limit_s: int = 30, stamp: bytes = b"1") -> list[str]:
        view = dataclasses.replace(VIEW, waits=timed(seconds, what, limit_s), stamp=stamp)
        return narrator.tell([], view, view)

    assert at(19) == []
    assert at(21) == ["9 s left: then your program plays for you."]
    assert at(22) == []
    assert at(22, stamp=b"2") == ["8 s left: then your program plays for you."], "another turn"
    assert at(500, limit_s=0) == []
    assert at(30) == []
    # Others get ready meanwhile, which changes the stamp and not the limit.
    assert at(25, "ready") == ["5 s left: then your program plays for you."]
    assert at(26, "ready", stamp=b"3") == []


def test_a_turn_with_a_limit_says_how_long_it_is() -> None:
    view = view_of(STATE)
    timed_view = dataclasses.replace(view, waits=timed(0))
    assert view.my_turn and view.stage is Stage.PLAY
    assert turn_lines(view, PLAIN)[0] == "Your turn."
    assert turn_lines(timed_view, PLAIN)[0] == "Your turn (30 s)."


async def test_at_its_end_my_program_plays_and_says_so() -> None:
    from client.standing_in import StandIn

    house = playing(Clocks(30, 20, 60))
    node = house.nodes[0]
    told: list[str] = []
    stand_in = StandIn(node, told.append)
    sitting = Sitting(node)
    stand_in._told = sitting.client.stood_in
    task = asyncio.create_task(stand_in.run())
    try:
        await sitting.screen.shows("Arrange: ")
        house.wait(15)
        await sitting.screen.shows("5 s left: then your program plays for you.")
        house.wait(5)
        await sitting.screen.shows("Your time is up, so your program plays this one for you.")
        await sitting.screen.shows("You are ready.")
        sitting.keyboard.type(None)
        assert await sitting.code() == 0
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


# -- a clock that stands still --------------------------------------------------------------------------


def test_a_turn_stands_still_while_its_player_waits_for_what_others_owe() -> None:
    stopped = stopped_at("shares of a draw", 2)
    state = stopped.others[0].round.everything().state
    assert state is not None
    (waiting,) = [peer for peer in stopped.table.peers if peer.seat == state.turn]
    assert waiting is not stopped.debtor

    def look(now: float) -> Snapshot:
        for peer in stopped.table.peers:
            peer.session.tick(now)
        return make_snapshot(waiting.session, Surroundings(), now)

    look(0.0)
    late = look(10_000.0).round
    assert late is not None
    assert {(wait.player, wait.what) for wait in late.waits} == {(stopped.debtor.me, "shares")}
    assert waiting.session.overdue(10_000.0) and not stopped.debtor.session.overdue(10_000.0)
    stopped.debtor.on_write = lambda peer, body: [body]
    stopped.table.settle()
    turn = look(10_001.0).round
    assert turn is not None
    assert [(wait.player, wait.what, wait.seconds) for wait in turn.waits] == [(waiting.me, "move", 0.0)]


def test_time_in_which_this_program_did_not_run_is_held_against_nobody() -> None:
    now = 100.0
    clock = AwakeClock(lambda: now)
    start = clock.now()
    for _ in range(3):
        now += 1.0
        assert clock.now() == pytest.approx(start + now - 100.0)
    awake = clock.now()
    now += 600.0
    assert clock.now() == awake, "a sleep"
    now += SLEPT_S
    assert clock.now() == pytest.approx(awake + SLEPT_S), "a busy machine is none"
    now -= 50.0
    assert clock.now() == pytest.approx(awake + SLEPT_S), "no clock goes back"


def test_after_a_sleep_nobody_is_overdue_at_once() -> None:
    house, real = playing(Clocks()), 0.0
    clock = AwakeClock(lambda: real)

    def until(seconds: float) -> bool:
        nonlocal real
        real = seconds
        house.now = clock.now()
        house.settle()
        round_ = house.nodes[0].snapshot.round
        assert round_ is not None and round_.waits
        return round_.overdue

    assert not any(until(second) for second in range(30))
    assert not until(3600), "the machine slept"
    assert not any(until(3600 + second) for second in range(30))
    assert any(until(3630 + second) for second in range(DEFAULT_GRACE_S))

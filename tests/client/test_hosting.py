"""What a host's program does by itself, as decisions over snapshots."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from client.hosting import (
    BOT_NAMES,
    Admit,
    Host,
    Offer,
    Policy,
    Refuse,
    Void,
    bot_names,
    decide,
    finished_rounds,
    is_done,
)
from p2p.errors import LocalProtocolError
from p2p.feeds.identity import check_name, fold_name
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import (
    Knocking,
    LinkView,
    PlayerView,
    RoundScore,
    RoundView,
    Snapshot,
    Surroundings,
    Wait,
    make_snapshot,
)
from tests.p2p.peers import Table

BOT = b"b" * 32
ME = b"p" + bytes(31)


def player(number: int, status: str = "good") -> PlayerView:
    key = b"p" + bytes([number]) * 31
    return PlayerView(key, f"P{number}", number == 0, number == 0, False, LinkView(status), 0, "", "new")


def knock(letter: bytes) -> Knocking:
    return Knocking(letter * 32, letter.decode(), b"", "192.168.1.9:21052")


def table(
    players: int = 1,
    door: tuple[Knocking, ...] = (),
    round_: RoundView | None = None,
    score: tuple[str, ...] = (),
    lost: int = 0,
) -> Snapshot:
    seated = tuple(player(n, "lost" if n >= players - lost else "good") for n in range(players))
    scores = tuple(RoundScore(n + 1, kind, (), None) for n, kind in enumerate(score))
    return Snapshot(b"t" * 32, "Kitchen", ME, ME, ME, seated, door, round_, False, scores, ())


@cache
def real_round() -> RoundView:
    """A round as a session shows it."""
    company = Table(["Ana", "Bob"])
    company.start()
    view = make_snapshot(company.peers[0].session, Surroundings(), 0.0).round
    assert view is not None
    return view


def round_in(phase: Phase, roster: tuple[bytes, ...]) -> RoundView:
    """A round in another phase, with other players."""
    return replace(real_round(), phase=phase, roster=roster)


OPEN = Policy(seats=3, is_open=True)
ASKING = Policy(seats=3)


def test_an_open_table_lets_in_whoever_knocks_up_to_its_seats() -> None:
    now = table(2, (knock(b"x"), knock(b"y")))
    assert decide(OPEN, now) == (Admit(b"x" * 32), Refuse(b"y" * 32, "full"))


def test_a_table_that_is_not_open_leaves_strangers_to_the_person() -> None:
    assert decide(ASKING, table(1, (knock(b"x"),))) == ()


def test_a_full_table_refuses_without_asking() -> None:
    assert decide(ASKING, table(3, (knock(b"x"),))) == (Refuse(b"x" * 32, "full"),)


def test_whoever_is_lost_for_too_long_holds_no_seat_against_a_newcomer() -> None:
    full = table(3, (knock(b"x"), knock(b"y")))
    lapsed = replace(full, lapsed=(full.players[1].key,))
    assert decide(replace(ASKING, is_open=True), lapsed) == (Admit(b"x" * 32), Refuse(b"y" * 32, "full"))


def test_own_bots_are_let_in_by_their_key_and_not_by_what_they_claim() -> None:
    claims = Knocking(b"x" * 32, "Robin", ME, "")
    policy = replace(ASKING, own_bots=frozenset({BOT}))
    assert decide(policy, table(1, (claims, knock(b"b")))) == (Admit(BOT),)


def test_a_table_with_seats_given_starts_once_they_are_taken() -> None:
    policy = replace(OPEN, starts_itself=True)
    assert decide(policy, table(2)) == ()
    assert decide(policy, table(3)) == (Offer(),)
    assert decide(policy, table(3, lost=1)) == ()
    assert decide(OPEN, table(3)) == ()


def test_nothing_is_offered_while_a_round_goes_on() -> None:
    policy = replace(OPEN, starts_itself=True, goes_on=True)
    keys = tuple(each.key for each in table(3).players)
    for phase in (Phase.OFFER, Phase.PLAY, Phase.ENDING, Phase.REVEAL):
        assert decide(policy, table(3, round_=round_in(phase, keys))) == ()
    assert decide(policy, table(3, round_=round_in(Phase.CLOSED, keys), score=("finished",))) == (Offer(),)


def test_an_offer_that_died_is_not_repeated_to_the_same_people() -> None:
    policy = replace(OPEN, starts_itself=True)
    keys = tuple(each.key for each in table(3).players)
    assert decide(policy, table(3, round_=round_in(Phase.DEAD, keys))) == ()
    assert decide(policy, table(3, round_=round_in(Phase.DEAD, keys[:2]))) == (Offer(),)


def test_a_deal_that_was_given_up_for_somebody_who_is_back_is_offered_again_where_no_person_decides() -> None:
    keys = tuple(each.key for each in table(3).players)
    dead = table(3, round_=round_in(Phase.DEAD, keys), score=("finished",))
    by_itself = replace(OPEN, starts_itself=True, goes_on=True)
    assert decide(by_itself, dead, was_in_vain=True) == (Offer(),)
    assert decide(by_itself, dead) == ()
    assert decide(replace(OPEN, starts_itself=True), dead, was_in_vain=True) == ()
    host = Host(FakeNode(dead), by_itself)
    in_vain = News("declined", {"reason": "gave_up"})
    for news, expected in (
        ((in_vain,), True),
        ((News("contract", {}),), False),
        ((News("declined", {"reason": "not_now"}), in_vain), False),
        ((in_vain, in_vain), True),
        ((News("joined", {}),), True),
    ):
        host._heard(news)
        assert host._was_in_vain is expected


def test_after_a_round_a_person_is_asked_and_a_bot_goes_on() -> None:
    by_itself = replace(OPEN, starts_itself=True)
    assert decide(by_itself, table(3, score=("finished",))) == ()
    assert decide(replace(by_itself, goes_on=True), table(3, score=("finished",))) == (Offer(),)
    assert decide(replace(by_itself, goes_on=True), table(2, score=("unfinished",))) == (Offer(),)


def test_a_table_waits_for_one_who_is_lost_between_rounds() -> None:
    policy = replace(OPEN, goes_on=True)
    assert decide(policy, table(3, score=("finished",), lost=1)) == ()


def test_only_finished_rounds_count() -> None:
    now = table(3, score=("finished", "unfinished", "forfeit", "stalled", "faulted"))
    assert finished_rounds(now) == 2
    assert not is_done(replace(OPEN, rounds=3), now)
    assert is_done(replace(OPEN, rounds=2), now)


def test_an_automatic_table_stops_after_a_cheat() -> None:
    policy = replace(OPEN, starts_itself=True, goes_on=True)
    cheated = table(3, score=("faulted",))
    assert is_done(policy, cheated)
    assert decide(policy, cheated) == ()


def test_bots_have_free_names_that_can_be_used() -> None:
    assert bot_names(3, []) == list(BOT_NAMES[:3])
    assert bot_names(2, ["ROBIN", "Ana"]) == list(BOT_NAMES[1:3])
    many = bot_names(40, BOT_NAMES[:5])
    assert len({fold_name(name) for name in many}) == 40
    assert [check_name(name) for name in many] == many


class FakeNode:
    """A node whose table is what the test says."""

    def __init__(self, snapshot: Snapshot, fails: bool = False) -> None:
        self.snapshot = snapshot
        self.done: list[object] = []
        self.fails = fails
        self.listeners: list[Callable[[tuple[News, ...]], None]] = []
        self.acted = asyncio.Event()

    def subscribe(self, listener: Callable[[tuple[News, ...]], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def change(self, snapshot: Snapshot, *news: News) -> None:
        self.snapshot = snapshot
        for listener in list(self.listeners):
            listener(news)

    async def _note(self, action: object) -> None:
        self.done.append(action)
        self.acted.set()
        if self.fails:
            raise LocalProtocolError("nobody_there", "Nobody of that name is at the door.")

    async def admit(self, key: bytes) -> None:
        await self._note(Admit(key))

    async def refuse(self, key: bytes, why: str = "refused") -> None:
        await self._note(Refuse(key, why))

    async def offer_round(self) -> None:
        await self._note(Offer())

    async def answer_offer(self, yes: bool) -> None:
        await self._note(yes)


async def test_a_host_acts_on_what_is_there_and_on_each_change_until_the_last_verdict() -> None:
    node = FakeNode(table(2, (knock(b"x"),)))
    policy = replace(OPEN, starts_itself=True, rounds=1)
    host = asyncio.create_task(Host(node, policy).run())
    await node.acted.wait()
    node.acted.clear()
    node.change(table(3))
    await node.acted.wait()
    assert node.done == [Admit(b"x" * 32), Offer(), True]
    node.change(table(3, score=("finished",)))
    await asyncio.sleep(0)
    assert not host.done()
    node.change(table(3, score=("finished",)), News("verdict", {"round": 1, "verdict": "fair"}))
    await host
    assert node.listeners == []


async def test_an_action_that_comes_too_late_ends_nothing() -> None:
    node = FakeNode(table(2, (knock(b"x"),)), fails=True)
    host = asyncio.create_task(Host(node, OPEN).run())
    await node.acted.wait()
    node.acted.clear()
    node.change(table(2, (knock(b"y"),)))
    await node.acted.wait()
    assert node.done == [Admit(b"x" * 32), Admit(b"y" * 32)]
    host.cancel()
    with pytest.raises(asyncio.CancelledError):
        await host
    assert node.listeners == []


def test_whoever_does_not_act_for_the_host_decides_nothing() -> None:
    policy = replace(OPEN, starts_itself=True)
    guest = replace(table(3, (knock(b"x"),)), acting_host=b"p" + bytes([1]) * 31)
    assert decide(policy, guest) == ()
    assert decide(policy, replace(guest, acting_host=ME, door=())) == (Offer(),)


def test_somebody_who_stays_away_is_waited_for_and_then_left_out() -> None:
    policy = replace(OPEN, goes_on=True)
    now = table(3, score=("finished",), lost=1)
    assert decide(policy, now) == ()
    assert decide(policy, now, frozenset({now.players[2].key})) == (Offer(),)


def test_a_round_that_silence_has_stopped_is_given_up_only_where_no_person_sits() -> None:
    alone = replace(OPEN, voids=True)

    def stopped(what: str, seconds: float, lost: int) -> Snapshot:
        wait = Wait(b"p" + bytes([2]) * 31, what, seconds, 30, 90)
        now = table(3, round_=replace(real_round(), waits=(wait,), overdue=wait.is_overdue), lost=lost)
        assert wait.player in {player.key for player in now.players}
        return replace(now, acting_host=None)

    assert decide(alone, stopped("move", 91.0, lost=1)) == (Void(),)
    assert decide(OPEN, stopped("move", 91.0, lost=1)) == ()
    assert decide(alone, stopped("move", 89.0, lost=1)) == ()
    # Somebody who is there and thinks has not stopped the round; a program that is there and silent has.
    assert decide(alone, stopped("move", 91.0, lost=0)) == ()
    assert decide(alone, stopped("ready", 91.0, lost=0)) == ()
    assert decide(alone, stopped("shares", 91.0, lost=0)) == (Void(),)

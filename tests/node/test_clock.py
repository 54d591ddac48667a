"""A clock set back an hour, while a round is played and before somebody comes back: nothing is judged by it."""

from __future__ import annotations

import asyncio
import time

import pytest

from p2p.node.node import Node
from p2p.rounds.audit import verify_file
from p2p.rounds.phases import Phase
from p2p.rounds.roundfile import list_rounds
from tests.node.conftest import PATIENCE_S, Evening, until
from tests.node.test_node import is_over
from tests.node.test_return import come_back, is_in, stop

HOUR_S = 3600


def set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the wall clock of this process back an hour."""
    now, now_ns = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: now() - HOUR_S)
    monkeypatch.setattr(time, "time_ns", lambda: now_ns() - HOUR_S * 10**9)


async def hears(node: Node, speaker: Node, text: str) -> None:
    """Has somebody say something, and waits until another one hears it."""
    heard = asyncio.Event()
    stop_listening = node.subscribe(
        lambda news: [heard.set() for item in news if item.name == "said" and item.values["text"] == text] and None
    )
    await speaker.say(text)
    async with asyncio.timeout(PATIENCE_S):
        await heard.wait()
    stop_listening()


def card_number(node: Node, of: Node) -> int:
    """The number of the newest list of addresses that a node holds of another."""
    assert node._table.mesh is not None
    return node._table.mesh._cards[of.key].number


async def test_with_the_clock_set_back_a_round_goes_on_and_who_comes_back_is_heard(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bogdan = await evening.table("Ana", "Bogdan")
    await hears(ana, bogdan, "before")
    await ana.offer_round()
    for node in (ana, bogdan):
        await until(node, is_in(Phase.ARRANGE))
    set_back(monkeypatch)
    await hears(ana, bogdan, "after")
    known = card_number(ana, bogdan)
    await stop(evening, bogdan)
    rounds = bogdan.config.data_dir / "rounds"
    (left,) = list_rounds(rounds)
    assert verify_file(left, evening.dealing).verdict == "unproven"
    # As if it had been left before midnight.
    left.rename(left.with_name("2026-01-01" + left.name[10:]))
    again = await come_back(evening, "Bogdan", (ana,))
    await until(again, lambda s: again.has_heard)
    await hears(ana, again, "back")
    # On one stream: what was said before a line that is heard has arrived.
    lines = 0
    while card_number(ana, again) <= known:
        lines += 1
        await hears(ana, again, f"and {lines} more")
    evening.seat_bots(ana, again)
    await asyncio.gather(*(until(node, is_over(1)) for node in (ana, again)))
    assert ana.snapshot.score[0].kind == "finished"
    for node in (ana, again):
        (path,) = list_rounds(node.config.data_dir / "rounds")
        assert verify_file(path, evening.dealing).verdict == "fair"

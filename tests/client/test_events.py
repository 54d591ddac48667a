"""The event file: every event documented, every line one object, no hidden face, a real round's story."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest

from client.bots import Level, next_move
from client.events import FIELDS, EventWriter, event
from client.sentences import Names
from engine.errors import Sentence
from engine.rules import RuleSet
from p2p.feeds.faults import Fault
from p2p.rounds.audit import NO_CHECKS, AuditedFault, Verdict
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from tests.client.nodes import House
from tests.client.positions import key_of
from tests.client.test_view import truth

DOCS = (Path(__file__).parents[2] / "docs" / "events.md").read_text()
NAMES = Names(("Ana", "Bogdan"), {key_of("Ana"): "Ana", key_of("Bogdan"): "Bogdan"}, 0, key_of("Ana"))
AT = datetime(2026, 5, 12, 20, 14, 5, 123456, UTC)
STABLE = (
    "table joined left contract phase words hand swapped ready declared eldest turn played drew picked_up "
    "flipped burnt out over fault verdict saved link said error"
)


def documented() -> dict[str, set[str]]:
    """Event → the fields that its row in docs/events.md names."""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", DOCS, re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", text)) for name, text in rows}


AUDIT = Verdict(
    "cheating",
    1,
    (),
    ("Ana",),
    "Bogdan",
    (AuditedFault("Bogdan", "fork", "ab", Sentence("fork", "{player} forked.", {"player": "Bogdan"})),),
    dict(NO_CHECKS),
    Sentence("a", "All."),
    (),
)
A, B = key_of("Ana"), key_of("Bogdan")

EXAMPLES: dict[str, News] = {
    news.name: news
    for news in (
        News("table", {"table": bytes(32), "name": "Kitchen"}),
        News("knocked", {"player": B, "name": "Bogdan", "bot": False, "address": "192.0.2.7:1"}),
        News("joined", {"player": B, "name": "Bogdan", "bot": True}),
        News("left", {"player": B, "name": "Bogdan", "why": "left"}),
        News(
            "contract",
            {
                "contract": b"\1" * 32,
                "round": 1,
                "attempt": 0,
                "players": (A, B),
                "rules": RuleSet(),
                "limits": [30, 90, 60],
            },
        ),
        News("declined", {"player": B, "reason": "gave_up", "debts": ((A, "accept"),)}),
        News("phase", {"contract": b"\1" * 32, "round": 1, "phase": Phase.ARRANGE}),
        News("words", {"words": ("a", "b", "c"), "seats": (A, B), "dealer": 1}),
        News("hand", {"seat": 0, "faces": (0, 34), "packs": 1}, private=True),
        News("swapped", {"seat": 0, "up_face": 0, "hand_face": 34, "packs": 1}),
        News("chose", {"seat": 0, "count": 3}),
        News("laid_out", {"seat": 0, "faces": (0, 34), "packs": 1}),
        News("ready", {"seat": 0}),
        News("declared", {"seat": 0, "face": 4, "packs": 1}),
        News("eldest", {"seat": 0, "rank": 1, "by": "upcard"}),
        News("turn", {"seat": 1}),
        News("played", {"seat": 0, "faces": (34,), "packs": 1, "zone": "hand"}),
        News("drew", {"seat": 0, "faces": (34,), "packs": 1, "count": 1, "own": True}, private=True),
        News("picked_up", {"seat": 0, "count": 4, "faces": (34,), "packs": 1}),
        News("flipped", {"seat": 0, "face": 34, "packs": 1, "legal": True}),
        News("chanced", {"seat": 0, "face": 34, "packs": 1, "legal": False}),
        News("named", {"seat": 0, "faces": (52,), "packs": 1, "rank": 7}),
        News("follow_up", {"seat": 0, "rank": 7}),
        News("done", {"seat": 0}),
        News("reversed", {"seat": 0, "direction": -1}),
        News("skipped", {"seats": (1, 0)}),
        News("burnt", {"seat": 0, "count": 4, "by": "ten"}),
        News("out", {"seat": 0, "place": 1}),
        News(
            "over",
            {
                "round": 1,
                "result": "finished",
                "finish": (A,),
                "shithead": B,
                "debts": ((B, "move"),),
                "left": (B,),
                "gave_up": (A,),
            },
        ),
        News("fault", {"player": B, "code": "bad_digest", "fault": Fault(B, "bad_digest", (b"",), 3)}),
        News("verdict", {"round": 1, "verdict": "cheating", "audit": AUDIT}),
        News("saved", {"round": 1, "path": "/x/r.round"}),
        News("unsaved", {"round": 1, "reason": "full"}),
        News("link", {"player": B, "status": "good", "rtt_ms": 4}),
        News("said", {"player": B, "name": "Bogdan", "text": "hello"}),
        News("error", {"sentence": Sentence("a", "It broke."), "remedy": Sentence("b", "Mend it.")}),
    )
}


def test_every_event_has_an_example_and_a_row_in_the_docs() -> None:
    assert FIELDS.keys() == EXAMPLES.keys()
    assert FIELDS.keys() == documented().keys()
    assert set(STABLE.split()) <= FIELDS.keys()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_field_is_documented_and_every_example_is_whole(name: str) -> None:
    made = event(EXAMPLES[name], NAMES, AT)
    fields = made.keys() - {"event", "at", "private"}
    assert fields <= documented()[name]
    assert fields
    assert all(made[field] is not None for field in fields)
    assert json.loads(json.dumps(made)) == made


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("played", {"player": "Ana", "cards": ["Th"], "zone": "hand"}),
        ("picked_up", {"player": "Ana", "count": 4, "upcards": ["Th"]}),
        ("drew", {"player": "Ana", "count": 1, "cards": ["Th"], "private": True}),
        ("words", {"words": ["a", "b", "c"], "seats": ["Ana", "Bogdan"], "dealer": "Bogdan"}),
        ("eldest", {"player": "Ana", "rank": "3", "by": "upcard"}),
        ("phase", {"round": 1, "phase": "arrange"}),
        ("chanced", {"player": "Ana", "card": "Th", "legal": False}),
        ("named", {"player": "Ana", "cards": ["X1"], "rank": "9"}),
        ("reversed", {"player": "Ana", "direction": "anticlockwise"}),
        ("skipped", {"players": ["Bogdan", "Ana"]}),
        (
            "fault",
            {"player": "Bogdan", "code": "bad_digest", "sentence": "Bogdan signed a wrong state of the game."},
        ),
        (
            "over",
            {
                "round": 1,
                "result": "finished",
                "finish": ["Ana"],
                "shithead": "Bogdan",
                "debts": [{"player": "Bogdan", "what": "move"}],
                "left": ["Bogdan"],
                "gave_up": ["Ana"],
            },
        ),
        ("error", {"code": "a", "sentence": "It broke.", "remedy": "Mend it."}),
    ],
)
def test_what_events_hold(name: str, fields: dict[str, object]) -> None:
    made = event(EXAMPLES[name], NAMES, AT)
    assert made == {"event": name, "at": "2026-05-12T20:14:05.123Z", **fields}


def test_times_are_utc_whatever_the_clock() -> None:
    at = datetime(2026, 5, 12, 23, 14, 5, tzinfo=timezone(timedelta(hours=3)))
    assert event(News("ready", {"seat": 0}), NAMES, at)["at"] == "2026-05-12T20:14:05.000Z"


def test_values_that_are_missing_or_strange_are_null() -> None:
    for name in FIELDS:
        assert event(News(name), NAMES, AT)["event"] == name
    assert event(News("something new", {"player": B}), NAMES, AT) == {
        "event": "something new",
        "at": "2026-05-12T20:14:05.123Z",
    }


async def test_a_whole_round_as_one_player_may_tell_it() -> None:
    house = House("Ana", "Bogdan", "Carmen", seed=8)
    file = io.StringIO()
    writer = EventWriter(house.nodes[0], file, lambda: AT)
    await house.nodes[0].offer_round()
    random = Random(8)
    moved = True
    while moved:
        moved = False
        for node in house.nodes:
            move = next_move(node.snapshot, Level.NORMAL, random)
            if move is not None:
                await node.act(move)
                moved = True
    await house.nodes[1].leave()
    writer.close()
    writer.close()
    await house.nodes[2].say("too late")
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    names = [line["event"] for line in lines]
    assert names[:4] == ["table", "joined", "joined", "joined"]
    assert names[-1] == "left"
    assert lines[-1]["player"] == "Bogdan"
    assert {"contract", "words", "hand", "ready", "eldest", "turn", "played", "drew", "out", "over"} <= set(names)
    assert {line["event"] for line in lines if line.get("private")} <= {"hand", "drew"}
    over = next(line for line in lines if line["event"] == "over")
    assert sorted([*over["finish"], over["shithead"]]) == ["Ana", "Bogdan", "Carmen"]
    for line in lines:
        assert line.keys() - {"event", "at", "private"} <= documented()[line["event"]]
    assert house.nodes[0].listeners == 0


async def test_no_card_is_told_before_its_time() -> None:
    house = House("Ana", "Bogdan", seed=9)
    file = io.StringIO()
    EventWriter(house.nodes[0], file, lambda: AT)
    await house.nodes[0].offer_round()
    random = Random(9)
    peer = house.table.peers[0]
    for _ in range(40):
        for node in house.nodes:
            move = next_move(node.snapshot, Level.NORMAL, random)
            if move is not None:
                await node.act(move)
        known = truth(peer)
        snapshot = house.nodes[0].snapshot
        assert known is not None
        assert snapshot.round is not None
        state, seat = snapshot.round.state, snapshot.round.my_seat
        assert state is not None
        hidden = {
            known[p]
            for other, hand in enumerate(state.hands)
            for p in (*hand, *state.downs[other])
            if p >= 0 and state.faces[p] < 0 and not (other == seat and p in hand)
        } | {known[p] for p in state.stock}
        told = set(re.findall(r'"([2-9TJQKA][cdhs])"', file.getvalue()))
        assert not told & hidden


def test_a_file_that_cannot_be_written_is_given_up() -> None:
    class Full(io.StringIO):
        tries = 0

        def write(self, text: str) -> int:
            self.tries += 1
            raise OSError(28, "No space left on device")

    house = House("Ana", "Bogdan")
    file = Full()
    writer = EventWriter(house.nodes[0], file)
    house.nodes[0].tell(News("ready", {"seat": 0}))
    assert file.tries == 1
    writer.close()
    assert house.nodes[0].listeners == 0


def test_a_trouble_that_was_told_before_anybody_listened_is_told_at_the_start() -> None:
    node = House("Ana", "Bogdan").nodes[0]
    node.snapshot = replace(node.snapshot, notices=("no_mdns",))
    file = io.StringIO()
    EventWriter(node, file).close()
    (trouble,) = [item for item in map(json.loads, file.getvalue().splitlines()) if item["event"] == "error"]
    assert trouble["code"] == "no_mdns" and "multicast" in trouble["sentence"]


def test_each_line_is_flushed() -> None:
    class Flushed(io.StringIO):
        flushes = 0

        def flush(self) -> None:
            self.flushes += 1
            super().flush()

    file = Flushed()
    EventWriter(House("Ana", "Bogdan").nodes[0], file).close()
    assert file.flushes == len(file.getvalue().splitlines()) == 3


def test_an_output_without_unicode_gets_escapes() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    EventWriter(House("Ana", "Zoë").nodes[0], file).close()
    text = file.buffer.getvalue().decode("ascii")  # type: ignore[attr-defined]
    assert json.loads(text.splitlines()[2])["player"] == "Zoë"

"""Which table a person is asked to return to, and what is kept of the answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from client.commands import returning
from client.commands.returning import last_table, table_words, take_seat_again, wants_back
from client.commands.seat import Seat
from client.datadir import DataDir
from engine.rules import RuleSet
from p2p.feeds.identity import load_or_make_key, public_key
from p2p.node.remember import read_rules_text, rules_text
from p2p.node.store import RememberedTable, Store


def seat(home: Path, *, auto: bool = False) -> Seat:
    data = DataDir(home)
    data.prepare()
    return Seat(data, "Ana", auto, "normal", None, None, None)


def remember(home: Path, name: str, hours: float = 0.0, *, is_here_only: bool = False) -> RememberedTable:
    data = DataDir(home)
    data.prepare()
    at = (datetime.now(UTC) - timedelta(hours=hours)).isoformat(timespec="seconds")
    table = RememberedTable(name.encode().ljust(32), name, at, 5, "", is_here_only)
    store = Store(data.database, public_key(load_or_make_key(data.identity)))
    store.note_table(table)
    store.close()
    return table


def test_the_newest_table_of_the_right_kind_is_offered(tmp_path: Path) -> None:
    assert last_table(DataDir(tmp_path), is_here_only=False) is None
    remember(tmp_path, "Attic", 5)
    newest = remember(tmp_path, "Kitchen", 1)
    here = remember(tmp_path, "Alone", 0.5, is_here_only=True)
    assert last_table(DataDir(tmp_path), is_here_only=False) == newest
    assert last_table(DataDir(tmp_path), is_here_only=True) == here


def test_a_table_of_long_ago_is_not_offered(tmp_path: Path) -> None:
    remember(tmp_path, "Kitchen", returning.REMEMBERED_H + 1)
    assert last_table(DataDir(tmp_path), is_here_only=False) is None


def test_a_table_that_was_declined_is_not_offered_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = remember(tmp_path, "Kitchen")
    monkeypatch.setattr(returning, "is_interactive", lambda: True)
    monkeypatch.setattr(returning.click, "confirm", lambda *args, **kwargs: False)
    assert not wants_back(seat(tmp_path), table)
    assert last_table(DataDir(tmp_path), is_here_only=False) is None


def test_where_nobody_can_be_asked_the_seat_is_taken_again(tmp_path: Path) -> None:
    table = remember(tmp_path, "Kitchen")
    assert wants_back(seat(tmp_path), table)
    assert wants_back(seat(tmp_path, auto=True), table)


def test_another_name_means_another_table(tmp_path: Path) -> None:
    remember(tmp_path, "Kitchen")

    async def sit(table: RememberedTable) -> int:
        return 7

    assert take_seat_again(seat(tmp_path), is_here_only=False, name="Attic", sit=sit) is None
    assert take_seat_again(seat(tmp_path), is_here_only=False, name="kitchen", sit=sit) == 7
    assert take_seat_again(seat(tmp_path), is_here_only=False, name=None, sit=sit) == 7


def test_rules_are_remembered_as_text_and_forgiven() -> None:
    rules = RuleSet(refill_to=4)
    assert read_rules_text(rules_text(rules)) == rules
    assert read_rules_text(rules_text(RuleSet())) == RuleSet()
    assert read_rules_text("no_such_option=1") == RuleSet()


@pytest.mark.parametrize(
    ("name", "words"),
    [("Ana's table", "Ana's table"), ("Kitchen", "the table Kitchen"), ("Table", "the table Table")],
)
def test_a_table_is_named_once_in_a_sentence(name: str, words: str) -> None:
    assert table_words(name) == words

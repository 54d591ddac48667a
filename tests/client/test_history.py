"""What the saved rounds add up to."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from client.commands.history import as_object, as_table, in_words
from client.history import PlayedRound, pairs, read_rounds, standings
from tests.client.test_replay import NAMES, save
from tests.p2p.peers import Table


def played(
    number: int, *finish: str, last: str | None, ending: str = "finished", verdict: str = "fair"
) -> PlayedRound:
    names = sorted({*finish, *([last] if last else [])})
    return PlayedRound(
        f"r{number}",
        f"2026-05-12T20:{number:02}:00+00:00",
        number,
        tuple((name, name.lower()) for name in names),
        ("bot",),
        finish,
        last,
        ending,
        verdict,
        50,
    )


EVENING = (
    played(1, "Ana", "Bob", last="Cleo"),
    played(2, "Cleo", "Ana", last="Bob"),
    played(3, "Ana", "Cleo", last="Bob"),
    played(4, "Ana", last=None, ending="unfinished"),
    played(5, "Bob", "Cleo", last="Ana", verdict="cheating"),
    played(6, "Ana", last="Bob"),
)


def test_sums_are_over_the_rounds_that_count() -> None:
    by_name = {each.name: each for each in standings(EVENING)}
    ana, bob, cleo = by_name["Ana"], by_name["Bob"], by_name["Cleo"]
    assert (ana.rounds, ana.shitheads, ana.firsts, ana.average_place) == (4, 0, 3, 1.25)
    assert (ana.streak, ana.longest, ana.cursed) == (4, 4, 0)
    assert (bob.rounds, bob.shitheads, bob.streak, bob.longest, bob.cursed) == (4, 3, 0, 1, 3)
    assert bob.average_place == pytest.approx((2 + 3 + 3 + 2) / 4)
    assert (cleo.rounds, cleo.shitheads, cleo.streak, cleo.share) == (3, 1, 2, pytest.approx(1 / 3))
    assert [each.name for each in standings(EVENING)] == ["Bob", "Cleo", "Ana"]


def test_pairs_say_who_met_whom() -> None:
    found = {(pair.first, pair.second): pair for pair in pairs(EVENING)}
    together = found["Ana", "Bob"]
    assert (together.rounds, together.first_shithead, together.second_shithead) == (4, 0, 3)
    assert found["Bob", "Cleo"].rounds == 3


def test_a_new_name_of_a_key_is_the_same_player() -> None:
    later = replace(
        EVENING[0], players=(("Anna", "ana"), ("Bob", "bob"), ("Cleo", "cleo")), finish=("Anna", "Bob")
    )
    ana = next(each for each in standings((*EVENING, later)) if each.key == "ana")
    assert (ana.name, ana.rounds) == ("Anna", 5)


def test_one_round_is_one_round() -> None:
    one = EVENING[:1]
    assert one[0].counts
    lines = in_words(one, standings(one), pairs(one))
    assert lines[0] == "1 round saved, which counts."
    assert all("1 rounds" not in line for line in lines)


def test_words_json_and_csv_hold_the_same() -> None:
    lines = in_words(EVENING, standings(EVENING), pairs(EVENING))
    assert lines[0] == "6 rounds saved, 4 of them count."
    assert any(line.startswith("Bob") and "######" in line for line in lines)
    data = json.loads(json.dumps(as_object(EVENING, standings(EVENING), pairs(EVENING))))
    assert [each["shithead"] for each in data["players"]] == [3, 1, 0]
    assert [each["counts"] for each in data["rounds"]] == [True, True, True, False, False, True]
    rows = list(csv.DictReader(io.StringIO(as_table(EVENING))))
    assert [row["shithead"] for row in rows] == ["Cleo", "Bob", "Bob", "", "Ana", "Bob"]


def test_a_name_is_no_formula_in_a_spreadsheet() -> None:
    evil = played(1, "=1+1", last="Bob")
    assert "'=1+1" in as_table((evil,))


def test_rounds_are_judged_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from p2p.dealing import TransparentDealing
    from p2p.rounds.audit import verify_file

    judged: list[str] = []

    def verify(path: Path):  # type: ignore[no-untyped-def]
        judged.append(path.name)
        return verify_file(path, TransparentDealing())

    monkeypatch.setattr("client.history.verify_file", verify)
    table = Table(NAMES, seed=7)
    table.start()
    table.play()
    directory = tmp_path / "rounds"
    path = save(table, directory)
    (directory / "broken.round").write_bytes(b"shithead-round 1\nnothing")
    cache = tmp_path / "history.json"
    (first,) = read_rounds(directory, cache)
    assert (first.verdict, first.counts, first.ending) == ("fair", True, "finished")
    assert {name for name, _ in first.players} == set(NAMES)
    assert read_rounds(directory, cache) == (first,)
    assert judged.count(path.name) == 1
    cache.write_text('{"version": 1, "rounds": {"x": 5}}')
    assert read_rounds(directory, cache) == (first,)
    path.unlink()
    assert read_rounds(directory, cache) == ()

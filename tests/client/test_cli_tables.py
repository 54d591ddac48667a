"""Whole programs at tables: played, verified, stopped, refused."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.commands.verify import HEADLINES
from tests.client.programs import Program, program, run

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Program]:
    """A data directory after one round against a bot, played by itself, and what was said."""
    home = tmp_path_factory.mktemp("played") / "data"
    events = home.with_name("events.jsonl")
    trace = home.with_name("trace.jsonl")
    done = run(
        home, "play", "--auto", "--bots", "1", "--rounds", "1", "--name", "Ana",
        "--events", str(events), "--trace", str(trace),
    )  # fmt: skip
    assert done.code == 0, done.text
    return home, done


def saved_round(home: Path) -> Path:
    (file,) = (home / "rounds").iterdir()
    return file


# -- playing


def test_a_round_against_a_bot_is_played_judged_and_saved(played: tuple[Path, Program]) -> None:
    home, done = played
    assert "Round 1 is over." in done.text
    assert str(saved_round(home)) in done.text


def test_events_tell_the_round_from_the_contract_to_the_verdict(played: tuple[Path, Program]) -> None:
    lines = (played[0].with_name("events.jsonl")).read_text(encoding="utf-8").splitlines()
    events = [json.loads(line)["event"] for line in lines]
    assert events[:2] == ["table", "joined"]
    order = [events.index(name) for name in ("contract", "words", "hand", "turn", "over", "saved", "verdict")]
    assert order == sorted(order)


def test_the_trace_is_json_and_holds_no_cards(played: tuple[Path, Program]) -> None:
    lines = (played[0].with_name("trace.jsonl")).read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines]
    assert items
    assert all("at" in item and "faces" not in item for item in items)


def test_the_saved_round_is_fair_here_and_fair_but_strange_elsewhere(
    played: tuple[Path, Program], tmp_path: Path
) -> None:
    home, _ = played
    here = run(home, "verify")
    assert here.code == 0
    assert "FAIR" in here.text
    assert "has not met" not in here.text
    elsewhere = run(tmp_path / "other", "verify", str(saved_round(home)))
    assert elsewhere.code == 0
    assert "has not met" in elsewhere.text
    assert not (tmp_path / "other").exists()


def test_the_verdict_is_one_json_object(played: tuple[Path, Program]) -> None:
    home, _ = played
    told = json.loads(run(home, "verify", "last", "--json").text)
    assert (told["verdict"], told["round"], told["faults"]) == ("fair", 1, [])
    players = {player["name"]: player for player in told["players"]}
    assert all(player["known"] and len(player["key"]) == 64 for player in told["players"])
    # Ana's seat played by itself, and everybody was told so.
    assert [player["bot"] for player in told["players"]] == [True, True]
    assert sorted(player["seat"] for player in told["players"]) == [0, 1]
    assert {told["shithead"], *told["finish"]} == set(players)
    assert told["checks"]["reveals"] == 2
    assert set(told["checks"]) == {"entries", "signatures", "shuffles", "shares", "moves", "reveals"}


def test_it_is_written_as_a_record_that_is_good(played: tuple[Path, Program], tmp_path: Path) -> None:
    home, _ = played
    record = tmp_path / "round.shr"
    assert run(home, "record", "export", "last", "-o", str(record)).text.strip() == f"Written to {record}."
    checked = run(home, "record", "check", str(record))
    assert (checked.code, "good" in checked.text) == (0, True)
    again = run(home, "record", "export")
    assert again.text.splitlines() == record.read_text(encoding="utf-8").splitlines()
    shown = run(home, "record", "show", str(record))
    assert shown.code == 0
    assert "phase" not in shown.text.splitlines()[0]
    kept = run(home, "record", "export", "-o", str(record))
    assert (kept.code, "can't be written" in kept.text) == (2, True)
    assert run(home, "record", "export", str(record)).code == 2


def test_rounds_lists_it_by_a_name_that_verify_takes(played: tuple[Path, Program]) -> None:
    home, _ = played
    (line,) = (json.loads(text) for text in run(home, "rounds", "--json").text.splitlines())
    assert line["ending"] == "finished"
    assert "Ana" in line["players"]
    assert line["name"] in run(home, "rounds").text
    assert run(home, "verify", line["name"][:20]).code == 0


@pytest.mark.parametrize("place", [0.3, 0.6, 0.95])
def test_one_changed_byte_is_found_wherever_it_is(
    played: tuple[Path, Program], tmp_path: Path, place: float
) -> None:
    data = bytearray(saved_round(played[0]).read_bytes())
    data[int(len(data) * place)] ^= 1
    file = tmp_path / "changed.round"
    file.write_bytes(data)
    told = run(tmp_path, "verify", "--json", str(file))
    assert told.code == 1
    assert json.loads(told.text)["verdict"] == "damaged"
    words = run(tmp_path, "verify", str(file))
    assert words.code == 1
    assert HEADLINES["damaged"] in words.text


def test_a_cut_file_is_damaged_and_a_damaged_one_is_still_listed(
    played: tuple[Path, Program], tmp_path: Path
) -> None:
    source = saved_round(played[0])
    (tmp_path / "rounds").mkdir()
    (tmp_path / "rounds" / source.name).write_bytes(source.read_bytes()[:-100])
    assert run(tmp_path, "verify", "last").code == 1
    assert "damaged" in run(tmp_path, "rounds").text


def test_bots_keep_their_keys_over_evenings(played: tuple[Path, Program], tmp_path: Path) -> None:
    home = tmp_path / "data"
    shutil.copytree(played[0], home)
    (bot,) = (home / "bots").iterdir()
    before = (bot / "identity.key").read_bytes()
    assert run(home, "play", "--bots", "1").code == 0
    assert (bot / "identity.key").read_bytes() == before


# -- ends


def test_the_end_of_input_is_quitting(tmp_path: Path) -> None:
    done = run(tmp_path, "play", "--bots", "1", "--name", "Ana")
    assert done.code == 0


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_mid_round_ends_in_order_and_frees_the_data(tmp_path: Path, number: signal.Signals) -> None:
    with program(tmp_path, "play", "--bots", "1", "--name", "Ana", typing=True) as ana:
        ana.wait_for("Your hand")
        ana.signal(number)
        assert ana.end() == 130
        assert "Traceback" not in ana.text
        assert "Fatal" not in ana.text
        assert ana.lines[-1] == "Stopped in the middle of round 1. Your seat is kept: shithead play plays on."
    # A round that was stopped is kept, and blames nobody.
    told = json.loads(run(tmp_path, "verify", "--json").text)
    assert (told["verdict"], told["faults"]) == ("unproven", [])
    assert run(tmp_path, "play", "--bots", "1").code == 0


def test_a_second_program_on_one_data_directory_is_refused(tmp_path: Path) -> None:
    with program(tmp_path, "play", "--bots", "1", "--name", "Ana", typing=True) as ana:
        ana.wait_for("Type `help`")
        second = run(tmp_path, "play")
        assert second.code == 2
        assert f"--data-dir {tmp_path}-2 join" in second.text
        # What only reads needs no lock.
        assert run(tmp_path, "rounds").code == 0
        ana.type("quit")
        ana.type("yes")
        assert ana.end() == 0


# -- a table with others


def host_port(host: Program) -> int:
    """The port of a host that says where it can be reached."""
    line = host.wait_for("reach this table at")
    return int(line.split(",")[0].split(" and ")[0].rstrip(".").rpartition(":")[2])


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, int]]:
    """An open table with one bot, called Kitchen, that waits for its host."""
    home = tmp_path_factory.mktemp("kitchen")
    arguments = ("--name", "Ana", "--table", "Kitchen", "--open", "--bots", "1", "--seats", "10")
    with program(home, "host", *arguments, "--port", "0", "--no-discovery", typing=True) as ana:
        yield ana, host_port(ana)


def test_two_programs_play_a_round_and_hold_the_same_one(tmp_path: Path) -> None:
    host = ("host", "--auto", "--seats", "2", "--rounds", "1", "--name", "Ana", "--open")
    with program(tmp_path / "ana", *host, "--port", "0", "--no-discovery") as ana:
        port = host_port(ana)
        with program(tmp_path / "bob", "join", f"127.0.0.1:{port}", "--auto", "--name", "Bob") as bob:
            assert bob.end() == 0, bob.text
        assert ana.end() == 0, ana.text
    told = [json.loads(run(tmp_path / who, "verify", "--json").text) for who in ("ana", "bob")]
    assert [each["verdict"] for each in told] == ["fair", "fair"]
    assert told[0]["finish"] == told[1]["finish"]
    assert saved_round(tmp_path / "ana").name == saved_round(tmp_path / "bob").name


def test_a_table_is_found_by_the_beginning_of_its_name(tmp_path: Path) -> None:
    arguments = ("--name", "Ana", "--table", "Quince and plum", "--open", "--port", "0")
    with program(tmp_path / "ana", "host", *arguments, typing=True) as ana:
        host_port(ana)
        seen = run(tmp_path / "eve", "tables", "--wait", "3", "--json")
        # Not every machine that runs tests lets multicast and broadcast come back to it.
        if seen.code == 3:
            pytest.skip("this machine's own network does not carry announcements")
        tables = [each for each in json.loads(seen.text) if each["table"] == "Quince and plum"]
        assert [(each["players"], each["rules"], each["compatible"]) for each in tables] == [
            (1, "wikipedia", True)
        ]
        with program(tmp_path / "bob", "join", "quince", "--name", "Bob", typing=True) as bob:
            ana.wait_for("Bob has joined")
            bob.wait_for("Quince and plum")
            ana.type("quit")
            assert ana.end() == 0
            assert bob.end() == 0


def test_join_words_lead_to_the_door(tmp_path: Path) -> None:
    with program(tmp_path / "ana", "host", "--name", "Ana", "--open", typing=True) as ana:
        words = ana.wait_for("Others sit down with").rpartition(" ")[2]
        assert words.count("-") == 3
        with program(tmp_path / "bob", "join", words.upper(), "--name", "Bob", typing=True) as bob:
            bob.wait_for("Ana's table")
            ana.type("quit")
            assert ana.end() == 0
            assert bob.end() == 0


@pytest.mark.slow
def test_join_words_of_nobody_find_nobody(tmp_path: Path) -> None:
    said = run(tmp_path, "join", "absurd-rich-ocean-hedgehog", "--name", "Bob")
    assert said.code == 3


@pytest.mark.slow
def test_no_table_of_that_name_is_said_after_a_while(tmp_path: Path) -> None:
    said = run(tmp_path, "join", "No such table", "--name", "Bob")
    assert said.code == 3
    assert "No such table" in said.text


def test_a_name_that_is_taken_is_refused_with_what_to_do(kitchen: tuple[Program, int], tmp_path: Path) -> None:
    said = run(tmp_path, "join", f"127.0.0.1:{kitchen[1]}", "--name", "ANA")
    assert said.code == 3
    assert "ANA" in said.text
    assert "--name" in said.text


def test_a_port_in_use_is_said(kitchen: tuple[Program, int], tmp_path: Path) -> None:
    said = run(tmp_path, "host", "--port", str(kitchen[1]), "--name", "Bob")
    assert said.code == 3
    assert f"{kitchen[1]} is in use" in said.text


def test_a_full_table_is_said(tmp_path: Path) -> None:
    # Five seats where nobody says otherwise: the host and four bots.
    arguments = ("--name", "Ana", "--open", "--bots", "4", "--port", "0", "--no-discovery")
    with program(tmp_path / "ana", "host", *arguments, typing=True) as ana:
        port = host_port(ana)
        said = run(tmp_path / "bob", "join", f"127.0.0.1:{port}", "--name", "Bob")
    assert said.code == 3
    assert "full" in said.text


def test_a_host_can_say_no(tmp_path: Path) -> None:
    with program(tmp_path / "ana", "host", "--name", "Ana", "--port", "0", "--no-discovery", typing=True) as ana:
        port = host_port(ana)
        with program(tmp_path / "bob", "join", f"127.0.0.1:{port}", "--name", "Bob") as bob:
            ana.wait_for("Bob is at the door")
            ana.type("refuse Bob")
            assert bob.end() == 3
            assert "did not let you in" in bob.text


def test_where_nobody_is_nobody_answers(tmp_path: Path) -> None:
    said = run(tmp_path, "join", "127.0.0.1:9", "--name", "Bob")
    assert said.code == 3
    assert "127.0.0.1:9" in said.text


def test_no_usable_interface_is_said(tmp_path: Path) -> None:
    said = run(tmp_path, "host", "--interface", "nowhere9", "--name", "Ana")
    assert said.code == 3
    assert "nowhere9" in said.text


@pytest.mark.parametrize("name", ["x" * 21, "a\tb", "\u202eAna", ""])
def test_a_name_that_no_table_takes_exits_2(tmp_path: Path, name: str) -> None:
    for command in (("play",), ("host",), ("join", "127.0.0.1:9")):
        assert run(tmp_path, *command, "--name", name).code == 2


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("host", "--auto"), "--seats"),
        (("host", "--seats", "2", "--bots", "2"), "do not fit"),
        (("host", "--table", "x" * 30), "table name"),
        (("play", "--set", "jump_in=complete"), "does not play"),
        (("play", "--set", "packs=1", "--bots", "7"), "72 cards"),
        (("play", "--events", "/no/such/directory/file"), "--events"),
        (("play", "--trace", "/no/such/directory/file"), "--trace"),
    ],
)
def test_what_does_not_fit_together_exits_2_and_says_why(
    tmp_path: Path, arguments: tuple[str, ...], part: str
) -> None:
    said = run(tmp_path, *arguments, "--name", "Ana")
    assert said.code == 2
    assert part in said.text


# -- data that are not as they should be


@pytest.mark.parametrize("name", ["shithead.db", "identity.key"])
def test_damaged_data_are_said_and_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"not what it was")
    said = run(tmp_path, "play", "--name", "Ana", "--bots", "1")
    assert said.code == 2
    assert name in said.text
    assert (tmp_path / name).read_bytes() == b"not what it was"


def test_a_data_directory_that_is_a_file_is_said(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.write_text("mine")
    said = run(place, "play", "--name", "Ana")
    assert said.code == 2
    assert "--data-dir" in said.text
    assert place.read_text() == "mine"

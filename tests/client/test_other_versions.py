"""Files of an older or newer version of the program: said with both versions, never changed, nothing lost."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import msgspec
import pytest

from client import cli, history, settings
from client.commands.common import read_rules
from client.commands.saved import known_addresses, known_keys
from client.datadir import DataDir
from client.problems import UsageProblem
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import SIGNED_LABEL, OtherProtocol, make_entry, read_entry
from p2p.feeds.identity import IdentityProblem, load_or_make_key, public_key
from p2p.node.remember import read_rules_text
from p2p.node.store import SCHEMA_VERSION, Store, StoreProblem
from p2p.rounds import roundfile
from tests.attacks.test_disk import VERSION_1
from tests.client.test_cli import Said
from tests.client.test_history import EVENING
from tests.client.test_replay import NAMES, save
from tests.p2p.peers import Table, key_for

ADA = key_for("Ada")
ME = public_key(ADA)


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    made = DataDir(tmp_path / "data")
    made.path.mkdir()
    return made


@pytest.fixture
def say(data: DataDir, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Runs a command line in this process, on the data directory of the test."""

    def run(*arguments: str) -> Said:
        code = cli.main(["--data-dir", str(data.path), *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Said(code, out, err)

    return run


def with_checksum(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def played(data: DataDir) -> Path:
    """A saved round."""
    table = Table(NAMES, TransparentDealing(), seed=3)
    table.start()
    table.play()
    return save(table, data.rounds)


def in_format(path: Path, number: int) -> None:
    """The same file as a version of that format might begin it."""
    body = path.read_bytes().removeprefix(roundfile.MAGIC)[:-32]
    path.write_bytes(with_checksum(b"shithead-round %d\n" % number + body))


def of_protocol(entry: e.Entry, version: int) -> tuple[bytes, bytes]:
    """An entry as it would be in another version of the protocol."""
    values = msgspec.msgpack.decode(entry.data)
    changed = msgspec.msgpack.encode([version, *values[1:]])
    return changed, ADA.sign(SIGNED_LABEL + changed)


# -- rounds


@pytest.mark.parametrize("number", [0, roundfile.FORMAT_VERSION + 1, 999_999])
def test_a_round_of_another_format_is_said_to_be_with_both_numbers(say, data: DataDir, number: int) -> None:  # type: ignore[no-untyped-def]
    path = played(data)
    in_format(path, number)
    before = path.read_bytes()
    for command in (("verify", str(path)), ("record", "export", str(path)), ("replay", str(path))):
        said = say(*command)
        assert said.code == 2, command
        for part in (path.name, f"format {number}", f"reads {roundfile.FORMAT_VERSION}", "Use the version"):
            assert part in said.out + said.err, command
    listed = say("rounds")
    assert listed.code == 0 and "saved by another version" in listed.out
    assert say("history").code == 0
    assert path.read_bytes() == before


def test_a_round_with_entries_of_another_protocol_is_not_called_damaged(say, data: DataDir) -> None:  # type: ignore[no-untyped-def]
    path = played(data)
    file = roundfile.decode(path.read_bytes(), "")
    pairs = [of_protocol(entry, e.VERSION + 1) for entry in file.entries]
    path.write_bytes(with_checksum(roundfile.MAGIC + msgspec.msgpack.encode([file.head, pairs])))
    said = say("verify", str(path))
    assert said.code == 2
    assert f"protocol {e.VERSION + 1}" in said.err and f"reads {e.VERSION}" in said.err
    assert "damaged" not in said.err


def test_what_a_later_version_adds_to_the_head_of_a_round_is_passed_over(data: DataDir) -> None:
    path = played(data)
    head, entries = msgspec.msgpack.decode(path.read_bytes().removeprefix(roundfile.MAGIC)[:-32])
    more = msgspec.msgpack.encode([{**head, "place": "kitchen"}, entries])
    read = roundfile.decode(with_checksum(roundfile.MAGIC + more), "")
    assert read == roundfile.decode(path.read_bytes(), "")


# -- the database


def opened_with(data: DataDir, version: int) -> StoreProblem:
    Store(data.database, ME).close()
    db = sqlite3.connect(data.database)
    db.execute(f"pragma user_version = {version}")
    db.commit()
    db.close()
    before = data.database.read_bytes()
    with pytest.raises(StoreProblem) as problem:
        Store(data.database, ME)
    assert data.database.read_bytes() == before
    return problem.value


def test_a_newer_database_is_named_with_both_versions_and_left_as_it_is(data: DataDir) -> None:
    problem = opened_with(data, SCHEMA_VERSION + 1)
    assert problem.code == "store_newer"
    assert f"version {SCHEMA_VERSION + 1}" in str(problem) and f"knows {SCHEMA_VERSION}" in str(problem)


def test_a_database_of_no_version_that_there_ever_was_is_damaged(data: DataDir) -> None:
    assert opened_with(data, -3).code == "store_damaged"


def test_a_command_says_that_the_data_are_newer(say, data: DataDir) -> None:  # type: ignore[no-untyped-def]
    opened_with(data, SCHEMA_VERSION + 1)
    said = say("play", "--name", "Ana", "--lines")
    assert said.code == 2
    assert "newer version" in said.err and str(data.database) in said.err


def test_a_table_of_another_protocol_is_not_called_damaged_and_its_entries_stay(data: DataDir) -> None:
    store = Store(data.database, ME)
    opening = make_entry(ADA, bytes(32), 0, bytes(32), (), e.Open("Kitchen", "Ada", b"", bytes(32)))
    raw, signature = of_protocol(opening, e.VERSION + 1)
    with pytest.raises(OtherProtocol):
        read_entry(raw, signature)
    store._db.execute(
        "insert into entries (table_id, author, seq, id, data, signature) values (?, ?, 0, ?, ?, ?)",
        (opening.id, ME, opening.id, raw, signature),
    )
    with pytest.raises(StoreProblem) as problem:
        store.load(opening.id)
    assert problem.value.code == "table_other_version"
    assert f"protocol {e.VERSION + 1}" in str(problem.value) and f"program {e.VERSION}" in str(problem.value)
    assert store._db.execute("select count(*) from entries").fetchone() == (1,)
    store.close()


@pytest.mark.parametrize("script", [VERSION_1, "create table players (name text); pragma user_version = 99;"])
def test_known_players_of_another_version_are_used_as_far_as_can_be(data: DataDir, script: str) -> None:
    """Looked at beside a program that may be using it, so nothing is brought up; what can't be read is unknown."""
    db = sqlite3.connect(data.database)
    db.executescript(script)
    if script is VERSION_1:
        db.execute("insert into players (key, name, met_at) values (?, 'Bert', '2026-05-12')", (bytes(32),))
    db.commit()
    db.close()
    before = data.database.read_bytes()
    assert known_keys(data) == (frozenset({bytes(32)}) if script is VERSION_1 else frozenset())
    assert known_addresses(data) == []
    assert data.database.read_bytes() == before


def test_remembered_rules_that_this_version_does_not_know_become_the_usual_ones() -> None:
    assert read_rules_text("ceiling=7\nteleport=yes") == read_rules_text("")


# -- settings, rules, identity, what is kept of rounds


def test_settings_of_a_newer_version_serve_and_stay(data: DataDir) -> None:
    newer = 'name = "Ana"\nlanguage = "nl"\n\n[network]\nname = "eth0"\n'
    data.settings.write_text(newer, encoding="utf-8")
    assert settings.load(data.settings).name == "Ana"
    settings.save(data.settings, {"theme": "light"})
    assert settings.load(data.settings).theme == "light"
    assert data.settings.read_text(encoding="utf-8") == 'theme = "light"\n' + newer


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("name = 7", "name"),
        ("name = true", "name"),
        ("theme = 3", "theme"),
        ('theme = ["dark"]', "theme"),
        ("order = {}", "order"),
        ('suits = "runes"', "suits"),
        ('motion = "yes"', "motion"),
        ("sound = 1", "sound"),
        ("guide = 2026-05-12", "guide"),
    ],
)
def test_a_setting_of_another_kind_is_named_with_file_and_what_it_has_to_be(
    data: DataDir, line: str, option: str
) -> None:
    data.settings.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(UsageProblem) as problem:
        settings.load(data.settings)
    assert problem.value.code == "settings_bad_value"
    assert f"{option} has to be" in str(problem.value) and str(data.settings) in str(problem.value)
    assert data.settings.read_text(encoding="utf-8") == line + "\n"


def test_a_stored_name_that_is_none_here_is_said_to_stand_in_the_settings(data: DataDir) -> None:
    data.settings.write_text(f'name = "{"x" * 40}"\n', encoding="utf-8")
    with pytest.raises(UsageProblem) as problem:
        settings.choose_name(data.settings, None, None)
    assert problem.value.code == "name_long"
    assert str(data.settings) in str(problem.value) and "20 characters" in str(problem.value)


def test_an_option_of_newer_rules_is_named_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text('preset = "party"\nteleport = true\n', encoding="utf-8")
    with pytest.raises(UsageProblem) as problem:
        read_rules(str(path), ())
    assert problem.value.code == "unknown_option"
    assert all(part in str(problem.value) for part in (str(path), "Line 2", "teleport"))


def test_a_record_of_another_version_is_said_to_be_with_both(say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "position.shr"
    path.write_text("shithead-record 2\nrules wikipedia\n", encoding="utf-8")
    said = say("record", "check", str(path))
    assert said.code == 2 and "version 1, not 2" in said.err


def test_an_identity_in_another_form_is_left_alone(data: DataDir) -> None:
    newer = b"shithead-identity 2\n" + bytes(64)
    data.identity.write_bytes(newer)
    with pytest.raises(IdentityProblem) as problem:
        load_or_make_key(data.identity)
    assert problem.value.code == "key_damaged" and "another version" in str(problem.value)
    assert data.identity.read_bytes() == newer


def test_what_another_version_kept_of_judged_rounds_is_found_anew(data: DataDir) -> None:
    path = data.path / history.CACHE_NAME
    history._save_cache(path, {"one": EVENING[0]})
    kept = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**kept, "version": history.CACHE_VERSION + 1}), encoding="utf-8")
    assert history._load_cache(path) == {}

"""The data directory: where it is, who may read it, one program at a time."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from client.datadir import DataDir, find
from client.problems import UsageProblem
from tests.client.programs import run

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")


def test_the_option_wins_over_the_environment_and_that_over_the_system(tmp_path: Path) -> None:
    environment = {"SHITHEAD_HOME": str(tmp_path / "home")}
    assert find(str(tmp_path / "option"), environment).path == tmp_path / "option"
    assert find(None, environment).path == tmp_path / "home"
    assert find(None, {}).path.name == "shithead"
    assert find(None, {"SHITHEAD_HOME": ""}).path.name == "shithead"


def test_looking_for_the_directory_makes_nothing(tmp_path: Path) -> None:
    find(str(tmp_path / "new"), {})
    assert list(tmp_path.iterdir()) == []


@posix_only
def test_the_directory_is_for_its_owner_alone(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "deep" / "data")
    data.prepare()
    assert stat.S_IMODE(data.path.stat().st_mode) == 0o700
    assert list(data.path.iterdir()) == []


@posix_only
def test_a_directory_open_to_others_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    DataDir(tmp_path).prepare()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@posix_only
@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_directory_that_holds_other_things_keeps_its_rights(tmp_path: Path, mode: int) -> None:
    """Such as a home, or the place for temporary files of a whole machine."""
    (tmp_path / "letter.txt").write_text("mine")
    (tmp_path / "identity.key").write_bytes(bytes(32))
    tmp_path.chmod(mode)
    DataDir(tmp_path).prepare()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == mode


@posix_only
def test_what_may_hold_a_hand_or_a_secret_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    tmp_path.chmod(0o755)
    events, trace = tmp_path / "events.jsonl", tmp_path / "trace.jsonl"
    options = ("--auto", "--bots", "1", "--rounds", "1", "--events", str(events), "--trace", str(trace))
    done = run(tmp_path, "play", *options)
    assert done.code == 0, done.text
    assert '"private": true' in events.read_text(encoding="utf-8")
    private = [events, trace, tmp_path / "rounds", tmp_path / "bots", tmp_path / "identity.key"]
    for path in (*private, *tmp_path.glob("shithead.db*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_file_in_its_place_is_said_and_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.write_text("mine")
    with pytest.raises(UsageProblem) as caught:
        DataDir(place).prepare()
    assert caught.value.code == "data_not_a_directory"
    assert str(place) in str(caught.value)
    assert place.read_text() == "mine"


def test_a_file_above_its_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageProblem) as caught:
        DataDir(tmp_path / "file" / "data").prepare()
    assert "--data-dir" in str(caught.value)


def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Root may write everywhere, so permissions alone would not show it on every machine.
    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(UsageProblem) as caught:
        DataDir(tmp_path).prepare()
    assert caught.value.code == "data_unusable"
    assert "Permission denied" in str(caught.value)


def test_a_second_program_is_refused_with_the_line_for_a_second_person(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "my data")
    data.prepare()
    code = (
        "import sys; from pathlib import Path; from client.datadir import DataDir\n"
        "with DataDir(Path(sys.argv[1])).locked(): print('locked', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(data.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == "locked"
        with pytest.raises(UsageProblem) as caught, data.locked():
            pass
        assert caught.value.code == "data_in_use"
        assert "shithead --data-dir" in str(caught.value)
        assert "my data-2" in str(caught.value)
    finally:
        # Killed, not asked: the lock of a crashed program must not stay.
        other.kill()
        other.communicate()
    with data.locked():
        assert data.lock.exists()


def test_where_nothing_was_kept_nothing_is_removed(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    assert DataDir(tmp_path).removal() == ()
    assert DataDir(tmp_path / "not there").removal() == ()


@posix_only
def test_the_line_that_removes_everything_spares_what_is_not_ours(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "with blank")
    data.prepare()
    for name in ("identity.key", "shithead.db", "shithead.db-wal", "shithead.log.1", "lock", "letters.txt"):
        (data.path / name).write_text("something")
    for name in ("rounds", "bots", "photos"):
        (data.path / name).mkdir()
        (data.path / name / "one").write_text("something")
    (line,) = data.removal()
    subprocess.run(["/bin/sh", "-c", line], check=True, cwd=tmp_path)
    assert sorted(path.name for path in data.path.iterdir()) == ["letters.txt", "photos"]


def test_a_file_in_its_place_or_above_is_told_before_anything_is_said_of_removing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "data"):
        with pytest.raises(UsageProblem) as caught:
            DataDir(place).check_place()
        assert caught.value.code == "data_not_a_directory"
    DataDir(tmp_path / "new").check_place()
    assert not (tmp_path / "new").exists()

"""Inputs and outputs as they may really be: closed, full, never read, without an end."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from client import backlog, cli
from client.backlog import Backlog, unhurried
from p2p.files import read_bounded
from p2p.rounds import roundfile
from tests.client.programs import program, run

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")
linux_only = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")

PATIENCE_S = 120.0
RECORD = Path(__file__).parent.parent / "records" / "again.shr"


def shell(line: str, home: Path) -> subprocess.CompletedProcess[str]:
    """The program as a shell starts it; ``$S`` in the line is the command."""
    command = f"{sys.executable} -m client.cli --data-dir {home}"
    environment = {**os.environ, "S": command}
    return subprocess.run(
        ["/bin/sh", "-c", line], env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


# -- the three streams


@posix_only
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_one_that_nobody_reads(closed: str, tmp_path: Path) -> None:
    assert shell(f"$S where {closed}", tmp_path).returncode == 0
    assert shell(f"$S verify nosuch {closed}", tmp_path).returncode == 2
    assert not list(tmp_path.glob("*.log"))


@posix_only
def test_a_round_is_played_with_all_streams_closed(tmp_path: Path) -> None:
    done = shell("$S play --auto --bots 1 --rounds 1 <&- >&- 2>&-", tmp_path)
    assert done.returncode == 0
    assert len(list((tmp_path / "rounds").glob("*.round"))) == 1


@linux_only
@pytest.mark.parametrize("arguments", ["where", "--help", "--version", "rounds", f"record show {RECORD}"])
def test_an_output_that_takes_nothing_is_said_and_is_no_bug(arguments: str, tmp_path: Path) -> None:
    done = shell(f"$S {arguments} >/dev/full", tmp_path)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "has a bug" not in done.stderr
    assert "Traceback" not in done.stderr


@linux_only
def test_where_not_even_an_error_can_be_said_the_exit_code_says_it(tmp_path: Path) -> None:
    assert shell("$S verify nosuch 2>/dev/full", tmp_path).returncode == 2
    assert shell("$S where >/dev/full 2>/dev/full", tmp_path).returncode == 2


# -- outputs that nobody reads


@posix_only
def test_events_that_nobody_reads_stop_neither_the_table_nor_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "events"
    os.mkfifo(pipe)
    handle = os.open(pipe, os.O_RDWR)
    try:
        # Full before the first event: a writer that waits for it waits for ever.
        os.set_blocking(handle, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(handle, bytes(4096))
        done = run(tmp_path / "data", "play", "--auto", "--bots", "1", "--rounds", "1", "--events", str(pipe))
        assert done.code == 0, done.text
        assert "last round" in done.text
    finally:
        os.close(handle)


@posix_only
def test_a_signal_ends_a_program_whose_output_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import asyncio, os, sys\n"
        "from client.commands import running\n"
        "running.CLOSE_DEADLINE_S = 0.1\n"
        "async def main():\n"
        "    print('ready', flush=True)\n"
        "    while True: sys.stdout.write('x' * 4096)\n"
        "sys.exit(running.run(main))\n"
    )
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.read(5) == b"ready"
            process.send_signal(signal.SIGTERM)
            # Without reading on: the pipe is full, or will be.
            assert process.wait(PATIENCE_S) == 130
        finally:
            process.kill()


def test_a_backlog_writes_all_in_order_and_says_what_went_wrong(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as file, unhurried(file) as out:
        for number in range(2000):
            out.write(f"{number} ß\n")
            out.flush()
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert text == "".join(f"{number} ß\n" for number in range(2000))


def test_a_backlog_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "MAX_BACKLOG_BYTES", 1 << 20)
    monkeypatch.setattr(backlog, "DRAIN_S", 0.0)
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "w", encoding="utf-8") as stream:
        out = Backlog(stream)
        with pytest.raises(OSError, match="keep up") as problem:
            while True:
                out.write("x" * 4096)
        assert problem.value.errno == errno.ENOBUFS
        os.close(read_end)  # frees the thread
        out.close()
        out._thread.join(PATIENCE_S)
        assert not out._thread.is_alive()


# -- inputs without an end


@posix_only
@pytest.mark.parametrize("command", ["verify", "replay", "record export", "record check", "record show", "rules"])
def test_what_has_no_end_or_no_writer_is_no_input(command: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    words = command.split()
    for place in ("/dev/zero", str(pipe)):
        expected = (
            (0, 1) if words == ["rules"] and place == str(pipe) else (1, 2)
        )  # no house rule is a set of them
        assert cli.main(["--data-dir", str(tmp_path), *words, place]) in expected


@posix_only
def test_a_file_is_read_to_its_bound_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(OSError, match="large") as problem:
        read_bounded(path, 4)
    assert problem.value.errno == errno.EFBIG
    with pytest.raises(IsADirectoryError):
        read_bounded(tmp_path, 5)
    with pytest.raises(OSError, match="large"):
        read_bounded(Path("/dev/zero"), 3 << 20)


@posix_only
def test_a_pipe_with_a_writer_is_read_to_its_end(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"some")
    os.close(write_end)
    try:
        if Path(f"/dev/fd/{read_end}").exists():
            assert read_bounded(Path(f"/dev/fd/{read_end}"), 100) == b"some"
    finally:
        os.close(read_end)


# -- names of places


@pytest.mark.parametrize("name", ["x" * 5000, "a/" * 3000 + "b", "~nobody-of-this-name/x"])
@pytest.mark.parametrize("command", [("where",), ("verify",), ("rounds",), ("play", "--auto", "--rounds", "1")])
def test_a_place_that_cannot_be_is_said(
    name: str, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.main(["--data-dir", name, *command])
    said = capsys.readouterr()
    assert code in (0, 2)
    assert "has a bug" not in said.err
    assert "Traceback" not in said.out + said.err


@pytest.mark.parametrize("command", ["verify", "replay", "record export", "record check", "record show"])
def test_a_file_name_that_is_too_long_is_said(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--data-dir", str(tmp_path), *command.split(), "x" * 5000]) == 2
    assert "has a bug" not in capsys.readouterr().err


@posix_only
def test_a_directory_that_is_gone_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    python = f"PYTHONPATH={Path(cli.__file__).parent.parent} {sys.executable} -m client.cli"
    done = shell(f"cd {gone} && rmdir {gone} && {python} --data-dir here where", tmp_path)
    assert done.returncode == 2
    assert "no place for the data" in done.stderr


@posix_only
def test_without_a_home_nothing_is_made_in_a_directory_called_tilde(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "SHITHEAD_HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cli.main(["where"]) == 2
    assert "--data-dir" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
def test_a_directory_whose_name_is_no_text_serves_as_well(tmp_path: Path) -> None:
    home = Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xff"))
    done = run(home, "play", "--auto", "--bots", "1", "--rounds", "1")
    assert done.code == 0, done.text
    assert cli.main(["--data-dir", str(home), "verify"]) == 0


# -- what the system has no more of


@pytest.mark.parametrize("number", sorted(cli.SCARCE))
def test_what_the_system_has_no_more_of_is_no_bug(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def short(*arguments: object, **named: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setenv("SHITHEAD_HOME", str(tmp_path))
    monkeypatch.setattr(cli.cli, "main", short)
    assert cli.main(["where"]) == 2
    said = capsys.readouterr().err
    assert os.strerror(number) in said
    assert "has a bug" not in said


def test_no_memory_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def short(*arguments: object, **named: object) -> int:
        raise MemoryError

    monkeypatch.setenv("SHITHEAD_HOME", str(tmp_path))
    monkeypatch.setattr(cli.cli, "main", short)
    assert cli.main(["where"]) == 2
    assert "no memory left" in capsys.readouterr().err


def test_typing_goes_on_where_input_has_ended(tmp_path: Path) -> None:
    """An input at its end is the end of a person's game, and no trouble."""
    with program(tmp_path, "play", "--bots", "1", "--name", "Ana") as running:
        assert running.end() == 0


# -- what somebody else's file may hold


NASTY = "\x1b[2J\x1b]0;x\x07\u202e"


@pytest.mark.parametrize("field", ["saved_at", "program", "ending"])
def test_what_nobody_signed_in_a_round_file_is_printable_or_the_file_is_damaged(field: str) -> None:
    good = roundfile.Head(bytes(32), 1, "2026-05-12T20:14:00+00:00", "0.1.0", bytes(32), "finished")
    assert roundfile.decode(roundfile.encode(good, []), "file").head == good
    for text in (NASTY, "finished\n", "ä"):
        bad = msgspec.structs.replace(good, **{field: text})
        with pytest.raises(roundfile.DamagedRound):
            roundfile.decode(roundfile.encode(bad, []), "file")


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
@pytest.mark.parametrize("command", ["rounds", "verify", "record export", "record check", "record show", "replay"])
def test_the_name_of_a_file_moves_no_cursor(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "rounds" / f"2026{NASTY}.round"
    place.parent.mkdir()
    place.write_bytes(RECORD.read_bytes() if command == "record check" else b"junk")
    words = command.split() if command == "rounds" else [*command.split(), str(place)]
    cli.main(["--data-dir", str(tmp_path), *words])
    said = capsys.readouterr()
    # Text that goes to no terminal loses sequences anyway, but not all that moves.
    assert "2026" in said.out + said.err
    for mark in ("\x1b", "\x07", "\u202e"):
        assert mark not in said.out + said.err

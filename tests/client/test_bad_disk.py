"""What a person sees when the disk takes no more in the middle of a round, and that the round can be finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from client.commands.logs import log_to, write_crash
from client.datadir import DataDir
from client.problems import EXIT_REFUSED
from p2p.feeds.entries import Start
from p2p.node.store import Store
from p2p.rounds.audit import verify_file
from p2p.rounds.roundfile import list_rounds, read
from tests.client.bad_disk import HOWS
from tests.client.programs import program

PLAY = ("play", "--lines", "--auto", "--rounds", "1", "--bots", "1", "--name", "Ana")

LAST_SEQ = 8
"""Of an entry that lies in the middle of the deal."""

SAID = {"full": "is full. Free some space and start again", "read_only": "can't be written"}


def starts_on_disk(home: Path) -> list[bytes]:
    """The offers of rounds in a database."""
    from p2p.feeds.identity import load_or_make_key, public_key

    store = Store(home / "shithead.db", public_key(load_or_make_key(home / "identity.key")))
    (table,) = store.remembered_tables()
    found = [entry.id for entry in store.load(table.table) if isinstance(entry.body, Start)]
    store.close()
    return found


@pytest.mark.parametrize("how", HOWS)
def test_a_disk_that_takes_no_more_in_mid_round_is_said_and_the_round_is_finished_later(
    tmp_path: Path, how: str
) -> None:
    module = ("tests.client.bad_disk", str(LAST_SEQ), how)
    with program(tmp_path, *PLAY, module=module) as spoilt:
        code = spoilt.end()
    assert "Traceback" not in spoilt.text
    assert SAID[how] in spoilt.lines[-1] and str(tmp_path / "shithead.db") in spoilt.lines[-1]
    assert code == EXIT_REFUSED
    (offered,) = starts_on_disk(tmp_path)
    with program(tmp_path, *PLAY) as again:
        assert again.end() == 0, again.text
    (file,) = list_rounds(tmp_path / "rounds")
    assert read(file).head.contract == offered
    assert verify_file(file).verdict == "fair"


def test_without_a_disk_for_the_log_a_report_goes_among_the_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a log that can't be written is no reason not to play."""
    nowhere = tmp_path / "file"
    nowhere.write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with log_to(nowhere / "shithead.log"):
        place = write_crash(RuntimeError("why"), DataDir(nowhere))
    assert place is not None and place.parent == tmp_path
    assert "RuntimeError: why" in place.read_text(encoding="utf-8")
    monkeypatch.setattr("tempfile.tempdir", str(nowhere))
    assert write_crash(RuntimeError("why"), DataDir(nowhere)) is None

"""Real programs with real sockets and disks, killed at their own entries and started again.

A few by default; ``SHITHEAD_KILLS=100 pytest tests/client/test_kills.py`` tries so many, each at another place.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path
from random import Random

import pytest

from p2p.rounds.audit import Verdict, verify_file
from p2p.rounds.roundfile import list_rounds
from tests.client.doomed import MOMENTS
from tests.client.programs import program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

KILLS = int(os.environ.get("SHITHEAD_KILLS", "3"))

LAST_SEQ = 60
"""A round of two has some 70 to 100 entries of each; all phases up to the play lie before the thirtieth."""

OPTIONS = ("--auto", "--rounds", "1", "--interface", "127.0.0.1")


def verdict_of(home: Path) -> Verdict:
    (file,) = list_rounds(home / "rounds")
    return verify_file(file)


@pytest.mark.parametrize("number", range(KILLS))
def test_a_program_killed_at_one_of_its_entries_plays_on(tmp_path: Path, number: int) -> None:
    random = Random(f"kill {number}")
    victim, moment = random.choice(("ana", "bogdan")), MOMENTS[number % 3]
    # The host writes the opening before anybody can come: without it there is no table to come back to.
    seq = random.randrange(1 if victim == "ana" else 0, LAST_SEQ)
    doomed = ("tests.client.doomed", str(seq), moment)
    commands = {
        "ana": ("host", "--open", "--seats", "2", "--table", f"Kitchen {number}", "--name", "Ana", *OPTIONS),
        "bogdan": ("join", f"kitchen {number}", "--name", "Bogdan", *OPTIONS),
    }
    modules = {name: doomed if name == victim else ("client.cli",) for name in commands}
    with contextlib.ExitStack() as both:
        ana = both.enter_context(program(tmp_path / "ana", *commands["ana"], module=modules["ana"]))
        # Not before there is a table: whoever finds none goes home, and the host would wait for ever.
        ana.wait_for("sit down with")
        bogdan = both.enter_context(program(tmp_path / "bogdan", *commands["bogdan"], module=modules["bogdan"]))
        first, other = (ana, bogdan) if victim == "ana" else (bogdan, ana)
        # A short round may be over before that entry: then nobody was killed, and all has to hold as well.
        code, last = first.end(), first.text
        if code != 0:
            assert code == -signal.SIGKILL, last
            with program(tmp_path / victim, *commands[victim]) as again:
                code, last = again.end(), again.text
        assert (code, other.end()) == (0, 0), f"{victim} {seq} {moment}\n{last}\n{other.text}"
    told = [verdict_of(tmp_path / name) for name in commands]
    assert [verdict.verdict for verdict in told] == ["fair", "fair"]
    assert (told[0].contract, told[0].finish) == (told[1].contract, told[1].finish)

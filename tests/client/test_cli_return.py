"""Programs that are killed with the cards on the table, and started again."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from client.datadir import DataDir
from engine.rules import RuleSet
from p2p.node.node import Node, NodeConfig
from p2p.rounds.audit import verify_file
from p2p.rounds.roundfile import list_rounds
from tests.client.programs import Program, program, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

HERE = ("--interface", "127.0.0.1")
"""Real sockets and announcements, which stay on this machine."""


def kill(running: Program) -> None:
    """As a power cut does: nothing is said, nothing is tidied up."""
    running.signal(signal.SIGKILL)
    running.end()


def verdicts(home: Path) -> list[str]:
    return [verify_file(path).verdict for path in list_rounds(home / "rounds")]


def test_a_table_against_bots_that_was_killed_is_played_on(tmp_path: Path) -> None:
    arguments = ("play", "--auto", "--bots", "2", "--rounds", "1", "--name", "Ana")
    with program(tmp_path / "ana", *arguments) as first:
        first.wait_for("The cards are dealt")
        kill(first)
    second = run(tmp_path / "ana", *arguments)
    assert second.code == 0, second.text
    assert "You are back at Ana's table." in second.text
    assert "Round 1 is over." in second.text
    assert verdicts(tmp_path / "ana") == ["fair"]
    third = run(tmp_path / "ana", *arguments)
    assert "You are back" not in third.text, "a table that was closed is over"


def test_who_was_stopped_before_the_bots_had_sat_down_gets_them_on_coming_back(tmp_path: Path) -> None:
    home = tmp_path / "ana"

    async def open_and_stop() -> None:
        config = NodeConfig(home, "Ana", auto=True, loopback=True, port=0, discovery=False)
        node = await Node.open_table(config, "Ana's table", seats=3, rules=RuleSet())
        await node.close()  # and has not left

    DataDir(home).prepare()
    asyncio.run(open_and_stop())
    again = run(home, "play", "--auto", "--bots", "2", "--rounds", "1", "--name", "Ana")
    assert again.code == 0, again.text
    assert "You are back at Ana's table." in again.text
    assert verdicts(home) == ["fair"]


def test_host_and_guest_are_killed_one_after_the_other_and_both_play_on(tmp_path: Path) -> None:
    options = ("--auto", "--rounds", "1", *HERE)
    # Other tests, of this run or of another one, may have tables on this machine at the same time.
    table = f"Kitchen {uuid4().hex[:8]}"
    host = ("host", "--open", "--seats", "3", "--bots", "1", "--name", "Ana", "--table", table, *options)
    guest = ("join", "--name", "Bogdan", *options)
    with program(tmp_path / "ana", *host) as ana, program(tmp_path / "bogdan", *guest, table) as bogdan:
        ana.wait_for("The cards are dealt")
        kill(ana)
        with program(tmp_path / "ana", *host) as ana_again:
            ana_again.wait_for("You are back")
            bogdan.wait_for("The cards are dealt")
            kill(bogdan)
            with program(tmp_path / "bogdan", *guest) as bogdan_again:
                assert (ana_again.end(), bogdan_again.end()) == (0, 0), ana_again.text + bogdan_again.text
                assert "You are back" in bogdan_again.text
    assert verdicts(tmp_path / "ana") == verdicts(tmp_path / "bogdan") == ["fair"]


def test_a_new_table_is_opened_if_that_is_wanted(tmp_path: Path) -> None:
    with program(tmp_path / "ana", "host", "--name", "Ana", *HERE, typing=True) as first:
        first.wait_for("sit down with")
        kill(first)
    with program(tmp_path / "ana", "host", "--new", *HERE, typing=True) as second:
        second.wait_for("sit down with")
        assert "You are back" not in second.text
        second.type("quit")
        assert second.end() == 0

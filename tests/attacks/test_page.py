"""The page of attacks names tests and codes that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from p2p.feeds.faults import FAULT_SENTENCES, ON_RECORD_ONLY
from tests.attacks.cases import CASES
from tests.attacks.matrix import COUNTS, GENERIC, WRONG
from tests.p2p.cheats import CHEATS

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")


def names_in(path: Path) -> list[str]:
    """The names of the tests of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node.name for node in functions if node.name.startswith("test_")]


def written() -> set[str]:
    """The names of all tests."""
    return {name for path in (ROOT / "tests").rglob("test_*.py") for name in names_in(path)}


def test_every_test_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 80
    assert named - written() == set()


def rows(section: str) -> dict[str, str]:
    """The first and the last cell of every row under a heading."""
    text = PAGE.split(f"\n## {section}")[1].split("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {cell[0]: cell[-1] for cell in cells[1:] if not cell[0].startswith("---")}


def test_every_attack_names_the_test_that_shows_what_stops_it() -> None:
    for section in (
        "What is checked of every entry",
        "What members could try",
        "The deal",
        "Disks",
        "The network",
    ):
        found = rows(section)
        assert len(found) >= 5
        assert not [attack for attack, shown in found.items() if "`test_" not in shown]


def test_every_test_of_attacks_is_on_the_page() -> None:
    here = {name for path in Path(__file__).parent.glob("test_*.py") for name in names_in(path)}
    here |= set(names_in(ROOT / "tests" / "node" / "test_cheating.py"))
    about_tests = set(names_in(Path(__file__)))
    assert here - about_tests - set(re.findall(r"`(test_\w+)`", PAGE)) == set()


CHECKED = (
    "signature",
    "encoding",
    "`seq` and `prev`",
    "`seen`",
    "let in",
    "table of phases",
    "its author's breach",
    "commitments",
    "a proof with each",
    "own engine",
    "digest",
)
"""What is checked of every entry, in the words of the page: docs/protocol.md, 7."""


def test_every_check_of_an_entry_has_a_row() -> None:
    text = PAGE.split("\n## What is checked of every entry")[1].split("\n## ")[0]
    assert [word for word in CHECKED if word not in text] == []


def test_every_code_that_an_entry_can_earn_is_earned_by_two_three_and_five_players() -> None:
    everywhere = set(WRONG.values()) | {code for _, code in GENERIC.values()}
    everywhere |= {cheat.code for cheat in CHEATS if set(COUNTS) <= set(cheat.players)}
    # The terms of an offer do not hang on how many play it.
    assert set(FAULT_SENTENCES) - ON_RECORD_ONLY - everywhere == {"bad_start"}
    assert "bad_start" in {case.code for case in CASES}


def test_every_fault_code_has_a_row_and_a_cheat() -> None:
    section = PAGE.split("## Fault codes")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.M)) == set(FAULT_SENTENCES)
    cheated = {case.code for case in CASES} | {cheat.code for cheat in CHEATS}
    by_test = {code for code, text in re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.M) if "test_" in text}
    same = {code for code, text in re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.M) if text == "the same"}
    assert set(FAULT_SENTENCES) - by_test - same <= cheated

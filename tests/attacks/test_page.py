"""The page of attacks names tests and codes that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from p2p.faults import FAULT_SENTENCES
from tests.attacks.cases import CASES
from tests.p2p.cheats import CHEATS

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")


def written() -> set[str]:
    """The names of all tests."""
    names: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                names.add(node.name)
    return names


def test_every_test_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 80
    assert named - written() == set()


def test_every_fault_code_has_a_row_and_a_cheat() -> None:
    section = PAGE.split("## Fault codes")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.M)) == set(FAULT_SENTENCES)
    cheated = {case.code for case in CASES} | {cheat.code for cheat in CHEATS}
    by_test = {code for code, text in re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.M) if "test_" in text}
    same = {code for code, text in re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.M) if text == "the same"}
    assert set(FAULT_SENTENCES) - by_test - same <= cheated

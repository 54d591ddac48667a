"""docs/screens.md and README.md say and show what the program does."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from client.settings import SWITCHES, TEXTS
from client.tui.keys import KEYS

ROOT = Path(__file__).parents[3]
PAGES = {name: ROOT / name for name in ("docs/screens.md", "README.md")}
TEXT = PAGES["docs/screens.md"].read_text(encoding="utf-8")
SCREENS = Path(__file__).parent / "screens"
WRITE = "SHITHEAD_WRITE_SCREENS"
SHOWN = re.compile(r"<!-- screen: (\S+) -->\n```text\n(.*?)```", re.DOTALL)


def test_every_key_is_in_the_table() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")]
    for key in KEYS:
        if key.long:
            assert any(row.startswith(f"| {key.label} |") and key.long in row for row in rows), key.label


@pytest.mark.parametrize("page", PAGES)
def test_its_screens_are_the_ones_that_are_drawn(page: str) -> None:
    text = PAGES[page].read_text(encoding="utf-8")
    if os.environ.get(WRITE):
        PAGES[page].write_text(SHOWN.sub(_drawn, text), encoding="utf-8")
        text = PAGES[page].read_text(encoding="utf-8")
    found = SHOWN.findall(text)
    # Every screen on the page is one of those that are compared.
    assert found
    assert len(found) == text.count("```text\n")
    for name, shown in found:
        assert shown == (SCREENS / f"{name}.txt").read_text(encoding="utf-8"), name


def _drawn(match: re.Match[str]) -> str:
    name = match.group(1)
    return f"<!-- screen: {name} -->\n```text\n{(SCREENS / f'{name}.txt').read_text(encoding='utf-8')}```"


def test_every_setting_and_value_is_explained() -> None:
    for option, words in TEXTS.items():
        assert f"`{option}`" in TEXT
        assert all(f"`{word}`" in TEXT for word in words)
    assert all(f"`{option}`" in TEXT for option in SWITCHES)

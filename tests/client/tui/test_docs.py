"""docs/screens.md says what the program does."""

from __future__ import annotations

from pathlib import Path

from client.settings import SWITCHES, TEXTS
from client.tui.keys import KEYS

TEXT = (Path(__file__).parents[3] / "docs" / "screens.md").read_text(encoding="utf-8")
SCREENS = Path(__file__).parent / "screens"


def test_every_key_is_in_the_table() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")]
    for key in KEYS:
        if key.long:
            assert any(row.startswith(f"| {key.label} |") and key.long in row for row in rows), key.label


def test_its_screens_are_the_ones_that_are_drawn() -> None:
    shown = [part.split("```")[0] for part in TEXT.split("```text\n")[1:]]
    drawn = {path.read_text(encoding="utf-8") for path in SCREENS.glob("*.txt")}
    assert shown
    assert all(part in drawn for part in shown)


def test_every_setting_and_value_is_explained() -> None:
    for option, words in TEXTS.items():
        assert f"`{option}`" in TEXT
        assert all(f"`{word}`" in TEXT for word in words)
    assert all(f"`{option}`" in TEXT for option in SWITCHES)

"""How to play: short, and true of the rules in force."""

from __future__ import annotations

import pytest

from client.howto import how_to_play
from client.tui.cells import wrap
from engine.rules import PRESETS, RuleSet, with_options

MAX_LINES = 22
"""What somebody reads in a minute, at 80 columns."""


@pytest.mark.parametrize("preset", PRESETS)
def test_it_is_read_in_a_minute(preset: str) -> None:
    lines = how_to_play(RuleSet.preset(preset))
    assert sum(len(wrap(line, 74)) for line in lines) <= MAX_LINES
    assert not any("{" in line for line in lines)


def test_the_usual_rules() -> None:
    text = "\n".join(how_to_play(RuleSet()))
    assert "3 cards in the hand, 3 upcards that lie open, and 3 downcards" in text
    assert "2: on anything, and anything on it." in text
    assert "10: on anything; burns the pile" in text
    assert "Four of one rank" in text
    assert "You may even if you can." in text


def test_it_tells_no_rule_that_is_not_in_force() -> None:
    changes = {
        "reset": "",
        "burn": "",
        "skip": "8,9",
        "arrange": "none",
        "pick_up": "forced_only",
        "burn_run": "3",
    }
    text = "\n".join(how_to_play(with_options(RuleSet(), changes)))
    assert "anything on it" not in text
    assert "you go again" not in text
    assert "8 9: the next one misses a turn." in text
    assert "exchange" not in text
    assert "even if you can" not in text
    assert "Three of one rank" in text
    assert "twos and tens" not in text

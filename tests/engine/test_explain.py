"""The rules as people explain them, and house rules read from TOML."""

from __future__ import annotations

from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.explain import explain
from engine.housefile import HouseRulesError, rules_from_toml
from engine.rules import KINDS, OPTION_NAMES, PRESETS, RuleSet, changed_items, with_options
from tests.engine.options_of import rule_sets

CONTEXT = {
    "ten_on_ceiling": {"ceiling": "7"},
    "transparent_breaks_run": {"transparent": "3"},
    "skip_per_card": {"skip": "8"},
    "reverse_count": {"reverse": "9"},
    "joker_power": {"jokers": "2"},
    "start_tie": {"start": "hand_lowest"},
    "burn_run": {"quartet_beats_all": "true"},
}
"""What an option needs to mean anything."""

VALUES = {
    "reset": ["2", "", "3,4"], "burn": ["T", "", "T,J"], "ceiling": ["", "7"], "transparent": ["", "3"],
    "skip": ["", "8"], "reverse": ["", "9"], "again": ["", "A"], "jokers": ["0", "2", "4"],
    "burn_run": ["4", "3", "12"], "start_tie": ["seat", "most_copies", "suit/cdhs", "suit/shdc"],
    "deal": ["3/3/3", "0/6/6"], "refill_to": ["3", "1"], "packs": ["auto", "1", "4"],
    "turn_limit": ["1000", "1"],
}  # fmt: skip


def values_of(option: str) -> list[str]:
    kind = type(getattr(RuleSet(), option))
    if issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return VALUES.get(option) or ["false", "true"]


def told(rules: RuleSet) -> list[str]:
    return [str(line) for line in explain(rules)]


@pytest.mark.parametrize("option", OPTION_NAMES)
def test_every_value_of_every_option_is_told_in_its_own_words(option: str) -> None:
    base = with_options(RuleSet(), CONTEXT.get(option, {}))
    seen = set()
    for value in values_of(option):
        rules = with_options(base, {option: value})
        text = told(rules)
        assert all(line and "{" not in line and line[-1] == "." for line in text)
        seen.add(tuple(text))
        marked = {name for line in explain(rules) if line.differs for name in line.options}
        is_default = getattr(rules, option) == getattr(RuleSet(), option)
        # Strict upcards and the like have nothing to be told when they are off.
        assert is_default or option in marked, value
    assert len(seen) == len(values_of(option))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_told_and_what_it_changes_is_marked(preset: str) -> None:
    rules = RuleSet.preset(preset)
    lines = explain(rules)
    marked = {name for line in lines if line.differs for name in line.options}
    assert {name for name, _ in changed_items(rules)} <= marked
    assert any(line.differs for line in lines) == (preset != "wikipedia")
    assert len(lines) > 15


@given(rule_sets(3))
@settings(max_examples=100, deadline=None)
def test_any_rules_are_told_and_only_what_differs_is_marked(rules: RuleSet) -> None:
    changed = {name for name, _ in changed_items(rules)}
    for line in explain(rules):
        assert str(line)
        assert line.differs == bool(changed & set(line.options))


def test_the_default_rules_in_words() -> None:
    text = told(RuleSet())
    assert "2: goes on anything, and anything goes on it." in text
    assert "10: goes on anything, burns the pile, and the same player plays again." in text
    assert "4 cards of one rank in a row on the pile burn it, whoever played them." in text
    assert not any(line.differs for line in explain(RuleSet()))


def test_house_rules_are_read_from_toml() -> None:
    text = """
# ours
preset = "backpacker"
reverse = [9, "J", 10]
burn = []
skip = 8
deal = "3/3/7"
jokers = 2
packs = "auto"
pick_up = "forced_only"
ten_on_ceiling = true
again = "Q,K"
"""
    assert dict(changed_items(rules_from_toml(text))) == {
        "again": "Q,K", "burn": "", "ceiling": "7", "deal": "3/3/7", "jokers": "2", "pick_up": "forced_only",
        "reverse": "9,T,J", "skip": "8", "transparent": "3",
    }  # fmt: skip
    assert rules_from_toml("") == RuleSet()
    assert rules_from_toml('preset = "party"\n') == RuleSet.preset("party")


@pytest.mark.parametrize(
    ("text", "line", "word", "code", "expected"),
    [
        ("\njokers = \n", 2, "jokers =", "bad_toml", "TOML"),
        ("jokers = 2\njokers = 3\n", 2, "jokers = 3", "bad_toml", "TOML"),
        ("jokers = [1,", 1, "jokers = [1,", "bad_toml", "TOML"),
        ('\n\npreset = "uno"\n', 3, "'uno'", "bad_value", "wikipedia"),
        ("preset = 3\n", 1, "3", "bad_value", "wikipedia"),
        ("jokers = 2\n  cieling = [7]\n", 2, "cieling", "unknown_option", "ceiling"),
        ("[powers]\n7 = 1\n", 1, "powers", "unknown_option", "ceiling"),
        ("jokers = 9\n", 1, "9", "bad_value", "0 to 4"),
        ("jokers = true\n", 1, "true", "bad_value", "0 to 4"),
        ('\nceiling = [7, "X"]\n', 2, "[7, 'X']", "bad_value", "ranks"),
        ("ceiling = [7, 7]\n", 1, "[7, 7]", "bad_value", "ranks"),
        ("ceiling = [1]\n", 1, "[1]", "bad_value", "ranks"),
        ("ceiling = [true]\n", 1, "[True]", "bad_value", "ranks"),
        ("ceiling = 7.5\n", 1, "7.5", "bad_value", "ranks"),
        ('pick_up = "never"\n', 1, "'never'", "bad_value", "forced_only"),
        ("upcards_strict = 1\n", 1, "1", "bad_value", "true or false"),
        ("deal = [3, 3, 3]\n", 1, "[3, 3, 3]", "bad_value", "downcards/upcards/hand"),
        ("deal = {down = 3}\n", 1, "a table", "bad_value", "downcards/upcards/hand"),
        ('"deal" = 3\n', 1, "3", "bad_value", "downcards/upcards/hand"),
    ],
)
def test_a_fault_in_house_rules_names_line_word_and_what_was_expected(
    text: str, line: int, word: str, code: str, expected: str
) -> None:
    with pytest.raises(HouseRulesError) as wrong:
        rules_from_toml(text)
    error = wrong.value
    assert (error.line, error.word, error.code) == (line, word, code)
    assert f"Line {line}" in str(error) and word in str(error) and expected in str(error)


@given(st.text(max_size=80))
def test_any_text_is_house_rules_or_an_error_that_says_where(text: str) -> None:
    try:
        rules_from_toml(text)
    except HouseRulesError as error:
        assert 0 <= error.line <= text.count("\n") + 1
        assert str(error)


@given(rule_sets(3))
@settings(max_examples=50, deadline=None)
def test_any_rules_can_be_written_in_toml(rules: RuleSet) -> None:
    text = "\n".join(f'{name} = "{value}"' for name, value in changed_items(rules))
    assert rules_from_toml(text) == rules
    assert set(KINDS) == set(OPTION_NAMES)

"""Limits of the rules and of text records, at each and one past it."""

from __future__ import annotations

import pytest

from engine import contradictions, housefile, options, rules
from engine.errors import RuleError
from engine.record import RecordError, read, words
from engine.record.syntax import MAX_SLOT_DIGITS
from engine.rules import RuleSet, check_playable, check_played, with_options

OPTIONS = {
    "turn_limit": (options.MAX_TURN_LIMIT_ACTIONS, "{}"),
    "refill_to": (options.MAX_ZONE_CARDS, "{}"),
    "deal": (options.MAX_ZONE_CARDS, "3/3/{}"),
    "packs": (options.MAX_PACKS, "{}"),
    "jokers": (options.MAX_JOKERS_PER_PACK, "{}"),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_at_its_limit_is_one_and_past_it_is_refused(option: str) -> None:
    """MAX_TURN_LIMIT_ACTIONS, MAX_ZONE_CARDS, options.MAX_PACKS, MAX_JOKERS_PER_PACK."""
    most, form = OPTIONS[option]
    assert with_options(RuleSet(), {option: form.format(most)}) != RuleSet()
    with pytest.raises(RuleError) as problem:
        with_options(RuleSet(), {option: form.format(most + 1)})
    assert option in str(problem.value)


def test_two_to_ten_play() -> None:
    for players in (rules.MIN_PLAYERS, rules.MAX_PLAYERS):
        check_playable(RuleSet(), players)
    for players in (rules.MIN_PLAYERS - 1, rules.MAX_PLAYERS + 1):
        with pytest.raises(RuleError):
            check_playable(RuleSet(), players)


def test_upcards_are_chosen_from_a_few_cards_only() -> None:
    most = contradictions.MAX_CHOOSE_CARDS
    check_played(with_options(RuleSet(), {"arrange": "choose", "deal": f"3/3/{most - 3}"}))
    with pytest.raises(RuleError) as problem:
        check_played(with_options(RuleSet(), {"arrange": "choose", "deal": f"3/3/{most - 2}"}))
    assert str(most) in str(problem.value)


def test_of_a_wrong_word_in_a_file_of_rules_only_the_beginning_is_repeated() -> None:
    most = housefile.MAX_WORD_CHARACTERS
    for length, is_whole in ((most, True), (most + 1, False)):
        with pytest.raises(housefile.HouseRulesError) as problem:
            housefile.rules_from_toml("%" * length)
        assert len(problem.value.word) == most
        assert problem.value.word.endswith("…") is not is_whole


def test_names_and_slots_of_a_record_are_short() -> None:
    def record(name: str, slot: str) -> str:
        head = f'shithead-record 1\nrules wikipedia\nplayers "{name}" Bogdan\ndealer Bogdan\npile Qc\n'
        return f"{head}down Bogdan 3c 4d 5d\nhand {name} 4c\nturn Bogdan\nBogdan flips {slot}\n"

    with pytest.raises(RecordError) as problem:
        read(record("x" * (words.MAX_NAME_CHARACTERS + 1), "1"))
    assert str(words.MAX_NAME_CHARACTERS) in str(problem.value)
    assert problem.value.line == 3
    most = "x" * words.MAX_NAME_CHARACTERS
    read(record(most, "9" * MAX_SLOT_DIGITS))
    with pytest.raises(RecordError) as problem:
        read(record(most, "9" * (MAX_SLOT_DIGITS + 1)))
    assert "slot number" in str(problem.value)

"""Rule sets: options, presets, text forms, and what this version plays (3.1, 3.5, R6, R7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cards import JOKER_RANK, RANKS, UNKNOWN
from engine.contradictions import CLASHES, contradictions
from engine.errors import RuleError
from engine.options import DealShape
from engine.rules import (
    KINDS,
    OPTION_NAMES,
    PLAYED,
    PRESETS,
    UNPLAYED_VALUES,
    RuleSet,
    changed_items,
    check_playable,
    from_items,
    packs_for,
    preset_named,
    to_items,
    with_options,
)
from engine.tables import tables_for

OTHER_VALUES = {
    "reset": "", "burn": "T,J", "ceiling": "7", "transparent": "3,8", "skip": "8", "reverse": "9",
    "again": "2",    "ten_on_ceiling": "false", "transparent_breaks_run": "false", "skip_per_card": "false",
    "reverse_count": "once", "jokers": "2", "joker_power": "wild", "jump_in": "complete",
    "pick_up": "forced_only", "upcard_pick_up": "pile_plus_set", "combine_last_hand": "true",
    "blind_pick_up": "true",
    "upcards_strict": "true", "chance": "chance_free", "quartet_beats_all": "true", "burn_run": "5",
    "replay_after_quartet": "none", "draw_follow_up": "true", "start": "random", "start_tie": "suit/dchs",
    "lead_must_be_start_rank": "true", "deal": "4/4/5", "refill_to": "4", "arrange": "choose", "packs": "2",
    "next_dealer": "winner", "turn_limit": "20000",
    "turn_limit_result": "most_cards",
}  # fmt: skip


def refused(call: object, *arguments: object) -> RuleError:
    assert callable(call)
    with pytest.raises(RuleError) as error:
        call(*arguments)
    return error.value


def test_every_option_has_another_value_here() -> None:
    assert set(OTHER_VALUES) == set(OPTION_NAMES)


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_an_option_survives_its_text_form(name: str) -> None:
    rules = with_options(RuleSet(), {name: OTHER_VALUES[name]})
    assert changed_items(rules) == ((name, OTHER_VALUES[name]),)
    assert from_items(to_items(rules)) == rules
    default = getattr(RuleSet(), name)
    assert type(getattr(rules, name)) is type(default)
    assert getattr(rules, name) != default


def test_items_are_all_options_by_name() -> None:
    assert [name for name, _ in to_items(RuleSet())] == sorted(field.name for field in fields(RuleSet))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ceiling", "7,3"), ("ceiling", "7,7"), ("ceiling", "t"), ("ceiling", ","), ("ceiling", "10"),
        ("jokers", "02"), ("jokers", "+2"), ("jokers", "5"), ("jokers", ""), ("jokers", "2 "),
        ("jokers", "２"),
        ("turn_limit", "0"), ("turn_limit", "1" * 5000), ("turn_limit", "1_000"),
        ("deal", "3/3"), ("deal", "3/3/0"), ("deal", "3/3/3/3"), ("deal", "03/3/3"), ("deal", "53/3/3"),
        ("packs", "0"), ("packs", "Auto"), ("start_tie", "suit/ccdh"), ("start_tie", "cdhs"),
        ("upcards_strict", "True"), ("upcards_strict", "1"), ("start", "UPCARD_THEN_HAND"), ("chance", "on"),
    ],
)  # fmt: skip
def test_only_the_one_form_of_a_value_is_read(name: str, text: str) -> None:
    error = refused(with_options, RuleSet(), {name: text})
    assert error.code == "bad_rules"
    assert name in str(error)


def test_items_are_read_strictly() -> None:
    items = to_items(RuleSet())
    assert "missing" in str(refused(from_items, items[1:]))
    assert "twice" in str(refused(from_items, (*items, items[0])))
    assert "no option" in str(refused(from_items, (*items, ("zzz", "1"))))
    assert "sorted" in str(refused(from_items, items[::-1]))


@given(st.lists(st.tuples(st.sampled_from([*OPTION_NAMES, "x"]), st.text(max_size=6)), max_size=40))
def test_other_items_are_rules_or_bad_rules(items: list[tuple[str, str]]) -> None:
    try:
        assert to_items(from_items(items)) == tuple(items)
    except RuleError as error:
        assert error.code == "bad_rules"


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_what_section_3_5_says(name: str) -> None:
    assert dict(changed_items(RuleSet.preset(name))) == {
        key: value for key, value in PRESETS[name].items() if (key, value) != ("joker_power", "reverse")
    }


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_known_again_and_nothing_else_is_one(name: str) -> None:
    assert preset_named(RuleSet.preset(name)) == name
    assert preset_named(with_options(RuleSet.preset(name), {"turn_limit": "999"})) is None


def test_an_unknown_preset_is_refused() -> None:
    assert refused(RuleSet.preset, "uno").code == "bad_rules"


def test_rows_38_100_101_jumping_in_is_refused_by_name() -> None:
    assert set(OPTION_NAMES) - PLAYED == {"jump_in"}
    error = refused(check_playable, with_options(RuleSet(), {"jump_in": "complete"}), 3)
    assert (error.code, error.sentence.values["option"]) == ("not_yet", "jump_in")


@pytest.mark.parametrize(("name", "value"), sorted(UNPLAYED_VALUES))
def test_values_that_are_not_played_yet_are_refused_by_name(name: str, value: str) -> None:
    error = refused(check_playable, with_options(RuleSet(), {name: value, "jokers": "2"}), 3)
    assert error.code == "not_yet"
    assert (error.sentence.values["option"], error.sentence.values["value"]) == (name, value)


def values_of(name: str) -> list[str]:
    """Values of an option that stand for all of them."""
    default = KINDS[name].write(getattr(RuleSet(), name))
    kind = type(getattr(RuleSet(), name))
    if issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return ["true", "false"] if kind is bool else [default, OTHER_VALUES[name]]


@pytest.mark.parametrize("name", sorted(PLAYED))
def test_every_other_value_can_be_played(name: str) -> None:
    for value in values_of(name):
        changes = {name: value, **({"reset": "3"} if name == "again" else {})}
        if (name, value) not in UNPLAYED_VALUES:
            check_playable(with_options(RuleSet(), changes), 3)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("players", [2, 5, 10])
def test_every_preset_can_be_played(name: str, players: int) -> None:
    check_playable(RuleSet.preset(name), players)


@pytest.mark.parametrize(
    ("changes", "option", "other"),
    [
        *(({one: "7", other: "7"}, one, other) for one, other, _ in CLASHES),
        ({"lead_must_be_start_rank": "true", "start": "random"}, "lead_must_be_start_rank", "start"),
        ({"lead_must_be_start_rank": "true", "start": "dealer_left"}, "lead_must_be_start_rank", "start"),
        ({"arrange": "choose", "deal": "3/0/3"}, "arrange", "deal"),
        ({"arrange": "choose", "deal": "0/6/7"}, "arrange", "deal"),
        ({"jokers": "2", "joker_power": "wild", "burn": "3,4,5,6,7,8,9,T,J,Q,K,A"}, "joker_power", "burn"),
        (
            {"jokers": "2", "joker_power": "wild", "reset": "2,3,4,5,6,7,8,9,J,Q,K,A", "burn": ""},
            "joker_power",
            "reset",
        ),
    ],
)
def test_contradictions_are_refused_with_both_names(changes: dict[str, str], option: str, other: str) -> None:
    error = refused(check_playable, with_options(RuleSet(), changes), 2)
    assert error.code == "contradiction"
    assert option in str(error) and other in str(error)


@pytest.mark.parametrize(
    "changes",
    [
        {"transparent": "3", "reverse": "3"},
        {"arrange": "choose", "deal": "0/6/6"},
        {"jokers": "2", "joker_power": "wild", "burn": "3,4,5,6,7,8,9,J,Q,K"},
        {"lead_must_be_start_rank": "true"},
        {"skip": "8", "reverse": "8", "ceiling": "8"},
    ],
)
def test_options_that_go_together_are_not_refused(changes: dict[str, str]) -> None:
    check_playable(with_options(RuleSet(), changes), 2)


def test_r7_row_2_two_jokers_make_room_for_a_sixth_player() -> None:
    check_playable(with_options(RuleSet(), {"packs": "1", "jokers": "2"}), 6)


@pytest.mark.parametrize(("players", "packs"), [(2, 1), (5, 1), (6, 2), (10, 2), (11, 3)])
def test_r6_rows_3_and_4_packs(players: int, packs: int) -> None:
    assert packs_for(RuleSet(), players) == packs


def test_r7_row_2_a_deal_that_does_not_fit_is_refused() -> None:
    one_pack = with_options(RuleSet(), {"packs": "1"})
    check_playable(one_pack, 5)
    error = refused(check_playable, one_pack, 6)
    assert error.code == "does_not_fit"
    assert str(error) == "With deal=3/3/3, 6 players need 54 cards; with packs=1 there are 52."
    check_playable(RuleSet(), 6)


@pytest.mark.parametrize("players", [-1, 0, 1, 11])
def test_r6_two_to_ten_players(players: int) -> None:
    assert refused(check_playable, RuleSet(), players).code == "does_not_fit"


def test_rule_sets_are_values() -> None:
    assert replace(RuleSet(), deal=DealShape(3, 3, 3)) == RuleSet()
    assert hash(RuleSet()) == hash(RuleSet())
    assert all(isinstance(KINDS[name].form, str) for name in OPTION_NAMES)
    assert isinstance(RuleSet().start, Enum)


def documented() -> dict[str, str]:
    """Option → what the table of docs/rules.md 3.1 says that this version does with it."""
    text = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    table = text.partition("### 3.1")[2].partition("### 3.2")[0]
    found = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        name = re.search(r"`([a-z_]+)`", cells[1]) if len(cells) > 3 else None
        if name:
            found[name[1]] = cells[-2]
    return found


def test_the_documents_table_says_what_this_version_does() -> None:
    said = documented()
    played = {name for name, what in said.items() if what.startswith("plays")}
    read = {name for name, what in said.items() if what == "reads"}
    assert played - {"powers"} == PLAYED - {"reset", "burn"}
    assert (played | read) - {"powers"} == set(OPTION_NAMES) - {"reset", "burn"}
    assert {what for name, what in said.items() if name not in played | read} == {"–"}


ALL = to_items(RuleSet())

SAID: list[tuple[Callable[[], object], str, str]] = [
    (lambda: RuleSet.preset("uno"), "bad_rules",
     "There is no preset uno; there are wikipedia, wikipedia_old, pagat, backpacker, party, nordic."),
    (lambda: with_options(RuleSet(), {"cieling": "7"}), "bad_rules", "There is no option cieling."),
    (lambda: with_options(RuleSet(), {"jokers": "9"}), "bad_rules",
     "The option jokers can't be '9'; expected: a number from 0 to 4."),
    (lambda: from_items([*ALL, ("cieling", "7")]), "bad_rules", "There is no option cieling."),
    (lambda: from_items([*ALL, ("xyzzy", "7"), ("cieling", "7")]), "bad_rules", "There is no option xyzzy."),
    (lambda: from_items([*ALL[:3], ALL[2], *ALL[3:]]), "bad_rules", "The option blind_pick_up is named twice."),
    (lambda: from_items([*ALL, *ALL]), "bad_rules", "The option again is named twice."),
    (lambda: from_items(ALL[:-2]), "bad_rules", "The option upcard_pick_up is missing."),
    (lambda: from_items(reversed(ALL)), "bad_rules", "The options are not sorted by name."),
    (lambda: check_playable(RuleSet(), 1), "does_not_fit", "The game is for 2 to 10 players, not 1."),
    (lambda: check_playable(RuleSet(), 11), "does_not_fit", "The game is for 2 to 10 players, not 11."),
    (lambda: check_playable(with_options(RuleSet(), {"jump_in": "complete"}), 3), "not_yet",
     "This version does not play the option jump_in=complete yet."),
    (lambda: check_playable(with_options(RuleSet(), {"start": "random", "lead_must_be_start_rank": "true"}), 3),
     "contradiction", "lead_must_be_start_rank needs a start that goes by ranks, and start=random does not."),
    (lambda: check_playable(with_options(RuleSet(), {"arrange": "choose", "deal": "3/0/3"}), 3), "contradiction",
     "arrange=choose lets players choose upcards, and deal gives them none."),
    (lambda: check_playable(with_options(RuleSet(), {"arrange": "choose", "deal": "0/6/7"}), 3), "contradiction",
     "arrange=choose can be played with up to 12 cards to choose from; deal gives 13."),
    (lambda: check_playable(with_options(RuleSet(), WILD_NOTHING | {"burn": "T,J,Q,K,A"}), 3), "contradiction",
     "With joker_power=wild a joker is named any rank without reset or burn, and burn leaves none."),
    (lambda: check_playable(with_options(RuleSet(), WILD_NOTHING | {"reset": ",".join(RANKS), "burn": ""}), 3),
     "contradiction",
     "With joker_power=wild a joker is named any rank without reset or burn, and reset leaves none."),
    (lambda: check_playable(with_options(RuleSet(), {"ceiling": "7,9", "transparent": "8,9"}), 3),
     "contradiction",
     "The rank 9 can't be in both ceiling and transparent: "
     "a card that is looked through can't ask for low cards."),
]  # fmt: skip
"""What is refused: code and sentence."""

WILD_NOTHING = {"jokers": "2", "joker_power": "wild", "reset": "2,3,4,5,6,7,8,9"}


@pytest.mark.parametrize(("refuse", "code", "words"), SAID)
def test_a_refusal_of_rules_has_its_code_and_its_words(
    refuse: Callable[[], object], code: str, words: str
) -> None:
    error = refused(refuse)
    assert (error.code, str(error)) == (code, words)


def test_rules_with_jokers_that_leave_one_rank_to_name_can_be_played() -> None:
    check_playable(with_options(RuleSet(), WILD_NOTHING | {"burn": "T,J,Q,K"}), 3)
    check_playable(with_options(RuleSet(), WILD_NOTHING | {"burn": "T,J,Q,K,A", "jokers": "0"}), 3)
    check_playable(with_options(RuleSet(), WILD_NOTHING | {"burn": "T,J,Q,K,A", "joker_power": "high"}), 3)
    check_playable(with_options(RuleSet(), {"arrange": "choose", "deal": "3/6/6"}), 2)


def test_every_contradiction_is_found() -> None:
    rules = with_options(
        RuleSet(),
        {"burn": "T,J", "reset": "2,J", "start": "dealer_left", "lead_must_be_start_rank": "true",
         "arrange": "choose", "deal": "3/0/3"},
    )  # fmt: skip
    found = [(error.sentence.values["option"], error.sentence.values["other"]) for error in contradictions(rules)]
    assert found == [("burn", "reset"), ("lead_must_be_start_rank", "start"), ("arrange", "deal")]


def test_tables_have_an_answer_for_no_card_at_all() -> None:
    """The index ``UNKNOWN`` finds the last place of every table, one behind that of the jokers."""
    tables = tables_for(RuleSet.preset("party"), 1)
    for flags in (tables.burns, tables.ceiling, tables.transparent, tables.skip, tables.reverse, tables.again):
        assert len(flags) == JOKER_RANK + 2
        assert flags[UNKNOWN] is False
    for matrix in (tables.follows, tables.strict, tables.big):
        assert len(matrix) == JOKER_RANK + 2
        assert {len(row) for row in matrix} == {JOKER_RANK + 1}
        assert all(matrix[UNKNOWN]), "anything may be led"

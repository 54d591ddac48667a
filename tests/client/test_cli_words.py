"""What the command line answers to a slip: what was meant, what is expected, in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from client.commands import common
from client.commands.common import Seconds, WholeNumber
from client.house import dropped
from client.option_words import ABOUT, values_in_words
from client.sentences import render_error
from engine.errors import RuleError
from engine.options import RANKS_KIND
from engine.rules import KINDS, PRESETS, UNPLAYED_VALUES, RuleSet, with_options
from tests.client.test_cli import RECORDS, Said, say  # noqa: F401 - a fixture
from tests.client.test_replay import NAMES, save
from tests.p2p.peers import Table

Say = Callable[..., Said]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (("hots",), "There is no command 'hots' (did you mean host?)."),
        (("record", "shwo"), "There is no command 'shwo' (did you mean show?)."),
        (("host", "--turn", "abc"), "'abc' is not a whole number from 0 to 3600."),
        (("host", "--turn", "1_0"), "'1_0' is not a whole number from 0 to 3600."),
        (("tables", "--wait", "soon"), "'soon' is not a number of seconds from 0.1 to 600."),
        (("tables", "--wait", "nan"), "'nan' is not a number of seconds from 0.1 to 600."),
        (("host", "--seats", "99"), "'99' is not a whole number from 2 to 10."),
        (("play", "--rounds", "0"), "'0' is not a whole number from 1 on."),
        (("rules", "--set", "preset=party"), "At the start: --rules party; at the table: set party."),
        (("rules", "--set", "refill_to=0"), "can't be '0'; expected: a number from 1 to 52."),
        (("record", "show", "nowhere"), "There is no file and no saved round called nowhere."),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(say: Say, line: tuple[str, ...], sentence: str) -> None:  # noqa: F811
    said = say(*line)
    assert said.code == 2
    assert sentence in said.err


def test_no_help_cuts_a_sentence_or_shows_a_range_as_a_formula(say: Say) -> None:  # noqa: F811
    for line in (("--help",), ("record", "--help"), ("host", "--help"), ("play", "--help"), ("join", "--help")):
        out = say(*line).out
        assert "..." not in out.replace("[ARGS]...", "")
        assert "<=x" not in out
        assert "x>=" not in out


@pytest.mark.parametrize("value", ["5", 5, " 5 "])
def test_numbers_are_numbers(value: object) -> None:
    assert WholeNumber(1, 9).convert(value, None, None) == 5
    with pytest.raises(click.BadParameter):
        WholeNumber(1, 9).convert("9" * 5000, None, None)
    most = common.MAX_NUMBER_DIGITS
    assert WholeNumber(1).convert("9" * most, None, None) == 10**most - 1
    with pytest.raises(click.BadParameter) as caught:
        WholeNumber(1).convert("9" * (most + 1), None, None)
    assert "9" * (most + 1) in caught.value.message
    shown = common.MAX_SHOWN_CHARACTERS
    for kind in (WholeNumber(1), Seconds(1)):
        with pytest.raises(click.BadParameter) as caught:
            kind.convert("x" * (shown + 1), None, None)
        assert caught.value.message.count("x") == shown


def test_every_option_is_told_with_all_that_it_can_be() -> None:
    assert ABOUT.keys() == KINDS.keys()
    for option, kind in KINDS.items():
        told = values_in_words(option)
        assert (
            all(word in told for word in kind.words if len(kind.words) > 1)
            or kind.form in told
            or kind is RANKS_KIND
        )
        for name, value in UNPLAYED_VALUES:
            if name == option:
                assert value in told.partition("not yet played: ")[2]


def test_a_preset_drops_single_options_and_says_which() -> None:
    usual = RuleSet()
    own = with_options(usual, {"refill_to": "4"})
    party = RuleSet.preset("party")
    assert dropped(own, party) == ("refill_to=4",)
    assert dropped(usual, party) == ()
    for name in PRESETS:
        assert dropped(RuleSet.preset(name), usual) == ()
    # What the preset has as well is not lost.
    assert dropped(with_options(usual, {"skip": "3"}), party) == ()
    assert dropped(with_options(party, {"burn_run": "3"}), RuleSet.preset("pagat")) == ("burn_run=3",)


def test_a_preset_is_no_option_at_the_table_either() -> None:
    from client.house import changed_rules

    with pytest.raises(RuleError) as caught:
        changed_rules(RuleSet(), {"preset": "bridge"})
    assert "it is a whole set of rules" in " ".join(render_error(caught.value))


def test_records_are_shown_and_checked_of_saved_rounds_too(say: Say, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    from p2p.dealing import TransparentDealing
    from p2p.rounds import export

    def record_of(file, name):  # type: ignore[no-untyped-def]
        return made(file, name, TransparentDealing())

    made = export.record_of
    monkeypatch.setattr(export, "record_of", record_of)
    table = Table(NAMES, seed=7)
    table.start()
    table.play()
    path = save(table, tmp_path / "data" / "rounds")
    data = ("--data-dir", str(tmp_path / "data"))
    for wanted in ("last", path.stem, path.stem[:12]):
        shown = say("record", "show", wanted, *data)
        assert shown.code == 0, shown.err
        assert "Ana" in shown.out
        assert say("record", "check", wanted, *data).code == 0
    assert say("record", "check", "last", str(RECORDS / "deuce.shr"), *data).code == 0
    empty = say("record", "show", "last", "--data-dir", str(tmp_path / "none"))
    assert empty.code == 2
    assert "No round is saved" in empty.err

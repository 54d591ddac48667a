"""Leaving a round: what is said before it, and that all who tell of it afterwards tell the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from client.commands import rounds as rounds_command
from client.commands.history import as_object, as_table
from client.commands.history import in_words as history_in_words
from client.commands.verify import as_object as verdict_as_object
from client.commands.verify import in_words as verdict_in_words
from client.evening import played, sums
from client.history import PlayedRound, as_played, standings
from client.leaving import bye_code, what_leaving_does
from client.lines.show import score_lines
from client.phrases import SAID
from client.rows import DealRow, ScoreRow
from client.tui.lobby import score_table
from client.tui.messages import message
from client.tui.phrases import SCREEN
from client.view import Stage, View, make_view
from p2p.dealing import TransparentDealing
from p2p.rounds.audit import Verdict, verify_file
from p2p.rounds.snapshot import RoundScore
from tests.client.positions import key_of, snapshot_of, view_of
from tests.client.test_lines_narrate import PLAIN, STATE
from tests.client.test_replay import save
from tests.client.tui import scenes
from tests.p2p.recorded import record

ANA, BOGDAN = key_of("Ana"), key_of("Bogdan")


# -- before ----------------------------------------------------------------------------------------------


def playing(players: int, **changes: object) -> View:
    view = replace(view_of(STATE), roster=tuple(f"P{number}" for number in range(players)))
    return replace(view, **changes)  # type: ignore[arg-type]


def deal(agreed: int) -> DealRow:
    return DealRow(2, 2, 2, 2, 2, agreed)


@pytest.mark.parametrize(
    ("view", "does"),
    [
        (playing(2), "lose"),
        (playing(3), "stop"),
        (playing(10), "stop"),
        (playing(2, overdue=True), "overdue"),
        (playing(3, overdue=True), "stop"),
        (playing(2, stage=Stage.DEALING, deal=deal(1)), "deal"),
        (playing(2, stage=Stage.DEALING, deal=deal(2)), "lose"),
        (playing(2, stage=Stage.ARRANGE), "lose"),
        (playing(2, stage=Stage.OFFER), ""),
        (playing(2, stage=Stage.ENDING), ""),
        (playing(2, stage=Stage.OVER), ""),
        (playing(2, in_round=False), ""),
    ],
)
def test_what_leaving_does_is_known_before_it(view: View, does: str) -> None:
    assert what_leaving_does(view) == does
    if does:
        assert f"quit_{does}" in SAID
        assert f"ask_quit_{does}" in SCREEN
        said, style = message(view, replace(scenes.over()[1], asks="quit", message=""))
        assert style == "ask"
        assert said == SCREEN[f"ask_quit_{does}"] + SCREEN["ask_keep"]
    assert bye_code(view) in SAID


@pytest.mark.parametrize("code", ["deal", "lose", "overdue", "stop"])
def test_the_question_fits_the_two_lines_of_the_smallest_screen(code: str) -> None:
    from client.tui.cells import wrap

    assert len(wrap(SCREEN[f"ask_quit_{code}"], 58)) <= 2
    # With its third answer at the usual width; where it is narrower, all three in fewer words.
    assert len(wrap(SCREEN[f"ask_quit_{code}"] + SCREEN["ask_keep"], 78)) <= 2
    assert len(wrap(SCREEN["ask_quit_small"], 58)) <= 2


# -- afterwards ------------------------------------------------------------------------------------------

ENDINGS = {"forfeit": (2, "forfeited"), "stopped": (3, "forfeited"), "given up": (3, "voided")}


@pytest.fixture(scope="module", params=ENDINGS)
def ended(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Verdict]:
    players, kind = ENDINGS[request.param]
    ending = "forfeit" if request.param == "forfeit" else "unfinished"
    path = save(record(players, kind), tmp_path_factory.mktemp("rounds"), ending)
    return request.param, path, verify_file(path, TransparentDealing())


def played_round(path: Path, verdict: Verdict) -> PlayedRound:
    return as_played(path.name, "2026-05-12T20:14:00+00:00", verdict)


def test_all_commands_tell_the_same_of_a_round_that_was_left(ended: tuple[str, Path, Verdict]) -> None:
    kind, path, verdict = ended
    judged = verdict_in_words(verdict, frozenset())
    listed = rounds_command._in_words(rounds_command.describe(path))
    one = played_round(path, verdict)
    summed = "\n".join(history_in_words((one,), standings((one,)), ()))
    assert "blames nobody" not in "\n".join(judged)
    match kind:
        case "forfeit":
            (who,) = verdict.left
            assert verdict.shithead == who
            assert judged[0].endswith(f"{who} left it; of two players, whoever leaves loses.")
            assert f"The shithead is {who}, by leaving." in judged
            assert listed.endswith(f": {who} left, and so lost")
            assert summed.startswith("1 round saved, which counts.")
        case "stopped":
            (who,) = verdict.left
            assert verdict.shithead is None
            assert judged[0].endswith(f"{who} left it. It counts for nobody.")
            assert listed.endswith(f": stopped when {who} left, counts for nobody")
            assert summed.startswith("1 round saved, which does not count.")
        case _:
            (gave_up,) = verdict.gave_up
            (who,) = verdict.debtors
            assert verdict.left == ()
            assert f"given up by {gave_up} while it waited for {who}" in judged[0]
            assert listed.endswith(f": given up by {gave_up}, counts for nobody")
            assert "which does not count" in summed
    how = "left 1 round" if kind != "given up" else "waited for in vain in 1 round"
    assert next(line for line in summed.splitlines() if line.endswith(how)).startswith(who)


def test_programs_are_told_who_left_too(ended: tuple[str, Path, Verdict]) -> None:
    _, path, verdict = ended
    data = verdict_as_object(verdict, frozenset())
    assert (data["left"], data["gave_up"]) == (list(verdict.left), list(verdict.gave_up))
    line = rounds_command.describe(path)
    assert (line["left"], line["gave_up"]) == (list(verdict.left), list(verdict.gave_up))
    one = played_round(path, verdict)
    found = as_object((one,), standings((one,)), ())
    (told,) = found["rounds"]  # type: ignore[misc]
    assert told["left"] == list(verdict.left)
    assert ",".join(verdict.left) in as_table((one,)).splitlines()[-1]


def test_who_only_leaves_is_in_the_history_and_in_no_average() -> None:
    names = (("Ana", "a"), ("Bob", "b"), ("Cleo", "c"))
    left = PlayedRound("r", "2026", 1, names, (), (), None, "unfinished", "unproven", 9, ("Bob",))
    finished = replace(left, finish=("Ana", "Cleo"), shithead="Bob", ending="finished", left=())
    (bob,) = [each for each in standings((left, left)) if each.name == "Bob"]
    assert (bob.rounds, bob.left, bob.average_place, bob.share) == (0, 2, 0.0, 0.0)
    assert [each.name for each in standings((left, left))] == ["Bob"]
    both = {each.name: each for each in standings((left, finished))}
    assert (both["Bob"].rounds, both["Bob"].shitheads, both["Bob"].left) == (1, 1, 1)
    assert (both["Ana"].rounds, both["Ana"].left) == (1, 0)
    lines = history_in_words((left, left), standings((left, left)), ())
    assert lines[0] == "2 rounds saved, 0 of them count."
    assert lines[-1].split() == ["Bob", "left", "2", "rounds"]


# -- names -----------------------------------------------------------------------------------------------


def test_a_past_round_keeps_the_name_that_its_player_had_in_it() -> None:
    then = (("Cleo", BOGDAN), ("Ana", ANA))
    names = tuple((key, name) for name, key in then)
    score = (
        RoundScore(1, "finished", (BOGDAN,), ANA, names),
        RoundScore(2, "forfeit", (ANA,), BOGDAN, ((ANA, "Ana"), (BOGDAN, "Bogdan")), (BOGDAN,)),
        RoundScore(3, "unfinished", (), None, names, (BOGDAN,)),
    )
    view = make_view(replace(snapshot_of(STATE), score=score))
    assert score_lines(view, PLAIN) == [
        "Round 1: 1. Cleo, shithead Ana.",
        "Round 2: 1. Ana, shithead Bogdan, by leaving.",
        "Round 3: unfinished, Cleo left.",
        "Shithead so far: Bogdan/Cleo 1, Ana 1.",
    ]
    table = [span.text for span in score_table(view, scenes.over()[1], 4)]
    assert [row.split() for row in table[1:]] == [["Ana", "***", "1", "1"], ["Bogdan/Cleo", "1", "***", "1"]]


def test_two_players_of_one_name_after_each_other_are_two() -> None:
    first, second, other = bytes([1]), bytes([2]), bytes([3])
    rows = (
        ScoreRow(1, "finished", ("Ana",), "Bob", (other, first)),
        ScoreRow(2, "finished", ("Bob",), "Ana", (second, other)),
        ScoreRow(3, "stalled", (), None),
    )
    assert len(played(rows)) == 2
    found = sums(played(rows))
    assert [(each.name, each.places, each.shitheads) for each in found] == [
        ("Bob", (None, 1), 0),
        ("Ana", (1, 0), 1),
        ("Bob", (0, None), 1),
    ]

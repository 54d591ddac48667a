"""The command line as far as it needs no table: help, versions, errors as sentences, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from client import cli
from client.commands.common import PRESET_NAMES, read_rules
from client.commands.rounds import STATES
from client.problems import NoTable, UsageProblem, exit_code
from engine.errors import RuleError, Sentence, ShitheadError
from engine.rules import PRESETS, RuleSet, to_items
from p2p.errors import NetworkProblem
from p2p.rounds.phases import Phase

HEAVY = ("aioquic", "zeroconf", "nacl", "cryptography", "prompt_toolkit", "msgspec", "platformdirs", "filelock")

RECORDS = Path(__file__).parent.parent / "records"


class Said:
    """What a command line said, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def say(tmp_path: Path, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Runs a command line in this process, on a data directory of its own."""

    def run(*arguments: str) -> Said:
        code = cli.main(["--data-dir", str(tmp_path / "data"), *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Said(code, out, err)

    return run


def test_importing_the_command_line_imports_nothing_heavy() -> None:
    code = (
        "import sys, client.cli; from client.cli import cli\n"
        "import click; ctx = click.Context(cli)\n"
        "[cli.get_command(ctx, name) for name in cli.list_commands(ctx)]\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_alone_it_says_what_to_type(say) -> None:  # type: ignore[no-untyped-def]
    said = say()
    assert said.code == 0
    for command in ("shithead play", "shithead host", "shithead join"):
        assert command in said.out


def test_help_lists_every_command_with_a_sentence(say) -> None:  # type: ignore[no-untyped-def]
    said = say("--help")
    assert said.code == 0
    for name in cli.COMMANDS:
        (line,) = [line for line in said.out.splitlines() if line.split()[:1] == [name]]
        assert len(line.split()) > 3


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_and_takes_a_data_directory(say, name: str) -> None:  # type: ignore[no-untyped-def]
    said = say(name, "--help")
    assert said.code == 0
    assert "--data-dir" in said.out or name == "record"


def test_the_version_names_program_and_protocol(say) -> None:  # type: ignore[no-untyped-def]
    said = say("--version")
    assert said.code == 0
    assert said.out.startswith("shithead 0.")
    assert "(protocol 1)" in said.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("plya",),
        ("--colour",),
        ("rules", "--set"),
        ("tables", "--wait", "soon"),
        ("play", "--bots", "12"),
        ("play", "--level", "hard"),
        ("host", "--rounds", "0"),
        ("join", "a", "b"),
        ("record",),
        ("record", "check"),
    ],
)
def test_what_cannot_be_understood_exits_2_with_a_hint(say, arguments: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    said = say(*arguments)
    assert said.code == 2
    assert "Error: " in said.err or "Usage:" in said.err


def test_the_later_data_directory_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--data-dir", "one", "where", "--data-dir", str(tmp_path / "two"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"] == str(tmp_path / "two")


def test_where_tells_every_place_and_makes_none(say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    said = say("where")
    assert said.code == 0
    for name in ("identity.key", "shithead.db", "rounds", "bots", "settings.toml", "shithead.log"):
        assert str(tmp_path / "data" / name) in said.out
    assert "nothing to remove" in said.out
    assert not (tmp_path / "data").exists()


def test_where_tells_how_to_remove_what_is_there_and_refuses_a_file(say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "identity.key").write_bytes(bytes(32))
    (tmp_path / "data" / "letters.txt").write_text("mine")
    said = say("where")
    assert said.code == 0
    assert "removes all" in said.out
    assert "letters.txt" not in said.out
    (tmp_path / "file").write_text("mine")
    assert cli.main(["--data-dir", str(tmp_path / "file"), "where"]) == 2


# -- errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NetworkProblem("port_busy", port=1), 3),
        (NetworkProblem("refused", address="x", reason="the table is full"), 3),
        (NoTable("no_table", "None."), 3),
        (UsageProblem("data_in_use", "In use."), 2),
        (RuleError("bad_rules", "There is no such thing."), 2),
        (ShitheadError(Sentence("kicked", "You were sent away.", {})), 3),
    ],
)
def test_every_kind_of_trouble_has_its_exit_code(error: ShitheadError, code: int) -> None:
    assert exit_code(error) == code


def test_an_error_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch, say) -> None:  # type: ignore[no-untyped-def]
    def fails(*args: object, **kwargs: object) -> None:
        raise NetworkProblem("port_busy", port=21052)

    monkeypatch.setattr(cli.cli, "main", fails)
    said = say()
    assert said.code == 3
    assert "21052 is in use" in said.err
    assert "--port" in said.err
    assert said.out == ""


def test_a_bug_becomes_a_sentence_and_a_traceback_in_the_log(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*args: object, obj: object, **kwargs: object) -> None:
        obj.data_dir = str(tmp_path)  # type: ignore[attr-defined]
        raise ZeroDivisionError("a secret of nobody")

    monkeypatch.setattr(cli.cli, "main", fails)
    assert cli.main([]) == 1
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert str(tmp_path / "shithead.log") in err
    assert "ZeroDivisionError" in (tmp_path / "shithead.log").read_text()


def test_a_bug_before_there_is_a_data_directory_is_written_too(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def fails(*args: object, obj: object, **kwargs: object) -> None:
        obj.data_dir = str(tmp_path / "not there")  # type: ignore[attr-defined]
        raise ZeroDivisionError

    monkeypatch.setattr(cli.cli, "main", fails)
    assert cli.main([]) == 1
    (written,) = tmp_path.glob("shithead-crash-*.log")
    assert str(written) in capsys.readouterr().err


@pytest.mark.parametrize("stop", [KeyboardInterrupt, click.Abort])
def test_stopped_by_the_person_exits_130(monkeypatch: pytest.MonkeyPatch, say, stop: type[BaseException]) -> None:  # type: ignore[no-untyped-def]
    def fails(*args: object, **kwargs: object) -> None:
        raise stop

    monkeypatch.setattr(cli.cli, "main", fails)
    assert say().code == 130


def test_somebody_elses_package_is_noticed(monkeypatch: pytest.MonkeyPatch, say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert cli.foreign_package() is None
    monkeypatch.setattr("engine.__file__", str(tmp_path / "engine" / "__init__.py"))
    said = say("--help")
    assert said.code == 2
    assert "'engine'" in said.err
    assert "pipx" in said.err


def test_a_reader_that_has_gone_is_no_error() -> None:
    code = "import sys; from client.cli import main; sys.exit(main(['rules', '--json']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert err == b""


# -- rules


def test_rules_are_a_preset_a_file_and_changes(tmp_path: Path) -> None:
    file = tmp_path / "ours.toml"
    file.write_text('preset = "pagat"\nrefill_to = 4\nten_on_ceiling = false\nskip = [8]\n')
    assert read_rules("wikipedia", ()) == RuleSet()
    assert read_rules("pagat", ()) == RuleSet.preset("pagat")
    ours = dict(to_items(read_rules(str(file), ("refill_to=5",))))
    assert (ours["refill_to"], ours["ten_on_ceiling"], ours["skip"]) == ("5", "false", "8")
    assert ours["next_dealer"] == "rotate"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("nosuch",), "nosuch"),
        (("no/such.toml",), "no/such.toml"),
        (("wikipedia", "--set", "colour=red"), "colour"),
        (("wikipedia", "--set", "refill_to"), "refill_to"),
        (("wikipedia", "--set", "refil_to=4"), "There is no option refil_to (did you mean refill_to?)."),
        (("wikipedia", "--set", "xyzzy=4"), "There is no option xyzzy. All are listed by"),
        (("partty",), "There is no preset partty (did you mean party?); there are wikipedia, "),
        (("wikipedia", "--set", "refill_to=many"), "many"),
        (
            ("wikipedia", "--set", "pick_up=forced"),
            "pick_up can't be 'forced' (did you mean forced_only?); expected: one of",
        ),
        (("wikipedia", "--set", "Pick_Up=forced_only"), "There is no option Pick_Up (did you mean pick_up?)."),
        (("wikipedia", "--set", "upcards_strict=True"), "(did you mean true?); expected: true or false."),
        (("wikipedia", "--set", "=4"), "--set wants OPTION=VALUE, such as --set refill_to=4, not =4."),
        (
            ("wikipedia", "--set", "deal=30/3/3"),
            "With deal=30/3/3, 2 players need 72 cards; with packs=auto there",
        ),
    ],
)
def test_rules_that_do_not_exist_are_said(say, arguments: tuple[str, ...], word: str) -> None:  # type: ignore[no-untyped-def]
    said = say("rules", *arguments)
    assert said.code == 2
    assert word in said.err


def test_the_help_of_rules_names_every_preset(say) -> None:  # type: ignore[no-untyped-def]
    assert tuple(PRESETS) == PRESET_NAMES
    for command in ("rules", "host", "play"):
        said = say(command, "--help")
        assert all(name in " ".join(said.out.split()) for name in PRESETS)


def test_a_rules_file_that_is_no_toml_is_said(say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "bad.toml"
    file.write_text("= 3")
    said = say("rules", str(file))
    assert said.code == 2
    assert "bad.toml" in said.err


def test_rules_are_shown_with_what_differs_marked(say) -> None:  # type: ignore[no-untyped-def]
    said = say("rules", "pagat")
    assert said.code == 0
    lines = said.out.splitlines()
    assert "* The player at the dealer's left deals next." in lines
    assert "  2: goes on anything, and anything goes on it." in lines
    assert lines[-1].endswith("next_dealer=rotate, upcard_pick_up=pile_plus_one.")
    options = say("rules", "pagat", "--options").out.splitlines()
    assert len([line for line in options if not line.startswith("   ")]) == len(to_items(RuleSet()))
    number = next(
        i for i, line in enumerate(options) if line.startswith("* next_dealer") and line.endswith("rotate")
    )
    assert options[number + 1].startswith("      who deals next: ")
    assert "one of loser, rotate, winner, random" in " ".join(" ".join(options[number + 1 : number + 3]).split())
    assert json.loads(say("rules", "--json").out) == dict(to_items(RuleSet()))


def test_for_how_many_the_cards_suffice_is_said_where_it_is_not_for_ten(say) -> None:  # type: ignore[no-untyped-def]
    last = say("rules", "--set", "deal=20/3/3").out.splitlines()[-1]
    assert last == "There are cards for 2 players, and no other number."
    # Five share one pack, six have two.
    last = say("rules", "--set", "deal=6/3/3").out.splitlines()[-1]
    assert last == "There are cards for 2, 3, 4, 6, 7 or 8 players, and no other number."
    assert "There are cards" not in say("rules").out
    said = say("rules", "--set", "deal=30/3/3")
    assert said.code == 2
    assert "72 cards" in said.err


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("refill_to = 4\n= 3\n", ("Line 2", "= 3")),
        ("refill_to = 4\n\ncolour = 3\n", ("Line 3", "colour", "refill_to")),
        ("refil_to = 4\n", ("ours.toml", "Line 1", "no option refil_to (did you mean refill_to?)")),
        ('preset = "bridge"\n', ("Line 1", "bridge", "backpacker")),
        ("refill_to = 4\nburn_run = 77\n", ("Line 2", "burn_run", "77", "2")),
        ('skip = ["Z"]\n', ("Line 1", "skip", "Z")),
        ('preset = "paty"\n', ("Line 1", "no preset 'paty' (did you mean party?)")),
        (
            '\npick_up = "forced"\n',
            ("Line 2", "pick_up can't be 'forced' (did you mean forced_only?); expected one"),
        ),
        ("burn = [7]\n# seven\nceiling = [7]\n", ("Line 3: The rank seven can't be in both burn and ceiling",)),
        (
            'preset = "party"\nceiling = [8]\n',
            ("Line 2: The rank eight can't be in both ceiling and transparent",),
        ),
        ('jump_in = "complete"\n', ("Line 1: This version does not play the option jump_in=complete",)),
        ("skip = 2024-02-29\n", ("Line 1: skip can't be 2024-02-29;",)),
        ("skip.seven = 1\n", ("Line 1: skip can't be a table;",)),
        ("[" * 60_000, ("Line 1: `[[[", "[…` is no TOML")),
    ],
)
@pytest.mark.parametrize("command", [("rules",), ("play", "--name", "Ana", "--rules")])
def test_a_wrong_rules_file_is_told_by_file_line_word_and_what_was_expected(  # type: ignore[no-untyped-def]
    say, tmp_path: Path, command: tuple[str, ...], text: str, parts: tuple[str, ...]
) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(text, encoding="utf-8")
    said = say(*command, str(file))
    assert said.code == 2
    assert all(part in said.err for part in (str(file), *parts)), said.err
    assert "Traceback" not in said.err


def test_the_rules_file_in_the_read_me_is_one(say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    file = tmp_path / "ours.toml"
    file.write_text(text.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    said = say("rules", str(file))
    assert said.code == 0
    assert "* 9, J: the direction of play turns." in said.out.splitlines()


def test_a_rules_file_that_is_no_text_is_told(say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "ours.toml"
    file.write_bytes(b"\xff\xfe")
    assert "are no text in UTF-8" in say("rules", str(file)).err


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        (("jump_in=complete",), ("does not play", "jump_in=complete")),
        (("burn=T", "skip=T"), ("burn", "skip")),
        (("start=random", "lead_must_be_start_rank=true"), ("start", "lead_must_be_start_rank")),
    ],
)
def test_rules_that_cannot_be_played_are_refused_by_name(  # type: ignore[no-untyped-def]
    say, changes: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    said = say("rules", *(word for change in changes for word in ("--set", change)))
    assert said.code == 2
    assert all(part in said.err for part in parts)


# -- records


def test_good_records_are_said_to_be_good(say) -> None:  # type: ignore[no-untyped-def]
    files = [str(RECORDS / "deuce.shr"), str(RECORDS / "out-by-a-burn-and-the-end.shr")]
    said = say("record", "check", *files)
    assert said.code == 0
    assert [line.split(":")[0] for line in said.out.splitlines()] == files


def test_a_wrong_record_is_pointed_at_by_line(say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    text = (RECORDS / "deuce.shr").read_text() + "= turn Nobody\n"
    file = tmp_path / "wrong.shr"
    file.write_text(text)
    said = say("record", "check", str(RECORDS / "deuce.shr"), str(file))
    assert said.code == 1
    assert f"{file}:{len(text.splitlines())}: " in said.out


@pytest.mark.parametrize("content", [b"hello", b"", b"\xff\xfe\x00"])
def test_what_is_no_record_exits_2(say, tmp_path: Path, content: bytes) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "other.shr"
    file.write_bytes(content)
    for verb in ("check", "show"):
        said = say("record", verb, str(file))
        assert said.code == 2
        assert "other.shr" in said.err


def test_a_record_that_is_not_there_exits_2(say) -> None:  # type: ignore[no-untyped-def]
    said = say("record", "check", "nowhere.shr")
    assert said.code == 2
    assert "nowhere.shr: can't be read" in said.err


def test_a_record_is_shown_move_by_move(say) -> None:  # type: ignore[no-untyped-def]
    shown = say("record", "show", str(RECORDS / "deuce.shr"))
    assert shown.code == 0
    assert "stock" in shown.out
    moves = [
        json.loads(line) for line in say("record", "show", "--json", str(RECORDS / "deuce.shr")).out.splitlines()
    ]
    assert moves[0]["move"] is None
    assert len(moves) > 1


# -- rounds and verdicts without a round


def test_one_form_of_the_history_at_a_time(say) -> None:  # type: ignore[no-untyped-def]
    said = say("history", "--json", "--csv")
    assert said.code == 2
    assert "choose one" in said.err


def test_every_state_of_a_saved_round_has_words() -> None:
    endings = {"finished", "stalled", "forfeit", "faulted", "unfinished", "damaged", "other_version"}
    assert set(STATES) == endings | {phase.value for phase in Phase if phase is not Phase.CLOSED}


def test_no_line_of_the_help_is_cut(say) -> None:  # type: ignore[no-untyped-def]
    said = say("--help")
    assert said.code == 0
    assert "..." not in said.out.partition("Commands:")[2]


def test_without_rounds_that_is_said(say) -> None:  # type: ignore[no-untyped-def]
    assert say("rounds").code == 0
    assert say("rounds", "--json").out == ""
    said = say("verify")
    assert said.code == 2
    assert "No round is saved" in said.err


def test_a_round_that_is_not_there_is_said(say) -> None:  # type: ignore[no-untyped-def]
    said = say("verify", "2026-01-01")
    assert said.code == 2
    assert "shithead rounds" in said.err
    said = say("verify", "./nowhere.round")
    assert said.code == 2
    assert "nowhere.round" in said.err


def test_a_file_that_is_no_round_exits_2(say, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "letter.round"
    file.write_text("Dear Ana")
    said = say("verify", str(file))
    assert said.code == 2
    assert "not a round" in said.err


def test_the_runner_of_click_agrees() -> None:
    result: Result = CliRunner().invoke(cli.cli, ["--version"])
    assert result.exit_code == 0

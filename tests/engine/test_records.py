"""The text record (docs/record.md): files, form, errors, and the worked examples E1 to E12."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.errors import RuleError
from engine.moves import Open
from engine.record import (
    RecordError,
    UnreadableRecord,
    as_dict,
    check,
    check_text,
    decode,
    draw,
    from_moves,
    moments,
    read,
    write,
)
from engine.record.syntax import MoveLine, Verb
from engine.record.words import MAX_NAME_CHARACTERS, is_plain, name_text
from engine.rules import PLAYED as PLAYED_OPTIONS
from engine.rules import RuleSet, changed_items, to_items
from engine.state import Phase

RECORDS = Path(__file__).parent.parent / "records"
DOCUMENT = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")

PLAYED = sorted(path.name for path in RECORDS.glob("*.shr"))

EXAMPLES = {
    "E1": ["eldest-first-dealt-upcard-three.shr"],
    "E2": ["eldest-three-in-hand.shr", "eldest-four-as-upcard-before-hand.shr"],
    "E3": ["set-and-stock-ends-while-drawing.shr"],
    "E4": ["deuce.shr"],
    "E5": ["ten-draws-before-the-extra-turn.shr"],
    "E6": ["quartet-by-two-players.shr"],
    "E7": ["deuce-breaks-the-run.shr"],
    "E8": ["low-quartet-refused.shr"],
    "E9": ["picking-up-by-choice.shr"],
    "E10": ["upcards-and-pick-up.shr"],
    "E11": ["blind-card-fails.shr", "blind-cards-burn-reset-and-go-out.shr"],
    "E12": ["out-by-a-burn-and-the-end.shr"],
}
"""The worked examples of docs/rules.md 5."""


def text_of(name: str) -> str:
    return decode((RECORDS / name).read_bytes())


@pytest.mark.parametrize("name", PLAYED)
def test_a_record_file_is_legal_and_survives_writing(name: str) -> None:
    record = check_text(text_of(name), name)
    assert read(write(record)) == record
    check(read(write(record)))


@pytest.mark.parametrize("example_number", EXAMPLES)
def test_a_worked_example_has_its_record(example_number: str) -> None:
    for name in EXAMPLES[example_number]:
        assert check_text(text_of(name)).statements


def marks(name: str) -> list[tuple[str, str]]:
    """What a file says in its comments that it shows: ``row 82``, ``on ceiling``, ``off ceiling``, ``meets …``."""
    return re.findall(r"^# (row|on|off|meets) (.*)$", text_of(name), re.MULTILINE)


def marked(kind: str) -> set[str]:
    return {what for name in PLAYED for how, what in marks(name) if how == kind}


def test_every_file_is_a_worked_example_or_shows_something_of_the_options() -> None:
    examples = {name for names in EXAMPLES.values() for name in names}
    assert [name for name in PLAYED if name not in examples and not marks(name)] == []


def test_each_edge_case_with_options_has_its_record() -> None:
    """Rows 82 to 102 of docs/rules.md 2, but those of jumping in, which is not played."""
    assert set(map(str, range(82, 103))) - {"100", "101"} <= marked("row")


def test_each_edge_case_has_a_test_or_a_record_that_bears_its_number() -> None:
    """The table of docs/rules.md 2 against the names of the tests here and the marks of the records."""
    section = DOCUMENT.partition("## 2. Edge cases")[2].partition("## 3.")[0]
    rows = [int(number) for number in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)]
    assert rows == list(range(1, 103))
    borne = {int(number) for number in marked("row")}
    for path in Path(__file__).parent.glob("test_*.py"):
        for numbers in re.findall(
            r"^def test_\w*?_?rows?_(\d+(?:_(?:and_)?\d+)*)", path.read_text(encoding="utf-8"), re.M
        ):
            borne |= {int(number) for number in re.findall(r"\d+", numbers)}
    assert set(rows) - borne == set()


def test_each_worked_example_has_a_record() -> None:
    """Section 5 of docs/rules.md, whose numbers are the parameters of the test above."""
    section = DOCUMENT.partition("## 5. Worked examples")[2].partition("## 6.")[0]
    assert re.findall(r"^\*\*(E\d+) ", section, re.MULTILINE) == list(EXAMPLES)


@pytest.mark.parametrize("option", sorted(PLAYED_OPTIONS))
def test_each_option_has_records_that_show_it_on_and_off(option: str) -> None:
    default = getattr(RuleSet(), option)
    shown = {(how, getattr(read(text_of(name)).rules, option) == default)
             for name in PLAYED for how, what in marks(name) if what == option}  # fmt: skip
    # Who deals next is not in a record; a deal without another rule for it is every other file.
    assert ("on", False) in shown
    assert ("off", True) in shown or option == "next_dealer"
    assert ("on", True) not in shown and ("off", False) not in shown


def interactions() -> list[str]:
    """The headings of docs/rules.md 3.4, but those about what is not played."""
    section = DOCUMENT.partition("### 3.4")[2].partition("### 3.5")[0].replace("`", "")
    headings = re.findall(r"^- \*\*(.*?)\*\*", section, re.MULTILINE)
    return [heading for heading in headings if "jump_in" not in heading and "give" not in heading]


@pytest.mark.parametrize("heading", interactions())
def test_each_interaction_has_records_whose_heads_set_its_options(heading: str) -> None:
    assert len(interactions()) > 20
    names = [name for name in PLAYED if ("meets", heading) in marks(name)]
    assert names
    heads = [dict(to_items(read(text_of(name)).rules)) for name in names]
    changed = {option for name in names for option, _ in changed_items(read(text_of(name)).rules)}
    values = dict(re.findall(r"(\w+) = (\w+)", heading))
    for option in set(re.findall(r"\w+", heading)) & set(PLAYED_OPTIONS):
        if option in values:
            assert any(head[option] == values[option] for head in heads), option
        else:
            # There is a rank that burns under the default rules too.
            assert option in changed or option == "burn", option


@pytest.mark.parametrize("name", PLAYED)
def test_a_file_with_the_last_expectation_turned_round_is_wrong_there(name: str) -> None:
    """A check that can't fail would find nothing in these either."""
    lines = text_of(name).rstrip().split("\n")
    number = max(at for at, line in enumerate(lines) if line.startswith("= "))
    lines[number : number + 1] = ["= over void"]
    with pytest.raises(RecordError) as wrong:
        check_text("\n".join(lines))
    assert (wrong.value.line, wrong.value.code) == (number + 1, "expectation")


HEAD = "shithead-record 1\nrules wikipedia\nplayers Ana Bogdan\ndealer Bogdan\n"
POSITION = HEAD + "pile 4c\nhand Ana 5c 6c\nup Ana 7c\ndown Ana 8c - 9c\nhand Bogdan Jc Qc\nturn Ana\n"


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "rules wikipedia\n", "shithead-record 2\n", "Ana ready"])
def test_what_is_no_record_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableRecord):
        read(text)


def test_other_bytes_than_utf_8_are_unreadable() -> None:
    with pytest.raises(UnreadableRecord) as refused:
        decode(b"shithead-record 1\n\xff")
    assert refused.value.code == "not_utf8"
    assert decode(b"\xef\xbb\xbfx") == "x"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("shithead-record 1\n", 1, "rules"),
        ("shithead-record 1\nplayers Ana Bogdan\n", 2, "rules"),
        ("shithead-record 1\nrules\n", 2, "preset"),
        ("shithead-record 1\nrules uno\n", 2, "preset"),
        ("shithead-record 1\nrules wikipedia ceiling\n", 2, "OPTION=VALUE"),
        ("shithead-record 1\nrules wikipedia cieling=7\n", 2, "cieling"),
        ("shithead-record 1\nrules wikipedia packs=1 packs=1\n", 2, "twice"),
        ("shithead-record 1\nrules wikipedia turn_limit=0\n", 2, "turn_limit"),
        ("shithead-record 1\nrules wikipedia ceiling=7 burn=7\nplayers Ana Bogdan\n", 2, "both burn and ceiling"),
        ("shithead-record 1\nrules wikipedia\nplayers Ana\n", 3, "2 to 10"),
        ("shithead-record 1\nrules wikipedia\nplayers Ana Ana\n", 3, "same name"),
        ("shithead-record 1\nrules wikipedia\nplayers Ana hand\n", 3, "quotes"),
        ("shithead-record 1\nrules wikipedia\nplayers Ana A?b\n", 3, "quotes"),
        (f'shithead-record 1\nrules wikipedia\nplayers Ana "{"x" * 21}"\n', 3, "20 characters"),
        ('shithead-record 1\nrules wikipedia\nplayers Ana ""\n', 3, "1 to 20"),
        ("shithead-record 1\nrules wikipedia\nplayers Ana \"a\u0301\"\n", 3, "NFC"),
        ('shithead-record 1\nrules wikipedia\nplayers Ana "Bog\n', 3, "quote"),
        ('shithead-record 1\nrules wikipedia\nplayers Ana "Bog"dan\n', 3, "blank"),
        ('shithead-record 1\nrules wikipedia\nplayers Ana Bog"dan"\n', 3, "quote"),
        ('shithead-record 1\nrules wikipedia\nplayers Ana "B\\n"\n', 3, "backslash"),
        ("shithead-record 1\nrules wikipedia deal=9/9/9\nplayers Ana Bogdan\n", 3, "need 54"),
        ("shithead-record 1\nrules wikipedia\nplayers Ana Bogdan\n\n# comment\ndealer Carmen\n", 6, "Carmen"),
        (HEAD, 4, "turn"),
        (HEAD + "Ana plays 5c\n", 5, "turn"),
        (HEAD + "deck 2c 3c\n", 5, "52 cards"),
        (HEAD + "deck 2c 2c\n", 5, "2c"),
        (HEAD + "deck 2c 3c'\n", 5, "3c'"),
        (HEAD + "hand Ana 5c\nturn Ana\n", 6, "Bogdan"),
        (HEAD + "hand Ana 5c\nhand Bogdan 5c\nturn Ana\n", 6, "line 5"),
        (HEAD + "hand Ana 5c\nhand Ana 6c\nturn Ana\n", 6, "Line 5"),
        (HEAD + "hand Ana 5c\nhand Bogdan 6c\nturn Ana\nphase arrange\n", 8, "Line 7"),
        (HEAD + "hand Ana 5c\nhand Bogdan 10c\nturn Ana\n", 6, "10c"),
        (HEAD + "hand Ana 5c\nhand Bogdan X1\nturn Ana\n", 6, "X1"),
        (HEAD + "down Ana 5c 6c\nhand Bogdan 7c\nturn Ana\n", 5, "3 slots"),
        (HEAD + "hand Ana - 6c\nhand Bogdan 7c\nturn Ana\n", 5, "card"),
        (HEAD + "hand Ana 5c\nout Bogdan\nturn Ana\n", 6, "over"),
        (HEAD + "hand Ana 5c\nhand Bogdan 6c\nout Bogdan\nturn Ana\n", 7, "has cards"),
        (HEAD + "hand Ana 5c\nhand Bogdan 6c\nturn Carmen\n", 7, "Carmen"),
        (HEAD + "hand Ana 5c\nhand Bogdan 6c\nturn Ana Bogdan\n", 7, "end of the line"),
        (HEAD + "hand Ana 5c\nhand Bogdan 6c\nphase play\n", 7, "arrange"),
        (HEAD + "hand Ana 5c\nhand Bogdan 6c\ndirection left\nturn Ana\n", 7, "clockwise"),
        (POSITION + "Ana plays\n", 11, "card"),
        (POSITION + "Ana flips 1 2\n", 11, "end of the line"),
        (POSITION + "Ana flips\n", 11, "slot"),
        (POSITION + "Ana flips one\n", 11, "slot"),
        (POSITION + "Ana flips 99999\n", 11, "slot"),
        (POSITION + "Ana jumps\n", 11, "plays"),
        (POSITION + 'Ana "plays" 5c\n', 11, "plays"),
        (POSITION + "Ana picks 5c\n", 11, "up"),
        (POSITION + "Ana swaps 5c 7c\n", 11, "for"),
        (POSITION + "Ana plays 5c as 10\n", 11, "rank"),
        (POSITION + "Ana plays 5\n", 11, "card"),
        (POSITION + "Dan plays 5c\n", 11, "Dan"),
        (POSITION + "= tern Ana\n", 11, "turn"),
        (POSITION + "=\n", 11, "expected"),
        (POSITION + "= phase deal\n", 11, "arrange"),
        (POSITION + "= over\n", 11, "stalled"),
        (POSITION + "= illegal Ana\n", 11, "does"),
        (POSITION + "Ana plays 5c\nhand Ana 5c\n", 12, "quotes"),
    ],
)  # fmt: skip
def test_an_error_of_form_names_its_line_and_what_is_expected(text: str, line: int, says: str) -> None:
    with pytest.raises(RecordError) as wrong:
        read(text)
    assert wrong.value.line == line
    assert wrong.value.code in ("form", "head")
    assert says in str(wrong.value)


@pytest.mark.parametrize(
    ("statements", "line", "code", "says"),
    [
        ("Ana plays 5c\nAna plays 6c\n", 12, "not_your_turn", "Bogdan"),
        ("Ana plays 6c 5c\n", 11, "not_a_set", "one rank"),
        ("Ana plays 5c'\n", 11, "no_such_card", "no such card"),
        ("= illegal Ana plays 5c\n", 11, "expectation", "legal"),
        ("= illegal too_low Ana plays 7c\n", 11, "expectation", "not_in_zone"),
        ("= turn Bogdan\n", 11, "expectation", "turn Ana"),
        ("= eldest Bogdan\n", 11, "expectation", "eldest nobody"),
        ("= hand Ana 5c\n", 11, "expectation", "hand 5c 6c"),
        ("= up Ana\n", 11, "expectation", "up 7c"),
        ("= down Ana 8c 9c -\n", 11, "expectation", "down 8c - 9c"),
        ("= down Ana\n", 11, "expectation", "down 8c - 9c"),
        ("= pile\n", 11, "expectation", "pile 4c"),
        ("= stock Ac\n", 11, "expectation", "stock"),
        ("= burnt Ac\n", 11, "expectation", "burnt"),
        ("= direction anticlockwise\n", 11, "expectation", "clockwise"),
        ("= out Ana\n", 11, "expectation", "out"),
        ("= over Ana\n", 11, "expectation", "not over"),
        ("= over stalled\n", 11, "expectation", "not over"),
        ("= over void\n", 11, "expectation", "not over"),
        ("= phase over\n", 11, "expectation", "phase play"),
        ("Bogdan leaves\n= over Ana\n", 12, "expectation", "over Bogdan"),
    ],
)  # fmt: skip
def test_a_wrong_record_names_its_line_and_what_is_there(statements: str, line: int, code: str, says: str) -> None:
    with pytest.raises(RecordError) as wrong:
        check_text(POSITION + statements)
    assert (wrong.value.line, wrong.value.code) == (line, code)
    assert says in str(wrong.value)


def test_expectations_that_hold() -> None:
    check_text(
        POSITION
        + "= turn Ana\n= hand Ana 6c 5c\n= up Ana 7c\n= down Ana 8c - 9c\n= down Bogdan\n= pile 4c\n= stock\n"
        "= out\n= direction clockwise\n= phase play\nAna leaves\n= over Ana\n= phase over\n"
    )


def test_comments_blanks_quotes_and_line_ends_do_not_matter() -> None:
    plain = HEAD + "hand Ana 5c 6c\nhand Bogdan 7c\nturn Ana\nAna plays 5c\n"
    dressed = "# a record\r\n\r\n" + plain.replace("\n", "  # well\r\n").replace("Ana", '"Ana"').replace(
        " ", " \t "
    )
    assert read(dressed) == read(plain)
    assert [statement.line for statement in read(plain).statements] == [8]


def test_quotes_hold_anything_and_never_a_keyword() -> None:
    names = ["hand", "Ioana M.", 'say "hi"', "back\\slash", "a#b", "turn", "-", "too_low", "Zoë", "="]
    record = from_moves(RuleSet(), names, 0, list(range(104)), [])
    again = read(write(record))
    assert again.players == tuple(names)
    assert again == record
    assert [is_plain(name) for name in names] == [name == "Zoë" for name in names]
    text = write(record) + '"hand" ready\n= illegal "too_low" leaves\n'
    assert [type(statement).__name__ for statement in read(text).statements] == ["MoveLine", "ExpectIllegal"]


def test_declaring_may_be_left_out_and_is_written() -> None:
    record = read(text_of("eldest-three-in-hand.shr"))
    answers = [s for s in record.statements if isinstance(s, MoveLine) and s.verb is Verb.DECLARES]
    assert answers == [MoveLine(0, Verb.DECLARES, ("3d",))]
    assert "Ana declares 3d\n= eldest Ana\n" in write(record)


def test_declaring_that_is_written_is_left_alone() -> None:
    text = HEAD + "hand Ana 5c\nhand Bogdan 4c\nphase arrange\nAna ready\nBogdan ready\n"
    assert len(read(text + "= phase declare\n= turn Ana\n").statements) == 4
    assert len(read(text).statements) == 2
    assert len(read(text + "Ana passes\n").statements) == 3
    # Threes: both pass; fours: Ana passes, Bogdan declares.
    assert len(read(text + "Bogdan plays 4c\n").statements) == 7
    with pytest.raises(RecordError) as wrong:
        check_text(text + "Ana declares 5c\n")
    assert wrong.value.code == "not_a_set"


def test_moments_show_every_position() -> None:
    record = read(POSITION + "Ana plays 5c\nBogdan leaves\n")
    seen = list(moments(record))
    assert [(moment.line, moment.text) for moment in seen] == [
        (0, ""), (11, "Ana plays 5c"), (12, "Bogdan leaves"),
    ]  # fmt: skip
    assert seen[0].state == record.start and seen[2].state.phase is Phase.OVER
    drawing = draw(record, seen[1])
    assert drawing.split("\n")[0] == "Ana plays 5c"
    assert "pile 4c 5c" in drawing
    assert "> Bogdan  hand Jc Qc" in drawing
    assert "  Ana     hand 6c | up 7c | down 8c - 9c" in drawing
    assert "Bogdan  left" in draw(record, seen[2])


def test_a_position_is_a_json_object() -> None:
    record = read(POSITION + "Ana plays 5c\n")
    first, second = (json.loads(json.dumps(as_dict(record, moment))) for moment in moments(record))
    assert (first["move"], first["line"], first["turn"]) == (None, None, "Ana")
    assert second["move"] == "Ana plays 5c"
    assert second["players"][0] == {"name": "Ana", "hand": ["6c"], "up": ["7c"], "down": ["8c", None, "9c"]}
    assert (second["pile"], second["turn"], second["shithead"]) == (["4c", "5c"], "Bogdan", None)


def test_moves_of_a_hidden_round_make_a_record() -> None:
    with_openings = from_moves(RuleSet(), ["Ana", "Bogdan"], 1, list(range(52)), [Open(6, 6)])
    assert with_openings.statements == ()
    with pytest.raises(RuleError):
        from_moves(RuleSet(), ["Ana"], 0, list(range(52)), [])


NAMES = st.text(min_size=1, max_size=MAX_NAME_CHARACTERS)


@given(NAMES, NAMES)
@settings(max_examples=200, deadline=None)
def test_any_names_make_a_record_or_an_error(one: str, other: str) -> None:
    text = HEAD.replace("Ana Bogdan", f"{name_text(one)} {name_text(other)}").replace(
        "dealer Bogdan", f"dealer {name_text(one)}"
    )
    text += (
        f"hand {name_text(one)} 5c\nhand {name_text(other)} 6c\nturn {name_text(one)}\n{name_text(one)} plays 5c\n"
    )
    try:
        record = check_text(text)
    except (RecordError, UnreadableRecord):
        return
    assert record.players == (one, other)
    assert read(write(record)) == record


VOCABULARY = (
    r"""= # " \ - Ana Bogdan "Ana" hand up down stock pile burnt turn phase arrange play direction """
    r"""clockwise out over eldest illegal too_low plays swaps for ready unready declares passes """
    r"""picks with flips leaves chances chooses as names 5c 6c 7c 8c 9c Jc Qc 5c' X1 ?? 1 2 9 deck """
    r"""shithead-record rules wikipedia players dealer stalled void """
)
WORDS = st.sampled_from(VOCABULARY.split())
JUNK = st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=12).map("\n".join)


@given(
    st.one_of(
        st.text(max_size=200), JUNK, JUNK.map(lambda tail: POSITION + tail), JUNK.map(lambda tail: HEAD + tail)
    )
)
@example(POSITION + "= illegal = illegal Ana plays 5c")
@example(HEAD + "turn Ana")
@example(HEAD + "out Ana Ana\nhand Bogdan 5c\nturn Bogdan")
@settings(max_examples=500, deadline=None)
def test_any_text_is_a_record_or_an_error_that_says_something(text: str) -> None:
    try:
        record = read(text)
    except (RecordError, UnreadableRecord) as error:
        assert str(error)
        assert not isinstance(error, RecordError) or 1 <= error.line <= text.count("\n") + 1
        return
    assert read(write(record)) == record
    try:
        check(record)
    except RecordError as error:
        assert str(error)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_record_is_a_record_or_an_error(data: st.DataObject) -> None:
    text = text_of(data.draw(st.sampled_from(PLAYED)))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    damaged = text[:start] + data.draw(st.text(alphabet=text + '"\\#-', max_size=6)) + text[end:]
    try:
        record = check_text(damaged)
    except (RecordError, UnreadableRecord):
        return
    assert read(write(record)) == record


def test_a_named_joker_is_drawn_and_told_with_its_rank() -> None:
    head = HEAD.replace("wikipedia", "wikipedia jokers=2 joker_power=wild")
    record = read(head + "pile 4c\nhand Ana X1 6c\nhand Bogdan Jc Qc\nturn Ana\nAna plays X1 as 9\n")
    *_, last = moments(record)
    assert "  pile 4c X1 as 9" in draw(record, last).split("\n")
    told = as_dict(record, last)
    assert (told["pile"], told["named"]) == (["4c", "X1"], {"X1": "9"})

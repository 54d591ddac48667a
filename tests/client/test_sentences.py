"""Every sentence that the engine, the network floor and the client can say becomes text for a person."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.cards import Style, card_label, clean, read_card, read_rank, style_for
from client.phrases import SAID, STAGES, TOLD, WAITS
from client.sentences import YOU, Names, listed, render, render_error
from client.view import Stage
from engine.cards import card_text
from engine.errors import RuleError, Sentence
from p2p.errors import NetworkProblem
from p2p.feeds.faults import FAULT_SENTENCES

ROOT = Path(__file__).parents[2]
RAISING = {
    "Sentence",
    "_sentence",
    "RuleError",
    "RecordError",
    "LocalProtocolError",
    "RemoteProtocolError",
    "UsageProblem",
    "NoTable",
}
KEY = bytes(range(32))
NAMES = Names(("Ana", "Bogdan"), {KEY: "Bogdan"}, 0, bytes(32))


def templates_of(path: Path) -> set[str]:
    """The templates that a module gives to the classes that hold one."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in RAISING:
                texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                found.update(text for text in texts if isinstance(text, str) and " " in text)
    return found


def all_templates() -> list[str]:
    found = {
        text
        for floor in ("engine", "p2p", "client")
        for path in (ROOT / floor).rglob("*.py")
        for text in templates_of(path)
    }
    problems = ast.parse((ROOT / "p2p/errors.py").read_text())
    for node in ast.walk(problems):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            parts = [element.value for element in node.elts if isinstance(element, ast.Constant)]
            found.update(part for part in parts if isinstance(part, str))
    found |= set(FAULT_SENTENCES.values()) | set(SAID.values())
    found |= {text for pair in TOLD.values() for text in pair if text}
    found |= set(YOU.values())
    return sorted(found)


TEMPLATES = all_templates()


def places(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def made_up(name: str) -> object:
    if name == "seat":
        return 1
    if name == "player":
        return KEY
    if name in ("rank", "top"):
        return "8"
    if name.startswith("card"):
        return "Td" if name == "card" else ("Td", "7c")
    return 1 if name in ("count", "seconds", "players", "number") else "abc"


def test_the_templates_are_found() -> None:
    assert len(TEMPLATES) > 150
    assert "{seat} does not hold {card}." in TEMPLATES
    assert "UDP port {port} is in use on this machine." in TEMPLATES


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_becomes_text(template: str) -> None:
    sentence = Sentence("code", template, {name: made_up(name) for name in places(template)})
    for style in (Style(), Style(ascii=True)):
        text = render(sentence, NAMES, style)
        assert text
        assert "{" not in text
        assert "}" not in text
        assert KEY.hex()[:8] not in text
        assert "a ace" not in text
        assert "a eight" not in text
    if style.ascii and template.isascii():
        assert text.isascii()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_missing_value_is_a_hole_not_an_error(template: str) -> None:
    assert render(Sentence("code", template))


def test_forms_for_the_reader_are_of_existing_templates() -> None:
    assert set(YOU) <= set(TEMPLATES)
    for template, form in YOU.items():
        assert places(form) <= places(template)


def test_both_forms_of_what_is_told_have_the_same_places() -> None:
    for other, mine in TOLD.values():
        if other and mine:
            assert places(mine) - {"table"} <= places(other)


def test_every_duty_and_stage_has_words() -> None:
    from p2p.rounds import duties

    text = Path(duties.__file__).read_text()
    named = {word for word in WAITS if f'"{word}"' in text}
    assert named >= {"accept", "key", "deck", "proof", "agreed", "shares", "ready", "move", "flip", "result"}
    assert STAGES.keys() == {stage.value for stage in Stage}


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        (Sentence("c", "{seat} does not hold {card}.", {"seat": 1, "card": "Td"}), "Bogdan does not hold 10♦."),
        (Sentence("c", "{seat} does not hold {card}.", {"seat": 0, "card": "Td"}), "You don't hold 10♦."),
        (Sentence("c", "It is {seat}'s turn.", {"seat": 1}), "It is Bogdan's turn."),
        (
            Sentence("c", "A {rank} can't be played on a {top}.", {"rank": "A", "top": "8"}),
            "An ace can't be played on an eight.",
        ),
        (Sentence("c", "{player} left.", {"player": KEY}), "Bogdan left."),
        (Sentence("c", "{player} left.", {"player": b"\1\2\3\4\5"}), "01020304 left."),
        (Sentence("c", "{n:card|cards}", {"n": 1}), "1 card"),
        (Sentence("c", "{n:card|cards}", {"n": 2}), "2 cards"),
        (Sentence("c", "{cards}", {"cards": ("7c", "7h")}), "7♣ 7♥"),
        (Sentence("c", "{names}", {"names": ("a", "b", "c")}), "a, b and c"),
        (Sentence("c", "{name}", {"name": "Td"}), "Td"),
        (Sentence("c", "{name}", {"name": "x\x1b[31m\u202eb\u200bc"}), "x[31mbc"),
        (Sentence("c", "{a.b}", {"a": "x"}), "{a.b}"),
        (Sentence("c", "{seat}", {"seat": 7}), "seat 8"),
        (Sentence("c", "{yes} {much}", {"yes": True, "much": 2.0}), "yes 2"),
    ],
)
def test_values_become_words(sentence: Sentence, text: str) -> None:
    assert render(sentence, NAMES) == text


def test_an_error_comes_with_what_to_do() -> None:
    said = render_error(NetworkProblem("port_busy", port=4))
    assert said[0] == "UDP port 4 is in use on this machine."
    assert "--port" in said[1]
    assert render_error(RuleError("a", "No.")) == ("No.",)


def test_lists_in_sentences() -> None:
    assert [listed(["a", "b", "c"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]


@given(st.text())
def test_cleaned_text_has_nothing_that_moves_the_cursor(text: str) -> None:
    import unicodedata

    cleaned = clean(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for c in cleaned)
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize("k", range(52))
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_card_that_is_shown_can_be_typed(k: int, ascii_only: bool) -> None:
    text = card_text(k, 1)
    shown = card_label(text, Style(ascii=ascii_only))
    assert read_card(shown) == text
    assert shown.isascii() == ascii_only


def test_other_ways_to_type() -> None:
    assert {read_rank(word) for word in ("10", "t", "T", "0")} == {"T"}
    assert read_card("tH") == "Th"
    assert [read_card(word) for word in ("", "h", "1h", "5x", "11h")] == [None] * 5
    assert [card_label(text, Style()) for text in ("??", "X1", "9c'")] == ["??", "X1", "9♣"]


def test_letters_where_symbols_cannot_be_written() -> None:
    assert not style_for("utf-8").ascii
    assert style_for("ascii").ascii
    assert style_for("latin-1").ascii
    assert style_for("no such").ascii
    assert style_for(None).ascii
    assert style_for("utf-8", ascii_only=True).ascii

"""docs/protocol.md is held against the code: tables, fields, codes, limits and the numbers that the code cites."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from p2p.feeds import entries as e
from p2p.feeds.faults import FAULT_SENTENCES, ON_RECORD_ONLY
from p2p.rounds import judge, session
from p2p.rounds import round as rounds
from p2p.rounds.ending import find_final
from p2p.rounds.phases import TABLE, Phase

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text("utf-8")


def table_after(heading: str) -> list[list[str]]:
    """The rows of the first table after a heading, without its head."""
    at = PAGE.index(heading)
    rows = re.search(r"((?:^\|.*\n)+)", PAGE[at:], re.MULTILINE)
    assert rows is not None
    lines = rows[1].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def phase_rows() -> list[list[str]]:
    return [
        [phase.upper(), f"`{kind}`", row.who.value, ", ".join(following.upper() for following in row.leads_to)]
        for (phase, kind), row in TABLE.items()
    ]


def test_the_phase_table_is_the_one_of_the_code():
    assert table_after("## 11 Phases") == phase_rows()


def test_every_phase_is_explained():
    named = {row[0] for row in table_after("### The phases")}
    assert named == {phase.upper() for phase in Phase}


def test_every_body_is_listed_with_its_fields_in_order():
    rows = {row[0].strip("`"): row[1] for row in table_after("### Bodies")}
    assert list(rows) == list(e.BODIES)
    for kind, fields in rows.items():
        assert re.findall(r"`(\w+)`", fields) == list(e.BODIES[kind].__struct_fields__)


def test_every_fault_code_is_listed_and_no_other():
    rows = table_after("## 13 Faults")
    assert [row[0].strip("`") for row in rows] == list(FAULT_SENTENCES)
    on_record = {row[0].strip("`") for row in rows if "on record" in row[2]}
    assert on_record == ON_RECORD_ONLY


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("entry", f"{e.MAX_ENTRY_BYTES // 1024} KiB"),
        ("`seen`", e.MAX_SEEN),
        ("name", f"{e.MAX_NAME_CHARACTERS} characters"),
        ("table name", f"{e.MAX_TABLE_NAME_CHARACTERS} characters"),
        ("players", e.MAX_PLAYERS),
        ("swaps", rounds.MAX_SWAPS),
        ("entries of an author in a round", f"{rounds.MAX_ROUND_ENTRIES:,}"),
        ("a feed", f"{e.MAX_FEED_BYTES >> 20} MiB"),
        ("entries held for an author", session.MAX_HELD_PER_AUTHOR),
        ("strangers for whom entries are held", session.MAX_HELD_STRANGERS),
        ("versions of one number kept unasked", session.MAX_VERSIONS),
        ("grace for a debt", f"{session.GRACE_S} s"),
        ("grace for the last seeds", f"{session.REVEAL_GRACE_S:.0f} s"),
    ],
)
def test_limits_are_the_ones_of_the_code(name, value):
    rows = {row[0]: row[1] for row in table_after("**D22")}
    assert rows[name] == str(value)


def test_every_number_that_the_code_cites_is_defined():
    cited: set[str] = set()
    for path in [*ROOT.glob("p2p/**/*.py"), *ROOT.glob("engine/*.py"), *ROOT.glob("client/**/*.py")]:
        cited.update(re.findall(r"\bD\d{1,2}\b", path.read_text("utf-8")))
    defined = set(re.findall(r"\*\*(D\d{1,2})\b", PAGE))
    assert cited <= defined
    assert {"D0", "D25"} <= defined


def test_every_section_that_the_code_cites_is_there():
    headings = {int(number) for number in re.findall(r"^## (\d+) ", PAGE, re.MULTILINE)}
    for path in ROOT.glob("p2p/**/*.py"):
        for number in re.findall(r"docs/protocol\.md, (\d+)", path.read_text("utf-8")):
            assert int(number) in headings
    assert headings == set(range(1, 15))


def test_the_page_names_code_that_exists():
    assert find_final.__name__ in PAGE
    assert judge.judge.__name__ in PAGE
    for path in re.findall(r"`((?:p2p|tests|docs|engine)/[\w/]+\.\w+)`", PAGE):
        assert (ROOT / path).exists(), path

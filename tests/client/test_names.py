"""Names that look like a role or like the reader: nobody may choose one, and who has one is shown so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from client import names
from client.hosting import BOT_NAMES
from client.lines.interpret import interpret
from client.lines.narrate import Narrator
from client.lines.show import table_lines
from client.names import check_own_name, is_doubtful, shown_name
from client.orders import Admit, Mute
from client.problems import UsageProblem
from client.settings import choose_name
from client.view import make_view
from p2p.feeds.identity import BadName, check_name
from p2p.rounds.news import News
from p2p.rounds.snapshot import Knocking
from tests.client.positions import key_of, snapshot_of
from tests.client.test_lines_narrate import PLAIN, STATE

DOUBTFUL = (
    "you",
    "You",
    "YOU!",
    "y o u",
    "y.o.u",
    "ｙｏｕ",
    "ⓨⓞⓤ",
    "bot",
    "Mia (bot)",
    "Mia [Bot]",
    "Mia bot",
    "Mia-bot",
    "Mia（bot）",
    "Mia (she)",
    "Mia <3>",
    "«Mia»",
    '"Mia"',
    "the host",
    "Host",
    "nobody",
    "I",
)
GOOD = (
    "Mia",
    "Robot",
    "Abbott",
    "Youssef",
    "Ghost",
    "O'Neil",
    "D’Arcy",
    "Ana 2",
    "J. R.",
    "Ian",
    "Botho",
    "Yu",
    "李雷",
)


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_name_that_looks_like_a_role_is_not_chosen_and_still_no_fault(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadName) as caught:
        check_own_name(name)
    assert caught.value.code == "name_doubtful"
    with pytest.raises(BadName):
        choose_name(tmp_path / "settings.toml", name, None)
    # To the protocol it is a name as any other: an older program may have let it in.
    assert check_name(name)


@pytest.mark.parametrize("name", [*GOOD, *BOT_NAMES])
def test_other_names_are_anybodys(name: str) -> None:
    assert check_own_name(name) == name
    assert shown_name(name) == name


def test_a_kept_name_that_is_none_says_where_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('name = "you"\n', encoding="utf-8")
    with pytest.raises(UsageProblem) as caught:
        choose_name(path, None, None)
    assert str(path) in str(caught.value)


def test_a_login_called_host_gets_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from client import settings

    monkeypatch.setattr(settings.getpass, "getuser", lambda: "host")
    assert settings.login_name() == settings.FALLBACK_NAME


def test_who_is_called_so_all_the_same_is_shown_in_marks_and_can_be_named_without_them() -> None:
    snapshot = snapshot_of(STATE)
    assert snapshot.round is not None
    ana, bogdan, cleo = key_of("Ana"), key_of("Bogdan"), key_of("Cleo")
    players = tuple(replace(each, name="you") if each.key == bogdan else each for each in snapshot.players)
    round_ = replace(snapshot.round, names={ana: "Ana", bogdan: "you"})
    door = (Knocking(cleo, "Mia (bot)", b"", "192.0.2.7:1"),)
    view = make_view(replace(snapshot, players=players, round=round_, door=door, host=ana, acting_host=ana))
    assert view.names.keys[bogdan] == '"you"'
    assert '"you"' in view.roster
    assert any(line.startswith('  "you" (') for line in table_lines(view, PLAIN))
    assert view.door[0].name == '"Mia (bot)"'
    for typed in ("you", '"you"', "YOU"):
        assert interpret(view, f"mute {typed}") == Mute(frozenset({bogdan}), True)
    for typed in ("mia (bot)", '"mia', "Mia"):
        assert interpret(view, f"admit {typed}") == Admit(cleo)
    news = (
        News("said", {"player": bogdan, "name": "you", "text": "hello"}),
        News("knocked", {"player": cleo, "name": "Mia (bot)", "address": "192.0.2.7:1"}),
    )
    told = Narrator(PLAIN).tell(news, view, view)
    assert told[0] == '"you"> hello'
    assert told[1].startswith('"Mia (bot)" is at the door')


def test_the_looks_of_so_many_names_are_remembered_and_no_more() -> None:
    assert is_doubtful.cache_info().maxsize == names.MAX_KEPT_NAMES

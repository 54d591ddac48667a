"""Settings and the name: asked once, kept, never a reason to lose a file."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from client.problems import UsageProblem
from client.settings import FALLBACK_NAME, Settings, choose_name, load, login_name, save, save_name
from p2p.feeds.identity import BadName, check_name


def never(default: str) -> str:
    raise AssertionError("nobody should have been asked")


def test_without_a_file_nothing_is_set(tmp_path: Path) -> None:
    assert load(tmp_path / "settings.toml").name == ""


def test_the_name_is_asked_once_and_remembered(tmp_path: Path) -> None:
    place = tmp_path / "settings.toml"
    assert choose_name(place, None, lambda default: " Zoë ") == ("Zoë", True)
    assert choose_name(place, None, never) == ("Zoë", False)


def test_a_given_name_serves_now_and_is_stored_only_if_it_is_the_first(tmp_path: Path) -> None:
    place = tmp_path / "settings.toml"
    assert choose_name(place, "Ana", never) == ("Ana", True)
    assert choose_name(place, "Bob", never) == ("Bob", False)
    assert load(place).name == "Ana"


def test_in_a_pipe_the_login_name_serves_and_is_not_stored(tmp_path: Path) -> None:
    place = tmp_path / "settings.toml"
    name, stored = choose_name(place, None, None)
    assert name == login_name()
    assert not stored
    assert not place.exists()


@pytest.mark.parametrize("name", ["", "   ", "x" * 21, "a\x07b", "a\u202eb", "a\nb"])
def test_a_name_that_cannot_be_used_is_refused_and_not_stored(tmp_path: Path, name: str) -> None:
    place = tmp_path / "settings.toml"
    with pytest.raises(BadName):
        choose_name(place, name, never)
    assert not place.exists()


def test_storing_a_name_leaves_the_rest_of_the_file(tmp_path: Path) -> None:
    place = tmp_path / "settings.toml"
    place.write_text('# mine\nname = ""\n\n[other]\nname = "dark"\n', encoding="utf-8")
    save_name(place, 'a "b" \\ c')
    text = place.read_text(encoding="utf-8")
    assert load(place).name == 'a "b" \\ c'
    assert "# mine" in text
    assert '[other]\nname = "dark"' in text


def test_how_the_screen_looks_is_stored_beside_the_name(tmp_path: Path) -> None:
    place = tmp_path / "settings.toml"
    save_name(place, "Ana")
    save(place, {"theme": "light", "motion": False, "suits": "letters"})
    save(place, {"theme": "mono"})
    assert load(place) == Settings("Ana", suits="letters", theme="mono", motion=False)


@pytest.mark.parametrize("line", ['theme = "pink"', "motion = 3", 'order = ""', "suits = [1]"])
def test_a_look_that_does_not_exist_is_said(tmp_path: Path, line: str) -> None:
    place = tmp_path / "settings.toml"
    place.write_text(f'name = "Ana"\n{line}\n', encoding="utf-8")
    with pytest.raises(UsageProblem) as caught:
        load(place)
    assert caught.value.code == "settings_bad_value"
    assert line.split()[0] in str(caught.value)


@pytest.mark.parametrize("content", [b"name = \n", b"\xff\xfe", b"name = 5\n"])
def test_a_damaged_file_is_said_and_left_alone(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "settings.toml"
    place.write_bytes(content)
    with pytest.raises(UsageProblem) as caught:
        choose_name(place, "Ana", never)
    assert str(place) in str(caught.value)
    assert place.read_bytes() == content


@given(st.text(max_size=60))
@example("µA")
@example("ß" * 20)
def test_any_login_name_becomes_a_name_that_can_be_used(login: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(getpass, "getuser", lambda: login)
        name = login_name()
    assert check_name(name) == name


def test_without_a_login_name_there_is_a_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise OSError("no such user")

    monkeypatch.setattr(getpass, "getuser", none)
    assert login_name() == FALLBACK_NAME

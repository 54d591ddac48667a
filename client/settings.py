"""The settings: one small TOML file, and the name that was given at the first start."""

from __future__ import annotations

import getpass
import json
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from client.problems import UsageProblem
from client.reading import read_small_text

MAX_SETTINGS_BYTES: Final = 64 << 10
"""Of the settings: ours have ten lines, the rest is for comments."""

FALLBACK_NAME: Final = "Player"
"""Where the system tells no login name that could be used."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set. ``name`` is empty until it has been given once; the rest is how the full screen looks.

    ``suits``: ``auto`` (symbols where the terminal shows them in one cell), ``symbols`` or ``letters``;
    ``order``: ``rank`` or ``suit``; ``theme``: a name of ``client.tui.styles``.
    """

    name: str = ""
    suits: str = "auto"
    order: str = "rank"
    theme: str = "dark"
    motion: bool = True
    sound: bool = True
    mouse: bool = True
    guide: bool = True


TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "suits": ("auto", "symbols", "letters"),
    "order": ("rank", "suit"),
    "theme": ("dark", "light", "contrast", "blind", "four", "mono"),
}
"""Settings that are one of a few words."""

SWITCHES: Final = ("motion", "sound", "mouse", "guide")
"""Settings that are true or false."""


def load(path: Path) -> Settings:
    """The settings in ``path``; the defaults if there is no such file.

    Raises ``UsageProblem`` when the file can't be read; it is never replaced, somebody wrote it.
    """
    try:
        data = tomllib.loads(read_small_text(path, MAX_SETTINGS_BYTES))
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise UsageProblem(
            "settings_unreadable",
            "The settings {path} can't be read ({reason}). Check their permissions.",
            path=str(path),
            reason=error.strerror or str(error),
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageProblem(
            "settings_damaged",
            "The settings {path} are not valid TOML ({reason}). Correct the file, or remove it.",
            path=str(path),
            reason=str(error),
        ) from error
    name = data.get("name", "")
    if not isinstance(name, str):
        raise UsageProblem(
            "settings_bad_value",
            'In the settings {path}, {option} has to be text: {option} = "…".',
            path=str(path),
            option="name",
        )
    values: dict[str, str | bool] = {}
    for option, words in TEXTS.items():
        value = data.get(option, words[0])
        if value not in words:
            raise _bad_value(path, option, f"one of {', '.join(words)}")
        values[option] = value
    for option in SWITCHES:
        value = data.get(option, True)
        if not isinstance(value, bool):
            raise _bad_value(path, option, "true or false")
        values[option] = value
    # Every value has just been checked to be of its field's type.
    return Settings(name, **values)  # type: ignore[arg-type]


def _bad_value(path: Path, option: str, form: str) -> UsageProblem:
    return UsageProblem(
        "settings_bad_value",
        "In the settings {path}, {option} has to be {form}.",
        path=str(path),
        option=option,
        form=form,
    )


def save_name(path: Path, name: str) -> None:
    """Stores the name in ``path`` and leaves the rest of the file as it is.

    Raises ``UsageProblem`` when the file can't be written.
    """
    save(path, {"name": name})


def save(path: Path, changes: Mapping[str, str | bool]) -> None:
    """Stores some settings in ``path`` and leaves the rest of the file as it is.

    Raises ``UsageProblem`` when the file can't be written.
    """
    # A JSON string is a TOML basic string, so long as nothing is escaped as a surrogate pair; booleans are
    # written alike.
    line = "".join(f"{option} = {json.dumps(value, ensure_ascii=False)}\n" for option, value in changes.items())
    partial = path.with_name(f"{path.name}.new")
    try:
        lines = read_small_text(path, MAX_SETTINGS_BYTES).splitlines(keepends=True) if path.exists() else []
        partial.write_text(line + "".join(_without(lines, changes)), encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UsageProblem(
            "settings_unwritable",
            "The settings can't be stored in {path} ({reason}).",
            path=str(path),
            reason=error.strerror or str(error),
        ) from error


def _without(lines: list[str], options: Mapping[str, str | bool]) -> list[str]:
    """The lines without top-level ``options``; one below a ``[section]`` is another setting."""
    section = next((i for i, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    top = [line for line in lines[:section] if line.partition("=")[0].strip() not in options]
    return top + lines[section:]


def login_name() -> str:
    """A name made of the login name: only what a name may hold, at most as long as one may be."""
    from client.names import check_own_name
    from p2p.feeds.entries import MAX_NAME_CHARACTERS
    from p2p.feeds.identity import BadName

    try:
        login = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return FALLBACK_NAME
    plain = "".join(
        character
        for character in unicodedata.normalize("NFC", login)
        if character == " " or unicodedata.category(character)[0] in "LN" or character in "._-"
    )
    try:
        name = check_own_name(plain[:MAX_NAME_CHARACTERS])
    except BadName:
        return FALLBACK_NAME
    try:
        return check_own_name(name[0].upper() + name[1:])
    except BadName:
        # A capital can be longer than its letter, or of another script ("µ" is a sign, its capital Greek).
        return name


def choose_name(path: Path, given: str | None, ask: Callable[[str], str] | None) -> tuple[str, bool]:
    """The name to play under, and whether it was stored just now.

    ``given`` (``--name``) wins and is stored if there is no name yet; else the stored one; else ``ask`` is
    called with the default and its answer stored; without ``ask`` (a pipe) the default serves and nothing is
    stored, so that a person is asked later. Raises ``BadName`` and what `load` and `save_name` raise.
    """
    from client.names import check_own_name
    from p2p.feeds.identity import BadName

    stored = load(path).name
    if given is not None:
        name = check_own_name(given)
        if not stored:
            save_name(path, name)
        return name, not stored
    if stored:
        try:
            return check_own_name(stored), False
        except BadName as error:
            template = "The name in the settings {path} can't be used: " + error.sentence.template
            raise UsageProblem(error.code, template, **{**error.sentence.values, "path": str(path)}) from error
    if ask is None:
        return login_name(), False
    name = check_own_name(ask(login_name()))
    save_name(path, name)
    return name, True

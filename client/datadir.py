"""The data directory: what lies where, who may read it, and that one program at a time uses it.

Nothing of the program is outside it. It may hold other things: whoever chose it may have chosen their home.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from client.problems import UsageProblem

ENVIRONMENT_VARIABLE: Final = "SHITHEAD_HOME"

IS_WINDOWS: Final = os.name == "nt"

DIRECTORY_MODE: Final = 0o700
"""Keys and seeds lie there: for the owner alone."""

OWN_FILES: Final = (
    "identity.key", "identity.key.new", "shithead.db*", "settings.toml", "settings.toml.new", "shithead.log*",
    "lock", "history.json", "history.json.new",
)  # fmt: skip
"""Patterns of the files that the program writes into its directory; ``.new`` is one that was being written."""

OWN_DIRECTORIES: Final = ("rounds", "bots")


@dataclass(frozen=True, slots=True)
class DataDir:
    """The places below one directory. Making the value touches nothing."""

    path: Path

    @property
    def identity(self) -> Path:
        """The private key, 32 bytes."""
        return self.path / "identity.key"

    @property
    def database(self) -> Path:
        """The feeds, own seeds and known players."""
        return self.path / "shithead.db"

    @property
    def rounds(self) -> Path:
        """The saved rounds."""
        return self.path / "rounds"

    @property
    def bots(self) -> Path:
        """One data directory of the same shape for each bot."""
        return self.path / "bots"

    @property
    def settings(self) -> Path:
        """The settings, TOML."""
        return self.path / "settings.toml"

    @property
    def log(self) -> Path:
        """The log of the last evenings."""
        return self.path / "shithead.log"

    @property
    def lock(self) -> Path:
        """Locked while a program plays with these data."""
        return self.path / "lock"

    def prepare(self) -> None:
        """Makes the directory, readable by its owner alone, or checks the one that is there.

        One that holds other things keeps its rights: they are not ours, and what is private of ours is so by
        itself. Raises ``UsageProblem`` when it is a file, can't be made or can't be written to.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=DIRECTORY_MODE)
        except FileExistsError as error:
            raise _not_a_directory(self.path) from error
        except NotADirectoryError as error:
            raise _not_a_directory(self.path.parent) from error
        except OSError as error:
            raise _unusable(self.path, error) from error
        if self._is_ours():
            _make_private(self.path)
        # Asking for permission (os.access) gives wrong answers on network drives and for root: try.
        probe = self.path / f".writable-{os.getpid()}"
        try:
            probe.touch(mode=0o600)
            probe.unlink()
        except OSError as error:
            raise _unusable(self.path, error) from error

    def _is_ours(self) -> bool:
        """Whether nothing else is in the directory than what the program makes."""
        try:
            names = [path.name for path in self.path.iterdir()]
        except OSError as error:
            raise _unusable(self.path, error) from error
        patterns = (*OWN_FILES, *OWN_DIRECTORIES)
        return all(any(fnmatchcase(name, pattern) for pattern in patterns) for name in names)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the lock of the prepared directory; ``UsageProblem("data_in_use")`` if another program does.

        The system frees the lock when a program dies in whatever way, so there is none to clear by hand.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.lock, timeout=0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise UsageProblem(
                "data_in_use",
                "Another shithead is running with the data in {path}. "
                "A second player on this machine has data of its own: {command}",
                path=str(self.path),
                command=f"shithead --data-dir {_quoted(self.second())} join",
            ) from error
        except OSError as error:
            raise _unusable(self.path, error) from error
        try:
            yield
        finally:
            lock.release()

    def second(self) -> Path:
        """A directory beside this one that a second player on this machine could use."""
        return self.path.with_name(f"{self.path.name}-2")

    def check_place(self) -> None:
        """Raises ``UsageProblem("data_not_a_directory")`` if a file is in its place or above; makes nothing."""
        for place in (self.path, *self.path.parents):
            try:
                mode = place.stat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise _unusable(self.path, error) from error
            if not stat.S_ISDIR(mode):
                raise _not_a_directory(place)
            return

    def own(self) -> tuple[Path, ...]:
        """What the program has written there, by name; nothing else in the directory is meant."""
        files = [found for pattern in OWN_FILES for found in sorted(self.path.glob(pattern)) if found.is_file()]
        directories = [place for name in OWN_DIRECTORIES if (place := self.path / name).is_dir()]
        return (*files, *directories)

    def removal(self) -> tuple[str, ...]:
        """The lines that remove what the program has kept, for this system's shell; none if there is nothing.

        They name what is ours and spare what else is there; an empty directory stays.
        """
        own = self.own()
        directories = [path for path in own if path.is_dir()]
        files = [path for path in own if path not in directories]
        if IS_WINDOWS:
            return tuple([f'del "{path}"' for path in files] + [f'rmdir /s "{path}"' for path in directories])
        if not own:
            return ()
        return (f"cd {_quoted(self.path)} && rm -rf {' '.join(shlex.quote(path.name) for path in own)}",)


def find(option: str | None, environment: Mapping[str, str]) -> DataDir:
    """The data directory: ``--data-dir``, else ``SHITHEAD_HOME``, else where the system wants data.

    Raises ``UsageProblem("data_nowhere")`` where that leads to no place: a home that nobody has, a current
    directory that is gone.
    """
    chosen = option or environment.get(ENVIRONMENT_VARIABLE)
    try:
        if chosen:
            return DataDir(Path(chosen).expanduser().absolute())
        from platformdirs import user_data_path

        place = user_data_path("shithead", appauthor=False)
        if not place.is_absolute():
            # Without a home the system's place would be below the current directory, in one called "~".
            raise RuntimeError("this user has no home directory")
        return DataDir(place)
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageProblem(
            "data_nowhere",
            "There is no place for the data{place} ({reason}). Say one with --data-dir.",
            place=f" at {chosen}" if chosen else "",
            reason=(reason or str(error)).rstrip("."),
        ) from error


def _make_private(path: Path) -> None:
    # A directory made by hand may be open to others. On Windows the profile's own rights do this.
    if IS_WINDOWS:
        return
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            path.chmod(DIRECTORY_MODE)
    except OSError as error:
        raise _unusable(path, error) from error


def _not_a_directory(path: Path) -> UsageProblem:
    return UsageProblem(
        "data_not_a_directory",
        "{path} is not a directory. Choose another place for the data with --data-dir.",
        path=str(path),
    )


def _unusable(path: Path, error: OSError) -> UsageProblem:
    return UsageProblem(
        "data_unusable",
        "The data directory {path} can't be used ({reason}). "
        "Check its permissions and the free space, or choose another place with --data-dir.",
        path=str(path),
        reason=error.strerror or str(error),
    )


def _quoted(path: Path) -> str:
    text = str(path)
    if IS_WINDOWS:
        return f'"{text}"' if " " in text else text
    return shlex.quote(text)

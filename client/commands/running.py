"""From a started event loop to an exit code: signals, the bounded end, and everybody's part at one table."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final, TextIO

from client.backlog import unhurried
from client.problems import EXIT_SIGNAL, UsageProblem
from p2p.files import PRIVATE_MODE

log = logging.getLogger(__name__)

CLOSE_DEADLINE_S: Final = 12.0
"""How long everything may take to end in order after a signal: a node waits up to 5 s for others to hold its
seed, and as long for its announcement to be taken back. After that the process ends as it is; what is saved is
saved."""

BEFORE_EXIT: Final[list[Callable[[], None]]] = []
"""Called before the process ends on the spot: what gives a terminal back."""

SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""By name: not every system has each."""


def run(main: Callable[[], Coroutine[object, object, int]]) -> int:
    """Runs ``main`` in an event loop and returns its exit code, or 130 if a signal ended it.

    The first signal cancels ``main``, which closes everything in order; a second one, or a deadline, ends the
    process on the spot.
    """
    # What the program is made of lives to its end. Looked through again and again, it would be the longest pause
    # of all (a collection of everything takes 37 ms), and a move would wait for it.
    gc.freeze()
    # On Windows the default loop loses a UDP socket after one ICMP answer (cpython#91227).
    factory = asyncio.SelectorEventLoop if sys.platform == "win32" else None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(_until_signal(main))


def _exit_now() -> None:
    for last in BEFORE_EXIT:
        # Whatever it is, the process ends.
        with contextlib.suppress(Exception):
            last()
    os._exit(EXIT_SIGNAL)


async def _until_signal(main: Callable[[], Coroutine[object, object, int]]) -> int:
    task = asyncio.ensure_future(main())
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    with _deadline() as begin, _signals(begin, stop):
        try:
            return await task
        except asyncio.CancelledError:
            if stopped:
                return EXIT_SIGNAL
            raise


@contextmanager
def _deadline() -> Iterator[Callable[[], None]]:
    """Gives what begins the last `CLOSE_DEADLINE_S` seconds; at their end the process ends on the spot.

    A thread watches them, since the event loop may be what stands still. It is there from the start and is woken
    by a queue, the one thing that a signal handler may touch whatever it has interrupted.
    """
    words: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def watch() -> None:
        if not words.get():
            return
        try:
            words.get(timeout=CLOSE_DEADLINE_S)
        except queue.Empty:
            _exit_now()

    watcher = threading.Thread(target=watch, name="deadline", daemon=True)
    try:
        watcher.start()
    except RuntimeError as error:
        log.warning("nothing will hurry the end of the program: %s", error)
    try:
        yield partial(words.put, True)
    finally:
        words.put(False)
        if watcher.ident is not None:
            watcher.join()


@contextmanager
def _signals(begin: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    """Calls ``begin`` at once and ``stop`` in the event loop for the first signal that asks the program to end.

    The second one ends the process on the spot. All of that happens in a handler of Python's, which runs in the
    main thread also while the loop waits for something else, such as an output that takes nothing.
    """
    loop = asyncio.get_running_loop()
    numbers = [signal.Signals[name] for name in SIGNALS if name in signal.Signals.__members__]
    restore: list[Callable[[], object]] = []
    caught_before = False

    def caught(number: int, frame: FrameType | None) -> None:
        nonlocal caught_before
        if caught_before:
            _exit_now()
        caught_before = True
        begin()
        loop.call_soon_threadsafe(stop)

    for number in numbers:
        try:
            before = signal.getsignal(number)
            if number.name == "SIGHUP" and before is signal.SIG_IGN:
                # nohup: it is to go on when the terminal has gone.
                continue
            signal.signal(number, caught)
            restore.append(partial(signal.signal, number, before if before is not None else signal.SIG_DFL))
        except (OSError, RuntimeError, ValueError) as error:
            log.info("no handler for signal %s: %s", number, error)
    try:
        yield
    finally:
        # After a signal the process is on its way out: one more, from somebody impatient, ends it there and then,
        # and must not meet the system's handlers, which would kill it with another code or leave a traceback.
        if not caught_before:
            for undo in restore:
                undo()


class Trace:
    """Writes JSON lines; what is not JSON becomes text, bytes become hexadecimal digits."""

    def __init__(self, path: Path) -> None:
        """Opens ``path`` for appending; raises ``UsageProblem``."""
        self._file = open_for_appending(path, "--trace")
        self._ends = contextlib.ExitStack()
        self._out = self._ends.enter_context(unhurried(self._file))

    def __call__(self, item: dict[str, object]) -> None:
        """Writes one line. A full disk loses lines, never the round."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with contextlib.suppress(OSError, ValueError):
            self._out.write(json.dumps({"at": at, **item}, default=_plain, ensure_ascii=False) + "\n")
            self._out.flush()

    def close(self) -> None:
        """Closes the file."""
        self._ends.close()
        with contextlib.suppress(OSError):
            self._file.close()


def _plain(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def open_for_appending(path: Path, option: str) -> TextIO:
    """A text file for appending, for its owner alone where it is new: the own hand may be in it.

    ``UsageProblem`` says which option named it.
    """
    try:
        return open(path, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, PRIVATE_MODE))
    except OSError as error:
        raise UsageProblem(
            "file_unwritable",
            "{option} {path} can't be written ({reason}).",
            option=option,
            path=str(path),
            reason=error.strerror or str(error),
        ) from error

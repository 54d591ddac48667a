"""What every test here is held to: nothing blocks the loop, and nothing survives."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from tests.p2p.network.helpers import Lan


def _open_files() -> set[str]:
    """The targets of this process's open descriptors; sockets and pipes by inode."""
    fds = Path("/proc/self/fd")
    if not fds.is_dir():
        return set()
    found = set()
    for fd in fds.iterdir():
        with contextlib.suppress(OSError):
            found.add(str(fd.readlink()))
    return {name for name in found if name.startswith("socket:")}


@pytest.fixture(autouse=True)
def blockbuster() -> Iterator[BlockBuster]:
    with blockbuster_ctx("p2p") as buster:
        yield buster


@pytest.fixture(autouse=True)
async def nothing_survives() -> AsyncIterator[None]:
    """Tasks, threads, sockets and loop errors of a test end with it."""
    loop = asyncio.get_running_loop()
    errors: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _, context: errors.append(context))
    files, threads, tasks = _open_files(), set(threading.enumerate()), asyncio.all_tasks()
    yield
    await asyncio.sleep(0)
    assert asyncio.all_tasks() - tasks - {asyncio.current_task()} == set()
    assert {thread.name for thread in set(threading.enumerate()) - threads if not thread.daemon} == set()
    if sys.platform == "linux":
        assert _open_files() - files == set()
    assert errors == []


@pytest.fixture
async def lan(nothing_survives: None) -> AsyncIterator[Lan]:
    """Endpoints and meshes on loopback, closed at the end."""
    made = Lan()
    yield made
    await made.close()

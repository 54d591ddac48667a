"""What the tests of the rules have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.rules import preset_named
from engine.tables import tables_for


@pytest.fixture(autouse=True, scope="session")
def fresh_tables() -> Iterator[None]:
    """Tables are made in this run: mutmut forks it from a process that has made some by the unchanged rules."""
    tables_for.cache_clear()
    preset_named.cache_clear()
    yield

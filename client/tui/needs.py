"""What a person's client on the full screen needs of a node, and of a screen that lies over the table."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from client.doing import TableNode
from client.tui.cells import Row
from engine.rules import RuleSet


class Overlay(Protocol):
    """A screen that takes the table's place for a while, such as a replay."""

    def rows(self, width: int, height: int) -> list[Row]:
        """The screen at that size."""
        ...

    def key(self, key: str) -> bool:
        """A key was pressed; False when the screen is done with."""
        ...

    def close(self) -> None:
        """Stops what it does by itself."""
        ...


class ScreenNode(TableNode, Protocol):
    """What the full screen needs of ``p2p.node.node.Node``."""

    rules: RuleSet
    """What the next offer uses."""

    @property
    def seats(self) -> int:
        """How many may sit at the table."""
        ...

    @property
    def last_round_file(self) -> Path | None:
        """Where the last round is saved."""
        ...

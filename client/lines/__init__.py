"""The line mode: append-only sentences and typed commands, for pipes, screen readers and plain terminals.

:func:`interpret` and :class:`Narrator` are pure; :class:`LineClient` joins them with a node.
"""

from client.doing import TableNode
from client.lines.interpret import interpret
from client.lines.narrate import Narrator
from client.lines.shell import LineClient
from client.lines.source import LineSource, StreamLines

__all__ = ["LineClient", "LineSource", "Narrator", "StreamLines", "TableNode", "interpret"]

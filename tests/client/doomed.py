"""The program as a person starts it, killed (SIGKILL) at one of its own entries.

    python -m tests.client.doomed SEQ MOMENT ARGUMENTS…

It dies at the first own entry numbered SEQ or later: ``before`` the disk has it, ``after`` the disk has it and
nobody else, or when it has been ``sent``.
"""

from __future__ import annotations

import os
import signal
import sys

from client import cli
from p2p.feeds.entries import Entry
from p2p.node.core import Core, Outcome
from p2p.node.pump import Pump
from p2p.node.store import Store
from p2p.rounds.snapshot import Snapshot

MOMENTS = ("before", "after", "sent")


def doom(seq: int, moment: str) -> None:
    """Changes the rooms below so that this process ends there."""
    add, commit, publish = Store.add, Store._commit, Pump._publish
    is_due = False

    def die_at(now: str) -> None:
        if is_due and moment == now:
            os.kill(os.getpid(), signal.SIGKILL)

    def adding(store: Store, entry: Entry, *, is_new: bool = False) -> None:
        nonlocal is_due
        is_due |= is_new and entry.author == store.own and entry.seq >= seq
        add(store, entry, is_new=is_new)

    def committing(store: Store) -> None:
        die_at("before")
        commit(store)
        die_at("after")

    async def publishing(pump: Pump, core: Core, outcome: Outcome, snapshot: Snapshot | None = None) -> None:
        await publish(pump, core, outcome, snapshot)
        die_at("sent")

    Store.add, Store._commit, Pump._publish = adding, committing, publishing  # type: ignore[method-assign]


if __name__ == "__main__":
    doom(int(sys.argv[1]), sys.argv[2])
    sys.argv[1:] = sys.argv[3:]
    sys.exit(cli.main())

"""The program as a person starts it, on a disk that takes no more from one of its own entries on.

    python -m tests.client.bad_disk SEQ HOW ARGUMENTS…

From the own entry numbered SEQ on the database can't grow (``full``), or can't be written at all (``read_only``).
The bots that it seats have disks of their own, which are fine.
"""

from __future__ import annotations

import sys

from client import cli
from p2p.feeds.entries import Entry
from p2p.node.store import Store

HOWS = ("full", "read_only")


def spoil(seq: int, how: str) -> None:
    """Changes the store of this process so."""
    add = Store.add

    def adding(store: Store, entry: Entry, *, is_new: bool = False) -> None:
        if is_new and entry.author == store.own and entry.seq >= seq and "bots" not in str(store.path):
            if how == "full":
                (pages,) = store._db.execute("pragma page_count").fetchone()
                store._db.execute(f"pragma max_page_count = {pages}")
            else:
                store._db.execute("pragma query_only = on")
        add(store, entry, is_new=is_new)

    Store.add = adding  # type: ignore[method-assign]


if __name__ == "__main__":
    spoil(int(sys.argv[1]), sys.argv[2])
    sys.argv[1:] = sys.argv[3:]
    sys.exit(cli.main())

"""What a peer lacks: the arithmetic of ``have``, ``entries`` and ``ask`` (docs/protocol.md, 3). Sans-IO.

A peer that holds an entry holds its whole past, so the newest entries of its feeds say all that it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from p2p.feeds.entries import Entry
from p2p.feeds.facts import Fact, Feeds
from p2p.network.frames import MAX_ENTRIES, MAX_HEADS, Ask, Entries, Have

MAX_BATCH_BYTES: Final = 192 * 1024
"""Entries in one frame: below the frame's 256 KiB with room for the lengths between them."""

ENTRY_FRAME_BYTES: Final = 80
"""What an entry takes in a frame besides its bytes: a signature, and the lengths of both."""


MAX_BRANCHES: Final = 2
"""Heads of one forked feed in a ``have``: two prove the fork, and no author may crowd out the others."""


def make_have(table: bytes, feeds: Feeds) -> Have:
    """The newest entries held of every feed, with two branches of a forked one."""
    heads = [
        (author, head.seq, head.id) for author in sorted(feeds.line) for head in feeds.heads(author)[:MAX_BRANCHES]
    ]
    return Have(table, tuple(heads[:MAX_HEADS]))


def lacking(feeds: Feeds, have: Have) -> list[Entry]:
    """What a peer with these heads lacks of what is held here, an entry only after its past."""
    held = [feeds.by_id[ident] for _, _, ident in have.heads if ident in feeds.by_id]

    def has(fact: Fact) -> bool:
        return any(
            head is fact or (head.author == fact.author and feeds.reaches(head, fact)) or feeds.in_past(head, fact)
            for head in held
        )

    return [fact.entry for fact in sorted(feeds.by_id.values(), key=lambda f: f.order) if not has(fact)]


def unknown_heads(feeds: Feeds, have: Have) -> tuple[bytes, ...]:
    """Heads that a peer has and that are not held here."""
    return tuple(ident for _, _, ident in have.heads if ident not in feeds.by_id)


def answer(feeds: Feeds, ask: Ask) -> list[Entry]:
    """The entries asked for that are held here, in causal order."""
    found = [feeds.by_id[ident] for ident in ask.ids if ident in feeds.by_id]
    return [fact.entry for fact in sorted(found, key=lambda f: f.order)]


def batches(entries: Iterable[Entry]) -> Iterator[Entries]:
    """Frames that carry the entries, in order."""
    batch: list[tuple[bytes, bytes]] = []
    size = 0
    for entry in entries:
        if batch and (size + len(entry.data) > MAX_BATCH_BYTES or len(batch) >= MAX_ENTRIES):
            yield Entries(tuple(batch))
            batch, size = [], 0
        batch.append((entry.data, entry.signature))
        size += len(entry.data) + ENTRY_FRAME_BYTES
    if batch:
        yield Entries(tuple(batch))

"""Facts: entries that have been folded, and the past of each (docs/protocol.md, 2).

The past of an entry is everything that its ``prev`` and its ``seen`` reach. It is kept as the newest fact of
each feed it reaches: since feeds are chains, that says it all. Only where an author has signed two versions
does a past hold two heads of one feed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from p2p.feeds.entries import Body, Entry

B = TypeVar("B", bound=Body)


def size_of(entry: Entry) -> int:
    """What an entry counts of ``MAX_FEED_BYTES``."""
    return len(entry.data) + len(entry.signature)


class Fact:
    """One entry whose whole past is here, with that past."""

    __slots__ = ("entry", "feed_bytes", "heads", "order", "prev")

    feed_bytes: int

    def __init__(self, entry: Entry, prev: Fact | None, heads: dict[bytes, tuple[Fact, ...]], order: int) -> None:
        self.entry = entry
        self.prev = prev
        self.heads = heads
        self.feed_bytes = size_of(entry) + (prev.feed_bytes if prev is not None else 0)
        """What the feed amounts to with this entry, on its own branch: the same at every peer."""
        self.order = order
        """The order of arrival at this peer; never used to judge anything."""

    @property
    def id(self) -> bytes:
        """The entry's id."""
        return self.entry.id

    @property
    def author(self) -> bytes:
        """The entry's author."""
        return self.entry.author

    @property
    def seq(self) -> int:
        """The entry's number in its feed."""
        return self.entry.seq

    def __repr__(self) -> str:
        return f"Fact({self.entry!r})"


class Feeds:
    """The feeds of one table: every fact, both versions of a fork included."""

    def __init__(self) -> None:
        self.by_id: dict[bytes, Fact] = {}
        self.line: dict[bytes, list[Fact]] = {}
        """The first version held of each number, in order, for each author."""
        self.forks: dict[bytes, dict[int, list[Fact]]] = {}
        """Author → number → all versions held, for every number that a second branch has reached."""

    def heads(self, author: bytes) -> tuple[Fact, ...]:
        """The newest fact of each branch of a feed; one, unless its author has forked it."""
        line = self.line.get(author)
        if not line:
            return ()
        if author not in self.forks:
            return (line[-1],)
        facts = [fact for fact in self.by_id.values() if fact.author == author]
        extended = {fact.prev.id for fact in facts if fact.prev is not None}
        return tuple(sorted((fact for fact in facts if fact.id not in extended), key=lambda f: f.id))

    def make(self, entry: Entry) -> Fact:
        """The fact of an entry whose ``prev`` and ``seen`` are all held; not yet added."""
        prev = self.by_id[entry.prev] if entry.seq else None
        heads: dict[bytes, tuple[Fact, ...]] = dict(prev.heads) if prev is not None else {}
        if prev is not None:
            heads[prev.author] = self._join(heads.get(prev.author, ()), (prev,))
        for named in entry.seen:
            fact = self.by_id[named]
            for author, others in fact.heads.items():
                mine = heads.get(author, ())
                if mine != others:
                    heads[author] = self._join(mine, others)
            heads[fact.author] = self._join(heads.get(fact.author, ()), (fact,))
        return Fact(entry, prev, heads, len(self.by_id))

    def add(self, fact: Fact) -> list[Fact] | None:
        """Takes a fact in. Returns all versions of its number when there is more than one now."""
        self.by_id[fact.id] = fact
        line = self.line.setdefault(fact.author, [])
        if fact.seq == len(line) and (fact.seq == 0 or line[-1] is fact.prev):
            line.append(fact)
            # Another branch may have reached this number before.
            beside = self.forks.get(fact.author, {}).get(fact.seq)
            if beside is None:
                return None
            beside.append(fact)
            return beside
        first = [line[fact.seq]] if fact.seq < len(line) else []
        versions = self.forks.setdefault(fact.author, {}).setdefault(fact.seq, first)
        versions.append(fact)
        return versions if len(versions) > 1 else None

    def first_fork(self, author: bytes) -> int | None:
        """The smallest number of which two versions are held, or None."""
        numbers = [seq for seq, versions in self.forks.get(author, {}).items() if len(versions) > 1]
        return min(numbers) if numbers else None

    def reaches(self, head: Fact, fact: Fact) -> bool:
        """Whether ``fact`` is ``head`` or comes before it in the same feed."""
        if head.seq < fact.seq:
            return False
        if head is fact:
            return True
        if fact.author not in self.forks:
            return True
        first = self.first_fork(fact.author)
        if first is not None and fact.seq < first:
            return True
        step: Fact | None = head
        while step is not None and step.seq > fact.seq:
            step = step.prev
        return step is fact

    def _join(self, mine: Iterable[Fact], others: Iterable[Fact]) -> tuple[Fact, ...]:
        joined = list(mine)
        for other in others:
            if any(self.reaches(held, other) for held in joined):
                continue
            joined = [held for held in joined if not self.reaches(other, held)]
            joined.append(other)
        return tuple(sorted(joined, key=lambda fact: fact.id)) if len(joined) > 1 else tuple(joined)

    def in_past(self, of: Fact, fact: Fact) -> bool:
        """Whether ``fact`` lies in the past of ``of`` (an entry is not in its own past)."""
        return any(self.reaches(head, fact) for head in of.heads.get(fact.author, ()))


def body_of(fact: Fact, kind: type[B]) -> B:
    """The body of a fact whose kind has been established."""
    body = fact.entry.body
    if not isinstance(body, kind):
        raise TypeError(f"{fact!r} is no {kind.__name__}")
    return body

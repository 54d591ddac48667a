"""Every refusal of what reads foreign bytes, and of what drops entries, bites: without it they would be let in."""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import msgpack
import pytest

import p2p
from p2p import canonical
from p2p.canonical import NotCanonical
from p2p.feeds import entries
from p2p.feeds import entries as e
from p2p.feeds.entries import SIGNED_LABEL, Unreadable, make_entry, read_entry, signature_fits
from p2p.rounds import fold, judge, members
from p2p.rounds.fold import MAX_VERSIONS, Fold
from tests.attacks.mutants import Site, install, sites
from tests.p2p.peers import Peer, Table, key_for
from tests.p2p.recorded import NAMES

RAISES = ("NotCanonical", "Unreadable", "OtherProtocol")
KEY = key_for("Ada")
ME = KEY.public_key().public_bytes_raw()
Z = bytes(32)
T = bytes([7]) * 32


def packed(value: object) -> bytes:
    """The bytes of a value as msgpack writes it, whether or not it may be written."""
    data = msgpack.packb(value, use_bin_type=True)
    assert isinstance(data, bytes)
    return data


def decodes(data: bytes) -> Callable[[], object]:
    return lambda: canonical.dec(data)


def reads(*envelope: object, signature: int = 64) -> Callable[[], object]:
    """Reads an entry of these fields."""
    data = packed(list(envelope))
    return lambda: entries.read_entry(data, bytes(signature))


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def good(**changed: object) -> list[object]:
    """The fields of an entry that can be read, but for what is changed."""
    fields = {"version": 1, "table": T, "author": ME, "seq": 1, "prev": T, "seen": [], "kind": "mark", "body": []}
    return list({**fields, **changed}.values())


BYTES: dict[str, Callable[[], object]] = {
    "canonical._check.0": decodes(packed(-1)),
    "canonical._check.1": decodes(packed("e\u0301")),
    "canonical._check.2": lambda: canonical.enc(msgpack.ExtType(1, b"x")),  # type: ignore[arg-type]
    "canonical._check.3": decodes(packed(nested(canonical.MAX_DEPTH + 1))),
    "canonical._check.4": lambda: canonical.enc([0] * (canonical.MAX_ARRAY_ITEMS + 1)),
    "canonical._check.5": decodes(packed(None)),
    "canonical.enc.0": lambda: canonical.enc("\ud800"),
    "canonical.dec.0": decodes(b"\xc1"),
    "canonical.dec.1": decodes(b"\xcd\x00\x01"),
    "feeds.entries.read_entry.0": reads(*good(kind="decline", body=[T, "x" * entries.MAX_ENTRY_BYTES])),
    "feeds.entries.read_entry.1": reads(*good(), signature=63),
    "feeds.entries.read_entry.2": reads(*good(kind="e\u0301")),
    "feeds.entries.read_entry.3": reads(*good(seq=True)),
    "feeds.entries.read_entry.4": reads(*good(version=2)),
    "feeds.entries.read_entry.5": reads(*good(seen=[T, Z])),
    "feeds.entries.read_entry.6": reads(*good(seq=0)),
    "feeds.entries.read_entry.7": reads(*good(table=Z)),
}
"""Refusal of a reader → bytes that it has to refuse."""


def reader_sites() -> dict[str, Site]:
    found = [site for module in (canonical, entries) for site, _ in sites(module, RAISES)]
    return {str(site): site for site in found}


def test_every_refusal_of_the_readers_has_its_bytes() -> None:
    assert BYTES.keys() == reader_sites().keys()


@pytest.mark.parametrize("check", BYTES)
def test_a_refusal_of_a_reader_bites(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    site = reader_sites()[check]
    with monkeypatch.context() as patch:
        install(patch, [site], RAISES, keep=True)
        with pytest.raises(RAISED):
            BYTES[check]()
    install(monkeypatch, [site], RAISES)
    # It goes through, or stumbles over what would have been refused.
    try:
        BYTES[check]()
    except RAISED:
        pytest.fail("refused all the same")
    except Exception:
        return


RAISED = (NotCanonical, Unreadable)


def test_a_signature_counts_for_its_purpose_and_its_author_alone() -> None:
    entry = make_entry(KEY, T, 1, T, (), e.Mark())
    assert signature_fits(entry)
    unlabelled = read_entry(entry.data, KEY.sign(entry.data))
    say = read_entry(entry.data, KEY.sign(b"shithead/1 say\0" + entry.data))
    another = read_entry(entry.data, key_for("Bert").sign(SIGNED_LABEL + entry.data))
    assert not any(map(signature_fits, (unlabelled, say, another)))


# -- what is dropped -------------------------------------------------------------------------------


def taken(table: Table, *received: e.Entry) -> bool:
    """Whether the host takes in the last of these."""
    host = table.peers[0]
    for entry in received:
        host.session.receive(entry)
    return received[-1].id in host.session.feeds.by_id


def on_anothers_entry(table: Table) -> bool:
    host, cheat = table.peers
    foreign = host.session.feeds.line[host.me][-1]
    return taken(table, make_entry(cheat.key, host.session.table, foreign.seq + 1, foreign.id, (), e.Mark()))


def after_a_gap(table: Table) -> bool:
    host, cheat = table.peers
    seq, prev = cheat.session.head()
    return taken(table, make_entry(cheat.key, host.session.table, seq + 1, prev, (), e.Mark()))


def one_version_too_many(table: Table) -> bool:
    host, cheat = table.peers
    seq, prev = cheat.session.head()
    bodies = [e.Dismiss(Z, str(number)) for number in range(MAX_VERSIONS + 1)]
    return taken(table, *(make_entry(cheat.key, host.session.table, seq, prev, (), body) for body in bodies))


def into_a_full_feed(table: Table) -> bool:
    host, cheat = table.peers
    seq, prev = cheat.session.head()
    limit, e.MAX_FEED_BYTES = e.MAX_FEED_BYTES, host.session.feeds.by_id[prev].feed_bytes  # type: ignore[misc]
    try:
        return taken(table, make_entry(cheat.key, host.session.table, seq, prev, (), e.Mark()))
    finally:
        e.MAX_FEED_BYTES = limit  # type: ignore[misc]


def of_a_stranger(table: Table) -> bool:
    host = table.peers[0]
    seen = (host.session.feeds.line[host.me][-1].id,)
    return taken(table, make_entry(Peer("Gil").key, host.session.table, 0, Z, seen, e.Mark()))


DROPS: dict[Callable[[Table], bool], str] = {
    on_anothers_entry: "rounds.fold.Fold._fits_feed.0",
    after_a_gap: "rounds.fold.Fold._fits_feed.0",
    into_a_full_feed: "rounds.fold.Fold._fits_feed.1",
    one_version_too_many: "rounds.fold.Fold._fits_feed.2",
    of_a_stranger: "rounds.fold.Fold._is_known",
}
"""What is dropped and blames nobody → the refusal that drops it."""


def sitting() -> Table:
    table = Table(NAMES[:2], seed=1)
    table.settle()
    table.peers[1].write(e.Mark())
    table.settle()
    return table


@pytest.mark.parametrize("drop", DROPS, ids=lambda drop: drop.__name__)
def test_what_drops_an_entry_bites(drop: Callable[[Table], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    table = sitting()
    assert not drop(table)
    assert not table.peers[0].session.table_faults or drop is one_version_too_many
    if DROPS[drop] == "rounds.fold.Fold._is_known":
        monkeypatch.setattr(Fold, "_is_known", lambda self, fact: True)
    else:
        found = {str(site): site for site, _ in sites(fold, ("return",))}
        install(monkeypatch, [found[DROPS[drop]]], ("return",))
    assert drop(sitting())


def test_every_drop_has_a_case() -> None:
    dropping = {str(site) for site, _ in sites(fold, ("return",)) if site.function == "Fold._fits_feed"}
    assert dropping <= set(DROPS.values())


# -- no refusal elsewhere --------------------------------------------------------------------------


def raised_in(path: Path) -> set[str]:
    """The names of the exceptions that a module raises."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    made = [
        node.exc.func for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    ]
    return {func.id for func in made if isinstance(func, ast.Name)}


def modules_that_raise(*names: str) -> set[str]:
    """The modules of the program in which one of these exceptions is raised."""
    found = set()
    for info in pkgutil.walk_packages(p2p.__path__, "p2p."):
        path = import_module(info.name).__file__
        assert path is not None
        if raised_in(Path(path)) & set(names):
            found.add(info.name)
    return found


def test_breaches_are_raised_only_where_mutants_are_made_of_them() -> None:
    assert modules_that_raise("Breach") == {module.__name__ for module in (fold, judge, members)}
    assert modules_that_raise(*RAISES) == {canonical.__name__, entries.__name__}

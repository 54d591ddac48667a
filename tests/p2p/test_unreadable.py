"""What is no entry is dropped and blames nobody; what is signed garbage blames its author; nothing raises."""

from __future__ import annotations

import hashlib
from random import Random

import msgpack
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.rules import ENGINE_REVISION
from p2p.canonical import NotCanonical, enc
from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import MAX_ENTRY_BYTES, MAX_SEEN, Entry, Unreadable, make_entry, read_entry, signature_fits
from p2p.rounds import phases
from p2p.rounds.judge import chain_id
from p2p.rounds.news import Reporter
from p2p.rounds.round import Round
from p2p.rounds.session import MAX_HELD_PER_AUTHOR, MAX_HELD_STRANGERS, Session
from p2p.rounds.snapshot import Surroundings, make_snapshot
from tests.p2p.peers import Table, fold_all, in_causal_order, key_for, verdict
from tests.p2p.recorded import NAMES, recorded

KEY = key_for("Ada")
ME = KEY.public_key().public_bytes_raw()
TABLE = hashlib.sha256(b"table").digest()
CONTRACT = hashlib.sha256(b"contract").digest()
READY = make_entry(KEY, TABLE, 3, bytes([1]) * 32, (bytes([2]) * 32,), e.Ready(CONTRACT))


def envelope(**values: object) -> list[object]:
    """The parts of a good entry, some replaced."""
    parts: dict[str, object] = {
        "version": 1,
        "table": TABLE,
        "author": ME,
        "seq": 3,
        "prev": bytes([1]) * 32,
        "seen": [],
        "kind": "ready",
        "body": [CONTRACT],
    }
    return list((parts | values).values())


def test_an_entry_reads_back_as_it_was_made():
    again = read_entry(READY.data, READY.signature)
    assert again == READY
    assert (again.body, again.kind, again.seen, again.table) == (READY.body, "ready", READY.seen, TABLE)
    assert signature_fits(again)


@settings(max_examples=300)
@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data):
    try:
        entry = read_entry(data, bytes(64))
    except Unreadable:
        return
    assert entry.data == data
    assert not signature_fits(entry)


@settings(max_examples=300)
@given(st.data())
def test_a_changed_byte_is_unreadable_or_badly_signed(data):
    changed = bytearray(READY.data)
    at = data.draw(st.integers(0, len(changed) - 1))
    changed[at] ^= data.draw(st.integers(1, 255))
    try:
        entry = read_entry(bytes(changed), READY.signature)
    except Unreadable:
        return
    assert entry.id != READY.id
    assert not signature_fits(entry)


json_like = st.recursive(
    st.one_of(st.integers(0, 2**63 - 1), st.binary(max_size=40), st.booleans(), st.text("abcxyz", max_size=20)),
    lambda children: st.lists(children, max_size=4),
    max_leaves=12,
)


@settings(max_examples=400)
@given(st.sampled_from([*e.BODIES, "nonsense"]), st.lists(json_like, max_size=8))
def test_any_body_under_any_kind_is_read_without_an_exception(kind, body):
    try:
        data = enc(envelope(kind=kind, body=body))
        entry = read_entry(data, bytes(64))
    except (NotCanonical, Unreadable):
        return
    assert isinstance(entry.body, e.Malformed | e.BODIES.get(kind, e.Malformed))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        READY.data[:-1],
        READY.data + b"\0",
        b"\0" * (MAX_ENTRY_BYTES + 1),
        enc(envelope(version=2)),
        enc(envelope(seq=0)),
        enc(envelope(prev=bytes(32))),
        enc(envelope(table=bytes(32))),
        enc(envelope(author=ME[:31])),
        enc(envelope(seen=[bytes([2]) * 32, bytes([1]) * 32])),
        enc(envelope(seen=[bytes([2]) * 32] * 2)),
        enc(envelope(seen=[bytes([n]) * 32 for n in range(MAX_SEEN + 1)])),
        enc(envelope(kind="a kind that is longer than any")),
        enc(envelope(seq=2**32)),
        enc(envelope()[:-1]),
        enc([*envelope(), 1]),
        enc(envelope(body=b"no array")),
        msgpack.packb([*envelope()[:-1], {"a": 1}]),
        msgpack.packb([1.0, *envelope()[1:]]),
        msgpack.packb([None, *envelope()[1:]]),
        READY.data.replace(b"\x03", b"\xcc\x03", 1),
    ],
    ids=lambda data: hashlib.sha256(data).hexdigest()[:6],
)
def test_what_is_no_canonical_entry_is_unreadable(data):
    assert data != READY.data
    with pytest.raises(Unreadable):
        read_entry(data, READY.signature)


def test_a_short_signature_is_unreadable():
    with pytest.raises(Unreadable):
        read_entry(READY.data, READY.signature[:-1])


def test_an_entry_over_the_limit_is_not_even_made():
    with pytest.raises(ValueError, match="exceeds"):
        make_entry(KEY, TABLE, 1, ME, (), e.Deck(CONTRACT, b"", bytes(MAX_ENTRY_BYTES)))


def test_a_text_that_would_convert_to_bytes_is_the_authors_breach():
    body = msgspec.to_builtins(e.Ready(CONTRACT))  # base64 text in place of bytes
    entry = read_entry(enc(envelope(body=body)), bytes(64))
    assert isinstance(entry.body, e.Malformed)


def test_a_malformed_body_belongs_to_the_round_that_it_names():
    entry = read_entry(enc(envelope(body=[CONTRACT, 7])), bytes(64))
    assert isinstance(entry.body, e.Malformed)
    assert entry.contract == CONTRACT


def quiet_table() -> Table:
    table = Table(NAMES[:3])
    table.settle()
    return table


def test_entries_of_strangers_are_dropped_and_counted():
    table = quiet_table()
    session, stranger = table.peers[0].session, key_for("Mallory")
    known = session.seen()
    before = verdict(session)
    session.receive(make_entry(stranger, session.table, 0, bytes(32), known, e.Dismiss(ME, "x")))
    assert session.dropped["stranger"] == 1
    assert verdict(session) == before


def test_an_entry_that_does_not_show_its_admission_is_dropped_by_everyone():
    table = quiet_table()
    late = table.peers[2]
    entry = make_entry(late.key, late.session.table, 0, bytes(32), (), e.Leave(late.session.table, []))
    for peer in table.peers:
        peer.session.receive(entry)
        assert peer.session.dropped["stranger"] == 1


def test_entries_of_other_tables_are_dropped_and_counted():
    session = quiet_table().peers[0].session
    session.receive(READY)
    assert session.dropped == {"other_table": 1}


def test_a_chain_that_is_none_is_dropped_and_counted():
    table = quiet_table()
    host, other = table.peers[0], table.peers[1]
    seq, prev = host.session.head()
    for entry in (
        make_entry(other.key, host.session.table, seq, prev, (), e.Dismiss(ME, "x")),
        make_entry(host.key, host.session.table, seq + 1, prev, (), e.Dismiss(ME, "x")),
    ):
        host.session.receive(entry)
    assert host.session.dropped == {"chain": 2}
    assert not host.session.table_faults


def orphan(name: str, table: bytes, number: int) -> Entry:
    return make_entry(key_for(name), table, 5, hashlib.sha256(b"%d" % number).digest(), (), e.Dismiss(ME, "x"))


def test_held_entries_are_bounded_for_each_author():
    table = quiet_table()
    session = table.peers[0].session
    for number in range(2 * MAX_HELD_PER_AUTHOR):
        session.receive(orphan(table.peers[1].name, session.table, number))
    assert len(session._held) == MAX_HELD_PER_AUTHOR
    assert session.dropped["held_full"] == MAX_HELD_PER_AUTHOR


def test_strangers_share_their_places_and_take_none_of_a_members():
    table = quiet_table()
    session = table.peers[0].session
    for number in range(2 * MAX_HELD_STRANGERS):
        session.receive(orphan(f"stranger {number}", session.table, number))
    assert len(session._held) == MAX_HELD_STRANGERS
    session.receive(orphan(table.peers[1].name, session.table, 0))
    assert len(session._held) == MAX_HELD_STRANGERS + 1


def test_an_entry_delivered_often_is_folded_once():
    table = quiet_table()
    entries = table.entries() * 3
    session = fold_all(entries, TransparentDealing(), Random(1))
    assert len(session.feeds.by_id) == len(table.entries())


def mutated(value: object, random: Random) -> object:
    """Some other value of the same rough shape."""
    match value:
        case bool():
            return not value
        case int():
            return random.choice([0, 1, value + 1, random.randrange(1024), 10**6, 60])
        case bytes():
            if not value or random.random() < 0.2:
                return random.choice([b"", bytes(32), bytes(len(value)), random.randbytes(32)])
            data = bytearray(value)
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
            return bytes(data)
        case str():
            return random.choice(["", "play", "pick_up", "flip", "9" * 60, "true", "move", "-1", "1e9"])
        case list() | tuple():
            items = list(value)
            if items and random.random() < 0.7:
                at = random.randrange(len(items))
                items[at] = mutated(items[at], random)
            elif random.random() < 0.5:
                items = items[:-1]
            else:
                items += items[:1] or [random.randrange(60)]
            return items
    raise TypeError(type(value).__name__)


def garbage(samples: list[Entry], contract: bytes, table: bytes, random: Random) -> tuple[str, list[object]]:
    """A body that nearly fits its kind, or fits it and says something else."""
    sample = random.choice(samples)
    body = [e._to_builtin(getattr(sample.body, name)) for name in sample.body.__struct_fields__]
    for _ in range(random.randint(0, 2)):
        at = random.randrange(len(body))
        if at or random.random() < 0.2:
            body[at] = mutated(body[at], random)
    if sample.kind in e.ROUND_KINDS and random.random() < 0.1:
        body[0] = random.choice([contract, table])
    return sample.kind, body


def aimed(round_: Round, number: int, random: Random) -> tuple[str, list[object]]:
    """A body that fits where the round stands in all but its heart: cards, positions, shares, debts."""
    lens = round_.everything()
    kind = random.choice([kind for phase, kind in phases.TABLE if phase is lens.phase])
    few = [random.randrange(60) for _ in range(random.randrange(4))]
    state, deal = lens.state, lens.agreement
    if state is not None and deal is not None and random.random() < 0.7:
        seat = deal.seat_of[number]
        zones = [*state.hands[seat], *state.ups[seat], *state.downs[seat]]
        few = random.sample(zones, min(len(zones), random.randrange(4)))
        few = [position for position in few if position >= 0]
    one = few[0] if few else random.choice([0, 51, 60, 1023])
    share, proof = random.randbytes(32), random.choice([b"", bytes(96)])
    match kind:
        case "move":
            tip = lens.tip
            action = random.choice(["play", "pick_up", "flip", "sing"])
            places = random.choice([few, few * 2, [random.randrange(4)], []])
            opened = random.choice([sorted(few), []])
            head = [tip.turn + 1, chain_id(round_, tip), lens.digest(tip)]
            rest = [*head, action, places, opened, [share] * len(opened), proof]
        case "swap":
            rest = [one, random.choice([one, *few, 1023]), random.choice([b"", share]), proof]
        case "declare":
            rest = [one, random.choice([b"", share]), proof]
        case "shares":
            causes = [round_.contract, *round_.nodes]
            rest = [[], [[random.choice(causes), sorted(few) or [one], [share] * (len(few) or 1)]], proof]
        case "leave":
            debts = ["move", "shares", "ready", "result", "deck"]
            rest = [[[random.randrange(10), random.choice(debts)] for _ in range(random.randrange(5))]]
        case "result":
            rest = [random.choice([share, lens.ending.digest if lens.ending else share])]
        case "reveal" | "agreed":
            rest = [share]
        case "deck":
            rest = [b"", share]
        case "proof":
            rest = [share]
        case "key":
            rest = [share, share, proof, share]
        case "accept":
            rest = [share, share]
        case "decline":
            rest = ["no"]
        case _:
            rest = []
    return kind, [round_.contract, *rest]


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("seed", range(30))
def test_signed_garbage_at_any_moment_blames_its_author_and_raises_nothing(players, seed):
    random = Random(seed)
    entries, _, contract = recorded(players, "finished")
    causal = in_causal_order(entries)
    first_of: dict[str, list[Entry]] = {}
    for entry in causal:
        first_of.setdefault(entry.kind, []).append(entry)
    samples = [random.choice(group) for group in first_of.values() for _ in range(3)]
    names = {key_for(name).public_key().public_bytes_raw(): name for name in NAMES}
    session = fold_all(causal[: random.randrange(8, len(causal))], TransparentDealing(), random, causal=True)
    session.me = ME
    reporter = Reporter(session)
    guilty: set[bytes] = set()
    for _ in range(12):
        author = random.choice([key for key in names if session.feeds.heads(key)])
        guilty.add(author)
        head = session.feeds.heads(author)[-1]
        seen = tuple(sorted(h.id for key in names if key != author for h in session.feeds.heads(key)[:1]))
        kind, body = garbage(samples, contract, session.table, random)
        round_ = session.rounds.get(contract)
        if round_ is not None and random.random() < 0.7:
            kind, body = aimed(round_, round_.number_of[author], random)
        try:
            data = enc([1, session.table, author, head.seq + 1, head.id, list(seen), kind, body])
            entry = read_entry(data, key_for(names[author]).sign(e.SIGNED_LABEL + data))
        except (Unreadable, NotCanonical):
            continue
        session.receive(entry)
        while (job := session.job()) is not None:
            session.finish(job, job.run())
        look(session, reporter)
        blamed = {fault.player for round_ in session.rounds.values() for fault in round_.everything().faults}
        assert blamed | {fault.player for fault in session.table_faults} <= guilty


def look(session: Session, reporter: Reporter) -> None:
    """Asks a session everything that a screen asks."""
    verdict(session)
    reporter.news()
    make_snapshot(session, Surroundings(), 0.0)
    assert session.next_write() is None
    session.tick(0.0)
    session.waiting_for(1.0)
    session.overdue(1000.0)
    session.ended_rounds()


@pytest.mark.parametrize("revision", [0, ENGINE_REVISION + 1, 999])
def test_an_offer_of_another_revision_is_declined_in_words(revision):
    table = quiet_table()
    host = table.peers[0]
    body = host.session.offer(rules(), [peer.me for peer in table.peers])
    host.write(msgspec.structs.replace(body, engine_revision=revision, rules=[("new", "rule")]))
    table.settle()
    for peer in table.peers:
        lens = peer.round.everything()
        assert not lens.faults and not peer.session.table_faults
        assert {fact.entry.body.reason for fact in lens.each("decline").values()} == {"revision"}


def rules():
    from engine.rules import RuleSet

    return RuleSet()


@pytest.mark.parametrize(
    "change",
    [
        lambda body: {"roster": list(reversed(body.roster))},
        lambda body: {"roster": body.roster[:1] * 2},
        lambda body: {"roster": [*body.roster[:2], (bytes(32), "Nobody", b"")]},
        lambda body: {"roster": [(key, name + "x", op) for key, name, op in body.roster]},
        lambda body: {"round": 2},
        lambda body: {"attempt": 2},
        lambda body: {"last": bytes(32)},
        lambda body: {"seats": [0, 1, 2]},
        lambda body: {"dealer": [0]},
        lambda body: {"packs": 2},
        lambda body: {"jokers": 1},
        lambda body: {"escrow": True},
        lambda body: {"rules": []},
        lambda body: {"rules": body.rules[::-1]},
        lambda body: {"rules": [(name, "9" * 60) for name, _ in body.rules]},
        lambda body: {"rules": [(name, "true") for name, _ in body.rules]},
        lambda body: {"engine_revision": 7, "roster": list(reversed(body.roster))},
    ],
)
def test_an_offer_on_terms_that_do_not_follow_is_a_bad_start(change):
    table = quiet_table()
    host = table.peers[0]
    body = host.session.offer(rules(), [peer.me for peer in table.peers])
    host.write(msgspec.structs.replace(body, **change(body)))
    table.settle()
    for peer in table.peers:
        assert [(f.player, f.code) for f in peer.session.table_faults] == [(host.me, "bad_start")]
        assert peer.session.current() is None

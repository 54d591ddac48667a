"""Two branches of one feed: a backup brought back, or a player who tells different things to different people."""

from __future__ import annotations

from random import Random

import pytest

from p2p.dealing import TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import make_entry
from p2p.feeds.facts import body_of
from p2p.rounds.phases import Phase
from p2p.rounds.session import MAX_VERSIONS
from tests.p2p.peers import Peer, Table, fold_all, verdict
from tests.p2p.recorded import NAMES


def split(table: Table, one: int, other: int) -> None:
    """Two peers of one identity, each heard by half of the others, and not by each other."""
    others = [n for n in range(len(table.peers)) if n not in (one, other)]
    half = {one: set(others[::2]), other: set(others[1::2])}

    def passes(source: int, target: int, entry: object) -> bool:
        for twin in (one, other):
            if twin in (source, target):
                return ({source, target} - {twin}) <= half[twin]
        return True

    table.filter = passes


def restore_backup(table: Table, peer: Peer, seed: int) -> Peer:
    """The peer once more, as it is now: the same key, seeds and entries, and a will of its own."""
    twin = Peer(peer.name, peer.dealing, seed + 1000)
    entries = [fact.entry for fact in peer.session.feeds.by_id.values()]
    twin.session = fold_all(entries, peer.dealing, Random(seed), causal=True, me=peer.me)
    twin.session.always_consent = True
    twin.session._entropy = twin.entropy
    secrets = {contract: (own.seed, own.coin) for contract, own in peer.session._own.items()}
    twin.session.restore(secrets.get)
    table.peers.append(twin)
    table.fetched.append(0)
    split(table, table.peers.index(peer), len(table.peers) - 1)
    return twin


@pytest.mark.parametrize("seed", range(24))
def test_a_backup_brought_back_at_any_moment_blames_its_owner_alone(seed):
    random = Random(seed)
    players = 3 + seed % 3
    table = Table(NAMES[:players], seed=seed)
    cloned = table.peers[random.randrange(players)]
    table.settle()
    host = table.peers[0]
    host.write(host.session.offer(rules_of(table), [peer.me for peer in table.peers]))
    for _ in range(random.randrange(60 if seed % 2 else 15)):
        table.step()
        if random.random() < 0.5:
            for peer in table.peers:
                table.move(peer)
    twin = restore_backup(table, cloned, seed)
    for _ in range(300):
        table.settle()
        if not any([table.move(peer) for peer in table.peers]):  # noqa: C419 - every one moves
            break
    others = [peer for peer in table.peers if peer not in (cloned, twin)]
    found = [verdict(peer.session) for peer in others]
    assert all(one == found[0] for one in found)
    for peer in others:
        lens = peer.round.everything()
        assert {fault.player for fault in (*lens.faults, *peer.session.table_faults)} <= {cloned.me}
        assert lens.final is not None or lens.phase is Phase.DEAD
        if lens.faults:
            assert lens.phase is Phase.DEAD or lens.final.kind in ("faulted", "finished")
    again = fold_all(others[0].session.feeds.by_id.values(), TransparentDealing(), Random(seed))
    assert verdict(again) == found[0]


def rules_of(table: Table):
    from engine.rules import RuleSet

    return RuleSet()


@pytest.mark.parametrize("players", [3, 5])
@pytest.mark.parametrize("seed", range(6))
def test_two_decks_with_a_good_proof_each_fool_nobody_and_blame_one(players, seed):
    table = Table(NAMES[:players], seed=seed)
    last = table.by_number(players - 1)
    me = table.peers.index(last)
    others = [number for number in range(players) if number != me]
    branches: list[set[bytes]] = [set(), set()]

    def passes(source: int, target: int, entry: e.Entry) -> bool:
        if source != me:
            return True
        hidden = branches[1 - others.index(target) % 2]
        return entry.id not in hidden

    put = last.put

    def both(entry: e.Entry) -> e.Entry:
        put(entry)
        if entry.kind == "deck":
            other_branch(entry)
        if branches[0]:
            branches[0].add(entry.id)
        return entry

    def other_branch(entry: e.Entry) -> None:
        round_ = last.round
        number = round_.number_of[last.me]
        step = round_.everything().deck_of(number)
        ground, dealing = round_.ground, last.dealing
        made = dealing.shuffle(ground, number, bytes(32), step.joint, step.deck_in)
        proof = dealing.prove(ground, number, bytes(32), step.joint, step.deck_in, made)
        body = body_of(step.fact, e.Deck)
        deck = last.sign_again(entry, e.Deck(body.contract, body.previous, made.deck))
        proven = make_entry(last.key, entry.table, entry.seq + 1, deck.id, (), e.Proof(body.contract, proof))
        branches[0].add(entry.id)
        branches[1] |= {deck.id, proven.id}
        # Its own program never learns of the other branch, so it plays on honestly on the first one.
        last.sent.extend((deck, proven))

    last.put = both  # type: ignore[method-assign]
    table.filter = passes
    table.mute = {me}
    table.start()
    watching = [peer for peer in table.peers if peer is not last]
    found = [verdict(peer.session) for peer in watching]
    assert all(one == found[0] for one in found)
    lens = watching[0].round.everything()
    assert [(fault.player, fault.code) for fault in lens.faults] == [(last.me, "fork")]
    assert lens.phase is Phase.DEAD
    facts = [fact for peer in watching for fact in peer.session.feeds.by_id.values()]
    assert not [fact for fact in facts if fact.entry.kind == "shares" and fact.author != last.me]
    for order in range(10):
        again = fold_all(facts, TransparentDealing(), Random(order), causal=order % 2 == 0)
        assert verdict(again) == found[0]


def test_swaps_on_two_branches_do_not_upset_the_state():
    table = Table(NAMES[:3], seed=1)
    table.start()
    peer = table.peers[1]
    state, seat = peer.state(), peer.seat
    from engine.moves import Swap

    first = peer.session.intend(Swap(seat, state.hands[seat][0], state.ups[seat][0]))
    second = peer.session.intend(Swap(seat, state.hands[seat][0], state.ups[seat][1]))
    entry = peer.write(first)
    peer.put(peer.sign_again(entry, second))
    table.settle()
    for other in table.peers:
        lens = other.round.everything()
        assert [fault.code for fault in lens.faults] == ["fork"]
        assert lens.final is not None and lens.final.kind == "faulted"
        assert lens.state.hands[seat] == state.hands[seat]
    found = verdict(table.peers[0].session)
    for seed in range(10):
        assert verdict(fold_all(table.entries(), TransparentDealing(), Random(seed))) == found


def test_versions_beyond_the_bound_are_dropped_unless_somebody_names_them():
    table = Table(NAMES[:3], seed=2)
    table.settle()
    cheat, witness, victim = table.peers[2], table.peers[0], table.peers[1]
    base = cheat.sign(e.Leave(table.peers[0].session.table, []))
    versions = [
        make_entry(cheat.key, base.table, base.seq, base.prev, base.seen, e.Leave(base.table, [(0, str(n))]))
        for n in range(2 * MAX_VERSIONS)
    ]
    for entry in versions[:MAX_VERSIONS]:
        witness.session.receive(entry)
    for entry in reversed(versions):
        victim.session.receive(entry)
    assert victim.session.dropped["versions"] == MAX_VERSIONS
    held = victim.session.feeds.forks[cheat.me][base.seq]
    assert len(held) == MAX_VERSIONS
    named = witness.write(e.Dismiss(table.peers[1].me, "only to name what it has seen"))
    victim.session.receive(named)
    missing = victim.session.missing()
    assert missing <= {entry.id for entry in versions} and missing
    for entry in versions:
        if entry.id in missing:
            victim.session.receive(entry)
    assert named.id in victim.session.feeds.by_id


def test_of_forks_on_forks_every_pair_is_found_whatever_came_first():
    table = Table(NAMES[:2], seed=3)
    table.settle()
    host = table.peers[0]
    body = e.Dismiss(bytes(32), "x")
    seq, prev = host.session.head()
    start = host.sign(body)
    tree = [start, make_entry(host.key, start.table, seq, prev, (), e.Dismiss(bytes(32), "y"))]
    for parent in tuple(tree):
        tree += [
            make_entry(host.key, start.table, seq + 1, parent.id, (), e.Dismiss(bytes(32), str(n)))
            for n in range(2)
        ]
    entries = [fact.entry for fact in host.session.feeds.by_id.values()] + tree
    pairs = {frozenset((a.id, b.id)) for a in tree for b in tree if a is not b and a.seq == b.seq}
    for order in range(50):
        session = fold_all(entries, TransparentDealing(), Random(order))
        found = {frozenset(f.evidence) for f in session.table_faults if f.code == "fork"}
        assert found == pairs


class OtherShuffle(TransparentDealing):
    """Shuffles by another seed than the one committed to."""

    def shuffle(self, ground, number, seed, joint, deck):
        return super().shuffle(ground, number, bytes(32), joint, deck)


@pytest.mark.parametrize("players", [3, 4, 5])
@pytest.mark.parametrize("seed", range(6))
def test_a_shuffler_with_two_programs_splits_nobody(players, seed):
    # Each program makes a deck, proves it and agrees to it, and each is heard by half of the others.
    table = Table(NAMES[:players], seed=seed)
    table.settle()
    last = table.by_number(players - 1 if seed % 2 else 0)
    others = [peer for peer in table.peers if peer is not last]
    held = []
    last.on_write = lambda peer, body: held.append(body) or [] if isinstance(body, e.Deck) else [body]
    table.start()
    assert held
    last.on_write = None
    last.session._own[last.round.contract].shuffled = None
    twin = restore_backup(table, last, seed)
    twin.session.rounds[last.round.contract].dealing = OtherShuffle()
    twin.session.dealing = OtherShuffle()
    table.settle()
    for _ in range(50):
        if not any([table.move(peer) for peer in table.peers]):  # noqa: C419 - every one moves
            break
        table.settle()
    found = [verdict(peer.session) for peer in others]
    assert all(one == found[0] for one in found)
    for peer in others:
        lens = peer.round.everything()
        assert [(fault.player, fault.code) for fault in lens.faults] == [(last.me, "fork")]
        assert lens.phase is Phase.DEAD or lens.final.kind == "faulted"
        assert not peer.session._unverified and not peer.session._held
    decks = {fact.id for fact in others[0].session.feeds.by_id.values() if fact.entry.kind == "deck"}
    assert len(decks) > 1
    for order in range(6):
        again = fold_all(others[0].session.feeds.by_id.values(), TransparentDealing(), Random(order))
        assert verdict(again) == found[0]

"""What a clever member with a changed program could try beside the named cheats, and once could do.

Each is about members who keep to the form of the protocol and aim at what honest programs make of it: blame them,
set them against each other, keep them from playing, or end them.
"""

from __future__ import annotations

import sys
import unicodedata

import msgspec
import pytest

from engine.rules import RuleSet
from p2p import canonical
from p2p.canonical import enc
from p2p.dealing import ElGamalDealing, KeyPart, TransparentDealing
from p2p.dealing.group import L, base, encode_scalar
from p2p.dealing.interface import Ground
from p2p.dealing.transcript import challenge
from p2p.errors import LocalProtocolError
from p2p.feeds import entries as e
from p2p.feeds import identity
from p2p.feeds.entries import Entry, Malformed, make_entry, read_entry
from p2p.feeds.faults import Breach
from p2p.feeds.identity import BadName, check_name
from p2p.node.core import MAX_ASKED, Arrival, Core
from p2p.node.store import Store
from p2p.rounds.duties import duties
from p2p.rounds.fold import MAX_NAMED_VERSIONS, MAX_VERSIONS, Fold
from p2p.rounds.news import Reporter
from p2p.rounds.phases import Phase
from p2p.rounds.session import Session
from p2p.rounds.snapshot import Surroundings, make_snapshot
from tests.p2p.cheats import changed, flipped
from tests.p2p.peers import Peer, Table, verdict
from tests.p2p.recorded import NAMES, is_in


def sitting(players: int = 3, seed: int = 1, **options: object) -> Table:
    table = Table(NAMES[:players], seed=seed, **options)  # type: ignore[arg-type]
    table.settle()
    return table


def offer(peer: Peer, *others: Peer) -> e.Start:
    body = peer.session.offer(RuleSet(), [peer.me, *(other.me for other in others)])
    assert isinstance(body, e.Start)
    return body


def blamed(*peers: Peer) -> set[bytes]:
    """Whom any of them blames, at the table or in a round."""
    found = {fault.player for peer in peers for fault in peer.session.table_faults}
    for peer in peers:
        for round_ in peer.session.rounds.values():
            found |= {fault.player for fault, _ in round_.faults}
    return found


# -- honest peers set against each other -----------------------------------------------------------


def forked_proof(follow: str) -> tuple[list[Entry], list[Entry], bytes, bytes]:
    """A round that all agreed on, and a second, bad version of one proof, with something after it."""
    table = sitting()
    table.start()
    last = table.by_number(2)
    proof = next(fact.entry for fact in last.session.feeds.line[last.me] if fact.entry.kind == "proof")
    assert isinstance(proof.body, e.Proof)
    contract = proof.body.contract
    branch = [last.sign_again(proof, changed(proof.body, proof=flipped(proof.body.proof)))]
    bodies: dict[str, e.Body] = {"leave": e.Leave(contract, []), "ready": e.Ready(contract)}
    if follow:
        top = branch[0]
        branch.append(make_entry(last.key, top.table, top.seq + 1, top.id, (), bodies[follow]))
    return table.entries(), branch, contract, last.me


@pytest.mark.parametrize("follow", ["", "leave", "ready"])
def test_a_second_bad_version_of_a_proof_means_the_same_whenever_it_is_checked(follow: str) -> None:
    """Who gets it before all have agreed checks it, who gets it later does not: no verdict may hang on that."""
    entries, branch, contract, cheat = forked_proof(follow)
    agreed = [number for number, entry in enumerate(entries) if entry.kind == "agreed"]
    found = []
    for place in (*agreed, len(entries)):
        session = Session(entries[0].table, TransparentDealing())
        for entry in (*entries[:place], *branch, *entries[place:]):
            session.receive(entry)
            while (job := session.job()) is not None:
                session.finish(job, job.run())
        lens = session.rounds[contract].everything()
        assert [(fault.player, fault.code) for fault in lens.faults] == [(cheat, "fork")]
        assert lens.ending is not None and lens.ending.kind == "faulted"
        found.append(verdict(session))
    assert all(one == found[0] for one in found)


def test_versions_told_apart_to_ten_players_leave_room_for_what_each_of_them_names() -> None:
    assert (e.MAX_PLAYERS - 1) * MAX_VERSIONS < MAX_NAMED_VERSIONS
    table = sitting(5)
    cheat, *others = table.peers
    seq, prev = cheat.session.head()
    for number, peer in enumerate(others):
        for version in range(20):
            body = e.Dismiss(bytes(32), f"{number} {version}")
            peer.session.receive(make_entry(cheat.key, peer.session.table, seq, prev, (), body))
        peer.write(e.Mark())
    table.settle()
    for peer in others:
        assert not peer.session._held
        assert peer.session.feeds.by_id.keys() >= {entry.id for other in others for entry in other.sent}
    assert blamed(*others) == {cheat.me}


def test_texts_are_judged_by_one_unicode_whatever_the_python() -> None:
    """A mark that is new in a later Unicode is put in order there; here it is as good as any other character."""
    newer = "".join(map(chr, (0x61, 0x1DFA, 0x1AC1)))
    assert canonical._UNICODE.unidata_version == "3.2.0" != unicodedata.unidata_version
    assert enc(newer)
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            assert canonical._UNICODE.is_normalized("NFC", unicodedata.normalize("NFC", chr(code)))


@pytest.mark.parametrize("name", ["Ada\u1e9e", "\U00011f02", "\U0001e4d0"])
def test_a_name_that_an_older_python_would_not_know_lets_nobody_in(name: str) -> None:
    with pytest.raises(BadName):
        check_name(name)


def test_pictures_in_names_are_signs_of_one_spelling() -> None:
    for run in identity._PICTURES:
        for code in run:
            assert unicodedata.category(chr(code)) == "So"
            assert unicodedata.normalize("NFKC", chr(code)).casefold() == chr(code)


# -- honest peers made to break the protocol -------------------------------------------------------


def test_numbers_in_an_offer_of_another_revision_lead_nobody_to_a_bad_offer() -> None:
    table = sitting()
    host, cheat, guest = table.peers
    body = msgspec.structs.replace(offer(cheat, host, guest), engine_revision=999, attempt=1_000_000)
    cheat.write(body)
    table.settle()
    entry = host.write(offer(host, cheat, guest))
    assert not isinstance(read_entry(entry.data, entry.signature).body, Malformed)
    table.settle()
    assert blamed(*table.peers) == set()


def test_an_offer_of_another_revision_hides_no_offer_that_can_be_answered() -> None:
    table = sitting()
    host, cheat, guest = table.peers
    cheat.write(msgspec.structs.replace(offer(cheat, host, guest), engine_revision=999, round=1_000_000))
    table.settle()
    guest.session.always_consent = False
    contract = host.write(offer(host, cheat, guest)).id
    table.settle()
    asked = guest.session.asks_consent()
    assert asked is not None and asked.contract == contract


def test_two_of_one_name_let_in_at_once_are_no_trap_for_who_offers() -> None:
    table = sitting()
    host, cheat, guest = table.peers
    host.write(e.Admit(Peer("Gil").me, "Gil", b""))
    cheat.write(e.Admit(Peer("Hal").me, "GIL", b""))
    table.settle()
    with pytest.raises(LocalProtocolError) as problem:
        host.session.offer(RuleSet(), list(host.session.members()))
    assert problem.value.code == "two_of_one_name"
    host.write(e.Dismiss(Peer("Hal").me, "kicked"))
    host.write(host.session.offer(RuleSet(), list(host.session.members())))
    table.settle()
    assert blamed(host, guest) == set()


def test_admissions_that_others_have_used_up_are_no_trap_for_the_host() -> None:
    table = sitting(2)
    host, cheat = table.peers
    for number in range(e.MAX_ADMISSIONS - 1):
        cheat.write(e.Admit(Peer(f"Puppet {number}").me, f"Puppet {number}", b""))
    table.settle()
    with pytest.raises(Breach):
        host.session.check_admission(e.Admit(Peer("Gil").me, "Gil", b""))
    assert blamed(host, cheat) == set()


def test_a_mark_of_somebody_sent_away_meanwhile_is_no_breach() -> None:
    table = sitting()
    host, cheat, guest = table.peers
    cheat.write(e.Dismiss(guest.me, "x"))
    table.settle()
    guest.write(e.Mark())
    table.settle()
    assert blamed(host) == set()


@pytest.mark.parametrize("seed", range(4))
def test_a_round_that_others_play_on_their_own_takes_nobody_out_of_theirs(seed: int) -> None:
    table = sitting(4, seed)
    host, guest, one, other = table.peers
    # Two and two begin at once, neither having seen the other offer: both are in order.
    table.filter = lambda source, target, entry: (source < 2) == (target < 2)
    contract = host.write(offer(host, guest)).id
    private = one.write(offer(one, other)).id
    table.settle()
    table.filter = lambda source, target, entry: True
    reporter = Reporter(host.session)
    reporter.news()
    table.settle()
    told = {news.name for news in reporter.news()}
    assert private in host.session.rounds and told <= {"fault"}
    assert host.round.contract == guest.round.contract == contract
    assert one.round.contract == other.round.contract == private
    make_snapshot(host.session, Surroundings(), 0.0)
    table.play_until(lambda: host.session.rounds[contract].everything().final is not None)
    assert blamed(*table.peers) == set()


def test_two_who_never_end_a_round_of_their_own_keep_nobody_from_playing() -> None:
    table = sitting(4)
    host, guest, one, other = table.peers
    one.write(offer(one, other))
    table.settle()
    assert is_in(one, Phase.ARRANGE)
    everybody = [peer.me for peer in table.peers]
    body = host.session.offer(RuleSet(), everybody)
    assert isinstance(body, e.Start)
    assert {key for key, _, _ in body.roster} == {host.me, guest.me}
    host.write(body)
    table.settle()
    assert is_in(host, Phase.ARRANGE) and is_in(guest, Phase.ARRANGE)
    with pytest.raises(LocalProtocolError):
        host.session.offer(RuleSet(), everybody)
    assert blamed(*table.peers) == set()


def test_nobody_leaves_or_sends_away_against_a_round_that_is_not_the_one_on_the_screen() -> None:
    table = sitting(4)
    host, guest, one, other = table.peers
    one.write(offer(one, other))
    table.settle()
    host.write(offer(host, guest))
    table.settle()
    assert all(host.session.is_seated(peer.me) for peer in table.peers)
    one.write(one.session.leave_round())
    table.settle()
    assert not host.session.is_seated(one.me)


# -- equivocation that touches no round of its author ----------------------------------------------


def test_different_offers_of_a_bystander_are_named_too() -> None:
    table = sitting()
    host, cheat, guest = table.peers
    body = offer(host, guest)
    entry = cheat.write(body)
    cheat.put(cheat.sign_again(entry, changed(body, limits=[0, 0, 99])))
    table.settle()
    for peer in (host, guest):
        assert [(fault.player, fault.code) for fault in peer.session.table_faults] == [(cheat.me, "fork")]


# -- ending programs -------------------------------------------------------------------------------


def forged_key(ground: Ground, number: int, x: int) -> KeyPart:
    """A key that is by no seed, with a good proof."""
    secrets, nonces = (x, 77), (5, 6)
    points = [base(secret) for secret in secrets]
    commitments = [base(nonce) for nonce in nonces]
    c = challenge("key", ground, number, *points, *commitments)
    answers = [encode_scalar(nonce + c * secret) for nonce, secret in zip(nonces, secrets, strict=True)]
    return KeyPart(points[0], points[1], b"".join([*commitments, *answers]))


@pytest.mark.parametrize("total", [0, -1, -52])
def test_two_seats_whose_keys_cancel_out_with_a_card_end_no_bystander(total: int) -> None:
    """One program with two seats knows both keys, and so can make the deck that all begin with no deck at all."""
    table = Table(NAMES[:3], ElGamalDealing(threads=1), seed=1)
    table.settle()
    one, other, bystander = (table.by_number(number) for number in range(3))
    one.write(offer(one, other))

    def pass_on() -> None:
        for source in table.peers:
            for entry in source.sent:
                for target in table.peers:
                    target.session.receive(entry)

    for peer in (one, other):
        pass_on()
        accept = peer.session.next_write()
        assert accept is not None
        peer.write(accept.body)
    pass_on()
    for number, peer in enumerate((one, other)):
        part = forged_key(peer.round.ground, number, 1000 if number == 0 else (total - 1000) % L)
        coin = peer.session._own[peer.round.contract].coin
        peer.write(e.Key(peer.round.contract, part.X, part.Y, part.proof, coin))
    pass_on()
    entry = one.sign(e.Deck(one.round.contract, b"", bytes(64 * 52)))
    bystander.session.receive(entry)
    faults = bystander.round.everything().faults
    assert [(fault.player, fault.code) for fault in faults] == [(one.me, "bad_deck")]


# -- identities ------------------------------------------------------------------------------------

SMALL_ORDER = bytes([1]) + bytes(31)


def test_a_table_that_a_key_of_small_order_opened_is_none() -> None:
    """Under such a key anybody could sign in the host's name, and a whole round could be made up."""
    body = enc([1, bytes(32), SMALL_ORDER, 0, bytes(32), [], "open", ["Kitchen", "Eva", b"", bytes(32)]])
    opening = read_entry(body, bytes(64))
    fold = Fold(opening.id, TransparentDealing())
    fold.receive(opening)
    assert fold.membership.opening is None and fold.feeds.by_id == {}


# -- entries that there are not ----------------------------------------------------------------------


def test_thousands_of_ids_that_there_are_not_keep_no_other_from_being_asked_for() -> None:
    table = sitting()
    host, cheat, guest = table.peers
    store = Store(None, host.me)
    core = Core(host.session.table, host.key, store, TransparentDealing(), None, "0")
    for entry in table.entries():
        core.session.receive(entry)
    wanted, following = guest.sign(e.Mark()), []
    guest.put(wanted)
    following.append(guest.write(e.Mark()))
    seq, prev = cheat.session.head()
    for number in range(20):
        # Ids that come before all others, under numbers of one branch each.
        fake = tuple(bytes([0, number, place]) + bytes(29) for place in range(e.MAX_SEEN))
        following.append(
            make_entry(cheat.key, host.session.table, seq, prev, fake, e.Dismiss(bytes(32), str(number)))
        )
    asked: set[bytes] = set()
    for _ in range(10):
        for entry in following:
            core.session.receive(entry)
        outcome = core.step([Arrival(guest.me, [])], 1.0)
        asked.update(*outcome.ask.values())
    assert len(core.session.missing()) > MAX_ASKED
    assert wanted.id in asked
    store.close()


# -- ending rounds ---------------------------------------------------------------------------------


def test_who_gives_a_round_up_in_a_hurry_is_named_beside_whom_it_names() -> None:
    """Any true debt is enough to end a round, at once; so everybody has to see who did not want to wait."""
    table = sitting()
    table.start()
    table.play_until(lambda: is_in(table.peers[0], Phase.PLAY))
    mover = next(peer for peer in table.peers if peer.state().turn == peer.seat)
    cheat, watching = (peer for peer in table.peers if peer is not mover)
    reporter = Reporter(watching.session)
    reporter.news()
    owed = [duty for duty in duties(cheat.round.everything()) if duty.number == cheat.round.number_of[mover.me]]
    cheat.write(cheat.session.leave_round(owed))
    table.settle()
    (over,) = [news for news in reporter.news() if news.name == "over"]
    assert (over.values["result"], over.values["gave_up"]) == ("unfinished", (cheat.me,))
    assert {key for key, _ in over.values["debts"]} == {mover.me}  # type: ignore[attr-defined]
    view = make_snapshot(watching.session, Surroundings(), 0.0).round
    assert view is not None and view.ending is not None and view.ending.gave_up == (cheat.me,)
    assert blamed(*table.peers) == set()

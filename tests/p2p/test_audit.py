"""The audit: what a saved round proves, and what no change of it can make it prove."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, cast

import msgspec
import pytest

from engine.rules import RuleSet
from p2p.dealing import Dealing, ElGamalDealing, Ground, TransparentDealing
from p2p.feeds import entries as e
from p2p.feeds.entries import Entry
from p2p.rounds.audit import Verdict, verify, verify_file
from p2p.rounds.fold import settled_by_all
from p2p.rounds.phases import Phase
from p2p.rounds.roundfile import MAGIC, DamagedRound, Head, NotARound, RoundFile, decode, encode
from p2p.rounds.session import Session
from tests.p2p.peers import Peer, Table

CHANGED_PLACES = 200


def saved(session: Session) -> bytes:
    round_ = session.current()
    assert round_ is not None
    head = Head(
        round_.contract, round_.terms.round, "2026-05-12T20:14:00+00:00", "0", session.me or b"", "finished"
    )
    facts = sorted(session.feeds.by_id.values(), key=lambda fact: fact.order)
    return encode(head, [fact.entry for fact in facts])


@lru_cache
def real_round() -> bytes:
    table = Table(["Ana", "Bogdan"], ElGamalDealing(), seed=3)
    table.start()
    table.play()
    return saved(table.peers[0].session)


@lru_cache
def open_round(players: int = 3, seed: int = 1) -> bytes:
    table = Table(["Ana", "Bogdan", "Carmen", "Dan"][:players], seed=seed)
    table.start()
    table.play()
    return saved(table.peers[0].session)


@lru_cache
def other_table() -> bytes:
    table = Table(["Eva", "Fil"], seed=1)
    table.start()
    table.play()
    return saved(table.peers[0].session)


def judge(data: bytes, dealing: Dealing) -> Verdict | None:
    """The verdict on bytes; None where they are no round file at all."""
    try:
        return verify(decode(data, "test"), dealing)
    except DamagedRound:
        return None


def with_checksum(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def test_an_honest_round_is_fair_and_everything_in_it_was_checked() -> None:
    verdict = judge(real_round(), ElGamalDealing())
    assert verdict is not None and verdict.verdict == "fair"
    assert verdict.faults == () and verdict.notes == ()
    assert {player.name for player in verdict.players} == {"Ana", "Bogdan"}
    assert verdict.shithead in ("Ana", "Bogdan") and len(verdict.finish) == 1
    checks = verdict.checks
    assert checks["entries"] == checks["signatures"] > 50
    assert (checks["shuffles"], checks["reveals"]) == (2, 2)
    assert checks["moves"] > 10 and checks["shares"] > 20
    assert str(verdict.complete) == "Complete: the result is signed by 2 of 2."


def test_every_peer_saves_a_round_with_the_same_verdict() -> None:
    table = Table(["Ana", "Bogdan", "Carmen"], seed=8)
    table.start()
    table.play()
    verdicts = {repr(judge(saved(peer.session), TransparentDealing())) for peer in table.peers}
    assert len(verdicts) == 1


@pytest.mark.parametrize("part", range(4))
def test_a_changed_byte_is_never_fair(part: int) -> None:
    data = real_round()
    random = Random(part)
    for place in random.sample(range(len(data)), CHANGED_PLACES // 4):
        changed = bytearray(data)
        changed[place] ^= 1 << random.randrange(8)
        try:
            verdict = judge(bytes(changed), ElGamalDealing())
        except NotARound:
            continue
        assert verdict is None or verdict.verdict == "damaged", place


def test_a_changed_byte_of_a_signed_entry_is_found_and_named_though_the_checksum_fits() -> None:
    data = real_round()
    file = decode(data, "test")
    random = Random(7)
    body = data[:-32]
    for number in random.sample(range(len(file.entries)), 40):
        entry = file.entries[number]
        for raw in (entry.data, entry.signature):
            start = body.index(raw)
            changed = bytearray(body)
            changed[start + random.randrange(len(raw))] ^= 1 << random.randrange(8)
            verdict = judge(with_checksum(bytes(changed)), ElGamalDealing())
            assert verdict is None or verdict.verdict == "damaged"
            if verdict is not None and verdict.complete.code == "entry_changed":
                assert verdict.complete.values["number"] == number + 1


SOME, ALL = pytest.param(5, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)


@pytest.mark.parametrize("every", [SOME, ALL])
def test_a_file_cut_at_an_entry_is_unproven_and_blames_nobody(every: int) -> None:
    file = decode(open_round(), "test")
    start = next(n for n, entry in enumerate(file.entries) if entry.id == file.head.contract)
    for length in range(start + 1, len(file.entries), every):
        verdict = verify(RoundFile(file.head, file.entries[:length]), TransparentDealing())
        assert verdict.verdict == "unproven", length
        assert verdict.faults == ()


@pytest.mark.parametrize("every", [SOME, ALL])
def test_an_entry_taken_out_leaves_a_gap_and_blames_nobody(every: int) -> None:
    file = decode(open_round(), "test")
    for number in range(1, len(file.entries), every):
        if file.entries[number].id == file.head.contract:
            continue
        rest = file.entries[:number] + file.entries[number + 1 :]
        verdict = verify(RoundFile(file.head, rest), TransparentDealing())
        assert verdict.verdict in ("unproven", "damaged"), number
        assert verdict.faults == ()


class Noting:
    """A way of dealing that notes of which rounds it was asked to check something."""

    def __init__(self) -> None:
        self.checked: Counter[bytes] = Counter()
        self._dealing = TransparentDealing()

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self._dealing, name)
        if not name.startswith(("check_", "begin_check", "finish_checks", "audit_seed")):
            return asked

        def noted(ground: Ground, *rest: Any) -> Any:
            self.checked[ground.contract] += 1
            return asked(ground, *rest)

        return noted


def evening(rounds: int) -> Table:
    table = Table(["Ana", "Bogdan", "Carmen"], seed=4)
    table.settle()
    for _ in range(rounds):
        host = table.peers[0]
        host.write(host.session.offer(RuleSet(), [peer.me for peer in table.peers]))
        table.settle()
        table.play()
    return table


def test_of_rounds_that_all_have_signed_before_only_the_end_is_taken() -> None:
    table = evening(3)
    session = table.peers[0].session
    noting = Noting()
    verdict = judge(saved(session), cast(Dealing, noting))
    assert verdict is not None
    assert (verdict.verdict, verdict.round) == ("fair", 3)
    assert [(note.code, note.values) for note in verdict.notes] == [("other_rounds", {"count": 2})]
    assert set(noting.checked) == {session.current().contract}  # type: ignore[union-attr]
    # Each file by itself is checked in full.
    for number, round_ in enumerate(session.ended_rounds(), 1):
        file = decode(saved(session), "test")
        noting = Noting()
        head = msgspec.structs.replace(file.head, contract=round_.contract)
        own = verify(RoundFile(head, file.entries), cast(Dealing, noting))
        assert (own.verdict, own.round) == ("fair", number)
        assert set(noting.checked) == {round_.contract}


def test_a_round_before_that_somebody_has_not_signed_is_checked_in_full() -> None:
    """Who gives up a round for somebody signs alone: nothing of it is taken on trust."""
    table = Table(["Ana", "Bogdan", "Carmen"], seed=4)
    table.start()
    table.play_until(lambda: table.peers[0].round.everything().phase is Phase.PLAY)
    first = table.peers[0].round
    gone = table.peers[2]
    gone.write(gone.session.leave_round())
    table.settle()
    assert first.everything().final.kind == "unfinished"
    host = table.peers[0]
    host.write(host.session.offer(RuleSet(), [peer.me for peer in table.peers[:2]]))
    table.settle()
    table.play()
    noting = Noting()
    verdict = judge(saved(host.session), cast(Dealing, noting))
    assert verdict is not None
    assert (verdict.verdict, verdict.round, verdict.notes) == ("fair", 2, ())
    assert set(noting.checked) == {first.contract, host.round.contract}


def test_results_of_strangers_and_of_two_minds_settle_nothing() -> None:
    session = evening(1).peers[0].session
    entries = [fact.entry for fact in session.feeds.by_id.values()]
    results = [entry for entry in entries if entry.kind == "result"]
    rest = [entry for entry in entries if entry.kind != "result"]
    assert settled_by_all(entries) == {results[0].contract}
    assert settled_by_all([*rest, *results[1:]]) == frozenset()
    start = next(entry for entry in entries if entry.kind == "start")
    assert settled_by_all([entry for entry in entries if entry is not start]) == frozenset()
    other = Peer("Ana", seed=1)
    other.sit(session.table)
    twice = other.sign(e.Result(start.id, bytes(32)))
    assert twice.author == results[0].author or twice.author in {entry.author for entry in results}
    mixed = [twice, *(entry for entry in results if entry.author != twice.author)]
    assert settled_by_all([*rest, *mixed]) == frozenset()


def test_a_missing_reveal_is_named() -> None:
    file = decode(open_round(), "test")
    reveal = next(entry for entry in file.entries if entry.kind == "reveal")
    rest = tuple(entry for entry in file.entries if entry.author != reveal.author or entry.seq < reveal.seq)
    verdict = verify(RoundFile(file.head, rest), TransparentDealing())
    names = {player.key: player.name for player in verdict.players}
    assert verdict.verdict == "unproven"
    assert f"Here {names[reveal.author]} has not opened the seed" in " ".join(map(str, verdict.notes))


def test_a_round_of_one_table_says_nothing_about_another() -> None:
    one, other = decode(open_round(), "test"), decode(other_table(), "test")
    mixed = RoundFile(one.head, other.entries)
    assert verify(mixed, TransparentDealing()).verdict == "damaged"


def test_a_round_with_a_false_pass_is_cheating_once_the_hands_are_open() -> None:
    """Nobody can see a false pass while hands are closed; the seeds show it, with the name."""
    for seed in range(200):
        table = Table(["Ana", "Bogdan"], seed=seed)
        liar = table.peers[0]

        def lie(peer: object, body: e.Body) -> list[e.Body]:
            # Instead of laying the card open it says that it has none.
            return [e.Pass(body.contract)] if isinstance(body, e.Declare) and body.share else [body]

        liar.on_write = lie
        table.start()
        table.play()
        if not any(entry.kind == "pass" for entry in liar.sent):
            continue
        verdict = judge(saved(table.peers[1].session), TransparentDealing())
        assert verdict is not None
        if verdict.verdict == "cheating":
            assert {(fault.player, fault.code) for fault in verdict.faults} == {("Ana", "false_pass")}
            return
    pytest.fail("no deal of 200 let the liar lie")


def test_files_that_are_no_rounds(tmp_path: Path) -> None:
    cases = {
        "empty": b"",
        "text": b"hello",
        "magic": MAGIC,
        "garbage": with_checksum(MAGIC + b"\x93\x00"),
    }
    for name, data in cases.items():
        path = tmp_path / name
        path.write_bytes(data)
        if data.startswith(MAGIC):
            assert verify_file(path).verdict == "damaged", name
        else:
            with pytest.raises(NotARound):
                verify_file(path)
    with pytest.raises(NotARound):
        verify_file(tmp_path / "missing")
    with pytest.raises(NotARound):
        verify_file(tmp_path)


def test_entries_of_strangers_in_a_file_change_nothing() -> None:
    file = decode(open_round(), "test")
    extra: tuple[Entry, ...] = (*decode(other_table(), "test").entries, *file.entries)
    assert verify(RoundFile(file.head, extra), TransparentDealing()).verdict == "fair"

"""From a saved round to a text record: the same game, or a sentence that says why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from engine.record import check_text, moments, write
from engine.rules import PRESETS, with_options
from p2p.dealing import TransparentDealing
from p2p.rounds.export import NoRecord, record_of
from p2p.rounds.roundfile import DamagedRound, Head, RoundFile, decode, encode
from tests.p2p.peers import Table
from tests.p2p.recorded import recorded
from tests.p2p.test_house_rules import liar_plays, picking_up, rules_of

NAMES = ("Ana", "Bogdan Ion", "Carmen")

MIXES: tuple[Mapping[str, str], ...] = (
    {"start": "random"},
    {"start": "hand_lowest", "start_tie": "most_copies", "lead_must_be_start_rank": "true"},
    {"arrange": "choose", "jokers": "2", "joker_power": "wild", "chance": "chance", "draw_follow_up": "true"},
    {"upcard_pick_up": "pile_plus_set", "blind_pick_up": "true", "combine_last_hand": "true"},
    {"packs": "2", "burn_run": "5", "turn_limit": "40"},
)

CASES = [pytest.param(options, id=name) for name, options in PRESETS.items()] + [
    pytest.param(options, id=" ".join(options)) for options in MIXES
]


def saved(table: Table, number: int = 0) -> RoundFile:
    """The round that a peer would save."""
    session = table.peers[number].session
    round_ = session.current()
    head = Head(round_.contract, round_.terms.round, "", "", b"", "finished")
    facts = sorted(session.feeds.by_id.values(), key=lambda fact: fact.order)
    return decode(encode(head, [fact.entry for fact in facts]), "test")


@pytest.mark.parametrize("options", CASES)
def test_a_round_is_written_down_as_it_was_played(options: Mapping[str, str]) -> None:
    players = 2 + len(repr(options)) % 2
    table = Table(NAMES[:players], seed=len(repr(options)) + 1)
    table.start(with_options(rules_of({}), options))
    table.play()
    record = record_of(saved(table), "r.round", TransparentDealing())
    text = write(record)
    again = check_text(text)
    assert write(again) == text
    assert again.rules == table.peers[0].round.rules
    *_, last = moments(again)
    lens = table.peers[0].round.everything()
    assert last.state.action_count == lens.state.action_count
    names = [again.players[seat] for seat in last.state.finish_order]
    round_ = table.peers[0].round
    assert names == [round_.names[number] for number in lens.final.finish][: len(names)]
    shithead = lens.final.shithead
    assert (last.state.shithead >= 0) == (shithead is not None)
    assert shithead is None or again.players[last.state.shithead] == round_.names[shithead]


def test_every_peer_writes_the_same() -> None:
    table = Table(NAMES, seed=3)
    table.start()
    table.play()
    texts = {write(record_of(saved(table, number), "r", TransparentDealing())) for number in range(3)}
    assert len(texts) == 1


@pytest.mark.parametrize("kind", ["voided", "forfeited", "faulted", "dead"])
def test_a_round_that_was_not_played_to_its_end_has_no_record(kind: str) -> None:
    entries, _, contract = recorded(2, kind)
    file = RoundFile(Head(contract, 1, "", "", b"", "unfinished"), entries)
    with pytest.raises(NoRecord) as caught:
        record_of(file, "r", TransparentDealing())
    assert caught.value.code == "not_revealed"


def test_what_nobody_signed_has_no_record() -> None:
    entries, _, contract = recorded(2, "finished")
    head = Head(contract, 1, "", "", b"", "finished")
    forged = (*entries[:-1], replace(entries[-1], signature=bytes(64)))
    with pytest.raises(DamagedRound) as caught:
        record_of(RoundFile(head, forged), "r", TransparentDealing())
    assert caught.value.code == "entry_unsigned"
    headless = tuple(entry for entry in entries if entry.id != contract)
    with pytest.raises(DamagedRound) as missing:
        record_of(RoundFile(head, headless), "r", TransparentDealing())
    assert missing.value.code == "no_start"


def test_a_round_with_a_breach_in_a_hidden_hand_is_not_written_down() -> None:
    for seed in range(20):
        table = Table(NAMES[:2], seed=seed)
        table.start(rules_of({"pick_up": "forced_only"}))
        liar_plays(table, table.peers[0], picking_up)
        if table.peers[1].round.everything().final.kind not in ("finished", "stalled"):
            continue
        try:
            record_of(saved(table, 1), "r", TransparentDealing())
        except NoRecord as refused:
            assert refused.code == "against_rules"
            return
    pytest.fail("no deal let the liar lie")

"""Every bound of a schema, at it and one past it; and whatever the rules allow fits into all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from engine.contradictions import MAX_CHOOSE_CARDS
from engine.options import MAX_PACKS
from engine.rules import MIN_PLAYERS, PRESETS, RuleSet, to_items, with_options
from p2p.dealing import ElGamalDealing, TransparentDealing, interface
from p2p.errors import RemoteProtocolError
from p2p.feeds import entries as e
from p2p.feeds.entries import Body, Malformed, make_entry, read_entry
from p2p.network import advert, frames
from p2p.rounds import roundfile
from tests.p2p.network.test_discovery import ad_of, txt_of
from tests.p2p.peers import Table, key_for

KEY = key_for("Ana")
ME = KEY.public_key().public_bytes_raw()
ID = bytes([7]) * 32


def start(**changes: object) -> e.Start:
    roster = [(bytes([number]) * 32, "x", b"") for number in range(2)]
    body = e.Start(1, 1, ID, 2, [], 1, 0, False, [0, 0, 60], roster, [], [])
    return msgspec.structs.replace(body, **changes)


def move(**changes: object) -> e.Move:
    return msgspec.structs.replace(e.Move(ID, 1, ID, ID, "play", [], [], [], b""), **changes)


def shares(openings: int = 1, positions: int = 1) -> e.Shares:
    return e.Shares(ID, [], [(ID, list(range(positions)), [ID] * positions)] * openings, b"")


def reads(body: Body) -> bool:
    """Whether a body is what its kind may hold."""
    made = make_entry(KEY, ID, 1, ID, (), body)
    return not isinstance(read_entry(made.data, made.signature).body, Malformed)


AT_MOST: dict[str, tuple[int, Callable[[int], Body]]] = {
    "MAX_WRITTEN_NAME_CHARACTERS": (e.MAX_WRITTEN_NAME_CHARACTERS, lambda n: e.Admit(ID, "x" * n, b"")),
    "MAX_TEXT_CHARACTERS": (e.MAX_TEXT_CHARACTERS, lambda n: e.Decline(ID, "x" * n)),
    "MAX_COUNT of a round": (e.MAX_COUNT, lambda n: start(round=n)),
    "MAX_COUNT of an attempt": (e.MAX_COUNT, lambda n: start(attempt=n)),
    "MAX_COUNT of a time": (e.MAX_COUNT, lambda n: start(limits=[n, 0, 60])),
    "MAX_COUNT of a turn": (e.MAX_COUNT, lambda n: move(turn=n)),
    "MAX_OPTIONS": (e.MAX_OPTIONS, lambda n: start(rules=[("x", "y")] * n)),
    "MAX_PACKS": (MAX_PACKS, lambda n: start(packs=n)),
    "MAX_JOKERS": (e.MAX_JOKERS, lambda n: start(jokers=n)),
    "LIMITS": (e.LIMITS, lambda n: start(limits=[0] * n)),
    "MAX_PLAYERS in the roster": (e.MAX_PLAYERS, lambda n: start(roster=[(ID, "x", b"")] * n)),
    "MAX_PLAYERS in the seats": (e.MAX_PLAYERS, lambda n: start(seats=[0] * n)),
    "MAX_PLAYERS in a number": (e.MAX_PLAYERS - 1, lambda n: start(dealer=[n])),
    "MAX_PLAYERS in debts": (2 * e.MAX_PLAYERS, lambda n: e.Leave(ID, [(0, "x")] * n)),
    "MAX_OPENINGS": (e.MAX_OPENINGS, lambda n: shares(openings=n)),
    "MAX_CARDS in an opening": (e.MAX_CARDS, lambda n: shares(positions=n)),
    "MAX_CARDS in a place": (e.MAX_CARDS - 1, lambda n: e.Swap(ID, n, 0, b"", b"")),
    "MAX_CARDS in places": (e.MAX_CARDS, lambda n: move(places=[0] * n)),
    "MAX_CARDS in positions": (e.MAX_CARDS, lambda n: move(positions=[0] * n)),
    "MAX_CARDS in shares": (e.MAX_CARDS, lambda n: move(shares=[ID] * n)),
    "MAX_CHOOSE_CARDS": (MAX_CHOOSE_CARDS, lambda n: e.Choose(ID, [0] * n)),
    "MAX_WORD_CHARACTERS": (e.MAX_WORD_CHARACTERS, lambda n: move(action="x" * n)),
    "MAX_SMALL_PROOF_BYTES": (e.MAX_SMALL_PROOF_BYTES, lambda n: move(proof=bytes(n))),
}


@pytest.mark.parametrize("name", AT_MOST)
def test_a_body_at_its_limit_is_read_and_one_past_it_is_a_breach(name: str) -> None:
    """e.MAX_WRITTEN_NAME_CHARACTERS, e.MAX_TEXT_CHARACTERS, e.MAX_COUNT, e.MAX_OPTIONS, options.MAX_PACKS,
    e.MAX_JOKERS, e.MAX_PLAYERS, e.MAX_OPENINGS, e.MAX_CARDS, MAX_CHOOSE_CARDS, e.MAX_WORD_CHARACTERS,
    e.MAX_SMALL_PROOF_BYTES."""
    most, make = AT_MOST[name]
    assert reads(make(most))
    assert not reads(make(most + 1))


def test_a_contract_has_two_players_at_least() -> None:
    assert reads(start(roster=[(ID, "x", b"")] * MIN_PLAYERS))
    assert not reads(start(roster=[(ID, "x", b"")] * (MIN_PLAYERS - 1)))


FRAMES: dict[str, tuple[int, Callable[[int], frames.Frame]]] = {
    "MAX_WORD_CHARACTERS": (frames.MAX_WORD_CHARACTERS, lambda n: frames.Bye("x" * n)),
    "MAX_VALUE_CHARACTERS": (frames.MAX_VALUE_CHARACTERS, lambda n: frames.Refuse("full", (("a", "x" * n),))),
    "MAX_EXTRA_BYTES": (
        frames.MAX_EXTRA_BYTES,
        lambda n: frames.Hello(1, 1, "1", bytes(frames.INSTANCE_BYTES), (("a", bytes(n)),)),
    ),
    "MAX_HOST_CHARACTERS": (
        frames.MAX_HOST_CHARACTERS,
        lambda n: frames.Addresses(ID, 0, (("1" * n, 9),), bytes(64)),
    ),
    "MAX_PORT": (frames.MAX_PORT, lambda n: frames.Addresses(ID, 0, (("10.0.0.1", n),), bytes(64))),
    "MAX_VERSION": (
        frames.MAX_VERSION,
        lambda n: frames.Hello(1, n, "1", bytes(frames.INSTANCE_BYTES)),
    ),
    "MAX_NUMBER": (frames.MAX_NUMBER, lambda n: frames.Have(ID, ((ID, n, ID),))),
}


@pytest.mark.parametrize("name", FRAMES)
def test_words_and_numbers_of_frames_have_their_limits(name: str) -> None:
    """frames.MAX_WORD_CHARACTERS, frames.MAX_VALUE_CHARACTERS, frames.MAX_EXTRA_BYTES, frames.MAX_HOST_CHARACTERS,
    frames.MAX_VERSION, frames.MAX_NUMBER, frames.MAX_PORT."""
    most, make = FRAMES[name]
    assert frames.decode(msgspec.msgpack.encode(make(most))) == make(most)
    with pytest.raises(RemoteProtocolError):
        frames.decode(msgspec.msgpack.encode(make(most + 1)))


def test_an_advert_has_small_numbers() -> None:
    base = txt_of(ad_of(1))
    (seats,) = [key for key, value in base.items() if value == str(ad_of(1).seats).encode()][-1:]
    assert advert.from_txt({**base, seats: str(advert.MAX_SMALL).encode()}, 9).seats == advert.MAX_SMALL
    with pytest.raises(RemoteProtocolError):
        advert.from_txt({**base, seats: str(advert.MAX_SMALL + 1).encode()}, 9)


@pytest.mark.parametrize("field", ["saved_at", "program", "ending"])
def test_the_head_of_a_round_file_is_short(field: str) -> None:
    head = roundfile.Head(ID, 1, "", "", ID, "")
    fits, too_long = (
        roundfile.encode(msgspec.structs.replace(head, **{field: "x" * count}), [])
        for count in (roundfile.MAX_HEAD_CHARACTERS, roundfile.MAX_HEAD_CHARACTERS + 1)
    )
    assert getattr(roundfile.decode(fits, "").head, field)
    with pytest.raises(roundfile.DamagedRound):
        roundfile.decode(too_long, "")


# -- what the rules allow fits


LARGEST = [
    (6, {"jokers": "4"}),
    (2, {"packs": "4", "jokers": "4", "deal": "0/52/52"}),
    (4, {"packs": "4", "deal": "0/51/1"}),
    (5, {"packs": "4", "jokers": "4", "deal": "0/43/1"}),
    (3, {"arrange": "choose", "deal": "3/6/6"}),
]


@pytest.mark.parametrize(("players", "options"), LARGEST, ids=[str(options) for _, options in LARGEST])
def test_whatever_the_rules_allow_is_written_so_that_others_can_read_it(
    players: int, options: dict[str, str]
) -> None:
    """MAX_CARDS and MAX_JOKERS are those of the rules: what is honest is never taken for a breach."""
    table = Table([f"P{chr(97 + number)}" for number in range(players)], TransparentDealing(), seed=1)
    table.start(with_options(RuleSet(), options))
    table.settle()
    for fact in table.peers[0].session.feeds.by_id.values():
        body = read_entry(fact.entry.data, fact.entry.signature).body
        assert not isinstance(body, Malformed), (fact.entry.kind, body)
    assert table.peers[0].round.everything().dealt is not None


def test_the_proof_for_the_largest_deck_fits_into_an_entry_and_nearly_fills_it() -> None:
    rules = with_options(RuleSet(), {"packs": "4", "jokers": "4"})
    assert e.MAX_CARDS == interface.MAX_DECK_CARDS == 4 * 52 + 4 * 4
    table = Table(["Ana", "Bogdan"], ElGamalDealing(), seed=1)
    table.start(rules)
    table.settle()
    proofs = [f.entry for f in table.peers[0].session.feeds.by_id.values() if f.entry.kind == "proof"]
    assert [read_entry(one.data, one.signature).kind for one in proofs] == ["proof", "proof"]
    assert 0.8 * e.MAX_ENTRY_BYTES < len(proofs[0].data) <= e.MAX_ENTRY_BYTES


def test_all_options_fit_into_a_contract() -> None:
    """MAX_OPTIONS and MAX_TEXT_CHARACTERS leave room."""
    rule_sets = [*map(RuleSet.preset, PRESETS), replace(RuleSet(), reset=tuple(range(13)))]
    for rules in rule_sets:
        items = to_items(rules)
        assert len(items) <= e.MAX_OPTIONS
        assert max(len(text) for item in items for text in item) <= e.MAX_TEXT_CHARACTERS // 2


def test_words_of_the_protocol_are_half_as_long_as_may_be() -> None:
    assert max(map(len, e.BODIES)) <= e.MAX_WORD_CHARACTERS // 2
    assert max(len(code.value) for code in frames.CloseCode) <= frames.MAX_WORD_CHARACTERS // 2

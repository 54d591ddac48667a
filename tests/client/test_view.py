"""Views: what a person may see and do. Above all: never a face that is not for these eyes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from random import Random

import pytest

from client.view import Choice, Stage, View, make_view
from engine.cards import card_text
from engine.errors import Sentence
from engine.game import deal
from engine.moves import Flip, PickUp, Play, Ready
from engine.rules import RuleSet
from engine.state import GameState, Zone
from engine.state import Phase as GamePhase
from p2p.dealing.transparent import FACE_BYTES
from p2p.feeds.faults import Fault
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import EndingView, Knocking, RoundScore, Surroundings, Wait, make_snapshot
from tests.client.positions import key_of, snapshot_of, view_of
from tests.engine.helpers import record, shuffled
from tests.p2p.peers import Peer, Table, choose

CARD = re.compile(r"""['"]([2-9TJQKA][cdhs]'{0,2})['"]""")
OTHER = "hand Bogdan Qc Qd Qh\n"


def truth(peer: Peer) -> dict[int, str] | None:
    """Every card of the round, position → text: with the transparent deal the agreed deck lies open."""
    deal_ = peer.round.everything().agreement
    if deal_ is None:
        return None
    deck = deal_.deck
    size = len(deck) // FACE_BYTES
    return {
        i: card_text(int.from_bytes(deck[FACE_BYTES * i : FACE_BYTES * (i + 1)], "big"), 1) for i in range(size)
    }


def values_in(thing: object) -> list[object]:
    """Everything inside a view, deep."""
    found: list[object] = [thing]
    if dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            found += values_in(getattr(thing, field.name))
    elif isinstance(thing, tuple | list | frozenset):
        for item in thing:
            found += values_in(item)
    elif isinstance(thing, Mapping):
        for key, item in thing.items():
            found += values_in(key) + values_in(item)
    return found


def shown_cards(view: View) -> set[str]:
    return set(CARD.findall(repr(view)))


def check_no_hidden_face(peer: Peer) -> None:
    snapshot = make_snapshot(peer.session, Surroundings(), 0.0)
    view = make_view(snapshot)
    cards = shown_cards(view)
    known = truth(peer) if peer.round is not None else None
    state = snapshot.round.state if snapshot.round is not None else None
    if known is None or state is None:
        assert not cards
        return
    seat = peer.seat
    open_now = [*state.pile, *state.hands[seat], *(p for ups in state.ups for p in ups)]
    assert cards <= {known[position] for position in open_now}
    others = [p for other, hand in enumerate(state.hands) if other != seat for p in hand]
    hidden = [*others, *(p for downs in state.downs for p in downs if p >= 0), *state.stock]
    assert not cards & {known[position] for position in hidden}
    # What lies open is really shown, so that the test above is not about empty views.
    assert all(known[p] in cards for ups in state.ups for p in ups if p not in state.awaiting)
    assert not any(isinstance(value, GameState) for value in values_in(view))


@pytest.mark.parametrize(("players", "seed"), [(2, 1), (2, 2), (3, 3), (4, 4), (5, 5)])
def test_no_view_of_a_whole_round_holds_a_hidden_face(players: int, seed: int) -> None:
    table = Table([f"P{i}" for i in range(players)], seed=seed)
    table.settle()
    random = Random(seed)
    for peer in table.peers:
        check_no_hidden_face(peer)
    table.peers[0].write(table.peers[0].session.offer(RuleSet(), [peer.me for peer in table.peers]))
    moved = True
    looked = 0
    while moved:
        busy = True
        while busy:
            busy = table.step()
            # In between as well: half of the shares are here, others not.
            peer = random.choice(table.peers)
            check_no_hidden_face(peer)
            looked += 1
        moved = False
        for peer in table.peers:
            move = choose(peer, random)
            if move is not None:
                peer.act(move)
                moved = True
    assert looked > 50
    assert make_view(make_snapshot(table.peers[0].session, Surroundings(), 0.0)).stage is Stage.OVER


def kinds(view: View) -> list[str]:
    return [choice.kind for choice in view.choices]


def test_a_lobby() -> None:
    view = view_of()
    assert view.stage is Stage.LOBBY
    assert (view.table, view.my_name, view.host) == ("Kitchen", "Ana", "Ana")
    assert [row.name for row in view.players] == ["Ana", "Bogdan"]
    assert kinds(view) == ["start"]
    assert not view.in_round
    assert view.pile is None
    assert not view.my_turn


def test_only_whoever_acts_for_the_host_starts_and_admits() -> None:
    door = (Knocking(key_of("Dora"), "Dora", b"", "192.0.2.9:47101"),)
    assert kinds(view_of(door=door)) == ["admit", "refuse", "start"]
    assert kinds(view_of(door=door, acting_host=key_of("Bogdan"))) == []
    assert view_of(door=door).door[0].name == "Dora"


def test_arranging() -> None:
    state = deal(RuleSet(), 2, 1, shuffled(2, 3))
    view = view_of(state)
    assert view.stage is Stage.ARRANGE
    assert view.my_turn
    assert view.choices == (Choice(1, "ready", Ready(0)),)
    assert [card.zone for card in view.own] == [Zone.HAND] * 3 + [Zone.UPCARDS] * 3
    assert {card.why_not.code for card in view.own if card.why_not} == {"wrong_phase"}
    assert view.players[0].status == "in"
    from engine.game import apply

    ready = view_of(apply(state, Ready(0)))
    assert not ready.my_turn
    assert ready.choices == ()
    assert ready.players[0].status == "ready"


def test_my_turn_shows_what_may_be_played() -> None:
    state = record(f"stock 3c 3d\npile 8c 9d\nhand Ana 9c 9h 4s\nup Ana 2c\n{OTHER}turn Ana\n")
    view = view_of(state)
    assert view.my_turn
    assert view.turn == "Ana"
    assert view.zone is Zone.HAND
    assert [(group.rank, group.cards, group.playable) for group in view.groups] == [
        ("4", ("4s",), False),
        ("9", ("9c", "9h"), True),
    ]
    assert view.pile is not None
    assert view.pile.cards == ("8c", "9d")
    assert view.pile.run == 1
    assert "".join(view.pile.fits) == "29TJQKA"
    assert [(choice.kind, choice.count) for choice in view.choices] == [("play", 1), ("play", 2), ("pick_up", 2)]
    assert isinstance(view.choices[1].move, Play)
    assert isinstance(view.choices[2].move, PickUp)
    up = next(card for card in view.own if card.text == "2c")
    assert up.why_not is not None
    assert up.why_not.code == "not_in_zone"
    assert view.stock == 2
    assert [row.hand for row in view.players] == [3, 3]


def test_the_others_turn() -> None:
    state = record(f"pile 8c\nhand Ana 9c 9h\n{OTHER}turn Bogdan\n")
    view = view_of(state)
    assert not view.my_turn
    assert view.turn == "Bogdan"
    assert view.choices == ()
    assert view.pick_up_why_not is not None
    assert view.pick_up_why_not.code == "not_your_turn"
    bogdan = view.player("Bogdan")
    assert bogdan is not None
    assert bogdan.in_turn
    assert bogdan.hand == 3


def test_the_blind_stage_and_an_opening_card() -> None:
    state = record(f"pile 8c\ndown Ana 9c - 4h\n{OTHER}turn Ana\n")
    view = view_of(state)
    assert view.zone is Zone.DOWNCARDS
    assert [(choice.kind, choice.slot) for choice in view.choices] == [("flip", 1), ("flip", 3)]
    assert view.choices[1].move == Flip(0, 2)
    assert view.players[0].slots == (True, False, True)
    assert "9c" not in shown_cards(view)
    waiting = dataclasses.replace(state, awaiting=(state.downs[0][0],))
    opening = view_of(waiting)
    assert opening.stage is Stage.OPENING
    assert not opening.my_turn


def test_a_drawn_card_on_its_way_is_no_turn_yet() -> None:
    state = record(f"pile 8c\nhand Ana 9c 9h\n{OTHER}turn Ana\n")
    drawn = state.hands[0][0]
    faces = tuple(-1 if place == drawn else face for place, face in enumerate(state.faces))
    view = view_of(dataclasses.replace(state, faces=faces, public=state.public & ~(1 << drawn)))
    assert view.unseen == 1
    assert not view.my_turn
    assert view.choices == ()


def test_an_onlooker_sees_no_hand() -> None:
    state = record(f"pile 8c\nhand Ana 9c 9h\n{OTHER}turn Ana\n")
    snapshot = snapshot_of(state)
    assert snapshot.round is not None
    from engine.views import mask

    round_ = dataclasses.replace(snapshot.round, my_seat=None, state=mask(state, None), roster=(bytes(32),))
    view = make_view(dataclasses.replace(snapshot, round=round_))
    assert not view.in_round
    assert view.own == ()
    assert view.choices == ()
    assert shown_cards(view) == {"8c"}


def test_the_deal_the_waits_the_ending_and_the_score() -> None:
    state = record(f"pile 8c\nhand Ana 9c 9h\n{OTHER}turn Ana\n")
    snapshot = snapshot_of(state)
    assert snapshot.round is not None
    ana, bogdan = key_of("Ana"), key_of("Bogdan")
    fault = Fault(bogdan, "bad_digest", (bytes(32),), 7)
    round_ = dataclasses.replace(
        snapshot.round,
        phase=Phase.ENDING,
        shuffled=1,
        waits=(Wait(bogdan, "move", 3.7), Wait(ana, "result", 0.2)),
        faults=(fault,),
        ending=EndingView("finished", (ana,), bogdan, ((bogdan, "move"),), (bogdan,), 1, 2, 0),
    )
    score = (RoundScore(1, "finished", (ana,), bogdan),)
    view = make_view(dataclasses.replace(snapshot, round=round_, score=score))
    assert view.stage is Stage.ENDING
    assert view.deal is not None
    assert (view.deal.shuffled, view.deal.players) == (1, 2)
    assert [(wait.name, wait.is_me, wait.what, wait.seconds) for wait in view.waits] == [
        ("Bogdan", False, "move", 3),
        ("Ana", True, "result", 0),
    ]
    assert view.ending is not None
    assert view.ending.shithead == "Bogdan"
    assert view.ending.debts == (("Bogdan", "move"),)
    assert view.ending.left == ("Bogdan",)
    assert view.score[0].finish == ("Ana",)
    assert isinstance(view.faults[0], Sentence)
    assert not view.my_turn


def test_who_has_gone_keeps_a_name_and_a_seat_in_the_round() -> None:
    state = record(f"pile 8c\nhand Ana 9c 9h\n{OTHER}turn Ana\n")
    snapshot = snapshot_of(state)
    view = make_view(dataclasses.replace(snapshot, players=snapshot.players[:1]))
    row = view.player("Bogdan")
    assert row is not None
    assert (row.name, row.present, row.link) == ("Bogdan", False, "lost")
    assert view.player("bogdan") is row


def test_a_dead_offer_leaves_the_lobby() -> None:
    state = record(f"pile 8c\nhand Ana 9c 9h\n{OTHER}turn Ana\n")
    snapshot = snapshot_of(state)
    assert snapshot.round is not None
    round_ = dataclasses.replace(snapshot.round, phase=Phase.DEAD, state=None, seats=(), my_seat=None)
    view = make_view(dataclasses.replace(snapshot, round=round_))
    assert view.stage is Stage.LOBBY
    assert not view.in_round
    assert kinds(view) == ["start"]


def test_every_phase_has_a_stage() -> None:
    state = record(f"pile 8c\nhand Ana 9c 9h\n{OTHER}turn Ana\n")
    snapshot = snapshot_of(state)
    assert snapshot.round is not None
    for phase in Phase:
        view = make_view(dataclasses.replace(snapshot, round=dataclasses.replace(snapshot.round, phase=phase)))
        assert isinstance(view.stage, Stage)
        assert view.my_turn == (phase is Phase.PLAY or phase in (Phase.ARRANGE, Phase.START, Phase.OPENING))


def test_phases_of_the_game_that_are_no_turn() -> None:
    state = deal(RuleSet(), 2, 1)
    assert state.phase is GamePhase.DEAL
    view = view_of(state)
    assert view.stage is Stage.DEALING
    assert not view.my_turn
    assert view.players[0].upcards == ("??",) * 3

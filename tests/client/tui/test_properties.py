"""What holds for every screen: its size, and that nothing on it is not for these eyes."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client.cards import Style
from client.sentences import Names
from client.tui.cells import cells, cut, fit, row, safe, span, wrap
from client.tui.control import follow, press
from client.tui.hand import pickable
from client.tui.render import draw
from client.tui.state import Logged, Look, Ui
from client.view import Stage, View, make_view
from engine.rules import RuleSet
from p2p.rounds.snapshot import Surroundings, make_snapshot
from tests.client.test_view import truth
from tests.client.tui import scenes
from tests.p2p.peers import Peer, Table, choose

SIZES = ((80, 24), (60, 16), (120, 40), (79, 21), (200, 60))
PAGES = ("", "help", "rules", "fair", "network", "log", "settings", "evening", "mute", "options", "choices")
FACE = re.compile(r"(?<![0-9A-Za-z])(10|[2-9JQKA])([cdhs])(?![0-9A-Za-z])")
HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "a\u0301\u0301\u0301\u0301\u0301\u0301zalgo",
    "\u202eright to left",
    "zero\u200bwidth\u200d",
    "宽宽宽宽宽宽宽宽宽宽",
    "👩‍👩‍👧‍👦 family",
    "line\nbreak\ttab\rreturn\x07bell",
    "♠\ufe0f wide heart ❤️",
    "\u0b95\u0bcd\u0bb7",
    "",
)

hostile_text = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60))


def check_size(rows: list[tuple[object, ...]], width: int, height: int) -> None:
    assert len(rows) == height
    for each in rows:
        text = "".join(part.text for part in each)  # type: ignore[attr-defined]
        assert cells(text) == width, text
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufe0f]", text), text


def renamed(view: View, names: tuple[str, ...]) -> View:
    """The view with every text of others replaced."""
    old = [player.name for player in view.players]
    new = {name: names[number % len(names)] for number, name in enumerate(old)}
    keys = {key: new.get(name, name) for key, name in view.names.keys.items()}
    seats = tuple(new.get(name, name) for name in view.names.seats)
    return replace(
        view,
        table=names[0],
        host=names[0],
        players=tuple(replace(player, name=new[player.name]) for player in view.players),
        door=tuple(replace(who, name=names[-1], address=names[0]) for who in view.door),
        names=Names(seats, keys, view.names.my_seat, view.names.my_key),
        turn=None if view.turn is None else new.get(view.turn, view.turn),
        waits=tuple(replace(wait, name=new.get(wait.name, wait.name)) for wait in view.waits),
        addresses=(*view.addresses, names[0]),
    )


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(hostile_text, min_size=4, max_size=4).map(tuple),
    talk=hostile_text,
    typed=hostile_text,
    size=st.tuples(st.integers(1, 140), st.integers(1, 50)),
    is_ascii=st.booleans(),
    page=st.sampled_from(PAGES),
    scene=st.sampled_from(("playing", "lobby", "lost_link", "dealing", "arrange", "over", "many_cards", "blind")),
    data=st.data(),
)
def test_no_line_is_longer_than_the_terminal(
    names: tuple[str, ...],
    talk: str,
    typed: str,
    size: tuple[int, int],
    is_ascii: bool,
    page: str,
    scene: str,
    data: st.DataObject,
) -> None:
    view, ui = getattr(scenes, scene)()
    ui = replace(
        ui,
        look=Look(style=Style(ascii=is_ascii), guide=data.draw(st.booleans())),
        log=(*ui.log, Logged(f"{names[1]}> {talk}", "chat", "20:15"), Logged(talk)),
        page=page,
        typing=data.draw(st.sampled_from((None, safe(typed)))),
        message=data.draw(st.sampled_from(("", talk))),
        scroll=data.draw(st.integers(0, 100)),
    )
    check_size(draw(renamed(view, names), ui, RuleSet(), 5, *size), *size)


@settings(max_examples=200, deadline=None)
@given(text=hostile_text, width=st.integers(0, 40))
def test_texts_keep_to_their_cells(text: str, width: int) -> None:
    assert cells(cut(text, width)) <= width
    assert cells(fit(text, width)) == width
    assert sum(cells(each.text) for each in row(width, span(text), right=(span(text),))) == width
    assert all(cells(part) <= max(width, 2) for part in wrap(text, width))


def faces_on(rows: list[tuple[object, ...]]) -> set[str]:
    return faces_in("\n".join("".join(part.text for part in each) for each in rows))  # type: ignore[attr-defined]


def faces_in(text: str) -> set[str]:
    """The cards that a text names, in letters."""
    return {rank.replace("10", "T") + suit for rank, suit in FACE.findall(text)}


def screens_of(peer: Peer, ui: Ui) -> tuple[View, list[list[tuple[object, ...]]]]:
    snapshot = make_snapshot(peer.session, Surroundings(), 0.0)
    view = make_view(snapshot)
    picked = tuple(card.position for card in pickable(view, ui.look))[:1]
    return (
        view,
        [
            draw(view, replace(ui, picked=picked, page=page, cursor=0), RuleSet(), 5, *size)  # type: ignore[misc]
            for size in SIZES[:3]
            for page in ("", "network", "evening", "fair", "choices", "mute")
        ],
    )


@pytest.mark.parametrize(("players", "seed"), [(2, 1), (4, 4)])
def test_no_screen_of_a_whole_round_shows_a_hidden_face(players: int, seed: int) -> None:
    table = Table([f"P{i}" for i in range(players)], seed=seed)
    table.settle()
    random = Random(seed)
    ui = Ui(look=Look(style=Style(ascii=True)))
    table.peers[0].write(table.peers[0].session.offer(RuleSet(), [peer.me for peer in table.peers]))
    shown = 0
    moved = True
    while moved:
        busy = True
        while busy:
            busy = table.step()
            if random.random() < 0.3:
                shown += check_faces(random.choice(table.peers), ui)
        moved = False
        for peer in table.peers:
            move = choose(peer, random)
            if move is not None:
                peer.act(move)
                moved = True
    assert shown > 20


def check_faces(peer: Peer, ui: Ui) -> int:
    """Whether there were faces on the screens at all."""
    view, screens = screens_of(peer, ui)
    known = truth(peer) if peer.round is not None else None
    state = peer.session.own_state(peer.round) if peer.round is not None else None
    faces = set().union(*(faces_on(rows) for rows in screens))
    if known is None or state is None:
        assert not faces
        return 0
    open_now = [*state.pile, *state.hands[peer.seat], *(p for ups in state.ups for p in ups)]
    assert faces <= {known[position] for position in open_now}
    if view.stage in (Stage.PLAY, Stage.ARRANGE):
        own = {card.text for card in pickable(view, ui.look)}
        # A hand that is shown by ranks names no suits.
        assert own <= faces or len(own) > 10
        return 1
    return 0


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    scene=st.sampled_from(("playing", "arrange", "blind", "many_cards", "lobby", "over")),
)
def test_any_keys_in_any_order_leave_a_screen_that_can_be_drawn(seed: int, scene: str) -> None:
    random = Random(seed)
    view, ui = getattr(scenes, scene)()
    keys = [*"234567890tjqkaxp19gcrfnilweomuz?hv+-bdys~ä", "enter", "escape", "up", "down", "left", "right", " "]
    keys += ["pageup", "pagedown", "home", "end", "backspace", "tab", "ctrl-c", "pile", "rank:7", "card:0"]
    keys += ["setting:3", "option:5", "mute:1", "choice:2", "scroll-up", "scroll-down"]
    for _ in range(60):
        ui, _command = press(random.choice(keys), view, ui, random.choice((0.0, 100.0)))
        ui = follow(view, view, ui, 50.0)
        check_size(draw(view, ui, RuleSet(), 5, 80, 24), 80, 24)  # type: ignore[arg-type]


def test_ascii_screens_hold_nothing_else() -> None:
    ui = Ui(look=Look(style=Style(ascii=True)))
    for scene in (scenes.playing, scenes.arrange, scenes.blind, scenes.lobby, scenes.over, scenes.many_cards):
        view, _ = scene()
        for page in PAGES:
            for size in SIZES:
                rows = draw(view, replace(ui, page=page), RuleSet(), 5, *size)
                assert scenes.as_text(rows).isascii()

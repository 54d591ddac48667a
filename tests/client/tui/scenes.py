"""Made-up moments, as views with a screen's state: what stored screens and tests of rendering show."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from client.cards import Style
from client.tui.cells import Row
from client.tui.render import draw
from client.tui.state import Logged, Look, Ui
from client.view import View, make_view
from engine import game
from engine.errors import Sentence
from engine.rules import RuleSet
from engine.state import GameState
from p2p.rounds.audit import AuditedPlayer, Verdict
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import (
    STEPS,
    EndingView,
    Knocking,
    LinkView,
    PlayerView,
    RoundScore,
    Snapshot,
    Wait,
)
from tests.client.positions import key_of, player, snapshot_of
from tests.engine.helpers import record

LOG = (
    Logged("Bogdan plays 7♠.", at="31"),
    Logged("Carmen plays 7♥.", at="32"),
    Logged("Bogdan> ouch, that one was meant for somebody else", "chat", "20:14"),
    Logged("The link to Carmen is lost.", at="32"),
)

TABLE = """stock 3c 3d 4c 4d
pile 5c 7s 7h 7d
hand Ana 4s 5h 5d 7c Td Kh
up Ana 3s 8s Ah
down Ana 2c 2d 6c
hand Bogdan Qc Qd
up Bogdan 6d 9h Ks
down Bogdan 8c 8d 8h
hand Carmen Jc Jd Jh
up Carmen 4h Th Js
down Carmen 9c 9d 9s
hand Dora Ac
up Dora 2h 6h Qs
down Dora Kc - Kd
turn Ana
"""


def table_state() -> GameState:
    """Four at a table, Ana to move on three sevens."""
    return record(TABLE, "Ana Bogdan Carmen Dora", "Dora")


def arranging() -> GameState:
    """Three have been dealt their cards."""
    faces = list(range(52))
    Random(4).shuffle(faces)
    return game.deal(RuleSet(), 3, 2, faces)


def with_round(snapshot: Snapshot, **changes: object) -> Snapshot:
    """The snapshot with fields of its round changed."""
    assert snapshot.round is not None
    return replace(snapshot, round=replace(snapshot.round, **changes))  # type: ignore[arg-type]


def playing(state: GameState | None = None, seat: int = 0, **ui: object) -> tuple[View, Ui]:
    """A round in play."""
    snapshot = snapshot_of(state or table_state(), seat)
    return make_view(snapshot), Ui(log=LOG, turns=32, **ui)  # type: ignore[arg-type]


def lost_link() -> tuple[View, Ui]:
    """Carmen's link is lost while she is to move."""
    state = record(TABLE.replace("turn Ana", "turn Carmen"), "Ana Bogdan Carmen Dora", "Dora")
    snapshot = snapshot_of(state)
    players = tuple(
        replace(each, link=LinkView("lost")) if each.name == "Carmen" else each for each in snapshot.players
    )
    snapshot = with_round(replace(snapshot, players=players), waits=(Wait(key_of("Carmen"), "move", 72.0, 0, 60),))
    return make_view(with_round(snapshot, overdue=True, limits=(0, 0, 60))), Ui(log=LOG)


def lobby() -> tuple[View, Ui]:
    """Before the first round, somebody at the door."""
    snapshot = snapshot_of(None, players=4)
    bot = replace(player("Dora"), is_bot=True, met="new", rounds_before=0)
    renamed = replace(player("Carmen"), met="renamed-key", rounds_before=0, link=LinkView("slow", 0.31))
    snapshot = replace(
        snapshot,
        players=(*snapshot.players[:2], renamed, bot),
        door=(Knocking(key_of("Emil"), "Emil", b"", "192.0.2.9:47101"),),
        addresses=("192.0.2.7:47101", "[fe80::7%eth0]:47101"),
    )
    return make_view(snapshot), Ui(log=LOG[:1], can_seat_bots=True)


def offered() -> tuple[View, Ui]:
    """The second round is offered to Bogdan."""
    snapshot = replace(snapshot_of(arranging(), 1), asked=True)
    steps = {key_of("Ana"): ("accept",)}
    snapshot = with_round(
        snapshot, phase=Phase.OFFER, state=None, seats=(), my_seat=None, words=(), steps=steps, number=2, waits=()
    )
    return make_view(snapshot), Ui(log=LOG[:1])


def dealing() -> tuple[View, Ui]:
    """In the midst of the shuffles."""
    snapshot = snapshot_of(arranging())
    keys = [key_of(name) for name in ("Ana", "Bogdan", "Carmen")]
    steps = {keys[0]: STEPS[:4], keys[1]: STEPS[:3], keys[2]: STEPS[:2]}
    snapshot = with_round(snapshot, phase=Phase.PREPARE, state=None, steps=steps, shuffled=2, proven=1, agreed=0)
    times = {(key, step): 0.2 * number for key in keys for number, step in enumerate(STEPS)}
    return make_view(snapshot), Ui(steps=times, log=LOG[:1])


def arrange(**ui: object) -> tuple[View, Ui]:
    """Before play."""
    return make_view(snapshot_of(arranging())), Ui(log=LOG[:1], **ui)  # type: ignore[arg-type]


VERDICT = Verdict(
    "fair",
    3,
    tuple(AuditedPlayer(name, key_of(name), seat, False) for seat, name in enumerate(("Ana", "Bogdan", "Carmen"))),
    ("Ana", "Carmen"),
    "Bogdan",
    (),
    {"entries": 192, "signatures": 192, "shuffles": 3, "shares": 153, "moves": 94, "reveals": 3},
    Sentence("complete", "Complete: the result is signed by {signed} of {players}.", {"signed": 3, "players": 3}),
    (),
    "finished",
)


def over(**ui: object) -> tuple[View, Ui]:
    """After the third round."""
    ana, bogdan, carmen = (key_of(name) for name in ("Ana", "Bogdan", "Carmen"))
    ending = EndingView("finished", (ana, carmen), bogdan, (), (), 3, 3, 3)
    score = (
        RoundScore(1, "finished", (carmen, ana), bogdan),
        RoundScore(2, "finished", (ana, bogdan), carmen),
        RoundScore(3, "finished", (ana, carmen), bogdan),
    )
    snapshot = with_round(snapshot_of(arranging()), phase=Phase.CLOSED, ending=ending, number=3)
    values: dict[str, object] = {
        "verdict": VERDICT,
        "saved": "2026-05-12-Kitchen-r3-0a1b2c3d.round",
        "log": LOG[:1],
    }
    return make_view(replace(snapshot, score=score)), Ui(**(values | ui))  # type: ignore[arg-type]


def blind(**ui: object) -> tuple[View, Ui]:
    """Only downcards are left."""
    state = record("pile 8c\ndown Ana 9c - 4h\nhand Bogdan Qc Qd Qh\nturn Ana\n")
    return playing(state, **ui)


def many_cards(**ui: object) -> tuple[View, Ui]:
    """A hand of 25 cards."""
    ranks = "3c 3d 3h 3s 4c 4d 4h 5c 5d 6c 6d 6h 6s 7c 7d 8c 8d 9c 9d Jc Jd Qc Qd Kc Ac"
    state = record(f"pile 8h\nhand Ana {ranks}\nup Ana 2c 2d 2h\ndown Ana 9h 9s Tc\nhand Bogdan Kd Kh\nturn Ana\n")
    return playing(state, **ui)


def ten_players(seed: int = 1) -> tuple[View, Ui]:
    """Ten players with two packs, in play, names of all kinds."""
    names = ("Ana", "Bogdan the Magnificent", "李小龙", "Dora", "Emil", "Zoë", "Göran", "Hilde", "Ivo", "O'Neil")
    faces = list(range(104))
    Random(seed).shuffle(faces)
    state = game.deal(RuleSet(), 10, 9, faces)
    keys = tuple(key_of(name) for name in names)
    snapshot = snapshot_of(table_state())
    players = tuple(
        PlayerView(
            keys[number],
            name,
            number == 0,
            number == 0,
            False,
            LinkView("self" if not number else "good", 0.004),
            0,
            "",
            "new",
        )
        for number, name in enumerate(names)
    )
    snapshot = replace(snapshot, players=players, me=keys[0], host=keys[0], acting_host=keys[0])
    snapshot = with_round(
        snapshot,
        state=game.mask(state, 0),
        seats=keys,
        roster=keys,
        names=dict(zip(keys, names, strict=True)),
        my_seat=0,
        phase=Phase.ARRANGE,
        rules=state.rules,
    )
    return make_view(snapshot), Ui(log=LOG)


ASCII = Look(style=Style(ascii=True))


def drawn(scene: tuple[View, Ui], width: int, height: int, rules: RuleSet | None = None) -> list[Row]:
    """The rows of a scene."""
    view, ui = scene
    return draw(view, ui, rules or RuleSet(), 5, width, height)


def as_text(rows: list[Row]) -> str:
    """Rows as a reviewer reads them."""
    return "\n".join("".join(span.text for span in each).rstrip() for each in rows) + "\n"

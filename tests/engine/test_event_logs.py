"""What happens at each move, told exactly: the events and their order (1.16, 3.3), and who is next."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum

import pytest

from engine.cards import card_text, rank_text
from engine.events import Chanced, EldestFound, Event, Flipped, Opened
from engine.game import apply, mask, problems, step, to_declare, with_faces
from engine.moves import Declare, Move, Pass
from engine.record import read
from engine.record.syntax import MoveLine, to_move
from engine.state import NOBODY, NOTHING, GameState, Phase

NAMES = ("Ana", "Bogdan", "Carmen")


def words(state: GameState, event: Event) -> str:
    """An event as ``Name value value``: seats by initials, positions as cards."""

    def shown(name: str, value: object) -> str:
        match value:
            case bool() | None:
                return str(value)
            case Enum():
                return str(value.value)
            case tuple():
                return " ".join(shown(name, each) for each in value) or "-"
            case int() if name in ("seat", "seats", "shithead"):
                return NAMES[value][0] if value >= 0 else "nobody"
            case int() if name in ("position", "positions", "along", "hand", "up"):
                return card_text(state.faces[value], state.packs)
            case int() if name == "rank":
                return rank_text(value)
            case _:
                return str(value)

    told = (shown(each.name, getattr(event, each.name)) for each in fields(event) if each.name != "face")
    return " ".join((type(event).__name__, *told))


def parsed(rules: str, body: str) -> tuple[GameState, list[Move]]:
    """The position of a record and the moves in it, without the answers that a reader puts in."""
    names = " ".join(name for name in NAMES if name in body)
    head = f"shithead-record 1\nrules wikipedia {rules}\nplayers {names}\ndealer {names.split()[-1]}\n"
    record = read(head + body.replace("; ", "\n") + "\n")
    faces = enumerate(record.start.faces)
    place = {card_text(face, record.start.packs): position for position, face in faces}
    return record.start, [to_move(each, place) for each in record.statements if isinstance(each, MoveLine)]


def state_at(state: GameState, moves: list[Move]) -> GameState:
    for move in moves:
        state = apply(state, move)
    return state


def log_of(rules: str, body: str) -> str:
    """The events of all moves, those of one move between bars."""
    state, moves = parsed(rules, body)
    told = []
    while moves or (answer := to_declare(state)) is not None:
        # Answers that the rules force are given behind the moves of the record.
        before = state
        state, events = step(state, moves.pop(0) if moves else answer)
        told.append(", ".join(words(state, event) for event in events))
        assert problems(state) == []
        assert before.eldest in (NOBODY, state.eldest)
        for event in events:
            if isinstance(event, Opened | Flipped | Chanced):
                assert event.face == state.faces[event.position]
    extra = state.extra
    rest = [f"named {len(extra.named)}"] if extra.named else []
    rest += ["anticlockwise"] if state.direction < 0 else []
    return " | ".join(told + rest)


CASES = [
    (
        "",
        "stock 3c 3d 3h; hand Ana 4c 4d; hand Bogdan Jc; turn Ana; Ana plays 4c 4d",
        "Played A 4c 4d hand, Drew A 3c 3d 3h, TurnTo B",
    ),
    (
        "",
        "pile 4h 4s; hand Ana 4c 4d; up Ana 6c; hand Bogdan Jc; turn Ana; Ana plays 4c 4d",
        "Played A 4c 4d hand, Burnt A 4 quartet, TurnTo A",
    ),
    (
        "",
        "pile 4h; stock 5c 5d; hand Ana Tc; hand Bogdan Jc; turn Ana; Ana plays Tc",
        "Played A Tc hand, Burnt A 2 ten, Drew A 5c 5d, TurnTo A",
    ),
    (
        "",
        "pile 4h; hand Ana Tc; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays Tc",
        "Played A Tc hand, Burnt A 2 ten, Out A 1, TurnTo B",
    ),
    (
        "",
        "pile 4h; hand Ana 5c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 5c",
        "Played A 5c hand, Out A 1, TurnTo B",
    ),
    (
        "",
        "pile 4h; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "Played A 5c hand, Out A 1, Over B finished",
    ),
    (
        "",
        "pile 4h Kc; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana picks up",
        "PickedUp A 4h Kc -, TurnTo B",
    ),
    (
        "upcard_pick_up=pile_plus_set",
        "pile Kc; up Ana 5c 5d 6h; hand Bogdan Jc; turn Ana; Ana picks up with 5c 5d",
        "PickedUp A Kc 5c 5d 5c 5d, TurnTo B",
    ),
    (
        "",
        "pile Kc; down Ana 5c 6c -; hand Bogdan Jc; turn Ana; Ana flips 2",
        "FlipStarted A 6c 1, Flipped A 6c False, PickedUp A Kc 6c -, TurnTo B",
    ),
    (
        "",
        "pile 4c; down Ana 5c 6c -; hand Bogdan Jc; turn Ana; Ana flips 2",
        "FlipStarted A 6c 1, Flipped A 6c True, TurnTo B",
    ),
    (
        "",
        "pile 4c; down Ana Tc 6c -; hand Bogdan Jc; turn Ana; Ana flips 1; Ana flips 2",
        (
            "FlipStarted A Tc 0, Flipped A Tc True, Burnt A 2 ten, TurnTo A | FlipStarted A 6c 1, Flipped A 6c "
            "True, Out A 1, Over B finished"
        ),
    ),
    (
        "chance=chance",
        "pile Kc; stock Ac 3c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana chances",
        "ChanceStarted A Ac, Chanced A Ac True, TurnTo B",
    ),
    (
        "chance=chance",
        "pile Kc; stock 4c 3c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana chances",
        "ChanceStarted A 4c, Chanced A 4c False, PickedUp A Kc 4c -, TurnTo B",
    ),
    (
        "chance=chance",
        "pile Kc; stock Tc 3c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana chances",
        "ChanceStarted A Tc, Chanced A Tc True, Burnt A 2 ten, TurnTo A",
    ),
    (
        "jokers=2 joker_power=wild chance=chance",
        "pile Kc; stock X1 3c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana chances; Ana names A",
        "ChanceStarted A X1, Chanced A X1 True, NameAsked A X1 | Named A X1 A, TurnTo B | named 1",
    ),
    (
        "jokers=2 joker_power=wild",
        "pile Kc; down Ana X1 3c -; hand Bogdan Jc; turn Ana; Ana flips 1; Ana names A",
        "FlipStarted A X1 0, Flipped A X1 True, NameAsked A X1 | Named A X1 A, TurnTo B | named 1",
    ),
    (
        "jokers=2 joker_power=wild",
        (
            "pile 4c; hand Ana X1 9c 9d; hand Bogdan Jc Qc; turn Ana; Ana plays 9c X1 as 9; Bogdan picks up; Ana "
            "plays 9d"
        ),
        (
            "Played A 9c X1 hand, Named A X1 9, TurnTo B | PickedUp B 4c 9c X1 -, TurnTo A | Played A 9d hand, "
            "Out A 1, Over B finished"
        ),
    ),
    (
        "jokers=2 joker_power=wild",
        "pile 9c 9d X2 as 9; hand Ana X1 Kd; hand Bogdan Jc Qc; turn Ana; Ana plays X1 as 9",
        "Played A X1 hand, Named A X1 9, Burnt A 4 quartet, TurnTo A",
    ),
    (
        "jokers=2 joker_power=wild transparent=3 transparent_breaks_run=false",
        "pile 9c X2 as 9 3c 9h; hand Ana X1 Kd; hand Bogdan Jc Qc; turn Ana; Ana plays X1 as 9",
        "Played A X1 hand, Named A X1 9, Burnt A 5 quartet, TurnTo A",
    ),
    (
        "transparent=3 transparent_breaks_run=false",
        "pile 9c 9h 3c 9d; hand Ana 9s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 9s",
        "Played A 9s hand, Burnt A 5 quartet, TurnTo A",
    ),
    (
        "transparent=3 transparent_breaks_run=false",
        "pile 9c 9h 9d 3c; hand Ana 9s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 9s",
        "Played A 9s hand, Burnt A 5 quartet, TurnTo A",
    ),
    (
        "transparent=3",
        "pile 9c 9h 9d 3c; hand Ana 9s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 9s",
        "Played A 9s hand, TurnTo B",
    ),
    (
        "transparent=3 transparent_breaks_run=false",
        "pile 9c 9h 9d; hand Ana 3s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 3s",
        "Played A 3s hand, TurnTo B",
    ),
    (
        "transparent=3 transparent_breaks_run=false burn_run=2",
        "pile 9c; hand Ana 3s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 3s",
        "Played A 3s hand, TurnTo B",
    ),
    (
        "burn_run=2",
        "pile 9c; hand Ana 9s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 9s",
        "Played A 9s hand, Burnt A 2 quartet, TurnTo A",
    ),
    (
        "burn_run=2",
        "hand Ana 9s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 9s",
        "Played A 9s hand, TurnTo B",
    ),
    (
        "replay_after_quartet=none",
        "pile 4h 4s; hand Ana 4c 4d 9c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 4c 4d",
        "Played A 4c 4d hand, Burnt A 4 quartet, TurnTo B",
    ),
    (
        "replay_after_quartet=none",
        "pile 4h 4s; hand Ana Tc 9c; hand Bogdan Jc; turn Ana; Ana plays Tc",
        "Played A Tc hand, Burnt A 3 ten, TurnTo A",
    ),
    (
        "skip=8",
        "pile 4h; hand Ana 8c 8d 9c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 8c",
        "Played A 8c hand, Skipped B, TurnTo C",
    ),
    (
        "skip=8",
        "pile 4h; hand Ana 8c 8d 9c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 8c 8d",
        "Played A 8c 8d hand, Skipped B C, TurnTo A",
    ),
    (
        "skip=8 skip_per_card=false",
        "pile 4h; hand Ana 8c 8d 9c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 8c 8d",
        "Played A 8c 8d hand, Skipped B, TurnTo C",
    ),
    (
        "skip=8",
        "pile 4h; hand Ana 8c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 8c",
        "Played A 8c hand, Out A 1, Skipped B, TurnTo C",
    ),
    (
        "skip=8",
        "pile 4h 8h 8s; hand Ana 8c 8d 9c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 8c 8d",
        "Played A 8c 8d hand, Burnt A 5 quartet, TurnTo A",
    ),
    (
        "reverse=9",
        "pile 4h; hand Ana 9c 9d Kd; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 9c",
        "Played A 9c hand, Reversed A -1, TurnTo C | anticlockwise",
    ),
    (
        "reverse=9",
        "pile 4h; hand Ana 9c 9d Kd; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 9c 9d",
        "Played A 9c 9d hand, TurnTo B",
    ),
    (
        "reverse=9 reverse_count=once",
        "pile 4h; hand Ana 9c 9d Kd; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 9c 9d",
        "Played A 9c 9d hand, Reversed A -1, TurnTo C | anticlockwise",
    ),
    (
        "reverse=9 skip=9",
        (
            "pile 4h; hand Ana 9c 9d Kd; hand Bogdan Jc; hand Carmen 3c; direction anticlockwise; turn Ana; Ana "
            "plays 9c"
        ),
        "Played A 9c hand, Reversed A 1, Skipped B, TurnTo C",
    ),
    (
        "reverse=9",
        "pile 4h; hand Ana 9c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 9c",
        "Played A 9c hand, Out A 1, Reversed A -1, TurnTo C | anticlockwise",
    ),
    (
        "again=6",
        "pile 4h; hand Ana 6c 9d Kd; hand Bogdan Jc; turn Ana; Ana plays 6c",
        "Played A 6c hand, TurnTo A",
    ),
    (
        "again=6",
        "pile 4h; hand Ana 6c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana plays 6c",
        "Played A 6c hand, Out A 1, TurnTo B",
    ),
    (
        "draw_follow_up=true",
        "pile 4c; stock 5d 8c 5h; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana plays 5c; Ana plays 5d; Ana done",
        (
            "Played A 5c hand, Drew A 5d 8c 5h, FollowUpOpen A 5 | Played A 5d hand, FollowUpOpen A 5 | "
            "FollowUpDone A, TurnTo B"
        ),
    ),
    (
        "draw_follow_up=true skip=5",
        (
            "pile 4c; stock 5d 5h 8c; hand Ana 5c 6c; hand Bogdan Jc; hand Carmen Qc; turn Ana; Ana plays 5c; Ana"
            " plays 5d; Ana done"
        ),
        (
            "Played A 5c hand, Drew A 5d 5h, FollowUpOpen A 5 | Played A 5d hand, Drew A 8c, FollowUpOpen A 5 | "
            "FollowUpDone A, Skipped B C, TurnTo A"
        ),
    ),
    (
        "draw_follow_up=true",
        "pile 5s 5h; stock 5d 8c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana plays 5c; Ana plays 5d",
        "Played A 5c hand, Drew A 5d 8c, FollowUpOpen A 5 | Played A 5d hand, Burnt A 4 quartet, TurnTo A",
    ),
    (
        "draw_follow_up=true again=5",
        "pile 4c; stock 5d 8c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "Played A 5c hand, Drew A 5d 8c, TurnTo A",
    ),
    (
        "draw_follow_up=true reverse=5 jokers=2 joker_power=wild",
        (
            "pile 4c X1 as 4; stock 5d 8c; hand Ana 5c; hand Bogdan Jc; hand Carmen Qc; turn Ana; Ana plays 5c; "
            "Ana leaves"
        ),
        (
            "Played A 5c hand, Drew A 5d 8c, FollowUpOpen A 5 | SeatLeft A, Reversed A -1, TurnTo C | named 1 | "
            "anticlockwise"
        ),
    ),
    (
        "draw_follow_up=true turn_limit=1",
        "pile 4c; stock 5d 8c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "Played A 5c hand, Drew A 5d 8c, Over nobody stalled",
    ),
    (
        "turn_limit=1 jokers=2 joker_power=wild turn_limit_result=most_cards",
        "pile 4c X1 as 4; hand Ana 5c 6c; hand Bogdan Jc Qc; turn Ana; Ana plays 5c",
        "Played A 5c hand, Over B stalled | named 1",
    ),
    (
        "turn_limit=1 turn_limit_result=most_cards",
        "pile 4c; hand Ana 5c 6c 7c; hand Bogdan Jc Qc; turn Ana; Ana plays 5c",
        "Played A 5c hand, Over A stalled",
    ),
    (
        "combine_last_hand=true",
        "pile 4c; hand Ana 5c; up Ana 5d 5h 9c; hand Bogdan Jc Qc; turn Ana; Ana plays 5c 5h",
        "Played A 5c 5h hand, TurnTo B",
    ),
    (
        "jokers=2 joker_power=wild combine_last_hand=true",
        "pile 4c; hand Ana X1; up Ana X2 9c; hand Bogdan Jc Qc; turn Ana; Ana plays X1 9c X2 as 9",
        "Played A X1 9c X2 hand, Named A X1 X2 9, Out A 1, Over B finished | named 2",
    ),
    (
        "",
        (
            "hand Ana 3c; up Ana 6c; hand Bogdan Jc; up Bogdan 3d; phase arrange; Ana ready; Ana unready; Ana "
            "swaps 3c for 6c; Bogdan ready; Ana ready"
        ),
        (
            "SeatReady A True | SeatReady A False | Swapped A 3c 6c | SeatReady B True | SeatReady A True, "
            "EldestFound B 3 upcard, TurnTo B"
        ),
    ),
    (
        "",
        "hand Ana 4c; up Ana 6c; hand Bogdan 4d; up Bogdan 7d; phase arrange; Ana ready; Bogdan ready",
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Passed B 3, Asked A 4 | "
            "Declared A 4 4c, EldestFound A 4 hand, TurnTo A"
        ),
    ),
    (
        "",
        "hand Ana 5c; up Ana 4c; hand Bogdan 3d; up Bogdan 7d; phase arrange; Ana ready; Bogdan ready",
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Declared B 3 3d, "
            "EldestFound B 3 hand, TurnTo B"
        ),
    ),
    (
        "",
        (
            "hand Ana 5c; up Ana 4c; hand Bogdan 3d; up Bogdan 7d; hand Carmen 3h; phase arrange; Carmen ready; "
            "Bogdan leaves; Ana ready"
        ),
        (
            "SeatReady C True | SeatLeft B | SeatReady A True, Asked A 3 | Passed A 3, Asked C 3 | Declared C 3 "
            "3h, EldestFound C 3 hand, TurnTo C"
        ),
    ),
    (
        "",
        (
            "hand Ana 5c; hand Bogdan 3d; hand Carmen 3h; phase arrange; Ana ready; Bogdan ready; Carmen ready; "
            "Ana passes; Bogdan leaves"
        ),
        (
            "SeatReady A True | SeatReady B True | SeatReady C True, Asked A 3 | Passed A 3, Asked B 3 | SeatLeft"
            " B, Asked C 3 | Declared C 3 3h, EldestFound C 3 hand, TurnTo C"
        ),
    ),
    (
        "start=dealer_left",
        "hand Ana 5c; hand Bogdan 3d; hand Carmen 3h; phase arrange; Ana leaves; Bogdan ready; Carmen ready",
        "SeatLeft A | SeatReady B True | SeatReady C True, EldestFound B ? seat, TurnTo B",
    ),
    (
        "start=hand_lowest",
        (
            "hand Ana 3c; up Ana 9c; hand Bogdan 5d; up Bogdan 3d; phase arrange; Bogdan swaps 5d for 3d; Ana "
            "swaps 3c for 9c; Ana ready; Bogdan ready"
        ),
        (
            "Swapped B 5d 3d | Swapped A 3c 9c | SeatReady A True | SeatReady B True, EldestFound B 3 hand, "
            "TurnTo B"
        ),
    ),
    (
        "start=hand_lowest start_tie=most_copies",
        "hand Ana 3c 9c; hand Bogdan 3d 3h; phase arrange; Ana ready; Bogdan ready",
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Declared A 3 3c, Asked A 3 | Passed A 3, Asked B 3 "
            "| Declared B 3 3d, Asked B 3 | Declared B 3 3h, EldestFound B 3 hand, TurnTo B"
        ),
    ),
    (
        "start=hand_lowest start_tie=most_copies",
        "hand Ana 3c 9c; hand Bogdan 3d 8h; phase arrange; Ana ready; Bogdan ready",
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Declared A 3 3c, Asked A 3 | Passed A 3, Asked B 3 "
            "| Declared B 3 3d, Asked B 3 | Passed B 3, EldestFound A 3 hand, TurnTo A"
        ),
    ),
    (
        "start=hand_lowest start_tie=most_copies",
        (
            "hand Ana 5c 9c; hand Bogdan 4d 4h; hand Carmen 4c 5h; phase arrange; Ana ready; Bogdan ready; Carmen"
            " ready"
        ),
        (
            "SeatReady A True | SeatReady B True | SeatReady C True, Asked A 3 | Passed A 3, Asked B 3 | Passed B"
            " 3, Asked C 3 | Passed C 3, Asked A 4 | Passed A 4, Asked B 4 | Declared B 4 4d, Asked B 4 | "
            "Declared B 4 4h, Asked C 4 | Declared C 4 4c, Asked C 4 | Passed C 4, EldestFound B 4 hand, TurnTo B"
        ),
    ),
    (
        "start=hand_lowest start_tie=suit/shdc",
        (
            "hand Ana 3c 9c; hand Bogdan 3d 3h; hand Carmen 3s 5h; phase arrange; Ana ready; Bogdan ready; Carmen"
            " ready"
        ),
        (
            "SeatReady A True | SeatReady B True | SeatReady C True, Asked A 3 | Declared A 3 3c, Asked B 3 | "
            "Declared B 3 3h, Asked C 3 | Declared C 3 3s, EldestFound C 3 hand, TurnTo C"
        ),
    ),
    (
        "start=hand_lowest start_tie=suit/dhsc",
        (
            "hand Ana 3c 9c; hand Bogdan 3d 3h; hand Carmen 3s 5h; phase arrange; Ana ready; Bogdan ready; Carmen"
            " ready"
        ),
        (
            "SeatReady A True | SeatReady B True | SeatReady C True, Asked A 3 | Declared A 3 3c, Asked B 3 | "
            "Declared B 3 3d, Asked C 3 | Declared C 3 3s, EldestFound B 3 hand, TurnTo B"
        ),
    ),
    (
        "start=hand_lowest jokers=2",
        "hand Ana X1; hand Bogdan X2; phase arrange; Ana ready; Bogdan ready",
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Passed B 3, Asked A 4 | "
            "Passed A 4, Asked B 4 | Passed B 4, Asked A 5 | Passed A 5, Asked B 5 | Passed B 5, Asked A 6 | "
            "Passed A 6, Asked B 6 | Passed B 6, Asked A 7 | Passed A 7, Asked B 7 | Passed B 7, Asked A 8 | "
            "Passed A 8, Asked B 8 | Passed B 8, Asked A 9 | Passed A 9, Asked B 9 | Passed B 9, Asked A T | "
            "Passed A T, Asked B T | Passed B T, Asked A J | Passed A J, Asked B J | Passed B J, Asked A Q | "
            "Passed A Q, Asked B Q | Passed B Q, Asked A K | Passed A K, Asked B K | Passed B K, Asked A A | "
            "Passed A A, Asked B A | Passed B A, Asked A 2 | Passed A 2, Asked B 2 | Passed B 2, Asked A X | "
            "Declared A X X1, EldestFound A X hand, TurnTo A"
        ),
    ),
    (
        "start=hand_lowest start_tie=suit/dhsc jokers=2",
        "hand Ana X1; hand Bogdan X2; phase arrange; Ana ready; Bogdan ready",
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Passed B 3, Asked A 4 | "
            "Passed A 4, Asked B 4 | Passed B 4, Asked A 5 | Passed A 5, Asked B 5 | Passed B 5, Asked A 6 | "
            "Passed A 6, Asked B 6 | Passed B 6, Asked A 7 | Passed A 7, Asked B 7 | Passed B 7, Asked A 8 | "
            "Passed A 8, Asked B 8 | Passed B 8, Asked A 9 | Passed A 9, Asked B 9 | Passed B 9, Asked A T | "
            "Passed A T, Asked B T | Passed B T, Asked A J | Passed A J, Asked B J | Passed B J, Asked A Q | "
            "Passed A Q, Asked B Q | Passed B Q, Asked A K | Passed A K, Asked B K | Passed B K, Asked A A | "
            "Passed A A, Asked B A | Passed B A, Asked A 2 | Passed A 2, Asked B 2 | Passed B 2, Asked A X | "
            "Declared A X X1, Asked B X | Declared B X X2, EldestFound A X hand, TurnTo A"
        ),
    ),
    (
        "start=hand_lowest",
        "hand Ana 2c; hand Bogdan Ad; phase arrange; Ana ready; Bogdan ready",
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Passed B 3, Asked A 4 | "
            "Passed A 4, Asked B 4 | Passed B 4, Asked A 5 | Passed A 5, Asked B 5 | Passed B 5, Asked A 6 | "
            "Passed A 6, Asked B 6 | Passed B 6, Asked A 7 | Passed A 7, Asked B 7 | Passed B 7, Asked A 8 | "
            "Passed A 8, Asked B 8 | Passed B 8, Asked A 9 | Passed A 9, Asked B 9 | Passed B 9, Asked A T | "
            "Passed A T, Asked B T | Passed B T, Asked A J | Passed A J, Asked B J | Passed B J, Asked A Q | "
            "Passed A Q, Asked B Q | Passed B Q, Asked A K | Passed A K, Asked B K | Passed B K, Asked A A | "
            "Passed A A, Asked B A | Declared B A Ad, EldestFound B A hand, TurnTo B"
        ),
    ),
    (
        "start=hand_lowest lead_must_be_start_rank=true",
        "hand Ana 4c 9c; hand Bogdan 5d; phase arrange; Ana ready; Bogdan ready; Ana plays 4c",
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Passed B 3, Asked A 4 | "
            "Declared A 4 4c, EldestFound A 4 hand, TurnTo A | Played A 4c hand, TurnTo B"
        ),
    ),
    (
        "arrange=choose deal=3/2/2",
        (
            "hand Ana 4c 9c 4d Kc; hand Bogdan Jc Qc Qd Qh; phase arrange; Ana chooses 4c 9c; Bogdan chooses Qc "
            "Qd; Bogdan ready; Ana chooses 9c Kc; Ana ready"
        ),
        (
            "Chose A 4c 9c | Chose B Qc Qd | SeatReady B True | Chose A 9c Kc | SeatReady A True, Opened 9c, "
            "Opened Qc, Opened Qd, Opened Kc, Asked A 3 | Passed A 3, Asked B 3 | Passed B 3, Asked A 4 | "
            "Declared A 4 4c, EldestFound A 4 hand, TurnTo A"
        ),
    ),
    (
        "arrange=choose deal=3/2/2",
        (
            "hand Ana 4c 9c 5d Kc; hand Bogdan 4d Qc Qd Qh; phase arrange; Ana chooses 5d 9c; Bogdan chooses 4d "
            "Qd; Bogdan ready; Ana ready"
        ),
        (
            "Chose A 5d 9c | Chose B 4d Qd | SeatReady B True | SeatReady A True, Opened 4d, Opened 9c, Opened "
            "5d, Opened Qd, Asked A 3 | Passed A 3, Asked B 3 | Passed B 3, EldestFound B 4 upcard, TurnTo B"
        ),
    ),
    (
        "",
        (
            "pile 4h; hand Ana 5c; up Ana 6c; down Ana 7c - 8c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Ana "
            "leaves"
        ),
        "SeatLeft A, TurnTo B",
    ),
    (
        "",
        "pile 4h; hand Ana 5c; hand Bogdan Jc; hand Carmen 3c; turn Ana; Bogdan leaves; Carmen leaves",
        "SeatLeft B | SeatLeft C, Over C forfeit",
    ),
    (
        "jokers=2 joker_power=wild chance=chance",
        (
            "pile Kc X2 as K; stock X1 3c; hand Ana 5c; hand Bogdan Jc; hand Carmen Qc; turn Ana; Ana chances; "
            "Ana leaves; = stock 3c"
        ),
        "ChanceStarted A X1, Chanced A X1 True, NameAsked A X1 | SeatLeft A, TurnTo B | named 1",
    ),
    (
        "jokers=2 joker_power=wild",
        "pile Kc; down Ana X1 3c -; hand Bogdan Jc; hand Carmen Qc; turn Ana; Ana flips 1; Ana leaves",
        "FlipStarted A X1 0, Flipped A X1 True, NameAsked A X1 | SeatLeft A, TurnTo B",
    ),
    (
        "arrange=choose deal=3/2/2",
        (
            "hand Ana 2c 9c 5d Kc; hand Bogdan 4d Qc Qd Qh; phase arrange; Ana chooses 2c 9c; Bogdan chooses 4d "
            "Qd; Bogdan ready; Ana ready"
        ),
        (
            "Chose A 2c 9c | Chose B 4d Qd | SeatReady B True | SeatReady A True, Opened 2c, Opened 4d, Opened "
            "9c, Opened Qd, Asked A 3 | Passed A 3, Asked B 3 | Passed B 3, EldestFound B 4 upcard, TurnTo B"
        ),
    ),
    (
        "start_tie=most_copies",
        "hand Ana 3c; hand Bogdan 3d 3h; phase arrange; Ana ready; Bogdan ready",
        "SeatReady A True | SeatReady B True, Asked A 3 | Declared A 3 3c, EldestFound A 3 hand, TurnTo A",
    ),
    (
        "",
        "hand Ana 3c; hand Bogdan 3d; hand Carmen 3h; phase arrange; Ana leaves; Bogdan ready; Carmen ready",
        (
            "SeatLeft A | SeatReady B True | SeatReady C True, Asked B 3 | Declared B 3 3d, EldestFound B 3 hand,"
            " TurnTo B"
        ),
    ),
    (
        "start=hand_lowest start_tie=most_copies",
        (
            "hand Ana 4c Jc; up Ana Kc; hand Bogdan 4d 4h; phase arrange; Ana swaps Jc for Kc; Ana ready; Bogdan "
            "ready"
        ),
        (
            "Swapped A Jc Kc | SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Passed B "
            "3, Asked A 4 | Declared A 4 4c, Asked B 4 | Declared B 4 4d, Asked B 4 | Declared B 4 4h, "
            "EldestFound B 4 hand, TurnTo B"
        ),
    ),
    (
        "start=hand_lowest start_tie=suit/dhcs",
        ("hand Ana 4c 9c; up Ana 3d; hand Bogdan 3h; phase arrange; Ana swaps 4c for 3d; Ana ready; Bogdan ready"),
        (
            "Swapped A 4c 3d | SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Declared "
            "B 3 3h, EldestFound A 3 hand, TurnTo A"
        ),
    ),
    (
        "start=hand_lowest start_tie=suit/dhcs",
        (
            "hand Ana 4c 9c 3s; up Ana 3d; hand Bogdan 3h; phase arrange; Ana swaps 4c for 3d; Ana ready; Bogdan "
            "ready"
        ),
        (
            "Swapped A 4c 3d | SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Declared "
            "B 3 3h, EldestFound A 3 hand, TurnTo A"
        ),
    ),
    (
        "start=hand_lowest start_tie=most_copies",
        (
            "hand Ana 4c 9c; up Ana 3d; hand Bogdan 3h 3s; phase arrange; Ana swaps 4c for 3d; Ana ready; Bogdan "
            "ready"
        ),
        (
            "Swapped A 4c 3d | SeatReady A True | SeatReady B True, Asked A 3 | Passed A 3, Asked B 3 | Declared "
            "B 3 3h, Asked B 3 | Declared B 3 3s, EldestFound B 3 hand, TurnTo B"
        ),
    ),
    (
        "",
        "pile 4c; up Ana 5c 6c; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "Played A 5c upcards, TurnTo B",
    ),
    (
        "jokers=2 joker_power=wild",
        "pile 4c X1 as Q; down Ana Ac Kc -; hand Bogdan Jc; turn Ana; Ana flips 1",
        "FlipStarted A Ac 0, Flipped A Ac True, TurnTo B | named 1",
    ),
    (
        "skip=8",
        "pile 4c; down Ana 8c Kc -; hand Bogdan Jc; hand Carmen Qc; turn Ana; Ana flips 1",
        "FlipStarted A 8c 0, Flipped A 8c True, Skipped B, TurnTo C",
    ),
    (
        "reverse=8",
        "pile 4c; down Ana 8c Kc -; hand Bogdan Jc; hand Carmen Qc; turn Ana; Ana flips 1",
        "FlipStarted A 8c 0, Flipped A 8c True, Reversed A -1, TurnTo C | anticlockwise",
    ),
    (
        "skip=8",
        (
            "pile 4c; stock 8c 3c; hand Ana 9c; hand Bogdan Jc; hand Carmen Qc; turn Bogdan; Bogdan picks up; "
            "Carmen plays Qc"
        ),
        "PickedUp B 4c -, TurnTo C | Played C Qc hand, Drew C 8c 3c, TurnTo A",
    ),
    (
        "skip=8 reverse=8",
        "pile 4c; hand Ana 8c; hand Bogdan Jc; turn Ana; Ana plays 8c",
        "Played A 8c hand, Out A 1, Over B finished",
    ),
    (
        "",
        "pile 4c; stock 3d; hand Ana 5c 6c 7c 9c; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "Played A 5c hand, TurnTo B",
    ),
    (
        "",
        "pile 4c; stock 3d; hand Ana 5c 6c 7c 9c 9d; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "Played A 5c hand, TurnTo B",
    ),
    (
        "draw_follow_up=true refill_to=2",
        (
            "pile 4c; stock 5d 5h 8c 9h; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana plays 5c; Ana plays 5d; Ana "
            "plays 5h; Ana done"
        ),
        (
            "Played A 5c hand, Drew A 5d 5h, FollowUpOpen A 5 | Played A 5d hand, Drew A 8c, FollowUpOpen A 5 | "
            "Played A 5h hand, Drew A 9h, FollowUpOpen A 5 | FollowUpDone A, TurnTo B"
        ),
    ),
    (
        "deal=0/3/3",
        "pile 4c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "Played A 5c hand, Out A 1, Over B finished",
    ),
    (
        "deal=0/3/3",
        "pile 4c; hand Ana 5c 6c; hand Bogdan Jc; turn Ana; Ana plays 5c",
        "Played A 5c hand, TurnTo B",
    ),
    (
        "jokers=2 joker_power=wild",
        "pile 4c 5c 6c X2 as 7; hand Ana 9c Kc; hand Bogdan Jc; turn Ana; Ana plays 9c",
        "Played A 9c hand, TurnTo B | named 1",
    ),
    (
        "jokers=2 joker_power=wild draw_follow_up=true",
        "pile 4c X2 as 4; stock 5d 8c; hand Ana 5c; hand Bogdan Jc; turn Ana; Ana plays 5c; Ana done",
        "Played A 5c hand, Drew A 5d 8c, FollowUpOpen A 5 | FollowUpDone A, TurnTo B | named 1",
    ),
    (
        "draw_follow_up=true reverse=5",
        (
            "pile 4c; stock 5d 8c; hand Ana 5c; hand Bogdan Jc; hand Carmen Qc; turn Ana; Ana plays 5c; Ana done;"
            " Carmen picks up"
        ),
        (
            "Played A 5c hand, Drew A 5d 8c, FollowUpOpen A 5 | FollowUpDone A, Reversed A -1, TurnTo C | "
            "PickedUp C 4c 5c -, TurnTo B | anticlockwise"
        ),
    ),
    (
        "burn_run=2",
        "pile 8c 9c; hand Ana 9s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 9s",
        "Played A 9s hand, Burnt A 3 quartet, TurnTo A",
    ),
    (
        "",
        "pile 3c 3d 5h 9c 9d 9h; hand Ana 9s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 9s",
        "Played A 9s hand, Burnt A 7 quartet, TurnTo A",
    ),
    (
        "",
        "pile 9c 9d 3h 9h; hand Ana 9s Kd; hand Bogdan Jc Qc; turn Ana; Ana plays 9s",
        "Played A 9s hand, TurnTo B",
    ),
    (
        "",
        "hand Ana 5c; hand Bogdan 3d; phase arrange; Ana ready; Bogdan ready; = phase declare; Ana leaves",
        "SeatReady A True | SeatReady B True, Asked A 3 | SeatLeft A, Over A forfeit",
    ),
    (
        "",
        (
            "hand Ana 3c; up Ana 6c; hand Bogdan 9c; phase arrange; Ana ready; Bogdan ready; Ana declares 3c; Ana"
            " plays 3c; Bogdan picks up"
        ),
        (
            "SeatReady A True | SeatReady B True, Asked A 3 | Declared A 3 3c, EldestFound A 3 hand, TurnTo A | "
            "Played A 3c hand, TurnTo B | PickedUp B 3c -, TurnTo A"
        ),
    ),
]
"""Rules, position and moves, events."""


@pytest.mark.parametrize(("rules", "body", "events"), CASES)
def test_exactly_this_happens(rules: str, body: str, events: str) -> None:
    assert log_of(rules, body) == events


def test_false_passes_of_all_let_the_first_seat_lead() -> None:
    """Nobody can tell before the hands are open; the round goes on somehow."""
    body = "hand Ana 3c; hand Bogdan 4d; hand Carmen 5h; phase arrange; Bogdan leaves; Ana ready; Carmen ready"
    start = state_at(*parsed("lead_must_be_start_rank=true", body))
    state, told = mask(start, None), []
    while state.phase is Phase.DECLARE:
        state, events = step(state, Pass(state.turn))
        told.append(", ".join(words(state, event) for event in events))
    assert told[-1] == "Passed C 2, EldestFound A ? seat, TurnTo A"
    assert len(told) == 26
    assert [event.rank for event in events if isinstance(event, EldestFound)] == [-1]
    assert state.extra == NOTHING


def test_an_answer_that_does_not_depend_on_what_is_hidden_is_known_to_all() -> None:
    body = "hand Ana 3c 9c 4d; up Ana 8c; hand Bogdan 3d; phase arrange; Ana ready; Bogdan ready"
    state = state_at(*parsed("", body))
    hidden = mask(state, None)
    three, nine = state.hands[0][0], state.hands[0][1]
    assert to_declare(hidden) is None
    assert to_declare(with_faces(hidden, {three: state.faces[three]})) == Declare(0, three)
    assert to_declare(with_faces(hidden, {nine: state.faces[nine]})) is None
    most = state_at(*parsed("start=hand_lowest start_tie=suit/dhcs", body))
    assert to_declare(with_faces(mask(most, None), {three: most.faces[three]})) is None
    assert to_declare(most) == Declare(0, three)

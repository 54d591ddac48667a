"""A position as a drawing in plain text, and as a value for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.cards import card_text, rank_text
from engine.record.reader import Moment, Record
from engine.record.syntax import EMPTY, direction_text, pile_texts
from engine.state import NOBODY, GameState


def draw(record: Record, moment: Moment) -> str:
    """The position at ``moment`` as lines of text: a heading, the table, one line a player; no line end at
    the end.
    """
    state = moment.state
    width = max(map(len, record.players))
    lines = [moment.text or "start", *_table(state)]
    for seat, name in enumerate(record.players):
        mark = ">" if seat == state.turn else " "
        zones = (
            f"{word} {' '.join(texts)}"
            for word, texts in (
                ("hand", _texts(state, state.hands[seat])),
                ("up", _texts(state, state.ups[seat])),
                ("down", _slots(state, seat)),
            )
            if any(text != EMPTY for text in texts)
        )
        held = " | ".join(zones) or ("left" if seat in state.left else "out")
        lines.append(f"{mark} {name:<{width}}  {held}")
    return "\n".join(lines)


def as_dict(record: Record, moment: Moment) -> dict[str, object]:
    """The position at ``moment`` as one JSON object: texts, numbers, lists and objects only, absent is
    None.
    """
    state = moment.state
    return {
        "line": moment.line or None,
        "move": moment.text or None,
        "phase": state.phase.value,
        "turn": _name(record, state.turn),
        "eldest": _name(record, state.eldest),
        "direction": direction_text(state.direction),
        "players": [
            {
                "name": name,
                "hand": _texts(state, state.hands[seat]),
                "up": _texts(state, state.ups[seat]),
                "down": [None if text == EMPTY else text for text in _slots(state, seat)],
            }
            for seat, name in enumerate(record.players)
        ],
        "stock": _texts(state, state.stock),
        "pile": _texts(state, state.pile),
        "named": {card: rank_text(rank) for card, rank in _named(state) if rank >= 0},
        "burnt": _texts(state, state.burnt),
        "aside": _texts(state, state.aside),
        "out": [record.players[seat] for seat in state.finish_order],
        "left": [record.players[seat] for seat in state.left],
        "result": state.result.value,
        "shithead": _name(record, state.shithead),
        "actions": state.action_count,
    }


def _table(state: GameState) -> list[str]:
    return [
        f"  stock {' '.join(_texts(state, state.stock)) or EMPTY}",
        f"  pile {' '.join(pile_texts(_named(state))) or EMPTY}",
        f"  burnt {len(state.burnt)}, {state.phase.value}, {direction_text(state.direction)}",
    ]


def _named(state: GameState) -> Iterator[tuple[str, int]]:
    """The cards of the wastepile, each with the rank that it was named, -1 for most."""
    named = dict(state.extra.named)
    return zip(_texts(state, state.pile), (named.get(position, -1) for position in state.pile), strict=True)


def _name(record: Record, seat: int) -> str | None:
    return None if seat == NOBODY else record.players[seat]


def _texts(state: GameState, positions: Iterable[int]) -> list[str]:
    return [card_text(state.faces[position], state.packs) for position in positions]


def _slots(state: GameState, seat: int) -> list[str]:
    return [
        EMPTY if position < 0 else card_text(state.faces[position], state.packs) for position in state.downs[seat]
    ]

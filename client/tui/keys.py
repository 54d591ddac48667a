"""The keys: one table, from which what a key does, the bottom line, and the help page all come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from client.tui.state import Ui
from client.view import Stage, View

RANK_KEYS: Final = {**{character: character for character in "23456789"}, "0": "T", "t": "T"} | {
    character: character.upper() for character in "jqkax"
}
"""Key → rank character; ``x`` is a joker."""

MIN_WIDTH: Final = 60
MIN_HEIGHT: Final = 16
"""Of a terminal on which a table of ten players, a hand and what can be done with it can be shown."""


@dataclass(frozen=True, slots=True)
class Key:
    """What some keys do. ``keys``: names as `client.tui.terminal` gives them; ``label``: how they are written;
    ``where``: contexts of `context_of`; ``short``: words for the bottom line, empty for none; ``long``: for
    the help page; ``host``: only for whom the table's doings are up to.
    """

    keys: tuple[str, ...]
    label: str
    action: str
    where: frozenset[str]
    short: str
    long: str
    host: bool = False


_TABLE = frozenset({"play"})
_BLIND = frozenset({"blind"})
_CARDS = frozenset({"play", "blind"})
_ARRANGE = frozenset({"arrange"})
_REST = frozenset({"lobby", "over"})
_ANY = frozenset({"play", "blind", "arrange", "lobby", "over", "deal", "offer"})

KEYS: Final = (
    Key(
        tuple(RANK_KEYS),
        "2-9 0 J Q K A",
        "rank",
        _TABLE,
        "pick, again adds",
        "pick a card of that rank; again: one more",
    ),
    Key(
        tuple(RANK_KEYS),
        "2-9 0 J Q K A",
        "rank",
        _ARRANGE,
        "exchange",
        "pick a card, then the one to exchange it for",
    ),
    Key(("1", "2", "3", "4", "5", "6", "7", "8", "9"), "1 2 3", "slot", _BLIND, "choose", "choose a downcard"),
    Key(("enter",), "Enter", "enter", _CARDS, "play", "play what is picked"),
    Key(("enter",), "Enter", "enter", _ARRANGE, "ready", "done with exchanging; it can't be taken back"),
    Key(("enter", "s"), "Enter", "enter", _REST, "start", "start a round with everybody here", host=True),
    Key(("enter", "y"), "Enter", "yes", frozenset({"offer"}), "play", "yes, I play this round"),
    Key(("n",), "N", "no", frozenset({"offer"}), "not", "no, not this one"),
    Key(("p",), "P", "take", _CARDS, "take pile", "take the pile into your hand"),
    Key(("escape",), "Esc", "clear", _CARDS | _ARRANGE, "clear", "pick nothing"),
    Key(("left",), "arrows", "left", _CARDS | _ARRANGE, "", "go to a card"),
    Key(("right",), "", "right", _CARDS | _ARRANGE, "", ""),
    Key((" ",), "Space", "space", _CARDS | _ARRANGE, "", "pick exactly the card with the mark"),
    Key(("o",), "O", "order", _CARDS | _ARRANGE, "", "sort the hand by rank or by suit"),
    Key(("g",), "G", "void", _ANY, "", "give the round up when somebody is overdue"),
    Key(("u",), "U", "choices", _CARDS | _ARRANGE, "", "all that you can do now, as a list"),
    Key(("z",), "Z", "away", _ANY, "", "away: my program plays for me; again: I am back"),
    Key(("+",), "+", "admit", _ANY, "", "let in who is at the door", host=True),
    Key(("-",), "-", "refuse", _ANY, "", "turn away who is at the door", host=True),
    Key(("b",), "B", "bot", _REST, "bot", "seat a bot", host=True),
    Key(("up",), "up, down", "up", _REST, "", "choose a player", host=True),
    Key(("down",), "", "down", _REST, "", "", host=True),
    Key(("d",), "D", "kick", _REST, "", "send the chosen player away", host=True),
    Key(("v",), "V", "replay", frozenset({"over"}), "replay", "watch the round again, with all cards open"),
    Key(("f",), "F", "fair", _ANY, "", "was it fair: what was proved, and how"),
    Key(("r",), "R", "rules", _ANY, "rules", "how to play, and the rules in force"),
    Key(("c",), "C", "chat", _ANY, "talk", "say something to the table; up and down: phrases"),
    Key(("l",), "L", "log", _ANY, "", "everything that has happened, and the talk"),
    Key(("m",), "M", "mute", _ANY, "", "hide what somebody says, or show it again"),
    Key(("i",), "I", "network", _ANY, "", "links and addresses"),
    Key(("w",), "W", "evening", _ANY, "", "the evening's rounds"),
    Key(("e",), "E", "settings", _ANY, "", "name, suits, colours, sounds, motion, mouse, the guide"),
    Key(("?", "h"), "?", "help", _ANY, "help", "these keys"),
    Key(("ctrl-c",), "Ctrl-C", "quit", _ANY, "leave", "leave the table; in a round also: stop, and keep the seat"),
)
"""In the order of the bottom line and of the help page."""


PLAYS: Final = frozenset(
    {"rank", "slot", "enter", "yes", "no", "take", "clear", "left", "right", "space", "up", "down"}
)
"""Actions that a bot in my seat does for me, or that only serve those."""


_NAMES: Final = {
    " ": "Space",
    "escape": "Esc",
    "pageup": "Page up",
    "pagedown": "Page down",
}
"""Keys that are written otherwise than they are called."""

NO_KEYS: Final = frozenset({"scroll-up", "scroll-down"})
"""What the mouse does by the way: where it means nothing there is nothing to say."""


def key_name(key: str) -> str:
    """A key as it is written: ``Space``, ``Tab``, ``Ctrl-Z``, ``F5``; a character as it is."""
    if len(key) == 1:
        return _NAMES.get(key, key)
    return _NAMES.get(key) or "-".join(part.capitalize() for part in key.split("-"))


def fits(width: int, height: int) -> bool:
    """Whether a table can be shown on so many columns and lines; where not, no key may act on what is not seen."""
    return width >= MIN_WIDTH and height >= MIN_HEIGHT


GAME: Final = frozenset({"play", "blind", "arrange"})
"""Contexts in which my program plays for me while I am away."""


def context_of(view: View) -> str:
    """Which keys hold: ``play``, ``blind``, ``arrange``, ``lobby``, ``offer``, ``deal`` or ``over``."""
    from engine.state import Zone

    match view.stage:
        case _ if view.asked:
            return "offer"
        case Stage.PLAY | Stage.OPENING | Stage.START if view.zone is Zone.DOWNCARDS:
            return "blind"
        case Stage.PLAY | Stage.OPENING | Stage.START:
            return "play"
        case Stage.ARRANGE:
            return "arrange"
        case Stage.OFFER | Stage.DEALING:
            return "deal"
        case Stage.ENDING | Stage.OVER:
            return "over"
        case _:
            return "lobby"


def seats_bots(view: View, ui: Ui) -> bool:
    """Whether I could seat a bot here: from this program, and where a seat is free."""
    return ui.can_seat_bots and not (ui.seats and len(view.players) >= ui.seats)


def find(view: View, key: str) -> Key | None:
    """The entry of the table that a key means now, for anybody: whether only the host may is another matter."""
    where = context_of(view)
    return next((each for each in KEYS if where in each.where and key in each.keys), None)


def shown(view: View, ui: Ui) -> Iterable[Key]:
    """The entries for the bottom line."""
    where = context_of(view)
    # Whoever is ready, out or looking on has nothing to pick; being ready is final (R13).
    away = ui.is_away and where in GAME
    idle = (
        away or ui.is_auto or (view.zone is None and where == "play") or (where == "arrange" and not view.my_turn)
    )
    takes = view.my_turn and any(choice.kind == "pick_up" for choice in view.choices)
    for each in KEYS:
        if each.short and where in each.where and (view.i_host or not each.host):
            if (each.action == "bot" and not seats_bots(view, ui)) or (idle and each.action in PLAYS):
                continue
            if each.action == "take" and not takes:
                continue
            yield _rules_of_host(each) if each.action == "rules" and changes_rules(view) else each
        elif each.action == "away" and ui.is_away:
            yield replace(each, short="I am back")


def helped(view: View) -> tuple[list[Key], list[Key]]:
    """The entries for the help page: those that matter in this situation, and all others."""
    where = context_of(view)
    first = _NEEDED | ({"admit", "refuse"} if view.door else set()) | ({"void"} if view.overdue else set())
    entries = [
        _rules_of_host(each) if each.action == "rules" and changes_rules(view) else each
        for each in KEYS
        if each.long and where in each.where and (view.i_host or not each.host)
    ]
    return [each for each in entries if each.action in first], [
        each for each in entries if each.action not in first
    ]


_NEEDED: Final = frozenset(
    {"rank", "slot", "enter", "yes", "no", "take", "clear", "choices", "bot", "replay", "rules", "chat", "quit"}
)
"""Actions that somebody who asks for help may be looking for first, wherever they mean something."""


def changes_rules(view: View) -> bool:
    """Whether the rules of the next round are mine to choose now."""
    return view.i_host and view.stage in (Stage.LOBBY, Stage.OVER)


def _rules_of_host(rules: Key) -> Key:
    return replace(rules, short="change rules", long="how to play; the rules, and how to take others")

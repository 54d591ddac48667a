"""What a typed line means at a table: text in, a command or a sentence out (pure)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from client.cards import clean
from client.clocks import LEAST_S
from client.lines import moves
from client.names import typed_name
from client.orders import (
    Act,
    Admit,
    Answer,
    Away,
    ChangeClock,
    ChangeRules,
    Kick,
    Meaning,
    Mute,
    Problem,
    Quit,
    Refuse,
    SeatBots,
    Show,
    StartRound,
    TakePreset,
    Talk,
    Void,
)
from client.phrases import said
from client.texts import PHRASES
from client.view import Choice, View
from engine.rules import PRESETS
from engine.state import Zone

MAX_LINE_CHARACTERS: Final = 1000
"""More than anybody types; the rest of a longer line is not looked at."""

MAX_BOTS: Final = 9
"""A table has ten seats at most (R6), and one of them is the host's."""


_SHOWN: Final = {
    **{word: word for word in ("table", "score", "rules", "choices", "phrases", "how", "help")},
    "?": "help",
    **dict.fromkeys(("hand", "cards"), "hand"),
    "hint": "turn",
}


def interpret(view: View, text: str) -> Meaning:
    """The meaning of a line typed at ``view``; an empty line asks for the turn again."""
    line = " ".join(clean(text[:MAX_LINE_CHARACTERS]).split())
    if not line:
        return Show("turn")
    first, _, rest = line.partition(" ")
    # Other programs' commands begin with a slash; no word here does.
    word = first.lower().removeprefix("/")
    if word.startswith("#"):
        return _choice(view, word[1:] or rest)
    if word in _SHOWN and not rest:
        return Show(_SHOWN[word])
    command = _COMMANDS.get(word)
    if command is not None:
        return command(view, rest)
    return _bare(view, line)


def _bare(view: View, line: str) -> Meaning:
    """A line without a command word: a slot, an item of a list, or cards."""
    if line.isascii() and line.isdigit() and len(line) <= 2:
        if view.my_turn and view.zone is Zone.DOWNCARDS and not view.naming:
            return moves.flip(view, line)
        if not view.my_turn and view.choices:
            return _choice(view, line)
    return moves.laid(view, line.replace(",", " "), line)


def _choice(view: View, rest: str) -> Meaning:
    if not view.choices:
        return Problem(said("no_choices"))
    number = int(rest) if rest.isascii() and rest.isdigit() and len(rest) <= 3 else 0
    if not 1 <= number <= len(view.choices):
        return Problem(said("no_choice", number=rest[:3] or "?"))
    return _chosen(view, view.choices[number - 1])


def _chosen(view: View, choice: Choice) -> Meaning:
    match choice.kind:
        case "yes":
            return Answer(True)
        case "no":
            return Answer(False)
        case "start":
            return StartRound()
        case "admit":
            return Admit(choice.key)
        case "refuse":
            return Refuse(choice.key)
        case _ if choice.move is not None:
            return Act(choice.move, view.stamp)
        case _:
            return Problem(said("no_choices"))


def _say(view: View, rest: str) -> Meaning:
    if not rest:
        return Problem(said("say_what"))
    number = rest.removeprefix("#")
    if number == rest or not (number.isascii() and number.isdigit()):
        return Talk(rest)
    if not 1 <= int(number[:3]) <= len(PHRASES):
        return Problem(said("no_phrase", number=number[:3], most=len(PHRASES)))
    return Talk(PHRASES[int(number[:3]) - 1])


def _mute(is_muted: bool) -> Callable[[View, str], Meaning]:
    def command(view: View, rest: str) -> Meaning:
        others = frozenset(row.key for row in view.players if not row.is_me)
        if not rest:
            return Mute(others, is_muted) if others else Problem(said("nobody_else"))
        row = view.player(rest)
        if row is None:
            return Problem(said("nobody", name=rest))
        return Problem(said("mute_yourself")) if row.is_me else Mute(frozenset({row.key}), is_muted)

    return command


def _start(view: View, rest: str) -> Meaning:
    if not view.i_host:
        return Problem(said("host_only", host=view.host))
    if sum(row.present for row in view.players) < 2:
        return Problem(said("alone"))
    return StartRound()


def _at_door(view: View, rest: str, command: str) -> bytes | Problem:
    if not view.i_host:
        return Problem(said("host_only", host=view.host))
    if not rest and len(view.door) == 1:
        return view.door[0].key
    if not rest:
        return Problem(said("who", command=command))
    wanted = typed_name(rest)
    found = [row.key for row in view.door if typed_name(row.name).startswith(wanted)]
    exact = [row.key for row in view.door if typed_name(row.name) == wanted]
    if len(exact or found) != 1:
        return Problem(said("nobody_there", name=rest))
    return (exact or found)[0]


def _admit(view: View, rest: str) -> Meaning:
    key = _at_door(view, rest, "admit")
    return key if isinstance(key, Problem) else Admit(key)


def _refuse(view: View, rest: str) -> Meaning:
    key = _at_door(view, rest, "refuse")
    return key if isinstance(key, Problem) else Refuse(key)


def _kick(view: View, rest: str) -> Meaning:
    if not view.i_host:
        return Problem(said("host_only", host=view.host))
    if not rest:
        return Problem(said("who", command="kick"))
    row = view.player(rest)
    if row is None or not row.present:
        return Problem(said("nobody", name=rest))
    return Problem(said("not_yourself")) if row.is_me else Kick(row.key)


def _set(view: View, rest: str) -> Meaning:
    if not view.i_host:
        return Problem(said("host_only", host=view.host))
    option, equals, value = rest.partition("=")
    if not equals and option in PRESETS:
        return TakePreset(option)
    if option.strip() == "preset" and value.strip() in PRESETS:
        return TakePreset(value.strip())
    if not equals or not option.strip() or not value.strip():
        return Problem(said("set_how"))
    return ChangeRules(option.strip(), value.strip())


def _clock(view: View, rest: str) -> Meaning:
    if not rest:
        return Show("clock")
    if not view.i_host:
        return Problem(said("host_only", host=view.host))
    clock, _, seconds = rest.replace("=", " ").partition(" ")
    seconds = seconds.strip()
    if clock not in LEAST_S or not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 4):
        return Problem(said("clock_how"))
    return ChangeClock(clock, int(seconds))


def _bots(view: View, rest: str) -> Meaning:
    if not view.i_host:
        return Problem(said("host_only", host=view.host))
    if not (rest.isascii() and rest.isdigit() and len(rest) == 1 and 1 <= int(rest) <= MAX_BOTS):
        return Problem(said("bots_how", most=MAX_BOTS))
    return SeatBots(int(rest))


def _answer(yes: bool) -> Callable[[View, str], Meaning]:
    def command(view: View, rest: str) -> Meaning:
        return Answer(yes)

    return command


_COMMANDS: Final[dict[str, Callable[[View, str], Meaning]]] = {
    "pick": moves.pick,
    "pickup": moves.pick_up,
    "take": moves.pick_up,
    "p": moves.pick_up,
    "play": moves.play_word,
    "chance": moves.chance,
    "name": moves.name,
    "done": moves.done,
    "flip": moves.flip,
    "choose": moves.choose,
    "swap": moves.swap,
    "ready": moves.ready,
    "unready": moves.unready,
    "why": moves.why,
    "say": _say,
    "mute": _mute(True),
    "unmute": _mute(False),
    "start": _start,
    "admit": _admit,
    "refuse": _refuse,
    "kick": _kick,
    "bots": _bots,
    "set": _set,
    "clock": _clock,
    "clocks": _clock,
    "void": lambda view, rest: Void(),
    "away": lambda view, rest: Away(True),
    "back": lambda view, rest: Away(False),
    "yes": _answer(True),
    "y": _answer(True),
    "no": _answer(False),
    "n": _answer(False),
    "quit": lambda view, rest: Quit(),
    "exit": lambda view, rest: Quit(),
}
"""First word → what to make of the rest. No word here is a rank: ``q`` is a queen."""

"""Styles by class name, in a few themes. The terminal's own background stays."""

from __future__ import annotations

from functools import cache
from typing import Final

from prompt_toolkit.styles import Style

_BASE: Final = {
    "title": "reverse",
    "rule": "",
    "label": "bold",
    "footkey": "bold",
    "footer": "",
    "key": "bold",
    "cursor": "bold reverse",
    "picked": "bold reverse",
    "unplayable": "",
    "turn": "bold reverse",
    "name": "bold",
    "count": "",
    "back": "",
    "card": "",
    "club": "",
    "diamond": "",
    "heart": "",
    "spade": "",
    "good": "",
    "bad": "bold reverse",
    "wait": "underline",
    "dim": "",
    "hint": "",
    "does": "bold",
    "ask": "bold reverse",
    "message": "bold",
    "warning": "bold",
    "typing": "bold",
    "chat": "italic",
    "log": "",
    "text": "",
    "loser": "bold",
    "flash": "bold",
}
"""Without any colour: everything can be told apart by this alone."""

_COLOURS: Final[dict[str, dict[str, str]]] = {
    "dark": {
        "rule": "ansibrightblack",
        "label": "ansicyan",
        "footkey": "bold ansiyellow",
        "key": "bold ansiyellow",
        "cursor": "bold ansiyellow",
        "turn": "bold ansigreen",
        "back": "ansiblue",
        "diamond": "bold ansired",
        "heart": "bold ansired",
        "unplayable": "nobold ansibrightblack",
        "good": "ansigreen",
        "bad": "bold ansired",
        "wait": "ansiyellow",
        "dim": "ansibrightblack",
        "hint": "ansicyan",
        "does": "bold ansigreen",
        "ask": "bold ansiyellow",
        "message": "bold",
        "warning": "bold ansiyellow",
        "chat": "ansimagenta",
        "loser": "bold ansired",
        "flash": "bold ansired",
        "typing": "bold",
    },
    "light": {
        "label": "ansiblue",
        "footkey": "bold ansiblue",
        "key": "bold ansiblue",
        "cursor": "bold reverse",
        "turn": "bold ansigreen",
        "back": "ansiblue",
        "diamond": "bold ansired",
        "heart": "bold ansired",
        "unplayable": "nobold ansibrightblack",
        "good": "ansigreen",
        "bad": "bold ansired",
        "dim": "ansibrightblack",
        "hint": "ansiblue",
        "does": "bold ansigreen",
        "ask": "bold ansimagenta",
        "warning": "bold ansimagenta",
        "chat": "ansimagenta",
        "loser": "bold ansired",
        "flash": "bold ansired",
    },
    "contrast": {
        "label": "bold underline",
        "diamond": "bold ansibrightred",
        "heart": "bold ansibrightred",
        "key": "bold ansibrightyellow",
        "footkey": "bold ansibrightyellow",
        "turn": "bold reverse",
        "does": "bold ansibrightgreen",
        "warning": "bold ansibrightyellow",
    },
    "blind": {
        # Blue and orange are told apart by nearly everybody; red and green are not used.
        "label": "ansibrightblue",
        "diamond": "bold #e69f00",
        "heart": "bold #e69f00",
        "key": "bold #e69f00",
        "footkey": "bold #e69f00",
        "turn": "bold ansibrightblue",
        "unplayable": "nobold ansibrightblack",
        "good": "ansibrightblue",
        "bad": "bold reverse #e69f00",
        "dim": "ansibrightblack",
        "does": "bold ansibrightblue",
        "warning": "bold #e69f00",
        "loser": "bold #e69f00",
    },
    "four": {},
    "mono": {},
}
_COLOURS["four"] = {
    **_COLOURS["dark"],
    "club": "bold ansigreen",
    "diamond": "bold ansibrightblue",
    "heart": "bold ansired",
    "spade": "bold",
}


@cache
def style_of(theme: str) -> Style:
    """The toolkit's style for a theme; an unknown one is ``dark``. Made once: the toolkit asks for each cell."""
    colours = _COLOURS.get(theme, _COLOURS["dark"])
    return Style.from_dict({name: colours.get(name, plain) for name, plain in _BASE.items()})


def classes(style: str) -> str:
    """Class names as the toolkit wants them."""
    return " ".join(f"class:{name}" for name in style.split())

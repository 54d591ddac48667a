"""What a typed line means at a table: text in, a command or a sentence out (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from client.cards import clean, rank_word, read_card, read_rank
from client.lines.commands import (
    Act,
    Admit,
    Answer,
    Away,
    ChangeRules,
    Explain,
    Kick,
    Meaning,
    Problem,
    Quit,
    Refuse,
    SeatBots,
    Show,
    StartRound,
    Talk,
    Void,
)
from client.phrases import said
from client.view import Choice, OwnCard, Stage, View
from engine.errors import Sentence
from engine.moves import Flip, PickUp, Play, Ready, Swap
from engine.state import Zone

MAX_LINE_CHARACTERS: Final = 1000
"""More than anybody types; the rest of a longer line is not looked at."""

MAX_BOTS: Final = 9
"""A table has ten seats at most (R6), and one of them is the host's."""


_CARD: Final = re.compile(r"(10|[2-9tjqka0])([cdhs♣♦♥♠])?", re.IGNORECASE)
_SHOWN: Final = {"table": "table", "score": "score", "rules": "rules", "help": "help", "?": "help"}


@dataclass(frozen=True, slots=True)
class _Pick:
    """A rank, or an exact card, that somebody typed."""

    rank: str
    card: str | None

    def fits(self, card: OwnCard) -> bool:
        return card.text[:2] == self.card if self.card is not None else card.rank == self.rank

    @property
    def words(self) -> str:
        return f"a {rank_word(self.rank)}"


def interpret(view: View, text: str) -> Meaning:
    """The meaning of a line typed at ``view``; an empty line asks for the turn again."""
    line = " ".join(clean(text[:MAX_LINE_CHARACTERS]).split())
    if not line:
        return Show("turn")
    first, _, rest = line.partition(" ")
    word = first.lower()
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
        if view.my_turn and view.zone is Zone.DOWNCARDS:
            return _flip(view, line)
        if not view.my_turn and view.choices:
            return _choice(view, line)
    picks = read_picks(line.split())
    if picks is None:
        return Problem(said("unknown", text=line))
    return _play(view, picks)


def read_picks(words: Sequence[str]) -> tuple[_Pick, ...] | None:
    """The ranks and cards that ``words`` name, ``55`` and ``5h5c`` included; None for anything else."""
    found: list[_Pick] = []
    for word in words:
        start = 0
        while start < len(word):
            match = _CARD.match(word, start)
            if match is None:
                return None
            rank = read_rank(match[1])
            if rank is None:
                return None
            found.append(_Pick(rank, read_card(match[0]) if match[2] else None))
            start = match.end()
    return tuple(found) or None


def _play(view: View, picks: tuple[_Pick, ...]) -> Meaning:
    problem = _not_my_turn(view)
    if problem is not None:
        return problem
    chosen: list[OwnCard] = []
    # Exact cards first, so that a bare rank does not take a card that is named as well.
    for pick in sorted(picks, key=lambda pick: pick.card is None):
        card = _find(view, pick, chosen, view.zone)
        if card is None:
            fitting = sum(pick.fits(card) for card in chosen)
            if fitting:
                return Problem(said("too_many", count=fitting))
            # Elsewhere it may lie: then the card itself says why it can't be played.
            card = _find(view, pick, chosen, None)
        if card is None:
            return Problem(_not_held(pick))
        chosen.append(card)
    if len({card.rank for card in chosen}) > 1:
        return Problem(said("not_a_set"))
    for card in chosen:
        if card.why_not is not None:
            return Problem(card.why_not)
    if view.my_seat is None:
        return Problem(said("not_in_round"))
    return Act(Play(view.my_seat, tuple(card.position for card in chosen)), view.stamp)


def _not_held(pick: _Pick) -> Sentence:
    if pick.card is not None:
        return said("card_not_held", card=pick.card)
    return said("not_held", what=pick.words)


def _find(view: View, pick: _Pick, chosen: Sequence[OwnCard], zone: Zone | None) -> OwnCard | None:
    return next(
        (
            card
            for card in view.own
            if card not in chosen and pick.fits(card) and (zone is None or card.zone is zone)
        ),
        None,
    )


def _not_my_turn(view: View) -> Problem | None:
    """Why nothing can be played or picked up now, where the cards have nothing to do with it."""
    match view.stage:
        case Stage.PLAY | Stage.START | Stage.ARRANGE if view.zone is None:
            return Problem(said("not_in_round"))
        case Stage.OPENING:
            return Problem(said("opening"))
        case Stage.PLAY if view.unseen and view.turn == view.my_name:
            return Problem(said("drawing"))
        case Stage.PLAY | Stage.START | Stage.ARRANGE:
            reason = view.pick_up_why_not
            general = reason is not None and reason.code in ("wrong_phase", "not_your_turn")
            return Problem(reason) if reason is not None and general else None
        case _:
            return Problem(said("nothing_to_play"))


def _pick_up(view: View, rest: str) -> Meaning:
    problem = _not_my_turn(view)
    if problem is not None:
        return problem
    if view.pick_up_why_not is not None:
        return Problem(view.pick_up_why_not)
    if view.my_seat is None:
        return Problem(said("not_in_round"))
    return Act(PickUp(view.my_seat), view.stamp)


def _pick(view: View, rest: str) -> Meaning:
    return _pick_up(view, "") if rest.lower() in ("up", "") else Problem(said("unknown", text=f"pick {rest}"))


def _flip(view: View, rest: str) -> Meaning:
    problem = _not_my_turn(view)
    if problem is not None:
        return problem
    if not (rest.isascii() and rest.isdigit()):
        return Problem(said("flip_what"))
    if view.zone is not Zone.DOWNCARDS or view.my_seat is None:
        held = "upcards" if view.zone is Zone.UPCARDS else "hand cards"
        return Problem(said("come_first", held=held))
    slot = int(rest[:3])
    if not any(choice.kind == "flip" and choice.slot == slot for choice in view.choices):
        return Problem(said("bad_slot", slot=slot))
    return Act(Flip(view.my_seat, slot - 1), view.stamp)


def _swap(view: View, rest: str) -> Meaning:
    if view.stage is not Stage.ARRANGE:
        return Problem(said("not_arranging"))
    if view.my_seat is None:
        return Problem(said("not_in_round"))
    if not view.my_turn:
        return Problem(said("ready_sent"))
    picks = read_picks(rest.split())
    if picks is None or len(picks) != 2:
        return Problem(said("swap_how"))
    for hand, up in (picks, picks[::-1]):
        in_hand, laid_out = _find(view, hand, (), Zone.HAND), _find(view, up, (), Zone.UPCARDS)
        if in_hand is not None and laid_out is not None:
            return Act(Swap(view.my_seat, in_hand.position, laid_out.position), view.stamp)
    for pick in picks:
        if _find(view, pick, (), None) is None:
            return Problem(_not_held(pick))
    return Problem(said("swap_how"))


def _ready(view: View, rest: str) -> Meaning:
    if view.stage is not Stage.ARRANGE or view.my_seat is None:
        return Problem(said("not_arranging"))
    if not view.my_turn:
        return Problem(said("ready_already"))
    return Act(Ready(view.my_seat), view.stamp)


def _unready(view: View, rest: str) -> Meaning:
    if view.stage is not Stage.ARRANGE or view.my_seat is None:
        return Problem(said("not_arranging"))
    return Problem(said("not_ready" if view.my_turn else "ready_sent"))


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


def _why(view: View, rest: str) -> Meaning:
    if rest.lower() in ("pick up", "pickup", "pick", "p"):
        return Explain(view.pick_up_why_not or said("why_pick_up") if view.zone is not None else _idle(view))
    picks = read_picks(rest.split())
    if picks is None:
        return Problem(said("why_what"))
    pick = picks[0]
    card = _find(view, pick, (), view.zone) or _find(view, pick, (), None)
    if card is not None:
        return Explain(card.why_not or said("playable", cards=(card.text,)))
    if view.pile is None:
        return Explain(_not_held(pick) if view.zone is not None else _idle(view))
    if pick.rank in view.pile.fits:
        return Explain(said("fits_not_held", what=f"A {rank_word(pick.rank)}"))
    top = view.pile.cards[-1][0]
    return Explain(said("too_low", rank=pick.rank, top=top))


def _idle(view: View) -> Sentence:
    problem = _not_my_turn(view)
    return problem.sentence if problem is not None else said("nothing_to_play")


def _say(view: View, rest: str) -> Meaning:
    return Talk(rest) if rest else Problem(said("say_what"))


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
    found = [row.key for row in view.door if row.name.casefold().startswith(rest.casefold())]
    exact = [row.key for row in view.door if row.name.casefold() == rest.casefold()]
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
    if not equals or not option.strip() or not value.strip():
        return Problem(said("set_how"))
    return ChangeRules(option.strip(), value.strip())


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


def _play_word(view: View, rest: str) -> Meaning:
    picks = read_picks(rest.split())
    return Problem(said("unknown", text=f"play {rest}".strip())) if picks is None else _play(view, picks)


_COMMANDS: Final[dict[str, Callable[[View, str], Meaning]]] = {
    "pick": _pick,
    "pickup": _pick_up,
    "take": _pick_up,
    "p": _pick_up,
    "play": _play_word,
    "flip": _flip,
    "swap": _swap,
    "ready": _ready,
    "unready": _unready,
    "why": _why,
    "say": _say,
    "start": _start,
    "admit": _admit,
    "refuse": _refuse,
    "kick": _kick,
    "bots": _bots,
    "set": _set,
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

"""One sentence or more for each kind of news (used by ``client.lines.narrate``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from client.cards import JOKER, rank_label, rank_word
from client.clocks import Clocks
from client.names import shown_name
from client.phrases import WAITS, said, told
from client.sentences import listed, render
from client.view import View
from engine.cards import card_text, rank_text
from engine.errors import Sentence
from engine.explain import explain
from engine.options import ArrangeRule, StartRule
from engine.rules import RuleSet, to_items

MANY_RANKS: Final = 3
"""From so many ranks on the lowest ones are told as "7 or lower"."""


PLACES: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def rules_sentences(rules: RuleSet, changes: AbstractSet[str]) -> list[Sentence]:
    """What ``rules`` say about the options named, a sentence each; an option without words by its name."""
    lines = [line for line in explain(rules) if changes & set(line.options)]
    told_of = {option for line in lines for option in line.options}
    values = dict(to_items(rules))
    unsaid = [f"{name}={values[name]}" for name in sorted(set(changes) - told_of)]
    return [said("rules_line", text=text) for text in (*map(str, lines), *unsaid)]


def key_in(values: Mapping[str, object], name: str) -> bytes:
    """The identity key of that name, or none."""
    value = values.get(name)
    return value if isinstance(value, bytes) else b""


def number_in(values: Mapping[str, object], name: str) -> int:
    """The number of that name, or -1."""
    value = values.get(name)
    return value if isinstance(value, int) else -1


def text_in(values: Mapping[str, object], name: str) -> str:
    """The text of that name, or none."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _keys(values: Mapping[str, object], name: str) -> tuple[bytes, ...]:
    value = values.get(name)
    return tuple(key for key in value if isinstance(key, bytes)) if isinstance(value, tuple) else ()


def cards_in(values: Mapping[str, object], name: str = "faces") -> tuple[str, ...]:
    """The cards of a piece of news as texts, whether it holds one or several."""
    packs, value = number_in(values, "packs"), values.get(name)
    faces = value if isinstance(value, tuple) else (value,)
    return tuple(card_text(face, packs) for face in faces if isinstance(face, int))


def seated(code: str, values: Mapping[str, object], after: View, **more: object) -> list[Sentence]:
    """A sentence whose subject is a seat."""
    seat = number_in(values, "seat")
    is_me = seat == after.my_seat
    return [told(code, is_me, player=after.names.of_seat(seat), **more)]


def _joined(values: Mapping[str, object], after: View) -> list[Sentence]:
    is_me = key_in(values, "player") == after.me
    code = "joined_bot" if values.get("bot") else "joined"
    return [told(code, is_me, player=shown_name(text_in(values, "name")), table=after.table)]


def _left(values: Mapping[str, object], after: View) -> list[Sentence]:
    is_me = key_in(values, "player") == after.me
    code = {"kicked": "sent_away", "replaced": "replaced"}.get(text_in(values, "why"), "left")
    return [] if is_me else [told(code, False, player=shown_name(text_in(values, "name")))]


def _knocked(values: Mapping[str, object], after: View) -> list[Sentence]:
    name, address = shown_name(text_in(values, "name")), text_in(values, "address")
    if not after.i_host:
        return [said("knocked_other", name=name, host=after.host)]
    return [said("knocked_bot" if values.get("bot") else "knocked", name=name, address=address)]


def contract(values: Mapping[str, object], after: View) -> list[Sentence]:
    """A round is offered."""
    players = _keys(values, "players")
    code = "offer" if after.asked and after.me in players else "offer_all"
    return [said(code, round=number_in(values, "round"), players=players)]


def _declined(values: Mapping[str, object], after: View) -> list[Sentence]:
    """Why an offer comes to nothing."""
    key, reason = key_in(values, "player"), text_in(values, "reason")
    code = f"declined_{reason}" if reason in _DECLINED else "declined"
    debts = values.get("debts")
    names = tuple(dict.fromkeys(key for key, _ in debts)) if isinstance(debts, tuple) else ()
    return [told(code, key == after.me, player=key, names=names)]


_DECLINED: Final = frozenset({"revision", "left", "gave_up"})


def clock_sentences(clocks: Clocks) -> list[Sentence]:
    """What the clocks of a round say, a sentence each."""
    found = []
    if clocks.turn_s:
        found.append(said("clock_turn", seconds=clocks.turn_s))
    if clocks.arrange_s:
        found.append(said("clock_arrange", seconds=clocks.arrange_s))
    if not found:
        return [said("clock_none"), said("clock_grace_only", seconds=clocks.grace_s)]
    return [*found, said("clock_grace", seconds=clocks.grace_s)]


def _words(values: Mapping[str, object], after: View) -> list[Sentence]:
    words = values.get("words")
    seats, dealer = _keys(values, "seats"), number_in(values, "dealer")
    spoken = "-".join(str(word) for word in words) if isinstance(words, tuple) else ""
    found = [said("words", words=spoken)]
    if 0 <= dealer < len(seats):
        found.append(said("seats", players=seats, dealer=seats[dealer]))
    return found


def _hand(values: Mapping[str, object], after: View) -> list[Sentence]:
    return [told("hand", True, cards=cards_in(values))]


def _swapped(values: Mapping[str, object], after: View) -> list[Sentence]:
    up, hand = cards_in(values, "up_face"), cards_in(values, "hand_face")
    return seated("swapped", values, after, card_up=up, card_hand=hand)


def _ready(values: Mapping[str, object], after: View) -> list[Sentence]:
    return seated("ready", values, after)


def _declared(values: Mapping[str, object], after: View) -> list[Sentence]:
    return seated("declared", values, after, cards=cards_in(values, "face"))


def _eldest(values: Mapping[str, object], after: View) -> list[Sentence]:
    rank, by = rank_text(number_in(values, "rank")), text_in(values, "by")
    if by == "hand" and after.rules is not None and after.rules.start is StartRule.HAND_LOWEST:
        by = "lowest"
    return seated(f"eldest_{by or 'seat'}", values, after, rank=rank)


def _played(values: Mapping[str, object], after: View) -> list[Sentence]:
    code = "played_up" if values.get("zone") == "upcards" else "played"
    return seated(code, values, after, cards=cards_in(values))


def _drew(values: Mapping[str, object], after: View) -> list[Sentence]:
    if values.get("own"):
        return [told("drew_own", True, cards=cards_in(values))]
    # My own draw is told with its faces as soon as they are here.
    is_mine = number_in(values, "seat") == after.my_seat
    return [] if is_mine else seated("drew", values, after, count=number_in(values, "count"))


def _picked_up(values: Mapping[str, object], after: View) -> list[Sentence]:
    along = cards_in(values)
    if along:
        return seated("picked_up_along", values, after, count=number_in(values, "count"), cards=along)
    return seated("picked_up", values, after, count=number_in(values, "count"))


def _flipped(values: Mapping[str, object], after: View) -> list[Sentence]:
    code = "flipped" if values.get("legal") else "flipped_high"
    return seated(code, values, after, cards=cards_in(values, "face"))


def _chose(values: Mapping[str, object], after: View) -> list[Sentence]:
    return seated("chose", values, after)


def _laid_out(values: Mapping[str, object], after: View) -> list[Sentence]:
    return seated("laid_out", values, after, cards=cards_in(values))


def _chanced(values: Mapping[str, object], after: View) -> list[Sentence]:
    code = "chanced" if values.get("legal") else "chanced_high"
    return seated(code, values, after, cards=cards_in(values, "face"))


def _named(values: Mapping[str, object], after: View) -> list[Sentence]:
    cards, rank = cards_in(values), rank_text(number_in(values, "rank"))
    if len(cards) == 1:
        return [said("named_one", cards=cards, rank=rank)]
    return [said("named_more", cards=cards, ranks=rank_word(rank, len(cards)))]


def _reversed(values: Mapping[str, object], after: View) -> list[Sentence]:
    # Between two players no direction can be told from the other.
    if sum(row.status == "in" for row in after.players) <= 2:
        return []
    return [said("reversed", direction="clockwise" if number_in(values, "direction") > 0 else "anticlockwise")]


def _skipped(values: Mapping[str, object], after: View) -> list[Sentence]:
    seats = values.get("seats")
    missing = dict.fromkeys(seats) if isinstance(seats, tuple) else {}
    return [told("skipped", seat == after.my_seat, player=after.names.of_seat(seat)) for seat in missing]


def _out(values: Mapping[str, object], after: View) -> list[Sentence]:
    return seated("out", values, after, place=place_word(number_in(values, "place")))


def _said(values: Mapping[str, object], after: View) -> list[Sentence]:
    return [said("said", name=shown_name(text_in(values, "name")), text=text_in(values, "text"))]


def _saved(values: Mapping[str, object], after: View) -> list[Sentence]:
    # A long path has a line of its own: behind a sentence the end of the line would break it.
    return [said("saved"), said("saved_path", path=text_in(values, "path"))]


def _unsaved(values: Mapping[str, object], after: View) -> list[Sentence]:
    sentence = values.get("sentence")
    reason = render(sentence) if isinstance(sentence, Sentence) else text_in(values, "reason")
    return [said("unsaved", reason=reason)]


def _error(values: Mapping[str, object], after: View) -> list[Sentence]:
    found = (values.get("sentence"), values.get("remedy"))
    return [sentence for sentence in found if isinstance(sentence, Sentence)]


def _phase(values: Mapping[str, object], after: View) -> list[Sentence]:
    match str(values.get("phase")):
        case "keys":
            return [said("dealing")]
        case "arrange":
            arrange = after.rules.arrange if after.rules is not None else ArrangeRule.SWAP
            return [said("arrange" if arrange is ArrangeRule.SWAP else f"arrange_{arrange.value}")]
        case "dead":
            return [said("dead")]
        case _:
            return []


def over(values: Mapping[str, object], after: View) -> list[Sentence]:
    """A round has ended."""
    kind = text_in(values, "result")
    code = f"over_{kind}"
    found = [said(code if kind in _KINDS else "over_unfinished", round=number_in(values, "round"))]
    for number, key in enumerate(_keys(values, "finish")):
        found.append(said("place", place=place_word(number + 1).capitalize(), name=key))
    shithead = values.get("shithead")
    if isinstance(shithead, bytes):
        found.append(told("shithead", shithead == after.me, player=shithead))
    debts = values.get("debts")
    for key, what in debts if isinstance(debts, tuple) else ():
        found.append(told("debt", key == after.me, player=key, what=WAITS.get(what, what)))
    for key in _keys(values, "left"):
        found.append(told("gone", key == after.me, player=key))
    for key in _keys(values, "gave_up"):
        # A debt that is true is enough, so nobody can see from the debts alone who did not want to wait.
        found.append(told("gave_up", key == after.me, player=key))
    return found


_KINDS: Final = frozenset({"finished", "stalled", "forfeit", "unfinished", "faulted"})


def next_round(view: View) -> Sentence:
    """How another round begins."""
    if sum(row.present for row in view.players) < 2:
        return said("next_alone")
    return said("next_mine") if view.i_host else said("next_other", host=view.host)


TELLERS: Final[dict[str, Callable[[Mapping[str, object], View], list[Sentence]]]] = {
    "joined": _joined,
    "left": _left,
    "knocked": _knocked,
    "declined": _declined,
    "phase": _phase,
    "words": _words,
    "hand": _hand,
    "swapped": _swapped,
    "ready": _ready,
    "chose": _chose,
    "laid_out": _laid_out,
    "declared": _declared,
    "eldest": _eldest,
    "played": _played,
    "drew": _drew,
    "picked_up": _picked_up,
    "flipped": _flipped,
    "chanced": _chanced,
    "named": _named,
    "reversed": _reversed,
    "skipped": _skipped,
    "out": _out,
    "saved": _saved,
    "unsaved": _unsaved,
    "said": _said,
    "error": _error,
}


def place_word(place: int) -> str:
    """``first`` for 1, and so on."""
    return PLACES[place - 1] if 1 <= place <= len(PLACES) else str(place)


def fits_words(fits: Sequence[str], beat: str = "") -> str:
    """Ranks that fit, in words: ``7 or higher, a 2 or a 10``. ``fits``: rank characters; ``beat``: that of the
    rank that is to be beaten: a lower one that fits by a power of its own is named by itself, as people do.
    """
    ranks = [rank for rank in _ORDER if rank in fits]
    if len(ranks) == len(_ORDER):
        return "anything"
    high, low = _highest(ranks, beat), _lowest(ranks, beat)
    if len(high) == 1:
        high = []
    if len(low) < MANY_RANKS or high:
        low = []
    words = [f"{_short(high[0])} or higher"] if high else []
    words += [f"{_short(low[-1])} or lower"] if low else []
    others = [rank for rank in ranks if rank not in high and rank not in low]
    words += [f"{'an' if rank in '8A' else 'a'} {_short(rank)}" for rank in others]
    words += ["a joker"] if JOKER in fits else []
    return listed(words, "or")


def _highest(ranks: Sequence[str], beat: str) -> list[str]:
    """The ranks up to the ace without a gap; with ``beat`` those that beat it, if all that are higher do."""
    start = len(_ORDER)
    while start and _ORDER[start - 1] in ranks:
        start -= 1
    if beat and beat in _ORDER:
        at = _ORDER.index(beat)
        if start > at + 1:
            return []
        start = max(start, at)
    return list(_ORDER[start:])


def _lowest(ranks: Sequence[str], beat: str) -> list[str]:
    """The ranks from the two on without a gap; with ``beat`` no higher one, and none if it is not reached."""
    end = 0
    while end < len(_ORDER) and _ORDER[end] in ranks:
        end += 1
    if beat and beat in _ORDER:
        at = _ORDER.index(beat)
        end = min(end, at + 1) if end >= at else 0
    return list(_ORDER[:end])


_ORDER: Final = "23456789TJQKA"


def _short(rank: str) -> str:
    return rank_word(rank) if rank in "JQKA" else rank_label(rank)

"""What happened at a table, told in sentences, one or none for each piece of news."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from client.cards import Style, number_word, rank_label, rank_word
from client.phrases import DEBTS, WAITS, said, told
from client.sentences import Names, listed, render
from client.view import Stage, View
from engine.cards import card_text, rank_text
from engine.errors import Sentence
from engine.rules import RuleSet, to_items
from p2p.audit import Verdict
from p2p.faults import Fault
from p2p.news import News

WAIT_SAID_S: Final = 15
"""A person thinks for a while; from here on the table is told for whom it waits."""

PLACES: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class Narrator:
    """Turns news and changes of the view into lines. Remembers only what it must not say twice.

    ``asks``: whether somebody is there to be told how to go on after a round.
    """

    def __init__(self, style: Style, asks: bool = True) -> None:
        self._style = style
        self._asks = asks
        self._lost: set[bytes] = set()
        self._rules: RuleSet | None = None
        self._waits: set[tuple[str, str]] = set()
        self._overdue = False

    def set_style(self, style: Style) -> None:
        """Another style from now on."""
        self._style = style

    def tell(self, news: Iterable[News], before: View | None, after: View) -> list[str]:
        """The lines for what has happened between two views; ``before`` None: at the very first look."""
        found: list[Sentence] = []
        batch = tuple(news)
        # The progress of the deal is told where it belongs: before its outcome.
        progress = _progress(before, after) if before is not None else []
        for number, item in enumerate(batch):
            if item.name in ("words", "hand"):
                found.extend(progress)
                progress = []
            found.extend(self._item(item, batch[:number], before, after))
        found.extend(progress)
        found.extend(self._waiting(after))
        names = _names_for(before, after)
        return [render(sentence, names, self._style) for sentence in found]

    def _item(self, item: News, earlier: Sequence[News], before: View | None, after: View) -> list[Sentence]:
        values = item.values
        match item.name:
            case "link":
                return self._link(values, after)
            case "burnt":
                return [_burnt(values, earlier, before)]
            case "turn":
                return _turn(values, earlier, before, after)
            case "contract":
                return _contract(values, after) + self._rules_of(values)
            case "fault":
                fault = values.get("fault")
                if not isinstance(fault, Fault):
                    return []
                text = render(fault.sentence, _names_for(before, after), self._style)
                return [said("fault", text=text)]
            case "verdict":
                return _verdict(values, self._style)
            case "over":
                return _over(values, after) + ([next_round(after)] if self._asks else [])
            case name:
                teller = _TELLERS.get(name)
                return teller(values, after) if teller is not None else []

    def _rules_of(self, values: Mapping[str, object]) -> list[Sentence]:
        """What is unusual about the rules of an offer, or differs from the offer before."""
        rules = values.get("rules")
        if not isinstance(rules, RuleSet):
            return []
        before, self._rules = self._rules, rules
        old = dict(to_items(before or RuleSet()))
        changes = ", ".join(f"{name}={value}" for name, value in to_items(rules) if old[name] != value)
        if not changes:
            return []
        return [said("rules_changed" if before is not None else "rules_new", changes=changes)]

    def _link(self, values: Mapping[str, object], after: View) -> list[Sentence]:
        key = _key(values, "player")
        if key == after.me:
            return []
        if values.get("status") == "lost":
            if key in self._lost or not any(row.key == key and row.present for row in after.players):
                return []
            self._lost.add(key)
            return [told("lost", False, player=key)]
        if key in self._lost:
            self._lost.discard(key)
            return [told("back", False, player=key)]
        return []

    def _waiting(self, after: View) -> list[Sentence]:
        """Says once of each long wait for somebody else that it goes on, and once that it may be given up."""
        others = [wait for wait in after.waits if not wait.is_me]
        self._waits &= {(wait.name, wait.what) for wait in others}
        found: list[Sentence] = []
        for wait in others:
            if wait.seconds >= WAIT_SAID_S and (wait.name, wait.what) not in self._waits:
                self._waits.add((wait.name, wait.what))
                what = WAITS.get(wait.what, wait.what)
                found.append(told("wait", False, player=wait.name, what=what))
        if after.overdue and not self._overdue:
            longest = max(others, key=lambda wait: wait.seconds, default=None)
            if longest is not None:
                found.append(told("overdue", False, player=longest.name, seconds=longest.seconds))
        self._overdue = after.overdue
        return found


def _names_for(before: View | None, after: View) -> Names:
    """Names of those who are here now, and of those who have just gone."""
    if before is None:
        return after.names
    keys = {**before.names.keys, **after.names.keys}
    seats = after.names.seats or before.names.seats
    my_seat = after.names.my_seat if after.names.seats else before.names.my_seat
    return Names(seats, keys, my_seat, after.me)


# -- values of news ------------------------------------------------------------------------------------


def _key(values: Mapping[str, object], name: str) -> bytes:
    value = values.get(name)
    return value if isinstance(value, bytes) else b""


def _number(values: Mapping[str, object], name: str) -> int:
    value = values.get(name)
    return value if isinstance(value, int) else -1


def _text(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _keys(values: Mapping[str, object], name: str) -> tuple[bytes, ...]:
    value = values.get(name)
    return tuple(key for key in value if isinstance(key, bytes)) if isinstance(value, tuple) else ()


def _cards(values: Mapping[str, object], name: str = "faces") -> tuple[str, ...]:
    """The cards of a piece of news as texts, whether it holds one or several."""
    packs, value = _number(values, "packs"), values.get(name)
    faces = value if isinstance(value, tuple) else (value,)
    return tuple(card_text(face, packs) for face in faces if isinstance(face, int))


# -- tellers -------------------------------------------------------------------------------------------


def _seated(code: str, values: Mapping[str, object], after: View, **more: object) -> list[Sentence]:
    """A sentence whose subject is a seat."""
    seat = _number(values, "seat")
    is_me = seat == after.my_seat
    return [told(code, is_me, player=after.names.of_seat(seat), **more)]


def _joined(values: Mapping[str, object], after: View) -> list[Sentence]:
    is_me = _key(values, "player") == after.me
    code = "joined_bot" if values.get("bot") else "joined"
    return [told(code, is_me, player=_text(values, "name"), table=after.table)]


def _left(values: Mapping[str, object], after: View) -> list[Sentence]:
    is_me = _key(values, "player") == after.me
    return [] if is_me else [told("left", False, player=_text(values, "name"))]


def _knocked(values: Mapping[str, object], after: View) -> list[Sentence]:
    name, address = _text(values, "name"), _text(values, "address")
    if not after.i_host:
        return [said("knocked_other", name=name, host=after.host)]
    return [said("knocked_bot" if values.get("bot") else "knocked", name=name, address=address)]


def _contract(values: Mapping[str, object], after: View) -> list[Sentence]:
    players = _keys(values, "players")
    code = "offer" if after.asked and after.me in players else "offer_all"
    return [said(code, round=_number(values, "round"), players=players)]


def _words(values: Mapping[str, object], after: View) -> list[Sentence]:
    words = values.get("words")
    seats, dealer = _keys(values, "seats"), _number(values, "dealer")
    spoken = "-".join(str(word) for word in words) if isinstance(words, tuple) else ""
    found = [said("words", words=spoken)]
    if 0 <= dealer < len(seats):
        found.append(said("seats", players=seats, dealer=seats[dealer]))
    return found


def _hand(values: Mapping[str, object], after: View) -> list[Sentence]:
    return [told("hand", True, cards=_cards(values))]


def _swapped(values: Mapping[str, object], after: View) -> list[Sentence]:
    up, hand = _cards(values, "up_face"), _cards(values, "hand_face")
    return _seated("swapped", values, after, card_up=up, card_hand=hand)


def _ready(values: Mapping[str, object], after: View) -> list[Sentence]:
    return _seated("ready", values, after)


def _declared(values: Mapping[str, object], after: View) -> list[Sentence]:
    return _seated("declared", values, after, cards=_cards(values, "face"))


def _eldest(values: Mapping[str, object], after: View) -> list[Sentence]:
    rank = rank_text(_number(values, "rank"))
    return _seated(f"eldest_{_text(values, 'by') or 'seat'}", values, after, rank=rank)


def _played(values: Mapping[str, object], after: View) -> list[Sentence]:
    code = "played_up" if values.get("zone") == "upcards" else "played"
    return _seated(code, values, after, cards=_cards(values))


def _drew(values: Mapping[str, object], after: View) -> list[Sentence]:
    if values.get("own"):
        return [told("drew_own", True, cards=_cards(values))]
    # My own draw is told with its faces as soon as they are here.
    is_mine = _number(values, "seat") == after.my_seat
    return [] if is_mine else _seated("drew", values, after, count=_number(values, "count"))


def _picked_up(values: Mapping[str, object], after: View) -> list[Sentence]:
    return _seated("picked_up", values, after, count=_number(values, "count"))


def _flipped(values: Mapping[str, object], after: View) -> list[Sentence]:
    code = "flipped" if values.get("legal") else "flipped_high"
    return _seated(code, values, after, cards=_cards(values, "face"))


def _out(values: Mapping[str, object], after: View) -> list[Sentence]:
    return _seated("out", values, after, place=place_word(_number(values, "place")))


def _said(values: Mapping[str, object], after: View) -> list[Sentence]:
    return [said("said", name=_text(values, "name"), text=_text(values, "text"))]


def _saved(values: Mapping[str, object], after: View) -> list[Sentence]:
    return [said("saved", path=_text(values, "path"))]


def _unsaved(values: Mapping[str, object], after: View) -> list[Sentence]:
    return [said("unsaved", reason=_text(values, "reason"))]


def _error(values: Mapping[str, object], after: View) -> list[Sentence]:
    found = (values.get("sentence"), values.get("remedy"))
    return [sentence for sentence in found if isinstance(sentence, Sentence)]


def _phase(values: Mapping[str, object], after: View) -> list[Sentence]:
    match str(values.get("phase")):
        case "keys":
            return [said("dealing")]
        case "arrange":
            return [said("arrange")]
        case "dead":
            return [said("dead")]
        case _:
            return []


def _over(values: Mapping[str, object], after: View) -> list[Sentence]:
    kind = _text(values, "result")
    code = f"over_{kind}"
    found = [said(code if kind in _KINDS else "over_unfinished", round=_number(values, "round"))]
    for number, key in enumerate(_keys(values, "finish")):
        found.append(said("place", place=place_word(number + 1).capitalize(), name=key))
    shithead = values.get("shithead")
    if isinstance(shithead, bytes):
        found.append(told("shithead", shithead == after.me, player=shithead))
    debts = values.get("debts")
    for key, what in debts if isinstance(debts, tuple) else ():
        found.append(told("debt", key == after.me, player=key, what=DEBTS.get(what, what)))
    for key in _keys(values, "left"):
        found.append(told("gone", key == after.me, player=key))
    return found


_KINDS: Final = frozenset({"finished", "stalled", "forfeit", "unfinished", "faulted"})


def next_round(view: View) -> Sentence:
    """How another round begins."""
    if sum(row.present for row in view.players) < 2:
        return said("next_alone")
    return said("next_mine") if view.i_host else said("next_other", host=view.host)


_TELLERS: Final[dict[str, Callable[[Mapping[str, object], View], list[Sentence]]]] = {
    "joined": _joined,
    "left": _left,
    "knocked": _knocked,
    "phase": _phase,
    "words": _words,
    "hand": _hand,
    "swapped": _swapped,
    "ready": _ready,
    "declared": _declared,
    "eldest": _eldest,
    "played": _played,
    "drew": _drew,
    "picked_up": _picked_up,
    "flipped": _flipped,
    "out": _out,
    "saved": _saved,
    "unsaved": _unsaved,
    "said": _said,
    "error": _error,
}


def _burnt(values: Mapping[str, object], earlier: Sequence[News], before: View | None) -> Sentence:
    if values.get("by") == "ten":
        return said("burnt_ten", count=_number(values, "count"))
    last = next((item for item in reversed(earlier) if item.name in ("played", "flipped")), None)
    cards = _cards(last.values, "face" if last.name == "flipped" else "faces") if last is not None else ()
    if not cards:
        return said("burnt_run")
    rank = cards[-1][0]
    run = _run_before(earlier, before, rank)
    number = number_word(max(run, len(cards), 4))
    return said("burnt_quartet", number=number, ranks=rank_word(rank, 2))


def _run_before(earlier: Sequence[News], before: View | None, rank: str) -> int:
    """How many equal ranks made the pile burn: those that this batch tells of and those that lay there."""
    count = 0
    for item in reversed(earlier):
        if item.name in ("burnt", "picked_up"):
            return count
        if item.name in ("played", "flipped"):
            cards = _cards(item.values, "face" if item.name == "flipped" else "faces")
            if cards[0][0] != rank:
                return count
            count += len(cards)
    if before is not None and before.pile is not None and before.pile.cards:
        count += before.pile.run if before.pile.cards[-1][0] == rank else 0
    return count


def _turn(
    values: Mapping[str, object], earlier: Sequence[News], before: View | None, after: View
) -> list[Sentence]:
    """After a burn the same player goes on, which is worth a word; any other turn follows by itself."""
    seat = _number(values, "seat")
    last = next((item for item in reversed(earlier) if item.name not in ("drew",)), None)
    again = last is not None and last.name == "burnt" and last.values.get("seat") == seat
    return _seated("again", values, after) if again else []


def _verdict(values: Mapping[str, object], style: Style) -> list[Sentence]:
    audit, verdict = values.get("audit"), _text(values, "verdict")
    if not isinstance(audit, Verdict):
        return []
    match verdict:
        case "fair":
            return [said("fair", **audit.checks)]
        case "cheating":
            faults = [said("fault", text=render(fault.sentence, style=style)) for fault in audit.faults]
            return [said("cheating"), *faults]
        case "unproven" | "damaged":
            return [said(verdict, text=render(audit.complete, style=style))]
        case _:
            return []


def _progress(before: View, after: View) -> list[Sentence]:
    """How far the deal has come, where that has changed."""
    deal, was = after.deal, before.deal
    if deal is None or after.stage not in (Stage.OFFER, Stage.DEALING, Stage.ARRANGE):
        return []
    same = was is not None and before.round == after.round and before.stage is not Stage.OVER
    found: list[Sentence] = []
    if after.stage is Stage.OFFER and deal.accepted > (was.accepted if same and was else 0):
        found.append(said("accepted", done=deal.accepted, all=deal.players))
    if deal.shuffled > (was.shuffled if same and was else 0):
        found.append(said("shuffled", done=deal.shuffled, all=deal.players))
    agreed = was.agreed if same and was else 0
    if deal.agreed == deal.players and agreed < deal.players:
        found.append(said("proven", all=deal.players))
    return found


def place_word(place: int) -> str:
    """``first`` for 1, and so on."""
    return PLACES[place - 1] if 1 <= place <= len(PLACES) else str(place)


def fits_words(fits: Sequence[str]) -> str:
    """Ranks that fit, in words: ``7 or higher, a 2 or a 10``. ``fits``: rank characters."""
    order = "23456789TJQKA"
    ranks = [rank for rank in order if rank in fits]
    if len(ranks) == len(order):
        return "anything"
    high: list[str] = []
    for rank in reversed(order):
        if rank not in ranks:
            break
        high.insert(0, rank)
    others = [rank for rank in ranks if rank not in high]
    if len(high) == 1:
        others, high = [*others, *high], []
    words = [f"{_short(high[0])} or higher"] if high else []
    words += [f"{'an' if rank in '8A' else 'a'} {_short(rank)}" for rank in others]
    return listed(words, "or")


def _short(rank: str) -> str:
    return rank_word(rank) if rank in "JQKA" else rank_label(rank)

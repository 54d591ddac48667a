"""What happened at a table, told in sentences, one or none for each piece of news."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Final

from client.cards import Style, number_word, rank_word
from client.clocks import Clocks
from client.fairness import why_unproven
from client.lines.telling import (
    TELLERS,
    cards_in,
    clock_sentences,
    contract,
    fits_words,
    key_in,
    next_round,
    number_in,
    over,
    place_word,
    rules_sentences,
    seated,
    text_in,
)
from client.phrases import WAITS, said, told
from client.sentences import Names, render
from client.view import Stage, View, WaitRow
from engine.cards import rank_text
from engine.errors import Sentence
from engine.rules import RuleSet, to_items
from p2p.feeds.faults import Fault
from p2p.rounds.audit import Verdict
from p2p.rounds.news import News

HURRY_S: Final = 10
"""So long before a limit is over its player is told: enough to read the hand once more."""

WAIT_SAID_S: Final = 15
"""A person thinks for a while; from here on the table is told for whom it waits."""


class Narrator:
    """Turns news and changes of the view into lines. Remembers only what it must not say twice.

    ``asks``: whether somebody is there to be told how to go on after a round; ``say``: makes a line of a sentence.
    """

    def __init__(
        self, style: Style, asks: bool = True, say: Callable[[Sentence, Names, Style], str] = render
    ) -> None:
        self._style = style
        self._say = say
        self._asks = asks
        self._lost: set[bytes] = set()
        self._rules: RuleSet | None = None
        self._clocks = Clocks()
        self._hurried: object = None
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
        found.extend(_acting(before, after))
        found.extend(self._waiting(after))
        names = _names_for(before, after)
        return [self._say(sentence, names, self._style) for sentence in found]

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
                return contract(values, after) + self._rules_of(values) + self._clocks_of(values)
            case "fault":
                fault = values.get("fault")
                if not isinstance(fault, Fault):
                    return []
                text = render(fault.sentence, _names_for(before, after), self._style)
                return [said("fault", text=text)]
            case "verdict":
                return _verdict(values, self._style)
            case "over":
                return over(values, after) + ([next_round(after)] if self._asks else [])
            case name:
                teller = TELLERS.get(name)
                return teller(values, after) if teller is not None else []

    def _rules_of(self, values: Mapping[str, object]) -> list[Sentence]:
        """What is unusual about the rules of an offer, or differs from the offer before, as people say it."""
        rules = values.get("rules")
        if not isinstance(rules, RuleSet):
            return []
        before, self._rules = self._rules, rules
        old = dict(to_items(before or RuleSet()))
        changes = {name for name, value in to_items(rules) if old[name] != value}
        if not changes:
            return []
        head = said("rules_changed" if before is not None else "rules_new")
        return [head, *rules_sentences(rules, changes)]

    def _clocks_of(self, values: Mapping[str, object]) -> list[Sentence]:
        """The clocks of an offer, where they are unusual or differ from those of the offer before."""
        limits = values.get("limits")
        if not isinstance(limits, tuple | list) or len(limits) != len(fields(Clocks)):
            return []
        before, self._clocks = self._clocks, Clocks(*limits)
        if self._clocks == before:
            return []
        return [said("clock_head"), *(said("rules_line", text=part) for part in clock_words(self._clocks))]

    def _link(self, values: Mapping[str, object], after: View) -> list[Sentence]:
        key = key_in(values, "player")
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
        found: list[Sentence] = self._hurry(after)
        for wait in others:
            if wait.seconds >= WAIT_SAID_S and (wait.name, wait.what) not in self._waits:
                self._waits.add((wait.name, wait.what))
                what = WAITS.get(wait.what, wait.what)
                found.append(told("wait", False, player=wait.name, what=what))
        if after.overdue and not self._overdue:
            longest = longest_overdue(after)
            if longest is not None:
                what = WAITS.get(longest.what, longest.what)
                code = "overdue" if after.in_round else "overdue_seen"
                found.append(told(code, False, player=longest.name, seconds=longest.seconds, what=what))
        self._overdue = after.overdue
        return found

    def _hurry(self, after: View) -> list[Sentence]:
        """Says once of a limit of mine that it will soon be over."""
        wait = next((wait for wait in after.waits if wait.is_me and wait.limit_s), None)
        if wait is None or not self._asks:
            return []
        left = wait.limit_s - wait.seconds
        about = (wait.what, after.round, after.stamp if wait.what == "move" else b"")
        if not 0 < left <= min(HURRY_S, wait.limit_s // 2) or self._hurried == about:
            return []
        self._hurried = about
        return [said("clock_left", seconds=left)]


def _acting(before: View | None, after: View) -> list[Sentence]:
    """That another one does what the host does: where the host has gone or is back."""
    if before is None or not before.host or before.host == after.host or not after.host:
        return []
    if _hears_nobody(before) or _hears_nobody(after):
        # Whoever is cut off acts for nobody.
        return []
    return [told("acts", after.i_host, player=after.host)]


def _hears_nobody(view: View) -> bool:
    return all(row.is_me or row.link == "lost" for row in view.players)


def longest_overdue(view: View) -> WaitRow | None:
    """The wait for somebody else that has lasted longest of those for which the round may be given up."""
    overdue = [wait for wait in view.waits if not wait.is_me and wait.is_overdue]
    return max(overdue, key=lambda wait: wait.seconds, default=None)


def clock_words(clocks: Clocks) -> list[str]:
    """What the clocks of a round say, in words."""
    return [render(sentence) for sentence in clock_sentences(clocks)]


def _names_for(before: View | None, after: View) -> Names:
    """Names of those who are here now, and of those who have just gone."""
    if before is None:
        return after.names
    keys = {**before.names.keys, **after.names.keys}
    seats = after.names.seats or before.names.seats
    my_seat = after.names.my_seat if after.names.seats else before.names.my_seat
    return Names(seats, keys, my_seat, after.me)


# -- values of news ------------------------------------------------------------------------------------


# -- tellers -------------------------------------------------------------------------------------------


def _burnt(values: Mapping[str, object], earlier: Sequence[News], before: View | None) -> Sentence:
    if values.get("by") == "ten":
        return said("burnt_ten", count=number_in(values, "count"))
    laid = _laid(earlier)
    if not laid:
        return said("burnt_run")
    rank = laid[0][0]
    run = _run_before(laid, before, rank)
    least = before.pile.burns_at if before is not None and before.pile is not None else 4
    number = number_word(max(run, least))
    return said("burnt_quartet", number=number, ranks=rank_word(rank, 2))


def _laid(earlier: Sequence[News]) -> list[tuple[str, int]]:
    """What went onto the pile in this batch, the last first, back to where it was empty: (rank character, cards)
    each, wild jokers as what they are named; (``""``, 0) ends it where the pile was gone.
    """
    found: list[tuple[str, int]] = []
    named = ""
    for item in reversed(earlier):
        match item.name:
            case "burnt" | "picked_up":
                return [*found, ("", 0)] if found else []
            case "named":
                named = rank_text(number_in(item.values, "rank"))
            case "played" | "flipped" | "chanced":
                cards = cards_in(item.values, "faces" if item.name == "played" else "face")
                if cards:
                    found.append((named or cards[-1][0], len(cards)))
                named = ""
    return found


def _run_before(laid: Sequence[tuple[str, int]], before: View | None, rank: str) -> int:
    """How many equal ranks made the pile burn: those that this batch tells of and those that lay there."""
    count = 0
    for other, cards in laid:
        if other != rank:
            return count
        count += cards
    if before is not None and before.pile is not None and before.pile.top == rank:
        count += before.pile.run
    return count


def _turn(
    values: Mapping[str, object], earlier: Sequence[News], before: View | None, after: View
) -> list[Sentence]:
    """After a burn the same player goes on, which is worth a word; any other turn follows by itself."""
    seat = number_in(values, "seat")
    last = next((item for item in reversed(earlier) if item.name not in ("drew",)), None)
    again = last is not None and last.name in _GOES_ON and last.values.get("seat") == seat
    return seated("again", values, after) if again else []


_GOES_ON: Final = frozenset({"burnt", "played", "flipped", "chanced", "named", "reversed"})
"""What somebody has done after which the same player is in turn only by a burn or the power ``again``."""


def _verdict(values: Mapping[str, object], style: Style) -> list[Sentence]:
    audit, verdict = values.get("audit"), text_in(values, "verdict")
    if not isinstance(audit, Verdict):
        return []
    match verdict:
        case "fair":
            return [said("fair", **audit.checks)]
        case "cheating":
            faults = [said("fault", text=render(fault.sentence, style=style)) for fault in audit.faults]
            return [said("cheating"), *faults]
        case "unproven" | "damaged":
            return [said(verdict, text=render(why_unproven(audit), style=style))]
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


__all__ = ["Narrator", "fits_words", "next_round", "place_word"]

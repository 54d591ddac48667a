"""``--events``: what happens at a table as JSON lines, for programs to read (docs/events.md lists them all).

Each line is one object with ``event`` and ``at``; players are names, cards are texts such as ``Td``. What only
this player may know is marked ``"private": true``. Names and fields are stable: they may grow, not change.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, Protocol

from client.backlog import Writable
from client.phrases import SAID, said
from client.sentences import Names, render
from client.view import make_view
from engine.cards import card_text, rank_text
from engine.errors import Sentence
from engine.rules import RuleSet, changed_items
from p2p.feeds.faults import Fault
from p2p.rounds.audit import Verdict
from p2p.rounds.news import News
from p2p.rounds.phases import Phase
from p2p.rounds.snapshot import Snapshot

log = logging.getLogger(__name__)

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
"""What a field can hold."""


class EventNode(Protocol):
    """What an event writer needs of ``p2p.node.node.Node``."""

    @property
    def snapshot(self) -> Snapshot:
        """The table now."""
        ...

    def subscribe(self, listener: Callable[[tuple[News, ...]], None]) -> Callable[[], None]:
        """Calls ``listener`` after each change; returns the end of that."""
        ...


class EventWriter:
    """Writes the events of a node's table to ``file``, one flush a line, until closed.

    The table as it is at the start is told first: ``table``, ``joined`` for everybody there, and ``contract`` and
    ``phase`` of a round that goes on. A file that
    cannot be written any more is given up with a line in the log: the game matters more.
    """

    def __init__(
        self, node: EventNode, file: Writable, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._node = node
        self._file = file
        self._now = now
        self._works = True
        encoding = getattr(file, "encoding", None) or "utf-8"
        self._escapes = encoding.lower().replace("-", "") != "utf8"
        self._names = make_view(node.snapshot).names
        for item in _present(node.snapshot):
            self._write(item)
        self._end: Callable[[], None] | None = node.subscribe(self._heard)

    def close(self) -> None:
        """Writes no more; the file stays open. May be called more than once."""
        self._works = False
        end, self._end = self._end, None
        if end is not None:
            end()

    def _heard(self, news: tuple[News, ...]) -> None:
        if news:
            fresh = make_view(self._node.snapshot).names
            # Who has left in this very step still has a name in it.
            keys = {**self._names.keys, **fresh.keys}
            self._names = Names(fresh.seats or self._names.seats, keys, fresh.my_seat, fresh.my_key)
        for item in news:
            self._write(item)

    def _write(self, item: News) -> None:
        if not self._works:
            return
        line = json.dumps(event(item, self._names, self._now()), ensure_ascii=self._escapes)
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except (OSError, ValueError) as error:
            # ValueError: the file has been closed, or cannot hold a character.
            log.warning("events are not written any more: %s", error)
            self._works = False


def event(item: News, names: Names, at: datetime) -> dict[str, Json]:
    """A piece of news as the object of docs/events.md."""
    make = FIELDS.get(item.name)
    fields = make(item.values, names) if make is not None else {}
    head: dict[str, Json] = {"event": item.name, "at": _moment(at)}
    if item.private:
        head["private"] = True
    return {**head, **fields}


def _moment(at: datetime) -> str:
    """RFC 3339, UTC, milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _present(snapshot: Snapshot) -> list[News]:
    found = [News("table", {"table": snapshot.table, "name": snapshot.name})]
    for player in snapshot.players:
        found.append(News("joined", {"player": player.key, "name": player.name, "bot": player.is_bot}))
    round_ = snapshot.round
    if round_ is not None and round_.phase not in (Phase.CLOSED, Phase.DEAD):
        values: dict[str, object] = {
            "contract": round_.contract,
            "round": round_.number,
            "attempt": round_.attempt,
        }
        found.append(
            News("contract", {**values, "players": round_.roster, "rules": round_.rules, "limits": round_.limits})
        )
        found.append(News("phase", {**values, "phase": round_.phase}))
    # A trouble that lasts was told once, and that may have been before anybody listened.
    found += [News("error", {"sentence": said(code)}) for code in snapshot.notices if code in SAID]
    return found


# -- values --------------------------------------------------------------------------------------------


Values = Mapping[str, object]


def _plain(values: Values, name: str) -> Json:
    value = values.get(name)
    return value if isinstance(value, str | int | float | bool) else None


def _named(values: Values, names: Names, name: str = "player") -> Json:
    value = values.get(name)
    return names.of_key(value) if isinstance(value, bytes) else None


def _all_named(values: Values, names: Names, name: str) -> Json:
    value = values.get(name)
    return [names.of_key(key) for key in value if isinstance(key, bytes)] if isinstance(value, tuple) else []


def _seated(values: Values, names: Names) -> Json:
    seat = values.get("seat")
    return names.of_seat(seat) if isinstance(seat, int) else None


def _card(values: Values, name: str) -> Json:
    face, packs = values.get(name), values.get("packs")
    return card_text(face, packs) if isinstance(face, int) and isinstance(packs, int) else None


def _cards(values: Values) -> Json:
    faces, packs = values.get("faces"), values.get("packs")
    if not isinstance(faces, tuple) or not isinstance(packs, int):
        return []
    return [card_text(face, packs) for face in faces]


# -- the events ----------------------------------------------------------------------------------------


def _table(values: Values, names: Names) -> dict[str, Json]:
    ident = values.get("table")
    return {"table": _plain(values, "name"), "id": ident.hex() if isinstance(ident, bytes) else None}


def _joined(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _plain(values, "name"), "bot": bool(values.get("bot"))}


def _left(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _plain(values, "name"), "why": _plain(values, "why")}


def _knocked(values: Values, names: Names) -> dict[str, Json]:
    return {**_joined(values, names), "address": _plain(values, "address")}


def _contract(values: Values, names: Names) -> dict[str, Json]:
    contract, rules = values.get("contract"), values.get("rules")
    options: dict[str, Json] = dict(changed_items(rules)) if isinstance(rules, RuleSet) else {}
    return {
        "contract": contract.hex() if isinstance(contract, bytes) else None,
        "round": _plain(values, "round"),
        "attempt": _plain(values, "attempt"),
        "players": _all_named(values, names, "players"),
        "rules": options,
        **_clocks(values),
    }


def _clocks(values: Values) -> dict[str, Json]:
    limits = values.get("limits")
    turn_s, arrange_s, grace_s = limits if isinstance(limits, tuple | list) and len(limits) == 3 else (None,) * 3
    return {"turn_s": turn_s, "arrange_s": arrange_s, "grace_s": grace_s}


def _declined(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _named(values, names), "reason": _plain(values, "reason"), "debts": _debts(values, names)}


def _phase(values: Values, names: Names) -> dict[str, Json]:
    return {"round": _plain(values, "round"), "phase": str(values.get("phase"))}


def _words(values: Values, names: Names) -> dict[str, Json]:
    words, seats, dealer = values.get("words"), _all_named(values, names, "seats"), values.get("dealer")
    dealt_by = seats[dealer] if isinstance(seats, list) and isinstance(dealer, int) and seats else None
    return {
        "words": [str(word) for word in words] if isinstance(words, tuple) else [],
        "seats": seats,
        "dealer": dealt_by,
    }


def _hand(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "cards": _cards(values)}


def _swapped(values: Values, names: Names) -> dict[str, Json]:
    return {
        "player": _seated(values, names),
        "laid_out": _card(values, "up_face"),
        "taken_up": _card(values, "hand_face"),
    }


def _ready(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names)}


def _declared(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "card": _card(values, "face")}


def _eldest(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "rank": _rank(values), "by": _plain(values, "by")}


def _played(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "cards": _cards(values), "zone": _plain(values, "zone")}


def _drew(values: Values, names: Names) -> dict[str, Json]:
    found = {"player": _seated(values, names), "count": _plain(values, "count")}
    return {**found, "cards": _cards(values)} if values.get("own") else found


def _laid_out(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "cards": _cards(values)}


def _rank(values: Values) -> Json:
    rank = values.get("rank")
    return rank_text(rank) if isinstance(rank, int) and rank >= 0 else None


def _named_as(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "cards": _cards(values), "rank": _rank(values)}


def _follow_up(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "rank": _rank(values)}


def _reversed(values: Values, names: Names) -> dict[str, Json]:
    direction = values.get("direction")
    turned = ("clockwise" if direction > 0 else "anticlockwise") if isinstance(direction, int) else None
    return {"player": _seated(values, names), "direction": turned}


def _skipped(values: Values, names: Names) -> dict[str, Json]:
    seats = values.get("seats")
    return {"players": [names.of_seat(seat) for seat in seats] if isinstance(seats, tuple) else []}


def _counted(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "count": _plain(values, "count")}


def _picked_up(values: Values, names: Names) -> dict[str, Json]:
    return {**_counted(values, names), "upcards": _cards(values)}


def _flipped(values: Values, names: Names) -> dict[str, Json]:
    return {
        "player": _seated(values, names),
        "card": _card(values, "face"),
        "legal": bool(values.get("legal")),
    }


def _burnt(values: Values, names: Names) -> dict[str, Json]:
    return {**_counted(values, names), "by": _plain(values, "by")}


def _out(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _seated(values, names), "place": _plain(values, "place")}


def _debts(values: Values, names: Names) -> Json:
    debts = values.get("debts")
    pairs = debts if isinstance(debts, tuple) else ()
    return [{"player": names.of_key(key), "what": what} for key, what in pairs]


def _over(values: Values, names: Names) -> dict[str, Json]:
    return {
        "round": _plain(values, "round"),
        "result": _plain(values, "result"),
        "finish": _all_named(values, names, "finish"),
        "shithead": _named(values, names, "shithead"),
        "debts": _debts(values, names),
        "left": _all_named(values, names, "left"),
        "gave_up": _all_named(values, names, "gave_up"),
    }


def _fault(values: Values, names: Names) -> dict[str, Json]:
    fault = values.get("fault")
    text = render(fault.sentence, Names(keys=names.keys)) if isinstance(fault, Fault) else None
    return {"player": _named(values, names), "code": _plain(values, "code"), "sentence": text}


def _verdict(values: Values, names: Names) -> dict[str, Json]:
    audit = values.get("audit")
    faults: list[Json] = []
    checks: dict[str, Json] = {}
    if isinstance(audit, Verdict):
        checks.update(audit.checks)
        for fault in audit.faults:
            faults.append({"player": fault.player, "code": fault.code, "sentence": render(fault.sentence)})
    return {
        "round": _plain(values, "round"),
        "verdict": _plain(values, "verdict"),
        "faults": faults,
        "checks": checks,
    }


def _saved(values: Values, names: Names) -> dict[str, Json]:
    return {"round": _plain(values, "round"), "path": _plain(values, "path")}


def _unsaved(values: Values, names: Names) -> dict[str, Json]:
    sentence = values.get("sentence")
    reason = render(sentence, names) if isinstance(sentence, Sentence) else _plain(values, "reason")
    return {"round": _plain(values, "round"), "reason": reason}


def _link(values: Values, names: Names) -> dict[str, Json]:
    return {
        "player": _named(values, names),
        "status": _plain(values, "status"),
        "rtt_ms": _plain(values, "rtt_ms"),
    }


def _said(values: Values, names: Names) -> dict[str, Json]:
    return {"player": _plain(values, "name"), "text": _plain(values, "text")}


def _error(values: Values, names: Names) -> dict[str, Json]:
    sentence, remedy = values.get("sentence"), values.get("remedy")
    return {
        "code": sentence.code if isinstance(sentence, Sentence) else None,
        "sentence": render(sentence, names) if isinstance(sentence, Sentence) else None,
        "remedy": render(remedy, names) if isinstance(remedy, Sentence) else None,
    }


FIELDS: Final[dict[str, Callable[[Values, Names], dict[str, Json]]]] = {
    "table": _table,
    "joined": _joined,
    "left": _left,
    "knocked": _knocked,
    "contract": _contract,
    "declined": _declined,
    "phase": _phase,
    "words": _words,
    "hand": _hand,
    "swapped": _swapped,
    "chose": _counted,
    "laid_out": _laid_out,
    "ready": _ready,
    "declared": _declared,
    "eldest": _eldest,
    "turn": _ready,
    "played": _played,
    "drew": _drew,
    "picked_up": _picked_up,
    "flipped": _flipped,
    "chanced": _flipped,
    "named": _named_as,
    "follow_up": _follow_up,
    "done": _ready,
    "reversed": _reversed,
    "skipped": _skipped,
    "burnt": _burnt,
    "out": _out,
    "over": _over,
    "fault": _fault,
    "verdict": _verdict,
    "saved": _saved,
    "unsaved": _unsaved,
    "link": _link,
    "said": _said,
    "error": _error,
}
"""Event → the function that makes its fields, and so the list of all events."""

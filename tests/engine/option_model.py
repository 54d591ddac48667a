"""The options of docs/rules.md 3 written down a second time, as plainly as possible.

It knows open play from the first lead on, and answers two questions: what may be done, and what comes of it. Cards
are texts, zones are lists, options are text; nothing is shared with the engine. A card is one text such as ``9c``
or ``X1``; in the wastepile it stands with the rank it counts as.
"""

from __future__ import annotations

import copy
import re

ORDER = "23456789TJQKAX"

Action = tuple[object, ...]


class Model:
    """A round under options given as text; seats are indices."""

    def __init__(self, options: dict[str, str], hands: list[list[str]], ups: list[list[str]],
                 downs: list[list[str]], stock: list[str], turn: int, must_lead: str = "") -> None:  # fmt: skip
        self.options = options
        self.hands, self.ups, self.downs, self.stock, self.turn = hands, ups, downs, stock, turn
        self.pile: list[tuple[str, str]] = []
        self.burnt: list[str] = []
        self.out: list[int] = []
        self.step = 1
        self.naming = ""
        self.naming_slot = -1
        self.drawn: list[str] = []
        self.laid = 0
        self.over = False
        self.must_lead = must_lead
        """The rank that the first lead has to hold, if the hand has it."""

    # -- what the options say about ranks --------------------------------------------------------

    def on(self, option: str) -> bool:
        return self.options[option] == "true"

    def is_wild(self, card: str) -> bool:
        return card[0] == "X" and self.options["joker_power"] == "wild"

    def has(self, rank: str, power: str) -> bool:
        if rank == "X":
            kind = self.options["joker_power"]
            return power in {"reverse": ("transparent", "reverse"), "transparent": ("transparent",),
                             "burn": ("burn",)}.get(kind, ())  # fmt: skip
        return rank in self.options[power].split(",")

    def nameable(self) -> list[str]:
        return [r for r in ORDER[:-1] if r not in "2T" and not self.has(r, "reset") and not self.has(r, "burn")]

    def top(self) -> str:
        for _, rank in reversed(self.pile):
            if not self.has(rank, "transparent"):
                return rank
        return ""

    def legal(self, rank: str, count: int, upcards: bool) -> bool:
        top = self.top()
        if not top or self.has(top, "reset") or self.has(rank, "reset") or self.has(rank, "transparent"):
            return True
        higher = ORDER.index(rank) - ORDER.index(top)
        if self.has(top, "ceiling"):
            return higher <= 0 or (self.has(rank, "burn") and self.on("ten_on_ceiling"))
        if self.has(rank, "burn"):
            return True
        if self.on("quartet_beats_all") and count >= int(self.options["burn_run"]):
            return True
        return higher > 0 if upcards and self.on("upcards_strict") else higher >= 0

    def run(self) -> int:
        ranks = [rank for _, rank in reversed(self.pile)]
        first = ranks[0]
        seen_through = not self.on("transparent_breaks_run") and not self.has(first, "transparent")
        count = 0
        for rank in ranks:
            if rank == first:
                count += 1
            elif not (seen_through and self.has(rank, "transparent")):
                break
        return count

    # -- what may be done ------------------------------------------------------------------------

    def sets(self) -> set[Action]:
        """("play", rank, cards): the sorted first characters of the cards, upcards in lower case behind a hand."""
        seat = self.turn
        hand, ups = self.hands[seat], self.ups[seat]
        found: set[Action] = set()
        zone = hand or ups
        combined = bool(hand and self.on("combine_last_hand") and not self.stock)
        for subset in _subsets(zone):
            extra = _subsets(ups) if combined and len(subset) == len(hand) else [[]]
            for more in [[], *extra]:
                cards = subset + more
                natural = {card[0] for card in cards if not self.is_wild(card)}
                if len(natural) > 1 or (self.is_bound() and self.must_lead not in natural):
                    continue
                if any(self.is_wild(card) for card in cards):
                    ranks = [r for r in self.nameable() if not natural or r in natural]
                else:
                    ranks = list(natural)
                for rank in ranks:
                    if self.legal(rank, len(cards), not hand):
                        told = sorted([c[0] for c in subset] + [c[0].lower() + "+" for c in more])
                        found.add(("play", rank, "".join(told)))
        return found

    def is_bound(self) -> bool:
        return any(card[0] == self.must_lead for card in self.hands[self.turn])

    def actions(self) -> set[Action]:
        seat = self.turn
        if self.over:
            return set()
        if self.naming:
            return {("name", rank) for rank in self.nameable() if self.legal(rank, 1, False)}
        if self.drawn:
            rank = self.pile[-1][1]
            fitting = [card for card in self.drawn if card[0] == rank and not self.is_wild(card)]
            return {("done",), *(("play", rank, rank * n) for n in range(1, len(fitting) + 1))}
        hand, ups = self.hands[seat], self.ups[seat]
        if not hand and not ups:
            flips: set[Action] = {("flip", slot) for slot, card in enumerate(self.downs[seat]) if card}
            return flips | ({("pick up", "")} if self.on("blind_pick_up") and self.pile else set())
        found = self.sets()
        able = bool(found)
        if self.pile and (self.options["pick_up"] == "voluntary" or not able):
            rule = self.options["upcard_pick_up"]
            if hand or rule == "pile":
                found.add(("pick up", ""))
            else:
                for rank in {card[0] for card in ups}:
                    most = 1 if rule == "pile_plus_one" else sum(card[0] == rank for card in ups)
                    found |= {("pick up", rank * n) for n in range(1, most + 1)}
        rule = self.options["chance"]
        if (
            hand
            and self.stock
            and (rule == "chance_free" or (rule == "chance" and not able))
            and not self.is_bound()
        ):
            found.add(("chance",))
        return found

    # -- what comes of it ------------------------------------------------------------------------

    def play(self, cards: list[str], rank: str) -> None:
        seat = self.turn
        from_hand = bool(self.hands[seat])
        for card in cards:
            (self.hands[seat] if card in self.hands[seat] else self.ups[seat]).remove(card)
            self.pile.append((card, rank if self.is_wild(card) else card[0]))
        self.drawn = [card for card in self.drawn if card not in cards]
        self.laid += len(cards)
        self.resolve(from_hand)

    def turn_up(self, card: str, slot: int) -> None:
        """A card from a slot, or from the stock (slot -1)."""
        fits = [r for r in self.nameable() if self.legal(r, 1, False)] if self.is_wild(card) else [card[0]]
        if self.is_wild(card) and fits:
            self.naming, self.naming_slot = card, slot
            return
        legal = bool(fits) and self.legal(card[0], 1, False)
        self.remove(slot)
        if legal:
            self.lay_one(card, card[0])
        else:
            self.pick_up([card])

    def name(self, rank: str) -> None:
        card, slot, self.naming = self.naming, self.naming_slot, ""
        self.remove(slot)
        self.lay_one(card, rank)

    def remove(self, slot: int) -> None:
        if slot < 0:
            self.stock.pop(0)
        else:
            self.downs[self.turn][slot] = ""

    def lay_one(self, card: str, rank: str) -> None:
        self.pile.append((card, rank))
        self.laid = 1
        self.resolve(False)

    def pick_up(self, more: list[str]) -> None:
        seat = self.turn
        for card in more:
            if card in self.ups[seat]:
                self.ups[seat].remove(card)
        self.hands[seat] += [card for card, _ in self.pile] + more
        self.pile = []
        self.end_turn(0)

    def resolve(self, from_hand: bool) -> None:
        seat, rank, cards = self.turn, self.pile[-1][1], self.laid
        by_card = self.has(rank, "burn")
        burn = by_card or self.run() >= int(self.options["burn_run"])
        if burn:
            self.burnt += [card for card, _ in self.pile]
            self.pile = []
        while from_hand and self.stock and len(self.hands[seat]) < int(self.options["refill_to"]):
            self.hands[seat].append(self.stock[0])
            self.drawn.append(self.stock.pop(0))
        gone = not self.hands[seat] and not self.ups[seat] and not any(self.downs[seat])
        if gone:
            self.out.append(seat)
            if len(self.out) == len(self.hands) - 1:
                self.over = True
                return
        if burn:
            again = not gone and (by_card or self.options["replay_after_quartet"] == "must")
            self.end_turn(0, stay=again)
        elif self.drawn and self.on("draw_follow_up") and not self.has(rank, "again"):
            self.must_lead = ""
        else:
            self.powers(rank, cards)

    def done(self) -> None:
        self.powers(self.pile[-1][1], self.laid)

    def powers(self, rank: str, cards: int) -> None:
        if self.has(rank, "reverse") and (cards % 2 == 1 or self.options["reverse_count"] == "once"):
            self.step = -self.step
        if self.has(rank, "again") and self.turn not in self.out:
            self.end_turn(0, stay=True)
            return
        skips = (cards if self.on("skip_per_card") else 1) if self.has(rank, "skip") else 0
        self.end_turn(skips)

    def end_turn(self, skips: int, *, stay: bool = False) -> None:
        self.drawn, self.laid, self.must_lead = [], 0, ""
        if stay:
            return
        for _ in range(1 + skips):
            self.turn = (self.turn + self.step) % len(self.hands)
            while self.turn in self.out:
                self.turn = (self.turn + self.step) % len(self.hands)

    # -- counting --------------------------------------------------------------------------------

    def do(self, action: Action) -> None:
        seat, kind = self.turn, action[0]
        match action:
            case ("play", str(rank), str(told)):
                hand, ups = list(self.hands[seat]), list(self.ups[seat])
                cards = []
                for token in re.findall(r".\+?", told):
                    zone = ups if token[1:] or not hand + cards else hand
                    zone = ups if not self.hands[seat] else zone
                    cards.append(next(card for card in sorted(zone) if card[0] == token[0].upper()))
                    zone.remove(cards[-1])
                if self.drawn:
                    cards = [card for card in self.drawn if card[0] == rank][: len(cards)]
                self.play(cards, rank)
            case ("pick up", str(told)):
                ups = sorted(self.ups[seat])
                self.pick_up([card for r in set(told) for card in ups if card[0] == r][: len(told)])
            case ("flip", int(slot)):
                self.turn_up(self.downs[seat][slot], slot)
            case ("name", str(rank)):
                self.name(rank)
            case _:
                if kind == "done":
                    self.done()
                else:
                    self.turn_up(self.stock[0], -1)

    def perft(self, depth: int) -> int:
        if depth == 0 or self.over:
            return 1
        total = 0
        for action in self.actions():
            child = copy.deepcopy(self)
            child.do(action)
            total += child.perft(depth - 1)
        return total


def _subsets(cards: list[str]) -> list[list[str]]:
    """Non-empty sets of cards of one rank, jokers with them; one for each number of each."""
    found = []
    for rank in {card[0] for card in cards}:
        equal = sorted(card for card in cards if card[0] == rank)
        jokers = sorted(card for card in cards if card[0] == "X") if rank != "X" else []
        found += [equal[:n] + jokers[:m] for n in range(1, len(equal) + 1) for m in range(len(jokers) + 1)]
    return copy.deepcopy(found)

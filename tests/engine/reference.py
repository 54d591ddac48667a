"""The order of resolution of docs/rules.md 1.16, written down a second time as plainly as possible.

Cards are texts, zones are lists, nothing is shared with the engine. It knows open play from the first lead on, one
direction, no leaving and no limit.
"""

from __future__ import annotations

import copy

ORDER = "3456789TJQKA"


class Reference:
    """A round; seats are indices."""

    def __init__(self, hands: list[list[str]], ups: list[list[str]], downs: list[list[str]], stock: list[str],
                 pile: list[str], turn: int) -> None:  # fmt: skip
        self.hands, self.ups, self.downs = hands, ups, downs
        self.stock, self.pile, self.turn = stock, pile, turn
        self.burnt: list[str] = []
        self.out: list[int] = []
        self.over = False

    def legal(self, rank: str) -> bool:
        top = self.pile[-1][0] if self.pile else None
        return top is None or rank in "2T" or top == "2" or ORDER.index(rank) >= ORDER.index(top)

    def actions(self) -> list[tuple[str, object, int]]:
        """("play", rank, count), ("flip", slot, 0) and ("pick up", "", 0)."""
        seat = self.turn
        zone = self.hands[seat] or self.ups[seat]
        if self.over:
            return []
        if not zone:
            return [("flip", slot, 0) for slot, card in enumerate(self.downs[seat]) if card]
        found: list[tuple[str, object, int]] = []
        for rank in sorted({card[0] for card in zone}):
            if self.legal(rank):
                held = sum(card[0] == rank for card in zone)
                found += [("play", rank, count) for count in range(1, held + 1)]
        return found + ([("pick up", "", 0)] if self.pile else [])

    def play(self, cards: list[str]) -> None:
        seat = self.turn
        from_hand = bool(self.hands[seat])
        zone = self.hands[seat] if from_hand else self.ups[seat]
        for card in cards:
            zone.remove(card)
        self.pile += cards
        self.resolve(from_hand)

    def flip(self, slot: int) -> None:
        card = self.downs[self.turn][slot]
        self.downs[self.turn][slot] = ""
        legal = self.legal(card[0])
        self.pile.append(card)
        if legal:
            self.resolve(False)
        else:
            self.pick_up()

    def pick_up(self) -> None:
        self.hands[self.turn] += self.pile
        self.pile = []
        self.turn = self.following()

    def resolve(self, from_hand: bool) -> None:
        seat, top = self.turn, self.pile[-1][0]
        ranks = "".join(card[0] for card in self.pile)
        burn = top == "T" or len(ranks) - len(ranks.rstrip(top)) >= 4
        if burn:
            self.burnt += self.pile
            self.pile = []
        while from_hand and self.stock and len(self.hands[seat]) < 3:
            self.hands[seat].append(self.stock.pop(0))
        gone = not self.hands[seat] and not self.ups[seat] and not any(self.downs[seat])
        if gone:
            self.out.append(seat)
            self.over = len(self.out) == len(self.hands) - 1
        if not burn or gone:
            self.turn = self.following()

    def following(self) -> int:
        seat = (self.turn + 1) % len(self.hands)
        while seat in self.out:
            seat = (seat + 1) % len(self.hands)
        return seat

    def do(self, action: tuple[str, object, int]) -> None:
        kind, what, count = action
        if kind == "play":
            zone = self.hands[self.turn] or self.ups[self.turn]
            self.play([card for card in zone if card[0] == what][:count])
        elif kind == "flip":
            assert isinstance(what, int)
            self.flip(what)
        else:
            self.pick_up()

    def perft(self, depth: int) -> int:
        if depth == 0 or self.over:
            return 1
        total = 0
        for action in self.actions():
            child = copy.deepcopy(self)
            child.do(action)
            total += child.perft(depth - 1)
        return total

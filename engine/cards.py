"""Cards as small numbers, and their text forms.

A card is its number in the ordered pack: ``k = 52 * pack + 4 * rank + suit`` with rank 0…12 = 2…A and suit
0…3 = c d h s. Jokers follow after the last pack: ``k = 52 * packs + j``. A number, because the deal encrypts
numbers, and two peers must never disagree about which card is meant.
"""

from __future__ import annotations

from typing import Final

from engine.errors import RuleError

UNKNOWN: Final = -1
"""A face that this state does not know; also the rank of such a face."""

RANKS: Final = "23456789TJQKA"
"""Rank characters by rank number; ``T`` is ten."""

SUITS: Final = "cdhs"
"""Suit characters by suit number."""

JOKER_RANK: Final = 13
"""The rank number of every joker: one more than the ace, so that tables by rank have room for it."""

DEUCE: Final = RANKS.index("2")
TEN: Final = RANKS.index("T")

CARDS_IN_PACK: Final = 52

UNKNOWN_TEXT: Final = "??"


def pack_size(packs: int, jokers: int) -> int:
    """How many cards there are in ``packs`` packs with ``jokers`` jokers each (R3, R6)."""
    return packs * (CARDS_IN_PACK + jokers)


def rank(k: int, packs: int | None = None) -> int:
    """The rank number of card ``k``: 0…12 = 2…A, ``JOKER_RANK`` for a joker, ``UNKNOWN`` for an unknown card.

    Without ``packs`` the card is taken as one of a pack without jokers.
    """
    if k < 0:
        return UNKNOWN
    if packs is not None and k >= CARDS_IN_PACK * packs:
        return JOKER_RANK
    return k % CARDS_IN_PACK // 4


def suit(k: int) -> int:
    """The suit number of the natural card ``k``: 0…3 = c d h s (``UNKNOWN`` for an unknown card)."""
    return UNKNOWN if k < 0 else k % 4


def rank_text(number: int) -> str:
    """The character of a rank number: ``2``…``A``, ``X`` for jokers, ``?`` for an unknown one."""
    if number == JOKER_RANK:
        return "X"
    return RANKS[number] if number >= 0 else "?"


def card_text(k: int, packs: int) -> str:
    """The text form of a card: ``Td``, in later packs ``9c'`` and ``9c''``, jokers ``X1`` …, unknown
    ``??``.
    """
    if k < 0:
        return UNKNOWN_TEXT
    pack, within = divmod(k, CARDS_IN_PACK)
    if pack >= packs:
        return f"X{k - CARDS_IN_PACK * packs + 1}"
    return RANKS[within // 4] + SUITS[within % 4] + "'" * pack


def parse_card(text: str, packs: int, jokers: int) -> int:
    """The card that ``text`` names, in exactly the form of :func:`card_text`.

    Raises ``RuleError("no_such_card")`` when the packs in use (``jokers`` jokers each) have no such card, and
    for anything that is not a card at all. ``??`` is not a card.
    """
    if is_card_text(text):
        if text[0] == "X":
            j = int(text[1:]) - 1
            if j < packs * jokers:
                return CARDS_IN_PACK * packs + j
        else:
            pack = len(text) - 2
            if pack < packs:
                return CARDS_IN_PACK * pack + 4 * RANKS.index(text[0]) + SUITS.index(text[1])
    raise RuleError("no_such_card", "There is no card {card} in these packs.", card=text)


def is_card_text(text: str) -> bool:
    """Whether ``text`` has the form of a card, whichever packs are in use."""
    if len(text) < 2:
        return False
    if text[0] == "X":
        digits = text[1:]
        return digits.isascii() and digits.isdigit() and digits[0] != "0" and len(digits) <= 3
    return text[0] in RANKS and text[1] in SUITS and text[2:].strip("'") == ""

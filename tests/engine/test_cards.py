"""Cards and their text forms (R3 to R5, section "Card notation")."""

from __future__ import annotations

import pytest

from engine.cards import (
    JOKER_RANK,
    UNKNOWN,
    card_text,
    is_card_text,
    pack_size,
    parse_card,
    rank,
    rank_text,
    suit,
)
from engine.errors import RuleError


@pytest.mark.parametrize(
    ("text", "k", "packs"),
    [
        ("2c", 0, 1),
        ("As", 51, 1),
        ("Td", 33, 1),
        ("9c'", 80, 2),
        ("9c''", 132, 3),
        ("X1", 52, 1),
        ("X4", 107, 2),
    ],
)
def test_numbers_and_texts(text: str, k: int, packs: int) -> None:
    assert parse_card(text, packs, 2) == k
    assert card_text(k, packs) == text


@pytest.mark.parametrize(("packs", "jokers"), [(1, 0), (1, 2), (2, 0), (3, 2)])
def test_r3_every_card_has_one_text(packs: int, jokers: int) -> None:
    texts = [card_text(k, packs) for k in range(pack_size(packs, jokers))]
    assert len(set(texts)) == len(texts)
    assert [parse_card(text, packs, jokers) for text in texts] == list(range(len(texts)))


@pytest.mark.parametrize(
    "text", ["", "T", "10c", "tc", "TC", "9c'", "X1", "X0", "X", "??", '9c"', "9c ", "X٣", "X01", "9x"]
)
def test_what_is_no_card_of_one_pack_is_refused(text: str) -> None:
    with pytest.raises(RuleError) as refused:
        parse_card(text, 1, 0)
    assert refused.value.code == "no_such_card"


def test_ranks_and_suits() -> None:
    assert (rank(33), suit(33)) == (8, 1)
    assert rank(52, 1) == JOKER_RANK
    assert rank(52, 2) == rank(52) == 0
    assert rank(UNKNOWN) == suit(UNKNOWN) == UNKNOWN
    assert card_text(UNKNOWN, 1) == "??"
    assert rank_text(JOKER_RANK) + rank_text(UNKNOWN) + rank_text(8) == "X?T"


def test_the_form_of_a_card_does_not_depend_on_the_packs() -> None:
    assert is_card_text("9c'''") and is_card_text("X12")
    assert not is_card_text("Xa") and not is_card_text("9'c")

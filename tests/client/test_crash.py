"""What a report of a bug holds, and what it never holds."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.cards import Style, card_label
from client.commands.logs import log_to, scrubbed, write_crash
from client.datadir import DataDir
from engine.cards import card_text


@pytest.mark.parametrize("k", range(0, 104, 7))
def test_no_card_is_left(k: int) -> None:
    inside = card_text(k, 2)
    for text in (inside, card_label(inside, Style()), card_label(inside, Style(ascii=True))):
        assert text not in scrubbed(f"KeyError: '{text}'")
        assert text not in scrubbed(f"ValueError: ({text!r}, 3) is not in list")


@given(st.binary(min_size=8, max_size=80))
def test_no_key_is_left(secret: bytes) -> None:
    number = int.from_bytes(secret.rjust(16, b"\x7f"), "big")
    for text in (repr(secret), secret.hex(), str(number)):
        said = scrubbed(f"ValueError: bad {text} here")
        assert text not in said
        assert said.startswith("ValueError: bad ")
        assert said.endswith(" here")


def test_where_it_happened_is_kept(tmp_path: Path) -> None:
    try:
        raise KeyError("7c")
    except KeyError as error:
        place = write_crash(error, DataDir(tmp_path))
    assert place is not None
    text = place.read_text()
    assert "KeyError: '...'" in text
    assert "test_crash.py" in text
    assert "test_where_it_happened_is_kept" in text


def test_no_card_or_key_gets_into_the_log_by_way_of_an_error(tmp_path: Path) -> None:
    seed = bytes(range(32))
    log = logging.getLogger("p2p.somewhere")
    with log_to(tmp_path / "log"):
        try:
            raise KeyError("7c", seed)
        except KeyError:
            log.exception("the task failed")
        log.error("Exception in callback <Handle take(%r, 'Td', '%s')>", seed, seed.hex())
    text = (tmp_path / "log").read_text(encoding="utf-8")
    assert "the task failed" in text
    assert "test_crash.py" in text
    for secret in ("7c", "Td", repr(seed), seed.hex()):
        assert secret not in text

"""Strict points and scalars, and sums that check what they add."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl import bindings

from p2p.dealing import group
from p2p.dealing.group import (
    IDENTITY,
    G,
    L,
    Point,
    Terms,
    UnsafeLibrary,
    add,
    base,
    combination,
    decode_point,
    decode_scalar,
    encode_scalar,
    generators,
    mul,
    spread,
    sub,
    total,
)

P = 2**255 - 19


def y_bytes(y: int, sign: int = 0) -> bytes:
    return (y | sign << 255).to_bytes(32, "little")


ORDER_EIGHT = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
TORSION = {
    "identity": IDENTITY,
    "order 2": y_bytes(P - 1),
    "order 4": y_bytes(0),
    "order 4, other sign": y_bytes(0, 1),
    "order 8": ORDER_EIGHT,
    "order 8, other sign": y_bytes(int.from_bytes(ORDER_EIGHT, "little"), 1),
}
BAD = {
    **TORSION,
    "identity with a sign": y_bytes(1, 1),
    "identity as p+1": y_bytes(P + 1),
    "zero as p": y_bytes(P),
    "p+2": y_bytes(P + 2),
    "2^255-1": y_bytes(2**255 - 1),
    "all ones": b"\xff" * 32,
    "not on the curve": y_bytes(2),
    "empty": b"",
    "31 bytes": bytes(G)[:31],
    "33 bytes": bytes(G) + b"\0",
    **{
        f"G + {name}": bindings.crypto_core_ed25519_add(G, point)
        for name, point in TORSION.items()
        if name != "identity"
    },
}


@pytest.mark.parametrize("name", BAD)
def test_points_that_are_no_elements_are_refused(name: str) -> None:
    assert decode_point(BAD[name]) is None


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("factor", [0, 1, 8, 12345, L - 1])
def test_a_sum_refuses_them_whatever_their_factor(name: str, factor: int) -> None:
    assert combination({G: 3, BAD[name]: factor}) is None


def test_torsion_of_every_order_is_in_the_list() -> None:
    for name in TORSION:
        if name != "identity":
            mixed = BAD[f"G + {name}"]
            eight = mixed
            for _ in range(3):
                eight = bindings.crypto_core_ed25519_add(eight, eight)
            assert mixed != G
            assert eight == base(8)  # eight times the torsion is nothing


def test_a_library_that_takes_mixed_points_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "crypto_core_ed25519_is_valid_point", lambda point: True)
    with pytest.raises(UnsafeLibrary):
        group._check_library()


def test_the_base_point_and_the_order() -> None:
    assert base(1) == G
    assert decode_point(G) == G
    assert base(L) == IDENTITY
    assert add(base(L - 1), G) == IDENTITY


@pytest.mark.parametrize("value", [0, 1, L - 1])
def test_scalars_below_the_order_come_back(value: int) -> None:
    assert decode_scalar(encode_scalar(value)) == value


@pytest.mark.parametrize(
    "data",
    [L.to_bytes(32, "little"), (L + 1).to_bytes(32, "little"), b"\xff" * 32, b"", bytes(31), bytes(33)],
    ids=["L", "L+1", "2^256-1", "empty", "31 bytes", "33 bytes"],
)
def test_other_scalars_are_refused(data: bytes) -> None:
    assert decode_scalar(data) is None


def test_generators_are_pinned_to_their_labels() -> None:
    """They follow from labels alone, so nobody knows a logarithm; a change is a change of the protocol."""
    assert [point.hex() for point in generators(2)] == PINNED_GENERATORS
    assert generators(60)[:3] == generators(2)
    assert len(set(generators(104))) == 105
    assert all(decode_point(point) for point in generators(104))


PINNED_GENERATORS = [
    "33839792ae8bff131984d9e1866bbcd798d86ced239545713a91b92f65879ba1",
    "8f140d76958974759c468c8785aae3e81b6a3d52bd58e17cd98b1c47d2e417b5",
    "6ae9dfbf0332498341f3509b8557cb0a7c20191dfe934b9ab20beca2466c6f1b",
]


def test_arithmetic_with_zero_and_identity() -> None:
    p = base(5)
    assert mul(0, p) == mul(7, IDENTITY) == base(0) == sub(p, p) == total([]) == IDENTITY
    assert add(p, IDENTITY) == p
    assert total([p, mul(L - 1, p), G]) == G


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(-(2**260), 2**260)), max_size=8))
def test_a_sum_is_the_sum_of_its_products(pairs: list[tuple[int, int]]) -> None:
    terms = Terms()
    for k, factor in pairs:
        terms.put(base(k), factor)
    assert combination(terms) == base(sum(k * factor for k, factor in pairs))


def test_threads_give_the_same_sum_and_end() -> None:
    terms = Terms()
    terms.put_all([base(k) for k in range(1, 101)], range(1000, 1100))
    before = threading.active_count()
    assert combination(terms, threads=2) == combination(terms, threads=3) == combination(terms)
    terms[BAD["order 8"]] = 1
    assert combination(terms, threads=2) is None
    assert threading.active_count() == before


def test_spread_keeps_the_order() -> None:
    assert spread(lambda n: n * n, range(11), 3) == [n * n for n in range(11)]


def test_spread_work_is_done_where_the_system_has_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    assert spread(lambda n: n * n, range(11), 3) == [n * n for n in range(11)]


def test_spread_hands_on_errors() -> None:
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        spread(lambda n: 1 // (n - 7), range(11), 3)
    assert threading.active_count() == before


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=32, max_size=32))
def test_random_bytes_decode_to_an_element_or_to_nothing(data: bytes) -> None:
    point = decode_point(data)
    if point is not None:
        assert add(mul(L - 1, point), Point(data)) == IDENTITY


def test_the_negative_of_an_element_is_what_it_cancels_with() -> None:
    for k in (1, 2, 12345, L - 1):
        assert add(base(k), group.negate(base(k))) == IDENTITY
        assert group.negate(base(k)) == base(-k)
    assert group.negate(IDENTITY) == IDENTITY
    p, q = base(5), base(7)
    assert group.combination({p: 1, q: L - 1}) == base(-2)
    assert group.combination({p: -1, q: 1, G: -2}) == IDENTITY


@pytest.mark.parametrize("factor", [1, -1])
def test_a_sum_with_a_factor_of_one_refuses_what_is_no_element(factor: int) -> None:
    mixed = bindings.crypto_core_ed25519_add(base(3), bytes.fromhex("ec" + "ff" * 30 + "7f"))
    for point in (mixed, IDENTITY, b"\xff" * 32, b"", base(3)[:31]):
        assert group.combination({point: factor}) is None

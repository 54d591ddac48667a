"""The group of the deal: the prime-order subgroup of Ed25519, by libsodium through PyNaCl.

Everything about encodings is here, so that the group can be weighed again in one place. A ``Point`` is
the canonical encoding of an element of the subgroup; only this module makes one, from arithmetic or by
strict decoding. Scalars are integers modulo L, on the wire 32 bytes little-endian.

libsodium's multiplication is constant-time and refuses, by its documentation, a point that is not
canonical, not on the curve, of small order or outside the subgroup, and a result that is the identity.
``combination`` relies on that: for a long sum the check costs nothing beside the multiplication.
Python's own integers are not constant-time; docs/crypto.md, "What is not hidden", says what that means.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NewType, TypeVar

from nacl import bindings
from nacl.exceptions import CryptoError

from engine.errors import Sentence, ShitheadError
from p2p.canonical import GROUP_ORDER, PROTOCOL, enc

Point = NewType("Point", bytes)
"""A canonical encoding (32 bytes) of an element of the subgroup. The identity can only come from
arithmetic; no decoder lets it in."""

L: Final = GROUP_ORDER
"""The order of the group."""

POINT_BYTES: Final = 32
SCALAR_BYTES: Final = 32

G: Final = Point(bytes.fromhex("58" + "66" * 31))
"""The base point (RFC 8032, section 5.1)."""

IDENTITY: Final = Point(bytes([1]) + bytes(31))

_SIGN_OF_X: Final = 0x80
"""In the last byte of an encoding (RFC 8032, section 5.1.2)."""

_ORDER_TWO: Final = bytes.fromhex("ec" + "ff" * 30 + "7f")
"""The point (0, −1): on the curve, outside the subgroup."""

MIN_TERMS_PER_THREAD: Final = 32
"""A thread costs about as much as one multiplication to start; below this many it is not worth it."""

T = TypeVar("T")
R = TypeVar("R")


class UnsafeLibrary(ShitheadError):
    """The installed libsodium takes points outside the subgroup for valid."""


def _check_library() -> None:
    """Refuse a libsodium without the fix of CVE-2025-69277 (PyNaCl before 1.6.2 bundles one).

    Such a version takes ``P + (0, −1)`` for a point of the subgroup, and a player could mark cards by it.
    """
    if bindings.crypto_core_ed25519_is_valid_point(bindings.crypto_core_ed25519_add(G, _ORDER_TWO)):
        raise UnsafeLibrary(
            Sentence("unsafe_library", "the libsodium here has CVE-2025-69277; install PyNaCl 1.6.2 or newer")
        )


_check_library()


def decode_point(data: bytes) -> Point | None:
    """The point that ``data`` encodes, or ``None``: wrong length, not canonical, not on the curve, outside
    the subgroup, or the identity."""
    if len(data) != POINT_BYTES or not bindings.crypto_core_ed25519_is_valid_point(data):
        return None
    return Point(data)


def all_points(data: Sequence[bytes], threads: int = 1) -> bool:
    """Whether ``decode_point`` accepts each of ``data``."""
    count = max(1, min(threads, len(data) // MIN_TERMS_PER_THREAD))

    def good(part: Sequence[bytes]) -> bool:
        return all(decode_point(point) is not None for point in part)

    return all(spread(good, [data[i::count] for i in range(count)], count))


def decode_scalar(data: bytes) -> int | None:
    """The scalar that ``data`` encodes, or ``None`` if it has not 32 bytes or is not below L."""
    value = int.from_bytes(data, "little")
    return value if len(data) == SCALAR_BYTES and value < L else None


def encode_scalar(value: int) -> bytes:
    """32 bytes, little-endian, of ``value`` modulo L."""
    return (value % L).to_bytes(SCALAR_BYTES, "little")


def add(p: Point, q: Point) -> Point:
    """p + q."""
    return Point(bindings.crypto_core_ed25519_add(p, q))


def sub(p: Point, q: Point) -> Point:
    """p − q."""
    return Point(bindings.crypto_core_ed25519_sub(p, q))


def base(k: int) -> Point:
    """k·G."""
    k %= L
    return Point(bindings.crypto_scalarmult_ed25519_base_noclamp(encode_scalar(k))) if k else IDENTITY


def mul(k: int, p: Point) -> Point:
    """k·p. libsodium refuses a zero factor and the identity, so both are answered here."""
    k %= L
    if not k or p == IDENTITY:
        return IDENTITY
    return Point(bindings.crypto_scalarmult_ed25519_noclamp(encode_scalar(k), p))


def negate(p: Point) -> Point:
    """−p. In the subgroup only the identity has x = 0; of every other element the sign of x is one bit."""
    return p if p == IDENTITY else Point(p[:-1] + bytes([p[-1] ^ _SIGN_OF_X]))


def total(points: Iterable[Point]) -> Point:
    """The sum of ``points``."""
    result = IDENTITY
    for point in points:
        result = add(result, point) if result != IDENTITY else point
    return result


class Terms(dict[bytes, int]):
    """A linear combination: encoded points with their factors. A point that comes twice is one term, which
    is what makes a batch over a chain of decks cheap."""

    def put(self, point: bytes, factor: int) -> None:
        """Add ``factor``·``point``."""
        self[point] = self.get(point, 0) + factor

    def put_all(self, points: Iterable[bytes], factors: Iterable[int]) -> None:
        """Add each factor times its point."""
        for point, factor in zip(points, factors, strict=True):
            self.put(point, factor)


def combination(terms: Mapping[bytes, int], threads: int = 1) -> Point | None:
    """Σ factor·point, or ``None`` if any of the points is not one that ``decode_point`` accepts.

    The points may come off the wire: each is checked, by its multiplication or by itself.
    """
    pairs = list(terms.items())
    count = max(1, min(threads, len(pairs) // MIN_TERMS_PER_THREAD))
    sums = spread(_sum, [pairs[i::count] for i in range(count)], count)
    good = [partial for partial in sums if partial is not None]
    return total(good) if len(good) == len(sums) else None


def _sum(pairs: Sequence[tuple[bytes, int]]) -> Point | None:
    products: list[Point] = []
    for point, factor in pairs:
        factor %= L
        if point == G:
            products.append(base(factor))
        elif factor in (1, L - 1):
            # Checking costs half of what a multiplication by ±1 would.
            checked = decode_point(point)
            if checked is None:
                return None
            products.append(checked if factor == 1 else negate(checked))
        elif not factor or len(point) != POINT_BYTES:
            if decode_point(point) is None:
                return None
        else:
            try:
                product = bindings.crypto_scalarmult_ed25519_noclamp(encode_scalar(factor), point)
            except CryptoError:
                return None
            products.append(Point(product))
    return total(products)


def spread(function: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """``[function(item) for item in items]``, on up to ``threads`` threads, all ended on return.

    Worth it for multiplications alone: the bindings release the interpreter's lock during each.
    """
    if threads <= 1 or len(items) <= 1:
        return [function(item) for item in items]
    count = min(threads, len(items))
    parts: list[list[R]] = [[] for _ in range(count)]
    failures: list[BaseException] = []

    def work(index: int) -> None:
        try:
            parts[index] = [function(item) for item in items[index::count]]
        except BaseException as failure:  # handed to the caller below
            failures.append(failure)

    workers: list[threading.Thread] = []
    for index in range(1, count):
        worker = threading.Thread(target=work, args=(index,))
        try:
            worker.start()
        except RuntimeError:
            # The system has no more threads: a limit of the container, or of memory. It is done here then.
            work(index)
        else:
            workers.append(worker)
    work(0)
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    return [parts[i % count][i // count] for i in range(len(items))]


@lru_cache(maxsize=4)
def generators(count: int) -> tuple[Point, ...]:
    """h and h_1 … h_count: points whose logarithms to each other and to G nobody knows.

    Each is hashed to the curve from its number alone (Elligator 2, RFC 9380 section 6.7.1, cofactor
    cleared), computed by every peer and never received.
    """
    return tuple(
        Point(
            bindings.crypto_core_ed25519_from_uniform(
                hashlib.sha512(enc([PROTOCOL, "generator", index])).digest()[:32]
            )
        )
        for index in range(count + 1)
    )

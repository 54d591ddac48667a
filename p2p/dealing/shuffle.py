"""A shuffle and the proof that it is one, without saying which (Terelius and Wikström).

The proof commits to the permutation, draws a challenge u from everything so far, and shows that the
committed matrix maps all-ones to all-ones and u to a vector of the same product, which only the matrix
of a permutation does (but for a negligible chance over u), and that the decks are related by it. Form
and notation: Haenni, Locher, Koenig, Dubuis, *Pseudo-Code Algorithms for Verifiable Re-Encryption
Mix-Nets*, 2017; original: Terelius, Wikström, *Proofs of Restricted Shuffles*, 2010; security of this
variant: Haines, arXiv 1901.08371. Equations and bytes: docs/crypto.md, "Shuffle".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from p2p.dealing.derive import Stream, nonce_stream, seed_stream
from p2p.dealing.elgamal import Deck, put_deck, split_deck
from p2p.dealing.group import (
    IDENTITY,
    POINT_BYTES,
    G,
    L,
    Point,
    Terms,
    add,
    base,
    combination,
    decode_scalar,
    encode_scalar,
    generators,
    mul,
    spread,
    total,
)
from p2p.dealing.interface import HASH_BYTES, DealingError, Ground, ShuffleStatement
from p2p.dealing.transcript import WEIGHT_BYTES, challenge, weights

CHUNKS_PER_CARD: Final = 5
CHUNKS_FIXED: Final = 9
"""A proof is 5N + 9 chunks of 32 bytes: c, ĉ, t̂, ŝ, s' a card; t1 t2 t3 t4a t4b, s1 … s4 once."""


@dataclass(frozen=True, slots=True, repr=False)
class Witness:
    """The secret of a shuffle: output i is input ``psi[i]`` re-encrypted with ``r[i]``."""

    psi: tuple[int, ...]
    r: tuple[int, ...]

    def __repr__(self) -> str:
        return "Witness(<secret>)"


class Proof(NamedTuple):
    """The parts of a proof: commitments as received (each is checked where it is multiplied), scalars
    below L. ``t`` is t1, t2, t3, t4a, t4b."""

    c: tuple[bytes, ...]
    chain: tuple[bytes, ...]
    t: tuple[bytes, ...]
    t_chain: tuple[bytes, ...]
    s: tuple[int, ...]
    s_chain: tuple[int, ...]
    s_u: tuple[int, ...]


def proof_bytes(size: int) -> int:
    """The length of a proof for a deck of ``size`` cards, in bytes."""
    return POINT_BYTES * (CHUNKS_PER_CARD * size + CHUNKS_FIXED)


def parse_proof(data: bytes, size: int) -> Proof | None:
    """The parts of a proof, or ``None`` for a wrong length or a scalar that is not below L."""
    if len(data) != proof_bytes(size):
        return None
    chunks = tuple(data[i : i + POINT_BYTES] for i in range(0, len(data), POINT_BYTES))
    points, numbers = chunks[: 3 * size + 5], chunks[3 * size + 5 :]
    scalars = tuple(value for chunk in numbers if (value := decode_scalar(chunk)) is not None)
    if len(scalars) != len(numbers):
        return None
    return Proof(
        points[:size],
        points[size : 2 * size],
        points[2 * size : 2 * size + 5],
        points[2 * size + 5 :],
        scalars[:4],
        scalars[4 : 4 + size],
        scalars[4 + size :],
    )


def apply_witness(deck: Deck, joint: Point, witness: Witness, threads: int = 1) -> Deck:
    """The deck that ``witness`` makes of ``deck``: output i is input ψ(i) + r_i·(G, X)."""

    def card(i: int) -> tuple[Point, Point]:
        source, r = witness.psi[i], witness.r[i]
        return add(deck.a[source], base(r)), add(deck.b[source], mul(r, joint))

    cards = spread(card, range(len(deck.a)), threads)
    return Deck(tuple(a for a, _ in cards), tuple(b for _, b in cards))


def derive_witness(ground: Ground, number: int, seed: bytes, joint: Point, deck: bytes) -> Witness:
    """The one permutation and randomness that the seed fixes for this key and this input deck.

    Bound to the deck: the same permutation on two decks would show itself without any key.
    """
    size = ground.deck_size
    digest = hashlib.sha256(deck).digest()
    stream = seed_stream("shuffle", seed, ground.contract, number, joint, digest)
    return Witness(stream.permutation(size), tuple(stream.scalar() for _ in range(size)))


def u_digest(ground: Ground, number: int, joint: bytes, decks: tuple[bytes, bytes], c: bytes) -> bytes:
    """What the numbers u are drawn from: key, both decks **and all of c**. Drawn before c is fixed, they
    would allow a commitment to something that is no permutation."""
    return encode_scalar(challenge("shuffle.u", ground, number, ground.deck_size, joint, *decks, c))


def commit(psi: Sequence[int], blinds: Sequence[int]) -> bytes:
    """The commitment c to a permutation: c_ψ(i) = ρ_ψ(i)·G + h_i, one point for each input position."""
    rows = [base(blind) for blind in blinds]
    for source, generator in zip(psi, generators(len(psi))[1:], strict=True):
        rows[source] = add(rows[source], generator)
    return b"".join(rows)


class Claim(NamedTuple):
    """What the second half of a proof shows knowledge of: the sums ρ̄ = Σρ_j, ρ̃ = Σρ_j·u_j and
    r' = Σr_i·u'_i, and the permuted numbers u'."""

    rho_bar: int
    rho_tilde: int
    r_prime: int
    u_out: Sequence[int]

    def __repr__(self) -> str:
        return "Claim(<secret>)"


def prove(
    ground: Ground,
    number: int,
    seed: bytes,
    joint: Point,
    decks: tuple[bytes, bytes],
    witness: Witness,
    random_bytes: Callable[[int], bytes],
    threads: int = 1,
) -> bytes:
    """The proof that ``decks[1]`` is ``decks[0]`` shuffled by ``witness``.

    All randomness is drawn after the input deck is known, from one hedged stream over the statement.
    """
    size = ground.deck_size
    if len(witness.psi) != size:
        raise DealingError("deck", "this is not the deck that was shuffled")
    fresh = random_bytes(HASH_BYTES)
    stream = nonce_stream(seed, ground.contract, number, fresh, "shuffle", size, joint, *decks)
    blinds = [stream.scalar() for _ in range(size)]
    c = commit(witness.psi, blinds)
    u = weights(u_digest(ground, number, joint, decks, c), size)
    u_out = [u[source] for source in witness.psi]
    claim = Claim(
        sum(blinds),
        sum(blind * factor for blind, factor in zip(blinds, u, strict=True)),
        sum(r * factor for r, factor in zip(witness.r, u_out, strict=True)),
        u_out,
    )
    return respond(ground, number, joint, decks, c, claim, stream, threads)


def respond(
    ground: Ground,
    number: int,
    joint: Point,
    decks: tuple[bytes, bytes],
    c: bytes,
    claim: Claim,
    stream: Stream,
    threads: int = 1,
) -> bytes:
    """The whole proof, from the commitment ``c`` and what it claims. ``stream`` gives the nonces."""
    size = ground.deck_size
    h = generators(size)[0]
    blinds, omega_chain, omega_u = ([stream.scalar() for _ in range(size)] for _ in range(3))
    omega = [stream.scalar() for _ in range(4)]

    # The chain is kept open as ĉ_i = R_i·G + P_i·h, so that all its points can be made at once.
    big_r, products = [0], [1]
    for blind, factor in zip(blinds, claim.u_out, strict=True):
        big_r.append((blind + factor * big_r[-1]) % L)
        products.append(products[-1] * factor % L)

    def pair(factors: tuple[int, int]) -> Point:
        return add(base(factors[0]), mul(factors[1], h))

    chain = spread(pair, list(zip(big_r[1:], products[1:], strict=True)), threads)
    links = [(omega_chain[i] + omega_u[i] * big_r[i], omega_u[i] * products[i]) for i in range(size)]
    t_chain = spread(pair, links, threads)
    t = _t(ground, joint, decks[1], omega, omega_u, threads)
    digest = u_digest(ground, number, joint, decks, c)
    x = challenge("shuffle.c", ground, number, digest, b"".join(chain), *t, b"".join(t_chain))

    secrets = (claim.rho_bar, big_r[-1], claim.rho_tilde, claim.r_prime)
    answers = [w + x * secret for w, secret in zip(omega, secrets, strict=True)]
    answers += [w + x * secret for w, secret in zip(omega_chain, blinds, strict=True)]
    answers += [w + x * secret for w, secret in zip(omega_u, claim.u_out, strict=True)]
    return b"".join([c, *chain, *t, *t_chain, *map(encode_scalar, answers)])


def _t(
    ground: Ground,
    joint: Point,
    deck_out: bytes,
    omega: Sequence[int],
    omega_u: Sequence[int],
    threads: int,
) -> list[Point]:
    """The commitments t1, t2, t3, t4a, t4b."""
    deck, hs = split_deck(ground, deck_out), generators(ground.deck_size)[1:]
    if deck is None:
        raise DealingError("deck", "this is not the deck that was shuffled")
    t3, t4a, t4b = Terms({G: omega[2]}), Terms({G: -omega[3]}), Terms({joint: -omega[3]})
    t3.put_all(hs, omega_u)
    t4a.put_all(deck.a, omega_u)
    t4b.put_all(deck.b, omega_u)
    sums = [combination(terms, threads) for terms in (t3, t4a, t4b)]
    points = [point for point in sums if point is not None]
    if len(points) != len(sums):
        raise DealingError("deck", "this is not a deck")
    return [base(omega[0]), base(omega[1]), *points]


@dataclass(frozen=True, slots=True, repr=False)
class Made:
    """One's own shuffle: a verifier knows what the points of its own deck are made of."""

    deck_in: Deck
    deck_out: Deck
    witness: Witness

    def __repr__(self) -> str:
        return "Made(<secret>)"

    def substitute(self, terms: Terms, joint: Point) -> None:
        """Writes ``terms`` over the points of ``deck_in`` instead of those of ``deck_out``, by what the deck was
        made of: a'_i = a_ψ(i) + r_i·G, b'_i = b_ψ(i) + r_i·X. The sum stays what it was."""
        out_a = [terms.pop(point, 0) for point in self.deck_out.a]
        out_b = [terms.pop(point, 0) for point in self.deck_out.b]
        psi, r = self.witness.psi, self.witness.r
        a, b = [0] * len(psi), [0] * len(psi)
        for source, a_factor, b_factor in zip(psi, out_a, out_b, strict=True):
            a[source], b[source] = a_factor, b_factor
        put_deck(terms, self.deck_in, joint, a, b)
        terms.put(G, sum(factor * blind for factor, blind in zip(out_a, r, strict=True)))
        terms.put(joint, sum(factor * blind for factor, blind in zip(out_b, r, strict=True)))


@dataclass(frozen=True, slots=True, repr=False)
class HalfSum:
    """The sum of one proof's equations, half done.

    ``own`` is the sum over the points that only this proof has, ``None`` if one of them is no point; ``shared``
    is the rest: generators, keys and decks, which other proofs have too.
    """

    own: Point | None
    shared: Terms

    def __repr__(self) -> str:
        return "HalfSum(…)"


def _halves(
    ground: Ground, joint: Point, item: ShuffleStatement, proof: Proof, z: Sequence[int]
) -> tuple[Terms, Terms]:
    """One proof's equations, each as "left minus right", times its weight from ``z``: five for t1 … t4b and one
    for each link of the chain. Both halves together are the identity if all hold."""
    decks = (item.deck_in, item.deck_out)
    deck_in, deck_out = split_deck(ground, item.deck_in), split_deck(ground, item.deck_out)
    if deck_in is None or deck_out is None:
        raise DealingError("deck", "a deck has the wrong length")
    size = ground.deck_size
    h, *hs = generators(size)
    digest = u_digest(ground, item.number, joint, decks, b"".join(proof.c))
    u = weights(digest, size)
    x = challenge(
        "shuffle.c", ground, item.number, digest, b"".join(proof.chain), *proof.t, b"".join(proof.t_chain)
    )
    product = 1
    for value in u:
        product = product * value % L
    s1, s2, s3, s4 = proof.s
    z1, z2, z3, z4a, z4b, *z_links = z

    own, shared = Terms(), Terms()
    own.put_all(proof.t, [-z1, -z2, -z3, -z4a, -z4b])
    own.put_all(proof.c, [-x * (z1 + z3 * value) for value in u])
    own.put(proof.chain[-1], -z2 * x)
    own.put_all(proof.chain[:-1], [w * s for w, s in zip(z_links[1:], proof.s_u[1:], strict=True)])
    own.put_all(proof.chain, [-w * x for w in z_links])
    own.put_all(proof.t_chain, [-w for w in z_links])
    shared.put(G, z1 * s1 + z2 * s2 + z3 * s3 - z4a * s4)
    shared.put(G, sum(w * s for w, s in zip(z_links, proof.s_chain, strict=True)))
    shared.put(joint, -z4b * s4)
    shared.put_all(hs, [z1 * x + z3 * s for s in proof.s_u])
    shared.put(h, z2 * x * product + z_links[0] * proof.s_u[0])
    put_deck(shared, deck_out, joint, [z4a * s for s in proof.s_u], [z4b * s for s in proof.s_u])
    put_deck(shared, deck_in, joint, [-z4a * x * value for value in u], [-z4b * x * value for value in u])
    return own, shared


def begin(
    ground: Ground,
    joint: Point,
    item: ShuffleStatement,
    proof: Proof,
    random_bytes: Callable[[int], bytes],
    threads: int = 1,
) -> HalfSum:
    """Draws the verifier's weights for a proof and does the half of its sum that no other proof touches.
    Decks have the right length."""
    count = ground.deck_size + 5
    drawn = random_bytes(WEIGHT_BYTES * count)
    z = [int.from_bytes(drawn[i * WEIGHT_BYTES : (i + 1) * WEIGHT_BYTES], "little") for i in range(count)]
    own, shared = _halves(ground, joint, item, proof, z)
    return HalfSum(combination(own, threads), shared)


def finish(joint: Point, halves: Sequence[HalfSum], made: Made | None = None, threads: int = 1) -> bool:
    """Whether all proofs hold, as one sum with the verifier's own random weights (Bellare, Garay, Rabin
    1998). A false equation passes with 2⁻¹²⁸, whoever made it, since the weights are drawn after it.

    Every point of proofs and decks has been checked on the way, but those of a deck of ``made``.
    """
    terms, sums = Terms(), []
    for half in halves:
        if half.own is None:
            return False
        sums.append(half.own)
        terms.put_all(half.shared.keys(), half.shared.values())
    if made is not None:
        made.substitute(terms, joint)
    shared = combination(terms, threads)
    return shared is not None and total([shared, *sums]) == IDENTITY


def verify(
    ground: Ground,
    joint: Point,
    items: Sequence[tuple[ShuffleStatement, Proof]],
    random_bytes: Callable[[int], bytes],
    threads: int = 1,
) -> bool:
    """Whether all proofs hold; see ``begin`` and ``finish``."""
    return finish(
        joint, [begin(ground, joint, item, proof, random_bytes, threads) for item, proof in items], None, threads
    )

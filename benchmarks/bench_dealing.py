"""How long the deal takes on this machine: medians of each step, and of a whole deal.

    python benchmarks/bench_dealing.py [--cards 52] [--players 4] [--runs 9] [--threads 2]

``--cards`` is 52, 104 or any small number. Times are in milliseconds of wall clock. Beside them
LibTMCG's, cited for 52 cards: C++, 2048 bits, challenges of 80 bits, measured on the same class of machine.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
from collections.abc import Callable

from p2p.dealing import Dealing, ElGamalDealing, Ground, OwnShuffle, ShuffleStatement
from p2p.dealing.group import G, add, base, decode_point, mul

CITED_CARDS = 52


def median_ms(call: Callable[[], object], runs: int) -> float:
    """The median time of ``runs`` calls, in milliseconds, after one call that fills caches."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def row(what: str, milliseconds: float, note: str = "") -> None:
    print(f"{what:<34} {milliseconds:>9.3f} ms  {note}".rstrip())


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def group_rows(runs: int) -> None:
    """The four operations that everything is made of, each 200 times."""
    point = base(3)
    factor = int.from_bytes(digest("factor"), "little")
    calls: dict[str, Callable[[], object]] = {
        "k·P": lambda: mul(factor, point),
        "k·G": lambda: base(factor),
        "P + Q": lambda: add(point, G),
        "decode": lambda: decode_point(point),
    }
    for name, call in calls.items():
        row(name, median_ms(lambda call=call: [call() for _ in range(200)], runs) / 200)  # type: ignore[misc]


def show_halves(
    dealing: Dealing,
    ground: Ground,
    joint: bytes,
    items: list[ShuffleStatement],
    own: OwnShuffle,
    runs: int,
) -> None:
    """What the last one does with the others' proofs: a half of each as it comes, the rest together."""
    others = items[:-1]
    if others:
        begun = [dealing.begin_check(ground, joint, item) for item in others]
        row("begin to check a proof", median_ms(lambda: dealing.begin_check(ground, joint, others[-1]), runs))
        row(
            f"finish {len(others)} begun check(s)",
            median_ms(lambda: dealing.finish_checks(ground, joint, begun, own), runs),
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cards", type=int, default=52)
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    packs, jokers = divmod(args.cards, 52)
    roster = tuple(sorted(digest(f"player {i}") for i in range(args.players)))
    ground = Ground(digest("contract"), 1, roster, packs, jokers)
    dealing: Dealing = ElGamalDealing(threads=args.threads)
    runs, seeds = args.runs, [digest(f"seed {i}") for i in range(args.players)]

    print(f"{args.cards} cards, {args.players} players, {args.threads} threads, median of {runs}\n")
    group_rows(runs)
    print()
    parts = [dealing.make_key(ground, i, seed) for i, seed in enumerate(seeds)]
    joint = dealing.joint_key([part.X for part in parts])
    row("make a key", median_ms(lambda: dealing.make_key(ground, 0, seeds[0]), runs))
    row("check a key", median_ms(lambda: dealing.check_key(ground, 0, parts[0]), runs))

    deck, items = dealing.first_deck(ground, joint), []
    for i, seed in enumerate(seeds):
        shuffled = dealing.shuffle(ground, i, seed, joint, deck)
        proof = dealing.prove(ground, i, seed, joint, deck, shuffled)
        items.append(ShuffleStatement(i, deck, shuffled.deck, proof))
        deck = shuffled.deck
    last = items[-1]
    made = dealing.shuffle(ground, last.number, seeds[-1], joint, last.deck_in)

    def shuffle() -> object:
        return dealing.shuffle(ground, last.number, seeds[-1], joint, last.deck_in)

    def prove() -> object:
        return dealing.prove(ground, last.number, seeds[-1], joint, last.deck_in, made)

    row("check a deck", median_ms(lambda: dealing.check_deck(ground, deck), runs), f"{len(deck)} bytes")
    is_cited = args.cards == CITED_CARDS
    row("shuffle", median_ms(shuffle, runs), "LibTMCG 52 ms" if is_cited else "")
    row("prove", median_ms(prove, runs), f"{len(last.proof)} bytes" + ("; LibTMCG 292 ms" if is_cited else ""))
    for count in sorted({1, min(3, args.players), args.players}):
        batch = items[:count]
        row(
            f"verify {count} proof(s), from the first",
            median_ms(lambda batch=batch: dealing.check_proofs(ground, joint, batch), runs),  # type: ignore[misc]
            "LibTMCG 244 ms" if count == 1 and is_cited else "",
        )
    show_halves(dealing, ground, joint, items, OwnShuffle(last.deck_in, made), runs)
    row("verify the last proof alone", median_ms(lambda: dealing.check_proofs(ground, joint, [last]), runs))
    for count in (1, min(21, args.cards)):
        calls = [(digest("cause"), tuple(range(count)))]
        openings, proof = dealing.shares(ground, 0, seeds[0], deck, calls)
        row(
            f"make {count} share(s)",
            median_ms(lambda calls=calls: dealing.shares(ground, 0, seeds[0], deck, calls), runs),  # type: ignore[misc]
            f"{32 * count + len(proof)} bytes",
        )

        def check(openings: object = openings, proof: bytes = proof) -> object:
            return dealing.check_shares(ground, 0, parts[0].X, deck, openings, proof)  # type: ignore[arg-type]

        row(f"check {count} share(s)", median_ms(check, runs))
    shares = [dealing.shares(ground, i, seed, deck, [(b"", (0,))])[0][0].shares[0] for i, seed in enumerate(seeds)]
    row("open a card", median_ms(lambda: dealing.open(ground, deck, 0, shares), runs))


if __name__ == "__main__":
    main()

"""How many multiplications a deal takes of one peer, phase by phase; no machine and no load changes these.

    python benchmarks/bench_work.py [PLAYERS…]

Without arguments: two, four and six players. The whole deal is done in memory, with the real arithmetic;
``tests/p2p/dealing/test_work.py`` holds the counts.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.p2p.dealing.counting import PHASES, count_deal

OPERATIONS = ("k·P", "k·G", "P+Q", "check")


def show(players: int) -> None:
    """Prints the counts of one deal, the mean of its peers."""
    before = time.process_time()
    counts = count_deal(players)
    used = 1000 * (time.process_time() - before) / players
    print(f"-- {players} players, a peer's mean")
    print(f"{'':<14}" + "".join(f"{name:>8}" for name in OPERATIONS))
    total: Counter[str] = Counter()
    for phase in PHASES:
        found = counts.get(phase, Counter())
        total.update(found)
        print(f"{phase:<14}" + "".join(f"{found[name] / players:>8.0f}" for name in OPERATIONS))
    print(f"{'all':<14}" + "".join(f"{total[name] / players:>8.0f}" for name in OPERATIONS))
    print(f"processor time of one peer, without network, disk and screen: {used:.0f} ms\n")


def main() -> None:
    """Reads the arguments."""
    for players in [int(word) for word in sys.argv[1:]] or [2, 4, 6]:
        show(players)


if __name__ == "__main__":
    main()

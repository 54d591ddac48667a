"""What hostile hosts and members cost the honest programs of a table (Linux, root; hosts in network namespaces).

``python benchmarks/bench_hostile.py [ROUNDS [ATTACK …]]``: peak memory and processor time of two programs that
start, play a round and end, beside nothing and beside each attack of ``tests/net/hostile.py``; the mean of so many
rounds (1).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.net.lan import TestLan, why_not  # noqa: E402 - the tests are no package that is installed
from tests.net.test_hostile import MEMBERS, STRANGERS, play_beside  # noqa: E402


async def one(attack: str) -> tuple[float, float, int]:
    """MiB of the bigger program, processor seconds of both, and what was sent."""
    lan = TestLan()
    try:
        with tempfile.TemporaryDirectory() as directory:
            used, sent = await play_beside(lan, Path(directory), attack)
    finally:
        await lan.close()
    return max(each.mib for each in used.values()), sum(each.cpu_s for each in used.values()), sent


def main() -> None:
    """Reads the arguments and measures."""
    reason = why_not()
    if reason is not None:
        print(f"not here: {reason}")
        return
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    quiet = 0.0
    wanted = sys.argv[2:] or ["", *STRANGERS, "behave", *MEMBERS]
    print(f"{'attack':<10} {'peak MiB':>9} {'CPU s':>7} {'sent':>8} {'CPU us each':>12}")
    for attack in wanted:
        runs = [asyncio.run(one(attack)) for _ in range(times)]
        mib = max(run[0] for run in runs)
        cpu = sum(run[1] for run in runs) / times
        sent = sum(run[2] for run in runs) // times
        if attack in ("", "behave"):
            # Beside a member a third one plays: that costs more by itself.
            quiet, sent = cpu, 0
        each = f"{(cpu - quiet) / sent * 1e6:12.0f}" if sent else f"{'-':>12}"
        print(f"{attack or 'none':<10} {mib:9.1f} {cpu:7.1f} {sent:8} {each}", flush=True)


if __name__ == "__main__":
    main()

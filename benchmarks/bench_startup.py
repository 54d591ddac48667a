"""How long a person waits before the first line: a few commands as processes of their own.

    python benchmarks/bench_startup.py [--runs N]

Prints the median and the worst of N runs (default 7), in milliseconds. The aim for ``--help`` is 300 ms.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = ((), ("--help",), ("--version",), ("where",), ("rules",), ("rounds",))

HERE = Path(__file__).parent.parent


def run_once(arguments: tuple[str, ...], home: str) -> float:
    """Milliseconds of one process; raises ``CalledProcessError`` if it fails."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "client.cli", "--data-dir", home, *arguments],
        check=True,
        capture_output=True,
        cwd=HERE,
    )
    return (time.perf_counter() - started) * 1000


def main() -> None:
    """Runs the commands and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        for arguments in COMMANDS:
            run_once(arguments, home)  # the first one reads from disk what later ones have in memory
            times = [run_once(arguments, home) for _ in range(runs)]
            name = " ".join(("shithead", *arguments))
            print(f"{name:<24} median {statistics.median(times):6.0f} ms   worst {max(times):6.0f} ms")


if __name__ == "__main__":
    main()

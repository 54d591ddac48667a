"""A search by coverage: ``python -m tests.fuzz.run TARGET SECONDS [CORPUS]`` (needs the extra ``fuzz``).

A finding ends the run with a traceback, and its input is left in the directory as ``crash-…``. CORPUS: a directory
where inputs that reach something new are kept from run to run.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

# What is to be searched has to be loaded here for the first time: only then are its branches seen.
with atheris.instrument_imports(include=["p2p", "engine"]):
    from tests.fuzz.seeds import seeds
    from tests.fuzz.targets import TARGETS

MAX_INPUT_BYTES = 4096
MEMORY_MIB = 1024


def main() -> None:
    """Reads the arguments and searches."""
    name, seconds, *rest = sys.argv[1:]
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as first:
        for number, seed in enumerate(seeds()[name]):
            (Path(first) / f"seed{number}").write_bytes(seed)
        directories = [*rest, first]
        atheris.Setup(
            [
                "fuzz",
                f"-max_total_time={seconds}",
                f"-max_len={MAX_INPUT_BYTES}",
                f"-rss_limit_mb={MEMORY_MIB}",
                "-timeout=10",
                "-print_final_stats=1",
                *directories,
            ],
            lambda data: target(data) and None,
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()

"""The limits of ``p2p``, read from the source: ``python -m tests.p2p.network.limits`` writes docs/limits.md."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "limits.md"

IS_LIMIT = re.compile(r"^(MAX|MIN|STEP|SWEEP)_|_(SECONDS|S|MS|TICKS|PER_SECOND|BURST|COST_BYTES|BURST_BYTES)$")
"""Names of what bounds something; sizes of keys and points are formats, not limits."""

NEEDS_TEST = re.compile(r"^(MAX|MIN|STEP)_|(PER_SECOND|BURST|COST_BYTES|BURST_BYTES)$")
"""Of these each is held by a test that names it; waiting times have tests where something hangs on them."""

NO_LIMITS = {"MIN_TERMS_PER_THREAD"}

HEAD = """# Limits

Every bound on what others can make a peer keep, send or do, with its reason as it stands beside the constant.
`python -m tests.p2p.network.limits` writes this page from the source. `tests/p2p/network/test_limits.py` holds
that it is up to date, that every limit has a reason, and that every count, size and rate has a test that names
it. Units are in the names.
"""


@dataclass(frozen=True)
class Limit:
    """One constant: where it is, what it says, why."""

    module: str
    name: str
    shown: str
    reason: str

    @property
    def value(self) -> object:
        """As the program has it."""
        return getattr(importlib.import_module(self.module), self.name)


def _reason(body: list[ast.stmt], at: int) -> str:
    """The first sentence of the text after a constant, or after the last of those that stand together."""
    for node in body[at + 1 :]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = " ".join(str(node.value.value).split())
            return re.split(r"(?<=[^.]\.) (?=[A-Z])", text)[0].lstrip("… ")
        if not (isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "Final"):
            break
    return ""


@cache
def limits() -> tuple[Limit, ...]:
    """Every limit of ``p2p``, module by module, in the order of the source."""
    found = []
    for path in sorted((ROOT / "p2p").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for at, node in enumerate(body):
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value):
                continue
            name = node.target.id
            if IS_LIMIT.search(name) and name not in NO_LIMITS and ast.unparse(node.annotation) == "Final":
                found.append(Limit(module, name, ast.unparse(node.value), _reason(body, at)))
    return tuple(limit for limit in found if isinstance(limit.value, int | float))


@cache
def words_in_tests() -> dict[str, list[str]]:
    """Word → the tests in whose source it stands."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                decorated = [*map(ast.unparse, node.decorator_list), ast.get_source_segment(source, node) or ""]
                for word in set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", "\n".join(decorated))):
                    found.setdefault(word, []).append(node.name)
    return found


def page() -> str:
    """The page as it has to be."""
    lines = [HEAD]
    for module in dict.fromkeys(limit.module for limit in limits()):
        lines += [f"## `{module}`", "", "| limit | value | reason |", "| --- | --- | --- |"]
        lines += [
            f"| `{limit.name}` | {limit.shown} | {limit.reason} |" for limit in limits() if limit.module == module
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

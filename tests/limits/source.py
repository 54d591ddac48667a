"""The limits of the program, read from its source; ``python -m tests.limits`` writes them to docs/limits.md."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "limits.md"
PACKAGES = ("engine", "p2p", "client")

IS_LIMIT = re.compile(
    r"^(MAX|MIN|STEP|SWEEP)_|_(SECONDS|S|H|MS|TICKS|TRIES|PER_SECOND|BURST|COST_BYTES|BURST_BYTES)$"
)
"""Names of what bounds something; sizes of keys and points are formats, not limits."""

NEEDS_TEST = re.compile(r"^(MAX|MIN|STEP)_|(PER_SECOND|BURST|COST_BYTES|BURST_BYTES)$")
"""Of these each is held by a test that names it; waiting times have tests where something hangs on them."""

NO_LIMITS = {"MIN_TERMS_PER_THREAD"}

HEAD = """# Limits

Every bound on what others can make a peer keep, send or do, on what the program reads, shows and waits for, and on
what the rules allow, with its reason as it stands beside the constant. `python -m tests.limits` writes this page
from the source. `tests/limits/test_page.py` holds that it is up to date, that every limit has a reason, and that
every count, size and rate has a test that names it. Units are in the names.
"""


@dataclass(frozen=True)
class Limit:
    """One constant: where it is, what it says, why."""

    module: str
    name: str
    shown: str
    reason: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"

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


def _shown(value: ast.expr) -> str:
    """A value as it stands in the source, where that says it; empty where it is made of other constants."""
    names = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    return "" if names else ast.unparse(value)


@cache
def limits() -> tuple[Limit, ...]:
    """Every limit, module by module, in the order of the source."""
    found = []
    for path in [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for at, node in enumerate(body):
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value):
                continue
            name = node.target.id
            if IS_LIMIT.search(name) and name not in NO_LIMITS and ast.unparse(node.annotation) == "Final":
                found.append(Limit(module, name, _shown(node.value), _reason(body, at)))
    return tuple(limit for limit in found if isinstance(limit.value, int | float))


_NAMED = re.compile(r"""\b(?:([a-z_]+)(?:\.|, "))?([A-Z][A-Z0-9_]+)\b""")
"""``NAME``, ``module.NAME``, or the two of ``setattr(module, "NAME", …)``."""


@cache
def words_in_tests() -> dict[str, list[str]]:
    """Constant, with and without the module it is written with → the tests in whose source it stands."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        imported = {
            name.name: (node.module or "").rpartition(".")[2]
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                decorated = [*map(ast.unparse, node.decorator_list), ast.get_source_segment(source, node) or ""]
                for module, name in _NAMED.findall("\n".join(decorated)):
                    found.setdefault(name, []).append(node.name)
                    found.setdefault(f"{module or imported.get(name, '')}.{name}", []).append(node.name)
    return found


def holders_of(limit: Limit) -> list[str]:
    """The tests that name a limit. One whose name several modules have is named with its own."""
    words = words_in_tests()
    if sum(other.name == limit.name for other in limits()) == 1:
        return words.get(limit.name, [])
    tail = limit.module.rpartition(".")[2]
    return [
        test
        for module in (tail, f"{tail}_module", *(["e"] if tail == "entries" else []))
        for test in words.get(f"{module}.{limit.name}", [])
    ]


def page() -> str:
    """The page as it has to be."""
    lines = [HEAD]
    for module in dict.fromkeys(limit.module for limit in limits()):
        lines += [f"## `{module}`", "", "| limit | value | reason |", "| --- | --- | --- |"]
        lines += [
            f"| `{limit.name}` | {limit.shown or limit.value} | {limit.reason} |"
            for limit in limits()
            if limit.module == module
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"

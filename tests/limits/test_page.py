"""The page of limits is that of the source; every limit says its reason and is held by a test."""

from __future__ import annotations

import ast

from tests.limits.source import NEEDS_TEST, PACKAGES, PAGE, ROOT, holders_of, limits, page


def test_the_page_of_limits_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.limits"


def test_every_limit_has_a_reason_and_every_count_and_rate_a_test() -> None:
    """One test for all of them: reading all tests takes a second."""
    assert [str(limit) for limit in limits() if len(limit.reason) <= 10] == []
    assert [str(limit) for limit in limits() if NEEDS_TEST.search(limit.name) and not holders_of(limit)] == []


LENGTHS = {"min_length", "max_length", "ge", "gt", "le", "lt"}


def test_no_schema_has_a_bound_without_a_name() -> None:
    """Beside 0 and 1, which say that something may be missing or has to be there, and the 32 bytes of a hash."""
    bare = []
    for path in [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Meta":
                bare += [
                    f"{path.name}:{node.lineno}"
                    for each in node.keywords
                    if each.arg in LENGTHS
                    and not any(isinstance(part, ast.Name) for part in ast.walk(each.value))
                    and ast.literal_eval(each.value) not in (0, 1, 32)
                ]
    assert bare == []

"""Programs with one check taken out: every place that refuses something, and how to take it out.

A site is one ``raise`` (or one ``return False`` / ``return None``) of a checking function. Its mutant is the same
function, compiled from the same source, with that one statement doing nothing.
"""

from __future__ import annotations

import ast
import copy
import inspect
import sys
import textwrap
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import NamedTuple

import pytest


class Site(NamedTuple):
    """One refusal: module, function (``Class.name`` for a method), and its number in that function."""

    module: str
    function: str
    number: int

    def __str__(self) -> str:
        return f"{self.module.removeprefix('p2p.')}.{self.function}.{self.number}"


def owner_of(site: Site) -> tuple[object, str]:
    """Where the function of a site is kept: a module or a class, and its name there."""
    where: object = sys.modules[site.module]
    *classes, name = site.function.split(".")
    for one in classes:
        where = getattr(where, one)
    return where, name


def refuses(node: ast.AST, only: tuple[str, ...]) -> bool:
    """Whether a statement is a refusal: raises one of the exceptions named, or returns False or None."""
    match node:
        case ast.Raise(exc=ast.Call(func=ast.Name(id=name))) | ast.Raise(exc=ast.Name(id=name)):
            return name in only
        case ast.Return(value=ast.Constant(value=False | None)):
            return "return" in only
    return False


def refusals(tree: ast.AST, only: tuple[str, ...]) -> list[ast.stmt]:
    """The refusals of a function in the order of its lines."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and refuses(node, only)]
    return sorted(found, key=lambda node: node.lineno)


def sites(module: ModuleType, only: tuple[str, ...]) -> Iterator[tuple[Site, str]]:
    """Every refusal of a module, with its source."""
    tree = ast.parse(inspect.getsource(module))
    for top in tree.body:
        functions = [(top.name, top)] if isinstance(top, ast.FunctionDef) else []
        if isinstance(top, ast.ClassDef):
            methods = [node for node in top.body if isinstance(node, ast.FunctionDef)]
            functions = [(f"{top.name}.{method.name}", method) for method in methods]
        for name, function in functions:
            for number, node in enumerate(refusals(function, only)):
                yield Site(module.__name__, name, number), ast.unparse(node)


class _Without(ast.NodeTransformer):
    def __init__(self, node: ast.stmt) -> None:
        self.node = node

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.node:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


def compiled(site: Site, only: tuple[str, ...], removed: Iterable[int]) -> FunctionType:
    """The function of a site anew, without the refusals of these numbers."""
    where, name = owner_of(site)
    original = inspect.getattr_static(where, name)
    tree: ast.AST = ast.parse(textwrap.dedent(inspect.getsource(original)))
    nodes = refusals(tree, only)
    for number in removed:
        tree = _Without(nodes[number]).visit(tree)
    space = sys.modules[site.module].__dict__
    made: dict[str, object] = {}
    code = compile(ast.fix_missing_locations(copy.copy(tree)), f"<{site.function} without a check>", "exec")  # type: ignore[arg-type]
    exec(code, space, made)
    function = made[name]
    assert isinstance(function, FunctionType)
    return function


def install(patch: pytest.MonkeyPatch, group: Iterable[Site], only: tuple[str, ...], keep: bool = False) -> None:
    """Puts the mutants of some sites in place of the functions; ``keep``: all checks left in."""
    by_function: dict[tuple[str, str], list[int]] = {}
    for site in group:
        by_function.setdefault((site.module, site.function), []).append(site.number)
    for (module, function), numbers in by_function.items():
        site = Site(module, function, 0)
        where, name = owner_of(site)
        original = inspect.getattr_static(where, name)
        mutant = compiled(site, only, () if keep else numbers)
        if isinstance(where, type):
            patch.setattr(where, name, mutant)
            continue
        for loaded in [m for key, m in list(sys.modules.items()) if key.startswith("p2p.")]:
            for held, value in list(vars(loaded).items()):
                if value is original:
                    patch.setattr(loaded, held, mutant)
                elif isinstance(value, dict) and held == "_GUARDS":
                    for kind in [kind for kind, guard in value.items() if guard is original]:
                        patch.setitem(value, kind, mutant)

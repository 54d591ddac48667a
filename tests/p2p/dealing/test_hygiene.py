"""No predictable randomness, and no secret in anything that can be printed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import p2p
from p2p.dealing import Shuffled
from p2p.dealing.derive import Stream, seed_stream
from p2p.dealing.shuffle import Claim, Witness
from tests.p2p.dealing.table import deal, digest, ground, real

ROOT = Path(p2p.__file__).parent


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.split(".")[0])
    return names


def test_no_module_of_p2p_imports_random() -> None:
    files = sorted(ROOT.rglob("*.py"))
    assert len(files) > 10
    assert [path.name for path in files if imports(path) & {"random", "numpy"}] == []


def test_only_the_front_of_the_deal_draws_randomness_and_nothing_does_io() -> None:
    for path in sorted((ROOT / "dealing").glob("*.py")):
        used = imports(path)
        assert not used & {"os", "time", "socket", "asyncio", "pathlib", "io", "logging", "datetime"}, path.name
        assert ("secrets" in used) == (path.name == "real.py"), path.name


def test_no_repr_shows_a_secret() -> None:
    seed = digest("seed")
    table = deal(real(), ground(5, 2))
    shuffled = table.dealing.shuffle(table.ground, 0, seed, table.joint, table.items[0].deck_in)
    witness = Witness((1, 0), (123456789, 987654321))
    shown = [repr(witness), repr(Shuffled(b"", witness)), repr(Claim(123456789, 987654321, 5, [123456789]))]
    shown += [str(witness), f"{witness}", repr(seed_stream("key", seed, b"", 0)), repr(Stream("x", seed))]
    assert all("123456789" not in text and "987654321" not in text for text in shown)
    assert all(seed.hex() not in text and repr(seed)[2:-1] not in text for text in shown)
    assert repr(shuffled.secret) == "Witness(<secret>)"
    assert "psi" not in repr(shuffled)


def test_every_test_that_the_document_names_exists() -> None:
    text = (ROOT.parent / "docs" / "crypto.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", text))
    written = {
        node.name
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert len(named) > 30
    assert named - written == set()

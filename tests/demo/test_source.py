"""The source: it stands apart from vpp, knows no task, and quotes every word that the reader gives a meaning."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from vpp.demo.reading import RESERVED

SOURCES = sorted((Path(__file__).parents[2] / "vpp" / "demo").glob("*.py"))
ALLOWED = {"numpy", "uvicorn", "starlette", "vpp"} | set(sys.stdlib_module_names)
TASKS = ("parity task", "sum-parity", "sum_parity", "contains-zero", "contains_zero", "two-circles", "two_circles",
         "two-blobs", "two_blobs", "setosa", "virginica", "penguin", "gentoo", "bill_length", "flipper",
         "iris")  # fmt: skip


def trees() -> Iterator[ast.Module]:
    for path in SOURCES:
        yield ast.parse(path.read_text())


def test_it_imports_nothing_of_vpp_and_little_else() -> None:
    for tree in trees():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in ALLOWED for name in names)
            assert all(name.startswith("vpp.demo") for name in names if name.split(".")[0] == "vpp")


def test_it_knows_no_task() -> None:
    assert SOURCES
    for path in SOURCES:
        text = path.read_text().lower()
        assert not [name for name in TASKS if name in text], path


def phrases() -> Iterator[str]:
    """Every string that a reader takes or looks for, and every key of the phrases that it names."""
    for path in SOURCES:
        if path.name == "reading.py":
            for node in ast.walk(ast.parse(path.read_text())):
                called = ""
                if isinstance(node, ast.Call):
                    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if isinstance(node, ast.Call) and called in {"take", "sees", "seq", "joined", "_joined_by"}:
                    yield from _texts(node.args)
                if isinstance(node, ast.Call) and called == "named" and isinstance(node.args[0], ast.Dict):
                    yield from _texts(key for key in node.args[0].keys if key is not None)


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_every_word_that_the_reader_takes_is_reserved() -> None:
    words = {word for phrase in phrases() for word in re.findall(r"[a-z]{2,}", phrase)}
    assert words - RESERVED == set()

"""The source: it stands apart from vpp, knows no task, and quotes every word that the reader gives a meaning."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from vpp.demo.lexer import RESERVED

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
    """Every string in the readers that lists phrases."""
    for path in SOURCES:
        if path.name.startswith("read_"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"take", "sees"}:
                    yield from (
                        one.value
                        for one in ast.walk(node)
                        if isinstance(one, ast.Constant) and isinstance(one.value, str)
                    )


def test_every_word_that_the_reader_takes_is_reserved() -> None:
    words = {word for phrase in phrases() for word in re.findall(r"[a-z]{2,}", phrase)}
    assert words - RESERVED == set()

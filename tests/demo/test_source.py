"""The source: it stands apart from vpp and knows no task."""

import ast
import sys
from pathlib import Path

SOURCES = sorted((Path(__file__).parents[2] / "vpp" / "demo").glob("*.py"))
ALLOWED = {"numpy", "pydantic", "uvicorn", "starlette", "vpp"} | set(sys.stdlib_module_names)
TASKS = ("parity task", "sum-parity", "sum_parity", "contains-zero", "contains_zero", "two-circles", "two_circles",
         "two-blobs", "two_blobs", "setosa", "virginica", "penguin", "gentoo", "bill_length", "flipper",
         "iris")  # fmt: skip


def test_it_imports_nothing_of_vpp_and_little_else() -> None:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in ALLOWED for name in names)
            assert all(name.startswith("vpp.demo") for name in names if name.split(".")[0] == "vpp")


def test_it_knows_no_task() -> None:
    assert SOURCES
    for path in SOURCES:
        text = path.read_text().lower()
        assert not [name for name in TASKS if name in text], path

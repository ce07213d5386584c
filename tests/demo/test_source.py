"""The source of the demo model knows no task by name."""

from pathlib import Path

SOURCES = sorted((Path(__file__).parents[2] / "vpp" / "demo").glob("*.py"))
TASKS = ("parity task", "sum-parity", "sum_parity", "contains-zero", "contains_zero", "two-circles", "two_circles",
         "two-blobs", "two_blobs", "setosa", "virginica", "penguin", "gentoo", "bill_length", "flipper",
         "iris")  # fmt: skip


def test_it_knows_no_task() -> None:
    assert SOURCES
    for path in SOURCES:
        text = path.read_text().lower()
        assert not [name for name in TASKS if name in text], path

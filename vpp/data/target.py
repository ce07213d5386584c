"""The target column: a guess at which it is, its task, and what makes it unfit."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from vpp.data.dataset import Task, Value
from vpp.data.kinds import is_number
from vpp.errors import DataError

if TYPE_CHECKING:
    from vpp.data.table import Table

TARGET_NAMES = ("target", "label", "class", "outcome", "y", "species")
"""Names that say a column is the target, the surest first."""
MAX_CLASSES = 50
MAX_NUMERIC_CLASSES = 10
"""Integers with more distinct values than this are a quantity, not labels."""
ROWS_PER_NUMERIC_CLASS = 5
"""Integers repeated less often than this on average are a quantity, not labels."""
FEW_CLASSES = 10
"""A category with at most so many labels may be guessed to be the target."""


def target_guess(table: "Table") -> str | None:
    """The column most likely to be the target: by its name, else the last category of few labels, else the last.

    None where no column is left to be an input.
    """
    if len(table.columns) < 2:
        return None
    by_lower = {name.lower(): name for name in table.names}
    named = [by_lower[name] for name in TARGET_NAMES if name in by_lower]
    few = [c.name for c in table.columns if c.kind == "category" and 2 <= c.n_distinct <= FEW_CLASSES]
    return next(iter((*named, *reversed(few))), table.names[-1])


def find_task(cells: Iterable[str | None]) -> Task:
    """Classification for text, and for few integers often repeated; regression for other numbers."""
    present = [cell for cell in cells if cell is not None]
    if not all(map(is_number, present)):
        return "classification"
    values = set(map(float, present))
    repeated = len(values) <= MAX_NUMERIC_CLASSES and len(present) >= ROWS_PER_NUMERIC_CLASS * len(values)
    return "classification" if repeated and all(value.is_integer() for value in values) else "regression"


def resolve_task(table: "Table", target: str, task: Task | Literal["auto"]) -> Task:
    """The task asked for, or the one found. Raises DataError where the column cannot serve as its target."""
    present = [cell for cell in table.cells(target) if cell is not None]
    if not present:
        raise DataError(f"column {target!r} of {table.file} is all empty: pick another target")
    if len(set(present)) == 1:
        raise DataError(f"column {target!r} has one value only ({_short(present[0])}): pick another target")
    found = find_task(present) if task == "auto" else task
    if found == "regression":
        check_numbers(table, target)
    else:
        _check_labels(present, target)
    return found


def check_numbers(table: "Table", target: str) -> None:
    """Raises DataError for the first cell of a regression's target that is no finite number."""
    for row, cell in enumerate(table.cells(target)):
        if cell is not None and not is_number(cell):
            raise DataError(
                f"column {target!r} of {table.file} holds {_short(cell)} in row {row}, which is not a number: "
                "mend the cell, choose classification or pick another target"
            )


def sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Each label once: by number if all are numbers, else by text."""
    distinct = sorted(set(labels))
    return tuple(sorted(distinct, key=float) if all(map(is_number, distinct)) else distinct)


def target_value(cell: str, task: Task) -> Value:
    return float(cell) if task == "regression" else cell


def _check_labels(present: Sequence[str], target: str) -> None:
    n_labels = len(set(present))
    if n_labels == len(present):
        raise DataError(f"column {target!r} has a different value on every row: pick a target whose labels repeat")
    if n_labels > MAX_CLASSES:
        mend = "choose regression" if all(map(is_number, present)) else "merge labels"
        raise DataError(
            f"column {target!r} has {n_labels} different labels, {MAX_CLASSES} at most: {mend} or pick another target"
        )


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else f"{cell[:39]}…")

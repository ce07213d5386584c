"""The target column: a guess at which it is, its task, and what makes it unfit."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal, get_args

from vpp.data.dataset import Column, Task, Value
from vpp.data.kinds import is_number
from vpp.data.labels import look_alike, why_unreadable
from vpp.data.notation import is_written_number, two_ways
from vpp.errors import DataError, InputError

if TYPE_CHECKING:
    from vpp.data.table import Table

TARGET_NAMES = ("target", "label", "survived", "class", "outcome", "y", "species")
"""Names that say a column is the target, the surest first."""
MAX_CLASSES = 50
MAX_NUMERIC_CLASSES = 10
"""Integers with more distinct values than this are a quantity, not labels."""
FEW_OTHERS = 0.2
"""With at most this share of other cells a column was meant to be numbers."""
ROWS_PER_NUMERIC_CLASS = 5
"""Integers repeated less often than this on average are a quantity, not labels."""


def target_guess(table: "Table") -> str | None:
    """The column most likely to be the target: by its name, else the last that can be one, else the last.

    None where no column is left to be an input.
    """
    if len(table.columns) < 2:
        return None
    by_lower = {name.lower(): name for name in table.names}
    named = [by_lower[name] for name in TARGET_NAMES if name in by_lower and _varies(table, by_lower[name])]
    able = (name for name in reversed(table.names) if not why_no_target(table, name))
    return next(chain(named, able), table.names[-1])


def guess_note(table: "Table") -> str:
    """What `target_guess` goes by, in a sentence."""
    guess = target_guess(table)
    why = "by its name" if guess and guess.lower() in TARGET_NAMES else "the last column that can be one"
    return f"the target {guess!r} is a guess: {why}"


def why_no_target(table: "Table", name: str) -> str:
    """Why nobody would predict the column, as a clause; empty where it may be the target."""
    column = table.column(name)
    if not _varies(table, name):
        return "it has one value only" if column.n_distinct else "it is empty"
    if column.kind in ("date", "text", "sequence"):
        return {"date": "it holds dates", "text": "it is free text", "sequence": "it holds sequences"}[column.kind]
    if table.id_like(name):
        return "it only names the rows"
    return "it has too many labels" if column.kind == "category" and column.n_distinct > MAX_CLASSES else ""


def _varies(table: "Table", name: str) -> bool:
    return table.column(name).n_distinct > 1


def find_task(cells: Iterable[str | None]) -> Task:
    """Classification for text, and for few integers often repeated; regression for other numbers."""
    present = [cell for cell in cells if cell is not None]
    if not all(map(is_number, present)):
        return "classification"
    values = set(map(float, present))
    repeated = len(values) <= MAX_NUMERIC_CLASSES and len(present) >= ROWS_PER_NUMERIC_CLASS * len(values)
    return "classification" if repeated and all(value.is_integer() for value in values) else "regression"


def resolve_task(table: "Table", target: str, task: Task | Literal["auto"]) -> Task:
    """Return the task asked for, or the one found.

    Raises InputError for an unknown task, and DataError where the column cannot be its target.
    """
    if task not in (known := ("auto", *get_args(Task))):
        raise InputError(f"task is {task!r}: choose one of {', '.join(known)}")
    present = [cell for cell in table.cells(target) if cell is not None]
    if not present:
        raise DataError(f"column {target!r} of {table.file} is all empty: pick another target")
    if len(set(present)) == 1:
        raise DataError(f"column {target!r} has one value only ({_short(present[0])}): pick another target")
    if table.column(target).kind == "date":
        raise DataError(f"column {target!r} holds dates, which cannot be predicted: pick another target")
    found = _found_task(table.column(target), present) if task == "auto" else task
    if found == "regression":
        check_numbers(table, target)
    else:
        _check_labels(present, target)
    return found


def _found_task(column: Column, present: Sequence[str]) -> Task:
    """As the kind says; numbers as `find_task` finds, unless a person chose the kind."""
    if column.kind != "number":
        return "classification"
    return "regression" if column.is_chosen else find_task(present)


def check_readable(classes: Sequence[str], target: str) -> None:
    """Raises DataError where a label could not be read back from an answer that gives it."""
    if why := why_unreadable(classes):
        raise DataError(f"column {target!r} cannot be the target, as {why}: rename it in the file")


def label_notes(classes: Sequence[str]) -> tuple[str, ...]:
    """A sentence on labels that are told apart to the letter only."""
    groups = look_alike(classes)
    if not groups:
        return ()
    listed = "; ".join(" and ".join(map(_short, group)) for group in groups[:3])
    return (f"labels that nearly look the same are told apart to the letter: {listed}",)


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
    if n_labels > MAX_CLASSES or n_labels == len(present):
        _check_mostly_numbers(present, target)
    if n_labels == len(present):
        raise DataError(f"column {target!r} has a different value on every row: pick a target whose labels repeat")
    if n_labels > MAX_CLASSES:
        mend = "choose regression" if all(map(is_number, present)) else "merge labels"
        raise DataError(
            f"column {target!r} has {n_labels} different labels, {MAX_CLASSES} at most: {mend} or pick another target"
        )
    check_readable(sort_labels(present), target)


def _check_mostly_numbers(present: Sequence[str], target: str) -> None:
    """Raises DataError where nearly all cells are numbers, however written: it names the others, or two ways."""
    others = [cell for cell in present if not is_written_number(cell)]
    if len(others) > FEW_OTHERS * len(present) or all(map(is_number, present)):
        return
    if others:
        raise DataError(
            f"column {target!r} would be a number but for {_short(others[0])}: mend the cell, or pick another target"
        )
    raise DataError(
        f"column {target!r} would be a number, but its cells are written in more than one way, such as "
        f"{two_ways(present)}: bring them to one unit and one way of writing, or pick another target"
    )


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else f"{cell[:39]}…")

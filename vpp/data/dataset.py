"""A dataset: rows with ids that never change, a target, and a split into training and test rows."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "category", "text", "date", "sequence"]
Task = Literal["regression", "classification"]
Value = str | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table and what was found in it."""

    name: str
    kind: Kind
    n_missing: int
    n_distinct: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One example."""

    id: int
    """Position in the file as read, from 0, the header not counted; never changes."""
    inputs: tuple[tuple[str, str | None], ...]
    """(column, cell as written in the file) in the file's column order; None is a missing cell."""
    target: Value | None
    """A label's text for classification, a finite number for regression; None for a row without a target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where the rows came from and how many were used."""

    file: str
    sha256: str
    delimiter: str
    encoding: str
    n_rows: int
    """Rows in the file, and in the test file where there is one."""
    n_unlabelled: int
    """Rows without a target, which neither split takes."""
    n_left_out: int
    """Labelled rows that neither split took (sizes are limited)."""
    notes: tuple[str, ...] = ()
    """What was decided on the way, a sentence each; for a generated task, its seed and ranges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Training and test rows of one table, with one target column."""

    name: str
    target: str
    task: Task
    columns: tuple[Column, ...]
    """Every column of the table, in file order."""
    inputs: tuple[str, ...]
    """Names of the input columns, in file order."""
    classes: tuple[str, ...]
    """Labels found in the labelled rows; sorted as numbers if all are numbers, else as text; empty for regression."""
    train: tuple[Row, ...]
    test: tuple[Row, ...]
    provenance: Provenance
    unlabelled: tuple[Row, ...] = ()
    """Rows without a target that are kept to be asked about; no sampler sees them."""

    @property
    def next_id(self) -> int:
        """An id that no row of the file has, nor one that was added."""
        used = [row.id for row in (*self.train, *self.test, *self.unlabelled)]
        return max(self.provenance.n_rows, 1 + max(used, default=-1))

    @property
    def target_range(self) -> float:
        """Range of the training targets of a regression, in their unit: what an abstention is off by (choice 12)."""
        targets = [float(row.target) for row in self.train if row.target is not None]
        return max(targets) - min(targets)

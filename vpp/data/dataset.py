"""A dataset: rows with ids that never change, a target, and a split into training and test rows."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from vpp.data.read_as import AS_FOUND, ReadAs

Kind = Literal["number", "category", "text", "date", "sequence"]
Task = Literal["regression", "classification"]
Value = str | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """How a column's numbers are written in the file, where that is not plainly: `1.234,50 €`."""

    decimal: str = "."
    """The mark before the decimals."""
    grouping: str = ""
    """The mark between thousands: a comma, a point, an apostrophe, a blank (of any width), or none."""
    unit: str = ""
    """What stands at each number: a currency, %, a unit."""
    before: bool = False
    """Whether the unit stands before the number."""
    is_doubtful: bool = False
    """Whether the cells alone do not tell which mark is which, or what a blank parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table and what was found in it."""

    name: str
    kind: Kind
    n_missing: int
    n_distinct: int
    notation: Notation | None = None
    """Of a column of numbers; None where they are written plainly."""
    is_chosen: bool = False
    """Whether a person chose the kind."""
    kept_words: tuple[str, ...] = ()
    """Words that stand for a missing cell elsewhere and are labels here, such as None."""


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
    split: str = "random"
    """What parted the rows: random, group:COLUMN, time:COLUMN, or file where the test rows are another file's."""
    test_file: str = ""
    """That file's name."""
    train_size: int = 0
    """Training rows that were asked for at most; 0 where that was not kept."""
    test_size: int = 0
    test_fraction: float = 0.0
    notes: tuple[str, ...] = ()
    """What was decided on the way, a sentence each; for a generated task, its seed and ranges."""
    read_as: ReadAs = AS_FOUND
    """How a person said that the file is to be read."""


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
        """Range of the training targets of a regression, in their unit: what an abstention is off by (choice 12).

        Where all are equal their magnitude, or 1, stands for it: an abstention is never right.
        """
        targets = [float(row.target) for row in self.train if row.target is not None]
        return max(targets) - min(targets) or abs(targets[0]) or 1.0

    @property
    def target_decimals(self) -> int | None:
        """Digits after the point of the training targets, each in its shortest form, the most among them.

        None for classification.
        """
        if self.task == "classification":
            return None
        return max((_decimals(float(row.target)) for row in self.train if row.target is not None), default=0)


def _decimals(value: float) -> int:
    """0 for 3.0 and 1e22, 9 for 1e-9."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0

"""Datasets: rows with a target, in parts; options of reading and splitting. No numpy, so that help texts stay fast."""

import codecs
import csv
import hashlib
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any, Literal, cast

from vpp.data.descriptions import Descriptions
from vpp.data.numbers import Notation
from vpp.errors import DataError, InputError

csv.field_size_limit(50_000_000)  # a cell may be as long as a file: Python's own limit is 131,072 characters

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAs:
    """The user's choices on how to read a file; None detects each. Raises InputError for an impossible choice."""

    encoding: str | None = None
    delimiter: str | None = None  # one character; a name of DELIMITER_NAMES is converted to its character
    header: bool | None = None  # True if the first line after the skipped ones names the columns
    skip_lines: int | None = None
    sheet: str | None = None
    decimal: str | None = None  # decimal mark: a point, a comma, or its name
    quotes: str | None = None  # `plain` if quotes are part of the text, `csv` if they enclose cells
    as_is: bool | None = None  # True cuts no totals, units and footnotes, and fills no merged cells
    missing: tuple[str, ...] | None = None
    """Words for a missing cell, in place of the usual ones: WORDS for all columns, or COLUMN=WORDS, with commas."""

    def __post_init__(self) -> None:
        plain: dict[str, Callable[[Any], Any]] = {
            "encoding": _codec,
            "delimiter": _delimiter,
            "decimal": lambda mark: {"point": ".", "comma": ","}.get(mark.lower(), mark),
            "missing": lambda words: (words,) if isinstance(words, str) else tuple(words),
        }
        for name, read in plain.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, read(value))
        if self.quotes not in (None, "plain", "csv"):
            raise InputError(f"quotes is {self.quotes!r}: give plain or csv")
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal is {self.decimal!r}: give point or comma")
        if self.skip_lines is not None and self.skip_lines < 0:
            raise InputError(f"skip-lines is {self.skip_lines}: give 0 or more")


def _codec(encoding: str) -> str:
    try:
        info = codecs.lookup(encoding)
        "".encode(info.name)  # LookupError for a codec of bytes
    except (LookupError, ValueError):  # ValueError for a NUL in the name
        raise InputError(f"encoding {encoding!r} is unknown: give one such as utf-8, utf-16 or cp1252") from None
    return info.name


def _delimiter(delimiter: str) -> str:
    by_name = {name: mark for mark, name in DELIMITER_NAMES.items()}
    character = (by_name | {"\\t": "\t"}).get(delimiter.lower(), delimiter)
    character = character[0] if len({*character}) == 1 else character  # between the two of :: are columns of nothing
    if len(character) != 1 or character in '"\r\n\0':
        raise InputError(f"delimiter {delimiter!r} is unknown: give one character, or {', '.join(by_name)}")
    return character


DETECT = ReadAs()

Kind = Literal["number", "category", "text", "date"]
Part = Literal["train", "test", "calibration"]
PARTS: tuple[Part, ...] = ("train", "test", "calibration")
Task = Literal["regression", "classification"]
Value = str | float
ALL_ROWS = 10**9  # most training rows for `all`: more than a table can hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    name: str
    kind: Kind
    n_missing: int
    n_distinct: int
    notation: Notation | None = None  # None if its numbers are plain
    is_chosen: bool = False
    kept_words: tuple[str, ...] = ()  # labels that mean a missing cell in other columns, such as None
    missing: tuple[str, ...] | None = None  # words for a missing cell, beside an empty one; None for the usual ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    id: int  # position in the file, from 0 without the header; never changes
    inputs: tuple[tuple[str, str | None], ...]  # (column, cell) in file order; None is a missing cell
    target: Value | None  # label for classification, finite number for regression; None for a row without a target
    beside: tuple[tuple[str, str | None], ...] = ()
    """(column, cell) of columns that are no inputs: no model and no program sees them."""

    @property
    def cells(self) -> dict[str, str | None]:
        """Cells of the inputs and of the columns beside them, by column."""
        return dict((*self.inputs, *self.beside))


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Source of the rows, and how many were used."""

    file: str
    sha256: str
    delimiter: str
    encoding: str
    n_rows: int  # in the file and the test file
    n_unlabelled: int  # without a target; never training or test rows
    n_left_out: int  # labelled, beyond the sizes of both parts
    split: str = "random"  # rule of the split, as SplitRule writes it, or file if a second file has the test rows
    notes: tuple[str, ...] = ()  # decisions taken on the way, a sentence each
    read_as: ReadAs = DETECT


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Rows of one table, with one target column. Samplers see only training and test rows."""

    name: str
    target: str
    task: Task
    columns: tuple[Column, ...]
    inputs: tuple[str, ...]
    classes: tuple[str, ...]
    """Labels of the labelled rows, sorted as numbers if all are numbers, else as text; empty for regression."""
    train: tuple[Row, ...]
    test: tuple[Row, ...]
    provenance: Provenance
    unlabelled: tuple[Row, ...] = ()  # rows without a target, candidates for labelling
    unused: tuple[Row, ...] = ()  # labelled rows in no part, candidates for more training rows
    calibration: tuple[Row, ...] = ()  # rows drawn as the test rows are, on which the doubt is calibrated
    descriptions: Descriptions = field(default_factory=Descriptions)

    @property
    def has_text(self) -> bool:
        return any(column.kind == "text" and column.name in self.inputs for column in self.columns)

    def part(self, name: Part) -> tuple[Row, ...]:
        return {"train": self.train, "test": self.test, "calibration": self.calibration}[name]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of rows in each part, as n_train, n_test and, if there are any, n_calibration."""
        return {f"n_{part}": len(self.part(part)) for part in PARTS if self.part(part) or part != "calibration"}

    @property
    def labelled(self) -> tuple[Row, ...]:
        return (*self.train, *self.test, *self.calibration)

    @property
    def cells(self) -> dict[str, tuple[str | None, ...]]:
        """Distinct cells of each input on the labelled rows, in order."""
        columns = zip(*([cell for _, cell in row.inputs] for row in self.labelled), strict=True)
        return {name: tuple(dict.fromkeys(cells)) for name, cells in zip(self.inputs, columns, strict=True)}

    @property
    def next_id(self) -> int:
        """Smallest id above those of all rows, of the file or added later."""
        used = [row.id for row in (*self.labelled, *self.unlabelled, *self.unused)]
        return max(self.provenance.n_rows, 1 + max(used, default=-1))

    @property
    def constant(self) -> Value:
        """Answer of a model without inputs: the commonest training label (first of equal ones), or the mean."""
        if self.task == "classification":
            return Counter(sorted(str(row.target) for row in self.train)).most_common(1)[0][0]
        return math.fsum(self.target_numbers) / len(self.train)

    @property
    def target_numbers(self) -> list[float]:
        """Training targets of a regression."""
        return [float(row.target) for row in self.train if row.target is not None]

    @property
    def target_range(self) -> float:
        """Range of the training targets of a regression, in their unit: the error charged to an unreadable answer.

        If all targets are equal, their magnitude, or 1 for 0, so that the error is never 0.
        """
        targets = self.target_numbers
        return max(targets) - min(targets) or abs(targets[0]) or 1.0


def target_value(cell: str, task: Task) -> Value:
    """Read a target cell: a number for regression, else the label."""
    return float(cell) if task == "regression" else cell


def decimals(number: Decimal) -> int:
    """Digits after the point, as written: 0 for 3 and 1E+22, 9 for 1E-9."""
    return len(f"{number:f}".partition(".")[2])


RuleKind = Literal["random", "group", "time"]
SHAPES = "random, group:COLUMN or time:COLUMN"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRule:
    """Rule of a split: by chance, by the groups of a column, or by the times of a column."""

    kind: RuleKind = "random"
    column: str = ""  # with the groups or times; an input only if the user asks for it

    @classmethod
    def read(cls, text: str) -> "SplitRule":
        """Parse `random`, `group:COLUMN` or `time:COLUMN`. Raises InputError for other text."""
        kind, _, column = text.partition(":")
        if text == "random":
            return cls()
        if kind in ("group", "time") and column:
            return cls(kind=cast(RuleKind, kind), column=column)
        raise InputError(f"split {text!r} is unknown: give {SHAPES}")

    @property
    def text(self) -> str:
        """The rule as `read` parses it."""
        return f"{self.kind}:{self.column}" if self.column else self.kind

    @property
    def why_no_input(self) -> str:
        groups = "the split is by its groups, and new rows belong to new groups"
        return groups if self.kind == "group" else "the split is by its times, and new rows have later times"


RANDOM = SplitRule()

# A dataset in a run directory: rows as CSV text, everything else as a JSON spec


_PARTS = (*PARTS, "unlabelled", "unused")
_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^\s|\s$')


def rows_csv(dataset: Dataset) -> bytes:
    """Write all rows as CSV: columns `row`, `split`, then the columns of the rows in file order.

    Training rows come first, those of no part (split `unlabelled` and `unused`) last. UTF-8, commas, `\\n` after each
    line. The file may have a column `row` of its own, so readers identify the first two columns by position. A missing
    cell is empty; numeric targets are written in their shortest form.
    """
    used = {*dataset.inputs, dataset.target, *(name for row in dataset.train[:1] for name, _ in row.beside)}
    names = tuple(column.name for column in dataset.columns if column.name in used)
    lines: list[tuple[str | None, ...]] = [("row", "split", *names)]
    for part in _PARTS:
        for row in getattr(dataset, part):
            truth = repr(row.target).removesuffix(".0") if isinstance(row.target, float) else row.target
            cells = {**row.cells, dataset.target: truth}
            lines.append((str(row.id), part, *(cells.get(name) for name in names)))
    return "".join(",".join(map(_written, line)) + "\n" for line in lines).encode()


def _written(cell: str | None) -> str:
    # The csv module would write a lone carriage return without quotes.
    return '"' + cell.replace('"', '""') + '"' if cell and _NEEDS_QUOTES.search(cell) else cell or ""


def spec(dataset: Dataset) -> dict[str, Any]:
    """Everything in a dataset but its rows, in JSON types; `fingerprint` is the SHA-256 of its `rows_csv`."""
    fingerprint = hashlib.sha256(rows_csv(dataset)).hexdigest()
    return {**_adapter().dump_python(dataset, mode="json", exclude={*_PARTS}), "fingerprint": fingerprint}


def dataset_from_csv(content: bytes, *, header: Mapping[str, Any]) -> Dataset:
    """Read `rows_csv` and `spec`. Raises DataError for changed rows, ValueError or KeyError for another header."""
    if hashlib.sha256(content).hexdigest() != header["fingerprint"]:
        raise DataError(
            f"data.csv of {header['name']!r} was changed after the run wrote it: restore it or start a new run"
        )
    (_, _, *names), *lines = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
    parts: dict[str, list[Row]] = {part: [] for part in _PARTS}
    for row_id, part, *values in lines:
        cells = {name: value or None for name, value in zip(names, values, strict=True)}
        inputs, truth = tuple((name, cells.pop(name)) for name in header["inputs"]), cells.pop(header["target"])
        target = None if truth is None else target_value(truth, header["task"])
        beside = () if target is None else tuple(cells.items())
        parts[part].append(Row(id=int(row_id), inputs=inputs, target=target, beside=beside))
    dataset: Dataset = _adapter().validate_python({**header, **parts})
    return dataset


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Dataset)

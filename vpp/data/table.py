"""A table as read from a file, and the roles of its columns: the target and its task, and the inputs."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, get_args

from vpp.data.answers import look_alike, quoted, why_unreadable
from vpp.data.columns import Cells, are_codes, is_identifier, is_number, read_cell, read_columns
from vpp.data.dataset import DETECT, Column, Kind, ReadAs, Row, SplitRule, Task
from vpp.data.descriptions import nearest
from vpp.data.formats import read_file, read_frame
from vpp.data.text import Grid, Reading
from vpp.errors import DataError, InputError

MAX_BYTES = 50_000_000


@dataclass(frozen=True, kw_only=True)
class Table:
    """Named columns of equally many cells."""

    file: str
    sha256: str
    names: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    values: tuple[Cells, ...] = ()
    """(column, row): plain decimal numbers in a column of numbers, else as in the file; None is a missing cell."""
    texts: tuple[tuple[str, ...], ...]
    """(column, row): stripped text of the file."""
    file_notes: tuple[str, ...] = ()
    """Decisions on the file's format and grid, a sentence each."""
    column_notes: tuple[str, ...] = ()
    """Decisions on the kinds and cells of columns."""
    reading: Reading
    read_as: ReadAs = DETECT

    @classmethod
    def read(cls, content: bytes, *, name: str, read_as: ReadAs = DETECT) -> "Table":
        """Read a CSV, JSON, Excel or Parquet file; `name` is the file's name in messages.

        Lines without any text are skipped. Raises DataError for a file that is not a table, is too large, has no rows,
        or has a row wider than its header.
        """
        if len(content) > MAX_BYTES:
            raise DataError(f"{name} is larger than {MAX_BYTES / 1e6:.0f} MB: keep a sample of its rows")
        return cls._of(read_file(content, name=name, read_as=read_as), name, content, read_as)

    @classmethod
    def of_frame(cls, frame: Any, *, read_as: ReadAs = DETECT) -> "Table":
        """Read a DataFrame. Raises InputError if a cell or a name is not Unicode text."""
        grid = read_frame(frame)
        try:
            content = "\x1e".join("\x1f".join(cells) for cells in (grid.names, *grid.columns)).encode()
        except UnicodeEncodeError as error:
            raise InputError(f"the frame holds a lone surrogate ({error.object[error.start]!r}): replace it") from None
        return cls._of(grid, "frame", content, read_as)

    @classmethod
    def _of(cls, grid: Grid, file: str, content: bytes, read_as: ReadAs) -> "Table":
        table = cls(
            file=file,
            sha256=hashlib.sha256(content).hexdigest(),
            names=grid.names,
            texts=tuple(map(tuple, grid.columns)),
            file_notes=grid.notes,
            reading=grid.reading,
            read_as=read_as,
        )
        return with_kinds(table, {})

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.file_notes, *self.column_notes)

    @property
    def n_rows(self) -> int:
        return len(self.values[0])

    def column(self, name: str) -> Column:
        """Raises DataError for an unknown column, with the most similar names."""
        return self.columns[self._position(name)]

    def cells(self, name: str) -> Cells:
        """(n_rows,) cells of a column. Raises DataError for an unknown column."""
        return self.values[self._position(name)]

    def followed_by(self, other: "Table") -> "Table":
        """Return a table of the rows of both; cells of a column that the other lacks are missing."""
        own = [other.cells(name) if name in other.names else (None,) * other.n_rows for name in self.names]
        return replace(self, values=tuple((*cells, *more) for cells, more in zip(self.values, own, strict=True)))

    def row(self, row: int, names: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
        """(Column, cell) of a row."""
        return tuple((name, self.values[self._places[name]][row]) for name in names)

    def id_like(self, name: str) -> bool:
        """True if the column only names its rows, so that it should not be an input."""
        return is_identifier(name, self.cells(name), self.column(name).kind)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def _position(self, name: str) -> int:
        if name not in self._places:
            has = nearest(str(name), self.names, "its columns are")
            raise DataError(f"{self.file} has no column {name!r}: {has}{self.doubt}")
        return self._places[name]

    @property
    def doubt(self) -> str:
        """What else may have been read, for an error about a column; empty if nothing."""
        if (n := len(self.reading.sheets)) > 1:
            return f" (sheet {self.reading.sheet!r} of {n} was read; --read changes that)"
        return next((f" ({note})" for note in self.file_notes if note.startswith("no delimiter")), "")


def with_kinds(table: Table, kinds: Mapping[str, Kind]) -> Table:
    """Read columns with these kinds, the others as detected. Raises DataError for an unknown column, an unfit cell."""
    for name in kinds:
        table.column(name)
    if table.columns and not kinds:
        return table
    columns, values, notes = read_columns(
        table.names,
        table.texts,
        read_as=table.read_as,
        delimiter=table.reading.delimiter,
        chosen=kinds,
        is_typed=table.reading.format != "csv",
    )
    return replace(table, columns=columns, values=values, column_notes=notes)


def read_like(table: Table, columns: Sequence[Column]) -> Table:
    """Read the table again as `columns` were read: with their kinds, notation of numbers and labels.

    Columns are matched by name. A cell of a column of numbers that is not a number stays as written; a note says so.
    """
    own, values, notes = list(table.columns), list(table.values), []
    known = {column.name: column for column in columns}
    for place, name in enumerate(table.names):
        if name not in known:
            continue
        column, texts = known[name], table.texts[place]
        read = {text: read_cell(text, column) for text in dict.fromkeys(texts)}
        cells = values[place] = tuple(map(read.__getitem__, texts))
        own[place] = replace(column, n_missing=cells.count(None), n_distinct=len({*cells} - {None}))
        wrong = [row for row, cell in enumerate(cells) if cell is not None and not is_number(cell)]
        if column.kind == "number" and wrong:
            first = f"row {wrong[0]} holds {quoted(str(cells[wrong[0]]))}, which is not a number"
            others = f" ({len(wrong) - 1:,} more rows have such cells)" if len(wrong) > 1 else ""
            notes.append(f"column {name!r}: {first}{others}; such cells stay as written")
    return replace(table, columns=tuple(own), values=tuple(values), column_notes=tuple(notes))


TARGET_NAMES = ("target", "label", "survived", "class", "outcome", "y", "species")
MAX_CLASSES = 50
MAX_NUMERIC_CLASSES = 10
"""Most distinct values of integers that are labels rather than a quantity."""
ROWS_PER_NUMERIC_CLASS = 5
"""Least average number of rows a value of integers that are labels rather than a quantity."""


def target_guess(table: Table) -> str | None:
    """Guess the target column: by its name, else the last suitable column, else the last column.

    A column is suitable if it varies, holds numbers or labels, and does more than name its rows. None if no other
    column would be left as an input.
    """
    if len(table.columns) < 2:
        return None
    varied = [column for column in table.columns if column.n_distinct > 1]
    by_lower = {column.name.lower(): column.name for column in varied}
    named = (by_lower[name] for name in TARGET_NAMES if name in by_lower)
    suitable = (
        column.name
        for column in reversed(varied)
        if (column.kind == "number" or (column.kind == "category" and column.n_distinct <= MAX_CLASSES))
        and not table.id_like(column.name)
    )
    return next(chain(named, suitable), table.names[-1])


def guess_reason(table: Table) -> str:
    guess = target_guess(table)
    return "by its name" if guess and guess.lower() in TARGET_NAMES else "as the last suitable column"


def find_task(cells: Iterable[str | None]) -> Task:
    """Return classification for text and for few, often repeated integers; regression for other numbers."""
    present = [cell for cell in cells if cell is not None]
    if not all(map(is_number, present)):
        return "classification"
    values = set(map(float, present))
    repeated = len(values) <= MAX_NUMERIC_CLASSES and len(present) >= ROWS_PER_NUMERIC_CLASS * len(values)
    return "classification" if repeated and all(value.is_integer() for value in values) else "regression"


def resolve_task(table: Table, target: str, task: Task | Literal["auto"]) -> Task:
    """Return the task, detected if auto. Raises InputError for an unknown one, DataError for an unsuitable column."""
    if task not in (known := ("auto", *get_args(Task))):
        raise InputError(f"task is {task!r}: choose one of {', '.join(known)}")
    column, present = table.column(target), [cell for cell in table.cells(target) if cell is not None]
    labels = number_labels(present) if column.n_distinct <= MAX_CLASSES else {}
    fault = "" if present else f"of {table.file} is empty"
    if len({labels.get(cell, cell) for cell in present}) == 1:
        fault = f"has one value only ({quoted(present[0])})"
    elif column.kind == "date":
        fault = "holds dates, which cannot be predicted"
    if fault:
        raise DataError(f"column {target!r} {fault}: pick another target")
    if task == "auto":
        is_quantity = column.kind == "number" and (column.is_chosen or find_task(present) == "regression")
        task = "regression" if is_quantity else "classification"
    if task == "regression":
        check_numbers(table, target)
    else:
        _check_labels(table, present, target)
    return task


def check_numbers(table: Table, target: str) -> None:
    """Raises DataError for the first target of a regression that is not a finite number."""
    for row, cell in enumerate(table.cells(target)):
        if cell is not None and not is_number(cell):
            raise DataError(
                f"column {target!r} of {table.file} holds {quoted(cell)} in row {row}, which is not a number: fix the "
                "cell, choose classification or pick another target"
            )


def _check_labels(table: Table, present: Sequence[str], target: str) -> None:
    n_labels = len(set(present))
    why = next((f" ({note})" for note in table.column_notes if note.startswith(f"column {target!r} is ")), "")
    if n_labels == len(present):
        raise DataError(f"column {target!r} has a different value on every row: pick a target whose labels repeat{why}")
    if n_labels > MAX_CLASSES:
        remedy = "choose regression" if all(map(is_number, present)) else "merge labels"
        raise DataError(
            f"column {target!r} has {n_labels} labels, more than {MAX_CLASSES}: {remedy} or pick another target{why}"
        )
    check_readable(sort_labels(present), target)


def check_readable(classes: Sequence[str], target: str) -> None:
    """Raises DataError if a label could not be read back from an answer that copies it."""
    if why := why_unreadable(classes):
        raise DataError(f"column {target!r} cannot be the target, as {why}: rename it in the file")


def number_labels(cells: Iterable[str | None]) -> dict[str, str]:
    """Return the label of each cell if all are numbers but no codes: 1 and 1.0 are one label, the shorter."""
    distinct = sorted({cell for cell in cells if cell is not None}, key=lambda cell: (len(cell), cell))
    if not all(map(is_number, distinct)) or are_codes(distinct):
        return {}
    by_value: dict[float, str] = {}
    return {cell: by_value.setdefault(float(cell), cell) for cell in distinct}


def label_notes(classes: Sequence[str]) -> tuple[str, ...]:
    """Note the labels that differ only in case and spacing, so that answers must spell them exactly."""
    listed = "; ".join(" and ".join(map(quoted, group)) for group in look_alike(classes)[:3])
    return (f"similar labels count only if an answer spells them exactly: {listed}",) if listed else ()


def sort_labels(labels: Iterable[str | None]) -> tuple[str, ...]:
    """Sort the distinct labels: as numbers if all are numbers, else as text."""
    distinct = sorted({label for label in labels if label is not None})
    return tuple(sorted(distinct, key=float) if all(map(is_number, distinct)) else distinct)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChoice:
    task: Task | Literal["auto"] = "auto"
    inputs: Sequence[str] | None = None
    """None takes every column except the target, constants, identifiers and the column of the split."""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    """Meanings of columns and labels, by key (`vpp.data.descriptions`)."""


def choose_inputs(
    table: Table, split: SplitRule, *, target: str, inputs: Sequence[str] | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in file order, and a note on each column that was left out by default.

    inputs: None takes every column except constants, identifiers and the column of the split. A name with commas may
    come in pieces. Raises DataError for an unknown name, for the target among the inputs, and if no input is left.
    """
    notes: list[str] = []
    if inputs is not None:
        inputs = _joined(inputs, table.names)
        for name in inputs:
            table.column(name)
        if target in inputs:
            raise DataError(f"column {target!r} is the target and cannot be an input: leave it out of the inputs")
    else:
        names = [name for name in table.names if name not in (target, split.column)]
        left_out = _uninformative(table, names)
        inputs = [name for name in names if name not in left_out]
        notes = [f"column {name!r} was left out: {left_out[name]}" for name in names if name in left_out]
        if split.column:
            notes.append(f"column {split.column!r} was left out: {split.why_no_input}")
    if not inputs:
        why = f" ({'; '.join(notes)})" if notes else table.doubt
        raise DataError(
            f"{table.file} has no input column besides the target {target!r}{why}: add or name one that varies"
        )
    return tuple(name for name in table.names if name in inputs), tuple(notes)


def beside_columns(table: Table, used: Collection[str]) -> tuple[str, ...]:
    """Return the columns that are not used but part the rows, for slices of the result."""
    return tuple(
        column.name
        for column in table.columns
        if column.name not in used
        and column.kind in ("number", "category", "date")
        and column.n_distinct > 1
        and not table.id_like(column.name)
    )


def _joined(pieces: Sequence[str], names: Sequence[str]) -> list[str]:
    """Join names that were split at their commas: the longest run of pieces that is a column, else each piece."""
    columns = {",".join(part.strip() for part in name.split(",")): name for name in names}
    joined: list[str] = []
    start = 0
    while start < len(pieces):
        ends = range(len(pieces), start, -1)
        runs = ((end, ",".join(piece.strip() for piece in pieces[start:end])) for end in ends)
        end, name = next(((end, columns[run]) for end, run in runs if run in columns), (start + 1, pieces[start]))
        joined.append(name)
        start = end
    return joined


def _uninformative(table: Table, names: Sequence[str]) -> dict[str, str]:
    """Return why a column is no input, by name: constants, and identifiers unless nothing else is left."""
    constants: dict[str, str] = {}
    ids: dict[str, str] = {}
    for column in map(table.column, names):
        if column.n_distinct == 0:
            constants[column.name] = "it is empty"
        elif column.n_distinct == 1 and column.n_missing == 0:
            constants[column.name] = "it has one value only"
        elif table.id_like(column.name):
            ids[column.name] = "it is different on every row" if column.kind == "date" else "it only names the rows"
    return constants | (ids if len(constants) + len(ids) < len(names) else {})


def require_columns(table: Table, names: Sequence[str], *, of: str) -> None:
    """Raises DataError if the table lacks a column; `of` names the data that has it."""
    if lacking := ", ".join(repr(name) for name in names if name not in table.names):
        raise DataError(f"{table.file} lacks {lacking}, which {of} has: add or rename its columns")


def other_columns(table: Table, inputs: Collection[str]) -> dict[str, tuple[str | None, ...]]:
    """(n_rows,) cells of each column that is not an input, by name in file order; exports repeat them."""
    return {name: table.cells(name) for name in table.names if name not in inputs}


def unlabelled_rows(table: Table, inputs: Sequence[str]) -> tuple[Row, ...]:
    """All rows, to predict their targets. Raises DataError if the table lacks one of the inputs."""
    require_columns(table, inputs, of="the data of the run")
    return tuple(Row(id=row, inputs=table.row(row, inputs), target=None) for row in range(table.n_rows))

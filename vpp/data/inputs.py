"""Input columns: which columns to use, and the same columns as form fields."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vpp.data.columns import read_cell
from vpp.data.dataset import Column, Dataset, Kind, Notation, Row
from vpp.data.kinds import is_number
from vpp.data.numbers import write_number
from vpp.data.table import Table
from vpp.errors import DataError

Notes = tuple[str, ...]


def choose_inputs(
    table: Table, *, target: str, inputs: Sequence[str] | None, exclude: Collection[str]
) -> tuple[tuple[str, ...], Notes]:
    """Return the names in file order, and a note on each column that was left out by default.

    inputs: None takes every column except constants and identifiers. Raises DataError for an unknown name, for the
    target among the inputs, and if no input is left.
    """
    for name in (*(inputs or ()), *exclude):
        table.column(name)
    if inputs is not None and target in inputs:
        raise DataError(f"column {target!r} is the target and cannot be an input: leave it out of the inputs")
    wanted = table.names if inputs is None else inputs
    names = tuple(name for name in table.names if name in wanted and name not in exclude and name != target)
    chosen, notes = _informative(table, names) if inputs is None else (names, ())
    if not chosen:
        raise DataError(_none_left(table, target, notes))
    return chosen, notes


def require_columns(table: Table, names: Sequence[str], *, of: str) -> None:
    """Raises DataError if the table lacks a column; `of` names the data that has it."""
    lacking = [name for name in names if name not in table.names]
    if lacking:
        listed = ", ".join(map(repr, lacking))
        raise DataError(f"{table.file} lacks {listed}, which {of} has: add or rename its columns")


def other_columns(table: Table, inputs: Collection[str]) -> dict[str, tuple[str | None, ...]]:
    """(n_rows,) cells of each column that is not an input, by name in file order; exports repeat them."""
    return {name: table.cells(name) for name in table.names if name not in inputs}


def unlabelled_rows(table: Table, inputs: Sequence[str], target: str | None = None) -> tuple[Row, ...]:
    """Rows to predict: those with a missing `target` cell, or all rows if no target is given.

    inputs: names in the order of the rows' cells. Raises DataError if the table lacks one.
    """
    require_columns(table, inputs, of="the data of the run")
    truths = table.cells(target) if target is not None else (None,) * table.n_rows
    cells = [table.cells(name) for name in inputs]
    return tuple(
        Row(id=i, inputs=tuple(zip(inputs, values, strict=True)), target=None)
        for i, (truth, values) in enumerate(zip(truths, zip(*cells, strict=True), strict=True))
        if truth is None
    )


def _informative(table: Table, names: Sequence[str]) -> tuple[tuple[str, ...], Notes]:
    """Drop constants, and identifiers unless nothing else is left; note each."""
    constants = {name: why for name in names if (why := _constancy(table.column(name)))}
    varying = [name for name in names if name not in constants]
    ids = {name: _naming(table.column(name)) for name in varying if table.id_like(name)}
    if len(ids) == len(varying):
        ids = {}
    left_out = constants | ids
    notes = tuple(f"column {name!r} was left out: {left_out[name]}" for name in names if name in left_out)
    return tuple(name for name in names if name not in left_out), notes


def _naming(column: Column) -> str:
    return "it is different on every row" if column.kind == "date" else "it only names the rows"


def _constancy(column: Column) -> str | None:
    if column.n_distinct == 0:
        return "it is empty"
    return "it has one value only" if column.n_distinct == 1 and column.n_missing == 0 else None


def _none_left(table: Table, target: str, notes: Notes) -> str:
    reason = f" ({'; '.join(notes)})" if notes else ""
    return f"{table.file} has no input column besides the target {target!r}{reason}: add or name one that varies"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """An input column as a form field. Numbers are plain decimal, other cells as in the file."""

    name: str
    kind: Kind
    example: str | None
    """First present cell of the training rows."""
    low: str | None = None
    """Smallest number; None for other kinds and empty columns."""
    high: str | None = None
    """Largest number; None for other kinds and empty columns."""
    values: tuple[str, ...] = ()
    """Sorted values of a category; empty for other kinds."""
    notation: Notation | None = None
    """Format of the file's numbers; None if plain."""
    kept_words: tuple[str, ...] = ()
    """Labels that mean a missing cell in other columns."""

    @property
    def unit(self) -> str:
        """Unit of the numbers; empty if none."""
        return self.notation.unit if self.notation else ""

    def written(self, cell: str) -> str:
        """Format a cell as a user types it: numbers with the file's decimal mark."""
        return write_number(cell, self.notation) if self.kind == "number" and is_number(cell) else cell

    def is_outside(self, cell: str | None) -> bool:
        """True for an extrapolation: a number outside the training range, or an unseen category.

        False for missing cells, sequences, dates and texts.
        """
        if cell is None:
            return False
        if self.kind == "number" and self.low is not None and self.high is not None:
            return not (is_number(cell) and float(self.low) <= float(cell) <= float(self.high))
        return self.kind == "category" and cell not in self.values


def input_fields(dataset: Dataset) -> tuple[Field, ...]:
    """Return a field for each input column, in order."""
    known = {column.name: column for column in dataset.columns}
    seen = zip(*(row.inputs for row in dataset.train), strict=True)
    return tuple(_field(known[cells[0][0]], [cell for _, cell in cells]) for cells in seen)


def _field(column: Column, cells: Sequence[str | None]) -> Field:
    present = [cell for cell in cells if cell is not None]
    numbers = [cell for cell in present if is_number(cell)] if column.kind == "number" else []
    return Field(
        name=column.name,
        kind=column.kind,
        notation=column.notation,
        kept_words=column.kept_words,
        example=present[0] if present else None,
        low=min(numbers, key=float, default=None),
        high=max(numbers, key=float, default=None),
        values=tuple(sorted(set(present))) if column.kind == "category" else (),
    )


def typed_row(fields: Sequence[Field], cells: Sequence[str | None]) -> Row:
    """Read the row typed into a form; an empty cell, or a word such as NA, is missing.

    Numbers may be typed in the file's format or plainly. Raises DataError for other text in a column of numbers, and
    if every cell is missing.
    """
    read = [None if cell is None else _typed(field, cell) for field, cell in zip(fields, cells, strict=True)]
    for field, cell in zip(fields, read, strict=True):
        if field.kind == "number" and cell is not None and not is_number(cell):
            example = f", such as {field.written(field.example)}" if field.example else ""
            raise DataError(f"{field.name!r} takes a number{example}, not {cell[:40]!r}")
    if all(cell is None for cell in read):
        raise DataError("every field is empty: fill in at least one")
    return Row(id=0, inputs=tuple((f.name, cell) for f, cell in zip(fields, read, strict=True)), target=None)


def _typed(field: Field, cell: str) -> str | None:
    return read_cell(cell, kind=field.kind, notation=field.notation, kept_words=field.kept_words)

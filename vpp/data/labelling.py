"""Rows from a person: rows to label next, labelled rows added to a dataset, rows typed into a form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

import numpy as np

from vpp.data.columns import read_cell
from vpp.data.dataset import Column, Dataset, Row, Value, decimals
from vpp.data.numbers import is_number, read_number, write_number
from vpp.data.table import Table, read_like, require_columns
from vpp.errors import DataError
from vpp.randomness import rng

TRIES = 20
"""Most draws for each generated row; draws that repeat a labelled or an earlier row are dropped."""

Source = Literal["file", "made up"]
Cell = str | None
Key = tuple[Cell | float, ...]


def candidate_rows(dataset: Dataset, *, source: Source, n: int, seed: int, draw: int = 0) -> tuple[Row, ...]:
    """Draw at most `n` distinct rows in no part and without the inputs of a row in one, sorted by id.

    source: the file's rows, or rows generated within the range of the training rows (with new ids).
    draw: number of the draw; another number gives other rows.
    """
    generator = rng(seed, "candidates", draw)
    free = (*dataset.unlabelled, *dataset.unused)
    rows = (free[i] for i in generator.permutation(len(free)))
    if source == "made up":  # independent cells, so impossible combinations may occur
        samplers = [(name, _cell_sampler(_present(dataset, place))) for place, name in enumerate(dataset.inputs)]
        cells = (tuple((name, sample(generator)) for name, sample in samplers) for _ in range(TRIES * n))
        rows = (Row(id=0, inputs=inputs, target=None) for inputs in cells)
    labelled = {input_key(row) for row in dataset.labelled}
    new: dict[Key, Row] = {}
    for row in rows:
        if len(new) < n and (key := input_key(row)) not in labelled:
            new.setdefault(key, row)
    if source == "file":
        return tuple(sorted(new.values(), key=lambda row: row.id))
    return tuple(replace(row, id=dataset.next_id + i) for i, row in enumerate(new.values()))


def input_key(row: Row) -> Key:
    """Key that is equal for rows with the same inputs: numbers by value, other cells by text."""
    return tuple(float(cell) if cell is not None and is_number(cell) else cell for _, cell in row.inputs)


def _cell_sampler(seen: Sequence[str]) -> Callable[[np.random.Generator], Cell]:
    """Return a sampler of cells: uniform numbers in the range seen, with as many decimals, or any of the cells seen."""
    if not seen or not all(map(is_number, seen)):
        distinct: list[Cell] = [*dict.fromkeys(seen)] or [None]
        return lambda generator: distinct[int(generator.integers(len(distinct)))]
    low, high = min(map(float, seen)), max(map(float, seen))
    places = max(decimals(Decimal(cell)) for cell in seen)
    return lambda generator: f"{generator.uniform(low, high):z.{places}f}"


def answered_rows(table: Table, dataset: Dataset) -> tuple[Row, ...]:
    """Rows of a table with a target, as texts. Raises DataError if a column is missing or no row has a target."""
    require_columns(table, (*dataset.inputs, dataset.target), of="the data of the run")
    table = read_like(table, dataset.columns, dataset.cells)
    answered = tuple(
        Row(id=row, inputs=table.row(row, dataset.inputs), target=target)
        for row, target in enumerate(table.cells(dataset.target))
        if target is not None
    )
    if not answered:
        raise DataError(f"no row of {table.file} has a value in {dataset.target!r}: fill in the true answers")
    return answered


def with_rows(dataset: Dataset, answered: Sequence[Row], *, note: str) -> Dataset:
    """Append the rows to the training rows, under new ids; the test rows stay unchanged.

    note: source of the rows, put before their ids in the provenance. Rows that are now answered are removed from the
    unlabelled and the unused ones. Raises DataError for an unknown label, a cell or target that should be a number, and
    a row that is in a part already.
    """
    if not answered:
        raise DataError("no row has been answered: give the true target of at least one row")
    added = tuple(_row(dataset, given, place) for place, given in enumerate(answered))
    labelled = {(input_key(row), row.target): f"row {row.id} of the run" for row in dataset.labelled}
    for place, row in enumerate(added, 1):
        before = labelled.setdefault((input_key(row), row.target), own := f"answered row {place}")
        if before != own:
            raise DataError(f"{own} repeats {before}: leave it out, since each row counts once")
    known = {input_key(row) for row in added}
    unlabelled, unused = (
        tuple(row for row in rows if input_key(row) not in known) for rows in (dataset.unlabelled, dataset.unused)
    )
    origin = dataset.provenance
    ids = f"row {added[0].id}" if len(added) == 1 else f"rows {added[0].id} to {added[-1].id}"
    provenance = replace(
        origin,
        n_unlabelled=origin.n_unlabelled - (len(dataset.unlabelled) - len(unlabelled)),
        n_left_out=origin.n_left_out - (len(dataset.unused) - len(unused)),
        notes=(*origin.notes, f"{note}: {ids}"),
    )
    train = (*dataset.train, *added)
    return replace(dataset, train=train, unlabelled=unlabelled, unused=unused, provenance=provenance)


def _row(dataset: Dataset, given: Row, place: int) -> Row:
    columns = {column.name: column for column in dataset.columns}
    target = str(given.target).strip()
    is_label = dataset.task == "classification"
    if is_label and target not in dataset.classes:
        labels = ", ".join(dataset.classes)
        raise DataError(f"answered row {place + 1}: {target!r} is not a label: give one of {labels}")
    numbers = {name: cell for name, cell in given.inputs if cell is not None and columns[name].kind == "number"}
    if not is_label:
        numbers[dataset.target] = read_number(target, columns[dataset.target].notation) or target
    for name, cell in numbers.items():
        if not is_number(cell):
            raise DataError(f"answered row {place + 1}: {cell!r} is not a number: give {name!r} as a decimal number")
    value: Value = target if is_label else float(numbers[dataset.target])
    return Row(id=dataset.next_id + place, inputs=given.inputs, target=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """An input column as a form field. Numbers are plain decimal, other cells as in the file."""

    column: Column
    example: str | None
    low: str | None = None
    """Smallest number; None for other kinds and empty columns."""
    high: str | None = None
    """Largest number; None for other kinds and empty columns."""
    values: tuple[str, ...] = ()
    """Sorted values of a category; empty for other kinds."""

    @property
    def unit(self) -> str:
        return self.column.notation.unit if self.column.notation else ""

    def written(self, cell: str) -> str:
        """Format a cell as a user types it: numbers with the file's decimal mark."""
        is_decimal = self.column.kind == "number" and is_number(cell)
        return write_number(cell, self.column.notation) if is_decimal else cell

    def is_outside(self, cell: str | None) -> bool:
        """True for an extrapolation: a number outside the training range, or an unseen category."""
        if cell is None:
            return False
        if self.low is not None and self.high is not None:
            return not (is_number(cell) and float(self.low) <= float(cell) <= float(self.high))
        return self.column.kind == "category" and cell not in self.values


def input_fields(dataset: Dataset) -> tuple[Field, ...]:
    columns = {column.name: column for column in dataset.columns}
    fields = []
    for place, name in enumerate(dataset.inputs):
        column, present = columns[name], _present(dataset, place)
        numbers = [cell for cell in present if is_number(cell)] if column.kind == "number" else []
        fields.append(
            Field(
                column=column,
                example=next(iter(present), None),
                low=min(numbers, key=float, default=None),
                high=max(numbers, key=float, default=None),
                values=tuple(sorted(set(present))) if column.kind == "category" else (),
            )
        )
    return tuple(fields)


def _present(dataset: Dataset, place: int) -> list[str]:
    return [cell for row in dataset.train if (cell := row.inputs[place][1]) is not None]


def typed_row(fields: Sequence[Field], cells: Sequence[str | None]) -> Row:
    """Read a row typed into a form, numbers as in the file or plainly. Raises DataError for other text, or none."""
    inputs = tuple((f.column.name, read_cell(cell or "", f.column)) for f, cell in zip(fields, cells, strict=True))
    for field, (name, cell) in zip(fields, inputs, strict=True):
        if field.column.kind == "number" and cell is not None and not is_number(cell):
            example = f", such as {field.written(field.example)}" if field.example else ""
            raise DataError(f"{name!r} takes a number{example}, not {cell[:40]!r}")
    if all(cell is None for _, cell in inputs):
        raise DataError("every field is empty: fill in at least one")
    return Row(id=0, inputs=inputs, target=None)

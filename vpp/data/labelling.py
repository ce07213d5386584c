"""Rows from a person: rows to label next, labelled rows added to a dataset, rows typed into a form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Literal

import numpy as np

from vpp.data.columns import read_cell
from vpp.data.dataset import Column, Dataset, Row, Value, decimals, target_value
from vpp.data.numbers import is_number, read_number, write_number
from vpp.data.table import Table, read_like, require_columns
from vpp.errors import DataError
from vpp.randomness import rng

TRIES = 20
"""Most draws for each generated row; draws that repeat a labelled or an earlier row are dropped."""

Cell = str | None
Key = tuple[Cell | float, ...]


@dataclass(frozen=True, kw_only=True)
class Field:
    """An input column as a form field. Numbers are plain decimal, other cells as in the file."""

    column: Column
    cells: tuple[str, ...]  # distinct ones of the training rows

    @property
    def example(self) -> str | None:
        return next(iter(self.cells), None)

    @cached_property
    def range(self) -> tuple[str, str] | None:
        """Smallest and largest number; None for other kinds and empty columns."""
        numbers = list(filter(is_number, self.cells)) if self.column.kind == "number" else []
        return (min(numbers, key=float), max(numbers, key=float)) if numbers else None

    def written(self, cell: str) -> str:
        """Format a cell as a user types it: numbers with the file's decimal mark."""
        is_decimal = self.column.kind == "number" and is_number(cell)
        return write_number(cell, self.column.notation) if is_decimal else cell

    def is_outside(self, cell: str) -> bool:
        """True for an extrapolation: a number outside the training range, or an unseen category."""
        if self.range is None:
            return self.column.kind == "category" and cell not in self.cells
        low, high = map(float, self.range)
        return not (is_number(cell) and low <= float(cell) <= high)


def input_fields(dataset: Dataset) -> tuple[Field, ...]:
    columns, fields = {column.name: column for column in dataset.columns}, []
    for place, name in enumerate(dataset.inputs):
        cells = dict.fromkeys(row.inputs[place][1] for row in dataset.train)
        fields.append(Field(column=columns[name], cells=tuple(cell for cell in cells if cell is not None)))
    return tuple(fields)


def typed_row(fields: Sequence[Field], cells: Sequence[Cell]) -> Row:
    """Read a row typed into a form, numbers as in the file or plainly. Raises DataError for other text, or none."""
    inputs = tuple((f.column.name, read_cell(cell or "", f.column)) for f, cell in zip(fields, cells, strict=True))
    for field, (name, cell) in zip(fields, inputs, strict=True):
        if field.column.kind == "number" and cell is not None and not is_number(cell):
            example = f", such as {field.written(field.example)}" if field.example else ""
            raise DataError(f"{name!r} takes a number{example}, not {cell[:40]!r}")
    if all(cell is None for _, cell in inputs):
        raise DataError("every field is empty: fill in at least one")
    return Row(id=0, inputs=inputs, target=None)


def input_key(row: Row) -> Key:
    """Key that is equal for rows with the same inputs: numbers by value, other cells by text."""
    return tuple(float(cell) if cell is not None and is_number(cell) else cell for _, cell in row.inputs)


def candidate_rows(
    dataset: Dataset, *, source: Literal["file", "made up"], n: int, seed: int, draw: int = 0
) -> tuple[Row, ...]:
    """Draw at most `n` distinct rows in no part and without the inputs of a row in one, sorted by id.

    source: the file's rows, or rows generated within the range of the training rows (with new ids).
    draw: number of the draw; another number gives other rows.
    """
    generator = rng(seed, "candidates", draw)
    free = (*dataset.unlabelled, *dataset.unused)
    rows = (free[i] for i in generator.permutation(len(free)))
    if source == "made up":  # independent cells, so impossible combinations may occur
        samplers = [(field.column.name, _cell_sampler(field.cells)) for field in input_fields(dataset)]
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
    places = {(input_key(row), row.target): f"row {row.id} of the run" for row in dataset.labelled}
    added: list[Row] = []
    for given in answered:
        own = f"answered row {len(added) + 1}"
        row = replace(given, id=dataset.next_id + len(added), target=_answer(dataset, given, own))
        if (before := places.setdefault((input_key(row), row.target), own)) != own:
            raise DataError(f"{own} repeats {before}: leave it out, since each row counts once")
        added.append(row)
    keys, origin = {input_key(row) for row in added}, dataset.provenance
    unlabelled, unused = (
        tuple(row for row in rows if input_key(row) not in keys) for rows in (dataset.unlabelled, dataset.unused)
    )
    ids = f"row {added[0].id}" if len(added) == 1 else f"rows {added[0].id} to {added[-1].id}"
    provenance = replace(
        origin,
        n_unlabelled=origin.n_unlabelled - (len(dataset.unlabelled) - len(unlabelled)),
        n_left_out=origin.n_left_out - (len(dataset.unused) - len(unused)),
        notes=(*origin.notes, f"{note}: {ids}"),
    )
    train = (*dataset.train, *added)
    return replace(dataset, train=train, unlabelled=unlabelled, unused=unused, provenance=provenance)


def _answer(dataset: Dataset, row: Row, place: str) -> Value:
    """Return the row's target as the dataset's are. Raises DataError for a wrong one, and for a wrong input."""
    columns, target = {column.name: column for column in dataset.columns}, str(row.target).strip()
    if dataset.task == "classification" and target not in dataset.classes:
        raise DataError(f"{place}: {target!r} is not a label: give one of {', '.join(dataset.classes)}")
    numbers = {name: cell for name, cell in row.inputs if cell is not None and columns[name].kind == "number"}
    if dataset.task == "regression":
        target = numbers[dataset.target] = read_number(target, columns[dataset.target].notation) or target
    for name, cell in numbers.items():
        if not is_number(cell):
            raise DataError(f"{place}: {cell!r} is not a number: give {name!r} as a decimal number")
    return target_value(target, dataset.task)

"""Rows that a person has answered, added to the training rows of a dataset."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vpp.data.candidates import input_key
from vpp.data.dataset import Dataset, Kind, Row, Value
from vpp.data.inputs import require_columns
from vpp.data.kinds import is_number
from vpp.data.missing import cell
from vpp.data.notation import read_number
from vpp.data.recast import read_like
from vpp.data.table import Table
from vpp.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An input and its true target, as a person gives them."""

    inputs: Mapping[str, str | float | None]
    """A cell a column; None, or a text that stands for nothing, is a missing one."""
    target: Value


def answered_rows(table: Table, dataset: Dataset) -> tuple[Answered, ...]:
    """The rows of a table that have a target. Raises DataError where it lacks a column, or no row has one."""
    require_columns(table, (*dataset.inputs, dataset.target), of="the data of the run")
    table = read_like(table, dataset.columns)
    columns = [table.cells(name) for name in dataset.inputs]
    found = tuple(
        Answered(inputs=dict(zip(dataset.inputs, cells, strict=True)), target=target)
        for target, cells in zip(table.cells(dataset.target), zip(*columns, strict=True), strict=True)
        if target is not None
    )
    if not found:
        raise DataError(f"no row of {table.file} has a value in {dataset.target!r}: fill in the true answers")
    return found


def with_rows(dataset: Dataset, answered: Sequence[Answered], *, note: str) -> Dataset:
    """The dataset with the rows behind its training rows, under ids that no row has had; test rows stay as they are.

    note: of whose rows they are, put before their ids in the provenance. A row without a target that was answered is
    no longer kept, nor counted, as one. Raises DataError for an unknown column or label, a cell or target that is no
    number, and a row that is labelled already: each shall count once.
    """
    if not answered:
        raise DataError("no row has been answered: give the true target of one at least")
    added = tuple(_row(dataset, given, place) for place, given in enumerate(answered))
    _check_new(dataset, added)
    known = {input_key(row) for row in added}
    unlabelled = tuple(row for row in dataset.unlabelled if input_key(row) not in known)
    provenance = dataset.provenance
    ids = f"row {added[0].id}" if len(added) == 1 else f"rows {added[0].id} to {added[-1].id}"
    return replace(
        dataset,
        train=(*dataset.train, *added),
        unlabelled=unlabelled,
        provenance=replace(
            provenance,
            n_unlabelled=provenance.n_unlabelled - (len(dataset.unlabelled) - len(unlabelled)),
            notes=(*provenance.notes, f"{note}: {ids}"),
        ),
    )


def n_answered(dataset: Dataset) -> int:
    """Training rows that a person answered: their ids come after those of the file."""
    return sum(row.id >= dataset.provenance.n_rows for row in dataset.train)


def _row(dataset: Dataset, given: Answered, place: int) -> Row:
    where = f"answered row {place + 1}"
    for name in given.inputs:
        if name not in dataset.inputs:
            raise DataError(f"{where}: {name!r} is no input of the run: leave it out")
    kinds = {column.name: column.kind for column in dataset.columns}
    cells = tuple((name, _cell(given.inputs, name, kinds.get(name), where)) for name in dataset.inputs)
    return Row(id=dataset.next_id + place, inputs=cells, target=_target(dataset, given.target, where))


def _cell(inputs: Mapping[str, str | float | None], name: str, kind: Kind | None, where: str) -> str | None:
    if name not in inputs:
        raise DataError(f"{where} has no {name!r}: give every input, None where it is missing")
    found = inputs[name]
    text = None if found is None else cell(str(found))
    if text is not None and kind == "number" and not is_number(text):
        raise DataError(f"{where}: {text!r} is no number, and {name!r} is a column of numbers")
    return text


def _target(dataset: Dataset, target: Value, where: str) -> Value:
    text = str(target).strip()
    if dataset.task == "classification":
        if text not in dataset.classes:
            raise DataError(f"{where}: {text!r} is none of the labels: give one of {', '.join(dataset.classes)}")
        return text
    known = {column.name: column.notation for column in dataset.columns}
    number = text if is_number(text) else read_number(text, known.get(dataset.target))
    if number is None or not math.isfinite(float(number)):
        raise DataError(f"{where}: {text!r} is no number: give {dataset.target!r} as a decimal number")
    return float(number)


def _check_new(dataset: Dataset, added: Sequence[Row]) -> None:
    """Raises DataError for inputs and target that a labelled row, or an earlier added one, has."""
    known = {(input_key(row), row.target): f"row {row.id} of the run" for row in _labelled(dataset)}
    for place, row in enumerate(added, 1):
        key = input_key(row), row.target
        if key in known:
            raise DataError(f"answered row {place} is {known[key]} already: leave it out, each row counts once")
        known[key] = f"answered row {place}"


def _labelled(dataset: Dataset) -> Iterator[Row]:
    yield from dataset.train
    yield from dataset.test

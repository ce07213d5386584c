"""The input columns: those asked for, or all that may say something of the target."""

from collections.abc import Collection, Sequence

from vpp.data.dataset import Column, Row
from vpp.data.table import Table
from vpp.errors import DataError

Notes = tuple[str, ...]


def choose_inputs(
    table: Table, *, target: str, inputs: Sequence[str] | None, exclude: Collection[str]
) -> tuple[tuple[str, ...], Notes]:
    """Names in file order, and a note on each column that was left out unasked.

    Raises DataError for an unknown name, the target among the inputs, or none left.
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
    """Raises DataError where the table lacks a column that `of` has."""
    lacking = [name for name in names if name not in table.names]
    if lacking:
        listed = ", ".join(map(repr, lacking))
        raise DataError(f"{table.file} lacks {listed}, which {of} has: add what is missing or rename its columns")


def columns_beside(table: Table, inputs: Collection[str]) -> dict[str, tuple[str | None, ...]]:
    """(N,) cells of each column that is no input, by name, in file order: what answers are joined back by."""
    return {name: table.cells(name) for name in table.names if name not in inputs}


def unlabelled_rows(table: Table, inputs: Sequence[str], target: str | None = None) -> tuple[Row, ...]:
    """Rows without a target, to be predicted: those whose `target` cell is missing, or all where no target is given.

    inputs: names, in the order the rows shall have. Raises DataError where the table lacks one of them.
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
    """Without constants, and without identifiers unless nothing else is left."""
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
    return f"{table.file} has no input column beside the target {target!r}{reason}: add or name one that varies"

"""A dataset's input columns as fields to fill in: what the training rows hold, and whether a new cell lies outside."""

from collections.abc import Sequence
from dataclasses import dataclass

from vpp.data import kinds
from vpp.data.columns import read_cell
from vpp.data.dataset import Column, Dataset, Kind, Notation, Row
from vpp.data.notation import write_number
from vpp.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """An input column as the training rows know it. Numbers are plain decimal ones, other cells as in the file."""

    name: str
    kind: Kind
    example: str | None
    """Of the first training row that has one."""
    low: str | None = None
    """The least number of a column of numbers; None for other kinds, and without any."""
    high: str | None = None
    values: tuple[str, ...] = ()
    """Those of a category, in sort order; empty for other kinds."""
    notation: Notation | None = None
    """How the file writes a column's numbers; None for plainly."""
    kept_words: tuple[str, ...] = ()
    """Words that are labels here, though they stand for a missing cell elsewhere."""

    @property
    def unit(self) -> str:
        """Empty where the numbers have none."""
        return self.notation.unit if self.notation else ""

    def written(self, cell: str) -> str:
        """The cell as it may be typed: a number with the file's decimal mark."""
        return write_number(cell, self.notation) if self.kind == "number" and kinds.is_number(cell) else cell

    def is_outside(self, cell: str | None) -> bool:
        """Whether no training row tells how such a cell is to be read: a number beyond the range, an unseen category.

        Missing cells, sequences, dates and texts are never outside.
        """
        if cell is None:
            return False
        if self.kind == "number" and self.low is not None and self.high is not None:
            return not (kinds.is_number(cell) and float(self.low) <= float(cell) <= float(self.high))
        return self.kind == "category" and cell not in self.values


def input_fields(dataset: Dataset) -> tuple[Field, ...]:
    """A field an input column, in their order."""
    known = {column.name: column for column in dataset.columns}
    seen = zip(*(row.inputs for row in dataset.train), strict=True)
    return tuple(_field(known[cells[0][0]], [cell for _, cell in cells]) for cells in seen)


def _field(column: Column, cells: Sequence[str | None]) -> Field:
    present = [cell for cell in cells if cell is not None]
    numbers = [cell for cell in present if kinds.is_number(cell)] if column.kind == "number" else []
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
    """The row that was typed, a cell a field; an empty one, or a word such as NA, is missing.

    A number may be typed as the file writes it, or plainly. Raises DataError where a column of numbers has something
    else, or every cell is missing.
    """
    read = [None if cell is None else _typed(field, cell) for field, cell in zip(fields, cells, strict=True)]
    for field, cell in zip(fields, read, strict=True):
        if field.kind == "number" and cell is not None and not kinds.is_number(cell):
            example = f", such as {field.written(field.example)}" if field.example else ""
            raise DataError(f"{field.name!r} takes a number{example}: {cell[:40]!r} is none")
    if all(cell is None for cell in read):
        raise DataError("every field is empty: fill in at least one")
    return Row(id=0, inputs=tuple((f.name, cell) for f, cell in zip(fields, read, strict=True)), target=None)


def _typed(field: Field, cell: str) -> str | None:
    return read_cell(cell, kind=field.kind, notation=field.notation, kept_words=field.kept_words)

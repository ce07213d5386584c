"""A table as read from a file: each cell's text, each column's kind."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from vpp.data.columns import no_number_note, read_columns, read_known
from vpp.data.dataset import DETECT, Column, Kind, ReadAs
from vpp.data.grid import shown_name
from vpp.data.kinds import is_identifier
from vpp.data.reading import Reading, read_file
from vpp.errors import DataError

Cells = tuple[str | None, ...]
MOST_LISTED = 20
"""Most columns that a message lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Named columns of equally many cells."""

    file: str
    sha256: str
    """Hash of the file's bytes."""
    columns: tuple[Column, ...]
    values: tuple[Cells, ...]
    """(column, row): plain decimal numbers in a column of numbers, else as in the file; None is a missing cell."""
    texts: tuple[tuple[str, ...], ...]
    """(column, row): stripped text of the file."""
    notes: tuple[str, ...] = ()
    """Decisions taken while reading, a sentence each."""
    column_notes: tuple[str, ...] = ()
    """Subset of `notes` on the kinds and cells of columns."""
    reading: Reading
    read_as: ReadAs = DETECT
    """The user's choices."""
    _places: dict[str, int] = field(init=False, repr=False, compare=False)
    """Place of each column, by name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {column.name: place for place, column in enumerate(self.columns)})

    @classmethod
    def read(cls, content: bytes, *, name: str, read_as: ReadAs = DETECT) -> "Table":
        """Read a CSV, Excel or Parquet file; `name` is the file's name in messages.

        Lines without any text are skipped. Raises DataError for a file that is not a table, is too large, has no rows,
        or has a row wider than its header.
        """
        grid, reading, notes = read_file(content, name=name, read_as=read_as)
        read = read_columns(grid.names, grid.columns, decimal=read_as.decimal, delimiter=reading.delimiter)
        return cls(
            file=name,
            sha256=hashlib.sha256(content).hexdigest(),
            columns=read.columns,
            values=read.values,
            texts=tuple(map(tuple, grid.columns)),
            notes=(*notes, *grid.notes, *read.notes),
            column_notes=read.notes,
            reading=reading,
            read_as=read_as,
        )

    @property
    def delimiter(self) -> str:
        """The CSV's delimiter; empty if each line is one cell, and for other formats."""
        return self.reading.delimiter

    @property
    def encoding(self) -> str:
        """Python's name of the CSV's encoding; empty for other formats."""
        return self.reading.encoding

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def n_rows(self) -> int:
        return len(self.values[0])

    def column(self, name: str) -> Column:
        """Raises DataError for an unknown column, with the most similar names."""
        return self.columns[self._position(name)]

    def cells(self, name: str) -> Cells:
        """(n_rows,) cells of a column. Raises DataError for an unknown column."""
        return self.values[self._position(name)]

    def id_like(self, name: str) -> bool:
        """True if the column only names its rows, so that it should not be an input."""
        return is_identifier(name, self.cells(name), self.column(name).kind)

    def _position(self, name: str) -> int:
        if name not in self._places:
            raise DataError(f"{self.file} has no column {name!r}: {_nearest(name, self.names)}")
        return self._places[name]


def _nearest(name: str, names: Sequence[str]) -> str:
    by_lower = {other.lower(): other for other in names}
    near = get_close_matches(str(name).lower(), by_lower, n=3)
    if near:
        return f"did you mean {' or '.join(repr(by_lower[lower]) for lower in near)}?"
    listed = ", ".join(repr(shown_name(each)) for each in names[:MOST_LISTED])
    return f"its columns are {listed}{', …' if len(names) > MOST_LISTED else ''}"


def with_kinds(table: Table, kinds: Mapping[str, Kind]) -> Table:
    """Read the table again with these kinds of columns; the others are detected.

    Raises DataError for an unknown column, and for a cell that is not of its column's kind.
    """
    for name in kinds:
        table.column(name)
    if not kinds:
        return table
    read = read_columns(
        table.names, table.texts, decimal=table.read_as.decimal, delimiter=table.delimiter, chosen=kinds
    )
    notes = tuple(note for note in table.notes if note not in table.column_notes)
    return replace(
        table, columns=read.columns, values=read.values, notes=(*notes, *read.notes), column_notes=read.notes
    )


def read_like(table: Table, columns: Sequence[Column]) -> Table:
    """Read the table again as `columns` were read: with their kinds, notation of numbers and labels.

    Columns are matched by name. A cell of a column of numbers that is not a number stays as written; a note says so.
    """
    known = {column.name: column for column in columns}
    reread = [
        read_known(known[name], texts) if name in known else (column, cells)
        for name, texts, column, cells in zip(table.names, table.texts, table.columns, table.values, strict=True)
    ]
    column_notes = tuple(
        note for column, cells in reread if column.name in known and (note := no_number_note(column, cells))
    )
    notes = tuple(note for note in table.notes if note not in table.column_notes)
    return replace(
        table,
        columns=tuple(column for column, _ in reread),
        values=tuple(cells for _, cells in reread),
        notes=(*notes, *column_notes),
        column_notes=column_notes,
    )

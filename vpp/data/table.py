"""A table as read from a file's bytes: every cell its text, every column its kind."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from vpp.data import kinds
from vpp.data.columns import read_columns
from vpp.data.dataset import Column
from vpp.data.names import shown_name
from vpp.data.read_as import AS_FOUND, ReadAs
from vpp.data.reading import Reading, read_file
from vpp.errors import DataError

Cells = tuple[str | None, ...]
MOST_LISTED = 20
"""Columns that a message names at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Named columns of equally many cells."""

    file: str
    sha256: str
    """Of the file's bytes."""
    columns: tuple[Column, ...]
    values: tuple[Cells, ...]
    """(column, row): a plain decimal number in a column of numbers, else as in the file; None is a missing cell."""
    texts: tuple[tuple[str, ...], ...]
    """(column, row): the text in the file without outer blanks."""
    notes: tuple[str, ...] = ()
    """What was decided while reading, a sentence each."""
    column_notes: tuple[str, ...] = ()
    """Those among them that are about the kinds and cells of columns."""
    reading: Reading
    """How the file was read."""
    read_as: ReadAs = AS_FOUND
    """What a person said of that."""
    _places: dict[str, int] = field(init=False, repr=False, compare=False)
    """Of each column, by its name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {column.name: place for place, column in enumerate(self.columns)})

    @classmethod
    def read(cls, content: bytes, *, name: str, read_as: ReadAs = AS_FOUND) -> "Table":
        """The table in the bytes of a CSV, Excel or Parquet file; `name` is the file's, for messages.

        A line without any text is no row. Raises DataError for a file that is no table, is too large, has no rows, or
        has a row wider than its header.
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
        """Empty where no line is divided, and for other formats than CSV."""
        return self.reading.delimiter

    @property
    def encoding(self) -> str:
        """Python's name of a CSV's; empty for other formats."""
        return self.reading.encoding

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def n_rows(self) -> int:
        return len(self.values[0])

    def column(self, name: str) -> Column:
        """Raises DataError, naming what comes near, where there is no such column."""
        return self.columns[self._position(name)]

    def cells(self, name: str) -> Cells:
        """(n_rows,) cells of a column. Raises DataError as `column` does."""
        return self.values[self._position(name)]

    def id_like(self, name: str) -> bool:
        """Whether the column only names its rows, so that it is better left out (`kinds.is_identifier`)."""
        return kinds.is_identifier(name, self.cells(name), self.column(name).kind)

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

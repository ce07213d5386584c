"""A table as read from the bytes of a CSV file: every cell its text, every column its kind."""

import hashlib
import io
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import compress, count

import pandas as pd

from vpp.data import kinds
from vpp.data.dataset import Column
from vpp.data.dialect import decode, find_delimiter
from vpp.errors import DataError

_TOO_WIDE = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")

Cells = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Named columns of equally many cells."""

    file: str
    sha256: str
    """Of the file's bytes."""
    delimiter: str
    encoding: str
    """utf-8, utf-8-sig (UTF-8 with a byte order mark), utf-16 or cp1252."""
    columns: tuple[Column, ...]
    values: tuple[Cells, ...]
    """(column, row): the text in the file without outer blanks; None is a missing cell."""
    notes: tuple[str, ...] = ()
    """What was decided while reading, a sentence each."""

    @classmethod
    def read(cls, content: bytes, *, name: str) -> "Table":
        """The table in a CSV file's bytes; `name` is the file's, for messages. A line without any text is no row.

        Raises DataError for a file that is binary, empty, too large, has no rows or a row wider than its header.
        """
        text, encoding = decode(content, name=name)
        delimiter = find_delimiter(text)
        records = _records(text, delimiter, name)
        names, notes = _unique_names([record[0] for record in records])
        values = tuple(tuple(map(kinds.cell, record[1:])) for record in records)
        return cls(
            file=name,
            sha256=hashlib.sha256(content).hexdigest(),
            delimiter=delimiter,
            encoding=encoding,
            columns=tuple(map(_column, names, values)),
            values=values,
            notes=notes,
        )

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
        return kinds.is_identifier(name, self.cells(name))

    def _position(self, name: str) -> int:
        if name not in self.names:
            raise DataError(f"{self.file} has no column {name!r}: {_nearest(name, self.names)}")
        return self.names.index(name)


def _records(text: str, delimiter: str, name: str) -> list[list[str]]:
    """(column, line): cells without outer blanks, the header's first. Raises DataError."""
    frame = _frame(text, delimiter, name)
    columns = [[cell.strip() for cell in frame[i].tolist()] for i in frame.columns]
    kept = [any(line) for line in zip(*columns, strict=True)]
    if sum(kept) < 2:
        raise DataError(f"{name} has one line only: a header line and at least one row are needed")
    return [list(compress(column, kept)) for column in columns]


def _frame(text: str, delimiter: str, name: str) -> pd.DataFrame:
    """A row a line that is not blank."""
    try:
        return pd.read_csv(
            io.StringIO(text, newline=""),
            sep=delimiter,
            header=None,
            dtype=str,
            na_filter=False,
            skipinitialspace=True,
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise DataError(f"{name} cannot be read as a table: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """What pandas found, in our words, with the mend."""
    said = " ".join(str(error).split())
    if "EOF inside string" in said:
        return "a quote is opened and never closed: close it, or double each quote within a cell"
    if wide := _TOO_WIDE.search(said):
        expected, line, found = wide.groups()
        return f"line {line} has {found} cells where {expected} are expected: quote cells that hold the delimiter"
    return f"{said}: save it as CSV again"


def _unique_names(headers: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """A name of one line for each column, none twice, and a note on each that the header does not give."""
    names: list[str] = []
    notes: list[str] = []
    given = [" ".join(header.split()) for header in headers]
    for number, name in enumerate(given, start=1):
        if name and name not in names:
            names.append(name)
            continue
        names.append(_unused(name or f"column_{number}", taken={*names, *given}))
        fault = f"repeats the name {name!r}" if name else "has no name"
        notes.append(f"column {number} {fault}: called {names[-1]!r}")
    return names, tuple(notes)


def _unused(name: str, *, taken: Set[str]) -> str:
    """The name, or the first of name_2, name_3, … that is not taken."""
    if name not in taken:
        return name
    return next(other for i in count(2) if (other := f"{name}_{i}") not in taken)


def _column(name: str, cells: Cells) -> Column:
    return Column(
        name=name,
        kind=kinds.find_kind(cells),
        n_missing=cells.count(None),
        n_distinct=len(set(cells) - {None}),
    )


def _nearest(name: str, names: Sequence[str]) -> str:
    by_lower = {other.lower(): other for other in names}
    near = get_close_matches(name.lower(), by_lower, n=3)
    if near:
        return f"did you mean {' or '.join(repr(by_lower[lower]) for lower in near)}?"
    return f"its columns are {', '.join(map(repr, names))}"

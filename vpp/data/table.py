"""A table as read from a file: each cell's text, each column's kind, and how the file was read."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, islice

from vpp.data.binary import Format, check_text, find_format, read_parquet, read_sheet
from vpp.data.columns import Cells, no_number_note, read_columns, read_known
from vpp.data.dataset import DELIMITER_NAMES, DETECT, Column, Kind, ReadAs
from vpp.data.dialect import NO_DELIMITER, find_delimiter, named_delimiter, skip_lines, table_start, why_no_header
from vpp.data.grid import Grid, build_grid, shown_name
from vpp.data.kinds import is_identifier
from vpp.data.objects import read_json
from vpp.data.text import SAMPLE_RECORDS, Record, decode, read_records
from vpp.errors import DataError

MAX_BYTES = 50_000_000
"""Size of the largest file allowed."""
_NO_TEXT = " \t\r\n,;|"
"""Characters of a file without any cell text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Format, encoding and dialect that a file was read with."""

    format: Format = "csv"
    encoding: str = ""
    """Python's name; empty for Excel and Parquet."""
    delimiter: str = ""
    """Empty if each line is one cell, and for JSON, Excel and Parquet."""
    header: bool = True
    skipped_lines: int = 0
    """Lines above the table."""
    sheet: str = ""
    sheets: tuple[str, ...] = ()


Read = tuple[Grid, Reading, tuple[str, ...]]
"""(Grid, how it was read, a note on each guess)."""


def read_file(content: bytes, *, name: str, read_as: ReadAs) -> Read:
    """Read a file of any format.

    Raises DataError for a file that is not a table, is too large, or has a line wider than its header.
    """
    if len(content) > MAX_BYTES:
        raise DataError(f"{name} is larger than {MAX_BYTES / 1e6:.0f} MB: keep a sample of its rows")
    file_format = find_format(content, name=name)
    if file_format == "parquet":
        return read_parquet(content, name=name), Reading(format="parquet"), ()
    if file_format == "excel":
        return _read_workbook(content, name, read_as)
    return _read_text(content, name, read_as)


def _read_text(content: bytes, name: str, read_as: ReadAs) -> Read:
    decoded = decode(content, name=name, encoding=read_as.encoding)
    text = decoded.text.lstrip("\ufeff")
    if not text.strip(None if read_as.delimiter else _NO_TEXT):
        raise DataError(f"{name} is empty: a header line and rows are needed")
    check_text(text, name=name)
    grid = read_json(text, name=name) if text.lstrip().startswith(("{", "[")) else None
    if grid is not None:
        return grid, Reading(format="json", encoding=decoded.encoding), tuple(filter(None, (decoded.note,)))
    named = named_delimiter(text) if read_as.skip_lines is None else None
    skipped = (read_as.skip_lines or 0) + (1 if named else 0)
    body = skip_lines(text, skipped)
    if not body.strip():
        raise DataError(f"{name} has no lines below the {skipped} skipped ones: skip fewer lines")
    given = read_as.delimiter or named
    delimiter, other = (given, NO_DELIMITER) if given else find_delimiter(body)
    records = read_records(body, delimiter, name=name, first_line=skipped + 1)
    reading = Reading(encoding=decoded.encoding, delimiter=delimiter, skipped_lines=skipped)
    grid, reading, notes = _read_below_titles(records, reading, name, read_as)
    dialect_notes = (
        decoded.note,
        f"its first line names {_called(named)} as the delimiter" if named and delimiter == named else "",
        "no delimiter detected: each line is one cell" if delimiter == NO_DELIMITER else "",
        _either(delimiter, other),
        _backslash(body, delimiter, skipped),
    )
    return grid, reading, (*filter(None, dialect_notes), *notes)


def _read_workbook(content: bytes, name: str, read_as: ReadAs) -> Read:
    sheet = read_sheet(content, name=name, sheet=read_as.sheet)
    skipped = read_as.skip_lines or 0
    records = (record for record in sheet.records if record.line > skipped)
    reading = Reading(format="excel", skipped_lines=skipped, sheet=sheet.name, sheets=sheet.names)
    grid, reading, notes = _read_below_titles(records, reading, name, read_as)
    if len(sheet.names) > 1 and not read_as.sheet:
        notes = (f"sheet {sheet.name!r} of {len(sheet.names)} was read", *notes)
    return grid, reading, notes


def _read_below_titles(records: Iterator[Record], reading: Reading, name: str, read_as: ReadAs) -> Read:
    seen = list(islice(records, SAMPLE_RECORDS))
    start = table_start(seen) if read_as.skip_lines is None else 0
    why = why_no_header(seen[start:]) if read_as.header is None else ""
    header = not why if read_as.header is None else read_as.header
    width = max((len(record.cells) for record in seen[start:]), default=1)
    grid = build_grid(chain(seen[start:], records), header=header, width=width, name=name)
    skipped = seen[start].line - 1 if start else reading.skipped_lines
    notes = (_above(seen[:start]), "" if header else _unnamed(why, grid))
    return grid, replace(reading, header=header, skipped_lines=skipped), tuple(filter(None, notes))


def _above(records: Sequence[Record]) -> str:
    if not records:
        return ""
    first = ", ".join(cell for cell in map(str.strip, records[0].cells) if cell)
    more = f" and {len(records) - 1} more" if len(records) > 1 else ""
    return f"lines above the table were not read: {shown_name(' '.join(first.split()))!r}{more}"


def _unnamed(why: str, grid: Grid) -> str:
    named = grid.names[0] if len(grid.names) == 1 else f"{grid.names[0]} to {grid.names[-1]}"
    reason = f"{why}, so the first line was read as data; " if why else ""
    return f"{reason}the columns are called {named}"


def _either(delimiter: str, other: str) -> str:
    if other == NO_DELIMITER:
        return ""
    return (
        f"the {_called(delimiter)} was taken as the delimiter, though the {_called(other)} divides the lines as "
        "evenly: if the columns look wrong, choose the delimiter"
    )


def _backslash(body: str, delimiter: str, skipped: int) -> str:
    """Note the first cell with a quote escaped by a backslash, at which the csv module ends the cell too early."""
    if delimiter == NO_DELIMITER or '\\"' not in body:
        return ""
    mark = re.escape(delimiter)
    match = re.search(rf'(?:^|{mark}) ?"[^"\r\n]*\\"(?![{mark}"\r\n]|\Z)', body, re.MULTILINE)
    if match is None:
        return ""
    line = len(re.findall(r"\r\n|\r|\n", body[: match.end()])) + skipped + 1
    return f'line {line} writes a quote in a cell as \\": CSV doubles it (""), so that cell may be read wrong'


def _called(delimiter: str) -> str:
    return DELIMITER_NAMES.get(delimiter, repr(delimiter))


MOST_LISTED = 20
"""Most columns that a message lists."""


@dataclass(frozen=True, kw_only=True)
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
    file_notes: tuple[str, ...] = ()
    """Decisions on the file's format and grid, a sentence each."""
    column_notes: tuple[str, ...] = ()
    """Decisions on the kinds and cells of columns."""
    reading: Reading
    read_as: ReadAs = DETECT
    """The user's choices."""

    @classmethod
    def read(cls, content: bytes, *, name: str, read_as: ReadAs = DETECT) -> "Table":
        """Read a CSV, JSON, Excel or Parquet file; `name` is the file's name in messages.

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
            file_notes=(*notes, *grid.notes),
            column_notes=read.notes,
            reading=reading,
            read_as=read_as,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.file_notes, *self.column_notes)

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

    @cached_property
    def _places(self) -> dict[str, int]:
        return {column.name: place for place, column in enumerate(self.columns)}

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
        table.names, table.texts, decimal=table.read_as.decimal, delimiter=table.reading.delimiter, chosen=kinds
    )
    return replace(table, columns=read.columns, values=read.values, column_notes=read.notes)


def read_like(table: Table, columns: Sequence[Column]) -> Table:
    """Read the table again as `columns` were read: with their kinds, notation of numbers and labels.

    Columns are matched by name. A cell of a column of numbers that is not a number stays as written; a note says so.
    """
    known = {column.name: column for column in columns}
    reread = [
        read_known(known[name], texts) if name in known else (column, cells)
        for name, texts, column, cells in zip(table.names, table.texts, table.columns, table.values, strict=True)
    ]
    notes = (no_number_note(column, cells) for column, cells in reread if column.name in known)
    return replace(
        table,
        columns=tuple(column for column, _ in reread),
        values=tuple(cells for _, cells in reread),
        column_notes=tuple(filter(None, notes)),
    )

"""A table as read from a file: each cell's text, each column's kind, and how the file was read."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from vpp.data.binary import Format, Sheet, check_text, find_format, read_parquet, read_sheet
from vpp.data.columns import no_number_note, read_columns, read_known
from vpp.data.dataset import DELIMITER_NAMES, DETECT, Column, Kind, ReadAs
from vpp.data.dialect import NO_DELIMITER, Header, find_delimiter, find_header, named_delimiter, skip_lines, table_start
from vpp.data.grid import Grid, build_grid, shown_name
from vpp.data.kinds import is_identifier
from vpp.data.text import Record, decode, read_records, sample
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
    """Empty if each line is one cell."""
    header: bool = True
    skipped_lines: int = 0
    """Lines above the table."""
    sheet: str = ""
    sheets: tuple[str, ...] = ()


def read_file(content: bytes, *, name: str, read_as: ReadAs) -> tuple[Grid, Reading, tuple[str, ...]]:
    """Return the grid, how it was read, and a note on each guess.

    Raises DataError for a file that is not a table, is too large, or has a line wider than its header.
    """
    if len(content) > MAX_BYTES:
        raise DataError(f"{name} is larger than {MAX_BYTES / 1e6:.0f} MB: keep a sample of its rows")
    file_format = find_format(content, name=name)
    if file_format == "parquet":
        return read_parquet(content, name=name), Reading(format="parquet"), ()
    if file_format == "excel":
        return _read_workbook(read_sheet(content, name=name, sheet=read_as.sheet), name, read_as)
    return _read_text(content, name, read_as)


def _read_text(content: bytes, name: str, read_as: ReadAs) -> tuple[Grid, Reading, tuple[str, ...]]:
    decoded = decode(content, name=name, encoding=read_as.encoding)
    text = decoded.text
    if not text.strip(None if read_as.delimiter else _NO_TEXT):
        raise DataError(f"{name} is empty: a header line and rows are needed")
    check_text(text, name=name)
    named = named_delimiter(text) if read_as.skip_lines is None else None
    skipped = (read_as.skip_lines or 0) + (1 if named else 0)
    body = skip_lines(text, skipped)
    if not body.strip():
        raise DataError(f"{name} has no lines below the {skipped} skipped ones: skip fewer lines")
    given = read_as.delimiter or named
    delimiter, other = (given, NO_DELIMITER) if given else find_delimiter(body)
    seen = sample(body, delimiter)
    start = table_start(seen) if read_as.skip_lines is None else 0
    if start:
        above = seen[start].line - 1
        skipped, body = skipped + above, skip_lines(body, above)
    header = _header(seen[start:], read_as)
    grid = build_grid(
        read_records(body, delimiter, name=name, first_line=skipped + 1),
        header=header.is_there,
        width=_width(seen[start:]),
        name=name,
    )
    notes = (
        decoded.note,
        f"its first line names {_called(named)} as the delimiter" if named and delimiter == named else "",
        "no delimiter detected: each line is one cell" if delimiter == NO_DELIMITER else "",
        _either(delimiter, other),
        _backslash(body, delimiter, skipped),
        _above(seen[:start]),
        _unnamed(header, grid),
    )
    reading = Reading(encoding=decoded.encoding, delimiter=delimiter, header=header.is_there, skipped_lines=skipped)
    return grid, reading, tuple(note for note in notes if note)


def _read_workbook(sheet: Sheet, name: str, read_as: ReadAs) -> tuple[Grid, Reading, tuple[str, ...]]:
    below = [record for record in sheet.records if record.line > (read_as.skip_lines or 0)]
    seen = below[:100]
    start = table_start(seen) if read_as.skip_lines is None else 0
    header = _header(seen[start:], read_as)
    grid = build_grid(iter(below[start:]), header=header.is_there, width=_width(seen[start:]), name=name)
    notes = (
        f"sheet {sheet.name!r} of {len(sheet.names)} was read" if len(sheet.names) > 1 and not read_as.sheet else "",
        _above(seen[:start]),
        _unnamed(header, grid),
    )
    reading = Reading(
        format="excel",
        header=header.is_there,
        skipped_lines=below[start].line - 1 if start else read_as.skip_lines or 0,
        sheet=sheet.name,
        sheets=sheet.names,
    )
    return grid, reading, tuple(note for note in notes if note)


def _header(records: Sequence[Record], read_as: ReadAs) -> Header:
    if read_as.header is not None or not records:
        return Header(read_as.header is not False)
    return find_header(records)


def _width(records: Sequence[Record]) -> int:
    """Cells of the widest record."""
    return max((len(record.cells) for record in records), default=1)


def _above(records: Sequence[Record]) -> str:
    if not records:
        return ""
    first = ", ".join(cell for cell in map(str.strip, records[0].cells) if cell)
    more = f" and {len(records) - 1} more" if len(records) > 1 else ""
    return f"lines above the table were not read: {shown_name(' '.join(first.split()))!r}{more}"


def _unnamed(header: Header, grid: Grid) -> str:
    if header.is_there:
        return ""
    named = grid.names[0] if len(grid.names) == 1 else f"{grid.names[0]} to {grid.names[-1]}"
    why = f"{header.why}, so the first line was read as data; " if header.why else ""
    return f"{why}the columns are called {named}"


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

"""A file's bytes as a grid of texts, and every decision that was taken on the way."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vpp.data import dialect
from vpp.data.encoding import decode
from vpp.data.formats import Format, check_text, find_format
from vpp.data.grid import Grid, build_grid
from vpp.data.heading import Header, find_header, table_start
from vpp.data.names import shown_name
from vpp.data.parquet import read_parquet
from vpp.data.read_as import DELIMITER_NAMES, ReadAs
from vpp.data.records import Record, read_records, sample
from vpp.data.workbook import Sheet, read_sheet
from vpp.errors import DataError

_NO_TEXT = " \t\r\n,;|"
"""Of a file with these alone no cell holds anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file was read."""

    format: Format = "csv"
    encoding: str = ""
    """Python's name; empty where the format has one of its own."""
    delimiter: str = ""
    """Empty where no line is divided."""
    header: bool = True
    skipped_lines: int = 0
    """Lines above the table."""
    sheet: str = ""
    sheets: tuple[str, ...] = ()


def read_file(content: bytes, *, name: str, read_as: ReadAs) -> tuple[Grid, Reading, tuple[str, ...]]:
    """The grid, how it was read, and a note on each thing that was guessed.

    Raises DataError for a file that is no table, over the limits, or has a line wider than its header.
    """
    if len(content) > dialect.MAX_BYTES:
        raise DataError(f"{name} is larger than {dialect.MAX_BYTES / 1e6:.0f} MB: keep a sample of its rows")
    found = find_format(content, name=name)
    if found == "parquet":
        return read_parquet(content, name=name), Reading(format="parquet"), ()
    if found == "excel":
        return _read_workbook(read_sheet(content, name=name, sheet=read_as.sheet), name, read_as)
    return _read_text(content, name, read_as)


def _read_text(content: bytes, name: str, read_as: ReadAs) -> tuple[Grid, Reading, tuple[str, ...]]:
    decoded = decode(content, name=name, encoding=read_as.encoding)
    text = decoded.text
    if not text.strip(None if read_as.delimiter else _NO_TEXT):
        raise DataError(f"{name} is empty: a header line and rows are needed")
    check_text(text, name=name)
    excel = dialect.named_delimiter(text) if read_as.skip_lines is None else None
    skipped = (read_as.skip_lines or 0) + (1 if excel else 0)
    body = dialect.skip_lines(text, skipped)
    if not body.strip():
        raise DataError(f"{name} has no lines below the {skipped} skipped ones: skip fewer")
    said = read_as.delimiter or excel
    delimiter, other = (said, dialect.NO_DELIMITER) if said else dialect.find_delimiter(body)
    seen = sample(body, delimiter)
    start = table_start(seen) if read_as.skip_lines is None else 0
    if start:
        above = seen[start].line - 1
        skipped, body = skipped + above, dialect.skip_lines(body, above)
    header = _header(seen[start:], read_as)
    grid = build_grid(
        read_records(body, delimiter, name=name, first_line=skipped + 1),
        header=header.is_there,
        width=_width(seen[start:]),
        name=name,
    )
    notes = (
        decoded.note,
        f"its first line says that the delimiter is {_called(excel)}" if excel and delimiter == excel else "",
        "no delimiter was found: each line is one cell" if delimiter == dialect.NO_DELIMITER else "",
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
    """Cells of the widest of the first lines."""
    return max((len(record.cells) for record in records), default=1)


def _above(records: Sequence[Record]) -> str:
    if not records:
        return ""
    first = ", ".join(cell for cell in map(str.strip, records[0].cells) if cell)
    more = f" and {len(records) - 1} more" if len(records) > 1 else ""
    return f"above the table there is {shown_name(' '.join(first.split()))!r}{more}: not read"


def _unnamed(header: Header, grid: Grid) -> str:
    if header.is_there:
        return ""
    named = grid.names[0] if len(grid.names) == 1 else f"{grid.names[0]} to {grid.names[-1]}"
    why = f"{header.why}, so it was taken for data; " if header.why else ""
    return f"{why}the columns are called {named}"


def _either(delimiter: str, other: str) -> str:
    if other == dialect.NO_DELIMITER:
        return ""
    return (
        f"the {_called(other)} divides the lines as evenly as the {_called(delimiter)}, which was taken: if the "
        "columns look wrong, choose the delimiter"
    )


def _backslash(body: str, delimiter: str, skipped: int) -> str:
    """A note on the first cell that ends before its text does, since its quote is written as a program would."""
    if delimiter == dialect.NO_DELIMITER or '\\"' not in body:
        return ""
    mark = re.escape(delimiter)
    found = re.search(rf'(?:^|{mark}) ?"[^"\r\n]*\\"(?![{mark}"\r\n]|\Z)', body, re.MULTILINE)
    if found is None:
        return ""
    line = len(re.findall(r"\r\n|\r|\n", body[: found.end()])) + skipped + 1
    return f'line {line} writes a quote in a cell as \\": CSV doubles it (""), so that cell may be read wrong'


def _called(delimiter: str) -> str:
    return DELIMITER_NAMES.get(delimiter, repr(delimiter))

"""Read a file's bytes into a grid of texts; note every guess."""

import io
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vpp.data.binary import Sheet, read_parquet, read_sheet
from vpp.data.dataset import DELIMITER_NAMES, ReadAs
from vpp.data.dialect import NO_DELIMITER, Header, find_delimiter, find_header, named_delimiter, skip_lines, table_start
from vpp.data.grid import Grid, build_grid, shown_name
from vpp.data.text import Record, decode, read_records, sample
from vpp.errors import DataError

Format = Literal["csv", "excel", "parquet"]

_SIGNATURES = (
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)", "open it and save it as CSV or .xlsx"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"BZh", "a bzip2 archive", "unpack it first"),
    (b"\xfd7zXZ\0", "an xz archive", "unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"%PDF-", "a PDF", "find the table it was made from, and save that as CSV"),
    (b"\x89PNG", "a PNG picture", "give the table as CSV"),
    (b"\xff\xd8\xff", "a JPEG picture", "give the table as CSV"),
    (b"GIF8", "a GIF picture", "give the table as CSV"),
    (b"SQLite format 3\0", "an SQLite database", "export the table as CSV"),
    (b"ARROW1", "an Arrow or Feather file", "save the table as CSV or Parquet"),
    (b"\x89HDF", "an HDF5 file", "save the table as CSV or Parquet"),
    (b"\x93NUMPY", "a NumPy array", "save it as CSV with named columns"),
    (b"{\\rtf", "a rich text document", "save the table as CSV"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself", "fetch the file with git lfs pull"),
)
_MARKUP = re.compile(r"<(!doctype|html|head|body|table|\?xml|svg|div)\b", re.IGNORECASE)
_MAX_NAMES = 3


def find_format(content: bytes, *, name: str) -> Format:
    """Detect the format. Raises DataError for a file of another format, with its name and how to convert it."""
    if content.startswith(b"PK\x03\x04"):
        return _zipped(content, name)
    if content.startswith(b"PAR1"):
        return "parquet"
    for signature, what, remedy in _SIGNATURES:
        if content.startswith(signature):
            raise DataError(f"{name} is {what}: {remedy}")
    return "csv"


def check_text(text: str, *, name: str) -> None:
    """Raises DataError for a text of another format: HTML, XML or JSON."""
    start = text[:100].lstrip()
    if _MARKUP.match(start):
        what = "an XML file" if start.lower().startswith(("<?xml", "<svg")) else "a web page (HTML)"
        raise DataError(f"{name} is {what}, not a CSV: save the table it shows as CSV")
    if start.startswith(("{", "[")) and _is_json(text):
        raise DataError(f"{name} is JSON, not a CSV: turn it into a table of rows and columns, and save that as CSV")
    if start.lower().startswith("@relation"):
        raise DataError(f"{name} is an ARFF file: save the table as CSV")


def _zipped(content: bytes, name: str) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise DataError(f"{name} is a zip archive or a workbook that is cut short: get the whole file") from None
    if "xl/workbook.xml" in names:
        return "excel"
    if "xl/workbook.bin" in names:
        raise DataError(f"{name} is a binary Excel workbook (.xlsb): save it as CSV or .xlsx")
    if "content.xml" in names and "mimetype" in names:
        raise DataError(f"{name} is an OpenDocument file: open it and save the table as CSV or .xlsx")
    if "word/document.xml" in names:
        raise DataError(f"{name} is a Word document: save the table as CSV")
    listed = ", ".join(repr(each) for each in names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
    raise DataError(f"{name} is a zip archive ({listed}): unpack it and give the table in it")


def _is_json(text: str) -> bool:
    """True for a JSON document, and for one object a line."""
    try:
        json.loads(text)
    except RecursionError:
        return True
    except ValueError:
        lines = [line for line in text[:100_000].splitlines() if line.strip()][:2]
        return len(lines) == 2 and all(map(_is_object, lines))
    return True


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


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

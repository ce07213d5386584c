"""Formats that are no text: which one a file's first bytes tell, and what to do with those that are not read."""

import io
import json
import re
import zipfile
from typing import Literal

from vpp.errors import DataError

Format = Literal["csv", "excel", "parquet"]

MAX_UNPACKED = 500_000_000
"""Bytes that a workbook or a Parquet file may unpack to."""
MAX_CELLS = 10_000_000
"""Cells that either may have."""

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
    """What reads the file. Raises DataError for what nothing here reads, naming it."""
    if content.startswith(b"PK\x03\x04"):
        return _zipped(content, name)
    if content.startswith(b"PAR1"):
        return "parquet"
    for signature, what, mend in _SIGNATURES:
        if content.startswith(signature):
            raise DataError(f"{name} is {what}: {mend}")
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
    """A whole document, or a line an object."""
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

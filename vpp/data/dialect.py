"""The dialect of a CSV file: its encoding and its delimiter, found from its bytes."""

import codecs
import csv
import io
import re
from contextlib import suppress
from itertools import islice

from vpp.errors import DataError

MAX_BYTES = 50_000_000
"""Size of the largest file that is read."""
DELIMITERS = (",", ";", "\t", "|")
"""The first wins a tie, and stands for a file of one column."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_FORMATS = (
    (b"PK\x03\x04", "an Excel workbook or a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF-", "a PDF"),
)
_LEADING_BLANK_LINES = re.compile(r"\A\s*[\r\n]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_SAMPLE_CHARACTERS = 65_536
_SAMPLE_RECORDS = 50


def decode(content: bytes, *, name: str) -> tuple[str, str]:
    """The file's text, from its first line that is not blank, and its encoding.

    Raises DataError for what is no text, is empty or is over MAX_BYTES.
    """
    if len(content) > MAX_BYTES:
        raise DataError(
            f"{name} has {len(content) / 1e6:.1f} MB, more than {MAX_BYTES / 1e6:.0f}: keep a sample of its rows"
        )
    for signature, what in _OTHER_FORMATS:
        if content.startswith(signature):
            raise DataError(f"{name} is {what}, not a CSV: open it and save the table as CSV")
    text, encoding = _text(content, name)
    if not text.strip():
        raise DataError(f"{name} is empty: a header line and rows are needed")
    return _LEADING_BLANK_LINES.sub("", text), encoding


def find_delimiter(text: str) -> str:
    """The delimiter that most sampled records agree on: as many cells as the header, and then the most cells."""
    return max(DELIMITERS, key=lambda delimiter: _agreement(text[:_SAMPLE_CHARACTERS], delimiter))


def _text(content: bytes, name: str) -> tuple[str, str]:
    for encoding in _encodings(content):
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
            if _is_printed(text, encoding):
                return text, encoding
    raise DataError(f"{name} is no text in UTF-8, UTF-16 or Windows-1252: save the table as CSV in UTF-8")


def _is_printed(text: str, encoding: str) -> bool:
    """Without NUL; and without any control character in Windows-1252, which nearly any binary file decodes as."""
    return "\0" not in text and not (encoding == "cp1252" and _CONTROL.search(text))


def _encodings(content: bytes) -> tuple[str, ...]:
    marked = tuple(encoding for mark, encoding in _BYTE_ORDER_MARKS if content.startswith(mark))
    return marked or ("utf-8", "cp1252")


def _agreement(sample: str, delimiter: str) -> tuple[int, int]:
    """(Records as wide as the header, its width); (0, 0) where the delimiter does not split the header."""
    records = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, skipinitialspace=True)
    widths = [len(record) for record in islice(records, _SAMPLE_RECORDS) if record]
    if not widths or widths[0] == 1:
        return 0, 0
    return widths.count(widths[0]), widths[0]

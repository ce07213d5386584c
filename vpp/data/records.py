"""Records of a CSV text, as the csv module reads them."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from vpp.errors import DataError

SAMPLE_RECORDS = 100
"""Records at the top of a file from which its form is found."""
_SAMPLE_CHARACTERS = 262_144
_UNUSED = "\x1f"
_END = "end"
"""A line behind the last one: it stands alone unless a quote is open."""


class Record(NamedTuple):
    """A line of the table, or more where a cell holds line ends."""

    line: int
    """Where it starts in the file, from 1."""
    cells: Sequence[str]
    """As written, outer blanks included."""


def sample(text: str, delimiter: str) -> list[Record]:
    """The first records, SAMPLE_RECORDS at most, without one that the sample's end cuts."""
    cut = text[:_SAMPLE_CHARACTERS]
    try:
        found = list(islice(_read(cut, delimiter), SAMPLE_RECORDS))
    except csv.Error:
        return []
    return found[:-1] if len(cut) < len(text) and 1 < len(found) < SAMPLE_RECORDS else found


def read_records(text: str, delimiter: str, *, name: str, first_line: int = 1) -> Iterator[Record]:
    """Every record that has any text. Raises DataError for a quote that is never closed.

    delimiter: empty where each line is one cell. first_line: the number of the text's first line in the file.
    """
    last = Record(first_line, ())
    closed = text if text.endswith(("\n", "\r")) else f"{text}\n"
    try:
        for record in _read(closed, delimiter, first_line=first_line, end=(_END,)):
            if last.cells:
                yield last
            last = record
    except csv.Error as error:
        raise DataError(f"{name}: {_reason(error)} (after line {last.line})") from None
    if list(last.cells) != [_END]:
        raise DataError(
            f"{name}: line {last.line} opens a quote that is never closed: close it, or double each quote in a cell"
        )


def _read(text: str, delimiter: str, *, first_line: int = 1, end: Sequence[str] = ()) -> Iterator[Record]:
    """Records with any text; `end` comes as more lines behind the last."""
    reader = csv.reader(
        chain(io.StringIO(text, newline=""), end), delimiter=delimiter or _UNUSED, skipinitialspace=True
    )
    line = first_line
    for cells in reader:
        if any(map(str.strip, cells)):
            yield Record(line, cells)
        line = first_line + reader.line_num


def _reason(error: csv.Error) -> str:
    if "field limit" in str(error):
        limit = csv.field_size_limit()
        return f"a cell is longer than {limit:,} characters: close the quote that opens it, or shorten it"
    return f"{error}: save it as CSV again"

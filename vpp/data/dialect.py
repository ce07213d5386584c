"""Dialect of a CSV file: delimiter, lines above the table, header line."""

import re
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from vpp.data.kinds import MISSING, find_form, is_number, is_sequence
from vpp.data.numbers import read_notation
from vpp.data.text import Record, sample

MAX_ABOVE = 20
"""Largest number of lines above a table."""
_MOSTLY = 0.8
"""Least share of numbers in a column of numbers."""
ROWS_COMPARED = 30
"""Lines below the first one that it is compared with."""
_YEARS = range(1800, 2200)


def table_start(records: Sequence[Record]) -> int:
    """Count the comments and titles above the table."""
    widths = [len(record.cells) for record in records]
    usual = max(set(widths), key=lambda width: (widths.count(width), width), default=1)
    n = _comments(records, usual)
    if usual == 1:
        return n
    return n + (_titles(records[n:], usual) or _metadata(records[n:], usual))


def why_no_header(records: Sequence[Record]) -> str:
    """Reason, as a clause, why the first line does not name the columns; empty if it does, or if nothing tells.

    Names differ from the cells of their columns, data are like them.
    """
    if not records:
        return ""
    first = [cell.strip() for cell in records[0].cells]
    below = [[cell.strip() for cell in record.cells] for record in records[1 : 1 + ROWS_COMPARED]]
    below = [cells for cells in below if cells != first]
    alike: list[int] = []
    again: list[int] = []
    for place, cell in enumerate(first):
        column = [cells[place] for cells in below if place < len(cells) and cells[place].lower() not in MISSING]
        if cell.lower() in MISSING or not column:
            continue
        if sum(map(_is_quantity, column)) >= _MOSTLY * len(column):
            if not _is_quantity(cell):
                return ""
            alike.append(place)
        elif cell in column:
            again.append(place)
    if alike and not _counts(first, below):
        return f"{first[alike[0]][:40]!r} in column {alike[0] + 1} is like the cells below it"
    if not alike and again and (len(again) > 1 or len(first) == 1):
        return f"{first[again[0]][:40]!r} in column {again[0] + 1} is repeated below"
    return ""


def _comments(records: Sequence[Record], usual: int) -> int:
    """Count the lines at the top that begin with #; the last of them may be the header and is then not counted."""
    n = 0
    while n < min(MAX_ABOVE, len(records) - 1) and records[n].cells[0].lstrip().startswith("#"):
        n += 1
    is_header = n > 0 and usual > 1 and len(records[n - 1].cells) == usual and not _is_plain_header(records[n:])
    return n - 1 if is_header else n


def _is_plain_header(records: Sequence[Record]) -> bool:
    """True if the first line holds names and the second one a number or a date."""
    if len(records) < 2:
        return False
    is_named = all(cell.strip() and not _is_quantity(cell.strip()) for cell in records[0].cells)
    return is_named and _has_quantity(records[1])


def _titles(records: Sequence[Record], usual: int) -> int:
    """Count the lines of one cell at the top, if a table clearly follows them."""
    n = 0
    while n < min(MAX_ABOVE, len(records) - 1) and _is_alone(records[n], usual):
        n += 1
    if n == 0 or len(records[n].cells) < 2:
        return 0
    before, header, below = records[n - 1], records[n], records[n + 1 :]
    widths = {len(record.cells) for record in records[n:]}
    is_plain = (
        header.line > before.line + 1
        or (len(before.cells) > 1 and not _has_quantity(header))
        or (usual > 2 and len(below) > 1 and widths == {usual})
        or _is_plain_header(records[n:])
    )
    return n if is_plain else 0


def _metadata(records: Sequence[Record], usual: int) -> int:
    """Count the lines of another width at the top, such as `Station;Berlin`, above a header with data below it."""
    for n, record in enumerate(records[:MAX_ABOVE]):
        if len(record.cells) == usual:
            widths = {len(each.cells) for each in records[n : n + 2]}
            return n if n and widths == {usual} and _is_plain_header(records[n:]) else 0
    return 0


def _is_alone(record: Record, usual: int) -> bool:
    first, *rest = record.cells
    return bool(first.strip()) and (not rest or (usual > 2 and not "".join(rest).strip()))


def _has_quantity(record: Record) -> bool:
    return any(_is_quantity(cell.strip()) for cell in record.cells)


def _is_quantity(cell: str) -> bool:
    """True for a number, a sequence of integers or a date."""
    return is_number(cell) or is_sequence(cell) or bool(find_form((cell,))) or read_notation((cell,))[1] is not None


def _counts(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """True if the numbers of the first line are names: years, or 1, 2, 3, … as on no other line."""
    own = _integers(first)
    if own is None:
        return False
    others = [numbers for cells in below if (numbers := _integers(cells)) is not None]
    if all(number in _YEARS for number in own):
        return not any(all(number in _YEARS for number in numbers) for numbers in others if numbers)
    return len(own) > 2 and _is_run(own) and not any(map(_is_run, others))


def _integers(cells: Sequence[str]) -> list[int] | None:
    numbers = [cell for cell in cells if _is_quantity(cell)]
    return [int(cell) for cell in numbers] if all(re.fullmatch(r"\d{1,9}", cell) for cell in numbers) else None


def _is_run(numbers: Sequence[int]) -> bool:
    return len(numbers) > 1 and all(b == a + 1 for a, b in pairwise(numbers))


DELIMITERS = (",", ";", "\t", "|")
"""Delimiters that are detected."""
NO_DELIMITER = ""
"""Stands for no delimiter: each line is one cell."""

_IN_CELLS = 1.5
"""Handicap of the comma in cells a line: decimals and names contain commas too."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEP = re.compile(r'\A\s*"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)


def named_delimiter(text: str) -> str | None:
    """Read the delimiter from a first line such as `sep=;`, which Excel writes."""
    match = _SEP.match(text)
    return match[1] if match else None


def find_delimiter(text: str) -> tuple[str, str]:
    """Return the delimiter that divides the sampled records most evenly, and a second one that does so as well.

    Ties go to the delimiter that gives more cells. Either is NO_DELIMITER if there is none.
    """
    agreement = {delimiter: _agreement(text, delimiter) for delimiter in DELIMITERS}
    best, other = sorted(DELIMITERS, key=agreement.__getitem__, reverse=True)[:2]
    if not agreement[best].divides:
        return NO_DELIMITER, NO_DELIMITER
    return best, other if agreement[other][:-1] == agreement[best][:-1] else NO_DELIMITER


def skip_lines(text: str, n_lines: int) -> str:
    """The text below the first `n_lines` lines."""
    ends = [match.end() for match in islice(_LINE_END.finditer(text), min(n_lines, len(text) + 1))]
    if len(ends) < n_lines:
        return ""
    return text[ends[-1] :] if ends else text


class _Agreement(NamedTuple):
    """Evenness of a delimiter's division of a text; the greatest tuple is the best."""

    divides: bool
    n_alike: int
    """Records as wide as the table's first record, minus the others."""
    from_top: bool
    """True if the table starts at the first record."""
    width: float
    """Cells of the table's first record, minus the handicap of the comma."""


def _agreement(text: str, delimiter: str) -> _Agreement:
    records = sample(text, delimiter)
    start = table_start(records)
    widths = [len(record.cells) for record in records[start:]]
    if not widths or widths[0] == 1:
        return _Agreement(False, -len(records), False, 1)
    n_alike = 2 * widths.count(widths[0]) - len(widths)
    return _Agreement(True, n_alike, start == 0, widths[0] - (_IN_CELLS if delimiter == "," else 0))

"""Where a table starts under titles and comments, and whether its first line names the columns."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vpp.data.dates import find_form
from vpp.data.kinds import is_number, is_sequence
from vpp.data.missing import MISSING
from vpp.data.notation import read_notation
from vpp.data.records import Record

MAX_ABOVE = 20
"""Lines above a table that are looked through."""
_MOSTLY = 0.8
"""A column of numbers may hold so few others."""
ROWS_COMPARED = 30
"""Lines with which the first is compared."""
_YEARS = range(1800, 2200)


@dataclass(frozen=True, slots=True)
class Header:
    """Whether the first line of a table names its columns."""

    is_there: bool
    why: str = ""
    """What tells that it is not, as a clause."""


def table_start(records: Sequence[Record]) -> int:
    """How many of the records are comments and titles above the table."""
    usual = _usual_width(records)
    n = _comments(records, usual)
    if usual == 1:
        return n
    return n + (_titles(records[n:], usual) or _metadata(records[n:], usual))


def find_header(records: Sequence[Record]) -> Header:
    """Judged by the columns: names differ from what is below them, and data do not. When in doubt there is one."""
    first = [cell.strip() for cell in records[0].cells]
    below = [[cell.strip() for cell in record.cells] for record in records[1 : 1 + ROWS_COMPARED]]
    below = [cells for cells in below if cells != first]
    alike: list[int] = []
    again: list[int] = []
    for place, cell in enumerate(first):
        column = [cells[place] for cells in below if place < len(cells) and cells[place].lower() not in MISSING]
        if cell.lower() in MISSING or not column:
            continue
        if _are_quantities(column):
            if not _is_quantity(cell):
                return Header(True)
            alike.append(place)
        elif cell in column:
            again.append(place)
    if alike and not _counts(first, below):
        return Header(False, f"{first[alike[0]][:40]!r} in column {alike[0] + 1} is like the cells below it")
    if not alike and again and (len(again) > 1 or len(first) == 1):
        return Header(False, f"{first[again[0]][:40]!r} in column {again[0] + 1} comes again below")
    return Header(True)


def _usual_width(records: Sequence[Record]) -> int:
    widths = [len(record.cells) for record in records]
    return max(set(widths), key=lambda width: (widths.count(width), width), default=1)


def _comments(records: Sequence[Record], usual: int) -> int:
    """Lines at the top that begin with #; the last of them may be the header."""
    n = 0
    while n < min(MAX_ABOVE, len(records) - 1) and records[n].cells[0].lstrip().startswith("#"):
        n += 1
    is_header = n > 0 and usual > 1 and len(records[n - 1].cells) == usual and not _is_plain_header(records[n:])
    return n - 1 if is_header else n


def _is_plain_header(records: Sequence[Record]) -> bool:
    """Whether names come first and a line with a number or a date second."""
    return len(records) > 1 and _is_named(records[0]) and _has_quantity(records[1])


def _titles(records: Sequence[Record], usual: int) -> int:
    """Lines of one cell at the top, where it is plain that a table comes after them."""
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
    """Lines of another width at the top, such as `Station;Berlin`, above a line of names that has data below it."""
    for n, record in enumerate(records[:MAX_ABOVE]):
        if len(record.cells) == usual:
            widths = {len(each.cells) for each in records[n : n + 2]}
            return n if n and widths == {usual} and _is_plain_header(records[n:]) else 0
    return 0


def _is_alone(record: Record, usual: int) -> bool:
    first, *rest = record.cells
    return bool(first.strip()) and (not rest or (usual > 2 and not "".join(rest).strip()))


def _is_named(record: Record) -> bool:
    return all(cell.strip() and not _is_quantity(cell.strip()) for cell in record.cells)


def _has_quantity(record: Record) -> bool:
    return any(_is_quantity(cell.strip()) for cell in record.cells)


def _is_quantity(cell: str) -> bool:
    """Whether it is a number, a sequence of some, or a date."""
    return is_number(cell) or is_sequence(cell) or bool(find_form((cell,))) or read_notation((cell,))[1] is not None


def _are_quantities(column: Sequence[str]) -> bool:
    return sum(map(_is_quantity, column)) >= _MOSTLY * len(column)


def _counts(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the numbers of the first line are names all the same: years, or 1, 2, 3 as on no other line."""
    own = _integers(first)
    if own is None:
        return False
    others = [found for cells in below if (found := _integers(cells)) is not None]
    if all(number in _YEARS for number in own):
        return not any(all(number in _YEARS for number in numbers) for numbers in others if numbers)
    return len(own) > 2 and _is_run(own) and not any(map(_is_run, others))


def _integers(cells: Sequence[str]) -> list[int] | None:
    """The numbers of a line; None where one is no integer."""
    numbers = [cell for cell in cells if _is_quantity(cell)]
    return [int(cell) for cell in numbers] if all(re.fullmatch(r"\d{1,9}", cell) for cell in numbers) else None


def _is_run(numbers: Sequence[int]) -> bool:
    return len(numbers) > 1 and all(b == a + 1 for a, b in pairwise(numbers))

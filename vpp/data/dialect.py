"""The dialect of a CSV file: its delimiter and the lines above its table."""

import re
from itertools import islice
from typing import NamedTuple

from vpp.data.heading import table_start
from vpp.data.records import sample

MAX_BYTES = 50_000_000
"""Size of the largest file that is read."""
DELIMITERS = (",", ";", "\t", "|")
"""Those that are looked for."""
NO_DELIMITER = ""
"""Instead of one: each line is one cell."""

_IN_CELLS = 1.5
"""Cells that a comma must give more than another mark: so many can come of decimals and names that hold one comma."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEP = re.compile(r'\A\s*"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)


def named_delimiter(text: str) -> str | None:
    """The delimiter that a first line such as `sep=;` gives, which Excel writes."""
    match = _SEP.match(text)
    return match[1] if match else None


def find_delimiter(text: str) -> tuple[str, str]:
    """The delimiter by which most sampled records have as many cells as the first of the table, and then the most.

    And another that divides them as evenly. NO_DELIMITER where none divides that record, or no other does.
    """
    found = {delimiter: _agreement(text, delimiter) for delimiter in DELIMITERS}
    best, other = sorted(DELIMITERS, key=found.__getitem__, reverse=True)[:2]
    if not found[best].divides:
        return NO_DELIMITER, NO_DELIMITER
    return best, other if found[other][:-1] == found[best][:-1] else NO_DELIMITER


def skip_lines(text: str, n_lines: int) -> str:
    """The text below so many lines."""
    ends = [match.end() for match in islice(_LINE_END.finditer(text), min(n_lines, len(text) + 1))]
    if len(ends) < n_lines:
        return ""
    return text[ends[-1] :] if ends else text


class _Agreement(NamedTuple):
    """How well a delimiter divides a text; the greatest is the best."""

    divides: bool
    n_alike: int
    """Records as wide as the first of the table, less the others."""
    from_top: bool
    """Whether that is the first record of all."""
    width: float
    """Its cells."""


def _agreement(text: str, delimiter: str) -> _Agreement:
    found = sample(text, delimiter)
    start = table_start(found)
    widths = [len(record.cells) for record in found[start:]]
    if not widths or widths[0] == 1:
        return _Agreement(False, -len(found), False, 1)
    n_alike = 2 * widths.count(widths[0]) - len(widths)
    return _Agreement(True, n_alike, start == 0, widths[0] - (_IN_CELLS if delimiter == "," else 0))

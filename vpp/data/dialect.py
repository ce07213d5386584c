"""The dialect of a CSV file: its delimiter and the lines above its table."""

import re
from itertools import islice

from vpp.data.heading import table_start
from vpp.data.records import sample

MAX_BYTES = 50_000_000
"""Size of the largest file that is read."""
DELIMITERS = (",", ";", "\t", "|")
"""Those that are looked for; the first wins a tie."""
NO_DELIMITER = ""
"""Instead of one: each line is one cell."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_SEP = re.compile(r'\A\s*"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)


def named_delimiter(text: str) -> str | None:
    """The delimiter that a first line such as `sep=;` gives, which Excel writes."""
    match = _SEP.match(text)
    return match[1] if match else None


def find_delimiter(text: str) -> str:
    """The delimiter by which most sampled records have as many cells as the first of the table, and then the most.

    NO_DELIMITER where none divides that record: a file of one column.
    """
    best = max(DELIMITERS, key=lambda delimiter: _agreement(text, delimiter))
    return best if _agreement(text, best)[-1] > 1 else NO_DELIMITER


def skip_lines(text: str, n_lines: int) -> str:
    """The text below so many lines."""
    ends = [match.end() for match in islice(_LINE_END.finditer(text), n_lines)]
    if len(ends) < n_lines:
        return ""
    return text[ends[-1] :] if ends else text


def _agreement(text: str, delimiter: str) -> tuple[int, bool, int]:
    """(Records as wide as the first of the table less the others, whether that is the top one, its width)."""
    found = sample(text, delimiter)
    start = table_start(found)
    widths = [len(record.cells) for record in found[start:]]
    if not widths or widths[0] == 1:
        return -len(found), False, 1
    n_alike = widths.count(widths[0])
    return 2 * n_alike - len(widths), start == 0, widths[0]

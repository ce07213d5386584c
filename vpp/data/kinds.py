"""What a column's cells are: missing, numbers, dates, sequences of integers, categories or text."""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import date

from vpp.data.dataset import Kind

MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?", "-"})
"""What stands for a missing cell, in lower case."""
FEW_VALUES = 20
"""A text column with at most so many values, one of them repeated, is a category."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_DATE = re.compile(
    r"(\d{4})[-/](\d\d?)[-/](\d\d?)"
    r"([T ]\d\d?:\d\d(:\d\d(\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
_ITEMS = r"[+-]?\d+((\s*[,;|]\s*|\s+)[+-]?\d+)+"
_SEQUENCE = re.compile(rf"{_ITEMS}|\[\s*{_ITEMS}\s*\]|\(\s*{_ITEMS}\s*\)|\d+(-\d+)+", re.ASCII)
_HYPHENATED = re.compile(r"\d+(-\d+)+", re.ASCII)
_ITEM = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_CODE = re.compile(r"(?=.*\d)[\w./#:-]+", re.ASCII)
_ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|uuid|guid|index|idx|key|nr|no))|.*[a-z](Id|ID)")


def cell(text: str) -> str | None:
    """The text without outer blanks; None where it stands for a missing cell."""
    stripped = text.strip()
    return None if stripped.lower() in MISSING else stripped


def is_number(text: str) -> bool:
    """A finite decimal number; no thousands separators, no decimal comma."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def is_date(text: str) -> bool:
    """Year, month and day, with a time or without: 2024-01-31, 2024/1/31, 2024-01-31T12:30:00Z."""
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    try:
        date(*map(int, match.groups()[:3]))
    except ValueError:
        return False
    return True


def is_sequence(text: str) -> bool:
    """At least two integers: `3 4 0 7`, `[3, 4, 0, 7]`, `3;4;0;7`, `3-4-0-7`."""
    return _SEQUENCE.fullmatch(text) is not None


def sequence_items(text: str) -> tuple[float, ...] | None:
    """The integers of a sequence, in order; None where the text is no sequence, or holds one beyond a float's range."""
    if not is_sequence(text):
        return None
    items = text.split("-") if _HYPHENATED.fullmatch(text) else _ITEM.findall(text)
    found = tuple(map(float, items))
    return found if all(map(math.isfinite, found)) else None


def find_kind(cells: Iterable[str | None]) -> Kind:
    """The kind that every cell that is not missing has; a column without any is text."""
    present = [cell for cell in cells if cell is not None]
    if not present:
        return "text"
    if all(map(is_number, present)):
        return "number"
    if all(map(is_date, present)):
        return "date"
    if all(map(is_sequence, present)) and not all(map(_DECIMAL_COMMA.fullmatch, present)):
        return "sequence"
    return "category" if _repeats(present) else "text"


def is_identifier(name: str, cells: Sequence[str | None]) -> bool:
    """Whether a column names its rows and says nothing more of them.

    Every cell is there and differs from all others, and they are consecutive integers (an index), integers under a name
    such as `id`, or codes: one word with a digit in it (`A-017`). Distinct measurements and free text are none.
    """
    present = [cell for cell in cells if cell is not None]
    if len(set(present)) < len(cells):
        return False
    if all(map(is_integer, present)):
        return _consecutive(present) or _ID_NAME.fullmatch(name) is not None
    return not any(map(is_number, present)) and all(map(_CODE.fullmatch, present))


def _repeats(present: Sequence[str]) -> bool:
    n_distinct = len(set(present))
    return 2 * n_distinct <= len(present) or n_distinct <= min(FEW_VALUES, len(present) - 1)


def _consecutive(integers: Iterable[str]) -> bool:
    values = set(map(int, integers))
    return max(values) - min(values) == len(values) - 1

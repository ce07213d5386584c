"""What a column's cells are: numbers, dates, sequences of integers, categories or text."""

import math
import re
from collections.abc import Iterable, Sequence

from vpp.data.dataset import Kind
from vpp.data.dates import find_form

FEW_VALUES = 20
"""A text column with at most so many values, one of them repeated, is a category."""

_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_ITEMS = r"[+-]?\d+((\s*[,;|]\s*|\s+)[+-]?\d+)+"
_SEQUENCE = re.compile(rf"{_ITEMS}|\[\s*{_ITEMS}\s*\]|\(\s*{_ITEMS}\s*\)|\d+(-\d+)+", re.ASCII)
_HYPHENATED = re.compile(r"\d+(-\d+)+", re.ASCII)
_ITEM = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_CODE = re.compile(r"[\w./#:+@-]+")
_TELLS_CODE = re.compile(r"[0-9@]|://")
MOSTLY_CODES = 0.9
"""Of distinct words of a column of codes, so many have a digit, an @ or the start of an address."""
_CODE_NAME = re.compile(
    r"(.*[^a-z])?(zip|zip_?code|post(al)?[ _-]?code|plz|phone|tele?fon|telephone|tel|mobile|fax|ssn|iban|isbn|ean|gtin|"
    r"barcode)([ _-]?(no|nr|number|nummer|code))?\.?",
    re.IGNORECASE,
)
"""Names of numbers that count nothing."""
_ZERO_FIRST = re.compile(r"0\d+", re.ASCII)
_PHONE = re.compile(r"\d{3,}(-\d{3,})+", re.ASCII)
SHORTEST_CODE = 4
"""Digits of one that only its column's name tells."""
LONGEST_COUNT = 15
"""An integer with more digits, which a float does not hold, is a code."""
_ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|uuid|guid|index|idx|key|nr|no))|.*[a-z](Id|ID)")


def is_number(text: str) -> bool:
    """A finite decimal number; no thousands separators, no decimal comma."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


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


def find_kind(cells: Iterable[str | None], *, name: str = "") -> Kind:
    """The kind that every cell that is not missing has; a column without any is text.

    Both of 0 and 1 alone are categories. Codes written in digits (`00123`, phone numbers, what the name calls one) are
    categories or text.
    """
    present = [cell for cell in cells if cell is not None]
    if not present:
        return "text"
    distinct = list(dict.fromkeys(present))
    if find_form(distinct) is not None:
        return "date"
    if all(map(is_number, distinct)) and not are_codes(distinct, name=name):
        return "category" if set(distinct) == {"0", "1"} else "number"
    if are_sequences(distinct) and not is_code_name(name):
        return "sequence"
    return "category" if _repeats(len(distinct), len(present)) else "text"


def are_codes(present: Sequence[str], *, name: str = "") -> bool:
    """Whether integers are codes: by the column's name, a zero before other digits, or more digits than a float has."""
    if not all(map(str.isdecimal, present)):
        return False
    if is_code_name(name) and max(map(len, present)) >= SHORTEST_CODE:
        return True
    return any(_ZERO_FIRST.fullmatch(text) or len(text) > LONGEST_COUNT for text in present)


def is_code_name(name: str) -> bool:
    """Whether a column of this name holds codes or phone numbers, however they are written."""
    return _CODE_NAME.fullmatch(name) is not None


def are_sequences(present: Sequence[str]) -> bool:
    """Neither decimal commas nor phone numbers."""
    others = (_DECIMAL_COMMA, _PHONE)
    return all(map(is_sequence, present)) and not any(all(map(other.fullmatch, present)) for other in others)


def is_identifier(name: str, cells: Sequence[str | None], kind: Kind) -> bool:
    """Whether a column names its rows and says nothing more of them.

    Every cell is there and differs from all others, and they are consecutive integers (an index), integers under a name
    such as `id`, dates, or codes: one word each, mostly with a digit or an @ in it (`A-017`, an e-mail address, a
    UUID, a zip). Distinct measurements, sequences, plain words and free text are none.
    """
    present = [cell for cell in cells if cell is not None]
    if kind == "sequence" or len(set(present)) < len(cells):
        return False
    if kind == "number":
        integers = all(map(is_integer, present))
        return integers and (_consecutive(present) or _ID_NAME.fullmatch(name) is not None)
    return kind == "date" or _are_code_words(present)


def _are_code_words(present: Sequence[str]) -> bool:
    told = sum(_TELLS_CODE.search(cell) is not None for cell in present)
    return told >= MOSTLY_CODES * len(present) and all(map(_CODE.fullmatch, present))


def _repeats(n_distinct: int, n: int) -> bool:
    return 2 * n_distinct <= n or n_distinct <= min(FEW_VALUES, n - 1)


def _consecutive(integers: Iterable[str]) -> bool:
    values = set(map(int, integers))
    return max(values) - min(values) == len(values) - 1

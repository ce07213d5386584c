"""Kinds of cells: missing, number, date, sequence of integers, category, text."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vpp.data.dataset import Kind

MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "#n/a", "#na", "#n/a n/a", "<na>", "nan", "-nan", "1.#qnan", "-1.#ind", "null", "<null>"}
    | {"(null)", "\\n", "none", "missing", "(blank)", "?", "-", "--", "---", "–", "—", ".", ".."}
    | {"k.a.", "k. a.", "keine angabe", "n.d.", "n. d."}
    | {"#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!"}
)
"""Texts of a missing cell, in lower case."""

_SIGNS = re.compile(r"[+±/-]+")
_PAIR = re.compile(r"[A-Z]{2}")
_WORD = re.compile(r"[^\W\d_].*")
FEWEST_OTHERS = 2
MOST_OTHERS = 50
"""Least and most other labels of a column in which a word for a missing cell is a label too."""


def clean_cell(text: str) -> str | None:
    """Strip the text; None if it stands for a missing cell."""
    stripped = text.strip()
    return None if stripped.lower() in MISSING else stripped


def labels_among(counts: Counter[str]) -> frozenset[str]:
    """Return the words for a missing cell that are labels in this column. counts: occurrences of each stripped text.

    `None` is a label among other words that repeat; `NA` among codes of two capitals; `-` among signs.
    """
    doubtful = {text for text in counts if text in _RULES}
    if not doubtful:
        return frozenset()
    others = {text: n for text, n in counts.items() if text.lower() not in MISSING}
    return frozenset(text for text in doubtful if _RULES[text](others))


def _among_words(others: dict[str, int]) -> bool:
    repeated = 2 * len(others) <= sum(others.values())
    return FEWEST_OTHERS <= len(others) <= MOST_OTHERS and repeated and all(map(_WORD.fullmatch, others))


def _among_pairs(others: dict[str, int]) -> bool:
    return len(others) >= FEWEST_OTHERS and all(map(_PAIR.fullmatch, others))


def _among_signs(others: dict[str, int]) -> bool:
    return bool(others) and all(map(_SIGNS.fullmatch, others))


_RULES = {"None": _among_words, "none": _among_words, "NONE": _among_words, "NA": _among_pairs, "-": _among_signs}


_TIME = (
    r"(?:(?:[T ]\s?|,\s)(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = rf"(?P<named>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_FORMS = {
    "year-month-day": r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)",
    "yearmonthday": r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)",
    "month/day/year": r"(?P<month>\d\d?)(?P<mark>[/-])(?P<day>\d\d?)(?P=mark)(?P<year>\d{4}|(?<=[/.])\d\d)",
    "day/month/year": r"(?P<day>\d\d?)(?P<mark>[/.-])(?P<month>\d\d?)(?P=mark)(?P<year>\d{4}|(?<=[/.])\d\d)",
    "day month year": rf"(?P<day>\d\d?)(?P<mark>[- ]|\.\s?){_NAMED}(?:[- ]|,\s)(?P<year>\d{{4}}|\d\d)",
    "month day, year": rf"{_NAMED}\s(?P<day>\d\d?),?\s(?P<year>\d{{4}})",
}
_PATTERNS = {name: re.compile(form + _TIME, re.ASCII | re.IGNORECASE) for name, form in _FORMS.items()}
COMPACT = "yearmonthday"
FEWEST_COMPACT = 3
"""Least distinct numbers such as 20240131 that are read as dates."""


@dataclass(frozen=True, slots=True)
class DateForm:
    """Format of a column's dates."""

    name: str
    """Order of the parts: year-month-day, day/month/year, …"""
    other: str | None = None
    """A second order in which every cell is a date."""

    def read(self, text: str) -> datetime:
        """Parse a date into a naive datetime, in UTC if the text has a zone. Raises ValueError for other text."""
        moment = _read(_PATTERNS[self.name], text)
        if moment is None:
            raise ValueError(f"{text!r} is not a date")
        return moment


def is_date(text: str) -> bool:
    """True for a date in any form but the compact one, with or without a time."""
    return any(_read(pattern, text) for name, pattern in _PATTERNS.items() if name != COMPACT)


def find_form(present: Sequence[str]) -> DateForm | None:
    """Return the form in which every cell is a date, or None. A date needs a year."""
    distinct = list(dict.fromkeys(present))
    fits = [name for name, pattern in _PATTERNS.items() if distinct and all(_read(pattern, text) for text in distinct)]
    if not fits or (fits == [COMPACT] and len(distinct) < FEWEST_COMPACT):
        return None
    if len(fits) == 1:
        return DateForm(fits[0])
    first, second = _PATTERNS[fits[0]], _PATTERNS[fits[1]]
    is_doubtful = any(_read(first, text) != _read(second, text) for text in distinct)
    return DateForm(fits[0], fits[1] if is_doubtful else None)


def _read(pattern: re.Pattern[str], text: str) -> datetime | None:
    match = pattern.fullmatch(text) if len(text) <= 60 else None
    if match is None:
        return None
    parts = match.groupdict()
    try:
        year, day, named = int(parts["year"]), int(parts["day"]), parts.get("named")
        if len(parts["year"]) == 2:
            year += 2000 if year < 70 else 1900
        month = _MONTHS.index(named.lower()) + 1 if named else int(parts["month"])
        if parts["hour"] is None:
            return datetime(year, month, day)
        hour, second = _hour(int(parts["hour"]), parts["half"]), min(int(parts["second"] or 0), 59)
        return datetime(year, month, day, hour, int(parts["minute"]), second) - _offset(parts["zone"])
    except (ValueError, OverflowError):
        return None


def _hour(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if half in "pP" else 0)


def _offset(zone: str | None) -> timedelta:
    if zone in (None, "Z", "z", "UTC", "utc"):
        return timedelta()
    return datetime.strptime(str(zone), "%z").utcoffset() or timedelta()


FEW_VALUES = 20
"""Most values of a category in which not every value repeats."""

_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_ITEMS = r"[+-]?\d+((\s*[,;|]\s*|\s+)[+-]?\d+)+"
_SEQUENCE = re.compile(rf"{_ITEMS}|\[\s*{_ITEMS}\s*\]|\(\s*{_ITEMS}\s*\)|\d+(-\d+)+", re.ASCII)
_HYPHENATED = re.compile(r"\d+(-\d+)+", re.ASCII)
_ITEM = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_CODE = re.compile(r"[\w./#:+@-]+")
_CODE_MARK = re.compile(r"[0-9@]|://")
MOSTLY_CODES = 0.9
"""Least share of words with a digit, an @ or `://` in a column of codes."""
_CODE_NAME = re.compile(
    r"(.*[^a-z])?(zip|zip_?code|post(al)?[ _-]?code|plz|phone|tele?fon|telephone|tel|mobile|fax|ssn|iban|isbn|ean|gtin|"
    r"barcode)([ _-]?(no|nr|number|nummer|code))?\.?",
    re.IGNORECASE,
)
"""Column names of codes and phone numbers."""
_ZERO_FIRST = re.compile(r"0\d+", re.ASCII)
_PHONE = re.compile(r"\d{3,}(-\d{3,})+", re.ASCII)
SHORTEST_CODE = 4
"""Least digits of a code that is recognised by its column's name alone."""
LONGEST_COUNT = 15
"""Most digits of an integer that a float represents exactly; longer ones are codes."""
_ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|uuid|guid|index|idx|key|nr|no))|.*[a-z](Id|ID)")


def is_number(text: str) -> bool:
    """True for a finite decimal number without thousands separators and with a decimal point."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def is_sequence(text: str) -> bool:
    """True for two or more integers: `3 4 0 7`, `[3, 4, 0, 7]`, `3;4;0;7`, `3-4-0-7`."""
    return _SEQUENCE.fullmatch(text) is not None


def sequence_items(text: str) -> tuple[float, ...] | None:
    """Return the integers of a sequence in order; None for other text and for integers beyond the range of floats."""
    if not is_sequence(text):
        return None
    items = text.split("-") if _HYPHENATED.fullmatch(text) else _ITEM.findall(text)
    values = tuple(map(float, items))
    return values if all(map(math.isfinite, values)) else None


def find_kind(distinct: Sequence[str], *, n: int, are_numbers: bool, name: str) -> Kind:
    """Return the kind of a column's distinct cells, unless they are dates; an empty column is text.

    n: present cells. are_numbers: whether `is_number` holds for all distinct cells. A column of 0 and 1 is a category.
    Codes of digits (`00123`, phone numbers, codes by the column's name) are categories or text.
    """
    if not distinct:
        return "text"
    if are_numbers and not are_codes(distinct, name=name):
        return "category" if set(distinct) == {"0", "1"} else "number"
    are_others = any(all(map(other.fullmatch, distinct)) for other in (_DECIMAL_COMMA, _PHONE))
    if all(map(is_sequence, distinct)) and not are_others and not is_code_name(name):
        return "sequence"
    repeats = 2 * len(distinct) <= n or len(distinct) <= min(FEW_VALUES, n - 1)
    return "category" if repeats else "text"


def are_codes(present: Sequence[str], *, name: str = "") -> bool:
    """True if integers are codes: by the column's name, a leading zero, or more digits than a float represents."""
    if not all(map(str.isdecimal, present)):
        return False
    if is_code_name(name) and max(map(len, present)) >= SHORTEST_CODE:
        return True
    return any(_ZERO_FIRST.fullmatch(text) or len(text) > LONGEST_COUNT for text in present)


def is_code_name(name: str) -> bool:
    return _CODE_NAME.fullmatch(name) is not None


def is_identifier(name: str, cells: Sequence[str | None], kind: Kind) -> bool:
    """True if a column only names its rows.

    All cells are present and distinct, and they are consecutive integers (an index), integers under a name such as
    `id`, dates, or codes: single words, mostly with a digit or an @ (`A-017`, an e-mail address, a UUID, a zip code).
    Distinct measurements, sequences, plain words and free text are not identifiers.
    """
    present = [cell for cell in cells if cell is not None]
    if kind == "sequence" or len(set(present)) < len(cells):
        return False
    if kind == "number":
        integers = all(map(is_integer, present))
        values = set(map(int, present)) if integers else set()
        is_consecutive = integers and max(values) - min(values) == len(values) - 1
        return integers and (is_consecutive or _ID_NAME.fullmatch(name) is not None)
    n_marked = sum(_CODE_MARK.search(cell) is not None for cell in present)
    are_codes = n_marked >= MOSTLY_CODES * len(present) and all(map(_CODE.fullmatch, present))
    return kind == "date" or are_codes

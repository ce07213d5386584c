"""Cells that are no numbers: words for a missing cell, dates, and parts of a year."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from vpp.data.descriptions import nearest
from vpp.errors import DataError

ERRORS = frozenset({"#n/a", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!"})
"""Results of a spreadsheet's formula that failed."""
MISSING = ERRORS | frozenset(
    {"", "na", "n/a", "n.a.", "#na", "#n/a n/a", "<na>", "nan", "-nan", "1.#qnan", "-1.#ind", "null", "<null>"}
    | {"(null)", "\\n", "none", "missing", "(blank)", "?", "-", "--", "---", "–", "—", ".", ".."}
    | {"k.a.", "k. a.", "keine angabe", "n.d.", "n. d."}
)
"""Texts of a missing cell, in lower case."""

MOST_OTHERS = 50
"""Most other labels of a column in which a word for a missing cell is a label too."""
_LIKE = {"NA": re.compile(r"[A-Z]{2}"), "-": re.compile(r"[+±/-]+")} | dict.fromkeys(
    ("None", "none", "NONE"), re.compile(r"[^\W\d_].*")
)
"""Labels beside which a word for a missing cell is a label too: codes of two capitals, signs, words that repeat."""


def labels_among(counts: Counter[str]) -> frozenset[str]:
    """Return the words for a missing cell that are labels in this column. counts: occurrences of each stripped text."""
    doubtful = _LIKE.keys() & counts.keys()
    others = {text: n for text, n in counts.items() if text.lower() not in MISSING} if doubtful else {}
    are_few = 2 <= len(others) <= MOST_OTHERS and 2 * len(others) <= sum(others.values())
    enough = {"NA": len(others) > 1, "-": len(others) > 0}
    return frozenset(text for text in doubtful if enough.get(text, are_few) and all(map(_LIKE[text].fullmatch, others)))


def words_by_column(missing: Sequence[str], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the words for a missing cell by column, as the user gave them: WORDS for all columns, or COLUMN=WORDS.

    Words are separated by commas. Raises DataError for an unknown column.
    """
    words: dict[str, tuple[str, ...]] = {}
    for text in sorted(missing, key=lambda text: "=" in text):
        owner = max((name for name in names if text.startswith(f"{name}=")), key=len, default=None)
        if owner is None and "=" in text:
            column = text.partition("=")[0]
            raise DataError(f"missing words are given for {column!r}: {nearest(column, names, 'the columns are')}")
        own = text if owner is None else text[len(owner) + 1 :]
        given = tuple(word.strip() for word in own.split(",") if word.strip())
        words |= {name: (*words.get(name, ()), *given) for name in names} if owner is None else {owner: given}
    return words


def is_missing(text: str, words: Sequence[str] | None) -> bool:
    """True if the stripped text means a missing cell. words: those that do so here; None for the usual ones.

    Empty cells and a spreadsheet's errors are always missing.
    """
    lower = text.lower()
    if words is None or not text or lower in ERRORS:
        return lower in MISSING
    return any(lower == word.lower() or _is_equal(text, word) for word in words)


def _is_equal(text: str, word: str) -> bool:
    try:
        return float(text) == float(word)
    except ValueError:
        return False


_TIME = (
    r"(?:(?:[T ]\s?|,\s)(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = rf"(?P<named>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_YEAR = r"(?P<year>(?:1[89]|20)\d\d)"
_DAYS = {
    "year-month-day": r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)",
    "yearmonthday": r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)",
    "month/day/year": r"(?P<month>\d\d?)(?P<mark>[/-])(?P<day>\d\d?)(?P=mark)(?P<year>\d{4}|(?<=[/.])\d\d)",
    "day/month/year": r"(?P<day>\d\d?)(?P<mark>[/.-])(?P<month>\d\d?)(?P=mark)(?P<year>\d{4}|(?<=[/.])\d\d)",
    "day month year": rf"(?P<day>\d\d?)(?P<mark>[- ]|\.\s?){_NAMED}(?:[- ]|,\s)(?P<year>\d{{4}}|\d\d)",
    "month day, year": rf"{_NAMED}\s(?P<day>\d\d?),?\s(?P<year>\d{{4}})",
}
_PERIODS = {
    "year-month": rf"{_YEAR}[-/](?P<month>\d\d?)",
    "month/year": rf"(?P<month>\d\d?)[-/]{_YEAR}",
    "month year": rf"{_NAMED}(?:[- /]|,\s){_YEAR}",
    "year month": rf"{_YEAR}[- /]{_NAMED}",
    "year and part": rf"{_YEAR}[-/ ]?(?P<unit>[MQHW]|[KC]W)[- ]?(?P<number>\d\d?)",
    "part and year": rf"(?P<unit>[QHW]|[KC]W|week)[- ]?(?P<number>\d\d?)[-/ ]?{_YEAR}",
    "quarter and year": rf"(?P<number>[1-4])(?P<unit>Q)[-/ ]?{_YEAR}",
}
"""Months, quarters, halves and weeks of a year: each is its first day."""
_MONTHS_IN = {"m": 1, "q": 3, "h": 6}
_PATTERNS = {name: re.compile(form + _TIME, re.ASCII | re.IGNORECASE) for name, form in _DAYS.items()}
_PATTERNS |= {name: re.compile(form, re.ASCII | re.IGNORECASE) for name, form in _PERIODS.items()}
COMPACT = "yearmonthday"
FEWEST_COMPACT = 3
"""Least distinct numbers such as 20240131 that are read as dates."""


@dataclass(frozen=True, slots=True)
class DateForm:
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
    """True for a day in any form but the compact one, with or without a time."""
    return any(_read(_PATTERNS[name], text) for name in _DAYS if name != COMPACT)


def find_form(present: Sequence[str]) -> DateForm | None:
    """Return the form in which every cell is a date, a month, a quarter or a week of a year, or None."""
    fits = [name for name, pattern in _PATTERNS.items() if present and all(_read(pattern, text) for text in present)]
    if not fits or (fits == [COMPACT] and len(set(present)) < FEWEST_COMPACT):
        return None
    if len(fits) == 1:
        return DateForm(fits[0])
    first, second = _PATTERNS[fits[0]], _PATTERNS[fits[1]]
    is_doubtful = any(_read(first, text) != _read(second, text) for text in present)
    return DateForm(fits[0], fits[1] if is_doubtful else None)


def _read(pattern: re.Pattern[str], text: str) -> datetime | None:
    match = pattern.fullmatch(text) if len(text) <= 60 else None
    if match is None:
        return None
    parts = match.groupdict()
    try:
        year, day, named = int(parts["year"]), int(parts.get("day") or 1), parts.get("named")
        if len(parts["year"]) == 2:
            year += 2000 if year < 70 else 1900
        if unit := parts.get("unit"):
            return _start(year, unit.lower(), int(parts["number"]))
        month = _MONTHS.index(named.lower()) + 1 if named else int(parts["month"])
        if parts.get("hour") is None:
            return datetime(year, month, day)
        hour, second = int(parts["hour"]), min(int(parts["second"] or 0), 59)
        if parts["half"]:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if parts["half"] in "pP" else 0)
        return datetime(year, month, day, hour, int(parts["minute"]), second) - _offset(parts["zone"])
    except (ValueError, OverflowError):
        return None


def _start(year: int, unit: str, number: int) -> datetime:
    """First day of a month, quarter, half or week. Raises ValueError if the year has no such part."""
    if unit in _MONTHS_IN:
        return datetime(year, 1 + (number - 1) * _MONTHS_IN[unit], 1)
    return datetime.combine(date.fromisocalendar(year, number, 1), datetime.min.time())


def _offset(zone: str | None) -> timedelta:
    if zone in (None, "Z", "z", "UTC", "utc"):
        return timedelta()
    return datetime.strptime(str(zone), "%z").utcoffset() or timedelta()


def is_period(text: str) -> bool:
    """True for a month, quarter, half or week of a year."""
    return any(_read(_PATTERNS[name], text) for name in _PERIODS)

"""Dates as people write them: one order of day, month and year for a whole column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

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
"""Fewer numbers such as 20240131 are no dates yet."""


@dataclass(frozen=True, slots=True)
class DateForm:
    """How a column's dates are written."""

    name: str
    """Its order: year-month-day, day/month/year, …"""
    other: str | None = None
    """Another order in which all cells could be read."""

    def read(self, text: str) -> datetime:
        """The moment, in UTC where the cell has a zone, without one in any case. Raises ValueError for any other."""
        found = _read(_PATTERNS[self.name], text)
        if found is None:
            raise ValueError(f"{text!r} is no date")
        return found


def is_date(text: str) -> bool:
    """Whether the text alone is a date in one of the forms, with a time or without."""
    return any(_read(pattern, text) for name, pattern in _PATTERNS.items() if name != COMPACT)


def find_form(present: Sequence[str]) -> DateForm | None:
    """The one form in which every cell is a date; None where there is none. A day without its year is no date."""
    distinct = list(dict.fromkeys(present))
    fits = [name for name, pattern in _PATTERNS.items() if distinct and all(_read(pattern, text) for text in distinct)]
    if not fits or (fits == [COMPACT] and len(distinct) < FEWEST_COMPACT):
        return None
    return DateForm(fits[0], fits[1] if len(fits) > 1 and _differ(fits, distinct) else None)


def _differ(fits: Sequence[str], distinct: Sequence[str]) -> bool:
    first, second = (_PATTERNS[name] for name in fits[:2])
    return any(_read(first, text) != _read(second, text) for text in distinct)


def _read(pattern: re.Pattern[str], text: str) -> datetime | None:
    match = pattern.fullmatch(text) if len(text) <= 60 else None
    if match is None:
        return None
    parts = match.groupdict()
    try:
        year, month, day = _year(parts["year"]), _month(parts), int(parts["day"])
        if parts["hour"] is None:
            return datetime(year, month, day)
        hour, second = _hour(int(parts["hour"]), parts["half"]), min(int(parts["second"] or 0), 59)
        return datetime(year, month, day, hour, int(parts["minute"]), second) - _offset(parts["zone"])
    except (ValueError, OverflowError):
        return None


def _year(text: str) -> int:
    """Two digits are of 1970 to 2069."""
    return int(text) if len(text) == 4 else (2000 if int(text) < 70 else 1900) + int(text)


def _month(parts: dict[str, str | None]) -> int:
    named = parts.get("named")
    return _MONTHS.index(named.lower()) + 1 if named else int(parts["month"] or 0)


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

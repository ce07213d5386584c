"""Numbers of tables as people write them: decimal commas, thousands, currencies, percent, parentheses."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from vpp.data.answers import quoted
from vpp.data.dataset import Notation
from vpp.data.kinds import is_number

Marks = tuple[str, str]
"""(Decimal, grouping)."""

LONGEST = 60
"""Most characters of a cell that is parsed as a formatted number."""
_BLANKS = " \u00a0\u2007\u2009\u202f"
_MINUS = str.maketrans(dict.fromkeys("−–‒﹣－", "-"))
_CURRENCY = (
    "(?:[A-Z]{0,3}[$€£¥₹₽₩₺₴₪₫฿₦₱₡₲₵₸₮₭₾₿¢]|(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|"
    "RON|BGN|RUB|UAH|TRY|ILS|ZAR|BRL|MXN|ARS|CLP|COP|PEN|KRW|TWD|HKD|SGD|THB|IDR|MYR|PHP|VND|AED|SAR|EGP|NGN|KES|BTC|"
    r"Rs|Fr|kr|zł|Kč|Ft|lei|лв|руб)\.?)"
)
_MEASURE = r"(?:°?[^\W\d_]{1,8}[²³]?(?:/[^\W\d_]{1,4}[²³]?)?|°)"
"""A unit after a blank: cm, km/h, m², °C."""
_CELL = re.compile(
    rf"""(?P<open>\()? (?P<sign>[+-])? [{_BLANKS}]*+
         (?:(?P<before>{_CURRENCY}) [{_BLANKS}]*+)? (?P<inner>[+-])?
         (?P<body>[0-9](?:[0-9.,'’{_BLANKS}]*[0-9])?|[.,][0-9]+) (?:[.,][-—]{{0,2}})? (?P<power>[eE][+-]?[0-9]+)?
         (?:[{_BLANKS}]*(?P<after>[%‰°]|{_CURRENCY}) | [{_BLANKS}](?P<measure>{_MEASURE}))?
         (?P<trailing>-)? (?P<close>\))?""",
    re.VERBOSE,
)
_STANDS_FOR = {
    mark: frozenset(characters) for mark, characters in {"": "", ",": ",", ".": ".", "'": "'’", " ": _BLANKS}.items()
}
"""Characters that a cell may use for each mark."""
_WITHOUT = {mark: dict.fromkeys(map(ord, characters)) for mark, characters in _STANDS_FOR.items()}
_BLANK_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})+")
_POINTS = re.compile(r"[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)")
"""Plain numbers that could be integers with points between thousands."""


def _body(marks: Marks) -> re.Pattern[str]:
    decimal, grouping = (f"[{''.join(_STANDS_FOR[mark])}]" if mark else "(?!)" for mark in marks)
    lakhs = f"|[1-9][0-9]?(?:{grouping}[0-9]{{2}})+{grouping}[0-9]{{3}}" if marks == (".", ",") else ""
    whole = rf"[0-9]+|[1-9][0-9]{{0,2}}(?:{grouping}[0-9]{{3}})+{lakhs}"
    return re.compile(rf"(?:{whole})(?:{decimal}[0-9]*)?|{decimal}[0-9]+")


_BODIES = {
    marks: _body(marks)
    for marks in ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (",", "'"), (".", " "), (",", " "))
}
"""Patterns of a number's digits by its marks, in order of preference."""


def read_notation(
    texts: Sequence[str], *, decimal: str | None = None, likely: str = "."
) -> tuple[Sequence[str], Notation | None]:
    """Return the texts of a column as plain decimal numbers with every digit, and their notation.

    Return the texts unchanged and None if they are plain already, or if no one notation fits all of them.
    decimal: the decimal mark chosen by the user. likely: the decimal mark preferred if either fits.
    """
    wanted = decimal or likely
    are_grouped = wanted == "," and any("." in text for text in texts) and all(map(_POINTS.fullmatch, texts))
    if all(map(is_number, texts)) and not are_grouped:
        return texts, None
    column = _parts(texts)
    readings = _readings(column)
    if not readings:
        return texts, None
    marks, plain = next((reading for reading in readings if reading[0][0] == wanted), readings[0])
    is_usual = likely == "." and marks == (".", "")
    is_doubtful = len(readings) > 1 and decimal is None and not is_usual
    is_doubtful = is_doubtful or (marks[1] == " " and all(map(_BLANK_GROUPS.fullmatch, texts)))
    if plain == list(texts) or not all(math.isfinite(float(number)) for number in plain):
        return texts, None
    return plain, Notation(
        decimal=marks[0], grouping=marks[1], unit=column[0].unit, before=column[0].before, is_doubtful=is_doubtful
    )


def read_number(text: str, notation: Notation | None) -> str | None:
    """Read a number in the column's notation, with or without its unit; else a plain number; else None."""
    if notation is not None and (part := _part(text)) and part.unit in ("", notation.unit):
        for marks, pattern in _BODIES.items():
            if marks[0] == notation.decimal and pattern.fullmatch(part.body):
                return _plain(part, marks)
    return text if is_number(text) else None


def write_number(number: str, notation: Notation | None) -> str:
    return number if notation is None else number.replace(".", notation.decimal)


def is_written_number(text: str) -> bool:
    """True for a finite number in any of the notations."""
    part = _part(text)
    if part is None:
        return False
    return any(body.fullmatch(part.body) and is_number(_plain(part, marks)) for marks, body in _BODIES.items())


def two_ways(numbers: Sequence[str]) -> str:
    """Quote the first number and one of another unit, or else of another shape: `'$12.00' and '(CHF 17.84)'`."""
    first = numbers[0]
    ways = (_unit, lambda number: re.sub(r"\d+", "0", number))
    others = (next((n for n in numbers if way(n) != way(first)), None) for way in ways)
    return f"{quoted(first)} and {quoted(next(filter(None, others), numbers[-1]))}"


def _unit(number: str) -> str:
    part = _part(number)
    return part.unit if part else ""


def certain_decimal(texts: Sequence[str]) -> str | None:
    """Return the decimal mark of a column of numbers if only one is possible and the texts show it, else None."""
    column = _parts(texts)
    readings = _readings(column)
    if len(readings) != 1:
        return None
    (decimal, grouping), _ = readings[0]
    marks = [decimal, *([grouping] if grouping in (",", ".") else [])]
    return decimal if any(mark in part.body for part in column for mark in marks) else None


class _Part(NamedTuple):
    """Components of a formatted number."""

    negative: bool
    plus: bool
    in_parentheses: bool
    body: str
    power: str
    unit: str
    before: bool


def _part(cell: str) -> _Part | None:
    plain = cell if cell.isascii() else cell.translate(_MINUS)
    match = _CELL.fullmatch(plain) if len(cell) <= LONGEST else None
    if match is None:
        return None
    in_parentheses = match["open"] is not None
    signs = [sign for sign in (match["sign"], match["inner"], match["trailing"]) if sign]
    if in_parentheses != (match["close"] is not None) or len(signs) + in_parentheses > 1:
        return None
    after = match["after"] or match["measure"]
    if match["before"] and after:
        return None
    return _Part(
        negative=in_parentheses or "-" in signs,
        plus="+" in signs,
        in_parentheses=in_parentheses,
        body=match["body"],
        power=match["power"] or "",
        unit=match["before"] or after or "",
        before=match["before"] is not None,
    )


def _parts(texts: Sequence[str]) -> list[_Part]:
    """Parse the texts; empty unless all parse with the same unit in the same place, and not all are in parentheses."""
    column: list[_Part] = []
    for text in texts:
        part = _part(text)
        if part is None or (column and (part.unit, part.before) != (column[0].unit, column[0].before)):
            return []
        column.append(part)
    return [] if all(part.in_parentheses for part in column) else column


def _readings(column: Sequence[_Part]) -> list[tuple[Marks, list[str]]]:
    """Return each possible reading of the column: its preferred marks and the plain numbers they give."""
    readings: list[tuple[Marks, list[str]]] = []
    if not column:
        return readings
    used = set().union(*(part.body for part in column)) - set("0123456789")
    for marks, pattern in _BODIES.items():
        if not _STANDS_FOR[marks[1]] & used and marks[1]:
            continue  # the same as without grouping
        if all(pattern.fullmatch(part.body) and not _is_phone(part, marks) for part in column):
            plain = [_plain(part, marks) for part in column]
            if all(plain != other for _, other in readings):
                readings.append((marks, plain))
    return readings


def _is_phone(part: _Part, marks: Marks) -> bool:
    """True for a number such as `+49 170 123`."""
    return part.plus and marks[1] == " " and not _STANDS_FOR[" "].isdisjoint(part.body)


def _plain(part: _Part, marks: Marks) -> str:
    decimal, grouping = marks
    whole, _, decimals = part.body.partition(decimal)
    digits = whole.translate(_WITHOUT[grouping]) or "0"
    fraction = f".{decimals}" if decimals else ""
    return f"{'-' if part.negative else ''}{digits}{fraction}{part.power}"

"""Numbers as people write them: plain, or in one notation a column."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
PLAIN = {"NUMBER": _NUMBER, "INTEGER": _INTEGER}
"""Patterns of cells that no notation changes."""


def is_number(text: str) -> bool:
    """True for a finite decimal number without thousands separators and with a decimal point."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


# --- notations --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """Format of a column's numbers in the file, unless plain: `1.234,50 €`."""

    decimal: str = "."
    unit: str = ""
    is_doubtful: bool = False
    """True if the cells alone leave the marks, or the meaning of a blank, ambiguous."""
    is_scaled: bool = False
    """True if suffixes such as K and M are powers of ten."""


Marks = tuple[str, str]
"""(Decimal, grouping)."""
LONGEST = 60
_BLANKS = " \u00a0\u2007\u2009\u202f"
MINUS = str.maketrans(dict.fromkeys("−–‒﹣－", "-"))
_CURRENCY = (
    "(?:[A-Z]{0,3}[$€£¥₹₽₩₺₴₪₫฿₦₱₡₲₵₸₮₭₾₿¢]|(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|"
    "RON|BGN|RUB|UAH|TRY|ILS|ZAR|BRL|MXN|ARS|CLP|COP|PEN|KRW|TWD|HKD|SGD|THB|IDR|MYR|PHP|VND|AED|SAR|EGP|NGN|KES|BTC|"
    r"Rs|Fr|kr|zł|Kč|Ft|lei|лв|руб)\.?)"
)
_MEASURE = r"(?:(?!(?i:(?<=1)st|(?<=2)nd|(?<=3)rd|(?<=[0-9])th)\b)°?[^\W\d_]{1,8}[²³]?(?:/[^\W\d_]{1,4}[²³]?)?|°)"
_UNITS = re.compile(
    r"[kmµ]?g|t|lbs?|oz|[kcmdµn]?m[²³23]?|ft|in|mi|yd|[cmdh]?l|gal|[kKMGTP]i?[Bb](?:ps)?|[kMGmT]?(?:Hz|Wh?|VA?|A|J|Pa)|"
    r"mAh|MP|M?px|dpi|rpm|mph|kmh|kph|km/h|km/l|kmpl|m/s|[mnµ]?s|secs?|mins?|hr?s?|hours?|d|days?|w|weeks?|months?|yrs?|"
    r"years?|k?cal|bar|m?bar|psi|hPa|dB|b?hp|PS|[cC][cC]m?|Nm|x|pts?|pcs?|mol|mM|[°]?[CFK]|[kM]|[bm]n"
)
"""Units that may follow a number without a blank. Others may so only in a column with decimals: `3D` is a name."""
SCALES = {"k": 3, "K": 3, "m": 6, "mn": 6, "M": 6, "bn": 9, "B": 9}
"""Powers of ten of a suffix, as in €17.5M."""
FORMATTED = re.compile(
    rf"""(?!\+[0-9]+[{_BLANKS}][0-9]) (?P<open>\()? (?(open)|(?P<sign>[+-])?) [{_BLANKS}]*+ (?!0[0-9]+[^\W\d_])
         (?:(?P<before>{_CURRENCY}) [{_BLANKS}]*+ (?(open)|(?(sign)|(?P<inner>[+-])?)))?
         (?P<body>[0-9](?:[0-9.,'’{_BLANKS}]*[0-9])?|[.,][0-9]+) (?:[.,][-—]{{0,2}})? (?P<power>[eE][+-]?[0-9]+)?
         (?:(?P<scale>[kKMBm]|bn|mn)(?![^\W\d_]))?
         (?(before)|(?:[{_BLANKS}]*(?P<after>[%‰°]|{_CURRENCY}) |
                       (?(scale)(?!)|(?P<gap>[{_BLANKS}]?)(?P<measure>{_MEASURE})))?)
         (?(open)\)|(?(sign)|(?(inner)|(?P<trailing>-)?)))""",
    re.VERBOSE,
)
"""One sign, or parentheses for a minus; a unit before or after. `+49 170 123` is a telephone number."""
STANDS_FOR = {
    mark: frozenset(characters) for mark, characters in {"": "", ",": ",", ".": ".", "'": "'’", " ": _BLANKS}.items()
}
"""Characters that a cell may use for each mark."""
_WITHOUT = {mark: dict.fromkeys(map(ord, characters)) for mark, characters in STANDS_FOR.items()}
_BLANK_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})+")
_POINTS = re.compile(r"[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)")
"""Plain numbers that could be integers with points between thousands."""


def _body(marks: Marks) -> re.Pattern[str]:
    decimal, grouping = (f"[{''.join(STANDS_FOR[mark])}]" if mark else "(?!)" for mark in marks)
    lakhs = f"|[1-9][0-9]?(?:{grouping}[0-9]{{2}})+{grouping}[0-9]{{3}}" if marks == (".", ",") else ""
    whole = rf"[0-9]+|[1-9][0-9]{{0,2}}(?:{grouping}[0-9]{{3}})+{lakhs}"
    return re.compile(rf"(?:{whole})(?:{decimal}[0-9]*)?|{decimal}[0-9]+")


BODIES = {
    marks: _body(marks)
    for marks in ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (",", "'"), (".", " "), (",", " "))
}
"""Patterns of a number's digits by its marks, in order of preference."""


def digits_of(body: str, marks: Marks) -> str | None:
    """Return the digits of a number's body with a decimal point; None if these are not its marks."""
    if not BODIES[marks].fullmatch(body):
        return None
    whole, _, decimals = body.partition(marks[0])
    return (whole.translate(_WITHOUT[marks[1]]) or "0") + (f".{decimals}" if decimals else "")


def _match(cell: str) -> re.Match[str] | None:
    return FORMATTED.fullmatch(cell if cell.isascii() else cell.translate(MINUS)) if len(cell) <= LONGEST else None


def _unit(match: re.Match[str], is_scaled: bool) -> str:
    """Return the unit, or the suffix unless suffixes are powers of ten."""
    own = match["before"] or match["after"] or match["measure"] or ""
    return own if is_scaled else own or match["scale"] or ""


def _plain(match: re.Match[str], marks: Marks, is_scaled: bool) -> str | None:
    """Return the plain decimal: -1234.5 for `(1.234,5)`, 17500000 for a scaled `17.5M`; None if it has other marks.

    A suffix that is not scaled belongs to the unit.
    """
    digits = digits_of(match["body"], marks)
    if digits is None:
        return None
    minus = "-" if match["open"] or "-" in match.group("sign", "inner", "trailing") else ""
    number, scale = f"{minus}{digits}{match['power'] or ''}", match["scale"]
    return f"{Decimal(number).scaleb(SCALES[scale]):f}" if scale and is_scaled else number


def _ways(texts: Sequence[str]) -> tuple[dict[tuple[str, ...], Marks], str, bool]:
    """Return the marks of each way to read a column, preferred ones first, by its plain numbers; unit, and is_scaled.

    There is no way if the texts are no numbers of one unit.
    """
    column: list[re.Match[str]] = []
    for text in texts:
        if (match := _match(text)) is None or (column and _unit(match, True) != _unit(column[0], True)):
            return {}, "", False
        column.append(match)
    scales, used = {match["scale"] or "" for match in column}, set("".join(match["body"] for match in column))
    has_decimals = not used.isdisjoint(",.")
    is_currency = any(match["before"] or (match["after"] or "%") not in "%‰°" for match in column)
    is_scaled = is_currency or (len(scales) > 1 and has_decimals and "m" not in scales)
    units = {_unit(match, is_scaled) for match in column}
    is_attached = scales != {""} or any(match["measure"] and not match["gap"] for match in column)
    are_names = is_attached and not all(map(_UNITS.fullmatch, units)) and not (has_decimals or is_scaled)
    ways: dict[tuple[str, ...], Marks] = {}
    if len(units) != 1 or are_names or all(match["open"] for match in column):
        return ways, "", False
    for marks in BODIES:
        if not marks[1] or not STANDS_FOR[marks[1]].isdisjoint(used):  # else the same as without grouping
            plain = [number for match in column if (number := _plain(match, marks, is_scaled)) is not None]
            if len(plain) == len(column):
                ways.setdefault(tuple(plain), marks)
    return ways, min(units), is_scaled and scales != {""}


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
    ways, unit, is_scaled = _ways(texts)
    plain = next((plain for plain, marks in ways.items() if marks[0] == wanted), next(iter(ways), ()))
    if plain in ((), tuple(texts)) or not all(math.isfinite(float(number)) for number in plain):
        return texts, None
    marks = ways[plain]
    is_open = len(ways) > 1 and decimal is None and (likely, marks) != (".", (".", ""))
    doubt = is_open or (marks[1] == " " and all(map(_BLANK_GROUPS.fullmatch, texts)))  # may be pairs
    return plain, Notation(decimal=marks[0], unit=unit, is_doubtful=doubt, is_scaled=is_scaled)


def certain_decimal(texts: Sequence[str]) -> str | None:
    """Return the decimal mark of a column of numbers if only one is possible and the texts show it, else None."""
    ways = list(_ways(texts)[0].values())
    if len(ways) != 1:
        return None
    (decimal, grouping), text = ways[0], "".join(texts)
    return decimal if decimal in text or (grouping in (",", ".") and grouping in text) else None


def read_number(text: str, notation: Notation | None) -> str | None:
    """Read a number in the column's notation, with or without its unit; else a plain number; else None."""
    match = _match(text) if notation else None
    if notation and match and _unit(match, notation.is_scaled) in ("", notation.unit):
        own = (_plain(match, marks, notation.is_scaled) for marks in BODIES if marks[0] == notation.decimal)
        if number := next(filter(None, own), None):
            return number
    return text if is_number(text) else None


def write_number(number: str, notation: Notation | None) -> str:
    return number if notation is None else number.replace(".", notation.decimal)


def unit_of(text: str) -> str:
    """Unit or suffix of a number in any of the notations; empty for other text."""
    match = _match(text)
    return _unit(match, False) if match else ""


def is_written_number(text: str) -> bool:
    """True for a finite number in any of the notations."""
    match = _match(text)
    return match is not None and any(is_number(_plain(match, marks, is_scaled=True) or "") for marks in BODIES)

"""Numbers as people write them: decimal commas, thousands, currencies, percent, accounting's parentheses."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vpp.data.dataset import Notation
from vpp.data.kinds import is_number

Cells = tuple[str | None, ...]
Marks = tuple[str, str]
"""(Decimal, grouping)."""

LONGEST = 60
"""Characters of a number that is not written plainly."""
_BLANKS = " \u00a0\u2007\u2009\u202f"
_MINUS = str.maketrans(dict.fromkeys("−–‒﹣－", "-"))
_CURRENCY = (
    "(?:[A-Z]{0,3}[$€£¥₹₽₩₺₴₪₫฿₦₱₡₲₵₸₮₭₾₿¢]|(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|"
    "RON|BGN|RUB|UAH|TRY|ILS|ZAR|BRL|MXN|ARS|CLP|COP|PEN|KRW|TWD|HKD|SGD|THB|IDR|MYR|PHP|VND|AED|SAR|EGP|NGN|KES|BTC|"
    r"Rs|Fr|kr|zł|Kč|Ft|lei|лв|руб)\.?)"
)
_MEASURE = r"(?:°?[^\W\d_]{1,8}[²³]?(?:/[^\W\d_]{1,4}[²³]?)?|°)"
"""What a blank sets apart: cm, km/h, m², °C."""
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
"""The characters of a mark."""
_WITHOUT = {mark: dict.fromkeys(map(ord, characters)) for mark, characters in _STANDS_FOR.items()}
_BLANK_GROUPS = re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})+")
_ADDRESS = re.compile(r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?:\.(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}")
"""An address of the internet: 192.168.100.200."""
_POINTS = re.compile(r"[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)")


def _body(marks: Marks) -> re.Pattern[str]:
    decimal, grouping = (f"[{''.join(_STANDS_FOR[mark])}]" if mark else "(?!)" for mark in marks)
    lakhs = f"|[1-9][0-9]?(?:{grouping}[0-9]{{2}})+{grouping}[0-9]{{3}}" if marks == (".", ",") else ""
    whole = rf"[0-9]+|[1-9][0-9]{{0,2}}(?:{grouping}[0-9]{{3}})+{lakhs}"
    return re.compile(rf"(?:{whole})(?:{decimal}[0-9]*)?|{decimal}[0-9]+")


_BODIES = {
    marks: _body(marks)
    for marks in ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (",", "'"), (".", " "), (",", " "))
}
"""The plainest first."""


def read_notation(
    cells: Sequence[str | None], *, decimal: str | None = None, likely: str = "."
) -> tuple[Cells, Notation | None]:
    """The cells of a column as plain decimal numbers, every digit kept, and how they were written.

    The cells as they are, and None, where they are plain already, or where not all that are present read in one
    notation. decimal: the mark before decimals, where a person chose it; likely: the one to take where the cells could
    be read with either. Both decide only between readings of all cells.
    """
    present = list(dict.fromkeys(cell for cell in cells if cell is not None))
    as_they_are = tuple(cells), None
    if not present or (all(map(is_number, present)) and not ((decimal or likely) == "," and _are_grouped(present))):
        return as_they_are
    column = _parts(present)
    found = _readings(column) if column else []
    if not column or not found:
        return as_they_are
    marks, plain, is_doubtful = _chosen(found, decimal, likely)
    is_doubtful = is_doubtful or (marks[1] == " " and all(map(_BLANK_GROUPS.fullmatch, present)))
    if plain == present or not all(math.isfinite(float(number)) for number in plain):
        return as_they_are
    written = dict(zip(present, plain, strict=True))
    notation = Notation(
        decimal=marks[0], grouping=marks[1], unit=column[0].unit, before=column[0].before, is_doubtful=is_doubtful
    )
    return tuple(None if cell is None else written[cell] for cell in cells), notation


def read_number(text: str, notation: Notation | None) -> str | None:
    """The plain decimal number of a cell with the column's decimal mark, with its unit or without; None for any other.

    What cannot be read so but is a plain number is taken as it is.
    """
    if notation is not None and (part := _part(text)) and part.unit in ("", notation.unit):
        for marks, pattern in _BODIES.items():
            if marks[0] == notation.decimal and pattern.fullmatch(part.body):
                return _plain(part, marks)
    return text if is_number(text) else None


def write_number(number: str, notation: Notation | None) -> str:
    """A plain decimal number with the column's decimal mark, as `read_number` takes it."""
    return number if notation is None else number.replace(".", notation.decimal)


def is_written_number(text: str) -> bool:
    """Whether the text is a number in any of the notations."""
    part = _part(text)
    if is_number(text) or part is None or _ADDRESS.fullmatch(text):
        return is_number(text)
    return any(body.fullmatch(part.body) for body in _BODIES.values())


def is_beyond(text: str) -> bool:
    """Whether the text is infinity, or a number that no float holds."""
    if text.lower().lstrip("+-") in ("inf", "infinity", "∞"):
        return True
    part = _part(text)
    if part is None:
        return False
    readings = (_plain(part, marks) for marks, body in _BODIES.items() if body.fullmatch(part.body))
    return not math.isfinite(float(next(readings, "0")))


def is_in_parentheses(text: str) -> bool:
    """Whether it is a number such as `(5)`."""
    part = _part(text)
    return part is not None and part.in_parentheses


def units_of(cells: Iterable[str]) -> tuple[str, ...]:
    """The units that stand at numbers among the cells, each once; a bare number's is empty."""
    return tuple(dict.fromkeys(part.unit for cell in cells if (part := _part(cell)) is not None))


def two_ways(numbers: Sequence[str]) -> str:
    """The first, and one of another unit or, failing that, another shape: `'$12.00' and '(CHF 17.84)'`."""
    first = numbers[0]
    ways = (lambda number: units_of([number]), lambda number: re.sub(r"\d+", "0", number))
    others = (next((n for n in numbers if way(n) != way(first)), None) for way in ways)
    return f"{_short(first)} and {_short(next(filter(None, others), numbers[-1]))}"


def told_decimal(cells: Iterable[str | None]) -> str | None:
    """The decimal mark that a column of numbers leaves no doubt about; None where it does, or shows none."""
    present = list(dict.fromkeys(cell for cell in cells if cell is not None))
    column = _parts(present) if present else None
    found = _readings(column) if column else []
    if not column or len(found) != 1:
        return None
    (decimal, grouping), _ = found[0]
    marks = [decimal, *([grouping] if grouping in (",", ".") else [])]
    return decimal if any(mark in part.body for part in column for mark in marks) else None


class _Part(NamedTuple):
    """A cell taken apart."""

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


def _parts(present: Sequence[str]) -> list[_Part] | None:
    """Each cell taken apart; None unless all can be, with one unit in one place, and some stand without parentheses."""
    column: list[_Part] = []
    for cell in present:
        part = _part(cell)
        if part is None or (column and (part.unit, part.before) != (column[0].unit, column[0].before)):
            return None
        column.append(part)
    return None if all(part.in_parentheses for part in column) else column


def _readings(column: Sequence[_Part]) -> list[tuple[Marks, list[str]]]:
    """The different numbers that the cells could be, each with the plainest marks that give them."""
    found: list[tuple[Marks, list[str]]] = []
    if all(_ADDRESS.fullmatch(part.body) for part in column):
        return []
    used = set().union(*(part.body for part in column)) - set("0123456789")
    for marks, pattern in _BODIES.items():
        if not _STANDS_FOR[marks[1]] & used and marks[1]:
            continue  # the same as without grouping
        if all(pattern.fullmatch(part.body) and not _is_phone(part, marks) for part in column):
            plain = [_plain(part, marks) for part in column]
            if all(plain != other for _, other in found):
                found.append((marks, plain))
    return found


def _chosen(
    found: Sequence[tuple[Marks, list[str]]], decimal: str | None, likely: str
) -> tuple[Marks, list[str], bool]:
    """The reading to take, and whether another one could be meant."""
    wanted = decimal or likely
    marks, plain = next((one for one in found if one[0][0] == wanted), found[0])
    is_usual = likely == "." and marks == (".", "")
    return marks, plain, len(found) > 1 and decimal is None and not is_usual


def _is_phone(part: _Part, marks: Marks) -> bool:
    """`+49 170 123`."""
    return part.plus and marks[1] == " " and not _STANDS_FOR[" "].isdisjoint(part.body)


def _are_grouped(present: Sequence[str]) -> bool:
    """Whether plain numbers could be integers with points between thousands."""
    return all(map(_POINTS.fullmatch, present)) and any("." in cell for cell in present)


def _plain(part: _Part, marks: Marks) -> str:
    decimal, grouping = marks
    whole, _, decimals = part.body.partition(decimal)
    digits = whole.translate(_WITHOUT[grouping]) or "0"
    fraction = f".{decimals}" if decimals else ""
    return f"{'-' if part.negative else ''}{digits}{fraction}{part.power}"


def _short(cell: str) -> str:
    line = " ".join(cell.split())
    return repr(line if len(line) <= 40 else f"{line[:39]}…")

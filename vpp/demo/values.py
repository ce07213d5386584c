"""Values and rows, parsed from the lines `name: value` of an input."""

import math
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

Value = float | str | tuple[float, ...] | None
"""A number, a text, a sequence of numbers, or None for a missing cell."""

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_IS_NUMBER = re.compile(_NUMBER)
_IS_SEQUENCE = re.compile(rf"[\[(]?\s*{_NUMBER}(?:[\s,;]+{_NUMBER})+\s*[\])]?")
_EACH_NUMBER = re.compile(_NUMBER)
_WITH_UNIT = re.compile(
    rf"({_NUMBER}) (?:[%‰°]|[A-Z]{{0,3}}[$€£¥₹₽₩₺₴₪₫฿₦₱₡₲₵₸₮₭₾₿¢]|°?[^\W\d_]{{1,8}}[²³.]?(?:/[^\W\d_]{{1,4}}[²³]?)?)"
)
_CODE = re.compile(r"0\d+")
_MISSING = "missing"
_LONGEST_SEQUENCE = 2000


def read_number(text: str) -> float | None:
    """Parse a finite number; None if `text` is not one."""
    if not _IS_NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def read_value(text: str) -> Value:
    """Parse a cell: `missing`, a number with or without a unit, several numbers, or else a text.

    Digits with a leading zero are a text, since they are a code.
    """
    text = text.strip()
    if text == _MISSING or not text:
        return None
    if _CODE.fullmatch(text):
        return text
    with_unit = _WITH_UNIT.fullmatch(text)
    number = read_number(with_unit[1] if with_unit else text.replace("−", "-"))
    if number is not None:
        return number
    if len(text) <= _LONGEST_SEQUENCE and _IS_SEQUENCE.fullmatch(text):
        return tuple(float(part) for part in _EACH_NUMBER.findall(text))
    return text


@dataclass(frozen=True)
class Row:
    """An input: cells by column name, in the order of its lines."""

    cells: dict[str, Value]

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        return tuple(value for value in self.cells.values() if isinstance(value, float))

    @cached_property
    def sequence(self) -> tuple[float, ...]:
        """First cell that holds a sequence, or else the numeric cells as a sequence."""
        whole = next((value for value in self.cells.values() if isinstance(value, tuple)), None)
        return self.numbers if whole is None else whole


def split_line(line: str) -> tuple[str, str]:
    name, _, value = line.rpartition(": ")
    if name and (value.strip() == _MISSING or read_number(value.strip()) is not None):
        return name.strip(), value
    name, _, value = line.partition(":")
    return name.strip(), value


@lru_cache(maxsize=8192)
def read_row(text: str) -> Row:
    lines = (line for line in text.split("\n") if ":" in line)
    return Row({name: read_value(value) for name, value in map(split_line, lines)})


def same(left: Value, right: Value) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right

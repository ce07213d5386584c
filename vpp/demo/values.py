"""Values and rows: what the lines `name: value` of one input hold."""

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
    """The finite number that `text` is, or None."""
    if not _IS_NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def read_value(text: str) -> Value:
    """A cell: `missing`, a number, with its unit or without, numbers set apart by spaces or commas, or else the text.

    Digits that begin with a zero are a text: a code.
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
    """One input: its cells by column name, in the order they were written."""

    cells: dict[str, Value]

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The numeric cells, in order."""
        return tuple(value for value in self.cells.values() if isinstance(value, float))

    @cached_property
    def sequence(self) -> tuple[float, ...]:
        """The first sequence-valued cell, or else the numeric cells taken as one sequence."""
        whole = next((value for value in self.cells.values() if isinstance(value, tuple)), None)
        return self.numbers if whole is None else whole


def split_line(line: str) -> tuple[str, str]:
    """Name and value of a line `name: value`; a name may hold `: ` itself if a number or `missing` ends the line."""
    name, _, value = line.rpartition(": ")
    if name and (value.strip() == _MISSING or read_number(value.strip()) is not None):
        return name.strip(), value
    name, _, value = line.partition(":")
    return name.strip(), value


@lru_cache(maxsize=8192)
def read_row(text: str) -> Row:
    """The row written as one line a column; lines without a colon are passed over."""
    lines = (line for line in text.split("\n") if ":" in line)
    return Row({name: read_value(value) for name, value in map(split_line, lines)})


def same(left: Value, right: Value) -> bool:
    """Whether two values are equal; texts are compared without regard to case."""
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right

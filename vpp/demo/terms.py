"""Terms, which give a value of a row, and checks, which test one value."""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from vpp.demo.values import Row, Value, same

# --- items: a part of the row's sequence ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Items:
    """Numbers of a row: those of columns `names`, or the row's sequence without names; then a slice of them."""

    names: tuple[str, ...] = ()
    start: int | None = None
    stop: int | None = None

    def of(self, row: Row) -> tuple[float, ...]:
        return self._all(row)[self.start : self.stop]

    def _all(self, row: Row) -> tuple[float, ...]:
        if not self.names:
            return row.sequence
        numbers: list[float] = []
        for name in self.names:
            value = row.cells.get(name)
            if isinstance(value, tuple):
                numbers.extend(value)
            elif isinstance(value, float):
                numbers.append(value)
        return tuple(numbers)


WHOLE = Items()

# --- terms: a value of a row --------------------------------------------------------------------------------
# `of` returns the value in a row; None if an input is missing or the result is not a finite real number.


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float

    def of(self, row: Row) -> Value:
        return self.value


@dataclass(frozen=True, slots=True)
class Cell:
    """The value of a column."""

    name: str

    def of(self, row: Row) -> Value:
        return row.cells.get(self.name)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two terms joined by one of + - * / ^."""

    op: Literal["+", "-", "*", "/", "^"]
    left: "Term"
    right: "Term"

    def of(self, row: Row) -> Value:
        left, right = self.left.of(row), self.right.of(row)
        if not (isinstance(left, float) and isinstance(right, float)):
            return None
        return finite(_ARITHMETIC[self.op], left, right)


@dataclass(frozen=True, slots=True)
class Function:
    """sin, cos, sqrt, abs, exp or log of a term."""

    name: str
    argument: "Term"

    def of(self, row: Row) -> Value:
        value = self.argument.of(row)
        return finite(FUNCTIONS[self.name], value) if isinstance(value, float) else None


@dataclass(frozen=True, slots=True)
class Fold:
    """A statistic of items: sum, product, mean, max, min, range, length or distinct."""

    kind: str
    items: Items

    def of(self, row: Row) -> Value:
        numbers = self.items.of(row)
        if not numbers and self.kind not in {"sum", "length", "distinct"}:
            return None
        return finite(FOLDS[self.kind], numbers)


@dataclass(frozen=True, slots=True)
class Tally:
    """Number of items that pass a check."""

    items: Items
    check: "Check"

    def of(self, row: Row) -> Value:
        results = [self.check.passes(number, row) for number in self.items.of(row)]
        return None if None in results else float(results.count(True))


@dataclass(frozen=True, slots=True)
class Item:
    """The item at an index; -1 is the last."""

    items: Items
    index: int

    def of(self, row: Row) -> Value:
        numbers = self.items.of(row)
        return numbers[self.index] if -len(numbers) <= self.index < len(numbers) else None


@dataclass(frozen=True, slots=True)
class Distance:
    """Euclidean distance of a point from a centre."""

    point: tuple["Term", ...]
    centre: tuple[float, ...]

    def of(self, row: Row) -> Value:
        point = [term.of(row) for term in self.point]
        if not all(isinstance(value, float) for value in point):
            return None
        return math.dist(point, self.centre)  # type: ignore[arg-type]


Term = Number | Cell | Arithmetic | Function | Fold | Tally | Item | Distance
"""A value of a row."""


def finite(function: Callable[..., float], *arguments: object) -> float | None:
    """Call the function; None if it fails or its value is not a finite real number."""
    try:
        value = function(*arguments)
    except (ArithmeticError, ValueError):
        return None
    return float(value) if not isinstance(value, complex) and math.isfinite(value) else None


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
}
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": math.sqrt,
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
}
FOLDS: dict[str, Callable[[tuple[float, ...]], float]] = {
    "sum": math.fsum,
    "product": math.prod,
    "mean": fmean,
    "max": max,
    "min": min,
    "range": lambda numbers: max(numbers) - min(numbers),
    "length": len,
    "distinct": lambda numbers: len(set(numbers)),
}


def total(parts: list[tuple[float, Term | None]]) -> Term:
    """Sum of coefficient times term; None stands for 1."""
    terms = [_scaled(weight, term) for weight, term in parts if weight or term is None]
    result = terms[0]
    for term in terms[1:]:
        result = Arithmetic("+", result, term)
    return result


def _scaled(weight: float, term: Term | None) -> Term:
    if term is None:
        return Number(weight)
    return term if weight == 1 else Arithmetic("*", Number(weight), term)


# --- checks: of one value -----------------------------------------------------------------------------------
# `passes` returns whether a value passes; None if the value or an operand is missing or of the wrong type.


@dataclass(frozen=True, slots=True)
class Compare:
    """Comparison with another value by < <= > >= = or !=; only numbers have an order."""

    sign: str
    other: Term

    def passes(self, value: Value, row: Row) -> bool | None:
        other = self.other.of(row)
        if value is None or other is None:
            return None
        if self.sign in {"=", "!="}:
            return same(value, other) is (self.sign == "=")
        if isinstance(value, float) and isinstance(other, float):
            return _ORDER[self.sign](value, other)
        return None


@dataclass(frozen=True, slots=True)
class Between:
    """The value lies between low and high, both included."""

    low: Term
    high: Term

    def passes(self, value: Value, row: Row) -> bool | None:
        low, high = self.low.of(row), self.high.of(row)
        if not (isinstance(value, float) and isinstance(low, float) and isinstance(high, float)):
            return None
        return low <= value <= high


@dataclass(frozen=True, slots=True)
class Multiple:
    """The value leaves a remainder when divided: even is (2, 0), odd is (2, 1)."""

    of: int
    remainder: int = 0

    def passes(self, value: Value, row: Row) -> bool | None:
        return value % self.of == self.remainder if isinstance(value, float) else None


@dataclass(frozen=True, slots=True)
class OneOf:
    """The value equals one of several."""

    values: tuple[str | float, ...]

    def passes(self, value: Value, row: Row) -> bool | None:
        return None if value is None else any(same(value, one) for one in self.values)


@dataclass(frozen=True, slots=True)
class Holds:
    """The text contains a piece of text in any case."""

    piece: str

    def passes(self, value: Value, row: Row) -> bool | None:
        return self.piece.casefold() in value.casefold() if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Absent:
    """The value is missing."""

    def passes(self, value: Value, row: Row) -> bool | None:
        return value is None


@dataclass(frozen=True, slots=True)
class Fails:
    """Negation of a check."""

    check: "Check"

    def passes(self, value: Value, row: Row) -> bool | None:
        passed = self.check.passes(value, row)
        return None if passed is None else not passed


Check = Compare | Between | Multiple | OneOf | Holds | Absent | Fails
"""A test of one value."""
_ORDER: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
EVEN, ODD = Multiple(2, 0), Multiple(2, 1)

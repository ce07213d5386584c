"""Rules as trees: terms give a value, checks judge one value, conditions judge a row, a rule answers a row."""

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from vpp.demo.values import Row, Value, same

# --- items: a part of the row's sequence ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Items:
    """Numbers of a row: of the columns `names`, or of its whole sequence where there are none; then a slice."""

    names: tuple[str, ...] = ()
    start: int | None = None
    stop: int | None = None

    def of(self, row: Row) -> tuple[float, ...]:
        """The numbers, in order; missing cells and texts are left out."""
        return self._all(row)[self.start : self.stop]

    def _all(self, row: Row) -> tuple[float, ...]:
        if not self.names:
            return row.sequence
        found: list[float] = []
        for name in self.names:
            value = row.cells.get(name)
            if isinstance(value, tuple):
                found.extend(value)
            elif isinstance(value, float):
                found.append(value)
        return tuple(found)


WHOLE = Items()

# --- terms: a value of a row --------------------------------------------------------------------------------


class Term(ABC):
    """Gives a value of a row."""

    __slots__ = ()

    @abstractmethod
    def of(self, row: Row) -> Value:
        """The value in this row; None where it cannot be had."""


@dataclass(frozen=True, slots=True)
class Number(Term):
    """A constant."""

    value: float

    def of(self, row: Row) -> Value:
        """The constant."""
        return self.value


@dataclass(frozen=True, slots=True)
class Cell(Term):
    """The value of a column."""

    name: str

    def of(self, row: Row) -> Value:
        """The cell's value; None where the row has no such column."""
        return row.cells.get(self.name)


@dataclass(frozen=True, slots=True)
class Input(Term):
    """The numeric input at a position, counted from 0: for rules that use names of their own, as x_1."""

    position: int

    def of(self, row: Row) -> Value:
        """The number, or None where the row has too few."""
        return row.numbers[self.position] if self.position < len(row.numbers) else None


@dataclass(frozen=True, slots=True)
class Arithmetic(Term):
    """Two terms joined by one of + - * / ^."""

    op: Literal["+", "-", "*", "/", "^"]
    left: Term
    right: Term

    def of(self, row: Row) -> Value:
        """The result; None where it is no finite real number or a side is missing."""
        left, right = self.left.of(row), self.right.of(row)
        if not (isinstance(left, float) and isinstance(right, float)):
            return None
        return finite(_ARITHMETIC[self.op], left, right)


@dataclass(frozen=True, slots=True)
class Function(Term):
    """sin, cos, tan, sqrt, abs, exp or log of a term."""

    name: str
    argument: Term

    def of(self, row: Row) -> Value:
        """The result; None outside the function's domain."""
        value = self.argument.of(row)
        return finite(FUNCTIONS[self.name], value) if isinstance(value, float) else None


@dataclass(frozen=True, slots=True)
class Fold(Term):
    """One number made of all items: sum, product, mean, max, min, range, length or distinct."""

    kind: str
    items: Items

    def of(self, row: Row) -> Value:
        """The number; None where there are no items to fold."""
        numbers = self.items.of(row)
        if not numbers and self.kind not in {"sum", "length", "distinct"}:
            return None
        return finite(FOLDS[self.kind], numbers)


@dataclass(frozen=True, slots=True)
class Tally(Term):
    """How many items pass a check."""

    items: Items
    check: "Check"

    def of(self, row: Row) -> Value:
        """The count."""
        return float(sum(self.check.passes(number, row) is True for number in self.items.of(row)))


@dataclass(frozen=True, slots=True)
class Item(Term):
    """The item at an index; -1 is the last."""

    items: Items
    index: int

    def of(self, row: Row) -> Value:
        """The number, or None where there are too few."""
        numbers = self.items.of(row)
        return numbers[self.index] if -len(numbers) <= self.index < len(numbers) else None


@dataclass(frozen=True, slots=True)
class Distance(Term):
    """How far the point is from a centre, in a straight line."""

    point: tuple[Term, ...]
    centre: tuple[float, ...]

    def of(self, row: Row) -> Value:
        """The distance; None where a coordinate is missing."""
        point = [term.of(row) for term in self.point]
        if not all(isinstance(value, float) for value in point):
            return None
        return math.dist(point, self.centre)  # type: ignore[arg-type]


def finite(function: Callable[..., float], *arguments: object) -> float | None:
    """The function's value, or None where it has none, or no finite real one."""
    try:
        value = function(*arguments)
    except (ArithmeticError, ValueError):
        return None
    return float(value) if not isinstance(value, complex) and math.isfinite(value) else None


def _count_distinct(numbers: tuple[float, ...]) -> float:
    return float(len(set(numbers)))


def _mean(numbers: tuple[float, ...]) -> float:
    return math.fsum(numbers) / len(numbers)


def _range(numbers: tuple[float, ...]) -> float:
    return max(numbers) - min(numbers)


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
    "tan": math.tan,
    "sqrt": math.sqrt,
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
}
FOLDS: dict[str, Callable[[tuple[float, ...]], float]] = {
    "sum": math.fsum,
    "product": math.prod,
    "mean": _mean,
    "max": max,
    "min": min,
    "range": _range,
    "length": len,
    "distinct": _count_distinct,
}

# --- checks: of one value -----------------------------------------------------------------------------------


class Check(ABC):
    """Judges one value."""

    __slots__ = ()

    @abstractmethod
    def passes(self, value: Value, row: Row) -> bool | None:
        """Whether the value passes; None where it cannot be told."""


@dataclass(frozen=True, slots=True)
class Compare(Check):
    """The value stands to another as the sign says: one of < <= > >= = !=."""

    sign: str
    other: Term

    def passes(self, value: Value, row: Row) -> bool | None:
        """None where either side is missing, or order is asked of texts."""
        other = self.other.of(row)
        if value is None or other is None:
            return None
        if self.sign in {"=", "!="}:
            return same(value, other) is (self.sign == "=")
        if isinstance(value, float) and isinstance(other, float):
            return _ORDER[self.sign](value, other)
        return None


@dataclass(frozen=True, slots=True)
class Between(Check):
    """The value lies from low to high; both ends count if inclusive."""

    low: Term
    high: Term
    inclusive: bool = True

    def passes(self, value: Value, row: Row) -> bool | None:
        """None where the value or an end is missing."""
        low, high = self.low.of(row), self.high.of(row)
        if not (isinstance(value, float) and isinstance(low, float) and isinstance(high, float)):
            return None
        return low <= value <= high if self.inclusive else low < value < high


@dataclass(frozen=True, slots=True)
class Multiple(Check):
    """The value is whole and leaves a remainder when divided: even is (2, 0), odd is (2, 1)."""

    of: int
    remainder: int = 0

    def passes(self, value: Value, row: Row) -> bool | None:
        """None where the value is no number."""
        return value % self.of == self.remainder if isinstance(value, float) else None


@dataclass(frozen=True, slots=True)
class OneOf(Check):
    """The value equals one of these."""

    values: tuple[str | float, ...]

    def passes(self, value: Value, row: Row) -> bool | None:
        """None where the value is missing."""
        return None if value is None else any(same(value, one) for one in self.values)


@dataclass(frozen=True, slots=True)
class Holds(Check):
    """The text holds this piece of text; case is not regarded."""

    piece: str

    def passes(self, value: Value, row: Row) -> bool | None:
        """None where the value is no text."""
        return self.piece.casefold() in value.casefold() if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Absent(Check):
    """The value is missing."""

    def passes(self, value: Value, row: Row) -> bool | None:
        """Always known."""
        return value is None


@dataclass(frozen=True, slots=True)
class Fails(Check):
    """Another check fails."""

    check: Check

    def passes(self, value: Value, row: Row) -> bool | None:
        """None where the other check cannot tell."""
        passed = self.check.passes(value, row)
        return None if passed is None else not passed


@dataclass(frozen=True, slots=True)
class Both(Check):
    """Two checks pass."""

    first: Check
    second: Check

    def passes(self, value: Value, row: Row) -> bool | None:
        """None where neither fails and one cannot tell."""
        return conjunction((self.first.passes(value, row), self.second.passes(value, row)))


_ORDER: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
EVEN, ODD = Multiple(2, 0), Multiple(2, 1)

# --- conditions: on a row -----------------------------------------------------------------------------------


class Condition(ABC):
    """Judges a row."""

    __slots__ = ()

    @abstractmethod
    def holds(self, row: Row) -> bool | None:
        """Whether it holds; None where it cannot be told."""


@dataclass(frozen=True, slots=True)
class Is(Condition):
    """A term's value passes a check."""

    term: Term
    check: Check

    def holds(self, row: Row) -> bool | None:
        """None where the check cannot tell."""
        return self.check.passes(self.term.of(row), row)


@dataclass(frozen=True, slots=True)
class Every(Condition):
    """All items pass a check."""

    items: Items
    check: Check

    def holds(self, row: Row) -> bool | None:
        """None where some check cannot tell."""
        return conjunction(tuple(self.check.passes(number, row) for number in self.items.of(row)))


@dataclass(frozen=True, slots=True)
class Pattern(Condition):
    """The items are in an order, or equal one another, as the kind says."""

    kind: str
    items: Items

    def holds(self, row: Row) -> bool | None:
        """Always known; too few items satisfy every order."""
        return PATTERNS[self.kind](self.items.of(row))


@dataclass(frozen=True, slots=True)
class All(Condition):
    """Every part holds."""

    parts: tuple[Condition, ...]

    def holds(self, row: Row) -> bool | None:
        """None where no part fails and one cannot be told."""
        return conjunction(tuple(part.holds(row) for part in self.parts))


@dataclass(frozen=True, slots=True)
class Any(Condition):
    """Some part holds."""

    parts: tuple[Condition, ...]

    def holds(self, row: Row) -> bool | None:
        """None where no part holds and one cannot be told."""
        told = tuple(part.holds(row) for part in self.parts)
        return True if True in told else None if None in told else False


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """The part does not hold."""

    part: Condition

    def holds(self, row: Row) -> bool | None:
        """None where the part cannot be told."""
        held = self.part.holds(row)
        return None if held is None else not held


def conjunction(told: tuple[bool | None, ...]) -> bool | None:
    """False where any is, else None where any is unknown, else True."""
    return False if False in told else None if None in told else True


def _split_pair(numbers: tuple[float, ...]) -> bool:
    """Exactly one value occurs exactly twice, no value more often, and its two places are not neighbours."""
    twice = [value for value in set(numbers) if numbers.count(value) > 1]
    if len(twice) != 1 or numbers.count(twice[0]) != 2:
        return False
    first = numbers.index(twice[0])
    return numbers[first + 1] != twice[0]


PATTERNS: dict[str, Callable[[tuple[float, ...]], bool]] = {
    "increasing": lambda numbers: all(left < right for left, right in pairwise(numbers)),
    "decreasing": lambda numbers: all(left > right for left, right in pairwise(numbers)),
    "ascending": lambda numbers: all(left <= right for left, right in pairwise(numbers)),
    "descending": lambda numbers: all(left >= right for left, right in pairwise(numbers)),
    "distinct": lambda numbers: len(set(numbers)) == len(numbers),
    "identical": lambda numbers: len(set(numbers)) <= 1,
    "neighbours equal": lambda numbers: any(left == right for left, right in pairwise(numbers)),
    "palindrome": lambda numbers: numbers == numbers[::-1],
    "split pair": _split_pair,
}

# --- rules --------------------------------------------------------------------------------------------------

Outcome = str | Term
"""A label, or the term that gives the number."""


@dataclass(frozen=True, slots=True)
class Case:
    """What to answer where a condition holds."""

    condition: Condition
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Rule:
    """The first case that holds decides; where none does, `otherwise` (None: the rule leaves it open)."""

    cases: tuple[Case, ...]
    otherwise: Outcome | None

    def deciding(self, row: Row) -> Case | None:
        """The first case whose condition holds."""
        return next((case for case in self.cases if case.condition.holds(row)), None)

    def answer(self, row: Row) -> Value:
        """A label or a number; None where the rule leaves it open or a number cannot be worked out."""
        case = self.deciding(row)
        outcome = self.otherwise if case is None else case.outcome
        return outcome if outcome is None or isinstance(outcome, str) else outcome.of(row)

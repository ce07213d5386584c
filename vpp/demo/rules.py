"""What a rule means: rows, terms that give a value of a row, checks of one value, conditions, and rules."""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import pairwise
from statistics import fmean
from typing import Literal, NamedTuple

Value = float | str | tuple[float, ...] | None
"""A number, a text, a sequence of numbers, or None for a missing cell."""

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_IS_NUMBER = re.compile(_NUMBER)
_IS_SEQUENCE = re.compile(rf"[\[(]?\s*{_NUMBER}(?:[\s,;]+{_NUMBER})+\s*[\])]?")
_WITH_UNIT = re.compile(
    rf"({_NUMBER}) (?:[%‰°]|[A-Z]{{0,3}}[$€£¥₹₽₩₺₴₪₫฿₦₱₡₲₵₸₮₭₾₿¢]|°?[^\W\d_]{{1,8}}[²³.]?(?:/[^\W\d_]{{1,4}}[²³]?)?)"
)
_CODE = re.compile(r"0\d+")
_MISSING = "missing"
_LONGEST_SEQUENCE = 2000


def read_number(text: str) -> float | None:
    """Parse a finite number; None if `text` is not one."""
    number = float(text) if _IS_NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def read_value(text: str) -> Value:
    """Parse a cell: `missing`, a number with or without a unit, several numbers, or else a text, as a code like 007."""
    text = text.strip()
    if text == _MISSING or not text:
        return None
    with_unit = _WITH_UNIT.fullmatch(text)
    number = read_number(with_unit[1] if with_unit else text.replace("−", "-"))
    if number is not None:
        return text if _CODE.fullmatch(text) else number
    if len(text) <= _LONGEST_SEQUENCE and _IS_SEQUENCE.fullmatch(text):
        return tuple(float(part) for part in _IS_NUMBER.findall(text))
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
        return next((value for value in self.cells.values() if isinstance(value, tuple)), self.numbers)


def _split_line(line: str) -> tuple[str, str]:
    name, _, value = line.rpartition(": ")
    if name and (value.strip() == _MISSING or read_number(value.strip()) is not None):
        return name.strip(), value
    name, _, value = line.partition(":")
    return name.strip(), value


@lru_cache(maxsize=8192)
def read_row(text: str) -> Row:
    lines = (line for line in text.split("\n") if ":" in line)
    return Row({name: read_value(value) for name, value in map(_split_line, lines)})


def same(left: Value, right: Value) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right


class Items(NamedTuple):
    """Numbers of a row: those of columns `names`, or the row's sequence without names; then a slice of them."""

    names: tuple[str, ...] = ()
    start: int | None = None
    stop: int | None = None

    def of(self, row: Row) -> tuple[float, ...]:
        numbers = [] if self.names else list(row.sequence)
        for name in self.names:
            value = row.cells.get(name)
            numbers += value if isinstance(value, tuple) else [value] if isinstance(value, float) else []
        return tuple(numbers[self.start : self.stop])


WHOLE = Items()

# --- terms: a value of a row --------------------------------------------------------------------------------
# `of` returns the value in a row; None if an input is missing or the result is not a finite real number.


class Number(NamedTuple):
    value: float

    def of(self, row: Row) -> Value:
        return self.value


class Cell(NamedTuple):
    name: str

    def of(self, row: Row) -> Value:
        return row.cells.get(self.name)


class Formula(NamedTuple):
    """A sign or a function of `OPERATIONS`, applied to its terms."""

    name: str
    terms: tuple["Term", ...]

    def of(self, row: Row) -> Value:
        values = [term.of(row) for term in self.terms]
        return _finite(OPERATIONS[self.name], *values) if _are_numbers(*values) else None


class Fold(NamedTuple):
    """A statistic of items, or one of them: a word of `FOLDS`."""

    kind: str
    items: Items

    def of(self, row: Row) -> Value:
        numbers = self.items.of(row)
        return _finite(FOLDS[self.kind], numbers) if numbers or self.kind in {"sum", "length", "distinct"} else None


class Tally(NamedTuple):
    items: Items
    check: "Check"

    def of(self, row: Row) -> Value:
        results = [self.check.passes(number, row) for number in self.items.of(row)]
        return None if None in results else float(results.count(True))


class Distance(NamedTuple):
    point: tuple["Term", ...]
    centre: tuple[float, ...]

    def of(self, row: Row) -> Value:
        point = [term.of(row) for term in self.point]
        return _finite(math.dist, point, self.centre) if _are_numbers(*point) else None


Term = Number | Cell | Formula | Fold | Tally | Distance


def _are_numbers(*values: Value) -> bool:
    return all(isinstance(value, float) for value in values)


def _finite(function: Callable[..., float], *arguments: object) -> float | None:
    """Call the function; None if it fails or its value is not a finite real number."""
    try:
        value = function(*arguments)
    except (ArithmeticError, IndexError, ValueError):
        return None
    return float(value) if not isinstance(value, complex) and math.isfinite(value) else None


OPERATIONS: dict[str, Callable[..., float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, "abs": abs, "exp": math.exp, "log": math.log,
}  # fmt: skip
ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "last": -1}
FOLDS: dict[str, Callable[[tuple[float, ...]], float]] = {
    "sum": math.fsum, "product": math.prod, "average": fmean, "largest": max, "smallest": min,
    "range": lambda numbers: max(numbers) - min(numbers), "length": len, "distinct": lambda numbers: len(set(numbers)),
    **{word: operator.itemgetter(index) for word, index in ORDINALS.items()},
}  # fmt: skip


def total(parts: list[tuple[float, Term | None]]) -> Term:
    """Sum of coefficient times term; None stands for 1."""
    terms = [_scaled(weight, term) for weight, term in parts if weight or term is None]
    return reduce(lambda left, right: Formula("+", (left, right)), terms)


def _scaled(weight: float, term: Term | None) -> Term:
    if term is None:
        return Number(weight)
    return term if weight == 1 else Formula("*", (Number(weight), term))


# --- checks: of one value -----------------------------------------------------------------------------------
# `passes` returns whether a value passes; None if the value or an operand is missing or of the wrong type.


class Compare(NamedTuple):
    """Comparison with another value by < <= > >= = or !=; only numbers have an order."""

    sign: str
    other: Term

    def passes(self, value: Value, row: Row) -> bool | None:
        other = self.other.of(row)
        if value is None or other is None:
            return None
        if self.sign in {"=", "!="}:
            return same(value, other) is (self.sign == "=")
        return bool(OPERATIONS[self.sign](value, other)) if _are_numbers(value, other) else None


class Between(NamedTuple):
    """The value lies between low and high, both included."""

    low: Term
    high: Term

    def passes(self, value: Value, row: Row) -> bool | None:
        low, high = self.low.of(row), self.high.of(row)
        return low <= value <= high if _are_numbers(low, value, high) else None  # type: ignore[operator]


class Multiple(NamedTuple):
    """The value leaves a remainder when divided: even is (2, 0), odd is (2, 1)."""

    of: int
    remainder: int = 0

    def passes(self, value: Value, row: Row) -> bool | None:
        return value % self.of == self.remainder if isinstance(value, float) else None


class OneOf(NamedTuple):
    values: tuple[str | float, ...]

    def passes(self, value: Value, row: Row) -> bool | None:
        return None if value is None else any(same(value, one) for one in self.values)


class Holds(NamedTuple):
    """The text contains a piece of text in any case."""

    piece: str

    def passes(self, value: Value, row: Row) -> bool | None:
        return self.piece.casefold() in value.casefold() if isinstance(value, str) else None


class Absent(NamedTuple):
    def passes(self, value: Value, row: Row) -> bool | None:
        return value is None


class Fails(NamedTuple):
    check: "Check"

    def passes(self, value: Value, row: Row) -> bool | None:
        passed = self.check.passes(value, row)
        return None if passed is None else not passed


Check = Compare | Between | Multiple | OneOf | Holds | Absent | Fails
EVEN, ODD = Multiple(2, 0), Multiple(2, 1)

# --- conditions: on a row -----------------------------------------------------------------------------------
# `holds` returns whether a condition holds; None if that depends on a missing value.


class Is(NamedTuple):
    term: Term
    check: Check

    def holds(self, row: Row) -> bool | None:
        return self.check.passes(self.term.of(row), row)


class Pattern(NamedTuple):
    """The items are in an order, or equal: a sentence of `PATTERNS`, which says it of the whole sequence."""

    sentence: str
    items: Items = WHOLE

    def holds(self, row: Row) -> bool | None:
        return PATTERNS[self.sentence](self.items.of(row))


class Joint(NamedTuple):
    """Conditions joined by `and` or `or`: one that is false, or true, decides."""

    word: Literal["and", "or"]
    parts: tuple["Condition", ...]

    @property
    def decisive(self) -> bool:
        return self.word == "or"

    def holds(self, row: Row) -> bool | None:
        results = [part.holds(row) for part in self.parts]
        return self.decisive if self.decisive in results else None if None in results else not self.decisive


class Not(NamedTuple):
    part: "Condition"

    def holds(self, row: Row) -> bool | None:
        result = self.part.holds(row)
        return None if result is None else not result


Condition = Is | Pattern | Joint | Not


def _has_equal_neighbours(numbers: tuple[float, ...]) -> bool:
    return any(left == right for left, right in pairwise(numbers))


PATTERNS: dict[str, Callable[[tuple[float, ...]], bool]] = {
    "the numbers are in ascending order": lambda numbers: numbers == tuple(sorted(numbers)),
    "the numbers are in descending order": lambda numbers: numbers == tuple(sorted(numbers, reverse=True)),
    "the numbers are all different": lambda numbers: len(set(numbers)) == len(numbers),
    "two neighbours are equal": _has_equal_neighbours,
    "the sequence contains exactly two identical numbers that are not adjacent": lambda numbers: (
        len(set(numbers)) == len(numbers) - 1 and not _has_equal_neighbours(numbers)
    ),
    "the sequence is a palindrome": lambda numbers: numbers == numbers[::-1],
}

Outcome = str | Term
"""A label, or the term for a number."""


class Case(NamedTuple):
    condition: Condition
    outcome: Outcome


class Rule(NamedTuple):
    """A list of cases. The first that holds decides, else `otherwise`; None leaves the answer open."""

    cases: tuple[Case, ...]
    otherwise: Outcome | None

    def deciding(self, row: Row) -> Case | None:
        return next((case for case in self.cases if case.condition.holds(row)), None)

    def answer(self, row: Row) -> Value:
        """Return a label or a number; None if the rule leaves it open or the number cannot be computed."""
        case = self.deciding(row)
        outcome = self.otherwise if case is None else case.outcome
        return outcome if outcome is None or isinstance(outcome, str) else outcome.of(row)

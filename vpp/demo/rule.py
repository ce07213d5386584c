"""Conditions, which test a row, and rules, which answer a row."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from vpp.demo.terms import Check, Items, Term
from vpp.demo.values import Row, Value

# --- conditions: on a row -----------------------------------------------------------------------------------
# `holds` returns whether a condition holds; None if that depends on a missing value.


@dataclass(frozen=True, slots=True)
class Is:
    """A term's value passes a check."""

    term: Term
    check: Check

    def holds(self, row: Row) -> bool | None:
        return self.check.passes(self.term.of(row), row)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The items are in an order, or equal, as the kind says; too few items satisfy every order."""

    kind: str
    items: Items

    def holds(self, row: Row) -> bool | None:
        return PATTERNS[self.kind](self.items.of(row))


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple["Condition", ...]

    def holds(self, row: Row) -> bool | None:
        results = tuple(part.holds(row) for part in self.parts)
        return False if False in results else None if None in results else True


@dataclass(frozen=True, slots=True)
class Any:
    """Some part holds."""

    parts: tuple["Condition", ...]

    def holds(self, row: Row) -> bool | None:
        results = tuple(part.holds(row) for part in self.parts)
        return True if True in results else None if None in results else False


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: "Condition"

    def holds(self, row: Row) -> bool | None:
        result = self.part.holds(row)
        return None if result is None else not result


Condition = Is | Pattern | All | Any | Not
"""A test of a row."""


def _split_pair(numbers: tuple[float, ...]) -> bool:
    """Return whether one value occurs exactly twice at non-adjacent places, and all others once."""
    twice = [value for value in set(numbers) if numbers.count(value) > 1]
    if len(twice) != 1 or numbers.count(twice[0]) != 2:
        return False
    first = numbers.index(twice[0])
    return numbers[first + 1] != twice[0]


PATTERNS: dict[str, Callable[[tuple[float, ...]], bool]] = {
    "ascending": lambda numbers: all(left <= right for left, right in pairwise(numbers)),
    "descending": lambda numbers: all(left >= right for left, right in pairwise(numbers)),
    "distinct": lambda numbers: len(set(numbers)) == len(numbers),
    "neighbours equal": lambda numbers: any(left == right for left, right in pairwise(numbers)),
    "palindrome": lambda numbers: numbers == numbers[::-1],
    "split pair": _split_pair,
}

# --- rules --------------------------------------------------------------------------------------------------

Outcome = str | Term
"""A label, or the term for a number."""


@dataclass(frozen=True, slots=True)
class Case:
    """A condition and the answer if it holds."""

    condition: Condition
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Rule:
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

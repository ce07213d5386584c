"""True rules of a suite's tables, as JSON that is read and never run: cases of conditions on columns.

    {"cases": [{"if": [{"column": "math", "op": "=", "value": "A"}], "then": "admitted"}], "otherwise": "rejected"}

A case applies if all its conditions hold; the first that applies answers. `then` is a label, or {"column": NAME}: the
row's own cell. `in` and `not in` take a list of values.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vpp.errors import InputError

FORM = '{"cases": [{"if": [{"column": …, "op": …, "value": …}], "then": LABEL}], "otherwise": LABEL}'
Cells = Mapping[str, str | None]


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _same(cell: str | None, value: Any) -> bool:
    """True for equal numbers, and for equal texts in any case."""
    return _number(cell) == _number(value) or str(cell).casefold() == str(value).casefold()


OPERATIONS: Mapping[str, Callable[[str | None, Any], bool]] = {
    "=": _same,
    "!=": lambda cell, value: not _same(cell, value),
    "<": lambda cell, value: _number(cell) < _number(value),
    "<=": lambda cell, value: _number(cell) <= _number(value),
    ">": lambda cell, value: _number(cell) > _number(value),
    ">=": lambda cell, value: _number(cell) >= _number(value),
    "in": lambda cell, value: any(_same(cell, each) for each in value),
    "not in": lambda cell, value: not any(_same(cell, each) for each in value),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition on one cell."""

    column: str
    op: str
    """A name of `OPERATIONS`."""
    value: Any
    """A text or a number; a tuple for `in` and `not in`."""

    def holds(self, cells: Cells) -> bool:
        """True if the row's cell meets it."""
        return OPERATIONS[self.op](cells[self.column], self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Conditions that must all hold, and the answer if they do."""

    conditions: tuple[Condition, ...]
    label: str = ""
    from_column: str = ""
    """Column whose cell is the answer; empty if `label` is."""

    def answer(self, cells: Cells) -> str:
        """Return the answer of a row to which the case applies."""
        return str(cells[self.from_column]) if self.from_column else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueRule:
    """Cases in order, and the answer if none applies."""

    cases: tuple[Case, ...]
    otherwise: Case

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that decide, each once."""
        cases = (*self.cases, self.otherwise)
        named = [condition.column for case in cases for condition in case.conditions]
        return tuple(dict.fromkeys([*named, *(case.from_column for case in cases if case.from_column)]))

    def answer(self, cells: Cells) -> str:
        """Return the rule's answer to a row."""
        applying = (case for case in self.cases if all(condition.holds(cells) for condition in case.conditions))
        return next(applying, self.otherwise).answer(cells)


def read_rule(given: object) -> TrueRule:
    """Read a rule from JSON types. Raises InputError for another form."""
    try:
        assert isinstance(given, Mapping)
        cases = tuple(_case(case["then"], case["if"]) for case in given["cases"])
        return TrueRule(cases=cases, otherwise=_case(given["otherwise"], ()))
    except (AssertionError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"a program is not of the form {FORM} ({type(error).__name__}: {error})") from None


def _case(then: Any, conditions: Any) -> Case:
    read = tuple(_condition(each) for each in conditions)
    if isinstance(then, Mapping):
        return Case(conditions=read, from_column=str(then["column"]))
    return Case(conditions=read, label=str(then))


def _condition(given: Mapping[str, Any]) -> Condition:
    op, value = str(given["op"]), given["value"]
    if op not in OPERATIONS:
        raise ValueError(f"op is {op!r}, not one of {', '.join(OPERATIONS)}")
    if op.endswith("in") != isinstance(value, list):
        raise ValueError(f"the value of {op!r} is {'' if isinstance(value, list) else 'not '}a list")
    return Condition(column=str(given["column"]), op=op, value=tuple(value) if isinstance(value, list) else value)

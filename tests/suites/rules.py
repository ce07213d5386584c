"""True rules of a suite's tables: cases of conditions on columns, as JSON that is read and never run, or as sentences.

    {"cases": [{"if": [{"column": "math", "op": "=", "value": "A"}], "then": "admitted"}], "otherwise": "rejected"}

A case applies if all its conditions hold; the first that applies answers. `then` is a label, or {"column": NAME}: the
row's own cell. A sentence is HypoBench's, as in `Students with an A in Math will be admitted, otherwise rejected`;
several are alternatives.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vpp.data.columns import is_number

Cells = Mapping[str, str | None]
Values = Mapping[str, Sequence[str]]
"""Distinct cells by column."""


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _same(cell: str | None, value: Any) -> bool:
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


@dataclass(frozen=True, kw_only=True)
class Condition:
    column: str
    op: str
    value: Any
    """A text or a number; a tuple for `in` and `not in`."""

    def holds(self, cells: Cells) -> bool:
        return OPERATIONS[self.op](cells[self.column], self.value)


@dataclass(frozen=True, kw_only=True)
class Case:
    conditions: tuple[Condition, ...] = ()
    label: str = ""
    from_column: str = ""
    """Column whose cell is the answer; empty if `label` is."""

    def answer(self, cells: Cells) -> str:
        return str(cells[self.from_column]) if self.from_column else self.label


@dataclass(frozen=True, kw_only=True)
class TrueRule:
    cases: tuple[Case, ...]
    otherwise: Case

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that decide, each once."""
        cases = (*self.cases, self.otherwise)
        names = [condition.column for case in cases for condition in case.conditions]
        return tuple(dict.fromkeys([*names, *(case.from_column for case in cases if case.from_column)]))

    def answer(self, cells: Cells) -> str:
        applying = (case for case in self.cases if all(condition.holds(cells) for condition in case.conditions))
        return next(applying, self.otherwise).answer(cells)


def read_rule(program: Mapping[str, Any]) -> TrueRule:
    """Read a rule from JSON types."""

    def case(then: Any, conditions: Iterable[Mapping[str, Any]] = ()) -> Case:
        read = tuple(Condition(**each) for each in conditions)
        label = {"from_column": then["column"]} if isinstance(then, Mapping) else {"label": str(then)}
        return Case(conditions=read, **label)

    cases = tuple(case(each["then"], each["if"]) for each in program["cases"])
    return TrueRule(cases=cases, otherwise=case(program["otherwise"]))


NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COMPARISONS = {
    r"(?:greater|more) than or equal to|at least": ">=",
    r"(?:less|fewer) than or equal to|at most": "<=",
    r"(?:greater|more) than|above|over": ">",
    r"(?:less|fewer) than|below|under": "<",
    "": "=",
}
STEM = 5
"""Letters that words of one stem share."""
NO_NAME = {"num", "number", "of", "the", "to", "a", "student", "students", "s", "grade", "in", "status", "is", "has"}
_NOT = re.compile(r"\b(?:not|no|without|other than|never)\b", re.IGNORECASE)


def _stems(text: str) -> set[str]:
    words = (word.lower() for word in re.findall(r"[A-Za-z]+|\d+(?:\.\d+)?", text.replace("_", " ")))
    return {
        (word[:-1] if word.endswith("s") and len(word) > 3 else word)[:STEM] for word in words if word not in NO_NAME
    }


def nearest(text: str, columns: Iterable[str]) -> str | None:
    """Return the column whose name shares most stems with a text; None if none does, or several do alike."""
    return _best({column: len(_stems(column) & _stems(text)) for column in columns})


def _best(scores: Mapping[str, float]) -> str | None:
    top = max(scores.values(), default=0)
    best = [name for name, score in scores.items() if score == top]
    return best[0] if top > 0 and len(best) == 1 else None


def read_sentences(sentences: Sequence[str], values: Values, labels: Sequence[str]) -> TrueRule | None:
    """Return the rule of alternative sentences about one of two labels; None if one of them is not understood."""
    cases = [case for sentence in sentences if (case := _case(sentence, values, labels))]
    others = [label for label in labels if label not in {case.label for case in cases}]
    if not cases or len(cases) < len(sentences) or (len(labels), len(others)) != (2, 1):
        return None
    return TrueRule(cases=tuple(cases), otherwise=Case(label=others[0]))


def _case(sentence: str, values: Values, labels: Sequence[str]) -> Case | None:
    before, word, after = " ".join(sentence.split()).rstrip(". ").partition(" if ")
    when, _, then = before.partition(" will ")
    when, then = (after, before) if word else (when, then)
    then = then.partition("otherwise")[0]
    label = next((label for label in labels if re.search(rf"\b{re.escape(label)}\b", then, re.IGNORECASE)), None)
    clauses = [_clause(clause, values) for clause in re.split(r",? and ", when, flags=re.IGNORECASE)]
    conditions = tuple(clause for clause in clauses if clause is not None)
    return Case(conditions=conditions, label=label) if label and len(conditions) == len(clauses) else None


def _clause(clause: str, values: Values) -> Condition | None:
    """Read a clause about one column; None if no column, or no value of it, is named."""
    named = {
        column: [cell for cell in cells if not is_number(cell) and re.search(rf"\b{re.escape(cell)}\b", clause)]
        for column, cells in values.items()
    }
    column = _best({name: len(_stems(name) & _stems(clause)) + 0.9 * len(named[name]) for name in values})
    if column is None:
        return None
    cells, is_negative = {cell.lower() for cell in values[column]}, bool(_NOT.search(clause))
    if all(map(is_number, cells)):
        return _about_number(clause.lower(), column, is_negative=is_negative)
    for no, yes in (("False", "True"), ("no", "yes")):
        if cells <= {no.lower(), yes.lower()}:
            return Condition(column=column, op="=", value=no if is_negative else yes)
    op = "not in" if is_negative else "in"
    return Condition(column=column, op=op, value=tuple(named[column])) if named[column] else None


def _about_number(text: str, column: str, *, is_negative: bool) -> Condition | None:
    for number, word in enumerate(NUMBERS):
        text = re.sub(rf"\b{word}\b", str(number), text)
    for words, op in COMPARISONS.items():
        if match := re.search(rf"\b(?:{words})\s*\b(\d+(?:\.\d+)?)\b", text):
            return Condition(column=column, op=op, value=float(match[1]))
    return Condition(column=column, op="=", value=0.0) if is_negative else None

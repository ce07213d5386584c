"""Draws from the prior: rules from the columns' names and kinds and the labels alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from vpp.demo.candidates import hinted
from vpp.demo.optimizer import generator, write, written
from vpp.demo.prompt import PriorQuestion
from vpp.demo.regress import total
from vpp.demo.rule import Case, Condition, Is, Pattern, Rule
from vpp.demo.terms import (
    EVEN,
    WHOLE,
    Arithmetic,
    Cell,
    Compare,
    Distance,
    Fold,
    Function,
    Holds,
    Items,
    Multiple,
    Number,
    Tally,
    Term,
)

F = TypeVar("F")

_COLDEST = 0.2
"""Lowest effective temperature of the choice of a form."""
_MOST_CASES = 3
_SCALES = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LETTERS = "aeionrst"
_ORDERS = ("ascending", "descending", "distinct", "neighbours equal", "split pair", "palindrome")


@dataclass(frozen=True, slots=True)
class Columns:
    """Column names by kind, in the table's order."""

    numeric: tuple[str, ...]
    sequences: tuple[str, ...]
    worded: tuple[str, ...]
    """Categories, texts and dates."""

    @property
    def sequential(self) -> bool:
        """Whether a row may be a sequence."""
        return bool(self.sequences) or len(self.numeric) >= 3


def sorted_out(columns: tuple[tuple[str, str], ...]) -> Columns:
    """Group the columns by kind."""
    return Columns(
        numeric=tuple(name for name, kind in columns if kind == "number"),
        sequences=tuple(name for name, kind in columns if kind == "sequence"),
        worded=tuple(name for name, kind in columns if kind not in ("number", "sequence")),
    )


def propose(question: PriorQuestion, *, temperature: float, seed: int) -> str:
    """Write the reasoning and a rule."""
    rng = generator(question, temperature, seed)
    columns = sorted_out(question.columns)
    if question.labels:
        weights = hinted(label_forms(columns), _LABEL_HINTS, question.rule)
        rule = _label_rule(_drawn(weights, temperature, rng), columns, question.labels, rng)
    else:
        weights = hinted(number_forms(columns), _NUMBER_HINTS, question.rule)
        rule = Rule((), _drawn(weights, temperature, rng)(columns, rng))
    return write(question, "I have seen no row, so this is a guess.", written(rule, question.labels))


def _drawn(weights: dict[F, float], temperature: float, rng: Generator) -> F:
    """Draw a form by weight; a low temperature sharpens the weights."""
    forms, p = list(weights), np.array(list(weights.values()))
    p = (p / p.max()) ** (1 / max(temperature, _COLDEST))
    return forms[int(rng.choice(len(p), p=p / p.sum()))]


# --- labels -------------------------------------------------------------------------------------------------

LabelForm = Callable[[Columns, Generator], Condition | None]
"""Draws a condition; None of a form without any."""


def label_forms(columns: Columns) -> dict[LabelForm, float]:
    """Return the forms that suit the columns, with their weights."""
    weights: dict[LabelForm, float] = {_none: 0.2}
    if columns.sequential:
        weights |= {_evenness: 3.0, _occurrence: 3.0, _size: 2.0, _order: 2.0}
    if columns.numeric:
        weights[_bound] = 3.0
    if len(columns.numeric) >= 2:
        weights |= {_line: 0.5, _circle: 0.3} if columns.sequential else {_line: 3.0, _circle: 3.0}
    if columns.worded:
        weights[_piece] = 1.5
    return weights


def _label_rule(form: LabelForm, columns: Columns, labels: tuple[str, ...], rng: Generator) -> Rule:
    """Draw a rule of a form: conditions with different labels."""
    chosen = [labels[int(at)] for at in rng.permutation(len(labels))]
    drawn = [form(columns, rng) for _ in chosen[1 : _MOST_CASES + 1]]
    conditions = [one for one in dict.fromkeys(drawn) if one is not None]
    cases = tuple(Case(condition, label) for condition, label in zip(conditions, chosen[1:], strict=False))
    return Rule(cases, chosen[0])


def _some(names: tuple[str, ...], rng: Generator) -> Cell:
    return Cell(names[int(rng.integers(len(names)))])


def _pair(columns: Columns, rng: Generator) -> tuple[str, str]:
    first, second = sorted(rng.permutation(len(columns.numeric))[:2])
    return columns.numeric[first], columns.numeric[second]


def _scale(rng: Generator) -> Number:
    return Number(float(rng.choice(_SCALES)))


def _none(columns: Columns, rng: Generator) -> Condition | None:
    return None


def _bound(columns: Columns, rng: Generator) -> Condition | None:
    sign = "<=" if rng.random() < 0.5 else ">"
    at = Number(0.0) if rng.random() < 0.3 else _scale(rng)
    return Is(_some(columns.numeric, rng), Compare(sign, at))


def _line(columns: Columns, rng: Generator) -> Condition | None:
    first, second = _pair(columns, rng)
    weight = float(rng.choice([1, 1, 1, -1, 2, 0.5]))
    at = Number(0.0) if rng.random() < 0.5 else _scale(rng)
    return Is(total([(1.0, Cell(first)), (weight, Cell(second))]), Compare(">", at))


def _circle(columns: Columns, rng: Generator) -> Condition | None:
    first, second = _pair(columns, rng)
    return Is(Distance((Cell(first), Cell(second)), (0.0, 0.0)), Compare("<=", _scale(rng)))


def _evenness(columns: Columns, rng: Generator) -> Condition | None:
    is_of_two = len(columns.numeric) >= 2 and rng.random() < 0.3
    items = Items(_pair(columns, rng)) if is_of_two else WHOLE
    return Is(Fold("sum", items), Multiple(int(rng.choice([2, 2, 2, 2, 3]))))


def _occurrence(columns: Columns, rng: Generator) -> Condition | None:
    if rng.random() < 0.2:
        return Is(Tally(WHOLE, EVEN), Compare(">=", Number(float(rng.integers(1, 4)))))
    number = 0 if rng.random() < 0.3 else int(rng.integers(10))
    return Is(Tally(WHOLE, Compare("=", Number(float(number)))), Compare(">=", Number(1.0)))


def _size(columns: Columns, rng: Generator) -> Condition | None:
    kind = ("sum", "max", "min")[int(rng.integers(3))]
    at = 5 * rng.integers(2, 6) if kind == "sum" else rng.integers(1, 9)
    return Is(Fold(kind, WHOLE), Compare(">", Number(float(at))))


def _order(columns: Columns, rng: Generator) -> Condition | None:
    return Pattern(_ORDERS[int(rng.integers(len(_ORDERS)))], WHOLE)


def _piece(columns: Columns, rng: Generator) -> Condition | None:
    return Is(_some(columns.worded, rng), Holds(_LETTERS[int(rng.integers(len(_LETTERS)))]))


_LABEL_HINTS: dict[str, tuple[LabelForm, ...]] = {
    "circ": (_circle,), "radius": (_circle,), "ring": (_circle,), "distance": (_circle,),
    "line": (_line,), "straight": (_line,), "threshold": (_bound,), "cut-off": (_bound,),
    "even": (_evenness,), "odd": (_evenness,), "parity": (_evenness,), "divisible": (_evenness,),
    "contain": (_occurrence,), "occur": (_occurrence,),
}  # fmt: skip

# --- numbers ------------------------------------------------------------------------------------------------

NumberForm = Callable[[Columns, Generator], Term]


def number_forms(columns: Columns) -> dict[NumberForm, float]:
    """Return the forms that suit the columns, with their weights."""
    weights: dict[NumberForm, float] = {_constant: 0.5}
    if columns.numeric:
        weights |= {_weighted: 5.0, _parabola: 2.0, _wave: 1.5}
    if columns.sequences:
        weights[_folded] = 3.0
    return weights


def _coefficient(rng: Generator) -> float:
    """Draw a small round number other than zero."""
    size = float(rng.choice([0.5, 1, 1, 2, 2, 3, 3, 4, 5]))
    return -size if rng.random() < 0.3 else size


def _summed(parts: list[tuple[float, Term | None]], rng: Generator) -> Term:
    """Add a random whole number from -5 to 5 to the parts."""
    base = float(rng.integers(-5, 6))
    return total([*parts, (base, None)] if base else parts)


def _constant(columns: Columns, rng: Generator) -> Term:
    return Number(float(rng.integers(0, 11)))


def _weighted(columns: Columns, rng: Generator) -> Term:
    count = int(rng.integers(1, 1 + min(4, len(columns.numeric))))
    chosen = sorted(rng.permutation(len(columns.numeric))[:count])
    return _summed([(_coefficient(rng), Cell(columns.numeric[at])) for at in chosen], rng)


def _parabola(columns: Columns, rng: Generator) -> Term:
    cell = _some(columns.numeric, rng)
    parts: list[tuple[float, Term | None]] = [(_coefficient(rng), Arithmetic("^", cell, Number(2.0)))]
    return _summed([*parts, (_coefficient(rng), cell)] if rng.random() < 0.6 else parts, rng)


def _wave(columns: Columns, rng: Generator) -> Term:
    angle = total([(float(rng.choice([1, 1, 1, 2, 0.5, 3])), _some(columns.numeric, rng))])
    return _summed([(float(rng.choice([1, 1, 2, 3])), Function("sin", angle))], rng)


def _folded(columns: Columns, rng: Generator) -> Term:
    return Fold(("sum", "max", "min", "mean", "length")[int(rng.integers(5))], WHOLE)


_NUMBER_HINTS: dict[str, tuple[NumberForm, ...]] = {
    "line": (_weighted,), "straight": (_weighted,), "sum": (_weighted,),
    "parabola": (_parabola,), "quadratic": (_parabola,), "polynomial": (_parabola,),
    "sine": (_wave,), "sinus": (_wave,), "wave": (_wave,), "periodic": (_wave,), "oscillat": (_wave,),
}  # fmt: skip

"""Draws from the prior: rules from the columns' names and kinds and the labels alone."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from vpp.demo.optimizer import generator, write
from vpp.demo.prompt import PriorQuestion
from vpp.demo.read_rule import Reading, read_rule
from vpp.demo.regress import total
from vpp.demo.rule import Case, Condition, Is, Pattern, Rule
from vpp.demo.terms import (
    EVEN,
    ODD,
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
from vpp.demo.write_rule import say_rule
from vpp.demo.write_terms import Style, Unsayable

_HINTED = 12.0
"""Weight factor of a form that the prior text hints at."""
_COLDEST = 0.2
"""Lowest effective temperature of the choice of a form."""
_TRIES = 8
"""Most rules drawn until the text of one reads back."""
_MOST_CASES = 3
_SCALES = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LETTERS = "aeionrst"
_ORDERS = ("ascending", "descending", "distinct", "neighbours equal", "split pair", "palindrome")


@dataclass(frozen=True, slots=True)
class Columns:
    """Column names by kind, in the table's order."""

    names: tuple[str, ...]
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
        names=tuple(name for name, _ in columns),
        numeric=tuple(name for name, kind in columns if kind == "number"),
        sequences=tuple(name for name, kind in columns if kind == "sequence"),
        worded=tuple(name for name, kind in columns if kind not in ("number", "sequence")),
    )


def propose(question: PriorQuestion, *, temperature: float, seed: int) -> str:
    """Write the reasoning and a rule."""
    rng = generator(question, temperature, seed)
    columns = sorted_out(question.columns)
    reading = read_rule(question.rule, columns.names, question.labels)
    for _ in range(_TRIES):
        if question.labels:
            form, rule = _label_rule(columns, question.labels, reading, temperature, rng)
        else:
            form, rule = _number_rule(columns, reading, temperature, rng)
        text = _written(rule, _style(columns, reading, rng))
        read = read_rule(f"{question.rule} {text}", columns.names, question.labels)
        if read.rule is not None and set(read.unread) <= set(reading.unread):  # a column's name may prevent it
            break
    else:
        form, text = "something constant is right", say_rule(constant(question.labels), Style())
    return write(question, f"I have seen no row, so this is a guess: {form}.", text)


def constant(labels: tuple[str, ...]) -> Rule:
    """Return the rule that always answers the first label, or 0."""
    return Rule((), labels[0] if labels else Number(0.0))


def _written(rule: Rule, style: Style) -> str:
    try:
        return say_rule(rule, style)
    except Unsayable:
        return say_rule(Rule((), rule.otherwise), style)


def _style(columns: Columns, reading: Reading, rng: Generator) -> Style:
    nouns = ("integer", "number") if columns.sequential else ("number", "value")
    return Style.drawn(rng, nouns, target=reading.target, names=columns.names)


def _draw_form(weights: dict[str, float], hinted: set[str], temperature: float, rng: Generator) -> str:
    """Draw a form by weight, times a factor for hinted forms; a low temperature sharpens the weights."""
    p = np.array([weight * (_HINTED if name in hinted else 1.0) for name, weight in weights.items()])
    p = (p / p.max()) ** (1 / max(temperature, _COLDEST))
    return list(weights)[int(rng.choice(len(p), p=p / p.sum()))]


def _hinted(text: str, hints: dict[str, tuple[str, ...]]) -> set[str]:
    return {form for form, words in hints.items() if any(word in text.lower() for word in words)}


# --- labels -------------------------------------------------------------------------------------------------

_LABEL_HINTS = {
    "a circle decides": ("circ", "radius", "ring", "distance"),
    "a straight line decides": ("line", "straight"),
    "a bound on one column decides": ("threshold", "cut-off"),
    "evenness decides": ("even", "odd", "parity", "divisible"),
    "a number that occurs decides": ("contain", "occur"),
}


def label_forms(columns: Columns) -> dict[str, float]:
    """Return the forms that suit the columns, with their weights."""
    weights = {"one label is always right": 0.3}
    if columns.sequential:
        weights |= {"evenness decides": 3.0, "a number that occurs decides": 3.0}
        weights |= {"the size of the sequence decides": 2.0, "the order decides": 1.0}
    if columns.numeric:
        weights["a bound on one column decides"] = 1.0 if columns.sequential else 3.0
    if len(columns.numeric) >= 2:
        weights["one column against another decides"] = 1.0
        weights["a straight line decides"] = 0.5 if columns.sequential else 3.0
        weights["a circle decides"] = 0.3 if columns.sequential else 3.0
    if columns.worded:
        weights["a piece of text decides"] = 1.5
    return weights


def _label_rule(
    columns: Columns, labels: tuple[str, ...], reading: Reading, temperature: float, rng: Generator
) -> tuple[str, Rule]:
    """Draw a form and a rule of it: conditions with different labels."""
    form = _draw_form(label_forms(columns), _hinted(reading.hints, _LABEL_HINTS), temperature, rng)
    chosen = [labels[int(at)] for at in rng.permutation(len(labels))]
    if form not in _CONDITIONS:
        return form, Rule((), chosen[0])
    drawn = [_CONDITIONS[form](columns, rng) for _ in chosen[1 : _MOST_CASES + 1]]
    conditions = list(dict.fromkeys(drawn))
    cases = tuple(Case(condition, label) for condition, label in zip(conditions, chosen[1:], strict=False))
    return form, Rule(cases, chosen[0])


def _some(names: tuple[str, ...], rng: Generator) -> Cell:
    return Cell(names[int(rng.integers(len(names)))])


def _pair(columns: Columns, rng: Generator) -> tuple[str, str]:
    first, second = sorted(rng.permutation(len(columns.numeric))[:2])
    return columns.numeric[first], columns.numeric[second]


def _scale(rng: Generator) -> Number:
    return Number(_SCALES[int(rng.integers(len(_SCALES)))])


def _bound(columns: Columns, rng: Generator) -> Condition:
    sign = "<=" if rng.random() < 0.5 else ">"
    at = Number(0.0) if rng.random() < 0.3 else _scale(rng)
    return Is(_some(columns.numeric, rng), Compare(sign, at))


def _rivals(columns: Columns, rng: Generator) -> Condition:
    first, second = _pair(columns, rng)
    return Is(Cell(first), Compare(">", Cell(second)))


def _line(columns: Columns, rng: Generator) -> Condition:
    first, second = _pair(columns, rng)
    weight = float(rng.choice([1, 1, 1, -1, 2, 0.5]))
    other = Cell(second) if weight == 1 else Arithmetic("*", Number(weight), Cell(second))
    at = Number(0.0) if rng.random() < 0.5 else _scale(rng)
    return Is(Arithmetic("+", Cell(first), other), Compare(">", at))


def _circle(columns: Columns, rng: Generator) -> Condition:
    first, second = _pair(columns, rng)
    return Is(Distance((Cell(first), Cell(second)), (0.0, 0.0)), Compare("<=", _scale(rng)))


def _evenness(columns: Columns, rng: Generator) -> Condition:
    kind = rng.random()
    if kind < 0.6 or len(columns.numeric) < 2:
        term: Term = Fold("sum", WHOLE)
    elif kind < 0.8:
        term = _some(columns.numeric, rng)
    else:
        term = Fold("sum", Items(_pair(columns, rng)))
    divisor = int(rng.choice([2, 2, 2, 2, 3]))
    return Is(term, Multiple(divisor))


def _occurrence(columns: Columns, rng: Generator) -> Condition:
    kind = rng.random()
    if kind < 0.8:
        number = 0 if rng.random() < 0.3 else int(rng.integers(10))
        return Is(Tally(WHOLE, Compare("=", Number(float(number)))), Compare(">=", Number(1.0)))
    check = EVEN if kind < 0.9 else ODD
    return Is(Tally(WHOLE, check), Compare(">=", Number(float(rng.integers(1, 4)))))


def _size(columns: Columns, rng: Generator) -> Condition:
    kind = ("sum", "max", "min")[int(rng.integers(3))]
    at = 5 * rng.integers(2, 6) if kind == "sum" else rng.integers(1, 9)
    return Is(Fold(kind, WHOLE), Compare(">", Number(float(at))))


def _order(columns: Columns, rng: Generator) -> Condition:
    return Pattern(_ORDERS[int(rng.integers(len(_ORDERS)))], WHOLE)


def _piece(columns: Columns, rng: Generator) -> Condition:
    return Is(_some(columns.worded, rng), Holds(_LETTERS[int(rng.integers(len(_LETTERS)))]))


_CONDITIONS: dict[str, Callable[[Columns, Generator], Condition]] = {
    "evenness decides": _evenness,
    "a number that occurs decides": _occurrence,
    "the size of the sequence decides": _size,
    "the order decides": _order,
    "a bound on one column decides": _bound,
    "one column against another decides": _rivals,
    "a straight line decides": _line,
    "a circle decides": _circle,
    "a piece of text decides": _piece,
}

# --- numbers ------------------------------------------------------------------------------------------------

_NUMBER_HINTS = {
    "a straight line": ("line", "straight"),
    "a weighted sum": ("line", "sum"),
    "a parabola": ("parabola", "quadratic", "polynomial"),
    "a wave": ("sine", "sinus", "wave", "periodic", "oscillat"),
}


def number_forms(columns: Columns) -> dict[str, float]:
    """Return the forms that suit the columns, with their weights."""
    weights = {"a constant": 0.5}
    if columns.numeric:
        weights |= {"a straight line": 3.0, "a parabola": 2.0, "a wave": 1.5}
    if len(columns.numeric) >= 2:
        weights["a weighted sum"] = 4.0
    if columns.sequences:
        weights["one number of the sequence"] = 3.0
    return weights


def _number_rule(columns: Columns, reading: Reading, temperature: float, rng: Generator) -> tuple[str, Rule]:
    """Draw a form and a formula of it."""
    form = _draw_form(number_forms(columns), _hinted(reading.hints, _NUMBER_HINTS), temperature, rng)
    return f"{form} gives the number", Rule((), _FORMULAS[form](columns, rng))


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


def _straight(columns: Columns, rng: Generator) -> Term:
    return _summed([(_coefficient(rng), _some(columns.numeric, rng))], rng)


def _parabola(columns: Columns, rng: Generator) -> Term:
    cell = _some(columns.numeric, rng)
    parts: list[tuple[float, Term | None]] = [(_coefficient(rng), Arithmetic("^", cell, Number(2.0)))]
    return _summed([*parts, (_coefficient(rng), cell)] if rng.random() < 0.6 else parts, rng)


def _wave(columns: Columns, rng: Generator) -> Term:
    angle = total([(float(rng.choice([1, 1, 1, 2, 0.5, 3])), _some(columns.numeric, rng))])
    return _summed([(float(rng.choice([1, 1, 2, 3])), Function("sin", angle))], rng)


def _plane(columns: Columns, rng: Generator) -> Term:
    count = int(rng.integers(2, 1 + min(4, len(columns.numeric))))
    chosen = sorted(rng.permutation(len(columns.numeric))[:count])
    return _summed([(_coefficient(rng), Cell(columns.numeric[at])) for at in chosen], rng)


def _folded(columns: Columns, rng: Generator) -> Term:
    return Fold(("sum", "max", "min", "mean", "length")[int(rng.integers(5))], WHOLE)


_FORMULAS: dict[str, Callable[[Columns, Generator], Term]] = {
    "a constant": _constant,
    "a straight line": _straight,
    "a parabola": _parabola,
    "a wave": _wave,
    "a weighted sum": _plane,
    "one number of the sequence": _folded,
}

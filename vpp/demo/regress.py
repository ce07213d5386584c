"""Candidate rules for numbers: families of formulas, each fitted to rows of the batch."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from vpp.demo.batch import Batch, Floats, round_to
from vpp.demo.rule import Case, Is, Rule
from vpp.demo.terms import Absent, Arithmetic, Cell, Function, Number, OneOf, Term, total

Family = Callable[[Batch, Floats, Generator], Rule | None]
"""Fits a formula to the rows whose weight is 1, not 0."""


def least_squares(batch: Batch, terms: Sequence[Term], selected: Floats, digits: int) -> Term | None:
    columns = [batch.values(term) for term in terms]
    known = (selected > 0) & ~np.isnan(np.array([*columns, batch.y])).any(axis=0)
    if known.sum() < len(terms) + 1:
        return None
    design = np.stack([*columns, np.ones(len(batch.rows))], axis=1)[known]
    solution, _, rank, _ = np.linalg.lstsq(design, batch.y[known], rcond=None)
    if rank < design.shape[1]:
        return None
    weights = [round_to(float(weight), digits) for weight in solution]
    return total([*zip(weights[:-1], terms, strict=True), (weights[-1], None)])


def _digits(rng: Generator) -> int:
    return int(rng.choice([2, 3, 3]))


def _column(batch: Batch, rng: Generator) -> Cell:
    weights = np.array([_correlation(batch.values(Cell(name)), batch.y) ** 2 + 0.1 for name in batch.numeric])
    return Cell(batch.numeric[int(rng.choice(len(weights), p=weights / weights.sum()))])


def _correlation(x: Floats, y: Floats) -> float:
    known = ~np.isnan(x)
    if known.sum() < 3 or x[known].std() == 0 or y[known].std() == 0:
        return 0.0
    return float(np.corrcoef(x[known], y[known])[0, 1])


def mean(batch: Batch) -> Number:
    return Number(round_to(float(batch.y.mean()), 3))


def constant(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    return Rule((), Number(round_to(float(batch.y[selected > 0].mean()), _digits(rng))))


def _polynomial(degree: int) -> Family:
    def fit(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
        cell = _column(batch, rng)
        powers = [Arithmetic("^", cell, Number(float(power))) for power in range(degree, 1, -1)]
        term = least_squares(batch, [*powers, cell], selected, _digits(rng))
        return None if term is None else _with_missing(batch, cell, term)

    fit.__doc__ = f"A polynomial of degree {degree} in one column."
    return fit


line, quadratic, cubic = _polynomial(1), _polynomial(2), _polynomial(3)


def plane(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    """Rule of a weighted sum of a few columns."""
    count = int(rng.integers(2, 1 + min(4, len(batch.numeric))))
    chosen = list(dict.fromkeys(_column(batch, rng) for _ in range(3 * count)))[:count]
    term = least_squares(batch, chosen, selected, 3)
    return None if term is None else _with_missing(batch, chosen[0], term)


def sine(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    """Rule a * sin(b * x + c) + d, with b on a grid from 0.3 to 2 periods over the rows' range."""
    cell = _column(batch, rng)
    x, y = batch.values(cell), batch.y
    known = (selected > 0) & ~np.isnan(x)
    span = float(np.ptp(x[known])) if known.sum() > 3 else 0.0
    if span <= 0:
        return None
    rates = np.unique([round_to(turns * np.pi / span, 2) for turns in np.linspace(0.6, 4, 24)])
    fits = [_wave(x[known], y[known], float(rate)) for rate in rates]
    best = min(range(len(fits)), key=lambda at: fits[at][0])
    return Rule((), _say_wave(cell, float(rates[best]), fits[best][1], _digits(rng)))


def _wave(x: Floats, y: Floats, rate: float) -> tuple[float, Floats]:
    design = np.stack([np.sin(rate * x), np.cos(rate * x), np.ones(len(x))], axis=1)
    weights = np.linalg.lstsq(design, y, rcond=0.05)[0]
    return float(((design @ weights - y) ** 2).sum()), weights


def _say_wave(cell: Cell, rate: float, weights: Floats, digits: int) -> Term:
    height, shift = float(np.hypot(weights[0], weights[1])), float(np.arctan2(weights[1], weights[0]))
    angle = total([(rate, cell), *([(round(shift, 2), None)] if round(shift, 2) else [])])
    return total([(round_to(height, digits), Function("sin", angle)), (round_to(float(weights[2]), digits), None)])


def groups(batch: Batch, selected: Floats, rng: Generator) -> Rule | None:
    name = batch.categories[int(rng.integers(len(batch.categories)))]
    texts = [row.cells.get(name) for row in batch.rows]
    cases = []
    for kind in sorted({text for text in texts if isinstance(text, str)})[:8]:
        here = np.array([text == kind for text in texts])
        cases.append(Case(Is(Cell(name), OneOf((kind,))), Number(round_to(float(batch.y[here].mean()), 3))))
    return Rule(tuple(cases), Number(round_to(float(batch.y.mean()), 3)))


def _with_missing(batch: Batch, cell: Cell, term: Term) -> Rule:
    """Answer the mean for rows without a value in the column, if the batch has such rows, else the term."""
    has_missing = bool(np.isnan(batch.values(cell)).any())
    return Rule((Case(Is(cell, Absent()), mean(batch)),) if has_missing else (), term)


def families(batch: Batch) -> dict[Family, float]:
    weights: dict[Family, float] = {constant: 0.5}
    if batch.numeric:
        weights |= {line: 3.0, quadratic: 2.0, cubic: 0.7, sine: 0.8}
    if len(batch.numeric) >= 2:
        weights |= {plane: 4.0, quadratic: 1.0, cubic: 0.3, sine: 0.3}
    if batch.categories:
        weights[groups] = 2.0
    return weights

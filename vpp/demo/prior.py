"""Draws from the prior: rules fitted to made-up rows, which show only the columns' names and kinds and the labels."""

from operator import mul
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from vpp.demo.fitting import Batch, draw, label_families, number_families, pick, round_to
from vpp.demo.optimizer import LABEL_HINTS, NUMBER_HINTS, generator, hinted, write, written
from vpp.demo.prompt import PriorQuestion
from vpp.demo.rules import Case, Cell, Holds, Is, Row, Rule, Value

F = TypeVar("F")

_ROWS = 10
_SEQUENCE_LENGTH = 4
_TRIES = 8
"""Most rules draw until one has a condition."""
_COLDEST = 0.2
"""Lowest effective temperature of the choice of a form."""
_SCALES = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LETTERS = "aeionrst"


def propose(question: PriorQuestion, *, temperature: float, seed: int) -> str:
    rng = generator(question, temperature, seed)
    rule = _label_rule(question, temperature, rng) if question.labels else _number_rule(question, temperature, rng)
    return write(question, "I have seen no row, so this is a guess.", written(rule, question.labels))


def _label_rule(question: PriorQuestion, temperature: float, rng: Generator) -> Rule | None:
    labels = [question.labels[int(at)] for at in rng.permutation(len(question.labels))]
    worded = [name for name, kind in question.columns if kind not in ("number", "sequence")]
    if worded and rng.random() < len(worded) / len(question.columns):
        letter = Holds(pick(_LETTERS, rng))
        return Rule((Case(Is(Cell(pick(worded, rng)), letter), labels[0]),), labels[-1])
    batch = Batch(_rows(question, rng), tuple(labels[at % len(labels)] for at in range(_ROWS)))
    weights = _sharpened(hinted(label_families(batch), LABEL_HINTS, question.rule), temperature)
    rules = (draw(weights, rng)(batch, rng) for _ in range(_TRIES))
    return next((rule for rule in rules if rule is not None and rule.cases), None)


def _number_rule(question: PriorQuestion, temperature: float, rng: Generator) -> Rule | None:
    rows = _rows(question, rng)
    slopes = rng.integers(-4, 5, size=len(question.columns))
    targets = (float(rng.integers(-5, 6)) + sum(map(mul, slopes, row.numbers)) + rng.normal() for row in rows)
    batch = Batch(rows, tuple(float(one) for one in targets))
    weights = hinted(number_families(batch), NUMBER_HINTS, question.rule)
    return draw(_sharpened(weights, temperature), rng)(batch, np.ones(_ROWS), rng)


def _sharpened(weights: dict[F, float], temperature: float) -> dict[F, float]:
    """Raise the weights to the power of the inverse temperature."""
    return {form: weight ** (1 / max(temperature, _COLDEST)) for form, weight in weights.items()}


def _rows(question: PriorQuestion, rng: Generator) -> tuple[Row, ...]:
    """Make up rows: all digits, or numbers about zero; a sequence holds digits, and other columns are left out."""
    scale = float(rng.choice(_SCALES)) if rng.random() < 0.4 else None
    return tuple(
        Row({name: _cell(kind, scale, rng) for name, kind in question.columns if kind in ("number", "sequence")})
        for _ in range(_ROWS)
    )


def _cell(kind: str, scale: float | None, rng: Generator) -> Value:
    if kind == "sequence":
        return tuple(float(digit) for digit in rng.integers(10, size=_SEQUENCE_LENGTH))
    return float(rng.integers(10)) if scale is None else round_to(scale * float(rng.normal()), 2)

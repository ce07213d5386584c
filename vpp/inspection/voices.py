"""Each particle as a voice among others: how often it answers, is contradicted, and is right.

The columns of Snorkel's analysis of labelling functions (Ratner et al. 2017), a particle for a function.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vpp.data.dataset import Dataset
from vpp.events import Evaluated
from vpp.inspection.camps import heaviest_first
from vpp.inspection.scores import Score, rows_of, score
from vpp.posterior.prediction import Value
from vpp.runs.averages import averages


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """What one particle said of n rows."""

    slot: int
    weight: float
    n: int
    n_answered: int
    """Coverage: rows with a readable answer."""
    n_conflicts: int | None
    """Rows on which it answers and another particle of positive weight answers otherwise; None for regression."""
    n_dissents: int | None
    """Rows on which it answers otherwise than the vote; None for regression."""
    distance: float | None
    """For regression, mean distance of its answers from the averaged prediction, in the target's unit."""
    all: Score
    """On every row; an abstention is wrong, or off by the range of the training targets."""
    answered: Score | None
    """On the rows it answered; None where there are none."""


def voices(evaluated: Evaluated, dataset: Dataset) -> tuple[Voice, ...]:
    """Heaviest first."""
    by_row = tuple(zip(*evaluated.predictions, strict=True))
    heard = [
        {said for said, weight in zip(row, evaluated.weights, strict=True) if weight > 0 and said is not None}
        for row in by_row
    ]
    averaged = averages(evaluated)
    return tuple(_voice(slot, evaluated, dataset, heard, averaged) for slot in heaviest_first(evaluated.weights))


def _voice(
    slot: int, evaluated: Evaluated, dataset: Dataset, heard: Sequence[set[Value]], averaged: Sequence[Value | None]
) -> Voice:
    """heard, averaged: (N,) what voices of positive weight say of each row, and the averaged prediction."""
    answers, rows = evaluated.predictions[slot], rows_of(evaluated, dataset)
    answered = {place: said for place, said in enumerate(answers) if said is not None}
    some, is_label = [rows[place] for place in answered], evaluated.metric == "accuracy"
    return Voice(
        slot=slot,
        weight=evaluated.weights[slot],
        n=len(rows),
        n_answered=len(answered),
        n_conflicts=sum(bool(heard[i] - {said}) for i, said in answered.items()) if is_label else None,
        n_dissents=sum(said != averaged[i] for i, said in answered.items()) if is_label else None,
        distance=None if is_label else _distance(answered, averaged),
        all=score(answers, rows, dataset),
        answered=score(list(answered.values()), some, dataset) if some else None,
    )


def _distance(answered: Mapping[int, Value], means: Sequence[Value | None]) -> float | None:
    """Mean absolute distance over the rows answered."""
    gaps = [abs(float(said) - float(mean)) for i, said in answered.items() if (mean := means[i]) is not None]
    return float(np.mean(gaps)) if gaps else None

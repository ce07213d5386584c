"""Coverage, conflicts and accuracy of each particle, as in Snorkel for labelling functions (Ratner et al. 2017)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vpp.data.dataset import Dataset
from vpp.events import Evaluated
from vpp.inspection.camps import heaviest_first
from vpp.inspection.scores import Score, rows_of, score
from vpp.posterior.prediction import Value, leader, vote_shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """One particle's answers to n rows, compared with the other particles and the targets."""

    slot: int
    weight: float
    n: int
    n_answered: int
    """Coverage: rows with a readable answer."""
    n_conflicts: int | None
    """Rows on which another particle of positive weight answers differently; None for regression."""
    n_dissents: int | None
    """Rows on which another label leads the vote, ties left out; None for regression."""
    distance: float | None
    """Mean distance of its answers from the averaged prediction, in the target's unit; None for classification."""
    all: Score
    """Score on all rows; an abstention is wrong, or an error of the range of the training targets."""
    answered: Score | None
    """Score on the rows it answered; None if there are none."""


def voices(evaluated: Evaluated, dataset: Dataset) -> tuple[Voice, ...]:
    by_row = tuple(zip(*evaluated.predictions, strict=True))
    given = [
        {vote for vote, weight in zip(row, evaluated.weights, strict=True) if weight > 0 and vote is not None}
        for row in by_row
    ]
    averaged = evaluated.averaged if evaluated.metric == "mse" else _leaders(evaluated)
    return tuple(_voice(slot, evaluated, dataset, given, averaged) for slot in heaviest_first(evaluated.weights))


def _leaders(evaluated: Evaluated) -> list[Value | None]:
    by_row = zip(*evaluated.answers, strict=True)
    return [leader(vote_shares(answers, evaluated.weights)) for answers in by_row]


def _voice(
    slot: int, evaluated: Evaluated, dataset: Dataset, given: Sequence[set[Value]], averaged: Sequence[Value | None]
) -> Voice:
    """Compare one particle.

    given, averaged: (N,) answers of particles with positive weight, and their mean or the label that leads.
    """
    answers, rows = evaluated.predictions[slot], rows_of(evaluated, dataset)
    answered = {place: answer for place, answer in enumerate(answers) if answer is not None}
    some, is_label = [rows[place] for place in answered], evaluated.metric == "accuracy"
    return Voice(
        slot=slot,
        weight=evaluated.weights[slot],
        n=len(rows),
        n_answered=len(answered),
        n_conflicts=sum(bool(given[i] - {answer}) for i, answer in answered.items()) if is_label else None,
        n_dissents=sum(averaged[i] not in (answer, None) for i, answer in answered.items()) if is_label else None,
        distance=None if is_label else _distance(answered, averaged),
        all=score(answers, rows, dataset),
        answered=score(list(answered.values()), some, dataset) if some else None,
    )


def _distance(answered: Mapping[int, Value], means: Sequence[Value | None]) -> float | None:
    gaps = [abs(float(answer) - float(mean)) for i, answer in answered.items() if (mean := means[i]) is not None]
    return float(np.mean(gaps)) if gaps else None

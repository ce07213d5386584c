"""Rows that decide between the two heaviest sentences of a run that weighs given ones."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from vpp.data.dataset import Dataset, Row, Value
from vpp.posterior.weights import Floats
from vpp.problem import likelihood_of
from vpp.runs.view import RunView
from vpp.settings import Config

MOST_ROWS = 20
"""Most rows that are listed, the most decisive first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingRow:
    """A row on which the two sentences have different log-likelihoods."""

    row: Row
    answers: tuple[Value | None, Value | None]
    difference: float
    """Log-likelihood of the heavier sentence minus that of the other, natural log."""

    def as_json(self) -> dict[str, Any]:
        answers, difference = list(self.answers), self.difference
        return {"row": self.row.id, "target": self.row.target, "answers": answers, "difference": difference}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The two heaviest sentences, and what decides between them."""

    slots: tuple[int, int]
    """The heavier first."""
    rows: tuple[DecidingRow, ...]
    """By the size of the difference, at most `MOST_ROWS`."""
    n_deciding: int
    difference: float
    """Sum over all rows: the log of the ratio of their weights."""

    def as_json(self) -> dict[str, Any]:
        """Return the sentences by their number, from 0, and the rows by id."""
        return {
            "between": list(self.slots),
            "log_likelihood_difference": self.difference,
            "n": self.n_deciding,
            "rows": [
                {
                    "row": each.row.id,
                    "target": each.row.target,
                    "answers": list(each.answers),
                    "difference": each.difference,
                }
                for each in self.rows
            ],
        }


def deciding_rows(view: RunView, config: Config, dataset: Dataset) -> Decided | None:
    last = view.finished_steps[-1] if view.finished_steps else None
    if last is None or last.finished is None or last.reweighted is None or len(last.scored) < 2:
        return None
    first, second = np.argsort(-np.array(view.weights), kind="stable")[:2].tolist()
    scored = last.scored[first], last.scored[second]
    by_id = {row.id: row for row in dataset.train}
    rows = [by_id[row] for row in scored[0].rows]
    likelihood = likelihood_of(dataset, epsilon=config.epsilon, tau=last.finished.tau)
    terms = [likelihood.terms(each.answers, [row.target for row in rows]) for each in scored]
    gaps = _gaps(terms[0], terms[1])
    order = [int(i) for i in np.argsort(-np.abs(gaps), kind="stable") if gaps[i]]
    listed = tuple(
        DecidingRow(
            row=rows[i], answers=(scored[0].predictions[i], scored[1].predictions[i]), difference=float(gaps[i])
        )
        for i in order[:MOST_ROWS]
    )
    return Decided(slots=(first, second), rows=listed, n_deciding=len(order), difference=math.fsum(gaps.tolist()))


def _gaps(first: Floats, second: Floats) -> Floats:
    """(M,) differences of the terms; 0 where both are equal, even if infinite."""
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)

"""What each particle of the last population says of each evaluated row, and how likely that makes the row."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.events import Votes
from vpp.inspection.scores import rows_of
from vpp.posterior.likelihood import Floats
from vpp.problem import likelihood_of
from vpp.runs.view import RunView
from vpp.settings import Config


def final_answers(
    view: RunView, dataset: Dataset, split: Literal["train", "test"]
) -> tuple[tuple[Row, ...], tuple[Votes, ...]] | None:
    """(N,) rows and (K, N) answers, by slot; None where not all of the last population was evaluated on the split."""
    evaluated = view.evaluated.get(split)
    if evaluated is None:
        return None
    by_text = dict(zip(evaluated.hypotheses, evaluated.predictions, strict=True))
    population = [state.hypothesis for state in view.population]
    if not set(population) <= set(by_text):
        return None
    return rows_of(evaluated, dataset), tuple(by_text[hypothesis] for hypothesis in population)


def log_likelihood_terms(
    answers: Sequence[Votes], rows: Sequence[Row], dataset: Dataset, config: Config, *, tau: float | None
) -> Floats:
    """(K, N) natural log of p(y | x, theta), the run's own likelihood (Eq. 5 or 6), unnormalised as the run uses it.

    answers: (K, N). tau: as the run used it; None for classification.
    """
    likelihood = likelihood_of(dataset, epsilon=config.epsilon, tau=tau, error_mass=config.error_mass)
    targets = [row.target for row in rows]
    return np.array([likelihood.terms(said, targets) for said in answers], dtype=np.float64)


def weighed_log_likelihoods(view: RunView) -> tuple[float | None, ...]:
    """(K,) natural log, summed over the rows that made the weights in force: the last texts' own where they were scored

    once more, else their ancestors'. None where the method keeps none.
    """
    if view.final and len(view.final_scored) == view.size:
        return tuple(view.final_scored[slot].log_likelihood for slot in range(view.size))
    return tuple(state.log_likelihood for state in view.population)

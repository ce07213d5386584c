"""Scores of answers against targets, and the particles of a run by slot."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np

from vpp.data.dataset import Dataset, Row
from vpp.events import Evaluated, Scored
from vpp.posterior.likelihood import Noise, RowLikelihood
from vpp.posterior.metric import LabelFigures, NumberFigures, label_figures, number_figures
from vpp.posterior.prediction import Answer, Value
from vpp.posterior.weights import Floats
from vpp.problem import integrated, likelihood_of
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.words import counted, integer, number, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Answers to n rows against their targets: `n_correct` for classification, `mse` for regression."""

    n: int
    n_correct: int | None = None
    """Correct answers; an abstention is wrong. None for regression."""
    mse: float | None = None
    """Mean squared error in squared units of the target; None for classification.

    An abstention counts as an error of the range of the training targets.
    """
    n_abstained: int = 0
    labels: LabelFigures | None = field(default=None, compare=False)
    """Accuracy, balanced accuracy and per-class figures; None for regression."""
    numbers: NumberFigures | None = field(default=None, compare=False)
    """Squared and absolute errors and R²; None for classification."""

    @property
    def value(self) -> float:
        if self.n_correct is not None:
            return self.n_correct / self.n
        return self.mse if self.mse is not None else 0.0

    @property
    def error(self) -> float:
        return self.value if self.n_correct is None else 1 - self.value


def rows_by_id(dataset: Dataset) -> Mapping[int, Row]:
    return {row.id: row for row in dataset.labelled}


def score(answers: Sequence[Value | None], rows: Sequence[Row], dataset: Dataset) -> Score:
    targets = [row.target for row in rows if row.target is not None]
    n_abstained = sum(answer is None for answer in answers)
    if dataset.task == "classification":
        labels = label_figures(answers, targets)
        n_correct = sum(each.n_correct for each in labels.by_label)
        return Score(n=len(rows), n_correct=n_correct, n_abstained=n_abstained, labels=labels)
    numbers = number_figures(answers, targets, abstention_error=dataset.target_range)
    return Score(n=len(rows), mse=numbers.mse.value, n_abstained=n_abstained, numbers=numbers)


def noise(answers: Sequence[Answer], rows: Sequence[Row], dataset: Dataset) -> Noise:
    """A sentence's noise, estimated from its answers to rows with a target; whatever noise its likelihood was given."""
    return integrated(dataset).noise(answers, [row.target for row in rows])


def averaged_score(evaluated: Evaluated, dataset: Dataset) -> Score:
    return score(evaluated.averaged, rows_of(evaluated, dataset), dataset)


def rows_of(evaluated: Evaluated, dataset: Dataset) -> tuple[Row, ...]:
    by_id = rows_by_id(dataset)
    return tuple(by_id[row] for row in evaluated.rows)


def final_answers(
    view: RunView, dataset: Dataset, split: Literal["train", "test"]
) -> tuple[tuple[Row, ...], tuple[tuple[Answer, ...], ...]] | None:
    """(N,) rows and (K, N) answers by slot; None unless the whole last population was evaluated on the split."""
    evaluated = view.evaluations.get(split)
    if evaluated is None:
        return None
    by_text = dict(zip(evaluated.hypotheses, evaluated.answers, strict=True))
    population = [state.hypothesis for state in view.population]
    if not set(population) <= set(by_text):
        return None
    return rows_of(evaluated, dataset), tuple(by_text[hypothesis] for hypothesis in population)


def laws_of(view: RunView, dataset: Dataset, config: Config) -> tuple[RowLikelihood, ...]:
    """(K,) each particle's law of one more row, given its answers to the training rows; before these, the prior's."""
    likelihood = likelihood_of(dataset, config)
    rows, answers = final_answers(view, dataset, "train") or ((), ((),) * view.size)
    targets = [row.target for row in rows]
    return tuple(likelihood.predictive(each, targets) for each in answers)


def log_likelihood_terms(
    answers: Sequence[Sequence[Answer]], rows: Sequence[Row], dataset: Dataset, config: Config
) -> Floats:
    """(K, N) natural log of p(y | x, theta), a row given the others: Eq. 5 or 6 with each sentence's estimated noise.

    answers: (K, N).
    """
    likelihood, targets = likelihood_of(dataset, config), [row.target for row in rows]
    laws = [likelihood.predictive(each, targets) for each in answers]
    return np.array([law.terms(each, targets) for law, each in zip(laws, answers, strict=True)], dtype=np.float64)


def weighed_log_likelihoods(view: RunView) -> tuple[float | None, ...]:
    """(K,) natural log-likelihoods behind the current weights; None if the method has none.

    They belong to the last texts if those were rescored, else to their ancestors.
    """
    if view.final and len(view.final_scores) == view.size:
        return tuple(view.final_scores[slot].log_likelihood for slot in range(view.size))
    return tuple(state.log_likelihood for state in view.population)


def right_words(score: Score | None, row: str) -> str:
    """`right on 47 of 50 training rows`, or `off by 1.2 on 50 training rows`: root mean squared error."""
    if score is None:
        return ""
    rows = counted(score.n, row)
    if score.n_correct is not None:
        return f"right on {integer(score.n_correct)} of {rows}"
    return f"off by {number(math.sqrt(score.mse or 0.0), 3)} on {rows}"


def score_text(score: Score) -> str:
    """`98.3 %`, or the mean squared error."""
    if score.n_correct is not None:
        return percent(score.n_correct / score.n, decimals=1)
    return number(score.mse or 0.0)


def other_scores_text(score: Score) -> str:
    """Figures shown next to the metric: `balanced 95.1 %`, or `MAE 0.81, R² 0.92` for numbers."""
    if score.labels:
        return f"balanced {percent(score.labels.balanced.value, decimals=1)}"
    if score.numbers is None:
        return ""
    r2 = score.numbers.r2
    return f"MAE {number(score.numbers.mae.value)}" + ("" if r2 is None else f", R² {number(r2, 3)}")


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
RecordedAnswers = dict[str, dict[int, Value | None]]
"""Answer by hypothesis id and row id."""


def recorded_answers(events: Iterable[Evaluated | Scored]) -> RecordedAnswers:
    """Answers in the events; of several to the same row, the last."""
    known: RecordedAnswers = {}
    for event in events:
        hypotheses = (event.hypothesis,) if isinstance(event, Scored) else event.hypotheses
        predictions = (event.predictions,) if isinstance(event, Scored) else event.predictions
        for hypothesis, votes in zip(hypotheses, predictions, strict=True):
            known.setdefault(hypothesis, {}).update(zip(event.rows, votes, strict=True))
    return known


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def totals(pairs: Iterable[tuple[K, float]]) -> dict[K, float]:
    return {key: sum(weights) for key, weights in grouped(pairs).items()}

"""How right answers are against the rows' targets, and what a constant answer would have reached."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from vpp.data.dataset import Dataset, Row
from vpp.errors import DataError, RunError
from vpp.events import Evaluated, Votes
from vpp.posterior.metric import LabelFigures, NumberFigures, label_figures, number_figures
from vpp.posterior.prediction import Value, average
from vpp.randomness import tie_draw
from vpp.runs.asking import Answers
from vpp.runs.averages import averages, constant_answer
from vpp.runs.view import RunView
from vpp.settings import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Answers to n rows against their targets; one of `n_correct` and `mse` is known, as the task asks."""

    n: int
    n_correct: int | None = None
    """For classification; an abstention is wrong."""
    mse: float | None = None
    """For regression, in squared units of the target; an abstention is off by the range of the training targets."""
    n_abstained: int = 0
    labels: LabelFigures | None = field(default=None, compare=False)
    """Accuracy, balanced accuracy and the rows of each label, for classification."""
    numbers: NumberFigures | None = field(default=None, compare=False)
    """Squared and absolute errors and R², for regression."""

    @property
    def error(self) -> float:
        """What is better when smaller: the share of wrong answers, or the mean squared error."""
        if self.n_correct is not None:
            return 1 - self.n_correct / self.n
        return self.mse if self.mse is not None else 0.0


def rows_by_id(dataset: Dataset) -> Mapping[int, Row]:
    """Training and test rows."""
    return {row.id: row for row in (*dataset.train, *dataset.test)}


def score(answers: Sequence[Value | None], rows: Sequence[Row], dataset: Dataset) -> Score:
    """answers: one a row of `rows`, at least one."""
    targets = [row.target for row in rows if row.target is not None]
    n_abstained = sum(answer is None for answer in answers)
    if dataset.task == "classification":
        labels = label_figures(answers, targets)
        n_correct = sum(each.n_correct for each in labels.by_label)
        return Score(n=len(rows), n_correct=n_correct, n_abstained=n_abstained, labels=labels)
    numbers = number_figures(answers, targets, abstention_error=dataset.target_range)
    return Score(n=len(rows), mse=numbers.mse.value, n_abstained=n_abstained, numbers=numbers)


def averages_asked(answers: Answers, config: Config) -> Votes:
    """(N,) the averaged prediction for each row asked about; a tied vote is decided by the row's place."""
    is_label = answers.task == "classification"
    by_row = zip(*([p.value for p in particle] for particle in answers.predictions), strict=True)
    return tuple(
        average(votes, answers.weights, is_label=is_label, draw=tie_draw(config.seed, place, ties=config.ties))
        for place, votes in enumerate(by_row)
    )


def averaged_score(evaluated: Evaluated, dataset: Dataset) -> Score:
    """Of the averaged prediction; agrees with the event's value."""
    return score(averages(evaluated), rows_of(evaluated, dataset), dataset)


def balanced_accuracy(view: RunView, read: Callable[[], Dataset]) -> float | None:
    """Of the averaged prediction on the test rows, a fraction.

    None for regression, before the rows are evaluated, and where they cannot be read any more.
    """
    test = view.evaluated.get("test")
    if test is None or test.metric != "accuracy":
        return None
    try:
        labels = averaged_score(test, read()).labels
    except (RunError, DataError):
        return None
    return labels.balanced.value if labels else None


def particle_scores(evaluated: Evaluated, dataset: Dataset) -> tuple[Score, ...]:
    """(K,) of each particle alone."""
    rows = rows_of(evaluated, dataset)
    return tuple(score(answers, rows, dataset) for answers in evaluated.predictions)


def rows_of(evaluated: Evaluated, dataset: Dataset) -> tuple[Row, ...]:
    """The rows that were evaluated, in that order."""
    by_id = rows_by_id(dataset)
    return tuple(by_id[row] for row in evaluated.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One answer for every row, read off the training targets: what a model that sees no input would say."""

    answer: Value
    """The most frequent label, the lowest in sort order where several tie; or the mean."""
    score: Score


def baseline(rows: Sequence[Row], dataset: Dataset) -> Baseline:
    """rows: those to be answered, at least one."""
    answer = constant_answer(dataset)
    return Baseline(answer=answer, score=score([answer] * len(rows), rows, dataset))

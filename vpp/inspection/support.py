"""Checks against a constant answer: the run's prediction, and an idea with almost all the weight."""

from dataclasses import dataclass
from typing import Literal

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Ideas
from vpp.inspection.scores import Score, averaged_score, baseline, rows_of
from vpp.runs.view import RunView

ALMOST_ALL = 0.95
"""Weight of one idea from which on the posterior has collapsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """Scores of a prediction and of a constant answer on the same rows.

    The constant is the most frequent training label, or the mean of the training targets.
    """

    split: Literal["test", "train"]
    own: Score
    constant: Score

    @property
    def is_beaten(self) -> bool:
        return self.own.error != 0 and not self.own.error < self.constant.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapse:
    """The idea with almost all the weight, and its score on the training rows."""

    weight: float
    against: Against


def predicted(view: RunView, dataset: Dataset) -> Against | None:
    """Compare the averaged prediction on the test rows, or on the training rows if there are no test rows.

    None before these rows are evaluated.
    """
    split: Literal["test", "train"] = "test" if dataset.test else "train"
    evaluated = view.evaluated.get(split)
    if evaluated is None or not evaluated.rows:
        return None
    constant = baseline(rows_of(evaluated, dataset), dataset)
    return Against(split=split, own=averaged_score(evaluated, dataset), constant=constant.score)


def collapse(view: RunView, dataset: Dataset, ideas: Ideas | None) -> Collapse | None:
    """Return the idea with almost all the weight if it is no better than a constant answer on the training rows.

    None if there is no such idea, if K = 1, and before the training rows are evaluated.
    """
    train = view.evaluated.get("train")
    if ideas is None or train is None or ideas.n_particles == 1:
        return None
    first = ideas.all[0]
    if first.train is None or first.weight < ALMOST_ALL:
        return None
    constant = baseline(rows_of(train, dataset), dataset)
    against = Against(split="train", own=first.train, constant=constant.score)
    return Collapse(weight=first.weight, against=against) if against.is_beaten else None

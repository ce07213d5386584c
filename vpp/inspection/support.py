"""A run's prediction, and the idea that holds almost all of its weight, compared with a constant answer."""

from dataclasses import dataclass
from typing import Literal

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Ideas
from vpp.inspection.scores import Score, averaged_score, baseline, rows_of
from vpp.runs.view import RunView

ALMOST_ALL = 0.95
"""Weight of one idea (hypotheses that predict alike) that counts as a collapse."""


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
        """Whether the answers do no better than the constant one; False where they have no error at all."""
        return self.own.error != 0 and not self.own.error < self.constant.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapse:
    """The idea that holds almost all weight, with its score on the training rows."""

    weight: float
    against: Against


def predicted(view: RunView, dataset: Dataset) -> Against | None:
    """The averaged prediction on the test rows, or on the training rows of a table without test rows.

    None before these rows are evaluated.
    """
    split: Literal["test", "train"] = "test" if dataset.test else "train"
    evaluated = view.evaluated.get(split)
    if evaluated is None or not evaluated.rows:
        return None
    constant = baseline(rows_of(evaluated, dataset), dataset)
    return Against(split=split, own=averaged_score(evaluated, dataset), constant=constant.score)


def collapse(view: RunView, dataset: Dataset, ideas: Ideas | None) -> Collapse | None:
    """The idea that holds almost all weight though it is no better than a constant answer on the training rows.

    None where there is no such idea, where there is one particle only, and before the training rows are evaluated.
    """
    train = view.evaluated.get("train")
    if ideas is None or train is None or ideas.n_particles == 1:
        return None
    first = ideas.all[0]
    if first.train is None or first.weight < ALMOST_ALL:
        return None
    constant = baseline(rows_of(train, dataset), dataset)
    found = Collapse(weight=first.weight, against=Against(split="train", own=first.train, constant=constant.score))
    return found if found.against.is_beaten else None

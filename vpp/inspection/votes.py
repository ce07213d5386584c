"""Votes of the particles on rows that a run was asked about (Eq. 7 and 8; uncertainty as in Section 5.3)."""

from dataclasses import dataclass
from statistics import pstdev

from vpp.data.dataset import Dataset, Row
from vpp.inspection.camps import heaviest_first
from vpp.inspection.points import Point
from vpp.posterior.calibration import Conformal
from vpp.problem import Prediction
from vpp.runs.asking import Answers, averages_asked

NEARLY_ALL = 0.9
"""Least share of the answering weight for a nearly unanimous vote."""
CLOSE, APART = 0.1, 0.5
"""The same thresholds for numbers: spread in standard deviations of the training targets."""


@dataclass(frozen=True, kw_only=True)
class Vote(Point):
    """One row with the answers of K particles and their explanations."""

    said: tuple[Prediction, ...]
    """(K,) by slot."""

    @property
    def voices(self) -> tuple[int, ...]:
        return tuple(
            slot for slot in heaviest_first(self.weights) if self.votes[slot] is not None and self.weights[slot] > 0
        )

    @property
    def dissenters(self) -> tuple[int, ...]:
        """Slots that voted for another label than the leading one, heaviest first; empty at a tie and for numbers."""
        return tuple(slot for slot in self.voices if self.leader not in (self.votes[slot], None))

    def agreement(self, scale: float = 0.0) -> int:
        """Grade the agreement: 3 unanimous, 2 nearly unanimous, 1 divided, 0 “I don’t know”.

        scale: for numbers, the standard deviation of the training targets.
        """
        if self.prediction is None or not self.voices or self.is_undecided:
            return 0
        if self.doubt == 0:
            return 3
        if self.confidence is not None:
            return 1 + (self.confidence >= NEARLY_ALL)
        return (self.doubt <= APART * scale) + (self.doubt <= CLOSE * scale)


def votes_on(answers: Answers, calibrated: Conformal | None = None) -> tuple[Vote, ...]:
    """(N,) votes in the order of the rows asked about."""
    by_row = zip(answers.rows, zip(*answers.predictions, strict=True), averages_asked(answers), strict=True)
    return tuple(
        Vote(
            row=row,
            votes=tuple(each.value for each in said),
            weights=answers.weights,
            is_label=answers.task == "classification",
            prediction=prediction,
            calibrated=calibrated,
            answers=tuple(each.answer for each in said),
            said=said,
        )
        for row, said, prediction in by_row
    )


def target_spread(dataset: Dataset) -> float:
    """Standard deviation of the training targets of a regression, in their unit; 0 for labels."""
    targets = [row.target for row in dataset.train if isinstance(row.target, float)]
    return pstdev(targets) if targets and dataset.task == "regression" else 0.0


def known_row(row: Row, dataset: Dataset) -> Row | None:
    return next((known for known in dataset.labelled if known.inputs == row.inputs), None)

"""How the particles voted on rows a run was asked about (Eq. 7 and 8; doubt as in Section 5.3)."""

import math
from dataclasses import dataclass
from statistics import pstdev

from vpp.data.dataset import Dataset, Row
from vpp.inspection.scores import averages_asked
from vpp.posterior.disagreement import vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Value, vote_shares
from vpp.problem import Prediction
from vpp.runs.asking import Answers
from vpp.settings import Config

NEARLY_ALL = 0.9
"""Share of the answering weight from which a vote counts as nearly unanimous."""
CLEAR = 2 / 3
"""Share below which the honest answer is “I don’t know”: no label has twice the weight of the rest."""
CLOSE, APART = 0.1, 0.5
"""The same for numbers: spread in standard deviations of the training targets."""
DECIMALS = 9
"""Of sums of weights: further ones only tell in what order they were added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One row and what K particles said of it."""

    row: Row
    said: tuple[Prediction, ...]
    """(K,) by slot."""
    weights: tuple[float, ...]
    """(K,) normalised."""
    is_label: bool
    """Whether labels were asked for, whatever was said."""
    answer: Value | None
    """The vote's outcome, or the weighted mean; None where all abstain."""
    shares: tuple[tuple[str, float], ...]
    """Weight behind each label, the outcome first, then by weight; empty for numbers."""
    doubt: float
    """Vote entropy in bits, or for numbers the weighted standard deviation; infinite where no voice answered."""
    interval: tuple[float, float] | None
    """For numbers, where the middle 90 % of the particles' weight lies; noise is not included."""

    @property
    def behind(self) -> float:
        """Weight behind the outcome, of 1."""
        return round(self.shares[0][1], DECIMALS) if self.shares else 0.0

    @property
    def abstained(self) -> float:
        """Weight of those that gave no readable answer."""
        return round(math.fsum(w for p, w in zip(self.said, self.weights, strict=True) if p.value is None), DECIMALS)

    @property
    def by_weight(self) -> tuple[int, ...]:
        """Every slot, heaviest first."""
        return tuple(sorted(range(len(self.said)), key=lambda slot: (-self.weights[slot], slot)))

    @property
    def voices(self) -> tuple[int, ...]:
        """Slots that answered and hold weight, heaviest first."""
        return tuple(slot for slot in self.by_weight if self.said[slot].value is not None and self.weights[slot] > 0)

    @property
    def dissenters(self) -> tuple[int, ...]:
        """Voices for another label than the outcome, heaviest first; none for numbers."""
        return tuple(slot for slot in self.voices if self.is_label and self.said[slot].value != self.answer)

    def agreement(self, scale: float = 0.0) -> int:
        """3 where all voices agree, 2 nearly, 1 where they are divided, 0 for “I don’t know”.

        scale: for numbers, the standard deviation of the training targets.
        """
        if self.answer is None or not self.voices:
            return 0
        if self.doubt == 0:
            return 3
        if self.is_label:
            share = self.behind / math.fsum(weight for _, weight in self.shares)
            return (share >= CLEAR) + (share >= NEARLY_ALL)
        return (self.doubt <= APART * scale) + (self.doubt <= CLOSE * scale)


def votes_on(answers: Answers, config: Config) -> tuple[Vote, ...]:
    """(N,) in the order asked. config: the run's, which says how a tied vote is decided."""
    by_row = zip(*answers.predictions, strict=True)
    averaged = averages_asked(answers, config)
    return tuple(
        _vote(row, said, answer, answers) for row, said, answer in zip(answers.rows, by_row, averaged, strict=True)
    )


def _vote(row: Row, said: tuple[Prediction, ...], answer: Value | None, answers: Answers) -> Vote:
    values, weights = tuple(p.value for p in said), answers.weights
    is_label = answers.task == "classification"
    shares = sorted(vote_shares(values, weights).items(), key=lambda share: share[0] != answer) if is_label else []
    return Vote(
        row=row,
        said=said,
        weights=weights,
        is_label=is_label,
        answer=answer,
        shares=tuple((str(label), share) for label, share in shares),
        doubt=vote_entropy(values, weights) if is_label else weighted_spread(values, weights),
        interval=None if is_label else weighted_interval(values, weights),
    )


def target_spread(dataset: Dataset) -> float:
    """Standard deviation of the training targets of a regression, in their unit; 0 for labels."""
    targets = [row.target for row in dataset.train if isinstance(row.target, float)]
    return pstdev(targets) if targets and dataset.task == "regression" else 0.0


def known_row(row: Row, dataset: Dataset) -> Row | None:
    """The first labelled row with the very same inputs, cell by cell; None where there is none."""
    return next((known for known in (*dataset.train, *dataset.test) if known.inputs == row.inputs), None)

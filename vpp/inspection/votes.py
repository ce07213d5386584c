"""Votes of the particles on rows that a run was asked about (Eq. 7 and 8; uncertainty as in Section 5.3)."""

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
"""Least share of the answering weight for a nearly unanimous vote."""
CLEAR = 2 / 3
"""Share below which the answer is “I don’t know”: no label has twice the weight of the rest."""
CLOSE, APART = 0.1, 0.5
"""The same thresholds for numbers: spread in standard deviations of the training targets."""
DECIMALS = 9
"""Decimals of sums of weights, so that the order of summation does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One row with the answers of K particles."""

    row: Row
    said: tuple[Prediction, ...]
    """(K,) by slot."""
    weights: tuple[float, ...]
    """(K,) normalised."""
    is_label: bool
    """True for classification."""
    answer: Value | None
    """The vote's winner, or the weighted mean; None if all abstain."""
    shares: tuple[tuple[str, float], ...]
    """Weight of each label, the winner first, then by weight; empty for numbers."""
    doubt: float
    """Vote entropy in bits; for numbers the weighted standard deviation, infinite if all abstain."""
    interval: tuple[float, float] | None
    """Central 90 % of the particles' weight, without noise; None for classification."""

    @property
    def behind(self) -> float:
        """Weight of the winner, from 0 to 1."""
        return round(self.shares[0][1], DECIMALS) if self.shares else 0.0

    @property
    def abstained(self) -> float:
        """Weight of the particles without a readable answer."""
        return round(math.fsum(w for p, w in zip(self.said, self.weights, strict=True) if p.value is None), DECIMALS)

    @property
    def by_weight(self) -> tuple[int, ...]:
        """All slots, heaviest first."""
        return tuple(sorted(range(len(self.said)), key=lambda slot: (-self.weights[slot], slot)))

    @property
    def voices(self) -> tuple[int, ...]:
        """Slots with an answer and positive weight, heaviest first."""
        return tuple(slot for slot in self.by_weight if self.said[slot].value is not None and self.weights[slot] > 0)

    @property
    def dissenters(self) -> tuple[int, ...]:
        """Slots that voted for another label than the winner, heaviest first; empty for numbers."""
        return tuple(slot for slot in self.voices if self.is_label and self.said[slot].value != self.answer)

    def agreement(self, scale: float = 0.0) -> int:
        """Grade the agreement: 3 unanimous, 2 nearly unanimous, 1 divided, 0 “I don’t know”.

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
    """(N,) votes in the order of the rows asked about. config: the run's, for its rule on ties."""
    by_row = zip(*answers.predictions, strict=True)
    averaged = averages_asked(answers, config)
    return tuple(
        _vote(row, each, answer, answers) for row, each, answer in zip(answers.rows, by_row, averaged, strict=True)
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
    """Return the first labelled row with identical inputs, or None."""
    return next((known for known in (*dataset.train, *dataset.test) if known.inputs == row.inputs), None)

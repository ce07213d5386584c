"""Rows with the particles' answers: prediction, vote shares, disagreement."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from vpp.data.dataset import Row
from vpp.events import Evaluated, Votes
from vpp.posterior.calibration import Conformal
from vpp.posterior.disagreement import is_uncertain, vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Answer, Value, decided, leader, settled, silent_weight, vote_shares

DIGITS = 12
"""Decimals of weight shares, so that sums of the same weights in another order are equal."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One row and the particles' answers to it."""

    row: Row
    votes: Votes
    """(K,) by slot; for graded answers the likeliest labels."""
    answers: tuple[Answer, ...]
    """(K,) answers that the vote averages: `votes`, or graded answers."""
    weights: tuple[float, ...]
    """(K,) normalised."""
    is_label: bool
    """True for classification."""
    prediction: Value | None
    """Recorded prediction: the label that won the vote, or the weighted mean. None if all particles abstain."""
    calibrated: Conformal | None = None
    """Calibrated doubt, if the run has calibration rows."""

    @cached_property
    def shares(self) -> tuple[tuple[str, float], ...]:
        """Weight of each label, the heaviest first; empty for regression."""
        return tuple((str(label), share) for label, share in self._by_label.items())

    @cached_property
    def _by_label(self) -> dict[Value, float]:
        return vote_shares(self.answers, self.weights) if self.is_label else {}

    @cached_property
    def leader(self) -> Value | None:
        """The label with more weight than every other; None at a tie, if all abstain, and for regression."""
        return leader(self._by_label)

    @cached_property
    def decision(self) -> Value | None:
        """The label that the vote is clear about; None if the answer is “I don’t know”, and for regression.

        Calibrated, a vote is clear if one label alone is possible.
        """
        if self.calibrated is None:
            return decided(self._by_label)
        possible = self.calibrated.labels(self.answers, self.weights) if self.is_label else ()
        return possible[0] if len(possible) == 1 else None

    @cached_property
    def abstained(self) -> float:
        """Weight without a label: of particles without a readable answer, and of probability on no label."""
        return silent_weight(self.answers, self.weights)

    @cached_property
    def doubt(self) -> float:
        """Vote entropy in bits; for regression the weighted standard deviation, infinite if all abstain."""
        return vote_entropy(self.answers, self.weights) if self.is_label else weighted_spread(self.votes, self.weights)

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Central 90 % of the particles' weight, without noise; None for classification."""
        return None if self.is_label else weighted_interval(self.votes, self.weights)

    @cached_property
    def is_uncertain(self) -> bool:
        """True unless the votes are unanimous (Section 5.3) and, if answers are graded, the vote is clear."""
        is_graded = any(isinstance(answer, dict) for answer in self.answers)
        return is_uncertain(self.votes, self.weights) or (is_graded and decided(self._by_label) is None)

    @property
    def behind(self) -> float:
        """Share of the vote's winner in all weight, abstentions included; 0 for regression."""
        total = self._answered + self.abstained
        return round(self.shares[0][1] / total, DIGITS) if total > 0 and self.shares else 0.0

    @property
    def confidence(self) -> float | None:
        """Share of the vote's winner in the weight of those that answered; None if it is 0, and for regression."""
        return round(self.shares[0][1] / self._answered, DIGITS) if self._answered > 0 else None

    @property
    def certainty(self) -> float:
        """Share of the vote's winner, or minus the spread; larger is surer.

        Rounded, so that rows with equal votes are equally certain.
        """
        if self.is_label:
            return self.behind
        return -settled(self.doubt, of=max((abs(float(vote)) for vote in self.votes if vote is not None), default=0.0))

    @property
    def is_undecided(self) -> bool:
        """True if the answer is “I don’t know”; always False for regression."""
        return self.is_label and self.decision is None

    @property
    def is_right(self) -> bool:
        return self.decision is not None and self.decision == self.row.target

    @property
    def is_wrong(self) -> bool:
        """True if the vote decides for another label; an undecided row is neither right nor wrong."""
        return self.decision is not None and self.decision != self.row.target

    @property
    def _answered(self) -> float:
        return math.fsum(share for _, share in self.shares)


def points(evaluated: Evaluated, rows: Mapping[int, Row], calibrated: Conformal | None = None) -> list[Point]:
    is_label = evaluated.metric == "accuracy"
    votes_by_row, answers_by_row = (zip(*each, strict=True) for each in (evaluated.predictions, evaluated.answers))
    by_row = zip(evaluated.rows, votes_by_row, answers_by_row, evaluated.averaged, strict=True)
    unsorted = [
        Point(
            row=rows[row],
            votes=votes,
            weights=evaluated.weights,
            is_label=is_label,
            prediction=prediction,
            answers=answers,
            calibrated=calibrated,
        )
        for row, votes, answers, prediction in by_row
    ]
    return sorted(unsorted, key=lambda point: (-point.doubt if is_label else point.certainty, point.row.id))


def weakly_backed(every: Iterable[Point], *, below: float) -> list[Point]:
    """Points on which the vote's winner has less than this share of all weight."""
    return [point for point in every if point.behind < below]

"""Test points: votes of the particles, vote shares, disagreement."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vpp.data.dataset import Row
from vpp.events import Evaluated, Votes
from vpp.posterior.disagreement import is_uncertain, vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Value, settled, vote_shares
from vpp.runs.averages import averages

DIGITS = 12
"""Decimals of weight shares, so that sums of the same weights in another order are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One test row and the particles' answers to it."""

    row: Row
    votes: Votes
    """(K,) by slot."""
    prediction: Value | None
    shares: tuple[tuple[str, float], ...]
    """Weight of each label, the vote's winner first, then by weight; empty for regression."""
    abstained: float
    """Weight of the particles without a readable answer."""
    doubt: float
    """Vote entropy in bits; for regression the weighted standard deviation, 0 if it is a rounding error."""
    interval: tuple[float, float] | None
    """Central 90 % of the particles' weight, without noise; None for classification."""
    is_uncertain: bool
    """True unless the votes are unanimous (Section 5.3)."""

    @property
    def behind(self) -> float:
        """Share of the vote's winner in all weight, abstentions included; 0 for regression."""
        total = sum(share for _, share in self.shares) + self.abstained
        return round(self._held / total, DIGITS) if total > 0 else 0.0

    @property
    def confidence(self) -> float | None:
        """Share of the vote's winner in the weight of those that answered; None if it is 0, and for regression."""
        answered = sum(share for _, share in self.shares)
        return round(self._held / answered, DIGITS) if answered > 0 else None

    @property
    def certainty(self) -> float:
        """Share of the vote's winner, or minus the spread; larger is surer.

        Rounded, so that rows with equal votes are equally certain.
        """
        if isinstance(self.row.target, str):
            return self.behind
        return -settled(self.doubt, of=max((abs(float(vote)) for vote in self.votes if vote is not None), default=0.0))

    @property
    def _held(self) -> float:
        """Weight of the vote's winner."""
        return self.shares[0][1] if self.shares else 0.0

    @property
    def is_wrong(self) -> bool:
        """True if the vote misses the label; always False for regression."""
        return isinstance(self.row.target, str) and self.prediction != self.row.target


def points(evaluated: Evaluated, rows: Mapping[int, Row]) -> list[Point]:
    """Return every evaluated row, most uncertain first."""
    by_row = zip(evaluated.rows, zip(*evaluated.predictions, strict=True), averages(evaluated), strict=True)
    unsorted = [_point(rows[row_id], votes, prediction, evaluated) for row_id, votes, prediction in by_row]
    is_label = evaluated.metric == "accuracy"
    return sorted(unsorted, key=lambda point: (-point.doubt if is_label else point.certainty, point.row.id))


def weakly_backed(every: Iterable[Point], *, below: float) -> list[Point]:
    """Points on which the vote's winner has less than this share of all weight."""
    return [point for point in every if point.behind < below]


def _point(row: Row, votes: Votes, prediction: Value | None, evaluated: Evaluated) -> Point:
    weights = evaluated.weights
    abstained = sum(w for v, w in zip(votes, weights, strict=True) if v is None)
    if evaluated.metric == "mse":
        return Point(
            row=row,
            votes=votes,
            prediction=prediction,
            shares=(),
            abstained=abstained,
            doubt=weighted_spread(votes, weights),
            interval=weighted_interval(votes, weights),
            is_uncertain=is_uncertain(votes, weights),
        )
    shares = sorted(vote_shares(votes, weights).items(), key=lambda share: share[0] != prediction)
    return Point(
        row=row,
        votes=votes,
        prediction=prediction,
        shares=tuple((str(label), share) for label, share in shares),
        abstained=abstained,
        doubt=vote_entropy(votes, weights),
        interval=None,
        is_uncertain=is_uncertain(votes, weights),
    )

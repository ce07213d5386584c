"""Test points as the particles see them: votes, shares, doubt."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vpp.data.dataset import Row
from vpp.events import Evaluated, Votes
from vpp.posterior.disagreement import is_uncertain, vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Value, settled, vote_shares
from vpp.runs.averages import averages

DIGITS = 12
"""Decimals to which shares of weight are told apart: sums of the same weights in another order are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One test row and what the particles said of it."""

    row: Row
    votes: Votes
    """(K,) by slot."""
    prediction: Value | None
    shares: tuple[tuple[str, float], ...]
    """Weight behind each label, the vote's outcome first, then by weight; empty for regression."""
    abstained: float
    """Weight of those that gave no readable answer."""
    doubt: float
    """Vote entropy in bits, or for regression the weighted standard deviation, 0 where it is too faint to tell."""
    interval: tuple[float, float] | None
    """For regression, where the middle 90 % of the particles' weight lies; noise is not included."""
    is_uncertain: bool
    """Whether the voices are not unanimous (Section 5.3)."""

    @property
    def behind(self) -> float:
        """Share of all the weight behind the vote's outcome, abstentions counting against it; 0 for regression."""
        total = sum(share for _, share in self.shares) + self.abstained
        return round(self._held / total, DIGITS) if total > 0 else 0.0

    @property
    def confidence(self) -> float | None:
        """Share of the outcome among those that answered; None where nobody with weight did, and for regression."""
        answered = sum(share for _, share in self.shares)
        return round(self._held / answered, DIGITS) if answered > 0 else None

    @property
    def certainty(self) -> float:
        """Larger where the posterior is surer: the weight behind the vote's outcome, or minus the spread.

        Rounding errors are left out: voices as far apart on two rows are equally sure of both.
        """
        if isinstance(self.row.target, str):
            return self.behind
        return -settled(self.doubt, of=max((abs(float(vote)) for vote in self.votes if vote is not None), default=0.0))

    @property
    def _held(self) -> float:
        """Weight behind the outcome, which stands first."""
        return self.shares[0][1] if self.shares else 0.0

    @property
    def is_wrong(self) -> bool:
        """Whether the vote misses the truth; for regression never said."""
        return isinstance(self.row.target, str) and self.prediction != self.row.target


def points(evaluated: Evaluated, rows: Mapping[int, Row]) -> list[Point]:
    """Every evaluated row, most uncertain first."""
    by_row = zip(evaluated.rows, zip(*evaluated.predictions, strict=True), averages(evaluated), strict=True)
    found = [_point(rows[row_id], said, prediction, evaluated) for row_id, said, prediction in by_row]
    is_label = evaluated.metric == "accuracy"
    return sorted(found, key=lambda point: (-point.doubt if is_label else point.certainty, point.row.id))


def weakly_backed(found: Iterable[Point], *, below: float) -> list[Point]:
    """Points on which less than this share of all the weight stands behind the vote's outcome."""
    return [point for point in found if point.behind < below]


def _point(row: Row, said: Votes, prediction: Value | None, evaluated: Evaluated) -> Point:
    weights = evaluated.weights
    abstained = sum(w for v, w in zip(said, weights, strict=True) if v is None)
    if evaluated.metric == "mse":
        return Point(
            row=row,
            votes=said,
            prediction=prediction,
            shares=(),
            abstained=abstained,
            doubt=weighted_spread(said, weights),
            interval=weighted_interval(said, weights),
            is_uncertain=is_uncertain(said, weights),
        )
    shares = sorted(vote_shares(said, weights).items(), key=lambda share: share[0] != prediction)
    return Point(
        row=row,
        votes=said,
        prediction=prediction,
        shares=tuple((str(label), share) for label, share in shares),
        abstained=abstained,
        doubt=vote_entropy(said, weights),
        interval=None,
        is_uncertain=is_uncertain(said, weights),
    )

"""Test points as the particles see them: votes, shares, doubt."""

from collections.abc import Mapping
from dataclasses import dataclass

from vpp.data.dataset import Row
from vpp.events import Evaluated, Votes
from vpp.inspection.scores import averages
from vpp.posterior.disagreement import is_uncertain, vote_entropy, weighted_interval, weighted_spread
from vpp.posterior.prediction import Value, vote_shares


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
    """Vote entropy in bits, or for regression the weighted standard deviation."""
    interval: tuple[float, float] | None
    """For regression, where the middle 90 % of the particles' weight lies; noise is not included."""
    is_uncertain: bool
    """Whether the voices are not unanimous (Section 4.3)."""

    @property
    def is_wrong(self) -> bool:
        """Whether the vote misses the truth; for regression never said."""
        return isinstance(self.row.target, str) and self.prediction != self.row.target


def points(evaluated: Evaluated, rows: Mapping[int, Row]) -> list[Point]:
    """Every evaluated row, most uncertain first."""
    by_row = zip(evaluated.rows, zip(*evaluated.predictions, strict=True), averages(evaluated), strict=True)
    found = [_point(rows[row_id], said, prediction, evaluated) for row_id, said, prediction in by_row]
    return sorted(found, key=lambda point: (-point.doubt, point.row.id))


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

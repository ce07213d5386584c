"""Reliability: does the posterior's uncertainty predict its errors on rows with a known target?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vpp.data.dataset import Dataset
from vpp.inspection.points import Point
from vpp.posterior.calibration import (
    Bin,
    RiskCoverage,
    answered_shares,
    brier,
    calibration_error,
    log_score,
    rank_correlation,
    reliability,
    risk_coverage,
)
from vpp.posterior.likelihood import settled_errors
from vpp.posterior.prediction import leaders


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Right answers of n."""

    n_right: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteReliability:
    """Reliability of a classification."""

    n: int
    is_equally_sure: bool
    """True if all points are equally certain, so that `curve` carries no information."""
    curve: RiskCoverage
    """Error rate of the leading labels by coverage; certainty is their share of all weight."""
    unanimous: Hits
    divided: Hits
    """Hits on uncertain points (Section 5.3) that are decided."""
    n_undecided: int
    """Uncertain points that are not."""
    bins: tuple[Bin, ...]
    """Reliability bins by confidence, without the rows on which no label leads."""
    n_without_leader: int
    """Ties, and rows on which all abstained."""
    n_all_abstained: int
    calibration_error: float
    """Expected calibration error over `bins`."""
    brier: float
    """Mean Brier score of the vote shares, 0 to 2; a row on which all abstained counts 1."""
    log_score: float | None
    """Mean log score in bits over the rows on which the target has weight; None if there are none."""
    n_infinite: int
    """Rows on which the target has no weight: their log score is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadReliability:
    """Reliability of a regression, in the target's unit."""

    n: int
    is_equally_sure: bool
    """True if all points are equally certain, so that `curve` carries no information."""
    curve: RiskCoverage
    """Squared error by coverage; certainty is minus the spread."""
    n_covered: int
    """Targets inside the central 90 % of the particles' weight; rows on which all abstained are not covered."""
    rows: tuple[int, ...]
    spreads: tuple[float, ...]
    """(N,) weighted standard deviation of the answers; infinite if all abstained."""
    errors: tuple[float, ...]
    """(N,) absolute error of the mean; the range of the training targets if all abstained."""
    rank_correlation: float | None
    """Spearman's correlation of spreads and errors; None if either is constant."""


def vote_reliability(points: Sequence[Point]) -> VoteReliability:
    shares = [answered_shares(dict(point.shares)) for point in points]
    truths = [point.row.target for point in points]
    logs = [log_score(share, truth) for share, truth in zip(shares, truths, strict=True)]
    finite = [value for value in logs if math.isfinite(value)]
    led = [point for point in points if point.leader is not None and point.confidence is not None]
    bins = reliability([point.confidence or 0.0 for point in led], [point.leader == point.row.target for point in led])
    divided = [point for point in points if point.is_uncertain]
    return VoteReliability(
        n=len(points),
        is_equally_sure=is_equally_sure(points),
        curve=risk_coverage([point.certainty for point in points], list(map(loss, points))),
        unanimous=_hits([point for point in points if not point.is_uncertain]),
        divided=_hits([point for point in divided if not point.is_undecided]),
        n_undecided=sum(point.is_undecided for point in divided),
        bins=bins,
        n_without_leader=len(points) - len(led),
        n_all_abstained=sum(point.confidence is None for point in points),
        calibration_error=calibration_error(bins),
        brier=math.fsum(brier(share, truth) for share, truth in zip(shares, truths, strict=True)) / len(points),
        log_score=math.fsum(finite) / len(finite) if finite else None,
        n_infinite=len(logs) - len(finite),
    )


def spread_reliability(points: Sequence[Point], dataset: Dataset) -> SpreadReliability:
    truths = [point.row.target for point in points]
    errors = settled_errors([p.prediction for p in points], truths, abstention_error=dataset.target_range)
    spreads = [point.doubt for point in points]
    intervals = [(truth, each.interval) for each in points if each.interval and (truth := each.row.target) is not None]
    off = [abs(float(error)) for error in errors]
    return SpreadReliability(
        n=len(points),
        is_equally_sure=is_equally_sure(points),
        curve=risk_coverage([point.certainty for point in points], [error * error for error in off]),
        n_covered=sum(low <= float(truth) <= high for truth, (low, high) in intervals),
        rows=tuple(point.row.id for point in points),
        spreads=tuple(spreads),
        errors=tuple(off),
        rank_correlation=rank_correlation([-point.certainty for point in points], off),
    )


def is_equally_sure(points: Sequence[Point]) -> bool:
    """True if all points are equally certain, so that certainty carries no information."""
    return len({point.certainty for point in points}) < 2


def loss(point: Point) -> float:
    """Chance that the label with the most weight is wrong, one of those tied drawn at random; 1 if all abstain."""
    tied = leaders(dict(point.shares))
    return 1 - (point.row.target in tied) / max(1, len(tied))


def _hits(points: Sequence[Point]) -> Hits:
    return Hits(n_right=sum(point.is_right for point in points), n=len(points))

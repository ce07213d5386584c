"""Whether the posterior's doubt marks its errors, on rows with a known truth."""

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
from vpp.posterior.prediction import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Right answers of n."""

    n_right: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteReliability:
    """For labels."""

    n: int
    is_equally_sure: bool
    """Whether every point is as certain as the next, so that `curve` and any order of them tell nothing."""
    curve: RiskCoverage
    """Share of wrong answers; certainty is the weight behind the vote's outcome, abstentions counting against it."""
    unanimous: Hits
    divided: Hits
    """Uncertain points (Section 5.3)."""
    bins: tuple[Bin, ...]
    """By the outcome's share among those that answered; rows on which all abstained are in none."""
    n_all_abstained: int
    calibration_error: float
    """Over `bins`."""
    brier: float
    """Mean over all rows of the shares among those that answered, 0 to 2; a row on which all abstained counts 1."""
    log_score: float | None
    """Mean in bits over the rows on which the truth had weight; None where it had none."""
    n_infinite: int
    """Rows on which no weight was on the truth: their log score is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadReliability:
    """For numbers, in the target's unit."""

    n: int
    is_equally_sure: bool
    """Whether every point is as certain as the next, so that `curve` and any order of them tell nothing."""
    curve: RiskCoverage
    """Squared error; certainty is a small spread."""
    n_covered: int
    """Truths inside the middle 90 % of the particles' weight; outside where all abstained."""
    rows: tuple[int, ...]
    spreads: tuple[float, ...]
    """(N,) weighted standard deviation of the answers; infinite where all abstained."""
    errors: tuple[float, ...]
    """(N,) absolute error of the mean; the range of the training targets where all abstained."""
    rank_correlation: float | None
    """Spearman's, of spreads and errors; None where either is constant."""


def vote_reliability(found: Sequence[Point]) -> VoteReliability:
    """found: points with a label as their truth, at least one."""
    shares = [answered_shares(dict(point.shares)) for point in found]
    truths = [point.row.target for point in found]
    logs = [log_score(share, truth) for share, truth in zip(shares, truths, strict=True)]
    finite = [value for value in logs if math.isfinite(value)]
    bins = _bins(found)
    return VoteReliability(
        n=len(found),
        is_equally_sure=is_equally_sure(found),
        curve=risk_coverage([point.certainty for point in found], [float(point.is_wrong) for point in found]),
        unanimous=_hits([point for point in found if not point.is_uncertain]),
        divided=_hits([point for point in found if point.is_uncertain]),
        bins=bins,
        n_all_abstained=len(found) - sum(each.n for each in bins),
        calibration_error=calibration_error(bins),
        brier=math.fsum(brier(share, truth) for share, truth in zip(shares, truths, strict=True)) / len(found),
        log_score=math.fsum(finite) / len(finite) if finite else None,
        n_infinite=len(logs) - len(finite),
    )


def spread_reliability(found: Sequence[Point], dataset: Dataset) -> SpreadReliability:
    """found: points with a number as their truth, at least one."""
    truths = [point.row.target for point in found]
    errors = settled_errors([p.prediction for p in found], truths, abstention_error=dataset.target_range)
    spreads = [point.doubt for point in found]
    off = [abs(float(error)) for error in errors]
    return SpreadReliability(
        n=len(found),
        is_equally_sure=is_equally_sure(found),
        curve=risk_coverage([point.certainty for point in found], [error * error for error in off]),
        n_covered=sum(_covers(point.interval, point.row.target) for point in found),
        rows=tuple(point.row.id for point in found),
        spreads=tuple(spreads),
        errors=tuple(off),
        rank_correlation=rank_correlation([-point.certainty for point in found], off),
    )


def is_equally_sure(found: Sequence[Point]) -> bool:
    """Whether every point is as certain as the next, so that certainty can tell nothing."""
    return len({point.certainty for point in found}) < 2


def _bins(found: Sequence[Point]) -> tuple[Bin, ...]:
    told = [(point.confidence, not point.is_wrong) for point in found if point.confidence is not None]
    return reliability([confidence for confidence, _ in told], [right for _, right in told])


def _hits(found: Sequence[Point]) -> Hits:
    return Hits(n_right=sum(not point.is_wrong for point in found), n=len(found))


def _covers(interval: tuple[float, float] | None, truth: Value | None) -> bool:
    return interval is not None and truth is not None and interval[0] <= float(truth) <= interval[1]

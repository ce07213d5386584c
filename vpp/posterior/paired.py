"""Two predictors on the same rows: the mean difference of their losses, its standard error, and a sign test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vpp.posterior.metric import mean_estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """One predictor's losses minus another's, row by row."""

    n: int
    """Number of rows, at least 1."""
    mean: float
    """Mean difference: below 0, the first predictor is better. NaN if both have infinite losses."""
    standard_error: float | None
    """Standard error of `mean`: the standard deviation (ddof = 1) of the differences over sqrt(n); None if n is 1."""
    better: int
    """Number of rows with a smaller loss."""
    worse: int
    """Number of rows with a larger loss."""

    @property
    def p(self) -> float:
        """p-value of the sign test."""
        return sign_test(self.better, self.worse)


def paired_difference(losses: Sequence[float], others: Sequence[float]) -> PairedDifference:
    """Compare two predictors on the same rows. losses, others: (N,), N at least 1; infinity allowed."""
    a, b = np.asarray(losses, dtype=np.float64), np.asarray(others, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = mean_estimate(a - b)
    return PairedDifference(
        n=a.size,
        mean=mean.value,
        standard_error=mean.standard_error,
        better=int((a < b).sum()),
        worse=int((a > b).sum()),
    )


def sign_test(better: int, worse: int) -> float:
    """Exact two-sided p-value of the sign test; 1 without any difference."""
    n, few = better + worse, min(better, worse)
    # p = min(1, 2 sum_{i <= few} C(n, i) / 2^n)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(few + 1)) / (1 << n))

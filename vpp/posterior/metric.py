"""Metrics: accuracy and recall of labels, errors of numbers (Eq. 1), and two predictors on the same rows."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, stdev

import numpy as np

from vpp.posterior.likelihood import LARGEST, correct, regression_errors
from vpp.posterior.prediction import Value

CHANCE = 0.05
"""The customary level of p. By chance, one of twenty comparisons falls below it."""


def accuracy(answers: Sequence[Value | None], targets: Sequence[Value | None]) -> float:
    """Fraction of right labels; an abstention is wrong. answers, targets: (N,), N at least 1."""
    return float(np.mean(correct(answers, targets)))


def mean_squared_error(
    answers: Sequence[Value | None], targets: Sequence[Value | None], *, abstention_error: float
) -> float:
    """Mean squared error, in squared units of the target; an abstention is `abstention_error` off.

    answers, targets: (N,), N at least 1.
    """
    errors = regression_errors(answers, targets, abstention_error=abstention_error)
    with np.errstate(over="ignore"):
        return float(np.mean(np.square(errors)))


def balanced_accuracy(answers: Sequence[Value | None], targets: Sequence[Value]) -> float:
    """Mean recall over the labels that occur; an abstention is wrong. answers, targets: (N,), N at least 1."""
    right = correct(answers, targets).tolist()
    n, hits = Counter(targets), Counter(target for target, hit in zip(targets, right, strict=True) if hit)
    return math.fsum(hits[label] / n[label] for label in n) / len(n)


def mean_absolute_error(answers: Sequence[Value | None], targets: Sequence[Value], *, abstention_error: float) -> float:
    """Mean size of the errors, in the target's unit; that of an abstention is given. answers, targets: (N,)."""
    errors = regression_errors(answers, targets, abstention_error=abstention_error)
    with np.errstate(over="ignore"):
        return float(np.mean(np.abs(errors)))


def r_squared(answers: Sequence[Value | None], targets: Sequence[Value], *, abstention_error: float) -> float | None:
    """Coefficient of determination, 1 at best; None if all targets are equal."""
    errors = regression_errors(answers, targets, abstention_error=abstention_error)
    y = np.array([float(target) for target in targets])
    with np.errstate(over="ignore", invalid="ignore"):
        unit = float(np.ptp(y))
        if unit == 0 or not math.isfinite(unit):
            return None
        # In units of the range, so that no square leaves a float's.
        e, d = np.square(errors / unit), y / unit - np.mean(y / unit)
        return 1 - float(np.sum(e)) / float(np.sum(np.square(d)))


def deviation(values: Sequence[float]) -> float:
    """Sample standard deviation (ddof = 1) of at least two values; infinite if one of them is."""
    return stdev(values) if all(map(math.isfinite, values)) else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """One predictor's losses minus another's, row by row."""

    n: int
    mean: float
    """Mean difference: below 0, the first predictor is better. NaN if both have infinite losses."""
    better: int
    worse: int
    p: float
    """Two-sided, that both predictors are equally good."""


def paired_difference(losses: Sequence[float], others: Sequence[float], *, best_of: int = 1) -> PairedDifference:
    """Compare two predictors on the same rows. losses, others: (N,), N at least 1; infinity allowed.

    By the signed-rank test (Wilcoxon 1945), or by the sign test where all differences are of one size, as of labels.
    best_of: predictors from which the other was chosen on these rows, for which p is corrected (Bonferroni).
    """
    a, b = np.asarray(losses, dtype=np.float64), np.asarray(others, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        differences, better, worse = a - b, int((a < b).sum()), int((a > b).sum())
    sizes = np.abs(differences[a != b])
    if np.unique(sizes).size > 1:
        from scipy.stats import wilcoxon  # imported late: it takes a moment

        p = min(1.0, best_of * float(wilcoxon(np.clip(differences[a != b], -LARGEST, LARGEST)).pvalue))
    else:
        p = sign_test(better, worse, best_of=best_of)
    return PairedDifference(n=a.size, mean=float(np.mean(differences)), better=better, worse=worse, p=p)


def sign_test(better: int, worse: int, *, best_of: int = 1) -> float:
    """Exact two-sided p-value of the sign test, times `best_of` (Bonferroni), the comparisons it was chosen from."""
    n, few = better + worse, min(better, worse)
    # p = min(1, 2 sum_{i <= few} C(n, i) / 2^n)
    return min(1.0, best_of * 2 * sum(math.comb(n, i) for i in range(few + 1)) / (1 << n))


def wilson(successes: int, n: int, *, best_of: int = 1) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, as fractions; exactly 0 or 1 at an end if none or all succeed.

    best_of: number of shares whose intervals are to hold together (Bonferroni). Raises ValueError unless
    0 <= successes <= n and n >= 1.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    z, p = NormalDist().inv_cdf(1 - CHANCE / 2 / best_of), successes / n
    # (p + z^2/2n ± z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)                      (Wilson 1927)
    centre = p + z**2 / (2 * n)
    margin = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = ((centre + side * margin) / (1 + z**2 / n) for side in (-1, 1))
    return (0.0 if successes == 0 else low, 1.0 if successes == n else high)

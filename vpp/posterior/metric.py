"""Metrics: accuracy and recall of labels, errors of numbers (Eq. 1), standard errors, two predictors on the same rows.

A standard error estimates how much a metric would vary over other rows of the same kind. It is None if the rows are too
few for an estimate: one row, or one of a label.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, stdev

import numpy as np
import numpy.typing as npt

from vpp.posterior.likelihood import LARGEST, correct, regression_errors
from vpp.posterior.prediction import Value
from vpp.posterior.weights import Floats

CHANCE = 0.05
"""The customary level of p. By chance, one of twenty comparisons falls below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    value: float
    standard_error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRows:
    label: Value
    n: int
    n_correct: int

    @property
    def recall(self) -> float:
        return self.n_correct / self.n


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFigures:
    accuracy: Estimate
    balanced: Estimate
    """Mean recall over the labels that occur."""
    by_label: tuple[LabelRows, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFigures:
    mse: Estimate
    mae: Estimate
    """Mean absolute error, in the target's unit."""
    r2: float | None
    """Coefficient of determination, 1 at best; None if all targets are equal."""


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


def label_figures(answers: Sequence[Value | None], targets: Sequence[Value]) -> LabelFigures:
    """Metrics of labels; an abstention is wrong. answers, targets: (N,), N at least 1."""
    right = correct(answers, targets).tolist()
    n, hits = Counter(targets), Counter(target for target, hit in zip(targets, right, strict=True) if hit)
    by_label = tuple(
        LabelRows(label=label, n=n[label], n_correct=hits[label]) for label in sorted(n, key=lambda each: str(each))
    )
    return LabelFigures(accuracy=_share(sum(right), len(right)), balanced=_balanced(by_label), by_label=by_label)


def _share(k: int, n: int) -> Estimate:
    # var = p (1 - p) / (n - 1), the binomial's unbiased estimate
    return Estimate(value=k / n, standard_error=math.sqrt(k / n * (1 - k / n) / (n - 1)) if n > 1 else None)


def _balanced(by_label: Sequence[LabelRows]) -> Estimate:
    value = math.fsum(each.recall for each in by_label) / len(by_label)
    if any(each.n < 2 for each in by_label):
        return Estimate(value=value)
    # Labels' rows are drawn apart from each other: the variance of a mean of C shares is the sum of theirs over C^2.
    variances = (_share(each.n_correct, each.n).standard_error or 0.0 for each in by_label)
    return Estimate(value=value, standard_error=math.sqrt(math.fsum(v * v for v in variances)) / len(by_label))


def number_figures(
    answers: Sequence[Value | None], targets: Sequence[Value], *, abstention_error: float
) -> NumberFigures:
    """Metrics of numbers; an abstention is `abstention_error` off. answers, targets: (N,), N at least 1."""
    errors = regression_errors(answers, targets, abstention_error=abstention_error)
    with np.errstate(over="ignore", invalid="ignore"):
        squares, r2 = np.square(errors), _r2(errors, np.array([float(target) for target in targets]))
    return NumberFigures(mse=mean_estimate(squares), mae=mean_estimate(np.abs(errors)), r2=r2)


def mean_estimate(values: npt.ArrayLike) -> Estimate:
    """Mean, with the sample standard deviation (ddof = 1) over the root of N as its standard error. values: (N,)."""
    v = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.std(v, ddof=1)) / math.sqrt(v.size) if v.size > 1 else None
        return Estimate(value=float(np.mean(v)), standard_error=spread)


def deviation(values: Sequence[float]) -> float:
    """Sample standard deviation (ddof = 1) of at least two values; infinite if one of them is."""
    return stdev(values) if all(map(math.isfinite, values)) else math.inf


def _r2(errors: Floats, targets: Floats) -> float | None:
    unit = float(np.ptp(targets))
    if unit == 0 or not math.isfinite(unit):
        return None
    # In units of the range, so that no square leaves a float's.
    e, d = np.square(errors / unit), targets / unit - np.mean(targets / unit)
    return 1 - float(np.sum(e)) / float(np.sum(np.square(d)))


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

"""Whether doubt marks error: risk against coverage, calibration, proper scores, rank correlation.

Rows are N; nothing here depends on their order. Certainty is any number that is larger where the posterior is surer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vpp.posterior.prediction import Value

Floats = npt.NDArray[np.float64]

BINS = 10
"""Bins of equal width of a reliability diagram."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage:
    """Mean loss if only the most certain rows are answered (El-Yaniv and Wiener 2010)."""

    risk: tuple[float, ...]
    """(N,) mean loss over the 1, 2, …, N most certain rows."""
    area: float
    """Mean of `risk`: the area under the curve over coverage 1/N to 1."""
    area_best: float
    """Of the order that puts the least loss first: no order is below it."""

    @property
    def area_random(self) -> float:
        """What a random order has on average, at every coverage: the loss over all rows."""
        return self.risk[-1]

    def rows_at(self, coverage: float) -> int:
        """Whole rows that this share of them comes to, rounded up, at least one."""
        return max(1, math.ceil(round(coverage * len(self.risk), 9)))

    def at(self, coverage: float) -> float:
        """Risk where this share of the rows is answered."""
        return self.risk[self.rows_at(coverage) - 1]


def risk_coverage(certainty: npt.ArrayLike, loss: npt.ArrayLike) -> RiskCoverage:
    """certainty, loss: (N,), N at least 1, no NaN.

    Rows of equal certainty count with their mean loss: the curve is the mean over every order of them.
    """
    sure, lost = np.asarray(certainty, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if sure.size == 0 or sure.shape != lost.shape:
        raise ValueError(f"{sure.size} certainties for {lost.size} losses: give one a row, at least one")
    if np.isnan(sure).any() or np.isnan(lost).any():
        raise ValueError("a certainty or a loss is NaN: rows cannot be ordered")
    _, block = np.unique(-sure, return_inverse=True)
    mean_of_block = np.bincount(block, weights=lost) / np.bincount(block)
    risk = _running_mean(mean_of_block[np.sort(block)])
    return RiskCoverage(
        risk=tuple(risk.tolist()), area=float(risk.mean()), area_best=float(_running_mean(np.sort(lost)).mean())
    )


def _running_mean(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(np.cumsum(values) / np.arange(1, values.size + 1), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers of about the same confidence."""

    low: float
    high: float
    """Confidences above `low`, up to and with `high`."""
    n: int
    n_right: int
    confidence: float
    """Their mean."""

    @property
    def accuracy(self) -> float:
        """Share of right answers, a fraction."""
        return self.n_right / self.n


def reliability(confidence: npt.ArrayLike, right: npt.ArrayLike, *, bins: int = BINS) -> tuple[Bin, ...]:
    """Bins of equal width over 0 to 1 that hold a row, the least confident first (Guo et al. 2017).

    confidence: (N,) in (0, 1]. right: (N,) whether the answer is right.
    """
    sure, hits = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=bool)
    # Rounded first, so that 0.7 * 10 is 7 and lies in the bin that ends there.
    place = np.clip(np.ceil(np.round(sure * bins, 9)) - 1, 0, bins - 1)
    return tuple(
        Bin(
            low=i / bins,
            high=(i + 1) / bins,
            n=int(held.sum()),
            n_right=int(hits[held].sum()),
            confidence=float(sure[held].mean()),
        )
        for i in range(bins)
        if (held := place == i).any()
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """Expected calibration error (Guo et al. 2017): gap between accuracy and confidence, averaged over rows; 0 to 1."""
    n = sum(each.n for each in bins)
    # ECE = sum_b (n_b / n) |accuracy_b - confidence_b|
    return sum(each.n * abs(each.accuracy - each.confidence) for each in bins) / n if n else 0.0


def answered_shares(shares: Mapping[Value, float]) -> dict[Value, float]:
    """Shares of a vote rescaled to 1 among those that answered; empty where nobody with weight did."""
    total = math.fsum(shares.values())
    return {label: share / total for label, share in shares.items()} if total > 0 else {}


def brier(shares: Mapping[Value, float], truth: Value | None) -> float:
    """Brier's score of one row over all labels, 0 (sure and right) to 2 (sure and wrong).

    shares: by label, summing to 1, a label left out has none; empty where all abstained, which scores 1.
    """
    # sum_c (share_c - 1[c = truth])^2
    missed = 0.0 if truth in shares else 1.0
    return missed + sum((share - (label == truth)) ** 2 for label, share in shares.items())


def log_score(shares: Mapping[Value, float], truth: Value | None) -> float:
    """-log2 of the truth's share, in bits: 0 sure and right, 1 an even split in two, infinity where it has none."""
    share = shares.get(truth, 0.0) if truth is not None else 0.0
    return -math.log2(share) + 0.0 if share > 0 else math.inf


def ranks(values: npt.ArrayLike) -> Floats:
    """(N,) ranks from 1, the smallest first; equal values share the mean of theirs."""
    _, place, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place], dtype=np.float64)


def rank_correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float | None:
    """Spearman's, -1 to 1: the correlation of ranks; None where either is constant. a, b: (N,)."""
    x, y = ranks(a), ranks(b)
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum()), -1, 1))

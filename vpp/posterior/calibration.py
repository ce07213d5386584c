"""Quality of uncertainty: risk-coverage curves, calibration, proper scores, rank correlation, and conformal prediction.

N is the number of rows; their order does not matter. Certainty is any number that grows as the posterior gets surer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from vpp.posterior.prediction import CLEAR, TIE, Value, decide, settled
from vpp.posterior.weights import Floats

BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage:
    """Mean loss if only the most certain rows are answered (El-Yaniv and Wiener 2010)."""

    risk: tuple[float, ...]
    """(N,) mean loss over the 1, 2, …, N most certain rows."""
    area: float
    """Mean of `risk`: the area under the curve over coverage 1/N to 1."""
    area_best: float
    """Area of the best possible order, smallest losses first."""

    @property
    def area_random(self) -> float:
        """Expected area of a random order: the mean loss over all rows."""
        return self.risk[-1]

    def rows_at(self, coverage: float) -> int:
        """Number of rows that make up this fraction of them, rounded up, at least 1."""
        return max(1, math.ceil(round(coverage * len(self.risk), 9)))

    def at(self, coverage: float) -> float:
        return self.risk[self.rows_at(coverage) - 1]


def risk_coverage(certainty: npt.ArrayLike, loss: npt.ArrayLike) -> RiskCoverage:
    """Risk-coverage curve of N rows.

    Rows of equal certainty count with their mean loss: the curve is the mean over every order of them.
    certainty, loss: (N,), N at least 1.
    """
    sure, lost = np.asarray(certainty, dtype=np.float64), np.asarray(loss, dtype=np.float64)
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
    low: float
    high: float
    """The bin holds confidences in (low, high]."""
    n: int
    n_right: int
    confidence: float

    @property
    def accuracy(self) -> float:
        return self.n_right / self.n


def reliability(confidence: npt.ArrayLike, right: npt.ArrayLike, *, bins: int = BINS) -> tuple[Bin, ...]:
    """Non-empty bins of equal width over (0, 1], the least confident first (Guo et al. 2017).

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
    """Vote shares rescaled to sum to 1; empty if no particle with weight answered."""
    total = math.fsum(shares.values())
    return {label: share / total for label, share in shares.items()} if total > 0 else {}


def brier(shares: Mapping[Value, float], truth: Value | None) -> float:
    """Brier score of one row over all labels, 0 (sure and right) to 2 (sure and wrong).

    shares: by label, summing to 1; a missing label has share 0. Empty if all particles abstained, which scores 1.
    """
    # sum_c (share_c - 1[c = truth])^2
    missed = 0.0 if truth in shares else 1.0
    return missed + sum((share - (label == truth)) ** 2 for label, share in shares.items())


def log_score(shares: Mapping[Value, float], truth: Value | None) -> float:
    """-log2 of the true label's share, in bits: 0 if sure and right, 1 for an even split in two, inf for share 0."""
    share = shares.get(truth, 0.0) if truth is not None else 0.0
    return -math.log2(share) + 0.0 if share > 0 else math.inf


def rank_correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float | None:
    """Spearman's rank correlation, -1 to 1; None if a or b is constant. a, b: (N,)."""
    import pandas as pd  # imported late: it takes a moment

    x, y = pd.Series(a, dtype=np.float64).rank(), pd.Series(b, dtype=np.float64).rank()
    return float(x.corr(y)) if x.nunique() > 1 and y.nunique() > 1 else None


def weight_ahead(shares: Mapping[Value, float], classes: Sequence[str]) -> dict[str, float]:
    """Return the weight of all heavier labels, by label: the score of adaptive sets (Romano, Sesia and Candès 2020).

    It is 0 for the label that leads. What the shares lack of 1, weight that abstains, is shared by all labels alike.
    """
    silent = max(0.0, 1 - math.fsum(shares.values())) / len(classes)
    mass = {label: shares.get(label, 0.0) + silent for label in classes}
    return {label: math.fsum(other for other in mass.values() if other > own + TIE) for label, own in mass.items()}


def miss(interval: tuple[float, float] | None, target: float) -> float:
    """Distance from the particles' interval to the target, negative inside (Romano, Patterson and Candès 2019).

    Infinite if all particles abstain.
    """
    return math.inf if interval is None else max(interval[0] - target, target - interval[1])


@dataclass(frozen=True, kw_only=True)
class Conformal:
    """Calibrated doubt: the scores of n calibration rows, and what they allow on a new row."""

    scores: tuple[float, ...]
    """(n,) of the true labels or numbers, in any order; at least one."""
    classes: tuple[str, ...] = ()
    """Labels of the target, in order; empty for numbers."""
    level: float = 0.9
    """Least probability that the truth is among what is called possible: 90 %, the customary level."""
    by_group: bool = False
    """True if each row is from a group of its own, so that the promise is for rows of new groups."""

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def rank(self) -> int:
        """k: the threshold is the k-th smallest score; n + 1 if the rows are too few for this level."""
        return math.ceil(round((self.n + 1) * self.level, 9))

    @cached_property
    def threshold(self) -> float:
        """Largest score of what is possible; infinite if the rows are too few, so that everything is."""
        return sorted(self.scores)[self.rank - 1] if self.rank <= self.n else math.inf

    @property
    def least_rows(self) -> int:
        """Number of calibration rows from which the threshold is finite: 9 at 90 %."""
        return math.ceil(round(self.level / (1 - self.level), 9))

    def labels(self, shares: Mapping[Value, float], *, clear: float = CLEAR) -> tuple[str, ...]:
        """Return the labels that are possible, in the order of `classes`; at least the one that leads.

        A label is also possible while those ahead hold less than `clear`: a vote that is not clear stays in doubt.
        """
        ahead = weight_ahead(shares, self.classes)
        limit = max(self.threshold + TIE, clear - TIE)
        return tuple(label for label in self.classes if ahead[label] <= limit)

    def interval(self, interval: tuple[float, float] | None) -> tuple[float, float]:
        """Return the particles' interval, widened or narrowed by the threshold to one number at least."""
        if interval is None:
            return -math.inf, math.inf
        # Without rounding errors, so that a truth exactly at the threshold lies inside.
        size = max(map(abs, (*interval, self.threshold)))
        low, high = (settled(end, of=size) for end in (interval[0] - self.threshold, interval[1] + self.threshold))
        middle = (interval[0] + interval[1]) / 2
        return (low, high) if low <= high else (middle, middle)

    def coverage_band(self, mass: float = 0.9) -> tuple[float, float]:
        """Return the central `mass` of the coverage: Beta(k, n + 1 - k) (Vovk 2012); (1, 1) if all is possible.

        Coverage is the share of all new rows whose truth is called possible, by these calibration rows. Tied scores
        make it larger.
        """
        if self.rank > self.n:
            return 1.0, 1.0
        from scipy.special import betaincinv  # imported late: it takes a moment

        tail = (1 - mass) / 2
        low, high = (float(betaincinv(self.rank, self.n + 1 - self.rank, at)) for at in (tail, 1 - tail))
        return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectOption:
    """Rule for “I don’t know” (Chow 1970): answer where it costs less than the doubt would."""

    clear: float = CLEAR
    """Least probability of an answer: 1 minus the cost of “I don’t know” in errors."""
    conformal: Conformal | None = None
    """What is possible, by calibration rows; None without these."""
    n_decided: int = 0
    """Calibration rows that the rule answers with a label."""
    n_right: int = 0
    """Of these, how many are right."""

    def decide(self, shares: Mapping[Value, float]) -> Value | None:
        """Return the answer; None is “I don’t know”. Calibrated, one label alone must be possible too."""
        label = decide(shares, clear=self.clear)
        return label if self.conformal is None or len(self.possible(shares)) == 1 else None

    def possible(self, shares: Mapping[Value, float]) -> tuple[str, ...]:
        """Labels in order; empty without calibration rows."""
        return self.conformal.labels(shares, clear=self.clear) if self.conformal else ()

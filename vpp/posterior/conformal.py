"""Split-conformal prediction over the weighted vote: sets of labels, and intervals (Vovk, Gammerman and Shafer 2005).

Calibration rows that no hypothesis was made from give n scores, one a row: how far the vote ran past the truth. A
label, or number, is possible for a new row if its score is at most the k-th smallest of these, k = ceil((n + 1) level).
If the new row and the calibration rows are exchangeable, the truth is possible with probability at least `level`,
however bad the posterior is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from vpp.posterior.prediction import CLEAR, TIE, Answer, settled, silent_weight, vote_shares

LEVEL = 0.9
"""Least probability that the truth is among what is called possible."""


def weight_ahead(votes: Sequence[Answer], weights: Sequence[float], classes: Sequence[str]) -> dict[str, float]:
    """Return the weight of all heavier labels, by label: the score of adaptive sets (Romano, Sesia and Candès 2020).

    It is 0 for the label that leads. Weight that abstains is shared by all labels alike. votes, weights: (K,).
    """
    shares = vote_shares(votes, weights)
    silent = silent_weight(votes, weights) / len(classes)
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
    level: float = LEVEL

    @property
    def n(self) -> int:
        """Number of calibration rows."""
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

    def labels(self, votes: Sequence[Answer], weights: Sequence[float]) -> tuple[str, ...]:
        """Return the labels that are possible, in the order of `classes`; at least the one that leads.

        A label is also possible while those ahead hold less than two thirds: a vote that is not clear stays in doubt.
        """
        ahead = weight_ahead(votes, weights, self.classes)
        limit = max(self.threshold + TIE, CLEAR - TIE)
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

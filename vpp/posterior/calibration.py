"""Quality of uncertainty: shares of a vote, the rule for “I don't know”, and conformal prediction.

n is the number of calibration rows; their order does not matter.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from vpp.posterior.prediction import CLEAR, TIE, Value, decide, settled


def answered_shares(shares: Mapping[Value, float]) -> dict[Value, float]:
    """Vote shares rescaled to sum to 1; empty if no particle with weight answered."""
    total = math.fsum(shares.values())
    return {label: share / total for label, share in shares.items()} if total > 0 else {}


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

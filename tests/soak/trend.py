"""Whether numbers taken one after the other rise: a slope with its own uncertainty."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

BLOCKS = 15
"""Neighbours are alike, so their noise is told by the means of this many spans of equal length."""


@dataclass(frozen=True)
class Trend:
    """A straight line through measurements."""

    slope: float
    """An hour."""
    error: float
    """Its standard error, an hour."""

    @property
    def least(self) -> float:
        """The slope is hardly below this: two standard errors under the line."""
        return self.slope - 2 * self.error


def trend(seconds: Sequence[float], values: Sequence[float]) -> Trend:
    """By least squares over the means of blocks. Raises ValueError below three measurements."""
    if len(values) < 3 or len(seconds) != len(values):
        raise ValueError(f"{len(values)} values at {len(seconds)} times: a trend needs three or more")
    x, y = _blocked([at / 3600 for at in seconds]), _blocked(values)
    n, mid_x, mid_y = len(x), sum(x) / len(x), sum(y) / len(y)
    spread = sum((at - mid_x) ** 2 for at in x)
    slope = sum((at - mid_x) * (value - mid_y) for at, value in zip(x, y, strict=True)) / spread
    left = sum((value - mid_y - slope * (at - mid_x)) ** 2 for at, value in zip(x, y, strict=True))
    return Trend(slope, sqrt(left / (n - 2) / spread))


def _blocked(values: Sequence[float]) -> list[float]:
    """Means of at most BLOCKS spans of neighbours."""
    n = min(BLOCKS, len(values))
    ends = [i * len(values) // n for i in range(n + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]

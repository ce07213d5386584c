"""How well predictions explain targets (Eq. 5 and 6). Natural logarithms; an abstention is None."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vpp.posterior.prediction import Value, settled

Floats = npt.NDArray[np.float64]


class Likelihood(Protocol):
    """log p(y | x, theta), a term a row."""

    def terms(self, predictions: Sequence[Value | None], targets: Sequence[Value | None]) -> Floats:
        """(M,) log-likelihood of each row."""
        ...

    @property
    def usual_term(self) -> float:
        """Mean log-likelihood of a row where the hypothesis is true and the noise is as supposed."""
        ...

    @property
    def largest_term(self) -> float:
        """The most that a row's log-likelihood can be, whatever the answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLikelihood:
    """Squared error over 2 tau (Eq. 5)."""

    tau: float
    """Sensitivity to errors, in squared units of the target."""
    abstention_error: float
    """The error an abstention counts as: the range of the training targets."""

    def __post_init__(self) -> None:
        if not self.tau > 0:
            raise ValueError(f"tau is {self.tau}: it must be positive")

    def terms(self, predictions: Sequence[Value | None], targets: Sequence[Value | None]) -> Floats:
        """(M,) terms of Eq. 5; a prediction too far off for floating point counts as -inf, never NaN."""
        errors = regression_errors(predictions, targets, abstention_error=self.abstention_error)
        with np.errstate(over="ignore"):
            # log p(y | x, theta) = -(y - f(x; theta))^2 / (2 tau)                   (Eq. 5)
            return -np.square(errors) / (2 * self.tau)

    @property
    def usual_term(self) -> float:
        """A squared error of tau."""
        return -0.5

    @property
    def largest_term(self) -> float:
        """No error."""
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroOneLikelihood:
    """Smoothed zero-one likelihood (Eq. 6)."""

    epsilon: float
    """Mass of a wrong answer, in (0, 1)."""
    n_shares: int = 1
    """Wrong labels that share it: 1 gives each the whole, as Eq. 6; C - 1 makes the masses of C labels sum to 1."""

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < 1:
            raise ValueError(f"epsilon is {self.epsilon}: it must lie between 0 and 1")
        if self.n_shares < 1:
            raise ValueError(f"n_shares is {self.n_shares}: it must be at least 1")

    def terms(self, predictions: Sequence[Value | None], targets: Sequence[Value | None]) -> Floats:
        """(M,) terms of Eq. 6; an abstention is wrong."""
        # log p(y | x, theta) = log(1 - epsilon) where right, log epsilon where wrong   (Eq. 6)
        return np.where(correct(predictions, targets), self._right, self._wrong).astype(np.float64)

    @property
    def usual_term(self) -> float:
        """A share epsilon of wrong answers."""
        return (1 - self.epsilon) * self._right + self.epsilon * self._wrong

    @property
    def largest_term(self) -> float:
        """A right answer's, or a wrong one's where epsilon is large."""
        return max(self._right, self._wrong)

    @property
    def _right(self) -> float:
        return math.log1p(-self.epsilon)

    @property
    def _wrong(self) -> float:
        return math.log(self.epsilon / self.n_shares)


def correct(predictions: Sequence[Value | None], targets: Sequence[Value | None]) -> npt.NDArray[np.bool_]:
    """(M,) whether each label is the target; an abstention is wrong."""
    pairs = zip(predictions, targets, strict=True)
    return np.array([p is not None and p == y for p, y in pairs], dtype=bool)


def regression_errors(
    predictions: Sequence[Value | None], targets: Sequence[Value | None], *, abstention_error: float
) -> Floats:
    """(M,) prediction minus target; an abstention is `abstention_error` off."""
    y = np.array([float(t) for t in targets if t is not None], dtype=np.float64)
    if y.size != len(targets):
        raise ValueError("a row without a target has no error")
    f = np.array([np.nan if p is None else float(p) for p in predictions], dtype=np.float64)
    if f.size != y.size:
        raise ValueError(f"{f.size} predictions for {y.size} targets: give one a row")
    return np.where(np.isnan(f), abstention_error, f - y)


def settled_errors(
    predictions: Sequence[Value | None], targets: Sequence[Value | None], *, abstention_error: float
) -> Floats:
    """(M,) as `regression_errors`, without rounding errors: means equally far off are so to the bit."""
    errors = regression_errors(predictions, targets, abstention_error=abstention_error)
    largest = [max(abs(float(value or 0.0)) for value in pair) for pair in zip(predictions, targets, strict=True)]
    return np.array([settled(float(error), of=of) for error, of in zip(errors, largest, strict=True)])


def auto_tau(errors: npt.ArrayLike, targets: npt.ArrayLike) -> float:
    """tau from the data: (1.4826 MAD of the errors)^2, at least (0.01 IQR of the targets)^2, never 0.

    Where the IQR is 0, so that most targets are one value, the range stands for it; and where the MAD is 0 too, the
    mean square of the errors for its square: a MAD sees nothing of the few rows that differ. Where all targets are
    equal, 1 % of their magnitude is the floor.

    errors: (M,) of the best initial particle on the first batch. targets: (N,) of the training rows.
    """
    e = np.asarray(errors, dtype=np.float64)
    scale = 1.4826 * float(np.median(np.abs(e - np.median(e))))
    if scale == 0 and _quartile_range(targets) == 0:
        most = float(np.max(np.abs(e), initial=0.0)) or 1.0
        scale = most * float(np.sqrt(np.mean(np.square(e / most))))
    return max(_squared(scale), least_tau(targets))


def least_tau(targets: npt.ArrayLike) -> float:
    """What a tau from the data never falls below. targets: (N,) of the training rows."""
    y = np.asarray(targets, dtype=np.float64)
    return _squared(0.01 * (_quartile_range(y) or float(np.ptp(y)) or float(np.max(np.abs(y)))) or 1e-6)


def _quartile_range(targets: npt.ArrayLike) -> float:
    q75, q25 = np.percentile(np.asarray(targets, dtype=np.float64), [75, 25])
    return float(q75 - q25)


def _squared(scale: float) -> float:
    """Between these bounds the square is a positive float."""
    return min(max(scale, 1e-150), 1e150) ** 2

"""Likelihoods of targets given predictions (Eq. 5 and 6). Natural logarithms; an abstention is None."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vpp.posterior.prediction import Answer, Value, settled
from vpp.posterior.weights import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLikelihood:
    """Squared error over 2 tau (Eq. 5). `terms` are log p(y | x, theta), one a row."""

    tau: float
    """Sensitivity to errors, in squared units of the target; positive."""
    abstention_error: float
    """Error of an abstention: the range of the training targets."""

    def terms(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> Floats:
        """(M,) terms of Eq. 5; an error whose square overflows gives -inf, never NaN."""
        errors = regression_errors(predictions, targets, abstention_error=self.abstention_error)
        with np.errstate(over="ignore"):
            # log p(y | x, theta) = -(y - f(x; theta))^2 / (2 tau)                   (Eq. 5)
            return -np.square(errors) / (2 * self.tau)

    @property
    def usual_term(self) -> float:
        """Expected term of a row if the hypothesis is true: that of a squared error of tau."""
        return -0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroOneLikelihood:
    epsilon: float
    """Mass of all wrong labels together, in (0, 1)."""
    n_shares: int = 1
    """C - 1, the number of wrong labels that share epsilon: so the masses of C labels sum to 1."""

    def terms(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> Floats:
        """(M,) log-likelihoods (Eq. 6); an abstention is wrong. A graded answer: the log of the mean likelihood."""
        labels = [None if isinstance(answer, dict) else answer for answer in predictions]
        # log p(y | x, theta) = log(1 - epsilon) where right, log(epsilon / (C - 1)) where wrong   (Eq. 6)
        terms = np.where(correct(labels, targets), self._right, self._wrong).astype(np.float64)
        for i, answer in enumerate(predictions):
            if isinstance(answer, dict):
                share = answer.get(str(targets[i]), 0.0)
                # log sum_c q(c | x, theta) p(y | c), with p(y | c) of Eq. 6; probability on no label counts as wrong
                terms[i] = math.log(share * (1 - self.epsilon) + (1 - share) * self.epsilon / self.n_shares)
        return terms

    @property
    def usual_term(self) -> float:
        """Expected term of a row if the hypothesis is true: a fraction epsilon of the answers is wrong."""
        return (1 - self.epsilon) * self._right + self.epsilon * self._wrong

    @property
    def _right(self) -> float:
        return math.log1p(-self.epsilon)

    @property
    def _wrong(self) -> float:
        return math.log(self.epsilon / self.n_shares)


Likelihood = GaussianLikelihood | ZeroOneLikelihood


def correct(predictions: Sequence[Value | None], targets: Sequence[Value | None]) -> npt.NDArray[np.bool_]:
    """(M,) whether each prediction equals its target; an abstention is wrong."""
    pairs = zip(predictions, targets, strict=True)
    return np.array([p is not None and p == y for p, y in pairs], dtype=bool)


def regression_errors(
    predictions: Sequence[Answer], targets: Sequence[Value | None], *, abstention_error: float
) -> Floats:
    """(M,) prediction minus target; an abstention is `abstention_error` off."""
    y = np.array([float(t) for t in targets if t is not None], dtype=np.float64)
    if y.size != len(targets):
        raise ValueError("a row without a target has no error")
    numbers = [np.nan if p is None or isinstance(p, dict) else float(p) for p in predictions]
    f = np.array(numbers, dtype=np.float64)
    if f.size != y.size:
        raise ValueError(f"{f.size} predictions for {y.size} targets: give one a row")
    return np.where(np.isnan(f), abstention_error, f - y)


def settled_errors(
    predictions: Sequence[Value | None], targets: Sequence[Value | None], *, abstention_error: float
) -> Floats:
    """(M,) `regression_errors` without rounding errors: predictions equally far off have equal errors, to the bit."""
    errors = regression_errors(predictions, targets, abstention_error=abstention_error)
    largest = [max(abs(float(value or 0.0)) for value in pair) for pair in zip(predictions, targets, strict=True)]
    return np.array([settled(float(error), of=of) for error, of in zip(errors, largest, strict=True)])


def auto_tau(errors: npt.ArrayLike, targets: npt.ArrayLike) -> float:
    """tau from the data: (1.4826 MAD of the errors)^2, at least (0.01 IQR of the targets)^2, never 0.

    If the IQR is 0, because most targets are one value, the range replaces it. If the MAD is 0 too, the mean square of
    the errors replaces its square: a MAD ignores the few rows that differ. If all targets are equal, the floor is 1 %
    of their magnitude.

    errors: (M,) of the best initial particle on the first batch. targets: (N,) of the training rows.
    """
    e = np.asarray(errors, dtype=np.float64)
    scale = 1.4826 * float(np.median(np.abs(e - np.median(e))))
    if scale == 0 and _quartile_range(targets) == 0:
        most = float(np.max(np.abs(e), initial=0.0)) or 1.0
        scale = most * float(np.sqrt(np.mean(np.square(e / most))))
    return max(_squared(scale), least_tau(targets))


def least_tau(targets: npt.ArrayLike) -> float:
    """Smallest tau that `auto_tau` returns. targets: (N,) of the training rows."""
    y = np.asarray(targets, dtype=np.float64)
    return _squared(0.01 * (_quartile_range(y) or float(np.ptp(y)) or float(np.max(np.abs(y)))) or 1e-6)


def _quartile_range(targets: npt.ArrayLike) -> float:
    q75, q25 = np.percentile(np.asarray(targets, dtype=np.float64), [75, 25])
    return float(q75 - q25)


def _squared(scale: float) -> float:
    """Square of the scale, clipped so that it is a positive finite float."""
    return min(max(scale, 1e-150), 1e150) ** 2

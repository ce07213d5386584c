"""Likelihoods of targets given predictions: with a given noise (Eq. 5 and 6), or with the noise integrated out.

Natural logarithms; an abstention is None. A sentence's noise, epsilon or tau, is unknown. Under its conjugate prior the
integral over it has a closed form (Gelman et al., Bayesian Data Analysis, 2013, Sections 2.4 and 3.3).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vpp.posterior.prediction import Answer, Value, settled
from vpp.posterior.weights import Floats

ERROR_PRIOR = (1.0, 9.0)
"""a, b of epsilon ~ Beta(a, b): a tenth of the rows is wrong, held as firmly as ten rows would hold it.

With 0 to 30 % of the labels flipped, the rows are as probable under Beta(1, 9) as under Beta(1, 5) and Beta(0.7, 5), to
a tenth of a nat; under the uniform law they are a nat less probable.
"""
VARIANCE_PRIOR = (1.0, 0.1)
"""a, s of tau ~ InvGamma(a, a (s R)^2) with R the targets' spread: errors of a tenth of it, held like two rows."""
TAILS = (0.025, 0.975)
"""Ends of the central 95 % interval of an estimated noise."""
LARGEST = 1e300
"""Largest variance, so that no ratio of squares is NaN."""
LOGITS = np.linspace(-16.0, 16.0, 1_600)
"""Grid of the logit of epsilon: fine enough for 10,000 rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A sentence's estimated noise: the share of rows that it gets wrong, or the standard deviation of its errors."""

    estimate: float
    low: float
    high: float


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

    def log_likelihood(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> float:
        return _sum(self.terms(predictions, targets))

    def predictive(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> "GaussianLikelihood":
        return self


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
        right, wrong = math.log1p(-self.epsilon), math.log(self.epsilon / self.n_shares)
        terms = np.where(correct(labels, targets), right, wrong).astype(np.float64)
        for i, answer in enumerate(predictions):
            if isinstance(answer, dict):
                share = answer.get(str(targets[i]), 0.0)
                # log sum_c q(c | x, theta) p(y | c), with p(y | c) of Eq. 6; probability on no label counts as wrong
                terms[i] = math.log(share * (1 - self.epsilon) + (1 - share) * self.epsilon / self.n_shares)
        return terms

    def log_likelihood(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> float:
        return _sum(self.terms(predictions, targets))

    def predictive(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> "ZeroOneLikelihood":
        return self


def _sum(terms: Floats) -> float:
    """Sum of one term a row. Equal terms in another order give the same bits: equally good sentences tie."""
    with np.errstate(over="ignore"):
        return float(np.sort(terms).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegratedZeroOne:
    """Eq. 6 with epsilon ~ Beta(a, b) integrated out.

    An abstention counts as a blind guess, 1/C right and (C - 1)/C wrong: a sentence gains nothing by silence where it
    would guess, and nothing by guessing where it would be silent. So does a graded answer's probability on no label.
    """

    n_shares: int = 1

    def log_likelihood(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> float:
        """log p(D | theta) of all rows together."""
        if any(isinstance(answer, dict) for answer in predictions):
            return self._graded(predictions, targets)
        a, b = self._posterior(predictions, targets)
        # log ∫ (1 - ε)^r (ε / (C - 1))^w Beta(ε; a, b) dε = log B(a + w, b + r) - log B(a, b) - w log(C - 1)
        return _log_beta(a, b) - _log_beta(*ERROR_PRIOR) - (a - ERROR_PRIOR[0]) * math.log(self.n_shares)

    def predictive(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> ZeroOneLikelihood:
        """Law of one more row, given these: Eq. 6 with the mean of epsilon; of a graded answer's, an approximation."""
        a, b = self._posterior(predictions, targets)
        return ZeroOneLikelihood(epsilon=a / (a + b), n_shares=self.n_shares)

    def noise(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> Noise:
        """Mean and central interval of epsilon | D."""
        from scipy.special import betaincinv  # imported late: it takes a moment

        a, b = self._posterior(predictions, targets)
        low, high = map(float, betaincinv(a, b, TAILS))
        return Noise(estimate=a / (a + b), low=low, high=high)

    def _posterior(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> tuple[float, float]:
        """a + w and b + r, with the rows that are wrong and right; a graded answer counts in part."""
        shares = [self._share(answer, target) for answer, target in zip(predictions, targets, strict=True)]
        right = math.fsum(shares)
        return ERROR_PRIOR[0] + len(shares) - right, ERROR_PRIOR[1] + right

    def _share(self, answer: Answer, target: Value | None) -> float:
        """Return how far the answer is right, a blind guess included."""
        right, silence = _grade(answer, target)
        return right + silence / (self.n_shares + 1)

    def _graded(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> float:
        """The same integral by the trapezoidal rule over the logit of epsilon."""
        a, b = ERROR_PRIOR
        epsilon, rest = _sigmoid(LOGITS), _sigmoid(-LOGITS)
        step = LOGITS[1] - LOGITS[0]
        # Beta(ε; a, b) dε = ε^a (1 - ε)^b / B(a, b) dlogit
        log_p = a * np.log(epsilon) + b * np.log(rest) - _log_beta(a, b) + math.log(step)
        wrong = epsilon / self.n_shares
        guess = np.exp((np.log(rest) + self.n_shares * np.log(wrong)) / (self.n_shares + 1))
        for answer, target in zip(predictions, targets, strict=True):
            q, silence = _grade(answer, target)
            log_p += np.log(q * rest + (1 - q - silence) * wrong + silence * guess)
        return float(np.logaddexp.reduce(log_p))


def _grade(answer: Answer, target: Value | None) -> tuple[float, float]:
    """Return the probability of the target, and that on no label."""
    if isinstance(answer, dict):
        return answer.get(str(target), 0.0), max(0.0, 1 - math.fsum(answer.values()))
    return float(answer is not None and answer == target), float(answer is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegratedGaussian:
    """Gaussian errors with their variance tau ~ InvGamma(a, b) integrated out: Student's t, with its constants."""

    scale: float
    """b / a of the prior, in squared units of the target; positive."""
    abstention_error: float
    """Error of an abstention: a blind guess, the typical distance of two training targets."""

    def log_likelihood(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> float:
        """log p(D | theta) of all rows together; -inf where the squares of the errors overflow."""
        shape, rate = self._posterior(predictions, targets)
        a = VARIANCE_PRIOR[0]
        # log ∫ Π N(y; f, τ) InvGamma(τ; a, b) dτ = log Γ(a_n)/Γ(a) + a log b - a_n log b_n - n/2 log 2π
        return (
            math.lgamma(shape) - math.lgamma(a) + a * math.log(a * self.scale)
            - (shape * math.log(rate) if rate < math.inf else math.inf) - (shape - a) * math.log(2 * math.pi)
        )  # fmt: skip

    def predictive(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> GaussianLikelihood:
        """Law of one more row, given these: Student's t, approximated by the Gaussian of its scale."""
        shape, rate = self._posterior(predictions, targets)
        return GaussianLikelihood(tau=min(rate / shape, LARGEST), abstention_error=self.abstention_error)

    def noise(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> Noise:
        """Estimate and central interval of the standard deviation sqrt(tau) | D, in the target's unit."""
        from scipy.special import gammainccinv  # imported late: it takes a moment

        shape, rate = self._posterior(predictions, targets)
        middle = math.sqrt(min(rate / shape, LARGEST))
        # b_n / tau ~ Gamma(a_n), and sqrt(b_n) = middle sqrt(a_n)
        low, high = (middle * math.sqrt(shape / each) for each in gammainccinv(shape, TAILS))
        return Noise(estimate=middle, low=low, high=high)

    def _posterior(self, predictions: Sequence[Answer], targets: Sequence[Value | None]) -> tuple[float, float]:
        """a_n = a + n/2 and b_n = b + S/2, with S the sum of squared errors."""
        errors = regression_errors(predictions, targets, abstention_error=self.abstention_error)
        a = VARIANCE_PRIOR[0]
        with np.errstate(over="ignore"):
            return a + errors.size / 2, a * self.scale + _sum(np.square(errors)) / 2


RowLikelihood = GaussianLikelihood | ZeroOneLikelihood
"""Rows are independent, and have a term each."""
Likelihood = RowLikelihood | IntegratedZeroOne | IntegratedGaussian


def _sigmoid(logit: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-logit)), dtype=np.float64)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def labels_alone(targets: Sequence[Value | None], classes: Sequence[str]) -> float:
    """log p(y) of labels that depend on no input: their probabilities, uniform on the simplex, integrated out."""
    counts = Counter(targets)
    # log ∫ Π p_c^n_c Dirichlet(p; 1, …, 1) dp = log Γ(C) - log Γ(N + C) + sum_c log Γ(n_c + 1)
    fixed = math.lgamma(len(classes)) - math.lgamma(len(targets) + len(classes))
    return fixed + math.fsum(math.lgamma(counts[label] + 1) for label in classes)


def integrated_gaussian(targets: npt.ArrayLike) -> IntegratedGaussian:
    """The likelihood whose prior knows the targets' spread. targets: (N,) of the training rows.

    The spread is the IQR; if that is 0, because most targets are one value, the range; if all are equal, their size.
    """
    y = np.asarray(targets, dtype=np.float64)
    q75, q25 = np.percentile(y, [75, 25])
    spread = float(q75 - q25) or float(np.ptp(y)) or float(np.max(np.abs(y))) or 1.0
    # E (y - y')^2 = 2 Var y, of two targets drawn independently
    with np.errstate(over="ignore"):
        apart = min(float(np.std(y)) * math.sqrt(2), math.sqrt(LARGEST))
    return IntegratedGaussian(scale=_squared(VARIANCE_PRIOR[1] * spread), abstention_error=apart)


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


def _squared(scale: float) -> float:
    """Square of the scale, clipped so that it is a positive finite float."""
    return min(max(scale, 1e-150), 1e150) ** 2

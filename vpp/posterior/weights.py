"""Log-weights, ESS and resampling (Eq. 10; Section 3.3), and the decision of Eq. 9. Natural logarithms.

Tempered posteriors p(D | theta)^phi p(theta) (Section 2): phi runs from 0, the prior, to 1, the posterior; it is
1 / beta in the paper's letters. Source: Del Moral, Doucet, Jasra, Sequential Monte Carlo samplers (2006); Chopin,
Papaspiliopoulos, An Introduction to Sequential Monte Carlo (2020), chapter 17.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def tempered_log_weights(log_lik: npt.ArrayLike, *, beta: float) -> Floats:
    """Unnormalised log-weights of Eq. 10. `beta` DIVIDES: 10 is flat, 1 is sharp; the inverse temperature is 1/beta.

    log_lik: (K,) natural log; -inf allowed. beta: positive. Returns (K,).
    """
    log_lik = np.asarray(log_lik, dtype=np.float64)
    # w_k ∝ exp(log p(buffer | theta_k) / beta_t)                                   (Eq. 10)
    return log_lik / beta


def normalise(log_weights: npt.ArrayLike) -> Floats:
    """(K,) weights that sum to 1, from log-weights with any constant added.

    If all are -inf, no particle explains the data, and the weights are equal. log_weights: (K,), K at least 1;
    NaN or +inf raises ValueError.
    """
    log_w = np.asarray(log_weights, dtype=np.float64)
    if np.isnan(log_w).any() or np.isposinf(log_w).any():
        raise ValueError("a log-weight is NaN or +inf: weights are undefined")
    peak = log_w.max()
    if np.isneginf(peak):
        return np.full(log_w.size, 1 / log_w.size)
    w = np.exp(log_w - peak)
    return np.asarray(w / w.sum(), dtype=np.float64)


def ess(weights: npt.ArrayLike) -> float:
    """Effective sample size 1 / sum_k w_k^2 (Section 3.3), between 1 and K. weights: (K,) summing to 1.

    M equal weights beside zeros give exactly M, so that an ESS of K/2 is not below K/2.
    """
    w = np.asarray(weights, dtype=np.float64)
    w = w / w.max()
    # ESS = 1 / sum_k w_k^2 = (sum_k w_k)^2 / sum_k w_k^2
    return float(w.sum() ** 2 / np.square(w).sum())


def ess_of_sentences(texts: Sequence[str], weights: Sequence[float], *, constant: float = 0.0) -> float:
    """ESS over the distinct texts. constant: weight of none, which leaves all alike. texts, weights: (K,)."""
    shares = dict.fromkeys(texts, constant / len(set(texts)))
    for text, weight in zip(texts, weights, strict=True):
        shares[text] += weight
    return ess([*shares.values()])


Ints = npt.NDArray[np.int64]


def systematic_resample(weights: npt.ArrayLike, *, u: float) -> Ints:
    """Systematic resampling (Section 3.3; Algorithm 2, line 9): K equally spaced pointers on the cumulative weights.

    Returns the ancestors of the new population, in ascending order; particle k gets floor or ceil of K w_k copies.

    weights: (K,) non-negative, normalised here; a negative, NaN or zero total raises ValueError.
    u: uniform number in [0, 1), the offset of all pointers. Returns (K,) indices into the old population.
    """
    w = np.asarray(weights, dtype=np.float64)
    total = w.sum()
    if not (np.isfinite(total) and total > 0) or (w < 0).any():
        raise ValueError("weights must be finite, non-negative and not all zero")
    cumulative = np.cumsum(w / total)
    # A cumulative sum can end below 1, and a pointer can round up to 1: the last particle with weight takes the rest.
    cumulative[np.flatnonzero(w)[-1] :] = np.inf
    pointers = (np.arange(w.size) + u) / w.size
    return np.searchsorted(cumulative, pointers, side="right").astype(np.int64)


def log_acceptance(log_lik_proposal: float, log_lik: float) -> float:
    """log alpha of Eq. 9: prior and proposal ratios are left out, as in the paper (Section 3.2).

    Both arguments are natural logs on the SAME rows; -inf allowed (two -inf tie: log alpha = 0); NaN raises ValueError.
    """
    if math.isnan(log_lik_proposal) or math.isnan(log_lik):
        raise ValueError("a log-likelihood is NaN: the acceptance ratio is undefined")
    if log_lik == -math.inf:
        return 0.0
    # alpha = min(1, p(batch | proposal) / p(batch | theta))                        (Eq. 9)
    return min(0.0, log_lik_proposal - log_lik)


def accepts(log_alpha: float, *, u: float) -> bool:
    """True if log u < log alpha; ties accept. u: the uniform number in [0, 1) drawn before the evaluation."""
    return log_alpha >= 0 or math.log(u or 5e-324) < log_alpha


HALVINGS = 60
"""Bisection steps, enough to reach the last bit of a float."""


def carried_log_weights(
    log_weights: npt.ArrayLike, log_lik: npt.ArrayLike, *, exponent: float, previous: float
) -> Floats:
    """Log-weights of the tempered posterior at `exponent`, from those at `previous`.

    log_weights, log_lik: (K,) natural log; -inf allowed. Returns (K,).
    """
    log_w, ll = np.asarray(log_weights, dtype=np.float64), np.asarray(log_lik, dtype=np.float64)
    if exponent == previous:
        return log_w.copy()  # 0 times -inf is NaN
    # w_t = w_{t-1} p(D | theta)^(phi_t - phi_{t-1})
    return log_w + (exponent - previous) * ll


def log_mean_weight(log_weights: npt.ArrayLike) -> float:
    """log (1/K) sum_k w_k, the factor of the evidence. log_weights: (K,) natural log; all -inf gives -inf."""
    log_w = np.asarray(log_weights, dtype=np.float64)
    peak = float(log_w.max())
    if math.isinf(peak):
        return peak
    return peak + math.log(float(np.exp(log_w - peak).mean()))


def next_exponent(
    log_weights: npt.ArrayLike, log_lik: npt.ArrayLike, *, previous: float, ceiling: float, target: float
) -> float:
    """Largest exponent up to `ceiling` at which the ESS of the carried weights is at least `target`.

    If no larger exponent keeps the ESS, the smallest step that bisection can make. Always above `previous`, unless that
    is the ceiling. log_weights, log_lik: (K,) natural log. target: an ESS, between 1 and K.
    """

    def enough(exponent: float) -> bool:
        log_w = carried_log_weights(log_weights, log_lik, exponent=exponent, previous=previous)
        return ess(normalise(log_w)) >= target

    if previous >= ceiling or enough(ceiling):
        return ceiling
    low, high = previous, ceiling
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low if low > previous else high

"""Tempered posteriors p(D | theta)^phi p(theta): carried log-weights, the next exponent, the evidence (Section 2).

The exponent phi runs from 0, the prior, to 1, the posterior; it is 1 / beta in the paper's letters. Natural logarithms.
Source: Del Moral, Doucet, Jasra, Sequential Monte Carlo samplers (2006); Chopin, Papaspiliopoulos, An Introduction to
Sequential Monte Carlo (2020), chapter 17.
"""

import math

import numpy as np
import numpy.typing as npt

from vpp.posterior.weights import Floats, ess, normalise

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

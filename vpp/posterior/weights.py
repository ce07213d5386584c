"""Log-weights: tempering, normalising, effective sample size (Eq. 10; Section 3.3). Natural logarithms."""

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

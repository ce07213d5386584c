"""The Metropolis-Hastings decision (Eq. 9). Natural logarithms."""

import math


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

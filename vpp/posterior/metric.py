"""How far answers are from targets: accuracy for labels, mean squared error for numbers (Eq. 1)."""

from collections.abc import Sequence

import numpy as np

from vpp.posterior.likelihood import correct, regression_errors
from vpp.posterior.prediction import Value


def accuracy(answers: Sequence[Value | None], targets: Sequence[Value | None]) -> float:
    """Share of right labels, a fraction; an abstention is wrong. answers, targets: (N,), N at least 1."""
    return float(np.mean(correct(answers, targets)))


def mean_squared_error(
    answers: Sequence[Value | None], targets: Sequence[Value | None], *, abstention_error: float
) -> float:
    """In squared units of the target; an abstention is `abstention_error` off. answers, targets: (N,), N at least 1."""
    errors = regression_errors(answers, targets, abstention_error=abstention_error)
    with np.errstate(over="ignore"):
        return float(np.mean(np.square(errors)))

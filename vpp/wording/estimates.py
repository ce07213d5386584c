"""Figures with their standard errors: `95.1 % ± 2.3 points`, `0.81 ± 0.07`."""

import math

from vpp.inspection.scores import Score
from vpp.posterior.metric import Estimate
from vpp.wording.words import fixed, number, percent


def share_text(found: Estimate) -> str:
    """A share in percent, its standard error in points; without one where the rows tell none or all agree."""
    error = found.standard_error
    return percent(found.value, decimals=1) + (f" ± {fixed(100 * error, 1)} points" if error else "")


def number_text(found: Estimate) -> str:
    """A number and its standard error, where the rows tell one."""
    return number(found.value) + error_text(found)


def miss_words(mse: float) -> str:
    """`off by about 1.2 (root of the mean squared error 1.44)`, in the target's unit."""
    return f"off by about {number(math.sqrt(mse))} (root of the mean squared error {number(mse)})"


def error_text(found: Estimate) -> str:
    """` ± 0.07`; empty where the rows tell no standard error, or it is 0."""
    error = found.standard_error
    return f" ± {number(error, 2)}" if error and math.isfinite(error) else ""


def beside_text(score: Score) -> str:
    """What stands beside the metric: `balanced 95.1 %`; `MAE 0.81, R² 0.92` for numbers."""
    if score.labels:
        return f"balanced {percent(score.labels.balanced.value, decimals=1)}"
    if score.numbers is None:
        return ""
    r2 = score.numbers.r2
    return f"MAE {number(score.numbers.mae.value)}" + (f", R² {r2_text(r2.value)}" if r2 else "")


def r2_text(value: float) -> str:
    """To three digits; far below 0 a number as any other."""
    return number(value, 3) if abs(value) >= 1 else fixed(value, 3)

"""Verdicts on the weights and the accept step of a run, with the values at which they change their words."""

import math

from vpp.posterior.metric import CHANCE
from vpp.show.words import EQUAL, in_words, percent, shortest

ONE_VOICE = 1.5
"""One particle holds all weight below this ESS, which rounds to one."""
LOW_ACCEPTANCE = 0.1
"""With fewer than one in ten, the texts hardly change."""
HIGH_ACCEPTANCE = 0.9
"""With more than nine in ten, rejection has little effect."""
FEW_JUDGED = 10
"""With fewer proposals, one more or less moves the share by over 10 points."""
NEARLY_ALIKE = 0.95
"""ESS as a share of K from which the weights are called nearly equal."""


def _is_below(value: float, threshold: float) -> bool:
    """True if a value is below by more than a rounding error: 7 of 100 are not below 7 %."""
    return value < threshold - EQUAL


def ess_sentence(ess: float, size: int, threshold: float | None = None, *, of: str = "particle") -> str:
    """`ESS 5.8 of 10: about six particles carry the weight.`

    ess: between 1 and `size`, the number of particles, or of what `of` names. threshold: the fraction of `size` below
    which the population is resampled; None if no resampling follows.
    """
    next_words = "; resampling next" if threshold is not None and size > 1 and ess < threshold * size else ""
    value = shortest(round(ess)) if math.isclose(ess, round(ess), abs_tol=EQUAL) else f"{ess:.1f}"
    carriers = f"about {in_words(max(2, round(ess)))} {of}s carry the weight"
    if size == 1:
        carriers = f"there is only one {of}"
    elif _is_below(ess, ONE_VOICE):
        carriers = f"one {of} holds nearly all weight"
    elif not _is_below(ess, NEARLY_ALIKE * size):
        nearly = "" if math.isclose(ess, size, abs_tol=1e-6) else "nearly "
        carriers = f"{'both' if size == 2 else f'all {in_words(size)}'} {of}s have {nearly}equal weight"
    return f"ESS {value} of {size}: {carriers}{next_words}."


def acceptance_sentence(accepted: int, judged: int) -> str:
    """`75 % accepted: six of eight proposals.`"""
    if judged == 0:
        return "No proposal has been judged yet."
    n_accepted = in_words(accepted) if accepted else "none"
    proposals = "proposal" if judged == 1 else "proposals"
    return f"{percent(accepted / judged)} accepted: {n_accepted} of {in_words(judged)} {proposals}."


def acceptance_verdict(accepted: int, judged: int) -> str:
    """`Low acceptance: the texts hardly change.`; empty if the share is neither low nor high."""
    if judged < FEW_JUDGED:
        return "Too few proposals for a verdict."
    if _is_below(accepted / judged, LOW_ACCEPTANCE):
        return "Low acceptance: the texts hardly change."
    if _is_below(HIGH_ACCEPTANCE, accepted / judged):
        return f"Acceptance near {percent(1)}: rejection has little effect."
    return ""


def chance_verdict(p: float) -> str:
    return "significant on these rows" if _is_below(p, CHANCE) else "not significant on these rows"

"""Verdicts on diagnostics with the values at which they change their words, and calibrated doubt."""

import math
from collections.abc import Sequence
from statistics import pstdev

from vpp.findings.points import Point, holds_truth, possible_labels, possible_range
from vpp.posterior.calibration import Conformal, RejectOption
from vpp.posterior.prediction import TIE
from vpp.problem import Prediction
from vpp.show.blocks import Metric, count_metric
from vpp.show.words import (
    EQUAL,
    counted,
    fixed,
    in_words,
    integer,
    interval_text,
    number,
    percent,
    share_words,
    shortest,
    target_text,
)

ONE_VOICE = 1.5
"""One particle holds all weight below this ESS, which rounds to one."""
LOW_ACCEPTANCE = 0.1
"""With fewer than one in ten, the texts hardly change."""
HIGH_ACCEPTANCE = 0.9
"""With more than nine in ten, rejection has little effect."""
FEW_JUDGED = 10
"""With fewer proposals, one more or less moves the share by over 10 points."""
ABSTAINED = 0.05
"""One unreadable answer in twenty is enough to look at the raw answers."""
FEW_ROWS = 30
"""With 30 rows, a share has an error of up to about 18 points either way."""
FOLLOWS = 0.5
"""The usual word for a correlation of 0.5 is strong."""
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


def abstention_verdict(silent: int, asked: int) -> str:
    """Judge the share of unreadable answers. asked: at least 1."""
    if not silent:
        return "Every answer could be read."
    share = percent(silent / asked)
    if not _is_below(silent / asked, ABSTAINED):
        return f"{share} could not be read: look at the raw answers before you trust the rest."
    return f"{share} could not be read; these have no vote and no share in a mean."


def too_few_words(n: int) -> str:
    few = f"{counted(n, 'test row')} {'is' if n == 1 else 'are'} too few for a verdict: fewer than"
    return f"{few} {integer(FEW_ROWS)}." if n < FEW_ROWS else ""


def miss_verdict(mse: float, truths: Sequence[float]) -> str:
    """Compare a typical miss with the spread of the truths. truths: at least one."""
    miss, apart = math.sqrt(mse), pstdev(truths)
    own, other = number(miss, 3), number(apart, 3)
    if own == other:
        return f"A typical miss is {own}; the best single number for every row misses by as much."
    always = "the same number for every row would miss by" if miss < apart else "the best single number misses by only"
    return f"A typical miss is {own}; {always} {other}."


def spread_verdict(spread: float, mse: float) -> str:
    """Compare the particles' spread with their mean's error."""
    miss = math.sqrt(mse)
    if spread == miss == 0:
        return "No spread and no miss: they agree, and they are right."
    if spread < miss:
        below = f"Below a typical miss, {number(miss, 3)}"
        return f"{below}: the particles agree more than they are right, or the rest is noise."
    return f"Not below a typical miss, {number(miss, 3)}: the particles disagree at least as much as they are wrong."


def follows_verdict(rho: float, n: int) -> str:
    """Judge whether a wide spread goes with a large error. n: rows, at least one."""
    # Under no link rho has a standard deviation of nearly 1 / sqrt(n).
    noise = 2 / math.sqrt(n)
    if _is_below(abs(rho), noise):
        return f"No clear link: chance alone can reach {fixed(min(noise, 1))} on {counted(n, 'row')}."
    if _is_below(rho, FOLLOWS):
        return "The spread hardly predicts the error."
    return "The error is larger where answers spread more."


# Calibrated doubt: what is possible, what decides a row, and what was promised


MOST_GRADES = 4


def possible_words(point: Point) -> str:
    """`one of A, B` or `any label`. The point is calibrated."""
    labels = possible_labels(point)
    is_all = point.reject.conformal is not None and len(labels) == len(point.reject.conformal.classes) > 2
    return "any label" if is_all else f"one of {', '.join(labels)}"


def reason_words(prediction: Prediction) -> str:
    why = prediction.explanation or prediction.reason or ""
    if not prediction.shares:
        return why
    likeliest_first = sorted(prediction.shares.items(), key=lambda each: (-each[1], each[0]))[:MOST_GRADES]
    return f"{', '.join(f'{label} {percent(share)}' for label, share in likeliest_first)}. {why}".strip()


def range_words(point: Point, decimals: int | None) -> str:
    """`2.1 to 3.4`, or `any number`; empty without a calibration."""
    ends = possible_range(point)
    if ends is None:
        return ""
    low, high = (target_text(each, decimals) for each in ends)
    return f"{low} to {high}" if all(map(math.isfinite, ends)) else "any number"


def possible_sentence(point: Point, conformal: Conformal, decimals: int | None) -> str:
    """What is possible, and what that is worth: for one label, how often it was right on the calibration rows."""
    reject = point.reject
    if point.decision is not None:
        right = "No calibration row was decided"
        if n := reject.n_decided:
            right = f"Of such answers to calibration rows, {integer(reject.n_right)} of {integer(n)} were right"
            right += f": that means {interval_text(reject.n_right, n)}"
        return f"Possible: {point.decision} alone. {right}."
    what = possible_words(point) if point.is_label else range_words(point, decimals)
    return f"Possible: {what}. {promise_sentence(conformal)}"


def promise_sentence(conformal: Conformal) -> str:
    rows, level, new = counted(conformal.n, "calibration row"), percent(conformal.level), "similar new rows"
    if conformal.by_group:
        rows, new = f"{rows}, each of another group", "new rows of similar groups"
    if conformal.rank > conformal.n:
        return f"{rows}: too few for {level}, which takes {conformal.least_rows}. So everything stays possible."
    if not math.isfinite(conformal.threshold):
        return f"{rows}: on too many of them no particle answered. So everything stays possible."
    low, high = conformal.coverage_band()
    return (
        f"With {rows}, the truth is possible for at least {level} of {new} on average; one draw of them "
        f"typically gives {percent(low)} to {percent(high)}."
    )


def rule_sentence(reject: RejectOption, held: str) -> str:
    """Say what decides a row, or by how much a range is widened. held: what a label's share is a share of."""
    limit = reject.conformal.threshold if reject.conformal else math.inf
    if not math.isfinite(limit):
        return ""
    if reject.conformal and not reject.conformal.classes:
        how = "narrowed" if limit < 0 else "widened"
        return f"The particles’ range is {how} by {number(abs(limit))} at each end."
    if limit >= 1 - TIE:
        return "No vote decides a row: on too many calibration rows no weight was on the truth."
    if limit < reject.clear:
        least = share_words(reject.clear)
        return f"A label decides a row with {least} of the {held}: the calibration rows ask for no more."
    return f"A label decides a row with more than {percent(limit)} of the {held}."


def promised_metric(rows: Sequence[Point], conformal: Conformal) -> Metric:
    """Count the rows whose truth was possible, beside the promise. rows: at least one, with their truths."""
    promised = f"{percent(conformal.level)} promised by {counted(conformal.n, 'calibration row')}"
    held = sum(holds_truth(point) for point in rows)
    if rows[0].is_label:
        size = math.fsum(len(possible_labels(point)) for point in rows) / len(rows)
        return count_metric("Truth possible", held, len(rows), f"{promised}; {fixed(size)} labels a row.")
    widths = [high - low for low, high in (possible_range(point) or (-math.inf, math.inf) for point in rows)]
    width = number(math.fsum(widths) / len(widths))
    return count_metric("Truth possible", held, len(rows), f"{promised}; ranges are {width} wide on average.")

"""Calibrated doubt in sentences: what is possible, what decides a row, and what was promised."""

import math
from collections.abc import Sequence

from vpp.inspection.points import Point, holds_truth, possible_labels, possible_range
from vpp.posterior.conformal import Conformal
from vpp.posterior.prediction import CLEAR, CLEAR_WORDS, TIE
from vpp.problem import Prediction
from vpp.wording.markup import Metric, count_metric
from vpp.wording.words import counted, fixed, number, percent, target_text

MOST_GRADES = 4
"""Most labels listed with their probability."""


def possible_words(point: Point) -> str:
    """`one of A, B` or `any label`. The point is calibrated."""
    labels = possible_labels(point)
    is_all = point.calibrated is not None and len(labels) == len(point.calibrated.classes) > 2
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


def possible_sentence(point: Point, calibrated: Conformal, decimals: int | None) -> str:
    if not point.is_label:
        what = range_words(point, decimals)
    else:
        what = f"{point.decision} alone" if point.decision is not None else possible_words(point)
    return f"Possible: {what}. {promise_sentence(calibrated)}"


def promise_sentence(calibrated: Conformal) -> str:
    rows, level = counted(calibrated.n, "calibration row"), percent(calibrated.level)
    if calibrated.rank > calibrated.n:
        return f"{rows}: too few for {level}, which takes {calibrated.least_rows}. So everything stays possible."
    if not math.isfinite(calibrated.threshold):
        return f"{rows}: on too many of them no particle answered. So everything stays possible."
    low, high = calibrated.coverage_band()
    return (
        f"With {rows}, the truth is possible for at least {level} of similar new rows on average; one draw of them "
        f"typically gives {percent(low)} to {percent(high)}."
    )


def rule_sentence(calibrated: Conformal, held: str) -> str:
    """Say what decides a row, or by how much a range is widened. held: what a share of the vote is a share of."""
    limit = calibrated.threshold
    if not math.isfinite(limit):
        return ""
    if not calibrated.classes:
        how = "narrowed" if limit < 0 else "widened"
        return f"The particles’ range is {how} by {number(abs(limit))} at each end."
    if limit >= 1 - TIE:
        return "No vote decides a row: on too many calibration rows no weight was on the truth."
    if limit < CLEAR:
        return f"A label decides a row with {CLEAR_WORDS} of the {held}: the calibration rows ask for no more."
    return f"A label decides a row with more than {percent(limit)} of the {held}."


def promised_metric(rows: Sequence[Point], calibrated: Conformal) -> Metric:
    """Count the rows whose truth was possible, beside the promise. rows: at least one, with their truths."""
    promised = f"{percent(calibrated.level)} promised by {counted(calibrated.n, 'calibration row')}"
    held = sum(holds_truth(point) for point in rows)
    if rows[0].is_label:
        size = math.fsum(len(possible_labels(point)) for point in rows) / len(rows)
        return count_metric("Truth possible", held, len(rows), f"{promised}; {fixed(size)} labels a row.")
    widths = [high - low for low, high in (possible_range(point) or (-math.inf, math.inf) for point in rows)]
    width = number(math.fsum(widths) / len(widths))
    return count_metric("Truth possible", held, len(rows), f"{promised}; ranges are {width} wide on average.")

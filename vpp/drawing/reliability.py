"""Doubt against error: each finding in a sentence, over a folded table of its numbers."""

import math
from collections.abc import Iterable, Sequence
from functools import partial

from vpp.drawing.dissent import order_verdict
from vpp.inspection.points import VoteReliability
from vpp.posterior.calibration import BINS, RiskCoverage
from vpp.wording.markup import caption, table
from vpp.wording.words import counted, fixed, integer, interval_text, number, percent

TENTHS = tuple(k / 10 for k in range(1, 11))


def risk_html(curve: RiskCoverage, *, is_label: bool) -> str:
    """Error if only the most certain rows are answered, by the share that is."""
    risk = partial(percent, decimals=1) if is_label else number
    rows = ((percent(share), integer(curve.rows_at(share)), risk(curve.at(share))) for share in TENTHS)
    head = ("answered", "rows", "wrong" if is_label else "mean squared error")
    return _folded("Error by share answered", risk_words(curve, is_label=is_label), head, rows)


def risk_words(curve: RiskCoverage, *, is_label: bool) -> str:
    n = len(curve.risk)
    if is_label and curve.area_random == 0:
        return f"No answer is wrong: on the {counted(n, 'row')} there is no error to rank."
    half, all_rows = f"the most certain half ({counted(curve.rows_at(0.5), 'row')})", f"all {integer(n)}"
    first, last = curve.at(0.5), curve.at(1)
    words = f"Answer {half} and the mean squared error is {number(first)}; answer {all_rows} and it is {number(last)}"
    if is_label:
        words = f"Answer {half} and {percent(first, 1)} are wrong; answer {all_rows} and {percent(last, 1)} are"
    draws = "; at a tie one label is drawn" if is_label else ""
    return f"{words}; {order_verdict(curve)}. Rows of equal certainty count with their mean{draws}."


def reliability_html(result: VoteReliability) -> str:
    """How often the leading label is right, by its share."""
    rows = (
        (
            f"over {percent(each.low)} to {percent(each.high)}",
            integer(each.n),
            percent(each.confidence, 1),
            f"{percent(each.accuracy, 1)} ({integer(each.n_right)})",
            interval_text(each.n_right, each.n),
        )
        for each in result.bins
    )
    head = ("leading label’s share", "rows", "mean share", "right", "95 % interval")
    return _folded("Right by share of the vote", reliability_words(result), head, rows)


def reliability_words(result: VoteReliability) -> str:
    n = sum(each.n for each in result.bins)
    if not n:
        return "No row has a leading label: there is no share to judge."
    confidence = math.fsum(each.n * each.confidence for each in result.bins) / n
    right = sum(each.n_right for each in result.bins) / n
    without = counted(result.n_without_leader, "row")
    left_out = f"; {without} without a leading label left out" if result.n_without_leader else ""
    return (
        f"The leading label’s share of the answers is {percent(confidence, 1)} on average, and it is right on "
        f"{percent(right, 1)} of {counted(n, 'row')}; the gap over {BINS} bins is {fixed(result.calibration_error, 3)}"
        f"{left_out}."
    )


def _folded(title: str, words: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    numbers = table(head, rows, right=range(1, len(head)))
    return f'{caption(words)}<details class="astable"><summary>{title}</summary>{numbers}</details>'

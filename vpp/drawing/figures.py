"""Charts (Plotly): the effective sample size by step, and doubt against error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go

from vpp.data.dataset import Dataset
from vpp.drawing.dissent import judged, order_verdict
from vpp.findings.points import SpreadReliability, VoteReliability, points
from vpp.posterior.calibration import BINS, RiskCoverage
from vpp.posterior.metric import wilson
from vpp.runs.view import RunView
from vpp.show.theme import Mode, palette, template
from vpp.show.words import counted, fixed, integer, interval_text, number, percent

HEIGHT = 280
"""Of a chart, in pixels."""
TITLE = 48
"""Margin above a chart for its title, in pixels."""
WHOLE = {"range": [-0.05, 1.1], "tickvals": [0, 0.5, 1], "tickformat": ".0%"}
"""An axis from 0 to 1, with room for a marker at either end."""
SHARE = {"range": [-0.02, 1.05], "tickvals": [0, 0.25, 0.5, 0.75, 1], "tickformat": ".0%"}
TENTHS = tuple(k / 10 for k in range(1, 11))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart, and the same in words and numbers."""

    title: str
    caption: str
    chart: go.Figure
    alt: str
    """What the chart shows, as a sentence without its full stop."""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def charts(view: RunView, dataset: Dataset) -> tuple[go.Figure, ...]:
    """Return charts of the run, each with its title: doubt against error on evaluated test rows."""
    every: list[go.Figure] = []
    test = view.evaluated.get("test")
    if test is not None and len(test.weights) > 1:
        result, _, _ = judged(points(test, dataset), dataset, "weight")
        figures = doubt_figures(result, "light")
        every += [figure.chart.update_layout(title=figure.title, margin={"t": TITLE}) for figure in figures]
    return tuple(every)


def doubt_figures(result: VoteReliability | SpreadReliability, mode: Mode) -> tuple[Figure, ...]:
    """Risk against coverage, unless all rows are equally certain; and for labels the reliability diagram."""
    is_label = isinstance(result, VoteReliability)
    risk = () if result.is_equally_sure else (risk_figure(result.curve, mode, is_label=is_label),)
    return (*risk, reliability_figure(result, mode)) if isinstance(result, VoteReliability) else risk


def risk_figure(curve: RiskCoverage, mode: Mode, *, is_label: bool) -> Figure:
    """Error if only the most certain rows are answered, by the share that is."""
    n, random = len(curve.risk), curve.area_random
    top = max((risk for risk in curve.risk if math.isfinite(risk)), default=0.0) or 1.0
    unit, risk = ("wrong", partial(percent, decimals=1)) if is_label else ("mean squared error", number)
    error = f"%{{y:{'.1%' if is_label else '.4g'}}} {unit}"
    line = _scatter(
        [(i / n, risk if math.isfinite(risk) else None) for i, risk in enumerate(curve.risk, 1)],
        mode="lines" if n > 1 else "markers",
        line={"color": palette(mode)["ink"], "width": 1.8, "shape": "vh"},
        customdata=list(range(1, n + 1)),
        hovertemplate=f"%{{customdata}} of {integer(n)} answered: {error}<extra></extra>",
    )
    # The name is above the line, or below it where the curve begins above.
    shift = 10 if max(curve.risk[: curve.rows_at(0.25)]) <= random else -10
    dashes, name = _dashed(mode, (random, random), name="random order", at=0.01, shift=shift)
    y = {"range": [-0.03 * top, 1.18 * top], "tickformat": ".2~%" if is_label else ".3~g", "nticks": 4}
    return Figure(
        title="Risk against coverage",
        caption="error if only the most certain rows are answered",
        chart=_chart(mode, dashes, line, xaxis=SHARE, yaxis=y, annotations=[name]),
        alt=_risk_words(curve, is_label=is_label),
        head=("answered", "rows", unit),
        rows=tuple((percent(share), integer(curve.rows_at(share)), risk(curve.at(share))) for share in TENTHS),
    )


def _risk_words(curve: RiskCoverage, *, is_label: bool) -> str:
    n = len(curve.risk)
    if is_label and curve.area_random == 0:
        return f"No answer is wrong: on the {counted(n, 'row')} there is no error to rank"
    half, all_rows = f"the most certain half ({counted(curve.rows_at(0.5), 'row')})", f"all {integer(n)}"
    first, last = curve.at(0.5), curve.at(1)
    words = f"Answer {half} and the mean squared error is {number(first)}; answer {all_rows} and it is {number(last)}"
    if is_label:
        words = f"Answer {half} and {percent(first, 1)} are wrong; answer {all_rows} and {percent(last, 1)} are"
    draws = "; at a tie one label is drawn" if is_label else ""
    return f"{words}; {order_verdict(curve)}. Rows of equal certainty count with their mean{draws}"


def reliability_figure(result: VoteReliability, mode: Mode) -> Figure:
    """How often the leading label is right, by its share; bars are 95 % Wilson intervals."""
    c, bins = palette(mode), result.bins
    ends = [wilson(each.n_right, each.n) for each in bins]
    above = [high - each.accuracy for each, (_, high) in zip(bins, ends, strict=True)]
    below = [each.accuracy - low for each, (low, _) in zip(bins, ends, strict=True)]
    dots = _scatter(
        [(each.confidence, each.accuracy) for each in bins],
        error_y={"array": above, "arrayminus": below, "color": c["edge"], "thickness": 1, "width": 3},
        text=[f"{integer(each.n)} " for each in bins],
        textposition="middle left",
        textfont={"color": c["ink-2"], "size": 12},
        mode="markers+text",
        marker={"size": 8, "color": c["ink"]},
        customdata=[[each.n_right, each.n] for each in bins],
        hovertemplate="share %{x:.0%}: right %{customdata[0]} of %{customdata[1]}<extra></extra>",
        cliponaxis=False,
    )
    dashes, name = _dashed(mode, (0, 1), name="as often right as sure", at=0.12, shift=-12)
    rows = (
        (
            f"over {percent(each.low)} to {percent(each.high)}",
            integer(each.n),
            percent(each.confidence, 1),
            f"{percent(each.accuracy, 1)} ({integer(each.n_right)})",
            interval_text(each.n_right, each.n),
        )
        for each in bins
    )
    return Figure(
        title="Reliability",
        caption="leading label right, by its share · numbers: rows",
        chart=_chart(mode, dashes, dots, xaxis=SHARE, yaxis=WHOLE, annotations=[name]),
        alt=_reliability_words(result),
        head=("leading label’s share", "rows", "mean share", "right", "95 % interval"),
        rows=tuple(rows),
    )


def _reliability_words(result: VoteReliability) -> str:
    n = sum(each.n for each in result.bins)
    if not n:
        return "No row has a leading label: there is no share to judge"
    confidence = math.fsum(each.n * each.confidence for each in result.bins) / n
    right = sum(each.n_right for each in result.bins) / n
    without = counted(result.n_without_leader, "row")
    left_out = f"; {without} without a leading label left out" if result.n_without_leader else ""
    return (
        f"The leading label’s share of the answers is {percent(confidence, 1)} on average, and it is right on "
        f"{percent(right, 1)} of {counted(n, 'row')}; the gap over {BINS} bins is {fixed(result.calibration_error, 3)}"
        f"{left_out}. Bars: Wilson, 95 %"
    )


def _scatter(dots: Sequence[tuple[float, float | None]], **properties: Any) -> dict[str, Any]:
    x, y = zip(*dots, strict=True) if dots else ((), ())
    return {"type": "scatter", "x": x, "y": y, **properties}


def _dashed(
    mode: Mode, ends: tuple[float, float], *, name: str, at: float, shift: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Line from x = 0 to x = 1, and its name. ends: y. at: x where the name begins. shift: of the name, pixels up."""
    color, (left, right) = palette(mode)["ink-3"], ends
    dash = {"color": color, "width": 1, "dash": "dash"}
    line = _scatter([(0, left), (1, right)], mode="lines", line=dash, hoverinfo="skip")
    note = {"text": name, "showarrow": False, "xanchor": "left", "font": {"size": 12, "color": color}}
    return line, {**note, "x": at, "y": left + at * (right - left), "yshift": shift}


def _chart(mode: Mode, *traces: dict[str, Any], **layout: Any) -> go.Figure:
    """Chart of these traces. A reader's zoom stays over a refresh of the page."""
    return go.Figure(list(traces), {"template": template(mode), "height": HEIGHT, "uirevision": "fixed", **layout})

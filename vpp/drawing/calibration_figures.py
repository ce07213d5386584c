"""Charts that set doubt against error (Plotly). Shares keep their full range."""

import math

from vpp.drawing.chart import Chart, empty_chart
from vpp.drawing.figures import Figure
from vpp.drawing.trust import order_verdict
from vpp.inspection.points import SpreadReliability, VoteReliability
from vpp.posterior.calibration import BINS, RiskCoverage
from vpp.posterior.metric import wilson
from vpp.wording.theme import INK, Mode
from vpp.wording.words import counted, fixed, integer, interval_text, number, percent

HEIGHT = 280
TENTHS = tuple(k / 10 for k in range(1, 11))
"""Coverages listed in the table."""
MOST_ROWS = 60
"""Rows of the table under a scatter."""


def risk_figure(curve: RiskCoverage, mode: Mode, *, is_label: bool) -> Figure:
    n, c = len(curve.risk), INK[mode]
    shares = [i / n for i in range(1, n + 1)]
    top = max((risk for risk in curve.risk if math.isfinite(risk)), default=0.0) or 1.0
    chart = empty_chart(mode, HEIGHT)
    chart.update_xaxes(range=[0, 1.02], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    chart.update_yaxes(range=[-0.03 * top, 1.18 * top], tickformat=".2~%" if is_label else ".3~g", nticks=4)
    # The name is above the line, or below it where the curve begins above.
    shift = 10 if max(curve.risk[: curve.rows_at(0.25)]) <= curve.area_random else -10
    _dashed_line(chart, mode, (curve.area_random, curve.area_random), name="random order", at=0.01, shift=shift)
    chart.add_scatter(
        x=shares,
        y=[risk if math.isfinite(risk) else None for risk in curve.risk],
        mode="lines" if n > 1 else "markers",
        line={"color": c["ink"], "width": 1.8, "shape": "vh"},
        marker={"color": c["ink"]},
        customdata=[[i] for i in range(1, n + 1)],
        hovertemplate=f"%{{customdata[0]}} of {integer(n)} answered: "
        + ("%{y:.1%} wrong" if is_label else "mean squared error %{y:.4g}")
        + "<extra></extra>",
    )
    shown = _percent if is_label else number
    return Figure(
        chart=chart,
        alt=_risk_alt(curve, is_label=is_label),
        head=("answered", "rows", "wrong" if is_label else "mean squared error"),
        rows=tuple((percent(s), integer(curve.rows_at(s)), shown(curve.at(s))) for s in TENTHS),
    )


def _risk_alt(curve: RiskCoverage, *, is_label: bool) -> str:
    n = len(curve.risk)
    if is_label and curve.area_random == 0:
        return f"No answer is wrong: on the {counted(n, 'row')} there is no error to rank"
    half, all_rows = f"the most certain half ({counted(curve.rows_at(0.5), 'row')})", f"all {integer(n)}"
    first, last = curve.at(0.5), curve.at(1)
    if is_label:
        words = f"Answer {half} and {_percent(first)} are wrong; answer {all_rows} and {_percent(last)} are"
    else:
        words = (
            f"Answer {half} and the mean squared error is {number(first)}; answer {all_rows} and it is {number(last)}"
        )
    draws = "; at a tie one label is drawn" if is_label else ""
    return f"{words}; {order_verdict(curve)}. Rows of equal certainty count with their mean{draws}"


def reliability_figure(result: VoteReliability, mode: Mode) -> Figure:
    c, bins = INK[mode], result.bins
    chart = empty_chart(mode, HEIGHT)
    chart.update_xaxes(range=[-0.02, 1.05], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    chart.update_yaxes(range=[-0.05, 1.1], tickvals=[0, 0.5, 1], tickformat=".0%")
    _dashed_line(chart, mode, (0, 1), name="as often right as sure", at=0.22, shift=-12)
    ends = [wilson(each.n_right, each.n) for each in bins]
    chart.add_scatter(
        x=[each.confidence for each in bins],
        y=[each.accuracy for each in bins],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [high - each.accuracy for each, (_, high) in zip(bins, ends, strict=True)],
            "arrayminus": [each.accuracy - low for each, (low, _) in zip(bins, ends, strict=True)],
            "color": c["edge"],
            "thickness": 1,
            "width": 3,
        },
        text=[f"{integer(each.n)} " for each in bins],
        textposition="middle left",
        textfont={"color": c["ink-2"], "size": 12},
        mode="markers+text",
        marker={"size": 8, "color": c["ink"]},
        customdata=[[each.n_right, each.n] for each in bins],
        hovertemplate="share %{x:.0%}: right %{customdata[0]} of %{customdata[1]}<extra></extra>",
        cliponaxis=False,
    )
    return Figure(
        chart=chart,
        alt=_reliability_alt(result),
        head=("leading label’s share", "rows", "mean share", "right", "95 % interval"),
        rows=tuple(
            (
                f"over {percent(each.low)} to {percent(each.high)}",
                integer(each.n),
                _percent(each.confidence),
                f"{_percent(each.accuracy)} ({integer(each.n_right)})",
                interval_text(each.n_right, each.n),
            )
            for each in bins
        ),
    )


def _reliability_alt(result: VoteReliability) -> str:
    n = sum(each.n for each in result.bins)
    if not n:
        return "No row has a leading label: there is no share to judge"
    confidence = sum(each.n * each.confidence for each in result.bins) / n
    right = sum(each.n_right for each in result.bins) / n
    left_out = (
        f"; {counted(result.n_without_leader, 'row')} without a leading label left out"
        if result.n_without_leader
        else ""
    )
    return (
        f"The leading label’s share of the answers is {_percent(confidence)} on average, and it is right on "
        f"{_percent(right)} of {counted(n, 'row')}; the gap over {BINS} bins is {fixed(result.calibration_error, 3)}"
        f"{left_out}. Bars: Wilson, 95 %"
    )


def spread_figure(result: SpreadReliability, mode: Mode) -> Figure:
    c = INK[mode]
    dots = [
        (row, spread, error)
        for row, spread, error in zip(result.rows, result.spreads, result.errors, strict=True)
        if math.isfinite(spread) and math.isfinite(error)
    ]
    dots.sort(key=lambda dot: (-dot[1], dot[0]))
    chart = empty_chart(mode, HEIGHT)
    chart.update_xaxes(rangemode="tozero", nticks=5, tickformat=".3~g")
    chart.update_yaxes(rangemode="tozero", nticks=4, tickformat=".3~g")
    chart.add_scatter(
        x=[spread for _, spread, _ in dots],
        y=[error for _, _, error in dots],
        customdata=[[row] for row, _, _ in dots],
        mode="markers",
        marker={"size": 7, "color": c["ink"], "opacity": 0.6},
        hovertemplate="row %{customdata[0]}: spread %{x:.4g}, off by %{y:.4g}<extra></extra>",
    )
    return Figure(
        chart=chart,
        alt=_spread_alt(result, n_shown=len(dots)),
        head=("row", "spread", "error"),
        rows=tuple((str(row), number(spread), number(error)) for row, spread, error in dots[:MOST_ROWS]),
    )


def _spread_alt(result: SpreadReliability, *, n_shown: int) -> str:
    rho = "undefined" if result.rank_correlation is None else fixed(result.rank_correlation)
    left_out = len(result.rows) - n_shown
    silent = f"; {counted(left_out, 'row')} without a finite spread and error left out" if left_out else ""
    table = f"; the table has the {MOST_ROWS} rows of the widest spread" if n_shown > MOST_ROWS else ""
    return f"Error by spread on {counted(n_shown, 'row')}: rank correlation {rho}{silent}{table}"


def _dashed_line(chart: Chart, mode: Mode, ends: tuple[float, float], *, name: str, at: float, shift: int) -> None:
    """Draw a line from x = 0 to x = 1, with its name. ends: y. at: x where the name begins. shift: pixels upwards."""
    color, (left, right) = INK[mode]["ink-3"], ends
    line = {"color": color, "width": 1, "dash": "dash"}
    chart.add_scatter(x=[0, 1], y=[left, right], mode="lines", line=line, hoverinfo="skip")
    y, font = left + at * (right - left), {"size": 12, "color": color}
    chart.add_annotation(x=at, y=y, text=name, showarrow=False, xanchor="left", yshift=shift, font=font)


def _percent(share: float) -> str:
    return percent(share, 1)

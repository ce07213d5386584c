"""Charts (Plotly): a run over its steps, and doubt against error.

Axes keep their full range, so nothing rescales while a run moves.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go

from vpp.drawing.dissent import order_verdict
from vpp.inspection.points import SpreadReliability, VoteReliability
from vpp.inspection.slots import judged_of
from vpp.posterior.calibration import BINS, RiskCoverage
from vpp.posterior.metric import wilson
from vpp.posterior.weights import ess as weights_ess
from vpp.runs.view import RunView
from vpp.settings import ESS_SHARE
from vpp.wording.progress import BatchErrors
from vpp.wording.theme import INK, Mode, template
from vpp.wording.words import counted, fixed, integer, interval_text, number, percent

# A figure as plain JSON, without Plotly’s slow check of each property


def empty_chart(mode: Mode, height: int, **layout: Any) -> "Chart":
    """Chart without traces. height: in pixels."""
    return Chart(layout={"template": template(mode), "height": height, "uirevision": "kept", **layout})


class Chart(go.Figure):  # type: ignore[misc]
    """Traces and a layout as plain JSON. `data` and `layout` build Plotly's own objects on each access.

    Property names are nested, never joined by `_`. Do not change a chart once it is drawn.
    """

    def __init__(self, data: list[dict[str, Any]] | None = None, layout: dict[str, Any] | None = None) -> None:
        self._json: dict[str, Any] = {"data": data or [], "layout": layout or {}}

    def to_dict(self) -> dict[str, Any]:
        return self._json

    to_plotly_json = to_dict

    @property
    def data(self) -> Any:
        """Traces as Plotly objects. Raises ValueError for an unknown property."""
        return go.Figure(self._json).data

    @property
    def layout(self) -> Any:
        """Layout as a Plotly object. Raises ValueError for an unknown property."""
        return go.Figure(self._json).layout

    def update_xaxes(self, **properties: Any) -> None:
        self._set("xaxis", properties)

    def update_yaxes(self, **properties: Any) -> None:
        self._set("yaxis", properties)

    def add_scatter(self, points: Sequence[tuple[float, float | None]], **properties: Any) -> None:
        x, y = [x for x, _ in points], [y for _, y in points]
        self._json["data"].append({"type": "scatter", "x": x, "y": y, **properties})

    def add_note(self, words: str, **properties: Any) -> None:
        note = {"text": words, "showarrow": False, "xanchor": "left", **properties}
        self._json["layout"].setdefault("annotations", []).append(note)

    def _set(self, name: str, properties: dict[str, Any]) -> None:
        axis = {**self._json["layout"].get(name, {}), **properties}
        self._json["layout"][name] = {key: value for key, value in axis.items() if value is not None}


# One run


HEIGHT = 240
MOST_NAMED = 6
MOST_MARKED = 60
"""Longer curves have no markers, which would cover the line."""
SAME_ESS = 0.05
"""Difference of two effective sample sizes that are shown alike."""
NEAR = 0.1
"""Part of an axis within which two of its numbers would touch."""
SHORT = 4
"""Characters of a tick's name that a margin has room for."""
LABEL = 0.09
"""Part of an axis that a number beside its last point takes."""


@dataclass(frozen=True, slots=True)
class Figure:
    chart: Chart
    alt: str
    """What it shows, in words."""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _chart(view: RunView, mode: Mode, *, top: float, ticks: list[float]) -> Chart:
    chart = empty_chart(mode, HEIGHT)
    last = max(1, view.total_steps - 1)
    # Room for a line of ticks and short names is there: with `automargin` Plotly lays a chart out twice.
    chart.update_xaxes(range=[-0.6, last + 0.6], tickvals=step_ticks(last), automargin=False)
    are_wide = _are_wide(f"{tick:g}" for tick in ticks)
    chart.update_yaxes(range=[-0.02 * top, 1.22 * top], tickvals=ticks, automargin=are_wide)
    return chart


def step_ticks(last: int) -> list[int]:
    every = max(1, round(last / 4))
    return [*(step for step in range(0, last, every) if last - step > every / 2), last]


def _are_wide(names: Iterable[str]) -> bool:
    return any(len(name) > SHORT for name in names)


def _add_line(
    chart: Chart, view: RunView, points: Sequence[tuple[float, float]], colour: str, hover: str, **more: Any
) -> None:
    """Add a curve of (step, value); long curves have no markers, which would touch and slow the browser down."""
    chart.add_scatter(
        points,
        mode="lines+markers" if view.total_steps <= MOST_MARKED else "lines",
        line={"color": colour, "width": 1.8, **more.pop("line", {})},
        marker={"size": 6, "color": colour},
        hovertemplate=f"{hover}<extra></extra>",
        **more,
    )


def ess_figure(view: RunView, mode: Mode) -> Figure:
    weighed = [v for v in view.steps.values() if v.reweighted]
    c, k = INK[mode], max(1, view.size)
    curve = [(v.step, v.reweighted.ess) for v in weighed if v.reweighted]
    resampled = [v.step for v in weighed if v.resampled]
    chart = _chart(view, mode, top=k, ticks=[0, k])
    _add_threshold(chart, view, mode)
    rings = [(step, ess) for step, ess in curve if step in resampled]
    chart.add_scatter(
        rings,
        mode="markers",
        marker={"symbol": "circle-open-dot", "size": 15, "color": c["gone"], "line": {"width": 1.5}},
        hovertemplate="resampled at step %{x}<extra></extra>",
    )
    _add_line(chart, view, curve, c["ink"], "step %{x}: ESS %{y:.2f}")
    if rings:
        # Above the highest line, where nothing crosses it, however close the rings are.
        font, corner = {"size": 12, "color": c["gone"]}, {"xref": "paper", "yref": "paper", "yanchor": "top"}
        chart.add_note("ring: resampled", x=0, y=1, font=font, **corner)
    end = end_ess(view)
    if end is not None:
        _add_end(chart, view, mode, end)
    elif curve:
        # At the right of its point, where no line, ring or label is; the axis leaves room for it after the last step.
        _name_point(chart, *curve[-1], mode)
    alt = _ess_alt(curve, resampled, k)
    rows = [
        (str(v.step), f"{ess:.2f}", str(k), "yes" if v.resampled else "")
        for v, (_, ess) in zip(weighed, curve, strict=True)
    ]
    if end is not None:
        alt += f"; {fixed(end, 1)} of {view.size} at the end"
        rows.append(("end", f"{end:.2f}", str(view.size), ""))
    return Figure(chart, alt, ("step", "ESS", "of K", "resampled"), tuple(rows))


def end_ess(view: RunView) -> float | None:
    if not (view.has_ended and view.ess_by_step and view.weights):
        return None
    last = weights_ess(view.weights)
    is_shown = view.final is None and math.isclose(last, view.ess_by_step[-1], abs_tol=SAME_ESS)
    return None if is_shown else last


def _add_end(chart: Chart, view: RunView, mode: Mode, end: float) -> None:
    c, at = INK[mode], _end_place(view)
    steps = step_ticks(max(1, view.total_steps - 1))
    chart.add_scatter(
        [(at, end)],
        mode="markers",
        marker={"symbol": "diamond", "size": 10, "color": c["ink"]},
        hovertemplate="at the end: ESS %{y:.2f}<extra></extra>",
    )
    _name_point(chart, at, end, mode)
    chart.update_xaxes(tickvals=[*steps, at], ticktext=[*map(str, steps), "end"])


def _name_point(chart: Chart, x: float, y: float, mode: Mode) -> None:
    font, paper = {"color": INK[mode]["ink"]}, INK[mode]["paper"]
    chart.add_note(f"<b>{y:.1f}</b>", x=x, y=y, xshift=10, font=font, bgcolor=paper, borderpad=1)


def _end_place(view: RunView) -> float:
    return max(1, view.total_steps - 1) * (1 + NEAR) + 0.6


def _add_threshold(chart: Chart, view: RunView, mode: Mode) -> None:
    k = max(1, view.size)
    limit, names = ESS_SHARE * k, ["0 ", "K/2 ", f"{k} "]
    line = {"color": INK[mode]["ink-3"], "width": 1, "dash": "dash"}
    chart.add_scatter([(-0.6, limit), (_end_place(view) + 0.6, limit)], mode="lines", line=line, hoverinfo="skip")
    chart.update_yaxes(tickvals=[0, limit, k], ticktext=names, automargin=_are_wide(names))
    chart.update_xaxes(range=[-0.6, _end_place(view) + LABEL * (_end_place(view) + 0.6)])


def _ess_alt(curve: Sequence[tuple[int, float]], resampled: Sequence[int], k: int) -> str:
    if not curve:
        return "Effective sample size by step: no step has weights yet"
    rings = f"resampled at {', '.join(map(str, resampled))}" if resampled else "never resampled"
    if len(resampled) > MOST_NAMED:
        rings = f"resampled at {len(resampled)} of {len(curve)} steps"
    (step, last), least = curve[-1], min(ess for _, ess in curve)
    return f"Effective sample size by step: {last:.1f} of {k} at step {step}, lowest {least:.1f}; {rings}"


def evidence_figure(view: RunView, mode: Mode) -> Figure:
    made = [v.reweighted for v in view.steps.values() if v.reweighted]
    points = [(w.step, w.log_evidence, 1 / w.beta) for w in made if w.log_evidence is not None]
    finite = [value for _, value, _ in points if math.isfinite(value)]
    low, high = min((*finite, 0.0)), max((*finite, 0.0))
    room = (high - low) * 0.2 or 1.0
    chart = _chart(view, mode, top=1, ticks=[])
    chart.update_yaxes(range=[low - room / 2, high + room], tickvals=None, nticks=4, automargin=True)
    curve = [(step, value) for step, value, _ in points]
    hover, exponents = "step %{x}, φ %{customdata[0]:.3f}: log evidence %{y:.2f}", [[each] for _, _, each in points]
    _add_line(chart, view, curve, INK[mode]["ink"], hover, customdata=exponents)
    now = f"{fixed(points[-1][1])} at φ = {points[-1][2]:.3g}" if points else "no step yet"
    rows = tuple((str(step), f"{exponent:.3f}", fixed(value)) for step, value, exponent in points)
    return Figure(chart, f"Nominal log evidence by step: {now}", ("step", "exponent φ", "log evidence, nominal"), rows)


def acceptance_figure(view: RunView, mode: Mode) -> Figure:
    counts = [(v.step, *v.once("judged", partial(judged_of, v))) for v in view.steps.values()]
    judged = [(step, taken, n) for step, taken, n in counts if n]
    chart = _chart(view, mode, top=1, ticks=[0, 0.5, 1])
    chart.update_yaxes(tickformat=".0%")
    curve = [(step, taken / n) for step, taken, n in judged]
    hover, pairs = "step %{x}: %{customdata[0]} of %{customdata[1]} accepted", [[taken, n] for _, taken, n in judged]
    _add_line(chart, view, curve, INK[mode]["accept"], hover, customdata=pairs)
    total, taken = sum(n for _, _, n in judged), sum(t for _, t, _ in judged)
    rows = tuple((str(step), str(t), str(n)) for step, t, n in judged)
    head = ("step", "accepted", "judged")
    return Figure(chart, f"Accepted share by step: {taken} of {total} proposals accepted in all", head, rows)


def error_figure(view: RunView, mode: Mode, errors: BatchErrors) -> Figure:
    name, top, curve = errors.name, errors.top, sorted(errors.by_step.items())
    chart = _chart(view, mode, top=top, ticks=[0, top / 2, top])
    are_wide = name != "wrong" and _are_wide(f"{tick:.3g}" for tick in (top / 2, top))
    chart.update_yaxes(tickformat=".0%" if name == "wrong" else ".3~g", automargin=are_wide)
    _add_line(chart, view, curve, INK[mode]["ink"], "step %{x}: %{y:.3g}")
    now = f"{number(curve[-1][1], 3)} at step {curve[-1][0]}" if curve else "no step yet"
    rows = tuple((str(step), number(error)) for step, error in curve)
    return Figure(chart, f"Mean error of the particles on each batch: {now}", ("step", name), rows)


CONFIG: dict[str, Any] = {"displayModeBar": False, "responsive": True}


# Doubt against error


TALL = 280
TENTHS = tuple(k / 10 for k in range(1, 11))
MOST_ROWS = 60


def risk_figure(curve: RiskCoverage, mode: Mode, *, is_label: bool) -> Figure:
    n, c = len(curve.risk), INK[mode]
    top = max((risk for risk in curve.risk if math.isfinite(risk)), default=0.0) or 1.0
    chart = empty_chart(mode, TALL)
    chart.update_xaxes(range=[0, 1.02], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    chart.update_yaxes(range=[-0.03 * top, 1.18 * top], tickformat=".2~%" if is_label else ".3~g", nticks=4)
    # The name is above the line, or below it where the curve begins above.
    shift = 10 if max(curve.risk[: curve.rows_at(0.25)]) <= curve.area_random else -10
    _dashed_line(chart, mode, (curve.area_random, curve.area_random), name="random order", at=0.01, shift=shift)
    chart.add_scatter(
        [(i / n, risk if math.isfinite(risk) else None) for i, risk in enumerate(curve.risk, 1)],
        mode="lines" if n > 1 else "markers",
        line={"color": c["ink"], "width": 1.8, "shape": "vh"},
        marker={"color": c["ink"]},
        customdata=[[i] for i in range(1, n + 1)],
        hovertemplate=f"%{{customdata[0]}} of {integer(n)} answered: "
        + ("%{y:.1%} wrong" if is_label else "mean squared error %{y:.4g}")
        + "<extra></extra>",
    )
    shown = partial(percent, decimals=1) if is_label else number
    rows = tuple((percent(s), integer(curve.rows_at(s)), shown(curve.at(s))) for s in TENTHS)
    head = ("answered", "rows", "wrong" if is_label else "mean squared error")
    return Figure(chart, _risk_alt(curve, is_label=is_label), head, rows)


def _risk_alt(curve: RiskCoverage, *, is_label: bool) -> str:
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
    c, bins = INK[mode], result.bins
    chart = empty_chart(mode, TALL)
    chart.update_xaxes(range=[-0.02, 1.05], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    chart.update_yaxes(range=[-0.05, 1.1], tickvals=[0, 0.5, 1], tickformat=".0%")
    _dashed_line(chart, mode, (0, 1), name="as often right as sure", at=0.22, shift=-12)
    ends = [wilson(each.n_right, each.n) for each in bins]
    chart.add_scatter(
        [(each.confidence, each.accuracy) for each in bins],
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
    rows = []
    for each in bins:
        between = f"over {percent(each.low)} to {percent(each.high)}"
        right = f"{percent(each.accuracy, 1)} ({integer(each.n_right)})", interval_text(each.n_right, each.n)
        rows.append((between, integer(each.n), percent(each.confidence, 1), *right))
    head = ("leading label’s share", "rows", "mean share", "right", "95 % interval")
    return Figure(chart, _reliability_alt(result), head, tuple(rows))


def _reliability_alt(result: VoteReliability) -> str:
    n = sum(each.n for each in result.bins)
    if not n:
        return "No row has a leading label: there is no share to judge"
    confidence = sum(each.n * each.confidence for each in result.bins) / n
    right = sum(each.n_right for each in result.bins) / n
    without = counted(result.n_without_leader, "row")
    left_out = f"; {without} without a leading label left out" if result.n_without_leader else ""
    return (
        f"The leading label’s share of the answers is {percent(confidence, 1)} on average, and it is right on "
        f"{percent(right, 1)} of {counted(n, 'row')}; the gap over {BINS} bins is {fixed(result.calibration_error, 3)}"
        f"{left_out}. Bars: Wilson, 95 %"
    )


def spread_figure(result: SpreadReliability, mode: Mode) -> Figure:
    c = INK[mode]
    every = zip(result.rows, result.spreads, result.errors, strict=True)
    dots = [dot for dot in every if all(map(math.isfinite, dot[1:]))]
    dots.sort(key=lambda dot: (-dot[1], dot[0]))
    chart = empty_chart(mode, TALL)
    chart.update_xaxes(rangemode="tozero", nticks=5, tickformat=".3~g")
    chart.update_yaxes(rangemode="tozero", nticks=4, tickformat=".3~g")
    chart.add_scatter(
        [(spread, error) for _, spread, error in dots],
        customdata=[[row] for row, _, _ in dots],
        mode="markers",
        marker={"size": 7, "color": c["ink"], "opacity": 0.6},
        hovertemplate="row %{customdata[0]}: spread %{x:.4g}, off by %{y:.4g}<extra></extra>",
    )
    rows = tuple((str(row), number(spread), number(error)) for row, spread, error in dots[:MOST_ROWS])
    return Figure(chart, _spread_alt(result, n_shown=len(dots)), ("row", "spread", "error"), rows)


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
    chart.add_scatter([(0, left), (1, right)], mode="lines", line=line, hoverinfo="skip")
    y, font = left + at * (right - left), {"size": 12, "color": color}
    chart.add_note(name, x=at, y=y, yshift=shift, font=font)

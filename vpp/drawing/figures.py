"""Charts of a run over its steps (Plotly). Axes keep their full range, so nothing rescales while a run moves."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from vpp.drawing.chart import Chart, empty_chart
from vpp.inspection.slots import judged_of, why_grew
from vpp.posterior.weights import ess as weights_ess
from vpp.runs.view import RunView, StepView, size_by_step
from vpp.settings import ESS_SHARE
from vpp.wording.progress import BatchErrors
from vpp.wording.theme import INK, Mode
from vpp.wording.words import fixed, number, weight_text

HEIGHT = 240
DECIMALS = 4
"""Decimals of the weights in a chart."""
MOST_NAMED = 6
MOST_MARKED = 60
"""Longer curves have no markers, which would cover the line."""
MOST_APART = 25
"""More particles are drawn without gaps between their rows, which would leave no ink."""
PALE = 2.5
"""Times the mean weight, 1/K, at which a weight's ink is that of an edge: equal weights are to be seen of many too."""
SAME_ESS = 0.05
"""Difference of two effective sample sizes that are shown alike."""
NEAR = 0.1
"""Part of an axis within which two of its numbers would touch."""
SHORT = 4
"""Characters of a tick's name that a margin has room for."""
LABEL = 0.09
"""Part of an axis that a number beside its last point takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart, what it shows in words, and its numbers as a table."""

    chart: Chart
    alt: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Each as long as the head."""


def _chart(view: RunView, mode: Mode, *, top: float, ticks: list[float]) -> Chart:
    """Empty chart: steps from left to right, 0 to `top` upwards."""
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
        x=[step for step, _ in points],
        y=[value for _, value in points],
        mode="lines+markers" if view.total_steps <= MOST_MARKED else "lines",
        line={"color": colour, "width": 1.8, **more.pop("line", {})},
        marker={"size": 6, "color": colour},
        hovertemplate=f"{hover}<extra></extra>",
        **more,
    )


def ess_figure(view: RunView, mode: Mode) -> Figure:
    weighed = [v for v in view.steps.values() if v.reweighted]
    c, k = INK[mode], _largest(weighed, view)
    steps = [v.step for v in weighed]
    ess = [v.reweighted.ess for v in weighed if v.reweighted]
    chart = _chart(view, mode, top=k, ticks=[0, k])
    _add_threshold(chart, view, mode, weighed)
    rings = [(v.step, v.reweighted.ess) for v in weighed if v.resampled and v.reweighted]
    chart.add_scatter(
        x=[step for step, _ in rings],
        y=[value for _, value in rings],
        mode="markers",
        marker={"symbol": "circle-open-dot", "size": 15, "color": c["gone"], "line": {"width": 1.5}},
        hovertemplate="resampled at step %{x}<extra></extra>",
    )
    _add_line(chart, view, list(zip(steps, ess, strict=True)), c["ink"], "step %{x}: ESS %{y:.2f}")
    if rings:
        # Above the highest line, where nothing crosses it, however close the rings are.
        chart.add_annotation(
            x=0,
            xref="paper",
            y=1,
            yref="paper",
            text="ring: resampled",
            showarrow=False,
            xanchor="left",
            yanchor="top",
            font={"size": 12, "color": c["gone"]},
        )
    end = end_ess(view)
    if end is not None:
        _add_end(chart, view, mode, end)
    elif ess:
        # At the right of its point, where no line, ring or label is; the axis leaves room for it after the last step.
        _name_point(chart, steps[-1], ess[-1], mode)
    resampled = {step for step, _ in rings}
    alt = _ess_alt(steps, ess, sorted(resampled), _size(weighed[-1]) if weighed else k)
    rows = [
        (str(v.step), f"{e:.2f}", str(_size(v)), "yes" if v.step in resampled else "")
        for v, e in zip(weighed, ess, strict=True)
    ]
    if end is not None:
        alt += f"; {fixed(end, 1)} of {view.size} at the end"
        rows.append(("end", f"{end:.2f}", str(view.size), ""))
    return Figure(chart=chart, alt=alt, head=("step", "ESS", "of K", "resampled"), rows=tuple(rows))


def end_ess(view: RunView) -> float | None:
    made = view.ess_by_step
    if not (view.has_ended and made and view.weights):
        return None
    last = weights_ess(view.weights)
    return None if view.final is None and math.isclose(last, made[-1], abs_tol=SAME_ESS) else last


def _add_end(chart: Chart, view: RunView, mode: Mode, end: float) -> None:
    c, at = INK[mode], _end_place(view)
    steps = step_ticks(max(1, view.total_steps - 1))
    chart.add_scatter(
        x=[at],
        y=[end],
        mode="markers",
        marker={"symbol": "diamond", "size": 10, "color": c["ink"]},
        hovertemplate="at the end: ESS %{y:.2f}<extra></extra>",
    )
    _name_point(chart, at, end, mode)
    chart.update_xaxes(tickvals=[*steps, at], ticktext=[*map(str, steps), "end"])


def _name_point(chart: Chart, x: float, y: float, mode: Mode) -> None:
    chart.add_annotation(
        x=x,
        y=y,
        text=f"<b>{y:.1f}</b>",
        showarrow=False,
        xanchor="left",
        xshift=10,
        font={"color": INK[mode]["ink"]},
        bgcolor=INK[mode]["paper"],
        borderpad=1,
    )


def _end_place(view: RunView) -> float:
    return max(1, view.total_steps - 1) * (1 + NEAR) + 0.6


def _size(at: StepView) -> int:
    return len(at.reweighted.weights) if at.reweighted else 0


def _largest(weighed: Sequence[StepView], view: RunView) -> int:
    return max((_size(v) for v in weighed), default=max(1, view.size))


def _add_threshold(chart: Chart, view: RunView, mode: Mode, weighed: Sequence[StepView]) -> None:
    c = INK[mode]
    ends = [(v.step, ESS_SHARE * _size(v)) for v in weighed] or [(0, ESS_SHARE * view.size)]
    whole = [(-0.6, ends[0][1]), *ends, (_end_place(view) + 0.6, ends[-1][1])]
    chart.add_scatter(
        x=[x for x, _ in whole],
        y=[y for _, y in whole],
        mode="lines",
        line={"color": c["ink-3"], "width": 1, "dash": "dash", "shape": "hvh"},
        hoverinfo="skip",
    )
    k, limit = _largest(weighed, view), ends[-1][1]
    marks = {0.0: "0", limit: "K/2"}
    ends_apart = {} if abs(k - limit) < NEAR * k else {float(k): f"{k:g}"}
    ticks = {**marks, **ends_apart}
    names = [f"{name} " for name in ticks.values()]
    chart.update_yaxes(tickvals=list(ticks), ticktext=names, automargin=_are_wide(names))
    chart.update_xaxes(range=[-0.6, _end_place(view) + LABEL * (_end_place(view) + 0.6)])


def _ess_alt(steps: list[int], ess: list[float], resampled: list[int], k: int) -> str:
    if not ess:
        return "Effective sample size by step: no step has weights yet"
    if len(resampled) > MOST_NAMED:
        rings = f"; resampled at {len(resampled)} of {len(steps)} steps"
    else:
        rings = f"; resampled at {', '.join(map(str, resampled))}" if resampled else "; never resampled"
    return f"Effective sample size by step: {ess[-1]:.1f} of {k} at step {steps[-1]}, lowest {min(ess):.1f}{rings}"


def weights_figure(view: RunView, mode: Mode) -> Figure:
    """Draw the weight of each slot at each step: darker = heavier."""
    weighed = [v for v in view.steps.values() if v.reweighted]
    c, k = INK[mode], _largest(weighed, view)
    steps = list(range(max((view.total_steps, *(v.step + 1 for v in weighed)))))
    grid, rows = np.full((k, len(steps)), np.nan), []
    for v in weighed:
        weights = v.reweighted.weights if v.reweighted else ()
        grid[: len(weights), v.step] = weights
        # Cells beyond the step's K are empty.
        rows.append((str(v.step), *map(weight_text, weights), *[""] * (k - len(weights))))
    chart = _chart(view, mode, top=1, ticks=[])
    chart.add_heatmap(
        z=np.round(grid, DECIMALS).astype(np.float32),
        x=steps,
        y=list(range(k)),
        zmin=0,
        zmax=1,
        xgap=2 if len(steps) <= MOST_MARKED else 0,
        ygap=2 if k <= MOST_APART else 0,
        showscale=False,
        colorscale=[[0, c["sunk"]], [min(0.25, PALE / k), c["edge"]], [1, c["ink"]]],
        hoverongaps=False,
        hovertemplate="step %{x}, particle %{y}: weight %{z:.3f}<extra></extra>",
    )
    chart.update_yaxes(range=[k - 0.5, -0.5], tickvals=list(range(0, k, max(1, k // 5))), showgrid=False)
    last = weighed[-1].reweighted if weighed else None
    heaviest = max(last.weights) if last else 0.0
    return Figure(
        chart=chart,
        alt=f"Weight of each particle by step; at step {weighed[-1].step} the heaviest holds {weight_text(heaviest)}"
        if last
        else "Weight of each particle by step: none yet",
        head=("step", *(f"particle {i}" for i in range(k))),
        rows=tuple(rows),
    )


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
    return Figure(
        chart=chart,
        alt=f"Nominal log evidence by step: {now}",
        head=("step", "exponent φ", "log evidence, nominal"),
        rows=tuple((str(step), f"{exponent:.3f}", fixed(value)) for step, value, exponent in points),
    )


def size_figure(view: RunView, mode: Mode) -> Figure:
    done = [v for v in view.finished_steps if v.step >= 0]
    sizes = [len(v.population) for v in done]
    top = max((*size_by_step(view), int(view.started.config.get("particles_max", 1)) if view.started else 1))
    chart = _chart(view, mode, top=top, ticks=[0, top / 2, top])
    curve = [(v.step, len(v.population)) for v in done]
    _add_line(chart, view, curve, INK[mode]["ink"], "after step %{x}: %{y} particles", line={"shape": "hv"})
    now = f"{sizes[-1]} after step {done[-1].step}, {max(sizes)} at most" if done else "no step yet"
    return Figure(
        chart=chart,
        alt=f"Number of particles by step: {now}",
        head=("step", "particles", "what happened"),
        rows=tuple((str(v.step), str(n), resized_words(v)) for v, n in zip(done, sizes, strict=True)),
    )


def resized_words(at: StepView) -> str:
    if at.joined:
        return f"{len(at.joined)} joined: {why_grew(at)}"
    return f"{len(at.scored) - len(at.shrunk.ancestors)} dropped: all agreed" if at.shrunk else ""


def acceptance_figure(view: RunView, mode: Mode) -> Figure:
    counted = [(v.step, *v.once("judged", partial(judged_of, v))) for v in view.steps.values()]
    judged = [(step, taken, n) for step, taken, n in counted if n]
    chart = _chart(view, mode, top=1, ticks=[0, 0.5, 1])
    chart.update_yaxes(tickformat=".0%")
    curve = [(step, taken / n) for step, taken, n in judged]
    hover, counts = "step %{x}: %{customdata[0]} of %{customdata[1]} accepted", [[taken, n] for _, taken, n in judged]
    _add_line(chart, view, curve, INK[mode]["accept"], hover, customdata=counts)
    total, taken = sum(n for _, _, n in judged), sum(t for _, t, _ in judged)
    return Figure(
        chart=chart,
        alt=f"Accepted share by step: {taken} of {total} proposals accepted in all",
        head=("step", "accepted", "judged"),
        rows=tuple((str(step), str(t), str(n)) for step, t, n in judged),
    )


def error_figure(view: RunView, mode: Mode, errors: BatchErrors) -> Figure:
    batch_error, name, top = errors.by_step, errors.name, errors.top
    steps = sorted(batch_error)
    chart = _chart(view, mode, top=top, ticks=[0, top / 2, top])
    are_wide = name != "wrong" and _are_wide(f"{tick:.3g}" for tick in (top / 2, top))
    chart.update_yaxes(tickformat=".0%" if name == "wrong" else ".3~g", automargin=are_wide)
    _add_line(chart, view, sorted(batch_error.items()), INK[mode]["ink"], "step %{x}: %{y:.3g}")
    now = f"{number(batch_error[steps[-1]], 3)} at step {steps[-1]}" if steps else "no step yet"
    return Figure(
        chart=chart,
        alt=f"Mean error of the particles on each batch: {now}",
        head=("step", name),
        rows=tuple((str(s), number(batch_error[s])) for s in steps),
    )


CONFIG: dict[str, Any] = {"displayModeBar": False, "responsive": True}

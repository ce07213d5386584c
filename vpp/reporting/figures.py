"""Charts of a run over its steps (Plotly). Axes keep their full range, so nothing rescales while a run moves."""

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from vpp.reporting.theme import INK, Mode, template
from vpp.runs.view import RunView

HEIGHT = 240
MOST_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart, what it shows in words, and its numbers as a table."""

    chart: go.Figure
    alt: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _chart(view: RunView, mode: Mode, *, top: float, ticks: list[float]) -> go.Figure:
    """Steps along, 0 to `top` up."""
    chart = go.Figure(layout={"template": template(mode), "height": HEIGHT, "uirevision": "kept"})
    last = max(1, view.total_steps - 1)
    every = max(1, round(last / 4))
    steps = [step for step in range(0, last, every) if last - step > every / 2]
    chart.update_xaxes(range=[-0.6, last + 0.6], tickvals=[*steps, last])
    chart.update_yaxes(range=[-0.02 * top, 1.22 * top], tickvals=ticks)
    return chart


def ess_figure(view: RunView, mode: Mode) -> Figure:
    """ESS a step, with the resampling threshold and a ring where the population was resampled."""
    c, k = INK[mode], max(1, view.size)
    weighed = [v for v in view.steps.values() if v.reweighted]
    steps = [v.step for v in weighed]
    ess = [v.reweighted.ess for v in weighed if v.reweighted]
    chart = _chart(view, mode, top=k, ticks=[0, k / 2, k])
    threshold = float(view.started.config["ess_threshold"]) * k if view.started else k / 2
    name = "K/2" if threshold == k / 2 else f"{threshold:g}"
    chart.add_hline(y=threshold, line={"color": c["ink3"], "width": 1, "dash": "dash"})
    chart.add_annotation(
        x=1, xref="paper", y=threshold, text=name, showarrow=False, yshift=-10, xanchor="right", font={"size": 12}
    )
    rings = [(v.step, v.reweighted.ess) for v in weighed if v.resampled and v.reweighted]
    chart.add_scatter(
        x=[step for step, _ in rings],
        y=[value for _, value in rings],
        mode="markers",
        marker={"symbol": "circle-open-dot", "size": 15, "color": c["gone"], "line": {"width": 1.5}},
        hovertemplate="resampled at step %{x}<extra></extra>",
    )
    chart.add_scatter(
        x=steps,
        y=ess,
        mode="lines+markers",
        line={"color": c["ink"], "width": 1.8},
        marker={"size": 6, "color": c["ink"]},
        hovertemplate="step %{x}: ESS %{y:.2f}<extra></extra>",
    )
    if rings:
        chart.add_annotation(
            x=rings[0][0],
            y=rings[0][1],
            text="resampled",
            showarrow=False,
            yshift=-16,
            xshift=6,
            xanchor="left",
            font={"size": 12, "color": c["gone"]},
        )
    if ess:
        chart.add_annotation(
            x=steps[-1], y=ess[-1], text=f"<b>{ess[-1]:.1f}</b>", showarrow=False, yshift=18, font={"color": c["ink"]}
        )
    resampled = {step for step, _ in rings}
    return Figure(
        chart=chart,
        alt=_ess_alt(steps, ess, sorted(resampled), k),
        head=("step", "ESS", "resampled"),
        rows=tuple((str(s), f"{e:.2f}", "yes" if s in resampled else "") for s, e in zip(steps, ess, strict=True)),
    )


def _ess_alt(steps: list[int], ess: list[float], resampled: list[int], k: int) -> str:
    if not ess:
        return "Effective sample size by step: no step has weights yet"
    if len(resampled) > MOST_NAMED:
        rings = f"; resampled at {len(resampled)} of {len(steps)} steps"
    else:
        rings = f"; resampled at {', '.join(map(str, resampled))}" if resampled else "; never resampled"
    return f"Effective sample size by step: {ess[-1]:.1f} of {k} at step {steps[-1]}, lowest {min(ess):.1f}{rings}"


def weights_figure(view: RunView, mode: Mode) -> Figure:
    """The weight of each slot at each step, as ink."""
    c, k = INK[mode], max(1, view.size)
    weighed = [v for v in view.steps.values() if v.reweighted]
    steps = list(range(view.total_steps))
    grid: list[list[float | None]] = [[None] * len(steps) for _ in range(k)]
    for v in weighed:
        for slot, weight in enumerate(v.reweighted.weights if v.reweighted else ()):
            grid[slot][v.step] = weight
    chart = _chart(view, mode, top=1, ticks=[])
    chart.add_heatmap(
        z=grid,
        x=steps,
        y=list(range(k)),
        zmin=0,
        zmax=1,
        xgap=2,
        ygap=2,
        showscale=False,
        colorscale=[[0, c["sunk"]], [0.25, c["edge"]], [1, c["ink"]]],
        hoverongaps=False,
        hovertemplate="step %{x}, particle %{y}: weight %{z:.3f}<extra></extra>",
    )
    chart.update_yaxes(range=[k - 0.5, -0.5], tickvals=list(range(0, k, max(1, k // 5))), showgrid=False)
    last = weighed[-1].reweighted if weighed else None
    heaviest = max(last.weights) if last else 0.0
    return Figure(
        chart=chart,
        alt=f"Weight of each slot by step; the heaviest now holds {heaviest:.2f}"
        if last
        else "Weight of each slot by step: none yet",
        head=("step", *(f"particle {i}" for i in range(k))),
        rows=tuple((str(v.step), *(f"{w:.3f}" for w in v.reweighted.weights)) for v in weighed if v.reweighted),
    )


def acceptance_figure(view: RunView, mode: Mode) -> Figure:
    """The accepted share of the proposals that were judged, a step each."""
    c = INK[mode]
    counted = [(v.step, [p for p in v.proposed.values() if p.why == "likelihood"]) for v in view.steps.values()]
    judged = [(step, sum(p.accepted for p in proposals), len(proposals)) for step, proposals in counted if proposals]
    chart = _chart(view, mode, top=1, ticks=[0, 0.5, 1])
    chart.update_yaxes(tickformat=".0%")
    chart.add_scatter(
        x=[step for step, _, _ in judged],
        y=[taken / n for _, taken, n in judged],
        customdata=[[taken, n] for _, taken, n in judged],
        mode="lines+markers",
        line={"color": c["accept"], "width": 1.8},
        marker={"size": 6, "color": c["accept"]},
        hovertemplate="step %{x}: %{customdata[0]} of %{customdata[1]} accepted<extra></extra>",
    )
    total, taken = sum(n for _, _, n in judged), sum(t for _, t, _ in judged)
    return Figure(
        chart=chart,
        alt=f"Accepted share by step: {taken} of {total} proposals accepted in all",
        head=("step", "accepted", "judged"),
        rows=tuple((str(step), str(t), str(n)) for step, t, n in judged),
    )


def error_figure(view: RunView, mode: Mode, batch_error: dict[int, float], *, name: str, top: float) -> Figure:
    """The particles' mean error on each step's batch."""
    c = INK[mode]
    steps = sorted(batch_error)
    chart = _chart(view, mode, top=top, ticks=[0, top / 2, top])
    if name == "wrong":
        chart.update_yaxes(tickformat=".0%")
    chart.add_scatter(
        x=steps,
        y=[batch_error[s] for s in steps],
        mode="lines+markers",
        line={"color": c["ink"], "width": 1.8},
        marker={"size": 6, "color": c["ink"]},
        hovertemplate="step %{x}: %{y:.3g}<extra></extra>",
    )
    now = f"{batch_error[steps[-1]]:.3g} at step {steps[-1]}" if steps else "no step yet"
    return Figure(
        chart=chart,
        alt=f"Mean error of the particles on each batch: {now}",
        head=("step", name),
        rows=tuple((str(s), f"{batch_error[s]:.4g}") for s in steps),
    )


CONFIG: dict[str, Any] = {"displayModeBar": False, "responsive": True}

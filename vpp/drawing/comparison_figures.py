"""Curves of several runs over their steps in one chart, distinguished by dash, marker and letter instead of colour."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import plotly.graph_objects as go

from vpp.drawing.comparison import CODES
from vpp.drawing.figures import HEIGHT, MOST_MARKED, Figure
from vpp.inspection.comparison import Candidate
from vpp.runs.view import StepView
from vpp.wording.theme import INK, Mode, template
from vpp.wording.words import fixed, listed, percent

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square-open", "diamond-open", "triangle-up-open", "cross", "x", "circle-open")
APART = 0.085
"""The least distance of two letters, as a share of the axis."""
TOP = 1.02
"""Where the highest letter stands, as a share of the axis."""
NEAR = 0.8
"""A line that ends beyond this share of the steps has its letter at the chart's end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point of a curve."""

    step: int
    share: float
    """Between 0 and 1."""
    words: str
    """The count behind it: `5.80 of 10`."""


Curve = tuple[Mark, ...]


def ess_overlay(runs: Mapping[int, Candidate], mode: Mode, *, reference: int) -> Figure | None:
    """ESS as a share of K, so that populations of any size compare; None where no run has weights."""
    curves = _curves(runs, _ess)
    return _overlay(curves, runs, mode, reference=reference, what="ESS as a share of K", short="ESS")


def acceptance_overlay(runs: Mapping[int, Candidate], mode: Mode, *, reference: int) -> Figure | None:
    """The accepted share of the proposals that were judged, a step each; None where no run judges any."""
    curves = _curves(runs, _accepted)
    return _overlay(curves, runs, mode, reference=reference, what="Accepted share of proposals", short="accepted")


def _ess(at: StepView) -> Mark | None:
    if at.reweighted is None:
        return None
    ess, size = at.reweighted.ess, len(at.reweighted.weights)
    return Mark(step=at.step, share=ess / size, words=f"{fixed(ess)} of {size}")


def _accepted(at: StepView) -> Mark | None:
    judged = [p.accepted for p in at.proposed.values() if p.why == "likelihood"]
    if not judged:
        return None
    return Mark(step=at.step, share=sum(judged) / len(judged), words=f"{sum(judged)} of {len(judged)}")


def _curves(runs: Mapping[int, Candidate], mark: Callable[[StepView], Mark | None]) -> dict[int, Curve]:
    """Curves of the runs that have one, by place."""
    curves = {
        place: tuple(point for at in run.view.finished_steps if (point := mark(at))) for place, run in runs.items()
    }
    return {place: curve for place, curve in curves.items() if curve}


def _overlay(
    curves: Mapping[int, Curve], runs: Mapping[int, Candidate], mode: Mode, *, reference: int, what: str, short: str
) -> Figure | None:
    if not curves:
        return None
    last = max(1, *(runs[place].view.total_steps - 1 for place in curves))
    chart = _chart(mode, last)
    for order, (place, curve) in enumerate(curves.items()):
        _add_curve(chart, curve, mode, code=CODES[place], order=order, is_reference=place == reference)
    _add_letters(chart, curves, mode, reference)
    means = [f"{CODES[place]} {percent(_mean(curve))}" for place, curve in curves.items()]
    return Figure(
        chart=chart,
        alt=f"{what} by step, mean over steps: {listed(means)}",
        head=("step", *(f"{CODES[place]}, {short}" for place in curves)),
        rows=_rows(curves),
    )


def _mean(curve: Curve) -> float:
    return sum(mark.share for mark in curve) / len(curve)


def _chart(mode: Mode, last: int) -> go.Figure:
    chart = go.Figure(layout={"template": template(mode), "height": HEIGHT, "uirevision": "kept"})
    every = max(1, round(last / 4))
    ticks = [step for step in range(0, last, every) if last - step > every / 2]
    chart.update_xaxes(range=[-0.03 * last - 0.2, 1.06 * last + 0.4], tickvals=[*ticks, last])
    chart.update_yaxes(range=[-0.04, 1.08], tickvals=[0, 0.5, 1], tickformat=".0%")
    return chart


def _add_curve(chart: go.Figure, curve: Curve, mode: Mode, *, code: str, order: int, is_reference: bool) -> None:
    c = INK[mode]
    color = c["ink"] if is_reference else (c["ink-2"], c["ink-3"])[order % 2]
    chart.add_scatter(
        x=[mark.step for mark in curve],
        y=[mark.share for mark in curve],
        customdata=[[mark.words] for mark in curve],
        mode="lines+markers" if len(curve) <= MOST_MARKED else "lines",
        line={"color": color, "width": 2.2 if is_reference else 1.4, "dash": DASHES[order % len(DASHES)]},
        marker={"size": 6, "color": color, "symbol": SYMBOLS[order % len(SYMBOLS)]},
        hovertemplate=f"{code}, step %{{x}}: %{{customdata[0]}}<extra></extra>",
    )


def _add_letters(chart: go.Figure, curves: Mapping[int, Curve], mode: Mode, reference: int) -> None:
    """Each at the end of its line, moved up or down where lines end together, and level with the last where near it."""
    end = max(curve[-1].step for curve in curves.values())
    heights = apart([curve[-1].share for curve in curves.values()], least=APART, top=TOP)
    for (place, curve), height in zip(curves.items(), heights, strict=True):
        letter = CODES[place]
        chart.add_annotation(
            x=end if curve[-1].step > NEAR * end else curve[-1].step,
            y=height,
            text=f"<b>{letter}</b>" if place == reference else letter,
            showarrow=False,
            xanchor="left",
            xshift=8,
            font={"size": 13, "color": INK[mode]["ink"]},
        )


def apart(values: Sequence[float], *, least: float, top: float) -> list[float]:
    """The values, in their own order, moved up so that any two differ by `least`, then down where they pass `top`."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    moved = list(values)
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + least)
    bound = top
    for i in reversed(order):
        moved[i] = min(moved[i], bound)
        bound = moved[i] - least
    return moved


def _rows(curves: Mapping[int, Curve]) -> tuple[tuple[str, ...], ...]:
    """A row a step; empty where a run has none."""
    known = [{mark.step: mark.words for mark in curve} for curve in curves.values()]
    steps = sorted({step for curve in known for step in curve})
    return tuple((str(step), *(curve.get(step, "") for curve in known)) for step in steps)

"""Curves of several runs over their steps in one chart, distinguished by dash and marker instead of colour."""

from collections.abc import Callable, Mapping

from vpp.drawing.chart import Chart, empty_chart
from vpp.drawing.comparison import CODES
from vpp.drawing.figures import HEIGHT, MOST_MARKED, Figure, step_ticks
from vpp.inspection.comparison import Candidate
from vpp.inspection.slots import judged_of
from vpp.runs.view import StepView
from vpp.wording.theme import INK, Mode
from vpp.wording.words import fixed, listed, percent

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square-open", "diamond-open", "triangle-up-open", "cross", "x", "circle-open")


Point = tuple[int, float, str]
"""Step, share between 0 and 1, and the count behind it: `5.80 of 10`."""
Curve = tuple[Point, ...]


def ess_overlay(runs: Mapping[int, Candidate], mode: Mode, *, reference: int) -> Figure | None:
    """Draw ESS as a share of K, so that populations of any size compare; None if no run has weights."""
    return _overlay(runs, _ess, mode, reference=reference, what="ESS as a share of K", short="ESS")


def acceptance_overlay(runs: Mapping[int, Candidate], mode: Mode, *, reference: int) -> Figure | None:
    return _overlay(runs, _accepted, mode, reference=reference, what="Accepted share of proposals", short="accepted")


def _ess(at: StepView) -> Point | None:
    if at.reweighted is None:
        return None
    ess, size = at.reweighted.ess, len(at.reweighted.weights)
    return at.step, ess / size, f"{fixed(ess)} of {size}"


def _accepted(at: StepView) -> Point | None:
    accepted, judged = judged_of(at)
    return (at.step, accepted / judged, f"{accepted} of {judged}") if judged else None


def _overlay(
    runs: Mapping[int, Candidate],
    drawn: Callable[[StepView], Point | None],
    mode: Mode,
    *,
    reference: int,
    what: str,
    short: str,
) -> Figure | None:
    curves: dict[int, Curve] = {}
    for place, run in runs.items():
        if curve := tuple(filter(None, map(drawn, run.view.finished_steps))):
            curves[place] = curve
    if not curves:
        return None
    last = max(1, *(runs[place].view.total_steps - 1 for place in curves))
    chart = empty_chart(mode, HEIGHT, showlegend=True, legend={"orientation": "h", "yanchor": "bottom", "y": 1})
    chart.update_xaxes(range=[-0.03 * last - 0.2, 1.03 * last + 0.2], tickvals=step_ticks(last))
    chart.update_yaxes(range=[-0.04, 1.08], tickvals=[0, 0.5, 1], tickformat=".0%")
    for order, (place, curve) in enumerate(curves.items()):
        _add_curve(chart, curve, mode, code=CODES[place], order=order, is_reference=place == reference)
    means = [
        f"{CODES[place]} {percent(sum(share for _, share, _ in curve) / len(curve))}" for place, curve in curves.items()
    ]
    return Figure(
        chart=chart,
        alt=f"{what} by step, mean over steps: {listed(means)}",
        head=("step", *(f"{CODES[place]}, {short}" for place in curves)),
        rows=_rows(curves),
    )


def _add_curve(chart: Chart, curve: Curve, mode: Mode, *, code: str, order: int, is_reference: bool) -> None:
    c = INK[mode]
    color = c["ink"] if is_reference else (c["ink-2"], c["ink-3"])[order % 2]
    chart.add_scatter(
        name=f"<b>{code}</b>" if is_reference else code,
        x=[step for step, _, _ in curve],
        y=[share for _, share, _ in curve],
        customdata=[[count] for _, _, count in curve],
        mode="lines+markers" if len(curve) <= MOST_MARKED else "lines",
        line={"color": color, "width": 2.2 if is_reference else 1.4, "dash": DASHES[order % len(DASHES)]},
        marker={"size": 6, "color": color, "symbol": SYMBOLS[order % len(SYMBOLS)]},
        hovertemplate=f"{code}, step %{{x}}: %{{customdata[0]}}<extra></extra>",
    )


def _rows(curves: Mapping[int, Curve]) -> tuple[tuple[str, ...], ...]:
    known = [{step: count for step, _, count in curve} for curve in curves.values()]
    steps = sorted({step for curve in known for step in curve})
    return tuple((str(step), *(curve.get(step, "") for curve in known)) for step in steps)

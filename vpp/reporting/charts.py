"""The charts of report.html: which a run has, and how they are embedded without any request.

The script is inlined once. A chart is embedded in light and in dark ink, for the browser to choose; paper is always
light. Charts hold no text of a model or a CSV, and the embedded JSON cannot end its element.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plotly.offline import get_plotlyjs

from vpp.data.dataset import Dataset
from vpp.drawing.calibration_figures import risk_figure
from vpp.drawing.figures import (
    Figure,
    acceptance_figure,
    error_figure,
    ess_figure,
    evidence_figure,
    size_figure,
    weights_figure,
)
from vpp.drawing.trust import why_not_judged
from vpp.inspection.points import points
from vpp.inspection.reliability import spread_reliability, vote_reliability
from vpp.inspection.scores import rows_by_id
from vpp.runs.reader import Snapshot
from vpp.wording.markup import table, text
from vpp.wording.progress import batch_errors
from vpp.wording.theme import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFigure:
    """A chart and its section."""

    section: str
    """Title of its section."""
    draw: Callable[[Mode], Figure]


def report_figures(snapshot: Snapshot, dataset: Dataset) -> tuple[ReportFigure, ...]:
    """Charts that fit the run's options, in the order of their sections; charts without numbers are left out."""
    figures = (*_in_brief(snapshot), *_doubt(snapshot, dataset), *_by_step(snapshot, dataset))
    return tuple(figure for figure in figures if figure.draw("light").rows)


def _in_brief(snapshot: Snapshot) -> Iterator[ReportFigure]:
    view = snapshot.view
    if snapshot.spec.config.is_weighted:
        yield ReportFigure(section="In brief", draw=lambda mode: ess_figure(view, mode))
        yield ReportFigure(section="In brief", draw=lambda mode: weights_figure(view, mode))


def _doubt(snapshot: Snapshot, dataset: Dataset) -> Iterator[ReportFigure]:
    test = snapshot.view.evaluated.get("test")
    if test is None or why_not_judged(len(test.weights)):
        return
    rows, is_label = points(test, rows_by_id(dataset)), dataset.task == "classification"
    judged = vote_reliability(rows) if is_label else spread_reliability(rows, dataset)
    if judged.is_equally_sure:
        return
    curve = judged.curve
    yield ReportFigure(
        section="Does uncertainty mean error?", draw=lambda mode: risk_figure(curve, mode, is_label=is_label)
    )


def _by_step(snapshot: Snapshot, dataset: Dataset) -> Iterator[ReportFigure]:
    view, config, section = snapshot.view, snapshot.spec.config, "Step by step"
    if config.is_filtered:
        yield ReportFigure(section=section, draw=lambda mode: acceptance_figure(view, mode))
    if config.is_telescoping:
        yield ReportFigure(section=section, draw=lambda mode: evidence_figure(view, mode))
    if config.particles_max:
        yield ReportFigure(section=section, draw=lambda mode: size_figure(view, mode))
    errors = batch_errors(view, config, dataset)
    yield ReportFigure(
        section=section, draw=lambda mode: error_figure(view, mode, errors.by_step, name=errors.name, top=errors.top)
    )


# Embedding

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""Content security policy of a page with live charts: inline scripts and styles, no request."""
MODES: tuple[Mode, ...] = ("light", "dark")

_DRAW = """
const figures = JSON.parse(document.getElementById("figures").textContent);
const places = [...document.querySelectorAll(".chart")];
const dark = matchMedia("(prefers-color-scheme: dark)");
function draw(mode, width) {
  places.forEach((place, n) => {
    const {data, layout} = structuredClone(figures[n][mode]);
    Plotly.react(place, data, {...layout, width}, {displayModeBar: false, responsive: true});
  });
}
const drawn = () => draw(dark.matches ? "dark" : "light");
drawn();
dark.addEventListener("change", drawn);
addEventListener("beforeprint", () => draw("light", 560));
addEventListener("afterprint", drawn);
"""


def chart_place(shown: Figure, number: int) -> str:
    """Figure element: a place for the chart, its text alternative, and its numbers as a table.

    number: from 1, as the caption calls it; places stand in the page in the order of the figures embedded.
    """
    numbers = table(shown.head, shown.rows, right=range(1, len(shown.head)))
    return (
        f'<figure><div class="chart" role="img" aria-label="{text(shown.alt)}"></div>'
        f"<figcaption><b>Figure {number}.</b> {text(shown.alt)}.</figcaption>"
        f"<details><summary>Show as table</summary>{numbers}</details></figure>"
    )


def chart_scripts(figures: Sequence[dict[Mode, Figure]]) -> str:
    """Scripts that draw the charts; empty if there are none. figures: each in both modes."""
    if not figures:
        return ""
    return (
        f"<script>{get_plotlyjs()}</script>"
        f'<script type="application/json" id="figures">{_embedded(figures)}</script>'
        f"<script>{_DRAW}</script>"
    )


def _embedded(figures: Sequence[dict[Mode, Figure]]) -> str:
    """JSON without `<`, so that no HTML element can begin or end in it."""
    both = (",".join(f'"{mode}":{figure[mode].chart.to_json(engine="json")}' for mode in MODES) for figure in figures)
    return f"[{','.join(f'{{{each}}}' for each in both)}]".replace("<", "\\u003c")

"""The charts of report.html: which a run has, and how they are embedded without any request.

The script is inlined once. A chart is embedded in light and in dark ink, for the browser to choose; paper is always
light. Charts hold no text of a model or a CSV, and the embedded JSON cannot end its element.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

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
from vpp.drawing.trust import judged
from vpp.inspection.points import calibrated, points
from vpp.inspection.scores import rows_by_id
from vpp.runs.reader import Snapshot
from vpp.wording.brief import held_by
from vpp.wording.markup import table, text
from vpp.wording.progress import batch_errors
from vpp.wording.theme import Mode

Draw = Callable[[Mode], Figure]
ReportFigure = tuple[str, Draw]
"""The title of a section, and a chart of it."""


def report_figures(snapshot: Snapshot, dataset: Dataset) -> tuple[ReportFigure, ...]:
    """Charts that fit the run's options, in the order of their sections; charts without numbers are left out."""
    return tuple((section, draw) for section, draw in _figures(snapshot, dataset) if draw("light").rows)


def _figures(snapshot: Snapshot, dataset: Dataset) -> Iterator[ReportFigure]:
    view, config = snapshot.view, snapshot.spec.config
    if config.is_weighted:
        yield "In brief", partial(ess_figure, view)
        yield "In brief", partial(weights_figure, view)
    test = view.evaluated.get("test")
    if test is not None and len(test.weights) > 1:
        result, _, _ = judged(
            points(test, rows_by_id(dataset), calibrated(view, dataset, of=test)), dataset, held_by(config)
        )
        if not result.is_equally_sure:
            is_label = dataset.task == "classification"
            yield "Does uncertainty mean error?", partial(risk_figure, result.curve, is_label=is_label)
    if config.is_filtered:
        yield "Step by step", partial(acceptance_figure, view)
    if config.is_telescoping and not config.is_weighing:
        yield "Step by step", partial(evidence_figure, view)
    if config.particles_max:
        yield "Step by step", partial(size_figure, view)
    yield "Step by step", partial(error_figure, view, errors=batch_errors(view, config, dataset))


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
    both = (",".join(f'"{mode}":{figure[mode].chart.to_json(engine="json")}' for mode in MODES) for figure in figures)
    # Without `<` no HTML element can begin or end in it.
    embedded = f"[{','.join(f'{{{each}}}' for each in both)}]".replace("<", "\\u003c")
    return (
        f"<script>{get_plotlyjs()}</script>"
        f'<script type="application/json" id="figures">{embedded}</script>'
        f"<script>{_DRAW}</script>"
    )

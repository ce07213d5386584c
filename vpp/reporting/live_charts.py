"""Plotly charts inside a file of its own: the script inlined once, each chart's numbers beside it, nothing fetched.

A chart is embedded twice, in light and in dark ink; the browser's own preference says which is drawn, and paper is
always light. No text of a model or a CSV is in a chart, and what is embedded cannot end the element it stands in.
"""

from collections.abc import Sequence

from plotly.offline import get_plotlyjs

from vpp.drawing.figures import Figure
from vpp.wording.markup import table, text
from vpp.wording.theme import Mode

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""What a page with live charts may do: run and style what it holds, and fetch nothing."""
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
    """Where a chart is drawn, its finding in words, and its numbers as a table.

    number: from 1, as the caption calls it; places stand in the page in the order of the figures embedded.
    """
    numbers = table(shown.head, shown.rows, right=range(1, len(shown.head)))
    return (
        f'<figure><div class="chart" role="img" aria-label="{text(shown.alt)}"></div>'
        f"<figcaption><b>Figure {number}.</b> {text(shown.alt)}.</figcaption>"
        f"<details><summary>Show as table</summary>{numbers}</details></figure>"
    )


def chart_scripts(figures: Sequence[dict[Mode, Figure]]) -> str:
    """The elements that make the places live; empty where there are none. figures: each in both modes."""
    if not figures:
        return ""
    return (
        f"<script>{get_plotlyjs()}</script>"
        f'<script type="application/json" id="figures">{_embedded(figures)}</script>'
        f"<script>{_DRAW}</script>"
    )


def _embedded(figures: Sequence[dict[Mode, Figure]]) -> str:
    """JSON in which no `<` stands, so that no element can end or begin."""
    both = (",".join(f'"{mode}":{figure[mode].chart.to_json(engine="json")}' for mode in MODES) for figure in figures)
    return f"[{','.join(f'{{{each}}}' for each in both)}]".replace("<", "\\u003c")

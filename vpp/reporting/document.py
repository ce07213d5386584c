"""Files beside a run: report.md, posterior.json and predictions.csv at its end; report.html where it is asked for.

report.html is rendered from the Markdown, with its charts. Links and images of any text are disabled.

The script of the charts is inlined once. A chart is embedded in light and in dark ink, for the browser to choose; paper
is always light. Charts hold no text of a model or a CSV, and the embedded JSON cannot end its element.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape, unescape
from itertools import count
from pathlib import Path

from markdown_it import MarkdownIt
from plotly.offline import get_plotlyjs

from vpp.data.dataset import Dataset
from vpp.drawing.dissent import judged
from vpp.drawing.figures import Figure, acceptance_figure, error_figure, ess_figure, evidence_figure, risk_figure
from vpp.inspection.points import points, reject_option
from vpp.reporting.markdown import Section, report, report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically
from vpp.runs.reader import RunReader, Snapshot
from vpp.wording.brief import held_by
from vpp.wording.markup import scrolling, table, text
from vpp.wording.progress import batch_errors
from vpp.wording.theme import Mode, css

# The files


def write_all(directory: RunDirectory, *, simple_models: bool = True) -> list[Path]:
    """Write the three files that every ended run has, each in one move; return their paths, report.md first.

    simple_models: whether the report fits some for scale, which takes a second or two.
    """
    report = report_markdown(RunReader(directory), simple_models=simple_models).encode()
    files = {"report.md": report, **{name: write() for name, write in ways(directory).items()}}
    for name, content in files.items():
        write_atomically(directory.path / name, content)
    return [directory.path / name for name in files]


def ways(directory: RunDirectory) -> Mapping[str, Callable[[], bytes]]:
    """Return the functions that write posterior.json and predictions.csv."""
    reader = RunReader(directory)
    return {"posterior.json": partial(posterior_json, reader), "predictions.csv": partial(predictions_csv, reader)}


def write_html(directory: RunDirectory) -> Path:
    """Write report.html, about 5 MB with the script of its charts, in one move; return its path."""
    path = directory.path / "report.html"
    write_atomically(path, report_html(RunReader(directory)).encode(errors="replace"))
    return path


# The report as HTML

Draw = Callable[[Mode], Figure]
ReportFigure = tuple[str, Draw]
"""The title of a section, and a chart of it."""
COLOURS = ("ink", "ink-3", "paper", "sunk", "rule", "edge")
STYLE = (
    f':root{{color-scheme:light dark;--serif:"Source Serif 4",Georgia,serif;{css(*COLOURS)}}}'
    """
body{margin:2.5rem auto;max-width:72rem;padding:0 1.25rem;background:var(--paper);color:var(--ink);
font:15px/1.5 "Fira Sans","Segoe UI",sans-serif;font-variant-numeric:tabular-nums}
section{max-width:46rem}
section.beside{max-width:none;display:grid;grid-template-columns:minmax(0,46rem) minmax(0,20rem);
column-gap:clamp(1.5rem,5vw,4rem);align-items:start}
.words{min-width:0}
.figures{display:grid;gap:1.5rem;padding-top:2.5rem}
h1,h2,h3,blockquote{font-family:var(--serif);line-height:1.25;overflow-wrap:anywhere}
h1{font-size:2.1rem;font-weight:600;margin:0 0 .5rem}
h2{border-top:1px solid var(--ink);padding-top:.5rem;margin-top:2rem;font-size:1.2rem;font-weight:600}
h3{font-size:1rem;font-weight:600;margin:1.5rem 0 .5rem}
.head>p:last-child>strong{font:400 1.2rem/1.45 var(--serif)}
.head blockquote{font:inherit}
p,li,figcaption{overflow-wrap:anywhere}
blockquote{margin:0;padding-left:.75rem;border-left:2px solid var(--edge);font-size:1.06rem}
blockquote p{margin:.5rem 0}
table{border-collapse:collapse;font-size:.82rem}
.scroll{overflow-x:auto}
th{font-weight:400;color:var(--ink-3);border-bottom:1px solid var(--edge);padding:4px 14px 4px 0;text-align:left}
td{min-width:4rem;overflow-wrap:anywhere;padding:5px 14px 5px 0;border-bottom:1px solid var(--rule);vertical-align:top}
td:first-child{overflow-wrap:break-word}
th.r,td.r{text-align:right}
pre{background:var(--sunk);padding:.75rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.82rem}
figure{margin:0;min-width:0}
.chart{min-height:240px;overflow:hidden}
figcaption,details{font-size:.78rem;color:var(--ink-3)}
figcaption b{color:var(--ink)}
summary{cursor:pointer;margin-top:.25rem}
summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--edge);outline-offset:2px}
@media (max-width:64rem){section.beside{display:block}.figures{padding-top:1rem;max-width:40rem}}
@media print{:root{color-scheme:light}body{margin:0 auto}section.beside{display:block}
.figures{max-width:40rem}h2,h3,tr{break-after:avoid}figure,tr,blockquote{break-inside:avoid}summary{display:none}}
"""
)
HEADING = re.compile(r"(</?h)(\d)>")
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
WITHOUT_SCRIPT = "<noscript><style>.chart{display:none}</style></noscript>"


def report_body(markdown: str, *, under: int = 0) -> str:
    """The report's HTML elements, for use inside a page. under: level of the heading above them."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    renderer.disable(["link", "image", "autolink", "reference", "html_inline", "html_block"])
    numbers = count(1)
    body = HEADING.sub(lambda tag: f"{tag[1]}{int(tag[2]) + under}>", str(renderer.render(markdown)))

    def in_a_region(table: re.Match[str]) -> str:
        names = unescape(", ".join(re.findall(r"<th[^>]*>(.*?)</th>", table[0])))
        return scrolling(table[0], f"Table {next(numbers)}: {names}")

    return TABLE.sub(in_a_region, body)


def report_html(reader: RunReader) -> str:
    """Return report.html, about 5 MB: nearly all is the script that draws its charts. The page fetches nothing."""
    words, snapshot = report(reader), reader.refresh()
    placed = report_figures(snapshot, reader.dataset())
    sections = "".join(_section(section, placed) for section in words.sections)
    scripts = chart_scripts([{mode: draw(mode) for mode in MODES} for _, draw in placed])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(snapshot.spec.name)}</title><style>{STYLE}</style>{WITHOUT_SCRIPT}</head><body>"
        f'<section class="head">{report_body(words.head)}</section>{sections}{scripts}</body></html>\n'
    )


def _section(section: Section, placed: Sequence[ReportFigure]) -> str:
    """A section's text, with its charts at the side."""
    words = report_body(section.markdown)
    beside = [(n, draw) for n, (title, draw) in enumerate(placed, 1) if title == section.title]
    if not beside:
        return f"<section>{words}</section>"
    charts = "".join(chart_place(draw("light"), n) for n, draw in beside)
    return f'<section class="beside"><div class="words">{words}</div><div class="figures">{charts}</div></section>'


# Charts


def report_figures(snapshot: Snapshot, dataset: Dataset) -> tuple[ReportFigure, ...]:
    """Charts that fit the run's options, in the order of their sections; charts without numbers are left out."""
    return tuple((section, draw) for section, draw in _figures(snapshot, dataset) if draw("light").rows)


def _figures(snapshot: Snapshot, dataset: Dataset) -> Iterator[ReportFigure]:
    view, config = snapshot.view, snapshot.spec.config
    if config.is_weighted:
        yield "In brief", partial(ess_figure, view)
    if config.is_filtered:
        yield "In brief", partial(acceptance_figure, view)
    if config.is_telescoping and not config.is_weighing:
        yield "In brief", partial(evidence_figure, view)
    yield "In brief", partial(error_figure, view, errors=batch_errors(view, config, dataset))
    test = view.evaluated.get("test")
    if test is not None and len(test.weights) > 1:
        result, _, _ = judged(
            points(test, dataset, reject_option(view, config, dataset, of=test)), dataset, held_by(config, test.noise)
        )
        if not result.is_equally_sure:
            is_label = dataset.task == "classification"
            yield "Does uncertainty mean error?", partial(risk_figure, result.curve, is_label=is_label)


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


def chart_place(figure: Figure, number: int) -> str:
    """Return a place for the chart, its text alternative, and its numbers as a table. number: of the figure, from 1."""
    numbers = table(figure.head, figure.rows, right=range(1, len(figure.head)))
    return (
        f'<figure><div class="chart" role="img" aria-label="{text(figure.alt)}"></div>'
        f"<figcaption><b>Figure {number}.</b> {text(figure.alt)}.</figcaption>"
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

"""Files beside a run: report.md, posterior.json and predictions.csv at its end; report.html where it is asked for.

report.html is rendered from the Markdown, with bars by step beside the summary. It has no script and fetches nothing:
links and images of any text are disabled. Paper is always light.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from html import escape, unescape
from itertools import count
from pathlib import Path

from markdown_it import MarkdownIt

from vpp.findings.curves import ess_bars
from vpp.reporting.markdown import report, report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically
from vpp.runs.reader import RunReader
from vpp.show.markup import scrolling
from vpp.show.page import html
from vpp.show.theme import css

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
    """Write report.html in one move; return its path."""
    path = directory.path / "report.html"
    write_atomically(path, report_html(RunReader(directory)).encode(errors="replace"))
    return path


# The report as HTML

COLOURS = ("ink", "ink-3", "paper", "sunk", "rule", "edge", "past", "gone")
STYLE = (
    f':root{{color-scheme:light dark;--serif:"Source Serif 4",Georgia,serif;{css(*COLOURS)}}}'
    """
body{margin:2.5rem auto;max-width:46rem;padding:0 1.25rem;background:var(--paper);color:var(--ink);
font:15px/1.5 "Fira Sans","Segoe UI",sans-serif;font-variant-numeric:tabular-nums}
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
figure{margin:1rem 0;max-width:30rem}
.bars svg{display:block;width:100%;height:3rem;overflow:visible}
.bars path{fill:none;stroke-width:1;vector-effect:non-scaling-stroke;stroke-linecap:round}
.bars .done{fill:var(--past)}
.bars .now{fill:var(--ink)}
.bars .axis{stroke:var(--ink)}
.bars .limit{stroke:var(--ink-3);stroke-dasharray:4 3;stroke-linecap:butt}
.bars .ring{stroke:var(--gone);stroke-width:var(--d)}
.bars .hole{stroke:var(--paper);stroke-width:calc(var(--d) - 3px)}
figcaption{font-size:.78rem;color:var(--ink-3);margin-top:.25rem}
.scroll:focus-visible{outline:2px solid var(--edge);outline-offset:2px}
@media print{:root{color-scheme:light}body{margin:0 auto;background:none}h2,h3,tr{break-after:avoid}
figure,tr,blockquote{break-inside:avoid}}
"""
)
HEADING = re.compile(r"(</?h)(\d)>")
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content security policy: styles of its own, no script and no request."""


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
    """Return report.html: the report with bars by step at the end of its summary."""
    words, snapshot = report(reader), reader.refresh()
    view, config = snapshot.view, snapshot.spec.config
    bars = html([ess_bars(view, at=None)]) if config.is_weighted and view.ess_by_step else ""
    summary, *others = (report_body(section.markdown) for section in words.sections)
    sections = (report_body(words.head), f"{summary}{bars}", *others)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(snapshot.spec.name)}</title><style>{STYLE}</style></head><body>"
        f'<section class="head">{"</section><section>".join(sections)}</section></body></html>\n'
    )

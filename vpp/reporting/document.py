"""The report of a run: two pages and an appendix, as Markdown and HTML; and the files that every ended run has.

The HTML has the app's own stylesheet and fonts inside, no script, and fetches nothing. Paper is always light and white.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

from vpp.data.dataset import Dataset
from vpp.environment import app_folder
from vpp.findings import report
from vpp.findings.baselines import baselines, with_prompted
from vpp.findings.command import repeat_command
from vpp.findings.result import (
    caveats,
    deciding_rows,
    deciding_sentence,
    evidence_measure,
    surpassed_sentences,
    weights_measure,
)
from vpp.findings.rows import evaluated_rows
from vpp.findings.scores import averaged_score
from vpp.findings.verdict import blocks, run_verdict
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import write_atomically
from vpp.runs.reader import RunReader, Snapshot
from vpp.show.blocks import Heading, Metric, Note, Table
from vpp.show.figures import Code
from vpp.show.markdown import markdown
from vpp.show.markup import markdown_text, text
from vpp.show.page import html

# What the report holds


def two_pages(reader: RunReader) -> Iterator[object]:
    snapshot, dataset = reader.refresh(), reader.dataset()
    view = snapshot.view
    yield from blocks(run_verdict(reader.directory, view))
    yield from map(Note, filter(None, (*surpassed_sentences(view, dataset), view.detail)))
    yield Heading("Hypotheses by weight")
    yield from report.weights(view, dataset)
    if rows := evaluated_rows(view, snapshot.spec.config, dataset):
        yield Heading("Right and wrong")
        yield from report.mistakes(rows.test, rows.points, dataset)
        yield Heading("Rows in doubt or wrong")
        yield from report.doubtful_rows(rows)
    yield Heading("Method and data")
    yield report.method(snapshot, weights_measure(snapshot).words if view.population else "None have been made yet.")
    yield report.data(dataset)
    yield report.citation(snapshot, reader.directory.id)


def appendix(reader: RunReader) -> Mapping[str, tuple[object, ...]]:
    """Return the sections by title."""
    snapshot, dataset = reader.refresh(), reader.dataset()
    sections: Mapping[str, Iterable[object]] = {
        "Simple models": _simple_models(reader, snapshot, dataset),
        "What was ruled out": report.newest_ruled_out(snapshot.view, dataset),
        "Calibration and evidence": _calibration(snapshot, dataset),
        "How far to trust this": map(Note, caveats(snapshot, dataset)),
        "Options": report.options(snapshot),
        "The table": report.preparation(dataset),
        "Versions and hashes": [report.versions(snapshot)],
        "The command that repeats the run": _command(snapshot),
    }
    blocks = {title: tuple(section) for title, section in sections.items()}
    return {title: section for title, section in blocks.items() if section}


def _simple_models(reader: RunReader, snapshot: Snapshot, dataset: Dataset) -> Iterator[object]:
    if not dataset.test:
        return
    test = snapshot.view.evaluated.get("test")
    simple = with_prompted(baselines(dataset), reader.directory, dataset)
    yield from report.simple_models(simple, averaged_score(test, dataset) if test else None)


def _calibration(snapshot: Snapshot, dataset: Dataset) -> Iterator[object]:
    view, config = snapshot.view, snapshot.spec.config
    rows = evaluated_rows(view, config, dataset)
    if rows and rows.test.split == "test":
        yield from report.calibration(rows)
    if view.population and (evidence := list(evidence_measure(snapshot))):
        yield _figures(evidence)
    if config.is_weighing and (decided := deciding_sentence(deciding_rows(view, config, dataset))):
        yield Note(decided)


def _figures(metrics: Iterable[Metric]) -> Table:
    rows = [(each.name, f"{each.value} {each.scale}".strip(), each.words) for each in metrics]
    return Table(head=("figure", "value", "in words"), rows=rows, right=(1,), name=rows[0][0])


def _command(snapshot: Snapshot) -> Iterator[object]:
    command = repeat_command(snapshot.spec)
    yield Note("Equal data, options, answers and versions give an equal run.")
    yield from map(Note, command.notes)
    yield Code(command.line)


# Markdown and HTML


def report_markdown(reader: RunReader) -> str:
    """Return the whole report; that of an unfinished run says what is missing."""
    back = (f"### {title}\n\n{markdown(section, level=4)}" for title, section in appendix(reader).items())
    title = f"# {markdown_text(reader.refresh().spec.name)}"
    return "\n\n".join((title, markdown(two_pages(reader)), "## Appendix", *back)) + "\n"


POLICY = "default-src 'none'; style-src 'unsafe-inline'; font-src data:"


TERM = re.compile(r'<button type="button" class="term"[^>]*>(.*?)</button>')
"""A label that opens its glossary entry on a page; a file has no glossary."""


def report_html(reader: RunReader) -> str:
    name, back = text(reader.refresh().spec.name), appendix(reader)
    links = "".join(f'<li><a href="#{_place(title)}">{text(title)}</a></li>' for title in back)
    sections = "".join(html((Heading(title, place=_place(title)), *blocks)) for title, blocks in back.items())
    body = (
        f'<div class="report">{html(two_pages(reader))}</div>'
        f'<div class="report appendix"><h2>Appendix</h2><nav aria-label="Appendix"><ol>{links}</ol></nav>'
        f"{sections}</div>"
    )
    body = TERM.sub(r"\1", body)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{name}</title><style>{_style()}</style></head><body>"
        f'<main class="vpp"><h1>{name}</h1>{body}</main></body></html>\n'
    )


def _place(title: str) -> str:
    return title.lower().replace(" ", "-")


@cache
def _style() -> str:
    """Return the stylesheets of the app and of a document, with the fonts inside."""
    app = app_folder()

    def inside(url: re.Match[str]) -> str:
        return f"url(data:font/woff2;base64,{b64encode((app / url[1]).read_bytes()).decode()})"

    sheets = ((app / "assets" / name).read_text(encoding="utf-8") for name in ("vpp.css", "report.css"))
    return re.sub(r"url\(([^)]+)\)", inside, "".join(sheets))


# The files


def write_all(directory: RunDirectory) -> list[Path]:
    """Write the three files that every ended run has, each in one move; return their paths, report.md first."""
    files = {"report.md": report_markdown(RunReader(directory)).encode()}
    files |= {name: write() for name, write in ways(directory).items()}
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

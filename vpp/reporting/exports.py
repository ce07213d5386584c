"""Files beside a run: report.md, posterior.json and predictions.csv at its end, the larger ones where asked for."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from vpp.reporting.document import report_html
from vpp.reporting.markdown import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically
from vpp.runs.reader import RunReader


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

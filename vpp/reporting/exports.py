"""Files beside a run: report.md, posterior.json and predictions.csv at its end, the larger ones where asked for."""

from pathlib import Path

from vpp.reporting.document import report_html
from vpp.reporting.markdown import report_markdown
from vpp.reporting.posterior_json import posterior_json
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import write_atomically
from vpp.runs.reader import RunReader


def write_all(directory: RunDirectory, *, simple_models: bool = True) -> list[Path]:
    """Writes the three files that every ended run has, each in one move; returns their paths, report.md first.

    simple_models: whether the report fits some for scale, which takes a second or two.
    """
    reader = RunReader(directory)
    files = {
        "report.md": report_markdown(reader, simple_models=simple_models).encode(),
        "posterior.json": posterior_json(reader),
        "predictions.csv": predictions_csv(reader),
    }
    for name, content in files.items():
        write_atomically(directory.path / name, content)
    return [directory.path / name for name in files]


def write_html(directory: RunDirectory) -> Path:
    """Writes report.html, about 5 MB with the script of its charts, in one move; returns its path."""
    path = directory.path / "report.html"
    write_atomically(path, report_html(RunReader(directory)).encode(errors="replace"))
    return path

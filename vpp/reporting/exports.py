"""Files beside a run: report.md, posterior.json and predictions.csv at its end, the larger ones where asked for."""

from collections.abc import Callable, Mapping, Sequence
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
    """Writes the three files that every ended run has, each in one move; returns their paths, report.md first.

    simple_models: whether the report fits some for scale, which takes a second or two.
    """
    files = {name: (each[-1] if simple_models else each[0])() for name, each in ways(directory).items()}
    for name, content in files.items():
        write_atomically(directory.path / name, content)
    return [directory.path / name for name in files]


def ways(directory: RunDirectory) -> Mapping[str, Sequence[Callable[[], bytes]]]:
    """Return functions that write each of the three files; report.md without simple models first, then with them."""
    reader = RunReader(directory)

    def report(simple_models: bool) -> bytes:
        return report_markdown(reader, simple_models=simple_models).encode()

    return {
        "report.md": (partial(report, False), partial(report, True)),
        "posterior.json": (partial(posterior_json, reader),),
        "predictions.csv": (partial(predictions_csv, reader),),
    }


def write_html(directory: RunDirectory) -> Path:
    """Writes report.html, about 5 MB with the script of its charts, in one move; returns its path."""
    path = directory.path / "report.html"
    write_atomically(path, report_html(RunReader(directory)).encode(errors="replace"))
    return path

"""The paper's values as printed, from paper.json, by table label, task and column."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

NONE = "–"


@cache
def paper() -> dict[str, Any]:
    """Read paper.json."""
    return dict(json.loads(files("vpp.bench").joinpath("paper.json").read_text(encoding="utf-8")))


def table(label: str) -> dict[str, Any]:
    """Return a table of the paper, by task."""
    return dict(paper()["tables"][label])


def printed(label: str, task: str, column: str) -> str:
    """Return a cell of a table; a dash if the paper has none."""
    return str(table(label).get(task, {}).get(column, NONE))


def printed_run(label: str, task: str, run: int, column: str) -> str:
    """Return a cell of a table with one row per run; a dash if the paper has none."""
    runs = table(label).get(task, ())
    return str(runs[run].get(column, NONE)) if run < len(runs) else NONE


def in_text(measure: str, task: str) -> Any:
    """Return a value from the paper's running text; None if it gives none."""
    return paper()["text"][measure].get(task)

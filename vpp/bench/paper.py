"""The paper's own values, as printed, from paper.json: by the label of its table, task and column."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

NONE = "–"


@cache
def paper() -> dict[str, Any]:
    """The whole file."""
    found: dict[str, Any] = json.loads(files("vpp.bench").joinpath("paper.json").read_text(encoding="utf-8"))
    return found


def table(label: str) -> dict[str, Any]:
    """What a table of the paper prints, by task."""
    found: dict[str, Any] = paper()["tables"][label]
    return found


def printed(label: str, task: str, column: str) -> str:
    """One cell of a table; a dash where the paper has none."""
    return str(table(label).get(task, {}).get(column, NONE))


def printed_run(label: str, task: str, run: int, column: str) -> str:
    """One cell of a table that has a row a run; a dash where the paper has none."""
    runs = table(label).get(task, ())
    return str(runs[run].get(column, NONE)) if run < len(runs) else NONE


def said(what: str, task: str) -> Any:
    """What the text says of a task; None where it says nothing."""
    return paper()["text"][what].get(task)


def number(cell: str) -> float:
    """The number, or the mean, that a printed cell begins with."""
    return float(cell.split()[0])

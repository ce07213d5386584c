"""Exports of a run, compared with those that its journal gives."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from vpp import files
from vpp.errors import VppError
from vpp.runs.directory import RunDirectory
from vpp.verification.ledger import ABSENT, At, Ledger, differences

Ways = Mapping[str, Callable[[], bytes]]
"""Functions that write a file again from the journal, by file name."""
JSON = "posterior.json"
OTHERS = ("report.md", "report.html", "posterior.nc")
"""Exports that are not compared."""
_CHANGEABLE = frozenset(("name", "result run", "result dir", "result spent max_calls", "result spent max_cost"))
"""Fields of posterior.json that the user may change after the run: name, directory and caps."""


def check_exports(directory: RunDirectory, ways: Ways, ledger: Ledger) -> None:
    """Compare the exports in the run's folder, if the journal itself has no faults."""
    can_compare = not (ledger.faults or directory.is_held())
    for name in (JSON, "predictions.csv", *OTHERS):
        path = directory.path / name
        if not path.exists():
            continue
        if name in OTHERS:
            ledger.skip(f"{name}: never compared; `python -m vpp report` writes it again")
        elif name not in ways or not can_compare:
            ledger.skip(f"{name}: compared only for a run that has ended, with a journal without faults")
        else:
            try:
                with files.read(path) as file:
                    _compare(name, file.read(), ways[name](), ledger)
            except (VppError, OSError) as error:
                ledger.skip(f"{name}: cannot be read or written again ({error})")


def _compare(name: str, written: bytes, follows: bytes, ledger: Ledger) -> None:
    at, read = At(line=0, file=name), _fields if name == JSON else _cells
    own, due = read(written), read(follows)
    if own is None or due is None:
        ledger.compare("exports", at, "content", written="it cannot be read", follows="as `report` writes it")
        return
    if own.get("schema") != due.get("schema"):
        ledger.skip(f"{name}: another version of the program wrote it")
        return
    differing = [each for each in differences("", own, due) if each.what not in _CHANGEABLE]
    older = [each for each in differing if name == JSON and each.written is ABSENT]
    if older:
        ledger.skip(f"{name}: a field that an older program did not write")
    ledger.add("exports", at, [each for each in differing if each not in older])


def _fields(content: bytes) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        fields = json.loads(content)
        return fields if isinstance(fields, dict) else None
    return None


def _cells(content: bytes) -> dict[str, Any] | None:
    """Cells of a CSV by line and column, numbers parsed; the header is line 1."""
    with suppress(ValueError, csv.Error):
        lines = enumerate(csv.reader(io.StringIO(content.decode(), newline="")), 1)
        return {f"line {n}": {f"column {k}": _number(cell) for k, cell in enumerate(line, 1)} for n, line in lines}
    return None


def _number(cell: str) -> str | float:
    with suppress(ValueError):
        return float(cell)
    return cell

"""Exports of a run, compared with those that its journal gives."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vpp import files
from vpp.errors import VppError
from vpp.runs.directory import RunDirectory
from vpp.verification.ledger import At, Ledger, is_same

Ways = Mapping[str, Callable[[], bytes]]
"""Functions that write a file again from the journal, by file name."""
JSON = "posterior.json"
OTHERS = ("report.md", "report.html", "posterior.nc")
"""Exports that are not compared."""
_CHANGEABLE = frozenset(("name", "result run", "result dir", "result spent max_calls", "result spent max_cost"))
"""Fields of posterior.json that the user may change after the run: name, directory and caps."""
Difference = tuple[str, object, object]
"""(name, written value, derived value)."""


class _Absent:
    """A value that one side lacks."""

    def __str__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


def check_exports(directory: RunDirectory, ways: Ways, ledger: Ledger) -> None:
    """Compare the exports in the run's folder, if the journal itself has no faults."""
    can_compare = not (ledger.faults or directory.is_held())
    for name in (JSON, "predictions.csv", *OTHERS):
        if not (directory.path / name).exists():
            continue
        if name in OTHERS:
            ledger.skip(f"{name}: never compared; `python -m vpp report` writes it again")
        elif name not in ways or not can_compare:
            ledger.skip(f"{name}: compared only for a run that has ended, with a journal without faults")
        else:
            try:
                _compare(name, _content(directory.path / name), ways[name](), ledger)
            except (VppError, OSError) as error:
                ledger.skip(f"{name}: cannot be read or written again ({error})")


def _content(path: Path) -> bytes:
    with files.read(path) as file:
        return file.read()


def _compare(name: str, written: bytes, follows: bytes, ledger: Ledger) -> None:
    at, read = At(line=0, file=name), _fields if name == JSON else _cells
    own, due = read(written), read(follows)
    if own is None or due is None:
        ledger.compare("exports", at, "content", written="it cannot be read", follows="as `report` writes it")
        return
    if own.get("schema") != due.get("schema"):
        ledger.skip(f"{name}: another version of the program wrote it")
        return
    for key in dict.fromkeys([*own, *due]):
        differing = list(_differences(key, own.get(key, _ABSENT), due.get(key, _ABSENT)))
        older = [each for each in differing if name == JSON and each[1] is _ABSENT]
        if older:
            ledger.skip(f"{name}: a field that an older program did not write")
        what, one, other = next((each for each in differing if each not in older), (key, None, None))
        ledger.compare("exports", at, what, written=one, follows=other)


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


def _differences(what: str, written: Any, follows: Any) -> Iterator[Difference]:
    """Yield the values that differ, in the file's order."""
    if what in _CHANGEABLE:
        return
    if isinstance(written, dict) and isinstance(follows, dict):
        for key in dict.fromkeys([*written, *follows]):
            yield from _differences(f"{what} {key}", written.get(key, _ABSENT), follows.get(key, _ABSENT))
    elif isinstance(written, list) and isinstance(follows, list) and len(written) == len(follows):
        for place, pair in enumerate(zip(written, follows, strict=True)):
            yield from _differences(f"{what}[{place}]", *pair)
    elif _ABSENT in (written, follows) or not is_same(written, follows):
        yield what, written, follows

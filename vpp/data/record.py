"""A dataset as a run directory keeps it: its rows as CSV text, and the rest as a JSON-able spec."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from vpp.data.dataset import Column, Dataset, Notation, Provenance, Row, Task, Value
from vpp.data.read_as import ReadAs
from vpp.data.target import target_value
from vpp.errors import DataError

_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^$|^\s|\s$')
_CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))([,\n])')


def rows_csv(dataset: Dataset) -> bytes:
    """The rows as used, training rows first: `row`, `split`, then the inputs and the target in file order.

    Rows without a target that were kept come last; their split is `unlabelled`.
    UTF-8, commas, `\\n` after each line. The first two columns are told by their position: the file may have a column
    `row` of its own. A missing cell is empty, an empty text is `""`; a number that is the target is its shortest text.
    """
    names = _file_order(dataset.columns, {*dataset.inputs, dataset.target})
    lines: list[list[str | None]] = [["row", "split", *names]]
    for part, rows in (("train", dataset.train), ("test", dataset.test), ("unlabelled", dataset.unlabelled)):
        lines += [[str(row.id), part, *_cells(row, names, dataset.target)] for row in rows]
    return "".join(map(_written_line, lines)).encode()


def spec(dataset: Dataset) -> dict[str, Any]:
    """All of a dataset but its rows, in types that JSON has; `fingerprint` is the SHA-256 of its `rows_csv`."""
    return {
        "name": dataset.name,
        "target": dataset.target,
        "task": dataset.task,
        "columns": [{**asdict(column), "kept_words": list(column.kept_words)} for column in dataset.columns],
        "inputs": list(dataset.inputs),
        "classes": list(dataset.classes),
        "provenance": {
            **asdict(dataset.provenance),
            "notes": list(dataset.provenance.notes),
            "read_as": dataset.provenance.read_as.said,
        },
        "fingerprint": _sha256(rows_csv(dataset)),
    }


def dataset_from_csv(content: bytes, *, header: Mapping[str, Any]) -> Dataset:
    """The dataset of which `content` is the `rows_csv` and `header` the `spec`. Raises DataError for changed rows."""
    if _sha256(content) != header["fingerprint"]:
        raise DataError(
            f"data.csv of {header['name']!r} is not as the run wrote it: put the original back or start a new run"
        )
    rows = list(_read_rows(content.decode(), header))
    return Dataset(
        name=header["name"],
        target=header["target"],
        task=header["task"],
        columns=tuple(map(_read_column, header["columns"])),
        inputs=tuple(header["inputs"]),
        classes=tuple(header["classes"]),
        train=tuple(row for part, row in rows if part == "train"),
        test=tuple(row for part, row in rows if part == "test"),
        provenance=_read_provenance(header["provenance"]),
        unlabelled=tuple(row for part, row in rows if part == "unlabelled"),
    )


def _read_column(column: Mapping[str, Any]) -> Column:
    notation = column.get("notation")
    kept_words = tuple(column.get("kept_words", ()))
    return Column(**{**column, "notation": Notation(**notation) if notation else None, "kept_words": kept_words})


def _read_provenance(kept: Mapping[str, Any]) -> Provenance:
    read_as = ReadAs(**kept.get("read_as", {}))
    return Provenance(**{**kept, "notes": tuple(kept.get("notes", ())), "read_as": read_as})


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _file_order(columns: Sequence[Column], used: set[str]) -> tuple[str, ...]:
    return tuple(column.name for column in columns if column.name in used)


def _cells(row: Row, names: Sequence[str], target: str) -> list[str | None]:
    cells = {**dict(row.inputs), target: _target_text(row.target)}
    return [cells[name] for name in names]


def _target_text(value: Value | None) -> str | None:
    return value if value is None or isinstance(value, str) else repr(value).removesuffix(".0")


def _read_target(cell: str | None, task: Task) -> Value | None:
    return None if cell is None else target_value(cell, task)


def _written_line(cells: Iterable[str | None]) -> str:
    return ",".join(map(_written, cells)) + "\n"


def _written(cell: str | None) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell


def _read_rows(text: str, header: Mapping[str, Any]) -> Iterator[tuple[str | None, Row]]:
    """(Split, row) of each line."""
    (_, _, *names), *lines = _read_lines(text)
    if missing := {header["target"], *header["inputs"]} - set(names):
        raise DataError(f"data.csv of {header['name']!r} has no column {min(missing)!r}: restore run.json from a copy")
    described = {column["name"] for column in header["columns"]}
    if unknown := [name for name in names if name not in described]:
        raise DataError(f"run.json of {header['name']!r} has no column {unknown[0]!r}: restore run.json from a copy")
    for row_id, part, *values in lines:
        cells = dict(zip(names, values, strict=True))
        yield (
            part,
            Row(
                id=int(str(row_id)),
                inputs=tuple((name, cells[name]) for name in header["inputs"]),
                target=_read_target(cells[header["target"]], header["task"]),
            ),
        )


def _read_lines(text: str) -> Iterator[list[str | None]]:
    """The cells of each line that `_written_line` wrote. Raises ValueError at the first sign that it did not write."""
    line: list[str | None] = []
    place = 0
    while place < len(text):
        match = _CELL.match(text, place)
        if match is None:
            number = text.count("\n", 0, place) + 1
            raise ValueError(f"line {number} is not as the run wrote it")
        quoted, bare, end = match.groups()
        place = match.end()
        line.append(quoted.replace('""', '"') if quoted is not None else bare or None)
        if end == "\n":
            yield line
            line = []

"""Dataset in a run directory: rows as CSV text, everything else as a JSON spec."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from vpp.data.dataset import PARTS, Column, Dataset, Notation, Provenance, ReadAs, Row, target_value
from vpp.data.descriptions import NOTHING, recorded
from vpp.errors import DataError

_PARTS = (*PARTS, "unlabelled")
_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^$|^\s|\s$')
_CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))([,\n])')


def rows_csv(dataset: Dataset) -> bytes:
    """Write the rows as CSV: columns `row`, `split`, then the inputs and the target in file order.

    Training rows come first, rows without a target (split `unlabelled`) last. UTF-8, commas, `\\n` after each line.
    The file may have a column `row` of its own, so readers identify the first two columns by position. A missing cell
    is empty, an empty text is `""`; numeric targets are written in their shortest form.
    """
    used = {*dataset.inputs, dataset.target}
    names = tuple(column.name for column in dataset.columns if column.name in used)
    lines: list[list[str | None]] = [["row", "split", *names]]
    for part in _PARTS:
        rows: tuple[Row, ...] = getattr(dataset, part)
        lines += [[str(row.id), part, *_cells(row, names, dataset.target)] for row in rows]
    return "".join(",".join(map(_written, line)) + "\n" for line in lines).encode()


def spec(dataset: Dataset) -> dict[str, Any]:
    """Everything in a dataset but its rows, in JSON types; `fingerprint` is the SHA-256 of its `rows_csv`.

    `descriptions` and the calibration size are left out if there are none, so that records without stay as they were.
    """
    return {
        "name": dataset.name,
        "target": dataset.target,
        "task": dataset.task,
        "columns": [{**asdict(column), "kept_words": list(column.kept_words)} for column in dataset.columns],
        "inputs": list(dataset.inputs),
        "classes": list(dataset.classes),
        "provenance": {
            # Without a size that was not asked for.
            **{
                name: value for name, value in asdict(dataset.provenance).items() if value or name != "calibration_size"
            },
            "notes": list(dataset.provenance.notes),
            "read_as": dataset.provenance.read_as.given,
        },
        "fingerprint": _sha256(rows_csv(dataset)),
        **({"descriptions": dataset.descriptions.record} if dataset.descriptions != NOTHING else {}),
    }


def dataset_from_csv(content: bytes, *, header: Mapping[str, Any]) -> Dataset:
    """Read a dataset from its `rows_csv` (content) and `spec` (header). Raises DataError for changed rows."""
    if _sha256(content) != header["fingerprint"]:
        raise DataError(
            f"data.csv of {header['name']!r} was changed after the run wrote it: restore it or start a new run"
        )
    rows = list(_read_rows(content.decode(), header))
    origin = header["provenance"]
    read_as = ReadAs(**origin.get("read_as", {}))
    return Dataset(
        name=header["name"],
        target=header["target"],
        task=header["task"],
        columns=tuple(map(_read_column, header["columns"])),
        inputs=tuple(header["inputs"]),
        classes=tuple(header["classes"]),
        provenance=Provenance(**{**origin, "notes": tuple(origin.get("notes", ())), "read_as": read_as}),
        **{name: tuple(row for part, row in rows if part == name) for name in _PARTS},
        descriptions=recorded(header["descriptions"]) if header.get("descriptions") else NOTHING,
    )


def _read_column(column: Mapping[str, Any]) -> Column:
    notation = column.get("notation")
    kept_words = tuple(column.get("kept_words", ()))
    return Column(**{**column, "notation": Notation(**notation) if notation else None, "kept_words": kept_words})


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _cells(row: Row, names: Sequence[str], target: str) -> list[str | None]:
    value = row.target
    truth = repr(value).removesuffix(".0") if isinstance(value, float) else value
    cells = {**dict(row.inputs), target: truth}
    return [cells[name] for name in names]


def _written(cell: str | None) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell


def _read_rows(text: str, header: Mapping[str, Any]) -> Iterator[tuple[str | None, Row]]:
    (_, _, *names), *lines = _read_lines(text)
    described = {column["name"] for column in header["columns"]}
    if lacking := {header["target"], *header["inputs"]} - described.intersection(names):
        raise DataError(
            f"run.json and data.csv of {header['name']!r} do not both have the column {min(lacking)!r}: restore both "
            "from a copy"
        )
    for row_id, part, *values in lines:
        cells = dict(zip(names, values, strict=True))
        truth = cells[header["target"]]
        yield (
            part,
            Row(
                id=int(str(row_id)),
                inputs=tuple((name, cells[name]) for name in header["inputs"]),
                target=None if truth is None else target_value(truth, header["task"]),
            ),
        )


def _read_lines(text: str) -> Iterator[list[str | None]]:
    """Yield the cells of each line written by `rows_csv`; raise ValueError at the first other text."""
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

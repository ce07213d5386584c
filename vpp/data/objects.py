"""Tables in JSON: a list of objects, an object a line (JSON Lines), or one object with a list for each column."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vpp.data.binary import MAX_CELLS
from vpp.data.grid import MAX_COLUMNS, Grid, shown_name, unique_names
from vpp.errors import DataError

ENDINGS = (".json", ".jsonl", ".ndjson")
SHAPES = "give a list of objects, an object a line, or an object with a list for each column"
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def read_json(text: str, *, name: str) -> Grid | None:
    """Return the table in a text that begins as JSON; None for another text, unless the file's name promises JSON.

    Numbers and booleans are kept as written; null is a missing cell. Raises DataError for JSON that is no table, holds
    nested values, or is too large.
    """
    if text.count(",") + text.count("{") > MAX_CELLS:
        raise DataError(f"{name} has more than {MAX_CELLS:,} cells: keep a sample of its rows")
    value = _parsed(text, name)
    return None if value is None else _grid(_columns(value, name), name)


def _parsed(text: str, name: str) -> Any:
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        fault = f"{name} is not valid JSON (line {error.lineno}: {error.msg}): correct it"
    except RecursionError:
        raise DataError(f"{name} is JSON that is nested too deeply: {SHAPES}") from None
    objects: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            objects += [_loads(line)] if line.strip() else []
        except (ValueError, RecursionError):
            fault = f"{name}: line {number} is not valid JSON: correct it" if objects else fault
            break
        if objects and not isinstance(objects[0], dict):
            break
    else:
        return objects
    if name.lower().endswith(ENDINGS) or (objects and isinstance(objects[0], dict)):
        raise DataError(fault)
    return None


def _loads(text: str) -> Any:
    """Parse JSON with numbers as they are written."""
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=lambda word: None if word == "NaN" else word)


def _columns(value: Any, name: str) -> Mapping[str, Sequence[Any]]:
    """Return the cells by column, None for a missing one. Raises DataError if the value is no table."""
    if isinstance(value, dict) and value and all(isinstance(cells, list) for cells in value.values()):
        lengths = {len(cells) for cells in value.values()}
        if len(lengths) > 1:
            raise DataError(
                f"{name} has columns of {min(lengths):,} to {max(lengths):,} cells: give each the same number"
            )
        return value
    records = [value] if isinstance(value, dict) else value
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError(f"{name} is JSON without a table: {SHAPES}")
    names = dict.fromkeys(key for record in records for key in record)
    if len(names) * len(records) > MAX_CELLS and len(names) <= MAX_COLUMNS:
        raise DataError(f"{name} has more than {MAX_CELLS:,} cells: keep a sample of its rows")
    return {key: [record.get(key) for record in records] for key in list(names)[: MAX_COLUMNS + 1]}


def _grid(columns: Mapping[str, Sequence[Any]], name: str) -> Grid:
    """Return the table as texts; rows without any are left out."""
    if len(columns) > MAX_COLUMNS:
        raise DataError(f"{name} has more than {MAX_COLUMNS:,} columns: keep those that matter")
    texts = [list(_texts(column, cells, name)) for column, cells in columns.items()]
    rows = [row for row in zip(*texts, strict=True) if any(row)]
    if not rows:
        raise DataError(f"{name} has no rows: rows are needed")
    names, notes = unique_names(list(columns), without=(), say=True, file=name)
    return Grid(names=names, columns=list(map(list, zip(*rows, strict=True))), notes=notes)


def _texts(column: str, cells: Sequence[Any], name: str) -> Iterator[str]:
    """Yield the text of each cell, empty if missing. Raises DataError for a nested value and for no Unicode text."""
    for number, cell in enumerate(cells, 1):
        where = f"{name}: row {number:,} of the column {shown_name(column)!r}"
        if isinstance(cell, list | dict):
            raise DataError(f"{where} holds a list or an object: give one text or number a cell")
        if isinstance(cell, str):
            if _NO_TEXT.search(cell):
                raise DataError(f"{where} holds a character that is no text: remove it")
            yield cell.strip()
        else:
            yield "" if cell is None else str(cell).lower()

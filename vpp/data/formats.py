"""Formats other than CSV: read Excel, Parquet, JSON and frames as plain text, refuse others."""

import io
import json
import math
import re
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime, time
from itertools import zip_longest
from typing import Any
from xml.parsers.expat import ExpatError, ParserCreate

from vpp.data.dataset import ReadAs
from vpp.data.text import (
    AS_IS,
    NO_TEXT,
    Grid,
    Reading,
    Record,
    check_size,
    clean,
    decode,
    named_grid,
    read_csv,
    read_lines,
)
from vpp.errors import DataError

MAX_UNPACKED = 300_000_000
"""Bytes that a workbook or a Parquet file may unpack to."""
_BLANK = " \t\r\n,;|"
_OTHERS = (
    (rb"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)", "open it and save it as CSV or .xlsx"),
    (rb"\x1f\x8b", "a gzip archive", "unpack it first"),
    (rb"%PDF-", "a PDF", "find the table it was made from, and save that as CSV"),
    (rb"(?i:\s*(%[^\n]*\n\s*)*@relation\b)", "an ARFF file of Weka", "save its @data as CSV, below the names"),
    (rb"version https://git-lfs", "a pointer of Git LFS, not the file itself", "fetch the file with git lfs pull"),
    (rb"(\xef\xbb\xbf)?\s*<(?i:!doctype|html|head|body|table|div)\b", "a web page", "save the table it shows as CSV"),
    (rb"(\xef\xbb\xbf)?\s*<(?i:\?xml|svg)\b", "an XML file", "save the table it holds as CSV"),
)
"""(first bytes, format, remedy) of files that people take for tables; other binary files are no text."""


def read_file(content: bytes, *, name: str, read_as: ReadAs) -> Grid:
    """Read a file of any format. Raises DataError for one that is no table, is too large, or has too wide a line."""
    if content.startswith(b"PAR1"):
        return read_parquet(content, name=name)
    if content.startswith(b"PK\x03\x04"):
        return read_workbook(content, name, read_as)
    _refuse_others(content, name)
    text, encoding, notes = decode(content, name=name, encoding=read_as.encoding)
    _refuse_others(text[:100].encode(), name)  # such as a web page in UTF-16
    if not text.strip(None if read_as.delimiter else _BLANK):
        raise DataError(f"{name} is empty: a header line and rows are needed")
    grid = read_json(text, encoding, name=name, notes=notes) if text.lstrip().startswith(("{", "[")) else None
    return grid or read_csv(text, encoding, name, read_as, notes)


def _refuse_others(content: bytes, name: str) -> None:
    for signature, what, remedy in _OTHERS:
        if re.match(signature, content):
            raise DataError(f"{name} is {what}, not a table: {remedy}")


def plain_texts(values: Sequence[Any]) -> list[str]:
    """Return (n,) the stripped text of each cell, empty if missing: shortest numbers, ISO dates.

    A column of integral floats loses its `.0`, a column of dates its midnight. Raises UnicodeDecodeError for bytes that
    are not UTF-8.
    """
    whole = all(value.is_integer() or not math.isfinite(value) for value in values if isinstance(value, float))
    moments = [value for value in values if isinstance(value, datetime)]
    days = all(moment.time() == time() and moment.tzinfo is None for moment in moments)

    def text_of(value: Any) -> str:
        if value is None or value != value:  # NaN
            return ""
        if isinstance(value, float) and whole and abs(value) < 1e15:
            return str(int(value))
        if isinstance(value, datetime) and days:
            return str(value.date())
        return clean(value.decode("utf-8") if isinstance(value, bytes) else str(value))

    return list(map(text_of, values))


# --- Excel ------------------------------------------------------------------------------------------------------------

MAX_TAGS, MAX_DEPTH = 2_500_000, 100
"""Elements that all parts of a workbook may have in total, and how deep: reading takes at most 10 s and 1 GB."""
MAX_SHEET_CELLS = 1_200_000


def read_workbook(content: bytes, name: str, read_as: ReadAs) -> Grid:
    """Read the chosen sheet, or the first with two lines. Raises DataError for an unknown, broken or too large one."""
    from openpyxl import load_workbook

    try:
        scan = _Scan(content, name)
        with closing(load_workbook(io.BytesIO(content), read_only=True, data_only=True)) as book:
            sheets = tuple(worksheet.title for worksheet in book.worksheets)
            if read_as.sheet not in (None, *sheets):
                raise DataError(f"{name} has no sheet {read_as.sheet!r}: choose one of {', '.join(map(repr, sheets))}")
            visible = [worksheet.title for worksheet in book.worksheets if worksheet.sheet_state == "visible"]
            for sheet in (read_as.sheet,) if read_as.sheet else visible or sheets:
                lines = _lines(book[sheet], name)
                if len(lines) > 1:
                    break
            part = str(getattr(book[sheet], "_worksheet_path", "")).lstrip("/")
            notes = [_formula_note(lines, scan.formulas[part])]
            notes.append("" if read_as.as_is else _fill_merged(lines, scan.merged[part]))
    except DataError:
        raise
    except Exception as error:  # zipfile and openpyxl pass on any exception of their parsers
        how = "unpack it, or save the table as CSV"
        raise DataError(f"{name} is a zip archive, or a workbook that cannot be read: {how}") from error
    if len(sheets) > 1 and not read_as.sheet:
        notes.insert(0, f"sheet {sheet!r} of {len(sheets)} was read; --read sheet=NAME reads another")
    skipped = read_as.skip_lines or 0
    rows = zip(*map(plain_texts, zip_longest(*lines.values())), strict=True)
    records = [Record(line, cells) for line, cells in zip(lines, rows, strict=True) if line > skipped]
    reading = Reading(format="excel", skipped_lines=skipped, sheet=sheet, sheets=sheets)
    return read_lines(records, reading, name, read_as, notes)


class _Scan:
    """One pass over every part of a workbook, before openpyxl reads it; other damage is openpyxl's to report.

    merged: ranges such as A2:A16, by the part of the sheet. formulas: cells with one that may lack its value.
    Raises DataError if the parts unpack to too much, hold too many or too deep elements, or declare entities, which can
    expand to any size.
    """

    def __init__(self, content: bytes, name: str) -> None:
        self._name, self._cell, self._n_tags, self._depth = name, "", 0, 0
        self.merged, self.formulas = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_unpacked(sum(part.file_size for part in archive.infolist()), name)
            for part in archive.infolist():
                self._part, self._depth = part.filename, 0
                parser = ParserCreate()
                parser.StartDoctypeDeclHandler = self._refuse_type
                parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
                with archive.open(part) as stream, suppress(ExpatError):  # a picture, or a damaged part
                    while piece := stream.read(1 << 16):
                        parser.Parse(piece, False)

    def _refuse_type(self, *_: Any) -> None:
        raise DataError(f"{self._name} declares a document type in {self._part}, which no workbook needs: not read")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._n_tags += 1
        self._depth += 1
        if self._n_tags > MAX_TAGS or self._depth > MAX_DEPTH:
            fault = f"more than {MAX_TAGS:,} elements, or elements nested in more than {MAX_DEPTH} others"
            raise DataError(f"{self._name} has {fault}: save a sample of its rows as a new workbook, or as CSV")
        tag = tag.rpartition(":")[2]
        if tag == "c":
            self._cell = attributes.get("r", "") if attributes.get("t", "n") == "n" else ""
        elif tag == "f" and self._cell:
            self.formulas[self._part].append(self._cell)
        elif tag == "mergeCell" and "ref" in attributes:
            self.merged[self._part].append(attributes["ref"])

    def _end(self, _: str) -> None:
        self._depth -= 1


def _check_unpacked(unpacked: int, name: str) -> None:
    if unpacked > MAX_UNPACKED:
        size = f"unpacks to {unpacked / 1e6:,.0f} MB, more than {MAX_UNPACKED / 1e6:.0f}"
        raise DataError(f"{name} {size}: keep a sample of its rows")


def _lines(sheet: Any, name: str) -> dict[int, list[Any]]:
    """Values of each row with any, by its number from 1; zeros in front where the format of a whole number has them."""
    with suppress(AttributeError):
        sheet.reset_dimensions()
    lines: dict[int, list[Any]] = {}
    n_cells = 0
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        n_cells += max(len(cells), 1)
        if n_cells > MAX_SHEET_CELLS:
            raise DataError(f"{name}: a sheet has more than {MAX_SHEET_CELLS:,} cells: keep a sample of its rows")
        values = [cell.value for cell in cells]
        if any(value is not None and value != "" for value in values):
            for at, value in enumerate(values):
                if type(value) is int and set(form := cells[at].number_format) == {"0"}:
                    values[at] = str(value).zfill(len(form))
            lines[number] = values
    return lines


def _fill_merged(lines: dict[int, list[Any]], merged: Sequence[str]) -> str:
    """Copy the value of cells that are merged over several rows into each of them; return a note on that."""
    from openpyxl.utils.cell import range_boundaries

    filled = []
    for text in merged:
        left, top, right, bottom = range_boundaries(text)
        value = (lines.get(top, []) + [None] * left)[left - 1]
        if top < bottom and value is not None:
            filled.append(text)
            for cells in (lines[row] for row in range(top, bottom + 1) if row in lines):
                cells += [None] * (right - len(cells))
                cells[left - 1 : right] = [value] * (right + 1 - left)
    more = ", …" if len(filled) > 3 else ""
    about = f"merged cells ({', '.join(filled[:3])}{more}) were read with their value in each row"
    return f"{about}; {AS_IS} leaves the others empty" if filled else ""


def _formula_note(lines: dict[int, list[Any]], formulas: Sequence[str]) -> str:
    from openpyxl.utils.cell import coordinate_to_tuple

    places = {cell: coordinate_to_tuple(cell) for cell in formulas}
    empty = [cell for cell, (row, at) in places.items() if (lines.get(row, []) + [None] * at)[at - 1] is None]
    have = f"{len(empty):,} cells have formulas" if len(empty) > 1 else "a cell has a formula"
    remedy = "open the workbook in a spreadsheet program and save it, which stores the values"
    return f"{have} without a stored value, first {empty[0]}, read as missing: {remedy}" if empty else ""


# --- Parquet and frames -----------------------------------------------------------------------------------------------


def read_parquet(content: bytes, *, name: str) -> Grid:
    """Read all with pyarrow. Raises DataError for a file that is broken, empty, too large unpacked, or holds lists."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content))
        meta, schema = file.metadata, [file.schema.column(i) for i in range(len(file.schema))]
        check_size(name, n_columns=meta.num_columns, n_rows=meta.num_rows)
        groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
        if sum(group.num_rows for group in groups) != meta.num_rows or any(group.num_rows < 0 for group in groups):
            raise ValueError("the row counts of its parts do not add up")
        _check_unpacked(sum(group.total_byte_size for group in groups), name)
        # Lists may unpack to any size: asking pyarrow 26 for their number of values ends the process on a damaged file.
        if nested := next((column.path.split(".")[0] for column in schema if column.path != column.name), None):
            raise DataError(f"{name}: column {nested!r} holds lists or objects: save it as text, or leave it out")
        # A long text that repeats is one in memory.
        dictionaries = [column.path for column in schema if column.physical_type == "BYTE_ARRAY"]
        table = pq.ParquetFile(io.BytesIO(content), read_dictionary=dictionaries).read()
        table.validate(full=True)
        frame = table.to_pandas(
            types_mapper=lambda kind: None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind),
            ignore_metadata=True,
        )
    except (pa.ArrowException, KeyError, OSError, ValueError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{name} is a Parquet file that cannot be read: save the table as CSV") from error
    return replace(read_frame(frame, name=name), reading=Reading(format="parquet"))


def read_frame(frame: Any, *, name: str = "frame") -> Grid:
    """Read a DataFrame: NaN, None and NaT are missing. Raises DataError for no row, and for bytes that are no text."""
    names = list(map(str, frame.columns))
    try:
        columns = [_texts(frame.iloc[:, place]) for place in range(len(names))]
    except UnicodeDecodeError:
        raise DataError(f"{name} has a column of bytes that are not text: leave it out") from None
    return named_grid(names, columns, file=name, reading=Reading(format="frame"))


def _texts(series: Any) -> list[str]:
    kind = series.dtype
    if str(kind) == "category":  # equal texts are one in memory
        texts = [*plain_texts(series.cat.categories.tolist()), ""]
        return [texts[code] for code in series.cat.codes]
    if str(kind).lower().startswith(("float16", "float32", "float[", "halffloat[")):
        # The shortest text that reads back as the same float of this precision.
        floats = series.to_numpy(dtype=f"float{8 * kind.itemsize}", na_value=math.nan)
        return plain_texts([float(str(value)) for value in floats])
    return plain_texts(series.astype(object).where(series.notna(), None).tolist())


# --- JSON -------------------------------------------------------------------------------------------------------------

_SOMETHING = re.compile(r"[^ \t\r\n]")
SHAPES = (
    "write a list of records (pandas: to_json(orient='records')), or an object a line, with a text or number a cell"
)


def read_json(text: str, encoding: str, *, name: str, notes: Sequence[str]) -> Grid | None:
    """Return the table in a text that begins as JSON; None for a list that is no JSON, unless the name promises it.

    Numbers and booleans are kept as written; null is a missing cell. Raises DataError for JSON that is no table, holds
    nested values, or is too large.
    """
    check_size(name, n_columns=1, n_rows=text.count(",") + text.count("{"))
    try:
        records = _json_records(text)
    except RecursionError:
        raise DataError(f"{name} is JSON that is nested too deeply: {SHAPES}") from None
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("{") or name.lower().endswith((".json", ".jsonl", ".ndjson")):
            raise DataError(f"{name} is not valid JSON (line {error.lineno}: {error.msg}): correct it") from None
        return None
    if not all(isinstance(record, dict) for record in records):
        raise DataError(f"{name} is JSON without a table: {SHAPES}")
    names = list(dict.fromkeys(key for record in records for key in record))
    check_size(name, n_columns=len(names), n_rows=len(records))
    columns = [[_json_text(record.get(key), key, row, name) for row, record in enumerate(records, 1)] for key in names]
    return named_grid(names, columns, file=name, reading=Reading(format="json", encoding=encoding), notes=notes)


def _json_records(text: str) -> list[Any]:
    """Parse a list, or one value after another, with numbers as they are written. Raises JSONDecodeError."""
    constants = {"NaN": None}
    parser = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=lambda word: constants.get(word, word))
    values, end = list[Any](), 0
    while rest := _SOMETHING.search(text, end):
        value, end = parser.raw_decode(text, rest.start())
        values.append(value)
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def _json_text(cell: Any, column: str, row: int, name: str) -> str:
    is_text = isinstance(cell, str)
    if isinstance(cell, list | dict) or (is_text and NO_TEXT.search(cell)):
        what = "a character that is no text" if is_text else "a list or an object"
        raise DataError(f"{name}: row {row:,} of {column[:60]!r} holds {what}: {SHAPES}")
    return clean(cell) if is_text else "" if cell is None else str(cell).lower()

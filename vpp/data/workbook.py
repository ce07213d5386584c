"""An Excel workbook's sheet as records of plain text."""

import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any
from xml.parsers.expat import ExpatError, ParserCreate

from vpp.data.formats import MAX_CELLS, MAX_UNPACKED
from vpp.data.plain import plain_texts
from vpp.data.records import Record
from vpp.errors import DataError

_XML = (".xml", ".rels", ".vml")
_PIECE = 1_024
"""Bytes of a part that are looked at a time, up to its first element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One sheet of a workbook."""

    name: str
    names: tuple[str, ...]
    """Of all sheets."""
    records: list[Record]
    """Lines with any text, numbered as in the sheet."""


def read_sheet(content: bytes, *, name: str, sheet: str | None = None) -> Sheet:
    """The sheet that is named, else the first that has two lines with text.

    Raises DataError for an unknown sheet, or a workbook that is broken, unpacks to too much or declares entities.
    """
    _check_size(content, name)
    _check_entities(content, name)
    book = _open(content, name)
    try:
        names = tuple(found.title for found in book.worksheets)
        if sheet is not None and sheet not in names:
            raise DataError(f"{name} has no sheet {sheet!r}: choose one of {', '.join(map(repr, names))}")
        for each in (sheet,) if sheet is not None else names:
            records = _records(book[each], name)
            if len(records) > 1 or sheet is not None:
                return Sheet(name=each, names=names, records=records)
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, SyntaxError) as error:
        raise _broken(name) from error
    finally:
        book.close()
    raise DataError(f"{name} has no sheet with a header line and a row: give one")


def _open(content: bytes, name: str) -> Any:
    from openpyxl import load_workbook

    try:
        return load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises whatever its parts do
        raise _broken(name) from error


def _records(sheet: Any, name: str) -> list[Record]:
    with suppress(AttributeError):
        sheet.reset_dimensions()
    lines: list[tuple[int, tuple[Any, ...]]] = []
    n_cells = n_lines = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        n_cells, n_lines = n_cells + len(values), number
        if n_cells > MAX_CELLS or n_lines > MAX_CELLS:
            raise DataError(f"{name}: a sheet has more than {MAX_CELLS:,} cells: keep a sample of its rows")
        if any(value is not None and value != "" for value in values):
            lines.append((number, values))
    return list(_even(lines))


def _even(lines: Sequence[tuple[int, tuple[Any, ...]]]) -> Iterator[Record]:
    """Lines of one width, each column written in one form below its first text."""
    width = max((len(values) for _, values in lines), default=0)
    columns = [plain_texts([values[i] if i < len(values) else None for _, values in lines]) for i in range(width)]
    for (number, _), cells in zip(lines, zip(*columns, strict=True), strict=True):
        yield Record(number, cells)


def _check_size(content: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > MAX_UNPACKED:
        raise DataError(
            f"{name} unpacks to {unpacked / 1e6:,.0f} MB, more than {MAX_UNPACKED / 1e6:.0f}: keep a sample of its rows"
        )


def _check_entities(content: bytes, name: str) -> None:
    """Raises DataError where a part declares a document type: entities in it can unpack to any size."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for part in archive.infolist():
            try:
                with archive.open(part) as stream:
                    declares = part.filename.endswith(_XML) and _declares_type(stream)
            except Exception as error:  # zipfile raises whatever a damaged archive makes it
                raise _broken(name) from error
            if declares:
                raise DataError(
                    f"{name} declares a document type in {part.filename}, which no workbook needs: not read"
                )


def _declares_type(stream: IO[bytes]) -> bool:
    """Whether an XML document does, which is read up to its first element only."""
    parser, seen = ParserCreate(), []
    parser.StartDoctypeDeclHandler = lambda *_: seen.append(True)
    parser.StartElementHandler = lambda *_: seen.append(False)
    with suppress(ExpatError):  # what is broken in other ways is told when it is read
        while not seen and (piece := stream.read(_PIECE)):
            parser.Parse(piece, False)
    return bool(seen) and seen[0]


def _broken(name: str) -> DataError:
    return DataError(f"{name} is an Excel workbook that cannot be read: open it and save the table as CSV")

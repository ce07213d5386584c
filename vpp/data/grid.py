"""Grid of texts: rows of equal width under unique column names."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice

from vpp.data.text import Record
from vpp.errors import DataError

MAX_NAME = 1_000
"""Characters of the longest name allowed."""
LONG_NAME = 60
"""Characters of a name shown in a message; longer names are cut."""


def unique_names(
    headers: Sequence[str], *, without: Collection[int], say: bool, file: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a name for each header except those at the places `without`, and a note on each name that was made up.

    say: also note columns without a name. Raises DataError for a name longer than MAX_NAME.
    """
    given = [" ".join(header.split()) for header in headers]
    taken = set(given)
    named: dict[str, None] = {}
    notes: list[str] = []
    for number, name in enumerate(given, start=1):
        if number - 1 in without:
            continue
        if len(name) > MAX_NAME:
            raise DataError(
                f"{file}: the name of column {number} has {len(name):,} characters, more than {MAX_NAME:,}: shorten "
                "it, or choose that there is no header"
            )
        if name and name not in named:
            named[name] = None
            continue
        own = _unused(name or f"column_{number}", taken)
        taken.add(own)
        named[own] = None
        if name or say:
            fault = f"repeats the name {shown_name(name)!r}" if name else "has no name"
            notes.append(f"column {number} {fault}: called {shown_name(own)!r}")
    return tuple(named), tuple(notes)


def shown_name(name: str) -> str:
    """The name, or the beginning of another text, cut at LONG_NAME characters."""
    return name if len(name) <= LONG_NAME else f"{name[: LONG_NAME - 1]}…"


def _unused(name: str, taken: Collection[str]) -> str:
    """Return the name if it is free, else the first free one of name_2, name_3, …"""
    if name not in taken:
        return name
    return next(other for i in count(2) if (other := f"{name}_{i}") not in taken)


MAX_COLUMNS = 2_000
MAX_FILLED = 2_000_000
"""Empty cells that may be added to short lines in total: each takes memory that the file does not."""
_ROWS_AT_ONCE = 8_192
_MAX_INTERNED = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Named columns of stripped texts; an empty text is an empty cell."""

    names: tuple[str, ...]
    columns: list[list[str]]
    """(column, row)."""
    notes: tuple[str, ...] = ()


def build_grid(records: Iterator[Record], *, header: bool, width: int, name: str) -> Grid:
    """Build the grid of all records; the first one names the columns if `header`.

    width: cells a line if there is no header. Columns without name and cells are dropped.
    Raises DataError for a row with more cells than columns, for too many columns, and for no rows.
    """
    first = next(records, None)
    if first is None:
        raise DataError(f"{name} is empty: a header line and rows are needed")
    given = list(first.cells) if header else [""] * width
    if len(given) > MAX_COLUMNS:
        raise DataError(
            f"{name} has {len(given):,} columns, more than {MAX_COLUMNS:,}: keep those that matter, or swap rows and "
            "columns"
        )
    n_named = max((place for place, head in enumerate(given, 1) if head.strip()), default=len(given))
    rows = _Rows(width=len(given), n_named=n_named, file=name)
    columns = _columns(rows.even(records if header else chain((first,), records)), len(given))
    if not columns[0]:
        raise DataError(
            f"{name} has one line only: a header line and at least one row are needed; if that line is a row, choose "
            "that there is no header"
        )
    return _named(given, columns, header=header, rows=rows, name=name)


@dataclass(slots=True, kw_only=True)
class _Rows:
    """Brings every row to the width of the table and records which rows were shorter or longer."""

    width: int
    n_named: int
    """Width without the unnamed columns at the end."""
    file: str
    short: list[int] = field(default_factory=list)
    """Line numbers of rows with fewer cells."""
    n_filled: int = 0
    """Cells added to short rows."""
    long: list[int] = field(default_factory=list)
    """Line numbers of rows with more cells."""

    def even(self, records: Iterable[Record]) -> Iterator[Sequence[str]]:
        """Yield the cells of each row. Raises DataError for text beyond the table, and for too many missing cells."""
        for line, cells in records:
            n_lacking = self.width - len(cells)
            if n_lacking == 0:
                yield cells
            elif n_lacking > 0:
                if len(cells) < self.n_named:
                    self.short.append(line)
                self.n_filled += n_lacking
                if self.n_filled > MAX_FILLED:
                    raise DataError(
                        f"{self.file} has {self.width:,} columns but many shorter lines, with more than {MAX_FILLED:,} "
                        "cells missing in total: keep the columns that are filled, or choose the delimiter"
                    )
                yield [*cells, *[""] * n_lacking]
            elif "".join(cells[self.width :]).strip():
                raise DataError(
                    f"{self.file}: line {line} has {len(cells)} cells where {self.width} are expected: quote cells "
                    "that contain the delimiter, name every column, or skip the lines above the table"
                )
            else:
                self.long.append(line)
                yield cells[: self.width]

    def notes(self) -> Iterator[str]:
        if self.short:
            yield f"{_lines(self.short)} fewer than {self.n_named} cells: the others are missing"
        if self.long:
            yield f"{_lines(self.long)} empty cells beyond the last column: these were left out"


class _Stripped(dict[str, str]):
    """Interns stripped texts, so that a table of repeated cells stays small."""

    def __missing__(self, text: str) -> str:
        if len(self) >= _MAX_INTERNED:
            self.clear()
        stripped = text.strip()
        return self.setdefault(stripped, stripped) if stripped == text else self.setdefault(text, stripped)


def _columns(rows: Iterator[Sequence[str]], width: int) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in range(width)]
    stripped = _Stripped()
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        for column, cells in zip(columns, zip(*chunk, strict=True), strict=True):
            column.extend(map(stripped.__getitem__, cells))
    return columns


def _named(given: Sequence[str], columns: list[list[str]], *, header: bool, rows: _Rows, name: str) -> Grid:
    headed = enumerate(zip(given, columns, strict=True))
    empty = [place for place, (head, cells) in headed if not head.strip() and not any(cells)]
    unnamed_only = set(empty) if header else set(_at_end(empty, len(given)))
    names, notes = unique_names(given, without=unnamed_only, say=header, file=name)
    remaining = [cells for i, cells in enumerate(columns) if i not in unnamed_only]
    left_out = (_left_out(sorted(unnamed_only)),) if unnamed_only else ()
    return Grid(names=names, columns=remaining, notes=(*rows.notes(), *left_out, *notes))


def _at_end(places: Sequence[int], width: int) -> Iterator[int]:
    """Yield the places that form the end of the table, last first."""
    for place, last in zip(reversed(places), range(width - 1, -1, -1), strict=False):
        if place != last:
            return
        yield place


def _left_out(places: Sequence[int]) -> str:
    if len(places) == 1:
        return f"column {places[0] + 1} has no name and no cells: left out"
    return f"{len(places)} columns, from column {places[0] + 1}, have no name and no cells: left out"


def _lines(lines: Sequence[int]) -> str:
    listed = ", ".join(map(str, lines[:3])) + (", …" if len(lines) > 3 else "")
    return f"line {listed} has" if len(lines) == 1 else f"{len(lines):,} lines ({listed}) have"

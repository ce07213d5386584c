"""A grid of texts from records: rows of one width, under names that are given or made."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from vpp.data.names import unique_names
from vpp.data.records import Record
from vpp.errors import DataError

MAX_COLUMNS = 2_000
MAX_FILLED = 2_000_000
"""Cells that lines shorter than the table may lack in all: each takes memory, and none stands in the file."""
_ROWS_AT_ONCE = 8_192
_TEXTS_KEPT = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Named columns of texts without outer blanks; an empty text is an empty cell."""

    names: tuple[str, ...]
    columns: list[list[str]]
    """(column, row)."""
    notes: tuple[str, ...] = ()


def build_grid(records: Iterator[Record], *, header: bool, width: int, name: str) -> Grid:
    """The grid of all records, which the first names where there is a header.

    width: cells of a line where there is no header. A column without name and cells is left out; a line without any
    text is no row. Raises DataError for a row with more cells than there are columns, too many columns, or no rows.
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
    rows = _Rows(width=len(given), n_named=_n_named(given) if header else width, file=name)
    columns = _columns(rows.even(records if header else chain((first,), records)), len(given))
    if not columns[0]:
        raise DataError(
            f"{name} has one line only: a header line and at least one row are needed; if that line is a row, say that "
            "there is no header"
        )
    return _named(given, columns, header=header, rows=rows, name=name)


@dataclass(slots=True, kw_only=True)
class _Rows:
    """Makes every row as wide as the table, and keeps which were not."""

    width: int
    n_named: int
    """The width without unnamed columns at its end."""
    file: str
    short: list[int] = field(default_factory=list)
    """Lines in the file."""
    n_filled: int = 0
    """Cells that short lines lack."""
    long: list[int] = field(default_factory=list)

    def even(self, records: Iterable[Record]) -> Iterator[Sequence[str]]:
        for line, cells in records:
            n_cells = len(cells)
            if n_cells == self.width:
                yield cells
            elif n_cells < self.width:
                if n_cells < self.n_named:
                    self.short.append(line)
                self._fill(self.width - n_cells)
                yield [*cells, *[""] * (self.width - n_cells)]
            else:
                self._check_blank(line, cells)
                self.long.append(line)
                yield cells[: self.width]

    def _fill(self, n_cells: int) -> None:
        self.n_filled += n_cells
        if self.n_filled > MAX_FILLED:
            raise DataError(
                f"{self.file} has lines much shorter than its {self.width:,} columns, which lack more than "
                f"{MAX_FILLED:,} cells: keep the columns that are filled, or choose the delimiter"
            )

    def _check_blank(self, line: int, cells: Sequence[str]) -> None:
        if "".join(cells[self.width :]).strip():
            raise DataError(
                f"{self.file}: line {line} has {len(cells)} cells where {self.width} are expected: quote cells that "
                "hold the delimiter, name every column, or skip the lines above the table"
            )

    def notes(self) -> Iterator[str]:
        if self.short:
            yield f"{_lines(self.short)} fewer than {self.n_named} cells: the rest is missing"
        if self.long:
            yield f"{_lines(self.long)} more empty cells at the end than there are columns: these were left out"


def _n_named(given: Sequence[str]) -> int:
    """Columns up to the last that has a name."""
    return max((place for place, head in enumerate(given, 1) if head.strip()), default=len(given))


class _Stripped(dict[str, str]):
    """Texts without outer blanks, each kept once, so that a table of repeated cells stays small."""

    def __missing__(self, text: str) -> str:
        if len(self) >= _TEXTS_KEPT:
            self.clear()
        stripped = text.strip()
        return self.setdefault(stripped, stripped) if stripped == text else self.setdefault(text, stripped)


def _columns(rows: Iterator[Sequence[str]], width: int) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in range(width)]
    kept = _Stripped()
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        for column, cells in zip(columns, zip(*some, strict=True), strict=True):
            column.extend(map(kept.__getitem__, cells))
    return columns


def _named(given: Sequence[str], columns: list[list[str]], *, header: bool, rows: _Rows, name: str) -> Grid:
    """Without columns that have neither name nor cells."""
    headed = enumerate(zip(given, columns, strict=True))
    empty = [place for place, (head, cells) in headed if not head.strip() and not any(cells)]
    unnamed_only = set(empty) if header else set(_at_end(empty, len(given)))
    names, notes = unique_names(given, without=unnamed_only, say=header, file=name)
    kept = [cells for i, cells in enumerate(columns) if i not in unnamed_only]
    left_out = (_left_out(sorted(unnamed_only)),) if unnamed_only else ()
    return Grid(names=names, columns=kept, notes=(*rows.notes(), *left_out, *notes))


def _at_end(places: Sequence[int], width: int) -> Iterator[int]:
    """Those of the places that nothing else follows."""
    for place, last in zip(reversed(places), range(width - 1, -1, -1), strict=False):
        if place != last:
            return
        yield place


def _left_out(places: Sequence[int]) -> str:
    if len(places) == 1:
        return f"column {places[0] + 1} has no name and no cells: left out"
    return f"{len(places)} columns, the first at place {places[0] + 1}, have no name and no cells: left out"


def _lines(lines: Sequence[int]) -> str:
    listed = ", ".join(map(str, lines[:3])) + (", …" if len(lines) > 3 else "")
    return f"line {listed} has" if len(lines) == 1 else f"{len(lines):,} lines ({listed}) have"

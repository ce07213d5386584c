"""A table as read from a file, again with chosen kinds, or as the table of a run was read."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from vpp.answers import look_alike
from vpp.data.columns import Cells, is_identifier, place_of, read_cell, read_columns
from vpp.data.dataset import DETECT, Column, Kind, ReadAs, Row
from vpp.data.descriptions import nearest
from vpp.data.formats import read_file, read_frame
from vpp.data.numbers import is_number
from vpp.data.text import Grid
from vpp.errors import DataError, InputError, quoted

MAX_BYTES = 50_000_000


@dataclass(frozen=True, kw_only=True)
class Table(Grid):
    """Named columns of equally many cells."""

    file: str
    sha256: str
    columns: tuple[Column, ...] = ()
    values: tuple[Cells, ...] = ()
    """(column, row): plain decimal numbers in a column of numbers, else as in the file; None is a missing cell."""
    column_notes: tuple[str, ...] = ()
    """Decisions on the kinds and cells of columns."""
    read_as: ReadAs = DETECT

    @classmethod
    def read(cls, content: bytes, *, name: str, read_as: ReadAs = DETECT) -> "Table":
        """Read a CSV, JSON, Excel or Parquet file; `name` is the file's name in messages.

        Lines without any text are skipped. Raises DataError for a file that is not a table, is too large, has no rows,
        or has a row wider than its header.
        """
        if len(content) > MAX_BYTES:
            raise DataError(f"{name} is larger than {MAX_BYTES / 1e6:.0f} MB: keep a sample of its rows")
        return cls._of(read_file(content, name=name, read_as=read_as), name, content, read_as)

    @classmethod
    def of_frame(cls, frame: Any, *, read_as: ReadAs = DETECT) -> "Table":
        """Read a DataFrame. Raises InputError if a cell or a name is not Unicode text."""
        grid = read_frame(frame)
        try:
            content = "\x1e".join("\x1f".join(cells) for cells in (grid.names, *grid.texts)).encode()
        except UnicodeEncodeError as error:
            raise InputError(f"the frame holds a lone surrogate ({error.object[error.start]!r}): replace it") from None
        return cls._of(grid, "frame", content, read_as)

    @classmethod
    def _of(cls, grid: Grid, file: str, content: bytes, read_as: ReadAs) -> "Table":
        own = {name: getattr(grid, name) for name in ("names", "texts", "file_notes", "lines", "reading")}
        return with_kinds(cls(**own, file=file, sha256=hashlib.sha256(content).hexdigest(), read_as=read_as), {})

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.file_notes, *self.column_notes)

    @property
    def n_rows(self) -> int:
        return len(self.values[0])

    def column(self, name: str) -> Column:
        """Raises DataError for an unknown column, with the most similar names."""
        return self.columns[self._position(name)]

    def cells(self, name: str) -> Cells:
        """(n_rows,) cells of a column. Raises DataError for an unknown column."""
        return self.values[self._position(name)]

    def followed_by(self, other: "Table") -> "Table":
        """Return a table of the rows of both; cells of a column that the other lacks are missing."""
        own = [other.cells(name) if name in other.names else (None,) * other.n_rows for name in self.names]
        return replace(self, values=tuple((*cells, *more) for cells, more in zip(self.values, own, strict=True)))

    def row(self, row: int, names: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
        """(Column, cell) of a row."""
        return tuple((name, self.values[self._places[name]][row]) for name in names)

    def id_like(self, name: str) -> bool:
        """True if the column only names its rows, so that it should not be an input."""
        return is_identifier(name, self.cells(name), self.column(name).kind)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def _position(self, name: str) -> int:
        if name not in self._places:
            has = nearest(str(name), self.names, "its columns are")
            raise DataError(f"{self.file} has no column {name!r}: {has}{self.doubt}")
        return self._places[name]

    @property
    def doubt(self) -> str:
        """What else may have been read, for an error about a column; empty if nothing."""
        doubts = (note for note in self.file_notes if note.startswith(("sheet ", "no delimiter")))
        return next((f" ({note})" for note in doubts), "")


def with_kinds(table: Table, kinds: Mapping[str, Kind]) -> Table:
    """Read columns with these kinds, the others as detected. Raises DataError for an unknown column, an unfit cell."""
    for name in kinds:
        table.column(name)
    if table.columns and not kinds:
        return table
    columns, values, notes = read_columns(
        dict(zip(table.names, table.texts, strict=True)),
        lines=table.lines,
        read_as=table.read_as,
        delimiter=table.reading.delimiter,
        chosen=kinds,
        is_typed=table.reading.format != "csv",
    )
    return replace(table, columns=columns, values=values, column_notes=notes)


def read_like(table: Table, columns: Sequence[Column], seen: Mapping[str, Collection[str | None]]) -> Table:
    """Read the table again as `columns` were read: with their kinds, notation of numbers and labels.

    seen: their cells. Columns are matched by name. A category takes the spelling of the one that it looks like: Excel
    writes TRUE for True. A cell of a column of numbers that is not a number stays as written. Notes say so.
    """
    own, values, notes = list(table.columns), list(table.values), list[str]()
    for column in (column for column in columns if column.name in table.names):
        place, name = table.names.index(column.name), column.name
        read = {text: read_cell(text, column) for text in dict.fromkeys(table.texts[place])}
        if column.kind == "category":
            notes += _respell(name, read, set(filter(None, seen.get(name, ()))))
        cells = values[place] = tuple(map(read.__getitem__, table.texts[place]))
        own[place] = replace(column, n_missing=cells.count(None), n_distinct=len({*cells} - {None}))
        wrong = [row for row, cell in enumerate(cells) if cell is not None and not is_number(cell)]
        if column.kind == "number" and wrong:
            first = f"{place_of(wrong[0], table.lines)} holds {quoted(str(cells[wrong[0]]))}, which is not a number"
            others = f" ({len(wrong) - 1:,} more rows have such cells)" if len(wrong) > 1 else ""
            notes.append(f"column {name!r}: {first}{others}; such cells stay as written")
    return replace(table, columns=tuple(own), values=tuple(values), column_notes=tuple(notes))


def _respell(name: str, read: dict[str, str | None], seen: Collection[str]) -> Iterator[str]:
    """Spell cells as the ones seen that they look like; yield notes on the first such and on the first new one."""
    others, spelling = [cell for cell in dict.fromkeys(read.values()) if cell and cell not in seen], dict[str, str]()
    for group in look_alike((*seen, *others)):
        known = [cell for cell in group if cell in seen]
        spelling |= dict.fromkeys(group, known[0]) if len(known) == 1 else {}
    read.update({text: spelling.get(cell, cell) for text, cell in read.items() if cell})
    for cell in [cell for cell in others if cell in spelling][:1]:
        yield f"column {name!r}: {quoted(cell)} is read as {quoted(spelling[cell])}, as the other rows spell it"
    for cell in [cell for cell in others if seen and cell not in spelling][:1]:
        yield f"column {name!r}: {quoted(cell)} is on none of the other rows"


def require_columns(table: Table, names: Sequence[str], *, of: str) -> None:
    """Raises DataError if the table lacks a column; `of` names the data that has it."""
    if lacking := ", ".join(repr(name) for name in names if name not in table.names):
        raise DataError(f"{table.file} lacks {lacking}, which {of} has: add or rename its columns")


def other_columns(table: Table, inputs: Collection[str]) -> dict[str, tuple[str | None, ...]]:
    """(n_rows,) cells of each column that is not an input, by name in file order; exports repeat them."""
    return {name: table.cells(name) for name in table.names if name not in inputs}


def unlabelled_rows(table: Table, inputs: Sequence[str]) -> tuple[Row, ...]:
    """All rows, to predict their targets. Raises DataError if the table lacks one of the inputs."""
    require_columns(table, inputs, of="the data of the run")
    return tuple(Row(id=row, inputs=table.row(row, inputs), target=None) for row in range(table.n_rows))

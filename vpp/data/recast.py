"""A table's columns read anew: as a person says, or as those of the table that a run was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vpp.data.columns import no_number_note, read_columns, read_known
from vpp.data.dataset import Column, Kind
from vpp.data.table import Table


def with_kinds(table: Table, kinds: Mapping[str, Kind]) -> Table:
    """The table with these kinds of columns, the others as found; cells of a text or category are as in the file.

    Raises DataError for an unknown column, or one that holds a cell which is not of its kind.
    """
    for name in kinds:
        table.column(name)
    if not kinds:
        return table
    read = read_columns(
        table.names, table.texts, decimal=table.read_as.decimal, delimiter=table.delimiter, chosen=kinds
    )
    notes = tuple(note for note in table.notes if note not in table.column_notes)
    return replace(
        table, columns=read.columns, values=read.values, notes=(*notes, *read.notes), column_notes=read.notes
    )


def read_like(table: Table, columns: Sequence[Column]) -> Table:
    """Rows of another file, in columns of the same names: their kinds, notation of numbers and labels are these.

    A cell of a column of numbers that is none stays as it is written, and a note says so.
    """
    known = {column.name: column for column in columns}
    found = [
        read_known(known[name], texts) if name in known else (column, cells)
        for name, texts, column, cells in zip(table.names, table.texts, table.columns, table.values, strict=True)
    ]
    read, values = tuple(column for column, _ in found), tuple(cells for _, cells in found)
    said = tuple(note for column, cells in found if column.name in known and (note := no_number_note(column, cells)))
    notes = tuple(note for note in table.notes if note not in table.column_notes)
    return replace(table, columns=read, values=values, notes=(*notes, *said), column_notes=said)

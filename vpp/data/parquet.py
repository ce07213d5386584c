"""A Parquet file as a grid of plain texts. pyarrow reads it."""

import io
from typing import Any

from vpp.data.formats import MAX_CELLS, MAX_UNPACKED
from vpp.data.grid import MAX_COLUMNS, Grid
from vpp.data.names import unique_names
from vpp.data.plain import plain_texts
from vpp.errors import DataError


def read_parquet(content: bytes, *, name: str) -> Grid:
    """All columns and rows. A column of bytes that are no text is left out.

    Raises DataError for a broken file, one without rows, or one that unpacks to too much.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content))
        _check_size(file, name)
        dictionaries = [column.path for column in _columns(file) if column.physical_type == "BYTE_ARRAY"]
        table = pq.ParquetFile(io.BytesIO(content), read_dictionary=dictionaries).read()
        table.validate(full=True)
        return _grid(table, name)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(f"{name} is a Parquet file that cannot be read: save the table as CSV") from error


def _columns(file: Any) -> list[Any]:
    return [file.schema.column(i) for i in range(len(file.schema))]


def _check_size(file: Any, name: str) -> None:
    meta = file.metadata
    if meta.num_rows == 0 or meta.num_columns == 0:
        raise DataError(f"{name} has no rows: rows are needed")
    if meta.num_columns > MAX_COLUMNS:
        raise DataError(f"{name} has {meta.num_columns:,} columns, more than {MAX_COLUMNS:,}: keep those that matter")
    if meta.num_rows * meta.num_columns > MAX_CELLS:
        raise DataError(
            f"{name} has {meta.num_rows:,} rows of {meta.num_columns:,} columns, more than {MAX_CELLS:,} cells: keep a "
            "sample of its rows"
        )
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    values = max(group.column(c).num_values for group in groups for c in range(group.num_columns))
    if sum(group.num_rows for group in groups) != meta.num_rows or values > MAX_CELLS:
        raise ValueError("its parts do not agree on how many rows there are")
    unpacked = sum(group.total_byte_size for group in groups)
    if unpacked > MAX_UNPACKED:
        raise DataError(
            f"{name} unpacks to {unpacked / 1e6:,.0f} MB, more than {MAX_UNPACKED / 1e6:.0f}: keep a sample of its rows"
        )


def _grid(table: Any, name: str) -> Grid:
    columns: list[list[str]] = []
    bytes_at: list[int] = []
    for place, column in enumerate(table.columns):
        try:
            columns.append(_texts(column))
        except UnicodeDecodeError:
            bytes_at.append(place)
            columns.append([])
    names, notes = unique_names(table.column_names, without=bytes_at, say=True, file=name)
    left_out = tuple(f"column {table.column_names[i]!r} holds bytes that are no text: left out" for i in bytes_at)
    kept = [cells for place, cells in enumerate(columns) if place not in bytes_at]
    if not kept:
        raise DataError(f"{name} has no column of text, numbers or dates: give one")
    kept = [list(cells) for cells in zip(*(line for line in zip(*kept, strict=True) if any(line)), strict=True)]
    if not kept:
        raise DataError(f"{name} has no rows: rows are needed")
    return Grid(names=names, columns=kept, notes=(*notes, *left_out))


def _texts(column: Any) -> list[str]:
    """Without outer blanks; equal texts of a column kept as a dictionary are one text in memory."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        whole = column.unify_dictionaries().combine_chunks()
        whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
        texts = [text.strip() for text in plain_texts(whole.dictionary.to_pylist())]
        return ["" if place is None else texts[place] for place in whole.indices.to_pylist()]
    if pa.types.is_float16(column.type) or pa.types.is_float32(column.type):
        return _singles(column)
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = pc.cast(column, pa.timestamp("us", tz=column.type.tz), safe=False)
    return [text.strip() for text in plain_texts(column.to_pylist())]


def _singles(column: Any) -> list[str]:
    """Floats of less than double precision, by the shortest text that gives them back."""
    shortest = [None if value is None else float(str(value)) for value in column.to_numpy()]
    return plain_texts(shortest)

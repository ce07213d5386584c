"""A Parquet file as a grid of plain texts. pyarrow reads it."""

import io
from typing import Any

from vpp.data.formats import MAX_CELLS, MAX_UNPACKED
from vpp.data.grid import MAX_COLUMNS, Grid
from vpp.data.names import unique_names
from vpp.data.plain import plain_texts
from vpp.errors import DataError


def read_parquet(content: bytes, *, name: str) -> Grid:
    """All columns and rows. A column of lists, or of bytes that are no text, is left out.

    Raises DataError for a broken file, one without rows, or one that unpacks to too much.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content))
        _check_size(file, name)
        single, lists = _parted(_columns(file))
        dictionaries = [column.path for column in single if column.physical_type == "BYTE_ARRAY"]
        reader = pq.ParquetFile(io.BytesIO(content), read_dictionary=dictionaries)
        table = reader.read(columns=[column.path for column in single] if lists else None)
        table.validate(full=True)
        return _grid(table, name, lists)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(f"{name} is a Parquet file that cannot be read: save the table as CSV") from error


def _columns(file: Any) -> list[Any]:
    return [file.schema.column(i) for i in range(len(file.schema))]


def _parted(columns: list[Any]) -> tuple[list[Any], tuple[str, ...]]:
    """Columns of one value a row, and the names of those of lists, which may unpack to any size.

    How many values those hold cannot be asked: on a damaged file pyarrow 26 ends the process for it. Raises ValueError
    where a column of lists would be read under the name of another.
    """
    single = [column for column in columns if not column.max_repetition_level]
    lists = [column.path for column in columns if column.max_repetition_level]
    if any(f"{path}.".startswith(f"{column.path}.") for path in lists for column in single):
        raise ValueError("two columns have one name")
    return single, tuple(dict.fromkeys(path.split(".")[0] for path in lists))


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
    rows = [group.num_rows for group in groups]
    if sum(rows) != meta.num_rows or min(rows, default=0) < 0:
        raise ValueError("its parts do not agree on how many rows there are")
    unpacked = sum(group.total_byte_size for group in groups)
    if unpacked > MAX_UNPACKED:
        raise DataError(
            f"{name} unpacks to {unpacked / 1e6:,.0f} MB, more than {MAX_UNPACKED / 1e6:.0f}: keep a sample of its rows"
        )


def _grid(table: Any, name: str, lists: tuple[str, ...]) -> Grid:
    columns: list[list[str]] = []
    bytes_at: list[int] = []
    for place, column in enumerate(table.columns):
        try:
            columns.append(_texts(column))
        except UnicodeDecodeError:
            bytes_at.append(place)
            columns.append([])
    names, notes = unique_names(table.column_names, without=bytes_at, say=True, file=name)
    left_out = (
        *(f"column {table.column_names[i]!r} holds bytes that are no text: left out" for i in bytes_at),
        *(f"column {column!r} holds lists: left out; save it as text to use it" for column in lists),
    )
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

"""Tables that commands are given."""

from argparse import Namespace
from dataclasses import fields
from pathlib import Path

from vpp.cli.surroundings import read_bytes
from vpp.data.encoding import encoding_name
from vpp.data.read_as import DELIMITER_NAMES, ReadAs
from vpp.data.reading import Reading
from vpp.data.table import Table


def read_table(path: str, options: Namespace) -> Table:
    """The table in a file, or in standard input for `-`, read as the options say. Raises InputError."""
    read_as = ReadAs(**{choice.name: getattr(options, choice.name) for choice in fields(ReadAs)})
    return Table.read(read_bytes(path), name=_file_name(path), read_as=read_as)


def form_of(reading: Reading) -> str:
    """How a file was read, in few words: semicolon, UTF-8, header."""
    if reading.format == "parquet":
        return "Parquet"
    divided = DELIMITER_NAMES.get(reading.delimiter, reading.delimiter or "no delimiter")
    own = (
        ("Excel", f"sheet {reading.sheet!r}")
        if reading.format == "excel"
        else (divided, encoding_name(reading.encoding))
    )
    above = (f"{reading.skipped_lines:,} lines above it not read",) if reading.skipped_lines else ()
    return ", ".join((*own, "header" if reading.header else "no header", *above))


def _file_name(path: str) -> str:
    return "standard input" if path == "-" else Path(path).name

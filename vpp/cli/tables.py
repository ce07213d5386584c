"""Tables that commands are given."""

from argparse import Namespace
from dataclasses import fields
from pathlib import Path

from vpp.cli.surroundings import read_bytes
from vpp.data.read_as import ReadAs
from vpp.data.table import Table


def read_table(path: str, options: Namespace) -> Table:
    """The table in a file, or in standard input for `-`, read as the options say. Raises InputError."""
    read_as = ReadAs(**{choice.name: getattr(options, choice.name) for choice in fields(ReadAs)})
    return Table.read(read_bytes(path), name=_file_name(path), read_as=read_as)


def _file_name(path: str) -> str:
    return "standard input" if path == "-" else Path(path).name

"""Files, tables, environment variables and `.env` that commands read or write."""

import os
import re
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from vpp.cli.parser import part
from vpp.data.dataset import DELIMITER_NAMES, ReadAs
from vpp.data.descriptions import ENDING, checked
from vpp.data.table import MAX_BYTES, Table
from vpp.data.text import Reading, encoding_name
from vpp.environment import Environment
from vpp.errors import InputError
from vpp.runs.directory import RunDirectory, write_atomically
from vpp.runs.spec import Keys, adapter, first_fault
from vpp.runs.store import RunStore


def dotenv(path: Path = Path(".env")) -> dict[str, str]:
    """Return the NAME=value lines of a `.env` file; empty if the file does not exist."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    lines = (line.strip().removeprefix("export ") for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs}


def environment() -> Environment:
    """Read settings: the environment first, then `.env`, then defaults."""
    return Environment.read(dotenv())


def keys() -> Keys:
    return Keys.read({**dotenv(), **os.environ})


def without_secrets(words: Sequence[str]) -> tuple[str, ...]:
    """Return a command's words, without the values of headers."""
    plain = list(words)
    for at, word in enumerate(words):
        if word.startswith("--header=") or words[max(0, at - 1)] == "--header":
            plain[at] = re.sub(r"\A((?:--header=)?[^=]*=).*", r"\1…", word, flags=re.DOTALL)
    return tuple(plain)


def from_text(kind: Any, fields: Mapping[str, Any]) -> Any:
    """Return a value of a kind, with fields that may be text. Raises InputError."""
    try:
        return adapter(kind).validate_python(fields)
    except ValidationError as error:
        raise InputError(first_fault(error)) from None


def find_run(name: str) -> RunDirectory:
    """Find a run by its path or its id in the runs folder. Raises RunError if it does not exist."""
    at_path = RunDirectory(Path(name))
    if at_path.exists:
        return at_path
    return RunStore(environment().runs_dir).get(name)


def read_bytes(name: str | Path) -> bytes:
    """Read a file, or standard input for `-`, up to one byte more than a table may have. Raises InputError."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}): check the path") from None


def read_text(name: str | Path) -> str:
    """Read a text file. Raises InputError."""
    try:
        return read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text: save it as UTF-8") from None


def read_table(path: str, options: Namespace) -> Table:
    """Read the table in a file, or in standard input for `-`, with the options of reading. Raises InputError."""
    name = "standard input" if path == "-" else Path(path).name
    return Table.read(read_bytes(path), name=name, read_as=from_text(ReadAs, part(options, "read")))


def descriptions_beside(path: str | Path, table: Table, target: str) -> tuple[dict[str, str], str]:
    """Return the descriptions by key in the file beside a table, and its name; else nothing. Raises InputError."""
    file = Path(path).with_suffix(ENDING)
    if str(path) == "-" or not file.is_file():
        return {}, ""
    return checked(read_text(file), name=file.name, columns=table.names, cells=table.cells(target)), file.name


def format_text(reading: Reading) -> str:
    """Describe a file's format, as in `semicolon, UTF-8, header`."""
    encoding = encoding_name(reading.encoding)
    if reading.format in ("parquet", "json"):
        return "Parquet" if reading.format == "parquet" else f"JSON, {encoding}"
    delimiter = DELIMITER_NAMES.get(reading.delimiter, reading.delimiter or "no delimiter")
    kind = f"Excel, sheet {reading.sheet!r}" if reading.format == "excel" else f"{delimiter}, {encoding}"
    above = f", {reading.skipped_lines:,} lines above it not read" if reading.skipped_lines else ""
    return f"{kind}, {'header' if reading.header else 'no header'}{above}"


def print_json(value: object) -> None:
    print(to_json(value, inf_nan_mode="strings").decode())


def write_bytes(name: Path, content: bytes) -> None:
    """Write the complete file, or leave the old one. Raises InputError or DiskRefused if it cannot."""
    if name.is_file() or not name.exists():
        write_atomically(name.resolve(), content)
        return
    try:
        name.write_bytes(content)  # a pipe or a terminal
    except OSError as error:
        raise InputError(f"{name} cannot be written ({error.strerror}): choose another file") from None

"""What commands read from outside: files, the environment, `.env`."""

import os
import sys
from pathlib import Path

from vpp.data.dialect import MAX_BYTES
from vpp.errors import InputError
from vpp.files import read_at_most
from vpp.runs.directory import RunDirectory
from vpp.runs.session import Keys
from vpp.runs.store import FILES, RunStore, is_sound
from vpp.settings import Environment


def dotenv(path: Path = Path(".env")) -> dict[str, str]:
    """NAME=value lines of a `.env` file; empty where there is none."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    lines = (line.strip().removeprefix("export ") for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs}


def environment() -> Environment:
    """The environment, then `.env`, then defaults."""
    return Environment.read(dotenv())


def keys() -> Keys:
    """API keys from the environment or `.env`."""
    return Keys.read({**dotenv(), **os.environ})


def find_run(name: str) -> RunDirectory:
    """The run at a path, or of an id in the runs folder. Raises RunError where there is none."""
    at_path = RunDirectory(Path(name))
    if is_sound(at_path.path):
        return at_path
    return RunStore(environment().runs_dir).get(name)


def read_bytes(name: str) -> bytes:
    """Return a file's bytes, or standard input's for `-`, up to one more than a table may have. Raises InputError."""
    try:
        return sys.stdin.buffer.read(MAX_BYTES + 1) if name == "-" else read_at_most(Path(name), MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}): check the path") from None


def read_text(name: str | None) -> str | None:
    """A text file, or None for None. Raises InputError."""
    if name is None:
        return None
    try:
        return read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} is not a UTF-8 text: save it as UTF-8") from None


def write_bytes(name: Path, content: bytes) -> None:
    """Write the file whole, or leave it as it was.

    Raises InputError where it cannot be written, or holds a run's record.
    """
    if (place := name.resolve()).name in FILES and is_sound(place.parent):
        raise InputError(f"{name} is the record of a run: choose another place")
    try:
        if name.exists() and not name.is_file():  # a pipe or a terminal
            name.write_bytes(content)
        else:
            _replace(place, content)
    except OSError as error:
        raise InputError(f"{name} cannot be written ({error.strerror}): choose another place") from None


def _replace(name: Path, content: bytes) -> None:
    part = name.with_name(f".{name.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(name)
    finally:
        part.unlink(missing_ok=True)

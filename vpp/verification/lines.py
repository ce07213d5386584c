"""The journal's lines with their numbers."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from vpp.errors import RunError
from vpp.runs.journal import FILLING, Record, decode
from vpp.runs.lines import Lines as FileLines
from vpp.runs.migration import NewerVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A record and where it stands."""

    number: int
    """From 1."""
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """All that a journal holds."""

    whole: tuple[Line, ...]
    damaged: tuple[tuple[int, str], ...]
    """(Number, why) of each line that cannot be read."""
    is_torn: bool
    """Whether the last line has no end: its writer was cut short, or is at it."""


def read_lines(path: Path) -> Lines:
    """Every line that can be read; none where there is no file. Raises RunError where a newer program wrote it."""
    whole: list[Line] = []
    damaged: list[tuple[int, str]] = []
    for number, content in _contents(path):
        try:
            whole.append(Line(number=number, record=decode(content)))
        except NewerVersion as error:
            raise RunError(f"{path}: line {number} is {error}: verify it with that one") from None
        except ValueError as error:
            damaged.append((number, _why(error)))
    return Lines(whole=tuple(whole), damaged=tuple(damaged), is_torn=_is_torn(path))


def _contents(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that say something; one that is too long is none that can be read."""
    for line in FileLines(path).new():
        content = b"" if line.content is None else line.content.strip(FILLING.replace(b"\0", b""))
        if content or line.content is None:
            yield line.number, content


def _why(error: ValueError) -> str:
    return str(error.errors()[0]["msg"]) if isinstance(error, ValidationError) else str(error) or "it is too long"


def _is_torn(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"
